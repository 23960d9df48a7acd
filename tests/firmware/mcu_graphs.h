/* mcu_graphs.h - random quantized image networks for tests of devices/nnrt_mcu.h: chains of convolutions (general,
   1 x 1, depthwise, grouped, dilated, transposed), pools, additions, activations, concatenations, fully connected
   layers, softmax; int8 or uint8, channels first or last, weights with and without zero points. Every fourth network is
   of int16, of convolutions and a fully connected layer. Include after nnrt.h. */
#ifndef MCU_GRAPHS_H
#define MCU_GRAPHS_H

#include <stdio.h>
#include <stdlib.h>

/* A random number from least to most; state: of a linear congruential generator. */
static int mcu_dice(uint32_t *state, int least, int most)
{
    *state = *state * 1664525u + 1013904223u;
    return least + (int)((uint64_t)(*state >> 8) * (uint64_t)(most - least + 1) >> 24);
}

/* An image tensor [1,h,w,c] of a graph that is being built. */
typedef struct mcu_image {
    uint32_t tensor;
    int h, w, c;
} mcu_image;

typedef struct mcu_graph {
    nnrt_builder *b;
    uint32_t seed, count;
    bool first, u, sixteen; /* channels first; uint8; int16 */
    mcu_image images[40]; /* results so far */
    uint32_t images_count;
} mcu_graph;

static const char *mcu_name(mcu_graph *g, char *text)
{
    snprintf(text, 16, "t%u", (unsigned)g->count++);
    return text;
}

/* Random quantization parameters of an activation tensor; scale about `about`. */
static NNRT_QuantParam mcu_quant(mcu_graph *g, double about)
{
    NNRT_QuantParam q = {8, mcu_dice(&g->seed, -128, 127), about * mcu_dice(&g->seed, 30, 200) / 100};
    if (mcu_dice(&g->seed, 0, 2) == 0)
        q.zeroPoint = -128;
    q.zeroPoint += g->u ? 128 : 0;
    if (g->sixteen) {
        q.numBits = 16;
        q.zeroPoint = 0;
        q.scale /= 256;
    }
    return q;
}

/* Adds a node with one quantized result; returns it. */
static uint32_t mcu_node(mcu_graph *g, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                         const NNRT_QuantParam *q)
{
    char text[16];
    const uint32_t y = nnrt_builder_tensor(g->b, mcu_name(g, text));
    nnrt_builder_quant(g->b, y, q, 1);
    nnrt_builder_node(g->b, text, type, attr, in, nIn, &y, 1);
    return y;
}

/* Constant weights of the dims, with one scale or one per channel; sometimes uint8 or with a zero point. */
static uint32_t mcu_weights(mcu_graph *g, int32_t rank, const int32_t *dims)
{
    size_t count = 1;
    const bool u = g->u && mcu_dice(&g->seed, 0, 9) == 0, each = mcu_dice(&g->seed, 0, 2) > 0;
    const int zero = u ? 128 : !g->sixteen && mcu_dice(&g->seed, 0, 9) == 0 ? mcu_dice(&g->seed, -20, 20) : 0, least = mcu_dice(&g->seed, -128, -126);
    NNRT_QuantParam *q = (NNRT_QuantParam *)calloc((size_t)dims[0], sizeof(*q));
    uint8_t *data;
    uint32_t tensor;
    char text[16];
    for (int32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    data = (uint8_t *)malloc(count);
    for (size_t i = 0; i < count; i++)
        data[i] = (uint8_t)(mcu_dice(&g->seed, least, 127) + (u ? 128 : 0));
    for (int32_t i = 0; i < dims[0]; i++) {
        q[i].numBits = 8;
        q[i].zeroPoint = zero;
        q[i].scale = 0.0005 * mcu_dice(&g->seed, 1, 20);
    }
    tensor = nnrt_builder_constant(g->b, mcu_name(g, text), u ? NNRT_DATA_TYPE_UINT8 : NNRT_DATA_TYPE_INT8, rank, dims, data,
                                   true);
    nnrt_builder_quant(g->b, tensor, q, each ? (uint32_t)dims[0] : 1);
    free(data);
    free(q);
    return tensor;
}

/* int64 biases, some of which make sums that are no int32. */
static uint32_t mcu_biases64(mcu_graph *g, int32_t count)
{
    const int shift = mcu_dice(&g->seed, 6, 24);
    int64_t *data = (int64_t *)calloc((size_t)count, sizeof(*data));
    uint32_t tensor;
    char text[16];
    for (int32_t i = 0; i < count; i++)
        data[i] = mcu_dice(&g->seed, -3000, 3000) * ((int64_t)1 << shift);
    tensor = nnrt_builder_constant(g->b, mcu_name(g, text), NNRT_DATA_TYPE_INT64, 1, &count, data, true);
    free(data);
    return tensor;
}

static uint32_t mcu_biases(mcu_graph *g, int32_t count)
{
    int32_t *data;
    uint32_t tensor;
    char text[16];
    if (g->sixteen && mcu_dice(&g->seed, 0, 2) > 0)
        return mcu_biases64(g, count);
    data = (int32_t *)calloc((size_t)count, sizeof(*data));
    if (mcu_dice(&g->seed, 0, 4) == 0) {
        free(data);
        return NNRT_NO_TENSOR;
    }
    for (int32_t i = 0; i < count; i++)
        data[i] = mcu_dice(&g->seed, -3000, 3000);
    tensor = nnrt_builder_constant(g->b, mcu_name(g, text), NNRT_DATA_TYPE_INT32, 1, &count, data, true);
    free(data);
    return tensor;
}

static NNRT_ActivationType mcu_activation(mcu_graph *g)
{
    static const NNRT_ActivationType types[] = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_NO_ACTIVATION,
                                                NNRT_ACTIVATION_TYPE_RELU, NNRT_ACTIVATION_TYPE_RELU6};
    return types[mcu_dice(&g->seed, 0, 3)];
}

/* The node of a convolution of x with random weights [channels, kernel, depth] and biases. step: of its result, per product
   of a sum. */
static uint32_t mcu_product(mcu_graph *g, NNRT_NodeType type, const void *attr, mcu_image x, int channels,
                            const int kernel[2], int depth, double step)
{
    const int32_t filter[4] = {channels, kernel[0], kernel[1], depth};
    const uint32_t weights = mcu_weights(g, 4, filter), in[3] = {x.tensor, weights, mcu_biases(g, channels)};
    const NNRT_QuantParam q = mcu_quant(g, step * kernel[0] * kernel[1] * depth + 0.01);
    return mcu_node(g, type, attr, in, 3, &q);
}

/* A convolution of x: any, 1 x 1, or depthwise. */
static mcu_image mcu_conv(mcu_graph *g, mcu_image x)
{
    const int what = mcu_dice(&g->seed, 0, 3);
    const bool depthwise = what == 0, point = what == 1;
    mcu_image y = x;
    int64_t stride[2] = {mcu_dice(&g->seed, 1, 2), mcu_dice(&g->seed, 1, 2)}, dilation[2] = {1, 1}, pad[4] = {0, 0, 0, 0};
    int kernel[2] = {point ? 1 : mcu_dice(&g->seed, 1, 5), point ? 1 : mcu_dice(&g->seed, 1, 5)}, size[2] = {x.h, x.w};
    NNRT_Conv2DFusion attr;
    memset(&attr, 0, sizeof(attr));
    if (mcu_dice(&g->seed, 0, 2) > 0)
        stride[0] = stride[1] = 1;
    if (depthwise && mcu_dice(&g->seed, 0, 1) == 0)
        kernel[0] = kernel[1] = 3;
    attr.group = depthwise ? x.c : x.c % 2 == 0 && mcu_dice(&g->seed, 0, 5) == 0 ? 2 : 1;
    y.c = depthwise ? x.c : mcu_dice(&g->seed, 0, 2) == 0 ? x.c : mcu_dice(&g->seed, 1, 24);
    y.c = (y.c + (int)attr.group - 1) / (int)attr.group * (int)attr.group;
    for (int i = 0; i < 2; i++) {
        dilation[i] = mcu_dice(&g->seed, 0, 5) == 0 ? 2 : 1;
        pad[2 * i] = mcu_dice(&g->seed, 0, 1) == 0 ? kernel[i] / 2 : mcu_dice(&g->seed, 0, 2);
        pad[2 * i + 1] = mcu_dice(&g->seed, 0, 1) == 0 ? kernel[i] / 2 : mcu_dice(&g->seed, 0, 2);
        while (size[i] + pad[2 * i] + pad[2 * i + 1] < (kernel[i] - 1) * dilation[i] + 1)
            pad[2 * i + 1]++;
        size[i] = (int)((size[i] + pad[2 * i] + pad[2 * i + 1] - (kernel[i] - 1) * dilation[i] - 1) / stride[i]) + 1;
    }
    y.h = size[0];
    y.w = size[1];
    attr.stride.data = stride;
    attr.dilation.data = dilation;
    attr.padList.data = pad;
    attr.stride.count = attr.dilation.count = 2;
    attr.padList.count = 4;
    attr.activationType = mcu_activation(g);
    y.tensor = mcu_product(g, NNRT_NODE_TYPE_CONV2D_FUSION, &attr, x, y.c, kernel, x.c / (int)attr.group, 0.0004);
    return y;
}

/* A transposed convolution of x, sometimes depthwise. */
static mcu_image mcu_transposed(mcu_graph *g, mcu_image x)
{
    const bool depthwise = mcu_dice(&g->seed, 0, 2) == 0;
    int64_t stride[2] = {mcu_dice(&g->seed, 1, 3), mcu_dice(&g->seed, 1, 3)}, dilation[2] = {1, 1}, pad[4], more[2];
    int kernel[2], size[2];
    mcu_image y = x;
    NNRT_Conv2dTransposeFusion attr;
    memset(&attr, 0, sizeof(attr));
    size[0] = x.h;
    size[1] = x.w;
    attr.group = depthwise ? x.c : x.c % 2 == 0 && mcu_dice(&g->seed, 0, 5) == 0 ? 2 : 1;
    y.c = depthwise ? x.c : mcu_dice(&g->seed, 1, 12) * (int)attr.group;
    for (int i = 0; i < 2; i++) {
        kernel[i] = mcu_dice(&g->seed, 1, 5);
        dilation[i] = mcu_dice(&g->seed, 0, 5) == 0 ? mcu_dice(&g->seed, 2, 3) : 1;
        pad[2 * i] = mcu_dice(&g->seed, 0, (kernel[i] + 1) / 2);
        pad[2 * i + 1] = mcu_dice(&g->seed, 0, (kernel[i] + 1) / 2);
        more[i] = mcu_dice(&g->seed, 0, (int)(stride[i] > dilation[i] ? stride[i] : dilation[i]) - 1);
        size[i] = (int)((size[i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1 + more[i]);
        while (size[i] <= pad[2 * i] + pad[2 * i + 1])
            pad[2 * i + (pad[2 * i] == 0)]--;
        size[i] -= (int)(pad[2 * i] + pad[2 * i + 1]);
    }
    y.h = size[0];
    y.w = size[1];
    attr.stride.data = stride;
    attr.dilation.data = dilation;
    attr.padList.data = pad;
    attr.outputPaddings.data = more;
    attr.stride.count = attr.dilation.count = attr.outputPaddings.count = 2;
    attr.padList.count = 4;
    attr.activationType = mcu_activation(g);
    y.tensor = mcu_product(g, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &attr, x, y.c, kernel, x.c / (int)attr.group, 0.0002);
    return y;
}

static mcu_image mcu_pool(mcu_graph *g, mcu_image x, bool largest)
{
    int64_t kernel[2] = {mcu_dice(&g->seed, 1, x.h < 4 ? x.h : 4), mcu_dice(&g->seed, 1, x.w < 4 ? x.w : 4)};
    int64_t stride[2] = {mcu_dice(&g->seed, 1, 2), mcu_dice(&g->seed, 1, 2)};
    const NNRT_QuantParam q = mcu_quant(g, 0.05);
    NNRT_MaxPoolFusion most;
    NNRT_AvgPoolFusion average;
    mcu_image y = x;
    memset(&most, 0, sizeof(most));
    memset(&average, 0, sizeof(average));
    if (!largest && mcu_dice(&g->seed, 0, 1) == 0) {
        kernel[0] = x.h;
        kernel[1] = x.w;
    }
    most.kernelSize.data = average.kernelSize.data = kernel;
    most.strides.data = average.strides.data = stride;
    most.kernelSize.count = average.kernelSize.count = most.strides.count = average.strides.count = 2;
    most.padMode = average.padMode = NNRT_PAD_MODE_SAME;
    most.activationType = average.activationType = mcu_activation(g);
    y.h = (int)((x.h + stride[0] - 1) / stride[0]);
    y.w = (int)((x.w + stride[1] - 1) / stride[1]);
    y.tensor = largest ? mcu_node(g, NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, &x.tensor, 1, &q)
                       : mcu_node(g, NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, &x.tensor, 1, &q);
    return y;
}

/* An image of the shape of x (channels: of any number), or x itself. */
static mcu_image mcu_like(mcu_graph *g, mcu_image x, bool channels)
{
    const uint32_t from = (uint32_t)mcu_dice(&g->seed, 0, (int)g->images_count - 1);
    for (uint32_t i = 0; i < g->images_count; i++) {
        const mcu_image *m = &g->images[(from + i) % g->images_count];
        if (m->h == x.h && m->w == x.w && (channels || m->c == x.c) && m->tensor != x.tensor)
            return *m;
    }
    return x;
}

static mcu_image mcu_step(mcu_graph *g, mcu_image x)
{
    NNRT_QuantParam q = mcu_quant(g, 0.05);
    NNRT_Activation act;
    NNRT_AddFusion add;
    NNRT_MulFusion mul;
    NNRT_Concat concat;
    mcu_image y = x, z;
    uint32_t in[2];
    memset(&act, 0, sizeof(act));
    memset(&add, 0, sizeof(add));
    memset(&mul, 0, sizeof(mul));
    memset(&concat, 0, sizeof(concat));
    in[0] = x.tensor;
    if (g->sixteen)
        return mcu_conv(g, x);
    switch (mcu_dice(&g->seed, 0, 12)) {
    case 0: return mcu_pool(g, x, true);
    case 1: return mcu_pool(g, x, false);
    case 2:
    case 3:
        in[1] = mcu_like(g, x, false).tensor;
        add.activationType = mul.activationType = mcu_activation(g);
        y.tensor = mcu_dice(&g->seed, 0, 3) == 0 ? mcu_node(g, NNRT_NODE_TYPE_MUL_FUSION, &mul, in, 2, &q)
                                                 : mcu_node(g, NNRT_NODE_TYPE_ADD_FUSION, &add, in, 2, &q);
        return y;
    case 4:
        act.activationType = mcu_dice(&g->seed, 0, 1) == 0 ? NNRT_ACTIVATION_TYPE_RELU : NNRT_ACTIVATION_TYPE_SIGMOID;
        if (act.activationType == NNRT_ACTIVATION_TYPE_SIGMOID && mcu_dice(&g->seed, 0, 1) == 0) {
            q.scale = 1.0 / 256;
            q.zeroPoint = g->u ? 0 : -128;
        }
        y.tensor = mcu_node(g, NNRT_NODE_TYPE_ACTIVATION, &act, in, 1, &q);
        return y;
    case 5:
        z = mcu_like(g, x, true);
        if (z.tensor == x.tensor || z.c + x.c > 40)
            return mcu_conv(g, x);
        in[1] = z.tensor;
        concat.axis = g->first ? 1 : 3;
        y.c += z.c;
        y.tensor = mcu_node(g, NNRT_NODE_TYPE_CONCAT, &concat, in, 2, &q);
        return y;
    case 6: return x.h < 12 && x.w < 12 ? mcu_transposed(g, x) : mcu_conv(g, x);
    default: return mcu_conv(g, x);
    }
}

/* A fully connected layer, and sometimes a softmax, of the flat image. Returns the output. */
static uint32_t mcu_head(mcu_graph *g, mcu_image x)
{
    const int32_t K = x.h * x.w * x.c;
    int32_t matrix[2];
    NNRT_FullConnection attr;
    NNRT_QuantParam q = mcu_quant(g, 0.0004 * K + 0.01);
    uint32_t in[3], y;
    memset(&attr, 0, sizeof(attr));
    matrix[0] = mcu_dice(&g->seed, 1, 12);
    matrix[1] = K;
    in[0] = x.tensor;
    in[1] = mcu_weights(g, 2, matrix);
    in[2] = mcu_biases(g, matrix[0]);
    attr.hasBias = in[2] != NNRT_NO_TENSOR;
    attr.activationType = mcu_activation(g);
    y = mcu_node(g, NNRT_NODE_TYPE_FULL_CONNECTION, &attr, in, 3, &q);
    if (g->sixteen || mcu_dice(&g->seed, 0, 1) == 0)
        return y;
    q.scale = 1.0 / 256;
    q.zeroPoint = g->u ? 0 : -128;
    return mcu_node(g, NNRT_NODE_TYPE_SOFTMAX, NULL, &y, 1, &q);
}

/* The graph of a seed. NULL: the library refuses it, with the reason in error. */
static NNRT_Model *mcu_random_graph(uint32_t seed, nnrt_error *error)
{
    mcu_graph g;
    mcu_image x;
    NNRT_Model *model = NULL;
    NNRT_QuantParam q;
    int32_t dims[4] = {1, 1, 1, 1};
    int steps;
    memset(&g, 0, sizeof(g));
    g.seed = seed * 2654435761u + 1;
    g.first = mcu_dice(&g.seed, 0, 1) != 0;
    g.sixteen = seed % 4 == 0;
    g.u = mcu_dice(&g.seed, 0, 1) != 0 && !g.sixteen;
    x.h = mcu_dice(&g.seed, 1, 11);
    x.w = mcu_dice(&g.seed, 1, 11);
    x.c = mcu_dice(&g.seed, 0, 2) == 0 ? mcu_dice(&g.seed, 1, 4) : mcu_dice(&g.seed, 1, 20);
    nnrt_builder_create(&g.b, "random", NULL);
    dims[g.first ? 2 : 1] = x.h;
    dims[g.first ? 3 : 2] = x.w;
    dims[g.first ? 1 : 3] = x.c;
    x.tensor = nnrt_builder_input(
        g.b, "x", g.sixteen ? NNRT_DATA_TYPE_INT16 : g.u ? NNRT_DATA_TYPE_UINT8 : NNRT_DATA_TYPE_INT8, 4, dims);
    nnrt_builder_format(g.b, x.tensor, g.first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    q = mcu_quant(&g, 0.05);
    nnrt_builder_quant(g.b, x.tensor, &q, 1);
    steps = mcu_dice(&g.seed, 1, 8);
    for (int i = 0; i < steps; i++) {
        x = mcu_step(&g, x);
        g.images[g.images_count++] = x;
    }
    if (mcu_dice(&g.seed, 0, 2) == 0 && x.h * x.w * x.c <= 2000)
        nnrt_builder_output(g.b, mcu_head(&g, x));
    else
        nnrt_builder_output(g.b, x.tensor);
    if (g.images_count > 1 && mcu_dice(&g.seed, 0, 3) == 0)
        nnrt_builder_output(g.b, g.images[0].tensor);
    if (nnrt_builder_finish(g.b, &model, error) != NNRT_SUCCESS)
        model = NULL;
    nnrt_builder_destroy(g.b);
    return model;
}

#endif
