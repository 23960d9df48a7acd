/*
nnrt_onnx.h - ONNX importer: converts an ONNX model into an NNRT_Model, which nnrt.h runs.

    #define NNRT_IMPLEMENTATION
    #include "formats/nnrt_onnx.h"          includes ../nnrt.h

    NNRT_Model *model = NULL;
    nnrt_error error = {0};
    if (nnrt_onnx_load(&model, "digits.onnx", NULL, &error) != NNRT_SUCCESS)
        puts(error.message);

SECTIONS (search for the tag)
    >>reader              bounded protobuf decoder: ONNX bytes to plain tables, in place where possible
    >>import              public import functions: tables to an NNRT_Model
    -- implementation --
    >>reader
    >>onnx_table          one row per ONNX operator
    >>onnx_values         values of the graph: tensors of a builder, looked up by name
    >>onnx_cut            dead-code elimination for chosen outputs (nnrt_onnx_cut)
    >>onnx_tensors        elements of constants (initializers)
    >>onnx_steps          adding nodes to the builder; constant folding policy, image layouts
    >>onnx_reading        attributes, inputs and outputs of the current node
    >>onnx_parts          helpers that handlers are built from: steps, constants, sizes (known or dynamic)
    >>onnx_elementwise    handlers, grouped by operator class
    >>onnx_shapes
    >>onnx_sequences
    >>onnx_reductions
    >>onnx_windows
    >>onnx_matrices
    >>onnx_normalization
    >>onnx_recurrent
    >>onnx_signals
    >>onnx_contrib        com.microsoft
    >>onnx_ml             ai.onnx.ml
    >>onnx_about          documentation table: target operators of each ONNX operator; unsupported operators
    >>onnx_graph          the graph, node by node
    >>onnx_control        subgraphs of nodes
    >>onnx_functions      inlining of the model-local functions of the file
    >>onnx_loops          If, Loop and Scan
    >>onnx_build          outputs, and the model
    >>onnx_load           the public functions

SUPPORTED FILES
    Operator sets 1 to 28 of the domain "", with the differences between them, 37 operators of com.microsoft, which
    ONNX Runtime's quantizer, optimizer and exporters write, 12 of ai.onnx.ml, which the exporters of scikit-learn,
    XGBoost and LightGBM write (labels are integers), and FlexAttention of ai.onnx.preview. All operators without a row in the table are reported in one
    message, with NNRT_UNSUPPORTED_OP. Some operators are decomposed into several operators of the runtime; constant
    folding and shape inference remove nodes whose results are known. Images stay NCHW; weights are
    permuted once into the runtime's order. External data are read only from files below the model's folder.
    Nodes may stand in any order.
    Functions of the file (model-local functions) are inlined and take precedence over operators of the same name. An
    operator that the application registered (nnrt_op_register) takes precedence over a function of its name: ONNX
    regards a function's body as one possible implementation.
    A node of another domain, or of an operator without a row, becomes one node of the application's operator named
    "domain.Type" ("Type" for the domain ""): inputs and outputs keep their order, each attribute sets the member of its
    name. Members accept: INT, INT64 and BOOL an int; FLOAT and DOUBLE a float; TYPE an int, ONNX's number of the
    element type; ENUM a string, the enumerator's name, or an int; STRING a string; INTS, INTS64, FLOATS ints, floats.
    bfloat16, float8 (four kinds), float8e8m0, float4e2m1, int4, uint4, int2 and uint2 are types of storage: Cast,
    CastLike, QuantizeLinear, DequantizeLinear and operators that move data read and write them. Operators of ONNX compute
    bfloat16 in float32 and round each result once; If and Loop do not pass it on. Others refuse types of storage.
    Inputs, outputs and constants of these types hold one code per element: bfloat16 uint16, the other floating-point
    types uint8; int4 and int2 are int8, uint4 and uint2 uint8 with their value (nnrt_onnx_data_type).
    A sequence of N tensors that is an input or output is N inputs or outputs "x[0]", "x[1]", .. of the model. Its length is a size
    that the import or a session is given: the shape of "x" is [N] (desc->inputs), or its tensors are described. Lengths must
    follow from constants and sizes. An optional input that is not described has no value. The metadata "sequences" (nnrt_model.h)
    has the lengths.
    Unsupported: strings, maps, sparse tensors, complex numbers.

TRUST
    The file is untrusted input: lengths, counts, offsets and nesting depth are checked before use. Memory and work are
    limited in proportion to the file's size: NNRT_ONNX_MEMORY_FACTOR for the reader, NNRT_ONNX_BUDGET for the import.

OPTIONS
    NNRT_NO_STDIO          no file I/O: only nnrt_onnx_load_memory
    NNRT_ONNX_REALPATH     1/0: resolve symbolic links of external data with realpath(); default: NNRT_POSIX of nnrt.h

MIT license, see LICENSE.
*/
#ifndef NNRT_ONNX_H
#define NNRT_ONNX_H

#include "../nnrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>reader */

/* The reader: decodes ONNX (protobuf) bytes into plain tables. Strings, raw_data and the typed data of tensors are not
 * copied but point into the file's bytes, which the caller keeps unchanged as long as the tables live. All tables of
 * one file are in one block of memory; a first walk over the file computes its size.
 * Protobuf rules that matter here: if a singular field occurs twice, the last value counts (a submessage is replaced,
 * not merged); unknown fields are skipped; a known field with an impossible wire type, a group, and a varint of more
 * than 64 bits are errors. Enumerations and int32 fields keep the low 32 bits, as in protobuf. */

/* The tables of a file of n bytes take at most NNRT_ONNX_MEMORY_FACTOR * n + NNRT_ONNX_MEMORY_FREE bytes; a file that
 * needs more (hundreds of thousands of empty entries do) fails with NNRT_OUT_OF_MEMORY. To raise the limit, #define
 * another factor before including this file. */
#ifndef NNRT_ONNX_MEMORY_FACTOR
#define NNRT_ONNX_MEMORY_FACTOR 64
#endif
#define NNRT_ONNX_MEMORY_FREE ((size_t)1 << 20)

/* Deeper nesting of messages is an error. One subgraph inside a node costs three levels. */
#define NNRT_ONNX_MAX_DEPTH 64

/* Text or bytes inside the file, not NUL-terminated. data is NULL if and only if the file does not have the field. */
typedef struct nnrt_onnx_str {
    const char *data;
    size_t length;
} nnrt_onnx_str;

typedef struct nnrt_onnx_strs {
    const nnrt_onnx_str *data;
    size_t count;
} nnrt_onnx_strs;

typedef struct nnrt_onnx_ints {
    const int64_t *data;
    size_t count;
} nnrt_onnx_ints;

typedef struct nnrt_onnx_floats {
    const float *data;
    size_t count;
} nnrt_onnx_floats;

/* StringStringEntryProto. */
typedef struct nnrt_onnx_pair {
    nnrt_onnx_str key, value;
} nnrt_onnx_pair;

typedef struct nnrt_onnx_pairs {
    const nnrt_onnx_pair *data;
    size_t count;
} nnrt_onnx_pairs;

/* OperatorSetIdProto. */
typedef struct nnrt_onnx_opset {
    nnrt_onnx_str domain;
    int64_t version;
} nnrt_onnx_opset;

typedef struct nnrt_onnx_opsets {
    const nnrt_onnx_opset *data;
    size_t count;
} nnrt_onnx_opsets;

/* TensorProto.DataType. */
typedef int32_t nnrt_onnx_type;
enum {
    NNRT_ONNX_UNDEFINED = 0,
    NNRT_ONNX_FLOAT = 1,
    NNRT_ONNX_UINT8 = 2,
    NNRT_ONNX_INT8 = 3,
    NNRT_ONNX_UINT16 = 4,
    NNRT_ONNX_INT16 = 5,
    NNRT_ONNX_INT32 = 6,
    NNRT_ONNX_INT64 = 7,
    NNRT_ONNX_STRING = 8,
    NNRT_ONNX_BOOL = 9,
    NNRT_ONNX_FLOAT16 = 10,
    NNRT_ONNX_DOUBLE = 11,
    NNRT_ONNX_UINT32 = 12,
    NNRT_ONNX_UINT64 = 13,
    NNRT_ONNX_COMPLEX64 = 14,
    NNRT_ONNX_COMPLEX128 = 15,
    NNRT_ONNX_BFLOAT16 = 16,
    NNRT_ONNX_FLOAT8E4M3FN = 17,
    NNRT_ONNX_FLOAT8E4M3FNUZ = 18,
    NNRT_ONNX_FLOAT8E5M2 = 19,
    NNRT_ONNX_FLOAT8E5M2FNUZ = 20,
    NNRT_ONNX_UINT4 = 21,
    NNRT_ONNX_INT4 = 22,
    NNRT_ONNX_FLOAT4E2M1 = 23,
    NNRT_ONNX_FLOAT8E8M0 = 24,
    NNRT_ONNX_UINT2 = 25,
    NNRT_ONNX_INT2 = 26
};

/* TensorProto. No dimension is negative. The elements are in rawData, in another file (dataLocation 1), or in a typed
 * field, of which only the number of values is stored here; nnrt_onnx_tensor_elements reads the elements from rawData
 * and from typed fields. */
typedef struct nnrt_onnx_tensor {
    nnrt_onnx_str name;
    nnrt_onnx_ints dims;
    nnrt_onnx_type dataType;
    int32_t dataLocation;  /* 0: this file, 1: external */
    nnrt_onnx_str rawData; /* little-endian, row-major, not aligned */
    nnrt_onnx_strs stringData;
    nnrt_onnx_pairs externalData;
    nnrt_onnx_str message; /* the whole encoded TensorProto */
    size_t floatCount, int32Count, int64Count, doubleCount, uint64Count;
} nnrt_onnx_tensor;

typedef struct nnrt_onnx_tensors {
    const nnrt_onnx_tensor *data;
    size_t count;
} nnrt_onnx_tensors;

/* One dimension of a shape. A negative dim_value, which some exporters write for "unknown", reads as absent. */
typedef int32_t nnrt_onnx_dim_kind;
enum { NNRT_ONNX_DIM_ABSENT = 0, NNRT_ONNX_DIM_VALUE = 1, NNRT_ONNX_DIM_PARAM = 2 };

typedef struct nnrt_onnx_dim {
    int64_t value;           /* for NNRT_ONNX_DIM_VALUE, else 0 */
    nnrt_onnx_str param;     /* for NNRT_ONNX_DIM_PARAM */
    nnrt_onnx_dim_kind kind; /* the one that came last in the file */
} nnrt_onnx_dim;

typedef struct nnrt_onnx_dims {
    const nnrt_onnx_dim *data;
    size_t count;
} nnrt_onnx_dims;

/* The kind of a value's type: the field number inside TypeProto. */
typedef int32_t nnrt_onnx_type_kind;
enum {
    NNRT_ONNX_KIND_ABSENT = 0,
    NNRT_ONNX_KIND_TENSOR = 1,
    NNRT_ONNX_KIND_SEQUENCE = 4,
    NNRT_ONNX_KIND_MAP = 5,
    NNRT_ONNX_KIND_OPAQUE = 7,
    NNRT_ONNX_KIND_SPARSE_TENSOR = 8,
    NNRT_ONNX_KIND_OPTIONAL = 9
};

/* ValueInfoProto with its TypeProto. elemType, hasShape and dims describe a tensor, the tensors of a sequence, or the
 * tensor or tensors of an optional value; elemKind is TENSOR or SEQUENCE, the kind of the elements of a sequence or of an optional value,
 * else ABSENT.
 * hasShape 0: unknown rank; hasShape nonzero without dims: a scalar. */
typedef struct nnrt_onnx_value_info {
    nnrt_onnx_str name;
    nnrt_onnx_dims dims;
    nnrt_onnx_type_kind kind, elemKind;
    nnrt_onnx_type elemType;
    int32_t hasShape;
} nnrt_onnx_value_info;

typedef struct nnrt_onnx_value_infos {
    const nnrt_onnx_value_info *data;
    size_t count;
} nnrt_onnx_value_infos;

struct nnrt_onnx_graph;

/* AttributeProto.AttributeType. */
typedef int32_t nnrt_onnx_attribute_type;
enum {
    NNRT_ONNX_ATTRIBUTE_UNDEFINED = 0,
    NNRT_ONNX_ATTRIBUTE_FLOAT = 1,
    NNRT_ONNX_ATTRIBUTE_INT = 2,
    NNRT_ONNX_ATTRIBUTE_STRING = 3,
    NNRT_ONNX_ATTRIBUTE_TENSOR = 4,
    NNRT_ONNX_ATTRIBUTE_GRAPH = 5,
    NNRT_ONNX_ATTRIBUTE_FLOATS = 6,
    NNRT_ONNX_ATTRIBUTE_INTS = 7,
    NNRT_ONNX_ATTRIBUTE_STRINGS = 8,
    NNRT_ONNX_ATTRIBUTE_TENSORS = 9,
    NNRT_ONNX_ATTRIBUTE_GRAPHS = 10,
    NNRT_ONNX_ATTRIBUTE_SPARSE_TENSOR = 11,
    NNRT_ONNX_ATTRIBUTE_SPARSE_TENSORS = 12,
    NNRT_ONNX_ATTRIBUTE_TYPE_PROTO = 13,
    NNRT_ONNX_ATTRIBUTE_TYPE_PROTOS = 14
};

/* AttributeProto. type is the type in the file; files without one (IR versions 1 and 2) imply it by the value field.
 * The member for the type may still be absent: t and g are then NULL, numbers 0, lists empty. */
typedef struct nnrt_onnx_attribute {
    nnrt_onnx_str name;
    nnrt_onnx_attribute_type type;
    int32_t valueField; /* field number of the last value among f .. strings, 0: none */
    float f;
    int64_t i;
    nnrt_onnx_str s;
    const nnrt_onnx_tensor *t;
    const struct nnrt_onnx_graph *g;
    nnrt_onnx_floats floats;
    nnrt_onnx_ints ints;
    nnrt_onnx_strs strings;
    nnrt_onnx_str refAttrName; /* data not NULL: refers to an attribute of the enclosing function */
    size_t otherCount;         /* number of values that are not stored: tensors, graphs, sparse tensors, types */
} nnrt_onnx_attribute;

typedef struct nnrt_onnx_attributes {
    const nnrt_onnx_attribute *data;
    size_t count;
} nnrt_onnx_attributes;

/* NodeProto. An omitted optional input or output has an empty name. */
typedef struct nnrt_onnx_node {
    nnrt_onnx_strs inputs, outputs;
    nnrt_onnx_str name, opType, domain, overload;
    nnrt_onnx_attributes attributes;
    int32_t unneeded; /* nonzero: no output of the graph depends on it; set by nnrt_onnx_cut */
} nnrt_onnx_node;

typedef struct nnrt_onnx_nodes {
    const nnrt_onnx_node *data;
    size_t count;
} nnrt_onnx_nodes;

/* GraphProto. */
typedef struct nnrt_onnx_graph {
    nnrt_onnx_str name;
    nnrt_onnx_nodes nodes;
    nnrt_onnx_tensors initializers;
    nnrt_onnx_value_infos inputs, outputs, valueInfo;
    size_t sparseInitializerCount; /* sparse initializers are counted, not kept */
} nnrt_onnx_graph;

/* FunctionProto: a model-local function, inlined for each node that calls it. attributes: those with a default value;
 * attributeNames: those without. */
typedef struct nnrt_onnx_function {
    nnrt_onnx_str name, domain, overload;
    nnrt_onnx_strs inputs, outputs, attributeNames;
    nnrt_onnx_attributes attributes;
    nnrt_onnx_nodes nodes;
    nnrt_onnx_opsets opsetImport;
} nnrt_onnx_function;

typedef struct nnrt_onnx_functions {
    const nnrt_onnx_function *data;
    size_t count;
} nnrt_onnx_functions;

/* ModelProto. nnrt_onnx_parse guarantees that graph is not NULL. */
typedef struct nnrt_onnx_model {
    int64_t irVersion;
    nnrt_onnx_str producerName, producerVersion, domain;
    int64_t modelVersion;
    nnrt_onnx_opsets opsetImport;
    const nnrt_onnx_graph *graph;
    nnrt_onnx_pairs metadataProps;
    nnrt_onnx_functions functions;
} nnrt_onnx_model;

/* Location of the elements of an external tensor. location is a relative path without "..". */
typedef struct nnrt_onnx_external {
    nnrt_onnx_str location;
    int64_t offset; /* 0 if the file has none */
    int64_t length; /* -1 if the file has none */
} nnrt_onnx_external;

/* Decodes a ModelProto of size bytes at data. On success *model lives until nnrt_onnx_model_free and points into data,
 * which must outlive it. One allocation (allocator NULL: malloc). Returns NNRT_INVALID_FILE for bytes that are not a
 * ModelProto or a model without a graph, NNRT_NOT_SUPPORT for a segmented tensor, NNRT_OUT_OF_MEMORY, NNRT_NULL_PTR;
 * *model is then NULL and error (may be NULL) names the byte and field of the fault. */
NNRT_API NNRT_ReturnCode nnrt_onnx_parse(const void *data, size_t size, const nnrt_allocator *allocator,
                                         nnrt_onnx_model **model, nnrt_error *error);

/* Decodes the bytes of one TensorProto, such as the .pb files of the ONNX test data, as nnrt_onnx_parse does models. */
NNRT_API NNRT_ReturnCode nnrt_onnx_parse_tensor(const void *data, size_t size, const nnrt_allocator *allocator,
                                                nnrt_onnx_tensor **tensor, nnrt_error *error);

/* Makes the named values (inputs, initializers or results of nodes) the outputs of the graph. Dead-code elimination:
 * nodes that no output depends on become `unneeded` but keep their positions; unneeded inputs and initializers are
 * removed. Temporary memory is proportional to the number of names. Returns NNRT_INVALID_PARAMETER for a name that is
 * listed twice or does not exist in the graph (error, may be NULL, suggests the nearest names), NNRT_OUT_OF_MEMORY,
 * NNRT_NULL_PTR; the model is then unchanged. */
NNRT_API NNRT_ReturnCode nnrt_onnx_cut(nnrt_onnx_model *model, const char *const *outputs, uint32_t outputCount,
                                       nnrt_error *error);

/* Frees the result of nnrt_onnx_parse or nnrt_onnx_parse_tensor; NULL is fine. The allocator that was passed there must
 * still work. */
NNRT_API void nnrt_onnx_model_free(nnrt_onnx_model *model);
NNRT_API void nnrt_onnx_tensor_free(nnrt_onnx_tensor *tensor);

/* The element type of the runtime's tensors for elements of this type; NNRT_DATA_TYPE_UNKNOWN for strings, complex
 * numbers and unknown types. For types of storage (SUPPORTED FILES) it is the type of the codes or values. */
NNRT_API NNRT_DataType nnrt_onnx_data_type(nnrt_onnx_type type);

/* Writes all elements of a tensor to out, as those of a tensor of type nnrt_onnx_data_type. They come from raw_data or
 * from a typed field, in the machine's byte order; packed 4-bit and 2-bit elements are unpacked to a byte each (int4
 * and int2 with their sign). bytes is the size of out and must be theirs. out need not be aligned. Returns
 * NNRT_INVALID_FILE if the number of elements in the file does not match dims or their size overflows size_t,
 * NNRT_NOT_SUPPORT for strings (use stringData), unknown types and external tensors (nnrt_onnx_tensor_external). After
 * a failure out may be partly written. */
NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_elements(const nnrt_onnx_tensor *tensor, void *out, size_t bytes,
                                                   nnrt_error *error);

/* The location of an external tensor's elements. Returns NNRT_INVALID_PATH if location is absent, empty, absolute, or
 * contains "..", a backslash, a drive letter or a NUL byte; NNRT_INVALID_FILE if offset or length is not a decimal
 * number. */
NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_external(const nnrt_onnx_tensor *tensor, nnrt_onnx_external *external,
                                                   nnrt_error *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>import */

/* The importer: converts an ONNX file into an NNRT_Model. The rows of NNRTI_ONNX_OPS below list the supported
   operators; each is expressed by operators of the runtime. Images keep ONNX's layout (NCHW); weights are permuted once
   into the runtime's order. Nodes whose results follow from constants and static shapes are folded into constants. */

/* The caller's additions for one model input: its shape, or a constant value, which is copied. */
typedef nnrt_input nnrt_onnx_input;

/* Limits of one import, including the file and the optimizer passes. Memory from the allocator: at most
   NNRT_ONNX_BUDGET times the bytes of the file, its external data and the values in desc->inputs, plus
   NNRT_ONNX_BUDGET_FREE bytes. Constant folding: at most NNRT_ONNX_BUDGET elements for each of these bytes, plus
   NNRT_ONNX_WORK_FREE. Exceeding a limit returns NNRT_OUT_OF_MEMORY or NNRT_TIME_OUT. Without limits a file of a few
   hundred bytes could demand gigabytes and hours. */
#define NNRT_ONNX_BUDGET 64
#define NNRT_ONNX_BUDGET_FREE ((size_t)1 << 20)
#define NNRT_ONNX_WORK_FREE ((size_t)1 << 24)

/* All zero is the default. inputs: sizes of dimensions that the file leaves dynamic, and values of inputs that never
   change (axes, sizes, ...). None of it is required: a model whose nodes depend on more than is known becomes deferred
   (nnrt_model_deferred); the bytes of its file, and its external data, must then stay unchanged until it is destroyed. */
typedef struct nnrt_onnx_desc {
    const nnrt_allocator *allocator; /* NULL = malloc */
    bool no_optimize;                /* leave the model as imported: no nnrt_model_optimize */
    bool no_quantize; /* operators between DequantizeLinear and QuantizeLinear compute in float32; QLinearConv and
                         QLinearMatMul round once, as ONNX does. Otherwise they become quantized operators */
    const nnrt_onnx_input *inputs;
    uint32_t inputCount;
    bool final;                 /* no later import will know more: dimensions that are open now stay dynamic */
    uint32_t budget;            /* factor for the limits on memory and work; 0 means 1 */
    const char *path;           /* nnrt_onnx_load_memory: path of the file, to find its external data; NULL: none */
    const char *const *outputs; /* names of the values that become the outputs (nnrt_onnx_cut) */
    uint32_t outputCount;       /* 0: the outputs of the file */
    const nnrt_log *log;        /* receives messages about the conversion of nodes; NULL: none */
    bool floatActivations;      /* MatMulNBits of accuracy_level 4 multiplies by float32; false: by x rounded to int8, as that allows */
} nnrt_onnx_desc;

/* Imports the ONNX model in these bytes. Constants that are aligned to their element size are used in place, so the
   bytes must outlive the model. External data require desc->path; without it they are an error. On failure *model is
   NULL and error (may be NULL) names the ONNX node, its operator and the fault; unsupported operators are listed
   together with NNRT_UNSUPPORTED_OP, along with the values before them that desc->outputs could end the model at. */
NNRT_API NNRT_ReturnCode nnrt_onnx_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                               const nnrt_onnx_desc *desc, nnrt_error *error);
#ifndef NNRT_NO_STDIO
/* Imports the ONNX model in a file; external data are read from files below its folder. The model owns all of its
   memory. */
NNRT_API NNRT_ReturnCode nnrt_onnx_load(NNRT_Model **model, const char *path, const nnrt_onnx_desc *desc,
                                        nnrt_error *error);
#endif

/* Support of one ONNX operator by the importer. */
typedef struct nnrt_onnx_about {
    const char *name;    /* "Conv"; with a domain other than ONNX's own: "ai.onnx.ml.ZipMap" */
    int32_t least, most; /* first and last supported operator set; 0: the operator is unsupported */
    const char *becomes; /* runtime operators it can become (one of them), separated by spaces; "": none */
    const char *with;    /* further runtime operators that may be added, or that it is decomposed into; "": none */
    const char *why;     /* the condition and reason for `with`; for an unsupported operator, the reason */
} nnrt_onnx_about;

/* Describes operator `index`: first the supported ones, then the unsupported ones. Returns false if index is too
 * large. */
NNRT_API bool nnrt_onnx_operator(uint32_t index, nnrt_onnx_about *about);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_ONNX_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_ONNX_IMPLEMENTED)
#define NNRT_ONNX_IMPLEMENTED

#include "../nnrt.h" /* its implementation, if only its declarations have been included so far */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#ifndef NNRT_NO_STDIO
#include <stdio.h>
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>reader */

NNRT_SETUP()

/* How a field of a message is decoded. Columns: wire format, type of the member. */
enum {
    NNRTI_ONNX_I32,     /* varint, int32_t */
    NNRTI_ONNX_I64,     /* varint, int64_t */
    NNRTI_ONNX_F32,     /* fixed32, float */
    NNRTI_ONNX_STR,     /* text or bytes, nnrt_onnx_str */
    NNRTI_ONNX_SUB,     /* message, pointer to its struct */
    NNRTI_ONNX_INLINE,  /* message, fills the enclosing struct; sub NONE: only its presence is noted */
    NNRTI_ONNX_I64S,    /* repeated varint, list of int64_t */
    NNRTI_ONNX_F32S,    /* repeated fixed32, list of float */
    NNRTI_ONNX_STRS,    /* repeated text or bytes, list of nnrt_onnx_str */
    NNRTI_ONNX_SUBS,    /* repeated message, list of its structs */
    NNRTI_ONNX_COUNT,   /* message, size_t: number of occurrences */
    NNRTI_ONNX_VALUES,  /* repeated varint, values stay in the file, size_t: number of values */
    NNRTI_ONNX_VALUES4, /* repeated fixed32, values stay in the file, size_t: number of values */
    NNRTI_ONNX_VALUES8, /* repeated fixed64, values stay in the file, size_t: number of values */
    NNRTI_ONNX_REFUSE   /* message that is not supported */
};

enum {
    NNRTI_ONNX_NONE,
    NNRTI_ONNX_MODEL,
    NNRTI_ONNX_OPSET,
    NNRTI_ONNX_PAIR,
    NNRTI_ONNX_GRAPH,
    NNRTI_ONNX_FUNCTION,
    NNRTI_ONNX_NODE,
    NNRTI_ONNX_ATTRIBUTE,
    NNRTI_ONNX_TENSOR,
    NNRTI_ONNX_VALUE_INFO,
    NNRTI_ONNX_TYPE,
    NNRTI_ONNX_TENSOR_TYPE,
    NNRTI_ONNX_SHAPE,
    NNRTI_ONNX_DIM,
    NNRTI_ONNX_ELEM,
    NNRTI_ONNX_ELEM_TYPE,
    NNRTI_ONNX_LAST,
    NNRTI_ONNX_LAST_TYPE,
    NNRTI_ONNX_MESSAGES
};

/* No member; the largest number of rows of one message. */
#define NNRTI_ONNX_NO 0xFFFFu
#define NNRTI_ONNX_ROWS 17

/* One field. note: the member (int32_t) that receives the field's number if the field occurs, which identifies the
 * member of a oneof; the last occurrence counts. */
typedef struct nnrti_onnx_field {
    const char *name;
    uint16_t number;
    uint8_t kind, sub;
    uint16_t member, note;
} nnrti_onnx_field;

/* One message: its name in errors, its struct's size and its fields. */
typedef struct nnrti_onnx_message {
    const char *name;
    uint32_t bytes, count;
    const nnrti_onnx_field *fields;
} nnrti_onnx_message;

/* clang-format off */
#define NNRTI_ONNX_AT(type, member) ((uint16_t)offsetof(nnrt_onnx_##type, member))
#define NNRTI_ONNX_ROW(number, name, kind, sub, type, member) \
    { name, number, NNRTI_ONNX_##kind, NNRTI_ONNX_##sub, NNRTI_ONNX_AT(type, member), NNRTI_ONNX_NO }
#define NNRTI_ONNX_NOTED(number, name, kind, sub, type, member, note) \
    { name, number, NNRTI_ONNX_##kind, NNRTI_ONNX_##sub, NNRTI_ONNX_AT(type, member), NNRTI_ONNX_AT(type, note) }

static const nnrti_onnx_field nnrti_onnx_model_fields[] = {
    NNRTI_ONNX_ROW(1,  "ir_version",       I64,  NONE,     model, irVersion),
    NNRTI_ONNX_ROW(2,  "producer_name",    STR,  NONE,     model, producerName),
    NNRTI_ONNX_ROW(3,  "producer_version", STR,  NONE,     model, producerVersion),
    NNRTI_ONNX_ROW(4,  "domain",           STR,  NONE,     model, domain),
    NNRTI_ONNX_ROW(5,  "model_version",    I64,  NONE,     model, modelVersion),
    NNRTI_ONNX_ROW(7,  "graph",            SUB,  GRAPH,    model, graph),
    NNRTI_ONNX_ROW(8,  "opset_import",     SUBS, OPSET,    model, opsetImport),
    NNRTI_ONNX_ROW(14, "metadata_props",   SUBS, PAIR,     model, metadataProps),
    NNRTI_ONNX_ROW(25, "functions",        SUBS, FUNCTION, model, functions)
};
static const nnrti_onnx_field nnrti_onnx_opset_fields[] = {
    NNRTI_ONNX_ROW(1, "domain",  STR, NONE, opset, domain),
    NNRTI_ONNX_ROW(2, "version", I64, NONE, opset, version)
};
static const nnrti_onnx_field nnrti_onnx_pair_fields[] = {
    NNRTI_ONNX_ROW(1, "key",   STR, NONE, pair, key),
    NNRTI_ONNX_ROW(2, "value", STR, NONE, pair, value)
};
static const nnrti_onnx_field nnrti_onnx_graph_fields[] = {
    NNRTI_ONNX_ROW(1,  "node",               SUBS,  NODE,       graph, nodes),
    NNRTI_ONNX_ROW(2,  "name",               STR,   NONE,       graph, name),
    NNRTI_ONNX_ROW(5,  "initializer",        SUBS,  TENSOR,     graph, initializers),
    NNRTI_ONNX_ROW(11, "input",              SUBS,  VALUE_INFO, graph, inputs),
    NNRTI_ONNX_ROW(12, "output",             SUBS,  VALUE_INFO, graph, outputs),
    NNRTI_ONNX_ROW(13, "value_info",         SUBS,  VALUE_INFO, graph, valueInfo),
    NNRTI_ONNX_ROW(15, "sparse_initializer", COUNT, NONE,       graph, sparseInitializerCount)
};
static const nnrti_onnx_field nnrti_onnx_function_fields[] = {
    NNRTI_ONNX_ROW(1,  "name",            STR,  NONE,      function, name),
    NNRTI_ONNX_ROW(4,  "input",           STRS, NONE,      function, inputs),
    NNRTI_ONNX_ROW(5,  "output",          STRS, NONE,      function, outputs),
    NNRTI_ONNX_ROW(6,  "attribute",       STRS, NONE,      function, attributeNames),
    NNRTI_ONNX_ROW(7,  "node",            SUBS, NODE,      function, nodes),
    NNRTI_ONNX_ROW(9,  "opset_import",    SUBS, OPSET,     function, opsetImport),
    NNRTI_ONNX_ROW(10, "domain",          STR,  NONE,      function, domain),
    NNRTI_ONNX_ROW(11, "attribute_proto", SUBS, ATTRIBUTE, function, attributes),
    NNRTI_ONNX_ROW(13, "overload",        STR,  NONE,      function, overload)
};
static const nnrti_onnx_field nnrti_onnx_node_fields[] = {
    NNRTI_ONNX_ROW(1, "input",     STRS, NONE,      node, inputs),
    NNRTI_ONNX_ROW(2, "output",    STRS, NONE,      node, outputs),
    NNRTI_ONNX_ROW(3, "name",      STR,  NONE,      node, name),
    NNRTI_ONNX_ROW(4, "op_type",   STR,  NONE,      node, opType),
    NNRTI_ONNX_ROW(5, "attribute", SUBS, ATTRIBUTE, node, attributes),
    NNRTI_ONNX_ROW(7, "domain",    STR,  NONE,      node, domain),
    NNRTI_ONNX_ROW(8, "overload",  STR,  NONE,      node, overload)
};
static const nnrti_onnx_field nnrti_onnx_attribute_fields[] = {
    NNRTI_ONNX_ROW(1,    "name",           STR,   NONE,   attribute, name),
    NNRTI_ONNX_NOTED(2,  "f",              F32,   NONE,   attribute, f, valueField),
    NNRTI_ONNX_NOTED(3,  "i",              I64,   NONE,   attribute, i, valueField),
    NNRTI_ONNX_NOTED(4,  "s",              STR,   NONE,   attribute, s, valueField),
    NNRTI_ONNX_NOTED(5,  "t",              SUB,   TENSOR, attribute, t, valueField),
    NNRTI_ONNX_NOTED(6,  "g",              SUB,   GRAPH,  attribute, g, valueField),
    NNRTI_ONNX_NOTED(7,  "floats",         F32S,  NONE,   attribute, floats, valueField),
    NNRTI_ONNX_NOTED(8,  "ints",           I64S,  NONE,   attribute, ints, valueField),
    NNRTI_ONNX_NOTED(9,  "strings",        STRS,  NONE,   attribute, strings, valueField),
    NNRTI_ONNX_ROW(10,   "tensors",        COUNT, NONE,   attribute, otherCount),
    NNRTI_ONNX_ROW(11,   "graphs",         COUNT, NONE,   attribute, otherCount),
    NNRTI_ONNX_ROW(14,   "tp",             COUNT, NONE,   attribute, otherCount),
    NNRTI_ONNX_ROW(15,   "type_protos",    COUNT, NONE,   attribute, otherCount),
    NNRTI_ONNX_ROW(20,   "type",           I32,   NONE,   attribute, type),
    NNRTI_ONNX_ROW(21,   "ref_attr_name",  STR,   NONE,   attribute, refAttrName),
    NNRTI_ONNX_ROW(22,   "sparse_tensor",  COUNT, NONE,   attribute, otherCount),
    NNRTI_ONNX_ROW(23,   "sparse_tensors", COUNT, NONE,   attribute, otherCount)
};
static const nnrti_onnx_field nnrti_onnx_tensor_fields[] = {
    NNRTI_ONNX_ROW(1,  "dims",          I64S,    NONE, tensor, dims),
    NNRTI_ONNX_ROW(2,  "data_type",     I32,     NONE, tensor, dataType),
    NNRTI_ONNX_ROW(3,  "segment",       REFUSE,  NONE, tensor, name),
    NNRTI_ONNX_ROW(4,  "float_data",    VALUES4, NONE, tensor, floatCount),
    NNRTI_ONNX_ROW(5,  "int32_data",    VALUES,  NONE, tensor, int32Count),
    NNRTI_ONNX_ROW(6,  "string_data",   STRS,    NONE, tensor, stringData),
    NNRTI_ONNX_ROW(7,  "int64_data",    VALUES,  NONE, tensor, int64Count),
    NNRTI_ONNX_ROW(8,  "name",          STR,     NONE, tensor, name),
    NNRTI_ONNX_ROW(9,  "raw_data",      STR,     NONE, tensor, rawData),
    NNRTI_ONNX_ROW(10, "double_data",   VALUES8, NONE, tensor, doubleCount),
    NNRTI_ONNX_ROW(11, "uint64_data",   VALUES,  NONE, tensor, uint64Count),
    NNRTI_ONNX_ROW(13, "external_data", SUBS,    PAIR, tensor, externalData),
    NNRTI_ONNX_ROW(14, "data_location", I32,     NONE, tensor, dataLocation)
};
static const nnrti_onnx_field nnrti_onnx_value_info_fields[] = {
    NNRTI_ONNX_ROW(1, "name", STR,    NONE, value_info, name),
    NNRTI_ONNX_ROW(2, "type", INLINE, TYPE, value_info, name)
};
/* Maps and other types have no fields here: only the kind is noted. elemKind is the kind inside another type, a tensor or a
   sequence: an optional value may have a sequence, which has tensors. */
static const nnrti_onnx_field nnrti_onnx_type_fields[] = {
    NNRTI_ONNX_NOTED(1, "tensor_type",        INLINE, TENSOR_TYPE, value_info, name, kind),
    NNRTI_ONNX_NOTED(4, "sequence_type",      INLINE, ELEM,        value_info, name, kind),
    NNRTI_ONNX_NOTED(5, "map_type",           INLINE, NONE,        value_info, name, kind),
    NNRTI_ONNX_NOTED(7, "opaque_type",        INLINE, NONE,        value_info, name, kind),
    NNRTI_ONNX_NOTED(8, "sparse_tensor_type", INLINE, NONE,        value_info, name, kind),
    NNRTI_ONNX_NOTED(9, "optional_type",      INLINE, ELEM,        value_info, name, kind)
};
static const nnrti_onnx_field nnrti_onnx_elem_fields[] = {
    NNRTI_ONNX_ROW(1, "elem_type", INLINE, ELEM_TYPE, value_info, name)
};
static const nnrti_onnx_field nnrti_onnx_elem_type_fields[] = {
    NNRTI_ONNX_NOTED(1, "tensor_type",        INLINE, TENSOR_TYPE, value_info, name, elemKind),
    NNRTI_ONNX_NOTED(4, "sequence_type",      INLINE, LAST,        value_info, name, elemKind)
};
static const nnrti_onnx_field nnrti_onnx_last_fields[] = {
    NNRTI_ONNX_ROW(1, "elem_type", INLINE, LAST_TYPE, value_info, name)
};
static const nnrti_onnx_field nnrti_onnx_last_type_fields[] = {
    NNRTI_ONNX_ROW(1, "tensor_type", INLINE, TENSOR_TYPE, value_info, name)
};
static const nnrti_onnx_field nnrti_onnx_tensor_type_fields[] = {
    NNRTI_ONNX_ROW(1,   "elem_type", I32,    NONE,  value_info, elemType),
    NNRTI_ONNX_NOTED(2, "shape",     INLINE, SHAPE, value_info, name, hasShape)
};
static const nnrti_onnx_field nnrti_onnx_shape_fields[] = {
    NNRTI_ONNX_ROW(1, "dim", SUBS, DIM, value_info, dims)
};
static const nnrti_onnx_field nnrti_onnx_dim_fields[] = {
    NNRTI_ONNX_NOTED(1, "dim_value", I64, NONE, dim, value, kind),
    NNRTI_ONNX_NOTED(2, "dim_param", STR, NONE, dim, param, kind)
};

#define NNRTI_ONNX_ROWS_OF(fields) ((uint32_t)(sizeof(fields) / sizeof((fields)[0]))), fields

/* In the order of NNRTI_ONNX_NONE, NNRTI_ONNX_MODEL, ... */
static const nnrti_onnx_message nnrti_onnx_messages[NNRTI_ONNX_MESSAGES] = {
    { "", 0, 0, NULL },
    { "ModelProto",             sizeof(nnrt_onnx_model),      NNRTI_ONNX_ROWS_OF(nnrti_onnx_model_fields) },
    { "OperatorSetIdProto",     sizeof(nnrt_onnx_opset),      NNRTI_ONNX_ROWS_OF(nnrti_onnx_opset_fields) },
    { "StringStringEntryProto", sizeof(nnrt_onnx_pair),       NNRTI_ONNX_ROWS_OF(nnrti_onnx_pair_fields) },
    { "GraphProto",             sizeof(nnrt_onnx_graph),      NNRTI_ONNX_ROWS_OF(nnrti_onnx_graph_fields) },
    { "FunctionProto",          sizeof(nnrt_onnx_function),   NNRTI_ONNX_ROWS_OF(nnrti_onnx_function_fields) },
    { "NodeProto",              sizeof(nnrt_onnx_node),       NNRTI_ONNX_ROWS_OF(nnrti_onnx_node_fields) },
    { "AttributeProto",         sizeof(nnrt_onnx_attribute),  NNRTI_ONNX_ROWS_OF(nnrti_onnx_attribute_fields) },
    { "TensorProto",            sizeof(nnrt_onnx_tensor),     NNRTI_ONNX_ROWS_OF(nnrti_onnx_tensor_fields) },
    { "ValueInfoProto",         sizeof(nnrt_onnx_value_info), NNRTI_ONNX_ROWS_OF(nnrti_onnx_value_info_fields) },
    { "TypeProto",              0,                            NNRTI_ONNX_ROWS_OF(nnrti_onnx_type_fields) },
    { "TypeProto.Tensor",       0,                            NNRTI_ONNX_ROWS_OF(nnrti_onnx_tensor_type_fields) },
    { "TensorShapeProto",       0,                            NNRTI_ONNX_ROWS_OF(nnrti_onnx_shape_fields) },
    { "TensorShapeProto.Dimension", sizeof(nnrt_onnx_dim),    NNRTI_ONNX_ROWS_OF(nnrti_onnx_dim_fields) },
    { "TypeProto.Sequence",     0,                            NNRTI_ONNX_ROWS_OF(nnrti_onnx_elem_fields) },
    { "TypeProto",              0,                            NNRTI_ONNX_ROWS_OF(nnrti_onnx_elem_type_fields) },
    { "TypeProto.Sequence",     0,                            NNRTI_ONNX_ROWS_OF(nnrti_onnx_last_fields) },
    { "TypeProto",              0,                            NNRTI_ONNX_ROWS_OF(nnrti_onnx_last_type_fields) }
};
/* clang-format on */

/* State of a walk over a message. data: start of the file; offsets in errors count from here. block NULL: only count
 * the bytes that the tables need; otherwise write the tables to block, which has room bytes, all 0. used: bytes so
 * far. */
typedef struct nnrti_onnx_reader {
    const uint8_t *data;
    uint8_t *block;
    size_t room, used;
    nnrt_error *error;
} nnrti_onnx_reader;

/* One occurrence of a field: its row (field NULL: unknown field), the offset of its tag, and its payload [at, end): the
 * encoded number, or the bytes after the length. */
typedef struct nnrti_onnx_item {
    const nnrti_onnx_field *field;
    size_t row, start, at, end;
} nnrti_onnx_item;

/* Per row: number of list entries, number of filled entries, the list, and the payload of the last occurrence (end 0:
 * none, since no payload ends at 0). */
typedef struct nnrti_onnx_scan {
    size_t count[NNRTI_ONNX_ROWS], filled[NNRTI_ONNX_ROWS];
    size_t at[NNRTI_ONNX_ROWS], end[NNRTI_ONNX_ROWS];
    uint8_t *list[NNRTI_ONNX_ROWS];
} nnrti_onnx_scan;

/* Wire type of each kind, in the order of NNRTI_ONNX_I32 ...; for repeated numbers the wire type of one element. */
static const uint8_t nnrti_onnx_wires[] = {0, 0, 5, 2, 2, 2, 0, 5, 2, 2, 2, 0, 5, 1, 2};

/* 1 for repeated numbers, which may also be packed, with wire type 2. */
static int nnrti_onnx_packs(uint8_t kind)
{
    return kind == NNRTI_ONNX_I64S || kind == NNRTI_ONNX_F32S ||
           (kind >= NNRTI_ONNX_VALUES && kind <= NNRTI_ONNX_VALUES8);
}

/* 1 for kinds that become a list in the block. */
static int nnrti_onnx_lists(uint8_t kind)
{
    return kind >= NNRTI_ONNX_I64S && kind <= NNRTI_ONNX_SUBS;
}

/* Size in bytes of one entry of a field's list. */
static size_t nnrti_onnx_entry_bytes(const nnrti_onnx_field *field)
{
    switch (field->kind) {
    case NNRTI_ONNX_I64S: return sizeof(int64_t);
    case NNRTI_ONNX_F32S: return sizeof(float);
    case NNRTI_ONNX_STRS: return sizeof(nnrt_onnx_str);
    default: return nnrti_onnx_messages[field->sub].bytes;
    }
}

/* The row of a field number in message m, or m->count. */
static size_t nnrti_onnx_row(const nnrti_onnx_message *m, uint64_t number)
{
    size_t row = 0;
    while (row < m->count && m->fields[row].number != number) {
        row++;
    }
    return row;
}

/* Reports a fault at a byte of the file, in a field of message m; what is its description. */
static NNRT_ReturnCode nnrti_onnx_bad(nnrti_onnx_reader *r, size_t at, const nnrti_onnx_message *m, uint64_t number,
                                      const char *what)
{
    size_t row = nnrti_onnx_row(m, number);
    if (row < m->count) {
        return nnrt_error_set(r->error, NNRT_INVALID_FILE, "ONNX file byte %z: %s.%s: %s", at, m->name,
                              m->fields[row].name, what);
    }
    return nnrt_error_set(r->error, NNRT_INVALID_FILE, "ONNX file byte %z: %s, field %u: %s", at, m->name,
                          (uint32_t)number, what);
}

/* Reads a varint of [*at, end) and moves *at past it. Returns NULL, or a description of the fault; *at is then
 * unchanged. */
static const char *nnrti_onnx_varint(const uint8_t *data, size_t *at, size_t end, uint64_t *value)
{
    uint64_t v = 0;
    size_t i, have = end - *at;
    for (i = 0; i < 10; i++) {
        uint8_t byte;
        if (i >= have) {
            return "varint runs past the end";
        }
        byte = data[*at + i];
        if (i == 9 && byte > 1) {
            return "varint has more than 64 bits";
        }
        v |= (uint64_t)(byte & 0x7Fu) << (7 * i);
        if (byte < 0x80u) {
            break;
        }
    }
    *at += i + 1;
    *value = v;
    return NULL;
}

/* Little-endian number of n <= 8 bytes. */
static uint64_t nnrti_onnx_fixed(const uint8_t *data, size_t n)
{
    uint64_t v = 0;
    while (n-- > 0) {
        v = v << 8 | data[n];
    }
    return v;
}

/* Reads one number of a wire type (0, 1 or 5) from [*at, end) and moves *at past it. Returns NULL, or the fault. */
static const char *nnrti_onnx_number(const uint8_t *data, uint8_t wire, size_t *at, size_t end, uint64_t *value)
{
    size_t n = wire == 1 ? 8 : 4;
    if (wire == 0) {
        return nnrti_onnx_varint(data, at, end, value);
    }
    if (n > end - *at) {
        return "number runs past the end";
    }
    *value = nnrti_onnx_fixed(data + *at, n);
    *at += n;
    return NULL;
}

/* Finds the payload of a field of the given wire type at *at, after its tag, and moves *at past the payload. */
static NNRT_ReturnCode nnrti_onnx_payload(nnrti_onnx_reader *r, const nnrti_onnx_message *m, uint64_t number,
                                          uint8_t wire, size_t *at, size_t end, nnrti_onnx_item *item)
{
    const char *fault = NULL;
    uint64_t v = 0;
    if (wire == 3 || wire == 4) {
        fault = "a group, which ONNX does not use";
    } else if (wire > 5) {
        fault = "unknown wire type";
    } else if (wire == 2) {
        fault = nnrti_onnx_varint(r->data, at, end, &v);
        if (fault == NULL && v > end - *at) {
            const char *name = item->field ? item->field->name : "unknown field";
            int64_t length = v > INT64_MAX ? INT64_MAX : (int64_t)v;
            return nnrt_error_set(r->error, NNRT_INVALID_FILE,
                                  "ONNX file byte %z: %s.%s: length %l runs past the end (%z bytes left)", item->start,
                                  m->name, name, length, end - *at);
        }
        item->at = *at;
        *at += (size_t)v;
    } else {
        item->at = *at;
        fault = nnrti_onnx_number(r->data, wire, at, end, &v);
    }
    item->end = *at;
    return fault ? nnrti_onnx_bad(r, item->start, m, number, fault) : NNRT_SUCCESS;
}

/* Reads the field at *at < end of message m into item and moves *at past it. A known field must have the wire type of
 * its kind; unknown fields are skipped. */
static NNRT_ReturnCode nnrti_onnx_next(nnrti_onnx_reader *r, const nnrti_onnx_message *m, size_t *at, size_t end,
                                       nnrti_onnx_item *item)
{
    uint64_t key = 0, number;
    uint8_t wire, kind;
    const char *fault;
    item->start = *at;
    item->field = NULL;
    fault = nnrti_onnx_varint(r->data, at, end, &key);
    if (fault == NULL && (key > UINT32_MAX || key < 8)) {
        fault = "invalid field tag";
    }
    number = key >> 3;
    wire = (uint8_t)(key & 7u);
    if (fault != NULL) {
        return nnrti_onnx_bad(r, item->start, m, 0, fault);
    }
    item->row = nnrti_onnx_row(m, number);
    if (item->row < m->count) {
        item->field = &m->fields[item->row];
        kind = item->field->kind;
        if (wire != nnrti_onnx_wires[kind] && !(wire == 2 && nnrti_onnx_packs(kind))) {
            return nnrti_onnx_bad(r, item->start, m, number, "wrong wire type");
        }
    }
    return nnrti_onnx_payload(r, m, number, wire, at, end, item);
}

/* Reserves room for count entries of the given size, aligned to 8 bytes; *entries is NULL while only counting. */
static NNRT_ReturnCode nnrti_onnx_take(nnrti_onnx_reader *r, size_t count, size_t bytes, uint8_t **entries)
{
    size_t need;
    *entries = NULL;
    if (count > (SIZE_MAX - 7) / bytes) {
        return nnrt_error_set(r->error, NNRT_OUT_OF_MEMORY,
                              "ONNX file: the size of its tables exceeds the address space");
    }
    need = (count * bytes + 7) & ~(size_t)7;
    if (need > r->room - r->used) {
        return nnrt_error_set(r->error, NNRT_OUT_OF_MEMORY,
                              "ONNX file: its tables need more than %z bytes, the limit of %d times the file's size "
                              "plus %z (NNRT_ONNX_MEMORY_FACTOR raises it)",
                              r->room, NNRT_ONNX_MEMORY_FACTOR, NNRT_ONNX_MEMORY_FREE);
    }
    *entries = r->block ? r->block + r->used : NULL;
    r->used += need;
    return NNRT_SUCCESS;
}

/* The bytes [at, end) of the file as a string. */
static nnrt_onnx_str nnrti_onnx_slice(const nnrti_onnx_reader *r, size_t at, size_t end)
{
    nnrt_onnx_str s;
    s.data = (const char *)(r->data + at);
    s.length = end - at;
    return s;
}

/* Stores the low bits of v as int32_t, int64_t or float, according to the field's kind. */
static void nnrti_onnx_store(uint8_t *to, uint8_t kind, uint64_t v)
{
    uint32_t low = (uint32_t)v;
    if (kind == NNRTI_ONNX_I64 || kind == NNRTI_ONNX_I64S) {
        memcpy(to, &v, sizeof(v));
    } else {
        memcpy(to, &low, sizeof(low));
    }
}

/* Stores a singular number or string, a count or a note in the struct out. Submessages and lists are stored later. */
static void nnrti_onnx_put(nnrti_onnx_reader *r, const nnrti_onnx_item *item, size_t entries, uint8_t *out)
{
    const nnrti_onnx_field *f = item->field;
    uint8_t *to = out + f->member;
    size_t at = item->at, n;
    uint64_t v = 0;
    if (f->kind <= NNRTI_ONNX_F32) {
        (void)nnrti_onnx_number(r->data, nnrti_onnx_wires[f->kind], &at, item->end, &v);
        nnrti_onnx_store(to, f->kind, v);
    } else if (f->kind == NNRTI_ONNX_STR) {
        nnrt_onnx_str s = nnrti_onnx_slice(r, item->at, item->end);
        memcpy(to, &s, sizeof(s));
    } else if (f->kind >= NNRTI_ONNX_COUNT) {
        memcpy(&n, to, sizeof(n));
        n += entries;
        memcpy(to, &n, sizeof(n));
    }
    if (f->note != NNRTI_ONNX_NO) {
        int32_t note = f->number;
        memcpy(out + f->note, &note, sizeof(note));
    }
}

/* Counts the numbers in a payload, packed or single, and checks each of them. */
static NNRT_ReturnCode nnrti_onnx_count(nnrti_onnx_reader *r, const nnrti_onnx_message *m, const nnrti_onnx_item *item,
                                        size_t *entries)
{
    uint8_t wire = nnrti_onnx_wires[item->field->kind];
    size_t at = item->at, n = 0;
    uint64_t v;
    while (at < item->end) {
        const char *fault = nnrti_onnx_number(r->data, wire, &at, item->end, &v);
        if (fault != NULL) {
            return nnrti_onnx_bad(r, at, m, item->field->number, fault);
        }
        n++;
    }
    *entries = n;
    return NNRT_SUCCESS;
}

/* First pass over the message [at, end): checks every field, counts the entries of lists, records the last occurrence
 * of each field, and fills the plain members of out (NULL while only counting). */
static NNRT_ReturnCode nnrti_onnx_scan_fields(nnrti_onnx_reader *r, const nnrti_onnx_message *m, size_t at, size_t end,
                                              uint8_t *out, nnrti_onnx_scan *scan)
{
    while (at < end) {
        nnrti_onnx_item item;
        size_t entries = 1;
        NNRT_ReturnCode rc = nnrti_onnx_next(r, m, &at, end, &item);
        if (rc == NNRT_SUCCESS && item.field == NULL) {
            continue;
        }
        if (rc == NNRT_SUCCESS && item.field->kind == NNRTI_ONNX_REFUSE) {
            rc = nnrt_error_set(r->error, NNRT_NOT_SUPPORT, "ONNX file byte %z: %s.%s is not supported", item.start,
                                m->name, item.field->name);
        }
        if (rc == NNRT_SUCCESS && nnrti_onnx_packs(item.field->kind)) {
            rc = nnrti_onnx_count(r, m, &item, &entries);
        }
        if (rc != NNRT_SUCCESS) {
            return rc;
        }
        scan->count[item.row] += entries;
        scan->at[item.row] = item.at;
        scan->end[item.row] = item.end;
        if (out != NULL) {
            nnrti_onnx_put(r, &item, entries, out);
        }
    }
    return NNRT_SUCCESS;
}

/* Appends the entries of one item to its list. No-op while only counting. */
static void nnrti_onnx_append(nnrti_onnx_reader *r, const nnrti_onnx_item *item, nnrti_onnx_scan *scan)
{
    uint8_t kind = item->field->kind, *list = scan->list[item->row];
    size_t at = item->at, *filled = &scan->filled[item->row], bytes = nnrti_onnx_entry_bytes(item->field);
    uint64_t v = 0;
    if (list == NULL) {
        return;
    }
    if (kind == NNRTI_ONNX_STRS) {
        nnrt_onnx_str s = nnrti_onnx_slice(r, item->at, item->end);
        memcpy(list + *filled * bytes, &s, sizeof(s));
        *filled += 1;
        return;
    }
    while (at < item->end && *filled < scan->count[item->row] &&
           nnrti_onnx_number(r->data, nnrti_onnx_wires[kind], &at, item->end, &v) == NULL) {
        nnrti_onnx_store(list + *filled * bytes, kind, v);
        *filled += 1;
    }
}

static NNRT_ReturnCode nnrti_onnx_decode(nnrti_onnx_reader *r, int32_t depth, uint8_t id, size_t at, size_t end,
                                         uint8_t *out);

/* Second pass over the message [at, end): fills the lists whose room was reserved according to the counts in scan. */
static NNRT_ReturnCode nnrti_onnx_fill(nnrti_onnx_reader *r, int32_t depth, const nnrti_onnx_message *m, size_t at,
                                       size_t end, nnrti_onnx_scan *scan)
{
    NNRT_ReturnCode rc = NNRT_SUCCESS;
    while (at < end && rc == NNRT_SUCCESS) {
        nnrti_onnx_item item;
        rc = nnrti_onnx_next(r, m, &at, end, &item);
        if (rc != NNRT_SUCCESS || item.field == NULL || !nnrti_onnx_lists(item.field->kind)) {
            continue;
        }
        if (item.field->kind == NNRTI_ONNX_SUBS) {
            uint8_t *list = scan->list[item.row];
            size_t bytes = nnrti_onnx_entry_bytes(item.field), i = scan->filled[item.row]++;
            rc = nnrti_onnx_decode(r, depth + 1, item.field->sub, item.at, item.end, list ? list + i * bytes : NULL);
        } else {
            nnrti_onnx_append(r, &item, scan);
        }
    }
    return rc;
}

/* Reserves room for a field's list and stores its {data, count} pair in out. */
static NNRT_ReturnCode nnrti_onnx_open_list(nnrti_onnx_reader *r, const nnrti_onnx_field *f, size_t row, uint8_t *out,
                                            nnrti_onnx_scan *scan)
{
    nnrt_onnx_strs pair;
    NNRT_ReturnCode rc = nnrti_onnx_take(r, scan->count[row], nnrti_onnx_entry_bytes(f), &scan->list[row]);
    if (rc == NNRT_SUCCESS && out != NULL) {
        pair.data = (const nnrt_onnx_str *)(const void *)scan->list[row];
        pair.count = scan->count[row];
        memcpy(out + f->member, &pair, sizeof(pair));
    }
    return rc;
}

/* Decodes the last occurrence of a singular message into out itself (INLINE) or into a struct of its own. */
static NNRT_ReturnCode nnrti_onnx_open_sub(nnrti_onnx_reader *r, int32_t depth, const nnrti_onnx_field *f, size_t at,
                                           size_t end, uint8_t *out)
{
    NNRT_ReturnCode rc;
    uint8_t *sub;
    if (f->kind == NNRTI_ONNX_INLINE) {
        return f->sub == NNRTI_ONNX_NONE ? NNRT_SUCCESS : nnrti_onnx_decode(r, depth + 1, f->sub, at, end, out);
    }
    rc = nnrti_onnx_take(r, 1, nnrti_onnx_messages[f->sub].bytes, &sub);
    if (rc == NNRT_SUCCESS && out != NULL) {
        memcpy(out + f->member, &sub, sizeof(sub));
    }
    return rc == NNRT_SUCCESS ? nnrti_onnx_decode(r, depth + 1, f->sub, at, end, sub) : rc;
}

/* Checks that the field tables cannot express, made once all members of a message are in out. */
static NNRT_ReturnCode nnrti_onnx_finish(nnrti_onnx_reader *r, uint8_t id, size_t at, size_t end, uint8_t *out)
{
    if (id == NNRTI_ONNX_TENSOR) {
        nnrt_onnx_tensor *t = (nnrt_onnx_tensor *)(void *)out;
        size_t i;
        t->message = nnrti_onnx_slice(r, at, end);
        for (i = 0; i < t->dims.count; i++) {
            if (t->dims.data[i] < 0) {
                return nnrti_onnx_bad(r, at, &nnrti_onnx_messages[id], 1,
                                      "a dimension is negative, expected 0 or more");
            }
        }
    } else if (id == NNRTI_ONNX_ATTRIBUTE) {
        nnrt_onnx_attribute *a = (nnrt_onnx_attribute *)(void *)out;
        if (a->type == NNRT_ONNX_ATTRIBUTE_UNDEFINED && a->valueField != 0) {
            a->type = a->valueField - 1; /* the numbers of the fields f .. strings are their types plus 1 */
        }
    } else if (id == NNRTI_ONNX_DIM) {
        nnrt_onnx_dim *d = (nnrt_onnx_dim *)(void *)out;
        if (d->kind == NNRT_ONNX_DIM_VALUE && d->value < 0) {
            d->kind = NNRT_ONNX_DIM_ABSENT;
        }
        if (d->kind != NNRT_ONNX_DIM_VALUE) {
            d->value = 0;
        }
        if (d->kind != NNRT_ONNX_DIM_PARAM) {
            memset(&d->param, 0, sizeof(d->param));
        }
    }
    return NNRT_SUCCESS;
}

/* Decodes the message [at, end) of kind id into its struct out, which is all 0; out NULL: only counts. */
NNRTI_COLD static NNRT_ReturnCode nnrti_onnx_decode(nnrti_onnx_reader *r, int32_t depth, uint8_t id, size_t at,
                                                    size_t end, uint8_t *out)
{
    const nnrti_onnx_message *m = &nnrti_onnx_messages[id];
    nnrti_onnx_scan scan;
    NNRT_ReturnCode rc;
    int lists = 0;
    size_t row;
    if (depth > NNRT_ONNX_MAX_DEPTH) {
        return nnrt_error_set(r->error, NNRT_INVALID_FILE, "ONNX file byte %z: %s: nested deeper than %d messages", at,
                              m->name, (int32_t)NNRT_ONNX_MAX_DEPTH);
    }
    memset(&scan, 0, sizeof(scan));
    rc = nnrti_onnx_scan_fields(r, m, at, end, out, &scan);
    for (row = 0; row < m->count && rc == NNRT_SUCCESS; row++) {
        const nnrti_onnx_field *f = &m->fields[row];
        if (nnrti_onnx_lists(f->kind) && scan.count[row] > 0) {
            rc = nnrti_onnx_open_list(r, f, row, out, &scan);
            lists = 1;
        } else if ((f->kind == NNRTI_ONNX_SUB || f->kind == NNRTI_ONNX_INLINE) && scan.end[row] > 0) {
            rc = nnrti_onnx_open_sub(r, depth, f, scan.at[row], scan.end[row], out);
        }
    }
    if (rc == NNRT_SUCCESS && lists) {
        rc = nnrti_onnx_fill(r, depth, m, at, end, &scan);
    }
    return rc == NNRT_SUCCESS && out != NULL ? nnrti_onnx_finish(r, id, at, end, out) : rc;
}

/* Header of a block, before the root struct, so that the block can be freed by the struct's address alone. */
typedef struct nnrti_onnx_head {
    nnrt_allocator allocator;
    size_t bytes, cutBytes;
    void *cut; /* cutBytes of outputs, allocated by nnrt_onnx_cut; NULL: none */
} nnrti_onnx_head;

#define NNRTI_ONNX_HEAD ((sizeof(nnrti_onnx_head) + 7) & ~(size_t)7)

/* Frees the block that contains this root struct. */
static void nnrti_onnx_root_free(void *root)
{
    if (root != NULL) {
        uint8_t *block = (uint8_t *)root - NNRTI_ONNX_HEAD;
        nnrti_onnx_head head;
        memcpy(&head, block, sizeof(head));
        nnrt_free(&head.allocator, head.cut, head.cutBytes);
        nnrt_free(&head.allocator, block, head.bytes);
    }
}

/* Walks over the whole message: allocates the root struct *root and decodes everything below it. */
static NNRT_ReturnCode nnrti_onnx_walk(nnrti_onnx_reader *r, uint8_t id, size_t size, uint8_t **root)
{
    NNRT_ReturnCode rc = nnrti_onnx_take(r, 1, nnrti_onnx_messages[id].bytes, root);
    return rc == NNRT_SUCCESS ? nnrti_onnx_decode(r, 1, id, 0, size, *root) : rc;
}

/* Counts, allocates and fills: the same walk twice. If the bytes change in between, the second walk stops at the size
 * that the first one computed. */
static NNRT_ReturnCode nnrti_onnx_read(const void *data, size_t size, const nnrt_allocator *allocator, uint8_t id,
                                       void **root, nnrt_error *error)
{
    nnrti_onnx_reader r;
    nnrti_onnx_head head;
    uint8_t *block, *top;
    NNRT_ReturnCode rc;
    memset(&head, 0, sizeof(head));
    r.data = (const uint8_t *)data;
    r.block = NULL;
    if (!nnrt_mul_size(size, NNRT_ONNX_MEMORY_FACTOR, &r.room) ||
        !nnrt_add_size(r.room, NNRT_ONNX_MEMORY_FREE - NNRTI_ONNX_HEAD, &r.room))
        r.room = SIZE_MAX - NNRTI_ONNX_HEAD;
    r.used = 0;
    r.error = error;
    rc = nnrti_onnx_walk(&r, id, size, &top);
    if (rc != NNRT_SUCCESS) {
        return rc;
    }
    head.bytes = NNRTI_ONNX_HEAD + r.used;
    block = (uint8_t *)nnrt_alloc(allocator, head.bytes);
    if (block == NULL) {
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "ONNX file: no memory for %z bytes of tables", head.bytes);
    }
    if (allocator != NULL) {
        head.allocator = *allocator;
    }
    memset(block, 0, head.bytes);
    memcpy(block, &head, sizeof(head));
    r.block = block + NNRTI_ONNX_HEAD;
    r.room = r.used;
    r.used = 0;
    rc = nnrti_onnx_walk(&r, id, size, &top);
    if (rc != NNRT_SUCCESS) {
        nnrti_onnx_root_free(block + NNRTI_ONNX_HEAD);
        return rc;
    }
    *root = top;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_onnx_parse(const void *data, size_t size, const nnrt_allocator *allocator,
                                         nnrt_onnx_model **model, nnrt_error *error)
{
    void *root = NULL;
    nnrt_error inner;
    NNRT_ReturnCode rc;
    if (model == NULL || data == NULL) {
        if (model != NULL) {
            *model = NULL;
        }
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_parse: %s is NULL", model ? "data" : "model");
    }
    *model = NULL;
    memset(&inner, 0, sizeof(inner));
    rc = nnrti_onnx_read(data, size, allocator, NNRTI_ONNX_MODEL, &root, &inner);
    if (rc == NNRT_SUCCESS && ((nnrt_onnx_model *)root)->graph == NULL) {
        nnrti_onnx_root_free(root);
        rc = nnrt_error_set(&inner, NNRT_INVALID_FILE, "ONNX file: ModelProto.graph is missing");
    }
    if (rc == NNRT_INVALID_FILE && (size == 0 || *(const uint8_t *)data != 8)) { /* 8: first byte of ONNX files */
        const char *kind = nnrt_file_guess(data, size);
        if (kind != NULL)
            return nnrt_error_set(error, rc, "this is not an ONNX file; it looks like %s", kind);
    }
    if (rc != NNRT_SUCCESS)
        return nnrt_error_set(error, rc, "%s", inner.message);
    *model = (nnrt_onnx_model *)root;
    return rc;
}

NNRT_API NNRT_ReturnCode nnrt_onnx_parse_tensor(const void *data, size_t size, const nnrt_allocator *allocator,
                                                nnrt_onnx_tensor **tensor, nnrt_error *error)
{
    void *root = NULL;
    NNRT_ReturnCode rc;
    if (tensor == NULL || data == NULL) {
        if (tensor != NULL) {
            *tensor = NULL;
        }
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_parse_tensor: %s is NULL", tensor ? "data" : "tensor");
    }
    rc = nnrti_onnx_read(data, size, allocator, NNRTI_ONNX_TENSOR, &root, error);
    *tensor = (nnrt_onnx_tensor *)root;
    return rc;
}

NNRT_API void nnrt_onnx_model_free(nnrt_onnx_model *model)
{
    nnrti_onnx_root_free(model);
}

NNRT_API void nnrt_onnx_tensor_free(nnrt_onnx_tensor *tensor)
{
    nnrti_onnx_root_free(tensor);
}

/* Storage of a data type. bits: size of one element. field: number of the typed field in TensorProto that may hold its
 * elements. width: bytes of one value of that field; a complex element takes several values, one value holds two 4-bit
 * or four 2-bit elements. */
typedef struct nnrti_onnx_storage {
    uint8_t bits, field, width;
} nnrti_onnx_storage;

/* By nnrt_onnx_type. */
static const nnrti_onnx_storage nnrti_onnx_storages[] = {
    {0, 0, 0}, {32, 4, 4}, {8, 5, 1},   {8, 5, 1},   {16, 5, 2},  {16, 5, 2}, {32, 5, 4},   {64, 7, 8}, {0, 6, 0},
    {8, 5, 1}, {16, 5, 2}, {64, 10, 8}, {32, 11, 4}, {64, 11, 8}, {64, 4, 4}, {128, 10, 8}, {16, 5, 2}, {8, 5, 1},
    {8, 5, 1}, {8, 5, 1},  {8, 5, 1},   {4, 5, 1},   {4, 5, 1},   {4, 5, 1},  {8, 5, 1},   {2, 5, 1},  {2, 5, 1}};

/* Copies at most 63 bytes of s to text, unprintable bytes as '?', and appends a NUL. */
static const char *nnrti_onnx_text(char text[64], nnrt_onnx_str s)
{
    size_t i, n = s.length < 63 ? s.length : 63;
    for (i = 0; i < n; i++) {
        text[i] = s.data[i] >= 32 && s.data[i] < 127 ? s.data[i] : '?';
    }
    text[n] = 0;
    return text;
}

/* The type's row, or NULL and an error if its elements have no fixed size. */
static const nnrti_onnx_storage *nnrti_onnx_storage_of(const nnrt_onnx_tensor *tensor, nnrt_error *error)
{
    size_t types = sizeof(nnrti_onnx_storages) / sizeof(nnrti_onnx_storages[0]);
    int32_t type = tensor->dataType;
    char name[64];
    if (type < 0 || (size_t)type >= types || nnrti_onnx_storages[type].bits == 0) {
        nnrt_error_set(error, NNRT_NOT_SUPPORT, "ONNX tensor '%s': elements of data type %d are not supported",
                       nnrti_onnx_text(name, tensor->name), type);
        return NULL;
    }
    return &nnrti_onnx_storages[type];
}

/* Size of the tensor's elements in the file in bytes, computed from dims and type; 4-bit types are packed two, 2-bit
 * types four to a byte. Returns NNRT_NOT_SUPPORT for strings and unknown types, NNRT_INVALID_FILE if the size overflows
 * size_t. */
static NNRT_ReturnCode nnrti_onnx_tensor_bytes(const nnrt_onnx_tensor *tensor, size_t *bytes, nnrt_error *error)
{
    const nnrti_onnx_storage *s;
    uint64_t n = 1, limit = (uint64_t)SIZE_MAX / 16 - 1;
    size_t i;
    int fits = 1;
    char name[64];
    if (tensor == NULL || bytes == NULL) {
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_tensor_elements: an argument is NULL");
    }
    *bytes = 0;
    s = nnrti_onnx_storage_of(tensor, error);
    if (s == NULL) {
        return NNRT_NOT_SUPPORT;
    }
    for (i = 0; i < tensor->dims.count; i++) {
        uint64_t d = (uint64_t)tensor->dims.data[i];
        if (d == 0) {
            return NNRT_SUCCESS;
        }
        fits = fits && d <= limit / n;
        n = fits ? n * d : n;
    }
    if (!fits) {
        return nnrt_error_set(error, NNRT_INVALID_FILE,
                              "ONNX tensor '%s': the size of its dims exceeds the address space",
                              nnrti_onnx_text(name, tensor->name));
    }
    *bytes = s->bits < 8 ? (size_t)((n * s->bits + 7) / 8) : (size_t)n * (s->bits / 8u);
    return NNRT_SUCCESS;
}

/* 1 on a little-endian machine. */
static int nnrti_onnx_little_endian(void)
{
    uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Converts little-endian numbers of width bytes in place to the machine's byte order. */
static void nnrti_onnx_to_host(uint8_t *p, size_t bytes, size_t width)
{
    size_t i, k;
    if (nnrti_onnx_little_endian()) {
        return;
    }
    for (i = 0; i + width <= bytes; i += width) {
        for (k = 0; k < width / 2; k++) {
            uint8_t low = p[i + k];
            p[i + k] = p[i + width - 1 - k];
            p[i + width - 1 - k] = low;
        }
    }
}

/* Writes the low width bytes of v, little-endian. */
static void nnrti_onnx_put_low(uint8_t *p, size_t width, uint64_t v)
{
    size_t i;
    for (i = 0; i < width; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

/* Number of values in the tensor's typed field with the given number. */
static size_t nnrti_onnx_typed_count(const nnrt_onnx_tensor *t, uint8_t field)
{
    switch (field) {
    case 4: return t->floatCount;
    case 5: return t->int32Count;
    case 7: return t->int64Count;
    case 10: return t->doubleCount;
    default: return t->uint64Count;
    }
}

/* Writes the values of the tensor's typed field, s->width little-endian bytes each, to out, which has room for all of
 * them. A bool becomes 0 or 1. */
static NNRT_ReturnCode nnrti_onnx_typed(const nnrt_onnx_tensor *t, const nnrti_onnx_storage *s, uint8_t *out,
                                        size_t bytes, nnrt_error *error)
{
    const nnrti_onnx_message *m = &nnrti_onnx_messages[NNRTI_ONNX_TENSOR];
    nnrti_onnx_reader r;
    size_t at = 0, done = 0;
    uint64_t v = 0;
    memset(&r, 0, sizeof(r));
    r.data = (const uint8_t *)t->message.data;
    r.error = error;
    while (at < t->message.length) {
        nnrti_onnx_item item;
        NNRT_ReturnCode rc = nnrti_onnx_next(&r, m, &at, t->message.length, &item);
        if (rc != NNRT_SUCCESS) {
            return rc;
        }
        if (item.field == NULL || item.field->number != s->field) {
            continue;
        }
        while (item.at < item.end && bytes - done >= s->width &&
               nnrti_onnx_number(r.data, nnrti_onnx_wires[item.field->kind], &item.at, item.end, &v) == NULL) {
            v = t->dataType == NNRT_ONNX_BOOL ? (v != 0) : v;
            nnrti_onnx_put_low(out + done, s->width, v);
            done += s->width;
        }
    }
    return NNRT_SUCCESS;
}

/* Checks that the size of the buffer out equals the tensor's. Sets *storage to the type's row. */
static NNRT_ReturnCode nnrti_onnx_check_out(const nnrt_onnx_tensor *tensor, const void *out, size_t bytes,
                                            const nnrti_onnx_storage **storage, nnrt_error *error)
{
    size_t want = 0;
    char name[64];
    NNRT_ReturnCode rc = nnrti_onnx_tensor_bytes(tensor, &want, error);
    if (rc != NNRT_SUCCESS) {
        return rc;
    }
    if (want != bytes) {
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "ONNX tensor '%s': the buffer has %z bytes, expected %z",
                              nnrti_onnx_text(name, tensor->name), bytes, want);
    }
    if (out == NULL && bytes > 0) {
        return nnrt_error_set(error, NNRT_NULL_PTR, "ONNX tensor '%s': out is NULL",
                              nnrti_onnx_text(name, tensor->name));
    }
    *storage = nnrti_onnx_storage_of(tensor, error);
    return NNRT_SUCCESS;
}

/* nnrt_onnx_tensor_elements without unpacking: bytes must equal the result of nnrti_onnx_tensor_bytes. */
static NNRT_ReturnCode nnrti_onnx_tensor_read(const nnrt_onnx_tensor *tensor, void *out, size_t bytes,
                                              nnrt_error *error)
{
    const nnrti_onnx_storage *s = NULL;
    size_t have;
    char name[64];
    NNRT_ReturnCode rc = nnrti_onnx_check_out(tensor, out, bytes, &s, error);
    if (rc != NNRT_SUCCESS) {
        return rc;
    }
    nnrti_onnx_text(name, tensor->name);
    if (tensor->dataLocation != 0) {
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "ONNX tensor '%s': its data are in another file (nnrt_onnx_tensor_external)", name);
    }
    have = nnrti_onnx_typed_count(tensor, s->field);
    if (tensor->rawData.length > 0 || have == 0) {
        if (tensor->rawData.length != bytes) {
            return nnrt_error_set(error, NNRT_INVALID_FILE,
                                  "ONNX tensor '%s': raw_data has %z bytes, its dims require %z", name,
                                  tensor->rawData.length, bytes);
        }
        if (bytes > 0) {
            memcpy(out, tensor->rawData.data, bytes);
        }
    } else {
        if (have != bytes / s->width) {
            return nnrt_error_set(error, NNRT_INVALID_FILE,
                                  "ONNX tensor '%s': its data have %z values, its dims require %z", name, have,
                                  bytes / s->width);
        }
        rc = nnrti_onnx_typed(tensor, s, (uint8_t *)out, bytes, error);
    }
    if (bytes > 0) {
        nnrti_onnx_to_host((uint8_t *)out, bytes, s->width);
    }
    return rc;
}

/* ONNX element types: D(ONNX name, NNRT name). */
#define NNRTI_ONNX_TYPES(D)                                                                                            \
    D(FLOAT, FLOAT32)                                                                                                  \
    D(UINT8, UINT8)                                                                                                    \
    D(INT8, INT8)                                                                                                      \
    D(UINT16, UINT16)                                                                                                  \
    D(INT16, INT16)                                                                                                    \
    D(INT32, INT32)                                                                                                    \
    D(INT64, INT64) D(BOOL, BOOL) D(FLOAT16, FLOAT16) D(DOUBLE, FLOAT64) D(UINT32, UINT32) D(UINT64, UINT64)
/* Types of storage: D(ONNX name, NNRT name of the codes or values). */
#define NNRTI_ONNX_STORAGE_TYPES(D)                                                                                    \
    D(BFLOAT16, UINT16)                                                                                                \
    D(FLOAT8E4M3FN, UINT8)                                                                                             \
    D(FLOAT8E4M3FNUZ, UINT8)                                                                                           \
    D(FLOAT8E5M2, UINT8)                                                                                               \
    D(FLOAT8E5M2FNUZ, UINT8)                                                                                           \
    D(FLOAT8E8M0, UINT8) D(FLOAT4E2M1, UINT8) D(UINT4, UINT8) D(INT4, INT8) D(UINT2, UINT8) D(INT2, INT8)

#define NNRTI_ONNX_TYPE_CASE(from, to)                                                                                 \
    case NNRT_ONNX_##from: return NNRT_DATA_TYPE_##to;

/* The runtime's type; UNKNOWN for types that the runtime does not have. */
static NNRT_DataType nnrti_onnx_type_of(nnrt_onnx_type type)
{
    switch (type) {
        NNRTI_ONNX_TYPES(NNRTI_ONNX_TYPE_CASE)
    default: return NNRT_DATA_TYPE_UNKNOWN;
    }
}

NNRT_API NNRT_DataType nnrt_onnx_data_type(nnrt_onnx_type type)
{
    switch (type) {
        NNRTI_ONNX_STORAGE_TYPES(NNRTI_ONNX_TYPE_CASE)
    default: return nnrti_onnx_type_of(type);
    }
}

/* Unpacks elements of s->bits < 8 bits, which are at the end of data[bytes], to one byte each. A packed byte holds the
 * first element in its lowest bits. It is read before its place is written: element i is in byte i * bits / 8 of the
 * packed bytes, which begin at bytes - bytes * bits / 8. */
static void nnrti_onnx_unpack(nnrt_onnx_type type, uint8_t *data, size_t bytes)
{
    const uint32_t bits = nnrti_onnx_storages[type].bits, all = (1u << bits) - 1, each = 8 / bits;
    const uint32_t sign = type == NNRT_ONNX_INT4 || type == NNRT_ONNX_INT2 ? 1u << (bits - 1) : 0;
    const uint8_t *packed = data + bytes - (bytes + each - 1) / each;
    size_t i;
    for (i = 0; i < bytes; i++) {
        const uint32_t code = (uint32_t)packed[i / each] >> (i % each * bits) & all;
        data[i] = (uint8_t)((code ^ sign) - sign);
    }
}

/* The size of n bytes of the runtime's elements of a type in the file. */
static size_t nnrti_onnx_file_size(nnrt_onnx_type type, size_t n)
{
    const size_t bits = nnrti_onnx_storages[type].bits;
    return bits >= 8 ? n : n / (8 / bits) + (n % (8 / bits) != 0);
}

NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_elements(const nnrt_onnx_tensor *tensor, void *out, size_t bytes,
                                                   nnrt_error *error)
{
    size_t packed;
    NNRT_ReturnCode rc;
    if (tensor == NULL || nnrt_onnx_data_type(tensor->dataType) == NNRT_DATA_TYPE_UNKNOWN) {
        return nnrti_onnx_tensor_read(tensor, out, bytes, error);
    }
    packed = nnrti_onnx_file_size(tensor->dataType, bytes);
    rc = nnrti_onnx_tensor_read(tensor, out == NULL ? NULL : (uint8_t *)out + (bytes - packed), packed, error);
    if (rc == NNRT_SUCCESS && packed < bytes) {
        nnrti_onnx_unpack(tensor->dataType, (uint8_t *)out, bytes);
    }
    return rc;
}

/* 1 if the string equals the text. */
static int nnrti_onnx_is(nnrt_onnx_str s, const char *text)
{
    size_t n = strlen(text);
    return s.data != NULL && s.length == n && memcmp(s.data, text, n) == 0;
}

static bool nnrti_onnx_same_text(nnrt_onnx_str a, nnrt_onnx_str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* Parses a decimal number that consists of digits alone into *value. Returns 0 for other text and for values above
 * int64_t. */
static int nnrti_onnx_decimal(nnrt_onnx_str s, int64_t *value)
{
    int64_t v = 0;
    size_t i;
    for (i = 0; i < s.length; i++) {
        int digit = s.data[i] - '0';
        if (digit < 0 || digit > 9 || v > (INT64_MAX - digit) / 10) {
            return 0;
        }
        v = v * 10 + digit;
    }
    *value = v;
    return s.length > 0;
}

/* The fault of a location, or NULL. On Windows a colon is not allowed anywhere: it names a drive or a stream. */
static const char *nnrti_onnx_location_fault(nnrt_onnx_str s)
{
    size_t i, start = 0;
    if (s.length == 0) {
        return "is empty";
    }
    if (s.data[0] == '/') {
        return "is an absolute path";
    }
    if (s.length > 1 && s.data[1] == ':' && ((s.data[0] | 32) >= 'a' && (s.data[0] | 32) <= 'z')) {
        return "names a drive";
    }
    for (i = 0; i <= s.length; i++) {
        char c = '/';
        if (i < s.length) {
            c = s.data[i];
        }
        if (c == 0 || c == '\\') {
            return c == 0 ? "has a NUL byte" : "has a backslash";
        }
#ifdef _WIN32
        if (c == ':') {
            return "has a colon";
        }
#endif
        if (c == '/') {
            if (i - start == 2 && s.data[start] == '.' && s.data[start + 1] == '.') {
                return "leaves the model's folder";
            }
            start = i + 1;
        }
    }
    return NULL;
}

NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_external(const nnrt_onnx_tensor *tensor, nnrt_onnx_external *external,
                                                   nnrt_error *error)
{
    char name[64], location[64];
    const char *fault;
    int good = 1;
    size_t i;
    if (tensor == NULL || external == NULL) {
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_tensor_external: an argument is NULL");
    }
    memset(external, 0, sizeof(*external));
    external->length = -1;
    nnrti_onnx_text(name, tensor->name);
    if (tensor->dataLocation != 1) {
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "ONNX tensor '%s': data_location is %d, not 1 (external)",
                              name, tensor->dataLocation);
    }
    for (i = 0; i < tensor->externalData.count; i++) {
        const nnrt_onnx_pair *p = &tensor->externalData.data[i];
        if (nnrti_onnx_is(p->key, "location")) {
            external->location = p->value;
        } else if (nnrti_onnx_is(p->key, "offset")) {
            good = good && nnrti_onnx_decimal(p->value, &external->offset);
        } else if (nnrti_onnx_is(p->key, "length")) {
            good = good && nnrti_onnx_decimal(p->value, &external->length);
        }
    }
    fault = nnrti_onnx_location_fault(external->location);
    if (fault != NULL) {
        return nnrt_error_set(error, NNRT_INVALID_PATH, "ONNX tensor '%s': external location '%s' %s", name,
                              nnrti_onnx_text(location, external->location), fault);
    }
    if (!good) {
        return nnrt_error_set(error, NNRT_INVALID_FILE,
                              "ONNX tensor '%s': external offset or length is not a decimal number", name);
    }
    return NNRT_SUCCESS;
}

#ifndef NNRT_NO_STDIO

#ifndef NNRT_ONNX_REALPATH
#define NNRT_ONNX_REALPATH NNRT_POSIX
#endif
/* With -std=c99 alone the headers do not declare realpath, though it exists. */
#if NNRT_ONNX_REALPATH && !defined(__APPLE__) && !defined(_DEFAULT_SOURCE) && !defined(_BSD_SOURCE) &&                 \
    !defined(_GNU_SOURCE) && (!defined(_XOPEN_SOURCE) || _XOPEN_SOURCE < 500)
#ifdef __cplusplus
extern "C"
#endif
    char *
    realpath(const char *path, char *resolved);
#endif
#define NNRTI_ONNX_PATH 4096

/* Scratch for building paths: the model's folder, and the file in it. */
typedef struct nnrti_onnx_paths {
    char folder[NNRTI_ONNX_PATH], file[NNRTI_ONNX_PATH];
} nnrti_onnx_paths;

/* Length of the folder part of a path including its last separator; 0 if the path has no folder. */
static size_t nnrti_onnx_folder_length(const char *path)
{
    size_t i, length = 0;
    for (i = 0; path[i] != 0; i++) {
        if (path[i] == '/') {
            length = i + 1;
        }
#ifdef _WIN32
        if (path[i] == '\\' || path[i] == ':') {
            length = i + 1;
        }
#endif
    }
    return length;
}

/* Stores folder + location in p->file and the model's folder ("." if the path has none) in p->folder. Returns 0 if a
 * path is too long. */
static int nnrti_onnx_join(nnrti_onnx_paths *p, const char *modelPath, nnrt_onnx_str location)
{
    size_t n = nnrti_onnx_folder_length(modelPath);
    if (n >= NNRTI_ONNX_PATH - 2 || location.length > NNRTI_ONNX_PATH - 2 - n) {
        return 0;
    }
    memcpy(p->folder, modelPath, n);
    if (n == 0) {
        p->folder[n++] = '.';
        p->folder[n++] = '/';
    }
    p->folder[n] = 0;
    if (location.length >= NNRTI_ONNX_PATH - n) {
        return 0;
    }
    memcpy(p->file, p->folder, n);
    memcpy(p->file + n, location.data, location.length);
    p->file[n + location.length] = 0;
    return 1;
}

#if NNRT_ONNX_REALPATH
/* True if path is below folder; both are resolved paths without links. */
static bool nnrti_onnx_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    if (n > 0 && folder[n - 1] == '/')
        n--; /* the root folder */
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}
#endif

/* Resolves the symbolic links in p->file where the system can. False: the file does not exist or is not below
 * p->folder. */
static bool nnrti_onnx_confine(nnrti_onnx_paths *p)
{
#if NNRT_ONNX_REALPATH
    char *file = realpath(p->file, NULL), *folder = realpath(p->folder, NULL);
    const bool good =
        file != NULL && folder != NULL && strlen(file) < NNRTI_ONNX_PATH && nnrti_onnx_below(file, folder);
    if (good)
        memcpy(p->file, file, strlen(file) + 1);
    free(file);
    free(folder);
    return good;
#else
    return p->file[0] != 0;
#endif
}

/* An open file of external data: its identity (device and inode number, where the system has them) and its size. */
typedef struct nnrti_onnx_source {
    uint64_t device, number, bytes;
#if NNRT_POSIX
    int file;
#else
    FILE *file;
#endif
} nnrti_onnx_source;

#if NNRT_POSIX

/* Opens a regular file. O_NONBLOCK, since opening a pipe or a device could block. */
static bool nnrti_onnx_source_open(nnrti_onnx_source *s, const char *path)
{
    struct stat about;
    s->file = open(path, O_RDONLY | O_NONBLOCK);
    if (s->file < 0)
        return false;
    if (fstat(s->file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size < 0) {
        (void)close(s->file);
        return false;
    }
    s->device = (uint64_t)about.st_dev;
    s->number = (uint64_t)about.st_ino;
    s->bytes = (uint64_t)about.st_size;
    return true;
}

static void nnrti_onnx_source_close(nnrti_onnx_source *s)
{
    (void)close(s->file);
}

/* Reads bytes at an offset; out NULL only checks that they exist. Returns the number of bytes read. */
static size_t nnrti_onnx_source_read(nnrti_onnx_source *s, int64_t offset, void *out, size_t bytes)
{
    size_t got = 0;
    if ((uint64_t)offset > s->bytes || bytes > s->bytes - (uint64_t)offset)
        return 0;
    if (out == NULL)
        return bytes;
    if (lseek(s->file, (off_t)offset, SEEK_SET) != (off_t)offset)
        return 0;
    while (got < bytes) {
        const size_t most = bytes - got < 0x40000000 ? bytes - got : 0x40000000;
        const ssize_t n = read(s->file, (uint8_t *)out + got, most);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return got;
}

#else

static bool nnrti_onnx_source_open(nnrti_onnx_source *s, const char *path)
{
    int64_t size;
    s->device = s->number = 0;
    s->file = fopen(path, "rb");
    if (s->file == NULL)
        return false;
    size = nnrti_file_size(s->file);
    s->bytes = size < 0 ? 0x80000000u : (uint64_t)size;
    return true;
}

static void nnrti_onnx_source_close(nnrti_onnx_source *s)
{
    (void)fclose(s->file);
}

/* Moves a file position to an offset, in steps that fit a 32-bit long. Seeking past the end of a file succeeds, so the
   last byte of each step is read to check that it exists. Returns 0 if it does not. */
static int nnrti_onnx_seek(FILE *f, int64_t offset)
{
    int good = fseek(f, 0, SEEK_SET) == 0;
    while (good && offset > 0) {
        long step = offset < 0x40000000 ? (long)offset : 0x40000000L;
        good = fseek(f, step - 1, SEEK_CUR) == 0 && getc(f) != EOF;
        offset -= step;
    }
    return good;
}

/* Reads bytes at an offset; out NULL only checks that they exist. Returns the number of bytes read. */
static size_t nnrti_onnx_source_read(nnrti_onnx_source *s, int64_t offset, void *out, size_t bytes)
{
    if ((uint64_t)bytes > (uint64_t)(INT64_MAX - offset))
        return 0;
    if (out == NULL)
        return nnrti_onnx_seek(s->file, offset + (int64_t)bytes) ? bytes : 0;
    return nnrti_onnx_seek(s->file, offset) ? fread(out, 1, bytes, s->file) : 0;
}

#endif

/* Opens the file of an external tensor of the model at modelPath. */
static NNRT_ReturnCode nnrti_onnx_source_find(nnrti_onnx_source *s, nnrt_onnx_str location, const char *modelPath,
                                              const nnrt_allocator *allocator, const char *name, nnrt_error *error)
{
    nnrti_onnx_paths *paths = (nnrti_onnx_paths *)nnrt_alloc(allocator, sizeof(*paths));
    NNRT_ReturnCode rc = NNRT_SUCCESS;
    char file[64];
    if (paths == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "ONNX tensor '%s': no memory for paths", name);
    if (!nnrti_onnx_join(paths, modelPath, location) || !nnrti_onnx_confine(paths))
        rc = nnrt_error_set(error, NNRT_INVALID_PATH,
                            "ONNX tensor '%s': its external file '%s' does not exist or is outside the model's folder",
                            name, nnrti_onnx_text(file, location));
    else if (!nnrti_onnx_source_open(s, paths->file))
        rc = nnrt_error_set(error, NNRT_INVALID_PATH,
                            "ONNX tensor '%s': its external file '%s' cannot be opened, or is not a regular file", name,
                            nnrti_onnx_text(file, location));
    nnrt_free(allocator, paths, sizeof(*paths));
    return rc;
}

/* nnrti_onnx_tensor_read for an external tensor of the model at modelPath: reads the file at its location, below the
 * model's folder. On Unix and macOS a symbolic link that leads out of the folder and anything but a regular file return
 * NNRT_INVALID_PATH; elsewhere only the text of the location is checked. (These checks do not protect against a folder
 * that others modify during the read.) The allocator provides scratch for two paths. out NULL: only checks that the
 * file has the bytes. */
static NNRT_ReturnCode nnrti_onnx_external_read(const nnrt_onnx_tensor *tensor, const char *modelPath,
                                                const nnrt_allocator *allocator, void *out, size_t bytes,
                                                nnrt_error *error)
{
    const nnrti_onnx_storage *s = NULL;
    nnrt_onnx_external where;
    nnrti_onnx_source source;
    char name[64];
    NNRT_ReturnCode rc;
    rc = nnrt_onnx_tensor_external(tensor, &where, error);
    if (rc == NNRT_SUCCESS) {
        rc = nnrti_onnx_check_out(tensor, out != NULL ? out : (const void *)&where, bytes, &s, error);
    }
    if (rc != NNRT_SUCCESS) {
        return rc;
    }
    nnrti_onnx_text(name, tensor->name);
    if (where.length >= 0 && (uint64_t)where.length != bytes) {
        return nnrt_error_set(error, NNRT_INVALID_FILE, "ONNX tensor '%s': external length is %l, its dims require %z",
                              name, where.length, bytes);
    }
    rc = nnrti_onnx_source_find(&source, where.location, modelPath, allocator, name, error);
    if (rc == NNRT_SUCCESS) {
        size_t got = bytes > 0 ? nnrti_onnx_source_read(&source, where.offset, out, bytes) : 0;
        nnrti_onnx_source_close(&source);
        if (got != bytes)
            rc = nnrt_error_set(error, NNRT_INVALID_FILE,
                                "ONNX tensor '%s': its external file ends before %z bytes at offset %l", name, bytes,
                                where.offset);
    }
    if (rc == NNRT_SUCCESS && bytes > 0 && out != NULL) {
        nnrti_onnx_to_host((uint8_t *)out, bytes, s->width);
    }
    return rc;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_table */

/* The supported operators of ONNX's own domain: X(op_type, first and last operator set version, minimum and maximum number of inputs,
   handler, argument, "attributes"). The function nnrti_onnx_op_<handler> receives the argument. An attribute that is
   not listed is an error, so that an operator set that adds one cannot be misread; consumed_inputs (operator sets below
   6) carries no information and is ignored. */
#define NNRTI_ONNX_MANY 0xFFFFu
#define NNRTI_ONNX_ACT(name) NNRT_ACTIVATION_TYPE_##name
#define NNRTI_ONNX_RED(name) NNRT_REDUCE_MODE_##name
/* clang-format off */
#define NNRTI_ONNX_OPS(X) \
    X(Abs,                  1, 28, 1, 1, same,           NNRT_NODE_TYPE_ABS, "") \
    X(Acos,                 7, 28, 1, 1, same,           NNRT_NODE_TYPE_ACOS, "") \
    X(Acosh,                9, 28, 1, 1, same,           NNRT_NODE_TYPE_ACOSH, "") \
    X(Add,                  1, 28, 2, 2, binary,         NNRT_NODE_TYPE_ADD_FUSION, "axis broadcast") \
    X(AffineGrid,          20, 28, 2, 2, affine_grid,    0, "align_corners") \
    X(And,                  1, 28, 2, 2, binary,         NNRT_NODE_TYPE_LOGICAL_AND, "axis broadcast") \
    X(ArgMax,               1, 28, 1, 1, arg,            NNRT_NODE_TYPE_ARGMAX_FUSION, "axis keepdims select_last_index") \
    X(ArgMin,               1, 28, 1, 1, arg,            NNRT_NODE_TYPE_ARGMIN_FUSION, "axis keepdims select_last_index") \
    X(Asin,                 7, 28, 1, 1, same,           NNRT_NODE_TYPE_ASIN, "") \
    X(Asinh,                9, 28, 1, 1, same,           NNRT_NODE_TYPE_ASINH, "") \
    X(Atan,                 7, 28, 1, 1, same,           NNRT_NODE_TYPE_ATAN, "") \
    X(Atanh,                9, 28, 1, 1, same,           NNRT_NODE_TYPE_ATANH, "") \
    X(Attention,           23, 28, 3, 7, attention,      0, \
      "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size scale softcap " \
      "softmax_precision") \
    X(AveragePool,          1, 28, 1, 1, average_pool,   0, \
      "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides") \
    X(BatchNormalization,   1, 28, 5, 5, batch_norm,     0, "epsilon momentum is_test spatial training_mode") \
    X(Bernoulli,           15, 28, 1, 1, bernoulli,      0, "dtype seed") \
    X(BitCast,             26, 28, 1, 1, bitcast,        0, "to") \
    X(BitShift,            11, 28, 2, 2, bit_shift,      0, "direction") \
    X(BitwiseAnd,          18, 28, 2, 2, same,           NNRT_NODE_TYPE_BITWISE_AND, "") \
    X(BitwiseNot,          18, 28, 1, 1, same,           NNRT_NODE_TYPE_BITWISE_NOT, "") \
    X(BitwiseOr,           18, 28, 2, 2, same,           NNRT_NODE_TYPE_BITWISE_OR, "") \
    X(BitwiseXor,          18, 28, 2, 2, same,           NNRT_NODE_TYPE_BITWISE_XOR, "") \
    X(BlackmanWindow,      17, 28, 1, 1, window,         NNRT_WINDOW_KIND_BLACKMAN, "output_datatype periodic") \
    X(Cast,                 1, 28, 1, 1, cast,           0, "round_mode saturate to") \
    X(CastLike,            15, 28, 2, 2, cast,           1, "round_mode saturate") \
    X(CausalConvWithState, 27, 28, 2, 4, causal_conv,    0, "activation") \
    X(Ceil,                 1, 28, 1, 1, same,           NNRT_NODE_TYPE_CEIL, "") \
    X(Celu,                12, 28, 1, 1, celu,           0, "alpha") \
    X(CenterCropPad,       18, 28, 2, 2, center_crop_pad, 0, "axes") \
    X(Clip,                 1, 28, 1, 3, clip,           0, "max min") \
    X(Col2Im,              18, 28, 3, 3, col2im,         0, "dilations pads strides") \
    X(Compress,             9, 28, 2, 2, compress,       0, "axis") \
    X(Concat,               1, 28, 1, NNRTI_ONNX_MANY, concat, 0, "axis") \
    X(Constant,             1, 28, 0, 0, constant,       0, "value value_float value_floats value_int value_ints") \
    X(ConcatFromSequence,  11, 28, 0, 1, concat_sequence, 0, "axis new_axis") \
    X(ConstantOfShape,      9, 28, 1, 1, constant_shape, 0, "value") \
    X(Conv,                 1, 28, 2, 3, conv,           0, "auto_pad dilations group kernel_shape pads strides") \
    X(ConvInteger,         10, 28, 2, 4, conv_integer,   0, "auto_pad dilations group kernel_shape pads strides") \
    X(ConvTranspose,        1, 28, 2, 3, conv_transpose, 0, \
      "auto_pad dilations group kernel_shape output_padding output_shape pads strides") \
    X(Cos,                  7, 28, 1, 1, same,           NNRT_NODE_TYPE_COS, "") \
    X(Cosh,                 9, 28, 1, 1, same,           NNRT_NODE_TYPE_COSH, "") \
    X(CumProd,             26, 28, 2, 2, cum_sum,        NNRT_NODE_TYPE_CUM_PROD, "exclusive reverse") \
    X(CumSum,              11, 28, 2, 2, cum_sum,        NNRT_NODE_TYPE_CUM_SUM, "exclusive reverse") \
    X(DFT,                 17, 28, 1, 3, dft,            0, "axis inverse onesided") \
    X(DeformConv,          19, 28, 3, 5, deform_conv,    0, \
      "dilations group kernel_shape offset_group pads strides") \
    X(DepthToSpace,         1, 28, 1, 1, depth_to_space, 0, "blocksize mode") \
    X(DequantizeLinear,    10, 28, 2, 3, dequantize,     0, "axis block_size output_dtype") \
    X(Det,                 11, 28, 1, 1, det,            0, "") \
    X(Div,                  1, 28, 2, 2, binary,         NNRT_NODE_TYPE_DIV_FUSION, "axis broadcast") \
    X(Dropout,              1, 28, 1, 3, dropout,        0, "is_test ratio seed") \
    X(DynamicQuantizeLinear, 11, 28, 1, 1, dynamic_quantize, 0, "") \
    X(Einsum,              12, 28, 1, NNRTI_ONNX_MANY, einsum, 0, "equation") \
    X(Elu,                  1, 28, 1, 1, activation,     NNRTI_ONNX_ACT(ELU), "alpha") \
    X(Equal,                1, 28, 2, 2, binary,         NNRT_NODE_TYPE_EQUAL, "axis broadcast") \
    X(Erf,                  9, 28, 1, 1, same,           NNRT_NODE_TYPE_ERF, "") \
    X(Exp,                  1, 28, 1, 1, exp,            0, "") \
    X(Expand,               8, 28, 2, 2, expand,         0, "") \
    X(EyeLike,              9, 28, 1, 1, eye_like,       0, "dtype k") \
    X(Flatten,              1, 28, 1, 1, flatten,        0, "axis") \
    X(Floor,                1, 28, 1, 1, same,           NNRT_NODE_TYPE_FLOOR, "") \
    X(GRU,                  7, 28, 3, 6, recurrent,      NNRT_NODE_TYPE_GRU, \
      "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset") \
    X(Gather,               1, 28, 2, 2, gather,         0, "axis") \
    X(GatherElements,      11, 28, 2, 2, gather_elements, 0, "axis") \
    X(GatherND,            11, 28, 2, 2, gather_nd,      0, "batch_dims") \
    X(Gelu,                20, 28, 1, 1, gelu,           0, "approximate") \
    X(Gemm,                 1, 28, 2, 3, gemm,           0, "alpha beta broadcast transA transB") \
    X(GlobalAveragePool,    1, 28, 1, 1, global_pool,    NNRTI_ONNX_RED(MEAN), "") \
    X(GlobalMaxPool,        1, 28, 1, 1, global_pool,    NNRTI_ONNX_RED(MAX), "") \
    X(Greater,              1, 28, 2, 2, binary,         NNRT_NODE_TYPE_GREATER, "axis broadcast") \
    X(GreaterOrEqual,      12, 28, 2, 2, binary,         NNRT_NODE_TYPE_GREATER_EQUAL, "") \
    X(GridSample,          16, 28, 2, 2, grid_sample,    0, "align_corners mode padding_mode") \
    X(GroupNormalization,  18, 28, 3, 3, group_norm,     0, "epsilon num_groups stash_type") \
    X(HammingWindow,       17, 28, 1, 1, window,         NNRT_WINDOW_KIND_HAMMING, "output_datatype periodic") \
    X(HannWindow,          17, 28, 1, 1, window,         NNRT_WINDOW_KIND_HANN, "output_datatype periodic") \
    X(HardSigmoid,          1, 28, 1, 1, hard_sigmoid,   0, "alpha beta") \
    X(HardSwish,           14, 28, 1, 1, activation,     NNRTI_ONNX_ACT(HSWISH), "") \
    X(Hardmax,              1, 28, 1, 1, softmax,        2, "axis") \
    X(Identity,             1, 28, 0, 1, identity,       0, "") \
    X(If,                   1, 28, 1, 1, if,             0, "then_branch else_branch") \
    X(InstanceNormalization, 1, 28, 3, 3, instance_norm, 0, "epsilon") \
    X(IsInf,               10, 28, 1, 1, is_inf,         0, "detect_negative detect_positive") \
    X(IsNaN,                9, 28, 1, 1, same,           NNRT_NODE_TYPE_IS_NAN, "") \
    X(LRN,                  1, 28, 1, 1, lrn,            0, "alpha beta bias size") \
    X(LSTM,                 7, 28, 3, 8, lstm,           0, \
      "activation_alpha activation_beta activations clip direction hidden_size input_forget layout") \
    X(LayerNormalization,  17, 28, 2, 3, layer_norm,     0, "axis epsilon stash_type") \
    X(LeakyRelu,            1, 28, 1, 1, leaky_relu,     0, "alpha") \
    X(Less,                 1, 28, 2, 2, binary,         NNRT_NODE_TYPE_LESS, "axis broadcast") \
    X(LessOrEqual,         12, 28, 2, 2, binary,         NNRT_NODE_TYPE_LESS_EQUAL, "") \
    X(LinearAttention,     27, 28, 3, 7, linear_attention, 0, \
      "chunk_size kv_num_heads q_num_heads scale update_rule") \
    X(Log,                  1, 28, 1, 1, same,           NNRT_NODE_TYPE_LOG, "") \
    X(LogSoftmax,           1, 28, 1, 1, softmax,        1, "axis") \
    X(Loop,                 1, 28, 0, UINT32_MAX, loop,  0, "body") \
    X(LpNormalization,      1, 28, 1, 1, lp_norm,        0, "axis p") \
    X(LpPool,               2, 28, 1, 1, lp_pool,        0, \
      "auto_pad ceil_mode dilations kernel_shape p pads strides") \
    X(MatMul,               1, 28, 2, 2, matmul,         0, "") \
    X(MatMulInteger,       10, 28, 2, 4, matmul_integer, 0, "") \
    X(Max,                  1, 28, 1, NNRTI_ONNX_MANY, extreme, NNRT_NODE_TYPE_MAXIMUM, "") \
    X(MaxPool,              1, 28, 1, 1, max_pool,       0, \
      "auto_pad ceil_mode dilations kernel_shape pads storage_order strides") \
    X(MaxUnpool,            9, 28, 2, 3, max_unpool,     0, "kernel_shape pads strides") \
    X(Mean,                 1, 28, 1, NNRTI_ONNX_MANY, sum, 1, "") \
    X(MeanVarianceNormalization, 9, 28, 1, 1, mean_variance, 0, "axes") \
    X(MelWeightMatrix,     17, 28, 5, 5, mel_weight_matrix, 0, "output_datatype") \
    X(Min,                  1, 28, 1, NNRTI_ONNX_MANY, extreme, NNRT_NODE_TYPE_MINIMUM, "") \
    X(Mish,                18, 28, 1, 1, same,           NNRT_NODE_TYPE_MISH, "") \
    X(Mod,                 10, 28, 2, 2, mod,            0, "fmod") \
    X(Mul,                  1, 28, 2, 2, binary,         NNRT_NODE_TYPE_MUL_FUSION, "axis broadcast") \
    X(Multinomial,          7, 28, 1, 1, multinomial,    0, "dtype sample_size seed") \
    X(Neg,                  1, 28, 1, 1, same,           NNRT_NODE_TYPE_NEG, "") \
    X(NegativeLogLikelihoodLoss, 12, 28, 2, 3, nll_loss,       0, "ignore_index reduction") \
    X(NonMaxSuppression,   10, 28, 2, 5, non_max_suppression, 0, "center_point_box") \
    X(NonZero,              9, 28, 1, 1, same,           NNRT_NODE_TYPE_NON_ZERO, "") \
    X(Not,                  1, 28, 1, 1, same,           NNRT_NODE_TYPE_LOGICAL_NOT, "") \
    X(OneHot,               9, 28, 3, 3, one_hot,        0, "axis") \
    X(Optional,            15, 28, 0, 1, optional,       0, "type") \
    X(OptionalGetElement,  15, 28, 0, 1, optional,       1, "") \
    X(OptionalHasElement,  15, 28, 0, 1, has_element,    0, "") \
    X(Or,                   1, 28, 2, 2, binary,         NNRT_NODE_TYPE_LOGICAL_OR, "axis broadcast") \
    X(PRelu,                1, 28, 2, 2, prelu,          0, "") \
    X(Pad,                  1, 28, 1, 4, pad,            0, "mode paddings pads value") \
    X(Pow,                  1, 28, 2, 2, pow,            0, "axis broadcast") \
    X(QLinearConv,         10, 28, 8, 9, q_linear_conv,  0, "auto_pad dilations group kernel_shape pads strides") \
    X(QLinearMatMul,       10, 28, 8, 8, q_linear_matmul, 0, "") \
    X(QuantizeLinear,      10, 28, 2, 3, quantize,       0, "axis block_size output_dtype precision saturate") \
    X(RMSNormalization,    23, 28, 2, 2, rms_norm,       0, "axis epsilon stash_type") \
    X(RNN,                  7, 28, 3, 6, recurrent,      NNRT_NODE_TYPE_RNN, \
      "activation_alpha activation_beta activations clip direction hidden_size layout") \
    X(RandomNormal,         1, 28, 0, 0, random,         0, "dtype mean scale seed shape") \
    X(RandomNormalLike,     1, 28, 1, 1, random,         0, "dtype mean scale seed") \
    X(RandomUniform,        1, 28, 0, 0, random,         1, "dtype high low seed shape") \
    X(RandomUniformLike,    1, 28, 1, 1, random,         1, "dtype high low seed") \
    X(Range,               11, 28, 3, 3, range,          0, "stash_type") \
    X(Reciprocal,           1, 28, 1, 1, same,           NNRT_NODE_TYPE_RECIPROCAL, "") \
    X(ReduceL1,             1, 28, 1, 2, reduce,         NNRTI_ONNX_RED(ASUM), "axes keepdims noop_with_empty_axes") \
    X(ReduceL2,             1, 28, 1, 2, reduce,         NNRTI_ONNX_RED(L2), "axes keepdims noop_with_empty_axes") \
    X(ReduceLogSum,         1, 28, 1, 2, reduce_log,     0, "axes keepdims noop_with_empty_axes") \
    X(ReduceLogSumExp,      1, 28, 1, 2, reduce_log,     1, "axes keepdims noop_with_empty_axes") \
    X(ReduceMax,            1, 28, 1, 2, reduce,         NNRTI_ONNX_RED(MAX), "axes keepdims noop_with_empty_axes") \
    X(ReduceMean,           1, 28, 1, 2, reduce,         NNRTI_ONNX_RED(MEAN), "axes keepdims noop_with_empty_axes") \
    X(ReduceMin,            1, 28, 1, 2, reduce,         NNRTI_ONNX_RED(MIN), "axes keepdims noop_with_empty_axes") \
    X(ReduceProd,           1, 28, 1, 2, reduce,         NNRTI_ONNX_RED(PROD), "axes keepdims noop_with_empty_axes") \
    X(ReduceSum,            1, 28, 1, 2, reduce,         NNRTI_ONNX_RED(SUM), "axes keepdims noop_with_empty_axes") \
    X(ReduceSumSquare,      1, 28, 1, 2, reduce,         NNRTI_ONNX_RED(SUM_SQUARE), \
      "axes keepdims noop_with_empty_axes") \
    X(Relu,                 1, 28, 1, 1, relu,           0, "") \
    X(Reshape,              1, 28, 1, 2, reshape,        0, "allowzero shape") \
    X(Resize,              10, 28, 1, 4, resize,         0, \
      "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value " \
      "keep_aspect_ratio_policy mode nearest_mode") \
    X(ReverseSequence,     10, 28, 2, 2, reverse_sequence, 0, "batch_axis time_axis") \
    X(RoiAlign,            10, 28, 3, 3, roi_align,      0, \
      "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale") \
    X(RotaryEmbedding,     23, 28, 3, 4, rotary_embedding, 0, "interleaved num_heads rotary_embedding_dim") \
    X(Round,               11, 28, 1, 1, same,           NNRT_NODE_TYPE_ROUND, "") \
    X(STFT,                17, 28, 2, 4, stft,           0, "onesided") \
    X(Scan,                 8, 28, 0, NNRTI_ONNX_MANY, scan, 0, \
      "body directions num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions") \
    X(Scatter,              9, 28, 3, 3, scatter_elements, 0, "axis") \
    X(ScatterElements,     11, 28, 3, 3, scatter_elements, 0, "axis reduction") \
    X(ScatterND,           11, 28, 3, 3, scatter_nd,     0, "reduction") \
    X(Selu,                 1, 28, 1, 1, selu,           0, "alpha gamma") \
    X(Shape,                1, 28, 1, 1, shape,          0, "end start") \
    X(Shrink,               9, 28, 1, 1, shrink,         0, "bias lambd") \
    X(Sigmoid,              1, 28, 1, 1, activation,     NNRTI_ONNX_ACT(SIGMOID), "") \
    X(Sign,                 9, 28, 1, 1, sign,           0, "") \
    X(SimplifiedLayerNormalization, 1, 28, 2, 2, simplified_layer_norm, 0, "axis epsilon stash_type") \
    X(Sin,                  7, 28, 1, 1, same,           NNRT_NODE_TYPE_SIN, "") \
    X(SequenceAt,          11, 28, 0, 2, sequence_at,    0, "") \
    X(SequenceConstruct,   11, 28, 0, NNRTI_ONNX_MANY, sequence_construct, 0, "") \
    X(SequenceEmpty,       11, 28, 0, 0, sequence_construct, 0, "dtype") \
    X(SequenceErase,       11, 28, 0, 2, sequence_erase, 0, "") \
    X(SequenceInsert,      11, 28, 0, 3, sequence_insert, 0, "") \
    X(SequenceLength,      11, 28, 0, 1, sequence_length, 0, "") \
    X(SequenceMap,         17, 28, 0, NNRTI_ONNX_MANY, sequence_map, 0, "body") \
    X(Sinh,                 9, 28, 1, 1, same,           NNRT_NODE_TYPE_SINH, "") \
    X(Size,                 1, 28, 1, 1, size,           0, "") \
    X(Slice,                1, 28, 1, 5, slice,          0, "axes ends starts") \
    X(Softmax,              1, 28, 1, 1, softmax,        0, "axis") \
    X(SoftmaxCrossEntropyLoss, 12, 28, 2, 3, nll_loss,       1, "ignore_index reduction") \
    X(Softplus,             1, 28, 1, 1, softplus,       0, "") \
    X(Softsign,             1, 28, 1, 1, activation,     NNRTI_ONNX_ACT(SOFTSIGN), "") \
    X(SpaceToDepth,         1, 28, 1, 1, space_to_depth, 0, "blocksize") \
    X(Split,                1, 28, 1, 2, split,          0, "axis num_outputs split") \
    X(SplitToSequence,     11, 28, 1, 2, split_sequence, 0, "axis keepdims") \
    X(Sqrt,                 1, 28, 1, 1, same,           NNRT_NODE_TYPE_SQRT, "") \
    X(Squeeze,              1, 28, 1, 2, squeeze,        0, "axes") \
    X(Sub,                  1, 28, 2, 2, binary,         NNRT_NODE_TYPE_SUB_FUSION, "axis broadcast") \
    X(Sum,                  1, 28, 1, NNRTI_ONNX_MANY, sum, 0, "") \
    X(SwiGLU,              28, 28, 2, 2, swiglu,         0, "alpha") \
    X(Swish,               24, 28, 1, 1, swish,          0, "alpha") \
    X(Tan,                  7, 28, 1, 1, same,           NNRT_NODE_TYPE_TAN, "") \
    X(Tanh,                 1, 28, 1, 1, activation,     NNRTI_ONNX_ACT(TANH), "") \
    X(TensorScatter,       24, 28, 2, 3, tensor_scatter, 0, "axis mode") \
    X(ThresholdedRelu,      1, 28, 1, 1, activation,     NNRTI_ONNX_ACT(THRESHOLDRELU), "alpha") \
    X(Tile,                 1, 28, 2, 3, tile,           0, "") \
    X(TopK,                 1, 28, 1, 2, top_k,          0, "axis k largest sorted") \
    X(Transpose,            1, 28, 1, 1, transpose,      0, "perm") \
    X(Trilu,               14, 28, 1, 2, trilu,          0, "upper") \
    X(Unique,              11, 28, 1, 1, unique,         0, "axis sorted") \
    X(Unsqueeze,            1, 28, 1, 2, unsqueeze,      0, "axes") \
    X(Upsample,             1,  9, 1, 2, resize,         1, "height_scale mode scales width_scale") \
    X(Where,                9, 28, 3, 3, where,          0, "") \
    X(Xor,                  1, 28, 2, 2, binary,         NNRT_NODE_TYPE_LOGICAL_XOR, "axis broadcast")
/* The supported operators of ai.onnx.preview, version 1: the columns of NNRTI_ONNX_CONTRIB. */
#define NNRTI_ONNX_PREVIEW(X) \
    X(FlexAttention,         3, 3, flex_attention,     0, "prob_mod scale score_mod softmax_precision")
/* The supported operators of com.microsoft, the domain of ONNX Runtime's quantizer, optimizer and exporters, version 1:
   X(op_type, minimum and maximum number of inputs, handler, argument, "attributes"). They are defined
   by the list of contrib operators in the documentation of ONNX Runtime 1.30. */
#define NNRTI_ONNX_CONTRIB(X) \
    X(Attention,             3, 7, ort_attention,      0, \
      "mask_filter_value num_heads qkv_hidden_sizes scale unidirectional") \
    X(BiasGelu,              2, 2, ort_gelu,           0, "") \
    X(CausalConvWithState,   2, 4, causal_conv,        0, "activation ndim") \
    X(DequantizeLinear,      2, 3, dequantize,         0, "axis") \
    X(DynamicQuantizeMatMul, 3, 5, dynamic_matmul,     0, "") \
    X(DynamicQuantizeLSTM,    3, 12, dynamic_lstm,     0, \
      "activation_alpha activation_beta activations clip direction hidden_size input_forget") \
    X(EmbedLayerNormalization, 1, 9, embed_layer_norm, 0, "epsilon mask_index_type") \
    X(FastGelu,              1, 2, ort_gelu,           1, "") \
    X(FusedConv,             2, 4, fused_conv,         0, \
      "activation activation_params auto_pad dilations group kernel_shape pads strides") \
    X(FusedGemm,             2, 3, fused_gemm,         0, \
      "activation activation_alpha activation_beta alpha beta transA transB") \
    X(FusedMatMul,           2, 2, fused_matmul,       0, "alpha transA transB transBatchA transBatchB") \
    X(GatherBlockQuantized,  3, 4, gather_blocks,      0, "bits block_size gather_axis quantize_axis") \
    X(Gelu,                  1, 1, ort_gelu,           0, "") \
    X(GroupQueryAttention,   1, 11, group_query_attention, 0, \
      "do_rotary kv_num_heads local_window_size num_heads rotary_interleaved scale softcap") \
    X(Inverse,               1, 1, same,               NNRT_NODE_TYPE_INVERSE, "") \
    X(LinearAttention,       3, 6, linear_attention,   0, \
      "chunk_size kv_num_heads q_num_heads scale state_window update_rule") \
    X(MatMulIntegerToFloat,  4, 7, matmul_to_float,    0, "") \
    X(MatMulNBits,           3, 6, matmul_bits,        0, "K N accuracy_level bits block_size") \
    X(MultiHeadAttention,    1, 8, multi_head_attention, 0, "mask_filter_value num_heads scale unidirectional") \
    X(NhwcConv,              2, 3, nhwc_conv,          0, "auto_pad dilations group kernel_shape pads strides") \
    X(NhwcMaxPool,           1, 1, nhwc_max_pool,      0, "auto_pad ceil_mode dilations kernel_shape pads strides") \
    X(QAttention,            5, 9, ort_attention,      1, "mask_filter_value num_heads scale unidirectional") \
    X(QGemm,                 2, 9, q_gemm,             0, "alpha transA transB") \
    X(QLinearAdd,            2, 8, q_linear_binary,    NNRT_NODE_TYPE_ADD_FUSION, "") \
    X(QLinearAveragePool,    2, 5, q_linear_average_pool, 0, \
      "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides") \
    X(QLinearConcat,         1, NNRTI_ONNX_MANY, q_linear_concat, 0, "axis") \
    X(QLinearGlobalAveragePool, 2, 5, q_linear_average_pool, 1, "channels_last") \
    X(QLinearLeakyRelu,      2, 5, q_linear_leaky_relu, 0, "alpha") \
    X(QLinearMul,            2, 8, q_linear_binary,    NNRT_NODE_TYPE_MUL_FUSION, "") \
    X(QLinearSigmoid,        2, 5, q_linear_sigmoid,   0, "") \
    X(QLinearSoftmax,        2, 5, q_linear_softmax,   0, "axis opset") \
    X(QLinearWhere,          3, 9, q_linear_where,     0, "") \
    X(QuantizeLinear,        2, 3, quantize,           1, "axis") \
    X(QuickGelu,             1, 1, quick_gelu,         0, "alpha") \
    X(RotaryEmbedding,       4, 4, ort_rotary_embedding, 0, \
      "interleaved is_packed_batching num_heads rotary_embedding_dim scale") \
    X(SkipLayerNormalization, 3, 5, skip_layer_norm,   0, "epsilon") \
    X(SkipSimplifiedLayerNormalization, 3, 4, skip_layer_norm, 1, "epsilon")
/* The supported operators of ai.onnx.ml, the domain of classical models, versions 1 to 5: the same columns. */
#define NNRTI_ONNX_ML(X) \
    X(ArrayFeatureExtractor, 2, 2, array_features,     0, "") \
    X(Binarizer,             1, 1, binarizer,          0, "threshold") \
    X(LabelEncoder,          1, 1, label_encoder,      0, \
      "classes_strings default_float default_int64 default_string default_tensor keys_floats keys_int64s keys_strings " \
      "keys_tensor values_floats values_int64s values_strings values_tensor") \
    X(LinearClassifier,      1, 1, linear_classifier,  0, \
      "classlabels_ints classlabels_strings coefficients intercepts multi_class post_transform") \
    X(LinearRegressor,       1, 1, linear_regressor,   0, "coefficients intercepts post_transform targets") \
    X(Normalizer,            1, 1, normalizer,         0, "norm") \
    X(SVMClassifier,         1, 1, svm_classifier,     0, \
      "classlabels_ints classlabels_strings coefficients kernel_params kernel_type post_transform prob_a prob_b rho " \
      "support_vectors vectors_per_class") \
    X(SVMRegressor,          1, 1, svm_regressor,      0, \
      "coefficients kernel_params kernel_type n_supports one_class post_transform rho support_vectors") \
    X(Scaler,                1, 1, scaler,             0, "offset scale") \
    X(TreeEnsemble,          1, 1, tree_ensemble,      0, \
      "aggregate_function leaf_targetids leaf_weights membership_values n_targets nodes_falseleafs nodes_falsenodeids " \
      "nodes_featureids nodes_hitrates nodes_missing_value_tracks_true nodes_modes nodes_splits nodes_trueleafs " \
      "nodes_truenodeids post_transform tree_roots") \
    X(TreeEnsembleClassifier, 1, 1, tree_classifier,   0, \
      "base_values base_values_as_tensor class_ids class_nodeids class_treeids class_weights class_weights_as_tensor " \
      "classlabels_int64s classlabels_strings nodes_falsenodeids nodes_featureids nodes_hitrates " \
      "nodes_hitrates_as_tensor nodes_missing_value_tracks_true nodes_modes nodes_nodeids nodes_treeids " \
      "nodes_truenodeids nodes_values nodes_values_as_tensor post_transform") \
    X(TreeEnsembleRegressor, 1, 1, tree_regressor,     0, \
      "aggregate_function base_values base_values_as_tensor n_targets nodes_falsenodeids nodes_featureids " \
      "nodes_hitrates nodes_hitrates_as_tensor nodes_missing_value_tracks_true nodes_modes nodes_nodeids " \
      "nodes_treeids nodes_truenodeids nodes_values nodes_values_as_tensor post_transform target_ids target_nodeids " \
      "target_treeids target_weights target_weights_as_tensor")
/* clang-format on */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_values */

/* The importer fills a builder. The builder infers type and shape of a node's results when the node is added, and
   computes their elements if these follow from constants and static shapes; such a node is folded into constants. A
   value is a tensor of the builder, identified by its index. Dimensions that are only known when a session is made are
   dynamic (nnrt_operand.symbols); sizes computed from them are not known here. Dead-code elimination removes unneeded
   nodes after the last one was added. */

/* A sequence of tensors whose length the import knows: the values of its elements. The sequence is a value, too: its number
   is NNRTI_ONNX_SEQUENCE + its index in nnrti_onnx.sequences. */
typedef struct nnrti_onnx_sequence {
    const uint32_t *values;
    uint32_t count;
} nnrti_onnx_sequence;
#define NNRTI_ONNX_SEQUENCE 0x80000000u

/* A weight that MATMUL_NBITS reads: the other operands of its node. The value of the entry is the packed weight. */
typedef struct nnrti_onnx_nbits {
    NNRT_MatMulNBits attr;
    uint32_t scale, zero;
} nnrti_onnx_nbits;

/* Entry of the name table. */
typedef struct nnrti_onnx_entry {
    nnrt_onnx_str key;  /* sort key of the table */
    nnrt_onnx_str name; /* equals key once the value is defined; data NULL before */
    uint32_t value;
    uint32_t quantized;          /* tensor with the bytes of value and quantization parameters, or NNRT_NO_TENSOR */
    bool isQuantized;            /* true: value is a BITCAST of quantized; false: the reverse */
    bool isInput;                /* the graph lists it as an input */
    uint8_t uses;                /* NNRTI_ONNX_WEIGHT, .., once nnrti_onnx_find_uses has run */
    uint32_t hidden;             /* subgraphs around the reader that define the name themselves (nnrti_onnx_order_reads) */
    const nnrti_onnx_nbits *nbits; /* NULL: an ordinary value */
    const nnrt_onnx_node *node;  /* the node with this output, also before the value is defined; NULL: none */
    const nnrt_onnx_input *told; /* the caller's description of this input (desc->inputs); NULL: none */
    int64_t elements;            /* of an input, a sequence: the caller described this many of its tensors */
} nnrti_onnx_entry;

typedef struct nnrti_onnx nnrti_onnx;

typedef struct nnrti_onnx_importer {
    const char *name;    /* "Conv"; of another domain than ONNX's own "com.microsoft.FusedConv" */
    int32_t least, most; /* versions of the operator set of its domain */
    uint32_t minIn, maxIn;
    void (*handler)(nnrti_onnx *c, int32_t arg);
    int32_t arg;
    const char *attributes;
} nnrti_onnx_importer;

#define NNRTI_ONNX_PROTO(name, least, most, minIn, maxIn, handler, arg, attributes)                                    \
    NNRTI_COLD static void nnrti_onnx_op_##handler(nnrti_onnx *c, int32_t arg_);
#define NNRTI_ONNX_TABLE_ROW(name, least, most, minIn, maxIn, handler, arg, attributes)                                \
    {#name, least, most, minIn, maxIn, nnrti_onnx_op_##handler, arg, attributes},
#define NNRTI_ONNX_CONTRIB_PROTO(name, minIn, maxIn, handler, arg, attributes)                                         \
    NNRTI_COLD static void nnrti_onnx_op_##handler(nnrti_onnx *c, int32_t arg_);
#define NNRTI_ONNX_PREVIEW_ROW(name, minIn, maxIn, handler, arg, attributes)                                           \
    {"ai.onnx.preview." #name, 1, 1, minIn, maxIn, nnrti_onnx_op_##handler, arg, attributes},
#define NNRTI_ONNX_CONTRIB_ROW(name, minIn, maxIn, handler, arg, attributes)                                           \
    {"com.microsoft." #name, 1, 1, minIn, maxIn, nnrti_onnx_op_##handler, arg, attributes},
#define NNRTI_ONNX_ML_ROW(name, minIn, maxIn, handler, arg, attributes)                                                \
    {"ai.onnx.ml." #name, 1, 5, minIn, maxIn, nnrti_onnx_op_##handler, arg, attributes},
NNRTI_ONNX_OPS(NNRTI_ONNX_PROTO)
NNRTI_ONNX_PREVIEW(NNRTI_ONNX_CONTRIB_PROTO)
NNRTI_ONNX_CONTRIB(NNRTI_ONNX_CONTRIB_PROTO)
NNRTI_ONNX_ML(NNRTI_ONNX_CONTRIB_PROTO)
static const nnrti_onnx_importer nnrti_onnx_rows[] = {
    NNRTI_ONNX_OPS(NNRTI_ONNX_TABLE_ROW) NNRTI_ONNX_PREVIEW(NNRTI_ONNX_PREVIEW_ROW)
        NNRTI_ONNX_CONTRIB(NNRTI_ONNX_CONTRIB_ROW) NNRTI_ONNX_ML(NNRTI_ONNX_ML_ROW)};
#define NNRTI_ONNX_ROW_COUNT ((uint32_t)(sizeof(nnrti_onnx_rows) / sizeof(nnrti_onnx_rows[0])))

/* Limits of an import. */
typedef struct nnrti_onnx_budget {
    nnrti_limited memory;
    size_t source;     /* bytes of the file and its external data */
    double work;       /* number of elements that constant folding may still compute */
    uint32_t readings; /* of graphs with choices so far (nnrti_onnx_ranks) */
} nnrti_onnx_budget;

/* (bytes * NNRT_ONNX_BUDGET + start) times the budget factor of desc; SIZE_MAX on overflow. */
static size_t nnrti_onnx_budget_of(const nnrt_onnx_desc *desc, size_t bytes, size_t start)
{
    size_t n;
    return nnrt_mul_size(bytes, NNRT_ONNX_BUDGET, &n) && nnrt_add_size(n, start, &n) &&
                   nnrt_mul_size(n, desc->budget > 0 ? desc->budget : 1, &n)
               ? n
               : SIZE_MAX;
}

/* Raises the limits by the budget of `bytes` more bytes of source (file, external data or caller's values). */
static void nnrti_onnx_budget_add(nnrti_onnx_budget *b, const nnrt_onnx_desc *desc, uint64_t bytes)
{
    const size_t before = nnrti_onnx_budget_of(desc, b->source, NNRT_ONNX_WORK_FREE);
    b->source = bytes < SIZE_MAX - b->source ? b->source + (size_t)bytes : SIZE_MAX;
    b->memory.limit = nnrti_onnx_budget_of(desc, b->source, NNRT_ONNX_BUDGET_FREE);
    b->work += (double)nnrti_onnx_budget_of(desc, b->source, NNRT_ONNX_WORK_FREE) - (double)before;
}

/* Starts the budget of a source of `bytes` bytes. *own becomes a copy of desc (NULL: defaults) whose allocator is the
   budget's. */
static void nnrti_onnx_budget_begin(nnrti_onnx_budget *b, const nnrt_onnx_desc *desc, size_t bytes, nnrt_onnx_desc *own)
{
    memset(b, 0, sizeof(*b));
    memset(own, 0, sizeof(*own));
    if (desc != NULL)
        *own = *desc;
    nnrti_limited_begin(&b->memory, own->allocator);
    b->work = (double)nnrti_onnx_budget_of(own, 0, NNRT_ONNX_WORK_FREE);
    own->allocator = &b->memory.allocator;
    nnrti_onnx_budget_add(b, own, bytes);
}

/* Writes the message for exceeding the limit on work (work true) or on memory. */
static void nnrti_onnx_budget_text(const nnrti_onnx_budget *b, const nnrt_onnx_desc *desc, bool work, char *text,
                                   size_t size)
{
    const uint32_t times = desc->budget > 0 ? desc->budget : 1;
    if (work)
        (void)nnrt_text(text, size,
                        "constant folding computes more than %z elements, the budget for %z bytes of "
                        "file (nnrt_onnx_desc.budget %u raises it)",
                        nnrti_onnx_budget_of(desc, b->source, NNRT_ONNX_WORK_FREE), b->source, times + 1);
    else
        (void)nnrt_text(
            text, size,
            "the import takes more than %z bytes, the budget for %z bytes of file (nnrt_onnx_desc.budget %u "
            "raises it)",
            b->memory.limit, b->source, times + 1);
}

/* Ends the budget: hands the model's blocks over to the caller's allocator. If the limit caused NNRT_OUT_OF_MEMORY, the
   error message says so. */
static NNRT_ReturnCode nnrti_onnx_budget_end(nnrti_onnx_budget *b, const nnrt_onnx_desc *own, NNRT_Model *model,
                                             NNRT_ReturnCode code, nnrt_error *error)
{
    char text[256];
    nnrti_limited_end(&b->memory, model);
    if (code != NNRT_OUT_OF_MEMORY || !b->memory.over || error == NULL)
        return code;
    nnrti_onnx_budget_text(b, own, false, text, sizeof(text));
    memset(error, 0, sizeof(*error));
    return nnrt_error_set(error, code, "%s", text);
}

/* Elements that were moved by `off` bytes to the left in the file's bytes, and the bytes that they cover there. */
typedef struct nnrti_onnx_move {
    struct nnrti_onnx_move *before;
    uint8_t *from;
    size_t bytes, off;
    uint8_t covered[3];
    nnrt_onnx_str *raw, was; /* rawData of the tensor, which follows the move; before it */
} nnrti_onnx_move;

#define NNRTI_ONNX_PARAMS 64 /* further names of dynamic dimensions are ignored: comparing them takes time */
/* A function that is being inlined for a node. */
typedef struct nnrti_onnx_frame {
    const struct nnrti_onnx_frame *outer; /* the frame that the node is in, NULL: none */
    const nnrt_onnx_function *function;
    const nnrt_onnx_node *node; /* the node that calls the function */
    const char *prefix;         /* prefix of the names of its steps: "name of the node/" */
    uint32_t depth;
} nnrti_onnx_frame;

/* Values in place of the inputs and outputs of the node, while the handler of another operator runs for it. */
typedef struct nnrti_onnx_applied {
    const uint32_t *in;
    uint32_t *out;
    uint32_t nIn, nOut;
} nnrti_onnx_applied;

/* An If whose branches give a result of different ranks, whose condition only the run knows, and the branch that a
   reading of the graph assumes. */
typedef struct nnrti_onnx_rank_choice {
    const nnrt_onnx_node *node;
    bool otherwise;   /* else_branch */
    uint32_t output;  /* the first one whose ranks differ */
    int32_t ranks[2]; /* of the two branches */
} nnrti_onnx_rank_choice;

/* Ranks that depend on a size. torch.squeeze(x, -1) of an open size becomes If(size == 1, Squeeze(x), x), and the nodes
   behind it accept one of the two ranks only. A graph that cannot be read while the rank is unknown is therefore read with
   each choice of branches, and the only choice that fits is taken: the other branch fails in the run if its condition
   selects it. While a later import may know the sizes, the others must be refused whatever the sizes are; else the model
   is deferred. */
typedef struct nnrti_onnx_ranks {
    bool choosing;  /* readings assume branches; else such a result has an unknown rank */
    bool last;      /* this reading is the last one */
    bool added;     /* this reading met an If without a choice: it was added */
    bool met;       /* a reading met an If whose branches have different ranks */
    uint32_t count, nFit;
    nnrti_onnx_rank_choice choices[4], fit[4]; /* of this reading (count), of the one that fits */
    uint32_t fitCount;
} nnrti_onnx_ranks;

/* Work charged to the budget for each node of an inlined graph, and for each tensor of a sequence, in elements. */
#define NNRTI_ONNX_CALL_WORK 64.0

#define NNRTI_ONNX_READINGS 32 /* most readings of an import that choose */

/* State of an import. After the first fault code is set and all further operations are no-ops. */
struct nnrti_onnx {
    nnrt_onnx_model *model;
    const nnrt_onnx_desc *desc; /* its allocator is the budget's */
    nnrti_onnx_budget *budget;
    const char *path;    /* of the model's file, NULL: from memory */
    const uint8_t *data; /* dataBytes of the file */
    size_t dataBytes;
    bool ownBytes;    /* the import may modify the file's bytes */
    nnrti_onnx_move *moves; /* how it did, the last one first */
    bool usedInPlace; /* a constant points into the file's bytes */
    nnrt_builder *builder;
    nnrt_error *error;
    NNRT_ReturnCode code;
    nnrti_onnx_entry *entries;      /* nEntries; entry nEntries stands for all names that are not in the table */
    uint32_t nEntries, nNamed;      /* nNamed: number of nodes of the builder whose names are final */
    const nnrt_onnx_graph *graph;   /* the current graph; entries are its names */
    uint32_t depth;                 /* number of graphs around it */
    bool unnamed;                   /* the graph is inlined for a node: its names are not names of the model */
    bool usesFound;                 /* entries have their uses */
    const struct nnrti_onnx *outer; /* names of the enclosing graph, NULL: none */
    const NNRT_QuantParam *quant;   /* quantCount parameters of result 0 of the step being added */
    uint32_t quantCount;
    int32_t quantAxis; /* axis of the parameters if quantCount > 1 */
    int64_t opset;
    nnrti_onnx_entry *functions;    /* nFunctions of the model, sorted; value: index in the model's list */
    const nnrt_onnx_graph **bodies; /* by index, NULL: not converted yet */
    char *functionKey;              /* functionKeyRoom bytes, scratch for a key of functions */
    size_t nFunctions, functionKeyRoom;
    const nnrti_onnx_frame *call; /* the function being inlined, NULL: none */
    const nnrt_onnx_node *node;   /* the current one */
    uint32_t nodeIndex;
    const nnrti_onnx_importer *row;
    const nnrti_onnx_applied *applied;       /* NULL: the handler reads inputs and outputs of the node */
    nnrt_onnx_str params[NNRTI_ONNX_PARAMS]; /* names of the dynamic dimensions of the inputs so far */
    uint32_t nParams;
    uint32_t imagesFrom; /* values with a lower index are not NHWC */
    bool deferrable;     /* the fault may vanish when more sizes or values of inputs are known */
    nnrti_onnx_ranks *ranks; /* of the branch of an If that is read, or of the model */
    uint8_t *storage;    /* by value: its type of storage, an nnrt_onnx_type, or 0; storageCount entries, 0 behind them */
    uint32_t storageCount;
    nnrti_onnx_sequence *sequences; /* all values that are sequences */
    uint32_t sequenceCount, sequenceRoom;
    bool positions; /* a position in a sequence was no constant */
    char text[256];
};

/* Sets the message "ONNX node 3 'conv1' (Conv): " followed by c->text, unless an error is already set. */
NNRTI_COLD static void nnrti_onnx_blame(nnrti_onnx *c, NNRT_ReturnCode code)
{
    const nnrt_error *e = nnrt_builder_error(c->builder);
    char name[64], type[64];
    if (c->code != NNRT_SUCCESS)
        return;
    if (e != NULL && e->code == NNRT_OUT_OF_MEMORY && code != NNRT_OUT_OF_MEMORY) { /* values look unknown then */
        code = NNRT_OUT_OF_MEMORY;
        (void)nnrt_text(c->text, sizeof(c->text), "%s", e->message);
    }
    c->code = code;
    if (c->node == NULL)
        (void)nnrt_error_set(c->error, code, "%s", c->text);
    else
        (void)nnrt_error_set(c->error, code, "ONNX node %u '%s%s' (%s): %s", c->nodeIndex,
                             c->call != NULL ? c->call->prefix : "", nnrti_onnx_text(name, c->node->name),
                             nnrti_onnx_text(type, c->node->opType), c->text);
}

/* Reports a fault of the current node: code, then format and arguments of nnrt_text. */
#define NNRTI_ONNX_FAIL(c, code, ...)                                                                                  \
    ((void)nnrt_text((c)->text, sizeof((c)->text), __VA_ARGS__), nnrti_onnx_blame(c, code))

/* The same for a node that depends on an unknown size, rank or value: the model can be deferred. A fault of the builder,
   after which nothing is known, goes first. */
#define NNRTI_ONNX_NEEDS(c, ...)                                                                                       \
    (nnrti_onnx_fine(c) ? (void)((c)->deferrable = true) : (void)0, NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, __VA_ARGS__))

/* Whether a node of the builder reads dynamic dimensions, or integers (axes, sizes, a shape) that only the run knows: a
   rule that refuses it may accept it when they are known. */
static bool nnrti_onnx_waits(const nnrti_onnx *c, int32_t node)
{
    const nnrt_builder *b = c->builder;
    bool waits = false;
    if (node < 0 || (size_t)node >= nnrti_array_count(b->nodes))
        return false;
    for (uint32_t k = 0; k < b->nodes[node].inputIndex.count; k++) {
        const uint32_t t = b->nodes[node].inputIndex.data[k];
        const NNRT_Tensor *x = t != NNRT_NO_TENSOR ? &b->tensors[t] : NULL;
        for (uint32_t i = 0; x != NULL && i < x->dims.count; i++)
            waits = waits || x->dims.data[i] < 0;
        waits = waits || (x != NULL && k > 0 && !nnrti_is_constant(x) && x->dims.count < 2 &&
                          (x->dataType == NNRT_DATA_TYPE_INT32 || x->dataType == NNRT_DATA_TYPE_INT64));
    }
    return waits;
}

/* True if there is no fault so far. Converts a fault of the builder, "node 7 '' (ADD_FUSION): ...", into one of the
   ONNX node; the builder's prefix stays if it names a node other than the one just added. */
static bool nnrti_onnx_fine(nnrti_onnx *c)
{
    const nnrt_error *e = &c->builder->error;
    const char *text = e->message, *end = NULL;
    if (c->code != NNRT_SUCCESS || e->code == NNRT_SUCCESS)
        return c->code == NNRT_SUCCESS;
    if (strncmp(text, "node ", 5) == 0 && e->node + 1 == (int64_t)nnrti_array_count(c->builder->nodes))
        end = strstr(text, "): ");
    text = end != NULL ? end + 3 : text;
    c->deferrable = c->deferrable || (e->code == NNRT_UNSUPPORTED_OP && nnrti_onnx_waits(c, e->node));
    NNRTI_ONNX_FAIL(c, e->code, "%s", text[0] != '\0' ? text : "there is not enough memory for the model");
    return false;
}

/* Zeroed memory that lives until the model is finished. Returns NULL and records the fault if there is none. */
static void *nnrti_onnx_keep(nnrti_onnx *c, size_t count, size_t size)
{
    void *p = nnrti_builder_keep(c->builder, count, size);
    (void)nnrti_onnx_fine(c);
    return p;
}

/* Frees all memory of the import; the model that it made stays. */
static void nnrti_onnx_end(nnrti_onnx *c)
{
    nnrt_builder_destroy(c->builder);
    nnrt_onnx_model_free(c->model);
    c->builder = NULL;
    c->model = NULL;
}

/* A new value of unknown type and shape; NNRT_NO_TENSOR after a fault. */
static uint32_t nnrti_onnx_new(nnrti_onnx *c)
{
    const uint32_t v = c->code == NNRT_SUCCESS ? nnrt_builder_tensor(c->builder, NULL) : NNRT_NO_TENSOR;
    nnrti_builder_tables(c->builder);
    return nnrti_onnx_fine(c) ? v : NNRT_NO_TENSOR;
}

/* Type, shape (rank -1: unknown) and elements (data NULL: unknown) of value v, valid until the next value is made. A
   scalar of no type for a sequence, for NNRT_NO_TENSOR and after a fault. */
static const nnrt_operand *nnrti_onnx_at(const nnrti_onnx *c, uint32_t v)
{
    static nnrt_operand none; /* zero */
    const nnrt_operand *o = v < NNRTI_ONNX_SEQUENCE ? nnrti_builder_operand(c->builder, v) : NULL;
    return o != NULL ? o : &none;
}

/* True if the value is constant: it follows from constants and static shapes, whatever the dynamic dimensions are. */
static bool nnrti_onnx_is_constant(const nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    return o->data != NULL && o->open == NULL;
}

static bool nnrti_onnx_is_input(const nnrti_onnx *c, uint32_t v)
{
    return v < NNRTI_ONNX_SEQUENCE && c->builder->writers[v] == NNRTI_BY_INPUT;
}

/* The sequence that value v is; NULL: a tensor, or absent. Valid until the next sequence is made. */
static const nnrti_onnx_sequence *nnrti_onnx_sequence_of(const nnrti_onnx *c, uint32_t v)
{
    return v >= NNRTI_ONNX_SEQUENCE && v != NNRT_NO_TENSOR ? &c->sequences[v - NNRTI_ONNX_SEQUENCE] : NULL;
}

/* Names value v. */
static void nnrti_onnx_call(nnrti_onnx *c, uint32_t v, const char *name)
{
    if (name == NULL || nnrti_builder_operand(c->builder, v) == NULL)
        return;
    c->builder->tensors[v].name = name;
    c->builder->shapes[v].name = name;
}

static const char *nnrti_onnx_copy_text(nnrti_onnx *c, nnrt_onnx_str s)
{
    char *text = (char *)nnrti_onnx_keep(c, s.length + 1, 1);
    if (text != NULL && s.length > 0)
        memcpy(text, s.data, s.length);
    return text;
}

/* Orders names by length, then by bytes: below 0, 0 or above 0. */
static int nnrti_onnx_compare(nnrt_onnx_str a, nnrt_onnx_str b)
{
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    return a.length > 0 ? memcmp(a.data, b.data, a.length) : 0;
}

/* Restores the heap order (largest name on top) below heap[at]. */
static void nnrti_onnx_sift(nnrti_onnx_entry *heap, size_t count, size_t at)
{
    const nnrti_onnx_entry moved = heap[at];
    while (at < count / 2) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && nnrti_onnx_compare(heap[child].key, heap[child + 1].key) < 0)
            child++;
        if (nnrti_onnx_compare(moved.key, heap[child].key) >= 0)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Sorts the table, removes duplicate names and returns the number of names. A sorted table rather than a hash table,
   since a file could contain names chosen to collide. */
static size_t nnrti_onnx_sort(nnrti_onnx_entry *entries, size_t count)
{
    size_t kept = 0;
    for (size_t i = count / 2; i-- > 0;)
        nnrti_onnx_sift(entries, count, i);
    for (size_t left = count; left > 1;) {
        const nnrti_onnx_entry top = entries[0];
        entries[0] = entries[--left];
        entries[left] = top;
        nnrti_onnx_sift(entries, left, 0);
    }
    for (size_t i = 0; i < count; i++) {
        const bool again = kept > 0 && nnrti_onnx_compare(entries[kept - 1].key, entries[i].key) == 0;
        if (again)
            entries[kept - 1].isInput = entries[kept - 1].isInput || entries[i].isInput;
        else
            entries[kept++] = entries[i];
    }
    return kept;
}

/* Index of a key in a sorted table, or count. */
static size_t nnrti_onnx_search(const nnrti_onnx_entry *entries, size_t count, nnrt_onnx_str key)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = nnrti_onnx_compare(key, entries[middle].key);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return count;
}

/* The entry of a name of this graph, or the entry behind the last if the table has no such name. */
static nnrti_onnx_entry *nnrti_onnx_own_entry(const nnrti_onnx *c, nnrt_onnx_str name)
{
    return &c->entries[nnrti_onnx_search(c->entries, c->nEntries, name)];
}

/* Resolves a name in scope: the entry of this graph once it is defined, else that of the nearest enclosing graph. */
static nnrti_onnx_entry *nnrti_onnx_entry_of(const nnrti_onnx *c, nnrt_onnx_str name)
{
    nnrti_onnx_entry *own = nnrti_onnx_own_entry(c, name);
    for (const nnrti_onnx *o = c->outer; o != NULL && own->name.data == NULL; o = o->outer) {
        nnrti_onnx_entry *e = nnrti_onnx_own_entry(o, name);
        if (e->name.data != NULL)
            return e;
    }
    return own;
}

/* Builds the table of all names that the graph defines: inputs, initializers, results of nodes. */
static void nnrti_onnx_make_table(nnrti_onnx *c)
{
    const nnrt_onnx_graph *g = c->graph;
    size_t count = g->inputs.count + g->initializers.count, n = 0;
    for (size_t i = 0; i < g->nodes.count; i++)
        count += g->nodes.data[i].unneeded ? 0 : g->nodes.data[i].outputs.count;
    if (count >= 0x20000000u) {
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the model has 536870912 values or more");
        return;
    }
    c->entries = (nnrti_onnx_entry *)nnrti_onnx_keep(c, count + 1, sizeof(*c->entries));
    if (c->entries == NULL)
        return;
    for (size_t i = 0; i < g->inputs.count; i++) {
        c->entries[n].isInput = true;
        c->entries[n++].key = g->inputs.data[i].name;
    }
    for (size_t i = 0; i < g->initializers.count; i++)
        c->entries[n++].key = g->initializers.data[i].name;
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.data[i].outputs.count && !g->nodes.data[i].unneeded; k++) {
            c->entries[n].key = g->nodes.data[i].outputs.data[k];
            c->entries[n].node = c->entries[n].key.length > 0 ? &g->nodes.data[i] : NULL; /* "": an omitted output */
            n++;
        }
    c->nEntries = (uint32_t)nnrti_onnx_sort(c->entries, count);
    memset(&c->entries[c->nEntries], 0, sizeof(*c->entries));
}

/* Defines the name of value v. Each name is defined once in a graph (single static assignment). */
static void nnrti_onnx_bind(nnrti_onnx *c, nnrt_onnx_str name, uint32_t v)
{
    nnrti_onnx_entry *e;
    char text[64];
    if (c->code != NNRT_SUCCESS || v == NNRT_NO_TENSOR)
        return;
    e = nnrti_onnx_own_entry(c, name);
    if (e->name.data != NULL) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "value '%s' is defined twice", nnrti_onnx_text(text, name));
        return;
    }
    e->name = name;
    e->value = v;
    e->quantized = NNRT_NO_TENSOR;
    e->node = c->node;
    if (v < NNRTI_ONNX_SEQUENCE && c->builder->tensors[v].name == NULL && !c->unnamed)
        nnrti_onnx_call(c, v, nnrti_onnx_copy_text(c, name));
}

/* Defines a name without a value: an input that a call of a function omits. */
static void nnrti_onnx_bind_absent(nnrti_onnx *c, nnrt_onnx_str name)
{
    nnrti_onnx_entry *e = nnrti_onnx_own_entry(c, name);
    if (e->name.data != NULL)
        return;
    e->name = name;
    e->value = e->quantized = NNRT_NO_TENSOR;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_cut: the graph without what its outputs do not need */

/* The names that a graph defines, sorted and unique. The other members of the entries belong to the pass that uses
   them. */
typedef struct nnrti_onnx_names {
    nnrti_onnx_entry *data;
    size_t count, bytes;
} nnrti_onnx_names;

/* All names of the graph with the node of each; data NULL: out of memory. */
static nnrti_onnx_names nnrti_onnx_names_of(const nnrt_onnx_graph *g, const nnrt_allocator *allocator)
{
    size_t count = g->inputs.count + g->initializers.count, n = 0;
    nnrti_onnx_names names;
    memset(&names, 0, sizeof(names));
    for (size_t i = 0; i < g->nodes.count; i++)
        count += g->nodes.data[i].outputs.count;
    if (nnrt_mul_size(count + 1, sizeof(*names.data), &names.bytes))
        names.data = (nnrti_onnx_entry *)nnrt_alloc(allocator, names.bytes);
    if (names.data == NULL)
        return names;
    memset(names.data, 0, names.bytes);
    for (size_t i = 0; i < g->inputs.count; i++)
        names.data[n++].key = g->inputs.data[i].name;
    for (size_t i = 0; i < g->initializers.count; i++)
        names.data[n++].key = g->initializers.data[i].name;
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.data[i].outputs.count && !g->nodes.data[i].unneeded; k++) {
            names.data[n].key = g->nodes.data[i].outputs.data[k];
            names.data[n++].node = &g->nodes.data[i];
        }
    names.count = nnrti_onnx_sort(names.data, n);
    return names;
}

/* The entry of a name; NULL if the name is empty or not in the table. */
static nnrti_onnx_entry *nnrti_onnx_name_at(const nnrti_onnx_names *names, nnrt_onnx_str name)
{
    const size_t at = name.length > 0 ? nnrti_onnx_search(names->data, names->count, name) : names->count;
    return at < names->count ? &names->data[at] : NULL;
}

/* Calls see for each name that the node reads, subgraphs included. */
static void nnrti_onnx_reads(const nnrt_onnx_node *node, void (*see)(void *user, nnrt_onnx_str name), void *user)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        see(user, node->inputs.data[i]);
    for (size_t a = 0; a < node->attributes.count; a++) { /* recursion depth: at most NNRT_ONNX_MAX_DEPTH */
        const nnrt_onnx_graph *g = node->attributes.data[a].g;
        for (size_t i = 0; g != NULL && i < g->nodes.count; i++)
            nnrti_onnx_reads(&g->nodes.data[i], see, user);
        for (size_t i = 0; g != NULL && i < g->outputs.count; i++)
            see(user, g->outputs.data[i].name);
    }
}

/* Distance of two names: the length of the longer one without the common prefix and suffix. */
static size_t nnrti_onnx_name_distance(nnrt_onnx_str a, nnrt_onnx_str b)
{
    const size_t least = a.length < b.length ? a.length : b.length, most = a.length < b.length ? b.length : a.length;
    size_t front = 0, back = 0;
    while (front < least && a.data[front] == b.data[front])
        front++;
    while (back < least - front && a.data[a.length - 1 - back] == b.data[b.length - 1 - back])
        back++;
    return most - front - back;
}

#define NNRTI_ONNX_NEAR 3

/* near[]: the names closest to this one, closest first; returns their number. */
static uint32_t nnrti_onnx_nearest(const nnrti_onnx_names *names, nnrt_onnx_str name, nnrt_onnx_str *near)
{
    uint32_t n = 0;
    for (size_t i = 0; i < names->count; i++) {
        const nnrt_onnx_str key = names->data[i].key;
        uint32_t k = n;
        while (k > 0 && nnrti_onnx_name_distance(near[k - 1], name) > nnrti_onnx_name_distance(key, name))
            k--;
        if (key.length == 0 || k == NNRTI_ONNX_NEAR)
            continue;
        n += n < NNRTI_ONNX_NEAR ? 1 : 0;
        for (uint32_t j = n - 1; j > k; j--)
            near[j] = near[j - 1];
        near[k] = key;
    }
    return n;
}

/* Fails for an output that the graph does not have: suggests the outputs of the node of this name, or the closest
   names. */
static NNRT_ReturnCode nnrti_onnx_no_value(const nnrt_onnx_graph *g, const nnrti_onnx_names *names, nnrt_onnx_str name,
                                           nnrt_error *error)
{
    nnrt_onnx_str near[NNRTI_ONNX_NEAR];
    const char *what = "; the node of this name has the outputs ";
    char text[64], told[64], list[NNRTI_ONNX_NEAR * 70] = "";
    uint32_t n = 0;
    size_t at = 0;
    for (size_t i = 0; i < g->nodes.count && n == 0 && name.length > 0; i++)
        for (size_t k = 0; k < g->nodes.data[i].outputs.count && n < NNRTI_ONNX_NEAR; k++)
            if (nnrti_onnx_compare(g->nodes.data[i].name, name) == 0)
                near[n++] = g->nodes.data[i].outputs.data[k];
    if (n == 0) {
        what = "; the nearest names are ";
        n = nnrti_onnx_nearest(names, name, near);
    }
    for (uint32_t i = 0; i < n; i++)
        at += nnrt_text(list + at, sizeof(list) - at, "%s'%s'", i > 0 ? ", " : "", nnrti_onnx_text(text, near[i]));
    return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the graph has no value '%s'%s%s", nnrti_onnx_text(told, name),
                          n > 0 ? what : "", list);
}

/* list[]: descriptions of the outputs of these names, from the graph; marks their entries as needed (isInput). */
static NNRT_ReturnCode nnrti_onnx_cut_outputs(const nnrt_onnx_graph *g, const nnrti_onnx_names *names,
                                              const char *const *outputs, uint32_t count, nnrt_onnx_value_info *list,
                                              nnrt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        nnrti_onnx_entry *e;
        nnrt_onnx_str name;
        name.data = outputs[i] != NULL ? outputs[i] : "";
        name.length = strlen(name.data);
        e = nnrti_onnx_name_at(names, name);
        if (e == NULL)
            return nnrti_onnx_no_value(g, names, name, error);
        if (e->isInput)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "output '%s' is listed twice", name.data);
        e->isInput = true;
        list[i].name = e->key; /* in the file's bytes */
        for (size_t k = 0; k < g->outputs.count + g->valueInfo.count; k++) {
            const nnrt_onnx_value_info *info =
                k < g->outputs.count ? &g->outputs.data[k] : &g->valueInfo.data[k - g->outputs.count];
            if (nnrti_onnx_compare(info->name, e->key) == 0)
                list[i] = *info;
        }
    }
    return NNRT_SUCCESS;
}

/* Needed nodes, each added once, whose inputs are still to be marked. */
typedef struct nnrti_onnx_needs {
    const nnrti_onnx_names *names;
    nnrt_onnx_node **nodes;
    size_t count;
} nnrti_onnx_needs;

static void nnrti_onnx_cut_need(void *user, nnrt_onnx_str name)
{
    nnrti_onnx_needs *needs = (nnrti_onnx_needs *)user;
    nnrti_onnx_entry *e = nnrti_onnx_name_at(needs->names, name);
    nnrt_onnx_node *node = e != NULL ? (nnrt_onnx_node *)(uintptr_t)e->node : NULL;
    if (e != NULL)
        e->isInput = true;
    if (node == NULL || !node->unneeded)
        return;
    node->unneeded = 0;
    needs->nodes[needs->count++] = node;
}

/* Removes everything that the marked names do not depend on. stack: room for all nodes. */
static void nnrti_onnx_cut_graph(nnrt_onnx_graph *g, const nnrti_onnx_names *names, nnrt_onnx_node **stack)
{
    nnrt_onnx_node *nodes = (nnrt_onnx_node *)(uintptr_t)g->nodes.data;
    nnrt_onnx_value_info *inputs = (nnrt_onnx_value_info *)(uintptr_t)g->inputs.data;
    nnrt_onnx_tensor *tensors = (nnrt_onnx_tensor *)(uintptr_t)g->initializers.data;
    nnrti_onnx_needs needs;
    size_t kept = 0;
    needs.names = names;
    needs.nodes = stack;
    needs.count = 0;
    for (size_t i = 0; i < g->nodes.count; i++)
        nodes[i].unneeded = 1;
    for (size_t i = 0; i < names->count; i++)
        if (names->data[i].isInput)
            nnrti_onnx_cut_need(&needs, names->data[i].key);
    while (needs.count > 0)
        nnrti_onnx_reads(needs.nodes[--needs.count], nnrti_onnx_cut_need, &needs);
    for (size_t i = 0; i < g->inputs.count; i++) {
        const nnrti_onnx_entry *e = nnrti_onnx_name_at(names, inputs[i].name);
        if (e != NULL && e->isInput)
            inputs[kept++] = inputs[i];
    }
    g->inputs.count = kept;
    kept = 0;
    for (size_t i = 0; i < g->initializers.count; i++) {
        const nnrti_onnx_entry *e = nnrti_onnx_name_at(names, tensors[i].name);
        if (e != NULL && e->isInput)
            tensors[kept++] = tensors[i];
    }
    g->initializers.count = kept;
}

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_onnx_cut(nnrt_onnx_model *model, const char *const *outputs,
                                                  uint32_t outputCount, nnrt_error *error)
{
    uint8_t *block;
    nnrt_onnx_value_info *list;
    nnrt_onnx_graph *g;
    nnrti_onnx_names names;
    nnrti_onnx_head head;
    nnrt_onnx_node **stack = NULL;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    size_t bytes, stackBytes = 0;
    if (model == NULL || (outputs == NULL && outputCount > 0))
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_cut: %s is NULL", model == NULL ? "model" : "outputs");
    if (outputCount == 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "nnrt_onnx_cut: outputCount is 0, expected at least 1");
    block = (uint8_t *)model - NNRTI_ONNX_HEAD;
    memcpy(&head, block, sizeof(head));
    g = (nnrt_onnx_graph *)(uintptr_t)model->graph;
    names = nnrti_onnx_names_of(g, &head.allocator);
    list = nnrt_mul_size(outputCount, sizeof(*list), &bytes)
               ? (nnrt_onnx_value_info *)nnrt_alloc(&head.allocator, bytes)
               : NULL;
    if (nnrt_mul_size(g->nodes.count + 1, sizeof(*stack), &stackBytes))
        stack = (nnrt_onnx_node **)nnrt_alloc(&head.allocator, stackBytes);
    if (names.data != NULL && list != NULL && stack != NULL) {
        memset(list, 0, bytes);
        code = nnrti_onnx_cut_outputs(g, &names, outputs, outputCount, list, error);
    } else {
        (void)nnrt_error_set(error, code, "there is not enough memory for the model");
    }
    if (code == NNRT_SUCCESS) {
        nnrti_onnx_cut_graph(g, &names, stack);
        g->outputs.data = list;
        g->outputs.count = outputCount;
        nnrt_free(&head.allocator, head.cut, head.cutBytes);
        head.cut = list;
        head.cutBytes = bytes;
        memcpy(block, &head, sizeof(head));
    } else {
        nnrt_free(&head.allocator, list, bytes);
    }
    nnrt_free(&head.allocator, stack, stackBytes);
    nnrt_free(&head.allocator, names.data, names.bytes);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_tensors */

static const char *nnrti_onnx_type_text(nnrt_onnx_type type)
{
    static const char *const names[] = {"undefined",      "float",    "uint8",        "int8",           "uint16",
                                        "int16",          "int32",    "int64",        "string",         "bool",
                                        "float16",        "double",   "uint32",       "uint64",         "complex64",
                                        "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
                                        "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0",
                                        "uint2",          "int2"};
    return type >= 0 && type < (nnrt_onnx_type)(sizeof(names) / sizeof(names[0])) ? names[type] : "unknown";
}

/* Converts a type; an unsupported one is a fault. what and name describe the owner in the message. */
static NNRT_DataType nnrti_onnx_take_type(nnrti_onnx *c, nnrt_onnx_type type, const char *what, const char *name)
{
    NNRT_DataType t = nnrti_onnx_type_of(type);
    if (t == NNRT_DATA_TYPE_UNKNOWN)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "%s '%s' has element type %s (%d), which is not supported%s", what,
                        name, nnrti_onnx_type_text(type), type,
                        nnrt_onnx_data_type(type) != NNRT_DATA_TYPE_UNKNOWN ? " here" : "");
    return t;
}

/* nnrti_onnx_take_type where types of storage are possible; *storage becomes the type, 0 if it is another one. */
static NNRT_DataType nnrti_onnx_take_stored(nnrti_onnx *c, nnrt_onnx_type type, const char *what, const char *name,
                                            nnrt_onnx_type *storage)
{
    const bool plain = nnrti_onnx_type_of(type) != NNRT_DATA_TYPE_UNKNOWN;
    const NNRT_DataType t = nnrt_onnx_data_type(type);
    *storage = plain || t == NNRT_DATA_TYPE_UNKNOWN ? NNRT_ONNX_UNDEFINED : type;
    return *storage != NNRT_ONNX_UNDEFINED ? t : nnrti_onnx_take_type(c, type, what, name);
}

/* The type of storage of value v, 0 if it has none. */
static nnrt_onnx_type nnrti_onnx_storage_type(const nnrti_onnx *c, uint32_t v)
{
    return v < c->storageCount ? (nnrt_onnx_type)c->storage[v] : (nnrt_onnx_type)NNRT_ONNX_UNDEFINED;
}

/* Makes v a value of this type of storage. */
static void nnrti_onnx_set_storage(nnrti_onnx *c, uint32_t v, nnrt_onnx_type type)
{
    uint8_t *more;
    size_t room = 64;
    if (type == NNRT_ONNX_UNDEFINED || v >= NNRTI_ONNX_SEQUENCE || c->code != NNRT_SUCCESS)
        return;
    while (room <= v)
        room *= 2;
    if (v >= c->storageCount && (more = (uint8_t *)nnrti_onnx_keep(c, room, 1)) != NULL) {
        if (c->storageCount > 0)
            memcpy(more, c->storage, c->storageCount);
        c->storage = more;
        c->storageCount = (uint32_t)room;
    }
    if (v < c->storageCount)
        c->storage[v] = (uint8_t)type;
}

/* A constant value. data must stay valid until the import ends. */
static uint32_t nnrti_onnx_constant(nnrti_onnx *c, NNRT_DataType type, int32_t rank, const int32_t *dims,
                                    const void *data)
{
    const uint32_t v = c->code == NNRT_SUCCESS ? nnrt_builder_constant(c->builder, NULL, type, rank, dims, data, false)
                                               : NNRT_NO_TENSOR;
    nnrti_builder_tables(c->builder);
    if (!nnrti_onnx_fine(c))
        return NNRT_NO_TENSOR;
    c->builder->copied[v] = 1;
    return v;
}

/* A copy that lives as long as the import; NULL and a fault if there is no memory. */
static const void *nnrti_onnx_kept(nnrti_onnx *c, const void *from, size_t bytes)
{
    void *copy = nnrti_onnx_keep(c, bytes, 1);
    if (copy != NULL && bytes > 0)
        memcpy(copy, from, bytes);
    return copy;
}

/* A constant whose elements are copied. */
static uint32_t nnrti_onnx_constant_copy(nnrti_onnx *c, NNRT_DataType type, int32_t rank, const int32_t *dims,
                                         const void *data)
{
    size_t bytes;
    const void *copy;
    if (!nnrt_dims_bytes(dims, rank, type, &bytes)) {
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the size of a constant exceeds the address space");
        return NNRT_NO_TENSOR;
    }
    copy = nnrti_onnx_kept(c, data, bytes);
    return copy != NULL ? nnrti_onnx_constant(c, type, rank, dims, copy) : NNRT_NO_TENSOR;
}

static bool nnrti_onnx_is_little(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Finds the elements of t if the file stores them contiguously in the machine's format: in raw_data, or in a packed
   float_data or double_data. data NULL: it does not. */
static nnrt_onnx_str nnrti_onnx_dense(const nnrt_onnx_tensor *t, size_t bytes)
{
    const nnrti_onnx_message *m = &nnrti_onnx_messages[NNRTI_ONNX_TENSOR];
    const uint64_t field = t->dataType == NNRT_ONNX_FLOAT ? 4 : t->dataType == NNRT_ONNX_DOUBLE ? 10 : 0;
    nnrt_onnx_str none = {NULL, 0};
    nnrti_onnx_reader r;
    nnrti_onnx_item item;
    size_t at = 0;
    if (t->dataLocation != 0 || bytes == 0 || !nnrti_onnx_is_little())
        return none;
    if (t->rawData.length > 0 || field == 0)
        return t->rawData.length == bytes ? t->rawData : none;
    memset(&r, 0, sizeof(r));
    r.data = (const uint8_t *)t->message.data;
    while (at < t->message.length && nnrti_onnx_next(&r, m, &at, t->message.length, &item) == NNRT_SUCCESS)
        if (item.field != NULL && item.field->number == field && item.end - item.at == bytes) {
            none.data = t->message.data + item.at;
            none.length = bytes;
            return none;
        }
    return none;
}

/* Moves the elements of constants back, so that the file can be imported again. */
static void nnrti_onnx_move_back(nnrti_onnx *c)
{
    for (; c->moves != NULL; c->moves = c->moves->before) {
        memmove(c->moves->from, c->moves->from - c->moves->off, c->moves->bytes);
        memcpy(c->moves->from - c->moves->off, c->moves->covered, c->moves->off);
        *c->moves->raw = c->moves->was;
    }
}

/* The elements of t in the file's bytes if they are usable in place, else NULL. If the import owns the bytes
   (ownBytes), misaligned elements move to the left over their own tag and length, which are not read again: for 128
   bytes or more of elements, tag and length take 3 bytes. */
static const void *nnrti_onnx_in_place(nnrti_onnx *c, const nnrt_onnx_tensor *t, size_t bytes, size_t size)
{
    const nnrt_onnx_str dense = nnrti_onnx_dense(t, bytes);
    const size_t off = (size_t)((uintptr_t)dense.data & (size - 1));
    uint8_t *from = (uint8_t *)(uintptr_t)dense.data;
    nnrti_onnx_move *move;
    if (dense.data == NULL || (off != 0 && (!c->ownBytes || off > 3 || bytes < 128)))
        return NULL;
    if (off != 0) { /* rawData follows the move: the body of a Loop or of a function may be read again */
        nnrt_onnx_str *raw = &((nnrt_onnx_tensor *)(uintptr_t)t)->rawData;
        if ((move = (nnrti_onnx_move *)nnrti_onnx_keep(c, 1, sizeof(*move))) == NULL)
            return NULL;
        move->before = c->moves;
        move->from = from;
        move->bytes = bytes;
        move->off = off;
        move->raw = raw;
        move->was = *raw;
        memcpy(move->covered, from - off, off);
        c->moves = move;
        memmove(from - off, from, bytes);
        raw->data = (const char *)(from - off);
        raw->length = bytes;
    }
    c->usedInPlace = true;
    return from - off;
}

/* Reads a tensor's data from its external file; out NULL only checks that the file has them. */
static NNRT_ReturnCode nnrti_onnx_read_external(nnrti_onnx *c, const nnrt_onnx_tensor *t, void *out, size_t bytes,
                                                nnrt_error *error)
{
#ifndef NNRT_NO_STDIO
    if (c->path != NULL)
        return nnrti_onnx_external_read(t, c->path, c->desc->allocator, out, bytes, error);
#endif
    (void)c;
    (void)t;
    (void)out;
    (void)bytes;
    return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                          "its data are in another file: set nnrt_onnx_desc.path to the path of the model");
}

/* Copies the elements of t from any kind of storage into memory of the import. NULL after a fault. */
static const void *nnrti_onnx_copied(nnrti_onnx *c, const nnrt_onnx_tensor *t, size_t bytes)
{
    const bool external = t->dataLocation != 0;
    const size_t packed = nnrti_onnx_file_size(t->dataType, bytes);
    char name[64];
    nnrt_error error;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    void *data = NULL;
    memset(&error, 0, sizeof(error));
    if (!external && bytes / 8 > t->message.length) /* 8 bytes of elements take at least one byte of the file */
        code =
            nnrt_error_set(&error, NNRT_INVALID_FILE, "its dims require %z bytes, which the file does not have", bytes);
    else if (external)
        code = nnrti_onnx_read_external(c, t, NULL, packed, &error);
    if (code == NNRT_SUCCESS && (data = nnrti_onnx_keep(c, bytes, 1)) == NULL)
        return NULL;
    if (code == NNRT_SUCCESS)
        code = external ? nnrti_onnx_read_external(c, t, (uint8_t *)data + (bytes - packed), packed, &error)
                        : nnrt_onnx_tensor_elements(t, data, bytes, &error);
    if (code != NNRT_SUCCESS) {
        NNRTI_ONNX_FAIL(c, code, "constant '%s': %s", nnrti_onnx_text(name, t->name), error.message);
        return NULL;
    }
    if (external && packed < bytes)
        nnrti_onnx_unpack(t->dataType, (uint8_t *)data, bytes);
    for (size_t i = 0; t->dataType == NNRT_ONNX_BOOL && i < bytes; i++) /* bools of the runtime are 0 or 1 */
        ((uint8_t *)data)[i] = ((const uint8_t *)data)[i] != 0;
    return data;
}

/* A constant from an ONNX tensor. */
static uint32_t nnrti_onnx_tensor_value(nnrti_onnx *c, const nnrt_onnx_tensor *t)
{
    char name[64];
    int32_t dims[NNRT_MAX_RANK];
    size_t bytes = 0;
    const void *data;
    bool inFile;
    uint32_t v;
    nnrt_onnx_type storage;
    NNRT_DataType type =
        nnrti_onnx_take_stored(c, t->dataType, "constant", nnrti_onnx_text(name, t->name), &storage);
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    if (t->dims.count > NNRT_MAX_RANK) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "constant '%s' has %z axes, at most %d are possible", name,
                        t->dims.count, NNRT_MAX_RANK);
        return NNRT_NO_TENSOR;
    }
    for (size_t i = 0; i < t->dims.count; i++) {
        if (t->dims.data[i] < 0 || t->dims.data[i] > INT32_MAX) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "constant '%s': size %l of axis %z is outside the range of int32",
                            name, t->dims.data[i], i);
            return NNRT_NO_TENSOR;
        }
        dims[i] = (int32_t)t->dims.data[i];
    }
    if (!nnrt_dims_bytes(dims, (int32_t)t->dims.count, type, &bytes)) {
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the size of constant '%s' exceeds the address space", name);
        return NNRT_NO_TENSOR;
    }
    data = type != NNRT_DATA_TYPE_BOOL && nnrti_onnx_storages[t->dataType].bits >= 8
               ? nnrti_onnx_in_place(c, t, bytes, nnrt_type_size(type))
               : NULL;
    inFile = data != NULL;
    if (data == NULL)
        data = nnrti_onnx_copied(c, t, bytes);
    if (data == NULL)
        return NNRT_NO_TENSOR;
    v = nnrti_onnx_constant(c, type, (int32_t)t->dims.count, dims, data);
    if (v != NNRT_NO_TENSOR)
        c->builder->copied[v] = !inFile;
    nnrti_onnx_set_storage(c, v, storage);
    return v;
}

/* The same for an attribute of an operator that does not support types of storage. */
static uint32_t nnrti_onnx_plain_value(nnrti_onnx *c, const nnrt_onnx_tensor *t)
{
    char name[64];
    (void)nnrti_onnx_take_type(c, t->dataType, "constant", nnrti_onnx_text(name, t->name));
    return c->code == NNRT_SUCCESS ? nnrti_onnx_tensor_value(c, t) : NNRT_NO_TENSOR;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_steps */

/* Charges work to the budget. False and a fault once the budget is exceeded. */
static bool nnrti_onnx_work(nnrti_onnx *c, double work)
{
    char text[256];
    c->budget->work -= work;
    if (c->budget->work >= 0)
        return true;
    nnrti_onnx_budget_text(c->budget, c->desc, true, text, sizeof(text));
    NNRTI_ONNX_FAIL(c, NNRT_TIME_OUT, "%s", text);
    return false;
}

/* Constant folding policy, called for a resolved step whose inputs are all constant: true to compute its results. */
static bool nnrti_onnx_should_fold(void *user, const nnrt_resolve *r)
{
    const nnrt_onnx_desc *desc = ((const nnrti_onnx *)user)->desc;
    if (nnrti_is_dequantize(r) && !desc->no_optimize && !desc->no_quantize)
        return false; /* an operator may become quantized */
    return nnrti_fold_is_small(r) && nnrti_onnx_work((nnrti_onnx *)user, nnrti_fold_work(r));
}

/* Name of a step: the name of its ONNX node or "Conv_3", prefixed by the names of the nodes whose functions are
   inlined. Steps other than the last one of the node append their operator. */
static const char *nnrti_onnx_step_name(nnrti_onnx *c, NNRT_NodeType type, bool last)
{
    const char *op = last ? "" : nnrt_op_find(type)->name, *slash = last ? "" : "/";
    const char *prefix = c->call != NULL ? c->call->prefix : "";
    char name[256], text[64];
    nnrt_onnx_str whole;
    whole.data = name;
    if (c->node == NULL)
        whole.length = nnrt_text(name, sizeof(name), "output");
    else if (c->node->name.length > 0)
        whole.length =
            nnrt_text(name, sizeof(name), "%s%s%s%s", prefix, nnrti_onnx_text(text, c->node->name), slash, op);
    else
        whole.length = nnrt_text(name, sizeof(name), "%s%s_%u%s%s", prefix, nnrti_onnx_text(text, c->node->opType),
                                 c->nodeIndex, slash, op);
    return nnrti_onnx_copy_text(c, whole);
}

static void nnrti_onnx_set_format(nnrt_builder *b, uint32_t v, NNRT_Format format)
{
    b->tensors[v].format = format;
    b->shapes[v].format = format;
}

/* Tracks the layout of images. Image operators of ONNX are NCHW. The result of a Transpose of an image is labeled NHWC,
   which is a guess: it holds if another Transpose undoes the first. An operator that nevertheless reads its channels
   from axis 1 of such a tensor, or combines it with an NCHW tensor, disproves the guess, since ONNX axes carry no
   layout. All tensors labeled NHWC so far then become NCHW. image: the operator expects images (NNRT_OP_LAYOUT). */
static void nnrti_onnx_set_images(nnrti_onnx *c, bool image, const uint32_t *in, uint32_t nIn)
{
    nnrt_builder *b = c->builder;
    bool nchw = image, nhwc = false;
    for (uint32_t i = 0; i < nIn; i++) {
        const nnrt_operand *o = in[i] != NNRT_NO_TENSOR ? nnrti_builder_operand(b, in[i]) : NULL;
        nchw = nchw || (o != NULL && o->format == NNRT_FORMAT_NCHW);
        nhwc = nhwc || (o != NULL && o->format == NNRT_FORMAT_NHWC);
    }
    for (uint32_t v = c->imagesFrom; nchw && nhwc && v < nnrti_array_count(b->tensors); v++) {
        if (b->shapes[v].format == NNRT_FORMAT_NHWC)
            nnrti_onnx_set_format(b, v, NNRT_FORMAT_NCHW);
        c->imagesFrom = v + 1;
    }
    if (image && in[0] != NNRT_NO_TENSOR && nnrti_builder_operand(b, in[0]) != NULL)
        nnrti_onnx_set_format(b, in[0], NNRT_FORMAT_NCHW);
}

/* Values a and b are the same tensor on two paths: the branches of an If, or two iterations of a Loop. If one is NCHW,
   the other is not NHWC, even if a Transpose labeled it so. */
static void nnrti_onnx_join_images(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    uint32_t both[2];
    both[0] = a;
    both[1] = b;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_set_images(c, false, both, 2);
}

/* Adds a step with nOut results out[]. declared[i] is the type to declare for result i (declared NULL: none). attr
   NULL: an operator without attributes, or with default ones. */
static void nnrti_onnx_emit(nnrti_onnx *c, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                            uint32_t *out, uint32_t nOut, const NNRT_DataType *declared)
{
    nnrt_builder *b = c->builder;
    const uint32_t before = nnrti_array_count(b->nodes);
    const bool image = (nnrt_op_find(type)->flags & NNRT_OP_LAYOUT) != 0;
    for (uint32_t i = 0; i < nOut; i++) {
        out[i] = nnrti_onnx_new(c);
        if (declared != NULL && c->code == NNRT_SUCCESS)
            nnrt_builder_declare(b, out[i], declared[i], NNRT_RANK_UNKNOWN, NULL);
        if (image && c->code == NNRT_SUCCESS)
            nnrt_builder_format(b, out[i], NNRT_FORMAT_NCHW);
    }
    if (c->code != NNRT_SUCCESS)
        return;
    if (c->quantCount > 0)
        nnrt_builder_quant(b, out[0], c->quant, c->quantCount);
    if (c->quantCount > 1)
        nnrt_builder_quant_axis(b, out[0], c->quantAxis + 1);
    nnrti_onnx_set_images(c, image, in, nIn);
    nnrt_builder_node(b, NULL, type, attr, in, nIn, out, nOut);
    if (!nnrti_onnx_fine(c))
        return;
    if (nnrti_array_count(b->nodes) > before)
        b->nodes[before].name = nnrti_onnx_step_name(c, type, false);
    for (uint32_t i = 0; i < nOut; i++) { /* shape inference may have passed quantization parameters on */
        const nnrt_operand *o = &b->shapes[out[i]];
        b->tensors[out[i]].quantParams = NNRT_QuantParamList_make(o->quant, o->quantCount);
        b->tensors[out[i]].quantAxis = o->quantAxis;
    }
}

/* Steps with one result and one to three inputs. attr NULL: an operator without attributes, or with default ones. */
static uint32_t nnrti_onnx_step1(nnrti_onnx *c, NNRT_NodeType type, const void *attr, uint32_t x)
{
    uint32_t y = NNRT_NO_TENSOR;
    nnrti_onnx_emit(c, type, attr, &x, 1, &y, 1, NULL);
    return y;
}

static uint32_t nnrti_onnx_step2(nnrti_onnx *c, NNRT_NodeType type, const void *attr, uint32_t a, uint32_t b)
{
    uint32_t in[2], y = NNRT_NO_TENSOR;
    in[0] = a;
    in[1] = b;
    nnrti_onnx_emit(c, type, attr, in, 2, &y, 1, NULL);
    return y;
}

static uint32_t nnrti_onnx_step3(nnrti_onnx *c, NNRT_NodeType type, const void *attr, uint32_t a, uint32_t b,
                                 uint32_t d)
{
    uint32_t in[3], y = NNRT_NO_TENSOR;
    in[0] = a;
    in[1] = b;
    in[2] = d;
    nnrti_onnx_emit(c, type, attr, in, d != NNRT_NO_TENSOR ? 3 : 2, &y, 1, NULL);
    return y;
}

/* A step with one result; trailing inputs may be absent. */
static void nnrti_onnx_emit_known(nnrti_onnx *c, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                                  uint32_t *y)
{
    while (nIn > 0 && in[nIn - 1] == NNRT_NO_TENSOR)
        nIn--;
    nnrti_onnx_emit(c, type, attr, in, nIn, y, 1, NULL);
}

/* A step with one result whose type must be declared. */
static uint32_t nnrti_onnx_step_typed(nnrti_onnx *c, NNRT_NodeType type, const void *attr, uint32_t x, NNRT_DataType to)
{
    uint32_t y = NNRT_NO_TENSOR;
    nnrti_onnx_emit(c, type, attr, &x, 1, &y, 1, &to);
    return y;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_reading: attributes, inputs and outputs of the current node */

/* The attribute of this name, NULL if absent; another type than the expected one is a fault. */
static const nnrt_onnx_attribute *nnrti_onnx_attr(nnrti_onnx *c, const char *name, nnrt_onnx_attribute_type type)
{
    for (size_t i = 0; i < c->node->attributes.count; i++) {
        const nnrt_onnx_attribute *a = &c->node->attributes.data[i];
        if (!nnrti_onnx_is(a->name, name))
            continue;
        if (a->type == type)
            return a;
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' has type %d, expected %d", name, a->type, type);
        return NULL;
    }
    return NULL;
}

NNRTI_NOINLINE static int64_t nnrti_onnx_int(nnrti_onnx *c, const char *name, int64_t initial)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_INT);
    return a != NULL ? a->i : initial;
}

NNRTI_NOINLINE static float nnrti_onnx_float(nnrti_onnx *c, const char *name, float initial)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_FLOAT);
    return a != NULL ? a->f : initial;
}

/* A list attribute; data NULL: the attribute is absent. */
static nnrt_onnx_ints nnrti_onnx_ints_of(nnrti_onnx *c, const char *name)
{
    static const int64_t nothing = 0;
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_INTS);
    nnrt_onnx_ints list;
    list.data = a != NULL ? (a->ints.count > 0 ? a->ints.data : &nothing) : NULL;
    list.count = a != NULL ? a->ints.count : 0;
    return list;
}

/* The index of the attribute's text in the list of texts "first|second|..."; 0 if the attribute is absent. Another text
   is a fault. */
static int32_t nnrti_onnx_choice(nnrti_onnx *c, const char *name, const char *texts)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_STRING);
    char text[64];
    int32_t i = 0;
    if (a == NULL)
        return 0;
    for (const char *t = texts;; i++) {
        size_t n = strcspn(t, "|");
        if (a->s.length == n && memcmp(a->s.data, t, n) == 0)
            return i;
        if (t[n] == '\0')
            break;
        t += n + 1;
    }
    NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' is '%s', expected one of %s", name,
                    nnrti_onnx_text(text, a->s), texts);
    return 0;
}

/* Value of input i, a tensor or a sequence; NNRT_NO_TENSOR if it is absent. */
static uint32_t nnrti_onnx_any(nnrti_onnx *c, uint32_t i)
{
    const nnrti_onnx_entry *e;
    char text[64], other[64];
    if (c->applied != NULL)
        return c->code == NNRT_SUCCESS && i < c->applied->nIn ? c->applied->in[i] : NNRT_NO_TENSOR;
    if (c->code != NNRT_SUCCESS || i >= c->node->inputs.count || c->node->inputs.data[i].length == 0)
        return NNRT_NO_TENSOR;
    e = nnrti_onnx_entry_of(c, c->node->inputs.data[i]);
    if (e->name.data != NULL)
        return e->value;
    if (e->node != NULL) /* all others have been added before (nnrti_onnx_add_nodes) */
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "input %u is '%s', a result of node '%s', which depends on this node: the "
                    "nodes form a cycle", i, nnrti_onnx_text(text, c->node->inputs.data[i]),
                    nnrti_onnx_text(other, e->node->name.length > 0 ? e->node->name : e->node->opType));
    else
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "input %u is '%s', which no input, initializer or node defines", i,
                    nnrti_onnx_text(text, c->node->inputs.data[i]));
    return NNRT_NO_TENSOR;
}

/* Value of input i, NNRT_NO_TENSOR if it is absent. */
static uint32_t nnrti_onnx_in(nnrti_onnx *c, uint32_t i)
{
    const uint32_t v = nnrti_onnx_any(c, i);
    char text[64];
    if (nnrti_onnx_sequence_of(c, v) == NULL)
        return v;
    NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u '%s' is a sequence, expected a tensor", i,
                    nnrti_onnx_text(text, c->node->inputs.data[i]));
    return NNRT_NO_TENSOR;
}

/* True if the node has output i. */
static bool nnrti_onnx_has_output(const nnrti_onnx *c, uint32_t i)
{
    if (c->applied != NULL)
        return i < c->applied->nOut;
    return i < c->node->outputs.count && c->node->outputs.data[i].length > 0;
}

/* Binds output i of the node to value v. */
static void nnrti_onnx_out(nnrti_onnx *c, uint32_t i, uint32_t v)
{
    if (c->applied != NULL && i < c->applied->nOut)
        c->applied->out[i] = v;
    else if (nnrti_onnx_has_output(c, i))
        nnrti_onnx_bind(c, c->node->outputs.data[i], v);
}

/* The same for a value that may be absent, of an optional type. */
static void nnrti_onnx_out_any(nnrti_onnx *c, uint32_t i, uint32_t v)
{
    if (v != NNRT_NO_TENSOR)
        nnrti_onnx_out(c, i, v);
    else if (c->code == NNRT_SUCCESS && nnrti_onnx_has_output(c, i))
        nnrti_onnx_bind_absent(c, c->node->outputs.data[i]);
}

/* The name of value v for messages: its own, or that of the input of the node by which v is read. */
static const char *nnrti_onnx_name_of(const nnrti_onnx *c, uint32_t v, char text[64])
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    for (size_t i = 0; o->name != NULL && o->name[0] == '\0' && c->node != NULL && i < c->node->inputs.count; i++)
        if (c->node->inputs.data[i].length > 0 && nnrti_onnx_entry_of(c, c->node->inputs.data[i])->value == v)
            return nnrti_onnx_text(text, c->node->inputs.data[i]);
    return o->name;
}

static NNRT_DataType nnrti_onnx_type(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    char text[64];
    if (o->dataType == NNRT_DATA_TYPE_UNKNOWN)
        NNRTI_ONNX_NEEDS(c, "the element type of '%s' is unknown while dimensions are dynamic: give the shapes of the inputs",
                         nnrti_onnx_name_of(c, v, text));
    return o->dataType;
}

static bool nnrti_onnx_is_a(nnrti_onnx *c, uint32_t v, uint32_t types)
{
    NNRT_DataType t = nnrti_onnx_type(c, v);
    return t != NNRT_DATA_TYPE_UNKNOWN && (types & NNRT_TYPES_OF(t)) != 0;
}

/* Number of axes; 0 and a fault if it is unknown. */
static int32_t nnrti_onnx_rank(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    char text[64];
    if (o->rank >= 0)
        return o->rank;
    NNRTI_ONNX_NEEDS(c, "the rank of '%s' is unknown while dimensions are dynamic: give the shapes of the inputs",
                     nnrti_onnx_name_of(c, v, text));
    return 0;
}

/* Size of axis i, -1 if it is dynamic. */
static int32_t nnrti_onnx_dim(const nnrti_onnx *c, uint32_t v, int32_t i)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    return i < 0 || i >= o->rank || i >= NNRT_MAX_RANK || o->symbols[i] != 0 ? -1 : o->dims[i];
}

/* Size of axis i; 1 and a fault if it is dynamic. what: the purpose, for the message. */
static int32_t nnrti_onnx_fixed_dim(nnrti_onnx *c, uint32_t v, int32_t i, const char *what)
{
    int32_t n = nnrti_onnx_dim(c, v, i);
    char text[64];
    if (n >= 0)
        return n;
    NNRTI_ONNX_NEEDS(c, "%s requires a fixed size of axis %d of '%s': give the shapes of the inputs", what, i,
                     nnrti_onnx_name_of(c, v, text));
    return 1;
}

/* Normalizes axis to 0..rank-1; outside -rank..rank-1 is a fault. */
static int32_t nnrti_onnx_axis(nnrti_onnx *c, int64_t axis, int32_t rank)
{
    if (axis >= -(int64_t)rank && axis < rank)
        return (int32_t)(axis < 0 ? axis + rank : axis);
    if (rank == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "axis is %l, but the input is a scalar without axes", axis);
    else
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "axis is %l, expected %d to %d", axis, -rank, rank - 1);
    return 0;
}

/* Copies the elements of v, a constant of int32 or int64, to list[most]; returns their number. what names v in
   messages. */
static uint32_t nnrti_onnx_list(nnrti_onnx *c, uint32_t v, const char *what, int64_t *list, uint32_t most)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    size_t count = 0;
    if (c->code != NNRT_SUCCESS)
        return 0;
    if (!nnrti_onnx_is_constant(c, v)) {
        NNRTI_ONNX_NEEDS(c, "%s '%s' must be a constant", what, o->name);
        return 0;
    }
    if (o->dataType != NNRT_DATA_TYPE_INT32 && o->dataType != NNRT_DATA_TYPE_INT64) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "%s '%s' is %o, expected int32 or int64", what, o->name, o);
        return 0;
    }
    if (!nnrt_dims_count(o->dims, o->rank, &count) || count > most) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "%s '%s' is %o, expected at most %u entries", what, o->name, o, most);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = nnrti_value(o, i);
    return (uint32_t)count;
}

/* A list that is input i in newer operator sets and an attribute in older ones. *count = number of its entries, in
   list[most]; false if both are absent. */
static bool nnrti_onnx_param(nnrti_onnx *c, const char *name, uint32_t i, int64_t *list, uint32_t most, uint32_t *count)
{
    nnrt_onnx_ints a = nnrti_onnx_ints_of(c, name);
    uint32_t v = nnrti_onnx_in(c, i);
    *count = 0;
    if (v != NNRT_NO_TENSOR) {
        *count = nnrti_onnx_list(c, v, name, list, most);
        return true;
    }
    if (a.data == NULL)
        return false;
    if (a.count > most) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s has %z entries, expected at most %u", name, a.count, most);
        return false;
    }
    memcpy(list, a.data, a.count * sizeof(*list));
    *count = (uint32_t)a.count;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_parts: what handlers are made of */

/* Attributes of an operator with their defaults: nnrti_onnx_defaults(NNRT_NODE_TYPE_RESIZE, &a). */
static void nnrti_onnx_defaults(NNRT_NodeType type, void *attr)
{
    nnrt_attr_defaults(nnrt_op_find(type)->attr, attr);
}

/* A constant, int64[count]. */
NNRTI_NOINLINE static uint32_t nnrti_onnx_const_ints(nnrti_onnx *c, const int64_t *list, uint32_t count)
{
    int32_t dims[1];
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    dims[0] = (int32_t)count;
    return nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_INT64, 1, dims, list);
}

NNRTI_NOINLINE static uint32_t nnrti_onnx_const_int(nnrti_onnx *c, int64_t value)
{
    return nnrti_onnx_const_ints(c, &value, 1);
}

static uint32_t nnrti_onnx_cast(nnrti_onnx *c, uint32_t v, NNRT_DataType type)
{
    if (nnrti_onnx_type(c, v) == type)
        return v;
    return nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_CAST, NULL, v, type);
}

/* A constant scalar of a type, converted as CAST does. */
static uint32_t nnrti_onnx_scalar(nnrti_onnx *c, NNRT_DataType type, double value)
{
    return nnrti_onnx_cast(c, nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_FLOAT64, 0, NULL, &value), type);
}

/* A constant scalar of the type of v. */
static uint32_t nnrti_onnx_like(nnrti_onnx *c, uint32_t v, double value)
{
    return nnrti_onnx_scalar(c, nnrti_onnx_type(c, v), value);
}

NNRTI_NOINLINE static uint32_t nnrti_onnx_add(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, a, b);
}

NNRTI_NOINLINE static uint32_t nnrti_onnx_sub(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_SUB_FUSION, NULL, a, b);
}

NNRTI_NOINLINE static uint32_t nnrti_onnx_mul(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, a, b);
}

NNRTI_NOINLINE static uint32_t nnrti_onnx_div(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_DIV_FUSION, NULL, a, b);
}

/* a > b ? a : b, so that a NaN in a is lost and a NaN in b is returned. */
static uint32_t nnrti_onnx_maximum(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_MAXIMUM, NULL, a, b);
}

static uint32_t nnrti_onnx_less_equal(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_LESS_EQUAL, NULL, a, b);
}

static uint32_t nnrti_onnx_act(nnrti_onnx *c, uint32_t x, NNRT_ActivationType type, float alpha)
{
    NNRT_Activation a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ACTIVATION, &a);
    a.activationType = type;
    a.alpha = alpha;
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_ACTIVATION, &a, x);
}

/* True if v is constant and contains no NaN. */
static bool nnrti_onnx_known_numbers(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    size_t count;
    if (!nnrti_onnx_is_constant(c, v) || !nnrt_dims_count(o->dims, o->rank, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        double d;
        d = nnrti_load_f64(o->data, (ptrdiff_t)i, o->dataType);
        if (d != d)
            return false;
    }
    return true;
}

/* x in another shape; dims as for RESHAPE. */
static uint32_t nnrti_onnx_reshape(nnrti_onnx *c, uint32_t x, const int64_t *dims, int32_t rank)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, nnrti_onnx_const_ints(c, dims, (uint32_t)rank));
}

static uint32_t nnrti_onnx_transpose(nnrti_onnx *c, uint32_t x, const int64_t *perm, int32_t rank)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, x, nnrti_onnx_const_ints(c, perm, (uint32_t)rank));
}

static uint32_t nnrti_onnx_unsqueeze(nnrti_onnx *c, uint32_t x, int64_t axis)
{
    NNRT_Unsqueeze a;
    a.axis = nnrt_int64_list(&axis, 1);
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_UNSQUEEZE, &a, x);
}

/* True if the shape of v is static. */
static bool nnrti_onnx_is_static(const nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    bool closed = o->rank >= 0;
    for (int32_t i = 0; i < o->rank; i++)
        closed = closed && o->symbols[i] == 0;
    return closed;
}

/* condition ? x : y. WHERE would use a condition of rank 1 to select rows of x, so the condition gets a second axis,
   or, if the shape of x is dynamic (axes of 1 may still be dropped), the shape of x by LOGICAL_OR with false. */
static uint32_t nnrti_onnx_where(nnrti_onnx *c, uint32_t condition, uint32_t x, uint32_t y)
{
    const int32_t rank = nnrti_onnx_at(c, condition)->rank, other = nnrti_onnx_at(c, x)->rank;
    if (rank == 1 && other > 1 && nnrti_onnx_is_static(c, x))
        condition = nnrti_onnx_unsqueeze(c, condition, 0);
    else if (rank != 0 && rank < 2 && other != 0 && other != 1)
        condition = nnrti_onnx_step2(
            c, NNRT_NODE_TYPE_LOGICAL_OR, NULL, condition,
            nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL_LIKE, NULL, x, nnrti_onnx_scalar(c, NNRT_DATA_TYPE_BOOL, 0)));
    return nnrti_onnx_step3(c, NNRT_NODE_TYPE_WHERE, NULL, condition, x, y);
}

/* MAXIMUM or MINIMUM of a and b that returns NaN if either is NaN. The operators propagate a NaN of the second operand
   only: an operand without NaN goes first; if both may have NaN, a WHERE restores those of a. */
static uint32_t nnrti_onnx_extreme(nnrti_onnx *c, NNRT_NodeType type, uint32_t a, uint32_t b)
{
    if (!nnrti_onnx_is_a(c, a, NNRT_TYPES_FLOAT | NNRT_TYPES_F64) || nnrti_onnx_known_numbers(c, a))
        return nnrti_onnx_step2(c, type, NULL, a, b);
    if (nnrti_onnx_known_numbers(c, b))
        return nnrti_onnx_step2(c, type, NULL, b, a);
    return nnrti_onnx_where(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_EQUAL, NULL, a, a),
                            nnrti_onnx_step2(c, type, NULL, a, b), a);
}

static uint32_t nnrti_onnx_squeeze(nnrti_onnx *c, uint32_t x, int64_t axis)
{
    NNRT_Squeeze a;
    a.axis = nnrt_int64_list(&axis, 1);
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_SQUEEZE, &a, x);
}

/* x[begin:end] along one axis, every step-th element; begin and end as in Python, except that end -1 counts as -1. */
static uint32_t nnrti_onnx_strided_slice(nnrti_onnx *c, uint32_t x, int64_t axis, int64_t begin, int64_t end,
                                         int64_t step)
{
    NNRT_StridedSlice a;
    uint32_t in[5], y = NNRT_NO_TENSOR;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_STRIDED_SLICE, &a);
    in[0] = x;
    in[1] = nnrti_onnx_const_int(c, begin);
    in[2] = nnrti_onnx_const_int(c, end);
    in[3] = nnrti_onnx_const_int(c, axis);
    in[4] = nnrti_onnx_const_int(c, step);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_STRIDED_SLICE, &a, in, 5, &y, 1, NULL);
    return y;
}

static uint32_t nnrti_onnx_concat(nnrti_onnx *c, const uint32_t *in, uint32_t nIn, int64_t axis)
{
    NNRT_Concat a;
    uint32_t y = NNRT_NO_TENSOR;
    a.axis = axis;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_CONCAT, &a, in, nIn, &y, 1, NULL);
    return y;
}

static uint32_t nnrti_onnx_gather(nnrti_onnx *c, uint32_t x, uint32_t indices, int64_t axis)
{
    return nnrti_onnx_step3(c, NNRT_NODE_TYPE_GATHER, NULL, x, indices, nnrti_onnx_const_int(c, axis));
}

/* Reduction over axes; count 0: over all axes. */
static uint32_t nnrti_onnx_reduce(nnrti_onnx *c, uint32_t x, NNRT_ReduceMode mode, const int64_t *axes, uint32_t count,
                                  bool keepDims)
{
    NNRT_ReduceFusion a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_REDUCE_FUSION, &a);
    a.mode = mode;
    a.keepDims = keepDims;
    if (count == 0)
        return nnrti_onnx_step1(c, NNRT_NODE_TYPE_REDUCE_FUSION, &a, x);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_REDUCE_FUSION, &a, x, nnrti_onnx_const_ints(c, axes, count));
}

/* The shape of x as int64[rank]. */
static uint32_t nnrti_onnx_shape(nnrti_onnx *c, uint32_t x)
{
    return nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_SHAPE, NULL, x, NNRT_DATA_TYPE_INT64);
}

/* Product of dims[from..to). A fault if it exceeds the range of a dimension. */
static int64_t nnrti_onnx_product(nnrti_onnx *c, const int64_t *dims, int32_t from, int32_t to)
{
    int64_t n = 1;
    for (int32_t i = from; i < to; i++) {
        if (dims[i] > 0 && n > INT32_MAX / dims[i]) {
            NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the product of the sizes of %d axes exceeds int32", to - from);
            return 1;
        }
        n *= dims[i];
    }
    return n;
}

/* A dimension, or a size computed from dimensions: a number, or, if it is dynamic (known -1), a value int64[1] that
   steps compute in the run. */
typedef struct nnrti_onnx_size {
    int64_t known;
    uint32_t value;
} nnrti_onnx_size;

NNRTI_NOINLINE static nnrti_onnx_size nnrti_onnx_size_known(int64_t n)
{
    nnrti_onnx_size s;
    s.known = n;
    s.value = NNRT_NO_TENSOR;
    return s;
}

static nnrti_onnx_size nnrti_onnx_size_value(uint32_t value)
{
    nnrti_onnx_size s;
    s.known = -1;
    s.value = value;
    return s;
}

/* s as int64[1], constant or computed in the run. */
static uint32_t nnrti_onnx_size_ints(nnrti_onnx *c, nnrti_onnx_size s)
{
    return s.known >= 0 ? nnrti_onnx_const_int(c, s.known) : s.value;
}

/* s as a scalar of the type of v. */
static uint32_t nnrti_onnx_size_like(nnrti_onnx *c, nnrti_onnx_size s, uint32_t v)
{
    if (s.known >= 0)
        return nnrti_onnx_like(c, v, (double)s.known);
    return nnrti_onnx_cast(c, nnrti_onnx_reshape(c, s.value, NULL, 0), nnrti_onnx_type(c, v));
}

/* The size of axis i of x. */
static nnrti_onnx_size nnrti_onnx_size_of(nnrti_onnx *c, uint32_t x, int32_t i)
{
    const int64_t n = nnrti_onnx_dim(c, x, i);
    if (n >= 0)
        return nnrti_onnx_size_known(n);
    return nnrti_onnx_size_value(nnrti_onnx_gather(c, nnrti_onnx_shape(c, x), nnrti_onnx_const_int(c, i), 0));
}

/* The sizes of all axes of x; returns the rank. */
static int32_t nnrti_onnx_sizes_of(nnrti_onnx *c, uint32_t x, nnrti_onnx_size sizes[NNRT_MAX_RANK])
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    for (int32_t i = 0; i < rank; i++)
        sizes[i] = nnrti_onnx_size_of(c, x, i);
    return rank;
}

/* The product of the sizes of axes from..to-1 of x. */
static nnrti_onnx_size nnrti_onnx_size_product(nnrti_onnx *c, uint32_t x, int32_t from, int32_t to)
{
    const int64_t first = 0;
    int64_t dims[NNRT_MAX_RANK];
    int32_t open = -1, others = 0;
    for (int32_t i = 0; i < NNRT_MAX_RANK; i++) {
        if (i < from || i >= to)
            continue;
        dims[i] = nnrti_onnx_dim(c, x, i);
        others += dims[i] != 1 ? 1 : 0;
        open = dims[i] < 0 ? i : open;
    }
    if (open < 0)
        return nnrti_onnx_size_known(nnrti_onnx_product(c, dims, from, to));
    if (others == 1)
        return nnrti_onnx_size_of(c, x, open);
    return nnrti_onnx_size_value(nnrti_onnx_reduce(c,
                                                   nnrti_onnx_strided_slice(c, nnrti_onnx_shape(c, x), 0, from, to, 1),
                                                   NNRT_REDUCE_MODE_PROD, &first, 1, true));
}

/* s * n, and s / n rounded down: n > 0. */
static nnrti_onnx_size nnrti_onnx_size_times(nnrti_onnx *c, nnrti_onnx_size s, int64_t n)
{
    if (s.known >= 0)
        return nnrti_onnx_size_known(s.known * n);
    return nnrti_onnx_size_value(nnrti_onnx_mul(c, s.value, nnrti_onnx_const_int(c, n)));
}

static nnrti_onnx_size nnrti_onnx_size_over(nnrti_onnx *c, nnrti_onnx_size s, int64_t n)
{
    if (s.known >= 0)
        return nnrti_onnx_size_known(s.known / n);
    return nnrti_onnx_size_value(nnrti_onnx_div(c, s.value, nnrti_onnx_const_int(c, n)));
}

/* s + n. */
static nnrti_onnx_size nnrti_onnx_size_plus(nnrti_onnx *c, nnrti_onnx_size s, int64_t n)
{
    if (s.known >= 0)
        return nnrti_onnx_size_known(s.known + n);
    return nnrti_onnx_size_value(nnrti_onnx_add(c, s.value, nnrti_onnx_const_int(c, n)));
}

/* int64[count], constant if all sizes are. */
static uint32_t nnrti_onnx_size_list(nnrti_onnx *c, const nnrti_onnx_size *sizes, int32_t count)
{
    uint32_t parts[NNRT_MAX_RANK];
    int64_t list[NNRT_MAX_RANK];
    bool known = true;
    for (int32_t i = 0; i < count; i++) {
        list[i] = sizes[i].known;
        known = known && list[i] >= 0;
    }
    if (known)
        return nnrti_onnx_const_ints(c, list, (uint32_t)count);
    for (int32_t i = 0; i < count; i++)
        parts[i] = nnrti_onnx_size_ints(c, sizes[i]);
    return count == 1 ? parts[0] : nnrti_onnx_concat(c, parts, (uint32_t)count, 0);
}

/* The entries of a list of sizes, at most most of them, some possibly dynamic; returns their number. */
static int32_t nnrti_onnx_size_entries(nnrti_onnx *c, uint32_t v, const char *what, nnrti_onnx_size *sizes,
                                       int32_t most)
{
    const nnrt_operand o = *nnrti_onnx_at(c, v);
    int64_t list[2 * NNRT_MAX_RANK];
    int32_t count;
    if (o.data != NULL && o.open != NULL && o.rank == 1 && o.dims[0] <= most) {
        for (int32_t i = 0; i < o.dims[0] && c->code == NNRT_SUCCESS; i++)
            sizes[i] = o.open[i] == 0 && nnrti_value(&o, (size_t)i) >= 0
                           ? nnrti_onnx_size_known(nnrti_value(&o, (size_t)i))
                           : nnrti_onnx_size_value(nnrti_onnx_strided_slice(c, v, 0, i, i + 1, 1));
        return o.dims[0];
    }
    count = (int32_t)nnrti_onnx_list(c, v, what, list, (uint32_t)most);
    for (int32_t i = 0; i < count; i++) {
        if (list[i] < 0)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s[%d] is %l, expected 0 or more", what, i, list[i]);
        sizes[i] = nnrti_onnx_size_known(list[i]);
    }
    return count;
}

/* x in another shape. A single dynamic size, next to nonzero constant ones, is -1 for RESHAPE, which derives it from
   the element count of x. A size of 0 only occurs with an empty x, for which RESHAPE takes it literally; otherwise the
   element counts differ and RESHAPE fails. */
static uint32_t nnrti_onnx_reshape_to(nnrti_onnx *c, uint32_t x, const nnrti_onnx_size *sizes, int32_t rank)
{
    int64_t dims[NNRT_MAX_RANK];
    int32_t open = 0;
    bool some = true;
    if (rank > NNRT_MAX_RANK) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "the operator is computed with %d axes, this build has at most %d", rank,
                        NNRT_MAX_RANK);
        return NNRT_NO_TENSOR;
    }
    for (int32_t i = 0; i < rank; i++) {
        dims[i] = sizes[i].known;
        open += dims[i] < 0 ? 1 : 0;
        some = some && dims[i] != 0;
    }
    if (open == 0 || (open == 1 && some))
        return nnrti_onnx_reshape(c, x, dims, rank);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, nnrti_onnx_size_list(c, sizes, rank));
}

/* int64[n], 0 to n - 1. */
static uint32_t nnrti_onnx_iota(nnrti_onnx *c, nnrti_onnx_size n)
{
    return nnrti_onnx_step3(c, NNRT_NODE_TYPE_RANGE, NULL, nnrti_onnx_const_int(c, 0), nnrti_onnx_size_ints(c, n),
                            nnrti_onnx_const_int(c, 1));
}

/* Broadcasts x with a tensor of the given shape, int64[..], static or dynamic; exact for every type. max(lowest value
   of the type, x) is x, NaN included. */
static uint32_t nnrti_onnx_broadcast(nnrti_onnx *c, uint32_t x, uint32_t shape)
{
    const bool isBool = nnrti_onnx_is_a(c, x, NNRT_TYPES_BOOL);
    const uint64_t infinity = 0xFFF0000000000000u; /* -infinity: integers saturate */
    uint32_t fill;
    double least;
    memcpy(&least, &infinity, sizeof(least));
    fill = nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL, NULL, nnrti_onnx_like(c, x, isBool ? 1 : least), shape);
    return isBool ? nnrti_onnx_mul(c, fill, x) : nnrti_onnx_maximum(c, fill, x);
}

/* Copies the single element of a constant of float32 or float16; false if v is anything else. */
static bool nnrti_onnx_known_float(nnrti_onnx *c, uint32_t v, float *value)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    size_t count;
    if (!nnrti_onnx_is_constant(c, v) ||
        (o->dataType != NNRT_DATA_TYPE_FLOAT32 && o->dataType != NNRT_DATA_TYPE_FLOAT16) ||
        !nnrt_dims_count(o->dims, o->rank, &count) || count != 1)
        return false;
    if (o->dataType == NNRT_DATA_TYPE_FLOAT16) {
        uint16_t half;
        memcpy(&half, o->data, sizeof(half));
        *value = nnrt_half_to_float(half);
        return true;
    }
    memcpy(value, o->data, sizeof(*value));
    return true;
}

/* The run fails if any element of condition (bool) is false; its message shows v. */
static void nnrti_onnx_assert(nnrti_onnx *c, uint32_t condition, uint32_t v)
{
    uint32_t in[2];
    NNRT_Assert a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ASSERT, &a);
    a.summarize = NNRT_MAX_RANK;
    in[0] = condition;
    in[1] = v;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_ASSERT, &a, in, 2, NULL, 0, NULL);
}

static void nnrti_onnx_assert_equal(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    nnrti_onnx_assert(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_EQUAL, NULL, a, b), a);
}

/* Number of entries of list v if their values are only computed in the run; -1: the values are known, or the number of
   entries is dynamic. */
static int32_t nnrti_onnx_runtime_entries(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = v != NNRT_NO_TENSOR ? nnrti_onnx_at(c, v) : NULL;
    return o == NULL || nnrti_onnx_is_constant(c, v) || o->data != NULL || o->rank != 1 || !nnrti_onnx_is_static(c, v)
               ? -1
               : o->dims[0];
}

/* int64[rank] filled with `value`, except for the entries at indices `axes` (computed in the run), which are taken from
   list. */
static uint32_t nnrti_onnx_scattered(nnrti_onnx *c, int32_t rank, int64_t value, uint32_t axes, uint32_t list)
{
    int64_t all[2 * NNRT_MAX_RANK];
    NNRT_ScatterElements a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a);
    for (int32_t i = 0; i < rank; i++)
        all[i] = value;
    return nnrti_onnx_step3(c, NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a, nnrti_onnx_const_ints(c, all, (uint32_t)rank), axes,
                            nnrti_onnx_cast(c, list, NNRT_DATA_TYPE_INT64));
}

/* int64[rank]: 1 for each of the axes, which are computed in the run and must be distinct; 0 for the others. */
static uint32_t nnrti_onnx_axis_flags(nnrti_onnx *c, int32_t rank, uint32_t axes)
{
    const int32_t count = nnrti_onnx_runtime_entries(c, axes);
    const int64_t first = 0;
    int64_t ones[2 * NNRT_MAX_RANK];
    uint32_t flags;
    if (count > rank || rank > 2 * NNRT_MAX_RANK) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "axes has %d entries, expected at most %d", count, rank);
        return NNRT_NO_TENSOR;
    }
    for (int32_t i = 0; i < count; i++)
        ones[i] = 1;
    flags = nnrti_onnx_scattered(c, rank, 0, axes, nnrti_onnx_const_ints(c, ones, (uint32_t)count));
    nnrti_onnx_assert_equal(c, nnrti_onnx_reduce(c, flags, NNRT_REDUCE_MODE_SUM, &first, 1, true),
                            nnrti_onnx_const_int(c, count));
    return flags;
}

/* Inserts axes of size 1 into x at `axes`, which are computed in the run. */
static uint32_t nnrti_onnx_unsqueeze_dynamic(nnrti_onnx *c, uint32_t x, uint32_t axes)
{
    const int32_t rank = nnrti_onnx_rank(c, x) + nnrti_onnx_runtime_entries(c, axes);
    uint32_t flags = nnrti_onnx_axis_flags(c, rank, axes), from[2], places, dims;
    NNRT_CumSum a;
    if (rank > NNRT_MAX_RANK)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "the result has %d axes, at most %d are possible", rank, NNRT_MAX_RANK);
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_CUM_SUM, &a);
    a.exclusive = true; /* the number of axes of x before each */
    places = nnrti_onnx_step2(c, NNRT_NODE_TYPE_CUM_SUM, &a, nnrti_onnx_sub(c, nnrti_onnx_const_int(c, 1), flags),
                              nnrti_onnx_scalar(c, NNRT_DATA_TYPE_INT64, 0));
    from[0] = nnrti_onnx_shape(c, x);
    from[1] = nnrti_onnx_const_int(c, 1);
    dims = nnrti_onnx_gather(c, nnrti_onnx_concat(c, from, 2, 0), places, 0);
    dims = nnrti_onnx_step3(c, NNRT_NODE_TYPE_WHERE, NULL, nnrti_onnx_cast(c, flags, NNRT_DATA_TYPE_BOOL),
                            nnrti_onnx_const_int(c, 1), dims);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, dims);
}

/* Removes axes from x that are computed in the run and have size 1. */
static uint32_t nnrti_onnx_squeeze_dynamic(nnrti_onnx *c, uint32_t x, uint32_t axes)
{
    const int32_t rank = nnrti_onnx_rank(c, x), left = rank - nnrti_onnx_runtime_entries(c, axes);
    const uint32_t flags = nnrti_onnx_axis_flags(c, rank, axes), shape = nnrti_onnx_shape(c, x);
    static const NNRT_DataType types[2] = {NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_INT64};
    int64_t order[NNRT_MAX_RANK];
    uint32_t in[2], out[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_TopKFusion a;
    nnrti_onnx_assert_equal(c, nnrti_onnx_gather(c, shape, axes, 0), nnrti_onnx_const_int(c, 1));
    if (left == 0)
        return nnrti_onnx_reshape(c, x, NULL, 0);
    for (int32_t i = 0; i < rank; i++)
        order[i] = i + 1;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_TOPK_FUSION, &a); /* remaining axes have the lowest keys */
    a.sorted = true;
    in[0] = nnrti_onnx_add(c, nnrti_onnx_const_ints(c, order, (uint32_t)rank),
                           nnrti_onnx_mul(c, flags, nnrti_onnx_const_int(c, rank)));
    in[1] = nnrti_onnx_const_int(c, left);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_BOTTOM_K, &a, in, 2, out, 2, types);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, nnrti_onnx_gather(c, shape, out[1], 0));
}

/* The row of NNRT_FloatFormat of a floating-point type of storage, -1 for the integers. */
static int32_t nnrti_onnx_float_format(nnrt_onnx_type storage)
{
    switch (storage) {
    case NNRT_ONNX_BFLOAT16: return NNRT_FLOAT_FORMAT_BFLOAT16;
    case NNRT_ONNX_FLOAT8E4M3FN: return NNRT_FLOAT_FORMAT_E4M3FN;
    case NNRT_ONNX_FLOAT8E4M3FNUZ: return NNRT_FLOAT_FORMAT_E4M3FNUZ;
    case NNRT_ONNX_FLOAT8E5M2: return NNRT_FLOAT_FORMAT_E5M2;
    case NNRT_ONNX_FLOAT8E5M2FNUZ: return NNRT_FLOAT_FORMAT_E5M2FNUZ;
    case NNRT_ONNX_FLOAT8E8M0: return NNRT_FLOAT_FORMAT_E8M0FNU;
    case NNRT_ONNX_FLOAT4E2M1: return NNRT_FLOAT_FORMAT_E2M1FN;
    default: return -1;
    }
}

/* The numbers of v: float32 for codes of a floating-point type of storage, else v. */
static uint32_t nnrti_onnx_decoded(nnrti_onnx *c, uint32_t v)
{
    NNRT_DecodeFloat a;
    a.format = nnrti_onnx_float_format(nnrti_onnx_storage_type(c, v));
    return a.format < 0 ? v : nnrti_onnx_step1(c, NNRT_NODE_TYPE_DECODE_FLOAT, &a, v);
}

/* x as codes of a floating-point type of storage. The attributes saturate and round_mode are the node's; bfloat16
   becomes Inf as the wider types do, float4e2m1 always saturates. */
static uint32_t nnrti_onnx_encoded(nnrti_onnx *c, uint32_t x, nnrt_onnx_type storage)
{
    const NNRT_DataType type = nnrti_onnx_type(c, x);
    uint32_t y;
    NNRT_EncodeFloat a;
    a.format = nnrti_onnx_float_format(storage);
    a.saturate = storage != NNRT_ONNX_BFLOAT16 && nnrti_onnx_int(c, "saturate", 1) != 0;
    a.rounding = nnrti_onnx_choice(c, "round_mode", "up|down|nearest");
    if (!nnrti_type_in(type, NNRT_TYPES_FLOAT | NNRT_TYPES_F64))
        x = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_FLOAT64);
    y = nnrti_onnx_step1(c, NNRT_NODE_TYPE_ENCODE_FLOAT, &a, x);
    nnrti_onnx_set_storage(c, y, storage);
    return y;
}

/* Input i of an operator whose results in float16 and bfloat16 are those in float32, rounded once (nnrti_onnx_out_narrow):
   float16 and bfloat16 become the type `wide`, others stay. All inputs must have the type of input 0. */
static uint32_t nnrti_onnx_in_wide(nnrti_onnx *c, uint32_t i, NNRT_DataType wide)
{
    const uint32_t v = nnrti_onnx_in(c, i), first = nnrti_onnx_in(c, 0);
    const nnrt_onnx_type storage = nnrti_onnx_storage_type(c, v);
    if (storage != nnrti_onnx_storage_type(c, first) || nnrti_onnx_type(c, v) != nnrti_onnx_type(c, first))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "input %u has another element type than input 0", i);
    if (storage == NNRT_ONNX_BFLOAT16)
        return nnrti_onnx_cast(c, nnrti_onnx_decoded(c, v), wide);
    if (storage != NNRT_ONNX_UNDEFINED)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE,
                        "input %u has element type %s (%d), which is not supported here: insert a Cast to float", i,
                        nnrti_onnx_type_text(storage), storage);
    return nnrti_onnx_is_a(c, v, NNRT_TYPES_OF(NNRT_DATA_TYPE_FLOAT16)) ? nnrti_onnx_cast(c, v, wide) : v;
}

/* Output 0 of the node: v in the type of input 0. */
static void nnrti_onnx_out_narrow(nnrti_onnx *c, uint32_t v)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const nnrt_onnx_type storage = nnrti_onnx_storage_type(c, x);
    nnrti_onnx_out(c, 0, storage != NNRT_ONNX_UNDEFINED ? nnrti_onnx_encoded(c, v, storage)
                                                        : nnrti_onnx_cast(c, v, nnrti_onnx_type(c, x)));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_elementwise */

/* The second input of an operator that broadcasts. Before operator set 7: broadcast only if `broadcast` is set, with
   its axes starting at `axis` of the first input (default: its last axes). */
static uint32_t nnrti_onnx_second(nnrti_onnx *c)
{
    nnrti_onnx_size sizes[NNRT_MAX_RANK];
    const uint32_t x = nnrti_onnx_in(c, 0), y = nnrti_onnx_in(c, 1);
    const nnrt_onnx_attribute *axis = nnrti_onnx_attr(c, "axis", NNRT_ONNX_ATTRIBUTE_INT);
    int32_t rank, have, at;
    if (c->opset >= 7 || axis == NULL || nnrti_onnx_int(c, "broadcast", 0) == 0)
        return y;
    rank = nnrti_onnx_rank(c, x);
    have = nnrti_onnx_sizes_of(c, y, sizes);
    at = nnrti_onnx_axis(c, axis->i, rank);
    if (have + at > rank)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE,
                        "axis is %d: the second input has %d axes, which exceeds the %d axes of the first", at, have,
                        rank);
    if (c->code != NNRT_SUCCESS || have + at == rank)
        return y;
    for (int32_t i = have; i < rank - at; i++)
        sizes[i] = nnrti_onnx_size_known(1);
    return nnrti_onnx_reshape_to(c, y, sizes, rank - at);
}

/* Binary operators with broadcasting: arg is the node type. */
static void nnrti_onnx_op_binary(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), y = nnrti_onnx_second(c);
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, arg, NULL, x, y));
}

/* fmod 1: x - y * trunc(x / y); fmod 0 (integers only): x - y * floor(x / y). */
static void nnrti_onnx_op_mod(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), y = nnrti_onnx_in(c, 1);
    uint32_t times;
    (void)arg;
    if (nnrti_onnx_int(c, "fmod", 0) != 0 || nnrti_onnx_is_a(c, x, NNRTI_TYPES_UINT)) {
        nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_MOD, NULL, x, y));
        return;
    }
    if (!nnrti_onnx_is_a(c, x, NNRTI_TYPES_SIGNED))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "fmod is 0, expected 1 for %t", nnrti_onnx_type(c, x));
    times = nnrti_onnx_step2(c, NNRT_NODE_TYPE_FLOOR_DIV, NULL, x, y);
    nnrti_onnx_out(c, 0, nnrti_onnx_sub(c, x, nnrti_onnx_mul(c, times, y)));
}

/* Max and Min with any number of inputs: arg is the node type. */
static void nnrti_onnx_op_extreme(nnrti_onnx *c, int32_t arg)
{
    uint32_t y = nnrti_onnx_in(c, 0);
    for (uint32_t i = 1; i < c->node->inputs.count; i++)
        y = nnrti_onnx_extreme(c, arg, y, nnrti_onnx_in(c, i));
    nnrti_onnx_out(c, 0, y);
}

/* Sum (arg 0) and Mean (arg 1) of any number of inputs. Two inputs become ADD_FUSION, which needs no copy and can fuse
   an activation. */
static void nnrti_onnx_op_sum(nnrti_onnx *c, int32_t arg)
{
    const uint32_t count = (uint32_t)c->node->inputs.count;
    uint32_t *in = (uint32_t *)nnrti_onnx_keep(c, count, sizeof(*in)), y = NNRT_NO_TENSOR;
    for (uint32_t i = 0; i < count && in != NULL; i++)
        in[i] = nnrti_onnx_in(c, i);
    if (c->code != NNRT_SUCCESS)
        return;
    if (count == 1)
        y = in[0];
    else
        nnrti_onnx_emit(c, count == 2 ? NNRT_NODE_TYPE_ADD_FUSION : NNRT_NODE_TYPE_ADD_N, NULL, in, count, &y, 1, NULL);
    if (arg == 1 && count > 1)
        y = nnrti_onnx_div(c, y, nnrti_onnx_like(c, y, (double)count));
    nnrti_onnx_out(c, 0, y);
}

/* Operators that correspond to one operator of the runtime, arg: one or two inputs, no attributes. */
static void nnrti_onnx_op_same(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), y = nnrti_onnx_in(c, 1);
    nnrti_onnx_out(
        c, 0, c->node->inputs.count > 1 ? nnrti_onnx_step2(c, arg, NULL, x, y) : nnrti_onnx_step1(c, arg, NULL, x));
}

/* Operators that are an activation function: arg. alpha defaults to 1, the ONNX default of all but the operators
   without alpha. */
static void nnrti_onnx_op_activation(nnrti_onnx *c, int32_t arg)
{
    nnrti_onnx_out(c, 0, nnrti_onnx_act(c, nnrti_onnx_in(c, 0), arg, nnrti_onnx_float(c, "alpha", 1.0f)));
}

/* Of floats an ACTIVATION; of integers y = min(max(x, -1), 1). */
static void nnrti_onnx_op_sign(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const NNRT_DataType type = nnrti_onnx_type(c, x);
    uint32_t most;
    (void)arg;
    if (c->code != NNRT_SUCCESS || nnrti_type_in(type, NNRT_TYPES_FLOAT | NNRT_TYPES_F64)) {
        nnrti_onnx_out(c, 0, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_SIGN, 1));
        return;
    }
    most = nnrti_type_in(type, NNRTI_TYPES_UINT)
               ? x
               : nnrti_onnx_step2(c, NNRT_NODE_TYPE_MAXIMUM, NULL, x, nnrti_onnx_like(c, x, -1));
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_MINIMUM, NULL, most, nnrti_onnx_like(c, x, 1)));
}

/* x * sigmoid(alpha * x). */
static uint32_t nnrti_onnx_swish(nnrti_onnx *c, uint32_t x)
{
    const float alpha = nnrti_onnx_float(c, "alpha", 1.0f);
    uint32_t y;
    if (alpha == 1)
        return nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_SWISH, 0);
    y = nnrti_onnx_mul(c, x, nnrti_onnx_like(c, x, (double)alpha));
    return nnrti_onnx_mul(c, x, nnrti_onnx_act(c, y, NNRT_ACTIVATION_TYPE_SIGMOID, 0));
}

static void nnrti_onnx_op_swish(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_swish(c, nnrti_onnx_in(c, 0)));
}

/* swish(a) * b. */
static void nnrti_onnx_op_swiglu(nnrti_onnx *c, int32_t arg)
{
    const uint32_t a = nnrti_onnx_in_wide(c, 0, NNRT_DATA_TYPE_FLOAT32), b = nnrti_onnx_in_wide(c, 1, NNRT_DATA_TYPE_FLOAT32);
    (void)arg;
    nnrti_onnx_out_narrow(c, nnrti_onnx_mul(c, nnrti_onnx_swish(c, a), b));
}

static void nnrti_onnx_op_leaky_relu(nnrti_onnx *c, int32_t arg)
{
    NNRT_LeakyRelu a;
    (void)arg;
    a.negativeSlope = nnrti_onnx_float(c, "alpha", 0.01f);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_LEAKY_RELU, &a, nnrti_onnx_in(c, 0)));
}

/* ln(1 + e^x): no threshold above which it returns x. */
static void nnrti_onnx_op_softplus(nnrti_onnx *c, int32_t arg)
{
    NNRT_Softplus a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_SOFTPLUS, &a);
    a.threshold = FLT_MAX;
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_SOFTPLUS, &a, nnrti_onnx_in(c, 0)));
}

/* Types that ACTIVATION does not support use the maximum with zero. */
static void nnrti_onnx_op_relu(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    (void)arg;
    if (nnrti_onnx_is_a(c, x, NNRT_TYPES_FLOAT | NNRT_TYPES_F64 | NNRT_TYPES_I32))
        nnrti_onnx_out(c, 0, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_RELU, 0));
    else
        nnrti_onnx_out(c, 0, nnrti_onnx_maximum(c, x, nnrti_onnx_like(c, x, 0)));
}

static uint32_t nnrti_onnx_power(nnrti_onnx *c, uint32_t x, uint32_t y)
{
    NNRT_PowFusion a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_POW_FUSION, &a);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_POW_FUSION, &a, x, y);
}

/* e^x; float64, which EXPFUSION does not support, as a power of e. */
static uint32_t nnrti_onnx_exp(nnrti_onnx *c, uint32_t x)
{
    NNRT_ExpFusion a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_EXPFUSION, &a);
    if (nnrti_onnx_is_a(c, x, NNRT_TYPES_F64))
        return nnrti_onnx_power(c, nnrti_onnx_like(c, x, 2.7182818284590452), x);
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_EXPFUSION, &a, x);
}

static void nnrti_onnx_op_exp(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_exp(c, nnrti_onnx_in(c, 0)));
}

/* The result has the type of the base. An integer base with a float exponent is computed in float64. */
static void nnrti_onnx_op_pow(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), y = nnrti_onnx_second(c);
    const NNRT_DataType type = nnrti_onnx_type(c, x);
    const uint32_t floats = NNRT_TYPES_FLOAT | NNRT_TYPES_F64;
    const bool wide = !nnrti_onnx_is_a(c, x, floats) && nnrti_onnx_is_a(c, y, floats);
    const NNRT_DataType meet = wide ? NNRT_DATA_TYPE_FLOAT64 : type;
    const uint32_t base = nnrti_onnx_cast(c, x, meet), exponent = nnrti_onnx_cast(c, y, meet);
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, nnrti_onnx_power(c, base, exponent), type));
}

static void nnrti_onnx_op_gelu(nnrti_onnx *c, int32_t arg)
{
    NNRT_Activation a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ACTIVATION, &a);
    a.activationType = NNRT_ACTIVATION_TYPE_GELU;
    a.approximate = nnrti_onnx_choice(c, "approximate", "none|tanh") == 1;
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_ACTIVATION, &a, nnrti_onnx_in(c, 0)));
}

/* gamma * (x >= 0 ? x : alpha*(e^x - 1)). The runtime's SELU has the constants of the paper; others use ELU. */
static void nnrti_onnx_op_selu(nnrti_onnx *c, int32_t arg)
{
    const float alpha = nnrti_onnx_float(c, "alpha", 1.6732632f), gamma = nnrti_onnx_float(c, "gamma", 1.050701f);
    const uint32_t x = nnrti_onnx_in(c, 0);
    uint32_t y;
    (void)arg;
    if (alpha > 1.67326f && alpha < 1.67327f && gamma > 1.05070f && gamma < 1.05071f) {
        nnrti_onnx_out(c, 0, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_SELU, 0));
        return;
    }
    y = nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_ELU, alpha);
    nnrti_onnx_out(c, 0, nnrti_onnx_mul(c, y, nnrti_onnx_like(c, y, (double)gamma)));
}

/* x >= 0 ? x : alpha*(e^(x/alpha) - 1), which is alpha * elu(x/alpha). A negative alpha reverses the sign of x/alpha,
   so it needs relu(x) + alpha*(e^(-relu(-x)/alpha) - 1). */
static void nnrti_onnx_op_celu(nnrti_onnx *c, int32_t arg)
{
    const float alpha = nnrti_onnx_float(c, "alpha", 1);
    const uint32_t x = nnrti_onnx_in_wide(c, 0, NNRT_DATA_TYPE_FLOAT32), factor = nnrti_onnx_like(c, x, (double)alpha);
    NNRT_ExpFusion a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_EXPFUSION, &a);
    if (alpha < 0) {
        uint32_t y = nnrti_onnx_act(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_NEG, NULL, x), NNRT_ACTIVATION_TYPE_RELU, 0);
        y = nnrti_onnx_div(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_NEG, NULL, y), factor);
        y = nnrti_onnx_step1(c, NNRT_NODE_TYPE_EXPFUSION, &a, y);
        y = nnrti_onnx_mul(c, nnrti_onnx_sub(c, y, nnrti_onnx_like(c, x, 1)), factor);
        nnrti_onnx_out_narrow(c, nnrti_onnx_add(c, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_RELU, 0), y));
        return;
    }
    nnrti_onnx_out_narrow(
        c, nnrti_onnx_mul(c, nnrti_onnx_act(c, nnrti_onnx_div(c, x, factor), NNRT_ACTIVATION_TYPE_ELU, 1), factor));
}

/* min(max(alpha*x + beta, 0), 1). A slope of 1/6 is an activation (HSIGMOID), which can be fused into the preceding
   node; not in float64, where the float32 nearest to 1/6 differs from 1/6. */
static void nnrti_onnx_op_hard_sigmoid(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    NNRT_HardSigmoid a;
    (void)arg;
    a.alpha = nnrti_onnx_float(c, "alpha", 0.2f);
    a.beta = nnrti_onnx_float(c, "beta", 0.5f);
    if (a.alpha == 1.0f / 6 && a.beta == 0.5f && !nnrti_onnx_is_a(c, x, NNRT_TYPES_F64))
        nnrti_onnx_out(c, 0, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_HSIGMOID, 0));
    else
        nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_HARD_SIGMOID, &a, x));
}

/* x < -lambd ? x + bias : x > lambd ? x - bias : 0; integers are computed in float64. */
static void nnrti_onnx_op_shrink(nnrti_onnx *c, int32_t arg)
{
    const double lambd = (double)nnrti_onnx_float(c, "lambd", 0.5f), bias = (double)nnrti_onnx_float(c, "bias", 0);
    const NNRT_DataType type = nnrti_onnx_type(c, nnrti_onnx_in(c, 0));
    const bool floats = nnrti_onnx_is_a(c, nnrti_onnx_in(c, 0), NNRT_TYPES_FLOAT | NNRT_TYPES_F64);
    const uint32_t x = nnrti_onnx_cast(c, nnrti_onnx_in(c, 0), floats ? type : NNRT_DATA_TYPE_FLOAT64);
    const uint32_t low = nnrti_onnx_step2(c, NNRT_NODE_TYPE_LESS, NULL, x, nnrti_onnx_like(c, x, -lambd));
    const uint32_t high = nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER, NULL, x, nnrti_onnx_like(c, x, lambd));
    uint32_t up = x, down = x, y;
    (void)arg;
    if (bias != 0) {
        up = nnrti_onnx_add(c, x, nnrti_onnx_like(c, x, bias));
        down = nnrti_onnx_sub(c, x, nnrti_onnx_like(c, x, bias));
    }
    y = nnrti_onnx_where(c, high, down, nnrti_onnx_like(c, x, 0));
    nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, nnrti_onnx_where(c, low, up, y), type));
}

/* x < 0 ? slope*x : x. For floats, one slope for all elements or one per channel (axis 1) is PRELU_FUSION; slopes of
   other or dynamic shapes use comparison, multiplication and WHERE. */
static void nnrti_onnx_op_prelu(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    uint32_t slope = nnrti_onnx_in(c, 1), y;
    int64_t count = nnrti_onnx_is_static(c, slope) ? 1 : -1;
    const int32_t rank = nnrti_onnx_rank(c, x), have = nnrti_onnx_rank(c, slope);
    const bool old = c->opset < 7 && have == 1;          /* slope runs along axis 1 */
    const int32_t channel = old ? 0 : have - (rank - 1); /* the axis of slope that corresponds to axis 1 of x */
    (void)arg;
    for (int32_t i = 0; i < have && count >= 0; i++)
        count *= nnrti_onnx_dim(c, slope, i);
    if (nnrti_onnx_is_a(c, x, NNRT_TYPES_FLOAT | NNRT_TYPES_F64) &&
        (count == 1 ||
         (count >= 0 && channel >= 0 && channel < have && count == nnrti_onnx_dim(c, slope, channel) && rank > 1))) {
        NNRT_PReLUFusion a;
        a.channelShared = count == 1;
        nnrti_onnx_out(
            c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_PRELU_FUSION, &a, x, nnrti_onnx_reshape(c, slope, &count, 1)));
        return;
    }
    for (int32_t i = 2; old && i < rank; i++)
        slope = nnrti_onnx_unsqueeze(c, slope, -1);
    y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_LESS, NULL, x, nnrti_onnx_like(c, x, 0));
    nnrti_onnx_out(c, 0, nnrti_onnx_where(c, y, nnrti_onnx_mul(c, x, slope), x));
}

/* True if v is a constant of one element that is not NaN. */
static bool nnrti_onnx_known_number(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    size_t count;
    return nnrti_onnx_known_numbers(c, v) && nnrt_dims_count(o->dims, o->rank, &count) && count == 1;
}

/* min(max(x, least), most). CLIP if both limits are constant and in order; RELU, RELU6 or RELU1 if they match, which
   can be fused into the preceding node. Other limits: MAXIMUM and MINIMUM. Limits are attributes before operator set
   11. */
static void nnrti_onnx_op_clip(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    uint32_t in[3], y = x;
    bool known = true;
    float lo = -1, hi = 0;
    (void)arg;
    in[0] = x;
    for (uint32_t i = 1; i < 3; i++) {
        const char *name = i == 1 ? "min" : "max";
        in[i] = nnrti_onnx_in(c, i);
        if (c->opset < 11 && nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_FLOAT) != NULL)
            in[i] = nnrti_onnx_like(c, x, (double)nnrti_onnx_float(c, name, 0));
        known = known && (in[i] == NNRT_NO_TENSOR || nnrti_onnx_known_number(c, in[i]));
    }
    if (known && in[1] != NNRT_NO_TENSOR && in[2] != NNRT_NO_TENSOR)
        known = nnrti_clip_ordered(nnrti_onnx_at(c, in[1])->data, nnrti_onnx_at(c, in[2])->data, nnrti_onnx_type(c, x));
    (void)nnrti_onnx_known_float(c, in[1], &lo);
    (void)nnrti_onnx_known_float(c, in[2], &hi);
    if (known && lo == 0 && (in[2] == NNRT_NO_TENSOR || hi == 6 || hi == 1)) {
        y = nnrti_onnx_act(c, x,
                           in[2] == NNRT_NO_TENSOR ? NNRT_ACTIVATION_TYPE_RELU
                           : hi == 6               ? NNRT_ACTIVATION_TYPE_RELU6
                                                   : NNRT_ACTIVATION_TYPE_RELU1,
                           0);
    } else if (known && (in[1] != NNRT_NO_TENSOR || in[2] != NNRT_NO_TENSOR)) {
        nnrti_onnx_emit(c, NNRT_NODE_TYPE_CLIP, NULL, in, in[2] != NNRT_NO_TENSOR ? 3 : 2, &y, 1, NULL);
    } else {
        y = in[1] != NNRT_NO_TENSOR ? nnrti_onnx_extreme(c, NNRT_NODE_TYPE_MAXIMUM, y, in[1]) : y;
        y = in[2] != NNRT_NO_TENSOR ? nnrti_onnx_extreme(c, NNRT_NODE_TYPE_MINIMUM, y, in[2]) : y;
    }
    nnrti_onnx_out(c, 0, y);
}

/* The range of the values of a type of storage of integers, or of a type of 8 or 16 bits. */
static void nnrti_onnx_range(nnrt_onnx_type storage, NNRT_DataType type, float *low, float *high)
{
    const bool isSigned = type == NNRT_DATA_TYPE_INT8 || type == NNRT_DATA_TYPE_INT16;
    const uint32_t whole = nnrt_type_size(type) == 1 ? 8 : 16, /* other types occur after a fault */
                   bits = storage != NNRT_ONNX_UNDEFINED ? nnrti_onnx_storages[storage].bits : whole;
    *low = isSigned ? -(float)(1u << (bits - 1)) : 0.0f;
    *high = (float)((1u << (isSigned ? bits - 1 : bits)) - 1);
}

/* x as an integer of 4 or 2 bits: truncated toward zero, then its lowest bits; ((x & 15) ^ 8) - 8 with a sign. */
static uint32_t nnrti_onnx_low_bits(nnrti_onnx *c, uint32_t x, nnrt_onnx_type storage)
{
    const NNRT_DataType to = nnrt_onnx_data_type(storage);
    const uint32_t sign = 1u << (nnrti_onnx_storages[storage].bits - 1);
    uint32_t y;
    if (!nnrti_onnx_is_a(c, x, NNRT_TYPES_INT))
        x = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_INT64);
    y = nnrti_onnx_cast(
        c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_BITWISE_AND, NULL, x, nnrti_onnx_like(c, x, 2.0 * sign - 1)), to);
    if (to == NNRT_DATA_TYPE_INT8) {
        y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_BITWISE_XOR, NULL, y, nnrti_onnx_like(c, y, sign));
        y = nnrti_onnx_sub(c, y, nnrti_onnx_like(c, y, sign));
    }
    nnrti_onnx_set_storage(c, y, storage);
    return y;
}

/* Cast (arg 0): `to` is a number, before operator set 6 a name. CastLike (arg 1): to the type of input 1. */
static void nnrti_onnx_op_cast(nnrti_onnx *c, int32_t arg)
{
    const uint32_t in = nnrti_onnx_in(c, 0), x = nnrti_onnx_decoded(c, in);
    nnrt_onnx_type storage = NNRT_ONNX_UNDEFINED;
    NNRT_DataType type;
    (void)nnrti_onnx_choice(c, "round_mode", "up|down|nearest");
    if (arg == 1) {
        storage = nnrti_onnx_storage_type(c, nnrti_onnx_in(c, 1));
        type = nnrti_onnx_type(c, nnrti_onnx_in(c, 1));
    } else if (c->opset < 6) {
        type = nnrti_onnx_take_type(
            c,
            1 + nnrti_onnx_choice(c, "to",
                                  "FLOAT|UINT8|INT8|UINT16|INT16|INT32|INT64|STRING|BOOL|FLOAT16|DOUBLE|UINT32|UINT64"),
            "attribute", "to");
    } else {
        const int64_t to = nnrti_onnx_int(c, "to", 0);
        type = nnrti_onnx_take_stored(c, to >= 0 && to < 1000 ? (nnrt_onnx_type)to : -1, "attribute", "to", &storage);
    }
    if (storage != NNRT_ONNX_UNDEFINED && storage == nnrti_onnx_storage_type(c, in))
        nnrti_onnx_out(c, 0, in);
    else if (storage != NNRT_ONNX_UNDEFINED)
        nnrti_onnx_out(c, 0,
                       nnrti_onnx_float_format(storage) >= 0 ? nnrti_onnx_encoded(c, x, storage)
                                                             : nnrti_onnx_low_bits(c, x, storage));
    else if (x == in && nnrti_onnx_storage_type(c, in) != NNRT_ONNX_UNDEFINED && nnrti_onnx_type(c, x) == type)
        nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_ASSIGN, NULL, x)); /* a value without that type */
    else
        nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, x, type));
}

/* The bytes of x as elements of another type of the same size. */
static void nnrti_onnx_op_bitcast(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int64_t to = nnrti_onnx_int(c, "to", 0);
    const NNRT_DataType from = nnrti_onnx_type(c, x),
                        type = nnrti_onnx_take_type(c, to > 0 && to < 1000 ? (nnrt_onnx_type)to : -1, "attribute", "to");
    (void)arg;
    if (c->code == NNRT_SUCCESS && nnrt_type_size(from) != nnrt_type_size(type))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "the input is %t, expected elements of the size of %t", from, type);
    nnrti_onnx_out(c, 0, from == type ? x : nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_BITCAST, NULL, x, type));
}

static void nnrti_onnx_op_non_max_suppression(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[5], y, n = 0;
    NNRT_NonMaxSuppression a;
    (void)arg;
    a.centerPointBox = nnrti_onnx_int(c, "center_point_box", 0);
    for (uint32_t i = 0; i < 5; i++)
        if ((in[i] = nnrti_onnx_in(c, i)) != NNRT_NO_TENSOR)
            n = i + 1;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_NON_MAX_SUPPRESSION, &a, in, n, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

/* Identity of a tensor, a sequence or an optional value. */
static void nnrti_onnx_op_identity(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    if (c->node->inputs.count == 0 || c->node->inputs.data[0].length == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input 0 is missing");
    nnrti_onnx_out_any(c, 0, nnrti_onnx_any(c, 0));
}

/* Dropout in training: mask = u >= ratio with uniform u in [0,1), y = x * mask / (1 - ratio). training: a bool that the
   run computes, or NNRT_NO_TENSOR; where it is false, mask is true and the divisor 1. */
static void nnrti_onnx_drop(nnrti_onnx *c, uint32_t x, uint32_t ratio, uint32_t training)
{
    const NNRT_DataType type = nnrti_onnx_type(c, x), real = NNRT_DATA_TYPE_FLOAT32;
    NNRT_RandomUniform a;
    uint32_t rate = ratio != NNRT_NO_TENSOR ? nnrti_onnx_cast(c, ratio, real) : nnrti_onnx_scalar(c, real, 0.5), mask;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_RANDOM_UNIFORM, &a);
    a.dtype = real;
    a.seed = (float)nnrti_onnx_int(c, "seed", 0);
    mask = nnrti_onnx_step1(c, NNRT_NODE_TYPE_RANDOM_UNIFORM, &a, nnrti_onnx_shape(c, x));
    if (training != NNRT_NO_TENSOR)
        rate = nnrti_onnx_mul(c, rate, nnrti_onnx_cast(c, training, real));
    mask = nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER_EQUAL, NULL, mask, rate);
    rate = nnrti_onnx_div(c, nnrti_onnx_like(c, rate, 1), nnrti_onnx_sub(c, nnrti_onnx_like(c, rate, 1), rate));
    if (nnrti_onnx_has_output(c, 1))
        nnrti_onnx_out(c, 1, mask);
    nnrti_onnx_out(c, 0, nnrti_onnx_mul(c, nnrti_onnx_mul(c, x, nnrti_onnx_cast(c, rate, type)), nnrti_onnx_cast(c, mask, type)));
}

/* In inference nothing is dropped: y = x, and the mask, if the node has that output, is all ones. */
static void nnrti_onnx_op_dropout(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), ratio = nnrti_onnx_in(c, 1), training = nnrti_onnx_in(c, 2);
    const nnrt_operand *t = nnrti_onnx_at(c, training);
    const bool live = training != NNRT_NO_TENSOR && !nnrti_onnx_is_constant(c, training);
    (void)arg;
    if (training != NNRT_NO_TENSOR && (t->dataType != NNRT_DATA_TYPE_BOOL || (!live && nnrti_count(t) != 1)))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "training_mode '%s' is %o: it must be a bool", t->name, t);
    if (live || (training != NNRT_NO_TENSOR && c->code == NNRT_SUCCESS && *(const uint8_t *)t->data != 0)) {
        nnrti_onnx_drop(c, x, ratio, live ? training : NNRT_NO_TENSOR);
        return;
    }
    if (nnrti_onnx_has_output(c, 1))
        nnrti_onnx_out(
            c, 1,
            nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL_LIKE, NULL, x,
                             nnrti_onnx_scalar(c, c->opset < 10 ? nnrti_onnx_type(c, x) : NNRT_DATA_TYPE_BOOL, 1)));
    nnrti_onnx_out(c, 0, x);
}

static void nnrti_onnx_op_is_inf(nnrti_onnx *c, int32_t arg)
{
    NNRT_IsInf a;
    (void)arg;
    a.detectNegative = nnrti_onnx_int(c, "detect_negative", 1) != 0;
    a.detectPositive = nnrti_onnx_int(c, "detect_positive", 1) != 0;
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_IS_INF, &a, nnrti_onnx_in(c, 0)));
}

static void nnrti_onnx_op_bit_shift(nnrti_onnx *c, int32_t arg)
{
    NNRT_BitShift a;
    (void)arg;
    a.direction = nnrti_onnx_choice(c, "direction", "LEFT|RIGHT");
    if (nnrti_onnx_attr(c, "direction", NNRT_ONNX_ATTRIBUTE_STRING) == NULL)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute 'direction' is missing, expected LEFT or RIGHT");
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_BIT_SHIFT, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

static void nnrti_onnx_op_where(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_where(c, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1), nnrti_onnx_in(c, 2)));
}

/* Quantization parameters from a constant scale and zero point: per tensor, or per channel along an axis of x. */
typedef struct nnrti_onnx_quant {
    NNRT_QuantParam *list;
    uint32_t count; /* 0: scale or zero point is not constant, or NNRT_QuantParam cannot represent them */
    int32_t axis;   /* of per-channel parameters */
} nnrti_onnx_quant;

static nnrti_onnx_quant nnrti_onnx_quant_of(nnrti_onnx *c, uint32_t x, uint32_t scale, uint32_t zero,
                                            NNRT_DataType type, int64_t axis)
{
    const nnrt_operand *s = nnrti_onnx_at(c, scale), *z = nnrti_onnx_at(c, zero);
    const bool known = nnrti_onnx_is_constant(c, scale) && (zero == NNRT_NO_TENSOR || nnrti_onnx_is_constant(c, zero));
    size_t count = 0, zeros = 0;
    nnrti_onnx_quant q;
    memset(&q, 0, sizeof(q));
    if (!nnrti_type_in(type, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16 | NNRT_TYPES_I32))
        return q;
    if (!known || s->dataType != NNRT_DATA_TYPE_FLOAT32 || !nnrt_dims_count(s->dims, s->rank, &count) || count == 0 ||
        (count > 1 && s->rank != 1))
        return q;
    if (zero != NNRT_NO_TENSOR && (z->dataType != type || !nnrt_dims_count(z->dims, z->rank, &zeros) || zeros != count))
        return q;
    if (count > 1) {
        q.axis = nnrti_onnx_axis(c, axis, nnrti_onnx_rank(c, x));
        if (nnrti_onnx_dim(c, x, q.axis) != (int32_t)count)
            return q;
    }
    q.list = (NNRT_QuantParam *)nnrti_onnx_keep(c, count, sizeof(*q.list));
    for (size_t i = 0; i < count && q.list != NULL; i++) {
        double n = 0;
        q.list[i].scale = nnrti_load_f64(s->data, (ptrdiff_t)i, s->dataType);
        if (zero != NNRT_NO_TENSOR)
            n = nnrti_load_f64(z->data, (ptrdiff_t)i, type);
        if (!(q.list[i].scale > 0 && q.list[i].scale <= (double)FLT_MAX))
            return q;
        q.list[i].numBits = (int32_t)(8 * nnrt_type_size(type));
        q.list[i].zeroPoint = (int32_t)n;
    }
    q.count = q.list != NULL ? (uint32_t)count : 0;
    return q;
}

/* A step whose result has a type and the parameters q (NULL: none). Trailing inputs may be absent. */
static uint32_t nnrti_onnx_step_quantized(nnrti_onnx *c, NNRT_NodeType op, const void *attr, const uint32_t *in,
                                          uint32_t nIn, NNRT_DataType type, const nnrti_onnx_quant *q)
{
    uint32_t y = NNRT_NO_TENSOR;
    while (nIn > 0 && in[nIn - 1] == NNRT_NO_TENSOR)
        nIn--;
    if (q != NULL) {
        c->quant = q->list;
        c->quantCount = q->count;
        c->quantAxis = q->axis;
    }
    nnrti_onnx_emit(c, op, attr, in, nIn, &y, 1, q != NULL ? &type : NULL);
    c->quantCount = 0;
    return y;
}

/* Binds output 0 of the node to the bytes of y, a quantized tensor, as plain integers (BITCAST): ONNX tensors have no
   quantization parameters, so consumers see integers. DequantizeLinear, QLinear operators and outputs of the model look
   y up by the name of the output and use it directly. */
static void nnrti_onnx_out_integers(nnrti_onnx *c, uint32_t y)
{
    uint32_t integers;
    nnrti_onnx_entry *e;
    if (!nnrti_onnx_has_output(c, 0))
        return;
    integers = nnrti_onnx_step1(c, NNRT_NODE_TYPE_BITCAST, NULL, y);
    if (c->code != NNRT_SUCCESS)
        return;
    e = nnrti_onnx_own_entry(c, c->node->outputs.data[0]);
    if (!c->unnamed)
        nnrti_onnx_call(c, y, nnrti_onnx_copy_text(c, e->key));
    nnrti_onnx_call(c, integers, nnrti_onnx_step_name(c, NNRT_NODE_TYPE_BITCAST, false));
    nnrti_onnx_out(c, 0, integers);
    e->quantized = y;
    e->isQuantized = true;
}

/* Expands a blockwise parameter (one entry per `block` entries of x along the attribute axis) to one entry per entry of
   x. */
static uint32_t nnrti_onnx_blocks(nnrti_onnx *c, uint32_t x, uint32_t v, int64_t block, int32_t axis)
{
    const nnrti_onnx_size L = nnrti_onnx_size_of(c, x, axis), have = nnrti_onnx_size_of(c, v, axis);
    const nnrti_onnx_size want = nnrti_onnx_size_over(c, nnrti_onnx_size_plus(c, L, block - 1), block);
    int64_t *places = (int64_t *)nnrti_onnx_keep(c, L.known > 0 ? (size_t)L.known : 1, sizeof(*places));
    if (c->code == NNRT_SUCCESS && have.known >= 0 && want.known >= 0 && have.known != want.known)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE,
                        "parameter '%s' is %o, expected size %l on axis %d: one entry for each block of %l of %l",
                        nnrti_onnx_at(c, v)->name, nnrti_onnx_at(c, v), want.known, axis, block, L.known);
    if (have.known < 0 || want.known < 0)
        nnrti_onnx_assert_equal(c, nnrti_onnx_size_ints(c, have), nnrti_onnx_size_ints(c, want));
    for (int64_t i = 0; i < L.known && places != NULL; i++)
        places[i] = i / block;
    return nnrti_onnx_gather(c, v,
                             L.known >= 0 ? nnrti_onnx_const_ints(c, places, (uint32_t)L.known)
                                          : nnrti_onnx_div(c, nnrti_onnx_iota(c, L), nnrti_onnx_const_int(c, block)),
                             axis);
}

/* A parameter of QuantizeLinear or DequantizeLinear (scalar, along `axis` of x, or one entry per block of x) in a shape
   that broadcasts with x. */
static uint32_t nnrti_onnx_along(nnrti_onnx *c, uint32_t x, uint32_t v, int64_t along)
{
    nnrti_onnx_size sizes[NNRT_MAX_RANK];
    const int32_t rank = nnrti_onnx_rank(c, x), have = nnrti_onnx_sizes_of(c, v, sizes);
    const int64_t block = nnrti_onnx_int(c, "block_size", 0);
    int32_t axis;
    if (block < 0 || block > INT32_MAX || (block > 0 && have != rank))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                        "block_size is %l and parameter '%s' is %o, expected the rank of the input for blocks", block,
                        nnrti_onnx_at(c, v)->name, nnrti_onnx_at(c, v));
    if (block > 0 && c->code == NNRT_SUCCESS)
        return nnrti_onnx_blocks(c, x, v, block, nnrti_onnx_axis(c, along, rank));
    if (c->code != NNRT_SUCCESS || have == 0 || (have == 1 && sizes[0].known == 1))
        return nnrti_onnx_reshape(c, v, NULL, 0);
    if (sizes[0].known < 0 && (along < -(int64_t)rank || along >= rank)) /* right if it has one entry */
        (void)nnrti_onnx_fixed_dim(c, v, 0, "an axis that the input does not have");
    axis = nnrti_onnx_axis(c, along, rank);
    if (have != 1)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "the scale has %d axes, expected at most 1", have);
    for (int32_t i = 1; i < rank - axis; i++)
        sizes[i] = nnrti_onnx_size_known(1);
    return nnrti_onnx_reshape_to(c, v, sizes, rank - axis);
}

/* saturate(round(x) + zero) to a type of at most 16 bits; rounds to nearest even. zero: float32, or NNRT_NO_TENSOR. */
static uint32_t nnrti_onnx_saturated_to(nnrti_onnx *c, uint32_t x, uint32_t zero, NNRT_DataType type,
                                        nnrt_onnx_type storage)
{
    uint32_t y = nnrti_onnx_step1(c, NNRT_NODE_TYPE_ROUND, NULL, x);
    NNRT_Clip a;
    if (zero != NNRT_NO_TENSOR)
        y = nnrti_onnx_add(c, y, zero);
    nnrti_onnx_range(storage, type, &a.min, &a.max);
    y = nnrti_onnx_cast(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_CLIP, &a, y), type);
    nnrti_onnx_set_storage(c, y, storage);
    return y;
}

static uint32_t nnrti_onnx_saturated(nnrti_onnx *c, uint32_t x, uint32_t zero, NNRT_DataType type)
{
    return nnrti_onnx_saturated_to(c, x, zero, type, NNRT_ONNX_UNDEFINED);
}

/* Output 0 of the node: saturate(round(x/scale) + zero) of a type, rounded to nearest even. */
static void nnrti_onnx_out_quantized(nnrti_onnx *c, uint32_t x, uint32_t scale, uint32_t zero, NNRT_DataType type,
                                     int64_t axis)
{
    const nnrti_onnx_quant q = nnrti_onnx_quant_of(c, x, scale, zero, type, axis);
    uint32_t y = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_FLOAT32);
    NNRT_QuantizeLinear a;
    if (q.count > 0) {
        a.dstT = type;
        a.axis = q.axis;
        nnrti_onnx_out_integers(c, nnrti_onnx_step_quantized(c, NNRT_NODE_TYPE_QUANTIZE_LINEAR, &a, &y, 1, type, &q));
        return;
    }
    y = nnrti_onnx_div(c, y, nnrti_onnx_cast(c, nnrti_onnx_along(c, x, scale, axis), NNRT_DATA_TYPE_FLOAT32));
    if (zero != NNRT_NO_TENSOR)
        zero = nnrti_onnx_cast(c, nnrti_onnx_along(c, x, zero, axis), NNRT_DATA_TYPE_FLOAT32);
    nnrti_onnx_out(c, 0, nnrti_onnx_saturated(c, y, zero, type));
}

/* Output 0 of the node in a type of storage: integers as above; codes of x / scale + zero. */
static void nnrti_onnx_out_stored(nnrti_onnx *c, uint32_t x, uint32_t scale, uint32_t zero, nnrt_onnx_type storage,
                                  int64_t axis)
{
    const NNRT_DataType real = NNRT_DATA_TYPE_FLOAT32;
    uint32_t y = nnrti_onnx_div(c, nnrti_onnx_cast(c, x, real),
                                nnrti_onnx_cast(c, nnrti_onnx_along(c, x, scale, axis), real));
    if (zero != NNRT_NO_TENSOR)
        zero = nnrti_onnx_cast(c, nnrti_onnx_along(c, x, nnrti_onnx_decoded(c, zero), axis), real);
    if (nnrti_onnx_float_format(storage) < 0)
        y = nnrti_onnx_saturated_to(c, y, zero, nnrt_onnx_data_type(storage), storage);
    else
        y = nnrti_onnx_encoded(c, zero != NNRT_NO_TENSOR ? nnrti_onnx_add(c, y, zero) : y, storage);
    nnrti_onnx_out(c, 0, y);
}

/* arg: 1 for com.microsoft, whose only version has 16-bit types. */
static void nnrti_onnx_op_quantize(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_decoded(c, nnrti_onnx_in(c, 0)), scale = nnrti_onnx_decoded(c, nnrti_onnx_in(c, 1)),
                   zero = nnrti_onnx_in(c, 2);
    const int64_t said = nnrti_onnx_int(c, "output_dtype", 0), precision = nnrti_onnx_int(c, "precision", 0);
    nnrt_onnx_type storage = NNRT_ONNX_UNDEFINED;
    const NNRT_DataType other =
        said != 0 ? nnrti_onnx_take_stored(c, said > 0 && said < 1000 ? (nnrt_onnx_type)said : -1, "attribute",
                                           "output_dtype", &storage)
                  : (NNRT_DataType)NNRT_DATA_TYPE_UINT8;
    const NNRT_DataType type = zero != NNRT_NO_TENSOR ? nnrti_onnx_type(c, zero) : other;
    const bool narrow = arg == 0 && c->opset < 21;
    if (!nnrti_type_in(type, NNRT_TYPES_I8 | NNRT_TYPES_U8 |
                                 (narrow ? 0u : NNRT_TYPES_I16 | NNRT_TYPES_OF(NNRT_DATA_TYPE_UINT16))))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "the zero point is %t, expected int8 or uint8%s", type,
                        narrow ? "" : ", int16 or uint16");
    if (said != 0 && (other != type || (zero != NNRT_NO_TENSOR && storage != nnrti_onnx_storage_type(c, zero))))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "the zero point is %s, expected output_dtype %s",
                        nnrti_onnx_storage_type(c, zero) != NNRT_ONNX_UNDEFINED
                            ? nnrti_onnx_type_text(nnrti_onnx_storage_type(c, zero))
                            : nnrt_type_name(type),
                        nnrti_onnx_type_text((nnrt_onnx_type)said));
    if (precision != 0 && precision != NNRT_ONNX_FLOAT)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "precision is %l, expected 1 (float)", precision);
    storage = zero != NNRT_NO_TENSOR ? nnrti_onnx_storage_type(c, zero) : storage;
    if (storage != NNRT_ONNX_UNDEFINED) {
        nnrti_onnx_out_stored(c, x, scale, zero, storage, nnrti_onnx_int(c, "axis", 1));
        return;
    }
    nnrti_onnx_out_quantized(c, x, scale, zero, type, nnrti_onnx_int(c, "axis", 1));
}

/* Maps the smallest range that contains x and 0 to 0..255: y as in QuantizeLinear with this scale and zero point, which
   are results, too. If x is all zeros, y is 0 and scale 1, as in ONNX Runtime: by ONNX's formula it would be 0, by which
   readers divide. */
static void nnrti_onnx_op_dynamic_quantize(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), none = nnrti_onnx_like(c, x, 0);
    const uint32_t least = nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MIN, NULL, 0, false),
                   most = nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MAX, NULL, 0, false);
    const uint32_t low = nnrti_onnx_extreme(c, NNRT_NODE_TYPE_MINIMUM, least, none),
                   high = nnrti_onnx_extreme(c, NNRT_NODE_TYPE_MAXIMUM, most, none);
    const uint32_t range = nnrti_onnx_sub(c, high, low);
    const uint32_t scale = nnrti_onnx_where(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_EQUAL, NULL, range, none),
                                            nnrti_onnx_like(c, x, 1),
                                            nnrti_onnx_div(c, range, nnrti_onnx_like(c, x, 255)));
    const uint32_t zero = nnrti_onnx_saturated(c, nnrti_onnx_sub(c, none, nnrti_onnx_div(c, low, scale)),
                                               NNRT_NO_TENSOR, NNRT_DATA_TYPE_UINT8);
    (void)arg;
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_saturated(c, nnrti_onnx_div(c, x, scale),
                                        nnrti_onnx_cast(c, zero, NNRT_DATA_TYPE_FLOAT32), NNRT_DATA_TYPE_UINT8));
    nnrti_onnx_out(c, 1, scale);
    nnrti_onnx_out(c, 2, zero);
}

/* Output 0 of an integer operator (QLinearConv, QLinearMatMul): y = saturate(round(sum * (scaleA * scaleB / scaleY)) +
   zero), in float32 from left to right, rounded to nearest even, as in ONNX Runtime. The type is that of zero. */
static void nnrti_onnx_out_sum(nnrti_onnx *c, uint32_t sum, uint32_t scaleA, uint32_t scaleB, uint32_t scaleY,
                               uint32_t zero)
{
    const NNRT_DataType type = nnrti_onnx_type(c, zero), real = NNRT_DATA_TYPE_FLOAT32;
    uint32_t scale = nnrti_onnx_mul(c, nnrti_onnx_cast(c, scaleA, real), nnrti_onnx_cast(c, scaleB, real));
    scale = nnrti_onnx_div(c, scale, nnrti_onnx_cast(c, scaleY, real));
    if (type != NNRT_DATA_TYPE_INT8 && type != NNRT_DATA_TYPE_UINT8)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "y_zero_point is %t, expected int8 or uint8", type);
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_saturated(c, nnrti_onnx_mul(c, nnrti_onnx_cast(c, sum, real), scale),
                                        nnrti_onnx_cast(c, zero, real), type));
}

/* True if x, input 0 of this DequantizeLinear, is an input of the model whose readers are all DequantizeLinear nodes
   with the same scale and zero point. The input can then have these quantization parameters. */
static bool nnrti_onnx_quant_input(const nnrti_onnx *c, uint32_t x)
{
    const nnrt_onnx_strs *own = &c->node->inputs;
    if (!nnrti_onnx_is(c->node->opType, "DequantizeLinear") || c->outer != NULL || c->call != NULL ||
        !nnrti_onnx_is_input(c, x) || !nnrti_onnx_own_entry(c, own->data[0])->isInput)
        return false;
    for (size_t i = 0; i < c->graph->nodes.count; i++) {
        const nnrt_onnx_node *n = &c->graph->nodes.data[i];
        bool reads = false, alike = nnrti_onnx_is(n->opType, "DequantizeLinear") && n->inputs.count == own->count;
        for (size_t k = 0; k < n->inputs.count; k++) {
            reads = reads || nnrti_onnx_same_text(n->inputs.data[k], own->data[0]);
            alike = alike && nnrti_onnx_same_text(n->inputs.data[k], own->data[k]);
        }
        for (size_t k = 0; k < n->attributes.count; k++) /* a subgraph may read it */
            reads = reads || n->attributes.data[k].g != NULL;
        if (reads && !alike)
            return false;
    }
    return true;
}

/* The bytes of x as a quantized tensor with parameters q: the tensor that x is a BITCAST of, a constant, an input of
   the model that can take these parameters, or a new BITCAST. e: the entry of x in the name table. NNRT_NO_TENSOR if q
   is empty. */
static uint32_t nnrti_onnx_quantized(nnrti_onnx *c, const nnrti_onnx_quant *q, uint32_t x, nnrti_onnx_entry *e)
{
    const nnrt_operand o = *nnrti_onnx_at(c, x);
    const uint32_t last = e->quantized;
    uint32_t y;
    if (q->count == 0 || c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    if (last != NNRT_NO_TENSOR) {
        const nnrt_operand *have = nnrti_onnx_at(c, last);
        bool same = have->quantCount == q->count && (q->count == 1 || have->quantAxis - 1 == q->axis);
        for (uint32_t i = 0; i < q->count && same; i++)
            same = have->quant[i].zeroPoint == q->list[i].zeroPoint && have->quant[i].scale == q->list[i].scale;
        if (same)
            return last;
    }
    if (nnrti_onnx_is_constant(c, x)) {
        y = nnrti_onnx_constant(c, o.dataType, o.rank, o.dims, o.data);
        if (y == NNRT_NO_TENSOR)
            return y;
        c->builder->copied[y] = c->builder->copied[x];
        nnrt_builder_quant(c->builder, y, q->list, q->count);
        nnrt_builder_quant_axis(c->builder, y, q->count > 1 ? q->axis + 1 : 0);
    } else if (q->count == 1 && o.quantCount == 0 &&
               nnrti_type_in(o.dataType, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16) &&
               nnrti_onnx_quant_input(c, x)) {
        nnrt_builder_quant(c->builder, x, q->list, 1);
        y = x;
    } else {
        y = nnrti_onnx_step_quantized(c, NNRT_NODE_TYPE_BITCAST, NULL, &x, 1, o.dataType, q);
    }
    if (nnrti_onnx_fine(c) && !e->isQuantized && e == nnrti_onnx_own_entry(c, e->key))
        e->quantized = y;
    return nnrti_onnx_fine(c) ? y : NNRT_NO_TENSOR;
}

/* Operands of a QLinear operator: inputs 0, 3 and 6 of the node, each with scale and zero point. */
typedef struct nnrti_onnx_q_linear {
    uint32_t a, b; /* quantized tensors */
    nnrti_onnx_quant y;
    NNRT_DataType type; /* of y */
} nnrti_onnx_q_linear;

/* Prepares the operands of a quantized operator. False if the node cannot be one: the quantization parameters must be
   constants that the runtime supports (per tensor; for b also per channel along axisB), a and y of one type, b of the
   same or int8, and desc->no_quantize must be off. */
static bool nnrti_onnx_q_linear_operands(nnrti_onnx *c, int32_t axisB, nnrti_onnx_q_linear *q)
{
    const uint32_t a = nnrti_onnx_in(c, 0), b = nnrti_onnx_in(c, 3), scaleY = nnrti_onnx_in(c, 6),
                   zeroY = nnrti_onnx_in(c, 7);
    const NNRT_DataType type = nnrti_onnx_type(c, a), typeB = nnrti_onnx_type(c, b);
    nnrti_onnx_quant qa, qb;
    q->type = nnrti_onnx_type(c, zeroY);
    if (c->desc->no_quantize || c->code != NNRT_SUCCESS || !nnrti_type_in(type, NNRT_TYPES_I8 | NNRT_TYPES_U8) ||
        q->type != type || (typeB != type && typeB != NNRT_DATA_TYPE_INT8))
        return false;
    qa = nnrti_onnx_quant_of(c, a, nnrti_onnx_in(c, 1), nnrti_onnx_in(c, 2), type, 0);
    qb = nnrti_onnx_quant_of(c, b, nnrti_onnx_in(c, 4), nnrti_onnx_in(c, 5), typeB, axisB);
    q->y = nnrti_onnx_quant_of(c, a, scaleY, zeroY, type, 0);
    if (c->code != NNRT_SUCCESS || qa.count != 1 || qb.count == 0 || q->y.count != 1)
        return false;
    q->a = nnrti_onnx_quantized(c, &qa, a, nnrti_onnx_entry_of(c, c->node->inputs.data[0]));
    q->b = nnrti_onnx_quantized(c, &qb, b, nnrti_onnx_entry_of(c, c->node->inputs.data[3]));
    return c->code == NNRT_SUCCESS;
}

/* (x - zero) * scale of inputs i, i + 1 and i + 2 of the node, computed in float32 and converted to the type of the
   scale. axis: of x, for parameters per channel. */
static uint32_t nnrti_onnx_dequantized(nnrti_onnx *c, uint32_t i, int64_t axis)
{
    const uint32_t x = nnrti_onnx_in(c, i), scale = nnrti_onnx_in(c, i + 1), zero = nnrti_onnx_in(c, i + 2);
    const NNRT_DataType type = nnrti_onnx_type(c, x), to = nnrti_onnx_type(c, scale), real = NNRT_DATA_TYPE_FLOAT32;
    const nnrti_onnx_quant q = nnrti_onnx_quant_of(c, x, scale, zero, type, axis);
    const uint32_t of = nnrti_onnx_quantized(c, &q, x, nnrti_onnx_entry_of(c, c->node->inputs.data[i]));
    NNRT_QuantDTypeCastV2 several;
    NNRT_QuantDTypeCast one;
    uint32_t y;
    if (of != NNRT_NO_TENSOR) {
        one.srcT = several.srcT = type;
        one.dstT = several.dstT = real;
        several.axis = q.axis;
        return q.count > 1 ? nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2, &several, of, real)
                           : nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &one, of, real);
    }
    y = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_INT32);
    if (zero != NNRT_NO_TENSOR)
        y = nnrti_onnx_sub(c, y, nnrti_onnx_cast(c, nnrti_onnx_along(c, x, zero, axis), NNRT_DATA_TYPE_INT32));
    y = nnrti_onnx_mul(c, nnrti_onnx_cast(c, y, real), nnrti_onnx_cast(c, nnrti_onnx_along(c, x, scale, axis), real));
    return nnrti_onnx_cast(c, y, to);
}

/* The same for codes, of x or of the scale. */
static uint32_t nnrti_onnx_dequantized_codes(nnrti_onnx *c, int64_t axis)
{
    const uint32_t in = nnrti_onnx_in(c, 0), scale = nnrti_onnx_decoded(c, nnrti_onnx_in(c, 1)),
                   zero = nnrti_onnx_in(c, 2);
    const NNRT_DataType real = NNRT_DATA_TYPE_FLOAT32;
    uint32_t y = nnrti_onnx_cast(c, nnrti_onnx_decoded(c, in), real);
    if (zero != NNRT_NO_TENSOR)
        y = nnrti_onnx_sub(c, y,
                           nnrti_onnx_cast(c, nnrti_onnx_along(c, in, nnrti_onnx_decoded(c, zero), axis), real));
    return nnrti_onnx_mul(c, y, nnrti_onnx_cast(c, nnrti_onnx_along(c, in, scale, axis), real));
}

/* True for ONNX's own domain. */
static bool nnrti_onnx_main_domain(nnrt_onnx_str domain)
{
    return domain.length == 0 || nnrti_onnx_is(domain, "ai.onnx");
}

/* Uses of a value: as weight of a MatMul or Gemm that sums over its axis 0 or 1 (1 << axis); beside an input that a
   DequantizeLinear computes; any other use. DEQUANTIZED: a DequantizeLinear computes it. */
enum {
    NNRTI_ONNX_WEIGHT = 1,
    NNRTI_ONNX_INTEGERS = 4,
    NNRTI_ONNX_OTHER = 8,
    NNRTI_ONNX_DEQUANTIZED = 16
};

static void nnrti_onnx_see_other(void *user, nnrt_onnx_str name)
{
    nnrti_onnx_own_entry((const nnrti_onnx *)user, name)->uses |= NNRTI_ONNX_OTHER;
}

/* An integer attribute of any node. */
static int64_t nnrti_onnx_int_at(const nnrt_onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->attributes.count; i++)
        if (nnrti_onnx_is(n->attributes.data[i].name, name))
            return n->attributes.data[i].i;
    return 0;
}

/* Notes the uses of all values of the graph. */
static void nnrti_onnx_find_uses(nnrti_onnx *c)
{
    for (size_t i = 0; i < c->graph->nodes.count && !c->usesFound; i++) {
        const nnrt_onnx_node *n = &c->graph->nodes.data[i];
        if (nnrti_onnx_main_domain(n->domain) && nnrti_onnx_is(n->opType, "DequantizeLinear") && n->outputs.count > 0)
            nnrti_onnx_own_entry(c, n->outputs.data[0])->uses |= NNRTI_ONNX_DEQUANTIZED;
    }
    for (size_t i = 0; i < c->graph->nodes.count && !c->usesFound; i++) {
        const nnrt_onnx_node *n = &c->graph->nodes.data[i];
        const bool main = nnrti_onnx_main_domain(n->domain), gemm = main && nnrti_onnx_is(n->opType, "Gemm");
        const bool product = n->inputs.count > 1 && ((gemm && nnrti_onnx_int_at(n, "transA") == 0) ||
                                                     (main && nnrti_onnx_is(n->opType, "MatMul")));
        const int axis = gemm && nnrti_onnx_int_at(n, "transB") != 0 ? 1 : 0;
        nnrti_onnx_entry *weight = product ? nnrti_onnx_own_entry(c, n->inputs.data[1]) : NULL;
        const uint8_t before = product ? weight->uses : 0;
        nnrti_onnx_reads(n, nnrti_onnx_see_other, c);
        if (product && !nnrti_onnx_same_text(n->inputs.data[0], n->inputs.data[1]) &&
            (n->inputs.count < 3 || !nnrti_onnx_same_text(n->inputs.data[2], n->inputs.data[1]))) {
            const bool integers = (nnrti_onnx_own_entry(c, n->inputs.data[0])->uses & NNRTI_ONNX_DEQUANTIZED) != 0;
            weight->uses = (uint8_t)(before | NNRTI_ONNX_WEIGHT << axis | (integers ? NNRTI_ONNX_INTEGERS : 0));
        }
    }
    for (size_t i = 0; i < c->graph->outputs.count && !c->usesFound; i++)
        nnrti_onnx_see_other(c, c->graph->outputs.data[i].name);
    c->usesFound = true;
}

/* A weight of DequantizeLinear as MATMUL_NBITS reads it: `rows` results, each a sum over `columns` entries. */
typedef struct nnrti_onnx_weight {
    uint32_t x, scale, zero; /* zero: NNRT_NO_TENSOR, or of the type of x */
    int32_t axis;            /* of the sum */
    bool blocks;             /* scales and zero points have an entry for each block, else for each row */
    int64_t rows, columns, block, bits;
} nnrti_onnx_weight;

/* True if scales or zero points v have one entry per block and row, or one per row. */
static bool nnrti_onnx_weight_fits(const nnrti_onnx *c, const nnrti_onnx_weight *w, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    if (!nnrti_onnx_is_constant(c, v))
        return false;
    if (!w->blocks)
        return o->rank == 1 && o->dims[0] == w->rows;
    return o->rank == 2 && o->dims[1 - w->axis] == w->rows &&
           o->dims[w->axis] == (w->columns + w->block - 1) / w->block;
}

/* True if this DequantizeLinear has a constant of at most 8 bits that is only the weight of matrix multiplications.
   8 bits beside integers stay, for the pass QUANTIZE. Without blocks, each has 128 entries, or fewer. */
static bool nnrti_onnx_weight_of(nnrti_onnx *c, nnrti_onnx_weight *w)
{
    const nnrt_onnx_type storage = nnrti_onnx_storage_type(c, w->x = nnrti_onnx_in(c, 0));
    const bool narrow = storage == NNRT_ONNX_INT4 || storage == NNRT_ONNX_UINT4 || storage == NNRT_ONNX_INT2 ||
                        storage == NNRT_ONNX_UINT2;
    const nnrt_operand *o = nnrti_onnx_at(c, w->x);
    const int64_t block = nnrti_onnx_int(c, "block_size", 0);
    int64_t axis = nnrti_onnx_int(c, "axis", 1);
    w->scale = nnrti_onnx_in(c, 1);
    w->zero = nnrti_onnx_in(c, 2);
    if (c->code != NNRT_SUCCESS || c->applied != NULL || c->outer != NULL || c->call != NULL || o->rank != 2 ||
        !nnrti_onnx_is_constant(c, w->x) || !nnrti_type_in(o->dataType, NNRT_TYPES_I8 | NNRT_TYPES_U8) ||
        !(narrow || storage == NNRT_ONNX_UNDEFINED) || !nnrti_onnx_is_a(c, w->scale, NNRT_TYPES_F32 | NNRT_TYPES_F16) ||
        nnrti_onnx_int(c, "output_dtype", 0) != 0)
        return false;
    axis += axis < 0 ? 2 : 0;
    if (axis != 0 && axis != 1)
        return false;
    w->bits = narrow ? 4 : 8;
    w->blocks = block > 0;
    w->axis = (int32_t)(w->blocks ? axis : 1 - axis);
    w->columns = o->dims[w->axis];
    w->rows = o->dims[1 - w->axis];
    for (w->block = w->blocks ? block : 128; !w->blocks && w->block > 16 && w->block / 2 >= w->columns;)
        w->block /= 2;
    if (c->code != NNRT_SUCCESS || w->rows < 1 || w->columns < 1 || w->block < 16 || w->block > 65536 ||
        (w->block & (w->block - 1)) != 0 || !nnrti_onnx_weight_fits(c, w, w->scale) ||
        (w->zero != NNRT_NO_TENSOR && !nnrti_onnx_weight_fits(c, w, w->zero)))
        return false;
    nnrti_onnx_find_uses(c);
    return (nnrti_onnx_own_entry(c, c->node->outputs.data[0])->uses &
            ~(NNRTI_ONNX_DEQUANTIZED | (w->blocks ? NNRTI_ONNX_INTEGERS : 0))) == NNRTI_ONNX_WEIGHT << w->axis;
}

/* Entry i of constant v of 8 bits, without sign: more by half the range of `bits` if v has one. */
static uint8_t nnrti_onnx_unsigned(const nnrti_onnx *c, uint32_t v, size_t i, int64_t bits)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    const uint8_t half = (uint8_t)(o->dataType == NNRT_DATA_TYPE_INT8 ? 1 << (bits - 1) : 0);
    return (uint8_t)((((const uint8_t *)o->data)[i] + half) & ((1 << bits) - 1));
}

/* Stores entry i of packed entries, which are 0 before. */
static void nnrti_onnx_pack(uint8_t *row, int64_t i, uint8_t entry, int64_t bits)
{
    if (bits == 8)
        row[i] = entry;
    else
        row[i / 2] = (uint8_t)(row[i / 2] | entry << (4 * (i % 2)));
}

/* Output 0 of this DequantizeLinear: the weight in the order of MATMUL_NBITS, for nnrti_onnx_packed_product. */
static void nnrti_onnx_out_weight(nnrti_onnx *c, const nnrti_onnx_weight *w)
{
    const int64_t K = w->columns, N = w->rows, B = (K + w->block - 1) / w->block, Z = w->block * w->bits / 8;
    const int64_t zeroBytes = (B * w->bits + 7) / 8;
    const bool zeros = w->zero != NNRT_NO_TENSOR || nnrti_onnx_is_a(c, w->x, NNRT_TYPES_U8);
    const NNRT_DataType real = nnrti_onnx_type(c, w->scale);
    const size_t width = nnrt_type_size(real);
    nnrti_onnx_nbits *n = (nnrti_onnx_nbits *)nnrti_onnx_keep(c, 1, sizeof(*n));
    uint8_t *data = (uint8_t *)nnrti_onnx_keep(c, (size_t)(N * B), (size_t)Z);
    uint8_t *scale = (uint8_t *)nnrti_onnx_keep(c, (size_t)(N * B), width);
    uint8_t *zero = zeros ? (uint8_t *)nnrti_onnx_keep(c, (size_t)N, (size_t)zeroBytes) : NULL;
    const uint8_t *from = (const uint8_t *)nnrti_onnx_at(c, w->scale)->data;
    int32_t dims[3];
    if (c->code != NNRT_SUCCESS)
        return;
    for (int64_t r = 0; r < N; r++) {
        for (int64_t k = 0; k < K; k++)
            nnrti_onnx_pack(data + r * B * Z, k,
                            nnrti_onnx_unsigned(c, w->x, (size_t)(w->axis == 0 ? k * N + r : r * K + k), w->bits), w->bits);
        for (int64_t b = 0; b < B; b++) {
            const size_t at = (size_t)(!w->blocks ? r : w->axis == 0 ? b * N + r : r * B + b);
            memcpy(scale + (size_t)(r * B + b) * width, from + at * width, width);
            if (w->zero != NNRT_NO_TENSOR)
                nnrti_onnx_pack(zero + r * zeroBytes, b, nnrti_onnx_unsigned(c, w->zero, at, w->bits), w->bits);
        }
    }
    dims[0] = (int32_t)N;
    dims[1] = (int32_t)B;
    dims[2] = (int32_t)Z;
    n->attr.blockType = 0;
    n->attr.columns = K;
    n->attr.bits = w->bits;
    n->attr.blockSize = w->block;
    n->attr.accuracyLevel = 0;
    n->scale = nnrti_onnx_constant(c, real, 2, dims, scale);
    dims[2] = dims[1];
    dims[1] = (int32_t)zeroBytes;
    n->zero = zeros ? nnrti_onnx_constant(c, NNRT_DATA_TYPE_UINT8, 2, dims, zero) : NNRT_NO_TENSOR;
    dims[1] = (int32_t)B;
    dims[2] = (int32_t)Z;
    nnrti_onnx_out(c, 0, nnrti_onnx_constant(c, NNRT_DATA_TYPE_UINT8, 3, dims, data));
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_own_entry(c, c->node->outputs.data[0])->nbits = n;
}

/* x times the packed weight that is input 1 of the node, plus a bias; NNRT_NO_TENSOR if that is no packed weight. */
static uint32_t nnrti_onnx_packed_product(nnrti_onnx *c, uint32_t x, uint32_t bias)
{
    const nnrti_onnx_entry *e = c->applied == NULL ? nnrti_onnx_entry_of(c, c->node->inputs.data[1]) : NULL;
    uint32_t in[5], y = NNRT_NO_TENSOR;
    if (e == NULL || e->nbits == NULL)
        return NNRT_NO_TENSOR;
    in[0] = x;
    in[1] = e->value;
    in[2] = e->nbits->scale;
    in[3] = e->nbits->zero;
    in[4] = bias;
    nnrti_onnx_emit_known(c, NNRT_NODE_TYPE_MATMUL_NBITS, &e->nbits->attr, in, 5, &y);
    return y;
}

static void nnrti_onnx_op_dequantize(nnrti_onnx *c, int32_t arg)
{
    const int64_t said = nnrti_onnx_int(c, "output_dtype", 0), axis = nnrti_onnx_int(c, "axis", 1);
    const uint32_t scale = nnrti_onnx_in(c, 1), zero = nnrti_onnx_in(c, 2);
    nnrt_onnx_type storage = nnrti_onnx_storage_type(c, scale);
    NNRT_DataType to = nnrti_onnx_type(c, scale);
    nnrti_onnx_weight w;
    uint32_t y;
    (void)arg;
    if (zero != NNRT_NO_TENSOR &&
        nnrti_onnx_storage_type(c, zero) != nnrti_onnx_storage_type(c, nnrti_onnx_in(c, 0)))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "the zero point '%s' has another element type than the input",
                        nnrti_onnx_at(c, zero)->name);
    if (nnrti_onnx_weight_of(c, &w)) {
        nnrti_onnx_out_weight(c, &w);
        return;
    }
    if (said != 0)
        to = nnrti_onnx_take_stored(c, said > 0 && said < 1000 ? (nnrt_onnx_type)said : -1, "attribute",
                                    "output_dtype", &storage);
    if (nnrti_onnx_float_format(nnrti_onnx_storage_type(c, nnrti_onnx_in(c, 0))) >= 0 ||
        nnrti_onnx_storage_type(c, scale) != NNRT_ONNX_UNDEFINED)
        y = nnrti_onnx_dequantized_codes(c, axis);
    else
        y = nnrti_onnx_dequantized(c, 0, axis);
    nnrti_onnx_out(c, 0, storage == NNRT_ONNX_UNDEFINED ? nnrti_onnx_cast(c, y, to) : nnrti_onnx_encoded(c, y, storage));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_shapes: operators that move data */

static void nnrti_onnx_op_constant(nnrti_onnx *c, int32_t arg)
{
    int32_t dims[1];
    const nnrt_onnx_attribute *a = c->node->attributes.count == 1 ? &c->node->attributes.data[0] : NULL;
    uint32_t v = NNRT_NO_TENSOR;
    (void)arg;
    dims[0] = 0;
    if (a == NULL)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "%z attributes, expected one value", c->node->attributes.count);
    else if (nnrti_onnx_is(a->name, "value") && a->t != NULL)
        v = nnrti_onnx_tensor_value(c, a->t);
    else if (nnrti_onnx_is(a->name, "value_float"))
        v = nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_FLOAT32, 0, dims, &a->f);
    else if (nnrti_onnx_is(a->name, "value_int"))
        v = nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_INT64, 0, dims, &a->i);
    else if (nnrti_onnx_is(a->name, "value_ints") && a->ints.count <= INT32_MAX) {
        dims[0] = (int32_t)a->ints.count;
        v = nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_INT64, 1, dims, a->ints.data);
    } else if (nnrti_onnx_is(a->name, "value_floats") && a->floats.count <= INT32_MAX) {
        dims[0] = (int32_t)a->floats.count;
        v = nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_FLOAT32, 1, dims, a->floats.data);
    } else
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "has no value");
    nnrti_onnx_out(c, 0, v);
}

/* CONSTANT_OF_SHAPE stores its value as a float; an element that a float cannot represent is a FILL. */
static void nnrti_onnx_op_constant_shape(nnrti_onnx *c, int32_t arg)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, "value", NNRT_ONNX_ATTRIBUTE_TENSOR);
    const uint32_t shape = nnrti_onnx_in(c, 0);
    const uint32_t value =
        a != NULL && a->t != NULL ? nnrti_onnx_plain_value(c, a->t) : nnrti_onnx_scalar(c, NNRT_DATA_TYPE_FLOAT32, 0);
    const uint32_t one = nnrti_onnx_reshape(c, value, NULL, 0); /* [1] becomes a scalar */
    const nnrt_operand *o = nnrti_onnx_at(c, one);
    NNRT_ConstantOfShape to;
    union {
        uint8_t bytes[8];
        double aligned;
    } same;
    float v = 0;
    (void)arg;
    if (!nnrti_onnx_is_constant(c, one))
        return; /* after a fault */
    v = (float)nnrti_load_f64(o->data, 0, o->dataType);
    memset(&same, 0, sizeof(same));
    nnrti_store_f64(same.bytes, 0, (double)v, o->dataType);
    if (memcmp(same.bytes, o->data, nnrt_type_size(o->dataType)) != 0) {
        nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL, NULL, one, shape));
        return;
    }
    to.dataType = o->dataType;
    to.value = nnrt_float_list(&v, 1);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_CONSTANT_OF_SHAPE, &to, shape));
}

/* Bidirectional broadcast: a shape with fewer axes than x is padded with leading ones. */
static void nnrti_onnx_op_expand(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, x);
    uint32_t shape = nnrti_onnx_in(c, 1), parts[2];
    const int32_t entries = nnrti_onnx_fixed_dim(c, shape, 0, "expanding");
    NNRT_BroadcastTo a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_BROADCAST_TO, &a);
    if (nnrti_onnx_is_constant(c, shape)) {
        int64_t list[NNRT_MAX_RANK];
        const uint32_t count = nnrti_onnx_list(c, shape, "shape", list, NNRT_MAX_RANK);
        for (uint32_t i = 0; i < count; i++)
            if (list[i] < 0)
                NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "shape[%u] is %l, expected 0 or more", i, list[i]);
    }
    if (entries < rank && c->code == NNRT_SUCCESS) {
        int64_t ones[NNRT_MAX_RANK];
        for (int32_t i = 0; i < rank - entries; i++)
            ones[i] = 1;
        parts[0] = nnrti_onnx_const_ints(c, ones, (uint32_t)(rank - entries));
        parts[1] = shape;
        shape = nnrti_onnx_concat(c, parts, 2, 0);
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_BROADCAST_TO, &a, x, shape));
}

static void nnrti_onnx_op_concat(nnrti_onnx *c, int32_t arg)
{
    const uint32_t count = (uint32_t)c->node->inputs.count;
    uint32_t *in = (uint32_t *)nnrti_onnx_keep(c, count, sizeof(*in)), used = 0;
    (void)arg;
    for (uint32_t i = 0; i < count && in != NULL; i++)
        in[used++] = nnrti_onnx_in(c, i);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_out(c, 0, nnrti_onnx_concat(c, in, used, nnrti_onnx_int(c, "axis", 1)));
}

/* x as [product of the sizes before axis, product of the others]. */
static uint32_t nnrti_onnx_flat(nnrti_onnx *c, uint32_t x, int64_t axis)
{
    NNRT_Flatten a;
    a.axis = axis;
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_FLATTEN, &a, x);
}

static void nnrti_onnx_op_flatten(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_flat(c, nnrti_onnx_in(c, 0), nnrti_onnx_int(c, "axis", 1)));
}

/* A 0 in shape copies the size of that axis of x, unless allowzero makes it literal. The runtime's RESHAPE takes 0
   literally only if x is empty, so zeros in constant shapes are replaced by the copied sizes. */
static void nnrti_onnx_op_reshape(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    uint32_t shape = nnrti_onnx_in(c, 1);
    const bool literal = nnrti_onnx_int(c, "allowzero", 0) != 0;
    int64_t dims[NNRT_MAX_RANK];
    (void)arg;
    if (shape == NNRT_NO_TENSOR) {
        const nnrt_onnx_ints list = nnrti_onnx_ints_of(c, "shape");
        if (list.data == NULL || list.count > NNRT_MAX_RANK)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute 'shape' is missing or has more than 8 entries");
        else
            shape = nnrti_onnx_const_ints(c, list.data, (uint32_t)list.count);
    }
    if (nnrti_onnx_is_constant(c, shape)) {
        const int32_t rank = nnrti_onnx_rank(c, x);
        const uint32_t count = nnrti_onnx_list(c, shape, "shape", dims, NNRT_MAX_RANK);
        bool empty = false, zero = false, open = false;
        for (int32_t i = 0; i < rank; i++) {
            empty = empty || nnrti_onnx_dim(c, x, i) == 0;
            open = open || nnrti_onnx_dim(c, x, i) < 0;
        }
        for (int32_t i = 0; i < (int32_t)count; i++)
            zero = zero || dims[i] == 0;
        if (zero && literal && !empty && open)
            nnrti_onnx_assert_equal(c, nnrti_onnx_size_ints(c, nnrti_onnx_size_product(c, x, 0, rank)),
                                    nnrti_onnx_const_int(c, 0));
        for (int32_t i = 0; i < (int32_t)count; i++) {
            if (dims[i] == 0 && literal && !empty && !open)
                NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "shape has a 0 and allowzero is set, but '%s' is not empty",
                                nnrti_onnx_at(c, x)->name);
            if (dims[i] == 0 && !literal && i < rank && nnrti_onnx_dim(c, x, i) > 0)
                dims[i] = nnrti_onnx_dim(c, x, i);
        }
        shape = nnrti_onnx_const_ints(c, dims, count);
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, shape));
}

static void nnrti_onnx_op_shape(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int64_t start = nnrti_onnx_int(c, "start", 0), end = nnrti_onnx_int(c, "end", INT32_MAX);
    uint32_t y = nnrti_onnx_shape(c, x);
    (void)arg;
    if (start != 0 || end != INT32_MAX)
        y = nnrti_onnx_strided_slice(c, y, 0, start, end, 1);
    nnrti_onnx_out(c, 0, y);
}

static void nnrti_onnx_op_size(nnrti_onnx *c, int32_t arg)
{
    const int64_t axis = 0;
    (void)arg;
    nnrti_onnx_out(
        c, 0, nnrti_onnx_reduce(c, nnrti_onnx_shape(c, nnrti_onnx_in(c, 0)), NNRT_REDUCE_MODE_PROD, &axis, 1, false));
}

/* starts, ends and axes are attributes before operator set 10, inputs later. Absent axes and steps are made explicit:
   0,1,.. and ones. */
static void nnrti_onnx_op_slice(nnrti_onnx *c, int32_t arg)
{
    static const char *const names[] = {"", "starts", "ends", "axes"};
    int64_t list[NNRT_MAX_RANK];
    uint32_t in[5], y = NNRT_NO_TENSOR;
    NNRT_StridedSlice a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_STRIDED_SLICE, &a);
    for (uint32_t i = 0; i < 5; i++) {
        nnrt_onnx_ints old;
        in[i] = nnrti_onnx_in(c, i);
        if (c->opset >= 10 || i == 0 || i > 3)
            continue;
        old = nnrti_onnx_ints_of(c, names[i]);
        if (old.data != NULL && old.count <= INT32_MAX)
            in[i] = nnrti_onnx_const_ints(c, old.data, (uint32_t)old.count);
    }
    if (c->code == NNRT_SUCCESS && (in[1] == NNRT_NO_TENSOR || in[2] == NNRT_NO_TENSOR))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "starts or ends are missing");
    for (uint32_t i = 3; i < 5; i++) {
        const int32_t count = nnrti_onnx_fixed_dim(c, in[1], 0, "slicing");
        if (in[i] != NNRT_NO_TENSOR || c->code != NNRT_SUCCESS || count > NNRT_MAX_RANK)
            continue;
        for (int32_t k = 0; k < count; k++)
            list[k] = i == 3 ? k : 1;
        in[i] = nnrti_onnx_const_ints(c, list, (uint32_t)count);
    }
    if (c->code == NNRT_SUCCESS && nnrti_onnx_runtime_entries(c, in[3]) > 0) { /* make an entry for every axis */
        const int32_t rank = nnrti_onnx_rank(c, in[0]);
        const uint32_t axes = in[3];
        (void)nnrti_onnx_axis_flags(c, rank, axes);
        in[1] = nnrti_onnx_scattered(c, rank, 0, axes, in[1]);
        in[2] = nnrti_onnx_scattered(c, rank, INT32_MAX, axes, in[2]);
        in[4] = nnrti_onnx_scattered(c, rank, 1, axes, in[4]);
        for (int32_t k = 0; k < rank; k++)
            list[k] = k;
        in[3] = nnrti_onnx_const_ints(c, list, (uint32_t)rank);
    }
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_STRIDED_SLICE, &a, in, 5, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

/* Lengths of slices that are computed in the run: they must add up to the size of the axis of x. */
static uint32_t nnrti_onnx_split_given(nnrti_onnx *c, uint32_t x, uint32_t lengths, int64_t axis)
{
    const uint32_t all = nnrti_onnx_cast(c, lengths, NNRT_DATA_TYPE_INT64);
    const nnrt_operand *o = nnrti_onnx_at(c, lengths);
    const int64_t first = 0;
    if (o->rank != 1 || (uint32_t)nnrti_onnx_dim(c, lengths, 0) != (uint32_t)c->node->outputs.count)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "split '%s' is %o, expected %z entries", o->name, o,
                        c->node->outputs.count);
    nnrti_onnx_assert(c, nnrti_onnx_less_equal(c, nnrti_onnx_const_int(c, 0), all), all);
    nnrti_onnx_assert_equal(c, nnrti_onnx_reduce(c, all, NNRT_REDUCE_MODE_SUM, &first, 1, true),
                            nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x, (int32_t)axis)));
    return all;
}

/* Lengths of slices of an axis whose size n is open: part = ceil(n / nOut) each, the rest in the last ones:
   min(max(n - i * part, 0), part). */
static uint32_t nnrti_onnx_split_parts(nnrti_onnx *c, uint32_t x, int64_t axis)
{
    const uint32_t nOut = (uint32_t)c->node->outputs.count;
    const nnrti_onnx_size n = nnrti_onnx_size_of(c, x, (int32_t)axis);
    const uint32_t part = nnrti_onnx_size_ints(c, nnrti_onnx_size_over(c, nnrti_onnx_size_plus(c, n, nOut - 1), nOut));
    const uint32_t before = nnrti_onnx_mul(c, nnrti_onnx_iota(c, nnrti_onnx_size_known(nOut)), part);
    const uint32_t rest = nnrti_onnx_maximum(c, nnrti_onnx_sub(c, nnrti_onnx_size_ints(c, n), before),
                                             nnrti_onnx_const_int(c, 0));
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_MINIMUM, NULL, rest, part);
}

/* Slices of x along an axis with these lengths, int64[outputs]. */
static void nnrti_onnx_split_dynamic(nnrti_onnx *c, uint32_t x, uint32_t all, int64_t axis)
{
    const uint32_t nOut = (uint32_t)c->node->outputs.count;
    uint32_t begins;
    NNRT_SliceFusion a;
    NNRT_CumSum sum;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_CUM_SUM, &sum);
    sum.exclusive = true;
    begins = nnrti_onnx_step2(c, NNRT_NODE_TYPE_CUM_SUM, &sum, all, nnrti_onnx_scalar(c, NNRT_DATA_TYPE_INT64, 0));
    a.axes = nnrt_int64_list(&axis, 1);
    for (uint32_t i = 0; i < nOut && c->code == NNRT_SUCCESS; i++)
        nnrti_onnx_out(c, i,
                       nnrti_onnx_step3(c, NNRT_NODE_TYPE_SLICE_FUSION, &a, x,
                                        nnrti_onnx_strided_slice(c, begins, 0, i, (int64_t)i + 1, 1),
                                        nnrti_onnx_strided_slice(c, all, 0, i, (int64_t)i + 1, 1)));
}

/* The lengths are an attribute before operator set 13. Outputs without a name count, too. */
static void nnrti_onnx_op_split(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), nOut = (uint32_t)c->node->outputs.count;
    const uint32_t lengths = nnrti_onnx_in(c, 1);
    const int32_t rank = nnrti_onnx_rank(c, x);
    int64_t *sizes = (int64_t *)nnrti_onnx_keep(c, nOut, sizeof(*sizes));
    uint32_t *out = (uint32_t *)nnrti_onnx_keep(c, nOut, sizeof(*out)), count = 0;
    NNRT_Split a;
    bool given;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_SPLIT, &a);
    a.axis = nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", 0), rank);
    a.outputNum = nOut;
    if (sizes == NULL || out == NULL)
        return;
    if (lengths != NNRT_NO_TENSOR && !nnrti_onnx_is_constant(c, lengths) && nnrti_onnx_is_static(c, lengths)) {
        nnrti_onnx_split_dynamic(c, x, nnrti_onnx_split_given(c, x, lengths, a.axis), a.axis);
        return;
    }
    if (nnrti_onnx_int(c, "num_outputs", 0) > 1 && nnrti_onnx_dim(c, x, (int32_t)a.axis) < 0) {
        nnrti_onnx_split_dynamic(c, x, nnrti_onnx_split_parts(c, x, a.axis), a.axis);
        return;
    }
    given = nnrti_onnx_param(c, "split", 1, sizes, nOut, &count);
    if (!given && c->code == NNRT_SUCCESS &&
        nnrti_onnx_dim(c, x, (int32_t)a.axis) > 0) { /* the last slice is smaller */
        const int64_t n = nnrti_onnx_dim(c, x, (int32_t)a.axis), part = (n + nOut - 1) / nOut;
        for (count = 0; count < nOut && n % nOut != 0 && c->opset >= 18; count++)
            sizes[count] = part * (count + 1) <= n ? part : n > part * count ? n - part * count : 0;
    }
    a.sizeSplits = nnrt_int64_list(sizes, count);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_SPLIT, &a, &x, 1, out, nOut, NULL);
    for (uint32_t i = 0; i < nOut; i++)
        nnrti_onnx_out(c, i, out[i]);
}

/* axes is an attribute before operator set 13, an input later. */
static void nnrti_onnx_op_squeeze(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    int64_t axes[NNRT_MAX_RANK];
    uint32_t count;
    NNRT_Squeeze a;
    (void)arg;
    if (nnrti_onnx_runtime_entries(c, nnrti_onnx_in(c, 1)) > 0) {
        nnrti_onnx_out(c, 0, nnrti_onnx_squeeze_dynamic(c, x, nnrti_onnx_in(c, 1)));
        return;
    }
    (void)nnrti_onnx_param(c, "axes", 1, axes, NNRT_MAX_RANK, &count);
    for (uint32_t i = 0; i < count && c->code == NNRT_SUCCESS; i++)
        if (nnrti_onnx_dim(c, x, nnrti_onnx_axis(c, axes[i], nnrti_onnx_rank(c, x))) > 1)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "axis %l of '%s' cannot be removed: its size is not 1", axes[i],
                            nnrti_onnx_at(c, x)->name);
    a.axis = nnrt_int64_list(axes, count);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_SQUEEZE, &a, x));
}

static void nnrti_onnx_op_unsqueeze(nnrti_onnx *c, int32_t arg)
{
    int64_t axes[NNRT_MAX_RANK];
    uint32_t count;
    NNRT_Unsqueeze a;
    (void)arg;
    if (nnrti_onnx_runtime_entries(c, nnrti_onnx_in(c, 1)) > 0) {
        nnrti_onnx_out(c, 0, nnrti_onnx_unsqueeze_dynamic(c, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
        return;
    }
    if (!nnrti_onnx_param(c, "axes", 1, axes, NNRT_MAX_RANK, &count))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "has no axes");
    a.axis = nnrt_int64_list(axes, count);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_UNSQUEEZE, &a, nnrti_onnx_in(c, 0)));
}

/* Operator set 1: one repeat count and its axis. Later: a count for every axis. */
static void nnrti_onnx_op_tile(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), axis = nnrti_onnx_in(c, 2);
    uint32_t times = nnrti_onnx_in(c, 1);
    int64_t dims[1];
    NNRT_TileFusion a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_TILE_FUSION, &a);
    if (axis != NNRT_NO_TENSOR) {
        const int64_t one = 1;
        if (nnrti_onnx_list(c, nnrti_onnx_cast(c, axis, NNRT_DATA_TYPE_INT64), "axis", dims, 1) != 1)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "axis is empty, expected one entry");
        a.dims = nnrt_int64_list(dims, 1);
        times = nnrti_onnx_reshape(c, nnrti_onnx_cast(c, times, NNRT_DATA_TYPE_INT64), &one, 1);
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_TILE_FUSION, &a, x, times));
}

static void nnrti_onnx_op_trilu(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), k = nnrti_onnx_in(c, 1);
    NNRT_Trilu a;
    (void)arg;
    a.upper = nnrti_onnx_int(c, "upper", 1) != 0;
    nnrti_onnx_out(c, 0,
                   k != NNRT_NO_TENSOR ? nnrti_onnx_step2(c, NNRT_NODE_TYPE_TRILU, &a, x, k)
                                       : nnrti_onnx_step1(c, NNRT_NODE_TYPE_TRILU, &a, x));
}

static void nnrti_onnx_op_eye_like(nnrti_onnx *c, int32_t arg)
{
    const int64_t type = nnrti_onnx_int(c, "dtype", 0);
    NNRT_EyeLike a;
    (void)arg;
    a.k = nnrti_onnx_int(c, "k", 0);
    a.dtype = NNRT_DATA_TYPE_UNKNOWN;
    if (type != 0)
        a.dtype = nnrti_onnx_take_type(c, type > 0 && type < 1000 ? (nnrt_onnx_type)type : -1, "attribute", "dtype");
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_EYE_LIKE, &a, nnrti_onnx_in(c, 0)));
}

/* ONNX requires two different axes. nnrt takes two zeros as the defaults, so equal axes are an error here. */
static void nnrti_onnx_op_reverse_sequence(nnrti_onnx *c, int32_t arg)
{
    NNRT_ReverseSequence a;
    (void)arg;
    a.batchAxis = nnrti_onnx_int(c, "batch_axis", 1);
    a.timeAxis = nnrti_onnx_int(c, "time_axis", 0);
    if (a.batchAxis == a.timeAxis)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "batch_axis and time_axis are both %l, expected different axes",
                        a.batchAxis);
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_step2(c, NNRT_NODE_TYPE_REVERSE_SEQUENCE, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

static void nnrti_onnx_op_transpose(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, x);
    const nnrt_onnx_ints given = nnrti_onnx_ints_of(c, "perm");
    int64_t perm[NNRT_MAX_RANK];
    (void)arg;
    if (given.data != NULL && given.count != (size_t)rank)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "perm has %z entries, expected %d", given.count, rank);
    for (int32_t i = 0; i < rank && c->code == NNRT_SUCCESS; i++)
        perm[i] = given.data != NULL ? given.data[i] : rank - 1 - i;
    nnrti_onnx_out(c, 0, nnrti_onnx_transpose(c, x, perm, rank));
}

static void nnrti_onnx_op_space_to_depth(nnrti_onnx *c, int32_t arg)
{
    NNRT_SpaceToDepth a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_SPACE_TO_DEPTH, &a);
    a.blockSize = nnrti_onnx_int(c, "blocksize", 0);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_SPACE_TO_DEPTH, &a, nnrti_onnx_in(c, 0)));
}

static void nnrti_onnx_op_depth_to_space(nnrti_onnx *c, int32_t arg)
{
    NNRT_DepthToSpace a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_DEPTH_TO_SPACE, &a);
    a.blockSize = nnrti_onnx_int(c, "blocksize", 0);
    a.mode = nnrti_onnx_choice(c, "mode", "DCR|CRD") == 1 ? "CRD" : "DCR";
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_DEPTH_TO_SPACE, &a, nnrti_onnx_in(c, 0)));
}

static void nnrti_onnx_op_gather(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), indices = nnrti_onnx_in(c, 1);
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_gather(c, x, indices, nnrti_onnx_int(c, "axis", 0)));
}

/* index + (index < 0 ? extent : 0), both int64. */
static uint32_t nnrti_onnx_from_end(nnrti_onnx *c, uint32_t index, uint32_t extent)
{
    const uint32_t negative = nnrti_onnx_less_equal(c, index, nnrti_onnx_like(c, index, -1));
    const uint32_t more = nnrti_onnx_mul(c, nnrti_onnx_cast(c, negative, NNRT_DATA_TYPE_INT64), extent);
    return nnrti_onnx_add(c, index, more);
}

static void nnrti_onnx_op_gather_elements(nnrti_onnx *c, int32_t arg)
{
    NNRT_GatherElements a;
    (void)arg;
    a.axis = nnrti_onnx_int(c, "axis", 0);
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_step2(c, NNRT_NODE_TYPE_GATHER_ELEMENTS, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

/* The attribute axis as a list; empty without it: the operator then flattens its input. */
static NNRT_Int64List nnrti_onnx_line_or_axis(nnrti_onnx *c)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, "axis", NNRT_ONNX_ATTRIBUTE_INT);
    return nnrt_int64_list(a != NULL ? &a->i : NULL, a != NULL ? 1 : 0);
}

static void nnrti_onnx_op_compress(nnrti_onnx *c, int32_t arg)
{
    NNRT_Compress a;
    (void)arg;
    a.axis = nnrti_onnx_line_or_axis(c);
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_COMPRESS, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

static void nnrti_onnx_op_unique(nnrti_onnx *c, int32_t arg)
{
    static const NNRT_DataType types[4] = {NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_INT64, NNRT_DATA_TYPE_INT64,
                                           NNRT_DATA_TYPE_INT64};
    const uint32_t x = nnrti_onnx_in(c, 0);
    uint32_t out[4] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_Unique a;
    (void)arg;
    a.axis = nnrti_onnx_line_or_axis(c);
    a.sorted = nnrti_onnx_int(c, "sorted", 1) != 0;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_UNIQUE, &a, &x, 1, out, 4, types);
    for (uint32_t i = 0; i < 4; i++)
        nnrti_onnx_out(c, i, out[i]);
}

static void nnrti_onnx_op_scatter_elements(nnrti_onnx *c, int32_t arg)
{
    NNRT_ScatterElements a;
    (void)arg;
    a.axis = nnrti_onnx_int(c, "axis", 0);
    a.reduction = nnrti_onnx_choice(c, "reduction", "none|add|mul|min|max");
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_step3(c, NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1),
                                    nnrti_onnx_in(c, 2)));
}

/* Converts batch_dims into plain GATHER_ND indices: indices [B..,I..,k] with `count` batch axes B, the leading axes of
   x, become [B..,I..,count + k], each row prefixed by its position in B. */
static uint32_t nnrti_onnx_prepend_batch_indices(nnrti_onnx *c, uint32_t x, uint32_t indices, int32_t count)
{
    const int32_t last = nnrti_onnx_rank(c, indices) - 1;
    const NNRT_DataType type = nnrti_onnx_type(c, indices);
    uint32_t parts[NNRT_MAX_RANK + 1], shape;
    nnrti_onnx_size sizes[NNRT_MAX_RANK], line[NNRT_MAX_RANK];
    NNRT_BroadcastTo a;
    memset(sizes, 0, sizeof(sizes));
    nnrti_onnx_defaults(NNRT_NODE_TYPE_BROADCAST_TO, &a);
    if (count > last || count >= nnrti_onnx_rank(c, x))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                        "batch_dims is %d, expected less than the number of axes of both inputs", count);
    if (c->code != NNRT_SUCCESS)
        return indices;
    for (int32_t i = 0; i <= last; i++) {
        sizes[i] = i == last ? nnrti_onnx_size_known(1) : nnrti_onnx_size_of(c, i < count ? x : indices, i);
        line[i] = nnrti_onnx_size_known(1);
    }
    shape = nnrti_onnx_size_list(c, sizes, last + 1);
    for (int32_t i = 0; i < count; i++) {
        const uint32_t places = nnrti_onnx_cast(c, nnrti_onnx_iota(c, sizes[i]), type);
        line[i] = sizes[i];
        parts[i] = nnrti_onnx_reshape_to(c, places, line, last + 1);
        parts[i] = nnrti_onnx_step2(c, NNRT_NODE_TYPE_BROADCAST_TO, &a, parts[i], shape);
        line[i] = nnrti_onnx_size_known(1);
    }
    parts[count] = indices;
    return nnrti_onnx_concat(c, parts, (uint32_t)count + 1, last);
}

static void nnrti_onnx_op_gather_nd(nnrti_onnx *c, int32_t arg)
{
    const int64_t batch = nnrti_onnx_int(c, "batch_dims", 0);
    const uint32_t x = nnrti_onnx_in(c, 0);
    uint32_t indices = nnrti_onnx_in(c, 1);
    const int32_t last = nnrti_onnx_rank(c, indices) - 1;
    char text[64];
    (void)arg;
    if (last >= 0 && nnrti_onnx_dim(c, indices, last) < 0)
        NNRTI_ONNX_NEEDS(
            c, "the last dimension of indices '%s' decides how many axes the result has: give its size, not a bound",
            nnrti_onnx_name_of(c, indices, text));
    if (batch < 0 || batch > NNRT_MAX_RANK)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                        "batch_dims is %l, expected 0 or more and less than the number of axes of both inputs", batch);
    else if (batch > 0)
        indices = nnrti_onnx_prepend_batch_indices(c, x, indices, (int32_t)batch);
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_GATHER_ND, NULL, x, indices));
}

/* x [B,..] overwritten by update. Along the axis, update starts in batch b at write_indices[b] (default 0); circular:
   modulo the size of the axis, with an index for each element. */
static void nnrti_onnx_op_tensor_scatter(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), update = nnrti_onnx_in(c, 1), starts = nnrti_onnx_in(c, 2);
    const int32_t rank = nnrti_onnx_rank(c, x), axis = nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", -2), rank);
    const bool circular = nnrti_onnx_choice(c, "mode", "linear|circular") != 0;
    nnrti_onnx_size line[NNRT_MAX_RANK], column[NNRT_MAX_RANK];
    NNRT_ScatterElements a;
    NNRT_TensorScatter linear;
    NNRT_BroadcastTo to;
    uint32_t places;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a);
    nnrti_onnx_defaults(NNRT_NODE_TYPE_BROADCAST_TO, &to);
    nnrti_onnx_defaults(NNRT_NODE_TYPE_TENSOR_SCATTER, &linear);
    a.axis = linear.axis = axis;
    if (rank < 2 || axis == 0 || nnrti_onnx_rank(c, update) != rank)
        NNRTI_ONNX_FAIL(
            c, NNRT_INVALID_SHAPE,
            "axis is %d, input and update have %d and %d axes: expected an axis above 0 and equal ranks of 2 or more",
            axis, rank, nnrti_onnx_rank(c, update));
    if (c->code != NNRT_SUCCESS)
        return;
    if (!circular) {
        nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_TENSOR_SCATTER, &linear, x, update, starts));
        return;
    }
    for (int32_t i = 0; i < rank; i++) {
        line[i] = i == axis ? nnrti_onnx_size_of(c, update, axis) : nnrti_onnx_size_known(1);
        column[i] = i == 0 ? nnrti_onnx_size_of(c, update, 0) : nnrti_onnx_size_known(1);
    }
    places = nnrti_onnx_reshape_to(c, nnrti_onnx_iota(c, nnrti_onnx_size_of(c, update, axis)), line, rank);
    if (starts != NNRT_NO_TENSOR) {
        nnrti_onnx_assert(c, nnrti_onnx_less_equal(c, nnrti_onnx_like(c, starts, 0), starts), starts);
        places = nnrti_onnx_add(
            c, places, nnrti_onnx_reshape_to(c, nnrti_onnx_cast(c, starts, NNRT_DATA_TYPE_INT64), column, rank));
    }
    places = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MOD, NULL, places,
                              nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x, axis)));
    places = nnrti_onnx_step2(c, NNRT_NODE_TYPE_BROADCAST_TO, &to, places, nnrti_onnx_shape(c, update));
    nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a, x, places, update));
}

static void nnrti_onnx_op_scatter_nd(nnrti_onnx *c, int32_t arg)
{
    NNRT_ScatterNDUpdate a;
    (void)arg;
    a.reduction = nnrti_onnx_choice(c, "reduction", "none|add|mul|min|max");
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_step3(c, NNRT_NODE_TYPE_SCATTER_ND_UPDATE, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1),
                                    nnrti_onnx_in(c, 2)));
}

/* Indices of any numeric type; negative ones, -depth to -1, count from the end. values = [off, on]. */
static void nnrti_onnx_op_one_hot(nnrti_onnx *c, int32_t arg)
{
    const uint32_t indices = nnrti_onnx_cast(c, nnrti_onnx_in(c, 0), NNRT_DATA_TYPE_INT64),
                   values = nnrti_onnx_in(c, 2);
    const uint32_t depth =
        nnrti_onnx_reshape(c, nnrti_onnx_cast(c, nnrti_onnx_in(c, 1), NNRT_DATA_TYPE_INT64), NULL, 0);
    const int64_t axis = nnrti_onnx_int(c, "axis", -1);
    uint32_t in[4], y = NNRT_NO_TENSOR;
    NNRT_OneHot a;
    (void)arg;
    a.axis = nnrti_onnx_axis(c, axis, nnrti_onnx_rank(c, indices) + 1);
    in[0] = nnrti_onnx_from_end(c, indices, depth);
    in[1] = depth;
    in[2] = nnrti_onnx_gather(c, values, nnrti_onnx_scalar(c, NNRT_DATA_TYPE_INT64, 1), 0);
    in[3] = nnrti_onnx_gather(c, values, nnrti_onnx_scalar(c, NNRT_DATA_TYPE_INT64, 0), 0);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_ONE_HOT, &a, in, 4, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

/* float16 and bfloat16 are computed in the type of stash_type, which concerns no other types. The result in that type has
   the name of its step, by which nnrt_session_desc.bounds can bound it. */
static void nnrti_onnx_op_range(nnrti_onnx *c, int32_t arg)
{
    const int64_t stash = nnrti_onnx_int(c, "stash_type", NNRT_ONNX_FLOAT);
    const NNRT_DataType wide = stash == NNRT_ONNX_DOUBLE ? NNRT_DATA_TYPE_FLOAT64 : NNRT_DATA_TYPE_FLOAT32;
    uint32_t in[3], y;
    bool low;
    (void)arg;
    for (uint32_t i = 0; i < 3; i++)
        in[i] = nnrti_onnx_in_wide(c, i, wide);
    low = in[0] != nnrti_onnx_in(c, 0);
    if (stash != NNRT_ONNX_FLOAT && stash != NNRT_ONNX_DOUBLE && low)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "stash_type is %l, expected 1 (float) or 11 (double)", stash);
    y = nnrti_onnx_step3(c, NNRT_NODE_TYPE_RANGE, NULL, in[0], in[1], in[2]);
    if (c->code == NNRT_SUCCESS && low && !c->unnamed)
        nnrti_onnx_call(c, y, nnrti_onnx_step_name(c, NNRT_NODE_TYPE_RANGE, false));
    nnrti_onnx_out_narrow(c, y);
}

static void nnrti_onnx_op_cum_sum(nnrti_onnx *c, int32_t arg)
{
    NNRT_CumSum a;
    a.exclusive = nnrti_onnx_int(c, "exclusive", 0) != 0;
    a.reverse = nnrti_onnx_int(c, "reverse", 0) != 0;
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, (NNRT_NodeType)arg, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

/* pads[2*i] and pads[2*i+1] of axis i. The node lists all begins, then all ends, for the axes in input 3 (default:
   all). */
static void nnrti_onnx_pads_of(nnrti_onnx *c, int32_t rank, int64_t pads[2 * NNRT_MAX_RANK])
{
    int64_t given[2 * NNRT_MAX_RANK], axes[NNRT_MAX_RANK];
    const uint32_t list = nnrti_onnx_in(c, 3);
    uint32_t count = 0, n = (uint32_t)rank;
    memset(pads, 0, 2 * NNRT_MAX_RANK * sizeof(pads[0]));
    for (int32_t i = 0; i < rank; i++)
        axes[i] = i;
    if (list != NNRT_NO_TENSOR)
        n = nnrti_onnx_list(c, list, "axes", axes, NNRT_MAX_RANK);
    (void)nnrti_onnx_param(c, c->opset < 2 ? "paddings" : "pads", 1, given, 2 * NNRT_MAX_RANK, &count);
    if (c->code == NNRT_SUCCESS && count != 2 * n)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "pads has %u entries, expected %u", count, 2 * n);
    for (uint32_t i = 0; i < count && c->code == NNRT_SUCCESS; i++)
        if (given[i] < -INT32_MAX || given[i] > INT32_MAX)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "pads[%u] is %l, outside -2147483647..2147483647", i, given[i]);
    for (uint32_t i = 0; i < n && c->code == NNRT_SUCCESS; i++) {
        const int32_t axis = nnrti_onnx_axis(c, axes[i], rank);
        pads[2 * axis] = given[i];
        pads[2 * axis + 1] = given[n + i];
    }
}

/* Pads computed in the run, which must not be negative, as [rank,2]: begin and end of each axis. Axes that are not
   listed gather the 0 that is appended to the pads. */
static uint32_t nnrti_onnx_pads_dynamic(nnrti_onnx *c, int32_t rank)
{
    const uint32_t list = nnrti_onnx_in(c, 3);
    int64_t axes[NNRT_MAX_RANK], from[2 * NNRT_MAX_RANK];
    const int64_t dims[2] = {rank, 2}, zero = 0;
    uint32_t parts[2], n = (uint32_t)rank;
    for (int32_t i = 0; i < rank; i++)
        axes[i] = i;
    if (list != NNRT_NO_TENSOR)
        n = nnrti_onnx_list(c, list, "axes", axes, NNRT_MAX_RANK);
    parts[0] = nnrti_onnx_in(c, 1);
    if (c->code == NNRT_SUCCESS && (nnrti_onnx_rank(c, parts[0]) != 1 ||
                                    nnrti_onnx_fixed_dim(c, parts[0], 0, "padding by an input") != 2 * (int64_t)n))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "pads, which are computed in the run, are %o, expected %u entries",
                        nnrti_onnx_at(c, parts[0]), 2 * n);
    for (int32_t i = 0; i < 2 * rank; i++)
        from[i] = 2 * (int64_t)n;
    for (uint32_t i = 0; i < n && c->code == NNRT_SUCCESS; i++) {
        const int32_t axis = nnrti_onnx_axis(c, axes[i], rank);
        from[2 * axis] = i;
        from[2 * axis + 1] = (int64_t)n + i;
    }
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    parts[1] = nnrti_onnx_const_ints(c, &zero, 1);
    parts[0] = nnrti_onnx_concat(c, parts, 2, 0);
    parts[1] = nnrti_onnx_reshape(c, nnrti_onnx_const_ints(c, from, 2 * (uint32_t)rank), dims, 2);
    return nnrti_onnx_gather(c, parts[0], parts[1], 0);
}

/* Padding of axis i by gathering: element k of the result is element (k - before) mod L, the axis repeated; with reflect it is
   min(t, P - t), where t = (k - before) mod P and P = max(2L - 2, 1), the axis and its mirror image repeated. MOD has the sign
   of its first operand, so the operand is offset to be 0 or more. */
static uint32_t nnrti_onnx_periodic(nnrti_onnx *c, uint32_t x, int32_t i, int64_t before, int64_t behind, bool reflect)
{
    const uint32_t L = nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x, i));
    const uint32_t all = nnrti_onnx_add(c, L, nnrti_onnx_const_int(c, before + behind));
    uint32_t period = L, first, from;
    if (reflect) {
        period = nnrti_onnx_mul(c, nnrti_onnx_sub(c, L, nnrti_onnx_const_int(c, 1)), nnrti_onnx_const_int(c, 2));
        period = nnrti_onnx_maximum(c, period, nnrti_onnx_const_int(c, 1));
    }
    first = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MOD, NULL, nnrti_onnx_const_int(c, before), period);
    from = nnrti_onnx_add(c, nnrti_onnx_iota(c, nnrti_onnx_size_value(all)), nnrti_onnx_sub(c, period, first));
    from = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MOD, NULL, from, period);
    if (reflect)
        from = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MINIMUM, NULL, from, nnrti_onnx_sub(c, period, from));
    return nnrti_onnx_gather(c, x, from, i);
}

/* Slices *x according to the negative pads and returns the other pads as [rank,2]; NNRT_NO_TENSOR if there are none, or
   after a fault. reflect: pads of at least the size of their axis, which PAD_FUSION refuses, are applied to *x, too. */
static uint32_t nnrti_onnx_pads_constant(nnrti_onnx *c, uint32_t *x, int32_t rank, bool reflect)
{
    const int64_t dims[2] = {rank, 2};
    int64_t pads[2 * NNRT_MAX_RANK];
    bool any = false;
    nnrti_onnx_pads_of(c, rank, pads);
    for (int32_t i = 0; i < rank && c->code == NNRT_SUCCESS; i++) {
        int64_t *pad = &pads[2 * i], size;
        if (pad[0] < 0 || pad[1] < 0)
            *x = nnrti_onnx_strided_slice(c, *x, i, pad[0] < 0 ? -pad[0] : 0, pad[1] < 0 ? pad[1] : INT32_MAX, 1);
        pad[0] = pad[0] < 0 ? 0 : pad[0];
        pad[1] = pad[1] < 0 ? 0 : pad[1];
        size = nnrti_onnx_dim(c, *x, i);
        if (reflect && size > 0 && (pad[0] >= size || pad[1] >= size)) {
            *x = nnrti_onnx_periodic(c, *x, i, pad[0], pad[1], true);
            pad[0] = pad[1] = 0;
        }
        any = any || pad[0] > 0 || pad[1] > 0;
    }
    return any ? nnrti_onnx_reshape(c, nnrti_onnx_const_ints(c, pads, 2 * (uint32_t)rank), dims, 2) : NNRT_NO_TENSOR;
}

/* Pad with mode wrap. Negative pads crop first; the rest is repeated. */
static void nnrti_onnx_pad_wrap(nnrti_onnx *c)
{
    uint32_t x = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, x);
    int64_t pads[2 * NNRT_MAX_RANK];
    nnrti_onnx_pads_of(c, rank, pads);
    (void)nnrti_onnx_pads_constant(c, &x, rank, false);
    for (int32_t i = 0; i < rank && c->code == NNRT_SUCCESS; i++) {
        const int64_t before = pads[2 * i] > 0 ? pads[2 * i] : 0, behind = pads[2 * i + 1] > 0 ? pads[2 * i + 1] : 0;
        if (before + behind > 0 && nnrti_onnx_dim(c, x, i) == 0)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "mode is wrap, but axis %d of '%s' %o is empty", i,
                            nnrti_onnx_at(c, x)->name, nnrti_onnx_at(c, x));
        else if (before > INT32_MAX || behind > INT32_MAX)
            NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "pads are %l and %l on axis %d, expected at most 2147483647", before,
                            behind, i);
        else if (before > 0 || behind > 0)
            x = nnrti_onnx_periodic(c, x, i, before, behind, false);
    }
    nnrti_onnx_out(c, 0, x);
}

static void nnrti_onnx_op_pad(nnrti_onnx *c, int32_t arg)
{
    const int32_t mode =
        nnrti_onnx_choice(c, "mode", c->opset < 19 ? "constant|reflect|edge" : "constant|reflect|edge|wrap");
    uint32_t x = nnrti_onnx_in(c, 0), value = nnrti_onnx_in(c, 2), pads = nnrti_onnx_in(c, 1);
    const int32_t rank = nnrti_onnx_rank(c, x);
    NNRT_PadFusion a;
    (void)arg;
    if (mode == 3) {
        nnrti_onnx_pad_wrap(c);
        return;
    }
    nnrti_onnx_defaults(NNRT_NODE_TYPE_PAD_FUSION, &a);
    a.paddingMode = mode == 1 ? NNRT_PADDING_MODE_REFLECT : NNRT_PADDING_MODE_CONSTANT;
    pads = c->opset >= 11 && pads != NNRT_NO_TENSOR && !nnrti_onnx_is_constant(c, pads)
               ? nnrti_onnx_pads_dynamic(c, rank)
               : nnrti_onnx_pads_constant(c, &x, rank, mode == 1);
    if (c->opset < 11 && nnrti_onnx_float(c, "value", 0) != 0)
        value = nnrti_onnx_like(c, x, (double)nnrti_onnx_float(c, "value", 0));
    if (pads != NNRT_NO_TENSOR && mode == 2)
        x = nnrti_onnx_step2(c, NNRT_NODE_TYPE_PAD_EDGE, NULL, x, pads);
    else if (pads != NNRT_NO_TENSOR)
        x = nnrti_onnx_step3(c, NNRT_NODE_TYPE_PAD_FUSION, &a, x, pads, mode == 0 ? value : NNRT_NO_TENSOR);
    nnrti_onnx_out(c, 0, x);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_sequences: sequences and optional values that the import knows */

/* A sequence is a list of values of the import, which must know its length. Operators of sequences then leave no step, but
   for the tensors that they split and concatenate. An input or output of the model that is a sequence of N tensors becomes N
   inputs or outputs "name[0]", .., "name[N-1]"; a result of an If N results of the step; a Loop that carries sequences is
   read once for each iteration. An optional value is the value that it has, or an absent one. */

/* A new sequence of count values, which are copied; NNRT_NO_TENSOR after a fault. */
static uint32_t nnrti_onnx_new_sequence(nnrti_onnx *c, const uint32_t *values, uint32_t count)
{
    uint32_t *copy = (uint32_t *)nnrti_onnx_keep(c, count + 1u, sizeof(*copy));
    if (copy == NULL || !nnrti_onnx_work(c, count))
        return NNRT_NO_TENSOR;
    if (count > 0)
        memcpy(copy, values, count * sizeof(*copy));
    if (c->sequenceCount == c->sequenceRoom) {
        const uint32_t room = c->sequenceRoom > 0 ? 2 * c->sequenceRoom : 8;
        nnrti_onnx_sequence *more = (nnrti_onnx_sequence *)nnrti_onnx_keep(c, room, sizeof(*more));
        if (more == NULL)
            return NNRT_NO_TENSOR;
        if (c->sequenceCount > 0)
            memcpy(more, c->sequences, c->sequenceCount * sizeof(*more));
        c->sequences = more;
        c->sequenceRoom = room;
    }
    c->sequences[c->sequenceCount].values = copy;
    c->sequences[c->sequenceCount].count = count;
    return NNRTI_ONNX_SEQUENCE + c->sequenceCount++;
}

/* The sequence in input i; empty and a fault if that is something else. */
static nnrti_onnx_sequence nnrti_onnx_sequence_in(nnrti_onnx *c, uint32_t i)
{
    const uint32_t v = nnrti_onnx_any(c, i);
    const nnrti_onnx_sequence *s = nnrti_onnx_sequence_of(c, v);
    nnrti_onnx_sequence none;
    char text[64];
    memset(&none, 0, sizeof(none));
    if (s == NULL && v == NNRT_NO_TENSOR)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is absent, expected a sequence", i);
    else if (s == NULL)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u '%s' is a tensor, expected a sequence", i,
                        nnrti_onnx_text(text, c->node->inputs.data[i]));
    return s != NULL ? *s : none;
}

/* Makes output 0 of the node a sequence. */
static void nnrti_onnx_out_sequence(nnrti_onnx *c, const uint32_t *values, uint32_t count)
{
    nnrti_onnx_out(c, 0, c->code == NNRT_SUCCESS ? nnrti_onnx_new_sequence(c, values, count) : NNRT_NO_TENSOR);
}

/* The position in input i, a constant from -count to most; absent: initial. */
static uint32_t nnrti_onnx_position(nnrti_onnx *c, uint32_t i, uint32_t count, int64_t most, int64_t initial)
{
    const uint32_t v = nnrti_onnx_in(c, i);
    int64_t position = initial;
    c->positions = c->positions || (v != NNRT_NO_TENSOR && !nnrti_onnx_is_constant(c, v));
    if (v != NNRT_NO_TENSOR && nnrti_onnx_list(c, v, "position", &position, 1) != 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "the position '%s' is empty", nnrti_onnx_at(c, v)->name);
    if (c->code == NNRT_SUCCESS && (position < -(int64_t)count || position > most))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "position %l is outside the sequence of %u elements", position,
                        count);
    return c->code != NNRT_SUCCESS ? 0 : (uint32_t)(position < 0 ? position + (int64_t)count : position);
}

static void nnrti_onnx_op_sequence_construct(nnrti_onnx *c, int32_t arg)
{
    const uint32_t count = (uint32_t)c->node->inputs.count;
    uint32_t *values = (uint32_t *)nnrti_onnx_keep(c, count + 1u, sizeof(*values));
    (void)arg;
    for (uint32_t i = 0; i < count && values != NULL; i++)
        if ((values[i] = nnrti_onnx_in(c, i)) == NNRT_NO_TENSOR)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is missing", i);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_out_sequence(c, values, count);
}

/* Inserts input 1 before the position in input 2, by default at the end. */
static void nnrti_onnx_op_sequence_insert(nnrti_onnx *c, int32_t arg)
{
    const nnrti_onnx_sequence s = nnrti_onnx_sequence_in(c, 0);
    const uint32_t v = nnrti_onnx_in(c, 1), at = nnrti_onnx_position(c, 2, s.count, s.count, s.count);
    uint32_t *values = (uint32_t *)nnrti_onnx_keep(c, s.count + 1u, sizeof(*values));
    (void)arg;
    if (c->code == NNRT_SUCCESS && v == NNRT_NO_TENSOR)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input 1 is missing");
    if (c->code != NNRT_SUCCESS || values == NULL)
        return;
    for (uint32_t i = 0; i <= s.count; i++)
        values[i] = i == at ? v : s.values[i > at ? i - 1 : i];
    nnrti_onnx_out_sequence(c, values, s.count + 1);
}

static void nnrti_onnx_op_sequence_erase(nnrti_onnx *c, int32_t arg)
{
    const nnrti_onnx_sequence s = nnrti_onnx_sequence_in(c, 0);
    const int64_t last = (int64_t)s.count - 1;
    const uint32_t at = nnrti_onnx_position(c, 1, s.count, last, last);
    uint32_t *values = (uint32_t *)nnrti_onnx_keep(c, s.count + 1u, sizeof(*values));
    (void)arg;
    if (c->code != NNRT_SUCCESS || values == NULL)
        return;
    for (uint32_t i = 0; i + 1 < s.count; i++)
        values[i] = s.values[i < at ? i : i + 1];
    nnrti_onnx_out_sequence(c, values, s.count - 1);
}

/* The values with one more axis each, joined along it. */
static uint32_t nnrti_onnx_stack(nnrti_onnx *c, nnrti_onnx_sequence s, int64_t axis)
{
    uint32_t *values = (uint32_t *)nnrti_onnx_keep(c, s.count + 1u, sizeof(*values));
    for (uint32_t i = 0; values != NULL && i < s.count && c->code == NNRT_SUCCESS; i++)
        values[i] = nnrti_onnx_unsqueeze(c, s.values[i], axis);
    return values != NULL && c->code == NNRT_SUCCESS ? nnrti_onnx_concat(c, values, s.count, axis) : NNRT_NO_TENSOR;
}

/* The element at the position in input 1. If only the run knows the position, elements of one shape are stacked, and GATHER
   chooses one. */
static void nnrti_onnx_op_sequence_at(nnrti_onnx *c, int32_t arg)
{
    const nnrti_onnx_sequence s = nnrti_onnx_sequence_in(c, 0);
    const uint32_t position = nnrti_onnx_in(c, 1);
    bool same = s.count > 0 && !nnrti_onnx_is_constant(c, position);
    (void)arg;
    for (uint32_t i = 0; same && i < s.count; i++) {
        const nnrt_operand *x = nnrti_onnx_at(c, s.values[0]), *y = nnrti_onnx_at(c, s.values[i]);
        same = x->rank >= 0 && x->rank < NNRT_MAX_RANK && x->rank == y->rank && x->dataType == y->dataType &&
               memcmp(x->dims, y->dims, (size_t)x->rank * sizeof(x->dims[0])) == 0 &&
               memcmp(x->symbols, y->symbols, (size_t)x->rank * sizeof(x->symbols[0])) == 0 &&
               nnrti_onnx_storage_type(c, s.values[i]) == NNRT_ONNX_UNDEFINED;
    }
    if (same) {
        const int64_t one = 1; /* the position is a scalar or [1] */
        const uint32_t y = nnrti_onnx_gather(c, nnrti_onnx_stack(c, s, 0), nnrti_onnx_reshape(c, position, &one, 1), 0);
        nnrti_onnx_out(c, 0, nnrti_onnx_squeeze(c, y, 0));
    } else {
        const uint32_t at = nnrti_onnx_position(c, 1, s.count, (int64_t)s.count - 1, (int64_t)s.count);
        if (c->code == NNRT_SUCCESS)
            nnrti_onnx_out(c, 0, s.values[at]);
    }
}

static void nnrti_onnx_op_sequence_length(nnrti_onnx *c, int32_t arg)
{
    const int64_t count = nnrti_onnx_sequence_in(c, 0).count;
    (void)arg;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_out(c, 0, nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_INT64, 0, NULL, &count));
}

/* new_axis 1: each element gets the axis to concatenate along. */
static void nnrti_onnx_op_concat_sequence(nnrti_onnx *c, int32_t arg)
{
    const nnrti_onnx_sequence s = nnrti_onnx_sequence_in(c, 0);
    const int64_t axis = nnrti_onnx_int(c, "axis", 0);
    uint32_t y;
    (void)arg;
    if (c->code == NNRT_SUCCESS && s.count == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "the sequence is empty, expected 1 element or more");
    if (c->code != NNRT_SUCCESS)
        return;
    y = nnrti_onnx_int(c, "new_axis", 0) != 0 ? nnrti_onnx_stack(c, s, axis) : nnrti_onnx_concat(c, s.values, s.count, axis);
    nnrti_onnx_set_storage(c, y, nnrti_onnx_storage_type(c, s.values[0]));
    nnrti_onnx_out(c, 0, y);
}

/* The sizes of the parts: a constant list, or of a constant size, 1 by default. Returns their number. */
static uint32_t nnrti_onnx_sequence_sizes(nnrti_onnx *c, uint32_t x, int32_t axis, int64_t **sizes)
{
    const uint32_t v = nnrti_onnx_in(c, 1);
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    int64_t part = 1, n;
    size_t count = 0;
    if (v != NNRT_NO_TENSOR && o->rank == 1 && nnrt_dims_count(o->dims, 1, &count) && count < UINT32_MAX) {
        *sizes = (int64_t *)nnrti_onnx_keep(c, count + 1, sizeof(**sizes));
        return *sizes != NULL ? nnrti_onnx_list(c, v, "split", *sizes, (uint32_t)count) : 0;
    }
    n = nnrti_onnx_fixed_dim(c, x, axis, "SplitToSequence");
    if (v != NNRT_NO_TENSOR && nnrti_onnx_list(c, v, "split", &part, 1) == 1 && part < 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "split is %l, expected at least 1", part);
    count = part >= 1 ? (size_t)(n / part + (n % part != 0)) : 0;
    *sizes = (int64_t *)nnrti_onnx_keep(c, count + 1, sizeof(**sizes));
    for (size_t i = 0; *sizes != NULL && i < count; i++)
        (*sizes)[i] = (int64_t)(i + 1) * part <= n ? part : n % part;
    return (uint32_t)count;
}

/* keepdims 0 removes the axis; it only applies without split. */
static void nnrti_onnx_op_split_sequence(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const bool drops = nnrti_onnx_int(c, "keepdims", 1) == 0 && nnrti_onnx_in(c, 1) == NNRT_NO_TENSOR;
    int64_t *sizes = NULL;
    uint32_t *out, count;
    NNRT_Split a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_SPLIT, &a);
    a.axis = nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", 0), nnrti_onnx_rank(c, x));
    count = nnrti_onnx_sequence_sizes(c, x, (int32_t)a.axis, &sizes);
    out = (uint32_t *)nnrti_onnx_keep(c, count + 1u, sizeof(*out));
    if (c->code != NNRT_SUCCESS || out == NULL)
        return;
    a.outputNum = count;
    a.sizeSplits = nnrt_int64_list(sizes, count);
    if (count > 0)
        nnrti_onnx_emit(c, NNRT_NODE_TYPE_SPLIT, &a, &x, 1, out, count, NULL);
    for (uint32_t i = 0; i < count && drops && c->code == NNRT_SUCCESS; i++)
        out[i] = nnrti_onnx_squeeze(c, out[i], a.axis);
    nnrti_onnx_out_sequence(c, out, count);
}

/* Optional (arg 0), OptionalGetElement (arg 1): the value of input 0, which may be absent for arg 0. */
static void nnrti_onnx_op_optional(nnrti_onnx *c, int32_t arg)
{
    const uint32_t v = nnrti_onnx_any(c, 0);
    if (v == NNRT_NO_TENSOR && arg == 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "the optional value is absent");
    nnrti_onnx_out_any(c, 0, v);
}

static void nnrti_onnx_op_has_element(nnrti_onnx *c, int32_t arg)
{
    const uint8_t has = nnrti_onnx_any(c, 0) != NNRT_NO_TENSOR;
    (void)arg;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_out(c, 0, nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_BOOL, 0, NULL, &has));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_reductions */

/* The axes of a reduction: an attribute, or an input (ReduceSum from operator set 13, the others from 18).
   NNRT_NO_TENSOR: all axes, or no axis if *none is true. */
static uint32_t nnrti_onnx_reduced_axes(nnrti_onnx *c, bool *none)
{
    const uint32_t list = nnrti_onnx_in(c, 1);
    const bool noop = nnrti_onnx_int(c, "noop_with_empty_axes", 0) != 0;
    int64_t axes[NNRT_MAX_RANK];
    uint32_t count = 0;
    *none = false;
    if (list != NNRT_NO_TENSOR && !nnrti_onnx_is_constant(c, list) &&
        (!noop || nnrti_onnx_runtime_entries(c, list) > 0))
        return list;
    if (nnrti_onnx_runtime_entries(c, list) == 0) { /* an empty list: its values need not be known */
        *none = noop;
        return NNRT_NO_TENSOR;
    }
    (void)nnrti_onnx_param(c, "axes", 1, axes, NNRT_MAX_RANK, &count);
    *none = count == 0 && noop;
    return count > 0 ? nnrti_onnx_const_ints(c, axes, count) : NNRT_NO_TENSOR;
}

/* Reduction over axes; axes NNRT_NO_TENSOR: all. */
static uint32_t nnrti_onnx_reduced(nnrti_onnx *c, uint32_t x, NNRT_ReduceMode mode, uint32_t axes, bool keep)
{
    NNRT_ReduceFusion a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_REDUCE_FUSION, &a);
    a.mode = mode;
    a.keepDims = keep;
    if (axes == NNRT_NO_TENSOR)
        return nnrti_onnx_step1(c, NNRT_NODE_TYPE_REDUCE_FUSION, &a, x);
    if (!keep && !nnrti_onnx_is_constant(c, axes)) /* the rank depends on their number */
        (void)nnrti_onnx_fixed_dim(c, axes, 0, "a reduction over axes of an input");
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_REDUCE_FUSION, &a, x, axes);
}

/* No axis is reduced (noop_with_empty_axes): each result is the reduction of one element. */
static uint32_t nnrti_onnx_reduced_alone(nnrti_onnx *c, uint32_t x, NNRT_ReduceMode mode)
{
    if (mode == NNRT_REDUCE_MODE_SUM_SQUARE)
        return nnrti_onnx_mul(c, x, x);
    if ((mode == NNRT_REDUCE_MODE_ASUM || mode == NNRT_REDUCE_MODE_L2) &&
        nnrti_onnx_is_a(c, x, NNRT_TYPES_FLOAT | NNRT_TYPES_F64 | NNRT_TYPES_I8 | NNRT_TYPES_I16 | NNRT_TYPES_INDEX))
        return nnrti_onnx_step1(c, NNRT_NODE_TYPE_ABS, NULL, x);
    return x;
}

static void nnrti_onnx_op_reduce(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const bool keep = nnrti_onnx_int(c, "keepdims", 1) != 0;
    bool none;
    const uint32_t axes = nnrti_onnx_reduced_axes(c, &none);
    if (!keep && nnrti_onnx_runtime_entries(c, axes) > 0)
        nnrti_onnx_out(c, 0, nnrti_onnx_squeeze_dynamic(c, nnrti_onnx_reduced(c, x, arg, axes, true), axes));
    else
        nnrti_onnx_out(c, 0, none ? nnrti_onnx_reduced_alone(c, x, arg) : nnrti_onnx_reduced(c, x, arg, axes, keep));
}

/* log(sum(exp(x))) - *top over axes of float32 or float64 x, without overflow. *top, whose axes are kept, is the
   largest element clamped to finite values, so that infinities in x propagate. */
static uint32_t nnrti_onnx_log_sum_exp(nnrti_onnx *c, uint32_t x, uint32_t axes, bool keep, uint32_t *top)
{
    const bool wide = nnrti_onnx_is_a(c, x, NNRT_TYPES_F64);
    const double most = wide ? DBL_MAX : (double)FLT_MAX;
    uint32_t y = nnrti_onnx_reduced(c, x, NNRT_REDUCE_MODE_MAX, axes, true);
    y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MINIMUM, NULL, y, nnrti_onnx_like(c, y, most));
    *top = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MAXIMUM, NULL, y, nnrti_onnx_like(c, y, -most));
    y = nnrti_onnx_exp(c, nnrti_onnx_sub(c, x, *top));
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOG, NULL, nnrti_onnx_reduced(c, y, NNRT_REDUCE_MODE_SUM, axes, keep));
}

/* LOG_SOFTMAX; in float64, which it does not support, by single steps. */
static uint32_t nnrti_onnx_log_softmax(nnrti_onnx *c, uint32_t x, int32_t axis)
{
    NNRT_LogSoftmax a;
    a.axis = axis;
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOG_SOFTMAX, &a, x);
}

static uint32_t nnrti_onnx_softmax(nnrti_onnx *c, uint32_t x, int32_t axis)
{
    const int64_t at = axis;
    NNRT_Softmax a;
    a.axis = nnrt_int64_list(&at, 1);
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_SOFTMAX, &a, x);
}

static uint32_t nnrti_onnx_hardmax(nnrti_onnx *c, uint32_t x, int32_t axis)
{
    NNRT_Hardmax a;
    a.axis = axis;
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_HARDMAX, &a, x);
}

/* Softmax (arg 0), LogSoftmax (1), Hardmax (2). Before operator set 13 all axes from `axis` on are treated as one. */
static void nnrti_onnx_op_softmax(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, x);
    const int64_t given = nnrti_onnx_int(c, "axis", c->opset < 13 ? 1 : -1);
    int32_t axis = c->opset < 13 && given == rank ? rank : nnrti_onnx_axis(c, given, rank);
    const bool flat = c->opset < 13 && axis != rank - 1;
    uint32_t y = flat ? nnrti_onnx_flat(c, x, axis) : x;
    axis = flat ? 1 : axis;
    y = arg == 0   ? nnrti_onnx_softmax(c, y, axis)
        : arg == 1 ? nnrti_onnx_log_softmax(c, y, axis)
                   : nnrti_onnx_hardmax(c, y, axis);
    if (flat)
        y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, y, nnrti_onnx_shape(c, x));
    nnrti_onnx_out(c, 0, y);
}

/* NegativeLogLikelihoodLoss (arg 0); SoftmaxCrossEntropyLoss (1), which applies LOG_SOFTMAX first. */
static void nnrti_onnx_op_nll_loss(nnrti_onnx *c, int32_t arg)
{
    const nnrt_onnx_attribute *ignore = nnrti_onnx_attr(c, "ignore_index", NNRT_ONNX_ATTRIBUTE_INT);
    const uint32_t weight = nnrti_onnx_in(c, 2);
    NNRT_NegativeLogLikelihoodLoss a;
    NNRT_LogSoftmax log;
    uint32_t in[3], y = NNRT_NO_TENSOR;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_NEGATIVE_LOG_LIKELIHOOD_LOSS, &a);
    log.axis = 1;
    if (ignore != NULL)
        a.ignoreIndex = nnrt_int64_list(&ignore->i, 1);
    a.reduction = nnrti_onnx_choice(c, "reduction", "mean|sum|none");
    in[0] = nnrti_onnx_in(c, 0);
    if (arg == 1)
        in[0] = nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOG_SOFTMAX, &log, in[0]);
    in[1] = nnrti_onnx_in(c, 1);
    in[2] = weight;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_NEGATIVE_LOG_LIKELIHOOD_LOSS, &a, in, weight != NNRT_NO_TENSOR ? 3 : 2, &y, 1,
                    NULL);
    nnrti_onnx_out(c, 0, y);
    if (arg == 1)
        nnrti_onnx_out(c, 1, in[0]);
}

/* log of the sum (arg 0), or of the sum of e^x (1). float16 is computed in float32 to avoid overflow of the sum, integers
   in float64; their result is rounded toward zero. */
static void nnrti_onnx_op_reduce_log(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const NNRT_DataType type = nnrti_onnx_type(c, x);
    const NNRT_DataType wide = type == NNRT_DATA_TYPE_FLOAT16         ? (NNRT_DataType)NNRT_DATA_TYPE_FLOAT32
                               : nnrti_type_in(type, NNRT_TYPES_INT) ? (NNRT_DataType)NNRT_DATA_TYPE_FLOAT64
                                                                     : type;
    const bool keep = nnrti_onnx_int(c, "keepdims", 1) != 0;
    bool none;
    uint32_t axes = nnrti_onnx_reduced_axes(c, &none), y, top = NNRT_NO_TENSOR;
    if (none && arg == 1) { /* log e^x */
        nnrti_onnx_out(c, 0, x);
        return;
    }
    y = nnrti_onnx_cast(c, x, wide);
    if (arg == 0) {
        y = none ? y : nnrti_onnx_reduced(c, y, NNRT_REDUCE_MODE_SUM, axes, keep);
        y = nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOG, NULL, y);
    } else {
        y = nnrti_onnx_log_sum_exp(c, y, axes, keep, &top);
        y = nnrti_onnx_add(c, y, keep ? top : nnrti_onnx_reduced(c, top, NNRT_REDUCE_MODE_MAX, axes, false));
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, y, type));
}

/* arg: the node type. select_last_index searches x reversed along the axis. */
static void nnrti_onnx_op_arg(nnrti_onnx *c, int32_t arg)
{
    uint32_t x = nnrti_onnx_in(c, 0), y;
    const int32_t axis = nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", 0), nnrti_onnx_rank(c, x));
    const bool last = nnrti_onnx_int(c, "select_last_index", 0) != 0;
    NNRT_ArgMaxFusion most;
    NNRT_ArgMinFusion least;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ARGMAX_FUSION, &most);
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ARGMIN_FUSION, &least);
    most.axis = least.axis = axis;
    most.keepDims = least.keepDims = nnrti_onnx_int(c, "keepdims", 1) != 0;
    if (last)
        x = nnrti_onnx_strided_slice(c, x, axis, -1, INT32_MIN, -1);
    y = arg == NNRT_NODE_TYPE_ARGMAX_FUSION ? nnrti_onnx_step_typed(c, arg, &most, x, NNRT_DATA_TYPE_INT64)
                                            : nnrti_onnx_step_typed(c, arg, &least, x, NNRT_DATA_TYPE_INT64);
    if (last) {
        const uint32_t n = nnrti_onnx_size_like(c, nnrti_onnx_size_of(c, x, axis), y);
        y = nnrti_onnx_sub(c, nnrti_onnx_sub(c, n, nnrti_onnx_like(c, y, 1)), y);
    }
    nnrti_onnx_out(c, 0, y);
}

/* k is an attribute before operator set 10. */
static void nnrti_onnx_op_top_k(nnrti_onnx *c, int32_t arg)
{
    static const NNRT_DataType types[2] = {NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_INT64};
    const bool largest = nnrti_onnx_int(c, "largest", 1) != 0;
    uint32_t in[2], out[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_TopKFusion a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_TOPK_FUSION, &a);
    a.axis = nnrti_onnx_int(c, "axis", -1);
    a.sorted = nnrti_onnx_int(c, "sorted", 1) != 0;
    in[0] = nnrti_onnx_in(c, 0);
    in[1] = nnrti_onnx_in(c, 1);
    if (in[1] == NNRT_NO_TENSOR)
        in[1] = nnrti_onnx_const_int(c, nnrti_onnx_int(c, "k", -1));
    nnrti_onnx_emit(c, largest ? NNRT_NODE_TYPE_TOPK_FUSION : NNRT_NODE_TYPE_BOTTOM_K, &a, in, 2, out, 2, types);
    nnrti_onnx_out(c, 0, out[0]);
    nnrti_onnx_out(c, 1, out[1]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_windows: convolution, pooling, resizing */

/* Attributes of convolution and pooling in the runtime's order: height, width; top, bottom, left, right. One spatial
   axis is treated as the width of an image of height 1. */
typedef struct nnrti_onnx_window {
    int64_t kernel[2], stride[2], dilation[2], pads[4];
    NNRT_PadMode mode;
    bool lower;   /* SAME_LOWER: an odd total padding has its larger half at the begin */
    int32_t axes; /* number of spatial axes of the ONNX tensor: 1 or 2 */
} nnrti_onnx_window;

/* Copies the entries of a list attribute to to[2], the last axis last. */
static void nnrti_onnx_window_list(nnrti_onnx *c, const char *name, int32_t axes, int64_t to[2])
{
    const nnrt_onnx_ints list = nnrti_onnx_ints_of(c, name);
    if (list.data == NULL)
        return;
    if (list.count != (size_t)axes) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s has %z entries, expected %d", name, list.count, axes);
        return;
    }
    for (int32_t i = 0; i < axes; i++)
        if (list.data[i] < 0 || list.data[i] > INT32_MAX) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s[%d] is %l, expected 0 or more", name, i, list.data[i]);
            return;
        }
    to[0] = axes == 2 ? list.data[0] : to[0];
    to[1] = list.data[axes - 1];
}

/* Reads the attributes common to all windows. kernel is kernel_shape, or 1 without it; a weight overrides it
   (nnrti_onnx_kernel_of). */
static void nnrti_onnx_window_of(nnrti_onnx *c, uint32_t x, nnrti_onnx_window *w)
{
    const nnrt_onnx_ints pads = nnrti_onnx_ints_of(c, "pads");
    const int32_t rank = nnrti_onnx_rank(c, x),
                  mode = nnrti_onnx_choice(c, "auto_pad", "NOTSET|VALID|SAME_UPPER|SAME_LOWER");
    const size_t n = rank == 3 ? 1 : 2;
    memset(w, 0, sizeof(*w));
    for (int32_t i = 0; i < 2; i++)
        w->kernel[i] = w->stride[i] = w->dilation[i] = 1;
    w->axes = (int32_t)n;
    if (rank != 3 && rank != 4) {
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "input '%s' is %o: only one or two spatial axes are supported",
                        nnrti_onnx_at(c, x)->name, nnrti_onnx_at(c, x));
        return;
    }
    nnrti_onnx_window_list(c, "kernel_shape", w->axes, w->kernel);
    nnrti_onnx_window_list(c, "strides", w->axes, w->stride);
    nnrti_onnx_window_list(c, "dilations", w->axes, w->dilation);
    w->mode = mode == 0 ? NNRT_PAD_MODE_PAD : mode == 1 ? NNRT_PAD_MODE_VALID : NNRT_PAD_MODE_SAME;
    w->lower = mode == 3;
    for (int32_t i = 0; i < 2; i++)
        if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "kernel is %l, stride %l, dilation %l, expected 1 or more",
                            w->kernel[i], w->stride[i], w->dilation[i]);
    if (pads.data == NULL || mode != 0)
        return;
    if (pads.count != 2 * n) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "pads has %z entries, expected %z", pads.count, 2 * n);
        return;
    }
    for (size_t i = 0; i < 2 * n; i++) {
        if (pads.data[i] < 0 || pads.data[i] > INT32_MAX)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "pads[%z] is %l, expected 0 or more", i, pads.data[i]);
        w->pads[2 * (i % n) + (n == 1 ? 2 : 0) + i / n] = pads.data[i];
    }
}

/* Inserts a height of 1 at axis 2 of an image with one spatial axis. */
static uint32_t nnrti_onnx_image(nnrti_onnx *c, uint32_t x, const nnrti_onnx_window *w)
{
    return w->axes == 1 ? nnrti_onnx_unsqueeze(c, x, 2) : x;
}

static uint32_t nnrti_onnx_unimage(nnrti_onnx *c, uint32_t y, const nnrti_onnx_window *w)
{
    return w->axes == 1 ? nnrti_onnx_squeeze(c, y, 2) : y;
}

/* The runtime lacks SAME_LOWER, so explicit pads are computed from the spatial sizes of x [N,C,H,W], which must be
   static. With a stride of 1 the pads do not depend on them. */
static void nnrti_onnx_same_lower(nnrti_onnx *c, uint32_t x, nnrti_onnx_window *w)
{
    if (!w->lower || c->code != NNRT_SUCCESS)
        return;
    for (int32_t i = 0; i < 2; i++) {
        const int64_t n = w->stride[i] == 1 ? 1 : nnrti_onnx_fixed_dim(c, x, 2 + i, "auto_pad SAME_LOWER"),
                      out = (n + w->stride[i] - 1) / w->stride[i];
        int64_t total = (out - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - n;
        total = total > 0 ? total : 0;
        w->pads[2 * i + 1] = total / 2;
        w->pads[2 * i] = total - total / 2;
    }
    w->mode = NNRT_PAD_MODE_PAD;
}

/* Sets w->kernel to the kernel size of the weight [.,.,kH,kW], which kernel_shape must match. A dynamic size of the
   weight stays kernel_shape, or 0 without that attribute. */
static void nnrti_onnx_kernel_of(nnrti_onnx *c, uint32_t weight, nnrti_onnx_window *w)
{
    const bool told = nnrti_onnx_ints_of(c, "kernel_shape").data != NULL;
    if (nnrti_onnx_rank(c, weight) != 4)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "the weight has %d axes less than the input",
                        4 - nnrti_onnx_rank(c, weight));
    for (int32_t i = 0; i < 2; i++) {
        const int64_t k = nnrti_onnx_dim(c, weight, 2 + i);
        if (told && k >= 0 && w->kernel[i] != k)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "kernel_shape is %l, but the kernel size of the weight is %l",
                            w->kernel[i], k);
        w->kernel[i] = k >= 0 ? k : told ? w->kernel[i] : 0;
    }
}

/* Number of entries of the kernel size attribute: 2, or 0 if the kernel size is only known from the weight in the
   run. */
static uint32_t nnrti_onnx_kernel_count(const nnrti_onnx_window *w)
{
    return w->kernel[0] > 0 && w->kernel[1] > 0 ? 2 : 0;
}

/* A fault if pads must be computed from a kernel size that is dynamic. */
static void nnrti_onnx_need_kernel(nnrti_onnx *c, uint32_t weight, const nnrti_onnx_window *w, const char *what)
{
    for (int32_t i = 0; i < 2 && nnrti_onnx_kernel_count(w) == 0; i++)
        (void)nnrti_onnx_fixed_dim(c, weight, 2 + i, what);
}

/* A fault if the channels of x do not match the weight (in ONNX's axis order) and group. */
static void nnrti_onnx_check_channels(nnrti_onnx *c, uint32_t x, uint32_t weight)
{
    const nnrt_operand *o = nnrti_onnx_at(c, x), *w = nnrti_onnx_at(c, weight);
    const int64_t group = nnrti_onnx_int(c, "group", 1), have = nnrti_onnx_dim(c, x, 1);
    const int64_t want = nnrti_onnx_dim(c, weight, 1);
    if (c->code == NNRT_SUCCESS && have >= 0 && want >= 0 && (group < 1 || have % group != 0 || have / group != want))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE,
                        "W '%s' is %o, which requires %l channels in each of %l groups; X '%s' is %o with %l channels",
                        w->name, w, want, group, o->name, o, have);
}

/* Size of axis i; 0 if it is dynamic: the runtime then takes it from the tensor. */
static int64_t nnrti_onnx_known_dim(const nnrti_onnx *c, uint32_t v, int32_t i)
{
    const int64_t n = nnrti_onnx_dim(c, v, i);
    return n > 0 ? n : 0;
}

/* A list attribute of the node; points into the node, not copied. */
static NNRT_Int64List nnrti_onnx_numbers(nnrti_onnx *c, const char *name)
{
    const nnrt_onnx_ints list = nnrti_onnx_ints_of(c, name);
    return nnrt_int64_list(list.data, (uint32_t)list.count);
}

/* Converts row-major positions in x [N,C,L..] to the order of storage_order: 1 is column-major (the first spatial axis
   varies fastest). */
static uint32_t nnrti_onnx_to_storage_order(nnrti_onnx *c, uint32_t x, uint32_t positions)
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    uint32_t rest, inside, turned;
    if (nnrti_onnx_int(c, "storage_order", 0) == 0 || rank < 4 || c->code != NNRT_SUCCESS)
        return positions;
    rest = nnrti_onnx_div(c, positions, nnrti_onnx_size_like(c, nnrti_onnx_size_product(c, x, 2, rank), positions));
    turned = nnrti_onnx_mul(c, rest, nnrti_onnx_size_like(c, nnrti_onnx_size_product(c, x, 2, rank), positions));
    inside = nnrti_onnx_sub(c, positions, turned);
    for (int32_t i = rank - 1; i >= 2; i--) { /* inside: the position within axes 2 to i */
        const uint32_t L = nnrti_onnx_size_like(c, nnrti_onnx_size_of(c, x, i), positions);
        const uint32_t step = nnrti_onnx_size_like(c, nnrti_onnx_size_product(c, x, 2, i), positions);
        rest = nnrti_onnx_div(c, inside, L);
        inside = nnrti_onnx_sub(c, inside, nnrti_onnx_mul(c, rest, L));
        turned = nnrti_onnx_add(c, turned, nnrti_onnx_mul(c, inside, step));
        inside = rest;
    }
    return turned;
}

/* 3-D convolution and pooling, and dilated pooling: the runtime's 3-D operators use ONNX's axis order and attributes.
   MAX_POOL_3D of 8-bit integers runs in float32, which represents them exactly. */
static void nnrti_onnx_window_3d(nnrti_onnx *c, NNRT_NodeType type)
{
    static const NNRT_DataType types[2] = {NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_INT64};
    const NNRT_Int64List kernel = nnrti_onnx_numbers(c, "kernel_shape"), strides = nnrti_onnx_numbers(c, "strides"),
                         dilations = nnrti_onnx_numbers(c, "dilations"), pads = nnrti_onnx_numbers(c, "pads");
    const NNRT_AutoPad mode = nnrti_onnx_choice(c, "auto_pad", "NOTSET|SAME_UPPER|SAME_LOWER|VALID");
    const uint32_t given = nnrti_onnx_in(c, 0), w = nnrti_onnx_in(c, 1), b = nnrti_onnx_in(c, 2);
    const bool pool = type == NNRT_NODE_TYPE_MAX_POOL_3D && nnrti_onnx_has_output(c, 1);
    const bool bytes = type == NNRT_NODE_TYPE_MAX_POOL_3D && nnrti_onnx_is_a(c, given, NNRT_TYPES_I8 | NNRT_TYPES_U8);
    const uint32_t x = bytes ? nnrti_onnx_cast(c, given, NNRT_DATA_TYPE_FLOAT32) : given;
    uint32_t out[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_Conv3D conv;
    NNRT_ConvTranspose3D transposed;
    NNRT_MaxPool3D most;
    NNRT_AveragePool3D average;
    conv.kernelShape = transposed.kernelShape = most.kernelShape = average.kernelShape = kernel;
    conv.strides = transposed.strides = most.strides = average.strides = strides;
    conv.dilations = transposed.dilations = most.dilations = average.dilations = dilations;
    conv.pads = transposed.pads = most.pads = average.pads =
        mode == NNRT_AUTO_PAD_NOTSET ? pads : nnrt_int64_list(NULL, 0);
    conv.autoPad = transposed.autoPad = most.autoPad = average.autoPad = mode;
    conv.group = transposed.group = nnrti_onnx_int(c, "group", 1);
    most.ceilMode = average.ceilMode = nnrti_onnx_int(c, "ceil_mode", 0);
    average.countIncludePad = nnrti_onnx_int(c, "count_include_pad", 0);
    transposed.outputPadding = nnrti_onnx_numbers(c, "output_padding");
    transposed.outputShape = nnrti_onnx_numbers(c, "output_shape");
    if (type == NNRT_NODE_TYPE_CONV_3D)
        out[0] = nnrti_onnx_step3(c, type, &conv, x, w, b);
    else if (type == NNRT_NODE_TYPE_CONV_TRANSPOSE_3D)
        out[0] = nnrti_onnx_step3(c, type, &transposed, x, w, b);
    else if (type == NNRT_NODE_TYPE_AVERAGE_POOL_3D)
        out[0] = nnrti_onnx_step1(c, type, &average, x);
    else
        nnrti_onnx_emit(c, type, &most, &x, 1, out, pool ? 2 : 1, types);
    nnrti_onnx_out(c, 0, bytes ? nnrti_onnx_cast(c, out[0], nnrti_onnx_type(c, given)) : out[0]);
    if (pool)
        nnrti_onnx_out(c, 1, nnrti_onnx_to_storage_order(c, x, out[1]));
}

static void nnrti_onnx_op_lp_pool(nnrti_onnx *c, int32_t arg)
{
    NNRT_LpPool a;
    (void)arg;
    a.kernelShape = nnrti_onnx_numbers(c, "kernel_shape");
    a.strides = nnrti_onnx_numbers(c, "strides");
    a.dilations = nnrti_onnx_numbers(c, "dilations");
    a.autoPad = nnrti_onnx_choice(c, "auto_pad", "NOTSET|SAME_UPPER|SAME_LOWER|VALID");
    a.pads = a.autoPad == NNRT_AUTO_PAD_NOTSET ? nnrti_onnx_numbers(c, "pads") : nnrt_int64_list(NULL, 0);
    a.ceilMode = nnrti_onnx_int(c, "ceil_mode", 0);
    a.p = nnrti_onnx_int(c, "p", 2);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_LP_POOL, &a, nnrti_onnx_in(c, 0)));
}

/* With output_shape, indices may refer to output_shape (ONNX Runtime) or to the shape that the windows cover (ONNX's
   test case). MAX_UNPOOL decides by the windows. */
static void nnrti_onnx_op_max_unpool(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), indices = nnrti_onnx_in(c, 1), shape = nnrti_onnx_in(c, 2);
    NNRT_MaxUnpool a;
    (void)arg;
    a.kernelShape = nnrti_onnx_numbers(c, "kernel_shape");
    a.strides = nnrti_onnx_numbers(c, "strides");
    a.pads = nnrti_onnx_numbers(c, "pads");
    nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_MAX_UNPOOL, &a, x, indices, shape));
}

/* Whether SAME_LOWER pads x, an image without its height of 1, by a size that only a run knows. */
static bool nnrti_onnx_pads_open(nnrti_onnx *c, uint32_t x, const nnrti_onnx_window *w)
{
    bool open = false;
    for (int32_t i = 2 - w->axes; i < 2 && w->lower; i++)
        open = open || w->kernel[i] == 0 || (w->stride[i] > 1 && nnrti_onnx_dim(c, x, i + w->axes) < 0);
    return open;
}

/* Whether only the 3-D operators pool an image as the node does: dilated or in float64; with ceil_mode, whose last window
   may begin behind the data and is then dropped; or with pads that only a run knows. */
static bool nnrti_onnx_pools_as_3d(nnrti_onnx *c)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const bool ceil = nnrti_onnx_int(c, "ceil_mode", 0) != 0;
    nnrti_onnx_window w;
    bool any;
    nnrti_onnx_window_of(c, x, &w);
    any = nnrti_onnx_is_a(c, x, NNRT_TYPES_F64) || nnrti_onnx_pads_open(c, x, &w);
    for (int32_t i = 0; i < 2; i++)
        any = any || w.dilation[i] != 1 ||
              (ceil && w.mode != NNRT_PAD_MODE_SAME && w.stride[i] + w.pads[2 * i + 1] > w.kernel[i]);
    return any;
}

/* Converts windows over three spatial axes, and pools that the 2-D operators lack, with the 3-D operators. False: the node
   needs a 2-D operator. */
static bool nnrti_onnx_try_3d(nnrti_onnx *c, NNRT_NodeType type)
{
    const bool pool = type == NNRT_NODE_TYPE_MAX_POOL_3D || type == NNRT_NODE_TYPE_AVERAGE_POOL_3D;
    const int32_t rank = nnrti_onnx_rank(c, nnrti_onnx_in(c, 0));
    const bool volume = rank == 5 || (pool && (rank == 3 || rank == 4) && nnrti_onnx_pools_as_3d(c));
    if (volume)
        nnrti_onnx_window_3d(c, type);
    return volume;
}

/* The convolution of an image, in[0], with a weight, in[1], and further inputs. q: quantization parameters of the
   result, which then has the type of in[0]; NULL: none. */
static uint32_t nnrti_onnx_conv(nnrti_onnx *c, NNRT_NodeType type, uint32_t *in, uint32_t nIn,
                                const nnrti_onnx_quant *q)
{
    static const int64_t perm[] = {0, 2, 3, 1};
    nnrti_onnx_window w;
    NNRT_Conv2DFusion a;
    uint32_t x, weight, y;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_CONV2D_FUSION, &a);
    nnrti_onnx_window_of(c, in[0], &w);
    x = nnrti_onnx_image(c, in[0], &w);
    weight = nnrti_onnx_image(c, in[1], &w);
    nnrti_onnx_kernel_of(c, weight, &w);
    nnrti_onnx_check_channels(c, in[0], in[1]);
    if (w.lower)
        nnrti_onnx_need_kernel(c, weight, &w, "auto_pad SAME_LOWER");
    nnrti_onnx_same_lower(c, x, &w);
    a.kernelSize = nnrt_int64_list(w.kernel, nnrti_onnx_kernel_count(&w));
    a.stride = nnrt_int64_list(w.stride, 2);
    a.dilation = nnrt_int64_list(w.dilation, 2);
    a.padMode = w.mode;
    a.padList = nnrt_int64_list(w.pads, w.mode == NNRT_PAD_MODE_PAD ? 4 : 0);
    a.group = nnrti_onnx_int(c, "group", 1);
    a.outChannel = nnrti_onnx_known_dim(c, weight, 0);
    a.inChannel = a.group > 0 && a.group <= INT32_MAX ? nnrti_onnx_known_dim(c, weight, 1) * a.group : 0;
    in[0] = x;
    in[1] = nnrti_onnx_transpose(c, weight, perm, 4);
    y = nnrti_onnx_step_quantized(c, type, &a, in, nIn, nnrti_onnx_type(c, x), q);
    return nnrti_onnx_unimage(c, y, &w);
}

/* A convolution with SAME_LOWER of a size that only a run knows, which only CONV_3D has: of a depth of 1. False: it has
   other pads. */
static bool nnrti_onnx_conv_lower(nnrti_onnx *c, const uint32_t in[3])
{
    int64_t kernel[3] = {1, 0, 0}, stride[3] = {1, 0, 0}, dilation[3] = {1, 0, 0};
    nnrti_onnx_window w;
    uint32_t weight, y;
    NNRT_Conv3D a;
    nnrti_onnx_window_of(c, in[0], &w);
    weight = nnrti_onnx_image(c, in[1], &w);
    nnrti_onnx_kernel_of(c, weight, &w);
    if (!nnrti_onnx_pads_open(c, in[0], &w))
        return false;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_CONV_3D, &a);
    memcpy(kernel + 1, w.kernel, sizeof(w.kernel));
    memcpy(stride + 1, w.stride, sizeof(w.stride));
    memcpy(dilation + 1, w.dilation, sizeof(w.dilation));
    a.kernelShape = nnrt_int64_list(kernel, nnrti_onnx_kernel_count(&w) > 0 ? 3 : 0);
    a.strides = nnrt_int64_list(stride, 3);
    a.dilations = nnrt_int64_list(dilation, 3);
    a.autoPad = NNRT_AUTO_PAD_SAME_LOWER;
    a.group = nnrti_onnx_int(c, "group", 1);
    y = nnrti_onnx_step3(c, NNRT_NODE_TYPE_CONV_3D, &a, nnrti_onnx_unsqueeze(c, nnrti_onnx_image(c, in[0], &w), 2),
                         nnrti_onnx_unsqueeze(c, weight, 2), in[2]);
    nnrti_onnx_out(c, 0, nnrti_onnx_unimage(c, nnrti_onnx_squeeze(c, y, 2), &w));
    return true;
}

static void nnrti_onnx_op_conv(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[3];
    (void)arg;
    if (nnrti_onnx_try_3d(c, NNRT_NODE_TYPE_CONV_3D))
        return;
    for (uint32_t i = 0; i < 3; i++)
        in[i] = nnrti_onnx_in(c, i);
    if (nnrti_onnx_conv_lower(c, in))
        return;
    nnrti_onnx_out(c, 0, nnrti_onnx_conv(c, NNRT_NODE_TYPE_CONV2D_FUSION, in, 3, NULL));
}

static void nnrti_onnx_op_conv_integer(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[5];
    (void)arg;
    in[0] = nnrti_onnx_in(c, 0);
    in[1] = nnrti_onnx_in(c, 1);
    in[2] = NNRT_NO_TENSOR;
    in[3] = nnrti_onnx_in(c, 2);
    in[4] = nnrti_onnx_in(c, 3);
    nnrti_onnx_out(c, 0, nnrti_onnx_conv(c, NNRT_NODE_TYPE_CONV_INTEGER, in, 5, NULL));
}

/* Inputs: x, its scale and zero point; w, its scale and zero point; scale and zero point of y; bias. Becomes a
   quantized convolution, or CONV_INTEGER whose sum is scaled in float32. */
static void nnrti_onnx_op_q_linear_conv(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[5], sum;
    nnrti_onnx_q_linear q;
    (void)arg;
    if (nnrti_onnx_q_linear_operands(c, 0, &q)) {
        in[0] = q.a;
        in[1] = q.b;
        in[2] = nnrti_onnx_in(c, 8);
        nnrti_onnx_out_integers(c, nnrti_onnx_conv(c, NNRT_NODE_TYPE_CONV2D_FUSION, in, 3, &q.y));
        return;
    }
    in[0] = nnrti_onnx_in(c, 0);
    in[1] = nnrti_onnx_in(c, 3);
    in[2] = nnrti_onnx_in(c, 8);
    in[3] = nnrti_onnx_in(c, 2);
    in[4] = nnrti_onnx_in(c, 5);
    sum = nnrti_onnx_conv(c, NNRT_NODE_TYPE_CONV_INTEGER, in, 5, NULL);
    nnrti_onnx_out_sum(
        c, sum, nnrti_onnx_along(c, sum, nnrti_onnx_in(c, 1), 1), nnrti_onnx_along(c, sum, nnrti_onnx_in(c, 4), 1),
        nnrti_onnx_along(c, sum, nnrti_onnx_in(c, 6), 1), nnrti_onnx_along(c, sum, nnrti_onnx_in(c, 7), 1));
}

/* Weights [Ci,Co/g,kH,kW] become [Co,kH,kW,Ci/g], group by group. */
static uint32_t nnrti_onnx_transposed_weight(nnrti_onnx *c, uint32_t weight, int64_t group)
{
    static const int64_t whole[] = {1, 2, 3, 0}, grouped[] = {0, 2, 3, 4, 1};
    nnrti_onnx_size sizes[NNRT_MAX_RANK], parts[5];
    if (nnrti_onnx_sizes_of(c, weight, sizes) != 4 || group == 1)
        return nnrti_onnx_transpose(c, weight, whole, 4);
    if (group < 1 || (sizes[0].known >= 0 && sizes[0].known % group != 0)) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "group=%l must divide the input channels (%l)", group,
                        sizes[0].known);
        return weight;
    }
    parts[0] = nnrti_onnx_size_known(group);
    parts[1] = nnrti_onnx_size_over(c, sizes[0], group);
    memcpy(parts + 2, sizes + 1, 3 * sizeof(sizes[0]));
    weight = nnrti_onnx_transpose(c, nnrti_onnx_reshape_to(c, weight, parts, 5), grouped, 5);
    parts[3] = parts[1];
    parts[0] = nnrti_onnx_size_times(c, sizes[1], group);
    parts[1] = sizes[2];
    parts[2] = sizes[3];
    return nnrti_onnx_reshape_to(c, weight, parts, 4);
}

/* Pads of ConvTranspose from output_shape, or from auto_pad, with a result size of L * stride. extra: output_padding.
   An odd total has its larger half at the end with SAME_UPPER, else at the begin. If the result is larger than the
   windows cover, extra grows. SAME_UPPER without extra and with a kernel size that is only known in the run is the
   runtime's SAME. */
static void nnrti_onnx_transposed_pads(nnrti_onnx *c, uint32_t x, uint32_t weight, nnrti_onnx_window *w,
                                       int64_t extra[2])
{
    int64_t want[2] = {1, 1};
    const bool shaped = nnrti_onnx_ints_of(c, "output_shape").data != NULL,
               upper = w->mode == NNRT_PAD_MODE_SAME && !w->lower;
    nnrti_onnx_window_list(c, "output_shape", w->axes, want);
    if (!shaped && upper && nnrti_onnx_kernel_count(w) == 0 && extra[0] == 0 && extra[1] == 0)
        return;
    if (shaped || w->mode == NNRT_PAD_MODE_SAME)
        nnrti_onnx_need_kernel(c, weight, w, "output_shape, or auto_pad,");
    for (int32_t i = 0; i < 2 && (shaped || w->mode == NNRT_PAD_MODE_SAME) && c->code == NNRT_SUCCESS; i++) {
        const int64_t n = shaped ? nnrti_onnx_fixed_dim(c, x, 2 + i, "output_shape") : 1;
        const int64_t out = shaped ? want[i] : n * w->stride[i];
        int64_t total = (n - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 + extra[i] - out;
        if (total < 0) {
            extra[i] -= total;
            total = 0;
        }
        w->pads[2 * i] = upper ? total / 2 : total - total / 2;
        w->pads[2 * i + 1] = total - w->pads[2 * i];
    }
    if (shaped || w->mode == NNRT_PAD_MODE_SAME)
        w->mode = NNRT_PAD_MODE_PAD;
}

/* True if output_shape is given, but the kernel size or the image size that the pads depend on is dynamic. */
static bool nnrti_onnx_is_cropped(nnrti_onnx *c, uint32_t x, const nnrti_onnx_window *w)
{
    return nnrti_onnx_ints_of(c, "output_shape").data != NULL &&
           (nnrti_onnx_kernel_count(w) == 0 || nnrti_onnx_dim(c, x, 2) < 0 || nnrti_onnx_dim(c, x, 3) < 0);
}

/* Begin of output_shape's range along image axis i within the full result of a transposed convolution: the begin pad as
   in nnrti_onnx_transposed_pads. int64[1], computed in the run. */
static uint32_t nnrti_onnx_crop_begin(nnrti_onnx *c, uint32_t x, uint32_t weight, const nnrti_onnx_window *w, int32_t i,
                                      int64_t extra, int64_t want)
{
    const bool upper = w->mode == NNRT_PAD_MODE_SAME && !w->lower;
    const int64_t rest = 1 - w->stride[i] - w->dilation[i] + extra - want;
    const nnrti_onnx_size n = nnrti_onnx_size_times(c, nnrti_onnx_size_of(c, x, 2 + i), w->stride[i]);
    const nnrti_onnx_size own =
        w->kernel[i] > 0 ? nnrti_onnx_size_known(w->kernel[i]) : nnrti_onnx_size_of(c, weight, 2 + i);
    const nnrti_onnx_size k = nnrti_onnx_size_times(c, own, w->dilation[i]);
    uint32_t total = nnrti_onnx_size_ints(c, n), half;
    total = nnrti_onnx_add(c, total, nnrti_onnx_size_ints(c, k));
    total = nnrti_onnx_add(c, total, nnrti_onnx_const_int(c, rest));
    total = nnrti_onnx_maximum(c, total, nnrti_onnx_const_int(c, 0));
    half = nnrti_onnx_div(c, total, nnrti_onnx_const_int(c, 2));
    return upper ? half : nnrti_onnx_sub(c, total, half);
}

/* Configures the transposed convolution for its full result (no pads, largest output padding) and computes where
   output_shape's range begins in it. */
static void nnrti_onnx_full_window(nnrti_onnx *c, uint32_t x, uint32_t weight, nnrti_onnx_window *w, int64_t extra[2],
                                   uint32_t begin[2])
{
    int64_t want[2] = {1, 1};
    nnrti_onnx_window_list(c, "output_shape", w->axes, want);
    if (want[0] < 1 || want[1] < 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "output_shape is %l x %l, expected 1 or more", want[0], want[1]);
    for (int32_t i = 0; i < 2; i++) {
        begin[i] = nnrti_onnx_crop_begin(c, x, weight, w, i, extra[i], want[i]);
        extra[i] = (w->stride[i] > w->dilation[i] ? w->stride[i] : w->dilation[i]) - 1; /* the largest allowed */
    }
    memset(w->pads, 0, sizeof(w->pads));
    w->mode = NNRT_PAD_MODE_PAD;
}

/* Slices y [N,C,H,W] to output_shape, starting at begin. The run fails if y is too small. */
static uint32_t nnrti_onnx_crop(nnrti_onnx *c, uint32_t y, const uint32_t begin[2], const nnrti_onnx_window *w)
{
    static const int64_t axes[2] = {2, 3};
    int64_t want[2] = {1, 1};
    uint32_t first;
    NNRT_SliceFusion a;
    nnrti_onnx_window_list(c, "output_shape", w->axes, want);
    a.axes = nnrt_int64_list(axes, 2);
    first = nnrti_onnx_concat(c, begin, 2, 0);
    return nnrti_onnx_step3(c, NNRT_NODE_TYPE_SLICE_FUSION, &a, y, first, nnrti_onnx_const_ints(c, want, 2));
}

static void nnrti_onnx_op_conv_transpose(nnrti_onnx *c, int32_t arg)
{
    const uint32_t given = nnrti_onnx_in(c, 0), bias = nnrti_onnx_in(c, 2);
    int64_t extra[2] = {0, 0};
    nnrti_onnx_window w;
    NNRT_Conv2dTransposeFusion a;
    bool cropped;
    uint32_t x, weight, y, begin[2];
    (void)arg;
    if (nnrti_onnx_try_3d(c, NNRT_NODE_TYPE_CONV_TRANSPOSE_3D))
        return;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &a);
    nnrti_onnx_window_of(c, given, &w);
    x = nnrti_onnx_image(c, given, &w);
    weight = nnrti_onnx_image(c, nnrti_onnx_in(c, 1), &w);
    nnrti_onnx_kernel_of(c, weight, &w);
    nnrti_onnx_window_list(c, "output_padding", w.axes, extra);
    cropped = nnrti_onnx_is_cropped(c, x, &w);
    if (cropped)
        nnrti_onnx_full_window(c, x, weight, &w, extra, begin);
    else
        nnrti_onnx_transposed_pads(c, x, weight, &w, extra);
    a.kernelSize = nnrt_int64_list(w.kernel, nnrti_onnx_kernel_count(&w));
    a.stride = nnrt_int64_list(w.stride, 2);
    a.dilation = nnrt_int64_list(w.dilation, 2);
    a.padMode = w.mode;
    a.padList = nnrt_int64_list(w.pads, w.mode == NNRT_PAD_MODE_PAD ? 4 : 0);
    a.outputPaddings = nnrt_int64_list(extra, 2);
    a.group = nnrti_onnx_int(c, "group", 1);
    a.inChannel = nnrti_onnx_known_dim(c, weight, 0);
    weight = nnrti_onnx_transposed_weight(c, weight, a.group);
    a.outChannel = nnrti_onnx_known_dim(c, weight, 0);
    y = nnrti_onnx_step3(c, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &a, x, weight, bias);
    if (cropped)
        y = nnrti_onnx_crop(c, y, begin, &w);
    nnrti_onnx_out(c, 0, nnrti_onnx_unimage(c, y, &w));
}

/* Rounding of the number of windows. */
static NNRT_RoundMode nnrti_onnx_rounding(nnrti_onnx *c, const nnrti_onnx_window *w)
{
    return nnrti_onnx_int(c, "ceil_mode", 0) != 0 && w->mode != NNRT_PAD_MODE_SAME ? NNRT_ROUND_MODE_CEIL
                                                                                   : NNRT_ROUND_MODE_FLOOR;
}

/* Padding counts in the average only with count_include_pad. */
static void nnrti_onnx_op_average_pool(nnrti_onnx *c, int32_t arg)
{
    const uint32_t given = nnrti_onnx_in(c, 0);
    const bool counted = nnrti_onnx_int(c, "count_include_pad", 0) != 0;
    NNRT_AvgPoolFusion a;
    nnrti_onnx_window w;
    uint32_t x, y;
    (void)arg;
    if (nnrti_onnx_try_3d(c, NNRT_NODE_TYPE_AVERAGE_POOL_3D))
        return;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_AVGPOOL_FUSION, &a);
    nnrti_onnx_window_of(c, given, &w);
    x = nnrti_onnx_image(c, given, &w);
    nnrti_onnx_same_lower(c, x, &w);
    a.roundMode = nnrti_onnx_rounding(c, &w);
    a.kernelSize = nnrt_int64_list(w.kernel, 2);
    a.strides = nnrt_int64_list(w.stride, 2);
    a.padMode = w.mode;
    a.pad = nnrt_int64_list(w.pads, w.mode == NNRT_PAD_MODE_PAD ? 4 : 0);
    y = nnrti_onnx_step1(c, counted ? NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD : NNRT_NODE_TYPE_AVGPOOL_FUSION, &a, x);
    nnrti_onnx_out(c, 0, nnrti_onnx_unimage(c, y, &w));
}

/* Converts the runtime's positions h*W + w in the plane of x [N,C,H,W] to ONNX's positions in the whole tensor. */
static uint32_t nnrti_onnx_positions(nnrti_onnx *c, uint32_t x, uint32_t plane)
{
    nnrti_onnx_size own[NNRT_MAX_RANK], images, area;
    uint32_t base;
    if (nnrti_onnx_sizes_of(c, x, own) != 4)
        return plane;
    images = nnrti_onnx_size_product(c, x, 0, 2);
    area = nnrti_onnx_size_product(c, x, 2, 4);
    base = nnrti_onnx_iota(c, images);
    base = nnrti_onnx_mul(c, base, nnrti_onnx_size_ints(c, area));
    own[2] = own[3] = nnrti_onnx_size_known(1);
    return nnrti_onnx_to_storage_order(c, x, nnrti_onnx_add(c, plane, nnrti_onnx_reshape_to(c, base, own, 4)));
}

/* 8-bit integers are pooled as float32, which represents them exactly. */
static void nnrti_onnx_op_max_pool(nnrti_onnx *c, int32_t arg)
{
    static const NNRT_DataType types[2] = {NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_INT64};
    const uint32_t given = nnrti_onnx_in(c, 0), nOut = nnrti_onnx_has_output(c, 1) ? 2 : 1;
    const NNRT_DataType type = nnrti_onnx_type(c, given);
    uint32_t x = given, out[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_MaxPoolFusion a;
    nnrti_onnx_window w;
    (void)arg;
    if (nnrti_onnx_try_3d(c, NNRT_NODE_TYPE_MAX_POOL_3D))
        return;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_MAX_POOL_FUSION, &a);
    nnrti_onnx_window_of(c, given, &w);
    if (type == NNRT_DATA_TYPE_INT8 || type == NNRT_DATA_TYPE_UINT8)
        x = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_FLOAT32);
    x = nnrti_onnx_image(c, x, &w);
    nnrti_onnx_same_lower(c, x, &w);
    a.roundMode = nnrti_onnx_rounding(c, &w);
    a.kernelSize = nnrt_int64_list(w.kernel, 2);
    a.strides = nnrt_int64_list(w.stride, 2);
    a.padMode = w.mode;
    a.pad = nnrt_int64_list(w.pads, w.mode == NNRT_PAD_MODE_PAD ? 4 : 0);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_MAX_POOL_FUSION, &a, &x, 1, out, nOut, types);
    if (nOut == 2)
        nnrti_onnx_out(c, 1, nnrti_onnx_unimage(c, nnrti_onnx_positions(c, x, out[1]), &w));
    nnrti_onnx_out(c, 0, nnrti_onnx_unimage(c, nnrti_onnx_cast(c, out[0], type), &w));
}

/* arg: MEAN or MAX over all axes after the channels. Images use the global pooling operators. */
static void nnrti_onnx_op_global_pool(nnrti_onnx *c, int32_t arg)
{
    static const int64_t axes[] = {2, 3, 4, 5, 6, 7};
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, x);
    if (rank == 4 && nnrti_onnx_is_a(c, x, NNRT_TYPES_FLOAT)) {
        NNRT_AvgPoolFusion average;
        NNRT_MaxPoolFusion most;
        nnrti_onnx_defaults(NNRT_NODE_TYPE_AVGPOOL_FUSION, &average);
        nnrti_onnx_defaults(NNRT_NODE_TYPE_MAX_POOL_FUSION, &most);
        average.global = most.global = true;
        average.padMode = most.padMode = NNRT_PAD_MODE_VALID;
        if (arg == NNRT_REDUCE_MODE_MEAN)
            nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, x));
        else
            nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, x));
        return;
    }
    if (rank < 2)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input has %d axes, expected 2 or more", rank);
    nnrti_onnx_out(c, 0, rank == 2 ? x : nnrti_onnx_reduce(c, x, arg, axes, (uint32_t)(rank - 2), true));
}

static void nnrti_onnx_op_grid_sample(nnrti_onnx *c, int32_t arg)
{
    static const NNRT_ResizeMethod methods[] = {NNRT_RESIZE_METHOD_LINEAR, NNRT_RESIZE_METHOD_LINEAR,
                                                NNRT_RESIZE_METHOD_NEAREST, NNRT_RESIZE_METHOD_CUBIC,
                                                NNRT_RESIZE_METHOD_CUBIC};
    NNRT_GridSample a;
    (void)arg;
    a.alignCorners = nnrti_onnx_int(c, "align_corners", 0) != 0;
    a.method = methods[nnrti_onnx_choice(c, "mode", "bilinear|linear|nearest|bicubic|cubic")];
    a.paddingMode = nnrti_onnx_choice(c, "padding_mode", "zeros|border|reflection");
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_GRID_SAMPLE, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

/* Coordinates are shifted by half a pixel from operator set 16 on, unless the attribute selects output_half_pixel. */
static void nnrti_onnx_op_roi_align(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), rois = nnrti_onnx_in(c, 1), batch = nnrti_onnx_in(c, 2);
    NNRT_RoiAlign a;
    (void)arg;
    a.max = nnrti_onnx_choice(c, "mode", "avg|max") == 1;
    a.outputHeight = nnrti_onnx_int(c, "output_height", 1);
    a.outputWidth = nnrti_onnx_int(c, "output_width", 1);
    a.samplingRatio = nnrti_onnx_int(c, "sampling_ratio", 0);
    a.spatialScale = nnrti_onnx_float(c, "spatial_scale", 1);
    a.aligned =
        c->opset >= 16 && nnrti_onnx_choice(c, "coordinate_transformation_mode", "half_pixel|output_half_pixel") == 0;
    if (a.spatialScale == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "spatial_scale is 0, expected another value");
    nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_ROI_ALIGN, &a, x, rois, batch));
}

static void nnrti_onnx_op_deform_conv(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), weight = nnrti_onnx_in(c, 1), bias = nnrti_onnx_in(c, 3);
    const uint32_t in[5] = {x, nnrti_onnx_in(c, 2), nnrti_onnx_in(c, 4), weight, bias};
    uint32_t y = NNRT_NO_TENSOR;
    NNRT_DeformableConv2D a;
    nnrti_onnx_window w;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_DEFORMABLE_CONV_2D, &a);
    nnrti_onnx_window_of(c, x, &w);
    if (w.axes != 2)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "input '%s' is %o: only two spatial axes are supported",
                        nnrti_onnx_at(c, x)->name, nnrti_onnx_at(c, x));
    nnrti_onnx_kernel_of(c, weight, &w);
    a.stride = nnrt_int64_list(w.stride, 2);
    a.dilation = nnrt_int64_list(w.dilation, 2);
    a.padList = nnrt_int64_list(w.pads, 4);
    a.group = nnrti_onnx_int(c, "group", 1);
    a.deformableGroup = nnrti_onnx_int(c, "offset_group", 1);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_DEFORMABLE_CONV_2D, &a, in, bias != NNRT_NO_TENSOR ? 5 : 4, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

/* Parameters of Resize and Upsample. */
typedef struct nnrti_onnx_resize {
    float scales[4];          /* of [N,C,H,W]; all 0: use sizes */
    nnrti_onnx_size sizes[4]; /* of [N,C,H,W] */
    bool sized;
} nnrti_onnx_resize;

/* place[k] = axis of x for entry k of scales or sizes: all axes in order, or those of the attribute axes (operator set
   18). Returns the number of entries. */
static int32_t nnrti_onnx_resize_axes(nnrti_onnx *c, int32_t rank, int32_t place[4])
{
    const nnrt_onnx_ints axes = nnrti_onnx_ints_of(c, "axes");
    uint32_t seen = 0;
    for (int32_t i = 0; i < 4; i++)
        place[i] = i;
    if (axes.data == NULL)
        return rank;
    if (axes.count > (size_t)rank) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "axes has %z entries, expected at most %d (the axes of the input)",
                        axes.count, rank);
        return 0;
    }
    for (size_t k = 0; k < axes.count; k++) {
        place[k] = nnrti_onnx_axis(c, axes.data[k], rank);
        if ((seen >> place[k]) & 1u)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "axes names axis %d twice", place[k]);
        seen |= 1u << place[k];
    }
    return (int32_t)axes.count;
}

/* Reads scales (float32) or sizes for the axes of x as those of an image [1.., H, W] with four axes. */
static void nnrti_onnx_resize_of(nnrti_onnx *c, uint32_t x, uint32_t scales, uint32_t sizes, int32_t rank,
                                 nnrti_onnx_resize *r)
{
    const nnrt_operand *o = nnrti_onnx_at(c, scales);
    int32_t place[4];
    const int32_t entries = nnrti_onnx_resize_axes(c, rank, place), first = 4 - rank;
    size_t count = 0;
    memset(r, 0, sizeof(*r));
    r->sized = sizes != NNRT_NO_TENSOR;
    if (r->sized) {
        nnrti_onnx_size list[4];
        if ((int32_t)nnrti_onnx_size_entries(c, sizes, "sizes", list, 4) != entries)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "sizes must have %d entries", entries);
        for (int32_t i = 0; i < 4; i++)
            r->sizes[i] = i < first ? nnrti_onnx_size_known(1) : nnrti_onnx_size_of(c, x, i - first);
        for (int32_t k = 0; k < entries && c->code == NNRT_SUCCESS; k++)
            r->sizes[first + place[k]] = list[k];
        return;
    }
    if (o->dataType != NNRT_DATA_TYPE_FLOAT32 || !nnrt_dims_count(o->dims, o->rank, &count) ||
        count != (size_t)entries) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "scales '%s' is %o, expected %d float entries", o->name, o, entries);
        return;
    }
    for (int32_t i = 0; i < 4; i++)
        r->scales[i] = 1;
    for (int32_t k = 0; k < entries; k++)
        memcpy(&r->scales[first + place[k]], (const uint8_t *)o->data + (size_t)k * sizeof(float), sizeof(float));
}

static bool nnrti_onnx_whole(float n)
{
    return n >= 0 && n < 16777216 && n == (float)(int32_t)n;
}

/* True if a size is the dynamic size of axis i of x. */
static bool nnrti_onnx_is_dim(const nnrti_onnx *c, nnrti_onnx_size s, uint32_t x, int32_t i)
{
    const nnrt_operand *o = nnrti_onnx_at(c, s.value);
    return s.known < 0 && o->open != NULL && o->open[0] == nnrti_onnx_at(c, x)->symbols[i];
}

/* True if RESIZE computes the node's result for x [N,C,H,W]. RESIZE requires constant scales, or sizes that are
   constants or dimensions, and resizes the last two axes only. For a size of 1 it samples at 0, as pytorch_half_pixel
   does but half_pixel does not; its align_corners divides by the integer output size - 1, whereas ONNX divides by
   L*scale - 1. */
static bool nnrti_onnx_resize_plain(nnrti_onnx *c, uint32_t x, const nnrti_onnx_resize *r, NNRT_ResizeCoordinates mode)
{
    for (int32_t i = 0; i < 4 && c->code == NNRT_SUCCESS; i++) {
        const int64_t n = nnrti_onnx_dim(c, x, i), size = r->sizes[i].known;
        const float product = (float)n * r->scales[i];
        if (i < 2 && (r->sized ? !nnrti_onnx_is_dim(c, r->sizes[i], x, i) && (n < 0 || n != size) : r->scales[i] != 1))
            return false;
        if (i < 2)
            continue;
        if (r->sized && size < 0 && nnrti_onnx_at(c, r->sizes[i].value)->data == NULL) /* computed in the run */
            return false;
        if (mode == NNRT_RESIZE_COORDINATES_HALF_PIXEL && n != 1 &&
            (r->sized ? size < 2
             : n < 0  ? r->scales[i] < 1
                      : product < 2))
            return false;
        if (mode == NNRT_RESIZE_COORDINATES_ALIGN_CORNERS && !r->sized &&
            !nnrti_onnx_whole(n < 0 ? r->scales[i] : product))
            return false;
    }
    return c->code == NNRT_SUCCESS;
}

/* Scales of Upsample before operator set 9: one attribute for each spatial axis, or a list. NNRT_NO_TENSOR after a
   fault. */
static uint32_t nnrti_onnx_old_scales(nnrti_onnx *c)
{
    const nnrt_onnx_attribute *list = nnrti_onnx_attr(c, "scales", NNRT_ONNX_ATTRIBUTE_FLOATS);
    float values[4] = {1, 1, 0, 0};
    int32_t dims[1] = {4};
    values[2] = nnrti_onnx_float(c, "height_scale", 1);
    values[3] = nnrti_onnx_float(c, "width_scale", 1);
    if (list == NULL)
        return nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_FLOAT32, 1, dims, values);
    dims[0] = list->floats.count <= NNRT_MAX_RANK ? (int32_t)list->floats.count : 0;
    return nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_FLOAT32, 1, dims, list->floats.data);
}

/* Input i, NNRT_NO_TENSOR if it is absent or empty. */
static uint32_t nnrti_onnx_filled(nnrti_onnx *c, uint32_t i)
{
    const uint32_t v = nnrti_onnx_in(c, i);
    return v != NNRT_NO_TENSOR && nnrti_onnx_at(c, v)->rank == 1 && nnrti_onnx_dim(c, v, 0) == 0 ? NNRT_NO_TENSOR : v;
}

/* The attributes of Resize. Operator sets before 11 have no modes: coordinates are asymmetric, and nearest rounds down
   (floor), except in Resize when x shrinks (ceil). */
static void nnrti_onnx_resize_attr(nnrti_onnx *c, bool upsample, uint32_t scales, NNRT_ResizeND *a)
{
    static const NNRT_ResizeCoordinates coordinates[] = {
        NNRT_RESIZE_COORDINATES_HALF_PIXEL,           NNRT_RESIZE_COORDINATES_PYTORCH_HALF_PIXEL,
        NNRT_RESIZE_COORDINATES_ALIGN_CORNERS,        NNRT_RESIZE_COORDINATES_ASYMMETRIC,
        NNRT_RESIZE_COORDINATES_TF_HALF_PIXEL_FOR_NN, NNRT_RESIZE_COORDINATES_TF_CROP_AND_RESIZE,
        NNRT_RESIZE_COORDINATES_HALF_PIXEL_SYMMETRIC};
    static const NNRT_NearestMode nearest[] = {NNRT_NEAREST_MODE_ROUND_HALF_DOWN, NNRT_NEAREST_MODE_ROUND_HALF_UP,
                                               NNRT_NEAREST_MODE_FLOOR, NNRT_NEAREST_MODE_CEIL};
    static const NNRT_ResizeMethod methods[] = {NNRT_RESIZE_METHOD_NEAREST, NNRT_RESIZE_METHOD_LINEAR,
                                                NNRT_RESIZE_METHOD_CUBIC, NNRT_RESIZE_METHOD_LINEAR};
    const nnrt_operand *o = nnrti_onnx_at(c, scales);
    bool down = false, up = false;
    a->axes = nnrti_onnx_numbers(c, "axes");
    a->mode = methods[nnrti_onnx_choice(c, "mode", "nearest|linear|cubic|bilinear")];
    a->coordinateTransformationMode =
        coordinates[nnrti_onnx_choice(c, "coordinate_transformation_mode",
                                      "half_pixel|pytorch_half_pixel|align_corners|asymmetric|tf_half_pixel_for_nn|"
                                      "tf_crop_and_resize|half_pixel_symmetric")];
    a->nearestMode = nearest[nnrti_onnx_choice(c, "nearest_mode", "round_prefer_floor|round_prefer_ceil|floor|ceil")];
    a->cubicCoeffA = nnrti_onnx_float(c, "cubic_coeff_a", -0.75f);
    a->excludeOutside = nnrti_onnx_int(c, "exclude_outside", 0);
    a->extrapolationValue = nnrti_onnx_float(c, "extrapolation_value", 0);
    a->keepAspectRatioPolicy = nnrti_onnx_choice(c, "keep_aspect_ratio_policy", "stretch|not_larger|not_smaller");
    a->antialias = nnrti_onnx_int(c, "antialias", 0);
    if (!upsample && c->opset > 10)
        return;
    a->coordinateTransformationMode = NNRT_RESIZE_COORDINATES_ASYMMETRIC;
    a->nearestMode = NNRT_NEAREST_MODE_FLOOR;
    if (upsample || a->mode != NNRT_RESIZE_METHOD_NEAREST)
        return;
    if (!nnrti_onnx_is_constant(c, scales) || o->dataType != NNRT_DATA_TYPE_FLOAT32 || o->rank != 1) {
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "scales must be a constant: they decide how coordinates are rounded");
        return;
    }
    for (int32_t i = 0; i < o->dims[0]; i++) {
        float scale;
        memcpy(&scale, (const uint8_t *)o->data + (size_t)i * sizeof(scale), sizeof(scale));
        down = down || scale < 1;
        up = up || scale > 1;
    }
    a->nearestMode = down ? NNRT_NEAREST_MODE_CEIL : NNRT_NEAREST_MODE_FLOOR;
    if (down && up)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "one scale is below 1 and one above, expected all scales on one side of 1");
}

/* RESIZE_ND, which has the same attributes as ONNX. */
static uint32_t nnrti_onnx_resize_nd(nnrti_onnx *c, uint32_t x, uint32_t scales, uint32_t sizes, NNRT_ResizeND *a)
{
    const bool crop = a->coordinateTransformationMode == NNRT_RESIZE_COORDINATES_TF_CROP_AND_RESIZE;
    uint32_t in[4], y = NNRT_NO_TENSOR;
    in[0] = x;
    in[1] = crop ? nnrti_onnx_cast(c, nnrti_onnx_filled(c, 1), NNRT_DATA_TYPE_FLOAT32) : NNRT_NO_TENSOR;
    in[2] = scales;
    in[3] = sizes;
    if (crop && sizes == NNRT_NO_TENSOR)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "tf_crop_and_resize by scales is not supported: use sizes");
    if (sizes == NNRT_NO_TENSOR)
        a->keepAspectRatioPolicy = NNRT_ASPECT_RATIO_POLICY_STRETCH;
    nnrti_onnx_emit_known(c, NNRT_NODE_TYPE_RESIZE_ND, a, in, 4, &y);
    return y;
}

/* Resize (arg 0): inputs x, scales (operator set 10) or x, roi, scales, sizes; Upsample (arg 1): x, scales. RESIZE if
   it computes the same, else RESIZE_ND. For RESIZE, one spatial axis gets a height of 1, and integers of 8 and 16 bits
   go through float32: exact for nearest; linear rounds toward zero, as ONNX Runtime does. */
static void nnrti_onnx_op_resize(nnrti_onnx *c, int32_t arg)
{
    uint32_t given = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, given);
    const NNRT_DataType type = nnrti_onnx_type(c, given);
    const uint32_t sizes = nnrti_onnx_filled(c, 3);
    uint32_t scales = nnrti_onnx_filled(c, arg == 1 || c->opset == 10 ? 1 : 2), x, y;
    int32_t four[1] = {4};
    bool exact, plain;
    nnrti_onnx_resize r;
    NNRT_ResizeND n;
    NNRT_Resize a;
    if (arg == 1 && c->opset < 9)
        scales = nnrti_onnx_old_scales(c);
    if (sizes != NNRT_NO_TENSOR)
        scales = NNRT_NO_TENSOR;
    nnrti_onnx_resize_attr(c, arg == 1, scales, &n);
    if (arg == 1 && !nnrti_onnx_is_constant(c, scales) && c->code == NNRT_SUCCESS)
        nnrti_onnx_assert(c, nnrti_onnx_less_equal(c, nnrti_onnx_like(c, scales, 1), scales), scales);
    if (n.mode != NNRT_RESIZE_METHOD_NEAREST &&
        nnrti_onnx_is_a(c, given, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16 | NNRT_TYPES_I32 |
                                      NNRT_TYPES_OF(NNRT_DATA_TYPE_UINT16)))
        given = nnrti_onnx_cast(c, given, NNRT_DATA_TYPE_FLOAT32);
    x = given;
    exact = n.mode == NNRT_RESIZE_METHOD_NEAREST &&
            nnrti_onnx_is_a(c, given, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16);
    plain = (exact || nnrti_onnx_is_a(c, given, NNRT_TYPES_FLOAT)) && rank >= 2 && rank <= 4 && n.antialias == 0 &&
            n.keepAspectRatioPolicy == NNRT_ASPECT_RATIO_POLICY_STRETCH &&
            !(n.mode == NNRT_RESIZE_METHOD_CUBIC && n.cubicCoeffA == 0) && /* RESIZE takes 0 for absent */
            n.coordinateTransformationMode != NNRT_RESIZE_COORDINATES_HALF_PIXEL_SYMMETRIC &&
            n.coordinateTransformationMode < NNRT_RESIZE_COORDINATES_TF_HALF_PIXEL_FOR_NN &&
            (sizes != NNRT_NO_TENSOR ? nnrti_onnx_runtime_entries(c, sizes) < 0
                                     : scales != NNRT_NO_TENSOR && nnrti_onnx_is_constant(c, scales));
    if (plain && c->code == NNRT_SUCCESS) {
        nnrti_onnx_resize_of(c, x, scales, sizes, rank, &r);
        for (int32_t i = rank; i < 4; i++) /* [W] becomes [1,1,1,W]; [N,C,L] becomes [N,C,1,L] */
            x = nnrti_onnx_unsqueeze(c, x, rank == 3 ? 2 : 0);
        if (rank == 3) { /* the entries are for [1,N,C,L]: make them those of [N,C,1,L] */
            r.scales[0] = r.scales[1];
            r.scales[1] = r.scales[2];
            r.scales[2] = 1;
            r.sizes[0] = r.sizes[1];
            r.sizes[1] = r.sizes[2];
            r.sizes[2] = nnrti_onnx_size_known(1);
        }
        plain = nnrti_onnx_resize_plain(c, x, &r, n.coordinateTransformationMode);
    }
    if (!plain)
        nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, nnrti_onnx_resize_nd(c, given, scales, sizes, &n), type));
    if (!plain || c->code != NNRT_SUCCESS)
        return;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_RESIZE, &a);
    a.method = n.mode;
    a.coordinateTransformMode = n.coordinateTransformationMode == NNRT_RESIZE_COORDINATES_ALIGN_CORNERS
                                    ? NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS
                                : n.coordinateTransformationMode == NNRT_RESIZE_COORDINATES_ASYMMETRIC
                                    ? NNRT_COORDINATE_TRANSFORM_MODE_ASYMMETRIC
                                    : NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL;
    a.nearestMode = n.nearestMode;
    a.cubicCoeff = n.cubicCoeffA;
    a.excludeOutside = n.excludeOutside;
    if (exact)
        x = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_FLOAT32);
    y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESIZE, &a, x,
                         r.sized ? nnrti_onnx_size_list(c, r.sizes + 2, 2)
                                 : nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_FLOAT32, 1, four, r.scales));
    y = nnrti_onnx_cast(c, y, type);
    for (int32_t i = rank; i < 4; i++)
        y = nnrti_onnx_squeeze(c, y, rank == 3 ? 2 : 0);
    nnrti_onnx_out(c, 0, y);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_matrices */

static void nnrti_onnx_op_det(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_DET, NULL, nnrti_onnx_in(c, 0)));
}

static void nnrti_onnx_op_einsum(nnrti_onnx *c, int32_t arg)
{
    static const nnrt_onnx_str nothing = {NULL, 0};
    const nnrt_onnx_attribute *equation = nnrti_onnx_attr(c, "equation", NNRT_ONNX_ATTRIBUTE_STRING);
    const uint32_t count = (uint32_t)c->node->inputs.count;
    uint32_t *in = (uint32_t *)nnrti_onnx_keep(c, count, sizeof(*in)), y;
    NNRT_Einsum a;
    (void)arg;
    a.equation = nnrti_onnx_copy_text(c, equation != NULL ? equation->s : nothing);
    for (uint32_t i = 0; i < count && in != NULL; i++)
        in[i] = nnrti_onnx_in(c, i);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_EINSUM, &a, in, count, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

static void nnrti_onnx_op_matmul(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), y = nnrti_onnx_in(c, 1);
    const uint32_t packed = nnrti_onnx_packed_product(c, x, NNRT_NO_TENSOR);
    (void)arg;
    nnrti_onnx_out(c, 0,
                   packed != NNRT_NO_TENSOR ? packed : nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, NULL, x, y));
}

static void nnrti_onnx_op_matmul_integer(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[4], y = NNRT_NO_TENSOR;
    (void)arg;
    for (uint32_t i = 0; i < 4; i++)
        in[i] = nnrti_onnx_in(c, i);
    nnrti_onnx_emit_known(c, NNRT_NODE_TYPE_MATMUL_INTEGER, NULL, in, 4, &y);
    nnrti_onnx_out(c, 0, y);
}

/* A quantization parameter of a matrix multiplication: per row, [M] becomes [M,1]; a single element becomes a
   scalar. */
static uint32_t nnrti_onnx_by_rows(nnrti_onnx *c, uint32_t v, bool rows)
{
    const int32_t rank = nnrti_onnx_rank(c, v);
    if (rank == 0 || (rank == 1 && nnrti_onnx_dim(c, v, 0) == 1))
        return nnrti_onnx_reshape(c, v, NULL, 0);
    if (!rows)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "parameter '%s' is %o, expected one element", nnrti_onnx_at(c, v)->name,
                        nnrti_onnx_at(c, v));
    return rank == 1 ? nnrti_onnx_unsqueeze(c, v, 1) : v;
}

/* Inputs: a, its scale and zero point; b, its scale and zero point; scale and zero point of y. Becomes a quantized
   matrix multiplication, or an integer one whose sum is scaled in float32. */
static void nnrti_onnx_op_q_linear_matmul(nnrti_onnx *c, int32_t arg)
{
    nnrti_onnx_q_linear q;
    const uint32_t a = nnrti_onnx_in(c, 0), b = nnrti_onnx_in(c, 3), scaleB = nnrti_onnx_in(c, 4);
    const bool rows = nnrti_onnx_rank(c, a) > 1, one = nnrti_onnx_rank(c, b) < 2;
    uint32_t in[4], sum = NNRT_NO_TENSOR;
    (void)arg;
    if (rows && !one && nnrti_onnx_q_linear_operands(c, nnrti_onnx_rank(c, b) - 1, &q)) {
        in[0] = q.a;
        in[1] = q.b;
        nnrti_onnx_out_integers(c,
                                nnrti_onnx_step_quantized(c, NNRT_NODE_TYPE_MATMUL_FUSION, NULL, in, 2, q.type, &q.y));
        return;
    }
    in[0] = a;
    in[1] = b;
    in[2] = nnrti_onnx_in(c, 2);
    in[3] = nnrti_onnx_in(c, 5);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_MATMUL_INTEGER, NULL, in, 4, &sum, 1, NULL);
    nnrti_onnx_out_sum(c, sum, nnrti_onnx_by_rows(c, nnrti_onnx_in(c, 1), rows && !one),
                       one ? nnrti_onnx_by_rows(c, scaleB, false) : scaleB,
                       nnrti_onnx_by_rows(c, nnrti_onnx_in(c, 6), rows && !one),
                       nnrti_onnx_by_rows(c, nnrti_onnx_in(c, 7), rows && !one));
}

/* True if v is [n] or [1,n]: a bias of n outputs. */
static bool nnrti_onnx_is_bias(nnrti_onnx *c, uint32_t v, int32_t n)
{
    const int32_t rank = nnrti_onnx_rank(c, v);
    return n >= 0 && rank >= 1 && rank <= 2 && nnrti_onnx_dim(c, v, rank - 1) == n &&
           (rank == 1 || nnrti_onnx_dim(c, v, 0) == 1);
}

/* A vector bias when its length or the number of outputs is dynamic: one entry per output, or one for all outputs. */
static uint32_t nnrti_onnx_dynamic_bias(nnrti_onnx *c, uint32_t v, nnrti_onnx_size outputs)
{
    const int64_t n = nnrti_onnx_dim(c, v, 0);
    if (n == 1 || n < 0)
        return nnrti_onnx_broadcast(c, v, nnrti_onnx_size_ints(c, outputs));
    return v;
}

/* alpha*y + beta*C */
static uint32_t nnrti_onnx_gemm_rest(nnrti_onnx *c, uint32_t y, float alpha, float beta, uint32_t bias)
{
    if (alpha != 1)
        y = nnrti_onnx_mul(c, y, nnrti_onnx_like(c, y, (double)alpha));
    if (bias == NNRT_NO_TENSOR || beta == 0)
        return y;
    return nnrti_onnx_add(c, y, beta == 1 ? bias : nnrti_onnx_mul(c, bias, nnrti_onnx_like(c, bias, (double)beta)));
}

/* The same of a packed weight (nnrti_onnx_packed_product); false if B is none. */
static bool nnrti_onnx_gemm_packed(nnrti_onnx *c, float alpha, float beta)
{
    const nnrti_onnx_entry *e = c->applied == NULL ? nnrti_onnx_entry_of(c, c->node->inputs.data[1]) : NULL;
    const uint32_t x = nnrti_onnx_in(c, 0), bias = nnrti_onnx_in(c, 2);
    int64_t n;
    if (e == NULL || e->nbits == NULL || c->code != NNRT_SUCCESS)
        return false;
    n = nnrti_onnx_dim(c, e->value, 0);
    if (nnrti_onnx_rank(c, x) != 2)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "A has %d axes, expected 2", nnrti_onnx_rank(c, x));
    else if (bias != NNRT_NO_TENSOR && alpha == 1 && beta == 1 && nnrti_onnx_is_bias(c, bias, (int32_t)n))
        nnrti_onnx_out(c, 0, nnrti_onnx_packed_product(c, x, nnrti_onnx_reshape(c, bias, &n, 1)));
    else
        nnrti_onnx_out(c, 0, nnrti_onnx_gemm_rest(c, nnrti_onnx_packed_product(c, x, NNRT_NO_TENSOR), alpha, beta, bias));
    return true;
}

/* A factor of integers must be one. */
static void nnrti_onnx_gemm_factor(nnrti_onnx *c, const char *name, float factor)
{
    if (!(factor >= -2147483648.0f && factor < 2147483648.0f && factor == (float)(int32_t)factor))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "%s is %f, expected an integer, as A and B are integers", name, (double)factor);
}

/* alpha*A*B + beta*C: MATMUL_NBITS for a packed weight, FULL_CONNECTION for the usual form (alpha 1, transA 0, a vector bias with beta 1,
   and not of integers), else MATMUL_FUSION, MUL_FUSION and ADD_FUSION. */
static void nnrti_onnx_op_gemm(nnrti_onnx *c, int32_t arg)
{
    static const int64_t swap[] = {1, 0};
    const float alpha = nnrti_onnx_float(c, "alpha", 1), beta = nnrti_onnx_float(c, "beta", 1);
    const bool transA = nnrti_onnx_int(c, "transA", 0) != 0, transB = nnrti_onnx_int(c, "transB", 0) != 0;
    const uint32_t x = nnrti_onnx_in(c, 0), w = nnrti_onnx_in(c, 1), bias = nnrti_onnx_in(c, 2);
    const int32_t outputs = nnrti_onnx_dim(c, w, transB ? 0 : 1);
    const bool open = outputs < 0 || (bias != NNRT_NO_TENSOR && !nnrti_onnx_is_static(c, bias));
    const bool vector = open && bias != NNRT_NO_TENSOR && nnrti_onnx_rank(c, bias) == 1;
    const bool plain = bias == NNRT_NO_TENSOR || (beta == 1 && (vector || nnrti_onnx_is_bias(c, bias, outputs)));
    const bool whole = nnrti_type_in(nnrti_onnx_type(c, x), NNRT_TYPES_INT);
    (void)arg;
    if (nnrti_onnx_gemm_packed(c, alpha, beta))
        return;
    if (nnrti_onnx_rank(c, x) != 2 || nnrti_onnx_rank(c, w) != 2)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "A has %d axes and B %d, expected 2 each", nnrti_onnx_rank(c, x),
                        nnrti_onnx_rank(c, w));
    if (whole) {
        nnrti_onnx_gemm_factor(c, "alpha", alpha);
        nnrti_onnx_gemm_factor(c, "beta", beta);
    }
    if (plain && alpha == 1 && !transA && !whole) {
        const int64_t n = outputs;
        const uint32_t weight = transB ? w : nnrti_onnx_transpose(c, w, swap, 2);
        uint32_t b = NNRT_NO_TENSOR;
        NNRT_FullConnection a;
        nnrti_onnx_defaults(NNRT_NODE_TYPE_FULL_CONNECTION, &a);
        a.hasBias = bias != NNRT_NO_TENSOR;
        if (a.hasBias)
            b = vector ? nnrti_onnx_dynamic_bias(c, bias, nnrti_onnx_size_of(c, weight, 0))
                       : nnrti_onnx_reshape(c, bias, &n, 1);
        nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_FULL_CONNECTION, &a, x, weight, b));
    } else {
        NNRT_MatMulFusion a;
        nnrti_onnx_defaults(NNRT_NODE_TYPE_MATMUL_FUSION, &a);
        a.transposeA = transA;
        a.transposeB = transB;
        nnrti_onnx_out(c, 0, nnrti_onnx_gemm_rest(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, &a, x, w), alpha,
                                                  beta, bias));
    }
}

static void nnrti_onnx_op_affine_grid(nnrti_onnx *c, int32_t arg)
{
    NNRT_AffineGrid a;
    (void)arg;
    a.alignCorners = nnrti_onnx_int(c, "align_corners", 0);
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_AFFINE_GRID, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

/* A list attribute in the runtime's form; empty if it is absent. */
static NNRT_Int64List nnrti_onnx_list_of(nnrti_onnx *c, const char *name)
{
    const nnrt_onnx_ints list = nnrti_onnx_ints_of(c, name);
    if (list.count > NNRT_MAX_RANK * 2)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s has %z entries, expected at most %d", name, list.count,
                        NNRT_MAX_RANK * 2);
    return nnrt_int64_list(list.data, c->code == NNRT_SUCCESS ? (uint32_t)list.count : 0);
}

static void nnrti_onnx_op_center_crop_pad(nnrti_onnx *c, int32_t arg)
{
    NNRT_CenterCropPad a;
    (void)arg;
    a.axes = nnrti_onnx_list_of(c, "axes");
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_step2(c, NNRT_NODE_TYPE_CENTER_CROP_PAD, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

static void nnrti_onnx_op_col2im(nnrti_onnx *c, int32_t arg)
{
    NNRT_Col2Im a;
    (void)arg;
    a.dilations = nnrti_onnx_list_of(c, "dilations");
    a.pads = nnrti_onnx_list_of(c, "pads");
    a.strides = nnrti_onnx_list_of(c, "strides");
    nnrti_onnx_out(
        c, 0,
        nnrti_onnx_step3(c, NNRT_NODE_TYPE_COL2IM, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1), nnrti_onnx_in(c, 2)));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_normalization */

/* Computes the batch's mean and variance [C] and puts them in in[3] and in[4]. Outputs 1 and 2 are the running
   statistics: momentum * old + (1 - momentum) * batch. */
static void nnrti_onnx_batch_statistics(nnrti_onnx *c, uint32_t in[5])
{
    static const int64_t axes[] = {0, 2, 3, 4, 5, 6, 7};
    const uint32_t x = in[0], count = (uint32_t)nnrti_onnx_rank(c, x) - 1;
    const double momentum = (double)nnrti_onnx_float(c, "momentum", 0.9f);
    if (count < 1 || count > sizeof(axes) / sizeof(axes[0])) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 2 or more axes", nnrti_onnx_at(c, x)->name,
                        nnrti_onnx_at(c, x));
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t mean = nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MEAN, axes, count, true);
        const uint32_t now =
            i == 0 ? nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MEAN, axes, count, false)
                   : nnrti_onnx_reduce(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_SQUARED_DIFFERENCE, NULL, x, mean),
                                       NNRT_REDUCE_MODE_MEAN, axes, count, false);
        const uint32_t old = nnrti_onnx_mul(c, in[3 + i], nnrti_onnx_like(c, now, momentum));
        if (nnrti_onnx_has_output(c, 1 + i))
            nnrti_onnx_out(c, 1 + i,
                           nnrti_onnx_add(c, old, nnrti_onnx_mul(c, now, nnrti_onnx_like(c, now, 1 - momentum))));
        in[3 + i] = now;
    }
}

/* training_mode (operator set 14 and later) normalizes with the statistics of the batch. */
static void nnrti_onnx_op_batch_norm(nnrti_onnx *c, int32_t arg)
{
    const bool training = c->opset >= 14 && nnrti_onnx_int(c, "training_mode", 0) != 0;
    NNRT_FusedBatchNorm a;
    uint32_t in[5], y = NNRT_NO_TENSOR;
    (void)arg;
    a.epsilon = nnrti_onnx_float(c, "epsilon", 1e-5f);
    if (!training && nnrti_onnx_has_output(c, 1))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "output 1, which training before operator set 14 has, is not supported");
    if (nnrti_onnx_int(c, "spatial", 1) == 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "spatial is 0 (statistics per element), expected 1");
    for (uint32_t i = 0; i < 5; i++) {
        in[i] = nnrti_onnx_in(c, i);
        if (i > 0)
            in[i] = nnrti_onnx_cast(c, in[i], nnrti_onnx_type(c, in[0]));
    }
    if (training)
        nnrti_onnx_batch_statistics(c, in);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_FUSED_BATCH_NORM, &a, in, 5, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

/* Normalizes x over its axes from `axis` on, then applies scale and offset of those axes; NNRT_NO_TENSOR: neither. */
static uint32_t nnrti_onnx_normalize(nnrti_onnx *c, uint32_t x, int32_t axis, float epsilon, uint32_t scale,
                                     uint32_t offset)
{
    uint32_t in[3], y = NNRT_NO_TENSOR;
    NNRT_LayerNormFusion a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_LAYER_NORM_FUSION, &a);
    a.beginNormAxis = axis;
    a.beginParamsAxis = axis;
    a.epsilon = epsilon;
    a.elementwiseAffine = offset != NNRT_NO_TENSOR;
    in[0] = x;
    in[1] = scale;
    in[2] = offset;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_LAYER_NORM_FUSION, &a, in, a.elementwiseAffine ? 3 : 1, &y, 1, NULL);
    return y;
}

/* INSTANCE_NORM does not support epsilon 0. */
static void nnrti_onnx_op_instance_norm(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), scale = nnrti_onnx_in(c, 1), offset = nnrti_onnx_in(c, 2);
    NNRT_InstanceNorm a;
    (void)arg;
    a.epsilon = nnrti_onnx_float(c, "epsilon", 1e-5f);
    if (a.epsilon == 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "epsilon is 0, expected more than 0");
    nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_INSTANCE_NORM, &a, x, scale, offset));
}

/* Expands v from one entry per group of channels of x to one entry per channel. */
static uint32_t nnrti_onnx_by_channel(nnrti_onnx *c, uint32_t x, uint32_t v, int64_t groups)
{
    nnrti_onnx_size sizes[2];
    int64_t column[2] = {1, 1}, line = -1;
    NNRT_BroadcastTo a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_BROADCAST_TO, &a);
    if (groups < 1 || groups > INT32_MAX || nnrti_onnx_rank(c, x) < 2) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                        "num_groups is %l and '%s' is %o, expected 1 or more groups and 2 or more axes", groups,
                        nnrti_onnx_at(c, x)->name, nnrti_onnx_at(c, x));
        return v;
    }
    column[0] = groups;
    sizes[0] = nnrti_onnx_size_known(groups);
    sizes[1] = nnrti_onnx_size_over(c, nnrti_onnx_size_of(c, x, 1), groups);
    v = nnrti_onnx_step2(c, NNRT_NODE_TYPE_BROADCAST_TO, &a, nnrti_onnx_reshape(c, v, column, 2),
                         nnrti_onnx_size_list(c, sizes, 2));
    return nnrti_onnx_reshape(c, v, &line, 1);
}

/* scale and offset have one entry per group before operator set 21, one per channel later. */
static void nnrti_onnx_op_group_norm(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    uint32_t scale = nnrti_onnx_in(c, 1), offset = nnrti_onnx_in(c, 2);
    NNRT_GroupNormFusion a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_GROUP_NORM_FUSION, &a);
    a.numGroups = nnrti_onnx_int(c, "num_groups", -1);
    a.epsilon = nnrti_onnx_float(c, "epsilon", 1e-5f);
    if (c->opset < 21) {
        scale = nnrti_onnx_by_channel(c, x, scale, a.numGroups);
        offset = nnrti_onnx_by_channel(c, x, offset, a.numGroups);
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_GROUP_NORM_FUSION, &a, x, scale, offset));
}

/* x / (norm + epsilon) with the smallest subnormal float as epsilon, which changes only norms of about that size and
   turns 0/0 into 0. */
static void nnrti_onnx_op_lp_norm(nnrti_onnx *c, int32_t arg)
{
    const uint32_t least = 1;
    NNRT_LpNormalization a;
    (void)arg;
    a.axis = nnrti_onnx_int(c, "axis", -1);
    a.p = nnrti_onnx_int(c, "p", 2);
    memcpy(&a.epsilon, &least, sizeof(a.epsilon));
    if (a.p != 1 && a.p != 2)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "p is %l, expected 1 or 2", a.p);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_LP_NORMALIZATION, &a, nnrti_onnx_in(c, 0)));
}

/* True if v has the shape of x from `axis` on: in every run if that is static, else in each run that ONNX allows. v is
   broadcast to x, so an axis of v that is not 1 has the size of that axis of x. */
static bool nnrti_onnx_ends_with(nnrti_onnx *c, uint32_t x, int32_t axis, uint32_t v)
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    bool same = nnrti_onnx_rank(c, v) == rank - axis;
    for (int32_t i = axis; i < rank && same; i++) {
        const int32_t size = nnrti_onnx_dim(c, v, i - axis), of = nnrti_onnx_dim(c, x, i);
        same = of >= 0 ? of == size : size > 1;
    }
    return same;
}

/* Mean and 1/sqrt(variance + epsilon) are computed separately if the node has these outputs. */
static void nnrti_onnx_op_layer_norm(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), scale = nnrti_onnx_in(c, 1), offset = nnrti_onnx_in(c, 2);
    const float epsilon = nnrti_onnx_float(c, "epsilon", 1e-5f);
    const int32_t rank = nnrti_onnx_rank(c, x), axis = nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", -1), rank);
    int64_t axes[NNRT_MAX_RANK];
    uint32_t y, count = 0;
    (void)arg;
    for (int32_t i = axis; i < rank; i++)
        axes[count++] = i;
    if (offset != NNRT_NO_TENSOR && nnrti_onnx_ends_with(c, x, axis, scale) &&
        nnrti_onnx_ends_with(c, x, axis, offset)) {
        y = nnrti_onnx_normalize(c, x, axis, epsilon, scale, offset);
    } else {
        y = nnrti_onnx_mul(c, nnrti_onnx_normalize(c, x, axis, epsilon, NNRT_NO_TENSOR, NNRT_NO_TENSOR), scale);
        y = offset != NNRT_NO_TENSOR ? nnrti_onnx_add(c, y, offset) : y;
    }
    if (nnrti_onnx_has_output(c, 1) || nnrti_onnx_has_output(c, 2)) {
        const uint32_t mean = nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MEAN, axes, count, true);
        uint32_t v = nnrti_onnx_step2(c, NNRT_NODE_TYPE_SQUARED_DIFFERENCE, NULL, x, mean);
        v = nnrti_onnx_reduce(c, v, NNRT_REDUCE_MODE_MEAN, axes, count, true);
        v = nnrti_onnx_step1(c, NNRT_NODE_TYPE_RSQRT, NULL,
                             nnrti_onnx_add(c, v, nnrti_onnx_like(c, v, (double)epsilon)));
        nnrti_onnx_out(c, 1, mean);
        nnrti_onnx_out(c, 2, v);
    }
    nnrti_onnx_out(c, 0, y);
}

/* stash_type is the type in which float16 is normalized: always float32 here. */
static void nnrti_onnx_op_rms_norm(nnrti_onnx *c, int32_t arg)
{
    const int64_t type = nnrti_onnx_int(c, "stash_type", NNRT_ONNX_FLOAT);
    NNRT_RMSNormalization a;
    (void)arg;
    a.axis = nnrti_onnx_int(c, "axis", -1);
    a.epsilon = nnrti_onnx_float(c, "epsilon", 1e-5f);
    if (type != NNRT_ONNX_FLOAT)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "stash_type is %l, expected 1 (float)", type);
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_step2(c, NNRT_NODE_TYPE_RMS_NORMALIZATION, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

/* Clamps a window size to INT32_MAX, which covers every possible key. */
static int64_t nnrti_onnx_window_size(nnrti_onnx *c, const char *name)
{
    const int64_t size = nnrti_onnx_int(c, name, -1);
    return size < INT32_MAX ? size : INT32_MAX;
}

/* Attention as ONNX 1.23 defines it for all operator sets: softcap before the mask (operator set 23 had it after),
   zeros for a query without visible keys. Softmax is computed in float32, whatever softmax_precision is: more exactly than
   in float16 and bfloat16; in float64 the result, which is float32 or float16, would differ by its own rounding. */
static void nnrti_onnx_op_attention(nnrti_onnx *c, int32_t arg)
{
    const int64_t precision = nnrti_onnx_int(c, "softmax_precision", NNRT_ONNX_FLOAT);
    uint32_t in[7], out[4], nIn = 3, nOut = 1;
    NNRT_Attention a;
    (void)arg;
    for (uint32_t i = 0; i < 7; i++)
        if ((in[i] = nnrti_onnx_in(c, i)) != NNRT_NO_TENSOR)
            nIn = i + 1;
    for (uint32_t i = 1; i < 4; i++)
        nOut = nnrti_onnx_has_output(c, i) ? i + 1 : nOut;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ATTENTION, &a);
    a.isCausal = nnrti_onnx_int(c, "is_causal", 0);
    a.kvNumHeads = nnrti_onnx_int(c, "kv_num_heads", 0);
    a.qNumHeads = nnrti_onnx_int(c, "q_num_heads", 0);
    a.qkMatmulOutputMode = nOut == 4 ? nnrti_onnx_int(c, "qk_matmul_output_mode", 0) : 0;
    a.scale = nnrti_onnx_float(c, "scale", 0);
    a.softcap = nnrti_onnx_float(c, "softcap", 0);
    a.leftWindowSize = nnrti_onnx_window_size(c, "left_window_size");
    a.rightWindowSize = nnrti_onnx_window_size(c, "right_window_size");
    if (precision != NNRT_ONNX_FLOAT && precision != NNRT_ONNX_FLOAT16 && precision != NNRT_ONNX_BFLOAT16 &&
        precision != NNRT_ONNX_DOUBLE)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "softmax_precision is %l, expected 1 (float), 10, 11 or 16", precision);
    if (nnrti_onnx_attr(c, "scale", NNRT_ONNX_ATTRIBUTE_FLOAT) != NULL && !(a.scale > 0))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "scale is %f, expected more than 0", (double)a.scale);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_ATTENTION, &a, in, nIn, out, nOut, NULL);
    for (uint32_t i = 0; i < nOut; i++)
        nnrti_onnx_out(c, i, out[i]);
}

static void nnrti_onnx_op_rotary_embedding(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[4], y;
    NNRT_RotaryEmbedding a;
    (void)arg;
    a.interleaved = nnrti_onnx_int(c, "interleaved", 0);
    a.numHeads = nnrti_onnx_int(c, "num_heads", 0);
    a.rotaryEmbeddingDim = nnrti_onnx_int(c, "rotary_embedding_dim", 0);
    for (uint32_t i = 0; i < 4; i++)
        in[i] = nnrti_onnx_in(c, i);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_ROTARY_EMBEDDING, &a, in, in[3] != NNRT_NO_TENSOR ? 4 : 3, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

/* (x - mean) / (sqrt(variance) + 1e-9) over axes, by default all but the channels. Epsilon is added outside the root,
   so no normalization operator of the runtime computes it. */
static void nnrti_onnx_op_mean_variance(nnrti_onnx *c, int32_t arg)
{
    static const int64_t initial[] = {0, 2, 3};
    const uint32_t x = nnrti_onnx_in(c, 0);
    const nnrt_onnx_ints given = nnrti_onnx_ints_of(c, "axes");
    const int64_t *axes = given.data != NULL ? given.data : initial;
    const uint32_t count = given.data != NULL && given.count <= NNRT_MAX_RANK ? (uint32_t)given.count : 3;
    const uint32_t mean = nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MEAN, axes, count, true);
    const uint32_t away = nnrti_onnx_sub(c, x, mean);
    uint32_t v = nnrti_onnx_reduce(c, nnrti_onnx_mul(c, away, away), NNRT_REDUCE_MODE_MEAN, axes, count, true);
    (void)arg;
    if (given.data != NULL && (given.count < 1 || given.count > NNRT_MAX_RANK))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "axes has %z entries, expected 1 to 8", given.count);
    v = nnrti_onnx_step1(c, NNRT_NODE_TYPE_SQRT, NULL, v);
    nnrti_onnx_out(c, 0, nnrti_onnx_div(c, away, nnrti_onnx_add(c, v, nnrti_onnx_like(c, v, 1e-9))));
}

/* LRN of an even size: channel c has the neighbors c - (size-1)/2 to c + size/2. Their mean of squares is a pool over the
   channels, with zeros outside, as an image [N,1,C,..]; a window of twice the channels has all of them. */
static uint32_t nnrti_onnx_lrn_even(nnrti_onnx *c, uint32_t x, int64_t size, const nnrti_onnx_size *sizes, int32_t rank)
{
    const int64_t channels = sizes[1].known, kernel = channels >= 1 && size > 2 * channels ? 2 * channels : size;
    const int64_t window[2] = {kernel, 1}, strides[2] = {1, 1}, pads[4] = {(kernel - 1) / 2, kernel / 2, 0, 0};
    nnrti_onnx_size image[4];
    NNRT_AvgPoolFusion a;
    NNRT_PowFusion power;
    uint32_t y;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD, &a);
    nnrti_onnx_defaults(NNRT_NODE_TYPE_POW_FUSION, &power);
    a.kernelSize = nnrt_int64_list(window, 2);
    a.strides = nnrt_int64_list(strides, 2);
    a.padMode = NNRT_PAD_MODE_PAD;
    a.pad = nnrt_int64_list(pads, 4);
    image[0] = sizes[0];
    image[1] = nnrti_onnx_size_known(1);
    image[2] = sizes[1];
    image[3] = nnrti_onnx_size_product(c, x, 2, rank);
    y = nnrti_onnx_reshape_to(c, nnrti_onnx_mul(c, x, x), image, 4);
    y = nnrti_onnx_reshape_to(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD, &a, y), sizes, rank);
    y = nnrti_onnx_mul(c, y, nnrti_onnx_like(c, y, (double)nnrti_onnx_float(c, "alpha", 1e-4f) * (double)kernel / (double)size));
    y = nnrti_onnx_add(c, y, nnrti_onnx_like(c, y, (double)nnrti_onnx_float(c, "bias", 1)));
    y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_POW_FUSION, &power, y, nnrti_onnx_like(c, y, (double)nnrti_onnx_float(c, "beta", 0.75f)));
    return nnrti_onnx_div(c, x, y);
}

/* x / (bias + alpha/size * sum of x^2 over `size` neighboring channels)^beta: LRN, for images. Other tensors are
   reshaped to images of width 1. */
static void nnrti_onnx_op_lrn(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int64_t size = nnrti_onnx_int(c, "size", 0);
    nnrti_onnx_size sizes[NNRT_MAX_RANK], image[4];
    const int32_t rank = nnrti_onnx_sizes_of(c, x, sizes);
    uint32_t y = x;
    NNRT_LRN a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_LRN, &a);
    if (rank < 2 || size < 1 || size > INT32_MAX) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                        "size is %l and the input has %d axes, expected a size of 1 to 2147483647 and 2 or more axes", size, rank);
        return;
    }
    if (size % 2 == 0) {
        nnrti_onnx_out(c, 0, nnrti_onnx_lrn_even(c, x, size, sizes, rank));
        return;
    }
    a.depthRadius = size / 2;
    a.alpha = nnrti_onnx_float(c, "alpha", 1e-4f) / (float)size;
    a.beta = nnrti_onnx_float(c, "beta", 0.75f);
    a.bias = nnrti_onnx_float(c, "bias", 1);
    if (rank != 4) {
        image[0] = sizes[0];
        image[1] = sizes[1];
        image[2] = nnrti_onnx_size_product(c, x, 2, rank);
        image[3] = nnrti_onnx_size_known(1);
        y = nnrti_onnx_reshape_to(c, x, image, 4);
    }
    y = nnrti_onnx_step1(c, NNRT_NODE_TYPE_LRN, &a, y);
    nnrti_onnx_out(c, 0, rank != 4 ? nnrti_onnx_reshape_to(c, y, sizes, rank) : y);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_recurrent: LSTM, GRU and RNN */

/* The activations of a node, and their parameters. */
typedef struct nnrti_onnx_gates {
    NNRT_Int64List activations;
    NNRT_FloatList alpha, beta; /* empty if no activation has parameters */
    int64_t types[6];
    float alphas[6], betas[6];
} nnrti_onnx_gates;

/* An activation of ONNX's recurrent operators: its parameters, and their values if the lists of the node end before: the
   defaults of the operator of that name. There is none of Affine and ScaledTanh, so that they need the lists. */
typedef struct nnrti_onnx_cell_function {
    const char *name;
    NNRT_ActivationType type;
    bool hasAlpha, hasBeta, needs;
    float alpha, beta;
} nnrti_onnx_cell_function;

/* The next entry of a list of parameters, of which those activations that have one take theirs in turn. */
static float nnrti_onnx_gate_parameter(nnrti_onnx *c, const nnrti_onnx_cell_function *f, const char *name, size_t *at,
                                       float initial)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_FLOATS);
    const size_t k = (*at)++;
    if (a != NULL && k < a->floats.count)
        return a->floats.data[k];
    if (f->needs)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s has %z entries, but %s needs another one", name,
                        a != NULL ? a->floats.count : 0, f->name);
    return initial;
}

/* Reads the activations, at most `most` (no more than 6). */
static void nnrti_onnx_activations(nnrti_onnx *c, nnrti_onnx_gates *g, size_t most)
{
    static const nnrti_onnx_cell_function known[] = {
        {"Relu", NNRT_ACTIVATION_TYPE_RELU, false, false, false, 0, 0},
        {"Sigmoid", NNRT_ACTIVATION_TYPE_SIGMOID, false, false, false, 0, 0},
        {"Softplus", NNRT_ACTIVATION_TYPE_SOFTPLUS, false, false, false, 0, 0},
        {"Softsign", NNRT_ACTIVATION_TYPE_SOFTSIGN, false, false, false, 0, 0},
        {"Tanh", NNRT_ACTIVATION_TYPE_TANH, false, false, false, 0, 0},
        {"HardSigmoid", NNRT_ACTIVATION_TYPE_HSIGMOID, true, true, false, 0.2f, 0.5f},
        {"LeakyRelu", NNRT_ACTIVATION_TYPE_LEAKY_RELU, true, false, false, 0.01f, 0},
        {"Elu", NNRT_ACTIVATION_TYPE_ELU, true, false, false, 1, 0},
        {"ThresholdedRelu", NNRT_ACTIVATION_TYPE_THRESHOLDRELU, true, false, false, 1, 0},
        {"Affine", NNRT_ACTIVATION_TYPE_LINEAR, true, true, true, 0, 0},
        {"ScaledTanh", NNRT_ACTIVATION_TYPE_TANH, true, true, true, 0, 0},
    };
    enum { KNOWN = sizeof(known) / sizeof(*known) };
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, "activations", NNRT_ONNX_ATTRIBUTE_STRINGS);
    const size_t count = a != NULL ? a->strings.count : 0;
    size_t alphas = 0, betas = 0;
    char text[64];
    memset(g, 0, sizeof(*g));
    if (count > most)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "activations has %z entries, expected at most %z", count, most);
    for (size_t i = 0; i < count && c->code == NNRT_SUCCESS; i++) {
        size_t k = 0;
        while (k < KNOWN && !nnrti_onnx_is(a->strings.data[i], known[k].name))
            k++;
        if (k == KNOWN) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                            "activations[%z] is '%s', expected Relu, Sigmoid, Softplus, Softsign, Tanh, HardSigmoid, "
                            "LeakyRelu, Elu, ThresholdedRelu, Affine or ScaledTanh",
                            i, nnrti_onnx_text(text, a->strings.data[i]));
            return;
        }
        g->types[i] = known[k].type;
        if (known[k].hasAlpha)
            g->alphas[i] = nnrti_onnx_gate_parameter(c, &known[k], "activation_alpha", &alphas, known[k].alpha);
        if (known[k].hasBeta)
            g->betas[i] = nnrti_onnx_gate_parameter(c, &known[k], "activation_beta", &betas, known[k].beta);
        if (known[k].type == NNRT_ACTIVATION_TYPE_TANH && known[k].hasAlpha && g->alphas[i] == 0) {
            g->types[i] = NNRT_ACTIVATION_TYPE_LINEAR; /* 0, as TANH with an alpha of 0 is tanh(x) */
            g->betas[i] = 0;
        }
    }
    if (c->code != NNRT_SUCCESS)
        return;
    g->activations = nnrt_int64_list(g->types, (uint32_t)count);
    g->alpha = nnrt_float_list(g->alphas, alphas > 0 ? (uint32_t)count : 0);
    g->beta = nnrt_float_list(g->betas, alphas > 0 ? (uint32_t)count : 0);
}

/* GRU and RNN; arg: the node type. */
static void nnrti_onnx_op_recurrent(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[6], out[2], n = 0;
    nnrti_onnx_gates g;
    NNRT_GRU gru;
    NNRT_RNN rnn;
    nnrti_onnx_activations(c, &g, 4);
    gru.activations = rnn.activations = g.activations;
    gru.activationAlpha = rnn.activationAlpha = g.alpha;
    gru.activationBeta = rnn.activationBeta = g.beta;
    gru.clip = rnn.clip = nnrti_onnx_float(c, "clip", 0);
    gru.direction = rnn.direction = nnrti_onnx_choice(c, "direction", "forward|reverse|bidirectional");
    gru.hiddenSize = rnn.hiddenSize = nnrti_onnx_int(c, "hidden_size", 0);
    gru.layout = rnn.layout = nnrti_onnx_int(c, "layout", 0);
    gru.linearBeforeReset = nnrti_onnx_int(c, "linear_before_reset", 0);
    for (uint32_t i = 0; i < 6; i++)
        if ((in[i] = nnrti_onnx_in(c, i)) != NNRT_NO_TENSOR)
            n = i + 1;
    nnrti_onnx_emit(c, arg, arg == NNRT_NODE_TYPE_GRU ? (const void *)&gru : &rnn, in, n, out, 2, NULL);
    nnrti_onnx_out(c, 0, out[0]);
    nnrti_onnx_out(c, 1, out[1]);
}

/* True if an LSTM is the plain cell of the operator LSTM: sigmoid and tanh without clip and peepholes, all sequences as
   long as x, and a static number of features. */
static bool nnrti_onnx_is_plain_lstm(nnrti_onnx *c, uint32_t x, uint32_t lengths, int32_t time)
{
    const nnrt_onnx_attribute *names = nnrti_onnx_attr(c, "activations", NNRT_ONNX_ATTRIBUTE_STRINGS);
    const nnrt_operand *o = nnrti_onnx_at(c, lengths);
    const int32_t steps = nnrti_onnx_dim(c, x, time);
    bool plain = nnrti_onnx_dim(c, nnrti_onnx_in(c, 2), 2) >= 0 && nnrti_onnx_in(c, 7) == NNRT_NO_TENSOR &&
                 nnrti_onnx_int(c, "input_forget", 0) == 0 && nnrti_onnx_float(c, "clip", 0) == 0;
    for (size_t i = 0; names != NULL && i < names->strings.count; i++)
        plain = plain && nnrti_onnx_is(names->strings.data[i], i % 3 == 0 ? "Sigmoid" : "Tanh");
    if (lengths == NNRT_NO_TENSOR)
        return plain;
    plain = plain && steps >= 0 && nnrti_onnx_is_constant(c, lengths) && o->rank == 1 &&
            (o->dataType == NNRT_DATA_TYPE_INT32 || o->dataType == NNRT_DATA_TYPE_INT64);
    for (int32_t i = 0; plain && i < o->dims[0]; i++)
        plain = nnrti_value(o, (size_t)i) == steps;
    return plain;
}

/* LSTM_PEEPHOLE, which has ONNX's attributes and axis order. ONNX clips the input of every activation; ONNX Runtime
   does not clip that of the cell state. */
static void nnrti_onnx_lstm_peephole(nnrti_onnx *c)
{
    uint32_t in[8], out[3], n = 0;
    nnrti_onnx_gates g;
    NNRT_LSTMPeephole a;
    nnrti_onnx_activations(c, &g, 6);
    a.activations = g.activations;
    a.activationAlpha = g.alpha;
    a.activationBeta = g.beta;
    a.clip = nnrti_onnx_float(c, "clip", 0);
    a.direction = nnrti_onnx_choice(c, "direction", "forward|reverse|bidirectional");
    a.hiddenSize = nnrti_onnx_int(c, "hidden_size", 0);
    a.inputForget = nnrti_onnx_int(c, "input_forget", 0);
    a.layout = nnrti_onnx_int(c, "layout", 0);
    for (uint32_t i = 0; i < 8; i++)
        if ((in[i] = nnrti_onnx_in(c, i)) != NNRT_NO_TENSOR)
            n = i + 1;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_LSTM_PEEPHOLE, &a, in, n, out, 3, NULL);
    for (uint32_t i = 0; i < 3; i++)
        nnrti_onnx_out(c, i, out[i]);
}

/* The runtime's LSTM has X [T,N,I], Y [T,N,D*H] and states [D,N,H]. ONNX's layout 1 has the batch first in all of them;
   in ONNX the direction D is an axis of Y. Direction reverse alone reverses the steps of X and Y. */
static void nnrti_onnx_op_lstm(nnrti_onnx *c, int32_t arg)
{
    static const int64_t swap[] = {1, 0, 2}, orders[2][4] = {{0, 2, 1, 3}, {1, 0, 2, 3}};
    const int32_t direction = nnrti_onnx_choice(c, "direction", "forward|reverse|bidirectional");
    const bool batchFirst = nnrti_onnx_int(c, "layout", 0) != 0;
    const uint32_t weight = nnrti_onnx_in(c, 2);
    uint32_t in[6] = {nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1), weight, nnrti_onnx_in(c, 3), 0, 0}, out[3], y;
    int64_t split[4] = {0, 0, 1, 0};
    nnrti_onnx_size state[3];
    NNRT_LSTM a;
    (void)arg;
    if (!nnrti_onnx_is_plain_lstm(c, in[0], nnrti_onnx_in(c, 4), batchFirst ? 1 : 0)) {
        nnrti_onnx_lstm_peephole(c);
        return;
    }
    nnrti_onnx_defaults(NNRT_NODE_TYPE_LSTM, &a);
    a.bidirectional = direction == 2;
    a.hasBias = in[3] != NNRT_NO_TENSOR;
    a.hiddenSize = nnrti_onnx_int(c, "hidden_size", 0);
    split[2] = a.bidirectional ? 2 : 1;
    split[3] = nnrti_onnx_fixed_dim(c, weight, 2, "an LSTM");
    if (batchFirst)
        in[0] = nnrti_onnx_transpose(c, in[0], swap, 3);
    if (direction == 1)
        in[0] = nnrti_onnx_strided_slice(c, in[0], 0, -1, INT32_MIN, -1);
    state[0] = nnrti_onnx_size_known(split[2]);
    state[1] = nnrti_onnx_size_of(c, in[0], 1);
    state[2] = nnrti_onnx_size_known(split[3]);
    for (uint32_t i = 4; i < 6; i++) {
        in[i] = nnrti_onnx_in(c, i + 1);
        if (in[i] == NNRT_NO_TENSOR)
            in[i] = nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL, NULL, nnrti_onnx_like(c, in[0], 0),
                                     nnrti_onnx_size_list(c, state, 3));
        else if (batchFirst)
            in[i] = nnrti_onnx_transpose(c, in[i], swap, 3);
    }
    if (!a.hasBias)
        in[3] = nnrti_onnx_like(c, in[0], 0); /* not used */
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_LSTM, &a, in, 6, out, 3, NULL);
    for (int32_t i = 0; i < 2; i++) /* a 0 of RESHAPE copies, but not in a batch of 0 */
        if (nnrti_onnx_dim(c, out[0], i) >= 0 || nnrti_onnx_dim(c, out[0], 1 - i) >= 0)
            split[i] = nnrti_onnx_dim(c, out[0], i) >= 0 ? nnrti_onnx_dim(c, out[0], i) : -1;
    y = nnrti_onnx_reshape(c, out[0], split, 4);
    if (direction == 1)
        y = nnrti_onnx_strided_slice(c, y, 0, -1, INT32_MIN, -1);
    nnrti_onnx_out(c, 0, nnrti_onnx_transpose(c, y, orders[batchFirst ? 1 : 0], 4));
    for (uint32_t i = 1; i < 3; i++)
        nnrti_onnx_out(c, i, batchFirst ? nnrti_onnx_transpose(c, out[i], swap, 3) : out[i]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_signals */

/* arg: the window kind. */
static void nnrti_onnx_op_window(nnrti_onnx *c, int32_t arg)
{
    const int64_t type = nnrti_onnx_int(c, "output_datatype", NNRT_ONNX_FLOAT);
    NNRT_Window a;
    a.kind = arg;
    a.outputDatatype =
        nnrti_onnx_take_type(c, type >= 0 && type < 1000 ? (nnrt_onnx_type)type : -1, "attribute", "output_datatype");
    a.periodic = nnrti_onnx_int(c, "periodic", 1);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_WINDOW, &a, nnrti_onnx_in(c, 0)));
}

static void nnrti_onnx_op_mel_weight_matrix(nnrti_onnx *c, int32_t arg)
{
    const int64_t type = nnrti_onnx_int(c, "output_datatype", NNRT_ONNX_FLOAT);
    uint32_t in[5], y;
    NNRT_MelWeightMatrix a;
    (void)arg;
    a.outputDatatype =
        nnrti_onnx_take_type(c, type >= 0 && type < 1000 ? (nnrt_onnx_type)type : -1, "attribute", "output_datatype");
    for (uint32_t i = 0; i < 5; i++)
        in[i] = nnrti_onnx_in(c, i);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_MEL_WEIGHT_MATRIX, &a, in, 5, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

/* Attribute dtype, or initial if it is absent. */
static NNRT_DataType nnrti_onnx_dtype(nnrti_onnx *c, NNRT_DataType initial)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, "dtype", NNRT_ONNX_ATTRIBUTE_INT);
    if (a == NULL)
        return initial;
    return nnrti_onnx_take_type(c, a->i >= 0 && a->i < 1000 ? (nnrt_onnx_type)a->i : -1, "attribute", "dtype");
}

/* arg: 0 normal, 1 uniform. ONNX does not specify the generator: the numbers are the runtime's, the same in every run;
   without a seed they are those of seed 0. */
static void nnrti_onnx_op_random(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const nnrt_onnx_ints shape = nnrti_onnx_ints_of(c, "shape");
    const NNRT_DataType type =
        nnrti_onnx_dtype(c, x != NNRT_NO_TENSOR ? nnrti_onnx_type(c, x) : NNRT_DATA_TYPE_FLOAT32);
    uint32_t list = NNRT_NO_TENSOR;
    NNRT_RandomNormal normal;
    NNRT_RandomUniform uniform;
    normal.dtype = uniform.dtype = type;
    normal.seed = uniform.seed = nnrti_onnx_float(c, "seed", 0);
    normal.mean = nnrti_onnx_float(c, "mean", 0);
    normal.scale = nnrti_onnx_float(c, "scale", 1);
    uniform.high = nnrti_onnx_float(c, "high", 1);
    uniform.low = nnrti_onnx_float(c, "low", 0);
    if (x == NNRT_NO_TENSOR && (shape.data == NULL || shape.count > NNRT_MAX_RANK))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "shape has %z entries, expected at most %d", shape.count,
                        NNRT_MAX_RANK);
    else
        list =
            x != NNRT_NO_TENSOR ? nnrti_onnx_shape(c, x) : nnrti_onnx_const_ints(c, shape.data, (uint32_t)shape.count);
    nnrti_onnx_out(c, 0,
                   arg == 0 ? nnrti_onnx_step1(c, NNRT_NODE_TYPE_RANDOM_NORMAL, &normal, list)
                            : nnrti_onnx_step1(c, NNRT_NODE_TYPE_RANDOM_UNIFORM, &uniform, list));
}

static void nnrti_onnx_op_bernoulli(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    NNRT_Bernoulli a;
    (void)arg;
    a.dtype = nnrti_onnx_dtype(c, nnrti_onnx_type(c, x));
    a.seed = nnrti_onnx_float(c, "seed", 0);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_BERNOULLI, &a, x));
}

static void nnrti_onnx_op_multinomial(nnrti_onnx *c, int32_t arg)
{
    NNRT_Multinomial a;
    (void)arg;
    a.dtype = nnrti_onnx_dtype(c, NNRT_DATA_TYPE_INT32);
    a.sampleSize = nnrti_onnx_int(c, "sample_size", 1);
    a.seed = nnrti_onnx_float(c, "seed", 0);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_MULTINOMIAL, &a, nnrti_onnx_in(c, 0)));
}

/* The axis is an attribute, default 1; from operator set 20 on input 2, default -2. */
static void nnrti_onnx_op_dft(nnrti_onnx *c, int32_t arg)
{
    const uint32_t length = nnrti_onnx_in(c, 1), axis = c->opset >= 20 ? nnrti_onnx_in(c, 2) : NNRT_NO_TENSOR;
    uint32_t in[2], y;
    NNRT_DFT a;
    (void)arg;
    a.axis = c->opset >= 20 ? -2 : nnrti_onnx_int(c, "axis", 1);
    a.inverse = nnrti_onnx_int(c, "inverse", 0);
    a.onesided = nnrti_onnx_int(c, "onesided", 0);
    if (axis != NNRT_NO_TENSOR && nnrti_onnx_list(c, axis, "axis", &a.axis, 1) != 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input 2 (axis) is empty, expected one entry");
    in[0] = nnrti_onnx_in(c, 0);
    in[1] = length;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_DFT, &a, in, length != NNRT_NO_TENSOR ? 2 : 1, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

static void nnrti_onnx_op_stft(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[4], y;
    NNRT_STFT a;
    (void)arg;
    a.onesided = nnrti_onnx_int(c, "onesided", 1);
    for (uint32_t i = 0; i < 4; i++)
        in[i] = nnrti_onnx_in(c, i);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_STFT, &a, in, in[3] != NNRT_NO_TENSOR ? 4 : 3, &y, 1, NULL);
    nnrti_onnx_out(c, 0, y);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_contrib: com.microsoft, the domain of ONNX Runtime's quantizer, optimizer and exporters */

/* An operator of com.microsoft becomes operators of the runtime by ONNX Runtime's definition. A quantized operator
   (QLinearAdd, QGemm, ..) becomes DequantizeLinear -> operator -> QuantizeLinear, which the pass QUANTIZE makes one
   quantized operator; with desc->no_quantize it stays float32. Weights of 4 or 8 bits with a scale per block stay
   packed. */

/* Input i; a fault if it is absent. For inputs after an optional one, which the row cannot require. */
static uint32_t nnrti_onnx_need(nnrti_onnx *c, uint32_t i)
{
    const uint32_t v = nnrti_onnx_in(c, i);
    if (v == NNRT_NO_TENSOR)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is missing", i);
    return v;
}

/* Runs the handler of another operator with the values in[] as inputs and the attributes of the node; stores its
   results in out[]. */
static void nnrti_onnx_apply_all(nnrti_onnx *c, void (*handler)(nnrti_onnx *c, int32_t arg), int32_t arg,
                                 const uint32_t *in, uint32_t nIn, uint32_t *out, uint32_t nOut)
{
    const nnrti_onnx_applied *const around = c->applied;
    nnrti_onnx_applied now;
    now.in = in;
    now.nIn = nIn;
    now.out = out;
    now.nOut = nOut;
    for (uint32_t i = 0; i < nOut; i++)
        out[i] = NNRT_NO_TENSOR;
    c->applied = &now;
    handler(c, arg);
    c->applied = around;
}

/* The same for a handler of one input and one result. */
static uint32_t nnrti_onnx_apply(nnrti_onnx *c, void (*handler)(nnrti_onnx *c, int32_t arg), int32_t arg, uint32_t x)
{
    uint32_t y;
    nnrti_onnx_apply_all(c, handler, arg, &x, 1, &y, 1);
    return y;
}

/* x with channels last as channels first, and back. */
static uint32_t nnrti_onnx_move_channels(nnrti_onnx *c, uint32_t x, bool first)
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    int64_t perm[NNRT_MAX_RANK] = {0};
    if (rank < 3 || rank > NNRT_MAX_RANK) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input has %d axes, expected 3 or more", rank);
        return x;
    }
    for (int32_t i = 1; i < rank; i++)
        perm[i] = first ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
    return nnrti_onnx_transpose(c, x, perm, rank);
}

/* The real values of the quantized input i, with scale i + 1 and zero point i + 2. */
static uint32_t nnrti_onnx_real(nnrti_onnx *c, uint32_t i, int64_t axis)
{
    if (nnrti_onnx_need(c, i) == NNRT_NO_TENSOR || nnrti_onnx_need(c, i + 1) == NNRT_NO_TENSOR)
        return NNRT_NO_TENSOR;
    return nnrti_onnx_dequantized(c, i, axis);
}

/* Output 0: y quantized by the scale that is input i and the zero point that is input i + 1; uint8 without one. */
static void nnrti_onnx_out_real(nnrti_onnx *c, uint32_t y, uint32_t i)
{
    const uint32_t scale = nnrti_onnx_need(c, i), zero = nnrti_onnx_in(c, i + 1);
    const NNRT_DataType type = zero != NNRT_NO_TENSOR ? nnrti_onnx_type(c, zero) : NNRT_DATA_TYPE_UINT8;
    if (type != NNRT_DATA_TYPE_INT8 && type != NNRT_DATA_TYPE_UINT8)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "the zero point of the result is %t, expected int8 or uint8", type);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_out_quantized(c, y, scale, zero, type, 0);
}

static void nnrti_onnx_op_q_linear_binary(nnrti_onnx *c, int32_t arg)
{
    const uint32_t a = nnrti_onnx_real(c, 0, 0), b = nnrti_onnx_real(c, 3, 0);
    nnrti_onnx_out_real(c, nnrti_onnx_step2(c, arg, NULL, a, b), 6);
}

static void nnrti_onnx_op_q_linear_sigmoid(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out_real(c, nnrti_onnx_act(c, nnrti_onnx_real(c, 0, 0), NNRT_ACTIVATION_TYPE_SIGMOID, 0), 3);
}

static void nnrti_onnx_op_q_linear_leaky_relu(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out_real(c, nnrti_onnx_apply(c, nnrti_onnx_op_leaky_relu, 0, nnrti_onnx_real(c, 0, 0)), 3);
}

/* The attribute opset is the operator set of the Softmax that was quantized. */
static void nnrti_onnx_op_q_linear_softmax(nnrti_onnx *c, int32_t arg)
{
    const int64_t opset = c->opset;
    const uint32_t x = nnrti_onnx_real(c, 0, 0);
    uint32_t y;
    (void)arg;
    c->opset = nnrti_onnx_int(c, "opset", opset);
    y = nnrti_onnx_apply(c, nnrti_onnx_op_softmax, 0, x);
    c->opset = opset;
    nnrti_onnx_out_real(c, y, 3);
}

/* QLinearAveragePool (arg 0), QLinearGlobalAveragePool (1). */
static void nnrti_onnx_op_q_linear_average_pool(nnrti_onnx *c, int32_t arg)
{
    const bool last = nnrti_onnx_int(c, "channels_last", 0) != 0;
    uint32_t y = nnrti_onnx_real(c, 0, 0);
    y = last ? nnrti_onnx_move_channels(c, y, true) : y;
    y = arg == 0 ? nnrti_onnx_apply(c, nnrti_onnx_op_average_pool, 0, y)
                 : nnrti_onnx_apply(c, nnrti_onnx_op_global_pool, NNRT_REDUCE_MODE_MEAN, y);
    nnrti_onnx_out_real(c, last ? nnrti_onnx_move_channels(c, y, false) : y, 3);
}

/* Inputs: scale and zero point of the result, then each input with its scale and zero point. */
static void nnrti_onnx_op_q_linear_concat(nnrti_onnx *c, int32_t arg)
{
    const uint32_t given = (uint32_t)c->node->inputs.count, count = given / 3; /* the last zero point may be left out */
    uint32_t *in = (uint32_t *)nnrti_onnx_keep(c, count + 1, sizeof(*in));
    (void)arg;
    if (nnrti_onnx_attr(c, "axis", NNRT_ONNX_ATTRIBUTE_INT) == NULL)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute 'axis' is missing");
    for (uint32_t i = 0; i < count && in != NULL; i++)
        in[i] = nnrti_onnx_real(c, 2 + 3 * i, 0);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_out_real(c, nnrti_onnx_concat(c, in, count, nnrti_onnx_int(c, "axis", 0)), 0);
}

static void nnrti_onnx_op_q_linear_where(nnrti_onnx *c, int32_t arg)
{
    const uint32_t condition = nnrti_onnx_in(c, 0), x = nnrti_onnx_real(c, 1, 0), y = nnrti_onnx_real(c, 4, 0);
    (void)arg;
    nnrti_onnx_out_real(c, nnrti_onnx_where(c, condition, x, y), 7);
}

/* alpha*A*B + C of quantized A and B; C is int32 in the scale alpha * scaleA * scaleB. Without a scale of the result
   that is float32. */
static void nnrti_onnx_op_q_gemm(nnrti_onnx *c, int32_t arg)
{
    const uint32_t bias = nnrti_onnx_in(c, 6);
    uint32_t in[3], y;
    (void)arg;
    in[0] = nnrti_onnx_real(c, 0, 0);
    in[1] = nnrti_onnx_real(c, 3, nnrti_onnx_int(c, "transB", 0) != 0 ? 0 : 1);
    in[2] = NNRT_NO_TENSOR;
    if (bias != NNRT_NO_TENSOR && c->code == NNRT_SUCCESS) {
        const uint32_t scale = nnrti_onnx_mul(c, nnrti_onnx_in(c, 1), nnrti_onnx_in(c, 4));
        const float alpha = nnrti_onnx_float(c, "alpha", 1);
        in[2] = nnrti_onnx_mul(c, nnrti_onnx_cast(c, bias, NNRT_DATA_TYPE_FLOAT32), scale);
        in[2] = alpha != 1 ? nnrti_onnx_mul(c, in[2], nnrti_onnx_like(c, in[2], (double)alpha)) : in[2];
    }
    nnrti_onnx_apply_all(c, nnrti_onnx_op_gemm, 0, in, 3, &y, 1);
    if (nnrti_onnx_in(c, 7) != NNRT_NO_TENSOR)
        nnrti_onnx_out_real(c, y, 7);
    else
        nnrti_onnx_out(c, 0, y);
}

/* Input i, a scale or zero point of the weight w [D,K,N] for each direction or column, [D] or [D,N], as [D,1,1] or
   [D,1,N] in float32. */
static uint32_t nnrti_onnx_lstm_parameter(nnrti_onnx *c, uint32_t i, uint32_t w)
{
    const uint32_t v = nnrti_onnx_need(c, i);
    const int32_t rank = nnrti_onnx_rank(c, v);
    if (c->code != NNRT_SUCCESS)
        return v;
    if (nnrti_onnx_rank(c, w) != 3 || rank < 1 || rank > 2 || nnrti_onnx_dim(c, v, 0) != nnrti_onnx_dim(c, w, 0) ||
        (rank == 2 && nnrti_onnx_dim(c, v, 1) != nnrti_onnx_dim(c, w, 2)))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE,
                        "input %u is %o, expected an entry for each direction, or for each direction and column of %o",
                        i, nnrti_onnx_at(c, v), nnrti_onnx_at(c, w));
    return nnrti_onnx_cast(c, nnrti_onnx_unsqueeze(c, rank == 1 ? nnrti_onnx_unsqueeze(c, v, 1) : v, 1),
                           NNRT_DATA_TYPE_FLOAT32);
}

/* LSTM with weights of 8 bits W [D,I,4*H] and R [D,H,4*H], whose scales and zero points are inputs 8 to 11. ONNX
   Runtime quantizes x and the state to 8 bits before each matrix product; the float32 LSTM has no such error. */
static void nnrti_onnx_op_dynamic_lstm(nnrti_onnx *c, int32_t arg)
{
    static const int64_t swap[] = {0, 2, 1};
    uint32_t in[8], out[3];
    for (uint32_t i = 0; i < 8; i++)
        in[i] = nnrti_onnx_in(c, i);
    for (uint32_t i = 1; i < 3 && c->code == NNRT_SUCCESS; i++) {
        const uint32_t scale = nnrti_onnx_lstm_parameter(c, 6 + 2 * i, in[i]);
        const uint32_t zero = nnrti_onnx_lstm_parameter(c, 7 + 2 * i, in[i]);
        if (!nnrti_onnx_is_a(c, in[i], NNRT_TYPES_I8 | NNRT_TYPES_U8) ||
            nnrti_onnx_type(c, nnrti_onnx_need(c, 7 + 2 * i)) != nnrti_onnx_type(c, in[i]))
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "input %u is %o, expected int8 or uint8, the type of input %u", i,
                            nnrti_onnx_at(c, in[i]), 7 + 2 * i);
        in[i] = nnrti_onnx_sub(c, nnrti_onnx_cast(c, in[i], NNRT_DATA_TYPE_FLOAT32), zero);
        in[i] = nnrti_onnx_transpose(c, nnrti_onnx_mul(c, in[i], scale), swap, 3);
    }
    nnrti_onnx_apply_all(c, nnrti_onnx_op_lstm, arg, in, 8, out, 3);
    for (uint32_t i = 0; i < 3; i++)
        if (nnrti_onnx_has_output(c, i))
            nnrti_onnx_out(c, i, out[i]);
}

/* (a - zeroA)*(b - zeroB) * (scaleA*scaleB) + bias: the matrix product in integers, the rest in float32. */
static uint32_t nnrti_onnx_scaled_product(nnrti_onnx *c, uint32_t a, uint32_t b, uint32_t zeroA, uint32_t zeroB,
                                          uint32_t scaleA, uint32_t scaleB, uint32_t bias)
{
    uint32_t in[4], y = NNRT_NO_TENSOR;
    in[0] = a;
    in[1] = b;
    in[2] = zeroA;
    in[3] = zeroB;
    nnrti_onnx_emit_known(c, NNRT_NODE_TYPE_MATMUL_INTEGER, NULL, in, 4, &y);
    y = nnrti_onnx_mul(c, nnrti_onnx_cast(c, y, NNRT_DATA_TYPE_FLOAT32), nnrti_onnx_mul(c, scaleA, scaleB));
    return bias != NNRT_NO_TENSOR ? nnrti_onnx_add(c, y, bias) : y;
}

/* Inputs: A float32, B of 8 bits, scaleB, zeroB, bias. A is quantized to uint8 in the run. */
static void nnrti_onnx_op_dynamic_matmul(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), b = nnrti_onnx_in(c, 1), scale = nnrti_onnx_need(c, 2);
    uint32_t a[3];
    (void)arg;
    nnrti_onnx_apply_all(c, nnrti_onnx_op_dynamic_quantize, 0, &x, 1, a, 3);
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_scaled_product(c, a[0], b, a[2], nnrti_onnx_in(c, 3), a[1], scale, nnrti_onnx_in(c, 4)));
}

/* Inputs: A and B of 8 bits, scaleA, scaleB, zeroA, zeroB, bias. */
static void nnrti_onnx_op_matmul_to_float(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_scaled_product(c, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1), nnrti_onnx_in(c, 4),
                                             nnrti_onnx_in(c, 5), nnrti_onnx_in(c, 2), nnrti_onnx_in(c, 3),
                                             nnrti_onnx_in(c, 6)));
}

/* GELU of the sum of input 0 and the optional input 1, a bias. arg 1: the approximation by tanh. */
static void nnrti_onnx_op_ort_gelu(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), bias = nnrti_onnx_in(c, 1);
    NNRT_Activation a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ACTIVATION, &a);
    a.activationType = NNRT_ACTIVATION_TYPE_GELU;
    a.approximate = arg == 1;
    nnrti_onnx_out(
        c, 0,
        nnrti_onnx_step1(c, NNRT_NODE_TYPE_ACTIVATION, &a, bias != NNRT_NO_TENSOR ? nnrti_onnx_add(c, x, bias) : x));
}

/* x * sigmoid(alpha * x). */
static void nnrti_onnx_op_quick_gelu(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const float alpha = nnrti_onnx_float(c, "alpha", 1.702f);
    (void)arg;
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_mul(c, x,
                                  nnrti_onnx_act(c, nnrti_onnx_mul(c, x, nnrti_onnx_like(c, x, (double)alpha)),
                                                 NNRT_ACTIVATION_TYPE_SIGMOID, 0)));
}

/* Depthwise convolution over the past and the present, of ai.onnx and com.microsoft: with s = past state [B,C,K-1] (zeros
   if absent) and x [B,C,L] in a row, y[b,c,l] = bias[c] + sum over k of weight[c,0,k] * sx[b,c,l+k], then an optional
   SiLU. Output 1: the last K-1 columns of sx. */
static void nnrti_onnx_op_causal_conv(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), w = nnrti_onnx_in(c, 1), bias = nnrti_onnx_in(c, 2),
                   past = nnrti_onnx_in(c, 3);
    const int32_t silu = nnrti_onnx_choice(c, "activation", "none|silu|swish"), K = nnrti_onnx_fixed_dim(c, w, 2, "K");
    const int64_t left[6] = {0, 0, 0, 0, K - 1, 0}, column[2] = {-1, 1}, dims[2] = {3, 2};
    uint32_t in[2], whole = x, y = NNRT_NO_TENSOR;
    (void)arg;
    if (c->code == NNRT_SUCCESS && (nnrti_onnx_rank(c, x) != 3 || nnrti_onnx_rank(c, w) != 3 || K < 1))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input %o and weight %o, expected [B,C,L] and [C,1,K]",
                        nnrti_onnx_at(c, x), nnrti_onnx_at(c, w));
    if (nnrti_onnx_int(c, "ndim", 1) != 1)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "ndim is %l, expected 1", nnrti_onnx_int(c, "ndim", 1));
    if (c->code != NNRT_SUCCESS)
        return;
    in[0] = past;
    in[1] = x;
    if (past != NNRT_NO_TENSOR)
        whole = nnrti_onnx_concat(c, in, 2, 2);
    else if (K > 1)
        whole = nnrti_onnx_step2(c, NNRT_NODE_TYPE_PAD_FUSION, NULL, x,
                                 nnrti_onnx_reshape(c, nnrti_onnx_const_ints(c, left, 6), dims, 2));
    for (int32_t k = 0; k < K && c->code == NNRT_SUCCESS; k++) {
        const uint32_t tap = nnrti_onnx_squeeze(c, nnrti_onnx_strided_slice(c, w, 2, k, k + 1, 1), 1);
        const uint32_t part = nnrti_onnx_strided_slice(c, whole, 2, k, k + 1 < K ? k + 1 - K : INT32_MAX, 1);
        const uint32_t term = nnrti_onnx_mul(c, part, tap);
        y = k == 0 ? term : nnrti_onnx_add(c, y, term);
    }
    if (bias != NNRT_NO_TENSOR)
        y = nnrti_onnx_add(c, y, nnrti_onnx_reshape(c, bias, column, 2));
    nnrti_onnx_out(c, 0, silu > 0 ? nnrti_onnx_mul(c, y, nnrti_onnx_act(c, y, NNRT_ACTIVATION_TYPE_SIGMOID, 0)) : y);
    if (nnrti_onnx_has_output(c, 1))
        nnrti_onnx_out(c, 1, nnrti_onnx_strided_slice(c, whole, 2, K > 1 ? 1 - K : INT32_MAX, INT32_MAX, 1));
}

/* The activation of the node, with `count` parameters p; a fault if it requires more. */
static uint32_t nnrti_onnx_fused_activation(nnrti_onnx *c, uint32_t y, const float *p, size_t count)
{
    const int32_t which = nnrti_onnx_choice(c, "activation", "|Relu|Sigmoid|Tanh|LeakyRelu|Clip|HardSigmoid");
    const size_t wanted = which < 4 ? 0 : which == 4 ? 1 : 2;
    NNRT_Clip clip;
    NNRT_LeakyRelu leaky;
    NNRT_HardSigmoid hard;
    if (count < wanted) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "the activation has %z parameters, expected %z", count, wanted);
        return y;
    }
    clip.min = hard.alpha = leaky.negativeSlope = wanted > 0 ? p[0] : 0;
    clip.max = hard.beta = wanted > 1 ? p[1] : 0;
    switch (which) {
    case 1: return nnrti_onnx_act(c, y, NNRT_ACTIVATION_TYPE_RELU, 0);
    case 2: return nnrti_onnx_act(c, y, NNRT_ACTIVATION_TYPE_SIGMOID, 0);
    case 3: return nnrti_onnx_act(c, y, NNRT_ACTIVATION_TYPE_TANH, 0);
    case 4: return nnrti_onnx_step1(c, NNRT_NODE_TYPE_LEAKY_RELU, &leaky, y);
    case 5: return nnrti_onnx_step1(c, NNRT_NODE_TYPE_CLIP, &clip, y);
    case 6: return nnrti_onnx_step1(c, NNRT_NODE_TYPE_HARD_SIGMOID, &hard, y);
    default: return y;
    }
}

/* activation(Conv(X, W, B) + Z). */
static void nnrti_onnx_op_fused_conv(nnrti_onnx *c, int32_t arg)
{
    const nnrt_onnx_attribute *p = nnrti_onnx_attr(c, "activation_params", NNRT_ONNX_ATTRIBUTE_FLOATS);
    const uint32_t z = nnrti_onnx_in(c, 3);
    uint32_t in[3], y;
    (void)arg;
    for (uint32_t i = 0; i < 3; i++)
        in[i] = nnrti_onnx_in(c, i);
    nnrti_onnx_apply_all(c, nnrti_onnx_op_conv, 0, in, 3, &y, 1);
    y = z != NNRT_NO_TENSOR ? nnrti_onnx_add(c, y, z) : y;
    nnrti_onnx_out(
        c, 0, nnrti_onnx_fused_activation(c, y, p != NULL ? p->floats.data : NULL, p != NULL ? p->floats.count : 0));
}

/* activation(Gemm(A, B, C)). */
static void nnrti_onnx_op_fused_gemm(nnrti_onnx *c, int32_t arg)
{
    float p[2];
    size_t count = 0;
    uint32_t in[3], y;
    (void)arg;
    for (uint32_t i = 0; i < 3; i++)
        in[i] = nnrti_onnx_in(c, i);
    p[0] = nnrti_onnx_float(c, "activation_alpha", 0);
    p[1] = nnrti_onnx_float(c, "activation_beta", 0);
    if (nnrti_onnx_attr(c, "activation_alpha", NNRT_ONNX_ATTRIBUTE_FLOAT) != NULL)
        count = nnrti_onnx_attr(c, "activation_beta", NNRT_ONNX_ATTRIBUTE_FLOAT) != NULL ? 2 : 1;
    nnrti_onnx_apply_all(c, nnrti_onnx_op_gemm, 0, in, 3, &y, 1);
    nnrti_onnx_out(c, 0, nnrti_onnx_fused_activation(c, y, p, count));
}

/* x [M,b0,b1,..,K] as [b0,b1,..,M,K]. */
static uint32_t nnrti_onnx_batch_first(nnrti_onnx *c, uint32_t x)
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    int64_t perm[NNRT_MAX_RANK] = {0};
    for (int32_t i = 0; i < rank && i < NNRT_MAX_RANK; i++)
        perm[i] = i + 2 < rank ? i + 1 : i + 2 == rank ? 0 : i;
    return rank < 3 ? x : nnrti_onnx_transpose(c, x, perm, rank);
}

/* alpha * A * B; transBatch: the first axis moves behind the batch axes, before trans swaps the last two. */
static void nnrti_onnx_op_fused_matmul(nnrti_onnx *c, int32_t arg)
{
    const float alpha = nnrti_onnx_float(c, "alpha", 1);
    uint32_t x = nnrti_onnx_in(c, 0), w = nnrti_onnx_in(c, 1), y;
    NNRT_MatMulFusion a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_MATMUL_FUSION, &a);
    a.transposeA = nnrti_onnx_int(c, "transA", 0) != 0 && nnrti_onnx_rank(c, x) > 1;
    a.transposeB = nnrti_onnx_int(c, "transB", 0) != 0 && nnrti_onnx_rank(c, w) > 1;
    x = nnrti_onnx_int(c, "transBatchA", 0) != 0 ? nnrti_onnx_batch_first(c, x) : x;
    w = nnrti_onnx_int(c, "transBatchB", 0) != 0 ? nnrti_onnx_batch_first(c, w) : w;
    y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, &a, x, w);
    nnrti_onnx_out(c, 0, alpha != 1 ? nnrti_onnx_mul(c, y, nnrti_onnx_like(c, y, (double)alpha)) : y);
}

/* Conv of x [N,H,W,C] with weight [O,R,S,C/group], the layout of ONNX Runtime's CUDA kernel and of its optimizer. The
   documentation of ONNX Runtime names another one, [O,C/group,R,S]. */
static void nnrti_onnx_op_nhwc_conv(nnrti_onnx *c, int32_t arg)
{
    const nnrt_operand *x = nnrti_onnx_at(c, nnrti_onnx_in(c, 0)), *w = nnrti_onnx_at(c, nnrti_onnx_in(c, 1));
    const int32_t C = nnrti_onnx_dim(c, nnrti_onnx_in(c, 0), x->rank - 1);
    const int32_t part = nnrti_onnx_dim(c, nnrti_onnx_in(c, 1), w->rank - 1);
    const int64_t group = nnrti_onnx_int(c, "group", 1);
    uint32_t in[3], y;
    if (C >= 0 && part >= 0 && (group < 1 || group > C || part != C / group))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE,
                        "W '%s' is %o, X '%s' %o and group %l: expected W [O,R,S,C/group] for X [N,H,W,C]", w->name, w,
                        x->name, x, group);
    for (uint32_t i = 0; i < 2; i++)
        in[i] = nnrti_onnx_move_channels(c, nnrti_onnx_in(c, i), true);
    in[2] = nnrti_onnx_in(c, 2);
    nnrti_onnx_apply_all(c, nnrti_onnx_op_conv, arg, in, 3, &y, 1);
    nnrti_onnx_out(c, 0, nnrti_onnx_move_channels(c, y, false));
}

static void nnrti_onnx_op_nhwc_max_pool(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_move_channels(c, nnrti_onnx_in(c, 0), true);
    nnrti_onnx_out(c, 0, nnrti_onnx_move_channels(c, nnrti_onnx_apply(c, nnrti_onnx_op_max_pool, arg, x), false));
}

/* 1/sqrt(mean(x^2) + epsilon) over the last axes from `axis` on. */
static uint32_t nnrti_onnx_inverse_rms(nnrti_onnx *c, uint32_t x, int32_t axis, float epsilon)
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    int64_t axes[NNRT_MAX_RANK];
    uint32_t count = 0, v;
    for (int32_t i = axis; i < rank; i++)
        axes[count++] = i;
    v = nnrti_onnx_reduce(c, nnrti_onnx_mul(c, x, x), NNRT_REDUCE_MODE_MEAN, axes, count, true);
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_RSQRT, NULL,
                            nnrti_onnx_add(c, v, nnrti_onnx_like(c, v, (double)epsilon)));
}

/* RMSNormalization as ONNX Runtime's files have it in ONNX's own domain; output 1 is 1/sqrt(mean(x^2) + epsilon). */
static void nnrti_onnx_op_simplified_layer_norm(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    if (nnrti_onnx_has_output(c, 1))
        nnrti_onnx_out(c, 1,
                       nnrti_onnx_inverse_rms(c, x,
                                              nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", -1), nnrti_onnx_rank(c, x)),
                                              nnrti_onnx_float(c, "epsilon", 1e-5f)));
    nnrti_onnx_op_rms_norm(c, arg);
}

/* Normalizes input + skip (+ bias) over the last axis. SkipLayerNormalization (arg 0): inputs input, skip, gamma, beta,
   bias; SkipSimplifiedLayerNormalization (1), without mean: input, skip, gamma, bias. Output 3: the sum. */
static void nnrti_onnx_op_skip_layer_norm(nnrti_onnx *c, int32_t arg)
{
    const uint32_t scale = nnrti_onnx_in(c, 2), offset = arg == 0 ? nnrti_onnx_in(c, 3) : NNRT_NO_TENSOR;
    const uint32_t bias = nnrti_onnx_in(c, arg == 0 ? 4 : 3);
    const float epsilon = nnrti_onnx_float(c, "epsilon", 1e-12f);
    uint32_t sum = nnrti_onnx_add(c, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)), y;
    const int32_t last = nnrti_onnx_rank(c, sum) - 1;
    sum = bias != NNRT_NO_TENSOR ? nnrti_onnx_add(c, sum, bias) : sum;
    if (arg == 1) {
        NNRT_RMSNormalization a;
        a.axis = -1;
        a.epsilon = epsilon;
        y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_RMS_NORMALIZATION, &a, sum, scale);
    } else if (offset != NNRT_NO_TENSOR) {
        y = nnrti_onnx_normalize(c, sum, last, epsilon, scale, offset);
    } else {
        y = nnrti_onnx_mul(c, nnrti_onnx_normalize(c, sum, last, epsilon, NNRT_NO_TENSOR, NNRT_NO_TENSOR), scale);
    }
    nnrti_onnx_out(c, 3, sum);
    nnrti_onnx_out(c, 0, y);
}

/* Inputs: ids [B,S], segments [B,S], embeddings of words, positions and segments, gamma, beta, mask [B,S],
   positions [B,S] or [1,S]. Outputs: the normalized sum of the embeddings, the number of ones in each row of the
   mask, the sum. */
static void nnrti_onnx_op_embed_layer_norm(nnrti_onnx *c, int32_t arg)
{
    static const int64_t axis = 1;
    const uint32_t ids = nnrti_onnx_in(c, 0), segments = nnrti_onnx_in(c, 1), table = nnrti_onnx_in(c, 4);
    const uint32_t gamma = nnrti_onnx_need(c, 5), beta = nnrti_onnx_need(c, 6), mask = nnrti_onnx_in(c, 7);
    uint32_t places = nnrti_onnx_in(c, 8), sum = nnrti_onnx_gather(c, nnrti_onnx_need(c, 2), ids, 0);
    (void)arg;
    places = places != NNRT_NO_TENSOR ? places : nnrti_onnx_iota(c, nnrti_onnx_size_of(c, ids, 1));
    sum = nnrti_onnx_add(c, sum, nnrti_onnx_gather(c, nnrti_onnx_need(c, 3), places, 0));
    if (segments != NNRT_NO_TENSOR && table != NNRT_NO_TENSOR)
        sum = nnrti_onnx_add(c, sum, nnrti_onnx_gather(c, table, segments, 0));
    if (nnrti_onnx_has_output(c, 1)) {
        const uint32_t ones = mask != NNRT_NO_TENSOR ? mask : nnrti_onnx_sub(c, ids, ids);
        nnrti_onnx_out(c, 1,
                       nnrti_onnx_reduce(c, nnrti_onnx_cast(c, ones, NNRT_DATA_TYPE_INT32), NNRT_REDUCE_MODE_SUM, &axis,
                                         1, false));
    }
    nnrti_onnx_out(c, 2, sum);
    nnrti_onnx_out(
        c, 0,
        nnrti_onnx_normalize(c, sum, nnrti_onnx_rank(c, sum) - 1, nnrti_onnx_float(c, "epsilon", 1e-12f), gamma, beta));
}

/* Operands of attention: q, k and v [B,S,heads*D]; mask, added to the scores; past; attributes. */
typedef struct nnrti_onnx_heads {
    uint32_t q, k, v, mask, pastKey, pastValue;
    int64_t heads, kvHeads, window; /* window: keys that a query sees, itself included; -1: all */
    float scale, softcap;
    bool causal;
} nnrti_onnx_heads;

/* Results: y [B,S,heads*D], present key and value [B,heads,T,D]. */
static void nnrti_onnx_attend(nnrti_onnx *c, const nnrti_onnx_heads *h, uint32_t y[3], bool present)
{
    uint32_t in[6], nIn = 6;
    NNRT_Attention a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ATTENTION, &a);
    a.isCausal = h->causal;
    a.qNumHeads = h->heads;
    a.kvNumHeads = h->kvHeads;
    a.scale = h->scale;
    a.softcap = h->softcap;
    a.leftWindowSize = h->window < 1 ? -1 : h->window < INT32_MAX ? h->window - 1 : INT32_MAX;
    in[0] = h->q;
    in[1] = h->k;
    in[2] = h->v;
    in[3] = h->mask;
    in[4] = h->pastKey;
    in[5] = h->pastValue;
    while (in[nIn - 1] == NNRT_NO_TENSOR && nIn > 3)
        nIn--;
    if (h->heads < 1 || h->kvHeads < 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "the number of heads is %l, expected 1 or more",
                        h->heads < 1 ? h->heads : h->kvHeads);
    if (h->scale < 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "scale is %f, expected 0 or more", (double)h->scale);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_emit(c, NNRT_NODE_TYPE_ATTENTION, &a, in, nIn, y, present ? 3 : 1, NULL);
}

/* The mask of ATTENTION, added to the scores: `filter` for keys that padding hides, plus bias. padding, integers: [B]
   the number of keys, [B,T] or [B,S,T] above 0 for visible keys; keys: T. NNRT_NO_TENSOR: no mask. */
static uint32_t nnrti_onnx_scores(nnrti_onnx *c, uint32_t padding, uint32_t bias, nnrti_onnx_size keys,
                                  NNRT_DataType type)
{
    const double filter = (double)nnrti_onnx_float(c, "mask_filter_value", -10000.0f);
    uint32_t hidden;
    int32_t rank;
    if (padding == NNRT_NO_TENSOR)
        return bias;
    rank = nnrti_onnx_rank(c, padding);
    if (rank < 1 || rank > 3) {
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "the mask '%s' is %o, expected 1 to 3 axes",
                        nnrti_onnx_at(c, padding)->name, nnrti_onnx_at(c, padding));
        return bias;
    }
    if (rank == 1)
        hidden = nnrti_onnx_less_equal(c, nnrti_onnx_unsqueeze(c, nnrti_onnx_cast(c, padding, NNRT_DATA_TYPE_INT64), 1),
                                       nnrti_onnx_iota(c, keys));
    else
        hidden = nnrti_onnx_less_equal(c, padding, nnrti_onnx_like(c, padding, 0));
    hidden = nnrti_onnx_unsqueeze(c, hidden, 1);
    hidden = rank < 3 ? nnrti_onnx_unsqueeze(c, hidden, 1) : hidden;
    hidden = nnrti_onnx_mul(c, nnrti_onnx_cast(c, hidden, type), nnrti_onnx_scalar(c, type, filter));
    return bias != NNRT_NO_TENSOR ? nnrti_onnx_add(c, hidden, bias) : hidden;
}

/* A mask of lengths must have one entry for each image of the batch; ONNX Runtime also has masks [2*B] and [3*B+2] of
   begins and ends. */
static void nnrti_onnx_check_lengths(nnrti_onnx *c, uint32_t mask, uint32_t x)
{
    const nnrt_operand *m = nnrti_onnx_at(c, mask), *o = nnrti_onnx_at(c, x);
    if (mask != NNRT_NO_TENSOR && nnrti_onnx_rank(c, mask) == 1 &&
        (m->symbols[0] != o->symbols[0] || (m->symbols[0] == 0 && m->dims[0] != o->dims[0])))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "the mask '%s' is %o, expected one length for each entry of axis 0 of %o", m->name, m, o);
}

/* Axis `axis` of past plus that of x: the number of keys. */
static nnrti_onnx_size nnrti_onnx_keys_of(nnrti_onnx *c, uint32_t past, int32_t axis, uint32_t x, int32_t own)
{
    const nnrti_onnx_size n = nnrti_onnx_size_of(c, x, own);
    nnrti_onnx_size before;
    if (past == NNRT_NO_TENSOR)
        return n;
    before = nnrti_onnx_size_of(c, past, axis);
    if (before.known >= 0 && n.known >= 0)
        return nnrti_onnx_size_known(before.known + n.known);
    return nnrti_onnx_size_value(nnrti_onnx_add(c, nnrti_onnx_size_ints(c, before), nnrti_onnx_size_ints(c, n)));
}

/* q, k and v are slices of the last axis of x*W + b. Attention (arg 0): input, weights, bias, mask, past
   [2,B,heads,P,D], bias of the scores; QAttention (1), 8 bits: input, weights, bias, scales of both, mask, zero points
   of both, past. Outputs: y, the past with the new keys and values. */
static void nnrti_onnx_op_ort_attention(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), w = nnrti_onnx_in(c, 1), b = nnrti_onnx_in(c, 2);
    const uint32_t past = nnrti_onnx_in(c, arg == 0 ? 4 : 8), mask = nnrti_onnx_in(c, arg == 0 ? 3 : 5);
    const nnrt_onnx_ints sizes = nnrti_onnx_ints_of(c, "qkv_hidden_sizes");
    const int64_t width = nnrti_onnx_fixed_dim(c, w, 1, "Attention");
    const int64_t nq = sizes.count == 3 ? sizes.data[0] : width / 3, nk = sizes.count == 3 ? sizes.data[1] : width / 3;
    const bool given = sizes.data != NULL;
    nnrti_onnx_heads h;
    uint32_t y[3] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR, NNRT_NO_TENSOR}, all;
    memset(&h, 0, sizeof(h));
    if (arg == 0 && nnrti_onnx_in(c, 6) != NNRT_NO_TENSOR)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "input 6, the length of a past in a larger buffer, is not supported");
    if (nq < 1 || nk < 1 || nq >= width || nk >= width - nq || (given && sizes.count != 3) ||
        (given ? sizes.data[2] != width - nq - nk : width % 3 != 0))
        NNRTI_ONNX_FAIL(
            c, NNRT_INVALID_PARAMETER,
            "qkv_hidden_sizes has %z entries and begins with %l and %l, expected 3 entries of sum %l, or none "
            "for three equal ones: the last axis of the weights",
            sizes.count, nq, nk, width);
    nnrti_onnx_check_lengths(c, mask, x);
    if (c->code != NNRT_SUCCESS)
        return;
    if (arg == 0) {
        all = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, NULL, x, w);
        all = b != NNRT_NO_TENSOR ? nnrti_onnx_add(c, all, b) : all;
    } else {
        all = nnrti_onnx_scaled_product(c, x, w, nnrti_onnx_in(c, 6), nnrti_onnx_in(c, 7), nnrti_onnx_in(c, 3),
                                        nnrti_onnx_in(c, 4), b);
    }
    h.q = nnrti_onnx_strided_slice(c, all, 2, 0, nq, 1);
    h.k = nnrti_onnx_strided_slice(c, all, 2, nq, nq + nk, 1);
    h.v = nnrti_onnx_strided_slice(c, all, 2, nq + nk, INT32_MAX, 1);
    h.pastKey = h.pastValue = NNRT_NO_TENSOR;
    if (past != NNRT_NO_TENSOR) {
        h.pastKey = nnrti_onnx_squeeze(c, nnrti_onnx_strided_slice(c, past, 0, 0, 1, 1), 0);
        h.pastValue = nnrti_onnx_squeeze(c, nnrti_onnx_strided_slice(c, past, 0, 1, 2, 1), 0);
    }
    h.heads = h.kvHeads = nnrti_onnx_int(c, "num_heads", 0);
    h.scale = nnrti_onnx_float(c, "scale", 0);
    h.causal = nnrti_onnx_int(c, "unidirectional", 0) != 0;
    h.window = -1;
    if (c->code != NNRT_SUCCESS)
        return;
    h.mask = nnrti_onnx_scores(c, mask, arg == 0 ? nnrti_onnx_in(c, 5) : NNRT_NO_TENSOR,
                               nnrti_onnx_keys_of(c, past, 3, x, 1), nnrti_onnx_type(c, all));
    nnrti_onnx_attend(c, &h, y, nnrti_onnx_has_output(c, 1));
    if (nnrti_onnx_has_output(c, 1)) {
        uint32_t both[2];
        both[0] = nnrti_onnx_unsqueeze(c, y[1], 0);
        both[1] = nnrti_onnx_unsqueeze(c, y[2], 0);
        nnrti_onnx_out(c, 1, nnrti_onnx_concat(c, both, 2, 0));
    }
    nnrti_onnx_out(c, 0, y[0]);
}

/* Entry `part` of axis 3 of packed heads [B,S,heads,parts,D], as [B,S,heads*D]. */
static uint32_t nnrti_onnx_packed_heads(nnrti_onnx *c, uint32_t x, int64_t part)
{
    nnrti_onnx_size sizes[NNRT_MAX_RANK];
    (void)nnrti_onnx_sizes_of(c, x, sizes);
    sizes[2] = nnrti_onnx_size_known((int64_t)nnrti_onnx_fixed_dim(c, x, 2, "packed attention") *
                                     nnrti_onnx_fixed_dim(c, x, 4, "packed attention"));
    return nnrti_onnx_reshape_to(c, nnrti_onnx_strided_slice(c, x, 3, part, part + 1, 1), sizes, 3);
}

/* [B,heads,S,D] as [B,S,heads*D]. */
static uint32_t nnrti_onnx_joined_heads(nnrti_onnx *c, uint32_t x)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    nnrti_onnx_size sizes[3];
    const int64_t width =
        (int64_t)nnrti_onnx_fixed_dim(c, x, 1, "attention") * nnrti_onnx_fixed_dim(c, x, 3, "attention");
    sizes[0] = nnrti_onnx_size_of(c, x, 0);
    sizes[1] = nnrti_onnx_size_of(c, x, 2);
    sizes[2] = nnrti_onnx_size_known(width);
    return nnrti_onnx_reshape_to(c, nnrti_onnx_transpose(c, x, perm, 4), sizes, 3);
}

/* Adds entries from..from + n - 1 of the bias to x; n: the last axis of x. Returns from + n. */
static int64_t nnrti_onnx_bias_slice(nnrti_onnx *c, uint32_t *x, uint32_t bias, int64_t from)
{
    const int64_t n = nnrti_onnx_fixed_dim(c, *x, 2, "the bias of attention");
    *x = nnrti_onnx_add(c, *x, nnrti_onnx_strided_slice(c, bias, 0, from, from + n, 1));
    return from + n;
}

/* Inputs: query [B,S,heads*D], or all packed [B,S,heads,3,D]; key, or key and value packed [B,T,heads,2,D]; value; bias
   of the three; mask; bias of the scores; past key and value. Key and value may be [B,heads,T,D]. Outputs: y, present
   key and value. */
static void nnrti_onnx_op_multi_head_attention(nnrti_onnx *c, int32_t arg)
{
    const uint32_t query = nnrti_onnx_in(c, 0), key = nnrti_onnx_in(c, 1), bias = nnrti_onnx_in(c, 3),
                   mask = nnrti_onnx_in(c, 4);
    const bool packed = nnrti_onnx_rank(c, query) == 5,
               pair = !packed && nnrti_onnx_rank(c, nnrti_onnx_need(c, 1)) == 5;
    const bool present = nnrti_onnx_has_output(c, 1) || nnrti_onnx_has_output(c, 2);
    uint32_t y[3] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    nnrti_onnx_heads h;
    (void)arg;
    memset(&h, 0, sizeof(h));
    if (c->code != NNRT_SUCCESS)
        return;
    h.q = packed ? nnrti_onnx_packed_heads(c, query, 0) : query;
    h.k = packed ? nnrti_onnx_packed_heads(c, query, 1) : pair ? nnrti_onnx_packed_heads(c, key, 0) : key;
    h.v = packed ? nnrti_onnx_packed_heads(c, query, 2)
          : pair ? nnrti_onnx_packed_heads(c, key, 1)
                 : nnrti_onnx_need(c, 2);
    h.k = nnrti_onnx_rank(c, h.k) == 4 ? nnrti_onnx_joined_heads(c, h.k) : h.k;
    h.v = nnrti_onnx_rank(c, h.v) == 4 ? nnrti_onnx_joined_heads(c, h.v) : h.v;
    if (bias != NNRT_NO_TENSOR && c->code == NNRT_SUCCESS) {
        const int64_t at = nnrti_onnx_bias_slice(c, &h.k, bias, nnrti_onnx_bias_slice(c, &h.q, bias, 0));
        (void)nnrti_onnx_bias_slice(c, &h.v, bias, at);
    }
    nnrti_onnx_check_lengths(c, mask, h.q);
    h.pastKey = nnrti_onnx_in(c, 6);
    h.pastValue = nnrti_onnx_in(c, 7);
    h.heads = h.kvHeads = nnrti_onnx_int(c, "num_heads", 0);
    h.scale = nnrti_onnx_float(c, "scale", 0);
    h.causal = nnrti_onnx_int(c, "unidirectional", 0) != 0;
    h.window = -1;
    if (c->code != NNRT_SUCCESS)
        return;
    h.mask = nnrti_onnx_scores(c, mask, nnrti_onnx_in(c, 5), nnrti_onnx_keys_of(c, h.pastKey, 2, h.k, 1),
                               nnrti_onnx_type(c, h.q));
    nnrti_onnx_attend(c, &h, y, present);
    for (uint32_t i = 0; i < 3; i++)
        if (nnrti_onnx_has_output(c, i))
            nnrti_onnx_out(c, i, y[i]);
}

/* ROTARY_EMBEDDING of x [B,S,heads*D] or [B,heads,S,D] at positions [B,S]; dim: elements of a head, 0: all. */
static uint32_t nnrti_onnx_rotated(nnrti_onnx *c, uint32_t x, uint32_t positions, uint32_t cosines, uint32_t sines,
                                   int64_t heads, int64_t dim, const char *interleaved)
{
    uint32_t in[4], y = NNRT_NO_TENSOR;
    NNRT_RotaryEmbedding a;
    a.interleaved = nnrti_onnx_int(c, interleaved, 0);
    a.numHeads = nnrti_onnx_rank(c, x) == 3 ? heads : 0;
    a.rotaryEmbeddingDim = dim;
    in[0] = x;
    in[1] = cosines;
    in[2] = sines;
    in[3] = positions;
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_ROTARY_EMBEDDING, &a, in, 4, &y, 1, NULL);
    return y;
}

/* Inputs: x, positions (one number: that of the first step; or [B,S]), tables of cosines and sines. */
static void nnrti_onnx_op_ort_rotary_embedding(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), cosines = nnrti_onnx_in(c, 2);
    const int32_t rank = nnrti_onnx_rank(c, x);
    const int64_t dim = nnrti_onnx_int(c, "rotary_embedding_dim", 0);
    int64_t heads = nnrti_onnx_int(c, "num_heads", 0);
    uint32_t positions = nnrti_onnx_in(c, 1);
    (void)arg;
    if (nnrti_onnx_float(c, "scale", 1) != 1 || nnrti_onnx_int(c, "is_packed_batching", 0) != 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "scale other than 1 and is_packed_batching are not supported");
    if (rank != 3 && rank != 4)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input has %d axes, expected 3 or 4", rank);
    if (rank == 3 && heads == 0 && c->code == NNRT_SUCCESS) {
        const int32_t half = nnrti_onnx_fixed_dim(c, cosines, 1, "RotaryEmbedding");
        heads = half > 0 ? nnrti_onnx_fixed_dim(c, x, 2, "RotaryEmbedding") / (2 * half) : 0;
    }
    if (c->code == NNRT_SUCCESS && nnrti_onnx_rank(c, positions) < 2) {
        nnrti_onnx_size sizes[2];
        sizes[0] = nnrti_onnx_size_of(c, x, 0);
        sizes[1] = nnrti_onnx_size_of(c, x, rank == 3 ? 1 : 2);
        positions = nnrti_onnx_add(c, nnrti_onnx_reshape(c, positions, NULL, 0), nnrti_onnx_iota(c, sizes[1]));
        positions = nnrti_onnx_broadcast(c, positions, nnrti_onnx_size_list(c, sizes, 2));
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_rotated(c, x, positions, cosines, nnrti_onnx_in(c, 3), heads, dim, "interleaved"));
}

/* Inputs: query [B,S,heads*D], or all packed in its last axis; key and value [B,S,kvHeads*D]; past key and value
   [B,kvHeads,P,D]; seqlens_k [B], the number of keys - 1; total_sequence_length; tables of cosines and sines. The
   runtime appends the new keys to the past, so that a run fails unless all entries of the batch have P + S keys. */
static void nnrti_onnx_op_group_query_attention(nnrti_onnx *c, int32_t arg)
{
    const uint32_t all = nnrti_onnx_in(c, 0), key = nnrti_onnx_in(c, 1);
    const uint32_t lengths = nnrti_onnx_cast(c, nnrti_onnx_need(c, 5), NNRT_DATA_TYPE_INT64);
    const int64_t heads = nnrti_onnx_int(c, "num_heads", 0), kv = nnrti_onnx_int(c, "kv_num_heads", 0);
    const bool packed = key == NNRT_NO_TENSOR;
    const int64_t width = nnrti_onnx_fixed_dim(c, all, 2, "GroupQueryAttention");
    const bool some = heads > 0 && kv > 0 && heads <= width && kv <= width;
    const int64_t parts = some ? (packed ? heads + 2 * kv : heads) : 1,
                  D = some && width % parts == 0 ? width / parts : 0;
    uint32_t y[3] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    nnrti_onnx_heads h;
    nnrti_onnx_size keys;
    (void)arg;
    memset(&h, 0, sizeof(h));
    if (D < 1 || nnrti_onnx_in(c, 9) != NNRT_NO_TENSOR)
        NNRTI_ONNX_FAIL(c, D < 1 ? NNRT_INVALID_PARAMETER : NNRT_UNSUPPORTED_OP,
                        D < 1 ? "num_heads is %l and kv_num_heads %l, expected heads that divide the last axis"
                              : "input 9, position_ids, is not supported (num_heads %l, kv_num_heads %l)",
                        heads, kv);
    if (c->code != NNRT_SUCCESS)
        return;
    h.q = packed ? nnrti_onnx_strided_slice(c, all, 2, 0, heads * D, 1) : all;
    h.k = packed ? nnrti_onnx_strided_slice(c, all, 2, heads * D, (heads + kv) * D, 1) : key;
    h.v = packed ? nnrti_onnx_strided_slice(c, all, 2, (heads + kv) * D, INT32_MAX, 1) : nnrti_onnx_need(c, 2);
    h.pastKey = nnrti_onnx_in(c, 3);
    h.pastValue = nnrti_onnx_in(c, 4);
    h.heads = heads;
    h.kvHeads = kv;
    h.scale = nnrti_onnx_float(c, "scale", 0);
    h.softcap = nnrti_onnx_float(c, "softcap", 0);
    h.window = nnrti_onnx_int(c, "local_window_size", -1);
    h.causal = true;
    h.mask = nnrti_onnx_in(c, 10);
    keys = nnrti_onnx_keys_of(c, h.pastKey, 2, h.k, 1);
    nnrti_onnx_assert_equal(c, nnrti_onnx_add(c, lengths, nnrti_onnx_const_int(c, 1)), nnrti_onnx_size_ints(c, keys));
    if (nnrti_onnx_int(c, "do_rotary", 0) != 0 && c->code == NNRT_SUCCESS) {
        const nnrti_onnx_size steps = nnrti_onnx_size_of(c, h.q, 1);
        const uint32_t first =
            nnrti_onnx_sub(c, nnrti_onnx_add(c, lengths, nnrti_onnx_const_int(c, 1)), nnrti_onnx_size_ints(c, steps));
        const uint32_t at = nnrti_onnx_add(c, nnrti_onnx_unsqueeze(c, first, 1), nnrti_onnx_iota(c, steps));
        const uint32_t cosines = nnrti_onnx_need(c, 7), sines = nnrti_onnx_need(c, 8);
        const int64_t dim = 2 * (int64_t)nnrti_onnx_fixed_dim(c, cosines, 1, "GroupQueryAttention");
        h.q = nnrti_onnx_rotated(c, h.q, at, cosines, sines, heads, dim, "rotary_interleaved");
        h.k = nnrti_onnx_rotated(c, h.k, at, cosines, sines, kv, dim, "rotary_interleaved");
    }
    nnrti_onnx_attend(c, &h, y, true);
    for (uint32_t i = 0; i < 3; i++)
        if (nnrti_onnx_has_output(c, i))
            nnrti_onnx_out(c, i, y[i]);
}

/* Constants of 4 or 8 bits with a scale and a zero point per block of adjacent entries of a row. */
typedef struct nnrti_onnx_packed {
    uint32_t data, scales, zeros; /* zeros: bytes packed as the data, or of the type of the scales; NNRT_NO_TENSOR */
    int64_t rows, columns, block, bits;
    int64_t rowBytes; /* of the data */
} nnrti_onnx_packed;

/* Entry i of a row of packed entries, the first in the low bits. */
static int32_t nnrti_onnx_packed_at(const uint8_t *row, int64_t i, int64_t bits)
{
    const int64_t each = 8 / bits; /* entries in a byte */
    return row[i / each] >> i % each * bits & ((1 << bits) - 1);
}

/* Bytes of a constant; false: v is none, of another type, or has not this many elements. */
static bool nnrti_onnx_packed_check(nnrti_onnx *c, uint32_t v, uint32_t types, int64_t count, const char *what)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    size_t have = 0;
    if (c->code != NNRT_SUCCESS)
        return false;
    if (nnrti_onnx_is_constant(c, v) && nnrti_type_in(o->dataType, types) && nnrt_dims_count(o->dims, o->rank, &have) &&
        (uint64_t)have == (uint64_t)count)
        return true;
    NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "the %s '%s' is %o, expected a constant of %l elements", what, o->name, o,
                    count);
    return false;
}

/* The rows as a constant float32[rows,columns]: (entry - zero) * scale. */
static uint32_t nnrti_onnx_unpacked(nnrti_onnx *c, const nnrti_onnx_packed *p)
{
    const int64_t blocks = (p->columns + p->block - 1) / p->block, zeroBytes = (blocks * p->bits + 7) / 8;
    const bool zeros = p->zeros != NNRT_NO_TENSOR, packed = zeros && nnrti_onnx_is_a(c, p->zeros, NNRT_TYPES_U8);
    const uint8_t *data, *zero;
    const nnrt_operand *scale, *shift;
    int32_t dims[2];
    size_t width;
    float *out;
    if (!nnrti_onnx_packed_check(c, p->data, NNRT_TYPES_U8, p->rows * p->rowBytes, "packed weight") ||
        !nnrti_onnx_packed_check(c, p->scales, NNRT_TYPES_FLOAT, p->rows * blocks, "list of scales") ||
        (zeros && !nnrti_onnx_packed_check(c, p->zeros, NNRT_TYPES_FLOAT | NNRT_TYPES_U8,
                                           p->rows * (packed ? zeroBytes : blocks), "list of zero points")))
        return NNRT_NO_TENSOR;
    dims[0] = (int32_t)p->rows;
    dims[1] = (int32_t)p->columns;
    out = nnrt_mul_size((size_t)p->columns, sizeof(*out), &width) ? (float *)nnrti_onnx_keep(c, (size_t)p->rows, width)
                                                                  : NULL;
    if (out == NULL && c->code == NNRT_SUCCESS)
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the weights exceed the address space");
    data = (const uint8_t *)nnrti_onnx_at(c, p->data)->data;
    scale = nnrti_onnx_at(c, p->scales);
    shift = nnrti_onnx_at(c, p->zeros);
    zero = zeros ? (const uint8_t *)shift->data : NULL;
    for (int64_t r = 0; r < p->rows && out != NULL; r++)
        for (int64_t i = 0; i < p->columns; i++) {
            const int64_t b = i / p->block;
            const size_t at = (size_t)(r * blocks + b);
            double z = (double)(1 << (p->bits - 1)), s = 0;
            if (packed)
                z = nnrti_onnx_packed_at(zero + r * zeroBytes, b, p->bits);
            else if (zeros)
                z = nnrti_load_f64(zero, (ptrdiff_t)at, shift->dataType);
            s = nnrti_load_f64(scale->data, (ptrdiff_t)at, scale->dataType);
            out[r * p->columns + i] =
                ((float)nnrti_onnx_packed_at(data + r * p->rowBytes, i, p->bits) - (float)z) * (float)s;
        }
    return out != NULL ? nnrti_onnx_constant(c, NNRT_DATA_TYPE_FLOAT32, 2, dims, out) : NNRT_NO_TENSOR;
}

/* Reads the attributes bits and block_size, which both operators of packed weights have. */
static void nnrti_onnx_packed_bits(nnrti_onnx *c, nnrti_onnx_packed *p)
{
    p->bits = nnrti_onnx_int(c, "bits", 4);
    p->block = nnrti_onnx_int(c, "block_size", 128);
    if (p->bits != 2 && p->bits != 4 && p->bits != 8)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "bits is %l, expected 2, 4 or 8", p->bits);
    if (p->block < 16 || p->block > 65536 || (p->block & (p->block - 1)) != 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "block_size is %l, expected a power of 2 of 16 to 65536", p->block);
}

/* Rule: rows and columns are dimensions. */
static void nnrti_onnx_packed_size(nnrti_onnx *c, const nnrti_onnx_packed *p)
{
    if (p->rows < 1 || p->rows > INT32_MAX || p->columns < 1 || p->columns > INT32_MAX)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "the weights have %l rows (N) of %l entries (K), expected 1 to %d",
                        p->rows, p->columns, INT32_MAX);
}

/* Constant v, which has rows * each elements, in the shape [rows,each] or, with blocks > 0, [rows,blocks,each / blocks]:
   exporters write scales and zero points with one axis, too. */
static uint32_t nnrti_onnx_packed_shape(nnrti_onnx *c, uint32_t v, const nnrti_onnx_packed *p, uint32_t types,
                                        int64_t each, int64_t blocks, const char *what)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    const int32_t rank = blocks > 0 ? 3 : 2;
    int32_t dims[3];
    if (!nnrti_onnx_packed_check(c, v, types, p->rows * each, what))
        return NNRT_NO_TENSOR;
    dims[0] = (int32_t)p->rows;
    dims[1] = (int32_t)(blocks > 0 ? blocks : each);
    dims[2] = (int32_t)(blocks > 0 ? each / blocks : 1);
    if (o->rank == rank && memcmp(o->dims, dims, (size_t)rank * sizeof(*dims)) == 0)
        return v;
    return nnrti_onnx_constant(c, o->dataType, rank, dims, o->data);
}

/* The attributes and inputs 1 to 3 of MATMUL_NBITS and GATHER_NBITS: data, scales, zero points. */
static void nnrti_onnx_packed_inputs(nnrti_onnx *c, const nnrti_onnx_packed *p, NNRT_MatMulNBits *a, uint32_t *in)
{
    const int64_t blocks = (p->columns + p->block - 1) / p->block;
    const bool bytes = p->zeros != NNRT_NO_TENSOR && nnrti_onnx_is_a(c, p->zeros, NNRT_TYPES_U8);
    memset(a, 0, sizeof(*a));
    a->columns = p->columns;
    a->bits = p->bits;
    a->blockSize = p->block;
    in[1] = nnrti_onnx_packed_shape(c, p->data, p, NNRT_TYPES_U8, blocks * (p->block * p->bits / 8), blocks, "packed weight");
    in[2] = nnrti_onnx_packed_shape(c, p->scales, p, NNRT_TYPES_FLOAT, blocks, 0, "list of scales");
    in[3] = p->zeros;
    if (p->zeros != NNRT_NO_TENSOR)
        in[3] = nnrti_onnx_packed_shape(c, p->zeros, p, NNRT_TYPES_FLOAT | NNRT_TYPES_U8,
                                        bytes ? (blocks * p->bits + 7) / 8 : blocks, 0, "list of zero points");
}

/* A [..,K] times the transpose of a constant [N,K] of 4 or 8 bits, plus a bias [N]. Inputs: A, data [N,blocks,bytes of
   a block], scales, zero points, group index, bias. */
static void nnrti_onnx_op_matmul_bits(nnrti_onnx *c, int32_t arg)
{
    nnrti_onnx_packed p;
    NNRT_MatMulNBits a;
    uint32_t in[5], y;
    (void)arg;
    nnrti_onnx_packed_bits(c, &p);
    p.rows = nnrti_onnx_int(c, "N", 0);
    p.columns = nnrti_onnx_int(c, "K", 0);
    nnrti_onnx_packed_size(c, &p);
    if (nnrti_onnx_in(c, 4) != NNRT_NO_TENSOR)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "input 4, the group index of each column, is not supported");
    if (c->code != NNRT_SUCCESS)
        return;
    p.data = nnrti_onnx_in(c, 1);
    p.scales = nnrti_onnx_in(c, 2);
    p.zeros = nnrti_onnx_in(c, 3);
    nnrti_onnx_packed_inputs(c, &p, &a, in);
    /* accuracy_level is the least precision of x: 4 allows int8, which is quicker; 1 to 3 are other types of float. */
    a.accuracyLevel = nnrti_onnx_int(c, "accuracy_level", 0) == 4 && !c->desc->floatActivations ? 4 : 0;
    in[0] = nnrti_onnx_in(c, 0);
    in[4] = nnrti_onnx_in(c, 5);
    nnrti_onnx_emit_known(c, NNRT_NODE_TYPE_MATMUL_NBITS, &a, in, 5, &y);
    nnrti_onnx_out(c, 0, y);
}

/* Rows of a constant of 4 or 8 bits. Inputs: data [rows,bytes of a row], indices, scales [rows,blocks], zero points. */
static void nnrti_onnx_op_gather_blocks(nnrti_onnx *c, int32_t arg)
{
    const uint32_t data = nnrti_onnx_in(c, 0), scales = nnrti_onnx_in(c, 2);
    const int64_t axis = nnrti_onnx_int(c, "quantize_axis", 1);
    nnrti_onnx_packed p;
    NNRT_MatMulNBits a;
    uint32_t in[4], y = NNRT_NO_TENSOR;
    (void)arg;
    nnrti_onnx_packed_bits(c, &p);
    if (p.bits == 2)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "bits is %d, expected 4 or 8", 2);
    if (nnrti_onnx_rank(c, data) != 2 || (axis != 1 && axis != -1) || nnrti_onnx_int(c, "gather_axis", 0) != 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "the data are %o, expected 2 axes, gather_axis 0 and quantize_axis 1",
                        nnrti_onnx_at(c, data));
    if (c->code != NNRT_SUCCESS)
        return;
    p.data = data;
    p.scales = scales;
    p.zeros = nnrti_onnx_in(c, 3);
    p.rows = nnrti_onnx_fixed_dim(c, data, 0, "GatherBlockQuantized");
    p.rowBytes = nnrti_onnx_fixed_dim(c, data, 1, "GatherBlockQuantized");
    p.columns = p.rowBytes * 8 / p.bits;
    nnrti_onnx_packed_size(c, &p);
    if (c->code != NNRT_SUCCESS)
        return;
    if (p.columns % p.block != 0) { /* rows of bytes without whole blocks */
        y = nnrti_onnx_gather(c, nnrti_onnx_cast(c, nnrti_onnx_unpacked(c, &p), nnrti_onnx_type(c, scales)),
                              nnrti_onnx_in(c, 1), 0);
        nnrti_onnx_out(c, 0, y);
        return;
    }
    nnrti_onnx_packed_inputs(c, &p, &a, in);
    in[0] = nnrti_onnx_in(c, 1);
    nnrti_onnx_emit_known(c, NNRT_NODE_TYPE_GATHER_NBITS, &a, in, 4, &y);
    nnrti_onnx_out(c, 0, y);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_ml: ai.onnx.ml, the domain of classical models, which the exporters of scikit-learn, XGBoost, LightGBM write */

/* Labels and keys are numbers; strings and maps are refused. Results are ONNX Runtime's where it follows the
   specification. Rows are X [N,F], or X [F] for one row. All arithmetic is float32, tree ensembles of float64 rows
   float64. */

/* The numbers of an attribute, a list of floats or a tensor. */
typedef struct nnrti_onnx_reals {
    const void *data;
    NNRT_DataType type;
    size_t count;
} nnrti_onnx_reals;

static double nnrti_onnx_reals_at(const nnrti_onnx_reals *r, size_t i)
{
    double v;
    v = nnrti_load_f64(r->data, (ptrdiff_t)i, r->type);
    return v;
}

/* The floats of attribute `name`, or the elements of the tensor that is attribute `tensor` (NULL: there is none). */
static nnrti_onnx_reals nnrti_onnx_reals_of(nnrti_onnx *c, const char *name, const char *tensor)
{
    const nnrt_onnx_attribute *list = name != NULL ? nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_FLOATS) : NULL;
    const nnrt_onnx_attribute *t = tensor != NULL ? nnrti_onnx_attr(c, tensor, NNRT_ONNX_ATTRIBUTE_TENSOR) : NULL;
    nnrti_onnx_reals r;
    size_t bytes = 0;
    r.data = list != NULL ? list->floats.data : NULL;
    r.type = NNRT_DATA_TYPE_FLOAT32;
    r.count = list != NULL ? list->floats.count : 0;
    if (t == NULL || t->t == NULL || c->code != NNRT_SUCCESS)
        return r;
    if (r.count > 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "has both '%s' and '%s', expected one of them", name, tensor);
    r.type = nnrti_onnx_take_type(c, t->t->dataType, "attribute", tensor);
    if (c->code == NNRT_SUCCESS && nnrti_onnx_tensor_bytes(t->t, &bytes, NULL) != NNRT_SUCCESS)
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the size of attribute '%s' exceeds the address space", tensor);
    r.data = c->code == NNRT_SUCCESS ? nnrti_onnx_copied(c, t->t, bytes) : NULL;
    r.count = r.data != NULL ? bytes / nnrt_type_size(r.type) : 0;
    return r;
}

/* A copy of a list of floats that is valid until the import ends; the tables of the file are freed before. */
static const float *nnrti_onnx_floats_of(nnrti_onnx *c, const nnrti_onnx_reals *r)
{
    return c->code == NNRT_SUCCESS && r->count > 0
               ? (const float *)nnrti_onnx_kept(c, r->data, r->count * sizeof(float))
               : NULL;
}

/* A fault unless a list has `expected` entries. */
static void nnrti_onnx_counted(nnrti_onnx *c, const char *name, size_t count, size_t expected, const char *what)
{
    if (count != expected)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' has %z entries, expected %z (%s)", name, count,
                        expected, what);
}

/* Input 0 as [N,F] of float32, or of float64 if `wide` allows it; a fault for other ranks and types. */
static uint32_t nnrti_onnx_features(nnrti_onnx *c, bool wide)
{
    static const int64_t row[2] = {1, -1};
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, x);
    const NNRT_DataType type = nnrti_onnx_type(c, x);
    if (c->code == NNRT_SUCCESS && rank != 1 && rank != 2)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input 0 has %d axes, expected [rows, features] or [features]", rank);
    if (c->code == NNRT_SUCCESS && type != NNRT_DATA_TYPE_FLOAT32 && type != NNRT_DATA_TYPE_FLOAT64 &&
        type != NNRT_DATA_TYPE_INT64 && type != NNRT_DATA_TYPE_INT32)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "input 0 is %t, expected float32, float64, int64 or int32", type);
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    return nnrti_onnx_cast(c, rank == 1 ? nnrti_onnx_reshape(c, x, row, 2) : x,
                           wide && type == NNRT_DATA_TYPE_FLOAT64 ? type : NNRT_DATA_TYPE_FLOAT32);
}

/* A constant of `rank` axes whose elements stay in memory of the import. */
static uint32_t nnrti_onnx_table(nnrti_onnx *c, NNRT_DataType type, const void *data, int32_t rank, int64_t d0,
                                 int64_t d1)
{
    int32_t dims[2];
    if (c->code == NNRT_SUCCESS && (d0 > INT32_MAX || d1 > INT32_MAX))
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "a table of %l x %l entries exceeds int32", d0, d1);
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    dims[0] = (int32_t)d0;
    dims[1] = (int32_t)d1;
    return nnrti_onnx_constant(c, type, rank, dims, data);
}

/* Memory for rows * columns float32. */
static float *nnrti_onnx_matrix(nnrti_onnx *c, size_t rows, size_t columns)
{
    size_t n = 0;
    if (!nnrt_mul_size(rows, columns, &n))
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "a matrix of %z x %z entries exceeds the address space", rows, columns);
    return c->code == NNRT_SUCCESS ? (float *)nnrti_onnx_keep(c, n + 1, sizeof(float)) : NULL;
}

/* x [N,F] * w^T + bias: w [outputs,F] and bias [outputs] (NULL: none). */
static uint32_t nnrti_onnx_linear(nnrti_onnx *c, uint32_t x, const float *w, size_t outputs, size_t features,
                                  const float *bias)
{
    const uint32_t weight = nnrti_onnx_table(c, NNRT_DATA_TYPE_FLOAT32, w, 2, (int64_t)outputs, (int64_t)features);
    uint32_t b = NNRT_NO_TENSOR;
    NNRT_FullConnection a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_FULL_CONNECTION, &a);
    a.hasBias = bias != NULL;
    if (bias != NULL)
        b = nnrti_onnx_table(c, NNRT_DATA_TYPE_FLOAT32, bias, 1, (int64_t)outputs, 0);
    return nnrti_onnx_step3(c, NNRT_NODE_TYPE_FULL_CONNECTION, &a, x, weight, b);
}

/* A fault unless the rows of x have `features` features, if their number is known. */
static void nnrti_onnx_check_width(nnrti_onnx *c, uint32_t x, size_t features, const char *source)
{
    const int32_t width = nnrti_onnx_dim(c, x, 1);
    if (c->code == NNRT_SUCCESS && width >= 0 && (size_t)width != features)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "rows have %d features, expected %z, from %s", width, features, source);
}

/* The class labels of the node; a fault for strings and for fewer than `least` labels. */
static nnrt_onnx_ints nnrti_onnx_labels(nnrti_onnx *c, const char *name, size_t least)
{
    const nnrt_onnx_attribute *strings = nnrti_onnx_attr(c, "classlabels_strings", NNRT_ONNX_ATTRIBUTE_STRINGS);
    nnrt_onnx_ints labels = nnrti_onnx_ints_of(c, name);
    if (strings != NULL && strings->strings.count > 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "attribute 'classlabels_strings': labels must be integers; train with integer labels and "
                        "export with '%s'",
                        name);
    if (c->code == NNRT_SUCCESS && (labels.count < least || labels.count > INT32_MAX))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' has %z entries, expected %z or more", name,
                        labels.count, least);
    if (c->code == NNRT_SUCCESS)
        labels.data = (const int64_t *)nnrti_onnx_kept(c, labels.data, labels.count * sizeof(*labels.data));
    return labels;
}

/* Output 0: labels[index], index [N]. */
static void nnrti_onnx_out_label(nnrti_onnx *c, nnrt_onnx_ints labels, uint32_t index)
{
    const uint32_t table = nnrti_onnx_table(c, NNRT_DATA_TYPE_INT64, labels.data, 1, (int64_t)labels.count, 0);
    nnrti_onnx_out(c, 0, nnrti_onnx_gather(c, table, index, 0));
}

/* The index of the largest score of each row, the first of equal ones: [N,K] to int64 [N]. */
static uint32_t nnrti_onnx_best(nnrti_onnx *c, uint32_t scores)
{
    NNRT_ArgMaxFusion a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_ARGMAX_FUSION, &a);
    a.axis = 1;
    return nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_ARGMAX_FUSION, &a, scores, NNRT_DATA_TYPE_INT64);
}

/* 1 for each row whose score exceeds `bound`, else 0: [N,1] to int32 [N]. */
static uint32_t nnrti_onnx_above(nnrti_onnx *c, uint32_t score, double bound)
{
    const uint32_t yes = nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER, NULL, score, nnrti_onnx_like(c, score, bound));
    return nnrti_onnx_cast(c, nnrti_onnx_squeeze(c, yes, 1), NNRT_DATA_TYPE_INT32);
}

/* a * x + b. */
static uint32_t nnrti_onnx_affine(nnrti_onnx *c, uint32_t x, double a, double b)
{
    x = a != 1 ? nnrti_onnx_mul(c, x, nnrti_onnx_like(c, x, a)) : x;
    return b != 0 ? nnrti_onnx_add(c, x, nnrti_onnx_like(c, x, b)) : x;
}

/* Two columns, [N,1] each, as [N,2]. */
static uint32_t nnrti_onnx_pair_of(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    uint32_t in[2];
    in[0] = a;
    in[1] = b;
    return nnrti_onnx_concat(c, in, 2, 1);
}

/* The attribute post_transform, in the order of the numbers of TreeEnsemble. (ONNX Runtime 1.30 exchanges 1 and 2
   there.) */
typedef enum nnrti_onnx_post {
    NNRTI_ONNX_POST_NONE,
    NNRTI_ONNX_POST_SOFTMAX,
    NNRTI_ONNX_POST_LOGISTIC,
    NNRTI_ONNX_POST_SOFTMAX_ZERO,
    NNRTI_ONNX_POST_PROBIT
} nnrti_onnx_post;

static nnrti_onnx_post nnrti_onnx_post_of(nnrti_onnx *c)
{
    return (nnrti_onnx_post)nnrti_onnx_choice(c, "post_transform", "NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT");
}

/* sqrt(2) * erfinv(2x - 1) by ONNX Runtime's approximation: with z = 2x - 1, l = log(1 - z^2), v = 2/(pi*0.147) + l/2
   and w = -l/0.147: erfinv(z) = sign(z) * sqrt(sqrt(v^2 + w) - v), here sqrt(w/(sqrt(v^2 + w) + v)), which does not
   cancel near z = 0. */
static uint32_t nnrti_onnx_probit(nnrti_onnx *c, uint32_t x)
{
    const uint32_t z = nnrti_onnx_affine(c, x, 2, -1);
    const uint32_t product = nnrti_onnx_mul(c, nnrti_onnx_affine(c, z, -1, 1), nnrti_onnx_affine(c, z, 1, 1));
    const uint32_t l = nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOG, NULL, product);
    const uint32_t v = nnrti_onnx_affine(c, l, 0.5, (double)(2 / (3.14159f * 0.147f)));
    const uint32_t w = nnrti_onnx_affine(c, l, (double)(-1 / 0.147f), 0);
    const uint32_t root = nnrti_onnx_step1(c, NNRT_NODE_TYPE_SQRT, NULL, nnrti_onnx_add(c, nnrti_onnx_mul(c, v, v), w));
    const uint32_t square = nnrti_onnx_div(c, w, nnrti_onnx_add(c, root, v));
    const uint32_t y =
        nnrti_onnx_affine(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_SQRT, NULL, square), (double)1.41421356f, 0);
    const uint32_t negative = nnrti_onnx_step2(c, NNRT_NODE_TYPE_LESS, NULL, z, nnrti_onnx_like(c, z, 0));
    return nnrti_onnx_where(c, negative, nnrti_onnx_affine(c, y, -1, 0), y);
}

/* Softmax over the scores x with |x| > 1e-7; a smaller x becomes x*exp(-max), which stays near 0. */
static uint32_t nnrti_onnx_softmax_zero(nnrti_onnx *c, uint32_t x)
{
    const int64_t last = 1;
    const uint32_t most = nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MAX, &last, 1, true);
    const uint32_t size = nnrti_onnx_step1(c, NNRT_NODE_TYPE_ABS, NULL, x);
    const uint32_t some = nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER, NULL, size, nnrti_onnx_like(c, x, (double)1e-7f));
    const uint32_t e = nnrti_onnx_exp(c, nnrti_onnx_sub(c, x, most));
    const uint32_t rest = nnrti_onnx_mul(c, x, nnrti_onnx_exp(c, nnrti_onnx_affine(c, most, -1, 0)));
    const uint32_t zero = nnrti_onnx_affine(c, x, 0, 0);
    const uint32_t sum = nnrti_onnx_reduce(c, nnrti_onnx_where(c, some, e, zero), NNRT_REDUCE_MODE_SUM, &last, 1, true);
    return nnrti_onnx_div(c, nnrti_onnx_where(c, some, e, rest), sum);
}

/* The transform of scores [N,K]. */
static uint32_t nnrti_onnx_transformed(nnrti_onnx *c, uint32_t y, nnrti_onnx_post post)
{
    switch (post) {
    case NNRTI_ONNX_POST_SOFTMAX: return nnrti_onnx_softmax(c, y, 1);
    case NNRTI_ONNX_POST_LOGISTIC: return nnrti_onnx_act(c, y, NNRT_ACTIVATION_TYPE_SIGMOID, 0);
    case NNRTI_ONNX_POST_SOFTMAX_ZERO: return nnrti_onnx_softmax_zero(c, y);
    case NNRTI_ONNX_POST_PROBIT: return nnrti_onnx_probit(c, y);
    default: return y;
    }
}

/* Scores [N,2] of two classes, from that of the second, y [N,1], by ONNX Runtime: LOGISTIC transforms -y and y, other
   transforms leave whole - y and y. */
static uint32_t nnrti_onnx_two_scores(nnrti_onnx *c, uint32_t y, nnrti_onnx_post post, double whole)
{
    const bool logistic = post == NNRTI_ONNX_POST_LOGISTIC;
    const uint32_t two = nnrti_onnx_pair_of(c, nnrti_onnx_affine(c, y, -1, logistic ? 0 : whole), y);
    if (post == NNRTI_ONNX_POST_PROBIT)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "post_transform PROBIT requires a score for each of the two classes");
    return logistic ? nnrti_onnx_transformed(c, two, post) : two;
}

/* Tree ensembles: the traversal of all trees, a level at a time, is data parallel. Each tree node is a row of three
   tables, (feature, split, child): from row i a value x goes to row child + (x <= split). A leaf has the split NaN, so
   that it stays: child is its own row. The state is the rows reached, [N,T] for N inputs and T trees; a level is
       xv = GATHER_ELEMENTS(x, GATHER(feature, i))
       i  = GATHER(child, i) + (xv <= GATHER(split, i))
   The number of operators grows with the depth only, and all devices and emit-c run them. (TreeTraversal of the
   compiler Hummingbird.) An operator of its own would stop at each leaf, but would have to be registered by each
   program that loads the .nnrt file.
   All branch modes become <=: x < v is x <= the next number below v, > and >= swap the children, == and != are two
   rows, and membership in a set is two rows for each member, the largest first. A NaN that goes to the row after child needs a fourth table of booleans. */
typedef enum nnrti_onnx_branch {
    NNRTI_ONNX_BRANCH_LEQ,
    NNRTI_ONNX_BRANCH_LT,
    NNRTI_ONNX_BRANCH_GTE,
    NNRTI_ONNX_BRANCH_GT,
    NNRTI_ONNX_BRANCH_EQ,
    NNRTI_ONNX_BRANCH_NEQ,
    NNRTI_ONNX_BRANCH_LEAF,
    NNRTI_ONNX_BRANCH_MEMBER /* 6 in TreeEnsemble */
} nnrti_onnx_branch;

/* More levels become too many operators. */
#define NNRTI_ONNX_TREE_LEVELS 256

/* The ensemble of a file. Nodes are its nodes in the file's order; a reference to a node is its number, to leaf l ~l. */
typedef struct nnrti_onnx_trees {
    size_t nodes, trees, leaves, entries;
    uint8_t *mode;
    const int64_t *feature;
    const int64_t *tracks; /* 1: NaN goes to yes; NULL: all 0 */
    nnrti_onnx_reals split;
    double *members; /* of the sets of BRANCH_MEMBER, in descending order; NULL: there are none */
    uint32_t *set;   /* by node: index of its first member; the set ends at that of the next node */
    int32_t *yes, *no, *root;
    const int64_t *treeIds, *nodeIds; /* of nodes, for messages; NULL: their numbers */
    /* weights: entry e adds weight[e] to target[e]; the entries of leaf l are order[from[l] .. from[l+1]-1] */
    const int64_t *target;
    nnrti_onnx_reals weight;
    uint32_t *from, *order;
    size_t targets;
    /* tables of the traversal, with `rows` entries each */
    size_t rows;
    NNRT_DataType type; /* of splits and weights: float32 or float64 */
    int32_t *features, *child;
    void *splits;
    bool *nan, anyNan;
    int32_t *leaf; /* the leaf of a row, -1 for others */
    uint32_t *tree;
    uint32_t levels;
} nnrti_onnx_trees;

/* Reports a fault of node n of the ensemble. */
static void nnrti_onnx_tree_fault(nnrti_onnx *c, const nnrti_onnx_trees *t, size_t n, const char *what, int64_t found,
                                  const char *expected)
{
    if (t->nodeIds != NULL)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "node %l of tree %l: %s %l, expected %s", t->nodeIds[n], t->treeIds[n],
                        what, found, expected);
    else
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "tree node %z: %s %l, expected %s", n, what, found, expected);
}

/* The greatest number of float32 (or float64, if wide) that is at most v, or less than v if `strict`; NaN if there is
   none. */
static double nnrti_onnx_tree_split(double v, bool strict, bool wide)
{
    const double most = 3.4028234663852886e38;
    float f = v > most && v < HUGE_VAL ? (float)most : v < -most ? (float)-most : (float)v;
    double found = wide ? v : (double)f;
    uint64_t bits = 0x7FF8000000000000u; /* NaN */
    uint32_t half;
    if (v > -HUGE_VAL ? !(strict ? found >= v : found > v) : !strict)
        return v > -HUGE_VAL ? found : v;
    if (v > -HUGE_VAL && !wide) {
        memcpy(&half, &f, sizeof(half));
        half = f == 0 ? 0x80000001u : f > 0 ? half - 1 : half + 1;
        memcpy(&f, &half, sizeof(f));
        return (double)f;
    }
    if (v > -HUGE_VAL) {
        memcpy(&bits, &found, sizeof(bits));
        bits = found == 0 ? 0x8000000000000001u : found > 0 ? bits - 1 : bits + 1;
    }
    memcpy(&found, &bits, sizeof(found));
    return found;
}

/* order[0..count) sorted by tree, then node (heap sort: the order of the file may be chosen to be slow). */
static bool nnrti_onnx_tree_before(const nnrti_onnx_trees *t, uint32_t a, uint32_t b)
{
    return t->treeIds[a] != t->treeIds[b] ? t->treeIds[a] < t->treeIds[b] : t->nodeIds[a] < t->nodeIds[b];
}

static void nnrti_onnx_tree_sort(const nnrti_onnx_trees *t, uint32_t *order, size_t count)
{
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        sorted = sorted && (i == 0 || !nnrti_onnx_tree_before(t, order[i], order[i - 1]));
    }
    for (size_t begin = count / 2, left = count; !sorted && left > 1;) {
        uint32_t moved;
        size_t at;
        if (begin > 0) {
            at = --begin;
            moved = order[at];
        } else {
            moved = order[--left];
            order[left] = order[0];
            at = 0;
        }
        while (2 * at + 1 < left) {
            size_t next = 2 * at + 1;
            if (next + 1 < left && nnrti_onnx_tree_before(t, order[next], order[next + 1]))
                next++;
            if (!nnrti_onnx_tree_before(t, moved, order[next]))
                break;
            order[at] = order[next];
            at = next;
        }
        order[at] = moved;
    }
}

/* The number of the node with these ids, nodes if there is none. */
static size_t nnrti_onnx_tree_find(const nnrti_onnx_trees *t, const uint32_t *order, int64_t tree, int64_t node)
{
    size_t low = 0, high = t->nodes;
    while (low < high) {
        const size_t middle = low + (high - low) / 2, n = order[middle];
        if (t->treeIds[n] == tree && t->nodeIds[n] == node)
            return n;
        if (t->treeIds[n] < tree || (t->treeIds[n] == tree && t->nodeIds[n] < node))
            low = middle + 1;
        else
            high = middle;
    }
    return t->nodes;
}

/* Groups the entries by leaf: of[e] is the leaf of entry e, or SIZE_MAX for one that is ignored. */
static void nnrti_onnx_tree_group(nnrti_onnx *c, nnrti_onnx_trees *t, const size_t *of)
{
    t->from = (uint32_t *)nnrti_onnx_keep(c, t->leaves + 2, sizeof(*t->from));
    t->order = (uint32_t *)nnrti_onnx_keep(c, t->entries + 1, sizeof(*t->order));
    if (t->from == NULL || t->order == NULL)
        return;
    for (size_t e = 0; e < t->entries; e++)
        if (of[e] != SIZE_MAX)
            t->from[of[e] + 2]++;
    for (size_t l = 2; l < t->leaves + 2; l++)
        t->from[l] += t->from[l - 1];
    for (size_t e = 0; e < t->entries; e++)
        if (of[e] != SIZE_MAX)
            t->order[t->from[of[e] + 1]++] = (uint32_t)e;
}

/* Checks targets and the number of weights. */
static void nnrti_onnx_tree_targets(nnrti_onnx *c, const nnrti_onnx_trees *t, const char *name)
{
    for (size_t e = 0; e < t->entries && c->code == NNRT_SUCCESS; e++)
        if (t->target[e] < 0 || (uint64_t)t->target[e] >= t->targets)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "attribute '%s': entry %z is %l, expected 0 to %l", name, e,
                            t->target[e], (int64_t)t->targets - 1);
}

/* Memory for the references of t->nodes nodes and `trees` roots. */
static bool nnrti_onnx_tree_memory(nnrti_onnx *c, nnrti_onnx_trees *t, size_t trees)
{
    if (c->code == NNRT_SUCCESS && (t->nodes == 0 || t->nodes > INT32_MAX / 8 || t->entries > INT32_MAX / 8))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "has %z tree nodes and %z weights, expected 1 to %d", t->nodes,
                        t->entries, INT32_MAX / 8);
    t->mode = (uint8_t *)nnrti_onnx_keep(c, t->nodes, 1);
    t->yes = (int32_t *)nnrti_onnx_keep(c, t->nodes, sizeof(*t->yes));
    t->no = (int32_t *)nnrti_onnx_keep(c, t->nodes, sizeof(*t->no));
    t->root = (int32_t *)nnrti_onnx_keep(c, trees, sizeof(*t->root));
    return c->code == NNRT_SUCCESS;
}

/* Reference of a node of TreeEnsembleClassifier and -Regressor. */
static int32_t nnrti_onnx_tree_reference(const nnrti_onnx_trees *t, size_t n)
{
    return t->mode[n] == NNRTI_ONNX_BRANCH_LEAF ? ~(int32_t)n : (int32_t)n;
}

/* The mode of node n, by name. */
static uint8_t nnrti_onnx_tree_mode(nnrti_onnx *c, const nnrti_onnx_trees *t, size_t n, nnrt_onnx_str name)
{
    static const char *const names[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", "LEAF"};
    char text[64];
    uint8_t k = 0;
    while (k < 7 && !nnrti_onnx_is(name, names[k]))
        k++;
    if (k == 7)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "node %l of tree %l: the mode is '%s', expected LEAF or BRANCH_ with LEQ, LT, GTE, GT, EQ, NEQ",
                        t->nodeIds[n], t->treeIds[n], nnrti_onnx_text(text, name));
    return k;
}

/* Lists the roots: the first node in the file of each tree. order: sorted; equal ids are a fault. */
static void nnrti_onnx_tree_roots(nnrti_onnx *c, nnrti_onnx_trees *t, const uint32_t *order)
{
    for (size_t i = 0; i < t->nodes; i++) {
        const size_t n = order[i];
        const bool first = i == 0 || t->treeIds[order[i - 1]] != t->treeIds[n];
        if (!first && t->nodeIds[order[i - 1]] == t->nodeIds[n]) {
            nnrti_onnx_tree_fault(c, t, n, "is listed twice, with id", t->nodeIds[n], "unique ids in each tree");
            return;
        }
        if (first)
            t->root[t->trees++] = (int32_t)n;
        else if (n < (size_t)t->root[t->trees - 1])
            t->root[t->trees - 1] = (int32_t)n;
    }
    for (size_t i = 0; i < t->trees; i++)
        t->root[i] = nnrti_onnx_tree_reference(t, (size_t)t->root[i]);
}

/* Reads the attributes of TreeEnsembleClassifier (prefix "class") and -Regressor ("target"): nodes and leaves have ids
   that are unique in a tree; the root of a tree is its first node in the file. */
static void nnrti_onnx_tree_read(nnrti_onnx *c, nnrti_onnx_trees *t, bool classes)
{
    static const char *const names[2][5] = {
        {"target_treeids", "target_nodeids", "target_ids", "target_weights", "target_weights_as_tensor"},
        {"class_treeids", "class_nodeids", "class_ids", "class_weights", "class_weights_as_tensor"}};
    const char *const *of = names[classes ? 1 : 0], *each = "one for each of nodes_nodeids";
    const nnrt_onnx_ints trees = nnrti_onnx_ints_of(c, "nodes_treeids"), ids = nnrti_onnx_ints_of(c, "nodes_nodeids");
    const nnrt_onnx_ints features = nnrti_onnx_ints_of(c, "nodes_featureids");
    const nnrt_onnx_ints yes = nnrti_onnx_ints_of(c, "nodes_truenodeids"),
                         no = nnrti_onnx_ints_of(c, "nodes_falsenodeids");
    const nnrt_onnx_ints tracks = nnrti_onnx_ints_of(c, "nodes_missing_value_tracks_true");
    const nnrt_onnx_ints weightTrees = nnrti_onnx_ints_of(c, of[0]), weightNodes = nnrti_onnx_ints_of(c, of[1]);
    const nnrt_onnx_ints targets = nnrti_onnx_ints_of(c, of[2]);
    const nnrt_onnx_attribute *modes = nnrti_onnx_attr(c, "nodes_modes", NNRT_ONNX_ATTRIBUTE_STRINGS);
    uint32_t *order;
    size_t *leaf;
    t->nodes = t->leaves = ids.count;
    t->nodeIds = ids.data;
    t->treeIds = trees.data;
    t->feature = features.data;
    t->tracks = tracks.count > 0 ? tracks.data : NULL;
    t->split = nnrti_onnx_reals_of(c, "nodes_values", "nodes_values_as_tensor");
    t->weight = nnrti_onnx_reals_of(c, of[3], of[4]);
    t->target = targets.data;
    t->entries = targets.count;
    nnrti_onnx_counted(c, "nodes_treeids", trees.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_featureids", features.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_truenodeids", yes.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_falsenodeids", no.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_modes", modes != NULL ? modes->strings.count : 0, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_values", t->split.count, t->nodes, each);
    if (t->tracks != NULL)
        nnrti_onnx_counted(c, "nodes_missing_value_tracks_true", tracks.count, t->nodes, each);
    nnrti_onnx_counted(c, of[0], weightTrees.count, t->entries, of[2]);
    nnrti_onnx_counted(c, of[1], weightNodes.count, t->entries, of[2]);
    nnrti_onnx_counted(c, of[3], t->weight.count, t->entries, of[2]);
    nnrti_onnx_tree_targets(c, t, of[2]);
    order = (uint32_t *)nnrti_onnx_keep(c, t->nodes, sizeof(*order));
    leaf = (size_t *)nnrti_onnx_keep(c, t->entries + 1, sizeof(*leaf));
    if (!nnrti_onnx_tree_memory(c, t, t->nodes))
        return;
    for (size_t n = 0; n < t->nodes && c->code == NNRT_SUCCESS; n++)
        t->mode[n] = nnrti_onnx_tree_mode(c, t, n, modes->strings.data[n]);
    nnrti_onnx_tree_sort(t, order, t->nodes);
    nnrti_onnx_tree_roots(c, t, order);
    for (size_t n = 0; n < t->nodes && c->code == NNRT_SUCCESS; n++) {
        size_t a, b;
        if (t->mode[n] == NNRTI_ONNX_BRANCH_LEAF)
            continue;
        a = nnrti_onnx_tree_find(t, order, t->treeIds[n], yes.data[n]);
        b = nnrti_onnx_tree_find(t, order, t->treeIds[n], no.data[n]);
        if (a == t->nodes || b == t->nodes) {
            nnrti_onnx_tree_fault(c, t, n, a == t->nodes ? "nodes_truenodeids is" : "nodes_falsenodeids is",
                                  a == t->nodes ? yes.data[n] : no.data[n], "the id of a node of this tree");
            return;
        }
        t->yes[n] = nnrti_onnx_tree_reference(t, a);
        t->no[n] = nnrti_onnx_tree_reference(t, b);
    }
    for (size_t e = 0; e < t->entries && c->code == NNRT_SUCCESS; e++) {
        const size_t n = nnrti_onnx_tree_find(t, order, weightTrees.data[e], weightNodes.data[e]);
        if (n == t->nodes)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL,
                            "'%s' and '%s': entry %z is node %l of tree %l, which does not exist", of[1], of[0], e,
                            weightNodes.data[e], weightTrees.data[e]);
        else
            leaf[e] = t->mode[n] == NNRTI_ONNX_BRANCH_LEAF ? n : SIZE_MAX; /* inner nodes give nothing */
    }
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_tree_group(c, t, leaf);
}

/* Child `to` of node n of TreeEnsemble: a leaf if isLeaf, else a node. */
static int32_t nnrti_onnx_tree_child(nnrti_onnx *c, const nnrti_onnx_trees *t, size_t n, int64_t to, int64_t isLeaf)
{
    if (isLeaf != 0 && isLeaf != 1)
        nnrti_onnx_tree_fault(c, t, n, "the flag of a leaf is", isLeaf, "0 or 1");
    else if (to < 0 || (uint64_t)to >= (isLeaf != 0 ? t->leaves : t->nodes))
        nnrti_onnx_tree_fault(c, t, n, isLeaf != 0 ? "a child is leaf" : "a child is node", to,
                              isLeaf != 0 ? "an index of leaf_weights" : "an index of nodes_splits");
    else
        return isLeaf != 0 ? ~(int32_t)to : (int32_t)to;
    return 0;
}

/* Reads the sets of BRANCH_MEMBER: membership_values has one for each such node, each behind the last NaN. */
static void nnrti_onnx_tree_sets(nnrti_onnx *c, nnrti_onnx_trees *t)
{
    const nnrti_onnx_reals values = nnrti_onnx_reals_of(c, NULL, "membership_values");
    size_t at = 0;
    uint32_t count = 0;
    t->members = (double *)nnrti_onnx_keep(c, values.count + 1, sizeof(*t->members));
    t->set = (uint32_t *)nnrti_onnx_keep(c, t->nodes + 1, sizeof(*t->set));
    for (size_t n = 0; n < t->nodes && c->code == NNRT_SUCCESS; n++) {
        const uint32_t begin = t->set[n] = count;
        for (double v; t->mode[n] == NNRTI_ONNX_BRANCH_MEMBER && at < values.count; at++) {
            uint32_t to = count;
            v = nnrti_onnx_reals_at(&values, at);
            if (v != v || count - begin == NNRTI_ONNX_TREE_LEVELS / 2)
                break;
            for (; to > begin && t->members[to - 1] < v; to--)
                t->members[to] = t->members[to - 1];
            t->members[to] = v;
            count++;
        }
        t->set[n + 1] = count;
        if (t->mode[n] != NNRTI_ONNX_BRANCH_MEMBER)
            continue;
        if (count == begin || (at < values.count && nnrti_onnx_reals_at(&values, at) == nnrti_onnx_reals_at(&values, at)))
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "tree node %z: its set in membership_values has %s, expected 1 to %d", n,
                            count == begin ? "no members" : "more members", NNRTI_ONNX_TREE_LEVELS / 2);
        at++;
    }
    if (c->code == NNRT_SUCCESS && at < values.count)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute 'membership_values' has more sets than nodes_modes has 6");
}

/* Reads the attributes of TreeEnsemble: references are positions; a leaf has one weight. */
static void nnrti_onnx_tree_read_5(nnrti_onnx *c, nnrti_onnx_trees *t)
{
    const char *each = "one for each of nodes_splits";
    const nnrt_onnx_ints features = nnrti_onnx_ints_of(c, "nodes_featureids"),
                         roots = nnrti_onnx_ints_of(c, "tree_roots");
    const nnrt_onnx_ints yes = nnrti_onnx_ints_of(c, "nodes_truenodeids"),
                         no = nnrti_onnx_ints_of(c, "nodes_falsenodeids");
    const nnrt_onnx_ints yesLeaf = nnrti_onnx_ints_of(c, "nodes_trueleafs"),
                         noLeaf = nnrti_onnx_ints_of(c, "nodes_falseleafs");
    const nnrt_onnx_ints tracks = nnrti_onnx_ints_of(c, "nodes_missing_value_tracks_true");
    const nnrt_onnx_ints targets = nnrti_onnx_ints_of(c, "leaf_targetids");
    const nnrti_onnx_reals modes = nnrti_onnx_reals_of(c, NULL, "nodes_modes");
    size_t *leaf;
    t->split = nnrti_onnx_reals_of(c, NULL, "nodes_splits");
    t->weight = nnrti_onnx_reals_of(c, NULL, "leaf_weights");
    t->nodes = t->split.count;
    t->leaves = t->entries = targets.count;
    t->trees = roots.count;
    t->feature = features.data;
    t->tracks = tracks.count > 0 ? tracks.data : NULL;
    t->target = targets.data;
    nnrti_onnx_counted(c, "nodes_featureids", features.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_truenodeids", yes.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_falsenodeids", no.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_trueleafs", yesLeaf.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_falseleafs", noLeaf.count, t->nodes, each);
    nnrti_onnx_counted(c, "nodes_modes", modes.count, t->nodes, each);
    if (t->tracks != NULL)
        nnrti_onnx_counted(c, "nodes_missing_value_tracks_true", tracks.count, t->nodes, each);
    nnrti_onnx_counted(c, "leaf_weights", t->weight.count, t->entries, "one for each of leaf_targetids");
    nnrti_onnx_tree_targets(c, t, "leaf_targetids");
    if (c->code == NNRT_SUCCESS && t->trees == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute 'tree_roots' has no entries, expected 1 or more");
    leaf = (size_t *)nnrti_onnx_keep(c, t->entries + 1, sizeof(*leaf));
    if (!nnrti_onnx_tree_memory(c, t, t->trees))
        return;
    for (size_t i = 0; i < t->trees && c->code == NNRT_SUCCESS; i++) {
        if (roots.data[i] < 0 || (uint64_t)roots.data[i] >= t->nodes)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "attribute 'tree_roots': entry %z is %l, expected 0 to %l", i,
                            roots.data[i], (int64_t)t->nodes - 1);
        else
            t->root[i] = (int32_t)roots.data[i];
    }
    for (size_t n = 0; n < t->nodes && c->code == NNRT_SUCCESS; n++) {
        const double mode = nnrti_onnx_reals_at(&modes, n);
        if (!(mode >= 0 && mode <= 6)) {
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "tree node %z: nodes_modes is %f, expected 0 to 6", n, mode);
            return;
        }
        t->mode[n] = mode >= 6 ? (uint8_t)NNRTI_ONNX_BRANCH_MEMBER : (uint8_t)mode;
        t->yes[n] = nnrti_onnx_tree_child(c, t, n, yes.data[n], yesLeaf.data[n]);
        t->no[n] = nnrti_onnx_tree_child(c, t, n, no.data[n], noLeaf.data[n]);
    }
    nnrti_onnx_tree_sets(c, t);
    for (size_t e = 0; e < t->entries && c->code == NNRT_SUCCESS; e++)
        leaf[e] = e;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_tree_group(c, t, leaf);
}

/* A row while the tables are built: reference of its node; step 2k and 2k+1: the rows of member k of the node's set
   (== and != have a set of one); no, yes: the first rows for a value outside and inside of the set; copy: the row whose
   entries it has, -1: none. */
typedef struct nnrti_onnx_tree_row {
    int32_t reference, copy, no, yes;
    uint32_t depth, step;
} nnrti_onnx_tree_row;

/* Appends two children of row r; returns the first. `further` levels are reserved below. */
static size_t nnrti_onnx_tree_children(nnrti_onnx_trees *t, nnrti_onnx_tree_row *rows, size_t r, int32_t first,
                                       int32_t second, uint32_t further)
{
    const size_t at = t->rows;
    memset(&rows[at], 0, 2 * sizeof(*rows));
    for (size_t k = at; k < at + 2; k++) {
        rows[k].copy = -1;
        rows[k].depth = rows[r].depth + 1 + (k == at ? further : 0);
        t->tree[k] = t->tree[r];
    }
    rows[at].reference = first;
    rows[at + 1].reference = second;
    t->rows += 2;
    t->child[r] = (int32_t)at;
    return at;
}

/* Appends the children of row r of ==, != or a set: x > member: outside; else the second row of the member: x >= member:
   inside; else the next, smaller member, or outside. The second and further rows of one outcome are copies of the first,
   above which `further` levels are reserved for the deepest copy. */
static void nnrti_onnx_tree_test(nnrti_onnx_trees *t, nnrti_onnx_tree_row *rows, size_t r, uint32_t members)
{
    const size_t n = (size_t)rows[r].reference;
    const nnrti_onnx_tree_row row = rows[r];
    const bool odd = row.step % 2 == 1, last = row.step == 2 * members - 1, first = row.step < 2;
    const int32_t no = t->mode[n] == NNRTI_ONNX_BRANCH_NEQ ? t->yes[n] : t->no[n];
    const int32_t yes = t->mode[n] == NNRTI_ONNX_BRANCH_NEQ ? t->no[n] : t->yes[n];
    const size_t at = nnrti_onnx_tree_children(t, rows, r, odd ? yes : no, last ? no : row.reference,
                                               first ? 2 * members - 1 - row.step : 0);
    rows[at].copy = first ? -1 : odd ? row.yes : row.no;
    rows[at + 1].copy = last ? row.no : -1;
    rows[at + 1].step = last ? 0 : row.step + 1;
    rows[at + 1].no = row.step == 0 ? (int32_t)at : row.no;
    rows[at + 1].yes = row.step == 1 ? (int32_t)at : row.yes;
}

/* Fills row r of the tables from inner node n and appends its children. A node that is its own descendant, or the
   child of two, is a fault. */
static void nnrti_onnx_tree_expand(nnrti_onnx *c, nnrti_onnx_trees *t, nnrti_onnx_tree_row *rows, size_t r,
                                   uint8_t *seen)
{
    const size_t n = (size_t)rows[r].reference;
    const uint32_t step = rows[r].step;
    const uint8_t mode = t->mode[n];
    const bool wide = t->type == NNRT_DATA_TYPE_FLOAT64, set = mode == NNRTI_ONNX_BRANCH_MEMBER;
    const bool below = mode == NNRTI_ONNX_BRANCH_LT || mode == NNRTI_ONNX_BRANCH_GTE || step % 2 == 1;
    const bool swap = mode == NNRTI_ONNX_BRANCH_GTE || mode == NNRTI_ONNX_BRANCH_GT;
    const bool tracks = t->tracks != NULL && t->tracks[n] == 1;
    const double value = set ? t->members[t->set[n] + step / 2] : nnrti_onnx_reals_at(&t->split, n);
    const double split = nnrti_onnx_tree_split(value, below, wide);
    if (step == 0 && seen[n]++ != 0) {
        nnrti_onnx_tree_fault(c, t, n, "two paths lead to it, at level", rows[r].depth, "a tree without cycles");
        return;
    }
    t->features[r] = (int32_t)t->feature[n];
    nnrti_store_f64(t->splits, (ptrdiff_t)r, split, t->type);
    if (mode < NNRTI_ONNX_BRANCH_EQ) {
        t->nan[r] = swap != tracks;
        (void)nnrti_onnx_tree_children(t, rows, r, swap ? t->yes[n] : t->no[n], swap ? t->no[n] : t->yes[n], 0);
    } else { /* != has NaN on its yes, which is outside */
        t->nan[r] = step == 0 && tracks && mode != NNRTI_ONNX_BRANCH_NEQ;
        nnrti_onnx_tree_test(t, rows, r, set ? t->set[n + 1] - t->set[n] : 1);
    }
    t->anyNan = t->anyNan || t->nan[r];
}

/* Checks the features of inner nodes against the width of the rows of x. */
static void nnrti_onnx_tree_features(nnrti_onnx *c, const nnrti_onnx_trees *t, uint32_t x)
{
    const int32_t width = nnrti_onnx_dim(c, x, 1);
    for (size_t n = 0; n < t->nodes && c->code == NNRT_SUCCESS; n++)
        if (t->mode[n] != NNRTI_ONNX_BRANCH_LEAF &&
            (t->feature[n] < 0 || t->feature[n] > INT32_MAX || (width >= 0 && t->feature[n] >= width))) {
            char text[64];
            (void)nnrt_text(text, sizeof(text), width >= 0 ? "0 to %d, as rows have %d features" : "0 or more",
                            width - 1, width);
            nnrti_onnx_tree_fault(c, t, n, "nodes_featureids is", t->feature[n], text);
        }
}

/* Builds the tables: rows 0 to T-1 are the roots, children follow their parents. */
static void nnrti_onnx_tree_tables(nnrti_onnx *c, nnrti_onnx_trees *t, uint32_t x)
{
    size_t most = t->trees;
    nnrti_onnx_tree_row *rows;
    uint8_t *seen;
    t->type = nnrti_onnx_type(c, x);
    nnrti_onnx_tree_features(c, t, x);
    if (c->code != NNRT_SUCCESS)
        return;
    for (size_t n = 0; n < t->nodes; n++)
        most += t->mode[n] == NNRTI_ONNX_BRANCH_LEAF     ? 0
                : t->mode[n] == NNRTI_ONNX_BRANCH_MEMBER ? (size_t)4 * (t->set[n + 1] - t->set[n])
                                                         : (t->mode[n] >= NNRTI_ONNX_BRANCH_EQ ? 4u : 2u);
    rows = (nnrti_onnx_tree_row *)nnrti_onnx_keep(c, most, sizeof(*rows));
    seen = (uint8_t *)nnrti_onnx_keep(c, t->nodes, 1);
    t->features = (int32_t *)nnrti_onnx_keep(c, most, sizeof(*t->features));
    t->child = (int32_t *)nnrti_onnx_keep(c, most, sizeof(*t->child));
    t->leaf = (int32_t *)nnrti_onnx_keep(c, most, sizeof(*t->leaf));
    t->tree = (uint32_t *)nnrti_onnx_keep(c, most, sizeof(*t->tree));
    t->nan = (bool *)nnrti_onnx_keep(c, most, sizeof(*t->nan));
    t->splits = nnrti_onnx_keep(c, most, nnrt_type_size(t->type));
    if (c->code != NNRT_SUCCESS)
        return;
    for (size_t i = 0; i < t->trees; i++) {
        rows[i].reference = t->root[i];
        rows[i].copy = -1;
        t->tree[i] = (uint32_t)i;
    }
    t->rows = t->trees;
    for (size_t r = 0; r < t->rows && c->code == NNRT_SUCCESS; r++) {
        const int32_t copy = rows[r].copy;
        const size_t size = nnrt_type_size(t->type);
        const double never = nnrti_onnx_tree_split(-HUGE_VAL, true, true);
        t->leaf[r] = -1;
        t->levels = rows[r].depth > t->levels ? rows[r].depth : t->levels;
        if (rows[r].reference < 0) {
            t->leaf[r] = ~rows[r].reference;
            t->child[r] = (int32_t)r;
            nnrti_store_f64(t->splits, (ptrdiff_t)r, never, t->type);
        } else if (copy >= 0) {
            t->features[r] = t->features[copy];
            t->child[r] = t->child[copy];
            t->nan[r] = t->nan[copy];
            memcpy((uint8_t *)t->splits + r * size, (uint8_t *)t->splits + (size_t)copy * size, size);
        } else {
            nnrti_onnx_tree_expand(c, t, rows, r, seen);
        }
    }
    t->levels = t->levels == 0 ? 1 : t->levels; /* the first level makes the state of N rows */
    if (c->code == NNRT_SUCCESS && t->levels > NNRTI_ONNX_TREE_LEVELS)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "the deepest tree has %u levels (==, != and each member of a set count twice), at most %d are supported: train with "
                        "a smaller max_depth",
                        t->levels, NNRTI_ONNX_TREE_LEVELS);
}

/* One level: the next rows, for values xv of the features of rows whose table entries are split, child and nan. */
static uint32_t nnrti_onnx_tree_next(nnrti_onnx *c, uint32_t xv, uint32_t split, uint32_t child, uint32_t nan)
{
    uint32_t yes = nnrti_onnx_less_equal(c, xv, split);
    if (nan != NNRT_NO_TENSOR)
        yes = nnrti_onnx_step2(c, NNRT_NODE_TYPE_LOGICAL_OR, NULL, yes,
                               nnrti_onnx_step2(c, NNRT_NODE_TYPE_LOGICAL_AND, NULL, nan,
                                                nnrti_onnx_step1(c, NNRT_NODE_TYPE_IS_NAN, NULL, xv)));
    return nnrti_onnx_add(c, nnrti_onnx_cast(c, yes, NNRT_DATA_TYPE_INT32), child);
}

/* The rows of leaves that x [N,F] reaches, int32 [N,T]. */
static uint32_t nnrti_onnx_tree_walk(nnrti_onnx *c, const nnrti_onnx_trees *t, uint32_t x)
{
    const NNRT_DataType types[4] = {NNRT_DATA_TYPE_INT32, t->type, NNRT_DATA_TYPE_INT32, NNRT_DATA_TYPE_BOOL};
    const void *data[4];
    uint32_t root[4], table[4], at = NNRT_NO_TENSOR;
    NNRT_GatherElements along;
    data[0] = t->features;
    data[1] = t->splits;
    data[2] = t->child;
    data[3] = t->nan;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_GATHER_ELEMENTS, &along);
    along.axis = 1;
    for (uint32_t k = 0; k < 4; k++) {
        const bool present = k < 3 || t->anyNan;
        root[k] = present ? nnrti_onnx_table(c, types[k], data[k], 1, (int64_t)t->trees, 0) : NNRT_NO_TENSOR;
        table[k] =
            present && t->levels > 1 ? nnrti_onnx_table(c, types[k], data[k], 1, (int64_t)t->rows, 0) : NNRT_NO_TENSOR;
    }
    for (uint32_t level = 0; level < t->levels && c->code == NNRT_SUCCESS; level++) {
        uint32_t of[4], xv;
        for (uint32_t k = 0; k < 4; k++)
            of[k] = level == 0 || table[k] == NNRT_NO_TENSOR ? root[k] : nnrti_onnx_gather(c, table[k], at, 0);
        xv = level == 0 ? nnrti_onnx_gather(c, x, of[0], 1)
                        : nnrti_onnx_step2(c, NNRT_NODE_TYPE_GATHER_ELEMENTS, &along, x, of[0]);
        at = nnrti_onnx_tree_next(c, xv, of[1], of[2], of[3]);
    }
    return at;
}

/* How the weights of the leaves of an input are combined. */
typedef struct nnrti_onnx_tree_sum {
    NNRT_ReduceMode mode; /* SUM, MIN or MAX */
    double fill;          /* weight of a target that a leaf lacks */
    bool count;           /* each weight counts as 1 */
} nnrti_onnx_tree_sum;

/* Adds the weight of entry e to *at. */
static void nnrti_onnx_tree_add(const nnrti_onnx_trees *t, const nnrti_onnx_tree_sum *how, uint32_t e, uint8_t *at)
{
    double w = how->count ? 1 : nnrti_onnx_reals_at(&t->weight, e), old;
    old = nnrti_load_f64(at, 0, t->type);
    if (how->mode == NNRT_REDUCE_MODE_SUM)
        w = old + w;
    else if (how->mode == NNRT_REDUCE_MODE_MIN ? old < w : old > w)
        w = old;
    nnrti_store_f64(at, 0, w, t->type);
}

/* A table of entries filled with how->fill. */
static uint8_t *nnrti_onnx_tree_filled(nnrti_onnx *c, const nnrti_onnx_trees *t, const nnrti_onnx_tree_sum *how,
                                       size_t rows, size_t columns)
{
    const size_t size = nnrt_type_size(t->type);
    size_t n = 0;
    uint8_t *data;
    if (!nnrt_mul_size(rows, columns, &n))
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "%z leaves of %z targets exceed the address space", rows, columns);
    data = (uint8_t *)nnrti_onnx_keep(c, n, size);
    for (size_t i = 0; i < n && data != NULL && how->fill != 0; i++)
        nnrti_store_f64(data, (ptrdiff_t)i, how->fill, t->type);
    return data;
}

/* The target of each tree if all leaves of a tree have the same one and all targets the same number of trees: order[]
   lists the T trees so that their targets are 0, 1, .., 0, 1, ..; else false. */
static bool nnrti_onnx_tree_regular(nnrti_onnx *c, const nnrti_onnx_trees *t, int64_t *order, bool *sorted)
{
    int64_t *target = (int64_t *)nnrti_onnx_keep(c, t->trees, sizeof(*target));
    size_t *next = t->trees % t->targets == 0 ? (size_t *)nnrti_onnx_keep(c, t->targets, sizeof(*next)) : NULL;
    bool regular = target != NULL && next != NULL;
    for (size_t i = 0; i < t->trees && regular; i++)
        target[i] = -1;
    for (size_t r = 0; r < t->rows && regular; r++)
        for (uint32_t k = t->leaf[r] < 0 ? 0 : t->from[t->leaf[r]];
             t->leaf[r] >= 0 && k < t->from[t->leaf[r] + 1] && regular; k++) {
            int64_t *of = &target[t->tree[r]];
            regular = *of < 0 || *of == t->target[t->order[k]];
            *of = t->target[t->order[k]];
        }
    *sorted = true;
    for (size_t i = 0; i < t->trees && regular; i++) {
        const size_t k = target[i] >= 0 ? (size_t)target[i] : 0;
        const size_t to = k + t->targets * next[k]++;
        regular = to < t->trees;
        if (regular)
            order[to] = (int64_t)i;
        *sorted = *sorted && to == i;
    }
    return regular;
}

/* Combined weights, [N,targets], of the leaves `at` [N,T]. */
static uint32_t nnrti_onnx_tree_scores(nnrti_onnx *c, const nnrti_onnx_trees *t, uint32_t at,
                                       const nnrti_onnx_tree_sum *how)
{
    const int64_t C = (int64_t)t->targets, middle = 1, apart[3] = {-1, (int64_t)t->trees / C, C};
    const size_t size = nnrt_type_size(t->type);
    int64_t *order = (int64_t *)nnrti_onnx_keep(c, t->trees, sizeof(*order));
    bool sorted = true;
    const bool single = C == 1 || (order != NULL && nnrti_onnx_tree_regular(c, t, order, &sorted));
    size_t leaves = 0;
    int32_t *place;
    uint8_t *data;
    uint32_t y;
    for (size_t r = 0; r < t->rows; r++)
        leaves += t->leaf[r] >= 0 ? 1 : 0;
    place = (int32_t *)nnrti_onnx_keep(c, t->rows, sizeof(*place)); /* of leaf rows in the table of weights */
    data = nnrti_onnx_tree_filled(c, t, how, single ? t->rows : leaves, single ? 1 : t->targets);
    if (place == NULL || data == NULL)
        return NNRT_NO_TENSOR;
    leaves = 0;
    for (size_t r = 0; r < t->rows; r++) {
        const int32_t l = t->leaf[r];
        place[r] = l >= 0 ? (int32_t)leaves++ : 0;
        for (uint32_t k = l >= 0 ? t->from[l] : 0; l >= 0 && k < t->from[l + 1]; k++) {
            const uint32_t e = t->order[k];
            nnrti_onnx_tree_add(t, how, e,
                                data + (single ? r : (size_t)place[r] * t->targets + (size_t)t->target[e]) * size);
        }
    }
    if (!single) { /* [N,T,C], then over the trees */
        y = nnrti_onnx_gather(c, nnrti_onnx_table(c, NNRT_DATA_TYPE_INT32, place, 1, (int64_t)t->rows, 0), at, 0);
        y = nnrti_onnx_gather(c, nnrti_onnx_table(c, t->type, data, 2, (int64_t)leaves, C), y, 0);
        return nnrti_onnx_reduce(c, y, how->mode, &middle, 1, false);
    }
    y = nnrti_onnx_gather(c, nnrti_onnx_table(c, t->type, data, 1, (int64_t)t->rows, 0), at, 0);
    if (C == 1)
        return nnrti_onnx_reduce(c, y, how->mode, &middle, 1, true);
    if (!sorted)
        y = nnrti_onnx_gather(c, y, nnrti_onnx_table(c, NNRT_DATA_TYPE_INT64, order, 1, (int64_t)t->trees, 0), 1);
    return nnrti_onnx_reduce(c, nnrti_onnx_reshape(c, y, apart, 3), how->mode, &middle, 1, false);
}

/* True if a leaf that can be reached lacks a target. */
static bool nnrti_onnx_tree_gaps(nnrti_onnx *c, const nnrti_onnx_trees *t)
{
    uint32_t *last = (uint32_t *)nnrti_onnx_keep(c, t->targets, sizeof(*last));
    for (size_t r = 0; r < t->rows && last != NULL; r++) {
        const int32_t l = t->leaf[r];
        size_t found = 0;
        for (uint32_t k = l >= 0 ? t->from[l] : 0; l >= 0 && k < t->from[l + 1]; k++) {
            uint32_t *of = &last[t->target[t->order[k]]];
            found += *of != (uint32_t)r + 1 ? 1 : 0;
            *of = (uint32_t)r + 1;
        }
        if (l >= 0 && found < t->targets)
            return true;
    }
    return false;
}

/* y + base, base [targets]. */
static uint32_t nnrti_onnx_tree_base(nnrti_onnx *c, const nnrti_onnx_trees *t, uint32_t y, const nnrti_onnx_reals *base)
{
    uint8_t *data = base->count > 0 ? (uint8_t *)nnrti_onnx_keep(c, base->count, nnrt_type_size(t->type)) : NULL;
    for (size_t i = 0; i < base->count && data != NULL; i++) {
        const double v = nnrti_onnx_reals_at(base, i);
        nnrti_store_f64(data, (ptrdiff_t)i, v, t->type);
    }
    return data == NULL ? y : nnrti_onnx_add(c, y, nnrti_onnx_table(c, t->type, data, 1, (int64_t)base->count, 0));
}

/* Scores of a regressor: weights combined (0 AVERAGE, 1 SUM, 2 MIN, 3 MAX), plus base, transformed. With one target
   ONNX Runtime transforms by PROBIT only. */
static void nnrti_onnx_tree_regress(nnrti_onnx *c, nnrti_onnx_trees *t, uint32_t x, int64_t aggregate,
                                    const nnrti_onnx_reals *base, nnrti_onnx_post post, NNRT_DataType type)
{
    const bool extreme = aggregate > 1;
    nnrti_onnx_tree_sum how;
    uint32_t y;
    how.mode = aggregate == 2 ? NNRT_REDUCE_MODE_MIN : aggregate == 3 ? NNRT_REDUCE_MODE_MAX : NNRT_REDUCE_MODE_SUM;
    how.fill = aggregate == 2 ? HUGE_VAL : aggregate == 3 ? -HUGE_VAL : 0;
    how.count = false;
    if (base->count > 0)
        nnrti_onnx_counted(c, "base_values", base->count, t->targets, "one for each target");
    nnrti_onnx_tree_tables(c, t, x);
    if (c->code != NNRT_SUCCESS)
        return;
    y = nnrti_onnx_tree_scores(c, t, nnrti_onnx_tree_walk(c, t, x), &how);
    if (aggregate == 0)
        y = nnrti_onnx_div(c, y, nnrti_onnx_like(c, y, (double)t->trees));
    if (extreme && nnrti_onnx_tree_gaps(c, t)) /* a target without any weight */
        y = nnrti_onnx_where(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_EQUAL, NULL, y, nnrti_onnx_like(c, y, how.fill)),
                             nnrti_onnx_like(c, y, 0), y);
    y = nnrti_onnx_tree_base(c, t, y, base);
    if (post != NNRTI_ONNX_POST_NONE && (t->targets > 1 || post == NNRTI_ONNX_POST_PROBIT))
        y = nnrti_onnx_transformed(c, nnrti_onnx_cast(c, y, NNRT_DATA_TYPE_FLOAT32), post);
    nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, y, type));
}

/* The number of targets; a fault unless it is positive. */
static size_t nnrti_onnx_tree_count(nnrti_onnx *c)
{
    const int64_t n = nnrti_onnx_int(c, "n_targets", 0);
    if (n < 1 || n > INT32_MAX)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute 'n_targets' is %l, expected 1 to %d", n, INT32_MAX);
    return n < 1 ? 1 : (size_t)n;
}

static void nnrti_onnx_op_tree_regressor(nnrti_onnx *c, int32_t arg)
{
    static const uint8_t aggregates[4] = {1, 0, 2, 3};
    const int32_t aggregate = nnrti_onnx_choice(c, "aggregate_function", "SUM|AVERAGE|MIN|MAX");
    const uint32_t x = nnrti_onnx_features(c, true);
    nnrti_onnx_reals base;
    nnrti_onnx_trees t;
    (void)arg;
    memset(&t, 0, sizeof(t));
    t.targets = nnrti_onnx_tree_count(c);
    base = nnrti_onnx_reals_of(c, "base_values", "base_values_as_tensor");
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_tree_read(c, &t, false);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_tree_regress(c, &t, x, aggregates[aggregate], &base, nnrti_onnx_post_of(c), NNRT_DATA_TYPE_FLOAT32);
}

static void nnrti_onnx_op_tree_ensemble(nnrti_onnx *c, int32_t arg)
{
    const int64_t aggregate = nnrti_onnx_int(c, "aggregate_function", 1), post = nnrti_onnx_int(c, "post_transform", 0);
    const uint32_t x = nnrti_onnx_features(c, true);
    nnrti_onnx_reals base;
    nnrti_onnx_trees t;
    (void)arg;
    memset(&t, 0, sizeof(t));
    memset(&base, 0, sizeof(base));
    t.targets = nnrti_onnx_tree_count(c);
    if (aggregate < 0 || aggregate > 3 || post < 0 || post > NNRTI_ONNX_POST_PROBIT)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                        "aggregate_function is %l, expected 0 to 3; post_transform is %l, expected 0 to 4", aggregate,
                        post);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_tree_read_5(c, &t);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_tree_regress(c, &t, x, aggregate, &base, (nnrti_onnx_post)post,
                                nnrti_onnx_type(c, nnrti_onnx_in(c, 0)));
}

/* Scores [N,1] or [N,2] of two classes of which only class `only` has weights, by ONNX Runtime: weights of class 0
   score the second label, and the first gets the complement; with weights of class 1 the first score is 0. */
static void nnrti_onnx_tree_binary(nnrti_onnx *c, nnrti_onnx_trees *t, uint32_t at, nnrt_onnx_ints labels, int64_t only,
                                   const nnrti_onnx_reals *base, nnrti_onnx_post post)
{
    nnrti_onnx_tree_sum how;
    bool positive = true;
    uint32_t y;
    for (size_t e = 0; e < t->entries; e++)
        positive = positive && !(nnrti_onnx_reals_at(&t->weight, e) < 0);
    if (base->count > (only == 0 ? 1u : 0u))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "base_values has %z entries, expected %d for two classes with weights of class %l only: add "
                        "them to the leaves of one tree",
                        base->count, only == 0 ? 1 : 0, only);
    if (c->code != NNRT_SUCCESS)
        return;
    how.mode = NNRT_REDUCE_MODE_SUM;
    how.fill = 0;
    how.count = false;
    t->targets = 1;
    y = nnrti_onnx_tree_scores(c, t, at, &how);
    y = nnrti_onnx_cast(c, nnrti_onnx_tree_base(c, t, y, base), NNRT_DATA_TYPE_FLOAT32);
    nnrti_onnx_out_label(c, labels, nnrti_onnx_above(c, y, positive ? 0.5 : 0));
    if (only == 1)
        y = nnrti_onnx_transformed(c, nnrti_onnx_pair_of(c, nnrti_onnx_affine(c, y, 0, 0), y), post);
    else
        y = nnrti_onnx_two_scores(c, y, post, positive ? 1 : 0);
    nnrti_onnx_out(c, 1, y);
}

/* Outputs: the label of the largest score, and the scores. ONNX Runtime (1.30) labels two classes that both have
   weights 0 and 1, by the sign of the second score; this is the label of the larger score, as specified. */
static void nnrti_onnx_op_tree_classifier(nnrti_onnx *c, int32_t arg)
{
    const nnrt_onnx_ints labels = nnrti_onnx_labels(c, "classlabels_int64s", 2);
    const nnrti_onnx_post post = nnrti_onnx_post_of(c);
    const nnrti_onnx_reals base = nnrti_onnx_reals_of(c, "base_values", "base_values_as_tensor");
    const uint32_t x = nnrti_onnx_features(c, true);
    nnrti_onnx_tree_sum how;
    nnrti_onnx_trees t;
    bool both = false, negative = false;
    uint32_t at, y, judged;
    (void)arg;
    memset(&t, 0, sizeof(t));
    t.targets = labels.count;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_tree_read(c, &t, true);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_tree_tables(c, &t, x);
    if (c->code != NNRT_SUCCESS)
        return;
    for (size_t e = 0; e < t.entries; e++) {
        both = both || t.target[e] != t.target[0];
        negative = negative || nnrti_onnx_reals_at(&t.weight, e) < 0;
    }
    at = nnrti_onnx_tree_walk(c, &t, x);
    if (labels.count == 2 && t.entries > 0 && !both) {
        nnrti_onnx_tree_binary(c, &t, at, labels, t.target[0], &base, post);
        return;
    }
    if (labels.count == 2 && base.count > 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "base_values of two classes that both have weights, which ONNX Runtime does not add: add them "
                        "to the leaves of one tree");
    else if (base.count > 0)
        nnrti_onnx_counted(c, "base_values", base.count, labels.count, "one for each class");
    how.mode = NNRT_REDUCE_MODE_SUM;
    how.fill = 0;
    how.count = false;
    y = judged = nnrti_onnx_tree_base(c, &t, nnrti_onnx_tree_scores(c, &t, at, &how), &base);
    if (negative && base.count == 0 && nnrti_onnx_tree_gaps(c, &t)) { /* a class without weight has no score */
        uint32_t scored;
        how.count = true;
        scored = nnrti_onnx_tree_scores(c, &t, at, &how);
        judged =
            nnrti_onnx_where(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER, NULL, scored, nnrti_onnx_like(c, y, 0)), y,
                             nnrti_onnx_like(c, y, -HUGE_VAL));
    }
    nnrti_onnx_out_label(c, labels, nnrti_onnx_best(c, judged));
    nnrti_onnx_out(c, 1, nnrti_onnx_transformed(c, nnrti_onnx_cast(c, y, NNRT_DATA_TYPE_FLOAT32), post));
}

/* (x - offset) * scale, of one entry or one for each feature. */
static void nnrti_onnx_op_scaler(nnrti_onnx *c, int32_t arg)
{
    const nnrti_onnx_reals scale = nnrti_onnx_reals_of(c, "scale", NULL),
                           offset = nnrti_onnx_reals_of(c, "offset", NULL);
    const uint32_t given = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, given);
    const uint32_t x = nnrti_onnx_cast(c, given, NNRT_DATA_TYPE_FLOAT32);
    const int32_t width = nnrti_onnx_dim(c, x, rank - 1);
    uint32_t y;
    (void)arg;
    nnrti_onnx_counted(c, "offset", offset.count, scale.count, "one for each of scale");
    if (c->code == NNRT_SUCCESS &&
        (rank < 1 || scale.count < 1 || (scale.count > 1 && width >= 0 && (size_t)width != scale.count)))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                        "attribute 'scale' has %z entries, expected 1 or %d, one for each feature", scale.count, width);
    y = nnrti_onnx_sub(
        c, x,
        nnrti_onnx_table(c, NNRT_DATA_TYPE_FLOAT32, nnrti_onnx_floats_of(c, &offset), 1, (int64_t)offset.count, 0));
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_mul(c, y,
                                  nnrti_onnx_table(c, NNRT_DATA_TYPE_FLOAT32, nnrti_onnx_floats_of(c, &scale), 1,
                                                   (int64_t)scale.count, 0)));
}

/* Each row divided by its largest element, by the sum of magnitudes or by the Euclidean norm; a row whose divisor is 0
   stays. */
static void nnrti_onnx_op_normalizer(nnrti_onnx *c, int32_t arg)
{
    static const NNRT_ReduceMode modes[3] = {NNRT_REDUCE_MODE_MAX, NNRT_REDUCE_MODE_ASUM, NNRT_REDUCE_MODE_L2};
    const int32_t norm = nnrti_onnx_choice(c, "norm", "MAX|L1|L2");
    const uint32_t given = nnrti_onnx_in(c, 0);
    const int64_t axis = nnrti_onnx_rank(c, given) - 1;
    const uint32_t x = nnrti_onnx_cast(c, given, NNRT_DATA_TYPE_FLOAT32);
    uint32_t n;
    (void)arg;
    if (c->code == NNRT_SUCCESS && axis != 0 && axis != 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input 0 has %l axes, expected 1 or 2", axis + 1);
    n = nnrti_onnx_reduce(c, x, modes[norm], &axis, 1, true);
    n = nnrti_onnx_where(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_EQUAL, NULL, n, nnrti_onnx_like(c, n, 0)),
                         nnrti_onnx_like(c, n, 1), n);
    nnrti_onnx_out(c, 0, nnrti_onnx_div(c, x, n));
}

/* 1 where x exceeds the threshold, else 0. */
static void nnrti_onnx_op_binarizer(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const float threshold = nnrti_onnx_float(c, "threshold", 0);
    (void)arg;
    if (c->code == NNRT_SUCCESS && !nnrti_onnx_is_a(c, x, NNRT_TYPES_OF(NNRT_DATA_TYPE_FLOAT32) | NNRT_TYPES_F64))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "input 0 is %t, expected float32 or float64", nnrti_onnx_type(c, x));
    nnrti_onnx_out(
        c, 0,
        nnrti_onnx_cast(c,
                        nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER, NULL, x, nnrti_onnx_like(c, x, (double)threshold)),
                        nnrti_onnx_type(c, x)));
}

/* The elements of the last axis of input 0 at the indices that input 1 lists; [F] becomes [1,n]. */
static void nnrti_onnx_op_array_features(nnrti_onnx *c, int32_t arg)
{
    static const int64_t row[2] = {1, -1}, flat = -1;
    const uint32_t x = nnrti_onnx_in(c, 0), indices = nnrti_onnx_reshape(c, nnrti_onnx_in(c, 1), &flat, 1);
    const int32_t rank = nnrti_onnx_rank(c, x);
    uint32_t y;
    (void)arg;
    if (c->code == NNRT_SUCCESS && rank < 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input 0 is a scalar, expected 1 or more axes");
    y = nnrti_onnx_gather(c, x, indices, rank - 1);
    nnrti_onnx_out(c, 0, rank == 1 ? nnrti_onnx_reshape(c, y, row, 2) : y);
}

/* The matrix of attribute `name`, of `rows` rows: its numbers are divided evenly. Returns the columns. */
static size_t nnrti_onnx_columns(nnrti_onnx *c, const char *name, const nnrti_onnx_reals *r, size_t rows)
{
    if (c->code == NNRT_SUCCESS && (r->count == 0 || rows == 0 || r->count % rows != 0))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' has %z entries, expected a multiple of %z rows",
                        name, r->count, rows);
    return c->code == NNRT_SUCCESS ? r->count / rows : 1;
}

/* Scores X*coefficients^T + intercepts, then the label of the largest; one score of two labels is that of the second. */
static void nnrti_onnx_op_linear_classifier(nnrti_onnx *c, int32_t arg)
{
    const nnrti_onnx_reals w = nnrti_onnx_reals_of(c, "coefficients", NULL),
                           b = nnrti_onnx_reals_of(c, "intercepts", NULL);
    const nnrt_onnx_ints labels = nnrti_onnx_labels(c, "classlabels_ints", 2);
    const size_t features = nnrti_onnx_columns(c, "coefficients", &w, b.count);
    const nnrti_onnx_post post = nnrti_onnx_post_of(c);
    const bool one = b.count == 1 && labels.count == 2;
    const uint32_t x = nnrti_onnx_features(c, false);
    uint32_t y;
    (void)arg;
    if (!one)
        nnrti_onnx_counted(c, "intercepts", b.count, labels.count, "one for each label");
    nnrti_onnx_check_width(c, x, features, "coefficients and intercepts");
    y = nnrti_onnx_linear(c, x, nnrti_onnx_floats_of(c, &w), b.count, features, nnrti_onnx_floats_of(c, &b));
    nnrti_onnx_out_label(c, labels, one ? nnrti_onnx_above(c, y, 0) : nnrti_onnx_best(c, y));
    nnrti_onnx_out(c, 1, one ? nnrti_onnx_two_scores(c, y, post, 1) : nnrti_onnx_transformed(c, y, post));
}

static void nnrti_onnx_op_linear_regressor(nnrti_onnx *c, int32_t arg)
{
    const nnrti_onnx_reals w = nnrti_onnx_reals_of(c, "coefficients", NULL),
                           b = nnrti_onnx_reals_of(c, "intercepts", NULL);
    const int64_t targets = nnrti_onnx_int(c, "targets", 1);
    const size_t outputs = targets > 0 && targets <= INT32_MAX ? (size_t)targets : 0;
    const size_t features = nnrti_onnx_columns(c, "coefficients", &w, outputs);
    const uint32_t x = nnrti_onnx_features(c, false);
    (void)arg;
    if (b.count > 0)
        nnrti_onnx_counted(c, "intercepts", b.count, outputs, "one for each target");
    nnrti_onnx_check_width(c, x, features, "coefficients and targets");
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_transformed(c,
                                          nnrti_onnx_linear(c, x, nnrti_onnx_floats_of(c, &w), outputs, features,
                                                            nnrti_onnx_floats_of(c, &b)),
                                          nnrti_onnx_post_of(c)));
}

/* Kernel of a support vector machine. */
typedef struct nnrti_onnx_svm {
    int32_t kernel; /* 0 LINEAR, 1 POLY, 2 RBF, 3 SIGMOID */
    float gamma, coef0, degree;
    nnrti_onnx_reals vectors, coefficients, rho;
    size_t count, features; /* of support vectors */
} nnrti_onnx_svm;

static void nnrti_onnx_svm_read(nnrti_onnx *c, nnrti_onnx_svm *s)
{
    const nnrti_onnx_reals p = nnrti_onnx_reals_of(c, "kernel_params", NULL);
    s->kernel = nnrti_onnx_choice(c, "kernel_type", "LINEAR|POLY|RBF|SIGMOID");
    if (p.count > 0)
        nnrti_onnx_counted(c, "kernel_params", p.count, 3, "gamma, coef0, degree");
    s->gamma = p.count == 3 ? (float)nnrti_onnx_reals_at(&p, 0) : 0;
    s->coef0 = p.count == 3 ? (float)nnrti_onnx_reals_at(&p, 1) : 0;
    s->degree = p.count == 3 ? (float)nnrti_onnx_reals_at(&p, 2) : 0;
    s->vectors = nnrti_onnx_reals_of(c, "support_vectors", NULL);
    s->coefficients = nnrti_onnx_reals_of(c, "coefficients", NULL);
    s->rho = nnrti_onnx_reals_of(c, "rho", NULL);
}

/* exp(-gamma*|x - v|^2) = exp(2*gamma*x*v - gamma*|v|^2 - gamma*|x|^2) for each support vector v: one GEMM. x and v are
   first moved by the mean of the support vectors, so that large offsets of the features do not cancel. */
static uint32_t nnrti_onnx_svm_rbf(nnrti_onnx *c, const nnrti_onnx_svm *s, uint32_t x)
{
    const int64_t last = 1;
    const float *v = (const float *)s->vectors.data;
    float *w = nnrti_onnx_matrix(c, s->count, s->features), *b = nnrti_onnx_matrix(c, s->count, 1);
    float *mean = nnrti_onnx_matrix(c, s->features, 1);
    uint32_t squares;
    if (w == NULL || b == NULL || mean == NULL)
        return NNRT_NO_TENSOR;
    for (size_t f = 0; f < s->features; f++) {
        double sum = 0;
        for (size_t i = 0; i < s->count; i++)
            sum += (double)v[i * s->features + f];
        mean[f] = (float)(sum / (double)s->count);
    }
    for (size_t i = 0; i < s->count; i++) {
        double sum = 0;
        for (size_t f = 0; f < s->features; f++) {
            const double d = (double)v[i * s->features + f] - (double)mean[f];
            w[i * s->features + f] = (float)(2 * (double)s->gamma * d);
            sum += d * d;
        }
        b[i] = (float)(-(double)s->gamma * sum);
    }
    x = nnrti_onnx_sub(c, x, nnrti_onnx_table(c, NNRT_DATA_TYPE_FLOAT32, mean, 1, (int64_t)s->features, 0));
    squares =
        nnrti_onnx_affine(c, nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_SUM_SQUARE, &last, 1, true), (double)s->gamma, 0);
    return nnrti_onnx_exp(c, nnrti_onnx_sub(c, nnrti_onnx_linear(c, x, w, s->count, s->features, b), squares));
}

/* Kernel values of x [N,F] and the support vectors, [N,count]. */
static uint32_t nnrti_onnx_svm_kernel(nnrti_onnx *c, const nnrti_onnx_svm *s, uint32_t x)
{
    uint32_t y;
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    if (s->kernel == 2)
        return nnrti_onnx_svm_rbf(c, s, x);
    y = nnrti_onnx_linear(c, x, nnrti_onnx_floats_of(c, &s->vectors), s->count, s->features, NULL);
    if (s->kernel == 0)
        return y;
    y = nnrti_onnx_affine(c, y, (double)s->gamma, (double)s->coef0);
    if (s->kernel == 3)
        return nnrti_onnx_act(c, y, NNRT_ACTIVATION_TYPE_TANH, 0);
    if (s->degree == 2)
        return nnrti_onnx_mul(c, y, y);
    if (s->degree == 3)
        return nnrti_onnx_mul(c, nnrti_onnx_mul(c, y, y), y);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_POW_FUSION, NULL, y, nnrti_onnx_like(c, y, (double)s->degree));
}

/* coefficients * kernel + rho; without support vectors coefficients * x + rho. one_class: the sign of it. */
static void nnrti_onnx_op_svm_regressor(nnrti_onnx *c, int32_t arg)
{
    const int64_t count = nnrti_onnx_int(c, "n_supports", 0);
    const uint32_t x = nnrti_onnx_features(c, false);
    nnrti_onnx_svm s;
    uint32_t y;
    (void)arg;
    memset(&s, 0, sizeof(s));
    nnrti_onnx_svm_read(c, &s);
    s.count = count > 0 && count <= INT32_MAX ? (size_t)count : 0;
    s.features = s.count > 0 ? nnrti_onnx_columns(c, "support_vectors", &s.vectors, s.count) : s.coefficients.count;
    nnrti_onnx_counted(c, "coefficients", s.coefficients.count, s.count > 0 ? s.count : s.features,
                       "one for each support vector");
    nnrti_onnx_counted(c, "rho", s.rho.count, 1, "one for the regression");
    if (c->code == NNRT_SUCCESS && s.coefficients.count == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute 'coefficients' has no entries");
    nnrti_onnx_check_width(c, x, s.features, s.count > 0 ? "support_vectors and n_supports" : "coefficients");
    if (c->code != NNRT_SUCCESS)
        return;
    y = s.count > 0 ? nnrti_onnx_svm_kernel(c, &s, x) : x;
    y = nnrti_onnx_linear(c, y, nnrti_onnx_floats_of(c, &s.coefficients), 1, s.coefficients.count,
                          nnrti_onnx_floats_of(c, &s.rho));
    if (nnrti_onnx_int(c, "one_class", 0) != 0)
        y = nnrti_onnx_affine(
            c,
            nnrti_onnx_cast(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER, NULL, y, nnrti_onnx_like(c, y, 0)),
                            NNRT_DATA_TYPE_FLOAT32),
            2, -1);
    nnrti_onnx_out(c, 0, y);
}

/* Scores of the P = K(K-1)/2 pairs of K classes, [N,P]: pair (i,j), i < j, sums the kernel values of the support
   vectors of i, weighted by row j-1 of the coefficients, and of the support vectors of j, weighted by row i. */
static uint32_t nnrti_onnx_svm_pairs(nnrti_onnx *c, const nnrti_onnx_svm *s, const nnrt_onnx_ints *counts, uint32_t x)
{
    const size_t K = counts->count, pairs = K * (K - 1) / 2;
    const float *from = (const float *)s->coefficients.data;
    float *w = nnrti_onnx_matrix(c, pairs, s->count), *row = w;
    size_t beginI = 0;
    if (w == NULL)
        return NNRT_NO_TENSOR;
    for (size_t i = 0; i < K; i++) {
        const size_t nI = (size_t)counts->data[i];
        size_t beginJ = beginI + nI;
        for (size_t j = i + 1; j < K; j++, row += s->count) {
            const size_t nJ = (size_t)counts->data[j];
            if (nI > 0)
                memcpy(row + beginI, from + (j - 1) * s->count + beginI, nI * sizeof(*row));
            if (nJ > 0)
                memcpy(row + beginJ, from + i * s->count + beginJ, nJ * sizeof(*row));
            beginJ += nJ;
        }
        beginI += nI;
    }
    return nnrti_onnx_linear(c, nnrti_onnx_svm_kernel(c, s, x), w, pairs, s->count, nnrti_onnx_floats_of(c, &s->rho));
}

/* The votes of the pairs, [N,K]: a positive score is a vote for the first class of its pair, another for the second. */
static uint32_t nnrti_onnx_svm_votes(nnrti_onnx *c, size_t K, uint32_t scores)
{
    const size_t pairs = K * (K - 1) / 2;
    float *w = nnrti_onnx_matrix(c, K, pairs), *b = nnrti_onnx_matrix(c, K, 1);
    size_t p = 0;
    if (w == NULL || b == NULL)
        return NNRT_NO_TENSOR;
    for (size_t i = 0; i < K; i++)
        for (size_t j = i + 1; j < K; j++, p++) {
            w[i * pairs + p] = 1;
            w[j * pairs + p] = -1;
            b[j]++;
        }
    scores = nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER, NULL, scores, nnrti_onnx_like(c, scores, 0));
    return nnrti_onnx_linear(c, nnrti_onnx_cast(c, scores, NNRT_DATA_TYPE_FLOAT32), w, K, pairs, b);
}

/* The number of support vectors; a fault for a negative count. */
static size_t nnrti_onnx_svm_count(nnrti_onnx *c, const nnrt_onnx_ints *counts)
{
    int64_t n = 0;
    for (size_t i = 0; i < counts->count && c->code == NNRT_SUCCESS; i++)
        if (counts->data[i] < 0 || counts->data[i] > INT32_MAX - n)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                            "attribute 'vectors_per_class': entry %z is %l, expected 0 to %l", i, counts->data[i],
                            (int64_t)INT32_MAX - n);
        else
            n += counts->data[i];
    return (size_t)n;
}

/* Without support vectors (liblinear): scores coefficients * x + rho. Else the pairs of classes vote. */
static void nnrti_onnx_op_svm_classifier(nnrti_onnx *c, int32_t arg)
{
    const nnrt_onnx_ints labels = nnrti_onnx_labels(c, "classlabels_ints", 2);
    const nnrt_onnx_ints counts = nnrti_onnx_ints_of(c, "vectors_per_class");
    const nnrti_onnx_post post = nnrti_onnx_post_of(c);
    const nnrti_onnx_reals probabilities = nnrti_onnx_reals_of(c, "prob_a", NULL);
    const uint32_t x = nnrti_onnx_features(c, false);
    const size_t K = labels.count;
    nnrti_onnx_svm s;
    uint32_t y;
    (void)arg;
    memset(&s, 0, sizeof(s));
    nnrti_onnx_svm_read(c, &s);
    s.count = nnrti_onnx_svm_count(c, &counts);
    if (c->code == NNRT_SUCCESS && K > 4096)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "has %z classes, at most 4096 are supported", K);
    if (c->code == NNRT_SUCCESS && probabilities.count > 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "attribute 'prob_a': probabilities of pairs are unsupported: train with probability=False");
    if (c->code != NNRT_SUCCESS)
        return;
    if (s.count == 0 && K == 2)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "two classes without support vectors, which ONNX Runtime labels by another rule than the "
                        "specification: export as LinearClassifier");
    if (s.count == 0) {
        float *rho = nnrti_onnx_matrix(c, K, 1);
        s.features = nnrti_onnx_columns(c, "coefficients", &s.coefficients, K);
        if (s.rho.count == 0)
            nnrti_onnx_counted(c, "rho", s.rho.count, 1, "at least one");
        nnrti_onnx_check_width(c, x, s.features, "coefficients and labels");
        for (size_t k = 0; k < K && c->code == NNRT_SUCCESS; k++)
            rho[k] = (float)nnrti_onnx_reals_at(&s.rho, 0);
        y = nnrti_onnx_linear(c, x, nnrti_onnx_floats_of(c, &s.coefficients), K, s.features, rho);
        nnrti_onnx_out_label(c, labels, nnrti_onnx_best(c, y));
        nnrti_onnx_out(c, 1, nnrti_onnx_transformed(c, y, post));
        return;
    }
    s.features = nnrti_onnx_columns(c, "support_vectors", &s.vectors, s.count);
    nnrti_onnx_counted(c, "vectors_per_class", counts.count, K, "one for each label");
    nnrti_onnx_counted(c, "coefficients", s.coefficients.count, (K - 1) * s.count,
                       "labels - 1 for each support vector");
    nnrti_onnx_counted(c, "rho", s.rho.count, K * (K - 1) / 2, "one for each pair of labels");
    nnrti_onnx_check_width(c, x, s.features, "support_vectors and vectors_per_class");
    if (c->code != NNRT_SUCCESS)
        return;
    y = nnrti_onnx_svm_pairs(c, &s, &counts, x);
    nnrti_onnx_out_label(c, labels, nnrti_onnx_best(c, nnrti_onnx_svm_votes(c, K, y)));
    nnrti_onnx_out(c, 1,
                   K == 2 ? nnrti_onnx_two_scores(c, y, post, post == NNRTI_ONNX_POST_NONE ? 0 : 1)
                          : nnrti_onnx_transformed(c, y, post));
}

/* The constant of a table of LabelEncoder: ints, floats or a tensor; NNRT_NO_TENSOR and a fault if there is none. what:
   "keys" or "values". */
static uint32_t nnrti_onnx_encoder_table(nnrti_onnx *c, const char *what)
{
    static const int64_t flat = -1;
    char ints[32], floats[32], strings[32], tensor[32];
    const nnrt_onnx_attribute *a;
    (void)nnrt_text(ints, sizeof(ints), "%s_int64s", what);
    (void)nnrt_text(floats, sizeof(floats), "%s_floats", what);
    (void)nnrt_text(strings, sizeof(strings), "%s_strings", what);
    (void)nnrt_text(tensor, sizeof(tensor), "%s_tensor", what);
    if ((a = nnrti_onnx_attr(c, ints, NNRT_ONNX_ATTRIBUTE_INTS)) != NULL && a->ints.count > 0)
        return nnrti_onnx_table(c, NNRT_DATA_TYPE_INT64,
                                nnrti_onnx_kept(c, a->ints.data, a->ints.count * sizeof(*a->ints.data)), 1,
                                (int64_t)a->ints.count, 0);
    if ((a = nnrti_onnx_attr(c, floats, NNRT_ONNX_ATTRIBUTE_FLOATS)) != NULL && a->floats.count > 0)
        return nnrti_onnx_table(c, NNRT_DATA_TYPE_FLOAT32,
                                nnrti_onnx_kept(c, a->floats.data, a->floats.count * sizeof(*a->floats.data)), 1,
                                (int64_t)a->floats.count, 0);
    if ((a = nnrti_onnx_attr(c, tensor, NNRT_ONNX_ATTRIBUTE_TENSOR)) != NULL && a->t != NULL &&
        a->t->dataType != NNRT_ONNX_STRING)
        return nnrti_onnx_reshape(c, nnrti_onnx_plain_value(c, a->t), &flat, 1);
    NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                    "expected numbers in '%s', '%s' or '%s'; strings are unsupported: map to integers before the model",
                    ints, floats, tensor);
    return NNRT_NO_TENSOR;
}

/* The element for keys that are not in the table: default_tensor, default_int64 or default_float, as the values have
   the type. */
static uint32_t nnrti_onnx_encoder_default(nnrti_onnx *c, NNRT_DataType type)
{
    static const int64_t one = 1;
    const nnrt_onnx_attribute *t = nnrti_onnx_attr(c, "default_tensor", NNRT_ONNX_ATTRIBUTE_TENSOR);
    const int64_t whole = nnrti_onnx_int(c, "default_int64", -1);
    const float real = nnrti_onnx_float(c, "default_float", -0.0f);
    if (t != NULL && t->t != NULL)
        return nnrti_onnx_cast(c, nnrti_onnx_reshape(c, nnrti_onnx_plain_value(c, t->t), &one, 1), type);
    if (type == NNRT_DATA_TYPE_INT64 || type == NNRT_DATA_TYPE_INT32 || type == NNRT_DATA_TYPE_INT16)
        return nnrti_onnx_cast(c, nnrti_onnx_const_int(c, whole), type);
    return nnrti_onnx_reshape(c, nnrti_onnx_scalar(c, type, (double)real), &one, 1);
}

/* values[k] for x = keys[k], else the default. Comparison with all keys finds the index: the maximum over k of
   (x == keys[k]) * (n - k), the first of equal keys, is an index into the default and the reversed values. A NaN finds
   the key NaN. */
static void nnrti_onnx_op_label_encoder(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), keys = nnrti_onnx_encoder_table(c, "keys");
    const uint32_t values = nnrti_onnx_encoder_table(c, "values");
    const int64_t rank = nnrti_onnx_rank(c, x);
    const int32_t count = nnrti_onnx_dim(c, keys, 0);
    const NNRT_DataType type = nnrti_onnx_type(c, keys), result = nnrti_onnx_type(c, values);
    const size_t size = nnrt_type_size(type), width = nnrt_type_size(result), n = count > 0 ? (size_t)count : 0;
    int32_t *places, nan = 0;
    uint8_t *reversed;
    uint32_t table[2], at;
    (void)arg;
    if (c->code == NNRT_SUCCESS && nnrti_onnx_dim(c, values, 0) != count)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "has %d keys and %d values, expected the same number", count,
                        nnrti_onnx_dim(c, values, 0));
    if (c->code == NNRT_SUCCESS && nnrti_onnx_type(c, x) != type)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "input 0 is %t, expected %t, the type of the keys",
                        nnrti_onnx_type(c, x), type);
    places = c->code == NNRT_SUCCESS ? (int32_t *)nnrti_onnx_keep(c, n, sizeof(*places)) : NULL;
    reversed = c->code == NNRT_SUCCESS ? (uint8_t *)nnrti_onnx_keep(c, n, width) : NULL;
    if (places == NULL || reversed == NULL)
        return;
    for (size_t k = 0; k < n; k++) {
        const uint8_t *key = (const uint8_t *)nnrti_onnx_at(c, keys)->data + k * size;
        double v;
        v = nnrti_load_f64(key, 0, type);
        places[k] = (int32_t)(n - k);
        nan = v != v && nan == 0 ? places[k] : nan;
        memcpy(reversed + (n - 1 - k) * width, (const uint8_t *)nnrti_onnx_at(c, values)->data + k * width, width);
    }
    table[0] = nnrti_onnx_encoder_default(c, result);
    table[1] = nnrti_onnx_table(c, result, reversed, 1, count, 0);
    at = nnrti_onnx_step2(c, NNRT_NODE_TYPE_EQUAL, NULL, nnrti_onnx_unsqueeze(c, x, rank), keys);
    at = nnrti_onnx_mul(c, nnrti_onnx_cast(c, at, NNRT_DATA_TYPE_INT32),
                        nnrti_onnx_table(c, NNRT_DATA_TYPE_INT32, places, 1, count, 0));
    at = nnrti_onnx_reduce(c, at, NNRT_REDUCE_MODE_MAX, &rank, 1, false);
    if (nan != 0)
        at = nnrti_onnx_add(c, at,
                            nnrti_onnx_affine(c,
                                              nnrti_onnx_cast(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_IS_NAN, NULL, x),
                                                              NNRT_DATA_TYPE_INT32),
                                              (double)nan, 0));
    nnrti_onnx_out(c, 0, nnrti_onnx_gather(c, nnrti_onnx_concat(c, table, 2, 0), at, 0));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_about: what operators become */

/* Documentation table: X(operator of ONNX, or else its handler, "operators it becomes", "operators that may be added",
   "why"); % is the row's argument. An operator that becomes nothing by itself is decomposed into the added operators.
   Operators that only compute with dynamic dimensions (SHAPE, GATHER, CONCAT, ...) are not listed. A test compares the
   table with the ONNX node tests. */
/* clang-format off */
#define NNRTI_ONNX_ABOUT(X) \
    X("GlobalAveragePool", "AVGPOOL_FUSION REDUCE_FUSION",   "", "") \
    X("GlobalMaxPool",   "MAX_POOL_FUSION REDUCE_FUSION",    "", "") \
    X("Hardmax",         "HARDMAX",                          "FLATTEN RESHAPE", \
      "before set 13 all axes from `axis` on are one axis") \
    X("LogSoftmax",      "LOG_SOFTMAX",                      "FLATTEN RESHAPE", \
      "before set 13 all axes from `axis` on are one axis") \
    X("Mean",            "", "ADD_FUSION ADD_N DIV_FUSION",  "the sum divided by the number of inputs") \
    X("NegativeLogLikelihoodLoss", "NEGATIVE_LOG_LIKELIHOOD_LOSS", "", "") \
    X("RandomNormal",    "RANDOM_NORMAL",                    "", "") \
    X("RandomNormalLike", "RANDOM_NORMAL",                   "", "") \
    X("RandomUniform",   "RANDOM_UNIFORM",                   "", "") \
    X("RandomUniformLike", "RANDOM_UNIFORM",                 "", "") \
    X("ReduceLogSum",    "", "REDUCE_FUSION LOG CAST",       "the logarithm of a sum") \
    X("ReduceLogSumExp", "", \
      "REDUCE_FUSION MINIMUM MAXIMUM SUB_FUSION EXPFUSION POW_FUSION LOG ADD_FUSION CAST", \
      "the largest element is subtracted before the sum to avoid overflow") \
    X("Softmax",         "SOFTMAX",                          "FLATTEN RESHAPE", \
      "before set 13 all axes from `axis` on are one axis") \
    X("SoftmaxCrossEntropyLoss", "", "LOG_SOFTMAX NEGATIVE_LOG_LIKELIHOOD_LOSS", \
      "the second output is the result of LOG_SOFTMAX") \
    X("Sum",             "ADD_FUSION ADD_N",                 "", "") \
    X("activation",      "ACTIVATION",                       "", "") \
    X("affine_grid",     "AFFINE_GRID",                      "", "") \
    X("arg",             "%", "STRIDED_SLICE SUB_FUSION",    "select_last_index searches the reversed input") \
    X("attention",       "ATTENTION",                        "", "") \
    X("average_pool",    "AVGPOOL_FUSION AVGPOOL_INCLUDE_PAD AVERAGE_POOL_3D", "UNSQUEEZE SQUEEZE", \
      "one spatial axis, to which a second one is added") \
    X("batch_norm",      "FUSED_BATCH_NORM", "CAST REDUCE_FUSION SQUARED_DIFFERENCE MUL_FUSION ADD_FUSION", \
      "parameters of another float type than the data; training_mode: statistics of the batch") \
    X("bernoulli",       "BERNOULLI",                        "", "") \
    X("binary",          "%", "RESHAPE",                     "`axis`, before set 7") \
    X("bit_shift",       "BIT_SHIFT",                        "", "") \
    X("bitcast",         "BITCAST",                          "", "") \
    X("cast",            "CAST", "DECODE_FLOAT ENCODE_FLOAT BITWISE_AND BITWISE_XOR SUB_FUSION ASSIGN", \
      "types of storage: codes of floating-point numbers; integers of 4 and 2 bits keep their lowest bits") \
    X("causal_conv",     "", "PAD_FUSION CONCAT STRIDED_SLICE SLICE_FUSION SQUEEZE RESHAPE MUL_FUSION ADD_FUSION ACTIVATION", \
      "a sum over the taps of the state and the input; the state is their last columns") \
    X("celu",            "", \
      "DIV_FUSION ACTIVATION MUL_FUSION NEG EXPFUSION SUB_FUSION ADD_FUSION CAST DECODE_FLOAT ENCODE_FLOAT", \
      "alpha * elu(x / alpha); float16 and bfloat16 in float32") \
    X("center_crop_pad", "CENTER_CROP_PAD",                  "", "") \
    X("clip",            "CLIP ACTIVATION MAXIMUM MINIMUM",  "EQUAL WHERE", \
      "limits computed in the run, or out of order; NaN propagates") \
    X("col2im",          "COL2IM",                           "", "") \
    X("compress",        "COMPRESS",                         "", "") \
    X("concat",          "CONCAT",                           "", "") \
    X("concat_sequence", "CONCAT",                           "UNSQUEEZE", "new_axis") \
    X("constant",        "",                                 "", "a constant of the model") \
    X("constant_shape",  "CONSTANT_OF_SHAPE FILL",           "", "") \
    X("conv",            "CONV2D_FUSION CONV_3D",            "TRANSPOSE UNSQUEEZE SQUEEZE", \
      "weights computed in the run, permuted; one spatial axis, to which a second one is added") \
    X("conv_integer",    "CONV_INTEGER",                     "TRANSPOSE UNSQUEEZE SQUEEZE", "as conv") \
    X("conv_transpose",  "CONV2D_TRANSPOSE_FUSION CONV_TRANSPOSE_3D", \
      "TRANSPOSE RESHAPE UNSQUEEZE SQUEEZE SLICE_FUSION", \
      "weights computed in the run; one spatial axis; output_shape with dynamic dimensions") \
    X("cum_sum",         "CUM_PROD CUM_SUM",                 "", "") \
    X("deform_conv",     "DEFORMABLE_CONV_2D",               "", "") \
    X("depth_to_space",  "DEPTH_TO_SPACE",                   "", "") \
    X("dequantize",      "QUANT_DTYPE_CAST QUANT_DTYPE_CAST_V2", "BITCAST CAST RESHAPE SUB_FUSION MUL_FUSION GATHER " \
      "DECODE_FLOAT ENCODE_FLOAT", "parameters that are not constant, or blockwise; 16 bits; float8, float4") \
    X("det",             "DET",                              "", "") \
    X("dft",             "DFT",                              "", "") \
    X("dropout",         "", "FILL_LIKE RANDOM_UNIFORM SHAPE CAST MUL_FUSION SUB_FUSION DIV_FUSION GREATER_EQUAL", \
      "its input, and the mask; in training the product of x, a random mask and 1 / (1 - ratio)") \
    X("dynamic_quantize", "", \
      "REDUCE_FUSION MINIMUM MAXIMUM SUB_FUSION DIV_FUSION EQUAL WHERE ROUND CAST ADD_FUSION CLIP MUL_FUSION", \
      "scale and zero point are computed in the run") \
    X("einsum",          "EINSUM",                           "", "") \
    X("exp",             "EXPFUSION POW_FUSION",             "", "") \
    X("expand",          "BROADCAST_TO", "CONCAT",           "a shape computed in the run with fewer axes than x") \
    X("extreme",         "%", "EQUAL WHERE",                 "more than two inputs; NaN of any input propagates") \
    X("eye_like",        "EYE_LIKE",                         "", "") \
    X("flatten",         "FLATTEN",                          "", "") \
    X("flex_attention",  "ATTENTION", \
      "MATMUL_FUSION SOFTMAX MUL_FUSION RESHAPE CAST DECODE_FLOAT ENCODE_FLOAT", \
      "score_mod and prob_mod, which are inlined between two matrix multiplications; float64, bfloat16; another " \
      "softmax_precision than float") \
    X("gather",          "GATHER",                           "", "") \
    X("gather_elements", "GATHER_ELEMENTS",                  "", "") \
    X("gather_nd",       "GATHER_ND", "CAST RESHAPE BROADCAST_TO CONCAT", \
      "batch_dims: the indices are prefixed by the positions in the batch") \
    X("gelu",            "ACTIVATION",                       "", "") \
    X("gemm",            "FULL_CONNECTION MATMUL_FUSION", \
      "TRANSPOSE RESHAPE MUL_FUSION ADD_FUSION FILL MAXIMUM MATMUL_NBITS", \
      "transA, alpha, beta; weights computed in the run, or of DequantizeLinear; a bias that is not a vector") \
    X("grid_sample",     "GRID_SAMPLE",                      "", "") \
    X("group_norm",      "GROUP_NORM_FUSION", "RESHAPE BROADCAST_TO", \
      "scale and offset of each group, before set 21") \
    X("hard_sigmoid",    "HARD_SIGMOID ACTIVATION",          "", "") \
    X("has_element",     "",                                 "", "true for a value, false without one") \
    X("identity",        "",                                 "", "its input under another name") \
    X("if",              "IF",                               "", "") \
    X("instance_norm",   "INSTANCE_NORM",                    "", "") \
    X("is_inf",          "IS_INF",                           "", "") \
    X("layer_norm",      "LAYER_NORM_FUSION", \
      "MUL_FUSION ADD_FUSION REDUCE_FUSION SQUARED_DIFFERENCE RSQRT", \
      "mean and 1/deviation as outputs; scale and offset that are broadcast") \
    X("leaky_relu",      "LEAKY_RELU",                       "", "") \
    X("loop",            "LOOP",                             "", "") \
    X("lp_norm",         "LP_NORMALIZATION",                 "", "") \
    X("lp_pool",         "LP_POOL",                          "", "") \
    X("lrn",             "LRN", "RESHAPE AVGPOOL_INCLUDE_PAD MUL_FUSION ADD_FUSION POW_FUSION DIV_FUSION", \
      "other than 4 axes, reshaped to an image; an even size, a pool over the channels") \
    X("lstm",            "LSTM LSTM_PEEPHOLE", "TRANSPOSE STRIDED_SLICE FILL RESHAPE", \
      "directions are an axis of Y; layout 1; direction reverse; absent initial states") \
    X("matmul", "MATMUL_FUSION", "MATMUL_NBITS", "a constant weight of DequantizeLinear") \
    X("matmul_integer",  "MATMUL_INTEGER",                   "RESHAPE UNSQUEEZE", "a zero point for each row") \
    X("max_pool",        "MAX_POOL_FUSION MAX_POOL_3D", \
      "UNSQUEEZE SQUEEZE CAST DIV_FUSION MUL_FUSION SUB_FUSION ADD_FUSION", \
      "one spatial axis; integers, as float32; indices are positions in the whole tensor") \
    X("max_unpool",      "MAX_UNPOOL",                       "", "") \
    X("mean_variance",   "", "REDUCE_FUSION SUB_FUSION MUL_FUSION SQRT ADD_FUSION DIV_FUSION", \
      "its epsilon is added outside the root") \
    X("mel_weight_matrix", "MEL_WEIGHT_MATRIX",              "", "") \
    X("mod",             "MOD", "FLOOR_DIV MUL_FUSION SUB_FUSION", "fmod 0 of signed integers") \
    X("multinomial",     "MULTINOMIAL",                      "", "") \
    X("non_max_suppression", "NON_MAX_SUPPRESSION",          "", "") \
    X("one_hot",         "ONE_HOT", "CAST RESHAPE LESS_EQUAL MUL_FUSION ADD_FUSION GATHER", \
      "negative indices count from the end; the two values are one input") \
    X("optional",        "",                                 "", "its input under another name") \
    X("pad",             "PAD_FUSION PAD_EDGE GATHER", \
      "CONCAT STRIDED_SLICE RANGE MOD ADD_FUSION SUB_FUSION MUL_FUSION MAXIMUM MINIMUM", \
      "dynamic pads, in the runtime's order; negative pads, which crop; mode wrap, and mode reflect with a pad of at least " \
      "the axis' size, a GATHER for each axis") \
    X("pow",             "POW_FUSION", "CAST RESHAPE",       "two types; `axis`, before set 7") \
    X("prelu",           "PRELU_FUSION", "RESHAPE UNSQUEEZE LESS MUL_FUSION WHERE", \
      "a slope that is neither a single number nor one per channel") \
    X("q_linear_conv",   "CONV2D_FUSION CONV_INTEGER", \
      "BITCAST TRANSPOSE UNSQUEEZE SQUEEZE RESHAPE MUL_FUSION DIV_FUSION ROUND CAST ADD_FUSION CLIP", \
      "parameters that are not constant, or no_quantize: the sum is rounded once, from float32, to nearest even") \
    X("q_linear_matmul", "MATMUL_FUSION MATMUL_INTEGER", \
      "BITCAST RESHAPE UNSQUEEZE MUL_FUSION DIV_FUSION ROUND CAST ADD_FUSION CLIP", \
      "parameters that are not constant, or no_quantize: the sum is rounded once, from float32, to nearest even") \
    X("quantize",        "QUANTIZE_LINEAR", \
      "BITCAST RESHAPE DIV_FUSION ROUND CAST ADD_FUSION CLIP GATHER DECODE_FLOAT ENCODE_FLOAT", \
      "parameters that are not constant, or blockwise; 4, 2 and 16 bits; float8, float4") \
    X("range",           "RANGE",                            "CAST DECODE_FLOAT ENCODE_FLOAT", \
      "float16 and bfloat16 in the type of stash_type") \
    X("recurrent",       "%",                                "", "") \
    X("reduce",          "REDUCE_FUSION", \
      "SCATTER_ELEMENTS CAST EQUAL ASSERT GATHER SHAPE MUL_FUSION ADD_FUSION BOTTOM_K RESHAPE BITWISE_NOT LOGICAL_NOT ABS", \
      "keepdims 0 with axes computed in the run; maximum and minimum of an empty axis, by a sum; no axes") \
    X("relu",            "ACTIVATION MAXIMUM",               "", "") \
    X("reshape",         "RESHAPE",                          "", "") \
    X("resize",          "RESIZE RESIZE_ND", "UNSQUEEZE SQUEEZE CAST LESS_EQUAL ASSERT", \
      "2 and 3 axes, treated as an image; integers, as float32; scales of Upsample computed in the run") \
    X("reverse_sequence", "REVERSE_SEQUENCE",                "", "") \
    X("rms_norm",        "RMS_NORMALIZATION",                "", "") \
    X("roi_align",       "ROI_ALIGN",                        "", "") \
    X("rotary_embedding", "ROTARY_EMBEDDING",                "", "") \
    X("same",            "%",                                "", "") \
    X("scan",            "LOOP",                             "", "") \
    X("scatter_elements", "SCATTER_ELEMENTS",                "", "") \
    X("scatter_nd",      "SCATTER_ND_UPDATE",                "", "") \
    X("selu",            "ACTIVATION", "MUL_FUSION",         "alpha and gamma other than SELU's") \
    X("sequence_at",     "",                                 "", "an element of a sequence; at a computed position GATHER of all") \
    X("sequence_construct", "",                              "", "a list of values in the import") \
    X("sequence_erase",  "",                                 "", "a list of values in the import; constant position") \
    X("sequence_insert", "",                                 "", "a list of values in the import; constant position") \
    X("sequence_length", "",                                 "", "a constant of the model") \
    X("sequence_map",    "",                                 "", "its body, once for each element of a sequence") \
    X("shape",           "SHAPE", "STRIDED_SLICE",           "start, end") \
    X("shrink",          "", "LESS GREATER ADD_FUSION SUB_FUSION WHERE CAST", "selected by two comparisons") \
    X("sign",            "ACTIVATION", "MAXIMUM MINIMUM", "integers") \
    X("size",            "", "SHAPE REDUCE_FUSION",          "the product of the dimensions") \
    X("slice",           "STRIDED_SLICE", "SCATTER_ELEMENTS CAST REDUCE_FUSION EQUAL ASSERT", \
      "axes computed in the run") \
    X("softplus",        "SOFTPLUS",                         "", "") \
    X("space_to_depth",  "SPACE_TO_DEPTH",                   "", "") \
    X("split",           "SPLIT", \
      "CAST LESS_EQUAL ASSERT REDUCE_FUSION EQUAL CUM_SUM STRIDED_SLICE SLICE_FUSION", "lengths computed in the run") \
    X("split_sequence",  "SPLIT",                            "SQUEEZE", "keepdims 0") \
    X("squeeze",         "SQUEEZE", \
      "SCATTER_ELEMENTS CAST REDUCE_FUSION EQUAL ASSERT GATHER MUL_FUSION ADD_FUSION BOTTOM_K RESHAPE", \
      "axes computed in the run") \
    X("stft",            "STFT",                             "", "") \
    X("swiglu",          "", "ACTIVATION MUL_FUSION CAST DECODE_FLOAT ENCODE_FLOAT", \
      "swish(a) * b; float16 and bfloat16 in float32") \
    X("swish",           "ACTIVATION", "MUL_FUSION",         "alpha other than 1") \
    X("tensor_scatter",  "TENSOR_SCATTER SCATTER_ELEMENTS", \
      "LESS_EQUAL ASSERT RESHAPE UNSQUEEZE RANGE ADD_FUSION MOD BROADCAST_TO CAST", \
      "circular: an index for each element") \
    X("tile",            "TILE_FUSION", "CAST RESHAPE",      "tiles and axis as scalars of set 1") \
    X("top_k",           "TOPK_FUSION BOTTOM_K",             "", "") \
    X("transpose",       "TRANSPOSE",                        "", "") \
    X("trilu",           "TRILU",                            "", "") \
    X("unique",          "UNIQUE",                           "", "") \
    X("unsqueeze",       "UNSQUEEZE", \
      "SCATTER_ELEMENTS CAST REDUCE_FUSION EQUAL ASSERT SUB_FUSION CUM_SUM GATHER WHERE RESHAPE", \
      "axes computed in the run") \
    X("simplified_layer_norm", "RMS_NORMALIZATION", "MUL_FUSION REDUCE_FUSION ADD_FUSION RSQRT", "output 1") \
    X("dynamic_matmul",  "", \
      "MINIMUM MAXIMUM REDUCE_FUSION SUB_FUSION DIV_FUSION EQUAL WHERE ROUND CLIP CAST " \
      "MATMUL_INTEGER MUL_FUSION ADD_FUSION", \
      "A quantized in the run, the product in integers, times both scales, plus the bias") \
    X("dynamic_lstm",    "LSTM LSTM_PEEPHOLE", \
      "CAST SUB_FUSION MUL_FUSION TRANSPOSE STRIDED_SLICE RESHAPE FILL UNSQUEEZE", \
      "weights dequantized to float32; as LSTM") \
    X("embed_layer_norm", "", "GATHER ADD_FUSION LAYER_NORM_FUSION REDUCE_FUSION SUB_FUSION CAST RANGE", \
      "the normalized sum of the embeddings of words, positions and segments") \
    X("fused_conv",      "CONV2D_FUSION CONV_3D", "ADD_FUSION ACTIVATION LEAKY_RELU CLIP HARD_SIGMOID", \
      "the sum and the activation") \
    X("fused_gemm",      "FULL_CONNECTION MATMUL_FUSION", \
      "MUL_FUSION ADD_FUSION ACTIVATION LEAKY_RELU CLIP HARD_SIGMOID", \
      "the activation; alpha or beta other than 1, transA") \
    X("fused_matmul",    "MATMUL_FUSION", "MUL_FUSION TRANSPOSE", "alpha; transBatchA and transBatchB") \
    X("gather_blocks",   "GATHER_NBITS", "GATHER", \
      "constant weights, scales and zero points; rows that are no whole blocks are decoded before they are taken") \
    X("group_query_attention", "ATTENTION", \
      "CAST ADD_FUSION SUB_FUSION EQUAL ASSERT UNSQUEEZE RANGE ROTARY_EMBEDDING STRIDED_SLICE", \
      "packed inputs; rotary embedding; the run fails unless seqlens_k is the length of past and key, minus 1") \
    X("linear_attention", "LOOP", \
      "CAST RESHAPE MUL_FUSION GATHER EXPFUSION FILL MATMUL_FUSION SUB_FUSION ADD_FUSION TRANSPOSE EQUAL ASSERT", \
      "the recurrence, one step in each iteration; the run fails unless batch and steps of all inputs are equal") \
    X("matmul_bits",     "MATMUL_NBITS", "", "constant weights, scales and zero points; no group index") \
    X("matmul_to_float", "", "MATMUL_INTEGER CAST MUL_FUSION ADD_FUSION", \
      "the product in integers, times both scales, plus the bias") \
    X("multi_head_attention", "ATTENTION", \
      "STRIDED_SLICE ADD_FUSION RESHAPE TRANSPOSE CAST RANGE UNSQUEEZE LESS_EQUAL MUL_FUSION", \
      "packed inputs, bias, mask") \
    X("nhwc_conv",       "CONV2D_FUSION CONV_3D", "TRANSPOSE RESHAPE", "to channels first and back") \
    X("nhwc_max_pool",   "MAX_POOL_FUSION MAX_POOL_3D", "TRANSPOSE CAST", \
      "to channels first and back; 8 bits as float32") \
    X("ort_attention",   "ATTENTION", \
      "MATMUL_FUSION MATMUL_INTEGER ADD_FUSION MUL_FUSION STRIDED_SLICE SQUEEZE UNSQUEEZE CONCAT CAST RANGE " \
      "LESS_EQUAL", \
      "the projection of the input to query, key and value; mask; past") \
    X("ort_gelu",        "ACTIVATION", "ADD_FUSION",         "the bias") \
    X("ort_rotary_embedding", "ROTARY_EMBEDDING", "RESHAPE RANGE ADD_FUSION FILL MAXIMUM", \
      "positions that are an offset") \
    X("q_gemm",          "FULL_CONNECTION MATMUL_FUSION", \
      "BITCAST QUANT_DTYPE_CAST CAST MUL_FUSION ADD_FUSION TRANSPOSE QUANTIZE_LINEAR", \
      "dequantize, the operator, quantize: one quantized operator after optimization") \
    X("q_linear_average_pool", "AVGPOOL_FUSION AVGPOOL_INCLUDE_PAD REDUCE_FUSION", \
      "BITCAST QUANT_DTYPE_CAST TRANSPOSE QUANTIZE_LINEAR", "as QGemm; channels_last") \
    X("q_linear_binary", "ADD_FUSION MUL_FUSION", "BITCAST QUANT_DTYPE_CAST QUANTIZE_LINEAR", "as QGemm") \
    X("q_linear_concat", "CONCAT", "BITCAST QUANT_DTYPE_CAST QUANTIZE_LINEAR", "as QGemm") \
    X("q_linear_leaky_relu", "LEAKY_RELU", "BITCAST QUANT_DTYPE_CAST QUANTIZE_LINEAR", "as QGemm") \
    X("q_linear_sigmoid", "ACTIVATION", "BITCAST QUANT_DTYPE_CAST QUANTIZE_LINEAR", "as QGemm") \
    X("q_linear_softmax", "SOFTMAX", "BITCAST QUANT_DTYPE_CAST FLATTEN RESHAPE QUANTIZE_LINEAR", \
      "as QGemm; before set 13 all axes from `axis` on are one axis") \
    X("q_linear_where",  "WHERE", "BITCAST QUANT_DTYPE_CAST UNSQUEEZE QUANTIZE_LINEAR", "as QGemm") \
    X("quick_gelu",      "", "MUL_FUSION ACTIVATION",        "x * sigmoid(alpha * x)") \
    X("skip_layer_norm", "LAYER_NORM_FUSION RMS_NORMALIZATION", "ADD_FUSION MUL_FUSION", \
      "the sum that is normalized; no beta") \
    X("array_features",  "GATHER",                           "RESHAPE", "[F] becomes [1,n]") \
    X("binarizer",       "",                                 "GREATER CAST", "x > threshold") \
    X("label_encoder",   "", \
      "UNSQUEEZE EQUAL CAST MUL_FUSION REDUCE_FUSION IS_NAN ADD_FUSION GATHER", \
      "comparison with all keys, then the value at the index") \
    X("linear_classifier", "", \
      "CAST RESHAPE FULL_CONNECTION ARGMAX_FUSION GREATER SQUEEZE GATHER SOFTMAX ACTIVATION MUL_FUSION ADD_FUSION " \
      "CONCAT LOG SQRT SUB_FUSION LESS WHERE REDUCE_FUSION ABS EXPFUSION DIV_FUSION", \
      "scores; the label of the largest; post_transform") \
    X("linear_regressor", "FULL_CONNECTION", \
      "CAST RESHAPE SOFTMAX ACTIVATION MUL_FUSION ADD_FUSION LOG SQRT SUB_FUSION LESS WHERE REDUCE_FUSION ABS " \
      "EXPFUSION GREATER DIV_FUSION", "post_transform") \
    X("normalizer",      "",                                 "CAST REDUCE_FUSION EQUAL WHERE DIV_FUSION", \
      "each row divided by its norm") \
    X("scaler",          "",                                 "CAST SUB_FUSION MUL_FUSION", "(x - offset) * scale") \
    X("svm_classifier",  "", \
      "CAST RESHAPE FULL_CONNECTION SUB_FUSION REDUCE_FUSION EXPFUSION MUL_FUSION ADD_FUSION ACTIVATION POW_FUSION " \
      "GREATER ARGMAX_FUSION GATHER CONCAT SOFTMAX LOG SQRT LESS WHERE ABS DIV_FUSION", \
      "kernel values, scores of pairs of classes, votes") \
    X("svm_regressor",   "", \
      "CAST RESHAPE FULL_CONNECTION SUB_FUSION REDUCE_FUSION EXPFUSION MUL_FUSION ADD_FUSION ACTIVATION POW_FUSION " \
      "GREATER", "kernel values, then their sum with coefficients") \
    X("tree_classifier", "", \
      "CAST RESHAPE GATHER GATHER_ELEMENTS LESS_EQUAL IS_NAN LOGICAL_AND LOGICAL_OR ADD_FUSION REDUCE_FUSION GREATER " \
      "SQUEEZE ARGMAX_FUSION WHERE MUL_FUSION CONCAT SOFTMAX ACTIVATION LOG SQRT SUB_FUSION LESS ABS EXPFUSION " \
      "DIV_FUSION", "all trees a level at a time: 7 operators a level") \
    X("tree_ensemble",   "", \
      "CAST RESHAPE GATHER GATHER_ELEMENTS LESS_EQUAL IS_NAN LOGICAL_AND LOGICAL_OR ADD_FUSION REDUCE_FUSION EQUAL " \
      "WHERE MUL_FUSION SOFTMAX ACTIVATION LOG SQRT SUB_FUSION LESS ABS EXPFUSION GREATER DIV_FUSION", \
      "as TreeEnsembleClassifier") \
    X("tree_regressor",  "", \
      "CAST RESHAPE GATHER GATHER_ELEMENTS LESS_EQUAL IS_NAN LOGICAL_AND LOGICAL_OR ADD_FUSION REDUCE_FUSION EQUAL " \
      "WHERE MUL_FUSION SOFTMAX ACTIVATION LOG SQRT SUB_FUSION LESS ABS EXPFUSION GREATER DIV_FUSION", \
      "as TreeEnsembleClassifier") \
    X("where",           "WHERE", "UNSQUEEZE LOGICAL_OR FILL_LIKE", \
      "a condition of one axis, which WHERE would use to select rows") \
    X("window",          "WINDOW",                           "", "")

/* Unsupported operators: X("domain.name", "why"). */
#define NNRTI_ONNX_UNSUPPORTED(X) \
    X("ai.onnx.ml.CastMap",                   "maps") \
    X("ai.onnx.ml.CategoryMapper",            "strings") \
    X("ai.onnx.ml.DictVectorizer",            "maps") \
    X("ai.onnx.ml.FeatureVectorizer",         "use Concat") \
    X("ai.onnx.ml.Imputer",                   "use Where and IsNaN") \
    X("ai.onnx.ml.OneHotEncoder",             "use Equal or OneHot") \
    X("ai.onnx.ml.ZipMap",                    "maps; export with the option zipmap=False") \
    X("ai.onnx.preview.training.Adagrad",     "training") \
    X("ai.onnx.preview.training.Adam",        "training") \
    X("ai.onnx.preview.training.Gradient",    "training") \
    X("ai.onnx.preview.training.Momentum",    "training") \
    X("RegexFullMatch",                       "strings") \
    X("StringConcat",                         "strings") \
    X("StringNormalizer",                     "strings") \
    X("StringSplit",                          "strings") \
    X("TfIdfVectorizer",                      "strings")
/* clang-format on */

typedef struct nnrti_onnx_note {
    const char *key, *becomes, *with, *why;
} nnrti_onnx_note;

#define NNRTI_ONNX_NOTE(key, becomes, with, why) {key, becomes, with, why},
#define NNRTI_ONNX_OUT(name, why) {name, NULL, NULL, why},
#define NNRTI_ONNX_HANDLER_NAME(name, least, most, minIn, maxIn, handler, arg, attributes) #handler,
static const nnrti_onnx_note nnrti_onnx_notes[] = {NNRTI_ONNX_ABOUT(NNRTI_ONNX_NOTE)};
static const nnrti_onnx_note nnrti_onnx_unsupported[] = {NNRTI_ONNX_UNSUPPORTED(NNRTI_ONNX_OUT)};
#define NNRTI_ONNX_CONTRIB_HANDLER(name, minIn, maxIn, handler, arg, attributes) #handler,
static const char *const nnrti_onnx_handlers[] = {
    NNRTI_ONNX_OPS(NNRTI_ONNX_HANDLER_NAME) NNRTI_ONNX_PREVIEW(NNRTI_ONNX_CONTRIB_HANDLER)
        NNRTI_ONNX_CONTRIB(NNRTI_ONNX_CONTRIB_HANDLER) NNRTI_ONNX_ML(NNRTI_ONNX_CONTRIB_HANDLER)};
#define NNRTI_ONNX_UNSUPPORTED_COUNT ((uint32_t)(sizeof(nnrti_onnx_unsupported) / sizeof(nnrti_onnx_unsupported[0])))

static const nnrti_onnx_note *nnrti_onnx_note_of(const char *key)
{
    for (size_t i = 0; i < sizeof(nnrti_onnx_notes) / sizeof(nnrti_onnx_notes[0]); i++)
        if (strcmp(nnrti_onnx_notes[i].key, key) == 0)
            return &nnrti_onnx_notes[i];
    return NULL;
}

NNRT_API bool nnrt_onnx_operator(uint32_t index, nnrt_onnx_about *about)
{
    const bool known = index < NNRTI_ONNX_ROW_COUNT;
    const nnrti_onnx_importer *r = known ? &nnrti_onnx_rows[index] : NULL;
    const nnrti_onnx_note *note;
    memset(about, 0, sizeof(*about));
    about->becomes = about->with = about->why = "";
    if (!known && index - NNRTI_ONNX_ROW_COUNT >= NNRTI_ONNX_UNSUPPORTED_COUNT)
        return false;
    if (!known) {
        about->name = nnrti_onnx_unsupported[index - NNRTI_ONNX_ROW_COUNT].key;
        about->why = nnrti_onnx_unsupported[index - NNRTI_ONNX_ROW_COUNT].why;
        return true;
    }
    about->name = r->name;
    about->least = r->least;
    about->most = r->most;
    note = nnrti_onnx_note_of(r->name);
    if (note == NULL)
        note = nnrti_onnx_note_of(nnrti_onnx_handlers[index]);
    if (note != NULL) {
        const nnrt_op *op = *note->becomes == '%' ? nnrt_op_find(r->arg) : NULL;
        about->becomes = op != NULL ? op->name : *note->becomes == '%' ? "" : note->becomes;
        about->with = note->with;
        about->why = note->why;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_graph: the graph, node by node */

/* Whether name is "domain.Type", or "Type" in ONNX's own domain, of a node. */
static bool nnrti_onnx_names_node(const char *name, const nnrt_onnx_node *n)
{
    const size_t domain = nnrti_onnx_main_domain(n->domain) ? 0 : n->domain.length + 1;
    return strlen(name) == domain + n->opType.length &&
           (domain == 0 || (memcmp(name, n->domain.data, domain - 1) == 0 && name[domain - 1] == '.')) &&
           (n->opType.length == 0 || memcmp(name + domain, n->opType.data, n->opType.length) == 0);
}

/* The row of a node's operator in any operator set, NULL if there is none. */
static const nnrti_onnx_importer *nnrti_onnx_row_named(const nnrt_onnx_node *n)
{
    for (uint32_t i = 0; i < NNRTI_ONNX_ROW_COUNT; i++)
        if (nnrti_onnx_names_node(nnrti_onnx_rows[i].name, n))
            return &nnrti_onnx_rows[i];
    return NULL;
}

/* The row of a node's operator, NULL if it is unsupported in the current operator set. Versions of other domains are not
   compared: com.microsoft has only one, and those of ai.onnx.ml add attributes. */
static const nnrti_onnx_importer *nnrti_onnx_row_of(const nnrti_onnx *c, const nnrt_onnx_node *n)
{
    const nnrti_onnx_importer *r = nnrti_onnx_row_named(n);
    const bool main = nnrti_onnx_main_domain(n->domain);
    return r != NULL && (!main || (c->opset >= r->least && c->opset <= r->most)) ? r : NULL;
}

/* The application's operator of a node (registered with nnrt_op_register); NULL: none. */
static const nnrt_op *nnrti_onnx_own_of(const nnrt_onnx_node *n)
{
    char name[NNRTI_OP_NAME_BYTES];
    const bool main = nnrti_onnx_main_domain(n->domain);
    const size_t domain = main ? 0 : n->domain.length + 1;
    const nnrt_op *op;
    if (n->overload.length > 0 || (main && nnrti_onnx_row_named(n) != NULL) || domain >= sizeof(name) ||
        n->opType.length >= sizeof(name) - domain || n->opType.length == 0)
        return NULL;
    if (domain > 0) {
        memcpy(name, n->domain.data, domain - 1);
        name[domain - 1] = '.';
    }
    memcpy(name + domain, n->opType.data, n->opType.length);
    name[domain + n->opType.length] = '\0';
    op = strlen(name) == domain + n->opType.length ? nnrt_op_named(name) : NULL;
    return op != NULL && op->type < 0 ? op : NULL;
}

/* True if a node that calls no function has a supported operator. */
static bool nnrti_onnx_is_supported(const nnrti_onnx *c, const nnrt_onnx_node *n)
{
    return nnrti_onnx_row_of(c, n) != NULL || nnrti_onnx_own_of(n) != NULL;
}

/* The key of a function: "domain NUL name NUL overload", in at; returns its length. at NULL: only the length. */
static size_t nnrti_onnx_function_key(nnrt_onnx_str domain, nnrt_onnx_str name, nnrt_onnx_str overload, char *at)
{
    const nnrt_onnx_str parts[3] = {domain, name, overload};
    size_t n = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const size_t length = i == 0 && nnrti_onnx_main_domain(domain) ? 0 : parts[i].length;
        if (at != NULL && length > 0)
            memcpy(at + n, parts[i].data, length);
        n += length;
        if (at != NULL && i < 2)
            at[n] = '\0';
        n += i < 2 ? 1 : 0;
    }
    return n;
}

/* Builds the sorted table of the model's functions. */
static void nnrti_onnx_take_functions(nnrti_onnx *c)
{
    const nnrt_onnx_functions *list = &c->model->functions;
    size_t total = 0, at = 0;
    char *keys;
    if (list->count == 0 || c->code != NNRT_SUCCESS)
        return;
    for (size_t i = 0; i < list->count; i++) {
        const nnrt_onnx_function *f = &list->data[i];
        const size_t length = nnrti_onnx_function_key(f->domain, f->name, f->overload, NULL);
        c->functionKeyRoom = length > c->functionKeyRoom ? length : c->functionKeyRoom;
        total += length;
    }
    c->functions = (nnrti_onnx_entry *)nnrti_onnx_keep(c, list->count, sizeof(*c->functions));
    c->bodies = (const nnrt_onnx_graph **)nnrti_onnx_keep(c, list->count, sizeof(*c->bodies));
    c->functionKey = (char *)nnrti_onnx_keep(c, c->functionKeyRoom, 1);
    keys = (char *)nnrti_onnx_keep(c, total, 1);
    if (c->functions == NULL || c->bodies == NULL || c->functionKey == NULL || keys == NULL)
        return;
    for (size_t i = 0; i < list->count; i++) {
        const nnrt_onnx_function *f = &list->data[i];
        c->functions[i].key.data = keys + at;
        c->functions[i].key.length = nnrti_onnx_function_key(f->domain, f->name, f->overload, keys + at);
        c->functions[i].value = (uint32_t)i;
        at += c->functions[i].key.length;
    }
    c->nFunctions = nnrti_onnx_sort(c->functions, list->count);
    if (c->nFunctions != list->count)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "two of its functions have the same domain, name and overload");
}

/* Index in c->functions of the function that a node calls, nFunctions if it calls none. A function of the file takes
   precedence over an operator of the same name, but not over one of the application. */
static size_t nnrti_onnx_function_of(const nnrti_onnx *c, const nnrt_onnx_node *n)
{
    nnrt_onnx_str key;
    key.data = c->functionKey;
    key.length = c->nFunctions > 0 ? nnrti_onnx_function_key(n->domain, n->opType, n->overload, NULL) : 0;
    if (c->nFunctions == 0 || key.length > c->functionKeyRoom || nnrti_onnx_own_of(n) != NULL)
        return c->nFunctions;
    (void)nnrti_onnx_function_key(n->domain, n->opType, n->overload, c->functionKey);
    return nnrti_onnx_search(c->functions, c->nFunctions, key);
}

#define NNRTI_ONNX_MAX_CALLS 64 /* the deepest nesting of function calls */
#define NNRTI_ONNX_LISTED 24

/* Unsupported operators and their numbers of occurrences; others: number of occurrences of operators that the list has
   no room for. */
typedef struct nnrti_onnx_kinds {
    const nnrt_onnx_node *kinds[NNRTI_ONNX_LISTED];
    uint32_t counts[NNRTI_ONNX_LISTED], n, others;
    nnrti_onnx_entry *calls; /* [0..called-1].value: indices of called functions; [index].isInput: it is in the list */
    bool *missing;           /* by index: the function contains an unsupported operator */
    size_t called;
} nnrti_onnx_kinds;

/* Collects the unsupported operators of nodes and of their subgraphs. Nesting that is too deep is reported later. */
static void nnrti_onnx_find_kinds(nnrti_onnx *c, const nnrt_onnx_nodes *nodes, uint32_t depth, nnrti_onnx_kinds *found)
{
    for (size_t i = 0; i < nodes->count; i++) {
        const nnrt_onnx_node *node = &nodes->data[i];
        const size_t f = nnrti_onnx_function_of(c, node);
        uint32_t k = 0;
        if (node->unneeded)
            continue;
        for (size_t a = 0; a < node->attributes.count && depth < NNRT_MAX_NESTING; a++)
            if (node->attributes.data[a].g != NULL)
                nnrti_onnx_find_kinds(c, &node->attributes.data[a].g->nodes, depth + 1, found);
        if (f < c->nFunctions && !found->calls[f].isInput) { /* reached for the first time */
            found->calls[f].isInput = true;
            found->calls[found->called++].value = (uint32_t)f;
        }
        if (f < c->nFunctions || nnrti_onnx_is_supported(c, node))
            continue;
        while (k < found->n && !(nnrti_onnx_same_text(found->kinds[k]->opType, node->opType) &&
                                 nnrti_onnx_same_text(found->kinds[k]->domain, node->domain)))
            k++;
        if (k == NNRTI_ONNX_LISTED) {
            found->others++;
            continue;
        }
        found->counts[k] = k == found->n ? 1 : found->counts[k] + 1;
        found->kinds[k] = k == found->n ? node : found->kinds[k];
        found->n += k == found->n ? 1 : 0;
    }
}

/* True if one of these nodes, their subgraphs or the functions that they call has an unsupported operator. */
static bool nnrti_onnx_has_unsupported(const nnrti_onnx *c, const nnrti_onnx_kinds *found, const nnrt_onnx_node *nodes,
                                       size_t count, uint32_t depth)
{
    for (size_t i = 0; i < count; i++) {
        const size_t f = nnrti_onnx_function_of(c, &nodes[i]);
        if (f < c->nFunctions ? found->missing[f] : !nnrti_onnx_is_supported(c, &nodes[i]))
            return true;
        for (size_t a = 0; a < nodes[i].attributes.count && depth < NNRT_MAX_NESTING; a++) {
            const nnrt_onnx_graph *g = nodes[i].attributes.data[a].g;
            if (g != NULL && nnrti_onnx_has_unsupported(c, found, g->nodes.data, g->nodes.count, depth + 1))
                return true;
        }
    }
    return false;
}

/* A walk that looks for values to cut the graph at. isInput of an entry: the value depends on an unsupported operator.
   value: 1 if it depends on an input of the model, 2 once it is listed. */
typedef struct nnrti_onnx_before {
    const nnrti_onnx_names *names;
    bool missing, lost, fed; /* of a node: unsupported; depends on an unsupported one; depends on a model input */
    char text[96];
    size_t length;
    uint32_t listed;
} nnrti_onnx_before;

static void nnrti_onnx_before_see(void *user, nnrt_onnx_str name)
{
    nnrti_onnx_before *b = (nnrti_onnx_before *)user;
    nnrti_onnx_entry *e = nnrti_onnx_name_at(b->names, name);
    char text[64];
    if (e == NULL)
        return;
    b->lost = b->lost || e->isInput;
    b->fed = b->fed || e->value != 0;
    if (!b->missing || e->isInput || e->value != 1 || e->node == NULL || b->length + name.length + 8 > sizeof(b->text))
        return;
    b->length += nnrt_text(b->text + b->length, sizeof(b->text) - b->length, "%s'%s'", b->listed++ > 0 ? ", " : "",
                           nnrti_onnx_text(text, name));
    e->value = 2;
}

/* Lists in b->text the inputs of nodes with unsupported operators that do not depend on such operators themselves. */
static void nnrti_onnx_before_missing(nnrti_onnx *c, const nnrti_onnx_kinds *found, nnrti_onnx_before *b)
{
    const nnrt_onnx_graph *g = c->model->graph;
    const nnrti_onnx_names names = nnrti_onnx_names_of(g, c->desc->allocator);
    memset(b, 0, sizeof(*b));
    b->names = &names;
    for (size_t i = 0; i < g->inputs.count + g->initializers.count && names.data != NULL; i++) {
        const bool input = i < g->inputs.count;
        nnrti_onnx_entry *e =
            nnrti_onnx_name_at(&names, input ? g->inputs.data[i].name : g->initializers.data[i - g->inputs.count].name);
        if (e != NULL)
            e->value = input;
    }
    for (size_t i = 0; i < g->nodes.count && names.data != NULL; i++) {
        const nnrt_onnx_node *node = &g->nodes.data[i];
        b->lost = b->fed = false;
        b->missing = !node->unneeded && nnrti_onnx_has_unsupported(c, found, node, 1, 0);
        nnrti_onnx_reads(node, nnrti_onnx_before_see, b);
        for (size_t k = 0; k < node->outputs.count; k++) {
            nnrti_onnx_entry *e = nnrti_onnx_name_at(&names, node->outputs.data[k]);
            if (e != NULL) {
                e->isInput = b->lost || b->missing;
                e->value = b->fed;
            }
        }
    }
    nnrt_free(c->desc->allocator, names.data, names.bytes);
    b->names = NULL;
}

/* Operator set version of the domain "" in this list, `initial` if it is absent. */
static int64_t nnrti_onnx_opset_of(const nnrt_onnx_opsets *opsets, int64_t initial)
{
    int64_t version = initial;
    for (size_t i = 0; i < opsets->count; i++)
        if (nnrti_onnx_main_domain(opsets->data[i].domain))
            version = opsets->data[i].version;
    return version;
}

/* Fails if the current operator set is newer than the table. what: its owner, for the message. */
static void nnrti_onnx_check_opset(nnrti_onnx *c, const char *what)
{
    int32_t newest = 0;
    for (uint32_t i = 0; i < NNRTI_ONNX_ROW_COUNT; i++)
        newest = nnrti_onnx_rows[i].most > newest ? nnrti_onnx_rows[i].most : newest;
    if (c->opset > newest)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "%s has operator set %l, the newest supported one is %d", what,
                        c->opset, newest);
}

/* The reason why a node's operator is unsupported, from the list of unsupported operators; NULL: not in the list. */
static const char *nnrti_onnx_unsupported_why(const nnrt_onnx_node *n)
{
    for (uint32_t i = 0; i < NNRTI_ONNX_UNSUPPORTED_COUNT; i++)
        if (nnrti_onnx_names_node(nnrti_onnx_unsupported[i].key, n))
            return nnrti_onnx_unsupported[i].why;
    return NULL;
}

/* Marks the called functions that contain unsupported operators, directly or in functions that they call. */
static void nnrti_onnx_find_missing(nnrti_onnx *c, const nnrti_onnx_kinds *found)
{
    const int64_t opset = c->opset;
    bool changed = true;
    for (uint32_t round = 0; round < NNRTI_ONNX_MAX_CALLS && changed; round++) {
        changed = false;
        for (size_t i = found->called; i-- > 0;) { /* callees are mostly listed after their callers */
            const size_t place = found->calls[i].value;
            const nnrt_onnx_function *f = &c->model->functions.data[c->functions[place].value];
            c->opset = nnrti_onnx_opset_of(&f->opsetImport, opset);
            if (!found->missing[place] && nnrti_onnx_has_unsupported(c, found, f->nodes.data, f->nodes.count, 0))
                changed = found->missing[place] = true;
        }
    }
    c->opset = opset;
}

#define NNRTI_ONNX_BEFORE "; nnrt_onnx_desc.outputs %s leaves them out"
#define NNRTI_ONNX_OWN "; nnrt_op_register can add them"
#define NNRTI_ONNX_ORT                                                                                                 \
    "; com.microsoft is ONNX Runtime's: save at ORT_ENABLE_BASIC, quantized as QDQ, or nnrt_op_register"

/* Finds the unsupported operators of the graph and of the functions that it calls, and checks their operator sets. */
static void nnrti_onnx_find_unsupported(nnrti_onnx *c, nnrti_onnx_kinds *found)
{
    const int64_t opset = c->opset;
    memset(found, 0, sizeof(*found));
    found->calls = (nnrti_onnx_entry *)nnrti_onnx_keep(c, c->nFunctions, sizeof(*found->calls));
    found->missing = (bool *)nnrti_onnx_keep(c, c->nFunctions, sizeof(*found->missing));
    nnrti_onnx_check_opset(c, "the file");
    if (c->code != NNRT_SUCCESS)
        return;
    nnrti_onnx_find_kinds(c, &c->model->graph->nodes, 0, found);
    for (size_t i = 0; i < found->called && c->code == NNRT_SUCCESS; i++) {
        const nnrt_onnx_function *f = &c->model->functions.data[c->functions[found->calls[i].value].value];
        char text[64];
        c->opset = nnrti_onnx_opset_of(&f->opsetImport, opset);
        nnrti_onnx_check_opset(c, nnrti_onnx_text(text, f->name));
        nnrti_onnx_find_kinds(c, &f->nodes, 0, found);
    }
    c->opset = opset;
}

/* Writes " Type x3 'name of the first', .. (reason)" for an unsupported operator; returns the length. */
static size_t nnrti_onnx_unsupported_text(char *out, size_t size, const nnrt_onnx_node *node, uint32_t count)
{
    char domain[64], type[64], name[64];
    const bool named = !nnrti_onnx_main_domain(node->domain);
    const nnrti_onnx_importer *r = nnrti_onnx_row_named(node);
    const char *why = nnrti_onnx_unsupported_why(node);
    size_t length = nnrt_text(out, size, " %s%s%s x%u", named ? nnrti_onnx_text(domain, node->domain) : "",
                              named ? "." : "", nnrti_onnx_text(type, node->opType), count);
    if (node->name.length > 0)
        length += nnrt_text(out + length, size - length, count > 1 ? " '%s', .." : " '%s'",
                            nnrti_onnx_text(name, node->name));
    if (r != NULL)
        length += nnrt_text(out + length, size - length, " (supported in sets %d to %d)", r->least, r->most);
    if (why != NULL)
        length += nnrt_text(out + length, size - length, " (%s)", why);
    return length;
}

/* "(operator set 17, written by pytorch 2.3)", as far as the file says it; the set if the domain "" is meant. */
static size_t nnrti_onnx_source_text(char *out, size_t size, const nnrti_onnx *c, bool main)
{
    const nnrt_onnx_str by = c->model->producerName, version = c->model->producerVersion;
    char set[32] = "", name[64], number[64], from[48] = "";
    if (main)
        (void)nnrt_text(set, sizeof(set), "operator set %l", c->opset);
    if (by.length > 0)
        (void)nnrt_text(from, sizeof(from), "%swritten by %s%s%s", main ? ", " : "", nnrti_onnx_text(name, by),
                        version.length > 0 ? " " : "", nnrti_onnx_text(number, version));
    return main || by.length > 0 ? nnrt_text(out, size, " (%s%s)", set, from) : 0;
}

/* Fails if the model has unsupported operators: lists them with number of occurrences, first node and reason, the
   producer of the file, and the values before them. */
static void nnrti_onnx_check_operators(nnrti_onnx *c)
{
    nnrti_onnx_kinds found;
    const nnrt_onnx_node **kinds = found.kinds;
    nnrti_onnx_before before;
    uint32_t n, others;
    bool main = false, ort = false, own = false; /* domains seen: ONNX's, ONNX Runtime's, others */
    size_t at, room = 24;                        /* reserve for the end of the message */
    nnrti_onnx_find_unsupported(c, &found);
    if (c->code != NNRT_SUCCESS || found.n == 0)
        return;
    n = found.n;
    others = found.others;
    nnrti_onnx_find_missing(c, &found);
    nnrti_onnx_before_missing(c, &found, &before);
    for (uint32_t k = 0; k < n; k++) {
        const nnrt_onnx_str domain = kinds[k]->domain;
        main = main || nnrti_onnx_main_domain(domain);
        own = own || (!nnrti_onnx_main_domain(domain) && nnrti_onnx_unsupported_why(kinds[k]) == NULL);
        ort = ort || (domain.length == 13 && memcmp(domain.data, "com.microsoft", 13) == 0);
    }
    room += ort ? sizeof(NNRTI_ONNX_ORT) : own ? sizeof(NNRTI_ONNX_OWN) : 0;
    room += before.listed > 0 ? before.length + sizeof(NNRTI_ONNX_BEFORE) : 0;
    at = nnrt_text(c->text, sizeof(c->text), "operators that are not supported");
    at += nnrti_onnx_source_text(c->text + at, sizeof(c->text) - at, c, main);
    at += nnrt_text(c->text + at, sizeof(c->text) - at, ":");
    for (uint32_t k = 0; k < n; k++) {
        char one[256];
        const size_t comma = k > 0 ? 1 : 0;
        const size_t length = comma + nnrti_onnx_unsupported_text(one, sizeof(one) - comma, kinds[k], found.counts[k]);
        if (at + length + room > sizeof(c->text))
            others += found.counts[k];
        else
            at += nnrt_text(c->text + at, sizeof(c->text) - at, "%s%s", k > 0 ? "," : "", one);
    }
    if (others > 0)
        at += nnrt_text(c->text + at, sizeof(c->text) - at, " and %u others", others);
    if (ort)
        at += nnrt_text(c->text + at, sizeof(c->text) - at, NNRTI_ONNX_ORT);
    else if (own)
        at += nnrt_text(c->text + at, sizeof(c->text) - at, NNRTI_ONNX_OWN);
    if (before.listed > 0)
        (void)nnrt_text(c->text + at, sizeof(c->text) - at, NNRTI_ONNX_BEFORE, before.text);
    nnrti_onnx_blame(c, NNRT_UNSUPPORTED_OP);
}

/* The kind of an input or output: a tensor or a sequence, also if it is optional; 0: something else. */
static nnrt_onnx_type_kind nnrti_onnx_kind_of(const nnrt_onnx_value_info *info)
{
    const bool optional = info->kind == NNRT_ONNX_KIND_OPTIONAL;
    const nnrt_onnx_type_kind kind = optional ? info->elemKind : info->kind;
    const bool tensors = kind == NNRT_ONNX_KIND_SEQUENCE && (optional || info->elemKind == NNRT_ONNX_KIND_TENSOR);
    return kind == NNRT_ONNX_KIND_TENSOR || tensors ? kind : NNRT_ONNX_KIND_ABSENT;
}

/* Length of the name in "name[7]", and the number, its position; 0: another name. */
static size_t nnrti_onnx_element_name(const char *text, int64_t *position)
{
    size_t length = strlen(text), at = length;
    int64_t scale = 1;
    *position = 0;
    if (length < 4 || text[length - 1] != ']')
        return 0;
    for (at = length - 1; at > 1 && text[at - 1] >= '0' && text[at - 1] <= '9' && scale < 10000000; at--, scale *= 10)
        *position += (text[at - 1] - '0') * scale;
    return scale > 1 && text[at - 1] == '[' ? at - 1 : 0;
}

/* Attaches the caller's descriptions of inputs (desc->inputs) to the entries of their names. "name[2]" describes a tensor of
   the sequence `name`, which has at least 3. */
static void nnrti_onnx_apply_inputs(nnrti_onnx *c)
{
    for (uint32_t i = 0; i < c->desc->inputCount && c->code == NNRT_SUCCESS; i++) {
        nnrti_onnx_entry *e;
        nnrt_onnx_str name;
        int64_t position;
        name.data = c->desc->inputs[i].name != NULL ? c->desc->inputs[i].name : "";
        name.length = strlen(name.data);
        e = nnrti_onnx_entry_of(c, name);
        if (!e->isInput && (name.length = nnrti_onnx_element_name(name.data, &position)) > 0 &&
            (e = nnrti_onnx_entry_of(c, name))->isInput)
            e->elements = position < e->elements ? e->elements : position + 1;
        else if (!e->isInput || e->told != NULL)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                            e->isInput ? "input '%s' is described twice" : "the model has no input '%s'",
                            c->desc->inputs[i].name != NULL ? c->desc->inputs[i].name : "");
        else
            e->told = &c->desc->inputs[i];
    }
}

/* The caller's description of the input of this name; NULL: none. Fails if there are two. */
static const nnrt_onnx_input *nnrti_onnx_told(nnrti_onnx *c, const char *name)
{
    const nnrt_onnx_input *told = NULL;
    for (uint32_t i = 0; i < c->desc->inputCount; i++)
        if (c->desc->inputs[i].name != NULL && strcmp(c->desc->inputs[i].name, name) == 0) {
            if (told != NULL)
                NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "input '%s' is described twice", name);
            told = &c->desc->inputs[i];
        }
    return told;
}

/* Shape of an input: the caller's, else the file's; -1 (dynamic) for dimensions that neither fixes. Returns the
   rank. */
static int32_t nnrti_onnx_input_shape(nnrti_onnx *c, const nnrt_onnx_value_info *info, const nnrt_onnx_input *given,
                                      int32_t dims[NNRT_MAX_RANK], const char *name)
{
    const size_t rank = given != NULL ? (size_t)given->shape.rank : info->dims.count;
    if (given == NULL && !info->hasShape) {
        NNRTI_ONNX_NEEDS(c, "input '%s' has no shape in the file: give its shape", name);
        return 0;
    }
    if (rank > NNRT_MAX_RANK) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input '%s' has %z axes, at most %d are possible", name, rank,
                        NNRT_MAX_RANK);
        return 0;
    }
    for (size_t i = 0; i < rank; i++) {
        const bool fixed = info->hasShape && i < info->dims.count && info->dims.data[i].kind == NNRT_ONNX_DIM_VALUE;
        const int64_t n = given != NULL ? given->shape.dims[i] : fixed ? info->dims.data[i].value : -1;
        if (n > INT32_MAX) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input '%s': size %l of axis %z is outside the range of int32", name,
                            n, i);
            return 0;
        }
        if (given != NULL && fixed && n >= 0 && info->dims.count == rank && n != info->dims.data[i].value) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE,
                            "input '%s': axis %z has size %l in the file, but the given size is %l", name, i,
                            fixed ? info->dims.data[i].value : -1, n);
            return 0;
        }
        dims[i] = n < 0 ? -1 : (int32_t)n;
    }
    return (int32_t)rank;
}

/* Dynamic dimensions of inputs with the same name in the file (dim_param) share a symbol: they are equal in every
   run. */
static void nnrti_onnx_name_dims(nnrti_onnx *c, const nnrt_onnx_value_info *info, uint32_t v, const int32_t *dims,
                                 int32_t rank)
{
    uint32_t symbols[NNRT_MAX_RANK] = {0};
    bool named = false;
    for (int32_t i = 0; i < rank && info->dims.count == (size_t)rank; i++) {
        const nnrt_onnx_str name = info->dims.data[i].param;
        uint32_t k = 0;
        while (k < c->nParams && !nnrti_onnx_same_text(c->params[k], name))
            k++;
        if (dims[i] != -1 || name.length == 0 || k == NNRTI_ONNX_PARAMS)
            continue;
        c->params[k] = name;
        c->nParams = k == c->nParams ? k + 1 : c->nParams;
        symbols[i] = k + 1;
        named = true;
    }
    if (named)
        nnrt_builder_symbols(c->builder, v, symbols, (uint32_t)rank);
}

/* The value of an input of this name, which is a tensor: a constant if the caller gave its elements. inside: it is a tensor of
   a sequence; their dimensions of one name may differ. */
static uint32_t nnrti_onnx_tensor_input(nnrti_onnx *c, const nnrt_onnx_value_info *info, const nnrt_onnx_input *given,
                                        const char *name, bool inside)
{
    int32_t dims[NNRT_MAX_RANK];
    nnrt_onnx_type storage;
    const NNRT_DataType type = nnrti_onnx_take_stored(c, info->elemType, "input", name, &storage);
    const int32_t rank = nnrti_onnx_input_shape(c, info, given, dims, name);
    uint32_t v;
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    if (given != NULL && given->data != NULL) {
        size_t bytes = 0;
        if (nnrt_dims_bytes(dims, rank, type, &bytes))
            nnrti_onnx_budget_add(c->budget, c->desc, bytes);
        v = nnrti_onnx_constant_copy(c, type, rank, dims, given->data);
        nnrti_onnx_set_storage(c, v, storage);
        return v;
    }
    v = nnrt_builder_input(c->builder, name, type, rank, dims);
    nnrti_onnx_set_storage(c, v, storage);
    if (!inside)
        nnrti_onnx_name_dims(c, info, v, dims, rank);
    return nnrti_onnx_fine(c) ? v : NNRT_NO_TENSOR;
}

/* The name of element i of a sequence: "name[i]". Another input or output of the list may not have it. */
static const char *nnrti_onnx_element_text(nnrti_onnx *c, const nnrt_onnx_value_infos *list, nnrt_onnx_str name, uint32_t i)
{
    const size_t room = name.length + 16;
    char *text = (char *)nnrti_onnx_keep(c, room, 1);
    if (text != NULL && name.length > 0)
        memcpy(text, name.data, name.length);
    if (text != NULL)
        (void)nnrt_text(text + name.length, room - name.length, "[%u]", i);
    for (size_t k = 0; text != NULL && k < list->count; k++)
        if (nnrti_onnx_is(list->data[k].name, text))
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "'%s' is the name of an input or output, and of a tensor of a sequence", text);
    return text;
}

/* The value of an input that is a sequence. Its shape in the caller's description is [N], its length; or the caller describes
   its tensors. */
static uint32_t nnrti_onnx_sequence_input(nnrti_onnx *c, const nnrt_onnx_value_info *info, const nnrti_onnx_entry *e,
                                          const char *name)
{
    const bool told = e->told != NULL && (e->told->shape.rank != 1 || e->told->shape.dims[0] >= 0);
    const int64_t count = told ? e->told->shape.dims[0] : e->elements;
    uint32_t *values;
    if (told && (e->told->shape.rank != 1 || e->told->data != NULL || e->elements > count))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input '%s' is a sequence, expected its length as its shape, [N]", name);
    else if (!told && count == 0)
        NNRTI_ONNX_NEEDS(c, "input '%s' is a sequence of unknown length: give its length as its shape, [N], or the shapes of its "
                         "tensors '%s[0]', '%s[1]', ..", name, name, name);
    if (c->code != NNRT_SUCCESS || !nnrti_onnx_work(c, NNRTI_ONNX_CALL_WORK * (double)count))
        return NNRT_NO_TENSOR;
    values = (uint32_t *)nnrti_onnx_keep(c, (size_t)count + 1, sizeof(*values));
    for (uint32_t i = 0; i < (uint32_t)count && values != NULL && c->code == NNRT_SUCCESS; i++) {
        const char *own = nnrti_onnx_element_text(c, &c->model->graph->inputs, info->name, i);
        if (own != NULL)
            values[i] = nnrti_onnx_tensor_input(c, info, e->elements > 0 ? nnrti_onnx_told(c, own) : NULL, own, true);
    }
    return values != NULL && c->code == NNRT_SUCCESS ? nnrti_onnx_new_sequence(c, values, (uint32_t)count) : NNRT_NO_TENSOR;
}

static void nnrti_onnx_add_input(nnrti_onnx *c, const nnrt_onnx_value_info *info)
{
    static const char *const kinds[] = {"no type", "a tensor", "?", "?", "a sequence of other values", "a map", "?",
                                        "an opaque value", "a sparse tensor", "an optional value of another kind"};
    const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, info->name);
    const nnrt_onnx_type_kind kind = nnrti_onnx_kind_of(info);
    const bool told = e->told != NULL || e->elements > 0;
    char name[64];
    uint32_t v = NNRT_NO_TENSOR;
    (void)nnrti_onnx_text(name, info->name);
    if (e->name.data != NULL && nnrti_onnx_is_input(c, e->value)) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "value '%s' is defined twice", name);
        return;
    }
    if (e->name.data != NULL)
        return; /* also an initializer: a constant */
    if (kind == NNRT_ONNX_KIND_ABSENT)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "input '%s' is %s, expected a tensor, or a sequence of tensors", name,
                        info->kind >= 0 && info->kind < 10 ? kinds[info->kind] : "?");
    else if (kind == NNRT_ONNX_KIND_TENSOR && e->elements > 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "input '%s' is a tensor, no sequence", name);
    else if (info->kind == NNRT_ONNX_KIND_OPTIONAL && !told && !c->desc->final)
        NNRTI_ONNX_NEEDS(c, "input '%s' is optional: give its shape if it has a value", name);
    else if (info->kind == NNRT_ONNX_KIND_OPTIONAL && !told)
        nnrti_onnx_bind_absent(c, info->name);
    else if (kind == NNRT_ONNX_KIND_SEQUENCE)
        v = nnrti_onnx_sequence_input(c, info, e, name);
    else
        v = nnrti_onnx_tensor_input(c, info, e->told, nnrti_onnx_copy_text(c, info->name), false);
    nnrti_onnx_bind(c, info->name, v);
}

static void nnrti_onnx_add_initializers(nnrti_onnx *c)
{
    const nnrt_onnx_graph *g = c->graph;
    if (g->sparseInitializerCount > 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "sparse initializers are not supported");
    for (size_t i = 0; i < g->initializers.count && c->code == NNRT_SUCCESS; i++) {
        if (g->initializers.data[i].name.length == 0)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "initializer %z has no name", i);
        else
            nnrti_onnx_bind(c, g->initializers.data[i].name, nnrti_onnx_tensor_value(c, &g->initializers.data[i]));
    }
}

static void nnrti_onnx_add_inputs(nnrti_onnx *c)
{
    const nnrt_onnx_graph *g = c->graph;
    nnrti_onnx_add_initializers(c);
    for (size_t i = 0; i < g->inputs.count && c->code == NNRT_SUCCESS; i++)
        nnrti_onnx_add_input(c, &g->inputs.data[i]);
}

/* True if word is one of the words of list, which are separated by spaces. */
static bool nnrti_onnx_in_list(const char *list, nnrt_onnx_str word)
{
    while (*list != '\0') {
        const size_t n = strcspn(list, " ");
        if (word.length == n && memcmp(list, word.data, n) == 0)
            return true;
        list += n + (list[n] == ' ' ? 1 : 0);
    }
    return false;
}

/* Checks common to all operators: number of inputs and outputs, attribute names. */
static void nnrti_onnx_check_node(nnrti_onnx *c)
{
    const nnrt_onnx_node *n = c->node;
    const nnrti_onnx_importer *r = c->row;
    char text[64];
    if (n->inputs.count < r->minIn || n->inputs.count > r->maxIn || n->outputs.count == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "%z inputs and %z outputs, expected %u to %u inputs", n->inputs.count,
                        n->outputs.count, r->minIn, r->maxIn);
    for (uint32_t i = 0; i < r->minIn && c->code == NNRT_SUCCESS; i++)
        if (nnrti_onnx_in(c, i) == NNRT_NO_TENSOR)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is missing", i);
    for (size_t i = 0; i < n->attributes.count && c->code == NNRT_SUCCESS; i++) {
        const nnrt_onnx_attribute *a = &n->attributes.data[i];
        if (a->refAttrName.data != NULL)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' refers to one of a function",
                            nnrti_onnx_text(text, a->name));
        else if (!nnrti_onnx_in_list(r->attributes, a->name) && !nnrti_onnx_is(a->name, "consumed_inputs"))
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' is not supported", nnrti_onnx_text(text, a->name));
    }
}

/* Operators that accept types of storage; the second list: results of the type of input 0; the third: they refuse bfloat16, as
   their results have a type of their own, or are sequences. */
#define NNRTI_ONNX_STORING "Cast CastLike Celu DequantizeLinear OptionalHasElement QuantizeLinear Range Shape Size SwiGLU"
#define NNRTI_ONNX_MOVING                                                                                              \
    "Concat Expand Flatten Gather Identity Optional OptionalGetElement Reshape SequenceConstruct SequenceInsert Slice Split " \
    "Squeeze Tile Transpose Unsqueeze"
#define NNRTI_ONNX_TYPED "Bernoulli EyeLike MelWeightMatrix RandomNormalLike RandomUniformLike SplitToSequence"

/* Whether the node computes bfloat16 in float32 (nnrti_onnx_in_float32): an operator of ONNX that runs no graph. */
static bool nnrti_onnx_computes_wide(const nnrti_onnx *c)
{
    bool graph = false;
    for (size_t i = 0; i < c->node->attributes.count; i++)
        graph = graph || c->node->attributes.data[i].type == NNRT_ONNX_ATTRIBUTE_GRAPH;
    return !graph && nnrti_onnx_main_domain(c->node->domain) && nnrti_onnx_own_of(c->node) == NULL &&
           !nnrti_onnx_in_list(NNRTI_ONNX_STORING " " NNRTI_ONNX_MOVING " " NNRTI_ONNX_TYPED, c->node->opType);
}

/* Refuses a value of a type of storage as input of an operator that would take its codes for numbers. Returns the type
   of storage of the results. *wide: the operator computes inputs of bfloat16 in float32. */
static nnrt_onnx_type nnrti_onnx_check_storage(nnrti_onnx *c, bool *wide)
{
    const nnrt_onnx_str op = c->node->opType;
    const bool main = nnrti_onnx_main_domain(c->node->domain), moves = main && nnrti_onnx_in_list(NNRTI_ONNX_MOVING, op);
    nnrt_onnx_type first = NNRT_ONNX_UNDEFINED;
    *wide = false;
    char text[64];
    for (uint32_t i = 0; i < c->node->inputs.count && c->storageCount > 0 && c->code == NNRT_SUCCESS; i++) {
        const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, c->node->inputs.data[i]);
        const nnrt_onnx_type type =
            e->name.data != NULL ? nnrti_onnx_storage_type(c, e->value) : (nnrt_onnx_type)NNRT_ONNX_UNDEFINED;
        first = i == 0 ? type : first;
        if (type == NNRT_ONNX_BFLOAT16 && nnrti_onnx_computes_wide(c))
            *wide = true;
        else if (moves && nnrti_onnx_is(op, "Concat") && type != first)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "input %u '%s' has another element type than input 0", i,
                            nnrti_onnx_text(text, c->node->inputs.data[i]));
        else if (type != NNRT_ONNX_UNDEFINED && !moves &&
                 !(main ? nnrti_onnx_in_list(NNRTI_ONNX_STORING, op) : nnrti_onnx_is(c->node->domain, "ai.onnx.preview")))
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE,
                            "input %u '%s' has element type %s (%d), which is not supported here: insert a Cast to float",
                            i, nnrti_onnx_text(text, c->node->inputs.data[i]), nnrti_onnx_type_text(type), type);
    }
    return moves ? first : (nnrt_onnx_type)NNRT_ONNX_UNDEFINED;
}

/* The number of the enumerator that attribute a names, or whose number it is. */
static int32_t nnrti_onnx_own_enum(nnrti_onnx *c, const nnrt_attr_member *m, const nnrt_onnx_attribute *a)
{
    char text[64];
    for (uint32_t i = 0; i < m->valueCount; i++)
        if (a->type == NNRT_ONNX_ATTRIBUTE_INT ? m->values[i].value == a->i : nnrti_onnx_is(a->s, m->values[i].name))
            return m->values[i].value;
    if (a->type == NNRT_ONNX_ATTRIBUTE_INT)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' is %l, which is not the number of an enumerator",
                        m->name, a->i);
    else
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' is '%s', which is not the name of an enumerator",
                        m->name, nnrti_onnx_text(text, a->s));
    return 0;
}

/* The attribute type that a member accepts, UNDEFINED: none. */
static nnrt_onnx_attribute_type nnrti_onnx_own_type(const nnrt_attr_member *m, const nnrt_onnx_attribute *a)
{
    switch (m->kind) {
    case NNRT_ATTR_KIND_BOOL:
    case NNRT_ATTR_KIND_INT:
    case NNRT_ATTR_KIND_INT64:
    case NNRT_ATTR_KIND_TYPE: return NNRT_ONNX_ATTRIBUTE_INT;
    case NNRT_ATTR_KIND_FLOAT:
    case NNRT_ATTR_KIND_DOUBLE: return NNRT_ONNX_ATTRIBUTE_FLOAT;
    case NNRT_ATTR_KIND_ENUM:
        return a->type == NNRT_ONNX_ATTRIBUTE_INT ? NNRT_ONNX_ATTRIBUTE_INT : NNRT_ONNX_ATTRIBUTE_STRING;
    case NNRT_ATTR_KIND_STRING: return NNRT_ONNX_ATTRIBUTE_STRING;
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS64: return NNRT_ONNX_ATTRIBUTE_INTS;
    case NNRT_ATTR_KIND_FLOATS: return NNRT_ONNX_ATTRIBUTE_FLOATS;
    default: return NNRT_ONNX_ATTRIBUTE_UNDEFINED;
    }
}

/* Stores attribute a of the node in member m of an operator's attributes. Lists are not copied here; the builder copies
   them. */
static void nnrti_onnx_own_attr(nnrti_onnx *c, const nnrt_attr_member *m, const nnrt_onnx_attribute *a, uint8_t *at)
{
    const nnrt_onnx_attribute_type type = nnrti_onnx_own_type(m, a);
    const double real = (double)a->f;
    const bool yes = a->i != 0;
    int64_t whole = a->i;
    int32_t number;
    if (type == NNRT_ONNX_ATTRIBUTE_UNDEFINED)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' is a list of lists, which ONNX does not have", m->name);
    else if (a->type != type)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' has type %d, expected %d", m->name, a->type, type);
    else if (a->ints.count > UINT32_MAX || a->floats.count > UINT32_MAX)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' has too many entries", m->name);
    if (c->code != NNRT_SUCCESS)
        return;
    switch (m->kind) {
    case NNRT_ATTR_KIND_BOOL:
        if (a->i != 0 && a->i != 1)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' is %l, expected 0 or 1", m->name, a->i);
        memcpy(at, &yes, sizeof(yes));
        break;
    case NNRT_ATTR_KIND_INT:
    case NNRT_ATTR_KIND_INT64: memcpy(at, &whole, sizeof(whole)); break;
    case NNRT_ATTR_KIND_TYPE:
        whole = number = a->i > 0 && a->i < 64 ? nnrti_onnx_type_of((nnrt_onnx_type)a->i) : NNRT_DATA_TYPE_UNKNOWN;
        if (number == NNRT_DATA_TYPE_UNKNOWN)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' is element type %l, which is not supported",
                            m->name, a->i);
        memcpy(at, m->bytes == sizeof(whole) ? (const void *)&whole : (const void *)&number, m->bytes);
        break;
    case NNRT_ATTR_KIND_FLOAT: memcpy(at, &a->f, sizeof(a->f)); break;
    case NNRT_ATTR_KIND_DOUBLE: memcpy(at, &real, sizeof(real)); break;
    case NNRT_ATTR_KIND_ENUM:
        number = nnrti_onnx_own_enum(c, m, a);
        memcpy(at, &number, sizeof(number));
        break;
    case NNRT_ATTR_KIND_STRING: {
        const char *text = nnrti_onnx_copy_text(c, a->s);
        if (a->s.length > 0 && memchr(a->s.data, '\0', a->s.length) != NULL)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' is a string that contains NUL bytes", m->name);
        memcpy(at, &text, sizeof(text));
        break;
    }
    case NNRT_ATTR_KIND_FLOATS:
        *(NNRT_FloatList *)(void *)at = nnrt_float_list(a->floats.data, (uint32_t)a->floats.count);
        break;
    default: *(NNRT_Int64List *)(void *)at = nnrt_int64_list(a->ints.data, (uint32_t)a->ints.count); break;
    }
}

/* Adds the node as a node of an operator of the application. */
static void nnrti_onnx_add_own(nnrti_onnx *c, const nnrt_op *op)
{
    const nnrt_onnx_node *n = c->node;
    uint8_t *attr = (uint8_t *)nnrti_onnx_keep(c, 1, op->attr->bytes);
    uint32_t *in = (uint32_t *)nnrti_onnx_keep(c, n->inputs.count + n->outputs.count + 1, sizeof(*in));
    uint32_t *out = in != NULL ? in + n->inputs.count : NULL, nIn = (uint32_t)n->inputs.count,
             nOut = (uint32_t)n->outputs.count;
    char text[64];
    if (attr == NULL || in == NULL)
        return;
    nnrt_attr_defaults(op->attr, attr);
    for (size_t i = 0; i < n->attributes.count && c->code == NNRT_SUCCESS; i++) {
        const nnrt_onnx_attribute *a = &n->attributes.data[i];
        uint32_t k = 0;
        while (k < op->attr->count && !nnrti_onnx_is(a->name, op->attr->members[k].name))
            k++;
        if (a->refAttrName.data != NULL)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' refers to one of a function",
                            nnrti_onnx_text(text, a->name));
        else if (k == op->attr->count)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "the registered operator '%s' has no attribute '%s'", op->name,
                            nnrti_onnx_text(text, a->name));
        else
            nnrti_onnx_own_attr(c, &op->attr->members[k], a, attr + op->attr->members[k].offset);
    }
    for (uint32_t i = 0; i < nIn; i++)
        in[i] = nnrti_onnx_in(c, i);
    while (nIn > 0 && in[nIn - 1] == NNRT_NO_TENSOR)
        nIn--;
    while (nOut > 0 && !nnrti_onnx_has_output(c, nOut - 1))
        nOut--;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_emit(c, op->type, attr, in, nIn, out, nOut, NULL);
    for (uint32_t i = 0; i < nOut && c->code == NNRT_SUCCESS; i++)
        nnrti_onnx_out(c, i, out[i]);
}

/* The input whose element type output k of the node has; UINT32_MAX: none. */
static uint32_t nnrti_onnx_typed_by(const nnrti_onnx *c, uint32_t k)
{
    const nnrt_onnx_str op = c->node->opType;
    if (k > 0 && nnrti_onnx_is(op, "LayerNormalization"))
        return UINT32_MAX; /* mean and deviation are float32 */
    if (k > 0 && nnrti_onnx_is(op, "BatchNormalization"))
        return 3;
    return nnrti_onnx_is(op, "OneHot") ? 2 : nnrti_onnx_is(op, "Where") ? 1 : 0;
}

/* Runs the handler of the node in float32: inputs of bfloat16 are decoded, and results of their type encoded, rounded once. */
static void nnrti_onnx_in_float32(nnrti_onnx *c)
{
    const uint32_t nIn = (uint32_t)c->node->inputs.count, nOut = (uint32_t)c->node->outputs.count;
    uint32_t *in = (uint32_t *)nnrti_onnx_keep(c, nIn + 1u, sizeof(*in)), *out = (uint32_t *)nnrti_onnx_keep(c, nOut + 1u, sizeof(*out));
    bool *stored = (bool *)nnrti_onnx_keep(c, nIn + 1u, sizeof(*stored));
    if (c->code != NNRT_SUCCESS)
        return;
    for (uint32_t i = 0; i < nIn; i++) {
        in[i] = nnrti_onnx_any(c, i);
        stored[i] = nnrti_onnx_storage_type(c, in[i]) == NNRT_ONNX_BFLOAT16;
        in[i] = stored[i] ? nnrti_onnx_decoded(c, in[i]) : in[i];
    }
    nnrti_onnx_apply_all(c, c->row->handler, c->row->arg, in, nIn, out, nOut);
    for (uint32_t k = 0; k < nOut && c->code == NNRT_SUCCESS; k++) {
        const uint32_t like = nnrti_onnx_typed_by(c, k);
        if (like < nIn && stored[like] && nnrti_onnx_type(c, out[k]) == NNRT_DATA_TYPE_FLOAT32)
            out[k] = nnrti_onnx_encoded(c, out[k], NNRT_ONNX_BFLOAT16);
        nnrti_onnx_out(c, k, out[k]);
    }
}

/* Gives the newest node of the builder the name of the current ONNX node, if it belongs to that. */
static void nnrti_onnx_name_last(nnrti_onnx *c)
{
    const uint32_t count = nnrti_array_count(c->builder->nodes);
    if (c->code == NNRT_SUCCESS && count > c->nNamed)
        c->builder->nodes[count - 1].name = nnrti_onnx_step_name(c, NNRT_NODE_TYPE_NONE, true);
    c->nNamed = count;
}

static const nnrt_onnx_node *nnrti_onnx_resolved(nnrti_onnx *c, const nnrt_onnx_node *node);
static void nnrti_onnx_inline(nnrti_onnx *c, uint32_t place);

/* Adds node i of the graph, whose inputs are defined. */
static void nnrti_onnx_add_node(nnrti_onnx *c, uint32_t i)
{
    nnrt_onnx_type storage = NNRT_ONNX_UNDEFINED;
    bool wide = false;
    size_t f;
    c->node = nnrti_onnx_resolved(c, &c->graph->nodes.data[i]);
    c->nodeIndex = i;
    f = nnrti_onnx_function_of(c, c->node);
    if (f < c->nFunctions) {
        nnrti_onnx_inline(c, c->functions[f].value);
    } else if (nnrti_onnx_own_of(c->node) != NULL) {
        (void)nnrti_onnx_check_storage(c, &wide);
        nnrti_onnx_add_own(c, nnrti_onnx_own_of(c->node));
    } else {
        c->row = nnrti_onnx_row_of(c, c->node);
        nnrti_onnx_check_node(c);
        storage = nnrti_onnx_check_storage(c, &wide);
        if (c->code != NNRT_SUCCESS)
            return;
        if (wide)
            nnrti_onnx_in_float32(c);
        else
            c->row->handler(c, c->row->arg);
    }
    for (uint32_t k = 0; storage != NNRT_ONNX_UNDEFINED && k < c->node->outputs.count && c->code == NNRT_SUCCESS; k++)
        if (nnrti_onnx_has_output(c, k))
            nnrti_onnx_set_storage(c, nnrti_onnx_entry_of(c, c->node->outputs.data[k])->value, storage);
    nnrti_onnx_name_last(c);
    for (uint32_t k = 0; k < c->node->outputs.count && c->code == NNRT_SUCCESS; k++)
        if (nnrti_onnx_has_output(c, k) && nnrti_onnx_entry_of(c, c->node->outputs.data[k])->name.data == NULL)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "output %u is not supported", k);
}

/* The order in which the nodes of a graph are added: that of the file, but a node that another one reads comes before it.
   ONNX wants files in this order already; some converters write others. */
typedef struct nnrti_onnx_order {
    nnrti_onnx *c;
    uint8_t *state;         /* of each node: NNRTI_ONNX_NEW, .. */
    uint32_t *stack;        /* nodes to add, the next one last; behind a node that waits the nodes whose results it reads */
    uint32_t count, room;
} nnrti_onnx_order;

enum { NNRTI_ONNX_NEW, NNRTI_ONNX_WAITS, NNRTI_ONNX_ADDED };

static void nnrti_onnx_order_push(nnrti_onnx_order *o, uint32_t node)
{
    if (o->count == o->room) {
        const uint32_t room = o->room > 0 ? 2 * o->room : 16;
        uint32_t *more = (uint32_t *)nnrti_onnx_keep(o->c, room, sizeof(*more));
        if (more == NULL)
            return;
        if (o->count > 0)
            memcpy(more, o->stack, o->count * sizeof(*more));
        o->stack = more;
        o->room = room;
    }
    o->stack[o->count++] = node;
}

/* A name that a node reads: the node that defines it, unless it has been added. In a cycle it may wait already: the node then
   finds its input undefined (nnrti_onnx_in). */
static void nnrti_onnx_order_see(nnrti_onnx_order *o, nnrt_onnx_str name)
{
    const nnrti_onnx_entry *e = nnrti_onnx_own_entry(o->c, name);
    if (e->name.data == NULL && e->node != NULL && e->hidden == 0) {
        const uint32_t node = (uint32_t)(e->node - o->c->graph->nodes.data);
        if (o->state[node] == NNRTI_ONNX_NEW)
            nnrti_onnx_order_push(o, node);
    }
}

/* Adds n to `hidden` of the names that subgraph g defines. */
static void nnrti_onnx_order_hide(nnrti_onnx_order *o, const nnrt_onnx_graph *g, uint32_t n)
{
    for (size_t i = 0; i < g->inputs.count; i++)
        nnrti_onnx_own_entry(o->c, g->inputs.data[i].name)->hidden += n;
    for (size_t i = 0; i < g->initializers.count; i++)
        nnrti_onnx_own_entry(o->c, g->initializers.data[i].name)->hidden += n;
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.data[i].outputs.count; k++)
            nnrti_onnx_own_entry(o->c, g->nodes.data[i].outputs.data[k])->hidden += n;
}

/* All names of this graph that a node reads, also in subgraphs, of which none that a subgraph defines. */
static void nnrti_onnx_order_reads(nnrti_onnx_order *o, const nnrt_onnx_node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        nnrti_onnx_order_see(o, node->inputs.data[i]);
    for (size_t a = 0; a < node->attributes.count; a++) { /* recursion depth: at most NNRT_ONNX_MAX_DEPTH */
        const nnrt_onnx_graph *g = node->attributes.data[a].g;
        if (g == NULL)
            continue;
        nnrti_onnx_order_hide(o, g, 1);
        for (size_t i = 0; i < g->nodes.count; i++)
            nnrti_onnx_order_reads(o, &g->nodes.data[i]);
        for (size_t i = 0; i < g->outputs.count; i++)
            nnrti_onnx_order_see(o, g->outputs.data[i].name);
        nnrti_onnx_order_hide(o, g, (uint32_t)-1);
    }
}

NNRTI_COLD static void nnrti_onnx_add_nodes(nnrti_onnx *c)
{
    const nnrt_onnx_nodes *nodes = &c->graph->nodes;
    nnrti_onnx_order o;
    memset(&o, 0, sizeof(o));
    o.c = c;
    if (c->code == NNRT_SUCCESS)
        o.state = (uint8_t *)nnrti_onnx_keep(c, nodes->count + 1, 1);
    for (uint32_t i = 0; i < nodes->count && c->code == NNRT_SUCCESS; i++) {
        if (!nodes->data[i].unneeded)
            nnrti_onnx_order_push(&o, i);
        while (o.count > 0 && c->code == NNRT_SUCCESS) {
            const uint32_t node = o.stack[o.count - 1];
            if (o.state[node] == NNRTI_ONNX_NEW) {
                o.state[node] = NNRTI_ONNX_WAITS;
                nnrti_onnx_order_reads(&o, &nodes->data[node]);
                if (o.stack[o.count - 1] != node)
                    continue;
            }
            if (o.state[node] == NNRTI_ONNX_WAITS)
                nnrti_onnx_add_node(c, node);
            o.state[node] = NNRTI_ONNX_ADDED;
            o.count--;
        }
    }
    c->node = NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_control: graphs that nodes run */

/* The subgraph in an attribute of the node. */
static const nnrt_onnx_graph *nnrti_onnx_graph_of(nnrti_onnx *c, const char *name)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_GRAPH);
    if (c->code == NNRT_SUCCESS && (a == NULL || a->g == NULL))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "attribute '%s' is missing", name);
    else if (c->code == NNRT_SUCCESS && c->depth == NNRT_MAX_NESTING)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "is nested in %d graphs, the maximum", NNRT_MAX_NESTING);
    return c->code == NNRT_SUCCESS ? a->g : NULL;
}

/* Imports graph g into graph `into` of the builder, with values for its nIn inputs. Returns the values of its outputs: tensors,
   sequences or absent ones. `into` may be the current graph: g is then inlined. */
static uint32_t *nnrti_onnx_read_graph(nnrti_onnx *c, const nnrt_onnx_graph *g, uint32_t into, const uint32_t *in,
                                       uint32_t nIn)
{
    const nnrti_onnx around = *c; /* names, graph and node of the enclosing graph */
    const uint32_t entered = c->builder->entered;
    uint32_t *out = (uint32_t *)nnrti_onnx_keep(c, g->outputs.count + 1, sizeof(*out));
    char text[64];
    c->outer = &around;
    c->graph = g;
    c->unnamed = into == c->builder->entered;
    nnrt_builder_enter(c->builder, into);
    c->depth++;
    nnrti_onnx_make_table(c);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_add_initializers(c);
    for (uint32_t k = 0; k < nIn && c->code == NNRT_SUCCESS; k++)
        if (in[k] != NNRT_NO_TENSOR)
            nnrti_onnx_bind(c, g->inputs.data[k].name, in[k]);
        else
            nnrti_onnx_bind_absent(c, g->inputs.data[k].name);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_add_nodes(c);
    c->node = around.node;
    c->nodeIndex = around.nodeIndex;
    c->row = around.row;
    for (size_t k = 0; k < g->outputs.count && c->code == NNRT_SUCCESS; k++) {
        const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, g->outputs.data[k].name);
        if (e->name.data == NULL)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "output '%s' of its subgraph has no definition",
                            nnrti_onnx_text(text, g->outputs.data[k].name));
        else if (!c->unnamed && nnrti_onnx_storage_type(c, e->value) != NNRT_ONNX_UNDEFINED)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "output '%s' of its subgraph has element type %s (%d), which is not "
                            "supported here: insert a Cast to float", nnrti_onnx_text(text, g->outputs.data[k].name),
                            nnrti_onnx_type_text(nnrti_onnx_storage_type(c, e->value)),
                            nnrti_onnx_storage_type(c, e->value));
        else
            out[k] = e->value;
    }
    c->entries = around.entries;
    c->nEntries = around.nEntries;
    c->outer = around.outer;
    c->graph = around.graph;
    c->unnamed = around.unnamed;
    c->depth = around.depth;
    nnrt_builder_enter(c->builder, entered);
    return c->code == NNRT_SUCCESS ? out : NULL;
}

/* x after the modifier graph of FlexAttention in attribute `name`, which is inlined; x without it. */
static uint32_t nnrti_onnx_modified(nnrti_onnx *c, const char *name, uint32_t x)
{
    const bool given = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_GRAPH) != NULL;
    const nnrt_onnx_graph *g = given ? nnrti_onnx_graph_of(c, name) : NULL;
    const nnrt_operand *from, *to;
    uint32_t *out;
    bool same;
    if (g != NULL && (g->inputs.count != 1 || g->outputs.count != 1)) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "%s has %z inputs and %z outputs, expected 1 each", name, g->inputs.count,
                        g->outputs.count);
        return x;
    }
    out = g != NULL ? nnrti_onnx_read_graph(c, g, c->builder->entered, &x, 1) : NULL;
    if (out == NULL)
        return x;
    from = nnrti_onnx_at(c, x);
    to = nnrti_onnx_at(c, out[0]);
    same = from->dataType == to->dataType && from->rank == to->rank;
    for (int32_t i = 0; i < from->rank && same; i++)
        same = from->dims[i] == to->dims[i] || from->symbols[i] != 0 || to->symbols[i] != 0;
    if (!same)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "%s returns %o, expected type and shape of its input, %o", name, to, from);
    return out[0];
}

/* The element type that FlexAttention computes in: softmax_precision, else float64 for float64 and float32 for others. */
static NNRT_DataType nnrti_onnx_flex_type(nnrti_onnx *c)
{
    const bool wide = nnrti_onnx_is_a(c, nnrti_onnx_in(c, 0), NNRT_TYPES_F64);
    const int64_t type = nnrti_onnx_int(c, "softmax_precision", wide ? NNRT_ONNX_DOUBLE : NNRT_ONNX_FLOAT);
    if (type != NNRT_ONNX_FLOAT && type != NNRT_ONNX_FLOAT16 && type != NNRT_ONNX_DOUBLE)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "softmax_precision is %l, expected 1 (float), 10 (float16) or 11 (double)", type);
    return type == NNRT_ONNX_DOUBLE    ? NNRT_DATA_TYPE_FLOAT64
           : type == NNRT_ONNX_FLOAT16 ? NNRT_DATA_TYPE_FLOAT16
                                       : NNRT_DATA_TYPE_FLOAT32;
}

/* FlexAttention of ai.onnx.preview: prob_mod(softmax(score_mod(scale * Q * K^T))) * V with Q [B,Hq,L,E], K [B,Hk,S,E],
   V [B,Hk,S,Ev]; head h of Q uses head h / (Hq/Hk) of K and V. Without graphs it is ATTENTION. Else the heads of Q that
   share a head of K and V are one matrix [Hq/Hk * L, E]; softmax and the graphs see [B,Hq,L,S]. */
static void nnrti_onnx_op_flex_attention(nnrti_onnx *c, int32_t arg)
{
    const NNRT_DataType type = nnrti_onnx_flex_type(c);
    const float given = nnrti_onnx_float(c, "scale", 1);
    const bool scaled = nnrti_onnx_attr(c, "scale", NNRT_ONNX_ATTRIBUTE_FLOAT) != NULL;
    int64_t heads[4] = {0, 1, -1, 0}, groups[4] = {0, 1, -1, 0}, size;
    uint32_t in[3], y;
    NNRT_MatMulFusion a;
    (void)arg;
    for (uint32_t i = 0; i < 3; i++) {
        in[i] = nnrti_onnx_in(c, i);
        if (nnrti_onnx_rank(c, in[i]) != 4)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input %u has %d axes, expected 4", i, nnrti_onnx_rank(c, in[i]));
    }
    if (nnrti_onnx_attr(c, "score_mod", NNRT_ONNX_ATTRIBUTE_GRAPH) == NULL &&
        nnrti_onnx_attr(c, "prob_mod", NNRT_ONNX_ATTRIBUTE_GRAPH) == NULL && type == NNRT_DATA_TYPE_FLOAT32 && given > 0 &&
        nnrti_onnx_is_a(c, in[0], NNRT_TYPES_FLOAT)) {
        nnrti_onnx_op_attention(c, 0);
        return;
    }
    heads[1] = nnrti_onnx_fixed_dim(c, in[0], 1, "FlexAttention");
    groups[1] = nnrti_onnx_fixed_dim(c, in[1], 1, "FlexAttention");
    size = nnrti_onnx_fixed_dim(c, in[0], 3, "FlexAttention");
    if (c->code == NNRT_SUCCESS && (groups[1] < 1 || heads[1] % groups[1] != 0))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "Q has %l heads, expected a multiple of the %l heads of K", heads[1],
                        groups[1]);
    for (uint32_t i = 0; i < 3; i++)
        in[i] = nnrti_onnx_cast(c, nnrti_onnx_in_wide(c, i, type), type);
    nnrti_onnx_defaults(NNRT_NODE_TYPE_MATMUL_FUSION, &a);
    a.transposeB = true;
    y = nnrti_onnx_mul(c, in[0], nnrti_onnx_like(c, in[0], scaled ? (double)given : 1 / nnrti_sqrt((double)size)));
    y = heads[1] != groups[1] ? nnrti_onnx_reshape(c, y, groups, 4) : y;
    y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, &a, y, in[1]);
    y = heads[1] != groups[1] ? nnrti_onnx_reshape(c, y, heads, 4) : y;
    y = nnrti_onnx_softmax(c, nnrti_onnx_modified(c, "score_mod", y), 3);
    y = nnrti_onnx_modified(c, "prob_mod", y);
    y = heads[1] != groups[1] ? nnrti_onnx_reshape(c, y, groups, 4) : y;
    y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, NULL, y, in[2]);
    nnrti_onnx_out_narrow(c, heads[1] != groups[1] ? nnrti_onnx_reshape(c, y, heads, 4) : y);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_functions: functions of the file, whose nodes are read in the place of those that call them */

static const nnrt_onnx_attribute *nnrti_onnx_attribute_of(const nnrt_onnx_attributes *list, nnrt_onnx_str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (nnrti_onnx_same_text(list->data[i].name, name))
            return &list->data[i];
    return NULL;
}

/* The node with references to attributes of the function replaced by values: those of the call, else the function's
   defaults; without either the attribute is absent. */
static const nnrt_onnx_node *nnrti_onnx_resolved(nnrti_onnx *c, const nnrt_onnx_node *node)
{
    const nnrti_onnx_frame *call = c->call;
    nnrt_onnx_attribute *list;
    nnrt_onnx_node *made;
    size_t refers = 0, n = 0;
    char text[64];
    for (size_t i = 0; i < node->attributes.count; i++)
        refers += node->attributes.data[i].refAttrName.data != NULL;
    if (call == NULL || refers == 0)
        return node;
    made = (nnrt_onnx_node *)nnrti_onnx_keep(c, 1, sizeof(*made));
    list = (nnrt_onnx_attribute *)nnrti_onnx_keep(c, node->attributes.count, sizeof(*list));
    if (made == NULL || list == NULL)
        return node;
    for (size_t i = 0; i < node->attributes.count; i++) {
        const nnrt_onnx_attribute *own = &node->attributes.data[i], *a = own;
        if (own->refAttrName.data != NULL)
            a = nnrti_onnx_attribute_of(&call->node->attributes, own->refAttrName);
        if (a == NULL)
            a = nnrti_onnx_attribute_of(&call->function->attributes, own->refAttrName);
        if (a == NULL)
            continue;
        if (a != own && (a->g != NULL || a->refAttrName.data != NULL)) {
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' refers to an attribute that is %s",
                            nnrti_onnx_text(text, own->name), a->g != NULL ? "a graph" : "of a function");
            return node;
        }
        list[n] = *a;
        list[n++].name = own->name;
    }
    *made = *node;
    made->attributes.data = list;
    made->attributes.count = n;
    return made;
}

/* A function as a graph, whose inputs and outputs have names only. */
static const nnrt_onnx_graph *nnrti_onnx_body_of(nnrti_onnx *c, uint32_t place)
{
    const nnrt_onnx_function *f = &c->model->functions.data[place];
    nnrt_onnx_graph *g;
    nnrt_onnx_value_info *values;
    if (c->bodies[place] != NULL)
        return c->bodies[place];
    g = (nnrt_onnx_graph *)nnrti_onnx_keep(c, 1, sizeof(*g));
    values = (nnrt_onnx_value_info *)nnrti_onnx_keep(c, f->inputs.count + f->outputs.count, sizeof(*values));
    if (g == NULL || values == NULL)
        return NULL;
    for (size_t i = 0; i < f->inputs.count; i++)
        values[i].name = f->inputs.data[i];
    for (size_t i = 0; i < f->outputs.count; i++)
        values[f->inputs.count + i].name = f->outputs.data[i];
    g->name = f->name;
    g->nodes = f->nodes;
    g->inputs.data = values;
    g->inputs.count = f->inputs.count;
    g->outputs.data = values + f->inputs.count;
    g->outputs.count = f->outputs.count;
    c->bodies[place] = g;
    return g;
}

/* Checks a call: at most as many inputs and outputs as the function, only attributes of the function, and no
   recursion. */
static void nnrti_onnx_check_call(nnrti_onnx *c, const nnrt_onnx_function *f)
{
    const nnrt_onnx_node *n = c->node;
    char text[64];
    for (const nnrti_onnx_frame *o = c->call; o != NULL; o = o->outer)
        if (o->function == f)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "the function calls itself");
    if (c->call != NULL && c->call->depth >= NNRTI_ONNX_MAX_CALLS)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "is nested in %u functions, the maximum", c->call->depth);
    if (n->inputs.count > f->inputs.count || n->outputs.count > f->outputs.count)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL,
                        "%z inputs and %z outputs, expected at most %z and %z as in the function", n->inputs.count,
                        n->outputs.count, f->inputs.count, f->outputs.count);
    for (size_t i = 0; i < n->attributes.count && c->code == NNRT_SUCCESS; i++) {
        const nnrt_onnx_str name = n->attributes.data[i].name;
        size_t k = 0;
        while (k < f->attributeNames.count && !nnrti_onnx_same_text(f->attributeNames.data[k], name))
            k++;
        if (n->attributes.data[i].refAttrName.data != NULL)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "attribute '%s' refers to one of a function",
                            nnrti_onnx_text(text, name));
        else if (k == f->attributeNames.count && nnrti_onnx_attribute_of(&f->attributes, name) == NULL)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "the function has no attribute '%s'", nnrti_onnx_text(text, name));
    }
}

/* Prefix of names in the function that the current node calls: "name/", with the prefixes of the enclosing calls. */
static const char *nnrti_onnx_call_prefix(nnrti_onnx *c)
{
    const char *name = nnrti_onnx_step_name(c, NNRT_NODE_TYPE_NONE, true);
    char text[128];
    nnrt_onnx_str whole;
    whole.data = text;
    (void)nnrt_text(text, sizeof(text), "%s/", name != NULL ? name : "");
    whole.length = strlen(text);
    return nnrti_onnx_copy_text(c, whole);
}

/* Inlines a function for the current node, which calls it. The function's nodes see only names of the function, and use
   the function's operator set. */
static void nnrti_onnx_inline(nnrti_onnx *c, uint32_t place)
{
    const nnrt_onnx_function *f = &c->model->functions.data[place];
    nnrti_onnx_entry none, *const entries = c->entries;
    const uint32_t nEntries = c->nEntries;
    const nnrti_onnx *const outer = c->outer;
    const nnrt_onnx_graph *g;
    const int64_t opset = c->opset;
    uint32_t *in, *out;
    nnrti_onnx_frame call;
    nnrti_onnx_check_call(c, f);
    if (!nnrti_onnx_fine(c) || !nnrti_onnx_work(c, NNRTI_ONNX_CALL_WORK * (double)(1 + f->nodes.count)))
        return;
    g = nnrti_onnx_body_of(c, place);
    in = (uint32_t *)nnrti_onnx_keep(c, f->inputs.count, sizeof(*in));
    if (g == NULL || in == NULL)
        return;
    for (uint32_t k = 0; k < f->inputs.count; k++)
        in[k] = nnrti_onnx_any(c, k);
    call.outer = c->call;
    call.function = f;
    call.node = c->node;
    call.depth = c->call != NULL ? c->call->depth + 1 : 1;
    call.prefix = nnrti_onnx_call_prefix(c);
    if (c->code != NNRT_SUCCESS)
        return;
    memset(&none, 0, sizeof(none));
    c->entries = &none;
    c->nEntries = 0;
    c->outer = NULL;
    c->opset = nnrti_onnx_opset_of(&f->opsetImport, opset);
    c->call = &call;
    out = nnrti_onnx_read_graph(c, g, c->builder->entered, in, (uint32_t)f->inputs.count);
    c->entries = entries;
    c->nEntries = nEntries;
    c->outer = outer;
    c->opset = opset;
    c->call = call.outer;
    for (uint32_t k = 0; k < f->outputs.count && out != NULL; k++)
        nnrti_onnx_out_any(c, k, out[k]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_loops: If, Loop and Scan */

/* Creates one more graph of the builder. */
static uint32_t nnrti_onnx_new_graph(nnrti_onnx *c, const nnrt_onnx_graph *graph)
{
    char name[64];
    const uint32_t g =
        c->code == NNRT_SUCCESS ? nnrt_builder_graph(c->builder, nnrti_onnx_text(name, graph->name)) : NNRT_NO_GRAPH;
    return nnrti_onnx_fine(c) ? g : NNRT_NO_GRAPH;
}

/* Fails if one of the results of a graph that the node runs is no tensor. */
static void nnrti_onnx_only_tensors(nnrti_onnx *c, const uint32_t *out, uint32_t count)
{
    for (uint32_t k = 0; out != NULL && k < count; k++)
        if (out[k] >= NNRTI_ONNX_SEQUENCE)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "output %u of its subgraph is %s, expected a tensor", k,
                            out[k] == NNRT_NO_TENSOR ? "absent" : "a sequence");
}

/* The tensors of count results: sequences as their elements, absent ones not at all. *n: their number. */
static uint32_t *nnrti_onnx_tensors_of(nnrti_onnx *c, const uint32_t *values, uint32_t count, uint32_t *n)
{
    const nnrti_onnx_sequence *s;
    uint32_t *flat;
    size_t room = (size_t)count + 1;
    *n = 0;
    for (uint32_t k = 0; k < count; k++)
        room += (s = nnrti_onnx_sequence_of(c, values[k])) != NULL ? s->count : 0;
    flat = (uint32_t *)nnrti_onnx_keep(c, room, sizeof(*flat));
    for (uint32_t k = 0; k < count && flat != NULL; k++) {
        s = nnrti_onnx_sequence_of(c, values[k]);
        for (uint32_t i = 0; s != NULL && i < s->count; i++)
            flat[(*n)++] = s->values[i];
        if (values[k] < NNRTI_ONNX_SEQUENCE)
            flat[(*n)++] = values[k];
    }
    for (uint32_t i = 0; i < *n && flat != NULL; i++)
        if (nnrti_onnx_storage_type(c, flat[i]) != NNRT_ONNX_UNDEFINED)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "a sequence of its subgraph has element type %s (%d), which is not supported "
                            "here: insert a Cast to float", nnrti_onnx_type_text(nnrti_onnx_storage_type(c, flat[i])),
                            nnrti_onnx_storage_type(c, flat[i]));
    return c->code == NNRT_SUCCESS ? flat : NULL;
}

/* Adds a control-flow step with inputs in[] and the node's outputs, which are tensors, sequences or absent as in like[]. Its
   inference is charged to the budget according to the size of the builder. */
static void nnrti_onnx_control_step(nnrti_onnx *c, NNRT_NodeType type, const void *attr, const uint32_t *in,
                                    uint32_t nIn, const uint32_t *like)
{
    const uint32_t count = (uint32_t)c->node->outputs.count;
    uint32_t nOut, at = 0, *out = nnrti_onnx_tensors_of(c, like, count, &nOut);
    if (out == NULL || !nnrti_onnx_fine(c) || !nnrti_onnx_work(c, (double)nnrti_array_count(c->builder->tensors)))
        return;
    if (nOut > 0)
        nnrti_onnx_emit(c, type, attr, in, nIn, out, nOut, NULL);
    for (uint32_t k = 0; k < count && c->code == NNRT_SUCCESS; k++) {
        const nnrti_onnx_sequence *s = nnrti_onnx_sequence_of(c, like[k]);
        const uint32_t n = s != NULL ? s->count : like[k] != NNRT_NO_TENSOR;
        nnrti_onnx_out_any(c, k, s != NULL ? nnrti_onnx_new_sequence(c, out + at, n) : n > 0 ? out[at] : NNRT_NO_TENSOR);
        at += n;
    }
}

/* Removes everything added since the mark. */
static void nnrti_onnx_rollback(nnrti_onnx *c, nnrti_builder_mark mark)
{
    nnrti_builder_back(c->builder, mark);
    c->nNamed = mark.nodes;
    if (mark.tensors < c->storageCount)
        memset(c->storage + mark.tensors, 0, c->storageCount - mark.tensors);
    c->imagesFrom = c->imagesFrom < mark.tensors ? c->imagesFrom : mark.tensors;
}

/* A fault that does not depend on sizes which are unknown: the graph cannot compute. */
static bool nnrti_onnx_refused(const nnrti_onnx *c)
{
    return c->code == NNRT_INVALID_SHAPE || c->code == NNRT_INVALID_PARAMETER || c->code == NNRT_INVALID_INPUT;
}

/* The choice for the current node, an If; NULL: none. */
static const nnrti_onnx_rank_choice *nnrti_onnx_rank_choice_of(const nnrti_onnx *c)
{
    for (uint32_t i = 0; i < c->ranks->count; i++)
        if (c->ranks->choices[i].node == c->node)
            return &c->ranks->choices[i];
    return NULL;
}

/* The number of tensors of a value; -1: it is one tensor, -2: it is absent. */
static int64_t nnrti_onnx_elements(const nnrti_onnx *c, uint32_t v)
{
    const nnrti_onnx_sequence *s = nnrti_onnx_sequence_of(c, v);
    return s != NULL ? (int64_t)s->count : v != NNRT_NO_TENSOR ? -1 : -2;
}

/* Branches of the current node whose results have different ranks: a reading that chooses gets one more choice, and is
   repeated with it. Sequences of different lengths need a known condition. */
static void nnrti_onnx_compare_branches(nnrti_onnx *c, const uint32_t *then, const uint32_t *otherwise)
{
    nnrti_onnx_ranks *r = c->ranks;
    for (uint32_t k = 0; k < c->node->outputs.count && c->code == NNRT_SUCCESS; k++)
        if (nnrti_onnx_elements(c, then[k]) != nnrti_onnx_elements(c, otherwise[k]))
            NNRTI_ONNX_NEEDS(c, "output %u is a sequence whose length depends on the condition: give its value", k);
    for (uint32_t k = 0; k < c->node->outputs.count && c->code == NNRT_SUCCESS; k++) {
        const int32_t yes = nnrti_onnx_at(c, then[k])->rank, no = nnrti_onnx_at(c, otherwise[k])->rank;
        nnrti_onnx_rank_choice *choice = &r->choices[r->count];
        if (yes < 0 || no < 0 || yes == no)
            continue;
        r->met = true;
        if (!r->choosing)
            return;
        NNRTI_ONNX_NEEDS(c, "output %u has rank %d or %d: give the shapes of the inputs", k, yes, no);
        if (r->count == sizeof(r->choices) / sizeof(r->choices[0]))
            return;
        choice->node = c->node;
        choice->otherwise = false;
        choice->output = k;
        choice->ranks[0] = yes;
        choice->ranks[1] = no;
        r->count++;
        r->added = true;
    }
}

/* Whether a graph must be read once more, after a reading of it. */
static bool nnrti_onnx_read_again(nnrti_onnx *c)
{
    nnrti_onnx_ranks *r = c->ranks;
    bool open = false; /* some choice may fit when sizes are known */
    if (r->choosing && c->budget->readings++ >= NNRTI_ONNX_READINGS) { /* Ifs in branches of Ifs multiply */
        if (c->code == NNRT_SUCCESS)
            NNRTI_ONNX_NEEDS(c, "too many ranks depend on sizes: give the shapes of the inputs");
        return false;
    }
    if (r->last || c->code == NNRT_OUT_OF_MEMORY || c->code == NNRT_TIME_OUT ||
        (!r->choosing && (c->code == NNRT_SUCCESS || !c->deferrable || !r->met)))
        return false;
    if (!r->choosing) {
        r->choosing = true;
        return true;
    }
    if (r->added) {
        r->added = false;
        return true;
    }
    if (c->code == NNRT_SUCCESS) {
        r->nFit++;
        r->fitCount = r->count;
        memcpy(r->fit, r->choices, sizeof(r->fit));
    } else {
        open = !nnrti_onnx_refused(c) && !c->desc->final;
    }
    while (r->count > 0 && r->choices[r->count - 1].otherwise)
        r->count--;
    if (r->count > 0 && !open && r->nFit < 2) {
        r->choices[r->count - 1].otherwise = true;
        return true;
    }
    r->last = true; /* with the choices that fit, or without any for the fault of the first reading */
    r->choosing = !open && r->nFit == 1;
    r->count = r->choosing ? r->fitCount : 0;
    memcpy(r->choices, r->fit, sizeof(r->fit));
    return true;
}

/* Reads a branch of an IF into a new graph, *into. Returns NULL if the branch cannot compute with these shapes: *why has the reason,
   and the graph is empty. Any other fault ends the import. */
static uint32_t *nnrti_onnx_read_branch(nnrti_onnx *c, const nnrt_onnx_graph *g, uint32_t *into, nnrt_error *why)
{
    const nnrti_builder_mark mark = nnrti_builder_here(c->builder);
    const uint32_t entered = c->builder->entered;
    nnrt_error *const error = c->error;
    nnrti_onnx_ranks *const around = c->ranks;
    nnrti_onnx_ranks own;
    uint32_t *out;
    bool again;
    memset(&own, 0, sizeof(own));
    c->ranks = &own;
    c->error = why;
    do {
        nnrt_error_clear(why);
        *into = nnrti_onnx_new_graph(c, g);
        out = c->code == NNRT_SUCCESS ? nnrti_onnx_read_graph(c, g, *into, NULL, 0) : NULL;
        again = nnrti_onnx_read_again(c);
        if (again || nnrti_onnx_refused(c)) {
            nnrt_error_clear(&c->builder->error);
            nnrt_builder_enter(c->builder, entered); /* which a failed builder ignores */
            nnrti_onnx_rollback(c, mark);
            c->code = NNRT_SUCCESS;
            c->deferrable = false;
            out = NULL;
        }
    } while (again);
    c->ranks = around;
    c->error = error;
    if (c->code != NNRT_SUCCESS)
        (void)nnrt_error_set(error, c->code, "%s", why->message);
    else if (out == NULL)
        *into = nnrti_onnx_new_graph(c, g);
    return out;
}

/* Fills the graph of a branch that cannot compute: an ASSERT that fails if the branch is taken, named after the reason, and results
   with the types and shapes of the other branch. then: it is the branch for a true condition. */
static uint32_t *nnrti_onnx_failing_branch(nnrti_onnx *c, uint32_t graph, uint32_t cond, bool then, const uint32_t *other,
                                           uint32_t nOut, const char *why)
{
    const uint32_t entered = c->builder->entered, before = nnrti_array_count(c->builder->nodes);
    uint32_t *out = (uint32_t *)nnrti_onnx_keep(c, nOut + 1, sizeof(*out));
    char *name = (char *)nnrti_onnx_keep(c, strlen(why) + 1, 1);
    if (c->code != NNRT_SUCCESS)
        return NULL;
    nnrt_builder_enter(c->builder, graph);
    if (then)
        cond = nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOGICAL_NOT, NULL, cond);
    nnrti_onnx_assert(c, cond, cond);
    for (uint32_t i = before; name != NULL && i < nnrti_array_count(c->builder->nodes); i++)
        c->builder->nodes[i].name = (char *)memcpy(name, why, strlen(why) + 1);
    for (uint32_t k = 0; k < nOut && c->code == NNRT_SUCCESS; k++) {
        const nnrt_operand o = *nnrti_onnx_at(c, other[k]);
        int64_t dims[NNRT_MAX_RANK];
        for (int32_t i = 0; i < o.rank; i++)
            dims[i] = o.symbols[i] != 0 ? 1 : o.dims[i];
        if (o.rank < 0)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "its %s cannot compute: %s", then ? "then_branch" : "else_branch", why);
        else
            out[k] = nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL, NULL, nnrti_onnx_scalar(c, o.dataType, 0),
                                      nnrti_onnx_const_ints(c, dims, (uint32_t)o.rank));
    }
    nnrt_builder_enter(c->builder, entered);
    return out;
}

/* A branch of the current node, or, if another one is chosen, an empty graph and NULL: why has the reason. */
static uint32_t *nnrti_onnx_chosen_branch(nnrti_onnx *c, const nnrt_onnx_graph *g, bool otherwise,
                                          const nnrti_onnx_rank_choice *choice, uint32_t *into, nnrt_error *why)
{
    char name[64];
    if (c->code != NNRT_SUCCESS)
        return NULL;
    if (choice == NULL || choice->otherwise == otherwise)
        return nnrti_onnx_read_branch(c, g, into, why);
    (void)nnrt_error_set(why, NNRT_INVALID_SHAPE, "'%s' has rank %d for these sizes, and the nodes behind it need rank %d",
                         nnrti_onnx_text(name, c->node->outputs.data[choice->output]), choice->ranks[otherwise],
                         choice->ranks[!otherwise]);
    *into = nnrti_onnx_new_graph(c, g);
    return NULL;
}

/* If. With a constant condition the selected branch is inlined. */
static void nnrti_onnx_op_if(nnrti_onnx *c, int32_t arg_)
{
    const uint32_t cond = nnrti_onnx_in(c, 0);
    const nnrt_onnx_graph *yes = nnrti_onnx_graph_of(c, "then_branch"), *no = nnrti_onnx_graph_of(c, "else_branch");
    const uint32_t nOut = (uint32_t)c->node->outputs.count;
    const nnrti_onnx_rank_choice *choice = nnrti_onnx_rank_choice_of(c);
    uint32_t *then, *otherwise, *out, *like, n = 0;
    nnrt_error why[2];
    NNRT_If a;
    (void)arg_;
    memset(why, 0, sizeof(why));
    if (c->code != NNRT_SUCCESS)
        return;
    if (yes->outputs.count != nOut || no->outputs.count != nOut || yes->inputs.count + no->inputs.count != 0) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL,
                        "its branches have %z and %z outputs, expected %u outputs and no inputs each",
                        yes->outputs.count, no->outputs.count, nOut);
        return;
    }
    if (nnrti_onnx_is_constant(c, cond) && nnrti_onnx_type(c, cond) == NNRT_DATA_TYPE_BOOL) {
        out = nnrti_onnx_read_graph(c, *(const uint8_t *)nnrti_onnx_at(c, cond)->data != 0 ? yes : no,
                                    c->builder->entered, NULL, 0);
        for (uint32_t k = 0; k < nOut && out != NULL; k++)
            nnrti_onnx_out_any(c, k, out[k]);
        return;
    }
    then = nnrti_onnx_chosen_branch(c, yes, false, choice, &a.thenGraph, &why[0]);
    otherwise = nnrti_onnx_chosen_branch(c, no, true, choice, &a.elseGraph, &why[1]);
    if (c->code == NNRT_SUCCESS && then == NULL && otherwise == NULL) {
        c->code = why[0].code;
        (void)nnrt_error_set(c->error, c->code, "%s", why[0].message);
    }
    like = then != NULL ? then : otherwise;
    if (then != NULL && otherwise != NULL)
        nnrti_onnx_compare_branches(c, then, otherwise);
    if (c->code != NNRT_SUCCESS)
        return;
    then = then != NULL ? nnrti_onnx_tensors_of(c, then, nOut, &n) : NULL;
    otherwise = otherwise != NULL ? nnrti_onnx_tensors_of(c, otherwise, nOut, &n) : NULL;
    if (c->code == NNRT_SUCCESS && then == NULL)
        then = nnrti_onnx_failing_branch(c, a.thenGraph, cond, true, otherwise, n, why[0].message);
    if (c->code == NNRT_SUCCESS && otherwise == NULL)
        otherwise = nnrti_onnx_failing_branch(c, a.elseGraph, cond, false, then, n, why[1].message);
    if (c->code != NNRT_SUCCESS)
        return;
    for (uint32_t k = 0; k < n; k++)
        nnrti_onnx_join_images(c, then[k], otherwise[k]);
    nnrt_builder_graph_io(c->builder, a.thenGraph, NULL, 0, then, n);
    nnrt_builder_graph_io(c->builder, a.elseGraph, NULL, 0, otherwise, n);
    nnrti_onnx_control_step(c, NNRT_NODE_TYPE_IF, &a, &cond, 1, like);
}

/* State of importing a Loop, or a Scan, whose body has no inputs for trip and cond. */
typedef struct nnrti_onnx_loop {
    const nnrt_onnx_graph *body;
    bool scan;
    uint32_t carried, scans;
    uint32_t *start;    /* values: trips, cond, initial carried values */
    uint32_t *in, *out; /* of the body */
    bool *open;         /* NNRT_MAX_RANK flags for each carried value: this dimension changes between iterations */
    uint32_t rounds;    /* number of times the body was read; after NNRTI_LOOP_ROUNDS all dimensions are dynamic */
} nnrti_onnx_loop;

/* Creates the body's input values, with the types and shapes known so far. */
static void nnrti_onnx_loop_given(nnrti_onnx *c, nnrti_onnx_loop *l)
{
    const int32_t one = 1;
    for (uint32_t k = 0; k < 2 + l->carried; k++)
        l->in[k] = nnrti_onnx_new(c);
    for (uint32_t k = 0; k < 2 && c->code == NNRT_SUCCESS; k++) {
        const nnrt_onnx_value_info *info = l->scan ? NULL : &l->body->inputs.data[k];
        const NNRT_DataType type = k == 0 ? NNRT_DATA_TYPE_INT64 : NNRT_DATA_TYPE_BOOL;
        const bool list = !l->scan && info->hasShape && info->dims.count == 1;
        const nnrt_operand o = nnrt_operand_make(type, list ? 1 : 0, &one, NULL);
        nnrt_builder_declare(c->builder, l->in[k], type, NNRT_RANK_UNKNOWN, NULL);
        nnrti_builder_given(c->builder, l->in[k], &o);
    }
    for (uint32_t k = 0; k < l->carried && c->code == NNRT_SUCCESS; k++) {
        nnrt_operand o = *nnrti_onnx_at(c, l->start[2 + k]);
        o.data = NULL;
        o.open = NULL;
        o.viewRank = -1;
        for (int32_t i = 0; i < o.rank; i++)
            if (l->open[k * NNRT_MAX_RANK + (uint32_t)i]) { /* equal to no other dimension */
                o.dims[i] = NNRTI_OPEN_EXTENT;
                o.symbols[i] = ++c->builder->symbols;
                o.most = 0;
            }
        if (o.rank >= 0)
            nnrti_builder_given(c->builder, l->in[2 + k], &o);
    }
}

/* True if the carried values leave the body with the shapes they entered it with (a fixed point). Marks dimensions that
   do not as open. */
static bool nnrti_onnx_loop_fixed_point(nnrti_onnx *c, nnrti_onnx_loop *l)
{
    const bool all = ++l->rounds > NNRTI_LOOP_ROUNDS;
    bool closed = true;
    for (uint32_t k = 0; k < l->carried; k++) {
        nnrti_onnx_join_images(c, l->start[2 + k], l->in[2 + k]);
        nnrti_onnx_join_images(c, l->in[2 + k], l->out[1 + k]);
    }
    for (uint32_t k = 0; k < l->carried; k++) {
        const nnrt_operand *x = nnrti_onnx_at(c, l->in[2 + k]), *y = nnrti_onnx_at(c, l->out[1 + k]);
        if (x->rank >= 0 && y->rank >= 0 && (x->dataType != y->dataType || x->rank != y->rank)) {
            NNRTI_ONNX_FAIL(
                c, NNRT_UNSUPPORTED_OP,
                "carried value %u comes into the body as %o and leaves it as %o, expected the same type and rank", k, x,
                y);
            return true;
        }
        for (int32_t i = 0; i < x->rank && i < y->rank; i++) {
            bool *open = &l->open[k * NNRT_MAX_RANK + (uint32_t)i];
            if (*open || (!all && x->symbols[i] == y->symbols[i] && x->dims[i] == y->dims[i]))
                continue;
            *open = true;
            closed = false;
        }
    }
    return closed;
}

/* The number of iterations of a loop that is read once for each: a constant, INT64_MAX if it is not limited. */
static int64_t nnrti_onnx_trips(nnrti_onnx *c, uint32_t v)
{
    int64_t trips = INT64_MAX;
    if (v != NNRT_NO_TENSOR && !nnrti_onnx_is_constant(c, v))
        NNRTI_ONNX_NEEDS(c, "it carries a sequence, and the number of its iterations is unknown: give the value of '%s'",
                         nnrti_onnx_at(c, v)->name);
    else if (v != NNRT_NO_TENSOR && nnrti_onnx_list(c, v, "the number of iterations", &trips, 1) != 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "the number of iterations is empty");
    return trips;
}

/* The condition of a loop that is read once for each iteration: a constant, true if it is absent. */
static bool nnrti_onnx_goes_on(nnrti_onnx *c, uint32_t cond)
{
    if (c->code != NNRT_SUCCESS || cond == NNRT_NO_TENSOR)
        return c->code == NNRT_SUCCESS;
    if (nnrti_onnx_is_constant(c, cond) && nnrti_onnx_type(c, cond) == NNRT_DATA_TYPE_BOOL)
        return *(const uint8_t *)nnrti_onnx_at(c, cond)->data != 0;
    NNRTI_ONNX_NEEDS(c, "it carries a sequence, and its condition is unknown: give the values of the inputs that decide it");
    return false;
}

/* A Loop that carries sequences, whose length may change, or that needs a position in a sequence: its body is read in its place
   once for each iteration. The budget limits the iterations. */
static void nnrti_onnx_unroll(nnrti_onnx *c, const nnrti_onnx_loop *l)
{
    const int64_t trips = nnrti_onnx_trips(c, l->start[0]);
    const bool list = l->body->inputs.data[0].hasShape && l->body->inputs.data[0].dims.count == 1;
    uint32_t **scans = (uint32_t **)nnrti_onnx_keep(c, l->scans + 1u, sizeof(*scans)); /* of each scan its results so far */
    const int32_t one = 1;
    const uint8_t yes = 1;
    uint32_t room = 0, n = 0;
    for (bool more = nnrti_onnx_goes_on(c, l->start[1]) && trips > 0; more; n++) {
        const int64_t i = n;
        uint32_t *out;
        if (!nnrti_onnx_work(c, NNRTI_ONNX_CALL_WORK * (double)(1 + l->body->nodes.count)))
            return;
        l->start[0] = nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_INT64, list ? 1 : 0, &one, &i);
        l->start[1] = nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_BOOL, 0, NULL, &yes);
        out = nnrti_onnx_read_graph(c, l->body, c->builder->entered, l->start, l->carried + 2);
        for (uint32_t k = 0; k < l->scans && n == room && out != NULL; k++) {
            uint32_t *wider = (uint32_t *)nnrti_onnx_keep(c, 2 * (size_t)room + 8, sizeof(*wider));
            if (wider != NULL && n > 0)
                memcpy(wider, scans[k], n * sizeof(*wider));
            scans[k] = wider;
        }
        room = n == room ? 2 * room + 8 : room;
        nnrti_onnx_only_tensors(c, out, 1);
        if (out == NULL || c->code != NNRT_SUCCESS)
            return;
        nnrti_onnx_only_tensors(c, out + 1 + l->carried, l->scans);
        memcpy(l->start + 2, out + 1, l->carried * sizeof(*out));
        for (uint32_t k = 0; k < l->scans; k++)
            scans[k][n] = out[1 + l->carried + k];
        more = nnrti_onnx_goes_on(c, out[0]) && i + 1 < trips;
    }
    for (uint32_t k = 0; k < l->carried && c->code == NNRT_SUCCESS; k++)
        nnrti_onnx_out_any(c, k, l->start[2 + k]);
    for (uint32_t k = 0; k < l->scans && c->code == NNRT_SUCCESS; k++) {
        nnrti_onnx_sequence all;
        all.values = scans[k];
        all.count = n;
        if (n == 0)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "the loop has no iterations, and the shape of output %u is unknown",
                            l->carried + k);
        else
            nnrti_onnx_out(c, l->carried + k, nnrti_onnx_stack(c, all, 0));
    }
}

/* Fixed-point iteration: as long as a carried value leaves the body of a Loop with another shape, the differing dimensions become
   dynamic and the body is read again. Returns its graph. */
static uint32_t nnrti_onnx_loop_body(nnrti_onnx *c, nnrti_onnx_loop *l, nnrti_builder_mark mark)
{
    uint32_t body = NNRT_NO_GRAPH;
    bool closed = false;
    while (!closed && c->code == NNRT_SUCCESS) {
        nnrti_onnx_rollback(c, mark);
        body = nnrti_onnx_new_graph(c, l->body);
        nnrti_onnx_loop_given(c, l);
        l->out = c->code == NNRT_SUCCESS ? nnrti_onnx_read_graph(c, l->body, body, l->in, l->carried + 2) : NULL;
        nnrti_onnx_only_tensors(c, l->out, 1 + l->carried + l->scans);
        closed = l->out == NULL || c->code != NNRT_SUCCESS || nnrti_onnx_loop_fixed_point(c, l);
    }
    return body;
}

/* Loop. A body that needs a position in a sequence, such as the number of the iteration, is read once for each iteration
   if their number is known. */
static void nnrti_onnx_op_loop(nnrti_onnx *c, int32_t arg_)
{
    const nnrti_builder_mark mark = nnrti_builder_here(c->builder);
    NNRT_Loop a;
    nnrti_onnx_loop l;
    const uint32_t entered = c->builder->entered;
    const bool deferrable = c->deferrable;
    nnrt_error *const error = c->error, why;
    bool tensors = true, known;
    (void)arg_;
    memset(&l, 0, sizeof(l));
    l.body = nnrti_onnx_graph_of(c, "body");
    if (c->code != NNRT_SUCCESS)
        return;
    if (c->node->inputs.count < 2) { /* both may be absent, but must be listed */
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "%z inputs, expected 2 or more: trips, cond and carried values",
                        c->node->inputs.count);
        return;
    }
    l.carried = (uint32_t)c->node->inputs.count - 2;
    if (l.body->inputs.count != c->node->inputs.count || c->node->outputs.count < l.carried ||
        l.body->outputs.count != 1 + c->node->outputs.count) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL,
                        "its body has %z inputs and %z outputs, expected %z (trip, cond, carried values) and %z (cond, "
                        "carried values, scans)",
                        l.body->inputs.count, l.body->outputs.count, c->node->inputs.count, c->node->outputs.count + 1);
        return;
    }
    l.scans = (uint32_t)c->node->outputs.count - l.carried;
    l.start = (uint32_t *)nnrti_onnx_keep(c, l.carried + 2u, sizeof(*l.start));
    l.in = (uint32_t *)nnrti_onnx_keep(c, l.carried + 2u, sizeof(*l.in));
    l.open = (bool *)nnrti_onnx_keep(c, l.carried + 1u, NNRT_MAX_RANK * sizeof(*l.open));
    for (uint32_t k = 0; k < l.carried + 2 && c->code == NNRT_SUCCESS; k++) {
        l.start[k] = k < 2 ? nnrti_onnx_in(c, k) : nnrti_onnx_any(c, k);
        if (k >= 2 && c->node->inputs.data[k].length == 0)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is missing", k);
        tensors = tensors && (k < 2 || l.start[k] < NNRTI_ONNX_SEQUENCE);
    }
    if (c->code == NNRT_SUCCESS && !tensors) {
        nnrti_onnx_unroll(c, &l);
        return;
    }
    if (c->code != NNRT_SUCCESS)
        return;
    memset(&why, 0, sizeof(why));
    c->error = &why;
    c->positions = false;
    a.body = nnrti_onnx_loop_body(c, &l, mark);
    c->error = error;
    known = nnrti_onnx_is_constant(c, l.start[0]) && (l.start[1] == NNRT_NO_TENSOR || nnrti_onnx_is_constant(c, l.start[1]));
    if (c->code == NNRT_UNSUPPORTED_OP && c->positions && known) {
        nnrt_error_clear(&c->builder->error);
        nnrt_builder_enter(c->builder, entered); /* which a failed builder ignores */
        nnrti_onnx_rollback(c, mark);
        c->code = NNRT_SUCCESS;
        c->deferrable = deferrable;
        c->positions = false;
        nnrti_onnx_unroll(c, &l);
        return;
    }
    if (c->code != NNRT_SUCCESS) {
        *error = why;
        return;
    }
    nnrt_builder_graph_io(c->builder, a.body, l.in, l.carried + 2, l.out, (uint32_t)l.body->outputs.count);
    nnrti_onnx_control_step(c, NNRT_NODE_TYPE_LOOP, &a, l.start, l.carried + 2, l.out + 1);
}

/* SequenceMap: the body is read in its place once for each element of the sequence in input 0; other inputs are sequences of
   its length, or tensors. Each output is the sequence of its results. */
static void nnrti_onnx_op_sequence_map(nnrti_onnx *c, int32_t arg)
{
    const nnrt_onnx_graph *body = nnrti_onnx_graph_of(c, "body");
    const nnrti_onnx_sequence first = nnrti_onnx_sequence_in(c, 0);
    const uint32_t nIn = (uint32_t)c->node->inputs.count, nOut = (uint32_t)c->node->outputs.count;
    uint32_t *given = (uint32_t *)nnrti_onnx_keep(c, nIn + 1u, sizeof(*given)), *in, *results;
    size_t all = 0;
    (void)arg;
    if (c->code == NNRT_SUCCESS && (body->inputs.count != nIn || body->outputs.count != nOut))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "its body has %z inputs and %z outputs, expected %u and %u", body->inputs.count,
                        body->outputs.count, nIn, nOut);
    for (uint32_t k = 0; k < nIn && c->code == NNRT_SUCCESS; k++) {
        given[k] = nnrti_onnx_any(c, k);
        if (given[k] == NNRT_NO_TENSOR || (nnrti_onnx_elements(c, given[k]) >= 0 &&
                                           nnrti_onnx_elements(c, given[k]) != (int64_t)first.count))
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is %s, expected a tensor or a sequence of %u as input 0", k,
                            given[k] == NNRT_NO_TENSOR ? "absent" : "a sequence of another length", first.count);
    }
    in = (uint32_t *)nnrti_onnx_keep(c, nIn + 1u, sizeof(*in));
    (void)nnrt_mul_size(nOut, first.count, &all); /* both are below 2^31 */
    results = (uint32_t *)nnrti_onnx_keep(c, all + 1, sizeof(*results));
    for (uint32_t i = 0; i < first.count && c->code == NNRT_SUCCESS; i++) {
        const uint32_t *out;
        for (uint32_t k = 0; k < nIn; k++) {
            const nnrti_onnx_sequence *s = nnrti_onnx_sequence_of(c, given[k]);
            in[k] = s != NULL ? s->values[i] : given[k];
        }
        out = nnrti_onnx_work(c, NNRTI_ONNX_CALL_WORK * (double)(1 + body->nodes.count))
                  ? nnrti_onnx_read_graph(c, body, c->builder->entered, in, nIn)
                  : NULL;
        nnrti_onnx_only_tensors(c, out, nOut);
        for (uint32_t k = 0; k < nOut && out != NULL; k++)
            results[(size_t)k * first.count + i] = out[k];
    }
    for (uint32_t k = 0; k < nOut && c->code == NNRT_SUCCESS; k++)
        nnrti_onnx_out(c, k, nnrti_onnx_new_sequence(c, results + (size_t)k * first.count, first.count));
}

/* Entry i of a list attribute, which must have `count` entries; 0 if the attribute is absent. */
static int64_t nnrti_onnx_scan_entry(nnrti_onnx *c, const char *name, uint32_t i, uint32_t count)
{
    const nnrt_onnx_ints list = nnrti_onnx_ints_of(c, name);
    if (list.data != NULL && list.count != count)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "%s has %z entries, expected %u", name, list.count, count);
    return list.data != NULL && i < list.count ? list.data[i] : 0;
}

/* A direction: false = forward, true = reverse. */
static bool nnrti_onnx_scan_reversed(nnrti_onnx *c, const char *name, uint32_t i, uint32_t count)
{
    const int64_t direction = nnrti_onnx_scan_entry(c, name, i, count);
    if (direction != 0 && direction != 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s[%u] is %l, expected 0 or 1", name, i, direction);
    return direction != 0;
}

/* x reversed along an axis. */
static uint32_t nnrti_onnx_reversed(nnrti_onnx *c, uint32_t x, int32_t axis)
{
    return nnrti_onnx_strided_slice(c, x, axis, -1, INT32_MIN, -1);
}

/* Input x of a Scan of operator set 8 without its first axis, the batch, which must be 1; SQUEEZE checks an open one. */
static uint32_t nnrti_onnx_scan_batch(nnrti_onnx *c, uint32_t x)
{
    const int64_t axis = 0;
    NNRT_Squeeze a;
    if (c->code == NNRT_SUCCESS &&
        (nnrti_onnx_rank(c, x) < 1 || nnrti_onnx_dim(c, x, 0) == 0 || nnrti_onnx_dim(c, x, 0) > 1))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "'%s' is %o: only a batch of 1 is supported", nnrti_onnx_at(c, x)->name,
                        nnrti_onnx_at(c, x));
    a.axis = nnrt_int64_list(&axis, 1);
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_SQUEEZE, &a, x);
}

/* Prepares the scan inputs, which follow the carried values: x[] (reversed for direction 1) and the axis of each to
   iterate over. Returns the number of iterations, a constant or a value computed in the run. */
static uint32_t nnrti_onnx_scan_inputs(nnrti_onnx *c, const nnrti_onnx_loop *l, uint32_t *x, int64_t *axes)
{
    const bool old = c->opset < 9;
    uint32_t trips = NNRT_NO_TENSOR;
    for (uint32_t i = 0; i < l->scans && c->code == NNRT_SUCCESS; i++) {
        x[i] = nnrti_onnx_in(c, (old ? 1 : 0) + l->carried + i);
        if (x[i] == NNRT_NO_TENSOR) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is missing", (old ? 1 : 0) + l->carried + i);
            break;
        }
        if (old)
            x[i] = nnrti_onnx_scan_batch(c, x[i]);
        else
            axes[i] =
                nnrti_onnx_axis(c, nnrti_onnx_scan_entry(c, "scan_input_axes", i, l->scans), nnrti_onnx_rank(c, x[i]));
        if (nnrti_onnx_scan_reversed(c, old ? "directions" : "scan_input_directions", i, l->scans))
            x[i] = nnrti_onnx_reversed(c, x[i], (int32_t)axes[i]);
        if (c->code == NNRT_SUCCESS && nnrti_onnx_rank(c, x[i]) < 1)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "'%s' is a scalar, expected 1 or more axes to scan",
                            nnrti_onnx_at(c, x[i])->name);
        if (i == 0)
            trips = nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x[0], (int32_t)axes[0]));
        else if (nnrti_onnx_dim(c, x[i], (int32_t)axes[i]) != nnrti_onnx_dim(c, x[0], (int32_t)axes[0]))
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                            "scan inputs 0 and %u do not have the same constant number of steps", i);
    }
    return trips;
}

/* Imports the body of a Scan into a graph of the builder: in each iteration it receives the slices of x at index trip
   along axes. */
static bool nnrti_onnx_scan_body(nnrti_onnx *c, nnrti_onnx_loop *l, uint32_t graph, const uint32_t *x,
                                 const int64_t *axes)
{
    const uint32_t entered = c->builder->entered;
    uint32_t *in = (uint32_t *)nnrti_onnx_keep(c, l->carried + l->scans, sizeof(*in)), *out;
    nnrti_onnx_loop_given(c, l);
    if (in == NULL || c->code != NNRT_SUCCESS)
        return false;
    memcpy(in, l->in + 2, l->carried * sizeof(*in));
    nnrt_builder_enter(c->builder, graph);
    for (uint32_t i = 0; i < l->scans; i++)
        in[l->carried + i] = nnrti_onnx_gather(c, x[i], l->in[0], axes[i]);
    nnrti_onnx_name_last(c);
    nnrt_builder_enter(c->builder, entered);
    out = c->code == NNRT_SUCCESS ? nnrti_onnx_read_graph(c, l->body, graph, in, l->carried + l->scans) : NULL;
    l->out = (uint32_t *)nnrti_onnx_keep(c, l->body->outputs.count + 1, sizeof(*l->out));
    if (out == NULL || l->out == NULL)
        return false;
    l->out[0] = l->in[1];
    memcpy(l->out + 1, out, l->body->outputs.count * sizeof(*out));
    return true;
}

/* Converts result y of the loop into output i of the Scan: direction and axis of scan outputs, batch axis of operator
   set 8. */
static void nnrti_onnx_scan_out(nnrti_onnx *c, const nnrti_onnx_loop *l, uint32_t i, uint32_t y)
{
    const uint32_t k = i - l->carried, count = (uint32_t)l->body->outputs.count - l->carried;
    int64_t perm[NNRT_MAX_RANK];
    int32_t rank, axis;
    if (c->opset < 9)
        y = nnrti_onnx_unsqueeze(c, y, 0);
    if (i >= l->carried && c->opset >= 9) {
        if (nnrti_onnx_scan_reversed(c, "scan_output_directions", k, count))
            y = nnrti_onnx_reversed(c, y, 0);
        if (nnrti_onnx_scan_entry(c, "scan_output_axes", k, count) != 0) {
            rank = nnrti_onnx_rank(c, y);
            axis = nnrti_onnx_axis(c, nnrti_onnx_scan_entry(c, "scan_output_axes", k, count), rank);
            for (int32_t a = 0; a < rank; a++)
                perm[a] = a < axis ? a + 1 : a == axis ? 0 : a;
            y = nnrti_onnx_transpose(c, y, perm, rank);
        }
    }
    nnrti_onnx_out(c, i, y);
}

/* Scan: a LOOP over slices of its last inputs; results that are not carried are concatenated over the iterations. */
static void nnrti_onnx_op_scan(nnrti_onnx *c, int32_t arg_)
{
    const uint32_t first = c->opset < 9 ? 1 : 0;
    const int64_t scans = nnrti_onnx_int(c, "num_scan_inputs", 0);
    nnrti_builder_mark mark;
    NNRT_Loop a;
    nnrti_onnx_loop l;
    uint32_t *x, *out;
    int64_t *axes;
    bool closed = false;
    (void)arg_;
    memset(&l, 0, sizeof(l));
    l.body = nnrti_onnx_graph_of(c, "body");
    if (c->code != NNRT_SUCCESS)
        return;
    if (scans < 1 || scans > (int64_t)c->node->inputs.count - first ||
        l.body->inputs.count != c->node->inputs.count - first || l.body->outputs.count < c->node->outputs.count ||
        l.body->outputs.count + (uint64_t)scans < l.body->inputs.count) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL,
                        "%z inputs (%l to scan) and %z outputs do not match its body with %z inputs and %z outputs",
                        c->node->inputs.count, scans, c->node->outputs.count, l.body->inputs.count,
                        l.body->outputs.count);
        return;
    }
    if (first > 0 && nnrti_onnx_in(c, 0) != NNRT_NO_TENSOR)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "input 0 (sequence_lens) is not supported");
    l.scan = true;
    l.scans = (uint32_t)scans;
    l.carried = (uint32_t)l.body->inputs.count - l.scans;
    l.start = (uint32_t *)nnrti_onnx_keep(c, l.carried + 2u, sizeof(*l.start));
    l.in = (uint32_t *)nnrti_onnx_keep(c, l.carried + 2u, sizeof(*l.in));
    l.open = (bool *)nnrti_onnx_keep(c, l.carried + 1u, NNRT_MAX_RANK * sizeof(*l.open));
    x = (uint32_t *)nnrti_onnx_keep(c, l.scans, sizeof(*x));
    axes = (int64_t *)nnrti_onnx_keep(c, l.scans, sizeof(*axes));
    out = (uint32_t *)nnrti_onnx_keep(c, l.body->outputs.count + 1, sizeof(*out));
    if (c->code != NNRT_SUCCESS)
        return;
    l.start[0] = nnrti_onnx_scan_inputs(c, &l, x, axes);
    l.start[1] = NNRT_NO_TENSOR;
    for (uint32_t k = 0; k < l.carried && c->code == NNRT_SUCCESS; k++) {
        l.start[2 + k] = nnrti_onnx_in(c, first + k);
        if (l.start[2 + k] == NNRT_NO_TENSOR)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is missing", first + k);
        else if (first > 0)
            l.start[2 + k] = nnrti_onnx_scan_batch(c, l.start[2 + k]);
    }
    mark = nnrti_builder_here(c->builder);
    while (!closed && c->code == NNRT_SUCCESS) {
        nnrti_onnx_rollback(c, mark);
        a.body = nnrti_onnx_new_graph(c, l.body);
        closed = c->code != NNRT_SUCCESS || !nnrti_onnx_scan_body(c, &l, a.body, x, axes) ||
                 nnrti_onnx_loop_fixed_point(c, &l);
    }
    if (!nnrti_onnx_fine(c) || !nnrti_onnx_work(c, (double)nnrti_array_count(c->builder->tensors)))
        return;
    nnrt_builder_graph_io(c->builder, a.body, l.in, l.carried + 2, l.out, (uint32_t)l.body->outputs.count + 1);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_LOOP, &a, l.start, l.carried + 2, out, (uint32_t)l.body->outputs.count, NULL);
    for (uint32_t i = 0; i < c->node->outputs.count && c->code == NNRT_SUCCESS; i++)
        if (nnrti_onnx_has_output(c, i))
            nnrti_onnx_scan_out(c, &l, i, out[i]);
}

/* Inputs of LinearAttention in float32 with the axes [B,T,heads,..]: for each step a row q [G,K] (G queries share a
   state), key [1,K] and as a column [K,1], value [1,V], decay factors [K|1,1], beta [1,1], erase [1,K|1]. */
typedef struct nnrti_onnx_recurrence {
    uint32_t q, key, column, value, decay, beta, erase;
} nnrti_onnx_recurrence;

/* Rule: x has `rank` axes, and the first `count` have the sizes of `like`; if they are dynamic, the run compares them. */
static void nnrti_onnx_same_axes(nnrti_onnx *c, uint32_t x, uint32_t like, int32_t rank, int32_t count)
{
    if (nnrti_onnx_rank(c, x) != rank)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "'%s' is %o, expected %d axes", nnrti_onnx_at(c, x)->name,
                        nnrti_onnx_at(c, x), rank);
    for (int32_t i = 0; i < count && c->code == NNRT_SUCCESS; i++) {
        const nnrt_operand *a = nnrti_onnx_at(c, x), *b = nnrti_onnx_at(c, like);
        if (a->symbols[i] != 0 || b->symbols[i] != 0) {
            if (a->symbols[i] != b->symbols[i])
                nnrti_onnx_assert_equal(c, nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x, i)),
                                        nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, like, i)));
        } else if (a->dims[i] != b->dims[i]) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "'%s' is %o and '%s' is %o, expected the same size of axis %d",
                            a->name, a, b->name, b, i);
        }
    }
}

/* x [B,T,heads*rows*columns] as float32 [B,T,heads,rows,columns]. */
static uint32_t nnrti_onnx_in_heads(nnrti_onnx *c, uint32_t x, int64_t heads, int64_t rows, int64_t columns)
{
    nnrti_onnx_size sizes[5];
    sizes[0] = nnrti_onnx_size_of(c, x, 0);
    sizes[1] = nnrti_onnx_size_of(c, x, 1);
    sizes[2] = nnrti_onnx_size_known(heads);
    sizes[3] = nnrti_onnx_size_known(rows);
    sizes[4] = nnrti_onnx_size_known(columns);
    return nnrti_onnx_reshape_to(c, nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_FLOAT32), sizes, 5);
}

/* x [B,T,have,..] as [B,T,heads,..]: each head for heads / have adjacent ones. */
static uint32_t nnrti_onnx_repeat_heads(nnrti_onnx *c, uint32_t x, int64_t have, int64_t heads)
{
    int64_t *list;
    if (have == heads || c->code != NNRT_SUCCESS)
        return x;
    list = (int64_t *)nnrti_onnx_keep(c, (size_t)heads, sizeof(*list));
    for (int64_t i = 0; i < heads && list != NULL; i++)
        list[i] = i / (heads / have);
    return list != NULL ? nnrti_onnx_gather(c, x, nnrti_onnx_const_ints(c, list, (uint32_t)heads), 2) : x;
}

/* Input i, a gate [B,T,heads] or [B,T,heads*K], as [B,T,heads,K|1,1] (column) or [B,T,heads,1,K|1]. shared: [B,T,1] is
   possible, too. */
static uint32_t nnrti_onnx_gate(nnrti_onnx *c, uint32_t i, int64_t heads, int64_t K, bool column, bool shared)
{
    const uint32_t x = nnrti_onnx_need(c, i);
    const int64_t width = c->code == NNRT_SUCCESS ? nnrti_onnx_fixed_dim(c, x, 2, "LinearAttention") : heads;
    nnrti_onnx_same_axes(c, x, nnrti_onnx_in(c, 0), 3, 2);
    if (width != heads && width != heads * K && !(shared && width == 1))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o, expected %l or %l entries in the last axis", i,
                        nnrti_onnx_at(c, x)->name, nnrti_onnx_at(c, x), heads, shared ? 1 : heads * K);
    K = width == heads * K ? K : 1;
    return nnrti_onnx_in_heads(c, x, shared && width == 1 ? 1 : heads, column ? K : 1, column ? 1 : K);
}

/* One step of the recurrence in the body of the loop: S *= decay; value = beta*(value - (erase*key)*S); S += column*value.
   *y = q*S. Returns S. */
static uint32_t nnrti_onnx_linear_step(nnrti_onnx *c, const nnrti_onnx_recurrence *l, uint32_t step, uint32_t S,
                                       uint32_t *y)
{
    uint32_t value = nnrti_onnx_gather(c, l->value, step, 1);
    if (l->decay != NNRT_NO_TENSOR)
        S = nnrti_onnx_mul(c, S, nnrti_onnx_gather(c, l->decay, step, 1));
    if (l->beta != NNRT_NO_TENSOR) {
        uint32_t key = nnrti_onnx_gather(c, l->key, step, 1);
        if (l->erase != NNRT_NO_TENSOR)
            key = nnrti_onnx_mul(c, key, nnrti_onnx_gather(c, l->erase, step, 1));
        value = nnrti_onnx_sub(c, value, nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, NULL, key, S));
        value = nnrti_onnx_mul(c, value, nnrti_onnx_gather(c, l->beta, step, 1));
    }
    S = nnrti_onnx_add(c, S, nnrti_onnx_mul(c, nnrti_onnx_gather(c, l->column, step, 1), value));
    *y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, NULL, nnrti_onnx_gather(c, l->q, step, 1), S);
    return S;
}

/* A LOOP over the steps, which carries the state. out[0]: the state after the last step, out[1]: y of all steps [T,..]. */
static void nnrti_onnx_linear_loop(nnrti_onnx *c, const nnrti_onnx_recurrence *x, uint32_t state, uint32_t out[2])
{
    const uint32_t entered = c->builder->entered;
    uint32_t start[3], in[3], results[3];
    bool open[NNRT_MAX_RANK] = {0}, closed = false;
    nnrti_builder_mark mark;
    nnrti_onnx_loop l;
    NNRT_Loop a;
    memset(&l, 0, sizeof(l));
    l.scan = true;
    l.carried = 1;
    l.start = start;
    l.in = in;
    l.out = results;
    l.open = open;
    start[0] = nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x->q, 1));
    start[1] = NNRT_NO_TENSOR;
    start[2] = state;
    mark = nnrti_builder_here(c->builder);
    while (!closed && c->code == NNRT_SUCCESS) {
        nnrti_onnx_rollback(c, mark);
        a.body = nnrt_builder_graph(c->builder, "LinearAttention");
        nnrti_onnx_loop_given(c, &l);
        if (!nnrti_onnx_fine(c))
            return;
        nnrt_builder_enter(c->builder, a.body);
        results[0] = in[1];
        results[1] = nnrti_onnx_linear_step(c, x, in[0], in[2], &results[2]);
        nnrt_builder_enter(c->builder, entered);
        closed = c->code != NNRT_SUCCESS || nnrti_onnx_loop_fixed_point(c, &l);
    }
    if (!nnrti_onnx_fine(c) || !nnrti_onnx_work(c, (double)nnrti_array_count(c->builder->tensors)))
        return;
    nnrt_builder_graph_io(c->builder, a.body, in, 3, results, 3);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_LOOP, &a, start, 3, out, 2, NULL);
}

/* The initial state [B,heads,K,V] in float32: input 3, or zeros. */
static uint32_t nnrti_onnx_linear_state(nnrti_onnx *c, int64_t heads, int64_t K, int64_t V)
{
    const uint32_t past = nnrti_onnx_in(c, 3), q = nnrti_onnx_in(c, 0);
    nnrti_onnx_size sizes[4];
    sizes[0] = nnrti_onnx_size_of(c, q, 0);
    sizes[1] = nnrti_onnx_size_known(heads);
    sizes[2] = nnrti_onnx_size_known(K);
    sizes[3] = nnrti_onnx_size_known(V);
    if (past == NNRT_NO_TENSOR)
        return nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL, NULL, nnrti_onnx_scalar(c, NNRT_DATA_TYPE_FLOAT32, 0),
                                nnrti_onnx_size_list(c, sizes, 4));
    nnrti_onnx_same_axes(c, past, q, 4, 1);
    for (int32_t i = 1; i < 4; i++)
        if (nnrti_onnx_dim(c, past, i) != sizes[i].known)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "the past state '%s' is %o, expected %l entries in axis %d",
                            nnrti_onnx_at(c, past)->name, nnrti_onnx_at(c, past), sizes[i].known, i);
    return nnrti_onnx_cast(c, past, NNRT_DATA_TYPE_FLOAT32);
}

/* LinearAttention of ONNX and of com.microsoft: for each head, S = decay*S + key^T*value (linear: decay 1), or, with the
   delta rules, value - key*S instead of value, times beta; y = scale*q*S. Groups of queries share the state of a head,
   or groups of heads share a query and a key. The attribute chunk_size does not change the result. */
static void nnrti_onnx_op_linear_attention(nnrti_onnx *c, int32_t arg)
{
    static const int64_t order[] = {1, 0, 2, 3, 4};
    const uint32_t q = nnrti_onnx_in(c, 0), key = nnrti_onnx_need(c, 1), value = nnrti_onnx_need(c, 2);
    const int32_t rule = nnrti_onnx_choice(c, "update_rule", "gated_delta|linear|gated|delta");
    const int64_t heads = nnrti_onnx_int(c, "kv_num_heads", 0), queries = nnrti_onnx_int(c, "q_num_heads", 0);
    const float scale = nnrti_onnx_float(c, "scale", 0);
    nnrti_onnx_recurrence l;
    nnrti_onnx_size sizes[3];
    uint32_t out[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    int64_t width[3], K, V, keys, group;
    (void)arg;
    for (uint32_t i = 0; i < 3 && c->code == NNRT_SUCCESS; i++) {
        const uint32_t x = i == 0 ? q : i == 1 ? key : value;
        nnrti_onnx_same_axes(c, x, q, 3, 2);
        width[i] = nnrti_onnx_fixed_dim(c, x, 2, "LinearAttention");
    }
    if (c->code == NNRT_SUCCESS && !nnrti_onnx_is_a(c, q, NNRT_TYPES_FLOAT))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "the query is %o, expected float16 or float32", nnrti_onnx_at(c, q));
    if (c->depth == NNRT_MAX_NESTING)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "is nested in %d graphs, the maximum", NNRT_MAX_NESTING);
    if (nnrti_onnx_int(c, "state_window", 0) != 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "state_window is %l, only 0 is supported",
                        nnrti_onnx_int(c, "state_window", 0));
    if (c->code != NNRT_SUCCESS)
        return;
    K = queries > 0 ? width[0] / queries : 0;
    V = heads > 0 ? width[2] / heads : 0;
    keys = K > 0 ? width[1] / K : 0;
    if (V < 1 || keys < 1 || K * queries != width[0] || V * heads != width[2] || K * keys != width[1] ||
        heads % keys != 0 || (queries % heads != 0 && heads % queries != 0)) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                        "q_num_heads is %l and kv_num_heads %l for widths of %l (query), %l (key) and %l (value), "
                        "expected heads of equal width whose numbers divide one another",
                        queries, heads, width[0], width[1], width[2]);
        return;
    }
    group = queries > heads ? queries / heads : 1;
    l.q = nnrti_onnx_repeat_heads(c, nnrti_onnx_in_heads(c, q, queries / group, group, K), queries / group, heads);
    l.q = nnrti_onnx_mul(
        c, l.q, nnrti_onnx_scalar(c, NNRT_DATA_TYPE_FLOAT32, scale != 0 ? (double)scale : 1 / nnrti_sqrt((double)K)));
    l.key = nnrti_onnx_repeat_heads(c, nnrti_onnx_in_heads(c, key, keys, 1, K), keys, heads);
    l.column = nnrti_onnx_repeat_heads(c, nnrti_onnx_in_heads(c, key, keys, K, 1), keys, heads);
    l.value = nnrti_onnx_in_heads(c, value, heads, 1, V);
    l.decay = l.beta = l.erase = NNRT_NO_TENSOR;
    if (rule == 0 || rule == 2)
        l.decay = nnrti_onnx_step1(c, NNRT_NODE_TYPE_EXPFUSION, NULL, nnrti_onnx_gate(c, 4, heads, K, true, false));
    if (rule == 0 || rule == 3) {
        l.beta = nnrti_onnx_gate(c, 5, heads, 1, true, true);
        if (nnrti_onnx_in(c, 6) != NNRT_NO_TENSOR)
            l.erase = nnrti_onnx_gate(c, 6, heads, K, false, false);
    }
    nnrti_onnx_linear_loop(c, &l, nnrti_onnx_linear_state(c, heads, K, V), out);
    sizes[0] = nnrti_onnx_size_of(c, q, 0);
    sizes[1] = nnrti_onnx_size_of(c, q, 1);
    sizes[2] = nnrti_onnx_size_known(heads * group * V);
    out[1] = nnrti_onnx_reshape_to(c, nnrti_onnx_transpose(c, out[1], order, 5), sizes, 3);
    nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, out[1], nnrti_onnx_type(c, q)));
    if (nnrti_onnx_has_output(c, 1))
        nnrti_onnx_out(
            c, 1,
            nnrti_onnx_cast(c, out[0],
                            nnrti_onnx_type(c, nnrti_onnx_in(c, 3) != NNRT_NO_TENSOR ? nnrti_onnx_in(c, 3) : q)));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_build: outputs, and the model */

/* Makes v an output of the model with this name. The result of a step takes the name; an input of that name is used
   directly. Other inputs, constants and values that already are an output under another name (isOutput, per value) are
   copied by a step. */
static void nnrti_onnx_tensor_output(nnrti_onnx *c, const char *name, uint32_t v, bool *isOutput)
{
    nnrt_builder *b = c->builder;
    const uint32_t was = v;
    if (c->code != NNRT_SUCCESS || name == NULL)
        return;
    if (!nnrti_onnx_is_input(c, v) || strcmp(b->tensors[v].name, name) != 0) {
        if (nnrti_onnx_is_input(c, v) || isOutput[v] || nnrti_onnx_is_constant(c, v)) {
            if (!nnrti_onnx_is_input(c, v) && !isOutput[v])
                b->tensors[v].name = NULL; /* the copy takes the name */
            v = b->tensors[v].quantParams.count > 0
                    ? nnrti_onnx_step1(c, NNRT_NODE_TYPE_ASSIGN, NULL, v)
                    : nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_CAST, NULL, v, nnrti_onnx_type(c, v));
        }
        if (v != NNRT_NO_TENSOR)
            nnrti_onnx_call(c, v, name);
    }
    isOutput[was] = true;
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_output(b, v);
}

/* Makes `name` an output of the model: a tensor, each tensor of a sequence, or none if it is an absent optional value. */
static void nnrti_onnx_output(nnrti_onnx *c, nnrt_onnx_str name, bool *isOutput)
{
    const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, name);
    const nnrti_onnx_sequence *s = nnrti_onnx_sequence_of(c, e->value);
    char text[64];
    if (e->name.data == NULL)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "output '%s' has no definition", nnrti_onnx_text(text, name));
    else if (e->value < NNRTI_ONNX_SEQUENCE) /* a quantized tensor with its parameters */
        nnrti_onnx_tensor_output(c, nnrti_onnx_copy_text(c, name), e->isQuantized ? e->quantized : e->value, isOutput);
    for (uint32_t i = 0; s != NULL && i < s->count && c->code == NNRT_SUCCESS; i++)
        nnrti_onnx_tensor_output(c, nnrti_onnx_element_text(c, &c->model->graph->outputs, name, i), s->values[i], isOutput);
}

static void nnrti_onnx_outputs(nnrti_onnx *c)
{
    const nnrt_onnx_value_infos *outputs = &c->model->graph->outputs;
    bool *isOutput = (bool *)nnrti_onnx_keep(c, nnrti_array_count(c->builder->tensors), sizeof(*isOutput));
    c->builder->worth = NULL; /* no constant folding: a constant output needs a step that writes it */
    if (outputs->count == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "the graph has no outputs");
    for (size_t i = 0; i < outputs->count && c->code == NNRT_SUCCESS; i++)
        nnrti_onnx_output(c, outputs->data[i].name, isOutput);
    if (c->code == NNRT_SUCCESS && nnrti_array_count(c->builder->outputs) == 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "all outputs are empty sequences or absent: nothing is computed");
}

/* If the file's bytes would take a tenth of all constants' size more than the constants used in place, copies these
   constants and releases the bytes. */
static void nnrti_onnx_leave_bytes(nnrti_onnx *c)
{
    nnrt_builder *b = c->builder;
    size_t in = 0, all = 0;
    for (uint32_t t = 0; t < nnrti_array_count(b->tensors); t++) {
        const size_t offset = (size_t)((uintptr_t)b->tensors[t].data.addr - (uintptr_t)c->data);
        all += b->tensors[t].data.dataSize;
        in += !b->copied[t] && offset < c->dataBytes ? b->tensors[t].data.dataSize : 0;
    }
    if (!c->ownBytes || !c->usedInPlace || c->dataBytes < in + all / 10)
        return;
    for (uint32_t t = 0; t < nnrti_array_count(b->tensors); t++)
        if (nnrti_is_constant(&b->tensors[t]))
            b->copied[t] = b->copied[t] != 0 ? b->copied[t] : 1;
    c->usedInPlace = false;
}

/* A line of the metadata "sequences" for each input or output that is a sequence or absent: "NAME=LENGTH", "NAME=none".
   Returns the length of the text; text NULL: only counts. */
static size_t nnrti_onnx_sequence_lines(const nnrti_onnx *c, char *text, size_t room)
{
    size_t at = 0;
    for (int output = 0; output < 2; output++) {
        const nnrt_onnx_value_infos *infos = output ? &c->graph->outputs : &c->graph->inputs;
        for (size_t i = 0; i < infos->count; i++) {
            const nnrt_onnx_str name = infos->data[i].name;
            const uint32_t v = nnrti_onnx_entry_of(c, name)->value;
            const nnrti_onnx_sequence *s = nnrti_onnx_sequence_of(c, v);
            if (v < NNRTI_ONNX_SEQUENCE || memchr(name.data, '\n', name.length) != NULL)
                continue;
            if (text != NULL)
                memcpy(text + at, name.data, name.length);
            at += name.length;
            if (text == NULL)
                at += 13;
            else if (s != NULL)
                at += nnrt_text(text + at, room - at, "=%u\n", s->count);
            else
                at += nnrt_text(text + at, room - at, "=none\n");
        }
    }
    return at;
}

/* Metadata of the model (nnrt_model.h, >>format): the states of metadata_props, unless the caller chose the outputs, and the
   lengths of sequences. Returns their number. */
static uint32_t nnrti_onnx_metadata(nnrti_onnx *c, nnrt_metadata made[2])
{
    const nnrt_onnx_pairs *pairs = &c->model->metadataProps;
    const size_t room = nnrti_onnx_sequence_lines(c, NULL, 0);
    uint32_t count = 0;
    char *text;
    for (size_t i = 0; i < pairs->count && c->desc->outputCount == 0; i++)
        if (nnrti_onnx_is(pairs->data[i].key, "states")) {
            made[0].key = "states";
            made[0].value = nnrti_onnx_copy_text(c, pairs->data[i].value);
            count = made[0].value != NULL;
        }
    if (room > 0 && (text = (char *)nnrti_onnx_keep(c, room + 1, 1)) != NULL) {
        (void)nnrti_onnx_sequence_lines(c, text, room + 1);
        made[count].key = "sequences";
        made[count++].value = text;
    }
    return count;
}

/* Builds the model: outputs, dead-code elimination, optimizer passes, metadata. */
static NNRT_ReturnCode nnrti_onnx_build(nnrti_onnx *c, NNRT_Model **model)
{
    nnrt_metadata metadata[2];
    uint32_t nMetadata;
    NNRT_ReturnCode code;
    bool any;
    c->nodeIndex = NNRT_NO_TENSOR;
    nnrti_onnx_outputs(c);
    c->builder->name = nnrti_onnx_copy_text(c, c->model->graph->name);
    nMetadata = nnrti_onnx_metadata(c, metadata);
    if (c->code != NNRT_SUCCESS)
        return c->code;
    nnrt_onnx_model_free(c->model); /* the builder has copies of names, or points into the file's bytes */
    c->model = NULL;
    c->builder->log = c->desc->log;
    code = nnrti_builder_reduce(c->builder, !c->desc->no_optimize, c->desc->no_quantize ? NNRT_PASS_QUANTIZE : 0, false,
                                &any);
    if (code == NNRT_SUCCESS) {
        nnrti_onnx_leave_bytes(c);
        return nnrti_builder_annotated(c->builder, model, metadata, nMetadata, c->error);
    }
    return nnrti_builder_report(c->builder, code, c->error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_load */

#ifndef NNRT_NO_STDIO

/* Records the file of external tensor t in list[*n], if it can be opened. Errors are reported later, when the tensor is
   read. */
static void nnrti_onnx_note_source(nnrti_onnx *c, const nnrt_onnx_tensor *t, nnrti_onnx_source *list, size_t *n)
{
    nnrt_onnx_external where;
    if (t == NULL || t->dataLocation != 1)
        return;
    if (list != NULL &&
        (nnrt_onnx_tensor_external(t, &where, NULL) != NNRT_SUCCESS ||
         nnrti_onnx_source_find(&list[*n], where.location, c->path, c->desc->allocator, "", NULL) != NNRT_SUCCESS))
        return;
    if (list != NULL)
        nnrti_onnx_source_close(&list[*n]);
    ++*n;
}

/* Records all external tensors of nodes and of their subgraphs; list NULL: only counts them. */
static void nnrti_onnx_sources_of(nnrti_onnx *c, const nnrt_onnx_tensors *initializers, const nnrt_onnx_nodes *nodes,
                                  uint32_t depth, nnrti_onnx_source *list, size_t *n)
{
    for (size_t i = 0; initializers != NULL && i < initializers->count; i++)
        nnrti_onnx_note_source(c, &initializers->data[i], list, n);
    for (size_t i = 0; i < nodes->count; i++)
        for (size_t k = 0; k < nodes->data[i].attributes.count && !nodes->data[i].unneeded; k++) {
            const nnrt_onnx_attribute *a = &nodes->data[i].attributes.data[k];
            nnrti_onnx_note_source(c, a->t, list, n);
            if (a->g != NULL && depth < NNRT_MAX_NESTING)
                nnrti_onnx_sources_of(c, &a->g->initializers, &a->g->nodes, depth + 1, list, n);
        }
}

static size_t nnrti_onnx_sources(nnrti_onnx *c, nnrti_onnx_source *list)
{
    size_t n = 0;
    nnrti_onnx_sources_of(c, &c->model->graph->initializers, &c->model->graph->nodes, 0, list, &n);
    for (size_t i = 0; i < c->model->functions.count; i++)
        nnrti_onnx_sources_of(c, NULL, &c->model->functions.data[i].nodes, 0, list, &n);
    return n;
}

/* Adds the size of each external data file to the budget, once per file, whatever the number of tensors, paths and
   links that lead to it. */
static void nnrti_onnx_add_sources(nnrti_onnx *c)
{
    const size_t count = c->path != NULL ? nnrti_onnx_sources(c, NULL) : 0;
    nnrti_onnx_entry *order;
    nnrti_onnx_source *list;
    size_t n;
    if (count == 0 || c->code != NNRT_SUCCESS)
        return;
    list = (nnrti_onnx_source *)nnrti_onnx_keep(c, count, sizeof(*list));
    order = (nnrti_onnx_entry *)nnrti_onnx_keep(c, count, sizeof(*order));
    if (list == NULL || order == NULL)
        return;
    n = nnrti_onnx_sources(c, list);
    for (size_t i = 0; i < n; i++) { /* device and number, the first members, identify a file */
        order[i].key.data = (const char *)&list[i];
        order[i].key.length = offsetof(nnrti_onnx_source, bytes);
    }
    n = nnrti_onnx_sort(order, n);
    for (size_t i = 0; i < n; i++)
        nnrti_onnx_budget_add(c->budget, c->desc, ((const nnrti_onnx_source *)(const void *)order[i].key.data)->bytes);
}

#endif

/* A deferred model: the file and the options of its next import. */
typedef struct nnrti_onnx_deferred {
    nnrti_deferred base;
    nnrt_onnx_desc desc; /* the caller's; texts, lists and values are copies */
    const void *data;
    size_t bytes;
} nnrti_onnx_deferred;

static NNRT_ReturnCode nnrti_onnx_load(NNRT_Model **model, void *data, size_t bytes, const nnrt_onnx_desc *desc,
                                       const char *path, bool *own, nnrt_error *error);

/* Imports the file of a deferred model: a description of an input replaces the one that the first import had of it. */
static NNRT_ReturnCode nnrti_onnx_import_deferred(const nnrti_deferred *deferred, const nnrt_input *inputs, uint32_t count,
                                                  NNRT_Model **model, nnrt_error *error)
{
    const nnrti_onnx_deferred *d = (const nnrti_onnx_deferred *)(const void *)deferred;
    nnrt_onnx_desc desc = d->desc;
    const size_t room = ((size_t)d->desc.inputCount + count + 1) * sizeof(nnrt_input);
    nnrt_input *all = (nnrt_input *)nnrt_alloc(desc.allocator, room);
    NNRT_ReturnCode code;
    if (all == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    desc.inputs = all;
    desc.inputCount = count;
    desc.final = true;
    if (count > 0)
        memcpy(all, inputs, count * sizeof(*all));
    for (uint32_t i = 0; i < d->desc.inputCount; i++) {
        uint32_t k = 0;
        while (k < count && strcmp(inputs[k].name, d->desc.inputs[i].name) != 0)
            k++;
        if (k == count)
            all[desc.inputCount++] = d->desc.inputs[i];
    }
    code = nnrti_onnx_load(model, (void *)(uintptr_t)d->data, d->bytes, &desc, desc.path, NULL, error);
    nnrt_free(desc.allocator, all, room);
    return code;
}

/* The options for the next import, with copies of all that they point to, kept in b. */
static nnrt_onnx_desc nnrti_onnx_keep_desc(nnrti_onnx *c, nnrt_builder *b)
{
    const nnrt_onnx_value_infos *infos = &c->graph->inputs;
    nnrt_onnx_desc kept = *c->desc;
    nnrt_onnx_input *inputs = (nnrt_onnx_input *)nnrti_builder_keep(b, kept.inputCount, sizeof(*inputs));
    const char **outputs = (const char **)nnrti_builder_keep(b, kept.outputCount, sizeof(*outputs));
    kept.allocator = c->budget->memory.under;
    if (kept.allocator != NULL)
        kept.allocator = (const nnrt_allocator *)nnrti_builder_copy(b, kept.allocator, 1, sizeof(*kept.allocator));
    kept.log = NULL;
    kept.path = nnrti_builder_text(b, c->path);
    kept.inputs = inputs;
    kept.inputCount = 0;
    kept.outputs = outputs;
    for (uint32_t i = 0; i < kept.outputCount && outputs != NULL; i++)
        outputs[i] = nnrti_builder_text(b, c->desc->outputs[i]);
    for (uint32_t i = 0; i < c->desc->inputCount && inputs != NULL; i++) {
        const nnrt_onnx_input *told = &c->desc->inputs[i];
        nnrt_onnx_input *own = &inputs[kept.inputCount];
        size_t k = 0, bytes = 0;
        if (told->name == NULL)
            continue;
        while (k < infos->count && !nnrti_onnx_is(infos->data[k].name, told->name))
            k++;
        *own = *told;
        own->name = nnrti_builder_text(b, told->name);
        if (told->data != NULL && k < infos->count &&
            nnrt_dims_bytes(told->shape.dims, told->shape.rank, nnrt_onnx_data_type(infos->data[k].elemType), &bytes))
            own->data = nnrti_builder_copy(b, told->data, bytes, 1);
        kept.inputCount++;
    }
    return kept;
}

/* Adds to b the inputs and outputs that the file and the caller declare. */
static void nnrti_onnx_defer_ends(nnrti_onnx *c, nnrt_builder *b)
{
    nnrt_builder *const nodes = c->builder;
    char text[64];
    c->nParams = 0;
    for (int output = 0; output < 2; output++) {
        const nnrt_onnx_value_infos *infos = output ? &c->graph->outputs : &c->graph->inputs;
        for (size_t i = 0; i < infos->count; i++) {
            const nnrt_onnx_value_info *info = &infos->data[i];
            const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, info->name);
            const nnrt_onnx_input *given = output ? NULL : e->told;
            const bool sequence = nnrti_onnx_kind_of(info) == NNRT_ONNX_KIND_SEQUENCE;
            const bool shaped = given != NULL || (info->hasShape && info->dims.count <= NNRT_MAX_RANK);
            int32_t dims[NNRT_MAX_RANK] = {-1}, rank;
            if (!output && ((given != NULL && given->data != NULL) ||
                            (e->name.data != NULL && !nnrti_onnx_is_input(c, e->value))))
                continue; /* a constant */
            rank = sequence ? 1 /* its length */
                   : shaped ? nnrti_onnx_input_shape(c, info, given, dims, nnrti_onnx_text(text, info->name))
                            : NNRT_RANK_UNKNOWN;
            nnrti_builder_deferred_end(b, output, nnrti_onnx_copy_text(c, info->name), nnrt_onnx_data_type(info->elemType),
                                       rank, dims);
            c->builder = b;
            if (!sequence)
                nnrti_onnx_name_dims(c, info, nnrti_array_count(b->tensors) - 1, dims, rank);
            c->builder = nodes;
        }
    }
}

/* After a fault that sizes or values of inputs may settle: makes the deferred model, with the fault's message as the reason.
   If no input is left whose size or value could be given, the fault stays. */
NNRTI_COLD static NNRT_ReturnCode nnrti_onnx_defer(nnrti_onnx *c, NNRT_Model **model)
{
    nnrt_builder *b;
    nnrti_onnx_deferred *d;
    NNRT_ReturnCode code = nnrt_builder_create(&b, NULL, c->desc->allocator);
    if (code != NNRT_SUCCESS)
        return c->code;
    b->name = nnrti_onnx_copy_text(c, c->graph->name);
    nnrti_onnx_defer_ends(c, b);
    d = (nnrti_onnx_deferred *)nnrti_builder_keep(b, 1, sizeof(*d));
    if (d != NULL && nnrti_array_count(b->inputs) > 0) {
        d->base.import = nnrti_onnx_import_deferred;
        d->base.why = nnrti_builder_text(b, c->error->message);
        d->desc = nnrti_onnx_keep_desc(c, b);
        d->data = c->data;
        d->bytes = c->dataBytes;
        nnrti_onnx_move_back(c);
        code = nnrti_builder_defer(b, &d->base, model, NULL);
        c->code = code == NNRT_SUCCESS ? code : c->code;
        c->usedInPlace = code == NNRT_SUCCESS;
    }
    nnrt_builder_destroy(b);
    return c->code;
}

/* Reads the parsed model from its beginning: c gets a new builder. */
NNRTI_COLD static void nnrti_onnx_read_model(nnrti_onnx *c)
{
    c->code = nnrt_builder_create(&c->builder, NULL, c->desc->allocator);
    if (c->code != NNRT_SUCCESS) {
        (void)nnrt_error_set(c->error, c->code, "there is not enough memory for the model");
        return;
    }
    c->builder->worth = nnrti_onnx_should_fold;
    c->builder->user = c;
    c->opset = nnrti_onnx_opset_of(&c->model->opsetImport, 1); /* 1: files older than the field */
    nnrti_onnx_take_functions(c);
    nnrti_onnx_check_operators(c);
#ifndef NNRT_NO_STDIO
    nnrti_onnx_add_sources(c);
#endif
    c->graph = c->model->graph;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_make_table(c);
    nnrti_onnx_apply_inputs(c);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_add_inputs(c);
    nnrti_onnx_add_nodes(c);
}

/* Imports the model in data[bytes]; path and own as in nnrti_onnx. *inPlace: the model points into the bytes. */
NNRTI_COLD static NNRT_ReturnCode nnrti_onnx_import(NNRT_Model **model, const void *data, size_t bytes,
                                                    const nnrt_onnx_desc *desc, nnrti_onnx_budget *budget,
                                                    const char *path, bool own, bool *inPlace, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_onnx_ranks ranks;
    nnrt_error fault;
    nnrti_onnx start, c;
    memset(&start, 0, sizeof(start));
    memset(&fault, 0, sizeof(fault));
    memset(&ranks, 0, sizeof(ranks));
    code = nnrt_onnx_parse(data, bytes, desc->allocator, &start.model, error);
    if (code == NNRT_SUCCESS && desc->outputCount > 0)
        code = nnrt_onnx_cut(start.model, desc->outputs, desc->outputCount, error);
    if (code != NNRT_SUCCESS) {
        nnrt_onnx_model_free(start.model);
        return code;
    }
    start.desc = desc;
    start.budget = budget;
    start.path = path;
    start.data = (const uint8_t *)data;
    start.dataBytes = bytes;
    start.ownBytes = own;
    start.error = &fault;
    start.ranks = &ranks;
    for (;;) {
        c = start;
        nnrt_error_clear(&fault);
        nnrti_onnx_read_model(&c);
        if (!nnrti_onnx_read_again(&c))
            break;
        nnrti_onnx_move_back(&c);
        nnrt_builder_destroy(c.builder);
    }
    code = c.code == NNRT_SUCCESS ? nnrti_onnx_build(&c, model) : c.code;
    if (code == NNRT_UNSUPPORTED_OP && c.deferrable) /* without memory values look unknown, too */
        code = nnrti_onnx_defer(&c, model);
    if (code != NNRT_SUCCESS && error != NULL && error->code == NNRT_SUCCESS) {
        (void)nnrt_error_set(error, code, "%s", fault.message);
        error->node = fault.node;
        error->tensor = fault.tensor;
    }
    *inPlace = c.usedInPlace;
    nnrti_onnx_end(&c);
    return code;
}

/* Imports with a budget. path: base of external data, or NULL. own: NULL, or the bytes belong to the import, which
   hands them to the model if it uses them; *own is then false. */
static NNRT_ReturnCode nnrti_onnx_load(NNRT_Model **model, void *data, size_t bytes, const nnrt_onnx_desc *desc,
                                       const char *path, bool *own, nnrt_error *error)
{
    nnrt_onnx_desc limited;
    nnrti_onnx_budget budget;
    NNRT_ReturnCode code;
    bool inPlace = false;
    nnrti_onnx_budget_begin(&budget, desc, bytes, &limited);
    budget.memory.live = own != NULL ? bytes : 0;
    code = nnrti_onnx_import(model, data, bytes, &limited, &budget, path, own != NULL, &inPlace, error);
    if (code == NNRT_SUCCESS && own != NULL && inPlace) {
        code = nnrt_model_attach(*model, data, bytes); /* it is new: there is room */
        *own = code != NNRT_SUCCESS;
    }
    code = nnrti_onnx_budget_end(&budget, &limited, *model, code, error);
    if (code != NNRT_SUCCESS) {
        nnrt_model_destroy(*model);
        *model = NULL;
    }
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_onnx_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                               const nnrt_onnx_desc *desc, nnrt_error *error)
{
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_load_memory: %s is NULL",
                              model == NULL ? "model" : "data");
    return nnrti_onnx_load(model, (void *)(uintptr_t)data, bytes, desc, desc != NULL ? desc->path : NULL, NULL, error);
}

#ifndef NNRT_NO_STDIO
NNRT_API NNRT_ReturnCode nnrt_onnx_load(NNRT_Model **model, const char *path, const nnrt_onnx_desc *desc,
                                        nnrt_error *error)
{
    const nnrt_allocator *allocator = desc != NULL ? desc->allocator : NULL;
    NNRT_ReturnCode code;
    void *data = NULL;
    size_t bytes = 0;
    bool own = true;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_load: %s is NULL", model == NULL ? "model" : "path");
    code = nnrti_file_bytes(path, allocator, &data, &bytes, error);
    if (code != NNRT_SUCCESS)
        return code;
    code = nnrti_onnx_load(model, data, bytes, desc, path, &own, error);
    if (own)
        nnrt_free(allocator, data, bytes);
    return code;
}
#endif

NNRT_SETUP_END()

#endif /* NNRT_IMPLEMENTATION */
