/*
qdq.h - writes a quantized model as ONNX in QDQ form: the original file, as operator set 13 (opset.h), with QuantizeLinear
and DequantizeLinear around its operators and 8-bit initializers, all else as it is.
Part of tools/nnrt.c.

    >>notes    scales and weights of a quantization, noted while it runs
    >>match    the ONNX nodes of each layer
    >>nodes    the new nodes and initializers
    >>write    the file

A value of the float32 model that got codes has the same name in the file. The node that writes it writes NAME_q8_float
instead, and a QuantizeLinear and a DequantizeLinear give NAME; readers of an input read NAME_q8_dequantized. Conv, Gemm and
MatMul read weights from a DequantizeLinear of int8; BatchNormalization between them and the value is folded into these and
removed. Biases are int32 with the scale of the input times that of the weight, as ONNX Runtime expects.
With --int8-io, inputs and outputs that got codes are these codes: their readers read NAME_q8_dequantized.
*/
#ifndef NNRT_TOOL_QDQ_H
#define NNRT_TOOL_QDQ_H

#include "../../formats/nnrt_quantize.h"
#include "opset.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>notes */

typedef struct cli_qdq_range {
    char *name;
    NNRT_QuantParam quant;
} cli_qdq_range;

/* Weights of a layer, copied. inner: weights of an output channel; taps: of them for each input channel. */
typedef struct cli_qdq_layer {
    char *input, *output;
    int8_t *codes;
    float *bias, *scales; /* bias NULL: none */
    double inputScale;
    int32_t out, in, taps, nScales;
    bool rows; /* [O,..], else [..,O] */
    bool used;
} cli_qdq_layer;

typedef struct cli_qdq {
    cli_qdq_range *ranges;
    cli_qdq_layer *layers;
    uint32_t nRanges, nLayers, rangeRoom, layerRoom;
    bool failed, uint8, int8Io;
    /* the file */
    const uint8_t *data;
    size_t bytes;
    cli_proto raised; /* the file as operator set 13 (opset.h); data is then this */
    nnrt_onnx_model *model;
    int32_t *layerOf; /* per node: its layer, -1: none */
    bool *dropped;    /* per node: folded into a layer */
    nnrt_onnx_str *results; /* per node: output 0, or of the last node that is folded into it */
    cli_proto file;   /* the new one */
} cli_qdq;

static void cli_qdq_free(cli_qdq *q)
{
    for (uint32_t i = 0; i < q->nRanges; i++)
        free(q->ranges[i].name);
    for (uint32_t i = 0; i < q->nLayers; i++) {
        free(q->layers[i].input);
        free(q->layers[i].output);
        free(q->layers[i].codes);
        free(q->layers[i].bias);
        free(q->layers[i].scales);
    }
    free(q->ranges);
    free(q->layers);
    free(q->layerOf);
    free(q->dropped);
    free(q->results);
    free(q->raised.data);
    free(q->file.data);
    nnrt_onnx_model_free(q->model);
    memset(q, 0, sizeof(*q));
}

/* Room for one more entry; NULL: no memory. */
static void *cli_qdq_more(cli_qdq *q, void *list, uint32_t count, uint32_t *room, size_t bytes)
{
    void *grown = list;
    if (count == *room) {
        grown = realloc(list, ((size_t)*room * 2 + 16) * bytes);
        if (grown == NULL)
            q->failed = true;
        else
            *room = *room * 2 + 16;
    }
    return grown;
}

static void *cli_qdq_copy(cli_qdq *q, const void *data, size_t bytes)
{
    void *copy = cli_alloc(bytes, 1);
    if (copy == NULL)
        q->failed = true;
    else if (bytes > 0)
        memcpy(copy, data, bytes);
    return copy;
}

static void cli_qdq_note_range(cli_qdq *q, const nnrt_quantize_range *r)
{
    cli_qdq_range *list = (cli_qdq_range *)cli_qdq_more(q, q->ranges, q->nRanges, &q->rangeRoom, sizeof(*list));
    if (list == NULL)
        return;
    q->ranges = list;
    list[q->nRanges].quant = r->quant;
    list[q->nRanges].name = (char *)cli_qdq_copy(q, r->tensor, strlen(r->tensor) + 1);
    q->nRanges += list[q->nRanges].name != NULL;
}

static void cli_qdq_note_layer(cli_qdq *q, const nnrt_quantize_layer *l)
{
    cli_qdq_layer *list = (cli_qdq_layer *)cli_qdq_more(q, q->layers, q->nLayers, &q->layerRoom, sizeof(*list)), *n;
    size_t count = 1;
    if (list == NULL)
        return;
    q->layers = list;
    n = &list[q->nLayers];
    memset(n, 0, sizeof(*n));
    for (uint32_t k = 0; k < l->dims.count; k++)
        count *= (size_t)l->dims.data[k];
    n->rows = l->axis == 0;
    n->out = l->dims.data[l->axis];
    n->taps = l->dims.count == 4 ? l->dims.data[1] * l->dims.data[2] : 1;
    n->in = (int32_t)(count / ((size_t)n->out * (size_t)n->taps));
    n->nScales = (int32_t)l->params.count;
    n->inputScale = l->inputQuant.scale;
    n->input = (char *)cli_qdq_copy(q, l->input, strlen(l->input) + 1);
    n->output = (char *)cli_qdq_copy(q, l->output, strlen(l->output) + 1);
    n->codes = (int8_t *)cli_qdq_copy(q, l->codes, count);
    n->bias = l->bias != NULL ? (float *)cli_qdq_copy(q, l->bias, (size_t)n->out * sizeof(float)) : NULL;
    n->scales = (float *)cli_alloc((size_t)n->nScales, sizeof(float));
    for (int32_t i = 0; n->scales != NULL && i < n->nScales; i++)
        n->scales[i] = (float)l->params.data[i].scale;
    q->failed = q->failed || n->scales == NULL;
    q->nLayers++;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>match */

/* The range of a value; NULL: none. */
static const cli_qdq_range *cli_qdq_range_of(const cli_qdq *q, nnrt_onnx_str name)
{
    for (uint32_t i = 0; i < q->nRanges; i++)
        if (cli_opset_is(name, q->ranges[i].name))
            return &q->ranges[i];
    return NULL;
}

/* How many nodes read a value, and one of them; an output has readers more. */
static uint32_t cli_qdq_readers(const cli_qdq *q, nnrt_onnx_str name, const nnrt_onnx_node **found)
{
    const nnrt_onnx_graph *g = q->model->graph;
    uint32_t count = 0;
    *found = NULL;
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.data[i].inputs.count; k++)
            if (cli_opset_same(g->nodes.data[i].inputs.data[k], name)) {
                *found = &g->nodes.data[i];
                count++;
            }
    for (size_t i = 0; i < g->outputs.count; i++)
        count += cli_opset_same(g->outputs.data[i].name, name) ? 3 : 0;
    return count;
}

/* The only node that reads a value that is no output; NULL: none, or several. */
static const nnrt_onnx_node *cli_qdq_reader(const cli_qdq *q, nnrt_onnx_str name)
{
    const nnrt_onnx_node *found;
    return cli_qdq_readers(q, name, &found) == 1 ? found : NULL;
}

/* The Mul of a value by its Sigmoid (SiLU), if nothing else reads the two; NULL: there is none. */
static const nnrt_onnx_node *cli_qdq_silu(const cli_qdq *q, nnrt_onnx_str name)
{
    const nnrt_onnx_graph *g = q->model->graph;
    const nnrt_onnx_node *mul = NULL, *last;
    for (size_t i = 0; i < g->nodes.count && mul == NULL; i++)
        if (cli_opset_is(g->nodes.data[i].opType, "Sigmoid") && g->nodes.data[i].inputs.count == 1 &&
            g->nodes.data[i].outputs.count == 1 && cli_opset_same(g->nodes.data[i].inputs.data[0], name))
            mul = cli_qdq_reader(q, g->nodes.data[i].outputs.data[0]);
    return mul != NULL && cli_opset_is(mul->opType, "Mul") && mul->inputs.count == 2 &&
                   (cli_opset_same(mul->inputs.data[0], name) || cli_opset_same(mul->inputs.data[1], name)) &&
                   cli_qdq_readers(q, name, &last) == 2
               ? mul
               : NULL;
}

static const nnrt_onnx_tensor *cli_qdq_initializer(const cli_qdq *q, nnrt_onnx_str name)
{
    for (size_t i = 0; i < q->model->graph->initializers.count; i++)
        if (cli_opset_same(q->model->graph->initializers.data[i].name, name))
            return &q->model->graph->initializers.data[i];
    return NULL;
}

/* Whether the optimizer may fold the node into the weights before it: BatchNormalization, or arithmetic with a constant. */
static bool cli_qdq_folds(const cli_qdq *q, const nnrt_onnx_node *n)
{
    return cli_opset_is(n->opType, "BatchNormalization") ||
           ((cli_opset_is(n->opType, "Add") || cli_opset_is(n->opType, "Sub") || cli_opset_is(n->opType, "Mul") ||
             cli_opset_is(n->opType, "Div")) &&
            n->inputs.count == 2 &&
            (cli_qdq_initializer(q, n->inputs.data[0]) != NULL || cli_qdq_initializer(q, n->inputs.data[1]) != NULL));
}

/* Whether the node may stand between a product and the value that has the layer's name. */
static bool cli_qdq_between(const cli_qdq *q, const nnrt_onnx_node *n)
{
    return cli_qdq_folds(q, n) || cli_opset_is(n->opType, "Relu") || cli_opset_is(n->opType, "Clip") ||
           cli_opset_is(n->opType, "HardSwish");
}

static int64_t cli_qdq_attribute(const nnrt_onnx_node *n, const char *name, int64_t otherwise)
{
    for (size_t i = 0; i < n->attributes.count; i++)
        if (cli_opset_is(n->attributes.data[i].name, name))
            return n->attributes.data[i].i;
    return otherwise;
}

/* Whether the node is a product by an initializer that can be replaced by codes: of MatMul and Gemm without factors. */
static bool cli_qdq_is_product(const cli_qdq *q, const nnrt_onnx_node *n)
{
    const bool gemm = cli_opset_is(n->opType, "Gemm");
    if (!cli_opset_is(n->opType, "Conv") && !gemm && !cli_opset_is(n->opType, "MatMul"))
        return false;
    for (size_t i = 0; i < n->attributes.count && gemm; i++)
        if ((cli_opset_is(n->attributes.data[i].name, "alpha") || cli_opset_is(n->attributes.data[i].name, "beta")) &&
            (n->attributes.data[i].f < 1 || n->attributes.data[i].f > 1))
            return false;
    return n->inputs.count > 1 && n->outputs.count == 1 && cli_qdq_initializer(q, n->inputs.data[1]) != NULL;
}

/* The library has split the activation from a layer: the value OUTPUT_linear is the result of node i. */
static void cli_qdq_name_linear(cli_qdq *q, size_t i, const char *output)
{
    const size_t length = strlen(output);
    for (uint32_t k = 0; k < q->nRanges; k++)
        if (strncmp(q->ranges[k].name, output, length) == 0 && strcmp(q->ranges[k].name + length, "_linear") == 0) {
            char *text = (char *)cli_alloc(q->results[i].length + 1, 1);
            if (text == NULL) {
                q->failed = true;
                return;
            }
            memcpy(text, q->results[i].data, q->results[i].length);
            text[q->results[i].length] = '\0';
            free(q->ranges[k].name);
            q->ranges[k].name = text;
        }
}

/* Gives node i layer k. The folded ones of the nodes behind it are dropped, and node i writes the result of the last
   dropped node. */
static void cli_qdq_take(cli_qdq *q, size_t i, uint32_t k, const nnrt_onnx_node *const *behind, uint32_t count)
{
    q->layerOf[i] = (int32_t)k;
    q->layers[k].used = true;
    for (uint32_t n = 0; n < count; n++)
        if (cli_qdq_folds(q, behind[n])) {
            q->dropped[behind[n] - q->model->graph->nodes.data] = true;
            q->results[i] = behind[n]->outputs.data[0];
        }
    cli_qdq_name_linear(q, i, q->layers[k].output);
}

/* Finds the layer of node i: of the first value behind it, through nodes that the optimizer folds into weights and through
   activations, that has one. */
static void cli_qdq_match(cli_qdq *q, size_t i)
{
    const nnrt_onnx_node *n = &q->model->graph->nodes.data[i], *passed[8];
    nnrt_onnx_str value;
    uint32_t count = 0;
    q->layerOf[i] = -1;
    if (!cli_qdq_is_product(q, n))
        return;
    for (value = n->outputs.data[0];; value = passed[count - 1]->outputs.data[0]) {
        for (uint32_t k = 0; k < q->nLayers && q->layerOf[i] < 0; k++)
            if (!q->layers[k].used && cli_opset_is(value, q->layers[k].output))
                cli_qdq_take(q, i, k, passed, count);
        if (q->layerOf[i] >= 0 || count == 8)
            return;
        passed[count] = cli_qdq_silu(q, value);
        if (passed[count] == NULL &&
            ((passed[count] = cli_qdq_reader(q, value)) == NULL || !cli_qdq_between(q, passed[count])))
            return;
        count++;
    }
}

/* Elements of a weight. */
static double cli_qdq_elements(const nnrt_onnx_tensor *t)
{
    double count = 1;
    for (size_t k = 0; k < t->dims.count; k++)
        count *= (double)t->dims.data[k];
    return count;
}

/* Finds the node of a layer whose activation has several nodes in the file (Gelu, Swish): the only one left with the same
   input and as many weights. BatchNormalization and an Add of a bias belong to it. */
static void cli_qdq_match_rest(cli_qdq *q, uint32_t k)
{
    const nnrt_onnx_graph *g = q->model->graph;
    const cli_qdq_layer *l = &q->layers[k];
    const nnrt_onnx_node *behind[4];
    size_t found = g->nodes.count, matches = 0;
    uint32_t count = 0;
    nnrt_onnx_str value;
    for (size_t i = 0; i < g->nodes.count; i++) {
        const nnrt_onnx_node *n = &g->nodes.data[i];
        if (q->layerOf[i] >= 0 || !cli_qdq_is_product(q, n) || !cli_opset_is(n->inputs.data[0], l->input) ||
            fabs(cli_qdq_elements(cli_qdq_initializer(q, n->inputs.data[1])) - (double)l->out * l->in * l->taps) > 0)
            continue;
        found = i;
        matches++;
    }
    if (matches != 1)
        return;
    for (value = g->nodes.data[found].outputs.data[0]; count < 4; value = behind[count++]->outputs.data[0])
        if ((behind[count] = cli_qdq_reader(q, value)) == NULL || !cli_qdq_folds(q, behind[count]) ||
            !(cli_opset_is(behind[count]->opType, "BatchNormalization") || cli_opset_is(behind[count]->opType, "Add")))
            break;
    cli_qdq_take(q, found, k, behind, count);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nodes */

enum { CLI_QDQ_FLOAT = 1, CLI_QDQ_UINT8 = 2, CLI_QDQ_INT8 = 3, CLI_QDQ_INT32 = 6 }; /* of ONNX */

/* Adds an initializer NAME+SUFFIX. */
static void cli_qdq_tensor(cli_qdq *q, const char *name, const char *suffix, int type, const nnrt_onnx_tensor *like,
                           int64_t count, const void *data, size_t bytes)
{
    const size_t at = cli_proto_begin(&q->file, 5);
    for (size_t i = 0; like != NULL && i < like->dims.count; i++)
        cli_proto_integer(&q->file, 1, like->dims.data[i]);
    if (like == NULL && count > 0)
        cli_proto_integer(&q->file, 1, count);
    cli_proto_integer(&q->file, 2, type);
    cli_proto_text(&q->file, 8, name, suffix);
    cli_proto_bytes(&q->file, 9, data, bytes);
    cli_proto_end(&q->file, at);
}

/* Adds a QuantizeLinear or DequantizeLinear with the scale NAME_q8_scale. zero: NAME_q8_zero is an input, too. axis below
   0: one scale. */
static void cli_qdq_cast(cli_qdq *q, bool quantize, const char *in, const char *inSuffix, const char *out, const char *outSuffix,
                         const char *name, bool zero, int32_t axis)
{
    const size_t at = cli_proto_begin(&q->file, 1);
    cli_proto_text(&q->file, 1, in, inSuffix);
    cli_proto_text(&q->file, 1, name, "_q8_scale");
    if (zero)
        cli_proto_text(&q->file, 1, name, "_q8_zero");
    cli_proto_text(&q->file, 2, out, outSuffix);
    cli_proto_text(&q->file, 4, quantize ? "QuantizeLinear" : "DequantizeLinear", "");
    if (axis >= 0) {
        const size_t attribute = cli_proto_begin(&q->file, 5);
        cli_proto_text(&q->file, 1, "axis", "");
        cli_proto_integer(&q->file, 3, axis);
        cli_proto_integer(&q->file, 20, 2);
        cli_proto_end(&q->file, attribute);
    }
    cli_proto_end(&q->file, at);
}

/* Adds the casts of a value, and their scale and zero point: from NAME+from to NAME+to. */
static void cli_qdq_casts(cli_qdq *q, const cli_qdq_range *r, const char *from, const char *to)
{
    cli_qdq_cast(q, true, r->name, from, r->name, "_q8_quantized", r->name, true, -1);
    cli_qdq_cast(q, false, r->name, "_q8_quantized", r->name, to, r->name, true, -1);
}

static void cli_qdq_constants(cli_qdq *q, const cli_qdq_range *r)
{
    const float scale = (float)r->quant.scale;
    const uint8_t zero = (uint8_t)r->quant.zeroPoint;
    cli_qdq_tensor(q, r->name, "_q8_scale", CLI_QDQ_FLOAT, NULL, 0, &scale, sizeof(scale));
    cli_qdq_tensor(q, r->name, "_q8_zero", q->uint8 ? CLI_QDQ_UINT8 : CLI_QDQ_INT8, NULL, 0, &zero, 1);
}

/* Whether the weights of the node have output channels first. */
static bool cli_qdq_rows(const nnrt_onnx_node *n)
{
    return cli_opset_is(n->opType, "Conv") || cli_qdq_attribute(n, "transB", 0) != 0;
}

/* The code of output o, tap k, input i of a layer. */
static int8_t cli_qdq_code(const cli_qdq_layer *l, int32_t o, int32_t k, int32_t i)
{
    return l->codes[l->rows ? ((ptrdiff_t)o * l->taps + k) * l->in + i : (ptrdiff_t)i * l->out + o];
}

/* Adds the initializers of a layer, in ONNX's order of the weights: NAME is the layer's output. */
static void cli_qdq_weights(cli_qdq *q, const nnrt_onnx_node *n, const cli_qdq_layer *l)
{
    const bool rows = cli_qdq_rows(n);
    const size_t count = (size_t)l->out * (size_t)l->in * (size_t)l->taps;
    int8_t *codes = (int8_t *)cli_alloc(count, 1);
    int32_t *bias = (int32_t *)cli_alloc((size_t)l->out, sizeof(*bias));
    float *scales = (float *)cli_alloc((size_t)l->out, sizeof(*scales));
    if (codes == NULL || bias == NULL || scales == NULL)
        q->failed = true;
    for (int32_t o = 0; o < l->out && !q->failed; o++) {
        const double unit = (double)(float)l->inputScale * (double)l->scales[l->nScales > 1 ? o : 0];
        for (int32_t i = 0; i < l->in; i++)
            for (int32_t k = 0; k < l->taps; k++)
                codes[rows ? ((ptrdiff_t)o * l->in + i) * l->taps + k : (ptrdiff_t)i * l->out + o] = cli_qdq_code(l, o, k, i);
        scales[o] = (float)unit;
        bias[o] = l->bias != NULL ? (int32_t)fmin(fmax(nearbyint((double)l->bias[o] / unit), -2147483647.0), 2147483647.0) : 0;
    }
    if (!q->failed) {
        cli_qdq_tensor(q, l->output, "_q8_weight", CLI_QDQ_INT8, cli_qdq_initializer(q, n->inputs.data[1]), 0, codes, count);
        cli_qdq_tensor(q, l->output, "_q8_weight_q8_scale", CLI_QDQ_FLOAT, NULL, l->nScales > 1 ? l->nScales : 0, l->scales,
                       (size_t)l->nScales * sizeof(float));
    }
    if (!q->failed && l->bias != NULL && cli_opset_is(n->opType, "MatMul")) {
        cli_qdq_tensor(q, l->output, "_q8_b", CLI_QDQ_FLOAT, NULL, l->out, l->bias, (size_t)l->out * sizeof(float));
    } else if (!q->failed && l->bias != NULL) {
        cli_qdq_tensor(q, l->output, "_q8_bias", CLI_QDQ_INT32, NULL, l->out, bias, (size_t)l->out * sizeof(*bias));
        cli_qdq_tensor(q, l->output, "_q8_bias_q8_scale", CLI_QDQ_FLOAT, NULL, l->out, scales, (size_t)l->out * sizeof(*scales));
    }
    free(codes);
    free(bias);
    free(scales);
}

/* The casts of a layer's weights and bias, before its node: NAME_q8_w and NAME_q8_b. */
static void cli_qdq_weight_casts(cli_qdq *q, const nnrt_onnx_node *n, const cli_qdq_layer *l)
{
    char name[512];
    const int length = snprintf(name, sizeof(name), "%s_q8_weight", l->output);
    q->failed = q->failed || length < 0 || (size_t)length >= sizeof(name) - 8;
    cli_qdq_cast(q, false, name, "", l->output, "_q8_w", name, false, l->nScales > 1 ? (cli_qdq_rows(n) ? 0 : 1) : -1);
    snprintf(name, sizeof(name), "%s_q8_bias", l->output);
    if (l->bias != NULL && !cli_opset_is(n->opType, "MatMul"))
        cli_qdq_cast(q, false, name, "", l->output, "_q8_b", name, false, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>write */

static void cli_qdq_name(cli_qdq *q, uint32_t field, nnrt_onnx_str name, const char *suffix)
{
    cli_proto_varint(&q->file, field << 3 | 2);
    cli_proto_varint(&q->file, name.length + strlen(suffix));
    cli_proto_put(&q->file, name.data, name.length);
    cli_proto_put(&q->file, suffix, strlen(suffix));
}

static bool cli_qdq_is_input(const cli_qdq *q, nnrt_onnx_str name)
{
    for (size_t i = 0; i < q->model->graph->inputs.count; i++)
        if (cli_opset_same(q->model->graph->inputs.data[i].name, name))
            return true;
    return false;
}

static bool cli_qdq_is_output(const cli_qdq *q, nnrt_onnx_str name)
{
    for (size_t i = 0; i < q->model->graph->outputs.count; i++)
        if (cli_opset_same(q->model->graph->outputs.data[i].name, name))
            return true;
    return false;
}

/* Whether a node still reads a value. */
static bool cli_qdq_is_read(const cli_qdq *q, nnrt_onnx_str name)
{
    const nnrt_onnx_nodes *nodes = &q->model->graph->nodes;
    for (size_t i = 0; i < nodes->count; i++)
        for (size_t k = q->dropped[i] ? nodes->data[i].inputs.count : 0; k < nodes->data[i].inputs.count; k++)
            if (cli_opset_same(nodes->data[i].inputs.data[k], name) && (q->layerOf[i] < 0 || k == 0))
                return true;
    return false;
}

/* Whether the file still needs an initializer. */
static bool cli_qdq_needed(const cli_qdq *q, nnrt_onnx_str name)
{
    return cli_qdq_is_read(q, name) || cli_qdq_is_output(q, name);
}

/* Whether the value is an input or output of the model, and its codes are that. */
static bool cli_qdq_is_codes(const cli_qdq *q, nnrt_onnx_str name)
{
    return q->int8Io && cli_qdq_range_of(q, name) != NULL && (cli_qdq_is_input(q, name) || cli_qdq_is_output(q, name));
}

/* Input k of node i. */
static void cli_qdq_input(cli_qdq *q, size_t i, size_t k, const cli_qdq_layer *l)
{
    const nnrt_onnx_str name = q->model->graph->nodes.data[i].inputs.data[k];
    const bool codes = cli_qdq_is_codes(q, name) || (cli_qdq_range_of(q, name) != NULL && cli_qdq_is_input(q, name));
    if (l != NULL && k == 1)
        cli_proto_text(&q->file, 1, l->output, "_q8_w");
    else if (l == NULL || k == 0)
        cli_qdq_name(q, 1, name, codes && name.length > 0 ? "_q8_dequantized" : "");
}

/* Node i with its inputs and outputs replaced; other fields as they are in `field`. */
static void cli_qdq_rewrite(cli_qdq *q, size_t i, const cli_proto_field *field)
{
    const nnrt_onnx_node *n = &q->model->graph->nodes.data[i];
    const cli_qdq_layer *l = q->layerOf[i] >= 0 ? &q->layers[q->layerOf[i]] : NULL;
    const bool sum = l != NULL && l->bias != NULL && cli_opset_is(n->opType, "MatMul"); /* its bias is a node */
    const size_t at = cli_proto_begin(&q->file, 1);
    const uint8_t *from = field->data, *end = field->data + field->bytes;
    cli_proto_field f;
    for (size_t k = 0; k < n->inputs.count; k++)
        cli_qdq_input(q, i, k, l);
    if (l != NULL && l->bias != NULL && !sum)
        cli_proto_text(&q->file, 1, l->output, "_q8_b");
    for (size_t k = 0; k < n->outputs.count; k++) {
        const nnrt_onnx_str name = k == 0 ? q->results[i] : n->outputs.data[k];
        cli_qdq_name(q, 2, name, sum ? "_q8_product" : cli_qdq_range_of(q, name) != NULL && name.length > 0 ? "_q8_float" : "");
    }
    while (cli_proto_next(&from, end, &f))
        if (f.number != 1 && f.number != 2)
            cli_proto_put(&q->file, f.all, f.allBytes);
    cli_proto_end(&q->file, at);
}

/* The Add of the bias of a MatMul, whose result is `name`. */
static void cli_qdq_sum(cli_qdq *q, const cli_qdq_layer *l, nnrt_onnx_str name)
{
    const size_t at = cli_proto_begin(&q->file, 1);
    cli_qdq_name(q, 1, name, "_q8_product");
    cli_proto_text(&q->file, 1, l->output, "_q8_b");
    cli_qdq_name(q, 2, name, cli_qdq_range_of(q, name) != NULL ? "_q8_float" : "");
    cli_proto_text(&q->file, 4, "Add", "");
    cli_proto_end(&q->file, at);
}

static void cli_qdq_node(cli_qdq *q, size_t i, const cli_proto_field *field)
{
    const nnrt_onnx_node *n = &q->model->graph->nodes.data[i];
    const cli_qdq_layer *l = q->layerOf[i] >= 0 ? &q->layers[q->layerOf[i]] : NULL;
    if (q->dropped[i])
        return;
    if (l != NULL)
        cli_qdq_weight_casts(q, n, l);
    cli_qdq_rewrite(q, i, field);
    if (l != NULL && l->bias != NULL && cli_opset_is(n->opType, "MatMul"))
        cli_qdq_sum(q, l, q->results[i]);
    for (size_t k = 0; k < n->outputs.count; k++) {
        const nnrt_onnx_str name = k == 0 ? q->results[i] : n->outputs.data[k];
        const cli_qdq_range *r = name.length > 0 ? cli_qdq_range_of(q, name) : NULL;
        if (r != NULL && cli_qdq_is_codes(q, name)) {
            cli_qdq_cast(q, true, r->name, "_q8_float", r->name, "", r->name, true, -1);
            if (cli_qdq_is_read(q, name))
                cli_qdq_cast(q, false, r->name, "", r->name, "_q8_dequantized", r->name, true, -1);
        } else if (r != NULL)
            cli_qdq_casts(q, r, "_q8_float", "");
    }
}

/* The name in a ValueInfoProto. */
static nnrt_onnx_str cli_qdq_value_name(const cli_proto_field *value)
{
    const uint8_t *from = value->data, *end = from + value->bytes;
    nnrt_onnx_str name = {NULL, 0};
    cli_proto_field f;
    while (cli_proto_next(&from, end, &f))
        if (f.number == 1) {
            name.data = (const char *)f.data;
            name.length = f.bytes;
        }
    return name;
}

/* Copies a ValueInfoProto (depth 0) with 8 bits as its element type, which is field 1 of its field 2.1. */
static void cli_qdq_retype(cli_qdq *q, uint32_t number, const cli_proto_field *message, uint32_t depth)
{
    static const uint32_t path[3] = {2, 1, 1};
    const size_t at = cli_proto_begin(&q->file, number);
    const uint8_t *from = message->data, *end = from + message->bytes;
    cli_proto_field f;
    while (cli_proto_next(&from, end, &f))
        if (f.number != path[depth])
            cli_proto_put(&q->file, f.all, f.allBytes);
        else if (depth == 2)
            cli_proto_integer(&q->file, 1, q->uint8 ? CLI_QDQ_UINT8 : CLI_QDQ_INT8);
        else
            cli_qdq_retype(q, f.number, &f, depth + 1);
    cli_proto_end(&q->file, at);
}

/* An input, output or value of the graph. Old files list initializers as inputs, too. */
static void cli_qdq_value(cli_qdq *q, const cli_proto_field *f)
{
    const nnrt_onnx_str name = cli_qdq_value_name(f);
    if (cli_qdq_is_codes(q, name))
        cli_qdq_retype(q, f->number, f, 0);
    else if (f->number != 11 || cli_qdq_initializer(q, name) == NULL || cli_qdq_needed(q, name))
        cli_proto_put(&q->file, f->all, f->allBytes);
}

/* The casts of the inputs. */
static void cli_qdq_input_casts(cli_qdq *q)
{
    const nnrt_onnx_value_infos *inputs = &q->model->graph->inputs;
    for (uint32_t i = 0; i < q->nRanges; i++)
        for (size_t k = 0; k < inputs->count; k++)
            if (!cli_opset_is(inputs->data[k].name, q->ranges[i].name))
                continue;
            else if (q->int8Io)
                cli_qdq_cast(q, false, q->ranges[i].name, "", q->ranges[i].name, "_q8_dequantized", q->ranges[i].name, true, -1);
            else
                cli_qdq_casts(q, &q->ranges[i], "", "_q8_dequantized");
}

/* The graph: nodes first, each behind the casts that it reads; then all else. */
static void cli_qdq_graph(cli_qdq *q, const cli_proto_field *graph)
{
    const nnrt_onnx_graph *g = q->model->graph;
    const uint8_t *at = graph->data, *end = graph->data + graph->bytes;
    size_t node = 0, initializer = 0;
    cli_proto_field f;
    cli_qdq_input_casts(q);
    while (cli_proto_next(&at, end, &f)) {
        if (f.number == 1 && node < g->nodes.count)
            cli_qdq_node(q, node++, &f);
        else if (f.number == 5 && initializer < g->initializers.count) {
            if (cli_qdq_needed(q, g->initializers.data[initializer++].name))
                cli_proto_put(&q->file, f.all, f.allBytes);
        } else if (f.number == 11 || f.number == 12 || f.number == 13)
            cli_qdq_value(q, &f);
        else
            cli_proto_put(&q->file, f.all, f.allBytes);
    }
    for (uint32_t i = 0; i < q->nRanges; i++)
        cli_qdq_constants(q, &q->ranges[i]);
    for (size_t i = 0; i < g->nodes.count; i++)
        if (q->layerOf[i] >= 0)
            cli_qdq_weights(q, &g->nodes.data[i], &q->layers[q->layerOf[i]]);
}

/* Removes the ranges of values that the file does not have: the importer made them. */
static void cli_qdq_known(cli_qdq *q)
{
    const nnrt_onnx_graph *g = q->model->graph;
    uint32_t kept = 0;
    for (uint32_t r = 0; r < q->nRanges; r++) {
        bool found = false;
        for (size_t i = 0; i < g->inputs.count && !found; i++)
            found = cli_opset_is(g->inputs.data[i].name, q->ranges[r].name);
        for (size_t i = 0; i < g->nodes.count && !found; i++)
            for (size_t k = 0; k < g->nodes.data[i].outputs.count && !found && !q->dropped[i]; k++)
                found = cli_opset_is(k == 0 ? q->results[i] : g->nodes.data[i].outputs.data[k], q->ranges[r].name);
        if (found && *q->ranges[r].name != '\0')
            q->ranges[kept++] = q->ranges[r];
        else
            free(q->ranges[r].name);
    }
    q->nRanges = kept;
}

/* Whether a name could be one of the new ones. */
static bool cli_qdq_collides(nnrt_onnx_str name)
{
    for (size_t i = 0; i + 4 <= name.length; i++)
        if (memcmp((const char *)name.data + i, "_q8_", 4) == 0 ||
            (i + 9 <= name.length && memcmp((const char *)name.data + i, "_opset13_", 9) == 0))
            return true;
    return false;
}

/* Why the file cannot be rewritten; NULL: it can. */
static const char *cli_qdq_refused(const cli_qdq *q)
{
    const nnrt_onnx_graph *g = q->model->graph;
    for (size_t i = 0; i < g->initializers.count; i++)
        if (g->initializers.data[i].dataLocation == 1)
            return "it has external data";
        else if (cli_qdq_collides(g->initializers.data[i].name))
            return "it has names with _q8_ or _opset13_, as new values get";
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.data[i].attributes.count; k++)
            if (g->nodes.data[i].attributes.data[k].type == 5)
                return "it has control flow";
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.data[i].outputs.count; k++)
            if (cli_qdq_collides(g->nodes.data[i].outputs.data[k]))
                return "it has names with _q8_ or _opset13_, as new values get";
    return cli_opset_refused(q->model);
}

/* Finds the node of each layer. */
static int cli_qdq_match_all(cli_qdq *q, const char *path)
{
    const nnrt_onnx_nodes *nodes = &q->model->graph->nodes;
    q->layerOf = (int32_t *)cli_alloc(nodes->count, sizeof(*q->layerOf));
    q->dropped = (bool *)cli_alloc(nodes->count, sizeof(*q->dropped));
    q->results = (nnrt_onnx_str *)cli_alloc(nodes->count, sizeof(*q->results));
    if (q->layerOf == NULL || q->dropped == NULL || q->results == NULL)
        return CLI_FAILED;
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->data[i].outputs.count > 0)
            q->results[i] = nodes->data[i].outputs.data[0];
    for (size_t i = 0; i < nodes->count; i++)
        cli_qdq_match(q, i);
    for (uint32_t k = 0; k < q->nLayers; k++)
        if (!q->layers[k].used)
            cli_qdq_match_rest(q, k);
    for (uint32_t k = 0; k < q->nLayers; k++)
        if (!q->layers[k].used)
            return cli_fail("cannot write %s as ONNX: no node with the weights of '%s' was found; write a .nnrt file", path,
                            q->layers[k].output);
    cli_qdq_known(q);
    return CLI_DONE;
}

/* Notes the inputs or outputs that stay float32 with --int8-io; returns how many are codes. */
static uint32_t cli_qdq_note_io(const cli_qdq *q, const nnrt_onnx_value_infos *values, const char *kind)
{
    uint32_t codes = 0;
    for (size_t i = 0; i < values->count; i++) {
        const nnrt_onnx_str name = values->data[i].name;
        if (cli_qdq_is_codes(q, name))
            codes++;
        else if (values->data[i].elemType == CLI_QDQ_FLOAT && cli_qdq_initializer(q, name) == NULL)
            cli_note("--int8-io: %s '%.*s' stays float32: no quantized operator %s it", kind, (int)name.length,
                     name.data, *kind == 'i' ? "reads" : "writes");
    }
    return codes;
}

/* Metadata of nnrt for inputs of codes: images are quantized. */
static void cli_qdq_metadata(cli_qdq *q)
{
    const nnrt_onnx_value_infos *inputs = &q->model->graph->inputs;
    for (size_t i = 0; i < inputs->count; i++)
        if (cli_qdq_is_codes(q, inputs->data[i].name)) {
            const size_t at = cli_proto_begin(&q->file, 14), key = cli_proto_begin(&q->file, 1);
            cli_proto_put(&q->file, "input.", 6);
            cli_proto_put(&q->file, inputs->data[i].name.data, inputs->data[i].name.length);
            cli_proto_put(&q->file, ".quantize", 9);
            cli_proto_end(&q->file, key);
            cli_proto_text(&q->file, 2, "yes", "");
            cli_proto_end(&q->file, at);
        }
}

/* Writes the model to q->file; q->int8Io: inputs and outputs are codes. */
static int cli_qdq_write(cli_qdq *q, const char *path)
{
    const uint8_t *at = q->data, *end = q->data + q->bytes;
    cli_proto_field f;
    q->file.size = 0;
    while (cli_proto_next(&at, end, &f))
        if (f.number == 7) {
            const size_t graph = cli_proto_begin(&q->file, 7);
            cli_qdq_graph(q, &f);
            cli_proto_end(&q->file, graph);
        } else {
            cli_proto_put(&q->file, f.all, f.allBytes);
        }
    cli_qdq_metadata(q);
    return q->failed || q->file.failed ? cli_fail("out of memory: cannot write %s as ONNX", path) : CLI_DONE;
}

static int cli_qdq_parse(cli_qdq *q, const char *path)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    return nnrt_onnx_parse(q->data, q->bytes, NULL, &q->model, &error) == NNRT_SUCCESS
               ? CLI_DONE
               : cli_fail("cannot read %s: %s", path, error.message);
}

/* Makes operator set 13 of the file, and initializers of its constants. */
static int cli_qdq_raise(cli_qdq *q, const char *path)
{
    cli_opset_raise(&q->raised, q->model, q->data, q->bytes);
    nnrt_onnx_model_free(q->model);
    q->model = NULL;
    if (q->raised.failed)
        return cli_fail("out of memory: cannot write %s as ONNX", path);
    q->data = q->raised.data;
    q->bytes = q->raised.size;
    return cli_qdq_parse(q, path);
}

/* Writes the file data, bytes in QDQ form to q->file, with float32 inputs and outputs. */
static int cli_qdq_make(cli_qdq *q, const char *path)
{
    const char *why;
    int status = cli_qdq_parse(q, path);
    if (status != CLI_DONE)
        return status;
    if ((why = cli_qdq_refused(q)) != NULL)
        return cli_fail("cannot write %s as ONNX: %s; write a .nnrt file", path, why);
    status = cli_qdq_raise(q, path);
    if (status == CLI_DONE)
        status = cli_qdq_match_all(q, path);
    return status == CLI_DONE ? cli_qdq_write(q, path) : status;
}

/* Writes the file of cli_qdq_make again, with 8-bit inputs and outputs. */
static int cli_qdq_make_int8_io(cli_qdq *q, const char *path)
{
    q->int8Io = true;
    if (cli_qdq_note_io(q, &q->model->graph->inputs, "input") + cli_qdq_note_io(q, &q->model->graph->outputs, "output") == 0)
        return cli_fail("--int8-io: all inputs and outputs of %s stay float32", path);
    return cli_qdq_write(q, path);
}

#endif /* NNRT_TOOL_QDQ_H */
