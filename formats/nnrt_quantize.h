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
    >>quantize_weights  weights as int8, corrected biases
    >>quantize_write    casts from and to 8 bits around the nodes; the finished model

METHOD
    M. Nagel et al., A White Paper on Neural Network Quantization, arXiv 2106.08295. The optimizer has folded batch
    normalization before. Weights: int8, symmetric, one scale per output channel. Activations: int8 or uint8, one scale
    and zero point per tensor. The model gets casts to 8 bits and back around its operators; the pass QUANTIZE of
    nnrt_model_optimize replaces them by operators on integers, whose bits are defined exactly (docs/quantization.md).
    The steps that nnrt_quantize_desc.without can disable:
    EQUALIZE   Values between two layers: channel c of the first is divided, the weights of the second that read it are
               multiplied by a factor, so that the channels get similar ranges.
    RANGES     Of a tensor the range with the least squared error over the samples; without it the minimum and maximum.
    BIAS       The mean error that rounded weights cause in each output channel is subtracted from its bias.
    CHANNELS   Without it, weights have one scale per tensor.

MEMORY
    A copy of the constants that change, all results of one run, and the result.

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
    NNRT_QuantParam quant;
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
} nnrt_quantize_report;

/* All zero but samples and sample is the default. */
typedef struct nnrt_quantize_desc {
    uint32_t samples; /* at least 1; hundreds give stable ranges */
    /* Writes the inputs of sample `index`, in the order of the model's inputs. Called several times for each sample: it
       must return the same values. A code other than NNRT_SUCCESS ends the quantization with this code. */
    NNRT_ReturnCode (*sample)(void *user, uint32_t index, const nnrt_io *inputs, uint32_t nIn);
    void *user;
    /* The sessions that compute the samples: device, threads, dimensions of inputs. NULL: the default. The result is the
       same for any number of threads, and with the device "reference" on every machine. */
    const nnrt_session_desc *session;
    uint32_t without; /* disabled steps: the sum of their NNRT_QUANTIZE_ bits */
    bool uint8;       /* activations are uint8; default int8. Weights are int8 */
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

/* *quantized: a new model that nnrt_model_destroy frees, independent of `model`, which stays as it is; it has the
   model's metadata. Nodes in subgraphs (IF, LOOP) stay float32.
   NNRT_INVALID_PARAMETER: no samples, NaN or infinity in an input or result (the message names sample and node).
   NNRT_NOT_SUPPORT: the model has quantized tensors already, states, dimensions that differ from run to run, or no node
   that has quantized arithmetic. NNRT_INVALID_SHAPE: a dynamic dimension that session->inputDims leaves open. On failure
   *quantized is NULL. */
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

#include <math.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NNRTI_PTQ_BINS 2048 /* of a histogram; eight per code */

/* A tensor of the float32 model. Tensors of one group (root) share scale and zero point: operators that move data cannot
   change them. Channels are along the last axis, in NCHW along axis 1. */
typedef struct nnrti_ptq_value {
    uint32_t root;      /* union-find: the parent, itself for a root */
    uint32_t writer;    /* node of the main graph; NNRT_NO_TENSOR: none */
    uint32_t readers;   /* nodes of all graphs, and outputs of the model */
    uint32_t reader;    /* one of them in the main graph; NNRT_NO_TENSOR: none */
    bool quantized;     /* an activation that gets codes */
    bool fixed;         /* of a root: quant follows from an operator */
    int32_t channels;
    float *least, *most; /* of each channel; NULL: not observed */
    double *sum;         /* of each channel */
    double count;        /* observed elements of a channel */
    uint64_t *histogram; /* of a root: NNRTI_PTQ_BINS from lower to upper */
    float lower, upper;  /* of a root: the observed range of the group, with 0 */
    NNRT_QuantParam quant; /* of a root */
    double noise, signal;  /* of a root: sums of squares */
} nnrti_ptq_value;

/* A node with constant weights [O,..] or [..,O]. */
typedef struct nnrti_ptq_layer {
    uint32_t node, weight, bias; /* bias NNRT_NO_TENSOR: none */
    int32_t out, in;             /* sizes of an output channel's axis and of the input channels that it reads */
    int32_t groups, axis; /* axis: of the output channels */
    ptrdiff_t outStride, inStride, tapStride; /* elements between weights of the next output, input, tap */
    int32_t taps;
    NNRT_ActivationType activation;
} nnrti_ptq_layer;

typedef struct nnrti_ptq {
    const nnrt_quantize_desc *desc;
    const NNRT_Model *model; /* constants have addresses */
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
    nnrti_ptq_layer *layers;
    uint32_t nLayers;
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
   second rounding in a finer one would only add to it. */
#define NNRTI_PTQ_OPERATORS(COMPUTES, MOVES) \
    COMPUTES(CONV2D_FUSION) COMPUTES(CONV2D_TRANSPOSE_FUSION) COMPUTES(FULL_CONNECTION) COMPUTES(MATMUL_FUSION) \
    COMPUTES(ADD_FUSION) COMPUTES(ADD_N) COMPUTES(SUB_FUSION) COMPUTES(MUL_FUSION) COMPUTES(MAXIMUM) COMPUTES(MINIMUM) \
    COMPUTES(ELTWISE) COMPUTES(ABS) COMPUTES(ACTIVATION) COMPUTES(CLIP) COMPUTES(LEAKY_RELU) COMPUTES(PRELU_FUSION) \
    COMPUTES(HARD_SIGMOID) COMPUTES(HARD_SWISH) COMPUTES(SOFTMAX) COMPUTES(REDUCE_FUSION) COMPUTES(CONCAT) \
    MOVES(AVGPOOL_FUSION) MOVES(AVGPOOL_INCLUDE_PAD) MOVES(MAX_POOL_FUSION) MOVES(RESIZE) MOVES(RESHAPE) MOVES(FLATTEN) \
    MOVES(SQUEEZE) MOVES(UNSQUEEZE) MOVES(EXPAND_DIMS) MOVES(TRANSPOSE) MOVES(SLICE_FUSION) MOVES(STRIDED_SLICE) \
    MOVES(SPLIT) MOVES(TILE_FUSION) MOVES(PAD_FUSION) MOVES(DEPTH_TO_SPACE) MOVES(SPACE_TO_DEPTH)

/* 0: no quantized arithmetic here, 1: computes, 2: moves data. */
static int nnrti_ptq_kind(NNRT_NodeType type)
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
    p->nValues = m->allTensors.count;
    p->tensors = (NNRT_Tensor *)nnrti_ptq_keep(p, nTensors, sizeof(*p->tensors));
    p->nodes = (NNRT_Node *)nnrti_ptq_keep(p, nNodes, sizeof(*p->nodes));
    p->graphs = (NNRT_SubGraph *)nnrti_ptq_keep(p, (size_t)m->subGraph.count + 1, sizeof(*p->graphs));
    p->main = (uint32_t *)nnrti_ptq_keep(p, nNodes, sizeof(*p->main));
    p->shapes = (nnrt_operand *)nnrti_ptq_keep(p, (size_t)p->nValues + 1, sizeof(*p->shapes));
    p->values = (nnrti_ptq_value *)nnrti_ptq_keep(p, (size_t)p->nValues + 1, sizeof(*p->values));
    p->chosen = (bool *)nnrti_ptq_keep(p, (size_t)m->nodes.count + 1, sizeof(*p->chosen));
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
    if (nnrti_ptq_kind(n->nodeType) == 0 || n->inputIndex.count == 0 || n->outputIndex.count == 0 ||
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
    }
    l->out = d[0];
    l->in = d[3];
    l->taps = d[1] * d[2];
    l->inStride = 1;
    l->tapStride = d[3];
    l->outStride = (ptrdiff_t)d[1] * d[2] * d[3];
    l->groups = a.group > 1 && a.group <= d[0] ? (int32_t)a.group : 1;
    l->activation = a.activationType;
    return d[0] % l->groups == 0;
}

/* Describes constant weights of a matrix product: [O,I], or [I,O]. */
static bool nnrti_ptq_matrix(const NNRT_Node *n, const int32_t *d, nnrti_ptq_layer *l)
{
    bool rows = true;
    l->taps = l->groups = 1;
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
static void nnrti_ptq_add_layer(nnrti_ptq *p, uint32_t i)
{
    const NNRT_Node *n = &p->model->nodes.data[i];
    const uint32_t w = n->inputIndex.count > 1 ? n->inputIndex.data[1] : NNRT_NO_TENSOR;
    const NNRT_Tensor *t = w != NNRT_NO_TENSOR ? &p->model->allTensors.data[w] : NULL;
    nnrti_ptq_layer *l = &p->layers[p->nLayers];
    bool good;
    if (t == NULL || nnrti_ptq_data(t) == NULL || t->dataType != NNRT_DATA_TYPE_FLOAT32)
        return;
    memset(l, 0, sizeof(*l));
    l->node = i;
    l->weight = w;
    l->bias = n->inputIndex.count > 2 ? n->inputIndex.data[2] : NNRT_NO_TENSOR;
    good = n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION || n->nodeType == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION
               ? t->dims.count == 4 && nnrti_ptq_conv(n, t->dims.data, l)
               : (n->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION || n->nodeType == NNRT_NODE_TYPE_MATMUL_FUSION) &&
                     t->dims.count == 2 && nnrti_ptq_matrix(n, t->dims.data, l);
    p->nLayers += good && l->out > 0 && l->in > 0 && l->taps > 0;
}

/* Lets result and input 0 of an operator that moves data share their parameters. */
static void nnrti_ptq_join(nnrti_ptq *p, const NNRT_Node *n)
{
    if (nnrti_ptq_kind(n->nodeType) != 2 || !nnrti_ptq_is_activation(p, n->inputIndex.data[0]))
        return;
    for (uint32_t k = 0; k < n->outputIndex.count; k++)
        p->values[nnrti_ptq_root(p, n->outputIndex.data[k])].root = nnrti_ptq_root(p, n->inputIndex.data[0]);
}

/* Chooses nodes, joins tensors, finds layers. Activations beside a chosen node get codes. */
static NNRT_ReturnCode nnrti_ptq_choose(nnrti_ptq *p)
{
    const nnrt_quantize_desc *d = p->desc;
    for (uint32_t i = 0; i < p->nOwn; i++) {
        const NNRT_Node *n = &p->model->nodes.data[p->main[i]];
        bool floats = false;
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            floats = floats || (n->outputIndex.data[k] != NNRT_NO_TENSOR && nnrti_ptq_is_activation(p, n->outputIndex.data[k]));
        p->report.nodes += floats;
        if (!nnrti_ptq_may_choose(p, n) || (d->keep != NULL && d->keep(d->user, p->model, p->main[i])))
            continue;
        p->chosen[p->main[i]] = true;
        p->report.chosen++;
        nnrti_ptq_join(p, n);
        nnrti_ptq_add_layer(p, p->main[i]);
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
    }
    return p->code = nnrt_model_infer(p->model, &config, &p->memory, p->shapes, NULL, NULL);
}

/* Checks the model, and prepares all lists. */
static NNRT_ReturnCode nnrti_ptq_start(nnrti_ptq *p)
{
    const NNRT_Model *m = p->model;
    uint32_t *order;
    NNRT_ReturnCode code = nnrt_model_check(m, &p->memory, &order, p->error);
    if (code != NNRT_SUCCESS)
        return p->code = code;
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

/* A session whose outputs are all activations that get codes, and its buffers. */
typedef struct nnrti_ptq_watch {
    NNRT_Model model;
    nnrt_session *session;
    uint32_t *tensors; /* of each output, then of each float32 input */
    nnrt_io *io;       /* inputs, outputs */
    uint32_t nIn, nOut;
} nnrti_ptq_watch;

typedef void (*nnrti_ptq_visit)(nnrti_ptq *p, uint32_t tensor, const float *data, const nnrt_io_info *info);

/* The outputs: all outputs of the model, then the other activations. */
static NNRT_ReturnCode nnrti_ptq_watch_outputs(nnrti_ptq *p, nnrti_ptq_watch *w)
{
    const NNRT_Model *m = &p->edit;
    uint32_t count = m->outputIndex.count;
    w->tensors = (uint32_t *)nnrti_ptq_keep(p, (size_t)p->nValues + count + 1, sizeof(*w->tensors));
    if (w->tensors == NULL)
        return p->code;
    memcpy(w->tensors, m->outputIndex.data, count * sizeof(*w->tensors));
    for (uint32_t t = 0; t < p->nValues; t++) {
        bool output = !p->values[t].quantized || p->values[t].writer == NNRT_NO_TENSOR;
        for (uint32_t i = 0; i < m->outputIndex.count && !output; i++)
            output = m->outputIndex.data[i] == t;
        if (!output)
            w->tensors[count++] = t;
    }
    w->model = *m;
    w->model.outputIndex = NNRT_Uint32List_make(w->tensors, count);
    if (m->subGraph.count > 0) {
        NNRT_SubGraph *graphs = (NNRT_SubGraph *)nnrti_ptq_keep(p, m->subGraph.count, sizeof(*graphs));
        if (graphs == NULL)
            return p->code;
        memcpy(graphs, m->subGraph.data, m->subGraph.count * sizeof(*graphs));
        graphs[0].outputIndices = w->model.outputIndex;
        w->model.subGraph = NNRT_SubGraphList_make(graphs, m->subGraph.count);
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_ptq_watch_buffers(nnrti_ptq *p, nnrti_ptq_watch *w)
{
    w->nIn = nnrt_session_inputs(w->session);
    w->nOut = nnrt_session_outputs(w->session);
    w->io = (nnrt_io *)nnrti_ptq_keep(p, (size_t)w->nIn + w->nOut, sizeof(*w->io));
    if (w->io == NULL)
        return p->code;
    for (uint32_t i = 0; i < w->nIn + w->nOut; i++) {
        const nnrt_io_info info =
            i < w->nIn ? nnrt_session_input(w->session, i) : nnrt_session_output(w->session, i - w->nIn);
        if (info.open)
            return p->code = nnrt_error_set(p->error, NNRT_NOT_SUPPORT,
                                            "'%s' has dynamic dimensions: set the dimensions of the inputs", info.name);
        w->io[i] = nnrt_io_make(nnrt_memory_keep_aligned(&p->memory, info.bytes), info.bytes);
        if (w->io[i].data == NULL)
            return nnrti_ptq_no_memory(p);
    }
    return NNRT_SUCCESS;
}

/* Visits the values of one sample. */
static NNRT_ReturnCode nnrti_ptq_watch_run(nnrti_ptq *p, nnrti_ptq_watch *w, uint32_t sample, nnrti_ptq_visit visit)
{
    NNRT_ReturnCode code = p->desc->sample(p->desc->user, sample, w->io, w->nIn);
    if (code != NNRT_SUCCESS)
        return p->code = nnrt_error_set(p->error, code, "sample %u cannot be read", sample);
    code = nnrt_run(w->session, w->io, w->nIn, w->io + w->nIn, w->nOut);
    if (code != NNRT_SUCCESS)
        return p->code = nnrt_error_set(p->error, code, "the run of sample %u failed: %s", sample,
                                        nnrt_session_error(w->session));
    for (uint32_t i = 0; i < w->nIn + w->nOut && p->code == NNRT_SUCCESS; i++) {
        const bool in = i < w->nIn;
        const nnrt_io_info info = in ? nnrt_session_input(w->session, i) : nnrt_session_output(w->session, i - w->nIn);
        const uint32_t t = in ? p->model->inputIndex.data[i] : w->tensors[i - w->nIn];
        if (p->values[t].quantized)
            visit(p, t, (const float *)w->io[i].data, &info);
    }
    p->runs++;
    if (p->desc->progress != NULL)
        p->desc->progress(p->desc->user, p->runs, p->allRuns);
    return p->code;
}

/* Runs all samples, and visits the values of all activations that get codes. */
static NNRT_ReturnCode nnrti_ptq_observe(nnrti_ptq *p, nnrti_ptq_visit visit)
{
    nnrt_session_desc desc;
    nnrti_ptq_watch w;
    NNRT_ReturnCode code;
    memset(&w, 0, sizeof(w));
    memset(&desc, 0, sizeof(desc));
    if (p->desc->session != NULL)
        desc = *p->desc->session;
    if (desc.allocator == NULL)
        desc.allocator = p->desc->allocator;
    if (nnrti_ptq_watch_outputs(p, &w) != NNRT_SUCCESS)
        return p->code;
    code = nnrt_session_create(&w.session, &w.model, &desc, p->error);
    if (code != NNRT_SUCCESS)
        return p->code = code;
    if (nnrti_ptq_watch_buffers(p, &w) == NNRT_SUCCESS)
        for (uint32_t i = 0; i < p->desc->samples && p->code == NNRT_SUCCESS; i++)
            nnrti_ptq_watch_run(p, &w, i, visit);
    nnrt_session_destroy(w.session);
    return p->code;
}

/* The axis of the channels of a value. */
static int32_t nnrti_ptq_channel_axis(const nnrt_io_info *info)
{
    return info->format == NNRT_FORMAT_NCHW && info->shape.rank > 2 ? 1 : info->shape.rank - 1;
}

/* Makes room for the statistics of a value. */
static bool nnrti_ptq_room(nnrti_ptq *p, nnrti_ptq_value *v, const nnrt_io_info *info)
{
    const int32_t axis = nnrti_ptq_channel_axis(info);
    const int32_t channels = axis >= 0 ? info->shape.dims[axis] : 1;
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
static void nnrti_ptq_see_range(nnrti_ptq *p, uint32_t t, const float *data, const nnrt_io_info *info)
{
    nnrti_ptq_value *v = &p->values[t];
    const int32_t axis = nnrti_ptq_channel_axis(info);
    size_t outer = 1, inner = 1;
    if (!nnrti_ptq_room(p, v, info))
        return;
    for (int32_t k = 0; k < info->shape.rank; k++) {
        outer *= k < axis ? (size_t)info->shape.dims[k] : 1;
        inner *= k > axis ? (size_t)info->shape.dims[k] : 1;
    }
    for (size_t o = 0; o < outer; o++)
        for (int32_t c = 0; c < v->channels; c++)
            nnrti_ptq_row(v, c, data + (o * (size_t)v->channels + (size_t)c) * inner, inner);
    v->count += (double)outer * (double)inner;
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

/* Visitor: the histogram of the group. */
static void nnrti_ptq_see_histogram(nnrti_ptq *p, uint32_t t, const float *data, const nnrt_io_info *info)
{
    nnrti_ptq_value *r = &p->values[nnrti_ptq_root(p, t)];
    const float width = (r->upper - r->lower) / NNRTI_PTQ_BINS, factor = width > 0 ? 1.0f / width : 0.0f;
    const size_t n = info->bytes / sizeof(float);
    if (r->histogram == NULL)
        r->histogram = (uint64_t *)nnrti_ptq_keep(p, NNRTI_PTQ_BINS, sizeof(*r->histogram));
    for (size_t i = 0; i < n && r->histogram != NULL; i++) {
        const float at = (data[i] - r->lower) * factor; /* a value outside counts in the first or last bin */
        const int32_t bin = at > 0 ? (at < NNRTI_PTQ_BINS - 1 ? (int32_t)at : NNRTI_PTQ_BINS - 1) : 0;
        r->histogram[bin]++;
    }
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

static bool nnrti_ptq_homogeneous(NNRT_ActivationType a)
{
    return a == NNRT_ACTIVATION_TYPE_NO_ACTIVATION || a == NNRT_ACTIVATION_TYPE_LINEAR || a == NNRT_ACTIVATION_TYPE_RELU ||
           a == NNRT_ACTIVATION_TYPE_RELU6;
}

/* The elements of a constant of `edit` that may be changed: a copy, made once. NULL: no memory. */
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
        if (!p->chosen[v->reader] || !nnrti_ptq_passes_channels(n))
            return v->reader;
        *t = n->outputIndex.data[0];
    }
}

/* The layer that reads the result of layer `a` alone; NULL: none, or they cannot be equalized. */
static nnrti_ptq_layer *nnrti_ptq_next(nnrti_ptq *p, const nnrti_ptq_layer *a)
{
    const NNRT_Tensor *bias = a->bias != NNRT_NO_TENSOR ? &p->tensors[a->bias] : NULL;
    uint32_t t = p->model->nodes.data[a->node].outputIndex.data[0], reader;
    if (p->values[t].channels != a->out || !nnrti_ptq_homogeneous(a->activation) || p->values[a->weight].readers != 1 ||
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

/* s of channel c before it is limited; 0: a dead channel. */
static double nnrti_ptq_ratio(const nnrti_ptq *p, const nnrti_ptq_layer *b, const nnrti_ptq_value *v, int32_t c)
{
    const double range = (double)nnrti_ptq_magnitude(v, c), reads = (double)nnrti_ptq_reads(p, b, c);
    if (!(range > 0) || !(reads > 0))
        return 0;
    return b->groups > 1 && b->in == 1 ? range : sqrt(range / reads);
}

/* s of channel c; most: the largest ratio. 0: none, a dead channel. */
static float nnrti_ptq_factor(const nnrti_ptq *p, const nnrti_ptq_layer *a, const nnrti_ptq_layer *b,
                              const nnrti_ptq_value *v, int32_t c, double most)
{
    double s = nnrti_ptq_ratio(p, b, v, c) / most;
    if (a->activation == NNRT_ACTIVATION_TYPE_RELU6) {
        const double least = (double)nnrti_ptq_magnitude(v, c) / 6;
        s = s > 1 || least >= 1 ? 1 : s > 0 && s < least ? least : s;
    }
    return s > 1e-6 && s < 1e6 ? (float)s : 0.0f;
}

/* Divides channel c between two layers by s. */
static void nnrti_ptq_divide(nnrti_ptq *p, nnrti_ptq_layer *a, nnrti_ptq_layer *b, int32_t c, float s)
{
    float *wa = nnrti_ptq_own(p, a->weight), *wb = nnrti_ptq_own(p, b->weight);
    float *bias = a->bias != NNRT_NO_TENSOR ? nnrti_ptq_own(p, a->bias) : NULL;
    const int32_t group = c / b->in, each = b->out / b->groups;
    if (p->code != NNRT_SUCCESS)
        return;
    for (int32_t k = 0; k < a->taps; k++)
        for (int32_t i = 0; i < a->in; i++)
            wa[c * a->outStride + k * a->tapStride + i * a->inStride] /= s;
    if (bias != NULL)
        bias[c] /= s;
    for (int32_t o = group * each; o < (group + 1) * each; o++)
        for (int32_t k = 0; k < b->taps; k++)
            wb[o * b->outStride + k * b->tapStride + (c % b->in) * b->inStride] *= s;
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

/* The factors of all channels between two layers. A channel that is 0 in all samples gets one with which its weights in
   the second layer are as large as the largest of the others, because they share scales. */
static void nnrti_ptq_factors(const nnrti_ptq *p, const nnrti_ptq_layer *a, const nnrti_ptq_layer *b, float *s)
{
    const nnrti_ptq_value *v = &p->values[p->model->nodes.data[a->node].outputIndex.data[0]];
    double most = 0, reads = 0;
    for (int32_t c = 0; c < a->out; c++)
        most = fmax(most, nnrti_ptq_ratio(p, b, v, c));
    if (a->activation == NNRT_ACTIVATION_TYPE_RELU6 && b->groups > 1 && b->in == 1)
        most = 6;
    for (int32_t c = 0; c < a->out; c++) {
        s[c] = most > 0 ? nnrti_ptq_factor(p, a, b, v, c, most) : 0;
        reads = fmax(reads, (double)(s[c] * nnrti_ptq_reads(p, b, c)));
    }
    for (int32_t c = 0; c < a->out; c++)
        if (!(s[c] > 0)) {
            const double own = (double)nnrti_ptq_reads(p, b, c);
            s[c] = own > reads && reads > own * 1e-6 && nnrti_ptq_magnitude(v, c) <= 0 ? (float)(reads / own) : 1.0f;
        }
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
        p->report.equalized++;
    }
    return p->code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize_ranges */

/* To the nearest integer, halves away from zero. */
static double nnrti_ptq_nearest(double v)
{
    return v < 0 ? ceil(v - 0.5) : floor(v + 0.5);
}

static int32_t nnrti_ptq_lowest(const nnrti_ptq *p)
{
    return p->desc->uint8 ? 0 : -128;
}

/* Scale and zero point whose codes cover [lower, upper], which contains 0. */
static NNRT_QuantParam nnrti_ptq_quant(const nnrti_ptq *p, double lower, double upper)
{
    NNRT_QuantParam q;
    const float scale = (float)((upper - lower) / 255.0);
    q.numBits = 8;
    q.scale = scale > 0 ? (double)scale : 1.0; /* a tensor of zeros */
    q.zeroPoint = nnrti_ptq_lowest(p) + (int32_t)nnrti_ptq_nearest(-lower / q.scale);
    return q;
}

/* Sum of squared errors of the histogram's values. */
static double nnrti_ptq_noise(const nnrti_ptq *p, const nnrti_ptq_value *r, const NNRT_QuantParam *q)
{
    const double width = ((double)r->upper - (double)r->lower) / NNRTI_PTQ_BINS;
    const double least = (nnrti_ptq_lowest(p) - q->zeroPoint) * q->scale, most = least + 255 * q->scale;
    double noise = 0;
    for (int32_t i = 0; i < NNRTI_PTQ_BINS; i++) {
        const double x = (double)r->lower + (i + 0.5) * width;
        const double y = x < least ? least : x > most ? most : floor(x / q->scale + 0.5) * q->scale;
        if (r->histogram[i] > 0)
            noise += (double)r->histogram[i] * (x - y) * (x - y);
    }
    return noise;
}

static double nnrti_ptq_signal(const nnrti_ptq_value *r)
{
    const double width = ((double)r->upper - (double)r->lower) / NNRTI_PTQ_BINS;
    double signal = 0;
    for (int32_t i = 0; i < NNRTI_PTQ_BINS; i++) {
        const double x = (double)r->lower + (i + 0.5) * width;
        signal += (double)r->histogram[i] * x * x;
    }
    return signal;
}

/* Tries ranges of 100 % to 30 % of the observed one, at both ends, and keeps that with the least noise. */
static void nnrti_ptq_search(const nnrti_ptq *p, nnrti_ptq_value *r)
{
    for (int32_t i = 0; i < 36 && r->lower < 0; i++)
        for (int32_t k = 0; k < 36 && (r->upper > 0 || k == 0); k++) {
            const NNRT_QuantParam q =
                nnrti_ptq_quant(p, (double)r->lower * (1 - 0.02 * i), (double)r->upper * (1 - 0.02 * k));
            const double noise = nnrti_ptq_noise(p, r, &q);
            if (noise < r->noise) {
                r->noise = noise;
                r->quant = q;
            }
        }
    for (int32_t k = 0; k < 36 && r->lower >= 0; k++) {
        const NNRT_QuantParam q = nnrti_ptq_quant(p, 0, (double)r->upper * (1 - 0.02 * k));
        const double noise = nnrti_ptq_noise(p, r, &q);
        if (noise < r->noise) {
            r->noise = noise;
            r->quant = q;
        }
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
    nnrt_quantize_range range;
    range.tensor = nnrti_ptq_name(p->model->allTensors.data[t].name);
    range.least = range.most = 0;
    for (int32_t c = 0; c < p->values[t].channels; c++) {
        range.least = c == 0 || p->values[t].least[c] < range.least ? p->values[t].least[c] : range.least;
        range.most = c == 0 || p->values[t].most[c] > range.most ? p->values[t].most[c] : range.most;
    }
    range.quant = r->quant;
    range.lower = (float)((nnrti_ptq_lowest(p) - r->quant.zeroPoint) * r->quant.scale);
    range.upper = (float)((nnrti_ptq_lowest(p) + 255 - r->quant.zeroPoint) * r->quant.scale);
    range.sqnr = 10 * log10(r->signal / r->noise);
    if (!(r->noise > 0))
        range.sqnr = HUGE_VAL;
    p->desc->range(p->desc->user, &range);
}

/* Scale and zero point of each group. */
static NNRT_ReturnCode nnrti_ptq_ranges(nnrti_ptq *p)
{
    for (uint32_t t = 0; t < p->nValues; t++) {
        nnrti_ptq_value *v = &p->values[t], *r = &p->values[nnrti_ptq_root(p, t)];
        if (v->quantized && v->writer != NNRT_NO_TENSOR && !r->fixed)
            r->fixed = nnrti_ptq_of_operator(p, &p->model->nodes.data[v->writer], &r->quant);
    }
    for (uint32_t t = 0; t < p->nValues; t++) {
        nnrti_ptq_value *r = &p->values[t];
        if (r->root != t || r->histogram == NULL)
            continue;
        if (!r->fixed)
            r->quant = nnrti_ptq_quant(p, (double)r->lower, (double)r->upper);
        r->noise = nnrti_ptq_noise(p, r, &r->quant);
        r->signal = nnrti_ptq_signal(r);
        if (!r->fixed && (p->desc->without & NNRT_QUANTIZE_RANGES) == 0)
            nnrti_ptq_search(p, r);
    }
    for (uint32_t t = 0; t < p->nValues && p->desc->range != NULL; t++)
        if (p->values[t].quantized && p->values[nnrti_ptq_root(p, t)].histogram != NULL)
            nnrti_ptq_say(p, t);
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

/* Adds a cast between float32 and 8 bits to the main graph. */
static void nnrti_ptq_cast(nnrti_ptq *p, uint32_t from, uint32_t to)
{
    const uint32_t i = p->edit.nodes.count++;
    uint32_t *io = (uint32_t *)nnrti_ptq_keep(p, 2, sizeof(*io));
    if (io == NULL)
        return;
    io[0] = from;
    io[1] = to;
    memset(&p->nodes[i], 0, sizeof(p->nodes[i]));
    p->nodes[i].nodeType = NNRT_NODE_TYPE_QUANT_DTYPE_CAST;
    p->nodes[i].inputIndex = NNRT_Uint32List_make(io, 1);
    p->nodes[i].outputIndex = NNRT_Uint32List_make(io + 1, 1);
    p->main[p->nMain++] = i;
}

/* Adds a tensor of 8-bit codes with the shape of tensor t. */
static uint32_t nnrti_ptq_codes(nnrti_ptq *p, uint32_t t, NNRT_DataType type, const NNRT_QuantParam *params, uint32_t count,
                                int32_t axis)
{
    const uint32_t codes = nnrti_ptq_tensor(p, &p->tensors[t], type == NNRT_DATA_TYPE_UINT8 ? "_uint8" : "_int8");
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

/* A code of a symmetric scale. */
static int8_t nnrti_ptq_symmetric(float v, double scale)
{
    const double code = nnrti_ptq_nearest((double)v / scale);
    return (int8_t)(code > 127 ? 127 : code < -127 ? -127 : code);
}

/* Calls the body for each weight of output o of layer l: index `at` in the constant, input i, tap k. */
#define NNRTI_PTQ_EACH(l, o, at)                                                                                       \
    for (int32_t k = 0; k < (l)->taps; k++)                                                                            \
        for (int32_t i = 0; i < (l)->in; i++)                                                                          \
            for (ptrdiff_t at = (o) * (l)->outStride + k * (l)->tapStride + i * (l)->inStride, once = 1; once > 0; once = 0)

/* The scale of outputs [from, to): of their largest weight, or a smaller one if the squared error is less. */
static double nnrti_ptq_scale(const nnrti_ptq *p, const nnrti_ptq_layer *l, const float *w, int32_t from, int32_t to)
{
    double best = 1, least = HUGE_VAL;
    float most = 0;
    for (int32_t o = from; o < to; o++)
        NNRTI_PTQ_EACH(l, o, at)
            most = fmaxf(most, fabsf(w[at]));
    for (int32_t f = 0; f < ((p->desc->without & NNRT_QUANTIZE_RANGES) == 0 ? 16 : 1) && most > 0; f++) {
        const double scale = (double)(float)((double)most * (1 - 0.02 * f) / 127);
        double noise = 0;
        for (int32_t o = from; o < to && scale > 0; o++)
            NNRTI_PTQ_EACH(l, o, at) {
                const double e = (double)w[at] - nnrti_ptq_symmetric(w[at], scale) * scale;
                noise += e * e;
            }
        if (scale > 0 && noise < least) {
            least = noise;
            best = scale;
        }
    }
    return best;
}

/* The mean error of output o that rounded weights cause, by the means of the input channels. */
static double nnrti_ptq_error(const nnrti_ptq *p, const nnrti_ptq_layer *l, const float *w, const int8_t *codes, double scale,
                              int32_t o)
{
    const nnrti_ptq_value *x = &p->values[p->model->nodes.data[l->node].inputIndex.data[0]];
    const int32_t first = o / (l->out / l->groups) * l->in;
    double error = 0;
    NNRTI_PTQ_EACH(l, o, at)
        error += ((double)w[at] - codes[at] * scale) * x->sum[first + i] / x->count;
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
static void nnrti_ptq_correct(nnrti_ptq *p, nnrti_ptq_layer *l, const float *w, const int8_t *codes, const NNRT_QuantParam *q,
                              uint32_t nScales)
{
    const nnrti_ptq_value *x = &p->values[p->model->nodes.data[l->node].inputIndex.data[0]];
    float *bias;
    if ((p->desc->without & NNRT_QUANTIZE_BIAS) != 0 || x->channels != l->in * l->groups || !(x->count > 0) ||
        (bias = nnrti_ptq_bias(p, l)) == NULL)
        return;
    for (int32_t o = 0; o < l->out; o++)
        bias[o] += (float)nnrti_ptq_error(p, l, w, codes, q[nScales > 1 ? o : 0].scale, o);
    p->report.corrected++;
}

/* Reports the weights of a layer. */
static void nnrti_ptq_tell(const nnrti_ptq *p, const nnrti_ptq_layer *l, const int8_t *codes, const NNRT_QuantParam *q,
                           uint32_t nScales)
{
    const NNRT_Node *n = &p->nodes[l->node];
    const uint32_t x = p->model->nodes.data[l->node].inputIndex.data[0], y = p->model->nodes.data[l->node].outputIndex.data[0];
    const uint32_t bias = n->inputIndex.count > 2 ? n->inputIndex.data[2] : NNRT_NO_TENSOR;
    nnrt_quantize_layer layer;
    layer.node = l->node;
    layer.input = nnrti_ptq_name(p->model->allTensors.data[x].name);
    layer.output = nnrti_ptq_name(p->model->allTensors.data[y].name);
    layer.codes = codes;
    layer.dims = p->tensors[l->weight].dims;
    layer.axis = l->axis;
    layer.params = NNRT_QuantParamList_make(q, nScales);
    layer.bias = bias != NNRT_NO_TENSOR ? (const float *)nnrti_ptq_data(&p->tensors[bias]) : NULL;
    layer.inputQuant = p->values[nnrti_ptq_root(p, x)].quant;
    p->desc->layer(p->desc->user, &layer);
}

static NNRT_ReturnCode nnrti_ptq_layer_weights(nnrti_ptq *p, nnrti_ptq_layer *l)
{
    const bool channels = (p->desc->without & NNRT_QUANTIZE_CHANNELS) == 0;
    const float *w = (const float *)nnrti_ptq_data(&p->tensors[l->weight]);
    const size_t count = p->tensors[l->weight].data.dataSize / sizeof(float);
    const uint32_t nScales = channels ? (uint32_t)l->out : 1;
    int8_t *codes = (int8_t *)nnrt_memory_keep_aligned(&p->memory, count);
    NNRT_QuantParam *q = (NNRT_QuantParam *)nnrti_ptq_keep(p, nScales, sizeof(*q));
    if (codes == NULL || q == NULL)
        return nnrti_ptq_no_memory(p);
    for (int32_t o = 0; o < l->out; o++) {
        NNRT_QuantParam *own = &q[channels ? o : 0];
        own->numBits = 8;
        if (channels || o == 0)
            own->scale = nnrti_ptq_scale(p, l, w, o, channels ? o + 1 : l->out);
        NNRTI_PTQ_EACH(l, o, at)
            codes[at] = nnrti_ptq_symmetric(w[at], own->scale);
    }
    nnrti_ptq_correct(p, l, w, codes, q, nScales);
    if (p->desc->layer != NULL && p->code == NNRT_SUCCESS)
        nnrti_ptq_tell(p, l, codes, q, nScales);
    nnrti_ptq_constant(p, l->node, 1, nnrti_ptq_codes(p, l->weight, NNRT_DATA_TYPE_INT8, q, nScales, l->axis), codes, count);
    return p->code;
}

/* A float32 constant that is no weight of a layer: codes of the activations' type, one scale and zero point. */
static NNRT_ReturnCode nnrti_ptq_operand(nnrti_ptq *p, uint32_t node, uint32_t k)
{
    const uint32_t t = p->nodes[node].inputIndex.data[k];
    const float *v = (const float *)nnrti_ptq_data(&p->tensors[t]);
    const size_t count = p->tensors[t].data.dataSize / sizeof(float);
    uint8_t *codes = (uint8_t *)nnrt_memory_keep_aligned(&p->memory, count);
    NNRT_QuantParam *q = (NNRT_QuantParam *)nnrti_ptq_keep(p, 1, sizeof(*q));
    float lower = 0, upper = 0;
    if (codes == NULL || q == NULL)
        return nnrti_ptq_no_memory(p);
    for (size_t i = 0; i < count; i++) {
        lower = v[i] < lower ? v[i] : lower;
        upper = v[i] > upper ? v[i] : upper;
    }
    *q = nnrti_ptq_quant(p, (double)lower, (double)upper);
    for (size_t i = 0; i < count; i++) {
        const double code = nnrti_ptq_nearest((double)v[i] / q->scale) + q->zeroPoint - nnrti_ptq_lowest(p);
        codes[i] = (uint8_t)((int32_t)(code > 255 ? 255 : code > 0 ? code : 0) + nnrti_ptq_lowest(p));
    }
    nnrti_ptq_constant(p, node, k,
                       nnrti_ptq_codes(p, t, p->desc->uint8 ? NNRT_DATA_TYPE_UINT8 : NNRT_DATA_TYPE_INT8, q, 1, 0), codes,
                       count);
    return p->code;
}

/* Whether input k of a chosen node is a float32 constant that gets codes: no bias, which becomes int32, and no sizes. */
static bool nnrti_ptq_gets_codes(const nnrti_ptq *p, const NNRT_Node *n, uint32_t k)
{
    const uint32_t t = n->inputIndex.data[k];
    const bool bias = k == 2 && (n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION || n->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION ||
                                 n->nodeType == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION ||
                                 n->nodeType == NNRT_NODE_TYPE_MATMUL_FUSION);
    return t < p->nValues && p->tensors[t].dataType == NNRT_DATA_TYPE_FLOAT32 && nnrti_ptq_data(&p->tensors[t]) != NULL && !bias &&
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
/* >>quantize_write */

/* Casts of activation t. A result: its node writes a new tensor, whose codes are cast back to t. An input of the model:
   chosen nodes read a new tensor. */
static void nnrti_ptq_casts(nnrti_ptq *p, uint32_t t)
{
    const nnrti_ptq_value *v = &p->values[t];
    const NNRT_QuantParam *q = &p->values[nnrti_ptq_root(p, t)].quant;
    const uint32_t codes = nnrti_ptq_codes(p, t, p->desc->uint8 ? NNRT_DATA_TYPE_UINT8 : NNRT_DATA_TYPE_INT8, q, 1, 0);
    const uint32_t other = nnrti_ptq_tensor(p, &p->tensors[t], "");
    p->tensors[t].dataType = p->tensors[other].dataType = NNRT_DATA_TYPE_FLOAT32; /* casts need it */
    if (v->writer != NNRT_NO_TENSOR) {
        const NNRT_Node *n = &p->nodes[v->writer];
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            if (n->outputIndex.data[k] == t)
                nnrti_ptq_set(&n->outputIndex, k, other);
        nnrti_ptq_cast(p, other, codes);
        nnrti_ptq_cast(p, codes, t);
        return;
    }
    nnrti_ptq_cast(p, t, codes);
    nnrti_ptq_cast(p, codes, other);
    for (uint32_t i = 0; i < p->nOwn; i++)
        for (uint32_t k = 0; k < p->nodes[p->main[i]].inputIndex.count; k++)
            if (p->chosen[p->main[i]] && p->nodes[p->main[i]].inputIndex.data[k] == t)
                nnrti_ptq_set(&p->nodes[p->main[i]].inputIndex, k, other);
}

/* Writes edit as a .nnrt file in memory, which *quantized uses. */
static NNRT_ReturnCode nnrti_ptq_load(nnrti_ptq *p, const NNRT_Model *source, NNRT_Model **quantized)
{
    nnrt_save_desc save;
    nnrt_load_desc load;
    nnrt_metadata *metadata;
    size_t bytes = 0, written;
    void *file = NULL;
    memset(&save, 0, sizeof(save));
    memset(&load, 0, sizeof(load));
    while (source->self == source && nnrt_model_metadata_at(source, save.metadataCount).key != NULL)
        save.metadataCount++;
    metadata = (nnrt_metadata *)nnrti_ptq_keep(p, (size_t)save.metadataCount + 1, sizeof(*metadata));
    for (uint32_t i = 0; i < save.metadataCount && metadata != NULL; i++)
        metadata[i] = nnrt_model_metadata_at(source, i);
    save.metadata = metadata;
    save.allocator = load.allocator = p->desc->allocator;
    if (p->code == NNRT_SUCCESS)
        p->code = nnrt_model_save_memory(&p->edit, &save, NULL, 0, &bytes, p->error);
    if (p->code == NNRT_SUCCESS && (file = nnrt_alloc(p->desc->allocator, bytes)) == NULL)
        return nnrti_ptq_no_memory(p);
    if (p->code == NNRT_SUCCESS)
        p->code = nnrt_model_save_memory(&p->edit, &save, file, bytes, &written, p->error);
    if (p->code == NNRT_SUCCESS)
        p->code = nnrt_model_load_memory(quantized, file, bytes, &load, p->error);
    if (p->code == NNRT_SUCCESS)
        p->code = nnrt_model_attach(*quantized, file, bytes);
    if (p->code != NNRT_SUCCESS && file != NULL)
        nnrt_free(p->desc->allocator, file, bytes);
    return p->code;
}

/* Casts, the model with them, and its optimized form. */
static NNRT_ReturnCode nnrti_ptq_finish(nnrti_ptq *p, const NNRT_Model *source, NNRT_Model **quantized)
{
    nnrt_optimize_desc desc;
    for (uint32_t t = 0; t < p->nValues && p->code == NNRT_SUCCESS; t++)
        if (p->values[t].quantized)
            nnrti_ptq_casts(p, t);
    if (p->edit.subGraph.count > 0)
        p->graphs[0].nodeIndices = NNRT_Uint32List_make(p->main, p->nMain);
    if (p->code != NNRT_SUCCESS || nnrti_ptq_load(p, source, quantized) != NNRT_SUCCESS || p->desc->no_optimize)
        return p->code;
    memset(&desc, 0, sizeof(desc));
    desc.log = p->desc->log;
    desc.integer_io = p->desc->integer_io;
    return p->code = nnrt_model_optimize_with(quantized, &desc, p->error);
}

static NNRT_ReturnCode nnrti_ptq_all(nnrti_ptq *p, const NNRT_Model *source, NNRT_Model **quantized)
{
    if (nnrti_ptq_start(p) != NNRT_SUCCESS || nnrti_ptq_observe(p, nnrti_ptq_see_range) != NNRT_SUCCESS)
        return p->code;
    if ((p->desc->without & NNRT_QUANTIZE_EQUALIZE) == 0 && nnrti_ptq_equalize(p) != NNRT_SUCCESS)
        return p->code;
    nnrti_ptq_join_ranges(p);
    if (nnrti_ptq_observe(p, nnrti_ptq_see_histogram) != NNRT_SUCCESS || nnrti_ptq_ranges(p) != NNRT_SUCCESS ||
        nnrti_ptq_weights(p) != NNRT_SUCCESS)
        return p->code;
    return nnrti_ptq_finish(p, source, quantized);
}

NNRT_ReturnCode nnrt_quantize(NNRT_Model **quantized, const NNRT_Model *model, const nnrt_quantize_desc *desc,
                              nnrt_error *error)
{
    nnrti_ptq p;
    nnrt_error_clear(error);
    if (quantized == NULL || model == NULL || desc == NULL || desc->sample == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "model, desc, desc->sample or the place for the result is NULL");
    *quantized = NULL;
    if (model->self == model && nnrt_model_metadata(model, "states") != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the model keeps states between runs, which are not quantized");
    if (desc->samples == 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "there are no samples: ranges follow from at least one");
    memset(&p, 0, sizeof(p));
    p.desc = desc;
    p.error = error;
    p.allRuns = 2 * (uint64_t)desc->samples;
    nnrt_memory_allocate(&p.memory, desc->allocator);
    p.model = nnrt_model_map(model, &p.memory, &p.mappings);
    if (p.model == NULL)
        nnrti_ptq_no_memory(&p);
    else
        nnrti_ptq_all(&p, model, quantized);
    if (p.code != NNRT_SUCCESS) {
        nnrt_model_destroy(*quantized);
        *quantized = NULL;
    }
    if (desc->report != NULL)
        *desc->report = p.report;
    nnrt_model_unmap(p.mappings);
    nnrt_memory_end(&p.memory);
    return p.code;
}

#ifdef __cplusplus
}
#endif

#endif /* NNRT_QUANTIZE_IMPLEMENTED */
