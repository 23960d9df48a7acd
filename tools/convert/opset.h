/*
opset.h - an ONNX file of operator set 7 to 12 as one of operator set 13, the first one with scales for each channel.
Part of tools/nnrt.c.

Differences between these operator sets (the changelog of ONNX's operators):
- attributes became inputs (cli_opset_moved);
- Upsample and Resize of operator set 10 are Resize with asymmetric coordinates, whose nearest element is that below;
- Scatter is ScatterElements;
- Softmax, LogSoftmax and Hardmax worked on x as a matrix, [product of the axes before axis, product of the others]:
  Flatten is before them, and Reshape behind them, unless axis is the last one;
- initializers need not be inputs. In files that had to list them (IR version 3), they are removed from the inputs, because
  an input with an initializer is a value that the caller may replace.
A Constant becomes an initializer, in files of all operator sets: quantization replaces initializers.
*/
#ifndef NNRT_TOOL_OPSET_H
#define NNRT_TOOL_OPSET_H

#include "../../formats/nnrt_onnx.h"
#include "proto.h"

enum { CLI_OPSET = 13, CLI_OPSET_IR = 7 };

/* An attribute that is an input from operator set `from` on; input 0: it has no effect in inference and is left out. */
typedef struct cli_opset_move {
    const char *op, *attribute;
    int32_t from, input;
} cli_opset_move;

static const cli_opset_move cli_opset_moved[] = {
    {"BatchNormalization", "spatial", 9, 0},
    {"Clip", "min", 11, 1},
    {"Clip", "max", 11, 2},
    {"Dropout", "ratio", 12, 0},
    {"Pad", "pads", 11, 1},
    {"Pad", "value", 11, 2},
    {"ReduceSum", "axes", 13, 1},
    {"Slice", "starts", 10, 1},
    {"Slice", "ends", 10, 2},
    {"Slice", "axes", 10, 3},
    {"Split", "split", 13, 1},
    {"Squeeze", "axes", 13, 1},
    {"TopK", "k", 10, 1},
    {"Unsqueeze", "axes", 13, 1},
    {"Upsample", "scales", 9, 2},
};
enum { CLI_OPSET_MOVED = sizeof(cli_opset_moved) / sizeof(*cli_opset_moved), CLI_OPSET_INPUTS = 4 };

/* The file that is written. */
typedef struct cli_opset {
    cli_proto *file;
    const nnrt_onnx_model *model;
    int64_t version; /* of the file that is read */
} cli_opset;

static bool cli_opset_is(nnrt_onnx_str s, const char *text)
{
    return s.length == strlen(text) && (s.length == 0 || memcmp(s.data, text, s.length) == 0);
}

static bool cli_opset_same(nnrt_onnx_str a, nnrt_onnx_str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* Whether a domain is that of ONNX's own operators. */
static bool cli_opset_is_own(nnrt_onnx_str domain)
{
    return domain.length == 0 || cli_opset_is(domain, "ai.onnx");
}

/* The version of ONNX's own operators, 1 if the file names none. */
static int64_t cli_opset_version(const nnrt_onnx_model *m)
{
    int64_t version = 1;
    for (size_t i = 0; i < m->opsetImport.count; i++)
        if (cli_opset_is_own(m->opsetImport.data[i].domain))
            version = m->opsetImport.data[i].version;
    return version;
}

static const nnrt_onnx_attribute *cli_opset_attribute(const nnrt_onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->attributes.count; i++)
        if (cli_opset_is(n->attributes.data[i].name, name))
            return &n->attributes.data[i];
    return NULL;
}

/* The tensor of a Constant that can be an initializer; NULL: it has none. */
static const nnrt_onnx_tensor *cli_opset_constant(const nnrt_onnx_node *n)
{
    const nnrt_onnx_attribute *value = cli_opset_is(n->opType, "Constant") && cli_opset_is_own(n->domain) && n->outputs.count == 1
                                           ? cli_opset_attribute(n, "value")
                                           : NULL;
    return value != NULL && value->t != NULL && value->t->dataLocation == 0 ? value->t : NULL;
}

/* The move of an attribute of the node; NULL: it stays. */
static const cli_opset_move *cli_opset_move_of(const cli_opset *o, const nnrt_onnx_node *n, nnrt_onnx_str attribute)
{
    for (size_t i = 0; i < CLI_OPSET_MOVED && cli_opset_is_own(n->domain); i++)
        if (o->version < cli_opset_moved[i].from && cli_opset_is(n->opType, cli_opset_moved[i].op) &&
            cli_opset_is(attribute, cli_opset_moved[i].attribute))
            return &cli_opset_moved[i];
    return NULL;
}

/* Why the file cannot be raised; NULL: it can. */
static const char *cli_opset_refused(const nnrt_onnx_model *m)
{
    const nnrt_onnx_nodes *nodes = &m->graph->nodes;
    if (cli_opset_version(m) < 7)
        return "its operator set is below 7, whose operators broadcast in another way";
    for (size_t i = 0; i < nodes->count; i++) {
        const nnrt_onnx_attribute *spatial = cli_opset_attribute(&nodes->data[i], "spatial");
        if (spatial != NULL && spatial->i == 0 && cli_opset_is(nodes->data[i].opType, "BatchNormalization"))
            return "it has a BatchNormalization of single elements (spatial=0), which operator set 13 lacks";
    }
    return NULL;
}

/* ---- nodes ---- */

static void cli_opset_name(cli_opset *o, uint32_t field, nnrt_onnx_str name, const char *a, const char *b)
{
    cli_proto_varint(o->file, field << 3 | 2);
    cli_proto_varint(o->file, name.length + strlen(a) + strlen(b));
    cli_proto_put(o->file, name.data, name.length);
    cli_proto_put(o->file, a, strlen(a));
    cli_proto_put(o->file, b, strlen(b));
}

static void cli_opset_set(cli_opset *o, const char *name, const char *text, int64_t value)
{
    const size_t at = cli_proto_begin(o->file, 5);
    cli_proto_text(o->file, 1, name, "");
    if (text != NULL)
        cli_proto_text(o->file, 4, text, "");
    else
        cli_proto_integer(o->file, 3, value);
    cli_proto_integer(o->file, 20, text != NULL ? 3 : 2);
    cli_proto_end(o->file, at);
}

static void cli_opset_float(cli_opset *o, uint32_t field, float value)
{
    uint32_t bits;
    uint8_t bytes[4];
    memcpy(&bits, &value, sizeof(bits));
    for (int k = 0; k < 4; k++)
        bytes[k] = (uint8_t)(bits >> 8 * k);
    cli_proto_varint(o->file, field << 3 | 5);
    cli_proto_put(o->file, bytes, sizeof(bytes));
}

/* The value of a moved attribute as the initializer OUTPUT_opset13_ATTRIBUTE: floats of Upsample and integers are lists,
   also the one of TopK; a float is a scalar. */
static void cli_opset_value(cli_opset *o, const nnrt_onnx_node *n, const nnrt_onnx_attribute *a, const char *name)
{
    const size_t at = cli_proto_begin(o->file, 5);
    const bool real = a->type == 1 || a->type == 6, one = a->type == 1 || a->type == 2; /* FLOAT, FLOATS, INT */
    const size_t count = one ? 1 : real ? a->floats.count : a->ints.count;
    if (a->type != 1)
        cli_proto_integer(o->file, 1, (int64_t)count);
    cli_proto_integer(o->file, 2, real ? 1 : 7); /* FLOAT, INT64 */
    cli_opset_name(o, 8, n->outputs.data[0], "_opset13_", name);
    for (size_t k = 0; k < count; k++)
        if (real)
            cli_opset_float(o, 4, one ? a->f : a->floats.data[k]);
        else
            cli_proto_integer(o->file, 7, one ? a->i : a->ints.data[k]);
    cli_proto_end(o->file, at);
}

/* The inputs of a node: its inputs in the file, and the attributes that are inputs now. */
static void cli_opset_inputs(cli_opset *o, const nnrt_onnx_node *n, bool scales)
{
    const char *moved[CLI_OPSET_INPUTS] = {NULL};
    size_t count = n->inputs.count;
    for (size_t i = 0; i < n->attributes.count; i++) {
        const cli_opset_move *move = cli_opset_move_of(o, n, n->attributes.data[i].name);
        if (move == NULL || move->input == 0)
            continue;
        moved[move->input] = move->attribute;
        count = count > (size_t)move->input ? count : (size_t)move->input + 1;
    }
    for (size_t k = 0; k < count; k++) {
        if (k == 1 && scales)
            cli_proto_text(o->file, 1, "", ""); /* roi */
        if (k < CLI_OPSET_INPUTS && moved[k] != NULL)
            cli_opset_name(o, 1, n->outputs.data[0], "_opset13_", moved[k]);
        else if (k < n->inputs.count)
            cli_opset_name(o, 1, n->inputs.data[k], "", "");
        else
            cli_proto_text(o->file, 1, "", "");
    }
}

/* A node of operator set 13 with one input more or less, or another name; other fields as they are in `field`. */
static void cli_opset_rewrite(cli_opset *o, const nnrt_onnx_node *n, const cli_proto_field *field)
{
    const bool upsample = cli_opset_is(n->opType, "Upsample"), scatter = cli_opset_is(n->opType, "Scatter");
    const bool resize = upsample || (o->version < 11 && cli_opset_is(n->opType, "Resize"));
    const size_t at = cli_proto_begin(o->file, 1);
    const uint8_t *from = field->data, *end = field->data + field->bytes;
    size_t attribute = 0;
    cli_proto_field f;
    cli_opset_inputs(o, n, resize && n->inputs.count > 1);
    while (cli_proto_next(&from, end, &f))
        if (f.number == 5 && attribute < n->attributes.count) {
            if (cli_opset_move_of(o, n, n->attributes.data[attribute++].name) == NULL)
                cli_proto_put(o->file, f.all, f.allBytes);
        } else if (f.number == 4 && (upsample || scatter))
            cli_proto_text(o->file, 4, upsample ? "Resize" : "ScatterElements", "");
        else if (f.number != 1)
            cli_proto_put(o->file, f.all, f.allBytes);
    if (resize) {
        cli_opset_set(o, "coordinate_transformation_mode", "asymmetric", 0);
        cli_opset_set(o, "nearest_mode", "floor", 0);
    }
    cli_proto_end(o->file, at);
    for (size_t i = 0; i < n->attributes.count; i++) {
        const cli_opset_move *move = cli_opset_move_of(o, n, n->attributes.data[i].name);
        if (move != NULL && move->input > 0)
            cli_opset_value(o, n, &n->attributes.data[i], move->attribute);
    }
}

/* The rank of a value that the file states; -1: it does not. */
static int64_t cli_opset_rank(const cli_opset *o, nnrt_onnx_str name)
{
    const nnrt_onnx_graph *g = o->model->graph;
    const nnrt_onnx_value_infos *lists[3];
    lists[0] = &g->inputs;
    lists[1] = &g->outputs;
    lists[2] = &g->valueInfo;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            if (lists[k]->data[i].hasShape && cli_opset_same(lists[k]->data[i].name, name))
                return (int64_t)lists[k]->data[i].dims.count;
    return -1;
}

/* Adds a node of one output, Y+to; b: NULL, or the suffix of input 1, a value beside Y. axis INT64_MIN: no attribute. */
static void cli_opset_node(cli_opset *o, nnrt_onnx_str op, nnrt_onnx_str x, const char *a, nnrt_onnx_str y, const char *b,
                           const char *to, int64_t axis)
{
    const size_t at = cli_proto_begin(o->file, 1);
    cli_opset_name(o, 1, x, a, "");
    if (b != NULL)
        cli_opset_name(o, 1, y, b, "");
    cli_opset_name(o, 2, y, to, "");
    cli_opset_name(o, 4, op, "", "");
    if (axis != INT64_MIN)
        cli_opset_set(o, "axis", NULL, axis);
    cli_proto_end(o->file, at);
}

/* Softmax, LogSoftmax or Hardmax over all axes from `axis` on. */
static void cli_opset_softmax(cli_opset *o, const nnrt_onnx_node *n)
{
    static const nnrt_onnx_str shape = {"Shape", 5}, flatten = {"Flatten", 7}, reshape = {"Reshape", 7};
    const nnrt_onnx_attribute *given = cli_opset_attribute(n, "axis");
    const nnrt_onnx_str x = n->inputs.data[0], y = n->outputs.data[0];
    const int64_t axis = given != NULL ? given->i : 1;
    int64_t rank = cli_opset_rank(o, x);
    rank = rank < 0 ? cli_opset_rank(o, y) : rank;
    if (axis == -1 || (rank > 0 && axis == rank - 1)) {
        cli_opset_node(o, n->opType, x, "", y, NULL, "", -1);
        return;
    }
    cli_opset_node(o, shape, x, "", y, NULL, "_opset13_shape", INT64_MIN);
    cli_opset_node(o, flatten, x, "", y, NULL, "_opset13_rows", axis);
    cli_opset_node(o, n->opType, y, "_opset13_rows", y, NULL, "_opset13_results", -1);
    cli_opset_node(o, reshape, y, "_opset13_results", y, "_opset13_shape", "", INT64_MIN);
}

/* A Constant as an initializer: the tensor in its attribute `value`, with the name of its output. */
static void cli_opset_initializer(cli_opset *o, const nnrt_onnx_node *n, const cli_proto_field *node)
{
    const nnrt_onnx_attribute *value = cli_opset_attribute(n, "value");
    const size_t at = cli_proto_begin(o->file, 5);
    const uint8_t *from = node->data, *end = node->data + node->bytes;
    size_t attribute = 0;
    cli_proto_field f, t, part;
    while (cli_proto_next(&from, end, &f)) {
        const uint8_t *inside = f.data;
        if (f.number != 5 || &n->attributes.data[attribute++] != value)
            continue;
        while (cli_proto_next(&inside, f.data + f.bytes, &t)) {
            const uint8_t *tensor = t.data;
            while (t.number == 5 && cli_proto_next(&tensor, t.data + t.bytes, &part))
                if (part.number != 8)
                    cli_proto_put(o->file, part.all, part.allBytes);
        }
    }
    cli_opset_name(o, 8, n->outputs.data[0], "", "");
    cli_proto_end(o->file, at);
}

/* A node, which may become several nodes, or an initializer. */
static void cli_opset_raise_node(cli_opset *o, const nnrt_onnx_node *n, const cli_proto_field *field)
{
    const bool old = cli_opset_is_own(n->domain) && n->outputs.count > 0 && o->version < CLI_OPSET;
    if (cli_opset_constant(n) != NULL)
        cli_opset_initializer(o, n, field);
    else if (old && n->inputs.count == 1 &&
             (cli_opset_is(n->opType, "Softmax") || cli_opset_is(n->opType, "LogSoftmax") || cli_opset_is(n->opType, "Hardmax")))
        cli_opset_softmax(o, n);
    else if (old)
        cli_opset_rewrite(o, n, field);
    else
        cli_proto_put(o->file, field->all, field->allBytes);
}

/* ---- the file ---- */

/* Whether an input of the graph is an initializer that had to be listed. */
static bool cli_opset_listed(const cli_opset *o, size_t input)
{
    const nnrt_onnx_graph *g = o->model->graph;
    for (size_t i = 0; i < g->initializers.count && o->model->irVersion < 4; i++)
        if (cli_opset_same(g->initializers.data[i].name, g->inputs.data[input].name))
            return true;
    return false;
}

static void cli_opset_graph(cli_opset *o, const cli_proto_field *graph)
{
    const nnrt_onnx_graph *g = o->model->graph;
    const size_t at = cli_proto_begin(o->file, 7);
    const uint8_t *from = graph->data, *end = graph->data + graph->bytes;
    size_t node = 0, input = 0;
    cli_proto_field f;
    while (cli_proto_next(&from, end, &f))
        if (f.number == 1 && node < g->nodes.count)
            cli_opset_raise_node(o, &g->nodes.data[node++], &f);
        else if (f.number != 11 || input >= g->inputs.count || !cli_opset_listed(o, input++))
            cli_proto_put(o->file, f.all, f.allBytes);
    cli_proto_end(o->file, at);
}

/* Writes the model of `bytes` bytes, which nnrt_onnx_parse made m of and cli_opset_refused accepts. */
static void cli_opset_raise(cli_proto *file, const nnrt_onnx_model *m, const uint8_t *data, size_t bytes)
{
    const uint8_t *from = data, *end = data + bytes;
    cli_opset o;
    cli_proto_field f;
    o.file = file;
    o.model = m;
    o.version = cli_opset_version(m);
    cli_proto_integer(file, 1, m->irVersion > CLI_OPSET_IR ? m->irVersion : CLI_OPSET_IR);
    while (cli_proto_next(&from, end, &f))
        if (f.number == 7)
            cli_opset_graph(&o, &f);
        else if (f.number != 1 && f.number != 8)
            cli_proto_put(file, f.all, f.allBytes);
    for (size_t i = 0; i < m->opsetImport.count; i++) {
        const nnrt_onnx_opset *set = &m->opsetImport.data[i];
        const size_t at = cli_proto_begin(file, 8);
        cli_opset_name(&o, 1, set->domain, "", "");
        cli_proto_integer(file, 2, cli_opset_is_own(set->domain) && set->version < CLI_OPSET ? CLI_OPSET : set->version);
        cli_proto_end(file, at);
    }
}

#endif /* NNRT_TOOL_OPSET_H */
