/*
nnrt_quantize.h - post-training quantization: a float32 model and samples of its inputs become a model that computes in
8-bit integers.

    #define NNRT_IMPLEMENTATION
    #include "formats/nnrt_quantize.h"          includes ../nnrt.h

    nnrt_quantize_desc desc = {0};
    desc.samples = 100;
    desc.sample = my_sample;                    writes the inputs of sample 0 to 99
    if (nnrt_quantize(&small, model, &desc, &error) != NNRT_SUCCESS)
        puts(error.message);

SECTIONS (search for the tag)
    >>quantize          public functions
    -- implementation --
    >>quantize_graph    the nodes and tensors that become integers, the layers among them
    >>quantize_observe  ranges, means and histograms of values over the samples
    >>quantize_equalize equal ranges of the channels between two layers
    >>quantize_ranges   scale and zero point of each tensor
    >>quantize_round    weights as int8: the nearest codes, or those of least squared error of the layer's results
    >>quantize_weights  corrected biases, other constants
    >>quantize_blocks   only weights: matrix products with blocks of 4 or 8 bits
    >>quantize_dynamic  weights before, values during the run: matrix products in integers
    >>quantize_write    casts from and to 8 bits around the nodes; the finished model
    >>quantize_judge    which ranges have the least noise of the outputs

METHOD
    M. Nagel et al., A White Paper on Neural Network Quantization, arXiv 2106.08295. The optimizer has folded batch
    normalization before. Weights: int8, symmetric, one scale per output channel. Activations: int8 or uint8, one scale
    and zero point per tensor. The model gets casts to 8 bits and back around its operators; the pass QUANTIZE of
    nnrt_model_optimize replaces them by operators on integers, whose bits are defined exactly (docs/quantization.md).
    The steps that nnrt_quantize_desc.without can disable:
    EQUALIZE   Values between two layers: channel c of the first is divided, the weights of the second that read it are
               multiplied by a factor, so that the channels get similar ranges.
    RANGES     Of each tensor the range with the least squared error, measured on the samples, among its minimum and
               maximum, percentiles (both ends without 0.001 to 1 % of the values), and the best range of a search over a
               histogram; then the outputs of up to 16 samples judge how much less the error of a tensor must be for a range
               that clips. Without it the minimum and maximum. Where only an activation reads a tensor, its results count: the
               range is the part where it is not constant.
    BIAS       The mean error that rounded weights cause in each output channel is subtracted from its bias.
    CHANNELS   Without it, weights have one scale per tensor.
    least_squares, an option: codes of weights are chosen one after the other so that the errors of a layer's results
    cancel over the samples (>>quantize_round); it takes more runs and memory.

WEIGHTS ONLY
    With weight_bits the constant matrices of FULL_CONNECTION and MATMUL_FUSION become blocks of 4- or 8-bit codes
    (MATMUL_NBITS); values stay float32, and no samples are needed. Scale and zero point of a block have the least squared
    error of its weights among sixteen ranges.

DYNAMIC QUANTIZATION
    With `dynamic` a product of x and constant weights becomes MATMUL_INTEGER. Weights have int8 codes with a scale for each
    column, the largest magnitude / 127. x gets uint8 codes in the run, with the scale and zero point of its minimum and
    maximum there, as ONNX's DynamicQuantizeLinear defines them; products of one x share them. The sums become float32
    again. No samples are needed.

MEMORY
    The results, the equalized weights and the session of a part of the network (nnrt_quantize_desc.part); the codes of the
    weights; the result.

MIT license, see LICENSE.
*/
#ifndef NNRT_QUANTIZE_H
#define NNRT_QUANTIZE_H

#include "../nnrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef NNRT_FIRMWARE

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize */

/* The steps, one bit each. */
enum {
    NNRT_QUANTIZE_EQUALIZE = 1,
    NNRT_QUANTIZE_RANGES = 2,
    NNRT_QUANTIZE_BIAS = 4,
    NNRT_QUANTIZE_CHANNELS = 8
};

/* How a tensor was quantized. */
typedef struct nnrt_quantize_range {
    const char *tensor;  /* its name in the float32 model */
    float least, most;   /* the values observed, after equalization */
    float lower, upper;  /* the real values of the lowest and the highest code */
    double sqnr;         /* signal to quantization noise of the observed values, dB; infinite: no error */
    const char *method;  /* of the range: "min-max", "percentile", "least squares", or "operator", which defines it */
    NNRT_QuantParam quant;
    /* Counts of the observed values in `bins` intervals of equal width from binsLower to binsUpper. Tensors that share
       scale and zero point share the counts, too. Valid during the call. */
    const uint64_t *histogram;
    uint32_t bins;
    float binsLower, binsUpper;
} nnrt_quantize_range;

/* The weights of a node with constant weights: int8 codes in the order of its weight tensor, [O,R,S,I], [O,I] or [I,O].
   Pointers are valid during the call. */
typedef struct nnrt_quantize_layer {
    uint32_t node;               /* in the float32 model */
    const char *input, *output;  /* names of its activations */
    const int8_t *codes;
    NNRT_Int32List dims;         /* of the weight tensor */
    int32_t axis;                /* of the output channels */
    NNRT_QuantParamList params;  /* of each output channel, or one */
    const float *bias;           /* corrected; one for each output channel. NULL: none */
    NNRT_QuantParam inputQuant;
} nnrt_quantize_layer;

/* Counts of a finished quantization. */
typedef struct nnrt_quantize_report {
    uint32_t nodes;     /* of the main graph, with float32 operands */
    uint32_t chosen;    /* nodes with 8-bit operands */
    uint32_t layers;    /* chosen nodes with constant weights */
    uint32_t equalized; /* pairs of layers */
    uint32_t corrected; /* biases */
    uint32_t ranges[4]; /* activation tensors with a range by min-max, percentile, least squares, operator */
    uint32_t rounded;   /* layers with codes of least squared error of their results */
    uint64_t bytes[2];  /* with weight_bits or dynamic: of the chosen weights before and after */
} nnrt_quantize_report;

/* All zero but samples and sample, or weight_bits, or dynamic, is the default. */
typedef struct nnrt_quantize_desc {
    uint32_t samples; /* at least 1; hundreds give stable ranges. With weight_bits or dynamic ignored */
    /* Writes the inputs of sample `index`, in the order of the model's inputs. Called several times for each sample: it
       must return the same values. A code other than NNRT_SUCCESS ends the quantization with this code. */
    NNRT_ReturnCode (*sample)(void *user, uint32_t index, const nnrt_io *inputs, uint32_t nIn);
    void *user;
    /* The sessions that compute the samples: device, threads, dimensions of inputs. NULL: the default. The result is the
       same for any number of threads, and with the device "reference" on every machine. */
    const nnrt_session_desc *session;
    uint32_t without; /* disabled steps: the sum of their NNRT_QUANTIZE_ bits */
    bool estimate; /* a model that only shows how much noise 8 bits add: ranges are minimum and maximum, biases are not
                      corrected, range is not called; a third of the runs */
    bool least_squares; /* codes of weights of least squared error of the layers' results instead of the nearest codes */
    size_t part;      /* bytes of results and weights after which the next part of the network begins: fewer need less memory
                         and more time; 0 = 2 MB */
    uint32_t weight_bits;  /* 4 or 8: only weights of matrix products are quantized, without samples; 0: all */
    uint32_t weight_block; /* with weight_bits: entries with one scale, a power of 2 of 16 to 65536; 0 = 32 */
    bool dynamic;     /* only matrix products are quantized, without samples: x in the run */
    bool uint8;       /* activations are uint8; default int8. Weights are int8 */
    bool reduce_range; /* int8 weights are -64 to 64 instead of -127 to 127, but of depthwise convolutions: x86 processors
                          with AVX2 and without VNNI then add products of them in 16 bits. About 6 dB more noise of
                          weights. Ignored with int16, weight_bits and dynamic */
    bool int16;       /* activations are int16 (16x8): convolutions and fully connected layers with constant weights, and
                         operators that move their elements. Ranges are minimum and maximum, zero points 0 */
    bool integer_io;  /* inputs and outputs become 8-bit tensors (nnrt_optimize_desc.integer_io) */
    bool no_optimize; /* return the model with its casts, the QDQ form of other runtimes */
    bool (*keep)(void *user, const NNRT_Model *model, uint32_t node); /* true: the node stays float32. NULL: none */
    void (*range)(void *user, const nnrt_quantize_range *range);      /* receives each activation tensor. NULL: none */
    void (*layer)(void *user, const nnrt_quantize_layer *layer);      /* receives the weights. NULL: none */
    void (*progress)(void *user, uint64_t done, uint64_t total);      /* runs. NULL: none */
    nnrt_quantize_report *report; /* NULL: none */
    const nnrt_log *log;          /* of the optimizer; NULL: none */
    const nnrt_allocator *allocator;
} nnrt_quantize_desc;

/* Quantizes a float32 model. *quantized: a new model that nnrt_model_destroy frees, independent of `model`, which stays
   as it is; it has the model's metadata. Nodes in subgraphs (IF, LOOP) stay float32. quantized NULL: only checks model
   and options, and reads no sample. NNRT_INVALID_PARAMETER: no samples, weight_bits or weight_block of another value,
   NaN or infinity in an input or result (the message names sample and node), or in weights. NNRT_NOT_SUPPORT: the model
   has quantized tensors already, states, dimensions that differ from run to run, or no node that has quantized
   arithmetic. NNRT_INVALID_SHAPE: a dynamic dimension that session->inputDims leaves open. On failure *quantized is
   NULL. */
NNRT_API NNRT_ReturnCode nnrt_quantize(NNRT_Model **quantized, const NNRT_Model *model, const nnrt_quantize_desc *desc,
                                       nnrt_error *error);

#endif /* NNRT_FIRMWARE */

#ifdef __cplusplus
}
#endif

#endif /* NNRT_QUANTIZE_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_QUANTIZE_IMPLEMENTED) && !defined(NNRT_FIRMWARE)
#define NNRT_QUANTIZE_IMPLEMENTED

#include "../nnrt.h" /* its implementation, if only its declarations were included so far */

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NNRTI_PTQ_BINS 2048 /* of a histogram; eight per code */
#define NNRTI_PTQ_DYNAMIC 32 /* tensors, and nodes, that dynamic quantization adds for a product, at most */
#define NNRTI_PTQ_METHODS 3 /* min-max, percentile, least squares */

/* A tensor of the float32 model. Tensors of one group (root) share scale and zero point: operators that move data cannot
   change them. Channels are along the last axis, in NCHW along axis 1. */
typedef struct nnrti_ptq_value {
    uint32_t root;      /* union-find: the parent, itself for a root */
    uint32_t writer;    /* node of the main graph; NNRT_NO_TENSOR: none */
    uint32_t readers;   /* nodes of all graphs, and outputs of the model */
    uint32_t reader;    /* one of them in the main graph; NNRT_NO_TENSOR: none */
    bool quantized;     /* an activation that gets codes */
    bool fixed;         /* of a root: quant follows from an operator */
    uint32_t codes[3];  /* with `dynamic`: codes, scale and zero point of the run. A constant that nodes share: the result of its cast.
                           0: none yet */
    bool named;         /* a tensor of codes has the value's name */
    bool judges;        /* an output of the model that judges ranges (>>quantize_judge) */
    int32_t channels;
    float *least, *most; /* of each channel; NULL: not observed */
    double *sum;         /* of each channel */
    double count;        /* observed elements of a channel */
    uint64_t *histogram; /* of a root: NNRTI_PTQ_BINS from lower to upper */
    float lower, upper;  /* of a root: the observed range of the group, with 0 */
    NNRT_QuantParam quant; /* of a root */
    NNRT_ActivationType through; /* of the only reader, an ACTIVATION: its results decide how much an error matters. NO_ACTIVATION: none */
    NNRT_QuantParam tried[NNRTI_PTQ_METHODS]; /* of a root: by each method */
    double error[NNRTI_PTQ_METHODS];          /* their sums of squared errors over the samples */
    uint32_t nTried, method;                  /* method: of quant; NNRTI_PTQ_METHODS: the operator's */
    double noise, signal;                     /* of a root: sums of squares over the samples */
} nnrti_ptq_value;

/* A node with constant weights [O,..] or [..,O]. */
typedef struct nnrti_ptq_layer {
    uint32_t node, weight, bias; /* bias NNRT_NO_TENSOR: none */
    int32_t out, in;             /* sizes of an output channel's axis and of the input channels that it reads */
    int32_t groups, axis; /* axis: of the output channels */
    ptrdiff_t outStride, inStride, tapStride; /* elements between weights of the next output, input, tap */
    int32_t taps;
    int32_t kernel[2], dilation[2], stride[2]; /* of the window over an image; a transposed convolution has kernel 0 */
    int32_t before[2]; /* padding at the top and left; -1: half of the padding that the result's size needs */
    NNRT_ActivationType activation;
    float *multiplied, *divided; /* equalization: factors of the input and of the output channels; NULL: none */
    int8_t *codes; /* of the weights */
    int32_t largest; /* code */
    NNRT_QuantParam *scales;
    uint32_t nScales;
    double *mean;    /* of the inputs in a window: per group, tap, input; first their sums */
    double *gram;    /* per group, over windows x, sums of x[i] * x[j], i <= j, then of x[i]; NULL: none */
    uint64_t windows; /* how many */
    double count;     /* windows of mean */
} nnrti_ptq_layer;

/* How the samples are computed (>>quantize_observe). */
typedef struct nnrti_ptq_part {
    uint32_t from, to; /* positions in main */
    NNRT_Model model;
    nnrt_session *session;
    uint32_t *tensors; /* inputs, then outputs */
    uint32_t nIn, nOut;
} nnrti_ptq_part;

typedef struct nnrti_ptq_watch {
    nnrti_ptq_part *parts;
    uint32_t nParts;
    NNRT_Tensor *tensors; /* of edit, activations with their inferred shapes */
    uint32_t *made;   /* of each tensor: position of its writer + 1; 0: input of the model; UINT32_MAX: neither */
    uint32_t *until;  /* of each tensor: position of its last reader + 1; 0: none */
    nnrt_io *values;  /* of each tensor: its place in the block of values; data NULL: none */
    nnrt_io *io;      /* inputs of the model, or inputs and outputs of a part */
    void *buffer;     /* of the sessions, if there are several parts; NULL: they allocate */
    size_t bufferBytes;
    uint8_t *weights; /* equalized ones, of one part; NULL: none */
    nnrt_memory memory;
} nnrti_ptq_watch;

typedef struct nnrti_ptq {
    const nnrt_quantize_desc *desc;
    const NNRT_Model *model; /* constants have addresses */
    const NNRT_Model *given; /* without split activations */
    nnrt_error *error;
    nnrt_memory memory;
    nnrt_mapping *mappings;
    NNRT_ReturnCode code; /* the first failure */
    NNRT_Model edit;      /* a copy with lists that may be changed */
    NNRT_Tensor *tensors; /* of edit */
    NNRT_Node *nodes;
    NNRT_SubGraph *graphs;
    uint32_t *main; /* nodes of the main graph in execution order, then the added ones */
    uint32_t nMain, nOwn; /* nOwn: without the added ones */
    nnrt_operand *shapes;    /* of the tensors of model: inferred types and shapes */
    nnrti_ptq_value *values; /* likewise */
    uint32_t nValues;
    bool *chosen; /* per node of model */
    uint32_t *shown; /* float32 results before a cast to 8 bits (nnrti_ptq_make) */
    uint32_t nShown;
    nnrti_ptq_layer *layers;
    uint32_t nLayers;
    float *window; /* of the largest layer */
    float *equalized; /* weights of one layer, the largest that is equalized */
    nnrti_ptq_watch watch;
    uint32_t judges; /* samples whose outputs judge ranges (>>quantize_judge) */
    uint8_t *wanted; /* these outputs, of the float32 model */
    size_t wantedBytes; /* of one sample */
    uint64_t runs, allRuns;
    nnrt_quantize_report report;
} nnrti_ptq;

static NNRT_ReturnCode nnrti_ptq_no_memory(nnrti_ptq *p)
{
    return p->code = nnrt_error_set(p->error, NNRT_OUT_OF_MEMORY, "out of memory while the model is quantized");
}

static void *nnrti_ptq_keep(nnrti_ptq *p, size_t count, size_t size)
{
    void *block = nnrt_memory_keep_array(&p->memory, count, size);
    if (block == NULL)
        nnrti_ptq_no_memory(p);
    return block;
}

static const char *nnrti_ptq_name(const char *name)
{
    return name != NULL ? name : "";
}

/* Whether a step runs: one bit of `without`. */
static bool nnrti_ptq_does(const nnrti_ptq *p, uint32_t step)
{
    const uint32_t estimate = p->desc->estimate ? NNRT_QUANTIZE_RANGES | NNRT_QUANTIZE_BIAS : 0;
    return ((p->desc->without | estimate) & step) == 0;
}

/* Whether samples are needed. */
static bool nnrti_ptq_observes(const nnrt_quantize_desc *desc)
{
    return desc->weight_bits == 0 && !desc->dynamic;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_graph */

static uint32_t nnrti_ptq_root(const nnrti_ptq *p, uint32_t t)
{
    while (p->values[t].root != t)
        t = p->values[t].root;
    return t;
}

static const void *nnrti_ptq_data(const NNRT_Tensor *t)
{
    return t->data.addr != NULL ? (const uint8_t *)t->data.addr + t->data.offset : NULL;
}

static bool nnrti_ptq_is_constant(const NNRT_Tensor *t)
{
    return t->data.addr != NULL; /* nnrt_model_map has mapped descriptors */
}

/* Whether tensor t is a float32 value that a run computes or receives. */
static bool nnrti_ptq_is_activation(const nnrti_ptq *p, uint32_t t)
{
    return t < p->nValues && p->shapes[t].dataType == NNRT_DATA_TYPE_FLOAT32 &&
           !nnrti_ptq_is_constant(&p->model->allTensors.data[t]);
}

/* Operators on 8-bit integers that profit from them: all that the pass QUANTIZE replaces. MOVES: result and input 0 have
   the same scale and zero point. So do averages: their integers are rounded in the scale of the input anyway, and a
   second rounding in a finer one would only add to it; and a CONCAT that appends constant zeros (nnrti_ptq_pads). */
#define NNRTI_PTQ_OPERATORS(COMPUTES, MOVES) \
    COMPUTES(CONV2D_FUSION) COMPUTES(CONV2D_TRANSPOSE_FUSION) COMPUTES(FULL_CONNECTION) COMPUTES(MATMUL_FUSION) \
    COMPUTES(ADD_FUSION) COMPUTES(ADD_N) COMPUTES(SUB_FUSION) COMPUTES(MUL_FUSION) COMPUTES(MAXIMUM) COMPUTES(MINIMUM) \
    COMPUTES(ELTWISE) COMPUTES(ABS) COMPUTES(ACTIVATION) COMPUTES(CLIP) COMPUTES(LEAKY_RELU) COMPUTES(PRELU_FUSION) \
    COMPUTES(HARD_SIGMOID) COMPUTES(HARD_SWISH) COMPUTES(SOFTMAX) COMPUTES(REDUCE_FUSION) COMPUTES(CONCAT) \
    MOVES(AVGPOOL_FUSION) MOVES(AVGPOOL_INCLUDE_PAD) MOVES(MAX_POOL_FUSION) MOVES(RESIZE) MOVES(RESHAPE) MOVES(FLATTEN) \
    MOVES(SQUEEZE) MOVES(UNSQUEEZE) MOVES(EXPAND_DIMS) MOVES(TRANSPOSE) MOVES(SLICE_FUSION) MOVES(STRIDED_SLICE) \
    MOVES(SPLIT) MOVES(TILE_FUSION) MOVES(PAD_FUSION) MOVES(DEPTH_TO_SPACE) MOVES(SPACE_TO_DEPTH)

/* Of a node with 8 bits. 0: no quantized arithmetic here, 1: computes, 2: moves data. */
static int nnrti_ptq_kind8(NNRT_NodeType type)
{
#define NNRTI_PTQ_COMPUTES(op) case NNRT_NODE_TYPE_##op: return 1;
#define NNRTI_PTQ_MOVES(op) case NNRT_NODE_TYPE_##op: return 2;
    switch ((int)type) {
        NNRTI_PTQ_OPERATORS(NNRTI_PTQ_COMPUTES, NNRTI_PTQ_MOVES)
    default: return 0;
    }
#undef NNRTI_PTQ_COMPUTES
#undef NNRTI_PTQ_MOVES
}

static int nnrti_ptq_kind(const nnrti_ptq *p, NNRT_NodeType type)
{
    if (!p->desc->int16)
        return nnrti_ptq_kind8(type);
    switch ((int)type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_FULL_CONNECTION: return 1;
    case NNRT_NODE_TYPE_AVGPOOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD:
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
    case NNRT_NODE_TYPE_RESIZE: return 0;
    default: return nnrti_ptq_kind8(type) == 2 ? 2 : 0;
    }
}

/* Copies the lists of the model that change. */
static NNRT_ReturnCode nnrti_ptq_copy(nnrti_ptq *p)
{
    const NNRT_Model *m = p->model;
    size_t operands = 0, nTensors, nNodes;
    for (uint32_t i = 0; i < m->nodes.count; i++)
        operands += m->nodes.data[i].inputIndex.count;
    /* an activation gets two tensors and two casts; each operand that is a constant two tensors and a cast; a node a bias */
    nTensors = (size_t)m->allTensors.count * 3 + operands * 2 + m->nodes.count + 1;
    nNodes = (size_t)m->nodes.count + (size_t)m->allTensors.count * 2 + operands + 1;
    if (p->desc->dynamic) {
        nTensors += NNRTI_PTQ_DYNAMIC * (size_t)m->nodes.count;
        nNodes += NNRTI_PTQ_DYNAMIC * (size_t)m->nodes.count;
    }
    p->nValues = m->allTensors.count;
    p->tensors = (NNRT_Tensor *)nnrti_ptq_keep(p, nTensors, sizeof(*p->tensors));
    p->nodes = (NNRT_Node *)nnrti_ptq_keep(p, nNodes, sizeof(*p->nodes));
    p->graphs = (NNRT_SubGraph *)nnrti_ptq_keep(p, (size_t)m->subGraph.count + 1, sizeof(*p->graphs));
    p->main = (uint32_t *)nnrti_ptq_keep(p, nNodes, sizeof(*p->main));
    p->shapes = (nnrt_operand *)nnrti_ptq_keep(p, (size_t)p->nValues + 1, sizeof(*p->shapes));
    p->values = (nnrti_ptq_value *)nnrti_ptq_keep(p, (size_t)p->nValues + 1, sizeof(*p->values));
    p->chosen = (bool *)nnrti_ptq_keep(p, (size_t)m->nodes.count + 1, sizeof(*p->chosen));
    p->shown = (uint32_t *)nnrti_ptq_keep(p, (size_t)p->nValues + m->outputIndex.count + 1, sizeof(*p->shown));
    p->layers = (nnrti_ptq_layer *)nnrti_ptq_keep(p, (size_t)m->nodes.count + 1, sizeof(*p->layers));
    if (p->code != NNRT_SUCCESS)
        return p->code;
    p->edit = *m;
    p->edit.self = NULL; /* not a model that the library allocated */
    memcpy(p->tensors, m->allTensors.data, p->nValues * sizeof(*p->tensors));
    memcpy(p->nodes, m->nodes.data, m->nodes.count * sizeof(*p->nodes));
    for (uint32_t i = 0; i < m->subGraph.count; i++)
        p->graphs[i] = m->subGraph.data[i];
    for (uint32_t i = 0; i < p->nValues; i++) {
        p->values[i].root = i;
        p->values[i].writer = p->values[i].reader = NNRT_NO_TENSOR;
    }
    p->edit.allTensors = NNRT_TensorList_make(p->tensors, p->nValues);
    p->edit.nodes = NNRT_NodeList_make(p->nodes, m->nodes.count);
    p->edit.subGraph = NNRT_SubGraphList_make(p->graphs, m->subGraph.count);
    return NNRT_SUCCESS;
}

/* Lists that nodes of the main graph may change: their inputs (with room for a bias) and outputs. */
static NNRT_ReturnCode nnrti_ptq_copy_lists(nnrti_ptq *p)
{
    for (uint32_t i = 0; i < p->nOwn; i++) {
        NNRT_Node *n = &p->nodes[p->main[i]];
        uint32_t *list = (uint32_t *)nnrti_ptq_keep(p, (size_t)n->inputIndex.count + n->outputIndex.count + 4, sizeof(*list));
        if (list == NULL)
            return p->code;
        memcpy(list, n->outputIndex.data, n->outputIndex.count * sizeof(*list));
        n->outputIndex.data = list;
        list += n->outputIndex.count;
        memcpy(list, n->inputIndex.data, n->inputIndex.count * sizeof(*list));
        n->inputIndex.data = list;
    }
    return NNRT_SUCCESS;
}

static void nnrti_ptq_set(const NNRT_Uint32List *list, uint32_t k, uint32_t tensor)
{
    ((uint32_t *)(uintptr_t)list->data)[k] = tensor; /* nnrti_ptq_copy_lists made it */
}

/* Counts readers, and records readers and writers of the main graph. */
static void nnrti_ptq_count(nnrti_ptq *p)
{
    const NNRT_Model *m = p->model;
    for (uint32_t i = 0; i < m->nodes.count; i++)
        for (uint32_t k = 0; k < m->nodes.data[i].inputIndex.count; k++)
            if (m->nodes.data[i].inputIndex.data[k] != NNRT_NO_TENSOR)
                p->values[m->nodes.data[i].inputIndex.data[k]].readers++;
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        p->values[m->outputIndex.data[i]].readers++;
    for (uint32_t i = 0; i < p->nOwn; i++) {
        const NNRT_Node *n = &m->nodes.data[p->main[i]];
        for (uint32_t k = 0; k < n->inputIndex.count; k++)
            if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
                p->values[n->inputIndex.data[k]].reader = p->main[i];
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            if (n->outputIndex.data[k] != NNRT_NO_TENSOR)
                p->values[n->outputIndex.data[k]].writer = p->main[i];
    }
}

/* Whether node n has float32 operands and quantized arithmetic. */
static bool nnrti_ptq_may_choose(const nnrti_ptq *p, const NNRT_Node *n)
{
    if (nnrti_ptq_kind(p, n->nodeType) == 0 || n->inputIndex.count == 0 || n->outputIndex.count == 0 ||
        n->inputIndex.data[0] == NNRT_NO_TENSOR)
        return false;
    for (uint32_t k = 0; k < n->outputIndex.count; k++)
        if (n->outputIndex.data[k] == NNRT_NO_TENSOR || !nnrti_ptq_is_activation(p, n->outputIndex.data[k]))
            return false;
    return p->shapes[n->inputIndex.data[0]].dataType == NNRT_DATA_TYPE_FLOAT32;
}

/* Members of the structs of all operators with constant weights that matter here. */
static void nnrti_ptq_attr(const NNRT_Node *n, void *attr, size_t size)
{
    memset(attr, 0, size);
    if (n->nodeAttr.data != NULL)
        memcpy(attr, n->nodeAttr.data, n->nodeAttr.size < size ? n->nodeAttr.size : size);
}

/* Describes the weights of a convolution: [O,R,S,I]. */
static bool nnrti_ptq_conv(const NNRT_Node *n, const int32_t *d, nnrti_ptq_layer *l)
{
    NNRT_Conv2DFusion a;
    nnrti_ptq_attr(n, &a, sizeof(a));
    if (n->nodeType == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION) {
        NNRT_Conv2dTransposeFusion t;
        nnrti_ptq_attr(n, &t, sizeof(t));
        a.group = t.group;
        a.activationType = t.activationType;
        a.stride = t.stride;
    }
    l->out = d[0];
    l->in = d[3];
    l->taps = d[1] * d[2];
    l->inStride = 1;
    l->tapStride = d[3];
    l->outStride = (ptrdiff_t)d[1] * d[2] * d[3];
    l->groups = a.group > 1 && a.group <= d[0] ? (int32_t)a.group : 1;
    l->activation = a.activationType;
    for (uint32_t k = 0; k < 2; k++) {
        l->kernel[k] = n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION ? d[1 + k] : 0;
        l->dilation[k] = a.dilation.count > k && a.dilation.data[k] > 0 ? (int32_t)a.dilation.data[k] : 1;
        l->stride[k] = a.stride.count > k && a.stride.data[k] > 0 ? (int32_t)a.stride.data[k] : 1;
        l->before[k] = a.padMode == NNRT_PAD_MODE_SAME ? -1 : a.padList.count == 4 ? (int32_t)a.padList.data[2 * k] : 0;
    }
    return d[0] % l->groups == 0;
}

/* Describes constant weights of a matrix product: [O,I], or [I,O]. */
static bool nnrti_ptq_matrix(const NNRT_Node *n, const int32_t *d, nnrti_ptq_layer *l)
{
    bool rows = true;
    l->taps = l->groups = l->kernel[0] = l->kernel[1] = l->dilation[0] = l->dilation[1] = l->stride[0] = l->stride[1] = 1;
    if (n->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION) {
        NNRT_FullConnection a;
        nnrti_ptq_attr(n, &a, sizeof(a));
        l->activation = a.activationType;
    } else {
        NNRT_MatMulFusion a;
        nnrti_ptq_attr(n, &a, sizeof(a));
        l->activation = a.activationType;
        rows = a.transposeB;
        if (a.transposeA)
            return false;
    }
    l->axis = rows ? 0 : 1;
    l->out = d[l->axis];
    l->in = d[rows ? 1 : 0];
    l->outStride = rows ? l->in : 1;
    l->inStride = rows ? 1 : l->out;
    return true;
}

/* Adds node i to the layers if its weights are constant and of a form whose channels are known here. */
static bool nnrti_ptq_add_layer(nnrti_ptq *p, uint32_t i)
{
    const NNRT_Node *n = &p->model->nodes.data[i];
    const uint32_t w = n->inputIndex.count > 1 ? n->inputIndex.data[1] : NNRT_NO_TENSOR;
    const NNRT_Tensor *t = w != NNRT_NO_TENSOR ? &p->model->allTensors.data[w] : NULL;
    nnrti_ptq_layer *l = &p->layers[p->nLayers];
    bool good;
    if (t == NULL || nnrti_ptq_data(t) == NULL || t->dataType != NNRT_DATA_TYPE_FLOAT32)
        return false;
    memset(l, 0, sizeof(*l));
    l->node = i;
    l->weight = w;
    l->bias = n->inputIndex.count > 2 ? n->inputIndex.data[2] : NNRT_NO_TENSOR;
    good = n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION || n->nodeType == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION
               ? t->dims.count == 4 && nnrti_ptq_conv(n, t->dims.data, l)
               : (n->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION || n->nodeType == NNRT_NODE_TYPE_MATMUL_FUSION) &&
                     t->dims.count == 2 && nnrti_ptq_matrix(n, t->dims.data, l);
    good = good && l->out > 0 && l->in > 0 && l->taps > 0;
    p->nLayers += good;
    return good;
}

/* Whether a node appends constant zeros to its input 0: a CONCAT in which they are padding. */
static bool nnrti_ptq_pads(const nnrti_ptq *p, const NNRT_Node *n)
{
    if (n->nodeType != NNRT_NODE_TYPE_CONCAT || nnrti_ptq_kind(p, n->nodeType) == 0)
        return false;
    for (uint32_t k = 1; k < n->inputIndex.count; k++) {
        const NNRT_Tensor *t = &p->model->allTensors.data[n->inputIndex.data[k]];
        const float *v = (const float *)nnrti_ptq_data(t);
        if (v == NULL || t->dataType != NNRT_DATA_TYPE_FLOAT32)
            return false;
        for (size_t i = 0; i < t->data.dataSize / sizeof(float); i++)
            if (v[i] != 0)
                return false;
    }
    return true;
}

/* Lets result and input 0 of an operator that moves data share their parameters. */
static void nnrti_ptq_join(nnrti_ptq *p, const NNRT_Node *n)
{
    if ((nnrti_ptq_kind(p, n->nodeType) != 2 && !nnrti_ptq_pads(p, n)) ||
        !nnrti_ptq_is_activation(p, n->inputIndex.data[0]))
        return;
    for (uint32_t k = 0; k < n->outputIndex.count; k++)
        p->values[nnrti_ptq_root(p, n->outputIndex.data[k])].root = nnrti_ptq_root(p, n->inputIndex.data[0]);
}

/* Chooses nodes, joins tensors, finds layers. Activations beside a chosen node get codes. */
/* The node of the given model; of a split activation that from which it was split. */
static uint32_t nnrti_ptq_given(const nnrti_ptq *p, uint32_t i)
{
    return i < p->given->nodes.count ? i : p->values[p->model->nodes.data[i].inputIndex.data[0]].writer;
}

static NNRT_ReturnCode nnrti_ptq_choose(nnrti_ptq *p)
{
    const nnrt_quantize_desc *d = p->desc;
    for (uint32_t i = 0; i < p->nOwn; i++) {
        const NNRT_Node *n = &p->model->nodes.data[p->main[i]];
        bool floats = false;
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            floats = floats || (n->outputIndex.data[k] != NNRT_NO_TENSOR && nnrti_ptq_is_activation(p, n->outputIndex.data[k]));
        p->report.nodes += floats;
        if (!nnrti_ptq_may_choose(p, n) || (d->keep != NULL && d->keep(d->user, p->given, nnrti_ptq_given(p, p->main[i]))))
            continue;
        if (!nnrti_ptq_add_layer(p, p->main[i]) && d->int16 && nnrti_ptq_kind(p, n->nodeType) == 1)
            continue;
        p->chosen[p->main[i]] = true;
        p->report.chosen++;
        nnrti_ptq_join(p, n);
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            p->values[n->outputIndex.data[k]].quantized = true;
        for (uint32_t k = 0; k < n->inputIndex.count; k++)
            if (n->inputIndex.data[k] != NNRT_NO_TENSOR && nnrti_ptq_is_activation(p, n->inputIndex.data[k]))
                p->values[n->inputIndex.data[k]].quantized = true;
    }
    p->report.layers = p->nLayers;
    if (p->report.chosen == 0)
        return p->code = nnrt_error_set(p->error, NNRT_NOT_SUPPORT,
                                        "nothing to quantize: of %u nodes with float32 results none has quantized arithmetic%s",
                                        p->report.nodes, d->keep != NULL ? " and is not kept in float32" : "");
    return NNRT_SUCCESS;
}

/* Weights alone do not depend on dynamic dimensions of inputs: shapes are inferred with 1 for each. */
static nnrt_dims_list nnrti_ptq_any_dims(nnrti_ptq *p)
{
    const NNRT_Uint32List *in = &p->model->inputIndex;
    nnrt_dims *dims = (nnrt_dims *)nnrti_ptq_keep(p, (size_t)in->count + 1, sizeof(*dims));
    for (uint32_t i = 0; i < in->count && dims != NULL; i++) {
        const NNRT_Int32List *declared = &p->model->allTensors.data[in->data[i]].dims;
        dims[i].rank = (int32_t)declared->count;
        for (uint32_t k = 0; k < declared->count && k < NNRT_MAX_RANK; k++)
            dims[i].dims[k] = declared->data[k] >= 0 ? declared->data[k] : 1;
    }
    return nnrt_dims_list_make(dims, dims != NULL ? in->count : 0);
}

/* Infers types and shapes, for the dimensions of the session's inputs. */
static NNRT_ReturnCode nnrti_ptq_infer(nnrti_ptq *p)
{
    NNRT_ModelConfig config;
    memset(&config, 0, sizeof(config));
    config.structSize = sizeof(config);
    config.allocator = p->desc->allocator;
    config.error = p->error;
    if (p->desc->session != NULL) {
        config.inputDims = p->desc->session->inputDims;
        config.bounds = p->desc->session->bounds;
    } else if (!nnrti_ptq_observes(p->desc)) {
        config.inputDims = nnrti_ptq_any_dims(p);
    }
    if (p->code != NNRT_SUCCESS)
        return p->code;
    return p->code = nnrt_model_infer(p->model, &config, &p->memory, p->shapes, NULL, NULL);
}

/* Checks the model, and prepares all lists. */
/* ---- activations of their own ---- */

/* In >>quantize_equalize. */
static bool nnrti_ptq_homogeneous(NNRT_ActivationType a);

/* Where the attributes of an operator that may get codes have the activation; NULL: they have none. */
static const nnrt_attr_member *nnrti_ptq_activation_member(NNRT_NodeType type)
{
    const nnrt_attr_struct *s = nnrt_op_find(type)->attr;
    if (type == NNRT_NODE_TYPE_ACTIVATION || nnrti_ptq_kind8(type) == 0)
        return NULL;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->members[i].kind == NNRT_ATTR_KIND_ENUM && strcmp(s->members[i].name, "activationType") == 0)
            return &s->members[i];
    return NULL;
}

/* The activation of a node that its quantized form does not have, which clamps only: then it would stay float32. */
static NNRT_ActivationType nnrti_ptq_other_activation(const NNRT_Node *n)
{
    const nnrt_attr_member *at = nnrti_ptq_activation_member(n->nodeType);
    NNRT_ActivationType type = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    if (at != NULL && at->offset + sizeof(type) <= n->nodeAttr.size && n->outputIndex.count == 1)
        memcpy(&type, (const uint8_t *)n->nodeAttr.data + at->offset, sizeof(type));
    return nnrti_ptq_homogeneous(type) || type == NNRT_ACTIVATION_TYPE_RELU1 ? NNRT_ACTIVATION_TYPE_NO_ACTIVATION : type;
}

/* Node i writes tensor t, and node k, an ACTIVATION, makes its result of that. */
static void nnrti_ptq_split_node(nnrti_ptq *p, const NNRT_Model *m, uint32_t i, uint32_t k, uint32_t t)
{
    NNRT_Node *n = (NNRT_Node *)(uintptr_t)&m->nodes.data[i], *then = (NNRT_Node *)(uintptr_t)&m->nodes.data[k];
    const NNRT_ActivationType none = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    NNRT_Tensor *between = (NNRT_Tensor *)(uintptr_t)&m->allTensors.data[t];
    const char *name = nnrti_ptq_name(m->allTensors.data[n->outputIndex.data[0]].name);
    NNRT_Activation *attr = (NNRT_Activation *)nnrti_ptq_keep(p, 1, sizeof(*attr));
    uint8_t *own = (uint8_t *)nnrt_memory_keep_aligned(&p->memory, n->nodeAttr.size);
    uint32_t *to = (uint32_t *)nnrti_ptq_keep(p, 1, sizeof(*to));
    char *text = (char *)nnrti_ptq_keep(p, strlen(name) + 8, 1);
    if (attr == NULL || own == NULL || to == NULL || text == NULL) {
        nnrti_ptq_no_memory(p);
        return;
    }
    *between = m->allTensors.data[n->outputIndex.data[0]];
    between->name = *name != '\0' ? text : NULL;
    nnrt_text(text, strlen(name) + 8, "%s_linear", name);
    attr->activationType = nnrti_ptq_other_activation(n);
    memcpy(own, n->nodeAttr.data, n->nodeAttr.size);
    memcpy(own + nnrti_ptq_activation_member(n->nodeType)->offset, &none, sizeof(none));
    *to = t;
    memset(then, 0, sizeof(*then));
    then->nodeType = NNRT_NODE_TYPE_ACTIVATION;
    then->nodeAttr.data = attr;
    then->nodeAttr.size = sizeof(*attr);
    then->inputIndex = NNRT_Uint32List_make(to, 1);
    then->outputIndex = n->outputIndex;
    n->nodeAttr.data = own;
    n->outputIndex = then->inputIndex;
}

/* The optimizer has fused activations into the nodes before them. Activations that quantized operators do not have, such
   as the HSWISH of MobileNet v3, become nodes again, whose codes come from tables. Results keep their bits. */
static NNRT_ReturnCode nnrti_ptq_split_activations(nnrti_ptq *p)
{
    const NNRT_Model *m = p->model;
    const NNRT_Uint32List *graph = m->subGraph.count > 0 ? &m->subGraph.data[0].nodeIndices : NULL;
    const uint32_t count = graph != NULL && graph->count > 0 ? graph->count : m->nodes.count;
    uint32_t more = 0, *list;
    NNRT_Tensor *tensors;
    NNRT_Node *nodes;
    NNRT_SubGraph *graphs;
    NNRT_Model *made;
    for (uint32_t i = 0; i < count; i++)
        more += nnrti_ptq_other_activation(&m->nodes.data[graph != NULL && graph->count > 0 ? graph->data[i] : i]) !=
                NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    if (more == 0 || p->desc->int16)
        return p->code;
    made = (NNRT_Model *)nnrti_ptq_keep(p, 1, sizeof(*made));
    tensors = (NNRT_Tensor *)nnrti_ptq_keep(p, (size_t)m->allTensors.count + more, sizeof(*tensors));
    nodes = (NNRT_Node *)nnrti_ptq_keep(p, (size_t)m->nodes.count + more, sizeof(*nodes));
    graphs = (NNRT_SubGraph *)nnrti_ptq_keep(p, (size_t)m->subGraph.count + 1, sizeof(*graphs));
    list = (uint32_t *)nnrti_ptq_keep(p, (size_t)count + more, sizeof(*list));
    if (p->code != NNRT_SUCCESS)
        return p->code;
    *made = *m;
    memcpy(tensors, m->allTensors.data, m->allTensors.count * sizeof(*tensors));
    memcpy(nodes, m->nodes.data, m->nodes.count * sizeof(*nodes));
    made->allTensors = NNRT_TensorList_make(tensors, m->allTensors.count + more);
    made->nodes = NNRT_NodeList_make(nodes, m->nodes.count + more);
    more = 0;
    for (uint32_t i = 0; i < count; i++) {
        list[i] = graph != NULL && graph->count > 0 ? graph->data[i] : i;
        if (nnrti_ptq_other_activation(&nodes[list[i]]) == NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
            continue;
        list[count + more] = m->nodes.count + more;
        nnrti_ptq_split_node(p, made, list[i], m->nodes.count + more, m->allTensors.count + more);
        more++;
    }
    for (uint32_t i = 0; i < m->subGraph.count; i++)
        graphs[i] = m->subGraph.data[i];
    if (graph != NULL && graph->count > 0)
        graphs[0].nodeIndices = NNRT_Uint32List_make(list, count + more);
    made->subGraph = NNRT_SubGraphList_make(graphs, m->subGraph.count);
    p->model = made;
    return p->code;
}

static NNRT_ReturnCode nnrti_ptq_start(nnrti_ptq *p)
{
    const NNRT_Model *m = p->model;
    uint32_t *order;
    NNRT_ReturnCode code = nnrt_model_check(m, &p->memory, &order, p->error);
    if (code != NNRT_SUCCESS)
        return p->code = code;
    p->given = m;
    if (nnrti_ptq_observes(p->desc) && nnrti_ptq_split_activations(p) != NNRT_SUCCESS)
        return p->code;
    if (p->model != m && (p->code = nnrt_model_check(m = p->model, &p->memory, &order, p->error)) != NNRT_SUCCESS)
        return p->code;
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (m->allTensors.data[i].quantParams.count > 0)
            return p->code = nnrt_error_set(p->error, NNRT_NOT_SUPPORT,
                                            "tensor %u '%s' is quantized already: quantize the float32 model", i,
                                            nnrti_ptq_name(m->allTensors.data[i].name));
    if (nnrti_ptq_copy(p) != NNRT_SUCCESS)
        return p->code;
    p->nOwn = p->nMain = m->subGraph.count > 1 ? order[m->nodes.count + 1] : m->nodes.count;
    memcpy(p->main, order, p->nOwn * sizeof(*p->main));
    if (nnrti_ptq_infer(p) != NNRT_SUCCESS || nnrti_ptq_copy_lists(p) != NNRT_SUCCESS)
        return p->code;
    nnrti_ptq_count(p);
    return nnrti_ptq_choose(p);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_observe */

/* The main graph runs in parts, one session at a time, so that only the results and the prepared weights of one part are in
   memory, and the values that later parts read. Between parts are only float32 values of fixed shape, as others may decide
   shapes; values that the shapes of the inputs decide are constants. Several parts are prepared again for each sample. */
#define NNRTI_PTQ_PART ((size_t)2 << 20) /* nnrt_quantize_desc.part */

static void *nnrti_ptq_watch_keep(nnrti_ptq *p, nnrti_ptq_watch *w, size_t count, size_t size)
{
    void *block = nnrt_memory_keep_array(&w->memory, count, size);
    if (block == NULL)
        nnrti_ptq_no_memory(p);
    return block;
}

/* Receives the n elements of activation `tensor` in one sample. */
typedef void (*nnrti_ptq_visit)(nnrti_ptq *p, uint32_t tensor, const float *data, size_t n);

/* Bytes of a value of fixed shape; false: its shape is not fixed. */
static bool nnrti_ptq_bytes(const nnrti_ptq *p, uint32_t t, size_t *bytes)
{
    const nnrt_operand *o = &p->shapes[t];
    bool fixed = true;
    for (int32_t k = 0; k < o->rank; k++)
        fixed = fixed && o->symbols[k] == 0;
    return fixed && nnrt_dims_bytes(o->dims, o->rank, o->dataType, bytes);
}

/* Whether node i of edit needs no run: its results are known from the shapes of the inputs, and not observed. With subgraphs
   all nodes run, in one part. */
static bool nnrti_ptq_is_known(const nnrti_ptq *p, uint32_t i)
{
    const NNRT_Node *n = &p->nodes[i];
    size_t bytes;
    bool known = p->edit.subGraph.count <= 1;
    for (uint32_t k = 0; k < n->outputIndex.count; k++) {
        const uint32_t t = n->outputIndex.data[k];
        known = known && (t == NNRT_NO_TENSOR ||
                          (p->shapes[t].data != NULL && !p->values[t].quantized && nnrti_ptq_bytes(p, t, &bytes)));
    }
    return known;
}

/* Tensors of edit with their inferred types and shapes, as inputs and outputs of parts need them. */
static NNRT_ReturnCode nnrti_ptq_watch_tensors(nnrti_ptq *p, nnrti_ptq_watch *w)
{
    size_t bytes;
    w->tensors = (NNRT_Tensor *)nnrti_ptq_watch_keep(p, w, (size_t)p->nValues + 1, sizeof(*w->tensors));
    if (w->tensors == NULL)
        return p->code;
    memcpy(w->tensors, p->tensors, p->nValues * sizeof(*w->tensors));
    for (uint32_t t = 0; t < p->nValues; t++) {
        const nnrt_operand *o = &p->shapes[t];
        if (nnrti_ptq_is_constant(&p->model->allTensors.data[t]) || o->dataType == NNRT_DATA_TYPE_UNKNOWN)
            continue;
        if (!nnrti_ptq_bytes(p, t, &bytes)) {
            if (p->values[t].quantized || p->values[t].writer == NNRT_NO_TENSOR)
                return p->code = nnrt_error_set(p->error, NNRT_NOT_SUPPORT,
                                                "'%s' has dynamic dimensions: set the dimensions of the inputs",
                                                nnrti_ptq_name(p->model->allTensors.data[t].name));
            continue;
        }
        w->tensors[t].dataType = o->dataType;
        w->tensors[t].format = o->format;
        w->tensors[t].dims = NNRT_Int32List_make(o->dims, (uint32_t)o->rank);
        if (p->values[t].writer != NNRT_NO_TENSOR && nnrti_ptq_is_known(p, p->values[t].writer)) {
            w->tensors[t].data.addr = (void *)(uintptr_t)o->data; /* only read */
            w->tensors[t].data.bufferSize = w->tensors[t].data.dataSize = (uint32_t)bytes;
        }
    }
    return NNRT_SUCCESS;
}

/* Fills made and until. */
static void nnrti_ptq_watch_order(const nnrti_ptq *p, nnrti_ptq_watch *w)
{
    memset(w->made, 0xFF, p->nValues * sizeof(*w->made));
    for (uint32_t i = 0; i < p->edit.inputIndex.count; i++)
        w->made[p->edit.inputIndex.data[i]] = 0;
    for (uint32_t i = 0; i < p->nOwn; i++) {
        const NNRT_Node *n = &p->nodes[p->main[i]];
        if (nnrti_ptq_is_known(p, p->main[i]))
            continue;
        for (uint32_t k = 0; k < n->inputIndex.count; k++)
            if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
                w->until[n->inputIndex.data[k]] = i + 1;
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            if (n->outputIndex.data[k] != NNRT_NO_TENSOR)
                w->made[n->outputIndex.data[k]] = i + 1;
    }
    for (uint32_t i = 0; i < p->edit.outputIndex.count; i++)
        if (p->values[p->edit.outputIndex.data[i]].judges)
            w->until[p->edit.outputIndex.data[i]] = p->nOwn + 1;
}

/* Whether a later part may read value t. */
static bool nnrti_ptq_may_pass(const nnrti_ptq *p, const nnrti_ptq_watch *w, uint32_t t)
{
    size_t bytes;
    return w->made[t] == UINT32_MAX ||
           (nnrti_ptq_is_activation(p, t) && p->shapes[t].data == NULL && nnrti_ptq_bytes(p, t, &bytes));
}

/* Bytes of the observed results of node n and of its constants, which the session has again in another order. */
static size_t nnrti_ptq_part_bytes(const nnrti_ptq *p, const NNRT_Node *n)
{
    size_t all = 0, bytes;
    for (uint32_t k = 0; k < n->outputIndex.count; k++)
        if (n->outputIndex.data[k] != NNRT_NO_TENSOR && p->values[n->outputIndex.data[k]].quantized &&
            nnrti_ptq_bytes(p, n->outputIndex.data[k], &bytes))
            all += bytes;
    for (uint32_t k = 0; k < n->inputIndex.count; k++)
        if (n->inputIndex.data[k] != NNRT_NO_TENSOR && nnrti_ptq_is_constant(&p->tensors[n->inputIndex.data[k]]))
            all += p->tensors[n->inputIndex.data[k]].data.dataSize;
    return all;
}

/* Where the part that begins at position `from` ends: before the node that exceeds nnrt_quantize_desc.part, but after values
   that must not pass from part to part. Subgraphs read values that no list names: then all is one part. */
static uint32_t nnrti_ptq_part_end(const nnrti_ptq *p, const nnrti_ptq_watch *w, uint32_t from)
{
    const size_t most = p->desc->part > 0 ? p->desc->part : NNRTI_PTQ_PART;
    size_t all = 0;
    uint32_t least = p->edit.subGraph.count > 1 ? p->nOwn : from + 1;
    for (; from < p->nOwn; from++) {
        const NNRT_Node *n = &p->nodes[p->main[from]];
        all += nnrti_ptq_part_bytes(p, n);
        if (from >= least && all > most)
            break;
        for (uint32_t k = 0; k < n->outputIndex.count; k++) {
            const uint32_t t = n->outputIndex.data[k];
            if (t != NNRT_NO_TENSOR && !nnrti_ptq_may_pass(p, w, t) && w->until[t] > least)
                least = w->until[t];
        }
    }
    return from;
}

/* Lists the inputs of a part, each once, then the outputs. listed: of each tensor, the number of the last part that has it. */
static void nnrti_ptq_part_list(const nnrti_ptq *p, const nnrti_ptq_watch *w, nnrti_ptq_part *part, uint32_t *listed)
{
    const uint32_t number = (uint32_t)(part - w->parts) + 1;
    for (uint32_t i = 0; i < p->edit.inputIndex.count && p->edit.subGraph.count > 1; i++)
        part->tensors[part->nIn++] = p->edit.inputIndex.data[i];
    for (uint32_t i = part->from; i < part->to && p->edit.subGraph.count <= 1; i++)
        for (uint32_t k = 0; k < p->nodes[p->main[i]].inputIndex.count && !nnrti_ptq_is_known(p, p->main[i]); k++) {
            const uint32_t t = p->nodes[p->main[i]].inputIndex.data[k];
            if (t == NNRT_NO_TENSOR || listed[t] == number || w->made[t] > part->from)
                continue;
            listed[t] = number;
            part->tensors[part->nIn++] = t;
        }
    for (uint32_t i = part->from; i < part->to; i++)
        for (uint32_t k = 0; k < p->nodes[p->main[i]].outputIndex.count; k++) {
            const uint32_t t = p->nodes[p->main[i]].outputIndex.data[k];
            if (t != NNRT_NO_TENSOR && w->made[t] != UINT32_MAX && (p->values[t].quantized || w->until[t] > part->to))
                part->tensors[part->nIn + part->nOut++] = t;
        }
}

/* nnrt_quantize_desc.session, with an allocator and without a buffer: there are several sessions, one after the other. */
static nnrt_session_desc nnrti_ptq_session_desc(const nnrti_ptq *p)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    if (p->desc->session != NULL)
        desc = *p->desc->session;
    if (desc.allocator == NULL)
        desc.allocator = p->desc->allocator;
    desc.buffer = NULL;
    return desc;
}

/* The graphs of a part: the main graph gets its inputs, outputs and, if it is the only one, its nodes. */
static NNRT_ReturnCode nnrti_ptq_part_graphs(nnrti_ptq *p, nnrti_ptq_watch *w, nnrti_ptq_part *part)
{
    const uint32_t count = p->edit.subGraph.count;
    uint32_t nNodes = 0;
    NNRT_Node *nodes = (NNRT_Node *)nnrti_ptq_watch_keep(p, w, part->to - part->from, sizeof(*nodes));
    uint32_t *indices = (uint32_t *)nnrti_ptq_watch_keep(p, w, part->to - part->from, sizeof(*indices));
    NNRT_SubGraph *graphs = (NNRT_SubGraph *)nnrti_ptq_watch_keep(p, w, count, sizeof(*graphs));
    if (p->code != NNRT_SUCCESS)
        return p->code;
    memcpy(graphs, p->edit.subGraph.data, count * sizeof(*graphs));
    for (uint32_t i = part->from; i < part->to; i++) {
        if (nnrti_ptq_is_known(p, p->main[i]))
            continue;
        indices[nNodes] = nNodes;
        nodes[nNodes++] = p->nodes[p->main[i]];
    }
    graphs[0].inputIndices = part->model.inputIndex;
    graphs[0].outputIndices = part->model.outputIndex;
    part->model.subGraph = NNRT_SubGraphList_make(graphs, count);
    if (count == 1) {
        graphs[0].nodeIndices = NNRT_Uint32List_make(indices, nNodes);
        part->model.nodes = NNRT_NodeList_make(nodes, nNodes);
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_ptq_part_model(nnrti_ptq *p, nnrti_ptq_watch *w, nnrti_ptq_part *part, uint32_t *listed)
{
    size_t operands = p->edit.inputIndex.count;
    for (uint32_t i = part->from; i < part->to; i++)
        operands += (size_t)p->nodes[p->main[i]].inputIndex.count + p->nodes[p->main[i]].outputIndex.count;
    part->tensors = (uint32_t *)nnrti_ptq_watch_keep(p, w, operands, sizeof(*part->tensors));
    if (part->tensors == NULL)
        return p->code;
    nnrti_ptq_part_list(p, w, part, listed);
    part->model = p->edit;
    part->model.allTensors = NNRT_TensorList_make(w->tensors, p->nValues);
    part->model.inputIndex = NNRT_Uint32List_make(part->tensors, part->nIn);
    part->model.outputIndex = NNRT_Uint32List_make(part->tensors + part->nIn, part->nOut);
    return nnrti_ptq_part_graphs(p, w, part);
}

/* Calls the body for each weight of output o of layer l: index `at` in the constant, input i, tap k. */
#define NNRTI_PTQ_EACH(l, o, at)                                                                                       \
    for (int32_t k = 0; k < (l)->taps; k++)                                                                            \
        for (int32_t i = 0; i < (l)->in; i++)                                                                          \
            for (ptrdiff_t at = (o) * (l)->outStride + k * (l)->tapStride + i * (l)->inStride, once = 1; once > 0; once = 0)

static bool nnrti_ptq_is_equalized(const nnrti_ptq_layer *l)
{
    return l->multiplied != NULL || l->divided != NULL;
}

/* The weights of a layer: its constant or, if it is equalized, their product with the factors, written to `room`. */
static const float *nnrti_ptq_weights_of(const nnrti_ptq *p, const nnrti_ptq_layer *l, float *room)
{
    const float *w = (const float *)nnrti_ptq_data(&p->tensors[l->weight]);
    if (!nnrti_ptq_is_equalized(l))
        return w;
    for (int32_t o = 0; o < l->out; o++)
        NNRTI_PTQ_EACH(l, o, at) {
            const float m = l->multiplied != NULL ? l->multiplied[o / (l->out / l->groups) * l->in + i] : 1.0f;
            room[at] = w[at] * m / (l->divided != NULL ? l->divided[o] : 1.0f);
        }
    return room;
}

/* Bytes of the equalized weights of a part. With room they are computed there, and become the constants of its model. */
static size_t nnrti_ptq_part_weights(const nnrti_ptq *p, const nnrti_ptq_watch *w, const nnrti_ptq_part *part, uint8_t *room)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < p->nLayers; i++) {
        const nnrti_ptq_layer *l = &p->layers[i];
        const uint32_t position = w->made[p->model->nodes.data[l->node].outputIndex.data[0]] - 1;
        NNRT_SharedBuffer *data = &w->tensors[l->weight].data;
        if (position < part->from || position >= part->to || !nnrti_ptq_is_equalized(l))
            continue;
        if (room != NULL) {
            data->addr = (void *)(uintptr_t)nnrti_ptq_weights_of(p, l, (float *)(void *)(room + bytes));
            data->offset = 0;
            data->bufferSize = data->dataSize;
            data->fd = -1;
        }
        bytes += ((size_t)data->dataSize + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
    }
    return bytes;
}

/* Makes room for the equalized weights of the part that has most. */
static NNRT_ReturnCode nnrti_ptq_watch_weights(nnrti_ptq *p, nnrti_ptq_watch *w)
{
    size_t most = 0;
    for (uint32_t i = 0; i < w->nParts; i++) {
        const size_t bytes = nnrti_ptq_part_weights(p, w, &w->parts[i], NULL);
        most = bytes > most ? bytes : most;
    }
    if (w->weights == NULL && most > 0 && (w->weights = (uint8_t *)nnrt_memory_keep_aligned(&w->memory, most)) == NULL)
        nnrti_ptq_no_memory(p);
    return p->code;
}

/* How the session of a part is made. */
static nnrt_session_desc nnrti_ptq_part_desc(const nnrti_ptq *p)
{
    nnrt_session_desc desc = nnrti_ptq_session_desc(p);
    desc.inputDims = nnrt_dims_list_make(NULL, 0); /* the tensors have them */
    return desc;
}

static NNRT_ReturnCode nnrti_ptq_part_session(nnrti_ptq *p, const nnrti_ptq_watch *w, nnrti_ptq_part *part)
{
    nnrt_session_desc desc = nnrti_ptq_part_desc(p);
    desc.buffer = w->buffer;
    desc.bufferBytes = w->bufferBytes;
    if (part->session == NULL && w->weights != NULL)
        nnrti_ptq_part_weights(p, w, part, w->weights);
    return part->session != NULL ? p->code : (p->code = nnrt_session_create(&part->session, &part->model, &desc, p->error));
}

/* The buffer of the sessions of several parts. Where a device does not tell sizes, or has a cache, they allocate. */
static NNRT_ReturnCode nnrti_ptq_watch_buffer(nnrti_ptq *p, nnrti_ptq_watch *w)
{
    const nnrt_session_desc desc = nnrti_ptq_part_desc(p);
    size_t bytes;
    for (uint32_t i = 0; i < w->nParts && w->nParts > 1 && desc.cache == NULL; i++) {
        if (w->parts[i].nOut == 0)
            continue;
        p->code = nnrt_session_bytes(&w->parts[i].model, &desc, &bytes, p->error);
        if (p->code == NNRT_NOT_SUPPORT) {
            nnrt_error_clear(p->error);
            w->bufferBytes = 0;
            p->code = NNRT_SUCCESS;
            break;
        }
        if (p->code != NNRT_SUCCESS)
            return p->code;
        w->bufferBytes = bytes > w->bufferBytes ? bytes : w->bufferBytes;
    }
    if (w->bufferBytes > 0 && (w->buffer = nnrt_memory_keep_aligned(&w->memory, w->bufferBytes)) == NULL)
        nnrti_ptq_no_memory(p);
    return p->code;
}

/* Block `t` holds value t from part `first` on. */
static void nnrti_ptq_block(const nnrti_ptq *p, nnrti_ptq_watch *w, nnrt_plan_block *blocks, uint32_t t, uint32_t first)
{
    if (nnrti_ptq_bytes(p, t, &w->values[t].bytes)) {
        blocks[t].bytes = w->values[t].bytes + 1; /* 0 bytes are a value, too */
        blocks[t].first = blocks[t].last = (int32_t)first;
    }
}

/* Plans one block for the inputs of the model, and the inputs and outputs of parts; a step is a part. */
static NNRT_ReturnCode nnrti_ptq_watch_place(nnrti_ptq *p, nnrti_ptq_watch *w)
{
    nnrt_plan_block *blocks = (nnrt_plan_block *)nnrti_ptq_watch_keep(p, w, (size_t)p->nValues + 1, sizeof(*blocks));
    void *scratch = nnrt_memory_keep_aligned(&w->memory, nnrt_plan_scratch(p->nValues) + 1);
    size_t bytes = 0;
    uint8_t *all;
    if (blocks == NULL || scratch == NULL)
        return nnrti_ptq_no_memory(p);
    for (uint32_t i = 0; i < p->edit.inputIndex.count; i++)
        nnrti_ptq_block(p, w, blocks, p->edit.inputIndex.data[i], 0);
    for (uint32_t i = 0; i < w->nParts; i++)
        for (uint32_t k = 0; k < w->parts[i].nIn + w->parts[i].nOut; k++) {
            const uint32_t t = w->parts[i].tensors[k];
            if (k < w->parts[i].nIn)
                blocks[t].last = (int32_t)i;
            else
                nnrti_ptq_block(p, w, blocks, t, i);
        }
    for (uint32_t i = 0; i < p->edit.outputIndex.count; i++)
        if (p->values[p->edit.outputIndex.data[i]].judges)
            blocks[p->edit.outputIndex.data[i]].last = (int32_t)w->nParts - 1;
    p->code = nnrt_plan_arena(blocks, p->nValues, NNRT_ALIGNMENT, scratch, &bytes, NULL);
    if (p->code != NNRT_SUCCESS || (all = (uint8_t *)nnrt_memory_keep_aligned(&w->memory, bytes + 1)) == NULL)
        return nnrti_ptq_no_memory(p);
    for (uint32_t t = 0; t < p->nValues; t++)
        if (blocks[t].bytes > 0)
            w->values[t].data = all + blocks[t].offset;
    return NNRT_SUCCESS;
}

/* Divides the main graph into parts. */
static NNRT_ReturnCode nnrti_ptq_watch_start(nnrti_ptq *p, nnrti_ptq_watch *w)
{
    uint32_t *listed, most = p->edit.inputIndex.count;
    nnrt_memory_allocate(&w->memory, p->desc->allocator);
    w->parts = (nnrti_ptq_part *)nnrti_ptq_watch_keep(p, w, (size_t)p->nOwn + 1, sizeof(*w->parts));
    w->made = (uint32_t *)nnrti_ptq_watch_keep(p, w, (size_t)p->nValues + 1, sizeof(*w->made));
    w->until = (uint32_t *)nnrti_ptq_watch_keep(p, w, (size_t)p->nValues + 1, sizeof(*w->until));
    w->values = (nnrt_io *)nnrti_ptq_watch_keep(p, w, (size_t)p->nValues + 1, sizeof(*w->values));
    listed = (uint32_t *)nnrti_ptq_watch_keep(p, w, (size_t)p->nValues + 1, sizeof(*listed));
    if (p->code != NNRT_SUCCESS || nnrti_ptq_watch_tensors(p, w) != NNRT_SUCCESS)
        return p->code;
    nnrti_ptq_watch_order(p, w);
    for (uint32_t from = 0; from < p->nOwn && p->code == NNRT_SUCCESS;) {
        nnrti_ptq_part *part = &w->parts[w->nParts++];
        part->from = from;
        part->to = from = nnrti_ptq_part_end(p, w, from);
        nnrti_ptq_part_model(p, w, part, listed);
        most = part->nIn + part->nOut > most ? part->nIn + part->nOut : most;
    }
    if (p->code == NNRT_SUCCESS)
        w->io = (nnrt_io *)nnrti_ptq_watch_keep(p, w, (size_t)most + 1, sizeof(*w->io));
    if (p->code == NNRT_SUCCESS && nnrti_ptq_watch_place(p, w) == NNRT_SUCCESS)
        nnrti_ptq_watch_buffer(p, w);
    return p->code;
}

/* Visits value t if it is observed. */
static void nnrti_ptq_watch_visit(nnrti_ptq *p, const nnrti_ptq_watch *w, uint32_t t, nnrti_ptq_visit visit)
{
    if (p->values[t].quantized && p->code == NNRT_SUCCESS)
        visit(p, t, (const float *)w->values[t].data, w->values[t].bytes / sizeof(float));
}

/* Computes one part, and visits its values. */
static NNRT_ReturnCode nnrti_ptq_part_run(nnrti_ptq *p, nnrti_ptq_watch *w, nnrti_ptq_part *part, uint32_t sample,
                                          nnrti_ptq_visit visit)
{
    const uint32_t count = part->nIn + part->nOut;
    NNRT_ReturnCode code;
    if (nnrti_ptq_part_session(p, w, part) != NNRT_SUCCESS)
        return p->code;
    for (uint32_t i = 0; i < count; i++)
        w->io[i] = w->values[part->tensors[i]];
    code = nnrt_run(part->session, w->io, part->nIn, w->io + part->nIn, part->nOut);
    if (code != NNRT_SUCCESS)
        return p->code = nnrt_error_set(p->error, code, "the run of sample %u failed: %s", sample,
                                        nnrt_session_error(part->session));
    if (w->nParts > 1) {
        nnrt_session_destroy(part->session);
        part->session = NULL;
    }
    for (uint32_t i = part->nIn; i < count; i++)
        nnrti_ptq_watch_visit(p, w, part->tensors[i], visit);
    return p->code;
}

/* One run more is done. */
static void nnrti_ptq_ran(nnrti_ptq *p)
{
    p->runs++;
    if (p->desc->progress != NULL)
        p->desc->progress(p->desc->user, p->runs, p->allRuns);
}

/* Keeps the outputs of sample k that judge ranges. */
static void nnrti_ptq_watch_want(nnrti_ptq *p, const nnrti_ptq_watch *w, uint32_t k)
{
    uint8_t *to = p->wanted + k * p->wantedBytes;
    for (uint32_t i = 0; i < p->edit.outputIndex.count; i++) {
        const nnrt_io *value = &w->values[p->edit.outputIndex.data[i]];
        if (!p->values[p->edit.outputIndex.data[i]].judges)
            continue;
        memcpy(to, value->data, value->bytes);
        to += value->bytes;
    }
}

/* Visits the values of one sample. */
static NNRT_ReturnCode nnrti_ptq_watch_run(nnrti_ptq *p, nnrti_ptq_watch *w, uint32_t sample, nnrti_ptq_visit visit)
{
    const NNRT_Uint32List *in = &p->edit.inputIndex;
    NNRT_ReturnCode code;
    for (uint32_t i = 0; i < in->count; i++)
        w->io[i] = w->values[in->data[i]];
    code = p->desc->sample(p->desc->user, sample, w->io, in->count);
    if (code != NNRT_SUCCESS)
        return p->code = nnrt_error_set(p->error, code, "sample %u cannot be read", sample);
    for (uint32_t i = 0; i < in->count; i++)
        nnrti_ptq_watch_visit(p, w, in->data[i], visit);
    for (uint32_t i = 0; i < w->nParts && p->code == NNRT_SUCCESS; i++)
        if (w->parts[i].nOut > 0)
            nnrti_ptq_part_run(p, w, &w->parts[i], sample, visit);
    if (p->runs < p->judges && p->code == NNRT_SUCCESS) /* the first runs compute the float32 model */
        nnrti_ptq_watch_want(p, w, sample);
    nnrti_ptq_ran(p);
    return p->code;
}

static void nnrti_ptq_watch_end(nnrti_ptq_watch *w)
{
    nnrt_memory_end(&w->memory);
    memset(w, 0, sizeof(*w));
}

/* Runs all samples, and visits the values of all activations that get codes. */
static NNRT_ReturnCode nnrti_ptq_observe(nnrti_ptq *p, nnrti_ptq_visit visit)
{
    nnrti_ptq_watch *w = &p->watch;
    if (w->parts == NULL)
        nnrti_ptq_watch_start(p, w);
    for (uint32_t t = 0; t < p->nValues && p->code == NNRT_SUCCESS; t++)
        if (nnrti_ptq_is_constant(&p->tensors[t]))
            w->tensors[t].data = p->tensors[t].data; /* equalization changes biases */
    if (p->code == NNRT_SUCCESS)
        nnrti_ptq_watch_weights(p, w);
    for (uint32_t i = 0; i < p->desc->samples && p->code == NNRT_SUCCESS; i++)
        nnrti_ptq_watch_run(p, w, i, visit);
    for (uint32_t i = 0; i < w->nParts; i++) {
        nnrt_session_destroy(w->parts[i].session);
        w->parts[i].session = NULL;
    }
    return p->code;
}

/* The axis of the channels of a value. */
static int32_t nnrti_ptq_channel_axis(const nnrt_operand *x)
{
    return x->format == NNRT_FORMAT_NCHW && x->rank > 2 ? 1 : x->rank - 1;
}

/* Makes room for the statistics of a value. */
static bool nnrti_ptq_room(nnrti_ptq *p, nnrti_ptq_value *v, const nnrt_operand *x)
{
    const int32_t axis = nnrti_ptq_channel_axis(x);
    const int32_t channels = axis >= 0 ? x->dims[axis] : 1;
    const size_t room = (size_t)channels + 1;
    if (v->least != NULL)
        return true;
    v->channels = channels;
    v->least = (float *)nnrti_ptq_keep(p, room, sizeof(float));
    v->most = (float *)nnrti_ptq_keep(p, room, sizeof(float));
    v->sum = (double *)nnrti_ptq_keep(p, room, sizeof(double));
    for (int32_t c = 0; c < channels && p->code == NNRT_SUCCESS; c++) {
        v->least[c] = (float)HUGE_VAL;
        v->most[c] = (float)-HUGE_VAL;
    }
    return p->code == NNRT_SUCCESS;
}

/* Minimum, maximum and sum of a row of n elements of one channel. */
static void nnrti_ptq_row(nnrti_ptq_value *v, int32_t c, const float *x, size_t n)
{
    float least = v->least[c], most = v->most[c];
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
        sum += (double)x[i];
    }
    v->least[c] = least;
    v->most[c] = most;
    v->sum[c] += sum;
}

static void nnrti_ptq_not_finite(nnrti_ptq *p, uint32_t t)
{
    const uint32_t sample = (uint32_t)(p->runs % p->desc->samples);
    const nnrti_ptq_value *v = &p->values[t];
    const char *name = nnrti_ptq_name(p->model->allTensors.data[t].name);
    if (v->writer == NNRT_NO_TENSOR)
        p->code = nnrt_error_set(p->error, NNRT_INVALID_PARAMETER, "input '%s' of sample %u has NaN or infinity", name, sample);
    else
        p->code = nnrt_error_set(p->error, NNRT_INVALID_PARAMETER,
                                 "'%s', the result of node %u '%s', has NaN or infinity for sample %u", name, v->writer,
                                 nnrti_ptq_name(p->model->nodes.data[v->writer].name), sample);
}

/* Visitor: ranges and sums of the channels. */
static void nnrti_ptq_see_range(nnrti_ptq *p, uint32_t t, const float *data, size_t n)
{
    nnrti_ptq_value *v = &p->values[t];
    const nnrt_operand *x = &p->shapes[t];
    const int32_t axis = nnrti_ptq_channel_axis(x);
    size_t outer = 1, inner = 1;
    if (!nnrti_ptq_room(p, v, x))
        return;
    for (int32_t k = 0; k < axis; k++)
        outer *= (size_t)x->dims[k];
    for (int32_t k = axis + 1; k < x->rank; k++)
        inner *= (size_t)x->dims[k];
    for (size_t o = 0; o < outer; o++)
        for (int32_t c = 0; c < v->channels; c++)
            nnrti_ptq_row(v, c, data + (o * (size_t)v->channels + (size_t)c) * inner, inner);
    v->count += (double)n / (double)(v->channels > 0 ? v->channels : 1);
    for (int32_t c = 0; c < v->channels; c++)
        if (!(fabs(v->sum[c]) < HUGE_VAL)) {
            nnrti_ptq_not_finite(p, t);
            return;
        }
}

/* Ranges of the groups, from the ranges of the channels. */
static void nnrti_ptq_join_ranges(nnrti_ptq *p)
{
    for (uint32_t t = 0; t < p->nValues; t++) {
        nnrti_ptq_value *v = &p->values[t], *r = &p->values[nnrti_ptq_root(p, t)];
        for (int32_t c = 0; c < v->channels && v->quantized; c++) {
            r->lower = v->least[c] < r->lower ? v->least[c] : r->lower;
            r->upper = v->most[c] > r->upper ? v->most[c] : r->upper;
        }
    }
}

/* Weights of an output, and inputs in a window. */
static size_t nnrti_ptq_inputs(const nnrti_ptq_layer *l)
{
    return (size_t)l->in * (size_t)l->taps;
}

/* The input of a layer as images, and the windows over it, one for each position of the result. A matrix is an image of one
   column whose windows are its rows. */
typedef struct nnrti_ptq_image {
    const float *data;
    size_t windows;
    int32_t height, width, rows, columns; /* rows, columns: of the result */
    int32_t before[2];
    ptrdiff_t position, channel; /* elements to the next column and channel */
} nnrti_ptq_image;

/* False: the shape is none that is known here. */
static bool nnrti_ptq_image_of(const nnrti_ptq *p, const nnrti_ptq_layer *l, const float *data, size_t n, nnrti_ptq_image *m)
{
    const NNRT_Node *node = &p->model->nodes.data[l->node];
    const nnrt_operand *x = &p->shapes[node->inputIndex.data[0]], *y = &p->shapes[node->outputIndex.data[0]];
    const int32_t channels = l->in * l->groups, *d = x->dims, nchw = x->format == NNRT_FORMAT_NCHW;
    memset(m, 0, sizeof(*m));
    m->data = data;
    m->channel = 1;
    m->position = channels;
    if (node->nodeType != NNRT_NODE_TYPE_CONV2D_FUSION) { /* rows along the last axis */
        m->height = m->rows = (int32_t)(n / (size_t)channels);
        m->width = m->columns = 1;
        m->windows = (size_t)m->rows;
        return l->kernel[0] > 0 && n > 0 && n % (size_t)channels == 0;
    }
    if (x->rank != 4 || y->rank != 4 || d[nchw ? 1 : 3] != channels || n == 0)
        return false;
    m->height = d[1 + nchw];
    m->width = d[2 + nchw];
    m->rows = y->dims[1 + nchw];
    m->columns = y->dims[2 + nchw];
    m->windows = (size_t)d[0] * (size_t)m->rows * (size_t)m->columns;
    if (nchw) {
        m->channel = (ptrdiff_t)m->height * m->width;
        m->position = 1;
    }
    for (int32_t k = 0; k < 2; k++) {
        const int32_t needs = ((k == 0 ? m->rows : m->columns) - 1) * l->stride[k] + (l->kernel[k] - 1) * l->dilation[k] + 1 -
                              (k == 0 ? m->height : m->width);
        m->before[k] = l->before[k] >= 0 ? l->before[k] : needs > 0 ? needs / 2 : 0;
    }
    return m->windows > 0;
}

/* Where tap k of window `at` reads channel 0; NULL: padding. */
static const float *nnrti_ptq_tap(const nnrti_ptq_layer *l, const nnrti_ptq_image *m, size_t at, int32_t k)
{
    const size_t area = (size_t)m->rows * (size_t)m->columns;
    const int32_t row = (int32_t)(at % area / (size_t)m->columns), column = (int32_t)(at % (size_t)m->columns);
    const int32_t y = row * l->stride[0] + k / l->kernel[1] * l->dilation[0] - m->before[0];
    const int32_t x = column * l->stride[1] + k % l->kernel[1] * l->dilation[1] - m->before[1];
    const ptrdiff_t image = (ptrdiff_t)(at / area) * m->height * m->width * l->in * l->groups;
    if (y < 0 || y >= m->height || x < 0 || x >= m->width)
        return NULL;
    return m->data + image + ((ptrdiff_t)y * m->width + x) * m->position;
}

/* Window k of `count` spread ones: every window, or the windows of a multiplicative sequence. */
static size_t nnrti_ptq_spread(const nnrti_ptq_image *m, size_t k, size_t count)
{
    return m->windows <= count ? k : (size_t)((uint64_t)k * 2654435761u % m->windows);
}

/* Adds the inputs of a layer's windows to its sums. A result of a transposed convolution with stride 2 gets a quarter of
   the taps: its means are the means of the channels over the product of the strides. */
static void nnrti_ptq_add_means(nnrti_ptq *p, nnrti_ptq_layer *l, uint32_t t, const float *data, size_t count)
{
    const nnrti_ptq_value *v = &p->values[t];
    const size_t n = nnrti_ptq_inputs(l);
    const bool transposed = l->kernel[0] == 0;
    nnrti_ptq_image m;
    if (transposed ? v->channels != l->in * l->groups || l->mean != NULL : !nnrti_ptq_image_of(p, l, data, count, &m))
        return;
    if (l->mean == NULL && (l->mean = (double *)nnrti_ptq_keep(p, n * (size_t)l->groups, sizeof(*l->mean))) == NULL)
        return;
    for (size_t j = 0; j < n * (size_t)l->groups && transposed; j++)
        l->mean[j] = v->sum[j / n * (size_t)l->in + j % (size_t)l->in] / v->count / (l->stride[0] * l->stride[1]);
    if (transposed) {
        l->count = 1;
        return;
    }
    for (size_t at = 0; at < m.windows; at++)
        for (int32_t k = 0; k < l->taps; k++) {
            const float *x = nnrti_ptq_tap(l, &m, at, k);
            for (int32_t g = 0; g < l->groups && x != NULL; g++) {
                double *sum = l->mean + (size_t)g * n + (size_t)k * (size_t)l->in;
                for (int32_t i = 0; i < l->in; i++)
                    sum[i] += (double)x[(g * l->in + i) * m.channel];
            }
        }
    l->count += (double)m.windows;
}

/* Visitor: the histogram of the group, and the means of the windows of layers. */
static void nnrti_ptq_see_histogram(nnrti_ptq *p, uint32_t t, const float *data, size_t n)
{
    nnrti_ptq_value *r = &p->values[nnrti_ptq_root(p, t)];
    const float width = (r->upper - r->lower) / NNRTI_PTQ_BINS, factor = width > 0 ? 1.0f / width : 0.0f;
    if (r->histogram == NULL)
        r->histogram = (uint64_t *)nnrti_ptq_keep(p, NNRTI_PTQ_BINS, sizeof(*r->histogram));
    for (size_t i = 0; i < n && r->histogram != NULL; i++) {
        const float at = (data[i] - r->lower) * factor; /* a value outside counts in the first or last bin */
        const int32_t bin = at > 0 ? (at < NNRTI_PTQ_BINS - 1 ? (int32_t)at : NNRTI_PTQ_BINS - 1) : 0;
        r->histogram[bin]++;
    }
    for (uint32_t i = 0; i < p->nLayers && nnrti_ptq_does(p, NNRT_QUANTIZE_BIAS); i++)
        if (p->model->nodes.data[p->layers[i].node].inputIndex.data[0] == t)
            nnrti_ptq_add_means(p, &p->layers[i], t, data, n);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_equalize */

/* Between two layers whose activation f has f(s * x) = s * f(x) for s > 0, channel c may be divided by s[c]: the weights
   and the bias of the first layer are divided, the weights of the second that read the channel multiplied. The range a
   of each channel then is a / s, and a weight range w of the second w * s. With one scale per output channel the
   first layer loses nothing, and a depthwise second layer neither: s = a / max a, all channels get the range of the
   largest. Other second layers share one scale among all input channels of an output: s = sqrt(a / w), which
   makes both ranges sqrt(a * w) (Nagel et al. equalize two weight tensors with one scale each in this way).
   RELU6 behaves so as long as no value passes 6: a channel whose range is below 6 may grow up to 6, a / 6 <= s <= 1. */

/* The range of a channel with fewer values is chance: other samples, whose values exceed it, would lose more than
   equalization gains (an autoencoder of dense layers with 16 samples: 9 dB). */
#define NNRTI_PTQ_FEW 64

static bool nnrti_ptq_homogeneous(NNRT_ActivationType a)
{
    return a == NNRT_ACTIVATION_TYPE_NO_ACTIVATION || a == NNRT_ACTIVATION_TYPE_LINEAR || a == NNRT_ACTIVATION_TYPE_RELU ||
           a == NNRT_ACTIVATION_TYPE_RELU6;
}

/* The elements of a bias of `edit`: a copy, made once, that may be changed. NULL: no memory. */
static float *nnrti_ptq_own(nnrti_ptq *p, uint32_t t)
{
    NNRT_Tensor *own = &p->tensors[t];
    if (nnrti_ptq_data(own) == nnrti_ptq_data(&p->model->allTensors.data[t])) {
        void *copy = nnrt_memory_keep_aligned(&p->memory, own->data.dataSize);
        if (copy == NULL) {
            nnrti_ptq_no_memory(p);
            return NULL;
        }
        memcpy(copy, nnrti_ptq_data(own), own->data.dataSize);
        own->data.addr = copy;
        own->data.offset = 0;
        own->data.bufferSize = own->data.dataSize;
        own->data.fd = -1;
    }
    return (float *)own->data.addr;
}

/* Largest magnitude of the weights of layer l that read input channel c, whose group's outputs are [from, to). */
static float nnrti_ptq_reads(const nnrti_ptq *p, const nnrti_ptq_layer *l, int32_t c)
{
    const float *w = (const float *)nnrti_ptq_data(&p->tensors[l->weight]);
    const int32_t group = c / l->in, each = l->out / l->groups;
    float most = 0;
    for (int32_t o = group * each; o < (group + 1) * each; o++)
        for (int32_t k = 0; k < l->taps; k++) {
            const float v = fabsf(w[o * l->outStride + k * l->tapStride + (c % l->in) * l->inStride]);
            most = v > most ? v : most;
        }
    return most;
}

/* Whether the results of a node that moves data have the channels of input 0, each scaled as those. */
static bool nnrti_ptq_passes_channels(const NNRT_Node *n)
{
    return n->nodeType == NNRT_NODE_TYPE_MAX_POOL_FUSION || n->nodeType == NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD ||
           n->nodeType == NNRT_NODE_TYPE_AVGPOOL_FUSION;
}

/* The only reader of tensor *t, through pools, whose results follow in *t; NNRT_NO_TENSOR: none, or several. */
static uint32_t nnrti_ptq_only_reader(const nnrti_ptq *p, uint32_t *t)
{
    const int32_t channels = p->values[*t].channels;
    for (;;) {
        const nnrti_ptq_value *v = &p->values[*t];
        const NNRT_Node *n;
        if (v->readers != 1 || v->reader == NNRT_NO_TENSOR || v->channels != channels)
            return NNRT_NO_TENSOR;
        n = &p->model->nodes.data[v->reader];
        if (n->inputIndex.data[0] != *t)
            return NNRT_NO_TENSOR;
        if (!nnrti_ptq_passes_channels(n))
            return v->reader;
        *t = n->outputIndex.data[0];
    }
}

/* The layer that reads the result of layer `a` alone; NULL: none, or they cannot be equalized. */
static nnrti_ptq_layer *nnrti_ptq_next(nnrti_ptq *p, const nnrti_ptq_layer *a)
{
    const NNRT_Tensor *bias = a->bias != NNRT_NO_TENSOR ? &p->tensors[a->bias] : NULL;
    uint32_t t = p->model->nodes.data[a->node].outputIndex.data[0], reader;
    if (p->values[t].channels != a->out || p->values[t].count < NNRTI_PTQ_FEW || !nnrti_ptq_homogeneous(a->activation) ||
        p->values[a->weight].readers != 1 ||
        (bias != NULL && (nnrti_ptq_data(bias) == NULL || bias->dataType != NNRT_DATA_TYPE_FLOAT32 ||
                          p->values[a->bias].readers != 1 || bias->data.dataSize != (size_t)a->out * sizeof(float))))
        return NULL;
    reader = nnrti_ptq_only_reader(p, &t);
    for (uint32_t i = 0; i < p->nLayers; i++) {
        nnrti_ptq_layer *b = &p->layers[i];
        if (b->node == reader)
            return b->in * b->groups == a->out && p->values[b->weight].readers == 1 ? b : NULL;
    }
    return NULL;
}

static float nnrti_ptq_magnitude(const nnrti_ptq_value *v, int32_t c)
{
    return fmaxf(fabsf(v->least[c]), fabsf(v->most[c]));
}

/* s of channel c before it is limited; 0: nothing reads it. The channel has a larger range in other samples: `all`, the range
   of all channels, over the number of its values is added. */
static double nnrti_ptq_ratio(const nnrti_ptq *p, const nnrti_ptq_layer *b, const nnrti_ptq_value *v, int32_t c, float all)
{
    const double range = (double)nnrti_ptq_magnitude(v, c) + (double)all / v->count;
    const double reads = (double)nnrti_ptq_reads(p, b, c);
    if (!(range > 0) || !(reads > 0))
        return 0;
    return b->groups > 1 && b->in == 1 ? range : sqrt(range / reads);
}

/* s of channel c; most: the largest ratio. */
static float nnrti_ptq_factor(const nnrti_ptq *p, const nnrti_ptq_layer *a, const nnrti_ptq_layer *b,
                              const nnrti_ptq_value *v, int32_t c, float all, double most)
{
    double s = nnrti_ptq_ratio(p, b, v, c, all) / most;
    if (a->activation == NNRT_ACTIVATION_TYPE_RELU6) {
        const double least = (double)nnrti_ptq_magnitude(v, c) / 6;
        s = s > 1 || least >= 1 ? 1 : s > 0 && s < least ? least : s;
    }
    return s > 1e-6 && s < 1e6 ? (float)s : 1.0f;
}

/* Divides the range of channel c, which layer `a` writes and layer b reads, and the bias by s. */
static void nnrti_ptq_divide(nnrti_ptq *p, const nnrti_ptq_layer *a, const nnrti_ptq_layer *b, int32_t c, float s)
{
    float *bias = a->bias != NNRT_NO_TENSOR ? nnrti_ptq_own(p, a->bias) : NULL;
    if (p->code != NNRT_SUCCESS)
        return;
    if (bias != NULL)
        bias[c] /= s;
    for (uint32_t t = p->model->nodes.data[a->node].outputIndex.data[0];;) {
        nnrti_ptq_value *v = &p->values[t];
        v->least[c] /= s;
        v->most[c] /= s;
        v->sum[c] /= (double)s;
        if (v->reader == b->node)
            return;
        t = p->model->nodes.data[v->reader].outputIndex.data[0];
    }
}

/* The factors of all channels between two layers. */
static void nnrti_ptq_factors(const nnrti_ptq *p, const nnrti_ptq_layer *a, const nnrti_ptq_layer *b, float *s)
{
    const nnrti_ptq_value *v = &p->values[p->model->nodes.data[a->node].outputIndex.data[0]];
    double most = 0;
    float all = 0;
    for (int32_t c = 0; c < a->out; c++)
        all = fmaxf(all, nnrti_ptq_magnitude(v, c));
    for (int32_t c = 0; c < a->out; c++)
        most = fmax(most, nnrti_ptq_ratio(p, b, v, c, all));
    if (a->activation == NNRT_ACTIVATION_TYPE_RELU6 && b->groups > 1 && b->in == 1)
        most = 6;
    for (int32_t c = 0; c < a->out; c++)
        s[c] = most > 0 ? nnrti_ptq_factor(p, a, b, v, c, all, most) : 1;
}

/* Makes room for the weights of one layer. */
static NNRT_ReturnCode nnrti_ptq_equalized_room(nnrti_ptq *p)
{
    size_t most = 0;
    for (uint32_t i = 0; i < p->nLayers; i++)
        if (nnrti_ptq_is_equalized(&p->layers[i]) && p->tensors[p->layers[i].weight].data.dataSize > most)
            most = p->tensors[p->layers[i].weight].data.dataSize;
    if (most > 0 && (p->equalized = (float *)nnrt_memory_keep_aligned(&p->memory, most)) == NULL)
        nnrti_ptq_no_memory(p);
    return p->code;
}

static NNRT_ReturnCode nnrti_ptq_equalize(nnrti_ptq *p)
{
    for (uint32_t i = 0; i < p->nLayers && p->code == NNRT_SUCCESS; i++) {
        nnrti_ptq_layer *a = &p->layers[i], *b = nnrti_ptq_next(p, a);
        float *s = b != NULL ? (float *)nnrti_ptq_keep(p, (size_t)a->out, sizeof(*s)) : NULL;
        if (s == NULL)
            continue;
        nnrti_ptq_factors(p, a, b, s);
        for (int32_t c = 0; c < a->out; c++)
            nnrti_ptq_divide(p, a, b, c, s[c]);
        a->divided = b->multiplied = s;
        p->report.equalized++;
    }
    return p->code == NNRT_SUCCESS ? nnrti_ptq_equalized_room(p) : p->code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_ranges */

/* To the nearest integer, halves away from zero. */
static double nnrti_ptq_nearest(double v)
{
    return v < 0 ? ceil(v - 0.5) : floor(v + 0.5);
}

/* The lowest code of an activation, and the number of codes above it. */
static int32_t nnrti_ptq_lowest(const nnrti_ptq *p)
{
    return p->desc->int16 ? -32767 : p->desc->uint8 ? 0 : -128;
}

static int32_t nnrti_ptq_above(const nnrti_ptq *p)
{
    return p->desc->int16 ? 65534 : 255;
}

static NNRT_DataType nnrti_ptq_type(const nnrti_ptq *p)
{
    return p->desc->int16 ? NNRT_DATA_TYPE_INT16 : p->desc->uint8 ? NNRT_DATA_TYPE_UINT8 : NNRT_DATA_TYPE_INT8;
}

/* Scale and zero point whose codes cover [lower, upper], which contains 0. int16 is symmetric. */
static NNRT_QuantParam nnrti_ptq_quant(const nnrti_ptq *p, double lower, double upper)
{
    NNRT_QuantParam q;
    const double range = p->desc->int16 ? 2 * fmax(-lower, upper) : upper - lower;
    const float scale = (float)(range / nnrti_ptq_above(p));
    q.numBits = p->desc->int16 ? 16 : 8;
    q.scale = scale > 0 ? (double)scale : 1.0; /* a tensor of zeros */
    q.zeroPoint = p->desc->int16 ? 0 : nnrti_ptq_lowest(p) + (int32_t)nnrti_ptq_nearest(-lower / q.scale);
    return q;
}

/* The middle of bin i. */
static double nnrti_ptq_bin(const nnrti_ptq_value *r, int32_t i)
{
    return (double)r->lower + (i + 0.5) * ((double)r->upper - (double)r->lower) / NNRTI_PTQ_BINS;
}

/* Sum of squared errors of the histogram's values. */
static double nnrti_ptq_noise(const nnrti_ptq *p, const nnrti_ptq_value *r, const NNRT_QuantParam *q)
{
    const double least = (nnrti_ptq_lowest(p) - q->zeroPoint) * q->scale, most = least + nnrti_ptq_above(p) * q->scale;
    double noise = 0;
    for (int32_t i = 0; i < NNRTI_PTQ_BINS; i++) {
        const double x = nnrti_ptq_bin(r, i);
        const double y = x < least ? least : x > most ? most : floor(x / q->scale + 0.5) * q->scale;
        if (r->histogram[i] > 0)
            noise += (double)r->histogram[i] * (x - y) * (x - y);
    }
    return noise;
}

/* ---- values that one activation reads ---- */

/* Such values are only seen through f, the activation: large ones may be equal for a SIGMOID, those below -3 are for HSWISH.
   Their range is the part where f is not constant, and its error is that of f(x): the other codes would buy nothing. */

/* Whether the slope of f differs, so that errors of x matter differently. */
static bool nnrti_ptq_is_bent(NNRT_ActivationType f)
{
    switch ((int)f) {
    case NNRT_ACTIVATION_TYPE_RELU:
    case NNRT_ACTIVATION_TYPE_RELU6:
    case NNRT_ACTIVATION_TYPE_RELU1:
    case NNRT_ACTIVATION_TYPE_SIGMOID:
    case NNRT_ACTIVATION_TYPE_TANH:
    case NNRT_ACTIVATION_TYPE_HSIGMOID:
    case NNRT_ACTIVATION_TYPE_HSWISH:
    case NNRT_ACTIVATION_TYPE_SWISH:
    case NNRT_ACTIVATION_TYPE_GELU: return true;
    default: return false;
    }
}

/* Fills `through` of values in a group of their own that only a chosen ACTIVATION reads. */
static void nnrti_ptq_find_through(nnrti_ptq *p)
{
    NNRT_Activation attr;
    for (uint32_t t = 0; t < p->nValues; t++) {
        nnrti_ptq_value *v = &p->values[t];
        const NNRT_Node *n = v->reader != NNRT_NO_TENSOR && v->readers == 1 ? &p->model->nodes.data[v->reader] : NULL;
        if (n == NULL || !v->quantized || !p->chosen[v->reader] || n->nodeType != NNRT_NODE_TYPE_ACTIVATION)
            continue;
        nnrti_ptq_attr(n, &attr, sizeof(attr));
        v->through = nnrti_ptq_is_bent(attr.activationType) ? attr.activationType : NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    }
    for (uint32_t t = 0; t < p->nValues; t++) /* others share the parameters */
        if (p->values[t].root != t)
            p->values[nnrti_ptq_root(p, t)].through = p->values[t].through = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
}

/* Sum of squared errors of f. signal: receives the sum of squares of f. */
static double nnrti_ptq_noise_through(const nnrti_ptq *p, const nnrti_ptq_value *r, const NNRT_QuantParam *q, double *signal)
{
    const double lowest = nnrti_ptq_lowest(p) - q->zeroPoint, highest = lowest + nnrti_ptq_above(p);
    double noise = 0, last = HUGE_VAL, y = 0;
    *signal = 0;
    for (int32_t i = 0; i < NNRTI_PTQ_BINS; i++) {
        const double x = nnrti_ptq_bin(r, i), code = fmin(fmax(floor(x / q->scale + 0.5), lowest), highest);
        double value;
        if (r->histogram[i] == 0)
            continue;
        if (code > last || code < last) /* codes ascend: f is computed once for each */
            y = (double)nnrt_activate((float)(code * q->scale), r->through);
        last = code;
        value = (double)nnrt_activate((float)x, r->through);
        *signal += (double)r->histogram[i] * value * value;
        noise += (double)r->histogram[i] * (value - y) * (value - y);
    }
    return noise;
}

/* The part of the range, with 0, outside of which f differs by less than a thousandth of its range from its values at the ends. */
static void nnrti_ptq_range_through(const nnrti_ptq_value *r, double *lower, double *upper)
{
    const double first = (double)nnrt_activate(r->lower, r->through), last = (double)nnrt_activate(r->upper, r->through);
    double least = fmin(first, last), most = fmax(first, last);
    int32_t from = 0, to = NNRTI_PTQ_BINS - 1;
    for (int32_t i = 0; i < NNRTI_PTQ_BINS; i++) {
        const double y = (double)nnrt_activate((float)nnrti_ptq_bin(r, i), r->through);
        least = fmin(least, y);
        most = fmax(most, y);
    }
    while (from < to && fabs((double)nnrt_activate((float)nnrti_ptq_bin(r, from), r->through) - first) < (most - least) / 1000)
        from++;
    while (to > from && fabs((double)nnrt_activate((float)nnrti_ptq_bin(r, to), r->through) - last) < (most - least) / 1000)
        to--;
    *lower = fmin(from > 0 ? nnrti_ptq_bin(r, from) : (double)r->lower, 0.0);
    *upper = fmax(to < NNRTI_PTQ_BINS - 1 ? nnrti_ptq_bin(r, to) : (double)r->upper, 0.0);
}

/* Keeps range q in *best if its noise over the histogram is less. */
static void nnrti_ptq_try(const nnrti_ptq *p, const nnrti_ptq_value *r, double lower, double upper, NNRT_QuantParam *best,
                          double *least)
{
    const NNRT_QuantParam q = nnrti_ptq_quant(p, lower, upper);
    double signal;
    const double noise = r->through == NNRT_ACTIVATION_TYPE_NO_ACTIVATION ? nnrti_ptq_noise(p, r, &q)
                                                                          : nnrti_ptq_noise_through(p, r, &q, &signal);
    if (noise < *least) {
        *least = noise;
        *best = q;
    }
}

/* Tries ranges of 100 % to 30 % of [lower, upper], at both ends; returns that with the least noise. */
static NNRT_QuantParam nnrti_ptq_search(const nnrti_ptq *p, const nnrti_ptq_value *r, double lower, double upper)
{
    NNRT_QuantParam best = r->tried[0];
    double least = HUGE_VAL;
    for (int32_t i = 0; i < 36 && (lower < 0 || i == 0); i++)
        for (int32_t k = 0; k < 36 && (upper > 0 || k == 0); k++)
            nnrti_ptq_try(p, r, lower * (1 - 0.02 * i), upper * (1 - 0.02 * k), &best, &least);
    return best;
}

/* The range without the share `share` of the values at each end. */
static void nnrti_ptq_percentile(const nnrti_ptq_value *r, double share, double *lower, double *upper)
{
    const double width = ((double)r->upper - (double)r->lower) / NNRTI_PTQ_BINS;
    double count = 0, below = 0, above = 0;
    int32_t first = 0, last = NNRTI_PTQ_BINS - 1;
    for (int32_t i = 0; i < NNRTI_PTQ_BINS; i++)
        count += (double)r->histogram[i];
    while (first < last && (below += (double)r->histogram[first]) <= count * share)
        first++;
    while (last > first && (above += (double)r->histogram[last]) <= count * share)
        last--;
    *lower = fmin((double)r->lower + first * width, 0.0);
    *upper = fmax((double)r->lower + (last + 1) * width, 0.0);
}

/* Of the ranges by percentile that with the least noise over the histogram. */
static NNRT_QuantParam nnrti_ptq_percentiles(const nnrti_ptq *p, const nnrti_ptq_value *r)
{
    NNRT_QuantParam best = r->tried[0];
    double least = HUGE_VAL, share = 1e-5, lower, upper;
    for (int32_t i = 0; i < 4; i++, share *= 10) {
        nnrti_ptq_percentile(r, share, &lower, &upper);
        nnrti_ptq_try(p, r, lower, upper, &best, &least);
    }
    return best;
}

/* Visitor: signal, and the noise of each range of the group. */
static void nnrti_ptq_see_noise(nnrti_ptq *p, uint32_t t, const float *data, size_t n)
{
    nnrti_ptq_value *r = &p->values[nnrti_ptq_root(p, t)];
    if (r->through != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
        return; /* nnrti_ptq_measure_through */
    for (size_t i = 0; i < n; i++)
        r->signal += (double)data[i] * (double)data[i];
    for (uint32_t k = 0; k < r->nTried; k++) {
        const float scale = (float)r->tried[k].scale, factor = 1 / scale;
        const float lowest = (float)(nnrti_ptq_lowest(p) - r->tried[k].zeroPoint), highest = lowest + (float)nnrti_ptq_above(p);
        double noise = 0;
        for (size_t i = 0; i < n; i++) {
            float code = data[i] * factor;
            code = code < lowest ? lowest : code > highest ? highest : code;
            code = code + 12582912.0f - 12582912.0f; /* 3 * 2^22: to the nearest integer */
            noise += (double)(data[i] - code * scale) * (double)(data[i] - code * scale);
        }
        r->error[k] += noise;
    }
}

/* Operators whose quantized form has a scale and zero point of its own (as in TensorFlow Lite): SOFTMAX and SIGMOID
   1/256 and the lowest code, TANH 1/128 and the middle one. */
static bool nnrti_ptq_of_operator(const nnrti_ptq *p, const NNRT_Node *n, NNRT_QuantParam *q)
{
    NNRT_ActivationType a = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    if (n->nodeType == NNRT_NODE_TYPE_ACTIVATION) {
        NNRT_Activation attr;
        nnrti_ptq_attr(n, &attr, sizeof(attr));
        a = attr.activationType;
    }
    q->numBits = 8;
    q->scale = a == NNRT_ACTIVATION_TYPE_TANH ? 1.0 / 128 : 1.0 / 256;
    q->zeroPoint = nnrti_ptq_lowest(p) + (a == NNRT_ACTIVATION_TYPE_TANH ? 128 : 0);
    return n->nodeType == NNRT_NODE_TYPE_SOFTMAX || a == NNRT_ACTIVATION_TYPE_SIGMOID || a == NNRT_ACTIVATION_TYPE_TANH;
}

static void nnrti_ptq_say(const nnrti_ptq *p, uint32_t t)
{
    const nnrti_ptq_value *r = &p->values[nnrti_ptq_root(p, t)];
    static const char *const methods[] = {"min-max", "percentile", "least squares", "operator"};
    nnrt_quantize_range range;
    range.method = methods[r->method];
    range.tensor = nnrti_ptq_name(p->model->allTensors.data[t].name);
    range.least = range.most = 0;
    for (int32_t c = 0; c < p->values[t].channels; c++) {
        range.least = c == 0 || p->values[t].least[c] < range.least ? p->values[t].least[c] : range.least;
        range.most = c == 0 || p->values[t].most[c] > range.most ? p->values[t].most[c] : range.most;
    }
    range.quant = r->quant;
    range.histogram = r->histogram;
    range.bins = NNRTI_PTQ_BINS;
    range.binsLower = r->lower;
    range.binsUpper = r->upper;
    range.lower = (float)((nnrti_ptq_lowest(p) - r->quant.zeroPoint) * r->quant.scale);
    range.upper = (float)((nnrti_ptq_lowest(p) + nnrti_ptq_above(p) - r->quant.zeroPoint) * r->quant.scale);
    range.sqnr = 10 * log10(r->signal / r->noise);
    if (!(r->noise > 0))
        range.sqnr = HUGE_VAL;
    p->desc->range(p->desc->user, &range);
}

/* The ranges to be measured of each group: that of an operator, or by all methods. */
static void nnrti_ptq_candidates(nnrti_ptq *p)
{
    for (uint32_t t = 0; t < p->nValues; t++) {
        nnrti_ptq_value *v = &p->values[t], *r = &p->values[nnrti_ptq_root(p, t)];
        if (v->quantized && v->writer != NNRT_NO_TENSOR && !r->fixed && !p->desc->int16)
            r->fixed = nnrti_ptq_of_operator(p, &p->model->nodes.data[v->writer], &r->tried[0]);
    }
    for (uint32_t t = 0; t < p->nValues; t++) {
        nnrti_ptq_value *r = &p->values[t];
        double lower = (double)r->lower, upper = (double)r->upper;
        if (r->root != t || r->histogram == NULL)
            continue;
        r->nTried = 1;
        if (r->fixed)
            continue;
        if (r->through != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
            nnrti_ptq_range_through(r, &lower, &upper);
        r->tried[0] = nnrti_ptq_quant(p, lower, upper);
        if (nnrti_ptq_does(p, NNRT_QUANTIZE_RANGES) && !p->desc->int16) { /* a bin has many codes of int16 */
            r->tried[1] = nnrti_ptq_percentiles(p, r);
            r->tried[2] = nnrti_ptq_search(p, r, lower, upper);
            r->nTried = NNRTI_PTQ_METHODS;
        }
    }
}

/* The noise of the candidates of values that an activation reads, over the histograms. */
static void nnrti_ptq_measure_through(nnrti_ptq *p)
{
    for (uint32_t t = 0; t < p->nValues; t++) {
        nnrti_ptq_value *r = &p->values[t];
        for (uint32_t k = 0; k < r->nTried && r->through != NNRT_ACTIVATION_TYPE_NO_ACTIVATION; k++)
            r->error[k] = nnrti_ptq_noise_through(p, r, &r->tried[k], &r->signal);
    }
}

/* The noise of all candidates. */
static NNRT_ReturnCode nnrti_ptq_ranges(nnrti_ptq *p)
{
    if ((p->desc->without & NNRT_QUANTIZE_RANGES) == 0 && !p->desc->int16)
        nnrti_ptq_find_through(p);
    nnrti_ptq_candidates(p);
    nnrti_ptq_measure_through(p);
    return p->desc->estimate ? p->code : nnrti_ptq_observe(p, nnrti_ptq_see_noise);
}

/* Scale and zero point of each group: of the range with the least noise, the first of equal ones; other than minimum and maximum
   only if its noise is less by this factor. */
static void nnrti_ptq_choose_ranges(nnrti_ptq *p, double factor)
{
    for (uint32_t t = 0; t < p->nValues; t++) {
        nnrti_ptq_value *r = &p->values[t];
        r->method = 0;
        for (uint32_t k = 1; k < r->nTried; k++)
            r->method = r->error[k] * (r->method == 0 ? factor : 1) < r->error[r->method] ? k : r->method;
        r->quant = r->tried[r->method];
        r->noise = r->error[r->method];
        r->method = r->fixed ? NNRTI_PTQ_METHODS : r->method;
    }
}

/* Reports the chosen ranges. */
static void nnrti_ptq_say_all(nnrti_ptq *p)
{
    for (uint32_t t = 0; t < p->nValues; t++) {
        const nnrti_ptq_value *r = &p->values[nnrti_ptq_root(p, t)];
        if (!p->values[t].quantized || r->nTried == 0)
            continue;
        p->report.ranges[r->method]++;
        if (p->desc->range != NULL && !p->desc->estimate)
            nnrti_ptq_say(p, t);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_round */

/* Least squared error of a layer's results. With e = w - scale * codes, the error of an output's weights w, and H, the mean
   of x * x^T over windows x of the samples, the mean squared error of the output is e^T * H * e. H = R^T * R with R upper
   triangular (Cholesky), so the error is |R * e|^2, whose row i has the terms R[i][i] * e[i] and R[i][j] * e[j], j > i. The
   codes are chosen from the last to the first: code i is the nearest to (w[i] + sum R[i][j] * e[j] / R[i][i]) / scale, so
   that it cancels the errors of the later ones (Babai's nearest plane; GPTQ, Frantar et al., arXiv 2210.17323, chooses the
   same codes). A hundredth of H's mean diagonal is added to the diagonal: the samples are few. */

#define NNRTI_PTQ_WINDOWS 64                     /* of a sample */
#define NNRTI_PTQ_INPUTS 4096                    /* weights of an output at most: H has their square */
#define NNRTI_PTQ_GRAMS ((size_t)256 << 20)      /* bytes of the matrices H at a time */

/* A code of a symmetric scale. */
static int8_t nnrti_ptq_symmetric(double v, double scale, int32_t largest)
{
    const double code = nnrti_ptq_nearest(v / scale);
    return (int8_t)(code > largest ? largest : code < -largest ? -largest : code);
}

/* The least scale of outputs [from, to). Their bias becomes int32 in units of this scale times that of x: at most 2^28
   units, because ranges of x that are tried later may be narrower. Outputs whose weights are almost zero need it. */
static double nnrti_ptq_least_scale(const nnrti_ptq *p, const nnrti_ptq_layer *l, int32_t from, int32_t to)
{
    const nnrti_ptq_value *x = &p->values[nnrti_ptq_root(p, p->model->nodes.data[l->node].inputIndex.data[0])];
    const NNRT_Tensor *t = l->bias != NNRT_NO_TENSOR ? &p->tensors[l->bias] : NULL;
    const float *bias = t != NULL && t->dataType == NNRT_DATA_TYPE_FLOAT32 ? (const float *)nnrti_ptq_data(t) : NULL;
    float most = 0;
    if (bias == NULL || x->nTried == 0 || t->data.dataSize != (size_t)l->out * sizeof(float))
        return 0;
    for (int32_t o = from; o < to; o++)
        most = fmaxf(most, fabsf(bias[o]));
    return (double)(float)((double)most / (x->tried[0].scale * 268435456.0));
}

/* The scale of outputs [from, to): of their largest weight, or a smaller one if the squared error is less. */
static double nnrti_ptq_scale(const nnrti_ptq *p, const nnrti_ptq_layer *l, const float *w, int32_t from, int32_t to)
{
    const double lowest = nnrti_ptq_least_scale(p, l, from, to);
    double best = 1, least = HUGE_VAL;
    float most = 0;
    for (int32_t o = from; o < to; o++)
        NNRTI_PTQ_EACH(l, o, at)
            most = fmaxf(most, fabsf(w[at]));
    for (int32_t f = 0; f < ((p->desc->without & NNRT_QUANTIZE_RANGES) == 0 ? 16 : 1) && most > 0; f++) {
        const double scale = (double)(float)((double)most * (1 - 0.02 * f) / l->largest);
        double noise = 0;
        for (int32_t o = from; o < to && scale > 0; o++)
            NNRTI_PTQ_EACH(l, o, at) {
                const double e = (double)w[at] - nnrti_ptq_symmetric((double)w[at], scale, l->largest) * scale;
                noise += e * e;
            }
        if (scale > 0 && noise < least) {
            least = noise;
            best = scale;
        }
    }
    return best < lowest ? lowest : best;
}

static double nnrti_ptq_scale_of(const nnrti_ptq_layer *l, int32_t o)
{
    return l->scales[l->nScales > 1 ? o : 0].scale;
}

/* The nearest codes of a layer's weights. */
static NNRT_ReturnCode nnrti_ptq_nearest_codes(nnrti_ptq *p, nnrti_ptq_layer *l)
{
    const bool channels = (p->desc->without & NNRT_QUANTIZE_CHANNELS) == 0;
    const float *w = nnrti_ptq_weights_of(p, l, p->equalized);
    l->nScales = channels ? (uint32_t)l->out : 1;
    l->largest = p->desc->reduce_range && !p->desc->int16 && !(l->groups > 1 && l->in == 1) ? 64 : 127;
    l->codes = (int8_t *)nnrt_memory_keep_aligned(&p->memory, p->tensors[l->weight].data.dataSize / sizeof(float));
    l->scales = (NNRT_QuantParam *)nnrti_ptq_keep(p, l->nScales, sizeof(*l->scales));
    if (l->codes == NULL || l->scales == NULL)
        return nnrti_ptq_no_memory(p);
    for (int32_t o = 0; o < l->out; o++) {
        NNRT_QuantParam *own = &l->scales[channels ? o : 0];
        own->numBits = 8;
        if (channels || o == 0)
            own->scale = nnrti_ptq_scale(p, l, w, o, channels ? o + 1 : l->out);
        NNRTI_PTQ_EACH(l, o, at)
            l->codes[at] = nnrti_ptq_symmetric((double)w[at], own->scale, l->largest);
    }
    return p->code;
}

/* Bytes of the matrices of a layer; 0: its codes are the nearest. */
static size_t nnrti_ptq_gram_bytes(const nnrti_ptq *p, const nnrti_ptq_layer *l)
{
    const size_t n = nnrti_ptq_inputs(l);
    if (!p->desc->least_squares || l->kernel[0] == 0 || n > NNRTI_PTQ_INPUTS ||
        (size_t)l->groups > NNRTI_PTQ_GRAMS / (n * (n + 1) * sizeof(double)))
        return 0;
    return n * (n + 1) * (size_t)l->groups * sizeof(double);
}

/* The layers [from, result) get matrices at the same time; *any: there is one that gets some. */
static uint32_t nnrti_ptq_batch(const nnrti_ptq *p, uint32_t from, bool *any)
{
    size_t bytes = 0;
    *any = false;
    while (from < p->nLayers) {
        const size_t more = nnrti_ptq_gram_bytes(p, &p->layers[from]);
        if (more > 0 && bytes > NNRTI_PTQ_GRAMS - more)
            break;
        bytes += more;
        *any = *any || more > 0;
        from++;
    }
    return from;
}

/* How many times the samples run for all layers. */
static uint32_t nnrti_ptq_batches(const nnrti_ptq *p)
{
    uint32_t count = 0;
    bool any;
    for (uint32_t i = 0; i < p->nLayers; count += any)
        i = nnrti_ptq_batch(p, i, &any);
    return count;
}

/* Copies the inputs of group g in window `at`, 0 for padding, in the order of the weights: tap, input. */
static void nnrti_ptq_copy_window(const nnrti_ptq_layer *l, const nnrti_ptq_image *m, size_t at, int32_t g, float *x)
{
    for (int32_t k = 0; k < l->taps; k++) {
        const float *from = nnrti_ptq_tap(l, m, at, k);
        for (int32_t i = 0; i < l->in; i++)
            *x++ = from != NULL ? from[(g * l->in + i) * m->channel] : 0.0f;
    }
}

/* Adds the products and the elements of window x to h. */
static void nnrti_ptq_add_window(const float *x, size_t n, double *h)
{
    for (size_t r = 0; r < n; r++) {
        for (size_t c = r; c < n && (x[r] < 0 || x[r] > 0); c++)
            h[r * n + c] += (double)x[r] * (double)x[c];
        h[n * n + r] += (double)x[r];
    }
}

/* Visitor: adds some windows to the matrices of the layers that read the value. */
static void nnrti_ptq_see_windows(nnrti_ptq *p, uint32_t t, const float *data, size_t count)
{
    for (uint32_t i = 0; i < p->nLayers; i++) {
        nnrti_ptq_layer *l = &p->layers[i];
        const size_t n = nnrti_ptq_inputs(l);
        nnrti_ptq_image m;
        if (l->gram == NULL || p->model->nodes.data[l->node].inputIndex.data[0] != t ||
            !nnrti_ptq_image_of(p, l, data, count, &m))
            continue;
        for (size_t k = 0; k < m.windows && k < NNRTI_PTQ_WINDOWS; k++, l->windows++)
            for (int32_t g = 0; g < l->groups; g++) {
                nnrti_ptq_copy_window(l, &m, nnrti_ptq_spread(&m, k, NNRTI_PTQ_WINDOWS), g, p->window);
                nnrti_ptq_add_window(p->window, n, l->gram + (size_t)g * n * (n + 1));
            }
    }
}

/* Makes covariances of the sums: the corrected bias removes the mean error. */
static void nnrti_ptq_center(double *h, size_t n, double count)
{
    const double *sum = h + n * n;
    for (size_t r = 0; r < n; r++)
        for (size_t c = r; c < n; c++)
            h[r * n + c] -= sum[r] * sum[c] / count;
}

/* H := R. False: H is 0. */
static bool nnrti_ptq_cholesky(double *h, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += h[i * n + i] / (double)n;
    if (!(mean > 0))
        return false;
    for (size_t i = 0; i < n; i++)
        h[i * n + i] += 0.01 * mean;
    for (size_t i = 0; i < n; i++) {
        const double root = sqrt(h[i * n + i]);
        for (size_t j = i; j < n; j++)
            h[i * n + j] /= root;
        for (size_t r = i + 1; r < n; r++) {
            const double f = h[i * n + r];
            for (size_t j = r; j < n; j++)
                h[r * n + j] -= f * h[i * n + j];
        }
    }
    return true;
}

/* sum of R[i][j] * e[j], j > i. */
static double nnrti_ptq_left(const double *h, size_t n, size_t i, const double *e)
{
    double sum = 0;
    for (size_t j = i + 1; j < n; j++)
        sum += h[i * n + j] * e[j];
    return sum;
}

/* Where weight j of output o is. */
static ptrdiff_t nnrti_ptq_at(const nnrti_ptq_layer *l, int32_t o, size_t j)
{
    const size_t in = (size_t)l->in;
    return o * l->outStride + (ptrdiff_t)(j / in) * l->tapStride + (ptrdiff_t)(j % in) * l->inStride;
}

/* The squared error of output o: of the codes that are chosen here, or (chosen NULL) of the layer's codes. e: work space. */
static double nnrti_ptq_squares(const nnrti_ptq_layer *l, const float *w, const double *h, int32_t o, double *e, int8_t *chosen)
{
    const size_t n = nnrti_ptq_inputs(l);
    const double scale = nnrti_ptq_scale_of(l, o);
    double squares = 0;
    for (size_t j = n; j-- > 0;) {
        const ptrdiff_t at = nnrti_ptq_at(l, o, j);
        const double diagonal = h[j * n + j], left = nnrti_ptq_left(h, n, j, e) / diagonal;
        const int8_t code =
            chosen != NULL ? nnrti_ptq_symmetric((double)w[at] + left, scale, l->largest) : l->codes[at];
        if (chosen != NULL)
            chosen[j] = code;
        e[j] = (double)w[at] - code * scale;
        squares += (e[j] + left) * diagonal * ((e[j] + left) * diagonal);
    }
    return squares;
}

/* Chooses the codes of output o by R. e, codes: work space. The nearest codes stay if their error is not larger. */
static void nnrti_ptq_round_output(const nnrti_ptq_layer *l, const float *w, const double *h, int32_t o, double *e, int8_t *codes)
{
    const double own = nnrti_ptq_squares(l, w, h, o, e, codes);
    const bool better = own < nnrti_ptq_squares(l, w, h, o, e, NULL);
    for (size_t j = 0; j < nnrti_ptq_inputs(l) && better; j++)
        l->codes[nnrti_ptq_at(l, o, j)] = codes[j];
}

static void nnrti_ptq_round_layer(nnrti_ptq *p, nnrti_ptq_layer *l, double *e, int8_t *codes)
{
    const float *w = nnrti_ptq_weights_of(p, l, p->equalized);
    const size_t n = nnrti_ptq_inputs(l);
    const int32_t each = l->out / l->groups;
    bool any = false;
    for (int32_t g = 0; g < l->groups; g++) {
        double *h = l->gram + (size_t)g * n * (n + 1);
        if (nnrti_ptq_does(p, NNRT_QUANTIZE_BIAS))
            nnrti_ptq_center(h, n, (double)l->windows);
        if (!nnrti_ptq_cholesky(h, n))
            continue;
        any = true;
        for (int32_t o = g * each; o < (g + 1) * each; o++)
            nnrti_ptq_round_output(l, w, h, o, e, codes);
    }
    p->report.rounded += any;
}

/* The codes of least squared error of layers [from, to). */
static NNRT_ReturnCode nnrti_ptq_round_batch(nnrti_ptq *p, uint32_t from, uint32_t to)
{
    nnrt_memory memory;
    size_t most = 1;
    double *e;
    int8_t *codes;
    nnrt_memory_allocate(&memory, p->desc->allocator);
    for (uint32_t i = from; i < to; i++) {
        nnrti_ptq_layer *l = &p->layers[i];
        const size_t bytes = nnrti_ptq_gram_bytes(p, l);
        most = bytes > 0 && nnrti_ptq_inputs(l) > most ? nnrti_ptq_inputs(l) : most;
        if (bytes > 0 && (l->gram = (double *)nnrt_memory_keep_array(&memory, bytes / sizeof(double), sizeof(double))) == NULL)
            nnrti_ptq_no_memory(p);
    }
    p->window = (float *)nnrt_memory_keep_array(&memory, most, sizeof(*p->window));
    e = (double *)nnrt_memory_keep_array(&memory, most, sizeof(*e));
    codes = (int8_t *)nnrt_memory_keep_array(&memory, most, sizeof(*codes));
    if (p->window == NULL || e == NULL || codes == NULL)
        nnrti_ptq_no_memory(p);
    if (p->code == NNRT_SUCCESS)
        nnrti_ptq_observe(p, nnrti_ptq_see_windows);
    for (uint32_t i = from; i < to; i++) {
        if (p->code == NNRT_SUCCESS && p->layers[i].gram != NULL)
            nnrti_ptq_round_layer(p, &p->layers[i], e, codes);
        p->layers[i].gram = NULL;
    }
    nnrt_memory_end(&memory);
    return p->code;
}

/* The codes of all layers. */
static NNRT_ReturnCode nnrti_ptq_round(nnrti_ptq *p)
{
    bool any;
    if (!p->desc->least_squares)
        nnrti_ptq_watch_end(&p->watch); /* no more runs */
    for (uint32_t i = 0; i < p->nLayers && p->code == NNRT_SUCCESS; i++)
        nnrti_ptq_nearest_codes(p, &p->layers[i]);
    for (uint32_t i = 0, to; i < p->nLayers && p->code == NNRT_SUCCESS; i = to) {
        to = nnrti_ptq_batch(p, i, &any);
        if (any)
            nnrti_ptq_round_batch(p, i, to);
    }
    return p->code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_weights */

/* Adds a tensor to edit; its index. */
static uint32_t nnrti_ptq_tensor(nnrti_ptq *p, const NNRT_Tensor *like, const char *suffix)
{
    const uint32_t t = p->edit.allTensors.count++;
    const char *name = nnrti_ptq_name(like->name);
    const size_t bytes = strlen(name) + strlen(suffix) + 1;
    char *own = *name != '\0' && *suffix != '\0' ? (char *)nnrti_ptq_keep(p, bytes, 1) : NULL;
    p->tensors[t] = *like;
    p->tensors[t].name = own;
    if (own != NULL)
        nnrt_text(own, bytes, "%s%s", name, suffix);
    return t;
}

/* Adds a node with one output to the main graph. attr: NULL for the defaults. */
static void nnrti_ptq_node_of(nnrti_ptq *p, NNRT_NodeType type, const void *attr, uint32_t attrSize, const uint32_t *in,
                              uint32_t nIn, uint32_t to)
{
    const uint32_t i = p->edit.nodes.count++;
    NNRT_Node *n = &p->nodes[i];
    uint32_t *io = (uint32_t *)nnrti_ptq_keep(p, (size_t)nIn + 1, sizeof(*io));
    if (io == NULL)
        return;
    memcpy(io, in, nIn * sizeof(*io));
    io[nIn] = to;
    memset(n, 0, sizeof(*n));
    n->nodeType = type;
    n->nodeAttr.data = attr;
    n->nodeAttr.size = attrSize;
    n->inputIndex = NNRT_Uint32List_make(io, nIn);
    n->outputIndex = NNRT_Uint32List_make(io + nIn, 1);
    p->main[p->nMain++] = i;
}

static void nnrti_ptq_node(nnrti_ptq *p, NNRT_NodeType type, const void *attr, uint32_t attrSize, uint32_t from, uint32_t to)
{
    nnrti_ptq_node_of(p, type, attr, attrSize, &from, 1, to);
}

/* Adds a cast between float32 and 8 bits to the main graph. */
static void nnrti_ptq_cast(nnrti_ptq *p, uint32_t from, uint32_t to)
{
    nnrti_ptq_node(p, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, NULL, 0, from, to);
}

/* Adds a tensor of codes with the shape of tensor t. */
static uint32_t nnrti_ptq_codes(nnrti_ptq *p, uint32_t t, NNRT_DataType type, const NNRT_QuantParam *params, uint32_t count,
                                int32_t axis)
{
    const uint32_t codes = nnrti_ptq_tensor(p, &p->tensors[t],
                                            type == NNRT_DATA_TYPE_UINT8   ? "_uint8"
                                            : type == NNRT_DATA_TYPE_INT16 ? "_int16"
                                                                           : "_int8");
    if (t < p->nValues && p->values[t].named) /* weights that layers share, with scales of their own */
        p->tensors[codes].name = NULL;
    else if (t < p->nValues)
        p->values[t].named = true;
    p->tensors[codes].dataType = type;
    p->tensors[codes].quantParams = NNRT_QuantParamList_make(params, count);
    p->tensors[codes].quantAxis = count > 1 ? axis + 1 : 0;
    memset(&p->tensors[codes].data, 0, sizeof(p->tensors[codes].data));
    p->tensors[codes].data.fd = -1;
    return codes;
}

/* Adds 8-bit codes as a constant, and the cast to float32; input k of the node reads its result. */
static void nnrti_ptq_constant(nnrti_ptq *p, uint32_t node, uint32_t k, uint32_t codes, void *data, size_t bytes)
{
    NNRT_Tensor *t = &p->tensors[codes];
    const uint32_t old = p->nodes[node].inputIndex.data[k];
    const uint32_t real = nnrti_ptq_tensor(p, &p->tensors[old], "");
    memset(&p->tensors[real].data, 0, sizeof(p->tensors[real].data));
    p->tensors[real].data.fd = -1;
    t->data.addr = data;
    t->data.bufferSize = t->data.dataSize = (uint32_t)bytes;
    nnrti_ptq_cast(p, codes, real);
    nnrti_ptq_set(&p->nodes[node].inputIndex, k, real);
}

/* The mean error of output o that rounding the weights w causes. */
static double nnrti_ptq_error(const nnrti_ptq_layer *l, const float *w, int32_t o)
{
    const double *mean = l->mean + (size_t)(o / (l->out / l->groups)) * nnrti_ptq_inputs(l);
    const double scale = nnrti_ptq_scale_of(l, o);
    double error = 0;
    NNRTI_PTQ_EACH(l, o, at)
        error += ((double)w[at] - l->codes[at] * scale) * mean[k * l->in + i] / l->count;
    return error;
}

/* The bias of a layer, to be changed; adds one of zeros if there is none. NULL: it cannot be changed. */
static float *nnrti_ptq_bias(nnrti_ptq *p, nnrti_ptq_layer *l)
{
    NNRT_Node *n = &p->nodes[l->node];
    NNRT_Tensor *t;
    int32_t *dims;
    uint32_t b = l->bias;
    if (b != NNRT_NO_TENSOR) {
        t = &p->tensors[b];
        return nnrti_ptq_data(t) != NULL && t->dataType == NNRT_DATA_TYPE_FLOAT32 && p->values[b].readers == 1 &&
                       t->data.dataSize == (size_t)l->out * sizeof(float)
                   ? nnrti_ptq_own(p, b)
                   : NULL;
    }
    if (n->inputIndex.count > 2 || n->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION)
        return NULL; /* an empty place, or an attribute says that there is none */
    b = nnrti_ptq_tensor(p, &p->tensors[l->weight], "_bias");
    t = &p->tensors[b];
    dims = (int32_t *)nnrti_ptq_keep(p, 1, sizeof(*dims));
    memset(&t->data, 0, sizeof(t->data));
    t->data.fd = -1;
    t->data.dataSize = t->data.bufferSize = (uint32_t)l->out * (uint32_t)sizeof(float);
    t->data.addr = nnrt_memory_keep_aligned(&p->memory, t->data.dataSize);
    if (dims == NULL || t->data.addr == NULL) {
        nnrti_ptq_no_memory(p);
        return NULL;
    }
    dims[0] = l->out;
    t->dims = NNRT_Int32List_make(dims, 1);
    nnrti_ptq_set(&n->inputIndex, n->inputIndex.count++, b);
    return (float *)t->data.addr;
}

/* Corrects the bias by the mean errors. */
static void nnrti_ptq_correct(nnrti_ptq *p, nnrti_ptq_layer *l)
{
    float *bias = l->mean != NULL ? nnrti_ptq_bias(p, l) : NULL;
    const float *w;
    if (bias == NULL)
        return;
    w = nnrti_ptq_weights_of(p, l, p->equalized);
    for (int32_t o = 0; o < l->out; o++)
        bias[o] += (float)nnrti_ptq_error(l, w, o);
    p->report.corrected++;
}

/* Reports the weights of a layer. */
static void nnrti_ptq_tell(const nnrti_ptq *p, const nnrti_ptq_layer *l)
{
    const NNRT_Node *n = &p->nodes[l->node];
    const uint32_t x = p->model->nodes.data[l->node].inputIndex.data[0], y = p->model->nodes.data[l->node].outputIndex.data[0];
    const uint32_t bias = n->inputIndex.count > 2 ? n->inputIndex.data[2] : NNRT_NO_TENSOR;
    const uint32_t after = p->values[y].reader != NNRT_NO_TENSOR /* a split activation */
                               ? p->model->nodes.data[p->values[y].reader].outputIndex.data[0]
                               : y;
    nnrt_quantize_layer layer;
    layer.node = l->node;
    layer.input = nnrti_ptq_name(p->model->allTensors.data[x].name);
    layer.output = nnrti_ptq_name(p->model->allTensors.data[y < p->given->allTensors.count ? y : after].name);
    layer.codes = l->codes;
    layer.dims = p->tensors[l->weight].dims;
    layer.axis = l->axis;
    layer.params = NNRT_QuantParamList_make(l->scales, l->nScales);
    layer.bias = bias != NNRT_NO_TENSOR ? (const float *)nnrti_ptq_data(&p->tensors[bias]) : NULL;
    layer.inputQuant = p->values[nnrti_ptq_root(p, x)].quant;
    p->desc->layer(p->desc->user, &layer);
}

static NNRT_ReturnCode nnrti_ptq_layer_weights(nnrti_ptq *p, nnrti_ptq_layer *l)
{
    const size_t count = p->tensors[l->weight].data.dataSize / sizeof(float);
    nnrti_ptq_correct(p, l);
    nnrti_ptq_constant(p, l->node, 1, nnrti_ptq_codes(p, l->weight, NNRT_DATA_TYPE_INT8, l->scales, l->nScales, l->axis),
                       l->codes, count);
    return p->code;
}

/* A float32 constant that is no weight of a layer: codes of the activations' type, one scale and zero point, once for all nodes that
   read it. */
static NNRT_ReturnCode nnrti_ptq_operand(nnrti_ptq *p, uint32_t node, uint32_t k)
{
    const uint32_t t = p->nodes[node].inputIndex.data[k];
    const float *v = (const float *)nnrti_ptq_data(&p->tensors[t]);
    const size_t count = p->tensors[t].data.dataSize / sizeof(float);
    const NNRT_Node *given = &p->model->nodes.data[node];
    const bool pads = nnrti_ptq_pads(p, given);
    float lower = 0, upper = 0;
    uint8_t *codes;
    NNRT_QuantParam *q;
    if (p->values[t].codes[0] != 0 && !pads) {
        nnrti_ptq_set(&p->nodes[node].inputIndex, k, p->values[t].codes[0]);
        return p->code;
    }
    codes = (uint8_t *)nnrt_memory_keep_aligned(&p->memory, count);
    q = (NNRT_QuantParam *)nnrti_ptq_keep(p, 1, sizeof(*q));
    if (codes == NULL || q == NULL)
        return nnrti_ptq_no_memory(p);
    for (size_t i = 0; i < count; i++) {
        lower = v[i] < lower ? v[i] : lower;
        upper = v[i] > upper ? v[i] : upper;
    }
    *q = pads ? p->values[nnrti_ptq_root(p, given->outputIndex.data[0])].quant /* so that the zeros are copied */
              : nnrti_ptq_quant(p, (double)lower, (double)upper);
    for (size_t i = 0; i < count; i++) {
        const double code = nnrti_ptq_nearest((double)v[i] / q->scale) + q->zeroPoint - nnrti_ptq_lowest(p);
        codes[i] = (uint8_t)((int32_t)(code > 255 ? 255 : code > 0 ? code : 0) + nnrti_ptq_lowest(p));
    }
    nnrti_ptq_constant(p, node, k, nnrti_ptq_codes(p, t, nnrti_ptq_type(p), q, 1, 0), codes, count);
    if (!pads)
        p->values[t].codes[0] = p->nodes[node].inputIndex.data[k];
    return p->code;
}

/* Whether input k of a chosen node is a float32 constant that gets codes: no bias, which becomes int32, and no sizes. */
static bool nnrti_ptq_gets_codes(const nnrti_ptq *p, const NNRT_Node *n, uint32_t k)
{
    const uint32_t t = n->inputIndex.data[k];
    const bool bias = k == 2 && (n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION || n->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION ||
                                 n->nodeType == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION ||
                                 n->nodeType == NNRT_NODE_TYPE_MATMUL_FUSION);
    return t < p->nValues && !p->desc->int16 && p->tensors[t].dataType == NNRT_DATA_TYPE_FLOAT32 && nnrti_ptq_data(&p->tensors[t]) != NULL && !bias &&
           !(n->nodeType == NNRT_NODE_TYPE_RESIZE && k > 0);
}

static NNRT_ReturnCode nnrti_ptq_weights(nnrti_ptq *p)
{
    for (uint32_t i = 0; i < p->nLayers && p->code == NNRT_SUCCESS; i++)
        nnrti_ptq_layer_weights(p, &p->layers[i]);
    for (uint32_t i = 0; i < p->nOwn; i++) {
        const NNRT_Node *n = &p->nodes[p->main[i]];
        for (uint32_t k = 0; k < n->inputIndex.count && p->chosen[p->main[i]] && p->code == NNRT_SUCCESS; k++)
            if (n->inputIndex.data[k] != NNRT_NO_TENSOR && nnrti_ptq_gets_codes(p, n, k))
                nnrti_ptq_operand(p, p->main[i], k);
    }
    return p->code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_blocks */

/* Weights [N,K] as MATMUL_NBITS reads them. */
typedef struct nnrti_ptq_blocks {
    int32_t bits, block, columns, blocks; /* block: entries with one scale */
    uint8_t *codes;                              /* [N,B,Z], two codes of 4 bits in a byte, the first one in its low bits */
    float *scales;                               /* [N,B] */
    uint8_t *zeros;                              /* [N,P], packed likewise */
} nnrti_ptq_blocks;

/* Writes code `at` of packed bytes that are 0. */
static void nnrti_ptq_pack(uint8_t *bytes, int32_t at, int32_t bits, int32_t code)
{
    if (bits == 8)
        bytes[at] = (uint8_t)code;
    else
        bytes[at / 2] = (uint8_t)(bytes[at / 2] | code << (at % 2 * 4));
}

static int32_t nnrti_ptq_block_code(float w, float scale, int32_t zero, int32_t top)
{
    const double code = nnrti_ptq_nearest((double)w / (double)scale) + zero;
    return code < 0 ? 0 : code > top ? top : (int32_t)code;
}

/* Scale and zero point of n weights: of sixteen ranges from all to 70 % of theirs, that with the least squared error. The
   range contains 0, which is exact. */
static float nnrti_ptq_block_scale(const float *w, int32_t n, int32_t top, int32_t *zero)
{
    float lower = 0, upper = 0, best = 1;
    double least = HUGE_VAL;
    for (int32_t i = 0; i < n; i++) {
        lower = fminf(lower, w[i]);
        upper = fmaxf(upper, w[i]);
    }
    *zero = 0;
    for (int32_t f = 0; f < 16 && upper > lower; f++) {
        const float scale = (float)(((double)upper - (double)lower) * (1 - 0.02 * f) / top);
        const int32_t middle = scale > 0 ? (int32_t)fmin(nnrti_ptq_nearest(-(double)lower / (double)scale), (double)top) : 0;
        double error = 0;
        for (int32_t i = 0; i < n && scale > 0; i++) {
            const double e = (double)w[i] - (double)scale * (nnrti_ptq_block_code(w[i], scale, middle, top) - middle);
            error += e * e;
        }
        if (scale > 0 && error < least) {
            least = error;
            best = scale;
            *zero = middle;
        }
    }
    return best;
}

/* Fills codes, scales and zeros of row o. row: work space for its weights. */
static void nnrti_ptq_fill_row(const nnrti_ptq_layer *l, const float *w, const nnrti_ptq_blocks *b, int32_t o, float *row)
{
    const int32_t top = (1 << b->bits) - 1, bytes = b->block * b->bits / 8, zeros = (b->blocks * b->bits + 7) / 8;
    for (int32_t i = 0; i < b->columns; i++)
        row[i] = w[o * l->outStride + i * l->inStride];
    for (int32_t k = 0; k < b->blocks; k++) {
        const int32_t from = k * b->block, n = b->columns - from < b->block ? b->columns - from : b->block;
        uint8_t *codes = b->codes + ((size_t)o * (size_t)b->blocks + (size_t)k) * (size_t)bytes;
        int32_t zero;
        const float scale = nnrti_ptq_block_scale(row + from, n, top, &zero);
        b->scales[(size_t)o * (size_t)b->blocks + (size_t)k] = scale;
        nnrti_ptq_pack(b->zeros + (size_t)o * (size_t)zeros, k, b->bits, zero);
        for (int32_t i = 0; i < n; i++)
            nnrti_ptq_pack(codes, i, b->bits, nnrti_ptq_block_code(row[from + i], scale, zero, top));
    }
}

/* Adds a constant to edit; its index. */
static uint32_t nnrti_ptq_new_constant(nnrti_ptq *p, const NNRT_Tensor *like, const char *suffix, NNRT_DataType type, void *data,
                                       size_t bytes, int32_t rank, const int32_t *dims)
{
    const uint32_t t = nnrti_ptq_tensor(p, like, suffix);
    int32_t *own = (int32_t *)nnrti_ptq_keep(p, (size_t)rank, sizeof(*own));
    NNRT_Tensor *tensor = &p->tensors[t];
    if (own == NULL)
        return t;
    memcpy(own, dims, (size_t)rank * sizeof(*own));
    tensor->dataType = type;
    tensor->dims = NNRT_Int32List_make(own, (uint32_t)rank);
    memset(&tensor->data, 0, sizeof(tensor->data));
    tensor->data.fd = -1;
    tensor->data.addr = data;
    tensor->data.bufferSize = tensor->data.dataSize = (uint32_t)bytes;
    return t;
}

/* Whether a layer is a product x[..,K] * W[N,K]^T; FULL_CONNECTION may flatten several axes of x. */
static bool nnrti_ptq_is_product(const nnrti_ptq *p, const nnrti_ptq_layer *l)
{
    const NNRT_Node *n = &p->model->nodes.data[l->node];
    const nnrt_operand *x = &p->shapes[n->inputIndex.data[0]], *y = &p->shapes[n->outputIndex.data[0]];
    const bool bias = l->bias == NNRT_NO_TENSOR || (p->shapes[l->bias].rank == 1 && p->shapes[l->bias].dims[0] == l->out);
    return (n->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION || n->nodeType == NNRT_NODE_TYPE_MATMUL_FUSION) && x->rank > 0 &&
           x->dims[x->rank - 1] == l->in && x->rank == y->rank && bias && nnrti_ptq_is_activation(p, n->inputIndex.data[0]);
}

/* The activation of a node becomes a node of its own: the node writes a new tensor. */
static void nnrti_ptq_split_activation(nnrti_ptq *p, const nnrti_ptq_layer *l)
{
    const NNRT_Node *n = &p->nodes[l->node];
    const uint32_t y = n->outputIndex.data[0], sum = nnrti_ptq_tensor(p, &p->tensors[y], "_sum");
    NNRT_Activation *attr = (NNRT_Activation *)nnrti_ptq_keep(p, 1, sizeof(*attr));
    if (attr == NULL)
        return;
    attr->activationType = l->activation;
    nnrti_ptq_set(&n->outputIndex, 0, sum);
    nnrti_ptq_node(p, NNRT_NODE_TYPE_ACTIVATION, attr, sizeof(*attr), sum, y);
}

static NNRT_ReturnCode nnrti_ptq_check_finite(nnrti_ptq *p, const nnrti_ptq_layer *l)
{
    const float *w = (const float *)nnrti_ptq_data(&p->tensors[l->weight]);
    for (size_t i = 0; i < (size_t)l->out * (size_t)l->in; i++)
        if (!(fabsf(w[i]) < (float)HUGE_VAL))
            return p->code = nnrt_error_set(p->error, NNRT_INVALID_PARAMETER, "the weights of node %u '%s' have NaN or infinity",
                                            l->node, nnrti_ptq_name(p->nodes[l->node].name));
    return p->code;
}

/* Makes MATMUL_NBITS of a layer. */
static NNRT_ReturnCode nnrti_ptq_pack_layer(nnrti_ptq *p, const nnrti_ptq_layer *l)
{
    NNRT_Node *n = &p->nodes[l->node];
    const NNRT_Tensor *like = &p->tensors[l->weight];
    const float *w = (const float *)nnrti_ptq_data(like);
    NNRT_MatMulNBits *attr = (NNRT_MatMulNBits *)nnrti_ptq_keep(p, 1, sizeof(*attr));
    float *row = (float *)nnrti_ptq_keep(p, (size_t)l->in, sizeof(*row));
    nnrti_ptq_blocks b;
    int32_t dims[3];
    size_t bytes[3];
    memset(&b, 0, sizeof(b));
    b.bits = (int32_t)p->desc->weight_bits;
    b.block = p->desc->weight_block > 0 ? (int32_t)p->desc->weight_block : 32;
    b.columns = l->in;
    b.blocks = l->in / b.block + (l->in % b.block > 0);
    dims[0] = l->out;
    dims[1] = b.blocks;
    dims[2] = b.block * b.bits / 8;
    bytes[0] = (size_t)dims[0] * (size_t)dims[1] * (size_t)dims[2];
    bytes[1] = (size_t)dims[0] * (size_t)dims[1] * sizeof(float);
    bytes[2] = (size_t)dims[0] * (size_t)((b.blocks * b.bits + 7) / 8);
    b.codes = (uint8_t *)nnrt_memory_keep_aligned(&p->memory, bytes[0]);
    b.scales = (float *)nnrt_memory_keep_aligned(&p->memory, bytes[1]);
    b.zeros = (uint8_t *)nnrt_memory_keep_aligned(&p->memory, bytes[2]);
    if (attr == NULL || row == NULL || b.codes == NULL || b.scales == NULL || b.zeros == NULL)
        return nnrti_ptq_no_memory(p);
    if (nnrti_ptq_check_finite(p, l) != NNRT_SUCCESS)
        return p->code;
    for (int32_t o = 0; o < l->out; o++)
        nnrti_ptq_fill_row(l, w, &b, o, row);
    attr->columns = l->in;
    attr->bits = b.bits;
    attr->blockSize = b.block;
    attr->accuracyLevel = 0;
    n->nodeType = NNRT_NODE_TYPE_MATMUL_NBITS;
    n->nodeAttr.data = attr;
    n->nodeAttr.size = sizeof(*attr);
    n->inputIndex.count = 5;
    nnrti_ptq_set(&n->inputIndex, 1, nnrti_ptq_new_constant(p, like, "_codes", NNRT_DATA_TYPE_UINT8, b.codes, bytes[0], 3, dims));
    nnrti_ptq_set(&n->inputIndex, 2, nnrti_ptq_new_constant(p, like, "_scale", NNRT_DATA_TYPE_FLOAT32, b.scales, bytes[1], 2, dims));
    dims[1] = (b.blocks * b.bits + 7) / 8;
    nnrti_ptq_set(&n->inputIndex, 3, nnrti_ptq_new_constant(p, like, "_zero", NNRT_DATA_TYPE_UINT8, b.zeros, bytes[2], 2, dims));
    nnrti_ptq_set(&n->inputIndex, 4, l->bias);
    if (l->activation != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
        nnrti_ptq_split_activation(p, l);
    p->report.bytes[0] += like->data.dataSize;
    p->report.bytes[1] += bytes[0] + bytes[1] + bytes[2];
    return p->code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_dynamic */

/* Adds a node and its result, of a type, with the shape of `like`, or of no axes if that is NULL. Returns the result. */
static uint32_t nnrti_ptq_result(nnrti_ptq *p, NNRT_NodeType type, const void *attr, uint32_t attrSize, uint32_t a, uint32_t b,
                                 const NNRT_Tensor *like, NNRT_DataType dataType)
{
    NNRT_Tensor scalar;
    uint32_t in[2], to;
    memset(&scalar, 0, sizeof(scalar));
    scalar.data.fd = -1;
    to = nnrti_ptq_tensor(p, like != NULL ? like : &scalar, "");
    p->tensors[to].dataType = dataType;
    in[0] = a;
    in[1] = b;
    nnrti_ptq_node_of(p, type, attr, attrSize, in, b != NNRT_NO_TENSOR ? 2 : 1, to);
    return to;
}

/* The number of one element of a constant: 0 or 255. */
static uint32_t nnrti_ptq_number(nnrti_ptq *p, float number)
{
    const int32_t dims = 1; /* not read: a scalar has none */
    NNRT_Tensor none;
    float *data = (float *)nnrt_memory_keep_aligned(&p->memory, sizeof(*data));
    if (data == NULL) {
        nnrti_ptq_no_memory(p);
        return 0;
    }
    *data = number;
    memset(&none, 0, sizeof(none));
    return nnrti_ptq_new_constant(p, &none, "", NNRT_DATA_TYPE_FLOAT32, data, sizeof(*data), 0, &dims);
}

static uint32_t nnrti_ptq_reduce_all(nnrti_ptq *p, uint32_t x, NNRT_ReduceMode mode)
{
    NNRT_ReduceFusion *attr = (NNRT_ReduceFusion *)nnrti_ptq_keep(p, 1, sizeof(*attr));
    if (attr != NULL)
        attr->mode = mode;
    return nnrti_ptq_result(p, NNRT_NODE_TYPE_REDUCE_FUSION, attr, sizeof(*attr), x, NNRT_NO_TENSOR, NULL,
                            NNRT_DATA_TYPE_FLOAT32);
}

/* Codes, scale and zero point of x, as ONNX's DynamicQuantizeLinear: with low = min(x, 0) and high = max(x, 0),
       scale = (high - low) / 255
       zero  = saturate(round(-low / scale))
       codes = saturate(round(x / scale) + zero)
   CAST saturates, and makes 0 of the NaN that a scale of 0 causes. Computed once for each x. */
static void nnrti_ptq_dynamic_codes(nnrti_ptq *p, uint32_t x, uint32_t codes[3])
{
    const NNRT_Tensor *like = &p->tensors[x];
    const uint32_t none = nnrti_ptq_number(p, 0), steps = nnrti_ptq_number(p, 255), no = NNRT_NO_TENSOR;
    const NNRT_DataType real = NNRT_DATA_TYPE_FLOAT32;
    const uint32_t least = nnrti_ptq_reduce_all(p, x, NNRT_REDUCE_MODE_MIN),
                   most = nnrti_ptq_reduce_all(p, x, NNRT_REDUCE_MODE_MAX);
    const uint32_t low = nnrti_ptq_result(p, NNRT_NODE_TYPE_MINIMUM, NULL, 0, least, none, NULL, real);
    const uint32_t high = nnrti_ptq_result(p, NNRT_NODE_TYPE_MAXIMUM, NULL, 0, most, none, NULL, real);
    const uint32_t range = nnrti_ptq_result(p, NNRT_NODE_TYPE_SUB_FUSION, NULL, 0, high, low, NULL, real);
    const uint32_t scale = nnrti_ptq_result(p, NNRT_NODE_TYPE_DIV_FUSION, NULL, 0, range, steps, NULL, real);
    const uint32_t below = nnrti_ptq_result(p, NNRT_NODE_TYPE_SUB_FUSION, NULL, 0, none, low, NULL, real);
    uint32_t zero = nnrti_ptq_result(p, NNRT_NODE_TYPE_DIV_FUSION, NULL, 0, below, scale, NULL, real), y;
    zero = nnrti_ptq_result(p, NNRT_NODE_TYPE_ROUND, NULL, 0, zero, no, NULL, real);
    zero = nnrti_ptq_result(p, NNRT_NODE_TYPE_CAST, NULL, 0, zero, no, NULL, NNRT_DATA_TYPE_UINT8);
    y = nnrti_ptq_result(p, NNRT_NODE_TYPE_DIV_FUSION, NULL, 0, x, scale, like, real);
    y = nnrti_ptq_result(p, NNRT_NODE_TYPE_ROUND, NULL, 0, y, no, like, real);
    y = nnrti_ptq_result(p, NNRT_NODE_TYPE_ADD_FUSION, NULL, 0, y,
                         nnrti_ptq_result(p, NNRT_NODE_TYPE_CAST, NULL, 0, zero, no, NULL, real), like, real);
    codes[0] = nnrti_ptq_result(p, NNRT_NODE_TYPE_CAST, NULL, 0, y, no, like, NNRT_DATA_TYPE_UINT8);
    codes[1] = scale;
    codes[2] = zero;
}

/* int8 codes [in,out] of a layer's weights and a scale for each output, as constants. */
static void nnrti_ptq_dynamic_weights(nnrti_ptq *p, const nnrti_ptq_layer *l, uint32_t *codes, uint32_t *scales)
{
    const NNRT_Tensor *like = &p->tensors[l->weight];
    const float *w = (const float *)nnrti_ptq_data(like);
    const int32_t dims[2] = {l->in, l->out};
    const size_t count = (size_t)l->in * (size_t)l->out;
    int8_t *code = (int8_t *)nnrt_memory_keep_aligned(&p->memory, count);
    float *scale = (float *)nnrt_memory_keep_aligned(&p->memory, (size_t)l->out * sizeof(*scale));
    if (code == NULL || scale == NULL) {
        nnrti_ptq_no_memory(p);
        return;
    }
    for (int32_t o = 0; o < l->out; o++) {
        float most = 0;
        for (int32_t i = 0; i < l->in; i++)
            most = fmaxf(most, fabsf(w[o * l->outStride + i * l->inStride]));
        scale[o] = most / 127 > 0 ? most / 127 : 1;
        for (int32_t i = 0; i < l->in; i++) {
            const double c = nnrti_ptq_nearest((double)w[o * l->outStride + i * l->inStride] / (double)scale[o]);
            code[(size_t)i * (size_t)l->out + (size_t)o] = (int8_t)(c < -127 ? -127 : c > 127 ? 127 : c);
        }
    }
    *codes = nnrti_ptq_new_constant(p, like, "_codes", NNRT_DATA_TYPE_INT8, code, count, 2, dims);
    *scales = nnrti_ptq_new_constant(p, like, "_scale", NNRT_DATA_TYPE_FLOAT32, scale, (size_t)l->out * sizeof(*scale), 1,
                                     &dims[1]);
    p->report.bytes[0] += like->data.dataSize;
    p->report.bytes[1] += count + (size_t)l->out * sizeof(*scale);
}

/* Makes MATMUL_INTEGER of a layer: y = activation(float(codes of x * codes of w) * (scale of x * scales) + bias). */
static NNRT_ReturnCode nnrti_ptq_dynamic_layer(nnrti_ptq *p, const nnrti_ptq_layer *l)
{
    NNRT_Node *n = &p->nodes[l->node];
    const NNRT_DataType real = NNRT_DATA_TYPE_FLOAT32;
    const uint32_t x = n->inputIndex.data[0], y = n->outputIndex.data[0];
    NNRT_MulFusion *attr = (NNRT_MulFusion *)nnrti_ptq_keep(p, 1, sizeof(*attr));
    uint32_t codes = 0, scales = 0, in[3], scale, sum;
    if (attr == NULL || nnrti_ptq_check_finite(p, l) != NNRT_SUCCESS)
        return p->code;
    if (p->values[x].codes[0] == 0) /* no first tensor is the codes of another */
        nnrti_ptq_dynamic_codes(p, x, p->values[x].codes);
    nnrti_ptq_dynamic_weights(p, l, &codes, &scales);
    scale = nnrti_ptq_tensor(p, &p->tensors[scales], "");
    memset(&p->tensors[scale].data, 0, sizeof(p->tensors[scale].data));
    p->tensors[scale].data.fd = -1;
    in[0] = p->values[x].codes[1];
    in[1] = scales;
    nnrti_ptq_node_of(p, NNRT_NODE_TYPE_MUL_FUSION, NULL, 0, in, 2, scale);
    sum = nnrti_ptq_tensor(p, &p->tensors[y], "_sum");
    p->tensors[sum].dataType = NNRT_DATA_TYPE_INT32;
    in[0] = p->values[x].codes[0];
    in[1] = codes;
    in[2] = p->values[x].codes[2];
    nnrti_ptq_node_of(p, NNRT_NODE_TYPE_MATMUL_INTEGER, NULL, 0, in, 3, sum);
    sum = nnrti_ptq_result(p, NNRT_NODE_TYPE_CAST, NULL, 0, sum, NNRT_NO_TENSOR, &p->tensors[y], real);
    attr->activationType = l->activation;
    if (l->bias != NNRT_NO_TENSOR) {
        sum = nnrti_ptq_result(p, NNRT_NODE_TYPE_MUL_FUSION, NULL, 0, sum, scale, &p->tensors[y], real);
        scale = l->bias;
    }
    n->nodeType = l->bias != NNRT_NO_TENSOR ? NNRT_NODE_TYPE_ADD_FUSION : NNRT_NODE_TYPE_MUL_FUSION; /* of the same attributes */
    n->nodeAttr.data = attr;
    n->nodeAttr.size = sizeof(*attr);
    n->inputIndex.count = 2;
    nnrti_ptq_set(&n->inputIndex, 0, sum);
    nnrti_ptq_set(&n->inputIndex, 1, scale);
    return p->code;
}

/* Quantizes all products without samples. */
static NNRT_ReturnCode nnrti_ptq_pack_all(nnrti_ptq *p)
{
    p->report.chosen = p->report.layers = 0;
    for (uint32_t i = 0; i < p->nLayers && p->code == NNRT_SUCCESS; i++)
        if (nnrti_ptq_is_product(p, &p->layers[i])) {
            if (p->desc->dynamic)
                nnrti_ptq_dynamic_layer(p, &p->layers[i]);
            else
                nnrti_ptq_pack_layer(p, &p->layers[i]);
            p->report.chosen = ++p->report.layers;
        }
    if (p->code == NNRT_SUCCESS && p->report.chosen == 0)
        p->code = nnrt_error_set(p->error, NNRT_NOT_SUPPORT,
                                 "no weights to quantize: of %u nodes with float32 results none is a matrix product with constant "
                                 "weights%s", p->report.nodes, p->desc->keep != NULL ? " that is not kept in float32" : "");
    return p->code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_write */

/* Casts of activation t. A result of a chosen node: this writes a new tensor, whose codes are cast back to t. Otherwise chosen nodes
   read a new tensor, and all others the float32 value. */
static void nnrti_ptq_casts(nnrti_ptq *p, uint32_t t)
{
    const nnrti_ptq_value *v = &p->values[t];
    const NNRT_QuantParam *q = &p->values[nnrti_ptq_root(p, t)].quant;
    const uint32_t codes = nnrti_ptq_codes(p, t, nnrti_ptq_type(p), q, 1, 0);
    const uint32_t other = nnrti_ptq_tensor(p, &p->tensors[t], "");
    p->tensors[t].dataType = p->tensors[other].dataType = NNRT_DATA_TYPE_FLOAT32; /* casts need it */
    if (v->writer != NNRT_NO_TENSOR && p->chosen[v->writer]) {
        const NNRT_Node *n = &p->nodes[v->writer];
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            if (n->outputIndex.data[k] == t)
                nnrti_ptq_set(&n->outputIndex, k, other);
        nnrti_ptq_cast(p, other, codes);
        nnrti_ptq_cast(p, codes, t);
        return;
    }
    if (v->writer != NNRT_NO_TENSOR)
        p->shown[p->nShown++] = t;
    nnrti_ptq_cast(p, t, codes);
    nnrti_ptq_cast(p, codes, other);
    for (uint32_t i = 0; i < p->nOwn; i++)
        for (uint32_t k = 0; k < p->nodes[p->main[i]].inputIndex.count; k++)
            if (p->chosen[p->main[i]] && p->nodes[p->main[i]].inputIndex.data[k] == t)
                nnrti_ptq_set(&p->nodes[p->main[i]].inputIndex, k, other);
}

/* Constants that no node reads any more, such as weights that have codes now, are not written to the model. */
static void nnrti_ptq_forget(nnrti_ptq *p, bool *read)
{
    const NNRT_Model *m = &p->edit;
    for (uint32_t i = 0; i < m->nodes.count; i++)
        for (uint32_t k = 0; k < m->nodes.data[i].inputIndex.count; k++)
            if (m->nodes.data[i].inputIndex.data[k] != NNRT_NO_TENSOR)
                read[m->nodes.data[i].inputIndex.data[k]] = true;
    for (uint32_t g = 0; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].outputIndices.count; k++)
            read[m->subGraph.data[g].outputIndices.data[k]] = true;
    for (uint32_t k = 0; k < m->outputIndex.count; k++)
        read[m->outputIndex.data[k]] = true;
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        if (!read[t] && nnrti_ptq_is_constant(&p->tensors[t])) {
            memset(&p->tensors[t].data, 0, sizeof(p->tensors[t].data));
            p->tensors[t].data.fd = -1;
        }
}

/* Casts around the nodes. */
static NNRT_ReturnCode nnrti_ptq_all_casts(nnrti_ptq *p)
{
    bool *read;
    for (uint32_t t = 0; t < p->nValues && p->code == NNRT_SUCCESS; t++)
        if (p->values[t].quantized && nnrti_ptq_observes(p->desc))
            nnrti_ptq_casts(p, t);
    if (p->edit.subGraph.count > 0)
        p->graphs[0].nodeIndices = NNRT_Uint32List_make(p->main, p->nMain);
    if ((read = (bool *)nnrti_ptq_keep(p, (size_t)p->edit.allTensors.count + 1, sizeof(*read))) != NULL)
        nnrti_ptq_forget(p, read);
    return p->code;
}

/* The outputs of a list, then the shown results; without `more`, the outputs without them. */
static NNRT_Uint32List nnrti_ptq_outputs(nnrti_ptq *p, NNRT_Uint32List own, bool more)
{
    uint32_t *list = (uint32_t *)nnrti_ptq_keep(p, (size_t)own.count + p->nShown + 1, sizeof(*list));
    const uint32_t count = more ? own.count + p->nShown : own.count - p->nShown;
    for (uint32_t i = 0; i < count && list != NULL; i++)
        list[i] = i < own.count ? own.data[i] : p->shown[i - own.count];
    return NNRT_Uint32List_make(list, list != NULL ? count : 0);
}

/* A copy of the struct of a model, with or without the shown results as outputs. */
static NNRT_Model nnrti_ptq_show(nnrti_ptq *p, const NNRT_Model *from, bool more)
{
    NNRT_Model m = *from;
    NNRT_SubGraph *graphs = (NNRT_SubGraph *)nnrti_ptq_keep(p, (size_t)from->subGraph.count + 1, sizeof(*graphs));
    m.self = NULL;
    m.outputIndex = nnrti_ptq_outputs(p, from->outputIndex, more);
    for (uint32_t i = 0; i < from->subGraph.count && graphs != NULL; i++) {
        graphs[i] = from->subGraph.data[i];
        if (i == 0)
            graphs[i].outputIndices = nnrti_ptq_outputs(p, graphs[i].outputIndices, more);
    }
    m.subGraph = NNRT_SubGraphList_make(graphs, graphs != NULL ? from->subGraph.count : 0);
    return m;
}

/* The model with its casts, optimized. The pass QUANTIZE would make 8-bit nodes of float32 ones between casts as well: while it runs,
   the results of these before the casts are outputs, which it leaves alone. */
static NNRT_ReturnCode nnrti_ptq_make(nnrti_ptq *p, const NNRT_Model *source, bool copy, const nnrt_optimize_desc *given,
                                      NNRT_Model **made)
{
    nnrt_optimize_desc desc = *given;
    NNRT_Model *shown = NULL, view = nnrti_ptq_show(p, &p->edit, true);
    desc.integer_io = desc.integer_io && p->nShown == 0;
    if (p->code != NNRT_SUCCESS)
        return p->code;
    if ((p->code = nnrt_model_create(made, &view, source, copy, p->desc->allocator, p->error)) != NNRT_SUCCESS ||
        (p->code = nnrt_model_optimize(made, &desc, p->error)) != NNRT_SUCCESS || p->nShown == 0)
        return p->code;
    shown = *made;
    *made = NULL;
    view = nnrti_ptq_show(p, shown, false);
    desc = *given;
    desc.without |= NNRT_PASS_QUANTIZE;
    if (p->code == NNRT_SUCCESS)
        p->code = nnrt_model_create(made, &view, shown, true, p->desc->allocator, p->error);
    nnrt_model_destroy(shown);
    return p->code == NNRT_SUCCESS ? p->code = nnrt_model_optimize(made, &desc, p->error) : p->code;
}

/* The model with its casts, or its optimized form. */
static NNRT_ReturnCode nnrti_ptq_finish(nnrti_ptq *p, const NNRT_Model *source, NNRT_Model **quantized)
{
    nnrt_optimize_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.log = p->desc->log;
    desc.integer_io = p->desc->integer_io;
    return p->desc->no_optimize ? p->code = nnrt_model_create(quantized, &p->edit, source, true, p->desc->allocator, p->error)
                                : nnrti_ptq_make(p, source, true, &desc, quantized);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_judge */

/* The range with the least noise of a tensor is not always that with the least noise of the outputs: errors of clipped values are
   few and large, and networks depend on their largest values. So the samples judge: all tensors get another range than their
   minimum and maximum if it lowers their noise by a factor, and the factor is that of least noise of the outputs. */
#define NNRTI_PTQ_FACTORS 5
static double nnrti_ptq_factor_tried(uint32_t i)
{
    static const double factors[NNRTI_PTQ_FACTORS - 1] = {1, 1.2, 1.5, 2};
    return i < NNRTI_PTQ_FACTORS - 1 ? factors[i] : HUGE_VAL; /* not a constant in every C library */
}

#define NNRTI_PTQ_JUDGES 16                 /* samples at most */
#define NNRTI_PTQ_WANTED ((size_t)16 << 20) /* bytes of their outputs at most; one sample may have more */

/* A session of a quantized model, with buffers. */
typedef struct nnrti_ptq_judge {
    nnrt_session *session;
    nnrt_io *io; /* inputs, outputs */
    uint32_t nIn, nOut;
    nnrt_memory memory;
} nnrti_ptq_judge;

/* Whether output t of the model can judge ranges: float32 of fixed shape, computed by a node. */
static bool nnrti_ptq_may_judge(const nnrti_ptq *p, uint32_t t, size_t *bytes)
{
    return nnrti_ptq_is_activation(p, t) && p->values[t].writer != NNRT_NO_TENSOR &&
           !nnrti_ptq_is_known(p, p->values[t].writer) && nnrti_ptq_bytes(p, t, bytes);
}

/* Sets how many samples judge, and makes room for their outputs. */
static NNRT_ReturnCode nnrti_ptq_judges(nnrti_ptq *p)
{
    uint32_t samples = p->desc->samples < NNRTI_PTQ_JUDGES ? p->desc->samples : NNRTI_PTQ_JUDGES;
    size_t bytes;
    if (!nnrti_ptq_does(p, NNRT_QUANTIZE_RANGES) || p->desc->int16)
        return p->code;
    for (uint32_t i = 0; i < p->edit.outputIndex.count; i++)
        if (nnrti_ptq_may_judge(p, p->edit.outputIndex.data[i], &bytes)) {
            p->values[p->edit.outputIndex.data[i]].judges = true;
            p->wantedBytes += bytes;
        }
    while (samples > 1 && p->wantedBytes > NNRTI_PTQ_WANTED / samples)
        samples--;
    p->judges = p->wantedBytes > 0 ? samples : 0;
    if (p->judges > 0)
        p->wanted = (uint8_t *)nnrti_ptq_keep(p, p->judges, p->wantedBytes);
    return p->code;
}

static NNRT_ReturnCode nnrti_ptq_judge_open(nnrti_ptq *p, nnrti_ptq_judge *j, const NNRT_Model *model)
{
    const nnrt_session_desc desc = nnrti_ptq_session_desc(p);
    if ((p->code = nnrt_session_create(&j->session, model, &desc, p->error)) != NNRT_SUCCESS)
        return p->code;
    j->nIn = nnrt_session_inputs(j->session);
    j->nOut = nnrt_session_outputs(j->session);
    j->io = (nnrt_io *)nnrt_memory_keep_array(&j->memory, (size_t)j->nIn + j->nOut, sizeof(*j->io));
    for (uint32_t i = 0; i < j->nIn + j->nOut && j->io != NULL; i++) {
        const size_t bytes = (i < j->nIn ? nnrt_session_input(j->session, i) : nnrt_session_output(j->session, i - j->nIn)).bytes;
        j->io[i] = nnrt_io_make(nnrt_memory_keep_aligned(&j->memory, bytes + 1), bytes);
        if (j->io[i].data == NULL)
            return nnrti_ptq_no_memory(p);
    }
    return j->io != NULL ? p->code : nnrti_ptq_no_memory(p);
}

static NNRT_ReturnCode nnrti_ptq_judge_run(nnrti_ptq *p, nnrti_ptq_judge *j, uint32_t sample)
{
    NNRT_ReturnCode code = p->desc->sample(p->desc->user, sample, j->io, j->nIn);
    if (code != NNRT_SUCCESS)
        return p->code = nnrt_error_set(p->error, code, "sample %u cannot be read", sample);
    code = nnrt_run(j->session, j->io, j->nIn, j->io + j->nIn, j->nOut);
    nnrti_ptq_ran(p);
    return code == NNRT_SUCCESS ? code
                                : (p->code = nnrt_error_set(p->error, code, "the run of sample %u failed: %s", sample,
                                                            nnrt_session_error(j->session)));
}

/* Runs the samples. Returns the mean of the logarithms of noise over signal of the outputs. */
static double nnrti_ptq_judge_outputs(nnrti_ptq *p, nnrti_ptq_judge *j)
{
    double *sums = (double *)nnrt_memory_keep_array(&j->memory, (size_t)j->nOut * 2 + 1, sizeof(*sums)), mean = 0;
    uint32_t judged = 0;
    if (sums == NULL)
        nnrti_ptq_no_memory(p);
    for (uint32_t k = 0; k < p->judges && p->code == NNRT_SUCCESS && nnrti_ptq_judge_run(p, j, k) == NNRT_SUCCESS; k++) {
        const uint8_t *wanted = p->wanted + k * p->wantedBytes;
        for (uint32_t i = 0; i < j->nOut; i++) {
            const nnrt_io *out = &j->io[j->nIn + i];
            if (!p->values[p->edit.outputIndex.data[i]].judges)
                continue;
            for (size_t n = 0; n < out->bytes; n += sizeof(float), wanted += sizeof(float)) {
                float want, got;
                memcpy(&want, wanted, sizeof(want));
                memcpy(&got, (const uint8_t *)out->data + n, sizeof(got));
                sums[2 * i] += (double)want * (double)want;
                sums[2 * i + 1] += ((double)want - (double)got) * ((double)want - (double)got);
            }
        }
    }
    for (uint32_t i = 0; i < j->nOut && p->code == NNRT_SUCCESS; i++)
        if (p->values[p->edit.outputIndex.data[i]].judges) {
            mean += log((sums[2 * i + 1] + DBL_MIN) / (sums[2 * i] + DBL_MIN));
            judged++;
        }
    return judged > 0 ? mean / judged : 0;
}

/* *mean: of the model with the chosen ranges. */
static NNRT_ReturnCode nnrti_ptq_judge_noise(nnrti_ptq *p, const NNRT_Model *source, double *mean)
{
    nnrti_ptq_judge j;
    NNRT_Model *model = NULL;
    nnrt_optimize_desc desc;
    memset(&desc, 0, sizeof(desc));
    memset(&j, 0, sizeof(j));
    nnrt_memory_allocate(&j.memory, p->desc->allocator);
    if (nnrti_ptq_make(p, source, false, &desc, &model) == NNRT_SUCCESS && nnrti_ptq_judge_open(p, &j, model) == NNRT_SUCCESS)
        *mean = nnrti_ptq_judge_outputs(p, &j);
    nnrt_session_destroy(j.session);
    nnrt_memory_end(&j.memory);
    nnrt_model_destroy(model);
    return p->code;
}

/* Whether a tensor has another range with less noise than its minimum and maximum. */
static bool nnrti_ptq_has_choice(const nnrti_ptq *p)
{
    bool choice = false;
    for (uint32_t t = 0; t < p->nValues; t++)
        choice = choice || (p->values[t].method > 0 && p->values[t].method < NNRTI_PTQ_METHODS);
    return choice;
}

/* Chooses the ranges; without outputs to judge by, minimum and maximum. */
static NNRT_ReturnCode nnrti_ptq_judge_ranges(nnrti_ptq *p, const NNRT_Model *source)
{
    double least = HUGE_VAL, factor = HUGE_VAL, mean = HUGE_VAL;
    for (uint32_t i = 0; i < NNRTI_PTQ_FACTORS && p->judges > 0 && p->code == NNRT_SUCCESS; i++) {
        nnrti_ptq_choose_ranges(p, nnrti_ptq_factor_tried(i));
        if (nnrti_ptq_judge_noise(p, source, &mean) == NNRT_SUCCESS && mean < least) {
            least = mean;
            factor = nnrti_ptq_factor_tried(i);
        }
    }
    nnrti_ptq_choose_ranges(p, factor);
    return p->code;
}

static NNRT_ReturnCode nnrti_ptq_all(nnrti_ptq *p, const NNRT_Model *source, NNRT_Model **quantized)
{
    if (nnrti_ptq_start(p) != NNRT_SUCCESS || quantized == NULL)
        return p->code;
    if (!nnrti_ptq_observes(p->desc))
        return nnrti_ptq_pack_all(p) == NNRT_SUCCESS && nnrti_ptq_all_casts(p) == NNRT_SUCCESS
                   ? nnrti_ptq_finish(p, source, quantized)
                   : p->code;
    p->allRuns = ((p->desc->estimate ? 2 : 3) + (uint64_t)nnrti_ptq_batches(p)) * p->desc->samples;
    if (nnrti_ptq_judges(p) != NNRT_SUCCESS)
        return p->code;
    p->allRuns += p->judges * NNRTI_PTQ_FACTORS;
    if (nnrti_ptq_observe(p, nnrti_ptq_see_range) != NNRT_SUCCESS)
        return p->code;
    if (nnrti_ptq_does(p, NNRT_QUANTIZE_EQUALIZE) && nnrti_ptq_equalize(p) != NNRT_SUCCESS)
        return p->code;
    nnrti_ptq_join_ranges(p);
    if (nnrti_ptq_observe(p, nnrti_ptq_see_histogram) != NNRT_SUCCESS || nnrti_ptq_ranges(p) != NNRT_SUCCESS ||
        nnrti_ptq_round(p) != NNRT_SUCCESS)
        return p->code;
    nnrti_ptq_watch_end(&p->watch);
    nnrti_ptq_choose_ranges(p, 1);
    if (nnrti_ptq_weights(p) != NNRT_SUCCESS || nnrti_ptq_all_casts(p) != NNRT_SUCCESS ||
        (nnrti_ptq_has_choice(p) && nnrti_ptq_judge_ranges(p, source) != NNRT_SUCCESS))
        return p->code;
    nnrti_ptq_say_all(p);
    for (uint32_t i = 0; i < p->nLayers && p->desc->layer != NULL; i++)
        nnrti_ptq_tell(p, &p->layers[i]);
    return nnrti_ptq_finish(p, source, quantized);
}

static bool nnrti_ptq_good_blocks(const nnrt_quantize_desc *d)
{
    const uint32_t block = d->weight_block;
    return (d->weight_bits == 4 || d->weight_bits == 8) &&
           (block == 0 || (block >= 16 && block <= 65536 && (block & (block - 1)) == 0));
}

NNRT_ReturnCode nnrt_quantize(NNRT_Model **quantized, const NNRT_Model *model, const nnrt_quantize_desc *desc,
                              nnrt_error *error)
{
    nnrti_ptq p;
    nnrt_error_clear(error);
    if (model == NULL || desc == NULL || (desc->sample == NULL && nnrti_ptq_observes(desc)))
        return nnrt_error_set(error, NNRT_NULL_PTR, "model, desc or desc->sample is NULL");
    if (quantized != NULL)
        *quantized = NULL;
    if (nnrti_ptq_observes(desc) && model->self == model && nnrt_model_metadata(model, "states") != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the model keeps states between runs, which are not quantized");
    if (desc->weight_bits > 0 && !nnrti_ptq_good_blocks(desc))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "weight_bits is %u and weight_block %u, expected 4 or 8, and a power of 2 of 16 to 65536 or 0",
                              desc->weight_bits, desc->weight_block);
    if (desc->weight_bits > 0 && desc->dynamic)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "weight_bits and dynamic exclude each other");
    if (desc->samples == 0 && nnrti_ptq_observes(desc))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "there are no samples: ranges follow from at least one");
    memset(&p, 0, sizeof(p));
    p.desc = desc;
    p.error = error;
    nnrt_memory_allocate(&p.memory, desc->allocator);
    p.model = nnrt_model_map(model, &p.memory, &p.mappings);
    if (p.model == NULL)
        nnrti_ptq_no_memory(&p);
    else
        nnrti_ptq_all(&p, model, quantized);
    if (p.code != NNRT_SUCCESS && quantized != NULL) {
        nnrt_model_destroy(*quantized);
        *quantized = NULL;
    }
    if (desc->report != NULL)
        *desc->report = p.report;
    nnrt_model_unmap(p.mappings);
    nnrti_ptq_watch_end(&p.watch);
    nnrt_memory_end(&p.memory);
    return p.code;
}

#ifdef __cplusplus
}
#endif

#endif /* NNRT_QUANTIZE_IMPLEMENTED */
