/*
cost.h - the work of a model: multiply-accumulates, an estimate of the instructions on a microcontroller, and one of the time on
a processor with SIMD, in float32 and in 8 bits.
Part of tools/nnrt.c.

    >>macs          multiply-accumulates
    >>instructions  of a Cortex-M4
    >>time          of the device `cpu`
    >>work          sums over a model
*/
#ifndef NNRT_TOOL_COST_H
#define NNRT_TOOL_COST_H

#include "job.h"

#include <math.h>

/* Processors whose times are known (>>time). */
typedef enum cli_processor {
    CLI_PROCESSOR_BYTES, /* AVX-512 VNNI; also the one for which --exact predicts, and others without measurements */
    CLI_PROCESSOR_WORDS, /* AVX2, an AMD Zen 1 */
    CLI_PROCESSORS
} cli_processor;

/* Nanoseconds of a node. */
typedef struct cli_ns {
    double f32, int8; /* of its kernels */
    bool product;     /* it has multiply-accumulates */
} cli_ns;

/* Sums over all nodes. */
typedef struct cli_work {
    uint32_t types;      /* of operands: the sum of their bits */
    double macs;         /* multiply-accumulates */
    double instructions; /* of a Cortex-M4 */
    const NNRT_Model *model;
    cli_ns *ns;              /* receives the time of each node on the processor; NULL: none */
    double *elements;        /* with ns: receives the elements of each tensor that a node reads or writes */
    cli_processor processor;
} cli_work;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>macs */

static double cli_elements(const nnrt_operand *o)
{
    double count = 1;
    for (int32_t k = 0; k < o->rank; k++)
        count *= o->dims[k];
    return count;
}

/* EINSUM: the product of the sizes of all labels, once per input after the first. */
static double cli_einsum(const nnrt_resolve *c)
{
    const int32_t *labels = c->nDerived > 0 ? (const int32_t *)c->derived[0].data : NULL;
    const int32_t count = labels != NULL ? *labels++ : 0;
    double macs = c->nIn > 1 ? c->nIn - 1 : 0;
    for (int32_t label = 0; label < count; label++) {
        const int32_t *at = labels;
        int32_t extent = 1;
        for (uint32_t i = 0; i < c->nIn; i++)
            for (int32_t k = 0; k < c->in[i].rank; k++, at++)
                extent = *at == label && c->in[i].dims[k] > extent ? c->in[i].dims[k] : extent;
        macs *= extent;
    }
    return macs;
}

/* Multiply-accumulates of a node, padding included. */
static double cli_macs(const nnrt_resolve *c)
{
    const nnrt_operand *x = c->in, *w = c->in + 1, *y = c->out;
    switch ((int)c->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV_3D:
    case NNRT_NODE_TYPE_CONV_INTEGER:
    case NNRT_NODE_TYPE_FULL_CONNECTION: /* weight [Co,..]: each element of y sums over the weights of one Co */
        return w->dims[0] > 0 ? cli_elements(y) * cli_elements(w) / w->dims[0] : 0;
    case NNRT_NODE_TYPE_DEFORMABLE_CONV_2D:
        return c->in[3].dims[0] > 0 ? cli_elements(y) * cli_elements(&c->in[3]) / c->in[3].dims[0] : 0;
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION:
    case NNRT_NODE_TYPE_CONV_TRANSPOSE_3D: { /* each pixel of x is multiplied by the whole weight */
        const int32_t channels = x->dims[x->format == NNRT_FORMAT_NCHW || x->rank == 5 ? 1 : x->rank - 1];
        return channels > 0 ? cli_elements(x) / channels * cli_elements(w) : 0;
    }
    case NNRT_NODE_TYPE_MATMUL_FUSION: {
        const bool turned = ((const NNRT_MatMulFusion *)c->resolved)->transposeA;
        return cli_elements(y) * x->dims[x->rank > 1 && turned ? x->rank - 2 : x->rank - 1];
    }
    case NNRT_NODE_TYPE_MATMUL_NBITS:
    case NNRT_NODE_TYPE_MATMUL_INTEGER: return cli_elements(y) * x->dims[x->rank - 1];
    case NNRT_NODE_TYPE_EINSUM: return cli_einsum(c);
    case NNRT_NODE_TYPE_ATTENTION: { /* Q*K' and the product with V, over all keys */
        const int32_t past = c->nIn > 4 && c->in[4].rank == 4 ? c->in[4].dims[2] : 0;
        return (cli_elements(x) + cli_elements(y)) * ((double)w->dims[w->rank - 2] + past);
    }
    case NNRT_NODE_TYPE_LSTM:
    case NNRT_NODE_TYPE_LSTM_PEEPHOLE:
    case NNRT_NODE_TYPE_GRU:
    case NNRT_NODE_TYPE_RNN: /* both weights, per step of each sequence */
        return (double)x->dims[0] * x->dims[1] * (cli_elements(w) + cli_elements(&c->in[2]));
    default: return 0;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>instructions */

/* Instructions on a Cortex-M4 with FPU are a sum of terms that follow the loops of the kernels of nnrt_mcu.h: how often a loop
   runs, times the instructions of one iteration. Those are fitted, by least squares of relative errors, to counts of qemu of
   all layers of the networks of tests/firmware/instructions.tsv and of `make mcu-layers`, random ones too; gcc 12 -O2. */
enum { CLI_TERMS = 9 };

/* Classes of kernels. A panel is four channels of 8 bits, or eight of float32; pixels: of y. */
typedef enum cli_class {
    CLI_CONV_8,
    CLI_CONV_F32,
    CLI_DEPTHWISE3_8, /* 3 x 3 taps, stride 1 */
    CLI_DEPTHWISE_8,
    CLI_DEPTHWISE_F32,
    CLI_POOL_8,
    CLI_POOL_F32,
    CLI_CLASSES
} cli_class;

static const float cli_class_rates[CLI_CLASSES][CLI_TERMS] = {
    /* calls; -; words of windows in tiles of two pixels and a panel; elements of y; bytes of windows; rows of windows; rows of
       windows that padding cuts; their bytes; rows that do not end with a whole word */
    {75, 0, 15.2f, 19, 2.25f, 3.7f, 92, 0, 23},
    /* calls; tiles; elements of windows in tiles of two pixels, of one; in panels of four: of two, of one; rows of windows in
       tiles; elements of y with an activation; elements gathered */
    {159, 27, 9.3f, 9.83f, 10.7f, 5.6f, 19.7f, 9.6f, 9.6f},
    /* calls; panels of pairs of rows of y; columns of x in them; pixels in them */
    {0, 97, 98, 98, 0, 0, 0, 0, 0},
    /* calls; pixels; panels; rows of windows in panels; pairs of taps, single taps in panels; taps of windows that padding
       cuts; their bytes */
    {0, 32, 0, 18.5f, 9.8f, 18.5f, 4.5f, 1.4f, 0},
    /* these three: calls; pixels; panels; taps in panels; elements of y with an activation, or that are means; taps of channels
       without panel */
    {0, 26, 7.8f, 16.9f, 9.7f, 0, 0, 0, 0},
    {1000, 76, 22, 3.6f, 5.3f, 0, 0, 0, 0},
    {0, 321, 88, 11.7f, 0, 9, 0, 0, 0},
};

/* Of other operators: instructions for each call, each multiply-accumulate, and each element of the result or, without
   multiply-accumulates, of the largest operand. Of 8-bit operands, of int16 with int8 weights, and of float32. Convolutions
   and fully connected layers: of int16. */
typedef struct cli_rate {
    NNRT_NodeType type;
    struct {
        float mac, element;
    } of[3];
} cli_rate;

enum { CLI_CALL = 200 };

static const cli_rate cli_rates[] = {
    {NNRT_NODE_TYPE_NONE, {{5, 20}, {5, 20}, {4, 20}}}, /* of operators that are not listed; guessed */
    {NNRT_NODE_TYPE_CONV2D_FUSION, {{0, 0}, {1.6f, 20}, {0, 0}}},
    {NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, {{1.65f, 0}, {1.65f, 0}, {8.5f, 0}}},
    {NNRT_NODE_TYPE_FULL_CONNECTION, {{0, 0}, {1.55f, 50}, {0, 0}}},
    {NNRT_NODE_TYPE_MATMUL_FUSION, {{1.05f, 50}, {1.55f, 50}, {1.22f, 30}}},
    {NNRT_NODE_TYPE_ADD_FUSION, {{0, 15}, {0, 15}, {0, 1.8f}}},
    {NNRT_NODE_TYPE_SUB_FUSION, {{0, 15}, {0, 15}, {0, 1.8f}}},
    {NNRT_NODE_TYPE_MUL_FUSION, {{0, 10.5f}, {0, 10.5f}, {0, 1.8f}}},
    {NNRT_NODE_TYPE_MAXIMUM, {{0, 1.8f}, {0, 1.8f}, {0, 13}}},
    {NNRT_NODE_TYPE_MINIMUM, {{0, 1.8f}, {0, 1.8f}, {0, 13}}},
    {NNRT_NODE_TYPE_ACTIVATION, {{0, 4}, {0, 4}, {0, 106}}}, /* float32: of sigmoid */
    {NNRT_NODE_TYPE_MATMUL_NBITS, {{5, 20}, {5, 20}, {18, 20}}},
    {NNRT_NODE_TYPE_LSTM, {{5, 20}, {5, 20}, {5.3f, 400}}},
    {NNRT_NODE_TYPE_QUANTIZE_LINEAR, {{0, 8.5f}, {0, 8.5f}, {0, 8.5f}}},
    {NNRT_NODE_TYPE_QUANT_DTYPE_CAST, {{0, 7.5f}, {0, 7.5f}, {0, 11.5f}}},
    {NNRT_NODE_TYPE_REDUCE_FUSION, {{0, 1.3f}, {0, 1.3f}, {0, 16.6f}}},
    {NNRT_NODE_TYPE_SOFTMAX, {{0, 39}, {0, 39}, {0, 74}}},
    {NNRT_NODE_TYPE_CONCAT, {{0, 14}, {0, 14}, {0, 4}}},
    {NNRT_NODE_TYPE_RESHAPE, {{0, 0}, {0, 0}, {0, 0}}},
    {NNRT_NODE_TYPE_SQUEEZE, {{0, 0}, {0, 0}, {0, 0}}},
    {NNRT_NODE_TYPE_UNSQUEEZE, {{0, 0}, {0, 0}, {0, 0}}},
    {NNRT_NODE_TYPE_FLATTEN, {{0, 0}, {0, 0}, {0, 0}}},
};
static const cli_rate cli_depthwise_rate = {NNRT_NODE_TYPE_CONV2D_FUSION, {{0, 0}, {4.5f, 0}, {0, 0}}};

/* Windows along one axis of an image. */
typedef struct cli_axis {
    double count;  /* windows */
    double taps;   /* of a window */
    double inside; /* taps of all windows that are inside the image */
    double whole;  /* windows that are completely inside */
} cli_axis;

/* before: padding before the first element. An axis of more windows than any image has counts as one without padding, so
   that the time does not depend on the numbers of a file. */
static cli_axis cli_axis_of(int32_t count, int32_t size, int64_t taps, int64_t stride, int64_t dilation, int64_t before)
{
    cli_axis a = {count, (double)taps, (double)count * (double)taps, count};
    if (count > 65536 || before < 0 || before > INT32_MAX || taps > INT32_MAX || dilation < 1)
        return a;
    a.inside = a.whole = 0;
    for (int32_t i = 0; i < count; i++) {
        const int64_t at = i * stride - before;
        const int64_t first = at < 0 ? (dilation - 1 - at) / dilation : 0,
                      end = at < size ? (size - 1 - at) / dilation + 1 : 0;
        const int64_t inside = (end < taps ? end : taps) - first;
        a.inside += inside > 0 ? (double)inside : 0;
        a.whole += inside == taps;
    }
    return a;
}

/* A convolution, a pool, or a fully connected layer as a convolution of one tap. */
typedef struct cli_windows {
    cli_axis rows, columns;
    double n, c, o, groups; /* images; channels of x and y per group */
    double w;               /* columns of x */
    double activation;      /* of an element of y: 1 for two bounds, less for RELU */
    bool stepped;           /* a stride or dilation is not 1 */
} cli_windows;

/* Entry i of a list of attributes; rest: of a list without entries. */
static int64_t cli_entry(const NNRT_Int64List *list, uint32_t i, int64_t rest)
{
    return i < list->count ? list->data[i] : rest;
}

/* Elements with an activation count in full with two bounds; RELU has one. */
static double cli_activation_weight(int32_t activation)
{
    return activation == NNRT_ACTIVATION_TYPE_NO_ACTIVATION ? 0 : activation == NNRT_ACTIVATION_TYPE_RELU ? 0.6 : 1;
}

static cli_windows cli_windows_make(const nnrt_operand *x, const nnrt_operand *y, const int64_t *taps,
                                    const NNRT_Int64List *strides, const NNRT_Int64List *dilations,
                                    const NNRT_Int64List *pad, int32_t activation)
{
    const int32_t at = x->format == NNRT_FORMAT_NCHW ? 2 : 1;
    cli_windows v;
    memset(&v, 0, sizeof(v));
    v.rows = cli_axis_of(y->dims[at], x->dims[at], taps[0], cli_entry(strides, 0, 1), cli_entry(dilations, 0, 1),
                         cli_entry(pad, 0, 0));
    v.columns = cli_axis_of(y->dims[at + 1], x->dims[at + 1], taps[1], cli_entry(strides, 1, 1),
                            cli_entry(dilations, 1, 1), cli_entry(pad, 2, 0));
    v.n = x->dims[0];
    v.c = x->dims[at == 2 ? 1 : 3];
    v.o = y->dims[at == 2 ? 1 : 3];
    v.groups = 1;
    v.w = x->dims[at + 1];
    for (uint32_t i = 0; i < 2; i++)
        v.stepped = v.stepped || cli_entry(strides, i, 1) != 1 || cli_entry(dilations, i, 1) != 1;
    v.activation = cli_activation_weight(activation);
    return v;
}

static double cli_up(double value, double multiple)
{
    return multiple * ceil(value / multiple);
}

static void cli_terms_conv_8(const cli_windows *v, double *t)
{
    const double pixels = v->n * v->rows.count * v->columns.count, row = v->columns.taps * v->c,
                 rows = pixels * v->rows.taps;
    const double words = cli_up(v->rows.taps * cli_up(row, 4) / 2, 4), panels = ceil(v->o / 4);
    const double whole = v->n * v->rows.inside * v->columns.whole;
    t[2] = v->groups * panels * words *
           (floor(pixels / 2) + (fmod(pixels, 2) > 0 ? 0.64 : 0)); /* one pixel takes 36 of 56 */
    t[3] = v->groups * pixels * v->o;
    t[4] = v->groups * rows * cli_up(row, 4);
    t[5] = v->groups * rows;
    t[6] = v->groups * (rows - whole);
    t[7] = v->groups * (rows - whole) * row;
    t[8] = fmod(row, 4) > 0 ? t[5] : 0;
}

/* gathered: channels of a pixel are not adjacent in x, so that windows are copied. */
static void cli_terms_conv_f32(const cli_windows *v, bool gathered, double *t)
{
    const double rest = fmod(v->o, 8), eights = rest > 4 ? ceil(v->o / 8) : floor(v->o / 8),
                 fours = rest > 0 && rest <= 4;
    const double pairs = floor(v->columns.whole / 2), tiles = v->columns.count - pairs;
    const double all = v->groups * v->n * v->rows.inside * v->columns.inside * v->c;
    const double paired = v->groups * v->n * v->rows.inside * 2 * pairs * v->columns.taps * v->c;
    t[1] = v->groups * v->n * v->rows.count * tiles * (eights + fours);
    t[2] = eights * paired;
    t[3] = eights * (all - paired);
    t[4] = fours * paired;
    t[5] = fours * (all - paired);
    t[6] = v->groups * v->n * v->rows.inside * tiles * (eights + fours);
    t[7] = v->activation * v->groups * v->n * v->rows.count * v->columns.count * v->o;
    t[8] = gathered ? all : 0;
}

static cli_class cli_terms_conv(const cli_windows *v, bool bytes, bool gathered, double *t)
{
    if (bytes)
        cli_terms_conv_8(v, t);
    else
        cli_terms_conv_f32(v, gathered, t);
    return bytes ? CLI_CONV_8 : CLI_CONV_F32;
}

static void cli_terms_depthwise3_8(const cli_windows *v, double *t)
{
    const double pairs = v->n * ceil(v->rows.count / 2) * ceil(v->c / 4);
    t[1] = pairs;
    t[2] = pairs * v->w;
    t[3] = pairs * v->columns.count;
}

static void cli_terms_depthwise_8(const cli_windows *v, double *t)
{
    const double pixels = v->n * v->rows.count * v->columns.count, panels = pixels * ceil(v->c / 4);
    const double whole = v->c < 4 ? 0 : v->n * v->rows.whole * v->columns.whole;
    t[1] = pixels;
    t[2] = panels;
    t[3] = panels * v->rows.taps;
    t[4] = panels * v->rows.taps * floor(v->columns.taps / 2);
    t[5] = panels * v->rows.taps * fmod(v->columns.taps, 2);
    t[6] = (pixels - whole) * v->rows.taps * v->columns.taps;
    t[7] = t[6] * v->c;
}

/* A depthwise convolution or a pool. elements: the weight of elements of y in their term. */
static void cli_terms_pixels(const cli_windows *v, double panel, double elements, double *t)
{
    const double pixels = v->n * v->rows.count * v->columns.count, taps = v->n * v->rows.inside * v->columns.inside;
    t[1] = pixels;
    t[2] = v->c < panel ? 0 : pixels * ceil(v->c / panel);
    t[3] = v->c < panel ? 0 : taps * ceil(v->c / panel);
    t[4] = elements * pixels * v->c;
    t[5] = v->c < panel ? taps * v->c : 0;
}

/* The class of a node's kernel and its terms; CLI_CLASSES: none. first: x is an input of the model. */
static cli_class cli_terms_of(const nnrt_resolve *c, bool first, double *t)
{
    const nnrt_operand *x = c->in, *w = c->in + 1, *y = c->out;
    const bool bytes = c->nIn > 0 && (x->dataType == NNRT_DATA_TYPE_INT8 || x->dataType == NNRT_DATA_TYPE_UINT8);
    int64_t taps[2] = {1, 1};
    cli_windows v;
    memset(t, 0, CLI_TERMS * sizeof(*t));
    memset(&v, 0, sizeof(v));
    t[0] = 1;
    if (c->nIn == 0 || c->nOut == 0 || (!bytes && x->dataType != NNRT_DATA_TYPE_FLOAT32))
        return CLI_CLASSES;
    switch ((int)c->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION: {
        const NNRT_Conv2DFusion *a = (const NNRT_Conv2DFusion *)c->resolved;
        taps[0] = w->dims[1];
        taps[1] = w->dims[2];
        v = cli_windows_make(x, y, taps, &a->stride, &a->dilation, &a->padList, a->activationType);
        if (a->group > 1 && v.c == (double)a->group && v.o == v.c) {
            const bool three = bytes && !v.stepped && v.c >= 4 && taps[0] == 3 && taps[1] == 3;
            if (!bytes)
                cli_terms_pixels(&v, 8, v.activation, t);
            else if (three)
                cli_terms_depthwise3_8(&v, t);
            else
                cli_terms_depthwise_8(&v, t);
            return !bytes ? CLI_DEPTHWISE_F32 : three ? CLI_DEPTHWISE3_8 : CLI_DEPTHWISE_8;
        }
        v.groups = (double)a->group;
        v.c /= v.groups;
        v.o /= v.groups;
        return cli_terms_conv(&v, bytes, first && x->format == NNRT_FORMAT_NCHW && v.c > 1, t);
    }
    case NNRT_NODE_TYPE_FULL_CONNECTION:
        if (w->dims[0] == 0 || w->dims[1] == 0)
            return CLI_CLASSES;
        v.rows = v.columns = cli_axis_of(1, 1, 1, 1, 1, 0);
        v.n = v.groups = 1;
        v.columns.count = v.columns.inside = v.columns.whole = cli_elements(y) / w->dims[0];
        v.c = w->dims[1];
        v.o = w->dims[0];
        v.activation = cli_activation_weight(((const NNRT_FullConnection *)c->resolved)->activationType);
        return cli_terms_conv(&v, bytes, false, t);
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_FUSION: {
        static const NNRT_Int64List none = {NULL, 0};
        const bool mean = c->op->type == NNRT_NODE_TYPE_AVGPOOL_FUSION;
        const NNRT_MaxPoolFusion *m = (const NNRT_MaxPoolFusion *)c->resolved;
        const NNRT_AvgPoolFusion *a = (const NNRT_AvgPoolFusion *)c->resolved;
        const NNRT_Int64List *kernel = mean ? &a->kernelSize : &m->kernelSize;
        taps[0] = cli_entry(kernel, 0, 1);
        taps[1] = cli_entry(kernel, 1, 1);
        v = cli_windows_make(x, y, taps, mean ? &a->strides : &m->strides, &none, mean ? &a->pad : &m->pad, 0);
        cli_terms_pixels(&v, bytes ? 4 : 8, mean ? 1 : 0, t);
        return bytes ? CLI_POOL_8 : CLI_POOL_F32;
    }
    default: return CLI_CLASSES;
    }
}

static bool cli_is_depthwise(const nnrt_resolve *c)
{
    const nnrt_operand *x = c->in;
    return c->op->type == NNRT_NODE_TYPE_CONV2D_FUSION && ((const NNRT_Conv2DFusion *)c->resolved)->group > 1 &&
           ((const NNRT_Conv2DFusion *)c->resolved)->group == x->dims[x->format == NNRT_FORMAT_NCHW ? 1 : x->rank - 1];
}

/* macs: of the node; first: its input 0 is one of the model. */
static double cli_m4_instructions(const nnrt_resolve *c, double macs, bool first)
{
    double terms[CLI_TERMS], elements = 0, sum = 0;
    const cli_class kernel = cli_terms_of(c, first, terms);
    const cli_rate *rate = cli_is_depthwise(c) ? &cli_depthwise_rate : cli_rates;
    const NNRT_DataType type = c->nIn > 0 ? c->in[0].dataType : NNRT_DATA_TYPE_FLOAT32;
    const int kind = type == NNRT_DATA_TYPE_INT8 || type == NNRT_DATA_TYPE_UINT8 ? 0
                     : type == NNRT_DATA_TYPE_INT16                              ? 1
                                                                                 : 2;
    if (kernel != CLI_CLASSES) {
        for (int i = 0; i < CLI_TERMS; i++)
            sum += terms[i] * (double)cli_class_rates[kernel][i];
        return sum;
    }
    elements = c->nOut > 0 ? cli_elements(&c->out[0]) : 0;
    for (size_t i = 1; i < sizeof(cli_rates) / sizeof(cli_rates[0]) && rate == cli_rates; i++)
        rate = cli_rates[i].type == c->op->type ? &cli_rates[i] : rate;
    for (uint32_t i = 0; i < c->nIn && macs == 0; i++)
        elements = cli_elements(&c->in[i]) > elements ? cli_elements(&c->in[i]) : elements;
    return CLI_CALL + macs * (double)rate->of[kind].mac + elements * (double)rate->of[kind].element;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>time */

/* Nanoseconds of one thread of the device `cpu`, fitted to `nnrt bench --profile` of MobileNetV2, ResNet-18, ResNet-8, DS-CNN,
   BlazeFace, M-LSD, the selfie segmentation and PP-OCR's detector and recognizer, on two processors: one multiplies bytes, the
   other one adds products of bytes in 16 bits (weights of 7 bits), or multiplies int16. Only ratios matter: whether a node is faster in 8 bits, and how its gain compares with casts. 8-bit
   kernels are not always faster: operators without one of their own run the reference kernel, and a convolution of few channels
   cannot fill the lanes of VNNI. Where a processor multiplies 128 bits at a time, four products of bytes in 16 bits take 0.8 of
   the time of float32, and of two tensors of the run, which are int16, as long; there are no Winograd tiles. */
typedef struct cli_rates_of {
    NNRT_NodeType type;
    struct {
        struct {
            float mac, element; /* element: of the result, or of input 0 if that is larger */
        } f32, int8;
    } of[CLI_PROCESSORS];
} cli_rates_of;

static const cli_rates_of cli_speeds[] = {
    {NNRT_NODE_TYPE_NONE, {{{0.5f, 0.3f}, {1, 0.5f}}, {{1, 0.6f}, {2, 1}}}}, /* not listed; guessed */
    {NNRT_NODE_TYPE_CONV2D_FUSION, {{{0.0061f, 0.45f}, {0.0014f, 0.18f}}, {{0.05f, 0.5f}, {0.042f, 0.9f}}}}, /* 8 bits: 1x1 */
    {NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, {{{0.0061f, 0.45f}, {0.0031f, 0.18f}}, {{0.05f, 0.9f}, {0.042f, 0.9f}}}},
    {NNRT_NODE_TYPE_FULL_CONNECTION, {{{0.0146f, 0.45f}, {0.0062f, 0.18f}}, {{0.053f, 0.4f}, {0.045f, 0.5f}}}},
    {NNRT_NODE_TYPE_MATMUL_FUSION, {{{0.0146f, 0.45f}, {0.0062f, 0.18f}}, {{0.053f, 0.4f}, {0.053f, 0.5f}}}},
    {NNRT_NODE_TYPE_ADD_FUSION, {{{0, 0.13f}, {0, 0.16f}}, {{0, 0.35f}, {0, 0.8f}}}},
    {NNRT_NODE_TYPE_SUB_FUSION, {{{0, 0.13f}, {0, 0.2f}}, {{0, 0.35f}, {0, 0.8f}}}},
    {NNRT_NODE_TYPE_MUL_FUSION, {{{0, 0.13f}, {0, 0.21f}}, {{0, 0.36f}, {0, 0.87f}}}},
    {NNRT_NODE_TYPE_MAXIMUM, {{{0, 0.13f}, {0, 0.2f}}, {{0, 0.35f}, {0, 0.8f}}}},
    {NNRT_NODE_TYPE_MINIMUM, {{{0, 0.13f}, {0, 0.2f}}, {{0, 0.35f}, {0, 0.8f}}}},
    {NNRT_NODE_TYPE_ACTIVATION, {{{0, 0.35f}, {0, 0.17f}}, {{0, 1}, {0, 0.6f}}}},
    {NNRT_NODE_TYPE_HARD_SIGMOID, {{{0, 0.2f}, {0, 0.17f}}, {{0, 0.3f}, {0, 0.6f}}}},
    {NNRT_NODE_TYPE_HARD_SWISH, {{{0, 0.2f}, {0, 0.17f}}, {{0, 0.3f}, {0, 0.6f}}}},
    {NNRT_NODE_TYPE_LEAKY_RELU, {{{0, 0.15f}, {0, 0.17f}}, {{0, 0.25f}, {0, 0.6f}}}},
    {NNRT_NODE_TYPE_CLIP, {{{0, 0.15f}, {0, 0.17f}}, {{0, 0.25f}, {0, 0.6f}}}},
    {NNRT_NODE_TYPE_ABS, {{{0, 0.15f}, {0, 0.17f}}, {{0, 0.25f}, {0, 0.6f}}}},
    {NNRT_NODE_TYPE_SOFTMAX, {{{0, 1}, {0, 3}}, {{0, 2.1f}, {0, 5.2f}}}},
    {NNRT_NODE_TYPE_REDUCE_FUSION, {{{0, 0.3f}, {0, 0.3f}}, {{0, 0.3f}, {0, 0.1f}}}},
    {NNRT_NODE_TYPE_AVGPOOL_FUSION, {{{0, 0.08f}, {0, 0.07f}}, {{0, 0.5f}, {0, 1.1f}}}},
    {NNRT_NODE_TYPE_MAX_POOL_FUSION, {{{0, 0.25f}, {0, 0.1f}}, {{0, 0.6f}, {0, 1.2f}}}},
    {NNRT_NODE_TYPE_CONCAT, {{{0, 0.4f}, {0, 0.3f}}, {{0, 0.4f}, {0, 0.85f}}}}, /* 8 bits: some inputs are requantized */
    {NNRT_NODE_TYPE_RESIZE, {{{0, 0.17f}, {0, 0.12f}}, {{0, 0.6f}, {0, 0.9f}}}}, /* 8 bits: nearest */
    {NNRT_NODE_TYPE_TRANSPOSE, {{{0, 0.36f}, {0, 0.2f}}, {{0, 0.7f}, {0, 0.3f}}}},
    {NNRT_NODE_TYPE_PAD_FUSION, {{{0, 0.5f}, {0, 0.2f}}, {{0, 0.6f}, {0, 0.3f}}}},
    {NNRT_NODE_TYPE_SLICE_FUSION, {{{0, 0.3f}, {0, 0.15f}}, {{0, 0.4f}, {0, 0.3f}}}},
    {NNRT_NODE_TYPE_STRIDED_SLICE, {{{0, 0.3f}, {0, 0.15f}}, {{0, 0.4f}, {0, 0.3f}}}},
    {NNRT_NODE_TYPE_SPLIT, {{{0, 0.3f}, {0, 0.15f}}, {{0, 0.4f}, {0, 0.3f}}}},
    {NNRT_NODE_TYPE_TILE_FUSION, {{{0, 0.3f}, {0, 0.15f}}, {{0, 0.4f}, {0, 0.3f}}}},
    {NNRT_NODE_TYPE_DEPTH_TO_SPACE, {{{0, 0.4f}, {0, 0.3f}}, {{0, 0.5f}, {0, 0.4f}}}},
    {NNRT_NODE_TYPE_SPACE_TO_DEPTH, {{{0, 0.4f}, {0, 0.3f}}, {{0, 0.5f}, {0, 0.4f}}}},
    {NNRT_NODE_TYPE_RESHAPE, {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}}},
    {NNRT_NODE_TYPE_SQUEEZE, {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}}},
    {NNRT_NODE_TYPE_UNSQUEEZE, {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}}},
    {NNRT_NODE_TYPE_EXPAND_DIMS, {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}}},
    {NNRT_NODE_TYPE_FLATTEN, {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}}},
};
static const cli_rates_of cli_speed_depthwise = {
    NNRT_NODE_TYPE_CONV2D_FUSION, {{{0.021f, 0.12f}, {0.012f, 0.2f}}, {{0.07f, 0.25f}, {0.08f, 1.2f}}}};

/* Other parts of the time. */
typedef struct cli_costs {
    double call;                  /* of a step */
    double fused;                 /* for an element of an addition in the epilogue of a float32 product */
    double quantize, dequantize;  /* for an element, float32 to 8 bits, and back; */
    double quantizeInput;         /* of an input of the model, which gets another layout and is in no cache */
    double referenceMac8;         /* 8 bits, where only the reference device has a kernel */
    double singleMac, singleMac8; /* transposed convolution of fewer than four output channels */
    double linear, linear8;       /* for an element of a RESIZE that interpolates */
    double window8;               /* for a multiply-accumulate of an 8-bit convolution of several taps, in addition */
    double activation, table8;    /* for an element of an activation other than a clamp: in the epilogue of a float32 convolution,
                                     and of its table in 8 bits */
    double pixel8;                /* 8-bit convolution of up to four channels: for a pixel, */
    double gather8, gather;       /* and each element of its window; the latter in float32 */
    double weight, weight8;       /* for one of more than CLI_LARGE_WEIGHTS weights */
    double tileMac, tileElement;  /* of Winograd tiles: for a multiply-accumulate and for an element of the result, if they are
                                     faster than a GEMM; 0: in the rates above */
} cli_costs;

static const cli_costs cli_costs_of[CLI_PROCESSORS] = {
    {100, 0.08, 0.18, 0.1, 0.25, 0.8, 2, 0.3, 0, 0.8, 0.0017, 0.3, 0.17, 6.5, 0.05, 0.1, 0.3, 0.07, 0, 0},
    {250, 0.2, 0.7, 0.3, 1.6, 2, 1.2, 1, 1.5, 4.5, 0, 0.4, 0.6, 7, 0.05, 0.1, 0.5, 0.06, 0.0185, 2.2},
};

#define CLI_LARGE_WEIGHTS 262144.0 /* weights that no cache keeps between runs */

/* The processor whose times decide: --processor, or this machine's. With the device `reference`, as with --exact, files do not
   depend on the machine. */
static cli_processor cli_processor_of(const cli_args *args)
{
    const char *set = args->device != NULL && strcmp(args->device, "reference") == 0 ? NULL : nnrt_cpu_set(0);
    if (args->processor != 0)
        return args->processor == 1 ? CLI_PROCESSOR_BYTES : CLI_PROCESSOR_WORDS;
    return set != NULL && strcmp(set, "avx2") == 0 ? CLI_PROCESSOR_WORDS : CLI_PROCESSOR_BYTES;
}

/* Whether the activation that is fused into a convolution is an operator of its own in 8 bits. */
static bool cli_splits_activation(const nnrt_resolve *c)
{
    const NNRT_ActivationType a = c->op->type == NNRT_NODE_TYPE_CONV2D_FUSION
                                      ? ((const NNRT_Conv2DFusion *)c->resolved)->activationType
                                  : c->op->type == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION
                                      ? ((const NNRT_Conv2dTransposeFusion *)c->resolved)->activationType
                                      : NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    return a != NNRT_ACTIVATION_TYPE_NO_ACTIVATION && a != NNRT_ACTIVATION_TYPE_RELU && a != NNRT_ACTIVATION_TYPE_RELU6 &&
           a != NNRT_ACTIVATION_TYPE_RELU1;
}

/* Whether the device may compute a float32 convolution by Winograd tiles. */
static bool cli_has_tiles(const nnrt_resolve *c)
{
    const NNRT_Conv2DFusion *a = (const NNRT_Conv2DFusion *)c->resolved;
    const nnrt_operand *w = c->in + 1;
    return a->group <= 1 && w->rank == 4 && w->dims[1] == 3 && w->dims[2] == 3 && cli_entry(&a->stride, 0, 1) == 1 &&
           cli_entry(&a->stride, 1, 1) == 1;
}

/* Adds the parts of the time of a convolution that its shape decides. */
static void cli_ns_of_conv(const nnrt_resolve *c, double macs, const cli_costs *costs, cli_ns *ns)
{
    const nnrt_operand *w = c->in + 1, *y = c->out;
    const int64_t groups = ((const NNRT_Conv2DFusion *)c->resolved)->group;
    const double tiles = macs * costs->tileMac + cli_elements(y) * costs->tileElement;
    if (cli_has_tiles(c) && tiles > 0 && tiles < ns->f32)
        ns->f32 = tiles;
    if (groups > 1 && !cli_is_depthwise(c)) {
        ns->int8 += macs * costs->referenceMac8;
    } else if (groups <= 1 && w->rank == 4 && w->dims[3] <= 4 && w->dims[0] > 0) {
        const double pixels = cli_elements(y) / w->dims[0], window = (double)w->dims[1] * w->dims[2] * w->dims[3];
        ns->f32 += pixels * window * costs->gather;
        ns->int8 += pixels * (costs->pixel8 + window * costs->gather8);
    }
    if (w->rank == 4 && w->dims[1] * (double)w->dims[2] > 1 && !cli_is_depthwise(c))
        ns->int8 += macs * costs->window8;
}

/* Adds the parts of the time that a shape decides. */
static void cli_ns_of_shape(const nnrt_resolve *c, double macs, const cli_costs *costs, cli_ns *ns)
{
    const nnrt_operand *w = c->in + 1, *y = c->out;
    const double weights = c->nIn > 1 && w->data != NULL ? cli_elements(w) : 0;
    switch ((int)c->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION: cli_ns_of_conv(c, macs, costs, ns); break;
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION: {
        const int32_t channels = y->dims[y->format == NNRT_FORMAT_NCHW ? 1 : y->rank - 1];
        ns->f32 += channels < 4 ? macs * costs->singleMac : 0;
        ns->int8 += channels < 4 ? macs * costs->singleMac8 : 0;
        break;
    }
    case NNRT_NODE_TYPE_RESIZE:
        if (((const NNRT_Resize *)c->resolved)->method != NNRT_RESIZE_METHOD_NEAREST) {
            ns->f32 += cli_elements(y) * costs->linear;
            ns->int8 += cli_elements(y) * costs->linear8;
        }
        break;
    default: break;
    }
    if (macs > 0 && weights > CLI_LARGE_WEIGHTS) {
        ns->f32 += weights * costs->weight;
        ns->int8 += weights * costs->weight8;
    }
    if (cli_splits_activation(c)) {
        ns->f32 += cli_elements(y) * costs->activation;
        ns->int8 += cli_elements(y) * costs->table8;
    }
}

/* The time of a float32 node, and of its 8-bit form. */
static cli_ns cli_ns_of(const nnrt_resolve *c, double macs, cli_processor processor)
{
    const cli_costs *const costs = &cli_costs_of[processor];
    const cli_rates_of *rates = cli_is_depthwise(c) ? &cli_speed_depthwise : cli_speeds;
    const double result = c->nOut > 0 ? cli_elements(&c->out[0]) : 0, read = c->nIn > 0 ? cli_elements(&c->in[0]) : 0;
    const double elements = macs > 0 || result > read ? result : read;
    cli_ns ns = {0, 0, macs > 0};
    for (size_t i = 1; i < sizeof(cli_speeds) / sizeof(cli_speeds[0]) && rates == cli_speeds; i++)
        rates = cli_speeds[i].type == c->op->type ? &cli_speeds[i] : rates;
    ns.f32 = macs * (double)rates->of[processor].f32.mac + elements * (double)rates->of[processor].f32.element;
    ns.int8 = macs * (double)rates->of[processor].int8.mac + elements * (double)rates->of[processor].int8.element;
    if (ns.f32 > 0 && !c->late) {
        cli_ns_of_shape(c, macs, costs, &ns);
        ns.f32 += costs->call;
        ns.int8 += costs->call;
    }
    return ns;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>work */

/* Whether a node makes float16 weights float32: a session on `cpu` has them (cli_inputs.float16), a program that loads the
   converted model has the result. */
static bool cli_widens_weights(const NNRT_Model *m, const NNRT_Node *n)
{
    const NNRT_Tensor *w = n->nodeType == NNRT_NODE_TYPE_CAST ? &m->allTensors.data[n->inputIndex.data[0]] : NULL;
    return w != NULL && w->dataType == NNRT_DATA_TYPE_FLOAT16 && w->data.dataSize > 0;
}

/* Notes the time of a node, and the sizes of its values. */
static void cli_work_note(cli_work *work, uint32_t node, const nnrt_resolve *c, double macs)
{
    const NNRT_Node *n = &work->model->nodes.data[node];
    work->ns[node] = cli_ns_of(c, macs, work->processor);
    for (uint32_t i = 0; i < c->nIn && i < n->inputIndex.count; i++)
        if (n->inputIndex.data[i] != NNRT_NO_TENSOR)
            work->elements[n->inputIndex.data[i]] = cli_elements(&c->in[i]);
    for (uint32_t i = 0; i < c->nOut && i < n->outputIndex.count; i++)
        if (n->outputIndex.data[i] != NNRT_NO_TENSOR)
            work->elements[n->outputIndex.data[i]] = cli_elements(&c->out[i]);
}

static NNRT_ReturnCode cli_work_visit(void *user, uint32_t node, nnrt_resolve *resolved, bool folded)
{
    cli_work *work = (cli_work *)user;
    if (cli_widens_weights(work->model, &work->model->nodes.data[node]))
        return NNRT_SUCCESS;
    for (uint32_t i = 0; i < resolved->nIn; i++)
        work->types |= nnrt_operand_types(&resolved->in[i]);
    for (uint32_t i = 0; i < resolved->nOut; i++)
        work->types |= nnrt_operand_types(&resolved->out[i]);
    if (!folded) {
        const double macs = cli_macs(resolved);
        const NNRT_Uint32List *inputs = &work->model->inputIndex;
        bool first = false;
        for (uint32_t i = 0; i < inputs->count && resolved->nIn > 0; i++)
            first = first || inputs->data[i] == work->model->nodes.data[node].inputIndex.data[0];
        work->macs += macs;
        work->instructions += cli_m4_instructions(resolved, macs, first);
        if (work->ns != NULL)
            cli_work_note(work, node, resolved, macs);
    }
    return NNRT_SUCCESS;
}

/* The work of one run, with dynamic dimensions as --shape sets them, or their bounds. ns, elements, processor: as in cli_work,
   or NULL. */
static cli_work cli_work_of(const cli_job *job, cli_ns *ns, double *elements, cli_processor processor)
{
    const NNRT_Model *m = job->model;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_operand *tensors;
    nnrt_dims *dims = cli_job_dims(job);
    cli_work work = {0, 0, 0, job->model, ns, elements, processor};
    memset(&config, 0, sizeof(config));
    if (job->fromNnrt)
        config.inputDims = nnrt_dims_list_make(dims, job->in.count + job->in.states);
    config.bounds = nnrt_bound_list_make(job->in.bounds, job->in.boundCount);
    nnrt_memory_allocate(&memory, NULL);
    tensors = (nnrt_operand *)nnrt_memory_temp(&memory, m->allTensors.count * sizeof(*tensors));
    if (tensors != NULL && dims != NULL)
        (void)nnrt_model_infer(m, &config, &memory, tensors, cli_work_visit, &work);
    nnrt_memory_end(&memory);
    free(dims);
    return work;
}

#endif /* NNRT_TOOL_COST_H */
