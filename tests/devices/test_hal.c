/* Models as data, their validation, shape inference, the plan, the reference device, the registry and the device tables of
   nnrt_hal.h. Expected values are computed by hand, or by the small interpreter in this file, which shares no code with the
   library. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

extern bool heap_shut; /* the library's heap: tests/kit/nnrt.c */

#include "inside.h"

#include "nnrt_hal.h"

#include "devices/nnrt_auto.h"

#include "kit.h"

static const NNRT_DivFusion plain_div = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};

static void config_init(NNRT_ModelConfig *config, nnrt_error *error)
{
    memset(config, 0, sizeof(*config));
    if (error != NULL)
        memset(error, 0, sizeof(*error));
    config->error = error;
}

static nnrt_device *reference(void)
{
    return nnrt_device_find("reference");
}

static nnrt_device *automatic(void)
{
    return nnrt_device_find("auto");
}

static NNRT_IOTensor io_of(NNRT_DataType type, const int32_t *dims, uint32_t rank, void *data, size_t bytes)
{
    NNRT_IOTensor io;
    memset(&io, 0, sizeof(io));
    io.name = "";
    io.dataType = type;
    io.dimensions.data = dims;
    io.dimensions.count = rank;
    io.format = NNRT_FORMAT_NONE;
    io.data.fd = -1;
    io.data.addr = data;
    io.data.bufferSize = io.data.dataSize = (uint32_t)bytes;
    return io;
}

/* ---- one fault at a time ---- */

static const float three[4] = {10, 20, 30, 40};

/* x [2,3] + c [3] -> a; relu(a) -> y */
static void graph_sound(graph *g)
{
    graph_init(g);
    (void)tensor(g, "x", F32, "2,3");
    (void)constant(g, "c", F32, "3", three, 12);
    (void)tensor(g, "a", F32, "2,3");
    (void)tensor(g, "y", F32, "2,3");
    ADD(g, "sum", "0 1", "2");
    ACTIVATION(g, "act", relu, "2", "3");
    graph_io(g, "0", "3");
}

typedef struct fault {
    const char *name;
    void (*spoil)(graph *g, NNRT_ModelConfig *c);
    NNRT_ReturnCode code;
    int32_t node, tensor; /* that the error must name, -1 = none */
    const char *says[4];  /* that the message must contain */
} fault;

#define SPOIL(name, ...)                                                                                               \
    static void spoil_##name(graph *g, NNRT_ModelConfig *c)                                                            \
    {                                                                                                                  \
        (void)g;                                                                                                       \
        (void)c;                                                                                                       \
        __VA_ARGS__                                                                                                    \
    }

/* Lists. They are looked at in the order 18, 31, 19, 20, 21: all empty, then one more filled each time. A model may have no
   inputs. */
static void empty_from(graph *g, int32_t kept)
{
    g->model.allTensors.count = kept > 0 ? g->model.allTensors.count : 0;
    g->model.subGraph.count = kept > 1 ? 1 : 0;
    g->model.nodes.count = kept > 2 ? g->model.nodes.count : 0;
    g->model.inputIndex.count = kept > 3 ? g->model.inputIndex.count : 0;
    g->model.outputIndex.count = 0;
}
SPOIL(all_empty, empty_from(g, 0);)
SPOIL(empty_but_tensors, empty_from(g, 1);)
SPOIL(empty_but_subgraph, empty_from(g, 2);)
SPOIL(empty_but_nodes, empty_from(g, 3);)
SPOIL(empty_outputs, empty_from(g, 4);)
SPOIL(tensors_null, g->model.allTensors.data = NULL;)
SPOIL(subgraph_null, g->model.subGraph.data = NULL;)
SPOIL(nodes_null, g->model.nodes.data = NULL;)
SPOIL(inputs_null, g->model.inputIndex.data = NULL;)
SPOIL(outputs_null, g->model.outputIndex.data = NULL;)
SPOIL(tensors_huge, g->model.allTensors.count = 0x80000000u;)
SPOIL(nodes_huge, g->model.nodes.count = 0x80000000u;)
SPOIL(inputs_huge, g->model.inputIndex.count = 0xFFFFFFFFu;)
SPOIL(outputs_huge, g->model.outputIndex.count = 0x80000000u;)
static const NNRT_SubGraph two_graphs[2];
SPOIL(two_subgraphs, g->model.subGraph.data = two_graphs; g->model.subGraph.count = 2;)
static const uint32_t both_nodes[2] = {0, 1}, no_such_node[1] = {2};
static const NNRT_SubGraph idle_graphs[2] = {{"main", {NULL, 0}, {NULL, 0}, {both_nodes, 2}},
                                             {"idle", {NULL, 0}, {NULL, 0}, {NULL, 0}}};
SPOIL(idle_subgraph, g->model.subGraph.data = idle_graphs; g->model.subGraph.count = 2;)
static const NNRT_SubGraph shared_graphs[2] = {{"main", {NULL, 0}, {NULL, 0}, {both_nodes, 2}},
                                               {"too", {NULL, 0}, {NULL, 0}, {both_nodes, 1}}};
SPOIL(shared_node, g->model.subGraph.data = shared_graphs; g->model.subGraph.count = 2;)
static const NNRT_SubGraph stray_graphs[2] = {{"main", {NULL, 0}, {NULL, 0}, {both_nodes, 2}},
                                              {"stray", {NULL, 0}, {NULL, 0}, {no_such_node, 1}}};
SPOIL(stray_node, g->model.subGraph.data = stray_graphs; g->model.subGraph.count = 2;)

/* Tensors. */
SPOIL(type_unknown, g->tensors[2].dataType = 36;)
SPOIL(type_beyond, g->tensors[2].dataType = 1000;)
SPOIL(format_low, g->tensors[0].format = -2;)
SPOIL(format_high, g->tensors[0].format = 2;)
SPOIL(nine_axes, g->tensors[2].dims.count = 9;)
SPOIL(axes_huge, g->tensors[2].dims.count = 0xFFFFFFFFu;)
SPOIL(dims_null, g->tensors[2].dims.data = NULL;)
SPOIL(extent_negative, g->dims[2][1] = -3;)
SPOIL(extent_unknown_rank_inside, g->dims[2][1] = NNRT_RANK_UNKNOWN;)
SPOIL(quant_null, g->tensors[2].quantParams.count = 1;)
SPOIL(quant_axis_negative, g->tensors[2].quantAxis = -1;)
SPOIL(quant_axis_beyond, g->tensors[2].quantAxis = 3;) /* of two axes: 1 and 2 */
SPOIL(quant_axis_scalar, g->tensors[2].dims.count = 0; g->tensors[2].quantAxis = 1;)
SPOIL(quant_axis_rankless, g->tensors[2].dims.count = 1; g->dims[2][0] = NNRT_RANK_UNKNOWN;
      g->tensors[2].quantAxis = 9;)
static const uint32_t some_symbols[3] = {7, 0, 0};
SPOIL(symbols_null, g->tensors[2].symbols.count = 2;)
SPOIL(symbols_few, g->tensors[2].symbols = NNRT_Uint32List_make(some_symbols + 1, 1);)
SPOIL(symbols_many, g->tensors[2].symbols = NNRT_Uint32List_make(some_symbols, 3);)
SPOIL(symbols_rankless, g->tensors[2].dims.count = 1; g->dims[2][0] = NNRT_RANK_UNKNOWN;
      g->tensors[2].symbols = NNRT_Uint32List_make(some_symbols + 1, 1);)
SPOIL(symbol_fixed, g->tensors[2].symbols = NNRT_Uint32List_make(some_symbols, 2);)

/* Constants. */
SPOIL(constant_untyped, g->tensors[1].dataType = NNRT_DATA_TYPE_UNKNOWN;)
SPOIL(constant_no_address, g->tensors[1].data.addr = NULL; g->tensors[1].data.fd = -1;)
SPOIL(constant_offset, g->tensors[1].data.offset = 4;)
SPOIL(constant_offset_beyond, g->tensors[1].data.offset = 16;)
SPOIL(constant_offset_wraps, g->tensors[1].data.offset = 0xFFFFFFFCu;)
SPOIL(constant_short_buffer, g->tensors[1].data.bufferSize = 8;)
SPOIL(constant_unaligned, g->tensors[1].data.addr = (uint8_t *)(uintptr_t)three + 2;)
SPOIL(constant_unaligned_offset, g->tensors[1].data.offset = 1; g->tensors[1].data.bufferSize = 13;)
SPOIL(constant_open, g->dims[1][0] = -1;)
SPOIL(constant_rankless, g->dims[1][0] = NNRT_RANK_UNKNOWN;)
SPOIL(constant_small, g->dims[1][0] = 4;)
SPOIL(constant_large, g->dims[1][0] = 2;)
static void spoil_constant_overflow(graph *g, NNRT_ModelConfig *c)
{
    (void)c;
    g->tensors[1].dims.count = 4;
    for (int32_t i = 0; i < 4; i++)
        g->dims[1][i] = 0x7FFFFFFF;
}

/* Model inputs and outputs. */
SPOIL(input_beyond, g->inputs[0] = 4;)
SPOIL(input_absent, g->inputs[0] = NNRT_NO_TENSOR;)
SPOIL(input_constant, graph_io(g, "0 1", "3");)
SPOIL(input_twice, graph_io(g, "0 0", "3");)
SPOIL(input_untyped, g->tensors[0].dataType = NNRT_DATA_TYPE_UNKNOWN;)
SPOIL(input_rankless, g->dims[0][0] = NNRT_RANK_UNKNOWN; g->tensors[0].dims.count = 1;)
SPOIL(output_beyond, g->outputs[0] = 4;)
SPOIL(output_unwritten, (void)tensor(g, "lonely", F32, "2,3"); graph_io(g, "0", "3 4");)

/* Nodes. */
SPOIL(operator_unknown, g->nodes[1].nodeType = 12345;)
SPOIL(operator_none, g->nodes[1].nodeType = NNRT_NODE_TYPE_NONE;)
SPOIL(node_inputs_null, g->nodes[0].inputIndex.data = NULL;)
SPOIL(node_outputs_null, g->nodes[0].outputIndex.data = NULL;)
SPOIL(node_input_beyond, g->in[0][1] = 4;)
SPOIL(node_output_beyond, g->out[1][0] = 4;)
SPOIL(output_is_input, g->out[1][0] = 0; g->outputs[0] = 2;)
SPOIL(output_is_constant, g->out[1][0] = 1; g->outputs[0] = 2;)
SPOIL(two_producers, g->out[1][0] = 2; g->outputs[0] = 2;)
SPOIL(names_twice, g->tensors[3].name = "c";)
SPOIL(input_unwritten, (void)tensor(g, "nothing", F32, "2,3"); g->in[1][0] = 4;)
SPOIL(cycle_of_one, g->in[1][0] = 3;)
SPOIL(cycle_of_two, g->in[0][1] = 3;)

/* The subgraph. */
static const uint32_t numbers_bad[1] = {4};
SPOIL(subgraph_node, g->main.nodeIndices = NNRT_Uint32List_make(numbers_bad, 1);)
SPOIL(subgraph_input, g->main.inputIndices = NNRT_Uint32List_make(numbers_bad, 1);)
SPOIL(subgraph_output, g->main.outputIndices = NNRT_Uint32List_make(numbers_bad, 1);)
SPOIL(subgraph_null_list, g->main.outputIndices.count = 1;)

/* Types and shapes. */
static const NNRT_Activation no_such_activation = {77, 0, 0, 0, false};
SPOIL(attr_enumerator, g->nodes[1].nodeAttr.data = &no_such_activation;)
SPOIL(too_few_inputs, g->nodes[0].inputIndex.count = 1;)
SPOIL(too_many_inputs, g->nodes[0].inputIndex.count = parse_indices("0 1 1", g->in[0]);)
SPOIL(no_output, g->nodes[1].outputIndex.count = 0; g->outputs[0] = 2;)
SPOIL(required_input_absent, g->in[0][1] = NNRT_NO_TENSOR;)
SPOIL(shapes_differ, g->dims[1][0] = 4; g->tensors[1].data.bufferSize = g->tensors[1].data.dataSize = 16;)
SPOIL(types_differ, g->tensors[1].dataType = I32;)
SPOIL(declared_extent, g->dims[2][1] = 4;)
SPOIL(declared_rank, g->dims[2][2] = 1; g->tensors[2].dims.count = 3;)
SPOIL(declared_type, g->tensors[2].dataType = I32;)
SPOIL(input_open, g->dims[0][0] = -1;)
static const nnrt_dims shapes_given[2] = {{2, {2, 3}}, {2, {2, 3}}};
static const nnrt_dims shape_of_rank_1[1] = {{1, {2}}};
static const nnrt_dims shape_other[1] = {{2, {2, 5}}};
static const nnrt_dims shape_negative[1] = {{2, {-7, 3}}};
SPOIL(input_dims_count, c->inputDims = nnrt_dims_list_make(shapes_given, 2);)
SPOIL(input_dims_rank, c->inputDims = nnrt_dims_list_make(shape_of_rank_1, 1);)
SPOIL(input_dims_fixed, c->inputDims = nnrt_dims_list_make(shape_other, 1);)
SPOIL(input_dims_negative, g->dims[0][0] = -1; c->inputDims = nnrt_dims_list_make(shape_negative, 1);)
SPOIL(input_dims_null, c->inputDims.count = 1;)

/* Sizes that do not fit. 0x7FFFFFFF^3 elements are more than 2^92. */
static void spoil_input_huge(graph *g, NNRT_ModelConfig *c)
{
    (void)c;
    (void)result(g, "wide");
    g->tensors[2] = g->tensors[3] = g->tensors[4];
    g->model.allTensors.count = 4;
    g->tensors[2].name = "a";
    g->tensors[3].name = "y";
    g->tensors[0].dims.count = 3;
    g->dims[0][0] = g->dims[0][1] = g->dims[0][2] = 0x7FFFFFFF;
}

/* The huge input is a model output as it is: no node looks at it. */
static void spoil_input_huge_unused(graph *g, NNRT_ModelConfig *c)
{
    (void)c;
    (void)tensor(g, "huge", F32, "2147483647,2147483647,2147483647");
    graph_io(g, "0 4", "3 4");
}

/* [n,1] + [1,n] has n^2 elements of 4 bytes: 2^64. */
#define WIDE (sizeof(size_t) > 4)

static void spoil_result_huge(graph *g, NNRT_ModelConfig *c)
{
    (void)c;
    (void)tensor(g, "z", F32, WIDE ? "1,2147483647" : "1,32768");
    g->dims[0][0] = WIDE ? 0x7FFFFFFF : 32768;
    g->dims[0][1] = 1;
    g->in[0][1] = 4;
    graph_io(g, "0 4", "3");
}

/* Results of 2^62 bytes (of 2^30 where size_t has 32 bits), of which count + 1 are live at once; one of them is in the model's
   output. */
static void graph_of_giants(graph *g, uint32_t count)
{
    char in[16], out[16];
    graph_init(g);
    (void)tensor(g, "x", NNRT_DATA_TYPE_FLOAT64, WIDE ? "536870912,1073741824" : "8192,16384");
    for (uint32_t i = 0; i < 2 * count + 1; i++)
        (void)result(g, "");
    for (uint32_t i = 0; i <= count; i++) {
        snprintf(out, sizeof(out), "%u", i + 1);
        ACTIVATION(g, "act", relu, "0", out);
    }
    for (uint32_t i = 0; i < count; i++) { /* 1 + 2 -> count + 2, that + 3 -> count + 3 ... */
        snprintf(in, sizeof(in), "%u %u", i == 0 ? 1 : count + 1 + i, i + 2);
        snprintf(out, sizeof(out), "%u", count + 2 + i);
        ADD(g, "sum", in, out);
    }
    snprintf(out, sizeof(out), "%u", 2 * count + 1);
    graph_io(g, "0", out);
}
SPOIL(arena_overflows, graph_of_giants(g, 4);)
SPOIL(input_too_large, graph_of_giants(g, 3);)

/* An attribute list that counts entries but has none. */
static void spoil_attr_list_null(graph *g, NNRT_ModelConfig *c)
{
    static const NNRT_Softmax softmax = {{NULL, 1}};
    (void)c;
    g->nodes[1].nodeType = NNRT_NODE_TYPE_SOFTMAX;
    g->nodes[1].nodeAttr.data = &softmax;
    g->nodes[1].nodeAttr.size = sizeof(softmax);
}

/* The configuration: seen by PrepareModel only. */
SPOIL(mode_low, c->mode = -1;)
SPOIL(mode_high, c->mode = NNRT_PERFORMANCE_EXTREME + 1;)
SPOIL(priority_low, c->priority = -1;)
SPOIL(priority_high, c->priority = NNRT_PRIORITY_HIGH + 1;)
static uint8_t some_buffer[256];
SPOIL(buffer_unaligned, c->buffer = some_buffer + 8 - (uintptr_t)some_buffer % 8 + 4; c->bufferBytes = 100;)

/* Two faults: the first check reports its fault. */
SPOIL(first_tensor_then_node, g->tensors[2].dataType = 36; g->nodes[1].nodeType = 12345;)
SPOIL(first_lower_tensor, g->tensors[2].dataType = 36; g->tensors[0].format = 9;)
SPOIL(first_producer_in_order, g->nodes[0].inputIndex.count = g->nodes[1].inputIndex.count = 0;)

#define ANY (-2) /* node or tensor of a fault: not fixed here */

static const fault faults[] = {
    {"all lists empty", spoil_all_empty, NNRT_INVALID_TENSOR, -1, -1, {"allTensors"}},
    {"lists behind tensors empty", spoil_empty_but_tensors, NNRT_INVALID_MODEL, -1, -1, {"subGraph"}},
    {"lists behind subgraph empty", spoil_empty_but_subgraph, NNRT_INVALID_NODE, -1, -1, {"nodes"}},
    {"lists behind nodes empty", spoil_empty_but_nodes, NNRT_INVALID_OUTPUT, -1, -1, {"outputIndex"}},
    {"no outputs", spoil_empty_outputs, NNRT_INVALID_OUTPUT, -1, -1, {"outputIndex"}},
    {"tensors NULL", spoil_tensors_null, NNRT_NULL_PTR, -1, -1, {"allTensors", "4"}},
    {"subgraph NULL", spoil_subgraph_null, NNRT_NULL_PTR, -1, -1, {"subGraph"}},
    {"nodes NULL", spoil_nodes_null, NNRT_NULL_PTR, -1, -1, {"nodes", "2"}},
    {"inputs NULL", spoil_inputs_null, NNRT_NULL_PTR, -1, -1, {"inputIndex"}},
    {"outputs NULL", spoil_outputs_null, NNRT_NULL_PTR, -1, -1, {"outputIndex"}},
    {"2^31 tensors", spoil_tensors_huge, NNRT_INVALID_TENSOR, -1, -1, {"allTensors"}},
    {"2^31 nodes", spoil_nodes_huge, NNRT_INVALID_NODE, -1, -1, {"nodes"}},
    {"2^32-1 inputs", spoil_inputs_huge, NNRT_INVALID_INPUT, -1, -1, {"inputIndex"}},
    {"2^31 outputs", spoil_outputs_huge, NNRT_INVALID_OUTPUT, -1, -1, {"outputIndex"}},
    {"nodes of no subgraph",
     spoil_two_subgraphs,
     NNRT_INVALID_MODEL,
     -1,
     -1,
     {"node 0 'sum'", "none of the 2 subgraphs"}},
    {"a subgraph that no node runs",
     spoil_idle_subgraph,
     NNRT_INVALID_MODEL,
     -1,
     -1,
     {"subgraph 1", "no node runs it"}},
    {"a node of two subgraphs",
     spoil_shared_node,
     NNRT_INVALID_MODEL,
     -1,
     -1,
     {"node 0 'sum'", "subgraph 0", "subgraph 1"}},
    {"no node", spoil_stray_node, NNRT_INVALID_MODEL, -1, -1, {"subgraph 1: entry 0 of nodeIndices"}},
    {"type between", spoil_type_unknown, NNRT_INVALID_DATATYPE, -1, 2, {"'a'", "36"}},
    {"type beyond", spoil_type_beyond, NNRT_INVALID_DATATYPE, -1, 2, {"'a'", "1000"}},
    {"format -2", spoil_format_low, NNRT_INVALID_FORMAT, -1, 0, {"'x'", "-2"}},
    {"format 2", spoil_format_high, NNRT_INVALID_FORMAT, -1, 0, {"'x'", "2"}},
    {"nine axes", spoil_nine_axes, NNRT_INVALID_SHAPE, -1, 2, {"'a'", "9"}},
    {"2^32-1 axes", spoil_axes_huge, NNRT_INVALID_SHAPE, -1, 2, {"'a'", "4294967295"}},
    {"dims NULL", spoil_dims_null, NNRT_INVALID_SHAPE, -1, 2, {"'a'"}},
    {"extent -3", spoil_extent_negative, NNRT_INVALID_SHAPE, -1, 2, {"'a'", "-3", "axis 1"}},
    {"extent -2 beside another", spoil_extent_unknown_rank_inside, NNRT_INVALID_SHAPE, -1, 2, {"'a'", "-2"}},
    {"quantParams NULL", spoil_quant_null, NNRT_NULL_PTR, -1, 2, {"'a'", "quantParams"}},
    {"quantAxis -1", spoil_quant_axis_negative, NNRT_INVALID_PARAMETER, -1, 2, {"'a'", "-1", "0 to 2"}},
    {"quantAxis behind the last", spoil_quant_axis_beyond, NNRT_INVALID_PARAMETER, -1, 2, {"'a'", "3", "0 to 2"}},
    {"quantAxis of a scalar", spoil_quant_axis_scalar, NNRT_INVALID_PARAMETER, -1, 2, {"'a'", "0 to 0"}},
    {"quantAxis of unknown rank", spoil_quant_axis_rankless, NNRT_INVALID_PARAMETER, -1, 2, {"'a'", "9", "0 to 8"}},
    {"symbols NULL", spoil_symbols_null, NNRT_NULL_PTR, -1, 2, {"'a'", "2 symbols"}},
    {"too few symbols", spoil_symbols_few, NNRT_INVALID_PARAMETER, -1, 2, {"'a'", "1 symbols"}},
    {"too many symbols", spoil_symbols_many, NNRT_INVALID_PARAMETER, -1, 2, {"'a'", "3 symbols"}},
    {"symbols of unknown rank", spoil_symbols_rankless, NNRT_INVALID_PARAMETER, -1, 2, {"'a'", "rank is unknown"}},
    {"a symbol for a fixed extent", spoil_symbol_fixed, NNRT_INVALID_PARAMETER, -1, 2, {"'a'", "symbol 7", "axis 0"}},
    {"constant without type", spoil_constant_untyped, NNRT_INVALID_DATATYPE, -1, 1, {"'c'"}},
    {"constant without address", spoil_constant_no_address, NNRT_INVALID_BUFFER, -1, 1, {"'c'", "addr"}},
    {"constant's offset", spoil_constant_offset, NNRT_INVALID_BUFFER, -1, 1, {"'c'", "4", "12"}},
    {"constant's offset beyond", spoil_constant_offset_beyond, NNRT_INVALID_BUFFER, -1, 1, {"'c'", "16", "12"}},
    {"constant's offset wraps", spoil_constant_offset_wraps, NNRT_INVALID_BUFFER, -1, 1, {"'c'", "4294967292"}},
    {"constant's short buffer", spoil_constant_short_buffer, NNRT_INVALID_BUFFER, -1, 1, {"'c'", "8"}},
    {"constant unaligned", spoil_constant_unaligned, NNRT_INVALID_BUFFER, -1, 1, {"'c'", "aligned to 4"}},
    {"constant unaligned by offset",
     spoil_constant_unaligned_offset,
     NNRT_INVALID_BUFFER,
     -1,
     1,
     {"'c'", "aligned to 4"}},
    {"constant with extent -1", spoil_constant_open, NNRT_INVALID_SHAPE, -1, 1, {"'c'"}},
    {"constant of unknown rank", spoil_constant_rankless, NNRT_INVALID_SHAPE, -1, 1, {"'c'"}},
    {"constant too small", spoil_constant_small, NNRT_INVALID_BUFFER_SIZE, -1, 1, {"'c'", "12", "16"}},
    {"constant too large", spoil_constant_large, NNRT_INVALID_BUFFER_SIZE, -1, 1, {"'c'", "12", "8"}},
    {"constant overflows", spoil_constant_overflow, NNRT_INVALID_SHAPE, -1, 1, {"'c'"}},
    {"input index beyond", spoil_input_beyond, NNRT_INVALID_INPUT, -1, -1, {"input 0", "tensor 4"}},
    {"input absent", spoil_input_absent, NNRT_INVALID_INPUT, -1, -1, {"input 0"}},
    {"input constant", spoil_input_constant, NNRT_INVALID_INPUT, -1, 1, {"input 1", "'c'"}},
    {"input twice", spoil_input_twice, NNRT_INVALID_INPUT, -1, 0, {"input 1", "'x'", "twice"}},
    {"input without type", spoil_input_untyped, NNRT_INVALID_INPUT, -1, 0, {"input 0", "'x'"}},
    {"input without rank", spoil_input_rankless, NNRT_INVALID_INPUT, -1, 0, {"input 0", "'x'"}},
    {"output index beyond", spoil_output_beyond, NNRT_INVALID_OUTPUT, -1, -1, {"output 0", "tensor 4"}},
    {"output unwritten", spoil_output_unwritten, NNRT_INVALID_OUTPUT, -1, 4, {"output 1", "'lonely'"}},
    {"unknown operator", spoil_operator_unknown, NNRT_UNSUPPORTED_OP, 1, -1, {"node 1 'act'", "12345"}},
    {"operator NONE", spoil_operator_none, NNRT_UNSUPPORTED_OP, 1, -1, {"node 1 'act'", "0"}},
    {"node inputs NULL", spoil_node_inputs_null, NNRT_NULL_PTR, 0, -1, {"node 0 'sum' (ADD_FUSION)"}},
    {"node outputs NULL", spoil_node_outputs_null, NNRT_NULL_PTR, 0, -1, {"node 0 'sum' (ADD_FUSION)"}},
    {"node input beyond",
     spoil_node_input_beyond,
     NNRT_INVALID_INPUT,
     0,
     -1,
     {"node 0 'sum' (ADD_FUSION)", "input 1", "4"}},
    {"node output beyond",
     spoil_node_output_beyond,
     NNRT_INVALID_OUTPUT,
     1,
     -1,
     {"node 1 'act' (ACTIVATION)", "output 0", "4"}},
    {"output is input",
     spoil_output_is_input,
     NNRT_INVALID_OUTPUT,
     1,
     ANY,
     {"node 1 'act' (ACTIVATION)", "'x'", "input"}},
    {"output is constant",
     spoil_output_is_constant,
     NNRT_INVALID_OUTPUT,
     1,
     ANY,
     {"node 1 'act' (ACTIVATION)", "'c'", "constant"}},
    {"two producers",
     spoil_two_producers,
     NNRT_INVALID_OUTPUT,
     1,
     ANY,
     {"node 1 'act' (ACTIVATION)", "'a'", "node 0 'sum'"}},
    {"two names", spoil_names_twice, NNRT_INVALID_TENSOR_NAME, -1, 3, {"'c'", "1", "3"}},
    {"nobody writes an input",
     spoil_input_unwritten,
     NNRT_INVALID_INPUT,
     1,
     4,
     {"node 1 'act' (ACTIVATION)", "'nothing'"}},
    {"cycle of one", spoil_cycle_of_one, NNRT_INVALID_MODEL, 1, 3, {"node 1 'act' (ACTIVATION)", "cycle", "'y'"}},
    {"cycle of two", spoil_cycle_of_two, NNRT_INVALID_MODEL, 0, 2, {"node 0 'sum' (ADD_FUSION)", "cycle", "'a'"}},
    {"subgraph's node", spoil_subgraph_node, NNRT_INVALID_MODEL, -1, -1, {"nodeIndices"}},
    {"subgraph's input", spoil_subgraph_input, NNRT_INVALID_MODEL, -1, -1, {"inputIndices"}},
    {"subgraph's output", spoil_subgraph_output, NNRT_INVALID_MODEL, -1, -1, {"outputIndices"}},
    {"subgraph's list NULL", spoil_subgraph_null_list, NNRT_INVALID_MODEL, -1, -1, {"outputIndices"}},
    {"no such enumerator",
     spoil_attr_enumerator,
     NNRT_INVALID_PARAMETER,
     1,
     -1,
     {"node 1 'act' (ACTIVATION)", "activationType", "77"}},
    {"attribute list NULL", spoil_attr_list_null, NNRT_NULL_PTR, 1, -1, {"node 1 'act' (SOFTMAX)", "axis"}},
    {"too few inputs", spoil_too_few_inputs, NNRT_INVALID_INPUT, 0, -1, {"node 0 'sum' (ADD_FUSION)", "1", "2"}},
    {"too many inputs", spoil_too_many_inputs, NNRT_INVALID_INPUT, 0, -1, {"node 0 'sum' (ADD_FUSION)", "3", "2"}},
    {"no output", spoil_no_output, NNRT_INVALID_OUTPUT, 1, -1, {"node 1 'act' (ACTIVATION)", "0", "1"}},
    {"required input absent",
     spoil_required_input_absent,
     NNRT_NULL_PTR,
     0,
     -1,
     {"node 0 'sum' (ADD_FUSION)", "input 1"}},
    {"shapes differ",
     spoil_shapes_differ,
     NNRT_INVALID_SHAPE,
     0,
     -1,
     {"node 0 'sum' (ADD_FUSION)", "float32[2,3]", "float32[4]"}},
    {"types differ",
     spoil_types_differ,
     NNRT_INVALID_DATATYPE,
     0,
     -1,
     {"node 0 'sum' (ADD_FUSION)", "'c'", "int32", "float32"}},
    {"declared extent",
     spoil_declared_extent,
     NNRT_INVALID_SHAPE,
     0,
     ANY,
     {"node 0 'sum' (ADD_FUSION)", "'a'", "[2,4]", "[2,3]"}},
    {"declared rank",
     spoil_declared_rank,
     NNRT_INVALID_SHAPE,
     0,
     ANY,
     {"node 0 'sum' (ADD_FUSION)", "'a'", "[2,3,1]", "[2,3]"}},
    {"declared type",
     spoil_declared_type,
     NNRT_INVALID_DATATYPE,
     0,
     ANY,
     {"node 0 'sum' (ADD_FUSION)", "'a'", "int32", "float32"}},
    {"input extent -1", spoil_input_open, NNRT_INVALID_SHAPE, -1, 0, {"input 0 'x'", "axis 0", "inputDims"}},
    {"inputDims count", spoil_input_dims_count, NNRT_INVALID_PARAMETER, -1, -1, {"inputDims", "2", "1"}},
    {"inputDims rank", spoil_input_dims_rank, NNRT_INVALID_SHAPE, -1, 0, {"input 0 'x'", "1", "2"}},
    {"inputDims fixed extent", spoil_input_dims_fixed, NNRT_INVALID_SHAPE, -1, 0, {"input 0 'x'", "5", "3"}},
    {"inputDims negative", spoil_input_dims_negative, NNRT_INVALID_SHAPE, -1, 0, {"input 0 'x'"}},
    {"inputDims NULL", spoil_input_dims_null, NNRT_NULL_PTR, -1, -1, {"inputDims"}},
    {"input does not fit", spoil_input_huge, NNRT_OUT_OF_MEMORY, ANY, ANY, {"'x'"}},
    {"unused input does not fit", spoil_input_huge_unused, NNRT_OUT_OF_MEMORY, -1, 4, {"'huge'"}},
    {"result does not fit", spoil_result_huge, NNRT_OUT_OF_MEMORY, 0, -1, {"node 0 'sum' (ADD_FUSION)", "'a'"}},
    {"lower tensor first", spoil_first_lower_tensor, NNRT_INVALID_FORMAT, -1, 0, {"'x'"}},
    {"tensor before node", spoil_first_tensor_then_node, NNRT_INVALID_DATATYPE, -1, 2, {"'a'"}},
    {"producer before user", spoil_first_producer_in_order, NNRT_INVALID_INPUT, 0, -1, {"node 0 'sum'"}},
};

/* Faults that show only when a model is prepared. */
static const fault prepare_faults[] = {
    {"the arena does not fit size_t", spoil_arena_overflows, NNRT_OUT_OF_MEMORY, -1, -1, {"arena", "4"}},
    {"an input is too large", spoil_input_too_large, NNRT_OUT_OF_MEMORY, -1, 0, {"'x'", "4 GiB"}},
    {"mode -1", spoil_mode_low, NNRT_INVALID_PERFORMANCE_MODE, -1, -1, {"-1"}},
    {"mode 5", spoil_mode_high, NNRT_INVALID_PERFORMANCE_MODE, -1, -1, {"5"}},
    {"priority -1", spoil_priority_low, NNRT_INVALID_PRIORITY, -1, -1, {"-1"}},
    {"priority 4", spoil_priority_high, NNRT_INVALID_PRIORITY, -1, -1, {"4"}},
    {"buffer unaligned", spoil_buffer_unaligned, NNRT_INVALID_PARAMETER, -1, -1, {"buffer", "64"}},
};

static void expect_fault(const fault *f, const char *way, NNRT_ReturnCode code, const nnrt_error *e)
{
    bool good = code == f->code && (e == NULL || e->code == f->code);
    if (e != NULL) {
        good = good && (f->node == ANY || e->node == f->node) && (f->tensor == ANY || e->tensor == f->tensor);
        good = good && strlen(e->message) < sizeof(e->message);
        for (uint32_t i = 0; i < COUNT(f->says) && f->says[i] != NULL; i++)
            good = good && strstr(e->message, f->says[i]) != NULL;
    }
    if (!good)
        fail_msg("%s, %s: got %s (%d), expected %s; node %d (%d), tensor %d (%d); \"%s\"", f->name, way,
                 nnrt_code_name(code), (int)code, nnrt_code_name(f->code), e != NULL ? (int)e->node : 0, (int)f->node,
                 e != NULL ? (int)e->tensor : 0, (int)f->tensor, e != NULL ? e->message : "");
}

/* The fault gives the same message in every function that takes the model, with and without a buffer for the message, and leaks
   no memory. */
static void check_prepare_fault(const fault *f, bool copy)
{
    static graph g;
    tracker t;
    nnrt_allocator a = allocator_of(&t);
    nnrt_error e;
    NNRT_ModelConfig config;
    NNRT_PreparedModel *prepared = (NNRT_PreparedModel *)(void *)&g;
    NNRT_ReturnCode code;
    size_t bytes = 1;
    memset(&t, 0, sizeof(t));
    graph_sound(&g);
    config_init(&config, &e);
    config.allocator = &a;
    config.copyConstants = copy;
    f->spoil(&g, &config);
    code = nnrt_device_prepare(reference(), &g.model, &config, &prepared);
    expect_fault(f, copy ? "prepare copying" : "prepare", code, &e);
    assert_null(prepared);
    config.error = NULL;
    expect_fault(f, "prepare without error", nnrt_device_prepare(reference(), &g.model, &config, &prepared), NULL);
    assert_null(prepared);
    if (config.buffer == NULL && config.mode == 0 && config.priority == 0) {
        memset(&e, 0, sizeof(e));
        config.error = &e;
        expect_fault(f, "memory", nnrt_device_model_memory(reference(), &g.model, &config, &bytes), &e);
        assert_int_equal(bytes, 0);
    }
    assert_int_equal(t.live, 0);
    assert_false(t.wrong);
}

static void test_fault(void **state)
{
    const fault *f = (const fault *)*state;
    static graph g;
    tracker t;
    nnrt_allocator a = allocator_of(&t);
    nnrt_error e;
    NNRT_ModelConfig config;
    memset(&t, 0, sizeof(t));
    graph_sound(&g);
    config_init(&config, NULL);
    memset(&e, 0, sizeof(e));
    config.allocator = &a;
    f->spoil(&g, &config);
    expect_fault(f, "validate", nnrt_model_validate(&g.model, &config, &e), &e);
    expect_fault(f, "validate without error", nnrt_model_validate(&g.model, &config, NULL), NULL);
    assert_int_equal(t.live, 0);
    check_prepare_fault(f, false);
    check_prepare_fault(f, true);
}

static void test_prepare_fault(void **state)
{
    const fault *f = (const fault *)*state;
    if (!WIDE && f->spoil == spoil_input_too_large)
        skip(); /* nothing that can be addressed has 4 GiB */
    check_prepare_fault(f, false);
    if (f->spoil != spoil_arena_overflows && f->spoil != spoil_input_too_large)
        check_prepare_fault(f, true);
}

static void test_sound_model(void **state)
{
    static graph g;
    nnrt_error e;
    (void)state;
    graph_sound(&g);
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_SUCCESS);
    assert_int_equal(e.code, NNRT_SUCCESS);
    assert_string_equal(e.message, "");
    assert_int_equal(nnrt_model_validate(NULL, NULL, &e), NNRT_NULL_PTR);
    assert_true(strlen(e.message) > 0);
    g.tensors[1].data.offset = 4; /* the last three of four: still sound */
    g.tensors[1].data.bufferSize = 16;
    assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), NNRT_SUCCESS);
    g.tensors[2] = g.tensors[3]; /* nothing declared of a */
    g.tensors[2].name = "";
    g.tensors[2].dataType = NNRT_DATA_TYPE_UNKNOWN;
    g.dims[2][0] = NNRT_RANK_UNKNOWN;
    g.tensors[2].dims = NNRT_Int32List_make(g.dims[2], 1);
    g.dims[3][0] = -1; /* of y: one dimension */
    assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), NNRT_SUCCESS);
    g.tensors[3].symbols = NNRT_Uint32List_make(some_symbols, 2); /* which has a name */
    g.tensors[3].quantAxis = 2;
    g.tensors[2].quantAxis = 1; /* nothing speaks against it yet */
    assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), NNRT_SUCCESS);
    g.tensors[2].quantAxis = 8; /* the node's rule does */
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_INVALID_PARAMETER);
    assert_non_null(strstr(e.message, "quantAxis 8, expected 0 to "));
}

/* An error that holds a message already keeps it. */
static void test_first_message_stays(void **state)
{
    static graph g;
    nnrt_error e;
    (void)state;
    graph_sound(&g);
    memset(&e, 0, sizeof(e));
    g.nodes[1].nodeType = 12345;
    assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_UNSUPPORTED_OP);
    g.nodes[1].nodeType = NNRT_NODE_TYPE_ACTIVATION;
    g.tensors[0].format = 9;
    assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_INVALID_FORMAT);
    assert_int_equal(e.code, NNRT_UNSUPPORTED_OP);
    assert_non_null(strstr(e.message, "12345"));
}

/* ---- order ---- */

static uint32_t seed;

/* A number below n; the same on every machine. */
static uint32_t draw(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 8) * n) >> 24);
}

/* Checks the model and copies the order of its nodes. */
static void order_of(const NNRT_Model *m, uint32_t *order)
{
    nnrt_memory memory;
    uint32_t *got = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    nnrt_memory_allocate(&memory, NULL);
    if (nnrt_model_check(m, &memory, &got, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    memcpy(order, got, m->nodes.count * sizeof(*order));
    nnrt_memory_end(&memory);
}

/* A chain of sums with random further inputs; node k is at index place[k] of the model. Returns node count. */
static uint32_t graph_of_sums(graph *g, const uint32_t *place, uint32_t count)
{
    char in[16], out[16];
    graph_init(g);
    (void)tensor(g, "x", F32, "2");
    for (uint32_t i = 0; i < count; i++)
        (void)result(g, "");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (place[k] != i)
            k++;
        seed = 77 + k; /* the operands depend on the node, not on its place */
        snprintf(in, sizeof(in), "%u %u", draw(k + 1), draw(k + 1));
        snprintf(out, sizeof(out), "%u", k + 1);
        ADD(g, "", in, out);
    }
    snprintf(out, sizeof(out), "%u", count);
    graph_io(g, "0", out);
    return count;
}

static void test_sorted_stays(void **state)
{
    static graph g;
    uint32_t place[40], order[40];
    (void)state;
    for (uint32_t i = 0; i < 40; i++)
        place[i] = i;
    (void)graph_of_sums(&g, place, 40);
    order_of(&g.model, order);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(order[i], i);
}

static void test_any_order_is_sorted(void **state)
{
    static graph g;
    uint32_t place[40], order[40], at[40];
    (void)state;
    for (uint32_t trial = 0; trial < 200; trial++) {
        for (uint32_t i = 0; i < 40; i++)
            place[i] = i;
        seed = trial;
        for (uint32_t i = 39; i > 0; i--) {
            uint32_t k = draw(i + 1), t = place[i];
            place[i] = place[k];
            place[k] = t;
        }
        (void)graph_of_sums(&g, place, 40);
        order_of(&g.model, order);
        memset(at, 0xFF, sizeof(at));
        for (uint32_t i = 0; i < 40; i++) {
            assert_true(order[i] < 40);
            assert_int_equal(at[order[i]], 0xFFFFFFFFu); /* every node once */
            at[order[i]] = i;
        }
        for (uint32_t n = 0; n < 40; n++)
            for (uint32_t k = 0; k < 2; k++)
                if (g.in[n][k] != 0) /* tensor t is written by node number t - 1, which is at index place[t - 1] */
                    assert_true(at[place[g.in[n][k] - 1]] < at[n]);
    }
}

/* 20,000 nodes, the last first: nothing recurses, nothing takes quadratic time. */
static void test_long_chain_backwards(void **state)
{
    const uint32_t count = 20000;
    NNRT_Tensor *tensors = (NNRT_Tensor *)calloc(count + 1, sizeof(*tensors));
    NNRT_Node *nodes = (NNRT_Node *)calloc(count, sizeof(*nodes));
    uint32_t *indices = (uint32_t *)calloc(count + 1, sizeof(*indices)), *order;
    static const int32_t two[1] = {2};
    static graph g;
    (void)state;
    order = (uint32_t *)calloc(count, sizeof(*order));
    graph_init(&g);
    for (uint32_t i = 0; i <= count; i++) {
        indices[i] = i;
        tensors[i].dataType = F32;
        tensors[i].format = NNRT_FORMAT_NONE;
        tensors[i].dims = NNRT_Int32List_make(two, 1);
        tensors[i].data.fd = -1;
    }
    for (uint32_t i = 0; i < count; i++) { /* node i reads tensor count-1-i */
        nodes[i].nodeType = NNRT_NODE_TYPE_ACTIVATION;
        nodes[i].nodeAttr.data = &relu;
        nodes[i].nodeAttr.size = sizeof(relu);
        nodes[i].inputIndex = NNRT_Uint32List_make(&indices[count - 1 - i], 1);
        nodes[i].outputIndex = NNRT_Uint32List_make(&indices[count - i], 1);
    }
    g.model.allTensors = NNRT_TensorList_make(tensors, count + 1);
    g.model.nodes = NNRT_NodeList_make(nodes, count);
    g.model.inputIndex = NNRT_Uint32List_make(&indices[0], 1);
    g.model.outputIndex = NNRT_Uint32List_make(&indices[count], 1);
    order_of(&g.model, order);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(order[i], count - 1 - i);
    assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), NNRT_SUCCESS);
    free(order);
    free(indices);
    free(nodes);
    free(tensors);
}

/* ---- values known before a run ---- */

typedef struct seen {
    uint32_t order[MAX_NODES], count, folded;
    bool isFolded[MAX_NODES];
} seen;

static NNRT_ReturnCode see(void *user, uint32_t n, nnrt_resolve *c, bool folded)
{
    seen *s = (seen *)user;
    assert_int_equal(c->node, (int32_t)n);
    s->order[s->count++] = n;
    s->isFolded[n] = folded;
    s->folded += folded ? 1 : 0;
    return NNRT_SUCCESS;
}

/* Infers; tensors[] must have room for all. */
static void infer(const graph *g, nnrt_operand *tensors, seen *s, nnrt_memory *memory)
{
    nnrt_error e;
    NNRT_ModelConfig config;
    config_init(&config, &e);
    memset(s, 0, sizeof(*s));
    nnrt_memory_allocate(memory, NULL);
    if (nnrt_model_infer(&g->model, &config, memory, tensors, see, s) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
}

static NNRT_PreparedModel *prepare_with(const graph *g, NNRT_ModelConfig *config, nnrt_prepared_memory *figures)
{
    NNRT_PreparedModel *prepared = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    config->error = &e;
    if (nnrt_device_prepare(reference(), &g->model, config, &prepared) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    config->error = NULL;
    memset(figures, 0xFF, sizeof(*figures));
    assert_int_equal(prepared->vtbl->GetMemory(prepared, figures), NNRT_SUCCESS);
    return prepared;
}

static NNRT_PreparedModel *prepare(const graph *g, nnrt_prepared_memory *figures)
{
    NNRT_ModelConfig config;
    config_init(&config, NULL);
    return prepare_with(g, &config, figures);
}

static const int32_t zero_int[1] = {0};
static const int32_t minus_one[1] = {-1};
static const int64_t minus_one_64[1] = {-1};
static const NNRT_Concat concat_0 = {0};

/* y = relu(reshape(x, [shape(x)[0], -1])): a flatten layer as other tools export it. */
static void graph_flatten(graph *g, NNRT_DataType type)
{
    graph_init(g);
    (void)tensor(g, "x", F32, "2,3,4");
    (void)tensor(g, "shape", type, "?");
    (void)constant(g, "first", I32, "1", zero_int, 4);
    (void)constant(g, "axis", I32, "", zero_int, 4);
    (void)result(g, "batch");
    if (type == I32)
        (void)constant(g, "rest", I32, "1", minus_one, 4);
    else
        (void)constant(g, "rest", type, "1", minus_one_64, 8);
    (void)result(g, "target");
    (void)result(g, "flat");
    (void)result(g, "y");
    ACTIVATION(g, "act", relu, "7", "8"); /* listed first: needs all nodes after it */
    PLAIN(g, "reshape", RESHAPE, "0 6", "7");
    node(g, "concat", NNRT_NODE_TYPE_CONCAT, &concat_0, sizeof(concat_0), "4 5", "6");
    PLAIN(g, "gather", GATHER, "1 2 3", "4");
    PLAIN(g, "shape", SHAPE, "0", "1");
    graph_io(g, "0", "8");
}

static void check_flatten(NNRT_DataType type)
{
    static graph g;
    static nnrt_operand tensors[MAX_TENSORS];
    seen s;
    nnrt_memory memory;
    nnrt_prepared_memory figures;
    NNRT_PreparedModel *prepared;
    float in[24], out[24];
    static const int32_t dims[3] = {2, 3, 4}, flat[2] = {2, 12};
    NNRT_IOTensor x = io_of(F32, dims, 3, in, sizeof(in)), y = io_of(F32, flat, 2, out, sizeof(out));
    graph_flatten(&g, type);
    infer(&g, tensors, &s, &memory);
    assert_int_equal(s.count, 5);
    assert_int_equal(s.folded, 3); /* shape, gather, concat */
    assert_true(s.isFolded[2] && s.isFolded[3] && s.isFolded[4]);
    assert_int_equal(tensors[6].rank, 1);
    assert_int_equal(tensors[6].dims[0], 2);
    assert_int_equal(tensors[6].dataType, type);
    assert_int_equal(tensors[8].rank, 2);
    assert_int_equal(tensors[8].dims[0], 2);
    assert_int_equal(tensors[8].dims[1], 12);
    nnrt_memory_end(&memory);
    prepared = prepare(&g, &figures);
    assert_int_equal(figures.steps, 1); /* the activation alone: the reshape is another look at the input */
    assert_int_equal(figures.arena, 0);
    for (int32_t i = 0; i < 24; i++)
        in[i] = (float)(i - 12);
    assert_int_equal(prepared->vtbl->Run(prepared, &x, 1, &y, 1, NULL), NNRT_SUCCESS);
    for (int32_t i = 0; i < 24; i++)
        assert_true(out[i] == (float)(i < 12 ? 0 : i - 12));
    nnrt_device_release(reference(), prepared);
}

static void test_flatten_int32(void **state)
{
    (void)state;
    check_flatten(I32);
}

static void test_flatten_int64(void **state)
{
    (void)state;
    check_flatten(NNRT_DATA_TYPE_INT64);
}
static float many[300];

static void graph_constant_sum(graph *g, const char *dims, uint32_t count)
{
    graph_init(g);
    (void)tensor(g, "x", F32, dims);
    (void)constant(g, "c", F32, dims, many, count * 4);
    (void)constant(g, "d", F32, dims, many, count * 4);
    (void)result(g, "e");
    (void)result(g, "y");
    ADD(g, "known", "1 2", "3");
    ADD(g, "sum", "0 3", "4");
    graph_io(g, "0", "4");
}

/* Results up to 1 KiB are computed while preparing, larger ones in the run. */
static void test_fold_limit(void **state)
{
    static graph g;
    nnrt_prepared_memory figures;
    (void)state;
    graph_constant_sum(&g, "256", 256);
    nnrt_device_release(reference(), prepare(&g, &figures));
    assert_int_equal(figures.steps, 1);
    assert_int_equal(figures.arena, 0);
    assert_int_equal(figures.constants, 0); /* neither c nor d is read in a run */
    graph_constant_sum(&g, "257", 257);
    nnrt_device_release(reference(), prepare(&g, &figures));
    assert_int_equal(figures.steps, 2);
    assert_int_equal(figures.constants, 2 * 257 * 4);
}

/* Constant folding while preparing may fail; the message names the node. */
static void test_fold_failure(void **state)
{
    static const int32_t five[1] = {5}, ten[2] = {10, 20};
    static graph g;
    nnrt_error e;
    (void)state;
    graph_init(&g);
    (void)constant(&g, "c", I32, "2", ten, 8);
    (void)constant(&g, "index", I32, "1", five, 4);
    (void)constant(&g, "axis", I32, "", zero_int, 4);
    (void)result(&g, "picked");
    (void)tensor(&g, "x", I32, "1");
    (void)result(&g, "y");
    PLAIN(&g, "pick", GATHER, "0 1 2", "3");
    ADD(&g, "sum", "4 3", "5");
    graph_io(&g, "4", "5");
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_INVALID_PARAMETER);
    assert_int_equal(e.node, 0);
    assert_non_null(strstr(e.message, "node 0 'pick' (GATHER)"));
    assert_non_null(strstr(e.message, "index"));
    g.nodes[0].nodeType = NNRT_NODE_TYPE_DIV_FUSION; /* 10 / 0 */
    g.nodes[0].nodeAttr.data = &plain_div;
    g.nodes[0].nodeAttr.size = sizeof(plain_div);
    g.nodes[0].inputIndex.count = parse_indices("0 2", g.in[0]);
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_INVALID_PARAMETER);
    assert_int_equal(e.node, 0);
    assert_non_null(strstr(e.message, "node 0 'pick' (DIV_FUSION)"));
}

/* SHAPE needs the shape of its input, not the input: nodes that only compute the input do not run. */
static void test_shape_of_intermediate(void **state)
{
    static graph g;
    static const int32_t dims[2] = {2, 3}, one[1] = {2};
    nnrt_prepared_memory figures;
    NNRT_PreparedModel *prepared;
    float in[6] = {1, 2, 3, 4, 5, 6};
    int32_t out[2] = {-1, -1};
    NNRT_IOTensor x = io_of(F32, dims, 2, in, sizeof(in)), y = io_of(I32, one, 1, out, sizeof(out));
    (void)state;
    graph_init(&g);
    (void)tensor(&g, "x", F32, "2,3");
    (void)constant(&g, "perm", I32, "2", swap_axes, 8);
    (void)result(&g, "turned");
    (void)result(&g, "shape");
    PLAIN(&g, "turn", TRANSPOSE, "0 1", "2");
    PLAIN(&g, "shape", SHAPE, "2", "3");
    graph_io(&g, "0", "3");
    prepared = prepare(&g, &figures);
    assert_int_equal(figures.steps, 1); /* the copy into the output */
    assert_int_equal(figures.arena, 0);
    assert_int_equal(prepared->vtbl->Run(prepared, &x, 1, &y, 1, NULL), NNRT_SUCCESS);
    assert_int_equal(out[0], 3);
    assert_int_equal(out[1], 2);
    nnrt_device_release(reference(), prepared);
}

/* Outputs that no node writes: a constant, an input, the same twice. */
static void test_constant_outputs(void **state)
{
    static graph g;
    static const int32_t dims[2] = {2, 3}, flat[1] = {3};
    nnrt_prepared_memory figures;
    NNRT_PreparedModel *prepared;
    nnrt_dims shapes[5];
    float in[6] = {-1, 2, -3, 4, -5, 6}, out[5][6];
    NNRT_IOTensor x = io_of(F32, dims, 2, in, sizeof(in)), y[5];
    (void)state;
    graph_sound(&g);
    graph_io(&g, "0", "1 3 0 3 1");
    for (uint32_t i = 0; i < 5; i++)
        y[i] = io_of(F32, i == 0 || i == 4 ? flat : dims, i == 0 || i == 4 ? 1 : 2, out[i], i == 0 || i == 4 ? 12 : 24);
    memset(out, 0, sizeof(out));
    prepared = prepare(&g, &figures);
    assert_int_equal(figures.steps, 2 + 4); /* the nodes, and a copy for each output but the first y */
    assert_int_equal(prepared->vtbl->Run(prepared, &x, 1, y, 5, shapes), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 6; i++) {
        float want = in[i] + three[i % 3];
        want = want > 0 ? want : 0;
        assert_true(out[1][i] == want && out[3][i] == want && out[2][i] == in[i]);
        assert_true(out[0][i] == (i < 3 ? three[i] : 0) && out[4][i] == (i < 3 ? three[i] : 0));
    }
    assert_int_equal(shapes[4].rank, 1);
    assert_int_equal(shapes[3].rank, 2);
    assert_int_equal(shapes[3].dims[1], 3);
    nnrt_device_release(reference(), prepared);
}

/* A node that reaches no output is checked, but not run. */
static void test_dead_nodes(void **state)
{
    static graph g;
    nnrt_prepared_memory figures;
    (void)state;
    graph_sound(&g);
    (void)result(&g, "unused");
    (void)result(&g, "unused too");
    ADD(&g, "dead", "2 3", "4");
    ACTIVATION(&g, "deader", absolute, "4", "5");
    nnrt_device_release(reference(), prepare(&g, &figures));
    assert_int_equal(figures.steps, 2);
    assert_int_equal(figures.arena, 0);
}

/* ---- the arena, worked by hand: every block is rounded up to 64 bytes ---- */

/* A line "T 0 1": node, inputs, output. T transposes and needs a block of its own; A is computed in place; R, S, U
   only change the shape; + adds; C joins three; P splits in two. Tensor 0 is x [4,4] float32 (64 bytes), tensor 1 the
   permutation. */
typedef struct drawn {
    const char *name;
    const char *nodes[14]; /* "T:0>2" */
    const char *outputs;
    size_t arena, bound;
    uint32_t steps;
} drawn;

static const int64_t axis_0[1] = {0};
static const NNRT_Squeeze squeeze_0 = {{axis_0, 1}};
static const NNRT_Unsqueeze unsqueeze_0 = {{axis_0, 1}};
static const NNRT_Split split_2 = {2, {NULL, 0}, 0};
static const int32_t into_1_16[2] = {1, 16};

static void graph_drawn(graph *g, const drawn *d)
{
    graph_init(g);
    (void)tensor(g, "x", F32, "4,4");
    (void)constant(g, "perm", I32, "2", swap_axes, 8);
    (void)constant(g, "target", I32, "2", into_1_16, 8);
    for (uint32_t i = 0; i < 14; i++)
        (void)result(g, "");
    for (uint32_t i = 0; i < 14 && d->nodes[i] != NULL; i++) {
        const char *arrow = strchr(d->nodes[i], '>');
        char in[32];
        memset(in, 0, sizeof(in));
        memcpy(in, d->nodes[i] + 2, (size_t)(arrow - d->nodes[i]) - 2);
        switch (d->nodes[i][0]) {
        case 'T':
            strcat(in, " 1");
            PLAIN(g, "turn", TRANSPOSE, in, arrow + 1);
            break;
        case 'R':
            strcat(in, " 2");
            PLAIN(g, "reshape", RESHAPE, in, arrow + 1);
            break;
        case 'S': node(g, "squeeze", NNRT_NODE_TYPE_SQUEEZE, &squeeze_0, sizeof(squeeze_0), in, arrow + 1); break;
        case 'U':
            node(g, "unsqueeze", NNRT_NODE_TYPE_UNSQUEEZE, &unsqueeze_0, sizeof(unsqueeze_0), in, arrow + 1);
            break;
        case 'A': ACTIVATION(g, "act", relu, in, arrow + 1); break;
        case 'C': node(g, "join", NNRT_NODE_TYPE_CONCAT, &concat_0, sizeof(concat_0), in, arrow + 1); break;
        case 'P': node(g, "split", NNRT_NODE_TYPE_SPLIT, &split_2, sizeof(split_2), in, arrow + 1); break;
        default: ADD(g, "add", in, arrow + 1); break;
        }
    }
    graph_io(g, "0", d->outputs);
}

static const drawn drawings[] = {
    /* one node from input to output: nothing between */
    {"one node", {"T:0>3"}, "3", 0, 0, 1},
    /* b needs a, c needs b: two blocks at once; the last is in the output */
    {"chain", {"T:0>3", "T:3>4", "T:4>5", "T:5>6"}, "6", 128, 128, 4},
    /* ten activations: the first makes the block, nine work in it, and it is the output's */
    {"ten activations",
     {"A:0>3", "A:3>4", "A:4>5", "A:5>6", "A:6>7", "A:7>8", "A:8>9", "A:9>10", "A:10>11", "A:11>12"},
     "12",
     0,
     0,
     10},
    /* the same between two transposes: one block */
    {"activations between",
     {"T:0>3", "A:3>4", "A:4>5", "A:5>6", "A:6>7", "A:7>8", "A:8>9", "A:9>10", "T:10>11"},
     "11",
     64,
     64,
     9},
    /* an activation of an intermediate that is needed later gets a block of its own */
    {"not in place", {"T:0>3", "A:3>4", "T:4>5", "+:3 5>6", "T:6>7"}, "7", 128 + 64, 128 + 64, 5},
    /* a = T(x), b = T(a), a + b in place of a, transformed into the output */
    {"residual in place", {"T:0>3", "T:3>4", "+:3 4>5", "T:5>6"}, "6", 128, 128, 4},
    /* the sum is the output: a moves into it, b remains */
    {"residual into the output", {"T:0>3", "T:3>4", "+:3 4>5"}, "5", 64, 64, 3},
    /* x is not ours to overwrite, t is */
    {"sum with the input", {"T:0>3", "+:0 3>4", "T:4>5"}, "5", 64, 64, 3},
    {"double", {"T:0>3", "+:3 3>4", "T:4>5"}, "5", 64, 64, 3},
    {"reshapes only change the view", {"T:0>3", "R:3>4", "S:4>5", "U:5>6", "S:6>7", "U:7>8", "A:8>9"}, "9", 0, 0, 2},
    {"reshapes of the input", {"R:0>3", "S:3>4", "U:4>5", "A:5>6"}, "6", 0, 0, 1},
    {"a reshape as output moves the block", {"T:0>3", "R:3>4"}, "4", 0, 0, 1},
    {"a reshape of the input as output is copied", {"R:0>3"}, "3", 0, 0, 1},
    {"two reshapes of one block as outputs", {"T:0>3", "R:3>4", "R:3>5"}, "4 5", 0, 0, 2},
    /* relu may not overwrite the block that its own input's reshape still shows */
    {"a view keeps its block", {"T:0>3", "R:3>4", "A:3>5", "T:5>6", "U:4>7", "A:7>8"}, "6 8", 64, 64, 4},
    /* three branches of 64, joined into 192 of the output's */
    {"branches into the output", {"T:0>3", "T:0>4", "T:0>5", "C:3 4 5>6"}, "6", 192, 192, 4},
    {"branches", {"T:0>3", "T:0>4", "T:0>5", "C:3 4 5>6", "T:6>7"}, "7", 384, 384, 5},
    /* halves of 32 bytes take 64 each; the sum goes into the first half, which is the output */
    {"split", {"P:0>3 4", "+:3 4>5"}, "5", 64, 64, 2},
    {"one half unused", {"P:0>3 4", "T:4>5"}, "5", 128, 128, 2},
    /* an intermediate that is also an output is in the output from the start and is not overwritten */
    {"output in the middle", {"T:0>3", "A:3>4", "T:4>5", "T:5>6"}, "6 4", 64, 64, 4},
    {"output read again", {"T:0>3", "A:3>4"}, "3 4", 0, 0, 2},
    {"outputs listed twice", {"T:0>3", "A:3>4"}, "4 4 4", 0, 0, 4},
};

static void test_arena_figures(void **state)
{
    static graph g;
    nnrt_prepared_memory figures;
    (void)state;
    for (uint32_t i = 0; i < COUNT(drawings); i++) {
        const drawn *d = &drawings[i];
        graph_drawn(&g, d);
        nnrt_device_release(reference(), prepare(&g, &figures));
        if (figures.arena != d->arena || figures.bound != d->bound || figures.steps != d->steps)
            fail_msg("%s: arena %zu (%zu), bound %zu (%zu), %u steps (%u)", d->name, figures.arena, d->arena,
                     figures.bound, d->bound, figures.steps, d->steps);
    }
}

/* ---- random graphs against an interpreter that keeps every value in memory of its own ---- */

#define MAX_VALUES 70

typedef struct value {
    int32_t rows, columns;
    float v[64];
} value;

typedef struct world {
    graph g;
    value values[MAX_VALUES]; /* per tensor */
    int32_t target[MAX_NODES][2];
    uint32_t nInputs, nConstants;
} world;

static uint32_t world_tensor(world *w, int32_t rows, int32_t columns, const float *data)
{
    char dims[32];
    uint32_t i;
    value *v = &w->values[w->g.model.allTensors.count];
    v->rows = rows;
    v->columns = columns;
    snprintf(dims, sizeof(dims), "%d,%d", (int)rows, (int)columns);
    if (data != NULL)
        i = constant(&w->g, "", F32, dims, data, (size_t)(rows * columns) * 4);
    else if (draw(3) == 0)
        i = result(&w->g, "");
    else
        i = tensor(&w->g, "", F32, dims);
    return i;
}

/* A tensor that is no int32 constant; one of the last half of the time. */
static uint32_t world_pick(const world *w)
{
    uint32_t n = w->g.model.allTensors.count, i, from = draw(2) == 0 && n > 8 ? n - 8 : 0;
    do
        i = from + draw(n - from);
    while (w->g.tensors[i].dataType == I32);
    return i;
}

/* Another tensor of the same shape, or the same one. */
static uint32_t world_like(const world *w, uint32_t x)
{
    for (uint32_t k = 0; k < 12; k++) {
        uint32_t i = draw(w->g.model.allTensors.count);
        if (w->g.tensors[i].dataType != I32 && w->values[i].rows == w->values[x].rows &&
            w->values[i].columns == w->values[x].columns)
            return i;
    }
    return x;
}

static uint32_t world_ints(world *w, int32_t a, int32_t b)
{
    int32_t *t = w->target[w->g.model.nodes.count];
    t[0] = a;
    t[1] = b;
    return constant(&w->g, "", I32, "2", t, 8);
}

/* Appends one random node and works out its value, element by element. */
static void world_step(world *w)
{
    uint32_t x = world_pick(w), y, p, q = 0;
    const value *a = &w->values[x], *b;
    char in[32], out[32];
    int32_t n = a->rows * a->columns;
    switch (draw(8)) {
    case 0:
    case 1:
        y = world_tensor(w, a->rows, a->columns, NULL);
        for (int32_t i = 0; i < n; i++)
            w->values[y].v[i] = a->v[i] > 0 ? a->v[i] : -a->v[i];
        snprintf(in, sizeof(in), "%u", x);
        snprintf(out, sizeof(out), "%u", y);
        ACTIVATION(&w->g, "", absolute, in, out);
        return;
    case 2:
    case 3:
        p = world_like(w, x);
        b = &w->values[p];
        y = world_tensor(w, a->rows, a->columns, NULL);
        for (int32_t i = 0; i < n; i++)
            w->values[y].v[i] = a->v[i] - b->v[i];
        snprintf(in, sizeof(in), "%u %u", x, p);
        snprintf(out, sizeof(out), "%u", y);
        SUB(&w->g, "", in, out);
        return;
    case 4:
        p = world_ints(w, 1, 0);
        y = world_tensor(w, a->columns, a->rows, NULL);
        for (int32_t i = 0; i < n; i++)
            w->values[y].v[(i % a->columns) * a->rows + i / a->columns] = a->v[i];
        snprintf(in, sizeof(in), "%u %u", x, p);
        snprintf(out, sizeof(out), "%u", y);
        PLAIN(&w->g, "", TRANSPOSE, in, out);
        return;
    case 5:
        p = world_ints(w, a->columns, a->rows);
        y = world_tensor(w, a->columns, a->rows, NULL);
        memcpy(w->values[y].v, a->v, sizeof(a->v));
        snprintf(in, sizeof(in), "%u %u", x, p);
        snprintf(out, sizeof(out), "%u", y);
        PLAIN(&w->g, "", RESHAPE, in, out);
        return;
    case 6:
        p = world_like(w, x);
        b = &w->values[p];
        if (2 * n > 64)
            return;
        y = world_tensor(w, 2 * a->rows, a->columns, NULL);
        memcpy(w->values[y].v, a->v, (size_t)n * 4);
        memcpy(w->values[y].v + n, b->v, (size_t)n * 4);
        snprintf(in, sizeof(in), "%u %u", x, p);
        snprintf(out, sizeof(out), "%u", y);
        node(&w->g, "", NNRT_NODE_TYPE_CONCAT, &concat_0, sizeof(concat_0), in, out);
        return;
    default:
        if (a->rows % 2 != 0)
            return;
        p = world_tensor(w, a->rows / 2, a->columns, NULL);
        q = world_tensor(w, a->rows / 2, a->columns, NULL);
        memcpy(w->values[p].v, a->v, (size_t)n / 2 * 4);
        memcpy(w->values[q].v, a->v + n / 2, (size_t)n / 2 * 4);
        snprintf(in, sizeof(in), "%u", x);
        snprintf(out, sizeof(out), "%u %u", p, q);
        node(&w->g, "", NNRT_NODE_TYPE_SPLIT, &split_2, sizeof(split_2), in, out);
        return;
    }
}

/* The nodes in another order: the lists of their operands move along. */
static void world_shuffle(world *w)
{
    for (uint32_t i = w->g.model.nodes.count - 1; i > 0; i--) {
        uint32_t k = draw(i + 1);
        NNRT_Node t = w->g.nodes[i];
        w->g.nodes[i] = w->g.nodes[k];
        w->g.nodes[k] = t;
    }
}

static void world_make(world *w)
{
    static const int32_t rows[4] = {4, 2, 6, 1}, columns[4] = {3, 2, 4, 5};
    uint32_t nodes = 1 + draw(24), outputs = 1 + draw(6);
    graph_init(&w->g);
    w->nInputs = 1 + draw(3);
    w->nConstants = draw(2);
    for (uint32_t i = 0; i < w->nInputs + w->nConstants; i++) {
        uint32_t k = draw(4);
        value *v = &w->values[i];
        for (int32_t e = 0; e < 64; e++)
            v->v[e] = (float)((int32_t)draw(41) - 20);
        (void)world_tensor(w, rows[k], columns[k], i < w->nInputs ? NULL : v->v);
        if (i < w->nInputs) { /* inputs are declared whole */
            NNRT_Tensor *t = &w->g.tensors[i];
            t->dataType = F32;
            t->dims.count = 2;
            w->g.dims[i][0] = rows[k];
            w->g.dims[i][1] = columns[k];
            w->g.inputs[i] = i;
        }
    }
    w->g.model.inputIndex.count = w->nInputs;
    for (uint32_t i = 0; i < 200 && w->g.model.nodes.count < nodes && w->g.model.allTensors.count < MAX_VALUES - 4; i++)
        world_step(w);
    if (w->g.model.nodes.count == 0) {
        uint32_t y = world_tensor(w, w->values[0].rows, w->values[0].columns, NULL);
        char out[16];
        for (int32_t e = 0; e < 64; e++)
            w->values[y].v[e] = w->values[0].v[e] > 0 ? w->values[0].v[e] : -w->values[0].v[e];
        snprintf(out, sizeof(out), "%u", y);
        ACTIVATION(&w->g, "", absolute, "0", out);
    }
    w->g.model.outputIndex.count = outputs;
    for (uint32_t i = 0; i < outputs; i++) {
        uint32_t t = draw(w->g.model.allTensors.count);
        while (w->g.tensors[t].dataType == I32)
            t = draw(w->g.model.allTensors.count);
        w->g.outputs[i] = t;
    }
    world_shuffle(w);
}

/* Runs prepared with inputs and outputs between guards, aligned to their elements only, and compares every output. */
static void world_run(const world *w, NNRT_PreparedModel *prepared, void *workspace, size_t bytes, uint32_t trial)
{
    const NNRT_Model *m = &w->g.model;
    guarded in[16], out[32];
    NNRT_IOTensor ins[16], outs[32];
    int32_t dims[48][2];
    nnrt_dims real[32];
    nnrt_error e;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    for (uint32_t i = 0; i < m->inputIndex.count + m->outputIndex.count; i++) {
        bool isOut = i >= m->inputIndex.count;
        uint32_t k = isOut ? i - m->inputIndex.count : i;
        const value *v = &w->values[isOut ? m->outputIndex.data[k] : m->inputIndex.data[k]];
        size_t size = (size_t)(v->rows * v->columns) * 4;
        guarded *b = isOut ? &out[k] : &in[k];
        *b = guarded_make(size, 4 * (i % 3));
        dims[i][0] = v->rows;
        dims[i][1] = v->columns;
        if (!isOut)
            memcpy(b->data, v->v, size);
        *(isOut ? &outs[k] : &ins[k]) = io_of(F32, dims[i], 2, b->data, size);
    }
    code = nnrt_prepared_run(prepared, workspace, bytes, ins, m->inputIndex.count, outs, m->outputIndex.count, real,
                             NULL, &e);
    if (code != NNRT_SUCCESS)
        fail_msg("trial %u: %s", trial, e.message);
    for (uint32_t k = 0; k < m->outputIndex.count; k++) {
        const value *v = &w->values[m->outputIndex.data[k]];
        const float *got = (const float *)(const void *)out[k].data;
        assert_int_equal(real[k].rank, 2);
        assert_int_equal(real[k].dims[0], v->rows);
        assert_int_equal(real[k].dims[1], v->columns);
        for (int32_t i = 0; i < v->rows * v->columns; i++)
            if (!(got[i] == v->v[i]))
                fail_msg("trial %u: output %u (tensor %u), element %d: %g, expected %g", trial, k,
                         m->outputIndex.data[k], (int)i, (double)got[i], (double)v->v[i]);
        guarded_end(&out[k]);
    }
    for (uint32_t k = 0; k < m->inputIndex.count; k++) {
        assert_memory_equal(in[k].data, w->values[m->inputIndex.data[k]].v, in[k].bytes);
        guarded_end(&in[k]);
    }
}

static void test_random_graphs(void **state)
{
    static world w;
    (void)state;
    for (uint32_t trial = 0; trial < 600; trial++) {
        NNRT_ModelConfig config;
        NNRT_PreparedModel *prepared;
        nnrt_prepared_memory figures;
        guarded buffer, workspace;
        size_t bytes = 0;
        seed = trial * 7919u + 1u;
        world_make(&w);
        prepared = prepare(&w.g, &figures); /* in memory of its own, with a workspace of its own */
        assert_true(figures.arena >= figures.bound);
        world_run(&w, prepared, NULL, 0, trial);
        world_run(&w, prepared, NULL, 0, trial);
        nnrt_device_release(reference(), prepared);
        config_init(&config, NULL); /* in one buffer and a workspace, both exactly as large as said */
        config.callerWorkspace = true;
        config.copyConstants = trial % 2 != 0;
        assert_int_equal(nnrt_device_model_memory(reference(), &w.g.model, &config, &bytes), NNRT_SUCCESS);
        buffer = guarded_make(bytes, 0);
        config.buffer = buffer.data;
        config.bufferBytes = bytes;
        prepared = prepare_with(&w.g, &config, &figures);
        workspace = guarded_make(figures.workspace, 0);
        world_run(&w, prepared, workspace.data, workspace.bytes, trial);
        world_run(&w, prepared, workspace.data, workspace.bytes, trial);
        nnrt_device_release(reference(), prepared);
        guarded_end(&workspace);
        config.bufferBytes = bytes - 1;
        prepared = NULL;
        assert_int_equal(nnrt_device_prepare(reference(), &w.g.model, &config, &prepared), NNRT_OUT_OF_MEMORY);
        assert_null(prepared);
        guarded_end(&buffer);
    }
}

/* ---- memory ---- */

static const char *const memory_models[] = {"chain",
                                            "residual in place",
                                            "branches",
                                            "split",
                                            "reshapes only change the view",
                                            "output in the middle",
                                            "outputs listed twice"};

static void graph_named(graph *g, const char *name)
{
    for (uint32_t i = 0; i < COUNT(drawings); i++)
        if (strcmp(drawings[i].name, name) == 0) {
            graph_drawn(g, &drawings[i]);
            return;
        }
    fail_msg("no drawing '%s'", name);
}

/* GetModelMemory is exact: N bytes and more suffice, N - 1 and less do not, with and without a workspace of the
   device's own. */
static void test_memory_exact(void **state)
{
    static graph g;
    (void)state;
    for (uint32_t i = 0; i < 4 * COUNT(memory_models); i++) {
        NNRT_ModelConfig config;
        nnrt_error e;
        size_t bytes = 0;
        config_init(&config, NULL);
        graph_named(&g, memory_models[i / 4]);
        config.callerWorkspace = (i & 1) != 0;
        config.copyConstants = (i & 2) != 0;
        assert_int_equal(nnrt_device_model_memory(reference(), &g.model, &config, &bytes), NNRT_SUCCESS);
        assert_int_equal(bytes % NNRT_ALIGNMENT, 0);
        for (uint32_t k = 0; k < 9; k++) {
            static const int32_t more[9] = {0, 1, 64, 4096, -1, -64, -65, -128, INT32_MIN};
            size_t have = more[k] == INT32_MIN ? 1 : (size_t)((int64_t)bytes + more[k]);
            guarded buffer = guarded_make(have, 0);
            NNRT_PreparedModel *prepared = NULL;
            NNRT_ReturnCode code;
            memset(&e, 0, sizeof(e));
            config.error = &e;
            config.buffer = buffer.data;
            config.bufferBytes = have;
            code = nnrt_device_prepare(reference(), &g.model, &config, &prepared);
            if (have >= bytes) {
                assert_int_equal(code, NNRT_SUCCESS);
                assert_true((uint8_t *)prepared >= buffer.data && (uint8_t *)prepared < buffer.data + have);
            } else {
                assert_int_equal(code, NNRT_OUT_OF_MEMORY);
                assert_int_equal(e.code, NNRT_OUT_OF_MEMORY);
                assert_non_null(strstr(e.message, "memory"));
                assert_null(prepared);
            }
            nnrt_device_release(reference(), prepared);
            guarded_end(&buffer);
        }
    }
}

/* With n growing, the n-th allocation fails until none is left to fail: every time the same code, nothing lost, and the
   same preparation works right afterwards. */
static void test_every_allocation_fails(void **state)
{
    static graph g;
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(memory_models); i++) {
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        NNRT_ModelConfig config;
        nnrt_error e;
        NNRT_PreparedModel *prepared = NULL;
        int64_t n = 1;
        NNRT_ReturnCode code;
        memset(&t, 0, sizeof(t));
        graph_named(&g, memory_models[i / 2]);
        config_init(&config, &e);
        config.allocator = &a;
        config.copyConstants = i % 2 != 0;
        for (;; n++) {
            t.calls = 0;
            t.failAt = n;
            memset(&e, 0, sizeof(e));
            code = nnrt_device_prepare(reference(), &g.model, &config, &prepared);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_int_equal(e.code, NNRT_OUT_OF_MEMORY);
            assert_non_null(strstr(e.message, "memory"));
            assert_null(prepared);
            assert_int_equal(t.live, 0);
            assert_true(n < 2000);
            t.failAt = 0;
            assert_int_equal(nnrt_device_prepare(reference(), &g.model, &config, &prepared), NNRT_SUCCESS);
            nnrt_device_release(reference(), prepared);
            assert_int_equal(t.live, 0);
        }
        assert_true(n > 10); /* there were allocations to fail */
        assert_int_equal(t.calls, n - 1);
        nnrt_device_release(reference(), prepared);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
        for (n = 1;; n++) { /* the same for the question how much is needed */
            size_t bytes = 1;
            t.calls = 0;
            t.failAt = n;
            memset(&e, 0, sizeof(e));
            code = nnrt_device_model_memory(reference(), &g.model, &config, &bytes);
            assert_int_equal(t.live, 0);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_int_equal(bytes, 0);
        }
        for (n = 1;; n++) {
            t.calls = 0;
            t.failAt = n;
            code = nnrt_model_validate(&g.model, &config, NULL);
            assert_int_equal(t.live, 0);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
        }
    }
}

static void test_run_allocates_nothing(void **state)
{
    static world w;
    (void)state;
    for (uint32_t trial = 0; trial < 20; trial++) {
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        NNRT_ModelConfig config;
        nnrt_prepared_memory figures;
        NNRT_PreparedModel *prepared;
        int64_t before;
        memset(&t, 0, sizeof(t));
        seed = 4711 + trial;
        world_make(&w);
        config_init(&config, NULL);
        config.allocator = &a;
        prepared = prepare_with(&w.g, &config, &figures);
        before = t.calls;
        for (uint32_t i = 0; i < 5; i++)
            world_run(&w, prepared, NULL, 0, trial);
        assert_int_equal(t.calls, before);
        assert_true(figures.tables <= t.live);
        nnrt_device_release(reference(), prepared);
        assert_int_equal(t.live, 0);
    }
}

/* ---- arguments of a run ---- */

/* Run (own workspace), RunIn and nnrt_prepared_run of the sound model; all must give the same code. Where the model
   runs, y is relu(x + c). */
typedef struct bench {
    graph g;
    NNRT_PreparedModel *prepared;
    nnrt_prepared_memory figures;
    guarded workspace;
    float in[6], out[6];
    NNRT_IOTensor x, y;
    nnrt_dims real;
    nnrt_error e;
} bench;

static const int32_t dims_2_3[2] = {2, 3};

static void bench_start(bench *b)
{
    graph_sound(&b->g);
    b->prepared = prepare(&b->g, &b->figures);
    b->workspace = guarded_make(b->figures.workspace, 0);
    for (int32_t i = 0; i < 6; i++)
        b->in[i] = (float)(10 * (i - 4));
    b->x = io_of(F32, dims_2_3, 2, b->in, sizeof(b->in));
    b->y = io_of(F32, dims_2_3, 2, b->out, sizeof(b->out));
}

static void bench_end(bench *b)
{
    nnrt_device_release(reference(), b->prepared);
    guarded_end(&b->workspace);
}

/* On failure nothing of the output is written, and the message says `says`. */
static void bench_expect(bench *b, const NNRT_IOTensor *x, uint32_t nIn, const NNRT_IOTensor *y, uint32_t nOut,
                         NNRT_ReturnCode want, const char *says)
{
    for (int32_t way = 0; way < 3; way++) {
        NNRT_ReturnCode code;
        memset(&b->real, 0, sizeof(b->real));
        memset(&b->e, 0, sizeof(b->e));
        for (int32_t i = 0; i < 6; i++)
            b->out[i] = -77;
        if (way == 0)
            code = b->prepared->vtbl->Run(b->prepared, x, nIn, y, nOut, nOut == 1 ? &b->real : NULL);
        else if (way == 1)
            code = b->prepared->vtbl->RunIn(b->prepared, b->workspace.data, b->workspace.bytes, x, nIn, y, nOut,
                                            nOut == 1 ? &b->real : NULL, &b->e);
        else
            code = nnrt_prepared_run(b->prepared, NULL, 0, x, nIn, y, nOut, nOut == 1 ? &b->real : NULL, NULL, &b->e);
        if (code != want)
            fail_msg("way %d: %s, expected %s: %s", (int)way, nnrt_code_name(code), nnrt_code_name(want), b->e.message);
        if (nOut == 1) { /* the real shape, also when the buffer was too small */
            assert_int_equal(b->real.rank, 2);
            assert_int_equal(b->real.dims[0], 2);
            assert_int_equal(b->real.dims[1], 3);
        }
        if (way > 0 && want != NNRT_SUCCESS) {
            assert_int_equal(b->e.code, want);
            if (way == 1 && strstr(b->e.message, says) == NULL)
                fail_msg("\"%s\" does not say \"%s\"", b->e.message, says);
        }
        for (int32_t i = 0; i < 6; i++) {
            float v = b->in[i] + three[i % 3];
            assert_true(b->out[i] == (want != NNRT_SUCCESS ? -77 : v > 0 ? v : 0));
        }
    }
}

/* The codes of invalid inputs and outputs of a run. After every refusal the model still runs. */
static void test_io_codes(void **state)
{
    static bench b;
    static const int32_t dims_6[1] = {6}, dims_2_4[2] = {2, 4};
    static float wide[9];
    NNRT_IOTensor x, y, two[2];
    (void)state;
    bench_start(&b);
#define RUNS(px, py) bench_expect(&b, px, 1, py, 1, NNRT_SUCCESS, "")
#define REFUSED(code, says)                                                                                            \
    do {                                                                                                               \
        bench_expect(&b, &x, 1, &y, 1, code, says);                                                                    \
        RUNS(&b.x, &b.y);                                                                                              \
        x = b.x;                                                                                                       \
        y = b.y;                                                                                                       \
    } while (0)
    x = b.x;
    y = b.y;
    RUNS(&x, &y);
    two[0] = two[1] = b.x;
    bench_expect(&b, two, 2, &y, 1, NNRT_INVALID_INPUT, "got 2 inputs, the model has 1");
    bench_expect(&b, two, 0, &y, 1, NNRT_INVALID_INPUT, "got 0 inputs");
    two[0] = two[1] = b.y;
    bench_expect(&b, &x, 1, two, 2, NNRT_INVALID_OUTPUT, "got 2 outputs, the model has 1");
    bench_expect(&b, &x, 1, two, 0, NNRT_INVALID_OUTPUT, "got 0 outputs");
    bench_expect(&b, NULL, 1, &y, 1, NNRT_NULL_PTR, "NULL");
    bench_expect(&b, &x, 1, NULL, 1, NNRT_NULL_PTR, "NULL");
    x.dataType = I32;
    REFUSED(NNRT_INVALID_DATATYPE, "input 0 'x' has type int32");
    y.dataType = NNRT_DATA_TYPE_FLOAT16;
    REFUSED(NNRT_INVALID_DATATYPE, "output 0 'y' has type float16");
    x.dimensions = NNRT_Int32List_make(dims_6, 1);
    REFUSED(NNRT_INVALID_SHAPE, "input 0 'x'");
    x.dimensions = NNRT_Int32List_make(dims_2_4, 2);
    REFUSED(NNRT_INVALID_SHAPE, "float32[2,3]");
    x.dimensions = NNRT_Int32List_make(NULL, 2);
    REFUSED(NNRT_INVALID_SHAPE, "input 0 'x'");
    x.dimensions.count = 0;
    REFUSED(NNRT_INVALID_SHAPE, "input 0 'x'");
    y.dimensions = NNRT_Int32List_make(dims_2_4, 2);
    REFUSED(NNRT_INVALID_SHAPE, "output 0 'y'");
    x.data.addr = NULL;
    REFUSED(NNRT_INVALID_BUFFER, "input 0 'x'");
    y.data.addr = NULL;
    REFUSED(NNRT_INVALID_BUFFER, "output 0 'y'");
    x.data.bufferSize = 23;
    REFUSED(NNRT_INVALID_BUFFER, "input 0 'x'");
    x.data.offset = 4;
    REFUSED(NNRT_INVALID_BUFFER, "input 0 'x'");
    x.data.offset = 0xFFFFFFFCu;
    REFUSED(NNRT_INVALID_BUFFER, "input 0 'x'");
    x.data.addr = (uint8_t *)wide + 1;
    x.data.bufferSize = 32;
    REFUSED(NNRT_INVALID_BUFFER, "aligned to the 4 bytes of a float32");
    y.data.addr = (uint8_t *)wide + 2;
    REFUSED(NNRT_INVALID_BUFFER, "output 0 'y' is not aligned");
    x.data.dataSize = 20;
    REFUSED(NNRT_INVALID_BUFFER_SIZE, "input 0 'x' has 20 bytes, expected 24");
    y.data.dataSize = 20;
    REFUSED(NNRT_INSUFFICIENT_BUFFER, "output 0 'y' has 20 bytes, expected 24");
    y.data.bufferSize = y.data.dataSize = 0;
    REFUSED(NNRT_INSUFFICIENT_BUFFER, "output 0 'y'");
    y.dimensions = NNRT_Int32List_make(NULL, 0); /* an output need not repeat its shape */
    RUNS(&x, &y);
    memcpy(wide + 2, b.in, sizeof(b.in)); /* valid data after an offset */
    x.data.addr = wide;
    x.data.bufferSize = sizeof(wide);
    x.data.offset = 8;
    RUNS(&x, &y);
    x.format = NNRT_FORMAT_NCHW; /* the model says nothing of a format: any is right */
    RUNS(&x, &y);
    bench_end(&b);
    graph_sound(&b.g);
    b.g.tensors[0].format = NNRT_FORMAT_NHWC;
    b.prepared = prepare(&b.g, &b.figures);
    b.workspace = guarded_make(b.figures.workspace, 0);
    x = b.x;
    y = b.y;
    x.format = NNRT_FORMAT_NCHW;
    REFUSED(NNRT_INVALID_FORMAT, "input 0 'x' has format 0");
    x.format = NNRT_FORMAT_NHWC;
    RUNS(&x, &y);
    bench_end(&b);
#undef RUNS
#undef REFUSED
}

/* Faults that depend on the data of a run: an index out of range, an integer divided by 0. */
static void test_run_faults(void **state)
{
    static graph g;
    static const int32_t dims_3[1] = {3}, dims_2[1] = {2};
    int32_t table[3] = {7, 8, 9}, index[2] = {1, 3}, divisor[2] = {2, 1}, out[2];
    nnrt_prepared_memory figures;
    NNRT_PreparedModel *prepared;
    NNRT_IOTensor in[3], y = io_of(I32, dims_2, 1, out, 8);
    nnrt_error e;
    (void)state;
    in[0] = io_of(I32, dims_3, 1, table, 12);
    in[1] = io_of(I32, dims_2, 1, index, 8);
    in[2] = io_of(I32, dims_2, 1, divisor, 8);
    graph_init(&g);
    (void)tensor(&g, "table", I32, "3");
    (void)tensor(&g, "index", I32, "2");
    (void)tensor(&g, "divisor", I32, "2");
    (void)constant(&g, "axis", I32, "", zero_int, 4);
    (void)result(&g, "picked");
    (void)result(&g, "y");
    node(&g, "divide", NNRT_NODE_TYPE_DIV_FUSION, &plain_div, sizeof(plain_div), "4 2", "5");
    PLAIN(&g, "look up", GATHER, "0 1 3", "4");
    graph_io(&g, "0 1 2", "5");
    prepared = prepare(&g, &figures);
    for (int32_t i = 0; i < 3; i++) {
        memset(&e, 0, sizeof(e));
        index[1] = 3; /* out of [-3, 3) */
        assert_int_equal(nnrt_prepared_run(prepared, NULL, 0, in, 3, &y, 1, NULL, NULL, &e), NNRT_INVALID_PARAMETER);
        index[1] = -4;
        assert_int_equal(prepared->vtbl->Run(prepared, in, 3, &y, 1, NULL), NNRT_INVALID_PARAMETER);
        index[1] = -3;
        divisor[1] = 0;
        assert_int_equal(prepared->vtbl->Run(prepared, in, 3, &y, 1, NULL), NNRT_INVALID_PARAMETER);
        divisor[1] = 1;
        assert_int_equal(prepared->vtbl->Run(prepared, in, 3, &y, 1, NULL), NNRT_SUCCESS);
        assert_int_equal(out[0], 8 / 2);
        assert_int_equal(out[1], 7);
    }
    {
        guarded workspace = guarded_make(figures.workspace, 0);
        memset(&e, 0, sizeof(e));
        index[1] = 3;
        assert_int_equal(prepared->vtbl->RunIn(prepared, workspace.data, workspace.bytes, in, 3, &y, 1, NULL, &e),
                         NNRT_INVALID_PARAMETER);
        assert_int_equal(e.node, 1);
        assert_non_null(strstr(e.message, "node 1 'look up' (GATHER)"));
        memset(&e, 0, sizeof(e));
        index[1] = 0;
        divisor[0] = 0;
        assert_int_equal(prepared->vtbl->RunIn(prepared, workspace.data, workspace.bytes, in, 3, &y, 1, NULL, &e),
                         NNRT_INVALID_PARAMETER);
        assert_int_equal(e.node, 0);
        assert_non_null(strstr(e.message, "node 0 'divide' (DIV_FUSION)"));
        assert_non_null(strstr(e.message, "divisor"));
        guarded_end(&workspace);
    }
    nnrt_device_release(reference(), prepared);
}

static void test_workspace_checks(void **state)
{
    static graph g;
    nnrt_prepared_memory figures;
    NNRT_PreparedModel *prepared;
    static const int32_t dims[2] = {4, 4};
    float in[16], out[16];
    NNRT_IOTensor x = io_of(F32, dims, 2, in, sizeof(in)), y = io_of(F32, dims, 2, out, sizeof(out));
    guarded workspace;
    size_t bytes = 0;
    nnrt_error e;
    (void)state;
    memset(in, 0, sizeof(in));
    graph_named(&g, "chain");
    prepared = prepare(&g, &figures);
    assert_int_equal(prepared->vtbl->GetWorkspaceSize(prepared, &bytes), NNRT_SUCCESS);
    assert_int_equal(bytes, figures.workspace);
    assert_true(bytes >= figures.arena);
    workspace = guarded_make(bytes + 64, 0);
#define RUN_IN(at, n) prepared->vtbl->RunIn(prepared, at, n, &x, 1, &y, 1, NULL, &e)
    memset(&e, 0, sizeof(e));
    assert_int_equal(RUN_IN(workspace.data, bytes), NNRT_SUCCESS);
    assert_int_equal(RUN_IN(workspace.data, bytes - 1), NNRT_OUT_OF_MEMORY);
    assert_non_null(strstr(e.message, "workspace"));
    memset(&e, 0, sizeof(e));
    assert_int_equal(RUN_IN(workspace.data + 8, bytes), NNRT_INVALID_PARAMETER);
    assert_non_null(strstr(e.message, "64"));
    assert_int_equal(RUN_IN(NULL, bytes), NNRT_OUT_OF_MEMORY);
    assert_int_equal(RUN_IN(workspace.data + 64, bytes), NNRT_SUCCESS);
#undef RUN_IN
    guarded_end(&workspace);
    nnrt_device_release(reference(), prepared);
}

static void test_ranges_and_io(void **state)
{
    static graph g;
    static const nnrt_dims given[1] = {{2, {5, 3}}};
    NNRT_ModelConfig config;
    nnrt_prepared_memory figures;
    NNRT_PreparedModel *prepared;
    nnrt_dims least, most;
    NNRT_DataType type = 0;
    (void)state;
    graph_sound(&g);
    g.dims[0][0] = g.dims[2][0] = g.dims[3][0] = -1;
    config_init(&config, NULL);
    config.inputDims = nnrt_dims_list_make(given, 1);
    prepared = prepare_with(&g, &config, &figures);
    memset(&least, 0xFF, sizeof(least));
    memset(&most, 0xFF, sizeof(most));
    assert_int_equal(prepared->vtbl->GetInputDimRanges(prepared, 0, &least, &most), NNRT_SUCCESS);
    assert_int_equal(least.rank, 2);
    assert_int_equal(most.rank, 2);
    assert_int_equal(least.dims[0], 5);
    assert_int_equal(most.dims[0], 5);
    assert_int_equal(least.dims[1], 3);
    assert_int_equal(most.dims[1], 3);
    assert_int_equal(prepared->vtbl->GetInputDimRanges(prepared, 1, &least, &most), NNRT_INVALID_PARAMETER);
    assert_int_equal(prepared->vtbl->GetInputDimRanges(prepared, 0, NULL, &most), NNRT_NULL_PTR);
    assert_int_equal(prepared->vtbl->GetInputDimRanges(prepared, 0, &least, NULL), NNRT_NULL_PTR);
    assert_int_equal(prepared->vtbl->GetIO(prepared, true, 0, &type, &most), NNRT_SUCCESS);
    assert_int_equal(type, F32);
    assert_int_equal(most.dims[0], 5);
    assert_int_equal(prepared->vtbl->GetIO(prepared, true, 1, &type, &most), NNRT_INVALID_PARAMETER);
    assert_int_equal(prepared->vtbl->GetIO(prepared, false, 1, &type, &most), NNRT_INVALID_PARAMETER);
    nnrt_device_release(reference(), prepared);
}

/* HDI's Run uses the device's workspace; there is none if the caller chose to pass its own. */
static void test_caller_workspace_forbids_run(void **state)
{
    static bench b;
    NNRT_ModelConfig config;
    nnrt_error e;
    size_t with, without;
    (void)state;
    bench_start(&b);
    with = b.figures.tables;
    nnrt_device_release(reference(), b.prepared);
    config_init(&config, NULL);
    config.callerWorkspace = true;
    b.prepared = prepare_with(&b.g, &config, &b.figures);
    without = b.figures.tables;
    assert_true(with >= without + b.figures.workspace);
    memset(&e, 0, sizeof(e));
    assert_int_equal(b.prepared->vtbl->Run(b.prepared, &b.x, 1, &b.y, 1, NULL), NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(nnrt_prepared_run(b.prepared, NULL, 0, &b.x, 1, &b.y, 1, NULL, NULL, &e),
                     NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(e.code, NNRT_OPERATION_FORBIDDEN);
    assert_true(strlen(e.message) > 0);
    assert_int_equal(
        nnrt_prepared_run(b.prepared, b.workspace.data, b.workspace.bytes, &b.x, 1, &b.y, 1, NULL, NULL, NULL),
        NNRT_SUCCESS);
    bench_end(&b);
}

/* All performance modes and priorities that exist are accepted. */
static void test_modes_and_priorities(void **state)
{
    static graph g;
    (void)state;
    graph_sound(&g);
    for (int32_t mode = NNRT_PERFORMANCE_NONE; mode <= NNRT_PERFORMANCE_EXTREME; mode++)
        for (int32_t priority = NNRT_PRIORITY_NONE; priority <= NNRT_PRIORITY_HIGH; priority++) {
            NNRT_ModelConfig config;
            NNRT_PreparedModel *prepared = NULL;
            config_init(&config, NULL);
            config.mode = mode;
            config.priority = priority;
            assert_int_equal(nnrt_device_prepare(reference(), &g.model, &config, &prepared), NNRT_SUCCESS);
            nnrt_device_release(reference(), prepared);
        }
}

/* GetSupportedOperation: one answer a node; a model that is no model gets the code of its fault. */
static void test_reference_supported(void **state)
{
    static graph g;
    bool ok[3] = {false, false, true};
    (void)state;
    graph_sound(&g);
    assert_int_equal(nnrt_device_supported(reference(), &g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
    assert_true(ok[0] && ok[1]);
    assert_int_equal(nnrt_device_supported(reference(), &g.model, NULL, ok, 3, NULL, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_device_supported(reference(), &g.model, NULL, NULL, 2, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_supported(reference(), NULL, NULL, ok, 2, NULL, NULL), NNRT_NULL_PTR);
    g.nodes[1].nodeType = 12345; /* an operator that does not exist */
    assert_int_equal(nnrt_device_supported(reference(), &g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
    assert_true(ok[0] && !ok[1]);
    graph_sound(&g);
    spoil_shapes_differ(&g, NULL); /* an operator that does not take these shapes */
    assert_int_equal(nnrt_device_supported(reference(), &g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
    assert_false(ok[0]);
    graph_sound(&g);
    g.dims[0][0] = -1; /* a dynamic dimension: it may match */
    assert_int_equal(nnrt_device_supported(reference(), &g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
    assert_true(ok[0] && ok[1]);
    for (uint32_t i = 0; i < COUNT(faults); i++) { /* GetSupportedOperation */
        static const struct {
            const char *name;
            NNRT_ReturnCode code;
        } listed[] = {{"lists behind tensors empty", NNRT_INVALID_MODEL},
                      {"all lists empty", NNRT_INVALID_TENSOR},
                      {"lists behind nodes empty", NNRT_INVALID_OUTPUT},
                      {"no outputs", NNRT_INVALID_OUTPUT},
                      {"type beyond", NNRT_INVALID_DATATYPE},
                      {"format 2", NNRT_INVALID_FORMAT},
                      {"constant without address", NNRT_INVALID_BUFFER},
                      {"cycle of two", NNRT_INVALID_MODEL},
                      {"node input beyond", NNRT_INVALID_INPUT},
                      {"two producers", NNRT_INVALID_OUTPUT},
                      {"nine axes", NNRT_INVALID_SHAPE},
                      {"nodes NULL", NNRT_NULL_PTR}};
        for (uint32_t k = 0; k < COUNT(listed); k++)
            if (strcmp(faults[i].name, listed[k].name) == 0) {
                NNRT_ReturnCode code;
                graph_sound(&g);
                faults[i].spoil(&g, NULL);
                code = nnrt_device_supported(reference(), &g.model, NULL, ok, g.model.nodes.count, NULL, NULL);
                if (code != listed[k].code)
                    fail_msg("%s: %s", faults[i].name, nnrt_code_name(code));
            }
    }
}

/* Reasons passed by nnrt_device_supported. */
typedef struct reasons {
    uint32_t count, nodes[MAX_NODES];
    nnrt_error errors[MAX_NODES];
} reasons;

static void keep_reason(void *user, uint32_t n, const nnrt_error *error)
{
    reasons *r = (reasons *)user;
    assert_true(r->count < MAX_NODES);
    r->nodes[r->count] = n;
    r->errors[r->count++] = *error;
}

/* The nodes of the model that the device does not support are the ones in `bad`, "1 3", in any order, each with a reason that
   names it. */
static const reasons *expect_support(nnrt_device *d, const NNRT_Model *m, const NNRT_ModelConfig *config,
                                     const char *bad)
{
    static reasons r;
    bool ok[MAX_NODES], again[MAX_NODES], want[MAX_NODES];
    uint32_t numbers[MAX_NODES], count = parse_indices(bad, numbers);
    memset(&r, 0, sizeof(r));
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        ok[i] = again[i] = i % 2 == 0;
        want[i] = true;
    }
    for (uint32_t i = 0; i < count; i++)
        want[numbers[i]] = false;
    assert_int_equal(nnrt_device_supported(d, m, config, ok, m->nodes.count, keep_reason, &r), NNRT_SUCCESS);
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (ok[i] != want[i])
            fail_msg("node %u '%s' is %staken", i, m->nodes.data[i].name, ok[i] ? "" : "not ");
    assert_int_equal(r.count, count);
    for (uint32_t i = 0; i < r.count; i++) {
        char name[64];
        snprintf(name, sizeof(name), "node %u '%s'", r.nodes[i], m->nodes.data[r.nodes[i]].name);
        assert_false(ok[r.nodes[i]]);
        assert_int_equal(r.errors[i].node, r.nodes[i]);
        assert_int_equal(r.errors[i].capacity, sizeof(r.errors[i].message));
        assert_int_not_equal(r.errors[i].code, NNRT_SUCCESS);
        if (strstr(r.errors[i].message, name) == NULL)
            fail_msg("\"%s\" does not name %s", r.errors[i].message, name);
    }
    if (config == NULL) {
        assert_int_equal(nnrt_device_supported(d, m, NULL, again, m->nodes.count, NULL, NULL), NNRT_SUCCESS);
        assert_memory_equal(ok, again, m->nodes.count * sizeof(ok[0]));
    }
    return &r;
}

/* Every node is checked, whatever faults others have: after an unsupported node by declared shapes, or by operator and types
   without declared shapes. */
static void test_supported_behind_others(void **state)
{
    static const nnrt_dims rows[1] = {{2, {5, 3}}};
    static const int32_t whole[1] = {1};
    static graph g;
    NNRT_ModelConfig config;
    bool ok[9];
    (void)state;
    for (uint32_t way = 0; way < 2; way++) {
        graph_init(&g); /* x [2,3]; four chains from it */
        (void)tensor(&g, "x", F32, "2,3");
        (void)constant(&g, "four", F32, "4", three, 16);
        (void)constant(&g, "one", I32, "1", whole, 4);
        if (way == 0) {
            (void)result(&g, "a"); /* 3: of the stranger */
            (void)result(&g, "b"); /* 4: of the sum that does not fit */
        } else {
            (void)tensor(&g, "a", F32, "2,3");
            (void)tensor(&g, "b", F32, "2,3");
        }
        for (uint32_t i = 5; i < 12; i++)
            (void)result(&g, "");
        node(&g, "stranger", 12345, &relu, sizeof(relu), "0", "3");
        ADD(&g, "unfit", "0 1", "4");
        ACTIVATION(&g, "behind stranger", relu, "3", "5");
        SUB(&g, "behind both", "3 4", "6");
        ADD(&g, "float and int", "5 2", "7"); /* int32 with float32: the known types suffice for a decision */
        ACTIVATION(&g, "beside them", relu, "0", "8");
        ADD(&g, "unfit again", "8 1", "9");
        ADD(&g, "four behind stranger", "5 1", "10"); /* [2,3] + [4], if the shape is known */
        ADD(&g, "unfit and int", "4 2", "11");        /* b is float32, as x is, whatever its shape */
        graph_io(&g, "0", "5 6 7 8 9 10 11");
        if (way == 0) {
            /* nothing is known of a: of node 4 one type is not known, so it may be good */
            (void)expect_support(reference(), &g.model, NULL, "0 1 6 8");
            g.tensors[3].dataType = F32; /* the type of a alone: 5 gets it, and 4 has two */
            (void)expect_support(reference(), &g.model, NULL, "0 1 4 6 8");
            g.tensors[3].dataType = NNRT_DATA_TYPE_BOOL; /* which relu takes no more than differences do */
            (void)expect_support(reference(), &g.model, NULL, "0 1 2 3 6 8");
        } else {
            const reasons *r = expect_support(reference(), &g.model, NULL, "0 1 4 6 7 8");
            for (uint32_t i = 0; i < r->count; i++) {
                static const NNRT_ReturnCode codes[9] = {
                    NNRT_UNSUPPORTED_OP, NNRT_INVALID_SHAPE,   0, 0, NNRT_INVALID_DATATYPE, 0, NNRT_INVALID_SHAPE,
                    NNRT_INVALID_SHAPE,  NNRT_INVALID_DATATYPE};
                assert_int_equal(r->errors[i].code, codes[r->nodes[i]]);
            }
        }
        g.nodes[2].inputIndex.count = 0; /* too few operands: no shape is needed to tell */
        assert_int_equal(nnrt_device_supported(reference(), &g.model, NULL, ok, 9, NULL, NULL), NNRT_SUCCESS);
        assert_true(!ok[0] && !ok[1] && !ok[2] && ok[5]);
        g.in[5][0] = 99; /* a model that is none, in spite of its stranger */
        assert_int_equal(nnrt_device_supported(reference(), &g.model, NULL, ok, 9, NULL, NULL), NNRT_INVALID_INPUT);
    }
    graph_sound(&g);
    g.dims[0][0] = g.dims[2][0] = g.dims[3][0] = -1; /* x [-1,3] + c [3] -> a -> y */
    (void)expect_support(reference(), &g.model, NULL, "");
    config_init(&config, NULL);
    config.inputDims = nnrt_dims_list_make(rows, 1); /* as the model will be prepared */
    (void)expect_support(reference(), &g.model, &config, "");
    g.dims[3][0] = 4;
    (void)expect_support(reference(), &g.model, &config, "1"); /* [5,3] is not [4,3] */
    (void)expect_support(reference(), &g.model, NULL, "");
    config.inputDims.count = 2;
    assert_int_equal(nnrt_device_supported(reference(), &g.model, &config, ok, 2, NULL, NULL), NNRT_INVALID_PARAMETER);
}

/* Without shapes, operands that are left out are no fault: the others are judged by their types. */
static void test_supported_absent(void **state)
{
    static const int32_t whole[1] = {1};
    static graph g;
    const reasons *r;
    (void)state;
    graph_init(&g);
    (void)tensor(&g, "x", F32, "2,3");
    (void)result(&g, "a"); /* of the stranger: float32 of no shape */
    g.tensors[1].dataType = F32;
    (void)constant(&g, "three", F32, "1", three, 4);
    (void)constant(&g, "one", I32, "1", whole, 4);
    for (uint32_t i = 4; i < 8; i++)
        (void)result(&g, "");
    node(&g, "stranger", 12345, &relu, sizeof(relu), "0", "1");
    PLAIN(&g, "at most three", CLIP, "1 - 2", "4");
    PLAIN(&g, "at most int32", CLIP, "1 - 3", "5");
    PLAIN(&g, "positions", ARGMAX_FUSION, "1", "6 -");
    PLAIN(&g, "root of a maximum", SQRT, "4", "7");
    graph_io(&g, "0", "4 5 6 7");
    r = expect_support(reference(), &g.model, NULL, "0 2");
    assert_int_equal(r->errors[1].code, NNRT_INVALID_DATATYPE);
    g.in[2][0] = NNRT_NO_TENSOR; /* x may not be left out */
    r = expect_support(reference(), &g.model, NULL, "0 2");
    assert_int_equal(r->errors[1].code, NNRT_NULL_PTR);
}

/* It works in the memory of the configuration, and says when there is too little. */
static void test_supported_memory(void **state)
{
    static graph g;
    (void)state;
    for (uint32_t i = 0; i < COUNT(memory_models); i++) {
        NNRT_ModelConfig config;
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        guarded buffer;
        bool ok[MAX_NODES];
        size_t bytes;
        int64_t n = 0;
        NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
        memset(&t, 0, sizeof(t));
        graph_named(&g, memory_models[i]);
        config_init(&config, NULL);
        config.allocator = &a;
        while (code != NNRT_SUCCESS) {
            t.calls = 0;
            t.failAt = ++n;
            code = nnrt_device_supported(reference(), &g.model, &config, ok, g.model.nodes.count, NULL, NULL);
            assert_true(code == NNRT_SUCCESS || code == NNRT_OUT_OF_MEMORY);
            assert_int_equal(t.live, 0);
        }
        assert_true(n > 3);
        t.failAt = 0;
        assert_int_equal(nnrt_device_model_memory(reference(), &g.model, &config, &bytes), NNRT_SUCCESS);
        buffer = guarded_make(bytes, 0);
        config.allocator = NULL;
        config.buffer = buffer.data;
        config.bufferBytes = bytes;
        heap_shut = true;
        code = nnrt_device_supported(reference(), &g.model, &config, ok, g.model.nodes.count, NULL, NULL);
        config.bufferBytes = 64;
        heap_shut = false;
        assert_int_equal(code, NNRT_SUCCESS);
        assert_int_equal(nnrt_device_supported(reference(), &g.model, &config, ok, g.model.nodes.count, NULL, NULL),
                         NNRT_OUT_OF_MEMORY);
        guarded_end(&buffer);
    }
}

static void test_null_arguments(void **state)
{
    static graph g;
    NNRT_PreparedModel *prepared = NULL, *other = NULL;
    NNRT_ReturnCode code;
    size_t bytes;
    (void)state;
    graph_sound(&g);
    assert_int_equal(nnrt_device_prepare(NULL, &g.model, NULL, &prepared), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_prepare(reference(), NULL, NULL, &prepared), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_prepare(reference(), &g.model, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_prepare(reference(), &g.model, NULL, &prepared),
                     NNRT_SUCCESS); /* no config: defaults */
    assert_int_equal(prepared->vtbl->GetWorkspaceSize(prepared, NULL), NNRT_NULL_PTR);
    assert_int_equal(prepared->vtbl->GetMemory(prepared, NULL), NNRT_NULL_PTR);
    assert_int_equal(prepared->vtbl->GetIO(prepared, false, 0, NULL, NULL), NNRT_NULL_PTR);
    for (uint32_t i = 0; i < 2; i++) { /* the tables called directly, as HDI does; reference and auto */
        const NNRT_DeviceVtbl *table = nnrt_device_at(i)->table;
        bool ok[2];
        assert_int_equal(table->GetSupportedOperation(NULL, NULL, ok, 2), NNRT_NULL_PTR);
        assert_int_equal(table->GetSupportedOperation(NULL, &g.model, NULL, 2), NNRT_NULL_PTR);
        assert_int_equal(table->GetModelMemory(NULL, &g.model, NULL, NULL), NNRT_NULL_PTR);
        assert_int_equal(table->GetModelMemory(NULL, NULL, NULL, &bytes), NNRT_NULL_PTR);
        assert_int_equal(nnrt_device_prepare(nnrt_device_at(i), &g.model, NULL, &other), NNRT_SUCCESS);
        assert_int_equal(other->vtbl->GetMemory(other, NULL), NNRT_NULL_PTR);
        nnrt_device_release(nnrt_device_at(i), other);
        assert_int_equal(table->PrepareModel(NULL, NULL, NULL, &other), NNRT_NULL_PTR);
        assert_int_equal(table->PrepareModel(NULL, &g.model, NULL, NULL), NNRT_NULL_PTR);
    }
    assert_int_equal(prepared->vtbl->Run(NULL, NULL, 0, NULL, 0, NULL), NNRT_NULL_PTR);
    assert_int_equal(prepared->vtbl->RunIn(NULL, NULL, 0, NULL, 0, NULL, 0, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(prepared->vtbl->GetWorkspaceSize(NULL, &bytes), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_check(NULL, NULL, NULL, NULL), NNRT_NULL_PTR);
    nnrt_device_release(reference(), prepared);
    nnrt_device_release(reference(), NULL);
    nnrt_device_release(NULL, NULL);
    assert_string_equal(nnrt_device_name(nnrt_device_find("nothing")), "");
    assert_string_equal(nnrt_device_unique_name(NULL), "");
    assert_string_equal(nnrt_device_vendor(NULL), "");
    assert_int_equal(nnrt_device_type(NULL, NULL), NNRT_DEVICE_TYPE_OTHER);
    assert_int_equal(nnrt_device_status(NULL), NNRT_DEVICE_STATUS_UNKNOWN);
    assert_false(nnrt_device_can(NULL, NNRT_ABILITY_FLOAT16, NULL));
    assert_false(nnrt_device_can(reference(), 77, NULL));
    assert_false(nnrt_device_can(NULL, NNRT_ABILITY_FLOAT16, &code));
    assert_int_equal(code, NNRT_NULL_PTR);
    assert_false(nnrt_device_can(reference(), 77, &code));
    assert_int_equal(code, NNRT_SUCCESS);
    assert_int_equal(nnrt_device_type(NULL, &code), NNRT_DEVICE_TYPE_OTHER);
    assert_int_equal(code, NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_type(reference(), &code), NNRT_DEVICE_TYPE_CPU);
    assert_int_equal(code, NNRT_SUCCESS);
    assert_int_equal(nnrt_device_prepare_cache(reference(), NULL, 0, NULL, &other), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_prepare_offline(reference(), NULL, 0, NULL, &other), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_model_memory(reference(), &g.model, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_model_memory(reference(), NULL, NULL, &bytes), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_model_memory(NULL, &g.model, NULL, &bytes), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_model_memory(reference(), &g.model, NULL, &bytes), NNRT_SUCCESS);
    assert_int_equal(nnrt_prepared_run(NULL, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL), NNRT_NULL_PTR);
}

/* ---- the tables ---- */

/* The offsets of slots are compiled into drivers: a slot is appended after the last one or not at all. */
static void test_slots_stay_where_they_are(void **state)
{
    (void)state;
#define SLOT(T, slot, at) assert_int_equal(offsetof(T, slot), at)
    SLOT(NNRT_DeviceVtbl, structSize, 0);
    SLOT(NNRT_DeviceVtbl, version, 4);
    SLOT(NNRT_PreparedModelVtbl, structSize, 0);
    SLOT(NNRT_PreparedModelVtbl, version, 4);
    if (sizeof(void (*)(void)) != 8)
        return;
    SLOT(NNRT_DeviceVtbl, GetVersion, 8);
    SLOT(NNRT_DeviceVtbl, GetDeviceName, 16);
    SLOT(NNRT_DeviceVtbl, GetVendorName, 24);
    SLOT(NNRT_DeviceVtbl, GetDeviceType, 32);
    SLOT(NNRT_DeviceVtbl, GetDeviceStatus, 40);
    SLOT(NNRT_DeviceVtbl, GetSupportedOperation, 48);
    SLOT(NNRT_DeviceVtbl, IsFloat16PrecisionSupported, 56);
    SLOT(NNRT_DeviceVtbl, IsPerformanceModeSupported, 64);
    SLOT(NNRT_DeviceVtbl, IsPrioritySupported, 72);
    SLOT(NNRT_DeviceVtbl, IsDynamicInputSupported, 80);
    SLOT(NNRT_DeviceVtbl, PrepareModel, 88);
    SLOT(NNRT_DeviceVtbl, IsModelCacheSupported, 96);
    SLOT(NNRT_DeviceVtbl, PrepareModelFromModelCache, 104);
    SLOT(NNRT_DeviceVtbl, AllocateBuffer, 112);
    SLOT(NNRT_DeviceVtbl, ReleaseBuffer, 120);       /* HDI 1.0: 128 bytes */
    SLOT(NNRT_DeviceVtbl, PrepareOfflineModel, 128); /* HDI 2.0: 136 bytes */
    SLOT(NNRT_DeviceVtbl, Destroy, 136);
    SLOT(NNRT_DeviceVtbl, GetModelMemory, 144);
    SLOT(NNRT_DeviceVtbl, GetSupportedNodes, 152);
    assert_true(sizeof(NNRT_DeviceVtbl) >= 160);
    SLOT(NNRT_PreparedModelVtbl, ExportModelCache, 8);
    SLOT(NNRT_PreparedModelVtbl, RunV1, 16); /* HDI 1.0: 24 bytes */
    SLOT(NNRT_PreparedModelVtbl, GetInputDimRanges, 24);
    SLOT(NNRT_PreparedModelVtbl, Run, 32); /* HDI 2.0: 40 bytes */
    SLOT(NNRT_PreparedModelVtbl, Destroy, 40);
    SLOT(NNRT_PreparedModelVtbl, GetWorkspaceSize, 48);
    SLOT(NNRT_PreparedModelVtbl, RunIn, 56);
    SLOT(NNRT_PreparedModelVtbl, GetIO, 64);
    SLOT(NNRT_PreparedModelVtbl, GetMemory, 72);
    SLOT(NNRT_PreparedModelVtbl, GetOutputDimRanges, 80);
    SLOT(NNRT_PreparedModelVtbl, RunUntil, 88);
    assert_true(sizeof(NNRT_PreparedModelVtbl) >= 96);
#undef SLOT
}

/* Structs that are array elements: a change of one of them requires a new NNRT_LAYOUT. */
static void test_records_stay_as_they_are(void **state)
{
    (void)state;
    assert_int_equal(NNRT_LAYOUT, 1);
    assert_int_equal(NNRT_HDI(2, 1), 0x01020001);
    assert_int_equal(sizeof(nnrt_dims), 36); /* with NNRT_MAX_RANK 4, too: tests/source/test_builds.sh */
    if (sizeof(void *) != 8)
        return;
#define MEMBER(T, member, at) assert_int_equal(offsetof(T, member), at)
    MEMBER(NNRT_SharedBuffer, addr, 16);
    assert_int_equal(sizeof(NNRT_SharedBuffer), 24);
    MEMBER(NNRT_Tensor, dataType, 8);
    MEMBER(NNRT_Tensor, dims, 16);
    MEMBER(NNRT_Tensor, format, 32);
    MEMBER(NNRT_Tensor, data, 40);
    MEMBER(NNRT_Tensor, quantParams, 64);
    MEMBER(NNRT_Tensor, quantAxis, 80);
    MEMBER(NNRT_Tensor, symbols, 88);
    assert_int_equal(sizeof(NNRT_Tensor), 104);
    MEMBER(NNRT_Node, nodeType, 8);
    MEMBER(NNRT_Node, nodeAttr, 16);
    MEMBER(NNRT_Node, inputIndex, 32);
    MEMBER(NNRT_Node, outputIndex, 48);
    MEMBER(NNRT_Node, quantType, 64);
    assert_int_equal(sizeof(NNRT_Node), 72);
    MEMBER(NNRT_SubGraph, inputIndices, 8);
    MEMBER(NNRT_SubGraph, outputIndices, 24);
    MEMBER(NNRT_SubGraph, nodeIndices, 40);
    assert_int_equal(sizeof(NNRT_SubGraph), 56);
    MEMBER(NNRT_IOTensor, dataType, 8);
    MEMBER(NNRT_IOTensor, dimensions, 16);
    MEMBER(NNRT_IOTensor, format, 32);
    MEMBER(NNRT_IOTensor, data, 40);
    assert_int_equal(sizeof(NNRT_IOTensor), 64);
    MEMBER(NNRT_Extension, data, 8);
    MEMBER(NNRT_Extension, size, 16);
    assert_int_equal(sizeof(NNRT_Extension), 24);
    MEMBER(NNRT_ModelConfig, extensions, 16);
    MEMBER(NNRT_ModelConfig, structSize, 32);
    MEMBER(NNRT_ModelConfig, allocator, 40);
    MEMBER(NNRT_ModelConfig, error, 88);
    MEMBER(NNRT_ModelConfig, arenaAlignment, 96);
    MEMBER(nnrt_error, capacity, 12);
    MEMBER(nnrt_error, message, 16);
    assert_int_equal(sizeof(nnrt_prepared_memory), 48);
#undef MEMBER
}

#define DEVICE_1_0 offsetof(NNRT_DeviceVtbl, PrepareOfflineModel)
#define DEVICE_2_0 offsetof(NNRT_DeviceVtbl, Destroy)
#define MODEL_1_0 offsetof(NNRT_PreparedModelVtbl, GetInputDimRanges)
#define MODEL_2_0 offsetof(NNRT_PreparedModelVtbl, Destroy)

/* A driver that adds 100 to its inputs, whatever the model says, and follows the members below. Its tables are blocks of
   exactly their structSize. */
typedef struct driver {
    NNRT_DeviceVtbl *table;
    NNRT_PreparedModelVtbl *modelTable;
    const char *name, *vendor;
    uint32_t major, minor;
    NNRT_DeviceType type;
    NNRT_DeviceStatus status;
    NNRT_ReturnCode versionCode, nameCode, vendorCode, typeCode, statusCode, supportedCode, prepareCode, runCode;
    uint32_t refused;     /* number of the node that it does not take */
    bool notEnough;       /* RunV1: output 0 is too small */
    bool noModel, noVtbl; /* PrepareModel succeeds with nothing */
    int32_t asked, askedNodes, prepared, ran, ranV1, ranIn, released, destroyed, exported;
    void *sawWorkspace;
    NNRT_PreparedModel *last; /* that it prepared */
    NNRT_ModelConfig sawConfig;
    int32_t opened;
    const char *sawProperties;
    uint32_t sawBuffers;
    NNRT_SharedBuffer cache[2];
} driver;

typedef struct driver_model {
    NNRT_PreparedModel base;
    driver *d;
} driver_model;

static driver *driver_of(NNRT_PreparedModel *m)
{
    return ((driver_model *)(void *)m)->d;
}

static NNRT_ReturnCode driver_version(void *self, uint32_t *major, uint32_t *minor)
{
    *major = ((driver *)self)->major;
    *minor = ((driver *)self)->minor;
    return ((driver *)self)->versionCode;
}

/* The text lives until the next call: it is overwritten then. */
static char driver_text[128];

static NNRT_ReturnCode driver_name(void *self, const char **name)
{
    const driver *d = (const driver *)self;
    memset(driver_text, '#', sizeof(driver_text) - 1);
    if (d->name != NULL)
        memcpy(driver_text, d->name, strlen(d->name) + 1);
    *name = d->name != NULL ? driver_text : NULL;
    return d->nameCode;
}

static NNRT_ReturnCode driver_vendor(void *self, const char **name)
{
    const driver *d = (const driver *)self;
    memset(driver_text, '#', sizeof(driver_text) - 1);
    if (d->vendor != NULL)
        memcpy(driver_text, d->vendor, strlen(d->vendor) + 1);
    *name = d->vendor != NULL ? driver_text : NULL;
    return d->vendorCode;
}

static NNRT_ReturnCode driver_type(void *self, NNRT_DeviceType *type)
{
    *type = ((driver *)self)->type;
    return ((driver *)self)->typeCode;
}

static NNRT_ReturnCode driver_status(void *self, NNRT_DeviceStatus *status)
{
    *status = ((driver *)self)->status;
    return ((driver *)self)->statusCode;
}

static NNRT_ReturnCode driver_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    driver *d = (driver *)self;
    assert_int_equal(count, model->nodes.count);
    d->asked++;
    for (uint32_t i = 0; i < count; i++)
        isSupported[i] = i != d->refused;
    return d->supportedCode;
}

static NNRT_ReturnCode driver_nodes(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                    bool *isSupported, uint32_t count, nnrt_reason reason, void *user)
{
    driver *d = (driver *)self;
    d->askedNodes++;
    d->sawConfig = *config;
    for (uint32_t i = 0; i < count; i++) {
        nnrt_error e;
        isSupported[i] = i != d->refused;
        if (isSupported[i] || reason == NULL)
            continue;
        memset(&e, 0, sizeof(e));
        (void)nnrt_error_set(&e, NNRT_INVALID_FORMAT, "the npu does not like node %u of %u", i, model->nodes.count);
        reason(user, i, &e);
    }
    return d->supportedCode;
}

static NNRT_ReturnCode driver_yes(void *self, bool *isSupported)
{
    (void)self;
    *isSupported = true;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                      NNRT_PreparedModel **prepared)
{
    driver *d = (driver *)self;
    driver_model *m;
    (void)model;
    d->sawConfig = *config;
    d->prepared++;
    if (d->prepareCode != NNRT_SUCCESS || d->noModel)
        return d->prepareCode;
    m = (driver_model *)malloc(sizeof(*m));
    m->base.vtbl = d->noVtbl ? NULL : d->modelTable;
    m->d = d;
    d->last = *prepared = &m->base;
    if (d->noVtbl) {
        free(m);
        *prepared = (NNRT_PreparedModel *)calloc(1, sizeof(**prepared));
        d->sawWorkspace = *prepared; /* for the test to free */
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_cached(void *self, const NNRT_SharedBuffer *cache, uint32_t count,
                                     const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    (void)cache;
    ((driver *)self)->sawBuffers = count;
    return driver_prepare(self, NULL, config, prepared);
}

static NNRT_ReturnCode driver_allocate(void *self, uint32_t length, NNRT_SharedBuffer *buffer)
{
    (void)self;
    (void)length;
    (void)buffer;
    return NNRT_OUT_OF_MEMORY;
}

static NNRT_ReturnCode driver_release_buffer(void *self, const NNRT_SharedBuffer *buffer)
{
    (void)self;
    (void)buffer;
    return NNRT_INVALID_BUFFER;
}

/* The context is the driver itself. */
static NNRT_ReturnCode driver_open(void *self, const char *properties, nnrt_ask ask, void **opened)
{
    driver *d = (driver *)self;
    d->opened++;
    d->sawProperties = properties;
    *opened = d->noModel ? NULL : self;
    return ask != NULL && ask(7, d) != 0 ? NNRT_DEVICE_BUSY : NNRT_SUCCESS;
}

static void driver_close(void *self, void *opened)
{
    assert_ptr_equal(self, opened);
    ((driver *)self)->opened--;
}

static void driver_destroy(void *self)
{
    ((driver *)self)->destroyed++;
}

static NNRT_ReturnCode driver_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config, size_t *bytes)
{
    (void)self;
    (void)model;
    (void)config;
    *bytes = 12345 * 64;
    return NNRT_SUCCESS;
}

static const NNRT_DeviceVtbl driver_table = {sizeof(NNRT_DeviceVtbl),
                                             NNRT_HDI(2, 0),
                                             driver_version,
                                             driver_name,
                                             driver_vendor,
                                             driver_type,
                                             driver_status,
                                             driver_supported,
                                             driver_yes,
                                             driver_yes,
                                             driver_yes,
                                             driver_yes,
                                             driver_prepare,
                                             driver_yes,
                                             driver_cached,
                                             driver_allocate,
                                             driver_release_buffer,
                                             driver_cached,
                                             driver_destroy,
                                             driver_memory,
                                             driver_nodes,
                                             driver_open,
                                             driver_close};

/* y = x + 100 for as many floats as both have; outputDims as the outputs say. */
static NNRT_ReturnCode driver_compute(driver *d, const NNRT_IOTensor *inputs, uint32_t nIn,
                                      const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    if (d->runCode != NNRT_SUCCESS)
        return d->runCode;
    for (uint32_t i = 0; i < nOut && nIn > 0; i++) {
        const float *x = (const float *)inputs[0].data.addr;
        float *y = (float *)outputs[i].data.addr;
        for (uint32_t k = 0; k < inputs[0].data.dataSize / 4 && k < outputs[i].data.dataSize / 4; k++)
            y[k] = x[k] + 100;
        if (outputDims != NULL) {
            outputDims[i].rank = (int32_t)outputs[i].dimensions.count;
            for (uint32_t k = 0; k < outputs[i].dimensions.count; k++)
                outputDims[i].dims[k] = outputs[i].dimensions.data[k];
        }
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_export(NNRT_PreparedModel *m, const NNRT_SharedBuffer **buffers, uint32_t *count)
{
    driver_of(m)->exported++;
    *buffers = driver_of(m)->cache;
    *count = 2;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_run_v1(NNRT_PreparedModel *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                                     const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims, bool *enough)
{
    driver_of(m)->ranV1++;
    for (uint32_t i = 0; i < nOut; i++)
        enough[i] = true;
    if (driver_of(m)->notEnough) {
        enough[nOut - 1] = false;
        return NNRT_SUCCESS;
    }
    return driver_compute(driver_of(m), inputs, nIn, outputs, nOut, outputDims);
}

static NNRT_ReturnCode driver_ranges(NNRT_PreparedModel *m, uint32_t index, nnrt_dims *least, nnrt_dims *most)
{
    (void)m;
    least->rank = most->rank = 1;
    least->dims[0] = (int32_t)index + 1;
    most->dims[0] = 10;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_run(NNRT_PreparedModel *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                                  const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    driver_of(m)->ran++;
    return driver_compute(driver_of(m), inputs, nIn, outputs, nOut, outputDims);
}

static void driver_release(NNRT_PreparedModel *m)
{
    driver_of(m)->released++;
    free(m);
}

static NNRT_ReturnCode driver_workspace(NNRT_PreparedModel *m, size_t *bytes)
{
    (void)m;
    *bytes = 640;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_run_in(NNRT_PreparedModel *m, void *workspace, size_t bytes, const NNRT_IOTensor *inputs,
                                     uint32_t nIn, const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                     nnrt_error *error)
{
    driver_of(m)->ranIn++;
    driver_of(m)->sawWorkspace = workspace;
    if (bytes < 640)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the driver wants 640 bytes");
    return driver_compute(driver_of(m), inputs, nIn, outputs, nOut, outputDims);
}

static NNRT_ReturnCode driver_io(NNRT_PreparedModel *m, bool output, uint32_t index, NNRT_DataType *type,
                                 nnrt_dims *shape)
{
    (void)m;
    *type = output ? F32 : I32;
    shape->rank = 1;
    shape->dims[0] = (int32_t)index + 7;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_figures(NNRT_PreparedModel *m, nnrt_prepared_memory *memory)
{
    (void)m;
    memory->tables = 1000;
    memory->workspace = 640;
    memory->arena = 512;
    memory->bound = 256;
    memory->constants = 12;
    memory->steps = 3;
    return NNRT_SUCCESS;
}

static const NNRT_PreparedModelVtbl driver_model_table = {sizeof(NNRT_PreparedModelVtbl),
                                                          NNRT_HDI(2, 0),
                                                          driver_export,
                                                          driver_run_v1,
                                                          driver_ranges,
                                                          driver_run,
                                                          driver_release,
                                                          driver_workspace,
                                                          driver_run_in,
                                                          driver_io,
                                                          driver_figures,
                                                          NULL,
                                                          NULL};

/* Copies a table into a block of `bytes`; bytes after the known ones are garbage. */
static void *table_copy(const void *table, size_t known, size_t bytes)
{
    uint8_t *copy = (uint8_t *)malloc(bytes);
    uint32_t size = (uint32_t)bytes;
    memset(copy, 0xEE, bytes);
    memcpy(copy, table, bytes < known ? bytes : known);
    memcpy(copy, &size, sizeof(size));
    return copy;
}

/* A driver "npu" of "test", not registered yet. */
static void driver_init(driver *d, size_t deviceBytes, size_t modelBytes)
{
    memset(d, 0, sizeof(*d));
    d->table = (NNRT_DeviceVtbl *)table_copy(&driver_table, sizeof(driver_table), deviceBytes);
    d->modelTable = (NNRT_PreparedModelVtbl *)table_copy(&driver_model_table, sizeof(driver_model_table), modelBytes);
    d->name = "npu";
    d->vendor = "test";
    d->major = 1;
    d->type = NNRT_DEVICE_TYPE_ACCELERATOR;
    d->refused = NNRT_NO_TENSOR;
}

static void driver_end(driver *d)
{
    free(d->table);
    free(d->modelTable);
}

static void driver_register(driver *d)
{
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_device_register(d->table, d, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
}

/* Every test leaves the registry as it was. */
static int clean_registry(void **state)
{
    (void)state;
    while (nnrt_device_count() > 2)
        if (nnrt_device_unregister(nnrt_device_unique_name(nnrt_device_at(2))) != NNRT_SUCCESS)
            return -1;
    return 0;
}

static void test_builtin_devices(void **state)
{
    uint32_t major = 0, minor = 0;
    char unique[64];
    (void)state;
    assert_int_equal(nnrt_device_count(), 2);
    assert_string_equal(nnrt_device_name(nnrt_device_at(0)), "auto");
    assert_string_equal(nnrt_device_name(nnrt_device_at(1)), "reference");
    assert_null(nnrt_device_at(2));
    assert_ptr_equal(nnrt_device_find("auto"), nnrt_device_at(0));
    assert_string_equal(nnrt_device_vendor(reference()), "nnrt");
    assert_int_equal(nnrt_device_type(reference(), NULL), NNRT_DEVICE_TYPE_CPU);
    assert_int_equal(nnrt_device_status(reference()), NNRT_DEVICE_STATUS_AVAILABLE);
    assert_null(nnrt_device_find("nothing"));
    assert_null(nnrt_device_find(""));
    assert_null(nnrt_device_find(NULL));
    assert_int_equal(nnrti_reference_version(NULL, &major, &minor), NNRT_SUCCESS);
    snprintf(unique, sizeof(unique), "reference_nnrt_v%u_%u", major, minor);
    assert_string_equal(nnrt_device_unique_name(reference()), unique);
    assert_ptr_equal(nnrt_device_find(unique), reference());
    assert_int_equal(nnrt_device_unregister("reference"), NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(nnrt_device_unregister("auto"), NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(nnrt_device_unregister("nothing"), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_device_unregister(NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_count(), 2);
}

static void expect_registration(driver *d, NNRT_ReturnCode want, const char *says)
{
    nnrt_error e;
    uint32_t before = nnrt_device_count();
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    code = nnrt_device_register(d->table, d, &e);
    if (code != want || e.code != want || strstr(e.message, says) == NULL)
        fail_msg("%s, expected %s: \"%s\" without \"%s\"", nnrt_code_name(code), nnrt_code_name(want), e.message, says);
    assert_int_equal(nnrt_device_register(d->table, d, NULL), want);
    assert_int_equal(nnrt_device_count(), before);
}

static void test_registration_is_checked(void **state)
{
    static const char long_name[] = "0123456789012345678901234567890123456789012345678901234567890123";
    driver d;
    (void)state;
    assert_int_equal(strlen(long_name), 64);
    driver_init(&d, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    assert_int_equal(nnrt_device_register(NULL, &d, NULL), NNRT_NULL_PTR);
#define WITH(change, code, says, back)                                                                                 \
    do {                                                                                                               \
        change;                                                                                                        \
        expect_registration(&d, code, says);                                                                           \
        back;                                                                                                          \
    } while (0)
    WITH(d.table->structSize = 0, NNRT_NULL_PTR, "structSize", d.table->structSize = sizeof(NNRT_DeviceVtbl));
    WITH(d.table->structSize = 8, NNRT_INVALID_PARAMETER, "GetVersion", d.table->structSize = sizeof(NNRT_DeviceVtbl));
    WITH(d.table->version = 0, NNRT_INVALID_PARAMETER, "0.0", d.table->version = NNRT_HDI(2, 0));
    WITH(d.table->version = NNRT_HDI(3, 0), NNRT_INVALID_PARAMETER, "3.0", d.table->version = NNRT_HDI(2, 0));
    /* a header from before the layouts had numbers, and one that comes later */
    WITH(d.table->version = 2u << 16, NNRT_INVALID_PARAMETER, "layout 0", d.table->version = NNRT_HDI(2, 0));
    WITH(d.table->version += 1u << 24, NNRT_INVALID_PARAMETER, "layout 2", d.table->version = NNRT_HDI(2, 0));
    WITH(d.name = "", NNRT_INVALID_PARAMETER, "name", d.name = "npu");
    WITH(d.name = NULL, NNRT_INVALID_PARAMETER, "name", d.name = "npu");
    WITH(d.name = long_name, NNRT_INVALID_PARAMETER, "64", d.name = "npu");
    WITH(d.vendor = "", NNRT_INVALID_PARAMETER, "vendor", d.vendor = "test");
    WITH(d.vendor = NULL, NNRT_INVALID_PARAMETER, "vendor", d.vendor = "test");
    WITH(d.vendor = long_name, NNRT_INVALID_PARAMETER, "npu", d.vendor = "test");
    WITH(d.versionCode = NNRT_TIME_OUT, NNRT_TIME_OUT, "version", d.versionCode = 0);
    WITH(d.nameCode = NNRT_DEVICE_BUSY, NNRT_DEVICE_BUSY, "name", d.nameCode = 0);
    WITH(d.vendorCode = -5, -5, "vendor", d.vendorCode = 0);
    WITH(d.status = NNRT_DEVICE_STATUS_OFFLINE, NNRT_DEVICE_ERROR, "npu", d.status = NNRT_DEVICE_STATUS_AVAILABLE);
    WITH(d.status = NNRT_DEVICE_STATUS_UNKNOWN, NNRT_DEVICE_ERROR, "npu", d.status = NNRT_DEVICE_STATUS_AVAILABLE);
    WITH(d.statusCode = NNRT_FAILED, NNRT_DEVICE_ERROR, "npu", d.statusCode = 0);
#undef WITH
    d.name = long_name + 1; /* 63 characters fit */
    d.vendor = long_name + 1;
    d.major = d.minor = 0xFFFFFFFFu;
    d.status = NNRT_DEVICE_STATUS_BUSY; /* slow, but there */
    d.table->version = NNRT_HDI(2, 1);
    driver_register(&d);
    assert_string_equal(nnrt_device_name(nnrt_device_at(2)), long_name + 1);
    assert_int_equal(strlen(nnrt_device_unique_name(nnrt_device_at(2))), 63 + 1 + 63 + 2 + 10 + 1 + 10);
    assert_int_equal(nnrt_device_unregister(long_name + 1), NNRT_SUCCESS);
    driver_end(&d);
}

static void test_device_names(void **state)
{
    driver a, b;
    (void)state;
    driver_init(&a, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    driver_init(&b, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    driver_register(&a);
    assert_string_equal(nnrt_device_unique_name(nnrt_device_at(2)), "npu_test_v1_0");
    assert_string_equal(nnrt_device_vendor(nnrt_device_at(2)), "test");
    assert_int_equal(nnrt_device_type(nnrt_device_at(2), NULL), NNRT_DEVICE_TYPE_ACCELERATOR);
    expect_registration(&a, NNRT_OPERATION_FORBIDDEN, "'npu' of 'test'");
    b.major = 2; /* name and vendor decide, not the version */
    expect_registration(&b, NNRT_OPERATION_FORBIDDEN, "'npu' of 'test'");
    b.vendor = "other";
    b.minor = 1;
    b.type = NNRT_DEVICE_TYPE_GPU;
    driver_register(&b);
    assert_string_equal(nnrt_device_unique_name(nnrt_device_at(3)), "npu_other_v2_1");
    assert_ptr_equal(nnrt_device_find("npu"), nnrt_device_at(2)); /* the first with this name */
    assert_ptr_equal(nnrt_device_find("npu_other_v2_1"), nnrt_device_at(3));
    assert_ptr_equal(nnrt_device_find("npu_test_v1_0"), nnrt_device_at(2));
    assert_null(nnrt_device_find("npu_test"));
    b.typeCode = NNRT_FAILED; /* a device that fails to report its type has the type OTHER */
    assert_int_equal(nnrt_device_type(nnrt_device_at(3), NULL), NNRT_DEVICE_TYPE_OTHER);
    assert_int_equal(nnrt_device_unregister("npu_test_v1_0"), NNRT_SUCCESS);
    assert_int_equal(a.destroyed, 1);
    assert_ptr_equal(nnrt_device_find("npu"), nnrt_device_at(2)); /* now the other */
    assert_string_equal(nnrt_device_vendor(nnrt_device_at(2)), "other");
    driver_register(&a);
    assert_ptr_equal(nnrt_device_find("npu"), nnrt_device_at(2)); /* still the other: it was there first */
    assert_int_equal(clean_registry(NULL), 0);
    assert_int_equal(a.destroyed, 2);
    assert_int_equal(b.destroyed, 1);
    driver_end(&a);
    driver_end(&b);
}

static void test_registry_is_full(void **state)
{
    driver d[NNRT_MAX_DEVICES - 1];
    char names[NNRT_MAX_DEVICES][8];
    (void)state;
    for (uint32_t i = 0; i < NNRT_MAX_DEVICES - 1; i++) {
        driver_init(&d[i], sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        snprintf(names[i], sizeof(names[i]), "npu%u", i);
        d[i].name = names[i];
        if (i < NNRT_MAX_DEVICES - 2)
            driver_register(&d[i]);
    }
    assert_int_equal(nnrt_device_count(), NNRT_MAX_DEVICES);
    expect_registration(&d[NNRT_MAX_DEVICES - 2], NNRT_OUT_OF_MEMORY, "16");
    assert_int_equal(nnrt_device_unregister("npu5"), NNRT_SUCCESS);
    driver_register(&d[NNRT_MAX_DEVICES - 2]);
    for (uint32_t i = 0; i < NNRT_MAX_DEVICES - 1; i++)
        if (i != 5)
            assert_string_equal(nnrt_device_name(nnrt_device_find(names[i])), names[i]);
    assert_int_equal(clean_registry(NULL), 0);
    for (uint32_t i = 0; i < NNRT_MAX_DEVICES - 1; i++) {
        assert_int_equal(d[i].destroyed, 1);
        driver_end(&d[i]);
    }
}

/* A device with prepared models stays registered; one without is removed, and the others keep their addresses: handles are
   addresses. */
static void test_unregister(void **state)
{
    static graph g;
    driver d, other, third;
    NNRT_PreparedModel *first = NULL, *second = NULL, *elsewhere = NULL;
    nnrt_device *device, *later;
    (void)state;
    driver_init(&third, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    third.name = "third";
    driver_init(&d, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    driver_init(&other, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    other.name = "other";
    driver_register(&d);
    driver_register(&other);
    graph_sound(&g);
    device = nnrt_device_find("npu");
    assert_int_equal(nnrt_device_prepare(device, &g.model, NULL, &first), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_prepare(device, &g.model, NULL, &second), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY);
    driver_register(&third); /* npu, other, third */
    assert_int_equal(nnrt_device_unregister("other"), NNRT_SUCCESS);
    assert_int_equal(other.destroyed, 1);
    assert_ptr_equal(nnrt_device_find("npu"), device);
    assert_int_equal(nnrt_device_count(), 4);
    assert_ptr_equal(nnrt_device_at(2), device);
    assert_string_equal(nnrt_device_name(nnrt_device_at(3)), "third");
    assert_null(nnrt_device_at(4));
    later = nnrt_device_at(3);
    driver_register(&other); /* after the third, at any address */
    assert_ptr_equal(nnrt_device_at(3), later);
    assert_string_equal(nnrt_device_name(nnrt_device_at(4)), "other");
    assert_int_equal(nnrt_device_prepare(nnrt_device_at(4), &g.model, NULL, &elsewhere), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_unregister("third"), NNRT_SUCCESS);
    assert_string_equal(nnrt_device_name(nnrt_device_at(3)), "other");
    nnrt_device_release(nnrt_device_find("other"), elsewhere);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY);
    nnrt_device_release(device, first);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY);
    d.prepareCode = NNRT_FAILED; /* a preparation that failed does not count */
    assert_int_equal(nnrt_device_prepare(device, &g.model, NULL, &first), NNRT_FAILED);
    assert_null(first);
    nnrt_device_release(device, second);
    assert_int_equal(d.released, 2);
    assert_int_equal(d.destroyed, 0);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
    assert_int_equal(d.destroyed, 1);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_device_unregister("other"), NNRT_SUCCESS);
    driver_end(&d);
    driver_end(&other);
    driver_end(&third);
}

/* A prepared model of d and the arguments of a run. */
typedef struct job {
    graph g;
    driver d;
    nnrt_device *device;
    NNRT_PreparedModel *prepared;
    float in[6], out[6];
    NNRT_IOTensor x, y;
    nnrt_dims real;
    nnrt_error e;
} job;

static void job_register(job *j)
{
    driver_register(&j->d);
    j->device = nnrt_device_find("npu");
    assert_non_null(j->device);
}

static void job_init(job *j, size_t deviceBytes, size_t modelBytes)
{
    memset(j, 0, sizeof(*j));
    driver_init(&j->d, deviceBytes, modelBytes);
    graph_sound(&j->g);
    for (int32_t i = 0; i < 6; i++)
        j->in[i] = (float)i;
    j->x = io_of(F32, dims_2_3, 2, j->in, sizeof(j->in));
    j->y = io_of(F32, dims_2_3, 2, j->out, sizeof(j->out));
}

static void job_prepare(job *j)
{
    NNRT_ModelConfig config;
    config_init(&config, &j->e);
    if (nnrt_device_prepare(j->device, &j->g.model, &config, &j->prepared) != NNRT_SUCCESS)
        fail_msg("%s", j->e.message);
}

/* Runs, in a workspace when bytes > 0. */
static NNRT_ReturnCode job_run(job *j, size_t bytes)
{
    static uint64_t workspace[128];
    memset(&j->e, 0, sizeof(j->e));
    memset(&j->real, 0, sizeof(j->real));
    memset(j->out, 0, sizeof(j->out));
    return nnrt_prepared_run(j->prepared, bytes > 0 ? workspace : NULL, bytes, &j->x, 1, &j->y, 1, &j->real, NULL,
                             &j->e);
}

/* The last run computed. */
static void job_ran(const job *j)
{
    for (int32_t i = 0; i < 6; i++)
        assert_true(j->out[i] == (float)(i + 100));
    assert_int_equal(j->real.rank, 2);
    assert_int_equal(j->real.dims[1], 3);
}

static void job_end(job *j)
{
    nnrt_device_release(j->device, j->prepared);
    assert_int_equal(clean_registry(NULL), 0);
    driver_end(&j->d);
}

/* A driver of HDI 1.0: tables that end there. The address sanitizer detects reads after the end. */
static void test_table_of_hdi_1_0(void **state)
{
    static job j;
    bool ok[2] = {false, false};
    size_t bytes = 1;
    (void)state;
    job_init(&j, DEVICE_1_0, MODEL_1_0);
    j.d.table->version = NNRT_HDI(1, 0);
    job_register(&j);
    assert_string_equal(nnrt_device_unique_name(j.device), "npu_test_v1_0");
    assert_int_equal(nnrt_device_supported(j.device, &j.g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
    assert_true(ok[0] && ok[1]);
    job_prepare(&j);
    assert_int_equal(job_run(&j, 0), NNRT_SUCCESS);
    job_ran(&j);
    assert_int_equal(job_run(&j, 1024), NNRT_SUCCESS); /* there is no RunIn: the workspace is not used */
    job_ran(&j);
    assert_int_equal(j.d.ranV1, 2);
    j.d.notEnough = true; /* HDI 1.0 says so by a flag, and succeeds */
    assert_int_equal(job_run(&j, 0), NNRT_INSUFFICIENT_BUFFER);
    assert_int_equal(j.e.code, NNRT_INSUFFICIENT_BUFFER);
    assert_non_null(strstr(j.e.message, "output 0"));
    for (int32_t i = 0; i < 6; i++)
        assert_true(j.out[i] == 0);
    j.d.notEnough = false;
    assert_int_equal(job_run(&j, 0), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_model_memory(j.device, &j.g.model, NULL, &bytes), NNRT_NOT_SUPPORT);
    job_end(&j); /* no Destroy in either table */
    assert_int_equal(j.d.released, 0);
    assert_int_equal(j.d.destroyed, 0);
    free(j.prepared);
}

static void test_table_of_hdi_2_0(void **state)
{
    static job j;
    nnrt_dims least, most;
    (void)state;
    job_init(&j, DEVICE_2_0, MODEL_2_0);
    job_register(&j);
    job_prepare(&j);
    assert_int_equal(job_run(&j, 0), NNRT_SUCCESS);
    job_ran(&j);
    assert_int_equal(job_run(&j, 1024), NNRT_SUCCESS);
    assert_int_equal(j.d.ran, 2); /* of both Runs the newer one is taken */
    assert_int_equal(j.d.ranV1, 0);
    assert_true(NNRT_HAS(j.prepared->vtbl, NNRT_PreparedModelVtbl, GetInputDimRanges));
    assert_int_equal(j.prepared->vtbl->GetInputDimRanges(j.prepared, 0, &least, &most), NNRT_SUCCESS);
    assert_int_equal(most.dims[0], 10);
    job_end(&j);
    assert_int_equal(j.d.released, 0);
    free(j.prepared);
}

/* A driver that was compiled with a later version of us: 64 bytes of slots that we do not know. */
static void test_table_longer_than_known(void **state)
{
    static job j;
    size_t bytes = 0;
    bool ok[2];
    (void)state;
    job_init(&j, sizeof(NNRT_DeviceVtbl) + 64, sizeof(NNRT_PreparedModelVtbl) + 64);
    j.d.table->version = NNRT_HDI(2, 1);
    job_register(&j);
    assert_int_equal(nnrt_device_supported(j.device, &j.g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_model_memory(j.device, &j.g.model, NULL, &bytes), NNRT_SUCCESS);
    assert_int_equal(bytes, 12345 * 64);
    job_prepare(&j);
    assert_int_equal(job_run(&j, 0), NNRT_SUCCESS);
    job_ran(&j);
    assert_int_equal(job_run(&j, 1024), NNRT_SUCCESS);
    job_ran(&j);
    assert_int_equal(j.d.ran, 1);
    assert_int_equal(j.d.ranIn, 1);
    job_end(&j);
    assert_int_equal(j.d.released, 1);
    assert_int_equal(j.d.destroyed, 1);
}

/* Every slot of the device table NULL, one at a time; want is the result of registering. */
static void test_device_slots_missing(void **state)
{
    static const struct {
        size_t offset;
        NNRT_ReturnCode want;
    } slots[] = {
        {offsetof(NNRT_DeviceVtbl, GetVersion), NNRT_INVALID_PARAMETER},
        {offsetof(NNRT_DeviceVtbl, GetDeviceName), NNRT_INVALID_PARAMETER},
        {offsetof(NNRT_DeviceVtbl, GetVendorName), NNRT_INVALID_PARAMETER},
        {offsetof(NNRT_DeviceVtbl, GetDeviceType), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, GetDeviceStatus), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, GetSupportedOperation), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, IsFloat16PrecisionSupported), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, IsPerformanceModeSupported), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, IsPrioritySupported), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, IsDynamicInputSupported), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, PrepareModel), NNRT_SUCCESS}, /* it takes caches and offline models */
        {offsetof(NNRT_DeviceVtbl, IsModelCacheSupported), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, PrepareModelFromModelCache), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, AllocateBuffer), NNRT_INVALID_PARAMETER}, /* both or none */
        {offsetof(NNRT_DeviceVtbl, ReleaseBuffer), NNRT_INVALID_PARAMETER},
        {offsetof(NNRT_DeviceVtbl, PrepareOfflineModel), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, Destroy), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, GetModelMemory), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, GetSupportedNodes), NNRT_SUCCESS},
        {offsetof(NNRT_DeviceVtbl, OpenContext), NNRT_INVALID_PARAMETER}, /* both or none */
        {offsetof(NNRT_DeviceVtbl, CloseContext), NNRT_INVALID_PARAMETER},
    };
    static const struct {
        nnrt_ability ability;
        size_t slot;
    } abilities[] = {{NNRT_ABILITY_FLOAT16, offsetof(NNRT_DeviceVtbl, IsFloat16PrecisionSupported)},
                     {NNRT_ABILITY_PERFORMANCE_MODE, offsetof(NNRT_DeviceVtbl, IsPerformanceModeSupported)},
                     {NNRT_ABILITY_PRIORITY, offsetof(NNRT_DeviceVtbl, IsPrioritySupported)},
                     {NNRT_ABILITY_DYNAMIC_INPUT, offsetof(NNRT_DeviceVtbl, IsDynamicInputSupported)},
                     {NNRT_ABILITY_MODEL_CACHE, offsetof(NNRT_DeviceVtbl, IsModelCacheSupported)},
                     {NNRT_ABILITY_OFFLINE_MODEL, offsetof(NNRT_DeviceVtbl, PrepareOfflineModel)}};
    (void)state;
    assert_int_equal(COUNT(slots), (sizeof(NNRT_DeviceVtbl) - 8) / sizeof(void (*)(void))); /* none left out */
    for (uint32_t i = 0; i < COUNT(slots); i++) {
        static job j;
        size_t at = slots[i].offset, bytes = 0;
        bool ok[2] = {false, false};
        job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        memset((uint8_t *)j.d.table + at, 0, sizeof(void (*)(void)));
        if (slots[i].want != NNRT_SUCCESS) {
            expect_registration(&j.d, slots[i].want, "");
            driver_end(&j.d);
            continue;
        }
        j.d.status = NNRT_DEVICE_STATUS_BUSY;
        job_register(&j);
        assert_int_equal(nnrt_device_type(j.device, NULL), at == offsetof(NNRT_DeviceVtbl, GetDeviceType)
                                                               ? NNRT_DEVICE_TYPE_OTHER
                                                               : NNRT_DEVICE_TYPE_ACCELERATOR);
        assert_int_equal(nnrt_device_status(j.device), at == offsetof(NNRT_DeviceVtbl, GetDeviceStatus)
                                                           ? NNRT_DEVICE_STATUS_AVAILABLE
                                                           : NNRT_DEVICE_STATUS_BUSY);
        j.d.refused = 1;
        assert_int_equal(nnrt_device_supported(j.device, &j.g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
        assert_true(ok[0] && !ok[1]);
        assert_int_equal(j.d.askedNodes, at == offsetof(NNRT_DeviceVtbl, GetSupportedNodes) ? 0 : 1);
        assert_int_equal(j.d.asked, 1 - j.d.askedNodes);
        if (at == offsetof(NNRT_DeviceVtbl, GetSupportedOperation)) {
            j.d.table->GetSupportedNodes = NULL; /* neither: all count as supported */
            assert_int_equal(nnrt_device_supported(j.device, &j.g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
            assert_true(ok[0] && ok[1] && j.d.asked == 0);
        }
        for (uint32_t k = 0; k < COUNT(abilities); k++)
            assert_int_equal(nnrt_device_can(j.device, abilities[k].ability, NULL), at != abilities[k].slot);
        assert_int_equal(nnrt_device_can(j.device, NNRT_ABILITY_TELL_NODES, NULL),
                         at != offsetof(NNRT_DeviceVtbl, GetSupportedOperation)); /* both are absent then */
        for (uint32_t way = 0; way < 2; way++) { /* the driver uses driver_prepare for both */
            const bool cache = way == 0;
            const size_t slot = cache ? offsetof(NNRT_DeviceVtbl, PrepareModelFromModelCache)
                                      : offsetof(NNRT_DeviceVtbl, PrepareOfflineModel);
            NNRT_PreparedModel *given = (NNRT_PreparedModel *)(void *)&j;
            NNRT_ModelConfig config;
            NNRT_ReturnCode code;
            config_init(&config, &j.e);
            code = cache ? nnrt_device_prepare_cache(j.device, j.d.cache, 2, &config, &given)
                         : nnrt_device_prepare_offline(j.device, j.d.cache, 1, &config, &given);
            assert_int_equal(code, at == slot ? NNRT_NOT_SUPPORT : NNRT_SUCCESS);
            if (at == slot) {
                assert_null(given);
                assert_non_null(strstr(j.e.message, "npu_test_v1_0"));
            } else {
                assert_int_equal(j.d.sawBuffers, cache ? 2 : 1);
                assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY); /* it counts as any other */
                nnrt_device_release(j.device, given);
            }
        }
        assert_int_equal(nnrt_device_model_memory(j.device, &j.g.model, NULL, &bytes),
                         at == offsetof(NNRT_DeviceVtbl, GetModelMemory) ? NNRT_NOT_SUPPORT : NNRT_SUCCESS);
        if (at == offsetof(NNRT_DeviceVtbl, PrepareModel)) {
            NNRT_ModelConfig config;
            config_init(&config, &j.e);
            assert_int_equal(nnrt_device_prepare(j.device, &j.g.model, &config, &j.prepared), NNRT_NOT_SUPPORT);
            assert_non_null(strstr(j.e.message, "npu_test_v1_0"));
        } else {
            job_prepare(&j);
            assert_int_equal(job_run(&j, 0), NNRT_SUCCESS);
            job_ran(&j);
        }
        job_end(&j);
        assert_int_equal(j.d.destroyed, at == offsetof(NNRT_DeviceVtbl, Destroy) ? 0 : 1);
    }
    { /* both of a pair missing is fine; without any way to prepare a model it is not */
        static job j;
        job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        j.d.table->AllocateBuffer = NULL;
        j.d.table->ReleaseBuffer = NULL;
        j.d.table->PrepareOfflineModel = NULL;
        j.d.table->PrepareModelFromModelCache = NULL;
        job_register(&j);
        job_end(&j);
        job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        j.d.table->PrepareModel = NULL;
        j.d.table->PrepareOfflineModel = NULL;
        job_register(&j); /* caches only */
        job_end(&j);
        job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        j.d.table->PrepareModel = NULL;
        j.d.table->PrepareOfflineModel = NULL;
        j.d.table->PrepareModelFromModelCache = NULL;
        expect_registration(&j.d, NNRT_INVALID_PARAMETER, "prepare");
        driver_end(&j.d);
    }
}

/* The slots of a prepared model. Of the three ways to run any one is enough. */
static void test_model_slots_missing(void **state)
{
    static const size_t offsets[] = {offsetof(NNRT_PreparedModelVtbl, ExportModelCache),
                                     offsetof(NNRT_PreparedModelVtbl, RunV1),
                                     offsetof(NNRT_PreparedModelVtbl, GetInputDimRanges),
                                     offsetof(NNRT_PreparedModelVtbl, Run),
                                     offsetof(NNRT_PreparedModelVtbl, Destroy),
                                     offsetof(NNRT_PreparedModelVtbl, GetWorkspaceSize),
                                     offsetof(NNRT_PreparedModelVtbl, RunIn),
                                     offsetof(NNRT_PreparedModelVtbl, GetIO),
                                     offsetof(NNRT_PreparedModelVtbl, GetMemory),
                                     offsetof(NNRT_PreparedModelVtbl, GetOutputDimRanges),
                                     offsetof(NNRT_PreparedModelVtbl, RunUntil)};
    (void)state;
    assert_int_equal(COUNT(offsets), (sizeof(NNRT_PreparedModelVtbl) - 8) / sizeof(void (*)(void)));
    for (uint32_t i = 0; i < COUNT(offsets); i++) {
        static job j;
        size_t at = offsets[i];
        job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        memset((uint8_t *)j.d.modelTable + at, 0, sizeof(void (*)(void)));
        job_register(&j);
        job_prepare(&j);
        assert_int_equal(job_run(&j, 0), NNRT_SUCCESS);
        job_ran(&j);
        assert_int_equal(at == offsetof(NNRT_PreparedModelVtbl, Run) ? j.d.ranV1 : j.d.ran, 1);
        assert_int_equal(job_run(&j, 1024), NNRT_SUCCESS);
        job_ran(&j);
        assert_int_equal(j.d.ranIn, at == offsetof(NNRT_PreparedModelVtbl, RunIn) ? 0 : 1);
        job_end(&j);
        assert_int_equal(j.d.released, at == offsetof(NNRT_PreparedModelVtbl, Destroy) ? 0 : 1);
        if (j.d.released == 0)
            free(j.prepared);
    }
    for (uint32_t way = 0; way < 4; way++) { /* exactly one way to run; in the end none */
        static job j;
        job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        j.d.modelTable->RunV1 = way == 0 ? driver_run_v1 : NULL;
        j.d.modelTable->Run = way == 1 ? driver_run : NULL;
        j.d.modelTable->RunIn = way == 2 ? driver_run_in : NULL;
        job_register(&j);
        if (way == 3) {
            NNRT_ModelConfig config;
            config_init(&config, &j.e);
            assert_int_equal(nnrt_device_prepare(j.device, &j.g.model, &config, &j.prepared), NNRT_DEVICE_ERROR);
            assert_null(j.prepared);
            assert_non_null(strstr(j.e.message, "npu"));
            assert_int_equal(j.d.released, 1); /* given back at once */
        } else {
            job_prepare(&j);
            assert_int_equal(job_run(&j, 0), way == 2 ? NNRT_NOT_SUPPORT : NNRT_SUCCESS);
            assert_int_equal(job_run(&j, 1024), NNRT_SUCCESS);
            job_ran(&j);
        }
        job_end(&j);
        assert_int_equal(j.d.released, 1);
    }
}

/* A configuration of `bytes` bytes, with the members of `from` that fit inside; the block ends there. */
static NNRT_ModelConfig *config_block(const NNRT_ModelConfig *from, size_t bytes, uint32_t structSize)
{
    uint8_t *block = (uint8_t *)malloc(bytes);
    memset(block, 0xEE, bytes);
    memcpy(block, from, bytes < sizeof(*from) ? bytes : sizeof(*from));
    if (bytes >= offsetof(NNRT_ModelConfig, structSize) + sizeof(structSize))
        memcpy(block + offsetof(NNRT_ModelConfig, structSize), &structSize, sizeof(structSize));
    return (NNRT_ModelConfig *)(void *)block;
}

/* A device gets the size of its configuration, and reads no more: if an older runtime passes it, the members after its end have
   their defaults; if a later one does, members after ours are ignored. The address sanitizer detects a read after the end. */
static void test_config_says_its_size(void **state)
{
    static job j;
    static const NNRT_Extension extension = {"name", "bytes", 5};
    nnrt_allocator allocator;
    NNRT_ModelConfig full, own, *given;
    NNRT_PreparedModel *prepared = NULL;
    tracker t;
    (void)state;
    memset(&t, 0, sizeof(t));
    allocator = allocator_of(&t);
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    job_register(&j);
    for (uint32_t way = 0; way < 4;
         way++) { /* whoever calls the runtime says nothing, or has no configuration at all */
        bool ok[2];
        size_t bytes;
        config_init(&full, &j.e);
        full.threads = 3;
        full.allocator = &allocator;
        memset(&j.d.sawConfig, 0xEE, sizeof(j.d.sawConfig));
        if (way < 2) {
            assert_int_equal(nnrt_device_prepare(j.device, &j.g.model, way == 0 ? &full : NULL, &prepared),
                             NNRT_SUCCESS);
            nnrt_device_release(j.device, prepared);
        } else {
            assert_int_equal(nnrt_device_supported(j.device, &j.g.model, way == 2 ? &full : NULL, ok, 2, NULL, NULL),
                             NNRT_SUCCESS);
        }
        assert_int_equal(nnrt_device_model_memory(j.device, &j.g.model, &full, &bytes), NNRT_SUCCESS);
        assert_int_equal(j.d.sawConfig.structSize, sizeof(full));
        assert_int_equal(j.d.sawConfig.threads, way % 2 == 0 ? 3 : 0);
        assert_ptr_equal(j.d.sawConfig.allocator, way % 2 == 0 ? &allocator : NULL);
        assert_ptr_equal(j.d.sawConfig.error, way % 2 == 0 ? &j.e : NULL);
        assert_int_equal(full.structSize, 0); /* it stays the caller's */
    }
    job_end(&j);
    config_init(&full, &j.e);
    full.mode = NNRT_PERFORMANCE_HIGH;
    full.extensions = NNRT_ExtensionList_make(&extension, 1);
    full.allocator = &allocator;
    full.threads = 3;
    full.arenaAlignment = 16;
    given = config_block(&full, offsetof(NNRT_ModelConfig, structSize) + 4, 0); /* HDI's */
    nnrt_config_read(&own, given);
    free(given);
    assert_int_equal(own.structSize, sizeof(own));
    assert_int_equal(own.mode, NNRT_PERFORMANCE_HIGH);
    assert_int_equal(own.extensions.count, 1);
    assert_null(own.allocator);
    assert_null(own.error);
    assert_int_equal(own.threads, 0);
    given = config_block(&full, offsetof(NNRT_ModelConfig, threads), offsetof(NNRT_ModelConfig, threads)); /* older */
    assert_true(NNRT_HAS_MEMBER(given, NNRT_ModelConfig, callerWorkspace));
    assert_false(NNRT_HAS_MEMBER(given, NNRT_ModelConfig, threads));
    nnrt_config_read(&own, given);
    assert_ptr_equal(own.allocator, &allocator);
    assert_int_equal(own.threads, 0);
    assert_null(own.error);
    for (uint32_t i = 0; i < 2; i++) { /* the built-in devices read that one, called as a runtime calls them */
        const NNRT_DeviceVtbl *table = nnrt_device_at(i)->table;
        bool ok[2] = {false, false};
        size_t bytes = 0;
        assert_int_equal(table->PrepareModel(NULL, &j.g.model, given, &prepared), NNRT_SUCCESS);
        prepared->vtbl->Destroy(prepared);
        assert_int_equal(table->GetModelMemory(NULL, &j.g.model, given, &bytes), NNRT_SUCCESS);
        assert_true(bytes > 0);
        assert_int_equal(table->GetSupportedNodes(NULL, &j.g.model, given, ok, 2, NULL, NULL), NNRT_SUCCESS);
        assert_true(ok[0] && ok[1]);
        assert_true(t.calls > 0);
    }
    free(given);
    given = config_block(&full, sizeof(full) + 64, sizeof(full) + 64); /* later */
    nnrt_config_read(&own, given);
    free(given);
    assert_int_equal(own.structSize, sizeof(own));
    assert_int_equal(own.threads, 3);
    assert_int_equal(own.arenaAlignment, 16);
    nnrt_config_read(&own, NULL);
    assert_int_equal(own.structSize, sizeof(own));
    assert_int_equal(own.mode, NNRT_PERFORMANCE_NONE);
    assert_int_equal(t.live, 0);
}

/* An error with `room` bytes for the message, after which its block ends. */
static nnrt_error *error_block(size_t room)
{
    uint8_t *block = (uint8_t *)calloc(1, offsetof(nnrt_error, message) + room);
    nnrt_error *e = (nnrt_error *)(void *)block;
    e->capacity = (uint32_t)room;
    return e;
}

/* Messages are as long as the place for them, whoever made it: of the library's text, of a node's fault, of a run. */
static void test_error_says_its_room(void **state)
{
    static graph g;
    static const size_t rooms[4] = {1, 4, 40, 1000};
    char text[301];
    nnrt_error e;
    (void)state;
    memset(text, 'x', 300);
    text[300] = '\0';
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t way = 0; way < 4; way++) {
            nnrt_error *small = error_block(rooms[i]);
            NNRT_PreparedModel *prepared = NULL;
            NNRT_ModelConfig config;
            NNRT_IOTensor none;
            const char *want = way == 0 ? text : way == 1 ? "node 0 'sum' (ADD_FUSION)" : "tensor 2 'a'";
            config_init(&config, NULL);
            config.error = small;
            graph_sound(&g);
            memset(&none, 0, sizeof(none));
            if (way == 0) {
                assert_int_equal(nnrt_error_set(small, NNRT_FAILED, "%s", text), NNRT_FAILED);
            } else if (way == 1) {
                spoil_shapes_differ(&g, NULL);
                assert_int_equal(nnrt_device_prepare(automatic(), &g.model, &config, &prepared), NNRT_INVALID_SHAPE);
                assert_int_equal(small->node, 0);
            } else if (way == 2) {
                spoil_format_high(&g, NULL);
                g.tensors[0].format = NNRT_FORMAT_NONE;
                g.tensors[2].format = 2;
                assert_int_equal(nnrt_device_prepare(reference(), &g.model, &config, &prepared), NNRT_INVALID_FORMAT);
                assert_int_equal(small->tensor, 2);
            } else {
                want = "got 0 inputs";
                assert_int_equal(nnrt_device_prepare(reference(), &g.model, &config, &prepared), NNRT_SUCCESS);
                assert_int_equal(small->code, NNRT_SUCCESS);
                {
                    static uint64_t workspace[64];
                    uint8_t *at = (uint8_t *)workspace + (64 - (uintptr_t)workspace % 64) % 64;
                    assert_int_equal(nnrt_prepared_run(prepared, at, 256, &none, 0, &none, 0, NULL, NULL, small),
                                     NNRT_INVALID_INPUT);
                }
                nnrt_device_release(reference(), prepared);
            }
            assert_true(strlen(small->message) < rooms[i]);
            assert_memory_equal(small->message, want, strlen(want) < rooms[i] ? strlen(want) : rooms[i] - 1);
            free(small);
        }
    memset(&e, 0, sizeof(e)); /* with capacity 0: the size in this build */
    (void)nnrt_error_set(&e, NNRT_FAILED, "%s", text);
    assert_int_equal(strlen(e.message), sizeof(e.message) - 1);
    assert_int_equal(e.capacity, 0);
    /* a name that would not fit with the reason is shortened, except a name that the reader must type */
    memset(text, 'n', 120);
    text[120] = '\0';
    memset(&e, 0, sizeof(e));
    (void)nnrt_error_set(&e, NNRT_FAILED, "'%s' and '%n': %s", text, text, "the reason is at the end of the message");
    assert_null(strstr(strchr(e.message, ':'), "..."));
    assert_true(strstr(e.message, "nnn...nnn") < strstr(e.message, text));
    assert_non_null(strstr(e.message, "end of the message"));
}

/* A driver built without messages sets a code and indices; the runtime adds a message. A failure before a final success leaves
   no message. */
static NNRT_ReturnCode wordless_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                        NNRT_PreparedModel **prepared)
{
    assert_int_equal(config->error->capacity, sizeof(config->error->message));
    config->error->code = NNRT_INVALID_SHAPE;
    config->error->node = 1;
    config->error->tensor = 3;
    if (((driver *)self)->prepareCode != NNRT_SUCCESS)
        return ((driver *)self)->prepareCode;
    return driver_prepare(self, model, config, prepared);
}

static NNRT_ReturnCode wordless_run(NNRT_PreparedModel *m, void *workspace, size_t bytes, const NNRT_IOTensor *inputs,
                                    uint32_t nIn, const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                    nnrt_error *error)
{
    assert_int_equal(error->capacity, sizeof(error->message));
    error->code = NNRT_DEVICE_ERROR;
    error->node = 1;
    error->tensor = -1;
    return driver_run_in(m, workspace, bytes, inputs, nIn, outputs, nOut, outputDims, NULL);
}

static void test_wordless_driver(void **state)
{
    static job j;
    NNRT_ModelConfig config;
    (void)state;
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    j.d.table->PrepareModel = wordless_prepare;
    j.d.modelTable->RunIn = wordless_run;
    job_register(&j);
    j.d.prepareCode = NNRT_INVALID_SHAPE;
    config_init(&config, &j.e);
    assert_int_equal(nnrt_device_prepare(j.device, &j.g.model, &config, &j.prepared), NNRT_INVALID_SHAPE);
    assert_int_equal(j.e.code, NNRT_INVALID_SHAPE);
    assert_int_equal(j.e.node, 1);
    assert_int_equal(j.e.tensor, 3);
    assert_non_null(strstr(j.e.message, "device 'npu_test_v1_0' cannot prepare the model: NNRT_INVALID_SHAPE (25)"));
    j.d.prepareCode = NNRT_SUCCESS;
    memset(&j.e, 0, sizeof(j.e));
    job_prepare(&j);
    assert_int_equal(j.e.code, NNRT_SUCCESS);
    assert_int_equal(job_run(&j, 1024), NNRT_SUCCESS);
    assert_int_equal(j.e.code, NNRT_SUCCESS);
    j.d.runCode = NNRT_DEVICE_ERROR;
    assert_int_equal(job_run(&j, 1024), NNRT_DEVICE_ERROR);
    assert_int_equal(j.e.node, 1);
    assert_non_null(strstr(j.e.message, "run failed"));
    job_end(&j);
}

/* With an allocator nothing comes from anywhere else: malloc is shut. */
static void test_allocator_serves_all(void **state)
{
    static job j;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) { /* reference; auto, alone and with a device that refuses in the end */
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        nnrt_device *d = i == 0 ? reference() : automatic();
        NNRT_ModelConfig config;
        NNRT_ReturnCode codes[5] = {0, 0, 0, 0, 0};
        bool ok[2];
        size_t bytes;
        memset(&t, 0, sizeof(t));
        job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        j.d.prepareCode = NNRT_FAILED;
        if (i == 2)
            job_register(&j);
        config_init(&config, &j.e);
        config.allocator = &a;
        heap_shut = true; /* no assertion until it is open again */
        codes[0] = nnrt_device_supported(d, &j.g.model, &config, ok, 2, NULL, NULL);
        codes[1] = nnrt_device_model_memory(d, &j.g.model, &config, &bytes);
        codes[2] = nnrt_device_prepare(d, &j.g.model, &config, &j.prepared);
        codes[3] = nnrt_model_validate(&j.g.model, &config, NULL);
        if (codes[2] == NNRT_SUCCESS) {
            codes[4] = job_run(&j, 0);
            nnrt_device_release(d, j.prepared);
        }
        heap_shut = false;
        for (uint32_t k = 0; k < 5; k++)
            assert_int_equal(codes[k], NNRT_SUCCESS);
        assert_true(t.calls > 10);
        assert_int_equal(t.live, 0);
        j.prepared = NULL;
        job_end(&j);
    }
}

/* Whatever code a driver gives comes through, with a message that names it. */
static void test_driver_codes(void **state)
{
    static job j;
    (void)state;
    for (int32_t code = -1; code <= 33; code++) {
        char number[16];
        if (code == 0)
            continue;
        snprintf(number, sizeof(number), "(%d)", (int)code);
        for (uint32_t way = 0; way < 3; way++) {
            job_init(&j, sizeof(NNRT_DeviceVtbl), way == 0 ? MODEL_1_0 : sizeof(NNRT_PreparedModelVtbl));
            job_register(&j);
            job_prepare(&j);
            j.d.runCode = code;
            assert_int_equal(job_run(&j, way == 2 ? 1024 : 0), code);
            assert_int_equal(way == 0 ? j.d.ranV1 : way == 1 ? j.d.ran : j.d.ranIn, 1);
            assert_int_equal(j.e.code, code);
            assert_int_equal(j.e.node, -1);
            assert_non_null(strstr(j.e.message, number));
            if (code > 0)
                assert_non_null(strstr(j.e.message, nnrt_code_name(code)));
            assert_int_equal(nnrt_prepared_run(j.prepared, NULL, 0, &j.x, 1, &j.y, 1, NULL, NULL, NULL), code);
            j.d.runCode = NNRT_SUCCESS;
            assert_int_equal(job_run(&j, way == 2 ? 1024 : 0), NNRT_SUCCESS);
            job_ran(&j);
            job_end(&j);
            if (way == 0)
                free(j.prepared);
        }
        job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        job_register(&j);
        j.d.prepareCode = code;
        {
            NNRT_ModelConfig config;
            config_init(&config, &j.e);
            j.prepared = (NNRT_PreparedModel *)(void *)&j;
            assert_int_equal(nnrt_device_prepare(j.device, &j.g.model, &config, &j.prepared), code);
            assert_null(j.prepared);
            assert_int_equal(j.e.code, code);
            assert_non_null(strstr(j.e.message, number));
            assert_non_null(strstr(j.e.message, "npu_test_v1_0"));
            assert_int_equal(nnrt_device_prepare(j.device, &j.g.model, NULL, &j.prepared), code);
        }
        job_end(&j);
        assert_int_equal(j.d.released, 0);
    }
}

/* Success without a prepared model is a fault of the device, not ours to trip over. */
static void test_prepare_that_gives_nothing(void **state)
{
    static job j;
    NNRT_ModelConfig config;
    (void)state;
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    job_register(&j);
    j.d.noModel = true;
    config_init(&config, &j.e);
    assert_int_equal(nnrt_device_prepare(j.device, &j.g.model, &config, &j.prepared), NNRT_DEVICE_ERROR);
    assert_null(j.prepared);
    assert_non_null(strstr(j.e.message, "npu_test_v1_0"));
    j.d.noModel = false;
    j.d.noVtbl = true;
    assert_int_equal(nnrt_device_prepare(j.device, &j.g.model, &config, &j.prepared), NNRT_DEVICE_ERROR);
    assert_null(j.prepared);
    free(j.d.sawWorkspace);
    job_end(&j);
}

/* HDI 1.0 with many outputs: each has a flag. */
static void test_run_v1_limits(void **state)
{
    static job j;
    static NNRT_IOTensor many_outputs[64];
    (void)state;
    job_init(&j, DEVICE_1_0, MODEL_1_0);
    job_register(&j);
    job_prepare(&j);
    for (uint32_t i = 0; i < COUNT(many_outputs); i++)
        many_outputs[i] = j.y;
    many_outputs[31].name = "the last";
    assert_int_equal(nnrt_prepared_run(j.prepared, NULL, 0, &j.x, 1, many_outputs, 32, NULL, NULL, NULL), NNRT_SUCCESS);
    j.d.notEnough = true;
    assert_int_equal(nnrt_prepared_run(j.prepared, NULL, 0, &j.x, 1, many_outputs, 32, NULL, NULL, &j.e),
                     NNRT_INSUFFICIENT_BUFFER);
    assert_non_null(strstr(j.e.message, "output 31 'the last'"));
    j.d.notEnough = false;
    memset(&j.e, 0, sizeof(j.e));
    assert_int_equal(nnrt_prepared_run(j.prepared, NULL, 0, &j.x, 1, many_outputs, 33, NULL, NULL, &j.e),
                     NNRT_NOT_SUPPORT);
    assert_non_null(strstr(j.e.message, "33"));
    job_end(&j);
    free(j.prepared);
}

/* ---- auto ---- */

/* Prepares the sound model on auto and runs it once; true when a test driver did it, false when the reference device
   did. */
static bool auto_ran_on_driver(job *j)
{
    NNRT_ModelConfig config;
    bool added;
    config_init(&config, &j->e);
    j->device = automatic();
    if (nnrt_device_prepare(j->device, &j->g.model, &config, &j->prepared) != NNRT_SUCCESS)
        fail_msg("%s", j->e.message);
    assert_int_equal(job_run(j, 0), NNRT_SUCCESS);
    added = j->out[5] == 105;
    for (int32_t i = 0; i < 6; i++)
        assert_true(j->out[i] == (added ? (float)(i + 100) : (float)i + three[i % 3]));
    nnrt_device_release(j->device, j->prepared);
    j->prepared = NULL;
    return added;
}

/* Accelerator, GPU, CPU, something else, in whatever order they came; the reference device when all refuse. */
static void test_auto_takes_the_best(void **state)
{
    static const NNRT_DeviceType types[4] = {NNRT_DEVICE_TYPE_OTHER, NNRT_DEVICE_TYPE_CPU, NNRT_DEVICE_TYPE_ACCELERATOR,
                                             NNRT_DEVICE_TYPE_GPU};
    static const uint32_t best[4] = {2, 3, 1, 0};
    static const char *const names[4] = {"other", "cpu", "npu", "gpu"};
    static job j;
    driver d[4];
    (void)state;
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    assert_false(auto_ran_on_driver(&j));
    for (uint32_t i = 0; i < 4; i++) {
        driver_init(&d[i], sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        d[i].name = names[i];
        d[i].type = types[i];
        driver_register(&d[i]);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(auto_ran_on_driver(&j));
        assert_int_equal(d[best[i]].prepared, 1);
        for (uint32_t k = i + 1; k < 4; k++)
            assert_int_equal(d[best[k]].prepared, 0);
        d[best[i]].refused = i % 2; /* from now on it does not take one of the two nodes */
    }
    for (uint32_t i = 0; i < 4; i++)
        d[i].supportedCode = NNRT_FAILED; /* else the model would be split */
    assert_false(auto_ran_on_driver(&j));
    assert_int_equal(clean_registry(NULL), 0);
    driver_end(&j.d);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(d[i].released, 1);
        driver_end(&d[i]);
    }
}

static void test_auto_falls_back(void **state)
{
    static job j;
    (void)state;
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    job_register(&j);
    assert_true(auto_ran_on_driver(&j));
    j.d.status = NNRT_DEVICE_STATUS_BUSY;
    assert_true(auto_ran_on_driver(&j));
    j.d.status = NNRT_DEVICE_STATUS_OFFLINE; /* offline since it was registered */
    assert_false(auto_ran_on_driver(&j));
    j.d.status = NNRT_DEVICE_STATUS_AVAILABLE;
    j.d.statusCode = NNRT_DEVICE_ERROR;
    assert_false(auto_ran_on_driver(&j));
    j.d.statusCode = NNRT_SUCCESS;
    j.d.supportedCode = NNRT_DEVICE_BUSY;
    assert_false(auto_ran_on_driver(&j));
    j.d.supportedCode = NNRT_SUCCESS;
    j.d.refused = 0;
    assert_false(auto_ran_on_driver(&j));
    j.d.refused = NNRT_NO_TENSOR;
    j.d.table->GetSupportedNodes = NULL;
    j.d.table->GetSupportedOperation = NULL; /* it gets every node */
    assert_true(auto_ran_on_driver(&j));
    job_end(&j);
}

/* If a device supports every node and then fails, auto tries the next one, in memory as in a buffer, and GetModelMemory reports
   the size for the device that gets the model. */
static void test_auto_goes_on(void **state)
{
    static graph g;
    driver d[3];
    (void)state;
    for (uint32_t refusing = 0; refusing < 4; refusing++) {
        static const char *const names[3] = {"npu", "gpu", "cpu"};
        static const NNRT_DeviceType types[3] = {NNRT_DEVICE_TYPE_ACCELERATOR, NNRT_DEVICE_TYPE_GPU,
                                                 NNRT_DEVICE_TYPE_CPU};
        NNRT_ModelConfig config;
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        NNRT_PreparedModel *prepared = NULL;
        nnrt_error e;
        guarded buffer;
        size_t bytes = 0, inner = 0;
        memset(&t, 0, sizeof(t));
        graph_sound(&g);
        for (uint32_t i = 0; i < 3; i++) {
            driver_init(&d[2 - i], sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
            d[2 - i].name = names[2 - i];
            d[2 - i].type = types[2 - i];
            d[2 - i].prepareCode = 2 - i < refusing ? NNRT_DEVICE_BUSY : NNRT_SUCCESS;
            driver_register(&d[2 - i]);
        }
        config_init(&config, &e);
        config.allocator = &a;
        assert_int_equal(nnrt_device_prepare(automatic(), &g.model, &config, &prepared), NNRT_SUCCESS);
        assert_int_equal(e.code, NNRT_SUCCESS);
        assert_string_equal(e.message, "");
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(d[i].prepared, i <= refusing ? 1 : 0);
        nnrt_device_release(automatic(), prepared);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(d[i].released, i == refusing ? 1 : 0);
        assert_int_equal(t.live, 0);
        assert_int_equal(nnrt_device_model_memory(automatic(), &g.model, &config, &bytes), NNRT_SUCCESS);
        assert_int_equal(e.code, NNRT_SUCCESS);
        assert_int_equal(nnrt_device_model_memory(refusing < 3 ? nnrt_device_find(names[refusing]) : reference(),
                                                  &g.model, &config, &inner),
                         NNRT_SUCCESS);
        assert_true(bytes > inner && bytes < inner + 512);
        buffer = guarded_make(bytes, 0);
        config.buffer = buffer.data;
        config.bufferBytes = bytes;
        assert_int_equal(nnrt_device_prepare(automatic(), &g.model, &config, &prepared), NNRT_SUCCESS);
        nnrt_device_release(automatic(), prepared);
        guarded_end(&buffer);
        assert_int_equal(clean_registry(NULL), 0);
        for (uint32_t i = 0; i < 3; i++)
            driver_end(&d[i]);
    }
}

/* Every node counts as taken by auto when a device takes all of them, also where the reference device could not. */
static void test_auto_supported(void **state)
{
    static job j;
    const reasons *r;
    (void)state;
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    spoil_shapes_differ(&j.g, NULL);
    (void)expect_support(automatic(), &j.g.model, NULL, "0");
    job_register(&j);
    (void)expect_support(automatic(), &j.g.model, NULL, "");
    j.d.refused = 1;
    (void)expect_support(automatic(), &j.g.model, NULL, "0");
    j.d.table->GetSupportedNodes = NULL; /* a device that gives no reasons */
    r = expect_support(j.device, &j.g.model, NULL, "1");
    assert_int_equal(r->errors[0].code, NNRT_UNSUPPORTED_OP);
    assert_non_null(strstr(r->errors[0].message, "npu_test_v1_0"));
    assert_non_null(strstr(r->errors[0].message, "ACTIVATION"));
    job_end(&j);
}

/* A model prepared by auto passes every call on to the device's prepared model. */
static void test_auto_forwards(void **state)
{
    static job j;
    nnrt_prepared_memory figures;
    nnrt_dims least, most;
    NNRT_DataType type = 0;
    const NNRT_SharedBuffer *buffers = NULL;
    uint32_t count = 0;
    size_t bytes = 0;
    static uint64_t workspace[80];
    nnrt_device *npu;
    (void)state;
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    job_register(&j);
    npu = j.device;
    j.device = automatic();
    job_prepare(&j);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY); /* it holds a model, though auto was asked */
    memset(&figures, 0, sizeof(figures));
    assert_int_equal(j.prepared->vtbl->GetMemory(j.prepared, &figures), NNRT_SUCCESS);
    assert_true(figures.tables >= 1000 + sizeof(NNRT_PreparedModel) && figures.tables < 1000 + 512);
    assert_int_equal(figures.workspace, 640);
    assert_int_equal(figures.arena, 512);
    assert_int_equal(figures.bound, 256);
    assert_int_equal(figures.constants, 12);
    assert_int_equal(figures.steps, 3);
    assert_int_equal(j.prepared->vtbl->GetWorkspaceSize(j.prepared, &bytes), NNRT_SUCCESS);
    assert_int_equal(bytes, 640);
    assert_int_equal(j.prepared->vtbl->GetInputDimRanges(j.prepared, 4, &least, &most), NNRT_SUCCESS);
    assert_int_equal(least.dims[0], 5);
    assert_int_equal(most.dims[0], 10);
    assert_int_equal(j.prepared->vtbl->GetIO(j.prepared, true, 2, &type, &most), NNRT_SUCCESS);
    assert_int_equal(type, F32);
    assert_int_equal(most.dims[0], 9);
    assert_int_equal(j.prepared->vtbl->GetIO(j.prepared, false, 2, &type, &most), NNRT_SUCCESS);
    assert_int_equal(type, I32);
    assert_int_equal(j.prepared->vtbl->ExportModelCache(j.prepared, &buffers, &count), NNRT_SUCCESS);
    assert_ptr_equal(buffers, j.d.cache);
    assert_int_equal(count, 2);
    assert_int_equal(j.prepared->vtbl->Run(j.prepared, &j.x, 1, &j.y, 1, &j.real), NNRT_SUCCESS);
    job_ran(&j);
    assert_int_equal(j.d.ran, 1);
    assert_int_equal(j.prepared->vtbl->RunIn(j.prepared, workspace, 640, &j.x, 1, &j.y, 1, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(j.d.ranIn, 1);
    assert_ptr_equal(j.d.sawWorkspace, workspace);
    memset(&j.e, 0, sizeof(j.e));
    assert_int_equal(j.prepared->vtbl->RunIn(j.prepared, workspace, 639, &j.x, 1, &j.y, 1, NULL, &j.e),
                     NNRT_OUT_OF_MEMORY);
    assert_string_equal(j.e.message, "the driver wants 640 bytes"); /* the first message stays */
    j.d.runCode = NNRT_TIME_OUT;
    assert_int_equal(job_run(&j, 0), NNRT_TIME_OUT);
    nnrt_device_release(j.device, j.prepared);
    assert_int_equal(j.d.released, 1);
    j.prepared = NULL;
    assert_int_equal(nnrt_device_model_memory(automatic(), &j.g.model, NULL, &bytes), NNRT_SUCCESS);
    assert_true(bytes >= 12345 * 64 + sizeof(NNRT_PreparedModel) && bytes < 12345 * 64 + 512);
    assert_ptr_equal(npu, nnrt_device_find("npu"));
    job_end(&j);
}

/* A device of HDI 1.0 behind auto: auto lacks the same methods. */
static void test_auto_without_slots(void **state)
{
    static job j;
    nnrt_prepared_memory figures;
    nnrt_dims least, most;
    NNRT_DataType type;
    const NNRT_SharedBuffer *buffers;
    uint32_t count;
    size_t bytes = 1;
    NNRT_PreparedModel *inner;
    (void)state;
    job_init(&j, DEVICE_1_0, MODEL_1_0);
    j.d.modelTable->ExportModelCache = NULL;
    job_register(&j);
    j.device = automatic();
    job_prepare(&j);
    inner = ((nnrti_auto_model *)(void *)j.prepared)->inner;
    memset(&figures, 0xFF, sizeof(figures)); /* auto's own size is known: a session's buffer must include it */
    assert_int_equal(j.prepared->vtbl->GetMemory(j.prepared, &figures), NNRT_SUCCESS);
    assert_true(figures.tables >= sizeof(NNRT_PreparedModel) && figures.tables < 512);
    assert_int_equal(figures.workspace, 0);
    assert_int_equal(figures.arena, 0);
    assert_int_equal(figures.steps, 0);
    assert_int_equal(j.prepared->vtbl->GetInputDimRanges(j.prepared, 0, &least, &most), NNRT_NOT_SUPPORT);
    assert_int_equal(j.prepared->vtbl->GetIO(j.prepared, true, 0, &type, &most), NNRT_NOT_SUPPORT);
    assert_int_equal(j.prepared->vtbl->ExportModelCache(j.prepared, &buffers, &count), NNRT_NOT_SUPPORT);
    assert_int_equal(j.prepared->vtbl->GetWorkspaceSize(j.prepared, &bytes), NNRT_SUCCESS);
    assert_int_equal(bytes, 0);
    assert_int_equal(job_run(&j, 0), NNRT_SUCCESS);
    job_ran(&j);
    j.d.notEnough = true;
    assert_int_equal(job_run(&j, 0), NNRT_INSUFFICIENT_BUFFER);
    assert_int_equal(nnrt_device_model_memory(automatic(), &j.g.model, NULL, &bytes), NNRT_NOT_SUPPORT);
    assert_ptr_not_equal(j.d.last, inner); /* it was tried once more, and cannot be given back either */
    free(j.d.last);
    job_end(&j);
    free(inner);
}

static void test_auto_failures(void **state)
{
    static job j;
    tracker t;
    nnrt_allocator a = allocator_of(&t);
    NNRT_ModelConfig config;
    size_t bytes = 1;
    bool ok[2];
    (void)state;
    memset(&t, 0, sizeof(t));
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    job_register(&j);
    config_init(&config, &j.e);
    config.allocator = &a;
    j.d.prepareCode =
        NNRT_TIME_OUT; /* it supported every node and then fails; the last device fails, too, and its error counts */
    spoil_shapes_differ(&j.g, NULL);
    assert_int_equal(nnrt_device_prepare(automatic(), &j.g.model, &config, &j.prepared), NNRT_INVALID_SHAPE);
    assert_null(j.prepared);
    assert_int_equal(j.d.prepared, 1);
    assert_int_equal(j.e.code, NNRT_INVALID_SHAPE);
    assert_non_null(strstr(j.e.message, "node 0 'sum' (ADD_FUSION)"));
    assert_int_equal(t.live, 0);
    memset(&j.e, 0, sizeof(j.e)); /* a fault that was there before stays the first */
    (void)nnrt_error_set(&j.e, NNRT_FAILED, "before");
    assert_int_equal(nnrt_device_prepare(automatic(), &j.g.model, &config, &j.prepared), NNRT_INVALID_SHAPE);
    assert_string_equal(j.e.message, "before");
    assert_int_equal(j.e.code, NNRT_FAILED);
    graph_sound(&j.g);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
    config_init(&config, &j.e);
    config.mode = 77;
    assert_int_equal(nnrt_device_prepare(automatic(), &j.g.model, &config, &j.prepared), NNRT_INVALID_PERFORMANCE_MODE);
    config_init(&config, &j.e);
    config.buffer = (uint8_t *)some_buffer + 65 - (uintptr_t)some_buffer % 64;
    config.bufferBytes = 64;
    assert_int_equal(nnrt_device_prepare(automatic(), &j.g.model, &config, &j.prepared), NNRT_INVALID_PARAMETER);
    config_init(&config, &j.e);
    spoil_shapes_differ(&j.g, NULL); /* the reference device speaks */
    assert_int_equal(nnrt_device_prepare(automatic(), &j.g.model, &config, &j.prepared), NNRT_INVALID_SHAPE);
    assert_int_equal(j.e.node, 0);
    assert_non_null(strstr(j.e.message, "node 0 'sum' (ADD_FUSION)"));
    assert_int_equal(nnrt_device_supported(automatic(), &j.g.model, NULL, ok, 2, NULL, NULL), NNRT_SUCCESS);
    assert_false(ok[0]);
    assert_int_equal(nnrt_device_model_memory(automatic(), &j.g.model, NULL, &bytes), NNRT_INVALID_SHAPE);
    driver_end(&j.d);
}

static void test_auto_memory(void **state)
{
    static graph g;
    driver d;
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(memory_models); i++) {
        NNRT_ModelConfig config;
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        size_t bytes = 0, inner = 0;
        NNRT_PreparedModel *prepared = NULL;
        guarded buffer;
        int64_t n = 1;
        memset(&t, 0, sizeof(t));
        graph_named(&g, memory_models[i / 2]);
        config_init(&config, NULL);
        config.copyConstants = i % 2 != 0;
        assert_int_equal(nnrt_device_model_memory(reference(), &g.model, &config, &inner), NNRT_SUCCESS);
        assert_int_equal(nnrt_device_model_memory(automatic(), &g.model, &config, &bytes), NNRT_SUCCESS);
        assert_true(bytes > inner && bytes < inner + 512);
        buffer = guarded_make(bytes, 0);
        config.buffer = buffer.data;
        config.bufferBytes = bytes;
        assert_int_equal(nnrt_device_prepare(automatic(), &g.model, &config, &prepared), NNRT_SUCCESS);
        nnrt_device_release(automatic(), prepared);
        config.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_device_prepare(automatic(), &g.model, &config, &prepared), NNRT_OUT_OF_MEMORY);
        config.bufferBytes = 1;
        assert_int_equal(nnrt_device_prepare(automatic(), &g.model, &config, &prepared), NNRT_OUT_OF_MEMORY);
        guarded_end(&buffer);
        config.buffer = NULL;
        config.allocator = &a;
        for (;; n++) {
            NNRT_ReturnCode code;
            t.calls = 0;
            t.failAt = n;
            code = nnrt_device_prepare(automatic(), &g.model, &config, &prepared);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_null(prepared);
            assert_int_equal(t.live, 0);
        }
        assert_true(n > 10);
        nnrt_device_release(automatic(), prepared);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
    }
    { /* asking how much a model needs writes nothing into the buffer that is meant for it: another may live there */
        static uint8_t block[256];
        uint8_t *at = block + (NNRT_ALIGNMENT - (uintptr_t)block % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
        NNRT_ModelConfig config;
        size_t bytes;
        driver_init(&d, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
        driver_register(&d);
        memset(block, 0x5A, sizeof(block));
        config_init(&config, NULL);
        config.buffer = at;
        config.bufferBytes = 64;
        assert_int_equal(nnrt_device_model_memory(automatic(), &g.model, &config, &bytes), NNRT_SUCCESS);
        for (uint32_t i = 0; i < sizeof(block); i++)
            assert_int_equal(block[i], 0x5A);
        assert_int_equal(clean_registry(NULL), 0);
        driver_end(&d);
    }
}

/* ---- models as plain data ---- */

/* A model whose every byte is const, as in flash: y = relu(x * [2,-3] + [1,1]). */
static const float flash_factor[2] = {2, -3}, flash_offset[2] = {1, 1};
static const int32_t flash_dims[2] = {3, 2}, flash_row[1] = {2};
static const NNRT_MulFusion flash_mul = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
static const NNRT_AddFusion flash_add = {NNRT_ACTIVATION_TYPE_RELU};
static const uint32_t flash_in0[2] = {0, 1}, flash_in1[2] = {3, 2}, flash_out0[1] = {3}, flash_out1[1] = {4},
                      flash_nodes[2] = {0, 1};
static const NNRT_Tensor flash_tensors[5] = {
    {"x", NNRT_DATA_TYPE_FLOAT32, {flash_dims, 2}, NNRT_FORMAT_NONE, {-1, 0, 0, 0, NULL}, {NULL, 0}, 0, {NULL, 0}},
    {"factor",
     NNRT_DATA_TYPE_FLOAT32,
     {flash_row, 1},
     NNRT_FORMAT_NONE,
     {-1, 8, 0, 8, (void *)(uintptr_t)flash_factor},
     {NULL, 0},
     0,
     {NULL, 0}},
    {"offset",
     NNRT_DATA_TYPE_FLOAT32,
     {flash_row, 1},
     NNRT_FORMAT_NONE,
     {-1, 8, 0, 8, (void *)(uintptr_t)flash_offset},
     {NULL, 0},
     0,
     {NULL, 0}},
    {"product",
     NNRT_DATA_TYPE_FLOAT32,
     {flash_dims, 2},
     NNRT_FORMAT_NONE,
     {-1, 0, 0, 0, NULL},
     {NULL, 0},
     0,
     {NULL, 0}},
    {"y", NNRT_DATA_TYPE_FLOAT32, {flash_dims, 2}, NNRT_FORMAT_NONE, {-1, 0, 0, 0, NULL}, {NULL, 0}, 0, {NULL, 0}}};
static const NNRT_Node flash_node_list[2] = {{"mul",
                                              NNRT_NODE_TYPE_MUL_FUSION,
                                              {&flash_mul, sizeof(flash_mul)},
                                              {flash_in0, 2},
                                              {flash_out0, 1},
                                              NNRT_QUANT_TYPE_NONE},
                                             {"add",
                                              NNRT_NODE_TYPE_ADD_FUSION,
                                              {&flash_add, sizeof(flash_add)},
                                              {flash_in1, 2},
                                              {flash_out1, 1},
                                              NNRT_QUANT_TYPE_NONE}};
static const NNRT_SubGraph flash_graph[1] = {{"main", {flash_in0, 1}, {flash_out1, 1}, {flash_nodes, 2}}};
static const NNRT_Model flash_model = {
    "flash", {flash_in0, 1}, {flash_out1, 1}, {flash_node_list, 2}, {flash_tensors, 5}, {flash_graph, 1}, NULL};

static void flash_run(NNRT_PreparedModel *prepared)
{
    static const float in[6] = {0, 0, 1, 2, -3, -4}, want[6] = {1, 1, 3, 0, 0, 13};
    float out[6];
    NNRT_IOTensor x = io_of(F32, flash_dims, 2, (void *)(uintptr_t)in, sizeof(in)),
                  y = io_of(F32, flash_dims, 2, out, sizeof(out));
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_prepared_run(prepared, NULL, 0, &x, 1, &y, 1, NULL, NULL, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    for (int32_t i = 0; i < 6; i++)
        assert_true(out[i] == want[i]);
}

static int yes_to_all(int event, void *data)
{
    return event == 7 && data != NULL ? 0 : 1;
}

static int no_to_all(int event, void *data)
{
    (void)event, (void)data;
    return 1;
}

/* A context reaches the device that opened it, through auto, too, and keeps it registered; a device without contexts, and one
   that opens nothing. */
static void test_contexts(void **state)
{
    static job j;
    nnrt_context c[2];
    NNRT_ModelConfig config;
    nnrt_error e;
    (void)state;
    memset(c, 0xA5, sizeof(c));
    memset(&e, 0, sizeof(e));
    memset(&config, 0, sizeof(config));
    job_init(&j, sizeof(NNRT_DeviceVtbl), sizeof(NNRT_PreparedModelVtbl));
    job_register(&j);
    assert_int_equal(nnrt_context_open(NULL, j.device, "", NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_context_open(&c[0], NULL, "", NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_context_open(&c[0], reference(), "A=1;", yes_to_all, &e), NNRT_SUCCESS);
    assert_null(c[0].opened);
    assert_int_equal(nnrt_context_open(&c[1], j.device, NULL, no_to_all, &e), NNRT_DEVICE_BUSY);
    assert_non_null(strstr(e.message, "cannot open a context"));
    assert_null(c[1].opened);
    j.d.noModel = true;
    assert_int_equal(nnrt_context_open(&c[1], j.device, NULL, NULL, NULL), NNRT_DEVICE_ERROR);
    j.d.noModel = false;
    j.d.opened = 0;
    assert_int_equal(nnrt_context_open(&c[1], j.device, NULL, yes_to_all, &e), NNRT_SUCCESS);
    assert_string_equal(j.d.sawProperties, "");
    assert_true(c[1].opened == &j.d && j.d.opened == 1);
    assert_null(nnrt_context_of(&config, &j.d));
    config.contexts = c;
    config.nContexts = 2;
    assert_ptr_equal(nnrt_context_of(&config, &j.d), &j.d);
    assert_null(nnrt_context_of(&config, &j));
    assert_null(nnrt_context_of(NULL, &j.d));
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_device *device = i == 0 ? j.device : nnrt_device_find("auto");
        NNRT_PreparedModel *prepared = NULL;
        config.autoDevices = i == 0 ? NULL : "npu";
        memset(&j.d.sawConfig, 0, sizeof(j.d.sawConfig));
        assert_int_equal(nnrt_device_prepare(device, &j.g.model, &config, &prepared), NNRT_SUCCESS);
        assert_ptr_equal(nnrt_context_of(&j.d.sawConfig, &j.d), &j.d);
        nnrt_device_release(device, prepared);
    }
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY);
    nnrt_context_close(&c[0]);
    nnrt_context_close(&c[1]);
    nnrt_context_close(&c[1]);
    nnrt_context_close(NULL);
    assert_int_equal(j.d.opened, 0);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
    driver_end(&j.d);
}

static void test_const_model(void **state)
{
    NNRT_PreparedModel *prepared = NULL;
    nnrt_prepared_memory figures;
    (void)state;
    assert_int_equal(nnrt_model_validate(&flash_model, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_prepare(reference(), &flash_model, NULL, &prepared), NNRT_SUCCESS);
    flash_run(prepared);
    assert_int_equal(prepared->vtbl->GetMemory(prepared, &figures), NNRT_SUCCESS);
    assert_int_equal(figures.constants, 16);
    assert_int_equal(figures.steps, 2);
    nnrt_device_release(reference(), prepared);
}

/* A graph with lists in its attributes on the heap, so that pointers into it after its end are detected. */
static graph *graph_on_heap(void)
{
    graph *g = (graph *)malloc(sizeof(*g));
    int64_t *axis = (int64_t *)malloc(sizeof(*axis));
    NNRT_Softmax *softmax = (NNRT_Softmax *)malloc(sizeof(*softmax));
    NNRT_AddFusion *add = (NNRT_AddFusion *)malloc(sizeof(*add));
    float *data = (float *)malloc(12);
    static const char *const names[4] = {"x", "c", "a", "y"};
    graph_sound(g);
    *axis = 1;
    softmax->axis = nnrt_int64_list(axis, 1);
    *add = plain_add;
    memcpy(data, three, 12);
    g->nodes[0].nodeAttr.data = add;
    g->nodes[1].nodeType = NNRT_NODE_TYPE_SOFTMAX;
    g->nodes[1].nodeAttr.data = softmax;
    g->nodes[1].nodeAttr.size = sizeof(*softmax);
    g->tensors[1].data.addr = data;
    for (uint32_t i = 0; i < 4; i++)
        g->tensors[i].name = strcpy((char *)malloc(4), names[i]);
    g->nodes[0].name = strcpy((char *)malloc(4), "sum");
    g->nodes[1].name = strcpy((char *)malloc(4), "act");
    return g;
}

static void graph_free(graph *g, bool constants)
{
    const NNRT_Softmax *softmax = (const NNRT_Softmax *)g->nodes[1].nodeAttr.data;
    if (constants)
        free(g->tensors[1].data.addr);
    free((void *)(uintptr_t)softmax->axis.data);
    free((void *)(uintptr_t)softmax);
    free((void *)(uintptr_t)g->nodes[0].nodeAttr.data);
    for (uint32_t i = 0; i < 4; i++)
        free((void *)(uintptr_t)g->tensors[i].name);
    free((void *)(uintptr_t)g->nodes[0].name);
    free((void *)(uintptr_t)g->nodes[1].name);
    memset(g, 0xEE, sizeof(*g));
    free(g);
}

/* A row of three equal sums: softmax gives thirds. */
static void thirds_run(NNRT_PreparedModel *prepared)
{
    static const float in[6] = {20, 10, 0, -10, -20, -30};
    float out[6];
    NNRT_IOTensor x = io_of(F32, dims_2_3, 2, (void *)(uintptr_t)in, sizeof(in)),
                  y = io_of(F32, dims_2_3, 2, out, sizeof(out));
    assert_int_equal(nnrt_prepared_run(prepared, NULL, 0, &x, 1, &y, 1, NULL, NULL, NULL), NNRT_SUCCESS);
    for (int32_t i = 0; i < 6; i++)
        assert_true(out[i] > 0.333332f && out[i] < 0.333335f); /* an ulp or two of 1/3 */
}

static void test_model_copy(void **state)
{
    (void)state;
    for (int32_t constants = 0; constants < 2; constants++) {
        graph *g = graph_on_heap();
        void *data = g->tensors[1].data.addr;
        nnrt_memory memory;
        NNRT_Model *copy;
        NNRT_PreparedModel *prepared = NULL;
        uint32_t *symbols = (uint32_t *)malloc(sizeof(some_symbols));
        memcpy(symbols, some_symbols, sizeof(some_symbols));
        g->tensors[3].quantAxis = 2;
        g->tensors[3].symbols = NNRT_Uint32List_make(symbols, 2);
        g->dims[3][0] = -1;
        nnrt_memory_allocate(&memory, NULL);
        copy = nnrti_model_copy(&g->model, &memory, constants != 0);
        assert_non_null(copy);
        memset(symbols, 0xEE, sizeof(some_symbols));
        free(symbols);
        graph_free(g, constants != 0);
        assert_string_equal(copy->name, "test");
        assert_string_equal(copy->allTensors.data[1].name, "c");
        assert_string_equal(copy->nodes.data[1].name, "act");
        assert_string_equal(copy->subGraph.data[0].name, "main");
        assert_int_equal(copy->allTensors.data[3].quantAxis, 2);
        assert_int_equal(copy->allTensors.data[3].symbols.count, 2);
        assert_int_equal(copy->allTensors.data[3].symbols.data[0], 7);
        assert_int_equal(nnrt_device_prepare(reference(), copy, NULL, &prepared), NNRT_SUCCESS);
        thirds_run(prepared);
        nnrt_device_release(reference(), prepared);
        nnrt_memory_end(&memory);
        if (constants == 0)
            free(data);
    }
}

/* HDI's rule: the block of constants and the whole model may be freed when PrepareModel has returned. */
static void test_copied_constants(void **state)
{
    graph *g = graph_on_heap();
    NNRT_ModelConfig config;
    NNRT_PreparedModel *prepared = NULL, *in_place = NULL;
    nnrt_prepared_memory figures, copied;
    (void)state;
    in_place = prepare(g, &figures);
    thirds_run(in_place);
    config_init(&config, NULL);
    config.copyConstants = true;
    prepared = prepare_with(g, &config, &copied);
    assert_true(copied.tables >= figures.tables + 12);
    memset(g->tensors[1].data.addr, 0xFF, 12); /* NaN */
    thirds_run(prepared);
    nnrt_device_release(reference(), in_place);
    graph_free(g, true);
    thirds_run(prepared);
    nnrt_device_release(reference(), prepared);
}

/* Tensors of no element need no buffer; a scalar has one element and no axis. */
static void test_empty_and_scalar(void **state)
{
    static graph g;
    static const int32_t dims[2] = {0, 3};
    nnrt_prepared_memory figures;
    NNRT_PreparedModel *prepared;
    NNRT_IOTensor x = io_of(F32, dims, 2, NULL, 0), y = x;
    float in = -2.5f, out = 0;
    nnrt_dims real;
    (void)state;
    graph_sound(&g);
    g.dims[0][0] = g.dims[2][0] = g.dims[3][0] = 0;
    prepared = prepare(&g, &figures);
    assert_int_equal(figures.arena, 0);
    assert_int_equal(prepared->vtbl->Run(prepared, &x, 1, &y, 1, &real), NNRT_SUCCESS);
    assert_int_equal(real.rank, 2);
    assert_int_equal(real.dims[0], 0);
    nnrt_device_release(reference(), prepared);
    graph_init(&g);
    (void)tensor(&g, "x", F32, "");
    (void)tensor(&g, "y", F32, "");
    ACTIVATION(&g, "abs", absolute, "0", "1");
    graph_io(&g, "0", "1");
    prepared = prepare(&g, &figures);
    x = io_of(F32, NULL, 0, &in, 4);
    y = io_of(F32, NULL, 0, &out, 4);
    assert_int_equal(prepared->vtbl->Run(prepared, &x, 1, &y, 1, &real), NNRT_SUCCESS);
    assert_int_equal(real.rank, 0);
    assert_true(out == 2.5f);
    nnrt_device_release(reference(), prepared);
}

/* An attribute block that ends early: later members have their defaults, whatever bytes follow. */
static void test_short_attributes(void **state)
{
    static graph g;
    static const int32_t dims[2] = {2, 3}, want[1] = {2};
    NNRT_ArgMaxFusion attr = {1, 99, true, true}; /* topK 1, keepDims and outMaxValue false by default */
    (void)state;
    for (int32_t copy = 0; copy < 2; copy++) {
        NNRT_ModelConfig config;
        nnrt_prepared_memory figures;
        NNRT_PreparedModel *prepared;
        float in[6] = {1, 5, 2, 9, 8, 7};
        int32_t out[2] = {-1, -1};
        NNRT_IOTensor x = io_of(F32, dims, 2, in, sizeof(in)), y = io_of(I32, want, 1, out, sizeof(out));
        graph_init(&g);
        (void)tensor(&g, "x", F32, "2,3");
        (void)result(&g, "y");
        node(&g, "best", NNRT_NODE_TYPE_ARGMAX_FUSION, &attr, offsetof(NNRT_ArgMaxFusion, topK), "0", "1");
        graph_io(&g, "0", "1");
        config_init(&config, NULL);
        config.copyConstants = copy != 0;
        prepared = prepare_with(&g, &config, &figures);
        assert_int_equal(prepared->vtbl->Run(prepared, &x, 1, &y, 1, NULL), NNRT_SUCCESS);
        assert_int_equal(out[0], 1);
        assert_int_equal(out[1], 0);
        nnrt_device_release(reference(), prepared);
    }
}

/* The same calls count and allocate: the counted bytes suffice exactly, blocks do not overlap, all are aligned. */
static void test_memory_walk(void **state)
{
    (void)state;
    for (uint32_t trial = 0; trial < 100; trial++) {
        nnrt_memory counted, used;
        guarded buffer;
        size_t peak = 0;
        for (uint32_t pass = 0; pass < 3; pass++) {
            nnrt_memory *m = pass == 0 ? &counted : &used;
            uint8_t *kept[24], *temp[24];
            size_t keptBytes[24], tempBytes[24];
            uint32_t nKept = 0, nTemp = 0;
            bool failed = false;
            if (pass == 0)
                nnrt_memory_count(m, NULL);
            else
                nnrt_memory_buffer(m, buffer.data, pass == 1 ? peak : peak - 1);
            seed = trial;
            for (uint32_t i = 0; i < 24; i++) {
                uint32_t what = draw(8);
                size_t bytes = draw(300);
                void *p;
                if (what == 7) {
                    nnrt_memory_drop_temp(m);
                    nTemp = 0;
                    continue;
                }
                p = what < 3   ? nnrt_memory_keep(m, bytes)
                    : what < 5 ? nnrt_memory_keep_aligned(m, bytes)
                               : nnrt_memory_temp(m, bytes);
                failed = failed || p == NULL;
                assert_int_equal(m->full, failed);
                if (p == NULL)
                    continue;
                assert_int_equal((uintptr_t)p % (what == 3 || what == 4 ? NNRT_ALIGNMENT : 16), 0);
                for (size_t k = 0; k < bytes; k++)
                    assert_int_equal(((uint8_t *)p)[k], 0);
                memset(p, (int)i + 1, bytes);
                if (what < 5) {
                    kept[nKept] = (uint8_t *)p;
                    keptBytes[nKept++] = bytes;
                } else {
                    temp[nTemp] = (uint8_t *)p;
                    tempBytes[nTemp++] = bytes;
                }
                for (uint32_t k = 0; k < nKept; k++) /* no block was overwritten through another */
                    for (size_t b = 1; b < keptBytes[k]; b++)
                        assert_int_equal(kept[k][b], kept[k][0]);
                for (uint32_t k = 0; k < nTemp; k++)
                    for (size_t b = 1; b < tempBytes[k]; b++)
                        assert_int_equal(temp[k][b], temp[k][0]);
            }
            assert_int_equal(failed, pass == 2);
            if (pass == 0) {
                peak = (m->peak + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
                buffer = guarded_make(peak, 0);
            }
            nnrt_memory_end(m);
        }
        guarded_end(&buffer);
    }
    {
        nnrt_memory m;
        nnrt_memory_count(&m, NULL);
        assert_null(nnrt_memory_keep(&m, SIZE_MAX));
        assert_true(m.full);
        assert_null(nnrt_memory_keep(&m, 1)); /* sticky */
        nnrt_memory_end(&m);
    }
}

/* NCHW and NHWC images: the average over the plane of [1,2,2,3] either way; a copied output keeps its bytes. */
static void test_formats(void **state)
{
    static const NNRT_AvgPoolFusion pool = {{NULL, 0}, {NULL, 0},        {NULL, 0}, NNRT_PAD_MODE_VALID,
                                            0,         NNRT_FORMAT_NONE, true,      0};
    static const int32_t shapes[2][4] = {{1, 2, 2, 3}, {1, 3, 2, 2}}, means[2][4] = {{1, 1, 1, 3}, {1, 3, 1, 1}};
    static graph g;
    (void)state;
    for (int32_t first = 0; first < 2; first++) {
        nnrt_prepared_memory figures;
        NNRT_PreparedModel *prepared;
        float in[12], out[3], again[12];
        NNRT_IOTensor x = io_of(F32, shapes[first], 4, in, sizeof(in)), y[2];
        y[0] = io_of(F32, means[first], 4, out, sizeof(out));
        y[1] = io_of(F32, shapes[first], 4, again, sizeof(again));
        for (int32_t i = 0; i < 12; i++) /* channel c holds 10c, 10c+1, 10c+2, 10c+3 */
            in[i] = first != 0 ? (float)(10 * (i / 4) + i % 4) : (float)(10 * (i % 3) + i / 3);
        graph_init(&g);
        (void)tensor(&g, "x", F32, first != 0 ? "1,3,2,2" : "1,2,2,3");
        (void)result(&g, "y");
        node(&g, "mean", NNRT_NODE_TYPE_AVGPOOL_FUSION, &pool, sizeof(pool), "0", "1");
        graph_io(&g, "0", "1 0");
        g.tensors[0].format = first != 0 ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC;
        prepared = prepare(&g, &figures);
        assert_int_equal(prepared->vtbl->Run(prepared, &x, 1, y, 2, NULL), NNRT_SUCCESS);
        for (int32_t c = 0; c < 3; c++)
            assert_true(out[c] == 10.0f * (float)c + 1.5f);
        assert_memory_equal(in, again, sizeof(in));
        nnrt_device_release(reference(), prepared);
    }
}

/* Optional results that a node omits are no tensor: not tensor 0, and no other. */
static void test_optional_results(void **state)
{
    static const NNRT_TopKFusion topk = {true, 1};
    static const int32_t one_int[1] = {1}, dims[2] = {2, 3}, best[2] = {2, 1};
    static graph g;
    (void)state;
    for (int32_t both = 0; both < 3; both++) { /* left out; listed but absent; there */
        nnrt_prepared_memory figures;
        NNRT_PreparedModel *prepared;
        float in[6] = {1, -5, 2, -9, 8, -7}, most[2], out[6];
        int32_t place[2] = {-1, -1};
        NNRT_IOTensor x = io_of(F32, dims, 2, in, sizeof(in)), y[3];
        y[0] = io_of(F32, best, 2, most, sizeof(most));
        y[1] = io_of(F32, dims, 2, out, sizeof(out));
        y[2] = io_of(I32, best, 2, place, sizeof(place));
        graph_init(&g);
        (void)tensor(&g, "x", F32, "2,3");
        (void)constant(&g, "k", I32, "1", one_int, 4);
        (void)result(&g, "value");
        (void)result(&g, "y");
        (void)result(&g, "place");
        node(&g, "best", NNRT_NODE_TYPE_TOPK_FUSION, &topk, sizeof(topk), "0 1",
             both == 0   ? "2"
             : both == 1 ? "2 -"
                         : "2 4");
        ACTIVATION(&g, "abs", absolute, "0", "3");
        graph_io(&g, "0", both == 2 ? "2 3 4" : "2 3");
        if (both < 2)
            g.model.allTensors.count = 4;
        prepared = prepare(&g, &figures);
        assert_int_equal(figures.steps, 2);
        assert_int_equal(figures.arena, 0);
        assert_int_equal(prepared->vtbl->Run(prepared, &x, 1, y, both == 2 ? 3 : 2, NULL), NNRT_SUCCESS);
        assert_true(most[0] == 2 && most[1] == 8);
        for (int32_t i = 0; i < 6; i++)
            assert_true(out[i] == (in[i] < 0 ? -in[i] : in[i]));
        assert_int_equal(place[0], both == 2 ? 2 : -1);
        assert_int_equal(place[1], both == 2 ? 1 : -1);
        nnrt_device_release(reference(), prepared);
    }
}

/* A test that failed may leave drivers, which are on its stack, and models that use them. */
static int reset_registry(void **state)
{
    (void)state;
    nnrti_device_total = 2;
    return 0;
}

#define MAX_TESTS 512
static struct CMUnitTest all_tests[MAX_TESTS];
static size_t test_count;

static void add_test(const char *name, CMUnitTestFunction run, const void *state)
{
    struct CMUnitTest *t = &all_tests[test_count++];
    t->name = name;
    t->test_func = run;
    t->teardown_func = reset_registry;
    t->initial_state = (void *)(uintptr_t)state;
}
#define TEST(name) add_test(#name, name, NULL)

int main(void)
{
    TEST(test_sound_model);
    TEST(test_first_message_stays);
    TEST(test_sorted_stays);
    TEST(test_any_order_is_sorted);
    TEST(test_long_chain_backwards);
    TEST(test_flatten_int32);
    TEST(test_flatten_int64);
    TEST(test_fold_limit);
    TEST(test_fold_failure);
    TEST(test_shape_of_intermediate);
    TEST(test_constant_outputs);
    TEST(test_dead_nodes);
    TEST(test_arena_figures);
    TEST(test_random_graphs);
    TEST(test_memory_exact);
    TEST(test_every_allocation_fails);
    TEST(test_run_allocates_nothing);
    TEST(test_io_codes);
    TEST(test_run_faults);
    TEST(test_workspace_checks);
    TEST(test_ranges_and_io);
    TEST(test_caller_workspace_forbids_run);
    TEST(test_modes_and_priorities);
    TEST(test_reference_supported);
    TEST(test_supported_behind_others);
    TEST(test_supported_absent);
    TEST(test_supported_memory);
    TEST(test_null_arguments);
    TEST(test_slots_stay_where_they_are);
    TEST(test_records_stay_as_they_are);
    TEST(test_builtin_devices);
    TEST(test_registration_is_checked);
    TEST(test_device_names);
    TEST(test_registry_is_full);
    TEST(test_unregister);
    TEST(test_table_of_hdi_1_0);
    TEST(test_table_of_hdi_2_0);
    TEST(test_table_longer_than_known);
    TEST(test_device_slots_missing);
    TEST(test_model_slots_missing);
    TEST(test_config_says_its_size);
    TEST(test_error_says_its_room);
    TEST(test_wordless_driver);
    TEST(test_allocator_serves_all);
    TEST(test_driver_codes);
    TEST(test_prepare_that_gives_nothing);
    TEST(test_run_v1_limits);
    TEST(test_auto_takes_the_best);
    TEST(test_auto_falls_back);
    TEST(test_auto_goes_on);
    TEST(test_auto_supported);
    TEST(test_auto_forwards);
    TEST(test_auto_without_slots);
    TEST(test_auto_failures);
    TEST(test_auto_memory);
    TEST(test_contexts);
    TEST(test_const_model);
    TEST(test_model_copy);
    TEST(test_copied_constants);
    TEST(test_empty_and_scalar);
    TEST(test_short_attributes);
    TEST(test_memory_walk);
    TEST(test_formats);
    TEST(test_optional_results);
    /* more tests */
    for (uint32_t i = 0; i < COUNT(faults); i++)
        add_test(faults[i].name, test_fault, &faults[i]);
    for (uint32_t i = 0; i < COUNT(prepare_faults); i++)
        add_test(prepare_faults[i].name, test_prepare_fault, &prepare_faults[i]);
    return _cmocka_run_group_tests("hal", all_tests, test_count, NULL, NULL);
}
