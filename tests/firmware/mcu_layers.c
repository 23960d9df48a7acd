/* mcu_layers.c - models of one quantized layer each, for tests/firmware/mcu.py.

       mcu_layers                     prints the layers: name, work, unit
       mcu_layers NAME FILE           writes the layer as FILE; random:SEED is a random layer, graph:SEED a network of
                                      mcu_graphs.h
       mcu_layers NAME FILE float     the same layer in float32 (convolutions and fully connected layers)

   The work of a layer is its multiply-accumulates (MACs), or, where it has none, the elements that it reads. */
#ifndef MCU_LAYERS_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "mcu_graphs.h"

/* ADD_CHANNELS: x + a vector with an element per channel. CONCAT: of two images, then requantized. */
typedef enum layer_kind {
    CONV,
    DEPTHWISE,
    TRANSPOSED,
    TRANSPOSED_DEPTHWISE,
    FULL,
    ADD,
    ADD_CHANNELS,
    MUL,
    MAXIMUM,
    MAX_POOL,
    AVERAGE_POOL,
    MEAN,
    SIGMOID,
    REQUANTIZE,
    CONCAT,
    QUANTIZE,
    DEQUANTIZE,
    SOFTMAX
} layer_kind;

typedef struct layer {
    const char *name;
    layer_kind kind;
    int h, w, c, o, kh, kw, stride, group;
} layer;

/* Layers of the networks of MLPerf Tiny, SAME padding. */
static const layer layers[] = {
    {"conv 3x3 16x16x16", CONV, 16, 16, 16, 16, 3, 3, 1, 1},
    {"conv 3x3 32x32x3", CONV, 32, 32, 3, 16, 3, 3, 1, 1},
    {"conv 3x3/2 16x16x32", CONV, 16, 16, 32, 64, 3, 3, 2, 1},
    {"conv 10x4/2 49x10x1", CONV, 49, 10, 1, 64, 10, 4, 2, 1},
    {"conv 1x1 25x5x64", CONV, 25, 5, 64, 64, 1, 1, 1, 1},
    {"conv 1x1 6x6x128", CONV, 6, 6, 128, 128, 1, 1, 1, 1},
    {"conv 1x1 48x48x8", CONV, 48, 48, 8, 16, 1, 1, 1, 1},
    {"conv 1x1/2 32x32x16", CONV, 32, 32, 16, 32, 1, 1, 2, 1},
    {"conv 1x5 1x64x16", CONV, 1, 64, 16, 32, 1, 5, 1, 1},
    {"depthwise 3x3 25x5x64", DEPTHWISE, 25, 5, 64, 64, 3, 3, 1, 1},
    {"depthwise 3x3/2 48x48x16", DEPTHWISE, 48, 48, 16, 16, 3, 3, 2, 1},
    {"depthwise 3x3 6x6x128", DEPTHWISE, 6, 6, 128, 128, 3, 3, 1, 1},
    {"depthwise 5x5 12x12x32", DEPTHWISE, 12, 12, 32, 32, 5, 5, 1, 1},
    {"transposed 2x2/2 8x8x32", TRANSPOSED, 8, 8, 32, 16, 2, 2, 2, 1},
    {"transposed 3x3/2 8x8x32", TRANSPOSED, 8, 8, 32, 16, 3, 3, 2, 1},
    {"transposed depthwise 4x4/2 8x8x32", TRANSPOSED_DEPTHWISE, 8, 8, 32, 32, 4, 4, 2, 1},
    {"full 640 to 128", FULL, 1, 1, 640, 128, 1, 1, 1, 1},
    {"full 64 to 10", FULL, 1, 1, 64, 10, 1, 1, 1, 1},
    {"add 16x16x16", ADD, 16, 16, 16, 16, 1, 1, 1, 1},
    {"add channels 16x16x16", ADD_CHANNELS, 16, 16, 16, 16, 1, 1, 1, 1},
    {"mul 16x16x16", MUL, 16, 16, 16, 16, 1, 1, 1, 1},
    {"maximum 16x16x16", MAXIMUM, 16, 16, 16, 16, 1, 1, 1, 1},
    {"sigmoid 16x16x16", SIGMOID, 16, 16, 16, 16, 1, 1, 1, 1},
    {"requantize 16x16x16", REQUANTIZE, 16, 16, 16, 16, 1, 1, 1, 1},
    {"concat 16x16x16", CONCAT, 16, 16, 16, 16, 1, 1, 1, 1},
    {"quantize 32x32x3", QUANTIZE, 32, 32, 3, 3, 1, 1, 1, 1},
    {"dequantize 32x32x3", DEQUANTIZE, 32, 32, 3, 3, 1, 1, 1, 1},
    {"mean 25x5x64", MEAN, 25, 5, 64, 64, 1, 1, 1, 1},
    {"max pool 2x2 16x16x16", MAX_POOL, 16, 16, 16, 16, 2, 2, 2, 1},
    {"average pool 25x5x64", AVERAGE_POOL, 25, 5, 64, 64, 25, 5, 1, 1},
    {"softmax 8x128", SOFTMAX, 1, 8, 128, 128, 1, 1, 1, 1},
    {"16x8 conv 3x3 16x16x16", CONV, 16, 16, 16, 16, 3, 3, 1, 1},
    {"16x8 conv 3x3 32x32x3", CONV, 32, 32, 3, 16, 3, 3, 1, 1},
    {"16x8 conv 10x4/2 49x10x1", CONV, 49, 10, 1, 64, 10, 4, 2, 1},
    {"16x8 conv 1x1 25x5x64", CONV, 25, 5, 64, 64, 1, 1, 1, 1},
    {"16x8 conv 3x3 6x6x128", CONV, 6, 6, 128, 32, 3, 3, 1, 1},
    {"16x8 depthwise 3x3 25x5x64", DEPTHWISE, 25, 5, 64, 64, 3, 3, 1, 1},
    {"16x8 depthwise 3x3/2 48x48x16", DEPTHWISE, 48, 48, 16, 16, 3, 3, 2, 1},
    {"16x8 depthwise 5x5 12x12x32", DEPTHWISE, 12, 12, 32, 32, 5, 5, 1, 1},
    {"16x8 full 640 to 128", FULL, 1, 1, 640, 128, 1, 1, 1, 1},
    {"16x8 full 2048 to 16", FULL, 1, 1, 2048, 16, 1, 1, 1, 1},
};

static uint32_t seed = 1;
static bool real;   /* float32 */
static bool plus;   /* uint8 instead of int8, zero points 128 larger */
static bool sixteen; /* int16 with int8 weights: scales of x and y divided by 256, zero points 0 */
static bool extreme, channelsFirst; /* weights are -128 and 127; the input is channels first */

static int dice(int least, int most)
{
    return mcu_dice(&seed, least, most);
}

/* Output size along an axis, SAME padding. */
static int output(int size, int stride)
{
    return (size + stride - 1) / stride;
}

static bool is_depthwise(const layer *l)
{
    return l->kind == DEPTHWISE || l->kind == TRANSPOSED_DEPTHWISE;
}

static double work_of(const layer *l)
{
    const double pixels = (double)output(l->h, l->stride) * output(l->w, l->stride), taps = (double)l->kh * l->kw;
    switch (l->kind) {
    case CONV: return pixels * l->o * taps * (l->c / l->group);
    case DEPTHWISE: return pixels * l->o * taps;
    case TRANSPOSED: return (double)l->h * l->w * l->o * taps * (l->c / l->group);
    case TRANSPOSED_DEPTHWISE: return (double)l->h * l->w * l->o * taps;
    case FULL: return (double)l->c * l->o;
    default: return (double)l->h * l->w * l->c;
    }
}

/* A random layer of int8, uint8 or int16; name has its sizes. */
static layer random_layer(const char *text, char *name, size_t size)
{
    static const char *const kinds[] = {"conv", "depthwise", "transposed", "transposed depthwise", "full", "add",
                                        "add channels", "mul", "maximum", "max pool", "average pool", "mean", "sigmoid",
                                        "requantize", "concat", "quantize", "dequantize", "softmax"};
    layer l = {name, CONV, 1, 1, 1, 1, 1, 1, 1, 1};
    seed = (uint32_t)strtoul(text, NULL, 10) * 2654435761u + 1;
    l.kind = real || dice(0, 1) != 0 ? (layer_kind)dice(CONV, FULL) : (layer_kind)dice(ADD, SOFTMAX);
    plus = dice(0, 2) == 0;
    extreme = dice(0, 4) == 0;
    channelsFirst = l.kind < FULL && dice(0, 3) == 0;
    l.c = dice(1, 130);
    l.o = is_depthwise(&l) || l.kind > FULL ? l.c : dice(1, 130);
    if (l.kind != FULL) {
        l.h = dice(1, 12);
        l.w = dice(1, 12);
        l.kh = dice(1, 5);
        l.kw = dice(1, 5);
        l.stride = dice(1, 3);
        l.group = (l.kind == CONV || l.kind == TRANSPOSED) && dice(0, 3) == 0 ? dice(2, 4) : 1;
        l.c = l.c / l.group * l.group > 0 ? l.c / l.group * l.group : l.group;
        l.o = is_depthwise(&l) || l.kind > FULL ? l.c : l.o / l.group * l.group > 0 ? l.o / l.group * l.group : l.group;
    }
    if (l.kind > FULL) { /* only windows of pools, which fit the image */
        const bool pool = l.kind == MAX_POOL || l.kind == AVERAGE_POOL;
        l.kh = pool && l.kh < l.h ? l.kh : 1;
        l.kw = pool && l.kw < l.w ? l.kw : 1;
        l.stride = pool ? l.stride : 1;
    }
    sixteen = !real && (l.kind == CONV || l.kind == DEPTHWISE || l.kind == FULL) && dice(0, 3) == 0;
    plus = plus && !sixteen;
    snprintf(name, size, "%s %dx%d/%d %dx%dx%d to %d, %d groups, %s", kinds[l.kind], l.kh, l.kw, l.stride, l.h, l.w, l.c,
             l.o, l.group, real ? "float32" : sixteen ? "int16" : plus ? "uint8" : "int8");
    return l;
}

/* A constant of random int8 (or float32) weights with a scale per channel, or int32 (int64) biases. */
static uint32_t weights(nnrt_builder *b, int32_t rank, const int32_t *dims, bool bias)
{
    size_t count = 1;
    NNRT_QuantParam *params = (NNRT_QuantParam *)calloc((size_t)dims[0], sizeof(*params));
    uint32_t tensor;
    void *data;
    for (int32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    data = calloc(count, 8);
    for (size_t i = 0; i < count; i++)
        if (real)
            ((float *)data)[i] = (float)dice(-127, 127) / 127;
        else if (bias && sixteen)
            ((int64_t *)data)[i] = 256 * dice(-2000, 2000);
        else if (bias)
            ((int32_t *)data)[i] = dice(-2000, 2000);
        else
            ((int8_t *)data)[i] = (int8_t)(extreme ? 255 * dice(0, 1) - 128 : dice(-127, 127));
    tensor = nnrt_builder_constant(b, bias ? "bias" : "weights",
                                   real               ? NNRT_DATA_TYPE_FLOAT32
                                   : bias && sixteen ? NNRT_DATA_TYPE_INT64
                                   : bias            ? NNRT_DATA_TYPE_INT32
                                                      : NNRT_DATA_TYPE_INT8,
                                   rank, dims, data, true);
    for (int32_t i = 0; i < dims[0]; i++) {
        params[i].numBits = 8;
        params[i].scale = 0.001 * dice(1, 10);
    }
    if (!bias && !real)
        nnrt_builder_quant(b, tensor, params, (uint32_t)dims[0]);
    free(params);
    free(data);
    return tensor;
}

/* Declares the type and the scale of a tensor. zero: for int8. */
static void quantize(nnrt_builder *b, uint32_t tensor, int zero, double scale)
{
    NNRT_QuantParam param = {8, 0, 0};
    param.zeroPoint = zero + (plus ? 128 : 0);
    param.scale = scale;
    if (sixteen) {
        param.numBits = 16;
        param.zeroPoint = 0;
        param.scale = scale / 256;
    }
    nnrt_builder_quant(b, tensor, &param, 1);
}

static uint32_t input(nnrt_builder *b, const char *name, int32_t rank, const int32_t *dims, double scale)
{
    const NNRT_DataType type = real      ? NNRT_DATA_TYPE_FLOAT32
                               : sixteen ? NNRT_DATA_TYPE_INT16
                               : plus    ? NNRT_DATA_TYPE_UINT8
                                         : NNRT_DATA_TYPE_INT8;
    const int32_t first[4] = {dims[0], dims[rank - 1], rank == 4 ? dims[1] : 1, rank == 4 ? dims[2] : 1};
    const uint32_t tensor = nnrt_builder_input(b, name, type, rank, channelsFirst ? first : dims);
    if (rank == 4)
        nnrt_builder_format(b, tensor, channelsFirst ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    if (!real)
        quantize(b, tensor, 3, scale);
    return tensor;
}

/* The node of a layer of images whose inputs are x and perhaps z. */
static void build_images(nnrt_builder *b, const layer *l, uint32_t x, uint32_t z, uint32_t y)
{
    const int64_t integers = plus ? NNRT_DATA_TYPE_UINT8 : NNRT_DATA_TYPE_INT8, floats = NNRT_DATA_TYPE_FLOAT32;
    static int32_t axes[] = {1, 2}, two = 2;
    int64_t kernel[2], stride[2];
    NNRT_MaxPoolFusion largest;
    NNRT_AvgPoolFusion average;
    NNRT_ReduceFusion reduce;
    NNRT_Activation activation;
    NNRT_QuantDTypeCast cast;
    NNRT_Concat concat;
    uint32_t in[2], both;
    memset(&largest, 0, sizeof(largest));
    memset(&average, 0, sizeof(average));
    memset(&reduce, 0, sizeof(reduce));
    memset(&activation, 0, sizeof(activation));
    memset(&cast, 0, sizeof(cast));
    memset(&concat, 0, sizeof(concat));
    in[0] = x;
    in[1] = z;
    kernel[0] = l->kh;
    kernel[1] = l->kw;
    stride[0] = stride[1] = l->stride;
    largest.strides.data = average.strides.data = stride;
    largest.strides.count = average.strides.count = 2;
    largest.kernelSize.data = average.kernelSize.data = kernel;
    largest.kernelSize.count = average.kernelSize.count = 2;
    largest.padMode = average.padMode = l->kh < l->h ? NNRT_PAD_MODE_SAME : NNRT_PAD_MODE_PAD;
    reduce.mode = NNRT_REDUCE_MODE_MEAN;
    reduce.keepDims = true;
    activation.activationType = NNRT_ACTIVATION_TYPE_SIGMOID;
    cast.srcT = l->kind == QUANTIZE ? floats : integers;
    cast.dstT = l->kind == DEQUANTIZE ? floats : integers;
    if (l->kind == MEAN)
        in[1] = nnrt_builder_constant(b, "axes", NNRT_DATA_TYPE_INT32, 1, &two, axes, true);
    switch (l->kind) {
    case MUL: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2, &y, 1); break;
    case MAXIMUM: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_MAXIMUM, NULL, in, 2, &y, 1); break;
    case MAX_POOL: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_MAX_POOL_FUSION, &largest, in, 1, &y, 1); break;
    case AVERAGE_POOL: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, in, 1, &y, 1); break;
    case MEAN: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_REDUCE_FUSION, &reduce, in, 2, &y, 1); break;
    case SIGMOID: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_ACTIVATION, &activation, in, 1, &y, 1); break;
    case CONCAT:
        both = nnrt_builder_tensor(b, "both");
        quantize(b, both, 3, 0.05);
        concat.axis = channelsFirst ? 1 : 3;
        nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_CONCAT, &concat, in, 2, &both, 1);
        nnrt_builder_node(b, "requantize", NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &cast, &both, 1, &y, 1);
        break;
    case REQUANTIZE:
    case QUANTIZE:
    case DEQUANTIZE: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &cast, in, 1, &y, 1); break;
    case SOFTMAX: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_SOFTMAX, NULL, in, 1, &y, 1); break;
    default: nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2, &y, 1); break;
    }
}

/* The layer's node. y: declared, with its scale. */
static void build(nnrt_builder *b, const layer *l)
{
    const int32_t image[4] = {1, l->h, l->w, l->c}, rows[2] = {l->w, l->c}, flat[2] = {1, l->c};
    const int32_t filter[4] = {l->o, l->kh, l->kw, is_depthwise(l) ? 1 : l->c / l->group};
    const int32_t matrix[2] = {l->o, l->c}, *w = l->kind == FULL ? matrix : filter;
    const bool same = l->kind == MAX_POOL || l->kind == AVERAGE_POOL || l->kind == MAXIMUM;
    const double terms = (double)l->c / l->group * l->kh * l->kw;
    const bool wasReal = real;
    int64_t stride[2];
    NNRT_Conv2DFusion conv;
    NNRT_Conv2dTransposeFusion transposed;
    NNRT_FullConnection full;
    uint32_t in[3], y = nnrt_builder_tensor(b, "y");
    stride[0] = stride[1] = l->stride;
    memset(&conv, 0, sizeof(conv));
    memset(&transposed, 0, sizeof(transposed));
    memset(&full, 0, sizeof(full));
    conv.stride.data = stride;
    conv.stride.count = 2;
    conv.padMode = NNRT_PAD_MODE_SAME;
    conv.group = transposed.group = is_depthwise(l) ? l->c : l->group;
    transposed.stride = conv.stride;
    transposed.padMode = conv.padMode;
    full.hasBias = true;
    if (!real && l->kind != DEQUANTIZE)
        quantize(b, y, l->kind == SOFTMAX || l->kind == SIGMOID ? -128 : same ? 3 : -5,
                 l->kind == SOFTMAX || l->kind == SIGMOID ? 1.0 / 256 : l->kind <= FULL ? 0.0001 * (20 + terms) : 0.05);
    real = real || l->kind == QUANTIZE;
    in[0] = input(b, "x", l->kind == FULL || l->kind == SOFTMAX ? 2 : 4,
                  l->kind == FULL ? flat : l->kind == SOFTMAX ? rows : image, l->kind == REQUANTIZE ? 0.02 : 0.05);
    if (l->kind == ADD || l->kind == MUL || l->kind == MAXIMUM || l->kind == CONCAT)
        in[1] = input(b, "z", 4, image, l->kind == MAXIMUM ? 0.05 : 0.03);
    else if (l->kind == ADD_CHANNELS)
        in[1] = input(b, "z", 1, &image[3], 0.03);
    if (l->kind <= FULL) {
        in[1] = weights(b, l->kind == FULL ? 2 : 4, w, false);
        in[2] = weights(b, 1, w, true);
    }
    if (l->kind == FULL)
        nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_FULL_CONNECTION, &full, in, 3, &y, 1);
    else if (l->kind == TRANSPOSED || l->kind == TRANSPOSED_DEPTHWISE)
        nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &transposed, in, 3, &y, 1);
    else if (l->kind <= FULL)
        nnrt_builder_node(b, l->name, NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 3, &y, 1);
    else
        build_images(b, l, in[0], in[1], y);
    real = wasReal;
    nnrt_builder_output(b, y);
}

#ifndef MCU_LAYERS_INCLUDED
/* The layer of that name; NULL: there is none. */
static const layer *find(const char *text, char *name, size_t size)
{
    static layer random;
    if (strncmp(text, "random:", 7) == 0) {
        random = random_layer(text + 7, name, size);
        return &random;
    }
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
        if (strcmp(text, layers[i].name) == 0) {
            sixteen = !real && strncmp(text, "16x8 ", 5) == 0;
            return &layers[i];
        }
    return NULL;
}

/* The model of a layer, or of graph:SEED. *l = the layer. NULL: error has the reason. */
static NNRT_Model *make(const char *text, char *name, size_t size, const layer **l, nnrt_error *error)
{
    nnrt_builder *b;
    NNRT_Model *model = NULL;
    if (strncmp(text, "graph:", 6) == 0)
        return mcu_random_graph((uint32_t)strtoul(text + 6, NULL, 10), error);
    if ((*l = find(text, name, size)) == NULL) {
        (void)nnrt_error_set(error, NNRT_INVALID_PARAMETER, "there is no layer '%s'", text);
        return NULL;
    }
    nnrt_builder_create(&b, (*l)->name, NULL);
    build(b, *l);
    (void)nnrt_builder_finish(b, &model, error);
    nnrt_builder_destroy(b);
    return model;
}

int main(int argc, char **argv)
{
    char name[128];
    const layer *l = NULL;
    NNRT_Model *model;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (argc < 3) {
        for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
            printf("%s\t%.0f\t%s\n", layers[i].name, work_of(&layers[i]), layers[i].kind <= FULL ? "MAC" : "element");
        return 0;
    }
    real = argc > 3;
    model = make(argv[1], name, sizeof(name), &l, &error);
    if (model == NULL || nnrt_model_save(model, argv[2], NULL, &error) != NNRT_SUCCESS)
        return fprintf(stderr, "mcu_layers: %s: %s\n", argv[1], error.message), 1;
    if (l != NULL)
        printf("%s\t%.0f\t%s\n", l->name, work_of(l), l->kind <= FULL ? "MAC" : "element");
    nnrt_model_destroy(model);
    return 0;
}
#endif
