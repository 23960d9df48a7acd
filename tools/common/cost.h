/*
cost.h - the work of a model: multiply-accumulates, and an estimate of the instructions on a microcontroller.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_COST_H
#define NNRT_TOOL_COST_H

#include "job.h"

/* Sums over all nodes. */
typedef struct cli_work {
    uint32_t types;      /* of operands: the sum of their bits */
    double macs;         /* multiply-accumulates */
    double instructions; /* of a Cortex-M4 */
    const NNRT_Model *model;
} cli_work;

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

/* Instructions of the kernels of nnrt_mcu.h on a Cortex-M4 with FPU, as `make mcu-layers` counts them in qemu: for each
   multiply-accumulate, and for each element of the result or, without multiply-accumulates, of the largest operand. Of 8-bit
   operands, of int16 with int8 weights, and of float32. */
typedef struct cli_rate {
    NNRT_NodeType type;
    struct {
        float mac, element;
    } of[3];
} cli_rate;

static const cli_rate cli_rates[] = {
    {NNRT_NODE_TYPE_NONE, {{5, 20}, {5, 20}, {4, 20}}}, /* of operators that are not listed; guessed */
    {NNRT_NODE_TYPE_CONV2D_FUSION, {{1, 17}, {1.6f, 20}, {1.07f, 8}}},
    {NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, {{1.65f, 0}, {1.65f, 0}, {8.5f, 0}}},
    {NNRT_NODE_TYPE_FULL_CONNECTION, {{1.05f, 50}, {1.55f, 50}, {1.22f, 30}}},
    {NNRT_NODE_TYPE_MATMUL_FUSION, {{1.05f, 50}, {1.55f, 50}, {1.22f, 30}}},
    {NNRT_NODE_TYPE_ADD_FUSION, {{0, 15}, {0, 15}, {0, 1.8f}}},
    {NNRT_NODE_TYPE_SUB_FUSION, {{0, 15}, {0, 15}, {0, 1.8f}}},
    {NNRT_NODE_TYPE_MUL_FUSION, {{0, 10.5f}, {0, 10.5f}, {0, 1.8f}}},
    {NNRT_NODE_TYPE_MAXIMUM, {{0, 1.8f}, {0, 1.8f}, {0, 13}}},
    {NNRT_NODE_TYPE_MINIMUM, {{0, 1.8f}, {0, 1.8f}, {0, 13}}},
    {NNRT_NODE_TYPE_ACTIVATION, {{0, 4}, {0, 4}, {0, 106}}}, /* float32: of sigmoid */
    {NNRT_NODE_TYPE_QUANT_DTYPE_CAST, {{0, 7.5f}, {0, 7.5f}, {0, 11.5f}}},
    {NNRT_NODE_TYPE_MAX_POOL_FUSION, {{0, 3.4f}, {0, 3.4f}, {0, 9}}},
    {NNRT_NODE_TYPE_AVGPOOL_FUSION, {{0, 1.2f}, {0, 1.2f}, {0, 1.8f}}},
    {NNRT_NODE_TYPE_REDUCE_FUSION, {{0, 1.3f}, {0, 1.3f}, {0, 16.6f}}},
    {NNRT_NODE_TYPE_SOFTMAX, {{0, 39}, {0, 39}, {0, 74}}},
    {NNRT_NODE_TYPE_CONCAT, {{0, 14}, {0, 14}, {0, 4}}},
    {NNRT_NODE_TYPE_RESHAPE, {{0, 0}, {0, 0}, {0, 0}}},
    {NNRT_NODE_TYPE_SQUEEZE, {{0, 0}, {0, 0}, {0, 0}}},
    {NNRT_NODE_TYPE_UNSQUEEZE, {{0, 0}, {0, 0}, {0, 0}}},
    {NNRT_NODE_TYPE_FLATTEN, {{0, 0}, {0, 0}, {0, 0}}},
};
static const cli_rate cli_depthwise_rate = {NNRT_NODE_TYPE_CONV2D_FUSION, {{3.4f, 0}, {4.5f, 0}, {1.95f, 0}}};

static bool cli_is_depthwise(const nnrt_resolve *c)
{
    const nnrt_operand *x = c->in;
    return c->op->type == NNRT_NODE_TYPE_CONV2D_FUSION && ((const NNRT_Conv2DFusion *)c->resolved)->group > 1 &&
           ((const NNRT_Conv2DFusion *)c->resolved)->group == x->dims[x->format == NNRT_FORMAT_NCHW ? 1 : x->rank - 1];
}

/* macs: of the node. */
static double cli_m4_instructions(const nnrt_resolve *c, double macs)
{
    const cli_rate *rate = cli_is_depthwise(c) ? &cli_depthwise_rate : cli_rates;
    const NNRT_DataType type = c->nIn > 0 ? c->in[0].dataType : NNRT_DATA_TYPE_FLOAT32;
    const int kind = type == NNRT_DATA_TYPE_INT8 || type == NNRT_DATA_TYPE_UINT8 ? 0 : type == NNRT_DATA_TYPE_INT16 ? 1 : 2;
    double elements = c->nOut > 0 ? cli_elements(&c->out[0]) : 0;
    for (size_t i = 1; i < sizeof(cli_rates) / sizeof(cli_rates[0]) && rate == cli_rates; i++)
        rate = cli_rates[i].type == c->op->type ? &cli_rates[i] : rate;
    for (uint32_t i = 0; i < c->nIn && macs == 0; i++)
        elements = cli_elements(&c->in[i]) > elements ? cli_elements(&c->in[i]) : elements;
    return macs * (double)rate->of[kind].mac + elements * (double)rate->of[kind].element;
}

/* Whether a node makes float16 weights float32: a session on `cpu` has them (cli_inputs.float16), a program that loads the
   converted model has the result. */
static bool cli_widens_weights(const NNRT_Model *m, const NNRT_Node *n)
{
    const NNRT_Tensor *w = n->nodeType == NNRT_NODE_TYPE_CAST ? &m->allTensors.data[n->inputIndex.data[0]] : NULL;
    return w != NULL && w->dataType == NNRT_DATA_TYPE_FLOAT16 && w->data.dataSize > 0;
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
        work->macs += macs;
        work->instructions += cli_m4_instructions(resolved, macs);
    }
    return NNRT_SUCCESS;
}

/* The work of one run, with dynamic dimensions as --shape sets them, or their bounds. */
static cli_work cli_work_of(const cli_job *job)
{
    const NNRT_Model *m = job->model;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_operand *tensors;
    nnrt_dims *dims = cli_job_dims(job);
    cli_work work = {0, 0, 0, job->model};
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
