/*
nnrt_onnx.h - reads ONNX files: an ONNX model becomes an NNRT_Model, which nnrt.h runs.

    #define NNRT_IMPLEMENTATION
    #include "formats/nnrt_onnx.h"          includes nnrt.h, which lies one folder up

    NNRT_Model *model = NULL;
    nnrt_error error = {0};
    if (nnrt_onnx_load(&model, "digits.onnx", NULL, &error) != NNRT_SUCCESS)
        puts(error.message);

SECTIONS (search for the tag)
    >>reader              the file as tables: a bounded protobuf reader that copies nothing it can use in place
    >>import              the tables as a model
    -- implementation --
    >>reader
    >>onnx_table          a row per ONNX operator
    >>onnx_values         values of the graph: tensors of a builder, found by their names
    >>onnx_cut            the graph without what its outputs do not need
    >>onnx_tensors        elements of constants
    >>onnx_steps          nodes that the builder gets, and what is known of their results
    >>onnx_reading        attributes, inputs and outputs of the current node
    >>onnx_parts          what handlers are made of
    >>onnx_elementwise    handlers, by what operators do
    >>onnx_shapes
    >>onnx_reductions
    >>onnx_windows
    >>onnx_matrices
    >>onnx_normalisation
    >>onnx_recurrent
    >>onnx_signals
    >>onnx_about          what operators become, and which are left out
    >>onnx_graph          the graph, node by node
    >>onnx_control        graphs that nodes run
    >>onnx_functions      functions of the file, whose nodes are read in the place of those that call them
    >>onnx_loops          If, Loop and Scan
    >>onnx_build          outputs, and the model
    >>onnx_load           the public functions

WHAT IT READS
    Operator sets 1 to 28 of the domain "", with their differences. Operators that the table lacks are all named at
    once, with NNRT_UNSUPPORTED_OP. Some are rebuilt from several of the runtime's own operators; what follows from
    constants and shapes is computed and leaves no node. Images stay NCHW; weights are brought into the runtime's order
    once. External data are read from files below the model's folder only.
    Functions of the file are inlined, before operators of the same name; but an operator of the application
    (nnrt_op_register) comes before a function that has its name, whose body ONNX takes for one way to compute it.
    A node of another domain, or of an operator that the table lacks, is one node of the operator of the application that
    has the name "domain.Type" ("Type" for the domain ""): its inputs and outputs in their order, its attributes onto the
    members of their names, which take: INT, INT64 and BOOL an int; FLOAT and DOUBLE a float; TYPE an int, the number that
    ONNX has for the type; ENUM a string, the enumerator's name, or an int; STRING a string; INTS, INTS64, FLOATS ints and
    floats.
    Not read: sequences, strings, sparse tensors, complex numbers, bfloat16.

TRUST
    Nothing of a file is believed before it is checked: lengths, counts, offsets, nesting. Memory and work are bounded by
    the file's size: NNRT_ONNX_MEMORY_FACTOR for the reader, NNRT_ONNX_BUDGET for the import.

OPTIONS
    NNRT_NO_STDIO          no files: only nnrt_onnx_load_memory
    NNRT_ONNX_REALPATH     1/0: links of external data are resolved with realpath(); default: NNRT_POSIX of nnrt.h

MIT licence, see LICENSE.
*/
#ifndef NNRT_ONNX_H
#define NNRT_ONNX_H

#include "../nnrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>reader */

/* The reading half: ONNX bytes to plain tables. Nothing is copied that can be used in place: strings, raw_data and the
 * typed data of tensors point into the file's bytes, which the caller keeps unchanged as long as the tables live. All
 * tables of one file lie in one block, whose size is found by a first walk over the file.
 * Rules of the format, where files can differ: a singular field that occurs twice has its last value (a submessage is
 * replaced, not merged); fields unknown here are skipped; a known field with a wire type that it cannot have, a group,
 * and a varint beyond 64 bits are errors. Enumerations and int32 fields keep the low 32 bits, as in protobuf. */

/* The tables of a file of n bytes take at most NNRT_ONNX_MEMORY_FACTOR * n + NNRT_ONNX_MEMORY_FREE bytes; a file that asks
 * for more, as hundreds of thousands of empty entries do, is refused with NNRT_OUT_OF_MEMORY. #define another factor
 * before this file to raise it. */
#ifndef NNRT_ONNX_MEMORY_FACTOR
#define NNRT_ONNX_MEMORY_FACTOR 64
#endif
#define NNRT_ONNX_MEMORY_FREE ((size_t)1 << 20)

/* Messages nested deeper than this are refused. One subgraph inside a node costs three levels. */
#define NNRT_ONNX_MAX_DEPTH 64

/* Text or bytes inside the file, not terminated. data is NULL where the file has no such field, else not NULL. */
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
    NNRT_ONNX_FLOAT8E8M0 = 24
};

/* TensorProto. No dimension is negative. The elements are in rawData, or (dataLocation 1) in another file, or in one of
 * the typed fields, of which only the numbers of values are kept here; nnrt_onnx_tensor_read gives them all alike. */
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

/* Which kind of type a value has: the field number inside TypeProto. Only tensors are described further. */
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

/* ValueInfoProto with its TypeProto. elemType, hasShape and dims mean something where kind is NNRT_ONNX_KIND_TENSOR;
 * hasShape 0 is a tensor of unknown rank, hasShape not 0 with no dims a scalar. */
typedef struct nnrt_onnx_value_info {
    nnrt_onnx_str name;
    nnrt_onnx_dims dims;
    nnrt_onnx_type_kind kind;
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

/* AttributeProto. type is what the file says; where it says nothing (IR versions 1 and 2) it follows from the value.
 * The member that belongs to type may still be absent: t and g are then NULL, numbers 0, lists empty. */
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
    nnrt_onnx_str refAttrName; /* data not NULL: the attribute refers to one of a function */
    size_t otherCount;         /* values that are not kept: tensors, graphs, sparse tensors, types */
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
    int32_t unneeded; /* not 0: no output of the graph needs it, since nnrt_onnx_cut */
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

/* FunctionProto: what stands for a node that calls it. Attributes have a default in attributes, or are only named. */
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

/* ModelProto. graph is not NULL in a model that nnrt_onnx_parse gives. */
typedef struct nnrt_onnx_model {
    int64_t irVersion;
    nnrt_onnx_str producerName, producerVersion, domain;
    int64_t modelVersion;
    nnrt_onnx_opsets opsetImport;
    const nnrt_onnx_graph *graph;
    nnrt_onnx_pairs metadataProps;
    nnrt_onnx_functions functions;
} nnrt_onnx_model;

/* Where the elements of an external tensor lie. location is a relative path of plain components. */
typedef struct nnrt_onnx_external {
    nnrt_onnx_str location;
    int64_t offset; /* 0 where the file says nothing */
    int64_t length; /* -1 where the file says nothing */
} nnrt_onnx_external;

/* Reads a ModelProto of size bytes at data. On success *model lives until nnrt_onnx_model_free and points into data,
 * which must stay. One allocation (allocator NULL: malloc). Returns NNRT_INVALID_FILE for bytes that are no ModelProto
 * or a model without a graph, NNRT_NOT_SUPPORT for a segmented tensor, NNRT_OUT_OF_MEMORY, NNRT_NULL_PTR; *model is
 * then NULL and error (may be NULL) says where the fault lies. */
NNRT_API NNRT_ReturnCode nnrt_onnx_parse(const void *data, size_t size, const nnrt_allocator *allocator,
                                         nnrt_onnx_model **model, nnrt_error *error);

/* The same for the bytes of one TensorProto, such as the .pb files of the ONNX test data. */
NNRT_API NNRT_ReturnCode nnrt_onnx_parse_tensor(const void *data, size_t size, const nnrt_allocator *allocator,
                                                nnrt_onnx_tensor **tensor, nnrt_error *error);

/* Makes the values of these names, which inputs, initializers or nodes of the graph give, its outputs. Nodes that none of
 * them needs are `unneeded` from then on and keep their places; inputs and initializers go. Takes as much memory for a
 * while as there are names. Returns NNRT_INVALID_PARAMETER for a name that is told twice or that the graph does not have,
 * of which error (may be NULL) tells the nearest ones, NNRT_OUT_OF_MEMORY, NNRT_NULL_PTR; the model is then as before. */
NNRT_API NNRT_ReturnCode nnrt_onnx_cut(nnrt_onnx_model *model, const char *const *outputs, uint32_t outputCount,
                                       nnrt_error *error);

/* Frees what nnrt_onnx_parse and nnrt_onnx_parse_tensor gave; NULL is fine. The allocator that gave the block must still work. */
NNRT_API void nnrt_onnx_model_free(nnrt_onnx_model *model);
NNRT_API void nnrt_onnx_tensor_free(nnrt_onnx_tensor *tensor);

/* Bytes of the tensor's elements, by its dims and type; types of 4 bits are packed two to a byte. Returns
 * NNRT_NOT_SUPPORT for strings and unknown types, NNRT_INVALID_FILE where the number does not fit size_t. */
NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_bytes(const nnrt_onnx_tensor *tensor, size_t *bytes, nnrt_error *error);

/* Writes all elements to out in the machine's byte order, whether the file has them in raw_data or in a typed field.
 * bytes is the size of out and must be what nnrt_onnx_tensor_bytes says. out need not be aligned. Returns
 * NNRT_INVALID_FILE where the file has fewer or more elements than the dims say, NNRT_NOT_SUPPORT for strings (use
 * stringData) and external tensors (use nnrt_onnx_external_read). After a failure out may be partly written. */
NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_read(const nnrt_onnx_tensor *tensor, void *out, size_t bytes,
                                               nnrt_error *error);

/* Where an external tensor's elements lie. Refuses with NNRT_INVALID_PATH a location that is absent, empty, absolute,
 * or has a "..", a backslash, a drive letter or a NUL byte; with NNRT_INVALID_FILE numbers that are no numbers. */
NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_external(const nnrt_onnx_tensor *tensor, nnrt_onnx_external *external,
                                                   nnrt_error *error);

#ifndef NNRT_NO_STDIO
/* The same as nnrt_onnx_tensor_read for an external tensor of the model at modelPath: the file at its location, below
 * the model's folder. On Unix and macOS a link that leads out of the folder and what is no regular file are refused with
 * NNRT_INVALID_PATH; elsewhere only the location's text is checked. (A folder that others can change while it is read
 * is beyond these checks.) The allocator gives room for two paths. out NULL: only looks whether the bytes are there. */
NNRT_API NNRT_ReturnCode nnrt_onnx_external_read(const nnrt_onnx_tensor *tensor, const char *modelPath,
                                                 const nnrt_allocator *allocator, void *out, size_t bytes,
                                                 nnrt_error *error);

/* Reads a whole file into one block of *size bytes at *data, to be freed with nnrt_onnx_file_free. Refuses an empty
 * file and one of 2 GiB or more, the limit of protobuf. On failure *data is NULL and *size 0. */
NNRT_API NNRT_ReturnCode nnrt_onnx_file_read(const char *path, const nnrt_allocator *allocator, void **data,
                                             size_t *size, nnrt_error *error);
NNRT_API void nnrt_onnx_file_free(const nnrt_allocator *allocator, void *data, size_t size);
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>import */

/* The importing half: an ONNX file becomes an NNRT_Model. The rows of NNRTI_ONNX_OPS below say which operators are
   known; each is rebuilt from the runtime's own operators. Images stay in ONNX's order (NCHW), weights are brought into
   the runtime's order once. What follows from constants and from shapes is computed here and leaves no node. */

/* What is known about a model input beyond what the file says. */
typedef struct nnrt_onnx_input {
    const char *name;
    nnrt_dims shape;
    const void *data; /* NULL: an input of this shape. Else it becomes a constant of these dense elements, copied. */
} nnrt_onnx_input;

/* An import takes from the allocator, the file and optimising included, at most NNRT_ONNX_BUDGET times the bytes of the
   file, the files of its external data and the values that the caller gives, and NNRT_ONNX_BUDGET_FREE bytes; it
   computes, of what follows from constants, at most NNRT_ONNX_BUDGET elements a byte and NNRT_ONNX_WORK_FREE. Beyond it
   is refused, with NNRT_OUT_OF_MEMORY or NNRT_TIME_OUT: a few hundred bytes may ask for gigabytes and hours. */
#define NNRT_ONNX_BUDGET 64
#define NNRT_ONNX_BUDGET_FREE ((size_t)1 << 20)
#define NNRT_ONNX_WORK_FREE ((size_t)1 << 24)

/* All zero is the default. inputs: extents for inputs that have none in the file, and values for inputs that never
   change (axes, sizes, ...), which ONNX allows to be computed and a planned model needs to know. */
typedef struct nnrt_onnx_desc {
    const nnrt_allocator *allocator; /* NULL = malloc */
    bool no_optimize;                /* leave the model as imported: no nnrt_model_optimize */
    bool no_quantize; /* operators between DequantizeLinear and QuantizeLinear compute in float32, QLinearConv and
                         QLinearMatMul round once, as ONNX does; else both become quantized operators */
    const nnrt_onnx_input *inputs;
    uint32_t inputCount;
    uint32_t budget;  /* so many times the memory and the work that are allowed otherwise; 0 is 1 */
    const char *path; /* nnrt_onnx_load_memory: the file that the bytes are from, for its external data; NULL: none */
    const char *const *outputs; /* values that the model ends with (nnrt_onnx_cut) */
    uint32_t outputCount;       /* 0: those of the file */
    const nnrt_log *log;        /* is told what became of which node. NULL: nobody is */
} nnrt_onnx_desc;

/* Imports the ONNX model of these bytes. Constants that lie aligned to their element size are used in place, so the
   bytes must outlive the model. Without desc->path external data cannot be found and are refused. On failure *model is
   NULL and error (may be NULL) names the ONNX node, its operator and what is wrong; operators that are not known are
   listed all at once with NNRT_UNSUPPORTED_OP, and the values before them, of which desc->outputs makes a model. */
NNRT_API NNRT_ReturnCode nnrt_onnx_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                               const nnrt_onnx_desc *desc, nnrt_error *error);
#ifndef NNRT_NO_STDIO
/* The same for a file; external data are read from files below its folder. The model owns everything it needs. */
NNRT_API NNRT_ReturnCode nnrt_onnx_load(NNRT_Model **model, const char *path, const nnrt_onnx_desc *desc,
                                        nnrt_error *error);
#endif

/* What the importer does with an operator of ONNX. */
typedef struct nnrt_onnx_about {
    const char *name;    /* "Conv"; of another domain than ONNX's own "ai.onnx.ml.ZipMap" */
    int32_t least, most; /* operator sets that are read, first and last; 0: the operator is left out */
    const char *becomes; /* the runtime's operators of which it becomes one, separated by spaces; "": it is none */
    const char *with;    /* those that may stand beside it, or of which it is made; "": none */
    const char *why;     /* when and why they do; for an operator that is left out, why it is */
} nnrt_onnx_about;

/* Tells about operator `index` of those that are read, and of those that are left out behind them; false beyond. */
NNRT_API bool nnrt_onnx_operator(uint32_t index, nnrt_onnx_about *about);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_ONNX_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_ONNX_IMPLEMENTED)
#define NNRT_ONNX_IMPLEMENTED

#include "../nnrt.h" /* its implementation, where only its declarations were read so far */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#ifndef NNRT_NO_STDIO
#include <stdio.h>
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>reader */

NNRTI_SETUP()

/* What a field of a message is and where it goes. Columns: kind, what it reads, the member it fills. */
enum {
    NNRTI_ONNX_I32,     /* varint, int32_t */
    NNRTI_ONNX_I64,     /* varint, int64_t */
    NNRTI_ONNX_F32,     /* fixed32, float */
    NNRTI_ONNX_STR,     /* text or bytes, nnrt_onnx_str */
    NNRTI_ONNX_SUB,     /* message, pointer to its struct */
    NNRTI_ONNX_INLINE,  /* message, fills the struct that holds it; sub NONE: only noted */
    NNRTI_ONNX_I64S,    /* repeated varint, list of int64_t */
    NNRTI_ONNX_F32S,    /* repeated fixed32, list of float */
    NNRTI_ONNX_STRS,    /* repeated text or bytes, list of nnrt_onnx_str */
    NNRTI_ONNX_SUBS,    /* repeated message, list of its structs */
    NNRTI_ONNX_COUNT,   /* message, size_t: how many */
    NNRTI_ONNX_VALUES,  /* repeated varint left in place, size_t: how many */
    NNRTI_ONNX_VALUES4, /* repeated fixed32 left in place, size_t: how many */
    NNRTI_ONNX_VALUES8, /* repeated fixed64 left in place, size_t: how many */
    NNRTI_ONNX_REFUSE   /* message that cannot be read */
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
    NNRTI_ONNX_MESSAGES
};

/* No member, and the most rows that one message has. */
#define NNRTI_ONNX_NO 0xFFFFu
#define NNRTI_ONNX_ROWS 17

/* One field. note is the member (int32_t) that receives the field's number when the field is there, which tells apart
 * the members of a oneof: the last one in the file stays. */
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
/* The types other than tensors are passed over by their length; their kind is noted. */
static const nnrti_onnx_field nnrti_onnx_type_fields[] = {
    NNRTI_ONNX_NOTED(1, "tensor_type",        INLINE, TENSOR_TYPE, value_info, name, kind),
    NNRTI_ONNX_NOTED(4, "sequence_type",      INLINE, NONE,        value_info, name, kind),
    NNRTI_ONNX_NOTED(5, "map_type",           INLINE, NONE,        value_info, name, kind),
    NNRTI_ONNX_NOTED(7, "opaque_type",        INLINE, NONE,        value_info, name, kind),
    NNRTI_ONNX_NOTED(8, "sparse_tensor_type", INLINE, NONE,        value_info, name, kind),
    NNRTI_ONNX_NOTED(9, "optional_type",      INLINE, NONE,        value_info, name, kind)
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
    { "TensorShapeProto.Dimension", sizeof(nnrt_onnx_dim),    NNRTI_ONNX_ROWS_OF(nnrti_onnx_dim_fields) }
};
/* clang-format on */

/* A walk over a message. data is where the offsets in errors count from. block NULL: only count the bytes that the
 * tables need; else they are laid into block, which has room bytes, all 0. used: how many so far. */
typedef struct nnrti_onnx_reader {
    const uint8_t *data;
    uint8_t *block;
    size_t room, used;
    nnrt_error *error;
} nnrti_onnx_reader;

/* One occurrence of a field: its row (field NULL: not one of ours), where its tag starts, and its payload
 * [at, end): the encoded number, or the bytes behind the length. */
typedef struct nnrti_onnx_item {
    const nnrti_onnx_field *field;
    size_t row, start, at, end;
} nnrti_onnx_item;

/* What is known of a message's fields, by row: entries of a list and how many are filled, the list, and the payload
 * of the last occurrence (end 0: none, as no payload ends at 0). */
typedef struct nnrti_onnx_scan {
    size_t count[NNRTI_ONNX_ROWS], filled[NNRTI_ONNX_ROWS];
    size_t at[NNRTI_ONNX_ROWS], end[NNRTI_ONNX_ROWS];
    uint8_t *list[NNRTI_ONNX_ROWS];
} nnrti_onnx_scan;

/* Wire type of each kind, in the order of NNRTI_ONNX_I32 ...; for repeated numbers that of one element. */
static const uint8_t nnrti_onnx_wires[] = {0, 0, 5, 2, 2, 2, 0, 5, 2, 2, 2, 0, 5, 1, 2};

/* 1 for the kinds of repeated numbers, which may also come packed, with wire type 2. */
static int nnrti_onnx_packs(uint8_t kind)
{
    return kind == NNRTI_ONNX_I64S || kind == NNRTI_ONNX_F32S ||
           (kind >= NNRTI_ONNX_VALUES && kind <= NNRTI_ONNX_VALUES8);
}

/* 1 for the kinds that become a list in the block. */
static int nnrti_onnx_lists(uint8_t kind)
{
    return kind >= NNRTI_ONNX_I64S && kind <= NNRTI_ONNX_SUBS;
}

/* Bytes of one entry of a field's list. */
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

/* Reports a fault at a byte of the file, in a field of message m; what says which. */
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

/* Reads a varint of [*at, end) and moves *at behind it. Returns NULL, or what is wrong; *at is then unchanged. */
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

/* Reads one number of a wire type (0, 1 or 5) from [*at, end) and moves *at behind it. Returns NULL, or the fault. */
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

/* Finds the payload of a field of the given wire type at *at, behind its tag, and moves *at behind the payload. */
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

/* Reads the field at *at < end of message m into item and moves *at behind it. A field of ours has the wire type that
 * its kind demands; others are passed over. */
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
        fault = "no valid field tag";
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

/* Takes room for count entries of the given size, aligned to 8 bytes; *entries is NULL while only counting. */
static NNRT_ReturnCode nnrti_onnx_take(nnrti_onnx_reader *r, size_t count, size_t bytes, uint8_t **entries)
{
    size_t need;
    *entries = NULL;
    if (count > (SIZE_MAX - 7) / bytes) {
        return nnrt_error_set(r->error, NNRT_OUT_OF_MEMORY, "ONNX file: its tables do not fit the address space");
    }
    need = (count * bytes + 7) & ~(size_t)7;
    if (need > r->room - r->used) {
        return nnrt_error_set(r->error, NNRT_OUT_OF_MEMORY,
                              "ONNX file: its tables need more than %z bytes, which is %d times the file's and %z "
                              "(NNRT_ONNX_MEMORY_FACTOR raises it)",
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

/* Writes the number with the bits of v as int32_t, int64_t or float, by the field's kind. */
static void nnrti_onnx_store(uint8_t *to, uint8_t kind, uint64_t v)
{
    uint32_t low = (uint32_t)v;
    if (kind == NNRTI_ONNX_I64 || kind == NNRTI_ONNX_I64S) {
        memcpy(to, &v, sizeof(v));
    } else {
        memcpy(to, &low, sizeof(low));
    }
}

/* Puts a singular field, a count or a note into the struct out. Messages and lists come later. */
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

/* Numbers in a payload that is packed or a single one. Each of them is checked. */
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

/* First pass over the message [at, end): checks every field, counts the lists' entries, notes where the last
 * occurrences are, and fills the plain members of out (NULL while only counting). */
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
            rc = nnrt_error_set(r->error, NNRT_NOT_SUPPORT, "ONNX file byte %z: %s.%s cannot be read", item.start,
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

/* Puts the list's entries of one item behind those that are there. While only counting there is no list. */
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

/* Second pass over the message [at, end): fills the lists that scan has made room for. */
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

/* Takes room for a list of a field and enters it, a {data, count} pair, in out. */
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

/* Reads the last occurrence of a singular message, into out itself or into a struct of its own. */
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

/* Rules that the table does not say, once all members of a message stand in out. */
static NNRT_ReturnCode nnrti_onnx_finish(nnrti_onnx_reader *r, uint8_t id, size_t at, size_t end, uint8_t *out)
{
    if (id == NNRTI_ONNX_TENSOR) {
        nnrt_onnx_tensor *t = (nnrt_onnx_tensor *)(void *)out;
        size_t i;
        t->message = nnrti_onnx_slice(r, at, end);
        for (i = 0; i < t->dims.count; i++) {
            if (t->dims.data[i] < 0) {
                return nnrti_onnx_bad(r, at, &nnrti_onnx_messages[id], 1, "a dimension is negative");
            }
        }
    } else if (id == NNRTI_ONNX_ATTRIBUTE) {
        nnrt_onnx_attribute *a = (nnrt_onnx_attribute *)(void *)out;
        if (a->type == NNRT_ONNX_ATTRIBUTE_UNDEFINED && a->valueField != 0) {
            a->type = a->valueField - 1; /* the fields f .. strings are numbered as their types, plus 1 */
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

/* Reads the message [at, end) of kind id into its struct out, which is all 0; NULL while only counting. */
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

/* What stands before the root struct in a block, so that it can be freed by the struct's address alone. */
typedef struct nnrti_onnx_head {
    nnrt_allocator allocator;
    size_t bytes, cutBytes;
    void *cut; /* cutBytes of outputs that nnrt_onnx_cut made, NULL: none */
} nnrti_onnx_head;

#define NNRTI_ONNX_HEAD ((sizeof(nnrti_onnx_head) + 7) & ~(size_t)7)

/* Frees the block whose root struct this is. */
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

/* Walks over the whole message: the root struct, which is *root, and all below it. */
static NNRT_ReturnCode nnrti_onnx_walk(nnrti_onnx_reader *r, uint8_t id, size_t size, uint8_t **root)
{
    NNRT_ReturnCode rc = nnrti_onnx_take(r, 1, nnrti_onnx_messages[id].bytes, root);
    return rc == NNRT_SUCCESS ? nnrti_onnx_decode(r, 1, id, 0, size, *root) : rc;
}

/* Counts, allocates and fills. The same walk does the counting and the filling; should the bytes change in between,
 * the second one ends at the room that the first one found. */
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
    if (rc == NNRT_INVALID_FILE && (size == 0 || *(const uint8_t *)data != 8)) { /* 8: it begins like one, and is broken */
        const char *kind = nnrt_file_guess(data, size);
        if (kind != NULL)
            return nnrt_error_set(error, rc, "this is no ONNX file; it looks like %s", kind);
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

/* How the elements of a data type are stored. bits: of one element. field: the typed field that may have them, by its
 * number in TensorProto. width: bytes that one value of that field becomes; several values make a complex element, and
 * one value holds two of 4 bits. */
typedef struct nnrti_onnx_storage {
    uint8_t bits, field, width;
} nnrti_onnx_storage;

/* By nnrt_onnx_type. */
static const nnrti_onnx_storage nnrti_onnx_storages[] = {
    {0, 0, 0}, {32, 4, 4}, {8, 5, 1},   {8, 5, 1},   {16, 5, 2},  {16, 5, 2}, {32, 5, 4},   {64, 7, 8}, {0, 6, 0},
    {8, 5, 1}, {16, 5, 2}, {64, 10, 8}, {32, 11, 4}, {64, 11, 8}, {64, 4, 4}, {128, 10, 8}, {16, 5, 2}, {8, 5, 1},
    {8, 5, 1}, {8, 5, 1},  {8, 5, 1},   {4, 5, 1},   {4, 5, 1},   {4, 5, 1},  {8, 5, 1}};

/* Copies at most 63 bytes of s to text, unprintable ones as '?', and ends it with a NUL. */
static const char *nnrti_onnx_text(char text[64], nnrt_onnx_str s)
{
    size_t i, n = s.length < 63 ? s.length : 63;
    for (i = 0; i < n; i++) {
        text[i] = s.data[i] >= 32 && s.data[i] < 127 ? s.data[i] : '?';
    }
    text[n] = 0;
    return text;
}

/* The type's row, or NULL and an error where it has no elements of a fixed size. */
static const nnrti_onnx_storage *nnrti_onnx_storage_of(const nnrt_onnx_tensor *tensor, nnrt_error *error)
{
    size_t types = sizeof(nnrti_onnx_storages) / sizeof(nnrti_onnx_storages[0]);
    int32_t type = tensor->dataType;
    char name[64];
    if (type < 0 || (size_t)type >= types || nnrti_onnx_storages[type].bits == 0) {
        nnrt_error_set(error, NNRT_NOT_SUPPORT, "ONNX tensor '%s': elements of data type %d cannot be read",
                       nnrti_onnx_text(name, tensor->name), type);
        return NULL;
    }
    return &nnrti_onnx_storages[type];
}

NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_bytes(const nnrt_onnx_tensor *tensor, size_t *bytes, nnrt_error *error)
{
    const nnrti_onnx_storage *s;
    uint64_t n = 1, limit = (uint64_t)SIZE_MAX / 16 - 1;
    size_t i;
    int fits = 1;
    char name[64];
    if (tensor == NULL || bytes == NULL) {
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_tensor_bytes: an argument is NULL");
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
        return nnrt_error_set(error, NNRT_INVALID_FILE, "ONNX tensor '%s': its dims do not fit the address space",
                              nnrti_onnx_text(name, tensor->name));
    }
    *bytes = s->bits < 8 ? (size_t)((n + 1) / 2) : (size_t)n * (s->bits / 8u);
    return NNRT_SUCCESS;
}

/* 1 where the machine's numbers have their lowest byte first. */
static int nnrti_onnx_little_endian(void)
{
    uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Turns little-endian numbers of width bytes in place to the machine's order. */
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

/* Writes the low width bytes of v, lowest first. */
static void nnrti_onnx_put_low(uint8_t *p, size_t width, uint64_t v)
{
    size_t i;
    for (i = 0; i < width; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

/* How many values the tensor has in the typed field of the given number. */
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

/* Writes the values of the tensor's typed field, s->width little-endian bytes each, to out, which has room for them
 * all. A bool becomes 0 or 1. */
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

/* Checks the size of the buffer out against the tensor's. *storage is the type's row. */
static NNRT_ReturnCode nnrti_onnx_check_out(const nnrt_onnx_tensor *tensor, const void *out, size_t bytes,
                                            const nnrti_onnx_storage **storage, nnrt_error *error)
{
    size_t want = 0;
    char name[64];
    NNRT_ReturnCode rc = nnrt_onnx_tensor_bytes(tensor, &want, error);
    if (rc != NNRT_SUCCESS) {
        return rc;
    }
    if (want != bytes) {
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "ONNX tensor '%s': %z bytes of room for its %z bytes",
                              nnrti_onnx_text(name, tensor->name), bytes, want);
    }
    if (out == NULL && bytes > 0) {
        return nnrt_error_set(error, NNRT_NULL_PTR, "ONNX tensor '%s': out is NULL",
                              nnrti_onnx_text(name, tensor->name));
    }
    *storage = nnrti_onnx_storage_of(tensor, error);
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_onnx_tensor_read(const nnrt_onnx_tensor *tensor, void *out, size_t bytes,
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
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "ONNX tensor '%s': its data are in another file", name);
    }
    have = nnrti_onnx_typed_count(tensor, s->field);
    if (tensor->rawData.length > 0 || have == 0) {
        if (tensor->rawData.length != bytes) {
            return nnrt_error_set(error, NNRT_INVALID_FILE, "ONNX tensor '%s': raw_data has %z bytes, its dims want %z",
                                  name, tensor->rawData.length, bytes);
        }
        if (bytes > 0) {
            memcpy(out, tensor->rawData.data, bytes);
        }
    } else {
        if (have != bytes / s->width) {
            return nnrt_error_set(error, NNRT_INVALID_FILE, "ONNX tensor '%s': %z values in its data, its dims want %z",
                                  name, have, bytes / s->width);
        }
        rc = nnrti_onnx_typed(tensor, s, (uint8_t *)out, bytes, error);
    }
    if (bytes > 0) {
        nnrti_onnx_to_host((uint8_t *)out, bytes, s->width);
    }
    return rc;
}

/* 1 where the string is the given text. */
static int nnrti_onnx_is(nnrt_onnx_str s, const char *text)
{
    size_t n = strlen(text);
    return s.data != NULL && s.length == n && memcmp(s.data, text, n) == 0;
}

static bool nnrti_onnx_same_text(nnrt_onnx_str a, nnrt_onnx_str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* A decimal number of digits alone into *value. 0 where it is something else or beyond int64_t. */
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

/* What is wrong with a location, or NULL. On Windows a colon is refused anywhere, for it names a drive or a stream. */
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
        return nnrt_error_set(error, NNRT_INVALID_FILE, "ONNX tensor '%s': external offset or length is no number",
                              name);
    }
    return NNRT_SUCCESS;
}

#ifndef NNRT_NO_STDIO

#ifndef NNRT_ONNX_REALPATH
#define NNRT_ONNX_REALPATH NNRT_POSIX
#endif
/* It is there, but with -std=c99 alone nothing declares it. */
#if NNRT_ONNX_REALPATH && !defined(__APPLE__) && !defined(_DEFAULT_SOURCE) && !defined(_BSD_SOURCE) &&                 \
    !defined(_GNU_SOURCE) && (!defined(_XOPEN_SOURCE) || _XOPEN_SOURCE < 500)
#ifdef __cplusplus
extern "C"
#endif
    char *
    realpath(const char *path, char *resolved);
#endif
#define NNRTI_ONNX_PATH 4096

/* Room for building a path: the model's folder, and the file in it. */
typedef struct nnrti_onnx_paths {
    char folder[NNRTI_ONNX_PATH], file[NNRTI_ONNX_PATH];
} nnrti_onnx_paths;

/* Length of the folder part of a path, with its last separator; 0 where there is none. */
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

/* Puts the location behind the model's folder into p->file, and the folder ("." where there is none) into p->folder.
 * 0: too long. */
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
/* True where path lies below folder; neither has links. */
static bool nnrti_onnx_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    if (n > 0 && folder[n - 1] == '/')
        n--; /* the root folder */
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}
#endif

/* Replaces p->file by the path without links, where the system can tell. False: it does not exist or lies elsewhere than
 * below p->folder. */
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

/* Size of an open file, which is then at its start; -1 where it cannot be told or is 2 GiB or more. */
static int64_t nnrti_onnx_file_size(FILE *f)
{
    long size = -1;
    if (fseek(f, 0, SEEK_END) == 0) {
        size = ftell(f);
    }
    if (size < 0 || size > 0x7FFFFFFFL || fseek(f, 0, SEEK_SET) != 0) {
        return -1;
    }
    return size;
}

/* An open file with external data: which one it is, where the system tells files apart, and its size. */
typedef struct nnrti_onnx_source {
    uint64_t device, number, bytes;
#if NNRT_POSIX
    int file;
#else
    FILE *file;
#endif
} nnrti_onnx_source;

#if NNRT_POSIX

/* A pipe or a device is not opened for reading: it could block. */
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

/* Reads bytes at an offset; out NULL only looks whether they are there. Returns how many there were. */
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
    size = nnrti_onnx_file_size(s->file);
    s->bytes = size < 0 ? 0x80000000u : (uint64_t)size;
    return true;
}

static void nnrti_onnx_source_close(nnrti_onnx_source *s)
{
    (void)fclose(s->file);
}

/* Moves a file to an offset, in steps that fit a long of 32 bits. Seeking alone may go far beyond the end of a file, so
   the byte before each step's end must be there. 0: it is not. */
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

/* Reads bytes at an offset; out NULL only looks whether they are there. Returns how many there were. */
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
                            "ONNX tensor '%s': its external file '%s' is missing or not in the model's folder", name,
                            nnrti_onnx_text(file, location));
    else if (!nnrti_onnx_source_open(s, paths->file))
        rc = nnrt_error_set(error, NNRT_INVALID_PATH,
                            "ONNX tensor '%s': its external file '%s' cannot be opened, or is no regular file", name,
                            nnrti_onnx_text(file, location));
    nnrt_free(allocator, paths, sizeof(*paths));
    return rc;
}

NNRT_API NNRT_ReturnCode nnrt_onnx_external_read(const nnrt_onnx_tensor *tensor, const char *modelPath,
                                                 const nnrt_allocator *allocator, void *out, size_t bytes,
                                                 nnrt_error *error)
{
    const nnrti_onnx_storage *s = NULL;
    nnrt_onnx_external where;
    nnrti_onnx_source source;
    char name[64];
    NNRT_ReturnCode rc;
    if (modelPath == NULL) {
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_external_read: modelPath is NULL");
    }
    rc = nnrt_onnx_tensor_external(tensor, &where, error);
    if (rc == NNRT_SUCCESS) {
        rc = nnrti_onnx_check_out(tensor, out != NULL ? out : (const void *)&where, bytes, &s, error);
    }
    if (rc != NNRT_SUCCESS) {
        return rc;
    }
    nnrti_onnx_text(name, tensor->name);
    if (where.length >= 0 && (uint64_t)where.length != bytes) {
        return nnrt_error_set(error, NNRT_INVALID_FILE, "ONNX tensor '%s': external length is %l, its dims want %z",
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

NNRT_API NNRT_ReturnCode nnrt_onnx_file_read(const char *path, const nnrt_allocator *allocator, void **data,
                                             size_t *size, nnrt_error *error)
{
    NNRT_ReturnCode rc = NNRT_SUCCESS;
    int64_t length;
    void *block;
    FILE *f;
    if (path == NULL || data == NULL || size == NULL) {
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_file_read: an argument is NULL");
    }
    *data = NULL;
    *size = 0;
    f = fopen(path, "rb");
    if (f == NULL) {
        return nnrt_error_set(error, NNRT_INVALID_PATH, "file '%s' cannot be opened", path);
    }
    length = nnrti_onnx_file_size(f);
    if (length <= 0) {
        fclose(f);
        return nnrt_error_set(error, NNRT_INVALID_FILE, "file '%s' %s", path,
                              length == 0 ? "is empty" : "cannot be measured, or has 2 GiB or more");
    }
    block = nnrt_alloc(allocator, (size_t)length);
    if (block == NULL) {
        rc = nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "file '%s': no memory for its %l bytes", path, length);
    } else if (fread(block, 1, (size_t)length, f) != (size_t)length) {
        nnrt_free(allocator, block, (size_t)length);
        rc = nnrt_error_set(error, NNRT_INVALID_FILE, "file '%s' cannot be read", path);
    } else {
        *data = block;
        *size = (size_t)length;
    }
    fclose(f);
    return rc;
}

NNRT_API void nnrt_onnx_file_free(const nnrt_allocator *allocator, void *data, size_t size)
{
    nnrt_free(allocator, data, size);
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_table */

/* The operators: X(op_type, first and last version of the operator set, least and most inputs, handler, argument,
   "attributes"). handler: nnrti_onnx_op_<handler>, told the argument. An attribute that is not listed is refused, so
   an operator set that adds one cannot be misread; consumed_inputs (operator sets below 6) says nothing and is let
   pass. */
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
    X(BitShift,            11, 28, 2, 2, bit_shift,      0, "direction") \
    X(BitwiseAnd,          18, 28, 2, 2, same,           NNRT_NODE_TYPE_BITWISE_AND, "") \
    X(BitwiseNot,          18, 28, 1, 1, same,           NNRT_NODE_TYPE_BITWISE_NOT, "") \
    X(BitwiseOr,           18, 28, 2, 2, same,           NNRT_NODE_TYPE_BITWISE_OR, "") \
    X(BitwiseXor,          18, 28, 2, 2, same,           NNRT_NODE_TYPE_BITWISE_XOR, "") \
    X(BlackmanWindow,      17, 28, 1, 1, window,         NNRT_WINDOW_KIND_BLACKMAN, "output_datatype periodic") \
    X(Cast,                 1, 28, 1, 1, cast,           0, "round_mode saturate to") \
    X(CastLike,            15, 28, 2, 2, cast,           1, "round_mode saturate") \
    X(Ceil,                 1, 28, 1, 1, same,           NNRT_NODE_TYPE_CEIL, "") \
    X(Celu,                12, 28, 1, 1, celu,           0, "alpha") \
    X(CenterCropPad,       18, 28, 2, 2, center_crop_pad, 0, "axes") \
    X(Clip,                 1, 28, 1, 3, clip,           0, "max min") \
    X(Col2Im,              18, 28, 3, 3, col2im,         0, "dilations pads strides") \
    X(Compress,             9, 28, 2, 2, compress,       0, "axis") \
    X(Concat,               1, 28, 1, NNRTI_ONNX_MANY, concat, 0, "axis") \
    X(Constant,             1, 28, 0, 0, constant,       0, "value value_float value_floats value_int value_ints") \
    X(ConstantOfShape,      9, 28, 1, 1, constant_shape, 0, "value") \
    X(Conv,                 1, 28, 2, 3, conv,           0, "auto_pad dilations group kernel_shape pads strides") \
    X(ConvInteger,         10, 28, 2, 4, conv_integer,   0, "auto_pad dilations group kernel_shape pads strides") \
    X(ConvTranspose,        1, 28, 2, 3, conv_transpose, 0, \
      "auto_pad dilations group kernel_shape output_padding output_shape pads strides") \
    X(Cos,                  7, 28, 1, 1, same,           NNRT_NODE_TYPE_COS, "") \
    X(Cosh,                 9, 28, 1, 1, same,           NNRT_NODE_TYPE_COSH, "") \
    X(CumSum,              11, 28, 2, 2, cum_sum,        0, "exclusive reverse") \
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
    X(Identity,             1, 28, 1, 1, identity,       0, "") \
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
    X(Sin,                  7, 28, 1, 1, same,           NNRT_NODE_TYPE_SIN, "") \
    X(Sinh,                 9, 28, 1, 1, same,           NNRT_NODE_TYPE_SINH, "") \
    X(Size,                 1, 28, 1, 1, size,           0, "") \
    X(Slice,                1, 28, 1, 5, slice,          0, "axes ends starts") \
    X(Softmax,              1, 28, 1, 1, softmax,        0, "axis") \
    X(SoftmaxCrossEntropyLoss, 12, 28, 2, 3, nll_loss,       1, "ignore_index reduction") \
    X(Softplus,             1, 28, 1, 1, softplus,       0, "") \
    X(Softsign,             1, 28, 1, 1, activation,     NNRTI_ONNX_ACT(SOFTSIGN), "") \
    X(SpaceToDepth,         1, 28, 1, 1, space_to_depth, 0, "blocksize") \
    X(Split,                1, 28, 1, 2, split,          0, "axis num_outputs split") \
    X(Sqrt,                 1, 28, 1, 1, same,           NNRT_NODE_TYPE_SQRT, "") \
    X(Squeeze,              1, 28, 1, 2, squeeze,        0, "axes") \
    X(Sub,                  1, 28, 2, 2, binary,         NNRT_NODE_TYPE_SUB_FUSION, "axis broadcast") \
    X(Sum,                  1, 28, 1, NNRTI_ONNX_MANY, sum, 0, "") \
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
/* clang-format on */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_values */

/* The import fills a builder, whose rules tell of each node when it is added what its results are: type and shape, and
   their elements where these follow from constants and shapes; such a node leaves only constants. A value is a tensor of
   the builder, and is called by its index. Extents that are only known when a session is made are open, and what follows
   from them is not known here (nnrt_operand.symbols). What no output needs goes when all nodes are there. */

/* Entry of the table of names. */
typedef struct nnrti_onnx_entry {
    nnrt_onnx_str key;  /* the table is sorted by it */
    nnrt_onnx_str name; /* the same, once something has given it; data NULL before */
    uint32_t value;
    uint32_t quantized;          /* a tensor with the bytes of value that has quantization parameters, or NNRT_NO_TENSOR */
    bool isQuantized;            /* value is a BITCAST of quantized; false: the other way round */
    bool isInput;                /* the graph lists it as an input */
    const nnrt_onnx_node *node;  /* that gives it; NULL: none */
    const nnrt_onnx_input *told; /* what the caller says of this input; NULL: nothing */
} nnrti_onnx_entry;

typedef struct nnrti_onnx nnrti_onnx;

typedef struct nnrti_onnx_importer {
    const char *name;
    int32_t least, most; /* operator set versions */
    uint32_t minIn, maxIn;
    void (*handler)(nnrti_onnx *c, int32_t arg);
    int32_t arg;
    const char *attributes;
} nnrti_onnx_importer;

#define NNRTI_ONNX_PROTO(name, least, most, minIn, maxIn, handler, arg, attributes)                                    \
    NNRTI_COLD static void nnrti_onnx_op_##handler(nnrti_onnx *c, int32_t arg_);
#define NNRTI_ONNX_TABLE_ROW(name, least, most, minIn, maxIn, handler, arg, attributes)                                \
    {#name, least, most, minIn, maxIn, nnrti_onnx_op_##handler, arg, attributes},
NNRTI_ONNX_OPS(NNRTI_ONNX_PROTO)
static const nnrti_onnx_importer nnrti_onnx_rows[] = {NNRTI_ONNX_OPS(NNRTI_ONNX_TABLE_ROW)};
#define NNRTI_ONNX_ROW_COUNT ((uint32_t)(sizeof(nnrti_onnx_rows) / sizeof(nnrti_onnx_rows[0])))

/* What an import may take. The allocator of the import counts here and hands on to the caller's. */
typedef struct nnrti_onnx_budget {
    nnrt_allocator allocator;
    const nnrt_allocator *under;
    size_t source, limit, live; /* source: bytes of the file and its external data */
    double work;                /* elements that may still be computed */
    bool over;                  /* the limit has refused something */
} nnrti_onnx_budget;

static void *nnrti_onnx_budget_alloc(void *user, size_t bytes, size_t alignment)
{
    nnrti_onnx_budget *b = (nnrti_onnx_budget *)user;
    void *block = NULL;
    (void)alignment; /* nnrt_alloc asks for NNRT_ALIGNMENT always */
    if (b->live > b->limit || bytes > b->limit - b->live)
        b->over = true;
    else
        block = nnrt_alloc(b->under, bytes);
    b->live += block != NULL ? bytes : 0;
    return block;
}

static void nnrti_onnx_budget_free(void *user, void *block, size_t bytes)
{
    nnrti_onnx_budget *b = (nnrti_onnx_budget *)user;
    b->live -= bytes;
    nnrt_free(b->under, block, bytes);
}

/* A number times the budget of desc; the largest one where it does not fit. */
static size_t nnrti_onnx_budget_of(const nnrt_onnx_desc *desc, size_t bytes, size_t start)
{
    size_t n;
    return nnrt_mul_size(bytes, NNRT_ONNX_BUDGET, &n) && nnrt_add_size(n, start, &n) &&
                   nnrt_mul_size(n, desc->budget > 0 ? desc->budget : 1, &n)
               ? n
               : SIZE_MAX;
}

/* More bytes that the import is in proportion to. */
static void nnrti_onnx_budget_add(nnrti_onnx_budget *b, const nnrt_onnx_desc *desc, uint64_t bytes)
{
    const size_t before = nnrti_onnx_budget_of(desc, b->source, NNRT_ONNX_WORK_FREE);
    b->source = bytes < SIZE_MAX - b->source ? b->source + (size_t)bytes : SIZE_MAX;
    b->limit = nnrti_onnx_budget_of(desc, b->source, NNRT_ONNX_BUDGET_FREE);
    b->work += (double)nnrti_onnx_budget_of(desc, b->source, NNRT_ONNX_WORK_FREE) - (double)before;
}

/* *own is desc with the budget of so many bytes. */
static void nnrti_onnx_budget_begin(nnrti_onnx_budget *b, const nnrt_onnx_desc *desc, size_t bytes, nnrt_onnx_desc *own)
{
    memset(b, 0, sizeof(*b));
    memset(own, 0, sizeof(*own));
    if (desc != NULL)
        *own = *desc;
    b->under = own->allocator;
    b->allocator.alloc = nnrti_onnx_budget_alloc;
    b->allocator.free = nnrti_onnx_budget_free;
    b->allocator.user = b;
    b->work = (double)nnrti_onnx_budget_of(own, 0, NNRT_ONNX_WORK_FREE);
    own->allocator = &b->allocator;
    nnrti_onnx_budget_add(b, own, bytes);
}

/* The sentence for what went beyond the budget. */
static void nnrti_onnx_budget_text(const nnrti_onnx_budget *b, const nnrt_onnx_desc *desc, bool work, char *text,
                                   size_t size)
{
    const uint32_t times = desc->budget > 0 ? desc->budget : 1;
    if (work)
        (void)nnrt_text(text, size,
                        "computing what follows from constants takes more than %z elements, the budget for %z bytes of "
                        "file (nnrt_onnx_desc.budget %u raises it)",
                        nnrti_onnx_budget_of(desc, b->source, NNRT_ONNX_WORK_FREE), b->source, times + 1);
    else
        (void)nnrt_text(
            text, size,
            "the import takes more than %z bytes, the budget for %z bytes of file (nnrt_onnx_desc.budget %u "
            "raises it)",
            b->limit, b->source, times + 1);
}

/* The budget is over: a fault that it made is told as what it is, the model's blocks are the caller's allocator's. */
static NNRT_ReturnCode nnrti_onnx_budget_end(nnrti_onnx_budget *b, const nnrt_onnx_desc *own, NNRT_Model *model,
                                             NNRT_ReturnCode code, nnrt_error *error)
{
    char text[256];
    for (nnrti_owned *o = nnrti_owned_of(model); o != NULL; o = nnrti_owned_of(o->replaced)) {
        memset(&o->allocator, 0, sizeof(o->allocator));
        if (b->under != NULL)
            o->allocator = *b->under;
    }
    if (code != NNRT_OUT_OF_MEMORY || !b->over || error == NULL)
        return code;
    nnrti_onnx_budget_text(b, own, false, text, sizeof(text));
    memset(error, 0, sizeof(*error));
    return nnrt_error_set(error, code, "%s", text);
}

#define NNRTI_ONNX_PARAMS 64 /* names of open extents beyond it say nothing: comparing them takes time */
/* A function whose nodes are read in the place of a node. */
typedef struct nnrti_onnx_frame {
    const struct nnrti_onnx_frame *outer; /* that it lies in, NULL: none */
    const nnrt_onnx_function *function;
    const nnrt_onnx_node *node; /* that calls it */
    const char *prefix;         /* of the names of its steps: "name of the node/" */
    uint32_t depth;
} nnrti_onnx_frame;

/* An import under way. After the first fault code is set and all that follows does nothing. */
struct nnrti_onnx {
    nnrt_onnx_model *model;
    const nnrt_onnx_desc *desc; /* its allocator is the budget's */
    nnrti_onnx_budget *budget;
    const char *path;    /* of the model's file, NULL: from memory */
    const uint8_t *data; /* dataBytes of the file */
    size_t dataBytes;
    bool ownBytes;    /* the file's bytes may be moved */
    bool usedInPlace; /* a constant lies in the file's bytes */
    nnrt_builder *builder;
    nnrt_error *error;
    NNRT_ReturnCode code;
    nnrti_onnx_entry *entries;      /* nEntries, and one behind them that stands for all names that nothing gives */
    uint32_t nEntries, nNamed;      /* nNamed: nodes of the builder whose names are final */
    const nnrt_onnx_graph *graph;   /* the one that is read, whose names entries are */
    uint32_t depth;                 /* in how many others it lies */
    bool unnamed;                   /* it is read in the place of a node: its names are not those of the model */
    const struct nnrti_onnx *outer; /* names of the graph around, NULL: none */
    const NNRT_QuantParam *quant;   /* quantCount of result 0 of the step that is added */
    uint32_t quantCount;
    int32_t quantAxis; /* of several */
    int64_t opset;
    nnrti_onnx_entry *functions;    /* nFunctions: the model's; value: place in the model's list */
    const nnrt_onnx_graph **bodies; /* by place, NULL: not made yet */
    char *functionKey;              /* room for a key of functions: functionKeyRoom */
    size_t nFunctions, functionKeyRoom;
    const nnrti_onnx_frame *call; /* that is read, NULL: none */
    const nnrt_onnx_node *node;   /* the current one */
    uint32_t nodeIndex;
    const nnrti_onnx_importer *row;
    nnrt_onnx_str params[NNRTI_ONNX_PARAMS]; /* names of open extents of the inputs so far */
    uint32_t nParams;
    uint32_t imagesFrom; /* values with a lower number are not NHWC */
    char text[256];
};

/* Sets the message "ONNX node 3 'conv1' (Conv): " and c->text, unless there is one already. */
NNRTI_COLD static void nnrti_onnx_blame(nnrti_onnx *c, NNRT_ReturnCode code)
{
    const nnrt_error *e = nnrt_builder_error(c->builder);
    char name[64], type[64];
    if (c->code != NNRT_SUCCESS)
        return;
    if (e != NULL && e->code == NNRT_OUT_OF_MEMORY && code != NNRT_OUT_OF_MEMORY) { /* then values look unknown */
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

/* A fault of the current node: code, then format and arguments as nnrt_text takes them. */
#define NNRTI_ONNX_FAIL(c, code, ...)                                                                                  \
    ((void)nnrt_text((c)->text, sizeof((c)->text), __VA_ARGS__), nnrti_onnx_blame(c, code))

/* Whether all has gone well. A fault of the builder, "node 7 '' (ADD_FUSION): ...", is told with ONNX's names in front;
   that of a node which was added before, and not only now, with its own as well. */
static bool nnrti_onnx_fine(nnrti_onnx *c)
{
    const nnrt_error *e = &c->builder->error;
    const char *text = e->message, *end = NULL;
    if (c->code != NNRT_SUCCESS || e->code == NNRT_SUCCESS)
        return c->code == NNRT_SUCCESS;
    if (strncmp(text, "node ", 5) == 0 && e->node + 1 == (int64_t)nnrti_array_count(c->builder->nodes))
        end = strstr(text, "): ");
    text = end != NULL ? end + 3 : text;
    NNRTI_ONNX_FAIL(c, e->code, "%s", text[0] != '\0' ? text : "there is not enough memory for the model");
    return false;
}

/* Zeroed memory that lives until the model is made. NULL: none, and the fault is noted. */
static void *nnrti_onnx_keep(nnrti_onnx *c, size_t count, size_t size)
{
    void *p = nnrti_builder_keep(c->builder, count, size);
    (void)nnrti_onnx_fine(c);
    return p;
}

/* Gives back all that the import took; what it made stays. */
static void nnrti_onnx_end(nnrti_onnx *c)
{
    nnrt_builder_destroy(c->builder);
    nnrt_onnx_model_free(c->model);
    c->builder = NULL;
    c->model = NULL;
}

/* A new value about which nothing is known; NNRT_NO_TENSOR after a fault. */
static uint32_t nnrti_onnx_new(nnrti_onnx *c)
{
    const uint32_t v = c->code == NNRT_SUCCESS ? nnrt_builder_tensor(c->builder, NULL) : NNRT_NO_TENSOR;
    nnrti_builder_tables(c->builder);
    return nnrti_onnx_fine(c) ? v : NNRT_NO_TENSOR;
}

/* What is known of value v, good until the next one is made: rank -1 where its shape is not, data where its elements are.
   For NNRT_NO_TENSOR and after a fault a scalar of no type. */
static const nnrt_operand *nnrti_onnx_at(const nnrti_onnx *c, uint32_t v)
{
    static nnrt_operand none; /* zero */
    const nnrt_operand *o = v != NNRT_NO_TENSOR ? nnrti_builder_operand(c->builder, v) : NULL;
    return o != NULL ? o : &none;
}

/* True when the value follows from constants and shapes, whatever the inputs' extents are. */
static bool nnrti_onnx_known(const nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    return o->data != NULL && o->open == NULL;
}

static bool nnrti_onnx_is_input(const nnrti_onnx *c, uint32_t v)
{
    return c->builder->writers[v] == NNRTI_BY_INPUT;
}

/* Value v has this name from now on. */
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

/* Shorter names first, then by their bytes: below 0, 0 or above it. */
static int nnrti_onnx_compare(nnrt_onnx_str a, nnrt_onnx_str b)
{
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    return a.length > 0 ? memcmp(a.data, b.data, a.length) : 0;
}

/* Makes heap[at] and what hangs below it a heap again, largest name on top. */
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

/* Sorts the table and leaves each name in it once; returns their number. Names are sorted, not hashed, since a file
   could choose names that collide. */
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

/* The place of a key in a sorted table, or count. */
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

/* The entry of a name of this graph, or the one behind the last. */
static nnrti_onnx_entry *nnrti_onnx_own_entry(const nnrti_onnx *c, nnrt_onnx_str name)
{
    return &c->entries[nnrti_onnx_search(c->entries, c->nEntries, name)];
}

/* The entry of a name as it is seen in this graph: its own, once something has given it, or one of a graph around. */
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

/* Makes a table for all names that the graph gives: inputs, constants, results. */
static void nnrti_onnx_make_table(nnrti_onnx *c)
{
    const nnrt_onnx_graph *g = c->graph;
    size_t count = g->inputs.count + g->initializers.count, n = 0;
    for (size_t i = 0; i < g->nodes.count; i++)
        count += g->nodes.data[i].unneeded ? 0 : g->nodes.data[i].outputs.count;
    if (count >= 0x20000000u) {
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the model has too many values");
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
        for (size_t k = 0; k < g->nodes.data[i].outputs.count && !g->nodes.data[i].unneeded; k++)
            c->entries[n++].key = g->nodes.data[i].outputs.data[k];
    c->nEntries = (uint32_t)nnrti_onnx_sort(c->entries, count);
    memset(&c->entries[c->nEntries], 0, sizeof(*c->entries));
}

/* Gives value v a name. A name is given once in a graph. */
static void nnrti_onnx_bind(nnrti_onnx *c, nnrt_onnx_str name, uint32_t v)
{
    nnrti_onnx_entry *e;
    char text[64];
    if (c->code != NNRT_SUCCESS || v == NNRT_NO_TENSOR)
        return;
    e = nnrti_onnx_own_entry(c, name);
    if (e->name.data != NULL) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "value '%s' is given twice", nnrti_onnx_text(text, name));
        return;
    }
    e->name = name;
    e->value = v;
    e->quantized = NNRT_NO_TENSOR;
    e->node = c->node;
    if (c->builder->tensors[v].name == NULL && !c->unnamed)
        nnrti_onnx_call(c, v, nnrti_onnx_copy_text(c, name));
}

/* Nothing is given under this name, which stands for an input that a call leaves out. */
static void nnrti_onnx_leave_out(nnrti_onnx *c, nnrt_onnx_str name)
{
    nnrti_onnx_entry *e = nnrti_onnx_own_entry(c, name);
    if (e->name.data != NULL)
        return;
    e->name = name;
    e->value = e->quantized = NNRT_NO_TENSOR;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_cut: the graph without what its outputs do not need */

/* Names that a graph gives, sorted, each once; what else stands in the entries is up to the walk that uses them. */
typedef struct nnrti_onnx_names {
    nnrti_onnx_entry *data;
    size_t count, bytes;
} nnrti_onnx_names;

/* All of them, with the node that gives each; data NULL: there is no memory. */
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

/* The entry of a name; NULL: there is none, or it is empty. */
static nnrti_onnx_entry *nnrti_onnx_name_at(const nnrti_onnx_names *names, nnrt_onnx_str name)
{
    const size_t at = name.length > 0 ? nnrti_onnx_search(names->data, names->count, name) : names->count;
    return at < names->count ? &names->data[at] : NULL;
}

/* Calls see for each name that the node reads, or a graph that it runs. */
static void nnrti_onnx_reads(const nnrt_onnx_node *node, void (*see)(void *user, nnrt_onnx_str name), void *user)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        see(user, node->inputs.data[i]);
    for (size_t a = 0; a < node->attributes.count; a++) { /* no deeper than NNRT_ONNX_MAX_DEPTH */
        const nnrt_onnx_graph *g = node->attributes.data[a].g;
        for (size_t i = 0; g != NULL && i < g->nodes.count; i++)
            nnrti_onnx_reads(&g->nodes.data[i], see, user);
        for (size_t i = 0; g != NULL && i < g->outputs.count; i++)
            see(user, g->outputs.data[i].name);
    }
}

/* How far apart two names are: what is left of the longer one without the same beginning and the same end. */
static size_t nnrti_onnx_apart(nnrt_onnx_str a, nnrt_onnx_str b)
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

/* near[]: the names nearest to this one, the nearest first; returns how many. */
static uint32_t nnrti_onnx_nearest(const nnrti_onnx_names *names, nnrt_onnx_str name, nnrt_onnx_str *near)
{
    uint32_t n = 0;
    for (size_t i = 0; i < names->count; i++) {
        const nnrt_onnx_str key = names->data[i].key;
        uint32_t k = n;
        while (k > 0 && nnrti_onnx_apart(near[k - 1], name) > nnrti_onnx_apart(key, name))
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

/* The fault of an output that the graph does not have: what the node of this name gives, or the nearest names. */
static NNRT_ReturnCode nnrti_onnx_no_value(const nnrt_onnx_graph *g, const nnrti_onnx_names *names, nnrt_onnx_str name,
                                           nnrt_error *error)
{
    nnrt_onnx_str near[NNRTI_ONNX_NEAR];
    const char *what = "; the node of this name gives ";
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

/* list[]: the outputs of these names, as the graph describes them; their entries are marked as needed. */
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
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "output '%s' is told twice", name.data);
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

static void nnrti_onnx_cut_need(void *user, nnrt_onnx_str name)
{
    nnrti_onnx_entry *e = nnrti_onnx_name_at((const nnrti_onnx_names *)user, name);
    if (e != NULL)
        e->isInput = true;
}

/* What is marked as needed stays, with what it needs; nodes stand behind those that give what they read. */
static void nnrti_onnx_cut_graph(nnrt_onnx_graph *g, nnrti_onnx_names *names)
{
    nnrt_onnx_node *nodes = (nnrt_onnx_node *)(uintptr_t)g->nodes.data;
    nnrt_onnx_value_info *inputs = (nnrt_onnx_value_info *)(uintptr_t)g->inputs.data;
    nnrt_onnx_tensor *tensors = (nnrt_onnx_tensor *)(uintptr_t)g->initializers.data;
    size_t kept = 0;
    for (size_t i = g->nodes.count; i-- > 0;) {
        nodes[i].unneeded = 1;
        for (size_t k = 0; k < nodes[i].outputs.count; k++) {
            const nnrti_onnx_entry *e = nnrti_onnx_name_at(names, nodes[i].outputs.data[k]);
            if (e != NULL && e->isInput)
                nodes[i].unneeded = 0;
        }
        if (nodes[i].unneeded == 0)
            nnrti_onnx_reads(&nodes[i], nnrti_onnx_cut_need, names);
    }
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
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    size_t bytes;
    if (model == NULL || (outputs == NULL && outputCount > 0))
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_onnx_cut: %s is NULL", model == NULL ? "model" : "outputs");
    if (outputCount == 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "nnrt_onnx_cut: no output is told");
    block = (uint8_t *)model - NNRTI_ONNX_HEAD;
    memcpy(&head, block, sizeof(head));
    g = (nnrt_onnx_graph *)(uintptr_t)model->graph;
    names = nnrti_onnx_names_of(g, &head.allocator);
    list = nnrt_mul_size(outputCount, sizeof(*list), &bytes)
               ? (nnrt_onnx_value_info *)nnrt_alloc(&head.allocator, bytes)
               : NULL;
    if (names.data != NULL && list != NULL) {
        memset(list, 0, bytes);
        code = nnrti_onnx_cut_outputs(g, &names, outputs, outputCount, list, error);
    } else {
        (void)nnrt_error_set(error, code, "there is not enough memory for the model");
    }
    if (code == NNRT_SUCCESS) {
        nnrti_onnx_cut_graph(g, &names);
        g->outputs.data = list;
        g->outputs.count = outputCount;
        nnrt_free(&head.allocator, head.cut, head.cutBytes);
        head.cut = list;
        head.cutBytes = bytes;
        memcpy(block, &head, sizeof(head));
    } else {
        nnrt_free(&head.allocator, list, bytes);
    }
    nnrt_free(&head.allocator, names.data, names.bytes);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_tensors */

/* ONNX element types: D(ONNX name, NNRT name). The others cannot be imported. */
#define NNRTI_ONNX_TYPES(D)                                                                                            \
    D(FLOAT, FLOAT32)                                                                                                  \
    D(UINT8, UINT8)                                                                                                    \
    D(INT8, INT8)                                                                                                      \
    D(UINT16, UINT16)                                                                                                  \
    D(INT16, INT16)                                                                                                    \
    D(INT32, INT32)                                                                                                    \
    D(INT64, INT64) D(BOOL, BOOL) D(FLOAT16, FLOAT16) D(DOUBLE, FLOAT64) D(UINT32, UINT32) D(UINT64, UINT64)

/* UNKNOWN for types that the runtime does not have. */
static NNRT_DataType nnrti_onnx_type_of(nnrt_onnx_type type)
{
    switch (type) {
#define NNRTI_ONNX_TYPE_CASE(from, to)                                                                                 \
    case NNRT_ONNX_##from: return NNRT_DATA_TYPE_##to;
        NNRTI_ONNX_TYPES(NNRTI_ONNX_TYPE_CASE)
    default: return NNRT_DATA_TYPE_UNKNOWN;
    }
}

static const char *nnrti_onnx_type_text(nnrt_onnx_type type)
{
    static const char *const names[] = {"undefined",      "float",    "uint8",        "int8",           "uint16",
                                        "int16",          "int32",    "int64",        "string",         "bool",
                                        "float16",        "double",   "uint32",       "uint64",         "complex64",
                                        "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
                                        "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0"};
    return type >= 0 && type < (nnrt_onnx_type)(sizeof(names) / sizeof(names[0])) ? names[type] : "unknown";
}

/* Takes a type over, with a fault when there is none like it. what and name say whose it is. */
static NNRT_DataType nnrti_onnx_take_type(nnrti_onnx *c, nnrt_onnx_type type, const char *what, const char *name)
{
    NNRT_DataType t = nnrti_onnx_type_of(type);
    if (t == NNRT_DATA_TYPE_UNKNOWN)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "%s '%s' has element type %s (%d), which is not supported", what,
                        name, nnrti_onnx_type_text(type), type);
    return t;
}

/* A constant value. data must stay until the import ends. */
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

/* A copy that lives as long as the import; NULL and a fault without memory. */
static const void *nnrti_onnx_kept(nnrti_onnx *c, const void *from, size_t bytes)
{
    void *copy = nnrti_onnx_keep(c, bytes, 1);
    if (copy != NULL && bytes > 0)
        memcpy(copy, from, bytes);
    return copy;
}

/* A constant of elements that are copied. */
static uint32_t nnrti_onnx_constant_copy(nnrti_onnx *c, NNRT_DataType type, int32_t rank, const int32_t *dims,
                                         const void *data)
{
    size_t bytes;
    const void *copy;
    if (!nnrt_dims_bytes(dims, rank, type, &bytes)) {
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the size of a constant does not fit");
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

/* Where the elements of t lie one behind the other as they are in memory: in raw_data, or in a packed float_data or
   double_data. data NULL: nowhere. */
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

/* The elements of t where they can be used as they lie, else NULL. In bytes of our own they may be moved to the left
   over their own length field, which nobody reads any more: for 128 bytes and more tag and length take 3 bytes. */
static const void *nnrti_onnx_in_place(nnrti_onnx *c, const nnrt_onnx_tensor *t, size_t bytes, size_t size)
{
    const nnrt_onnx_str dense = nnrti_onnx_dense(t, bytes);
    const size_t off = (size_t)((uintptr_t)dense.data & (size - 1));
    uint8_t *from = (uint8_t *)(uintptr_t)dense.data;
    if (dense.data == NULL || (off != 0 && (!c->ownBytes || off > 3 || bytes < 128)))
        return NULL;
    if (off != 0) { /* the body of a Loop or of a function may be read again: it finds them in the place of raw_data */
        nnrt_onnx_str *raw = &((nnrt_onnx_tensor *)(uintptr_t)t)->rawData;
        memmove(from - off, from, bytes);
        raw->data = (const char *)(from - off);
        raw->length = bytes;
    }
    c->usedInPlace = true;
    return from - off;
}

/* Reads a tensor's data from the file beside the model, or, with out NULL, looks whether they are there. */
static NNRT_ReturnCode nnrti_onnx_read_external(nnrti_onnx *c, const nnrt_onnx_tensor *t, void *out, size_t bytes,
                                                nnrt_error *error)
{
#ifndef NNRT_NO_STDIO
    if (c->path != NULL)
        return nnrt_onnx_external_read(t, c->path, c->desc->allocator, out, bytes, error);
#endif
    (void)c;
    (void)t;
    (void)out;
    (void)bytes;
    return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                          "its data lie in another file, which a model in memory does not have");
}

/* Copies the elements of t, wherever they are, into memory of the import. NULL after a fault. */
static const void *nnrti_onnx_copied(nnrti_onnx *c, const nnrt_onnx_tensor *t, size_t bytes)
{
    const bool external = t->dataLocation != 0;
    char name[64];
    nnrt_error error;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    void *data = NULL;
    memset(&error, 0, sizeof(error));
    if (!external && bytes / 8 > t->message.length) /* no element takes less than a byte of the file */
        code = nnrt_error_set(&error, NNRT_INVALID_FILE, "its dims want %z bytes, which the file does not have", bytes);
    else if (external)
        code = nnrti_onnx_read_external(c, t, NULL, bytes, &error);
    if (code == NNRT_SUCCESS && (data = nnrti_onnx_keep(c, bytes, 1)) == NULL)
        return NULL;
    if (code == NNRT_SUCCESS)
        code = external ? nnrti_onnx_read_external(c, t, data, bytes, &error)
                        : nnrt_onnx_tensor_read(t, data, bytes, &error);
    if (code != NNRT_SUCCESS) {
        NNRTI_ONNX_FAIL(c, code, "constant '%s': %s", nnrti_onnx_text(name, t->name), error.message);
        return NULL;
    }
    for (size_t i = 0; t->dataType == NNRT_ONNX_BOOL && i < bytes; i++) /* the runtime's bools are 0 or 1 */
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
    NNRT_DataType type = nnrti_onnx_take_type(c, t->dataType, "constant", nnrti_onnx_text(name, t->name));
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    if (t->dims.count > NNRT_MAX_RANK) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "constant '%s' has %z axes, at most %d are possible", name,
                        t->dims.count, NNRT_MAX_RANK);
        return NNRT_NO_TENSOR;
    }
    for (size_t i = 0; i < t->dims.count; i++) {
        if (t->dims.data[i] < 0 || t->dims.data[i] > INT32_MAX) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "constant '%s': extent %l of axis %z does not fit", name,
                            t->dims.data[i], i);
            return NNRT_NO_TENSOR;
        }
        dims[i] = (int32_t)t->dims.data[i];
    }
    if (!nnrt_dims_bytes(dims, (int32_t)t->dims.count, type, &bytes)) {
        NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "the size of constant '%s' does not fit", name);
        return NNRT_NO_TENSOR;
    }
    data = type != NNRT_DATA_TYPE_BOOL ? nnrti_onnx_in_place(c, t, bytes, nnrt_type_size(type)) : NULL;
    inFile = data != NULL;
    if (data == NULL)
        data = nnrti_onnx_copied(c, t, bytes);
    if (data == NULL)
        return NNRT_NO_TENSOR;
    v = nnrti_onnx_constant(c, type, (int32_t)t->dims.count, dims, data);
    if (v != NNRT_NO_TENSOR)
        c->builder->copied[v] = !inFile;
    return v;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_steps */

/* Elements of results that are computed here: as many as stand in for what they come from, or few. */
#define NNRTI_ONNX_FOLD_BYTES 65536u

/* The sentence for work beyond the budget, as a fault; true while there is some left. */
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

/* Whether to compute the results of a resolved step, all of whose inputs are known: when they are not out of proportion. */
static bool nnrti_onnx_worth(void *user, const nnrt_resolve *r)
{
    const nnrt_onnx_desc *desc = ((const nnrti_onnx *)user)->desc;
    size_t in = 0, out = 0, bytes;
    if (nnrti_is_dequantize(r) && !desc->no_optimize && !desc->no_quantize)
        return false; /* an operator may become quantised */
    for (uint32_t i = 0; i < r->nOut; i++)
        if (!nnrti_absent(&r->out[i]) &&
            (!nnrt_dims_bytes(r->out[i].dims, r->out[i].rank, r->out[i].dataType, &bytes) ||
             !nnrt_add_size(out, bytes, &out)))
            return false;
    for (uint32_t i = 0; i < r->nIn; i++)
        if (!nnrti_absent(&r->in[i]) && nnrt_dims_bytes(r->in[i].dims, r->in[i].rank, r->in[i].dataType, &bytes))
            (void)nnrt_add_size(in, bytes, &in);
    return (out <= NNRTI_ONNX_FOLD_BYTES || out / 2 <= in) && nnrti_onnx_work((nnrti_onnx *)user, nnrti_fold_work(r));
}

/* Name of a step: that of its ONNX node, or "Conv_3", behind those of the nodes that call the functions around; steps that
   are not the node's last add their operator. */
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

/* Images are [N,C,H,W] here. A Transpose makes them NHWC, which its axes are if they are turned back; an operator that finds
   its channels in axis 1 all the same, or joins them with images that were not turned, shows that they are not: in ONNX
   axes are only places. Then nothing is NHWC. */
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

/* Values a and b stand for one tensor on two paths: the branches of an If, two trips of a Loop. If one is NCHW, the other is
   not NHWC, and only a Transpose made it so. */
static void nnrti_onnx_join_images(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    uint32_t both[2];
    both[0] = a;
    both[1] = b;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_set_images(c, false, both, 2);
}

/* Adds a step with nOut results out[]; declared[i] (NULL: none) is what the model must say of the type of result i. attr
   NULL: an operator without attributes, or the default ones. */
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
    for (uint32_t i = 0; i < nOut; i++) { /* the tensor says what movers took along */
        const nnrt_operand *o = &b->shapes[out[i]];
        b->tensors[out[i]].quantParams = NNRT_QuantParamList_make(o->quant, o->quantCount);
        b->tensors[out[i]].quantAxis = o->quantAxis;
    }
}

/* Steps with one result, of one to three inputs. attr NULL: an operator without attributes, or all of them zero. */
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

/* A step with one result; of its inputs the last ones may be absent. */
static void nnrti_onnx_emit_known(nnrti_onnx *c, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                                  uint32_t *y)
{
    while (nIn > 0 && in[nIn - 1] == NNRT_NO_TENSOR)
        nIn--;
    nnrti_onnx_emit(c, type, attr, in, nIn, y, 1, NULL);
}

/* A step with one result whose type the model must declare. */
static uint32_t nnrti_onnx_step_typed(nnrti_onnx *c, NNRT_NodeType type, const void *attr, uint32_t x, NNRT_DataType to)
{
    uint32_t y = NNRT_NO_TENSOR;
    nnrti_onnx_emit(c, type, attr, &x, 1, &y, 1, &to);
    return y;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_reading: attributes, inputs and outputs of the current node */

/* The attribute of this name and type, NULL when there is none; another type is a fault. */
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

NNRTI_APART static int64_t nnrti_onnx_int(nnrti_onnx *c, const char *name, int64_t initial)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_INT);
    return a != NULL ? a->i : initial;
}

NNRTI_APART static float nnrti_onnx_float(nnrti_onnx *c, const char *name, float initial)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_FLOAT);
    return a != NULL ? a->f : initial;
}

/* data NULL: there is no such attribute. */
static nnrt_onnx_ints nnrti_onnx_ints_of(nnrti_onnx *c, const char *name)
{
    static const int64_t nothing = 0;
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_INTS);
    nnrt_onnx_ints list;
    list.data = a != NULL ? (a->ints.count > 0 ? a->ints.data : &nothing) : NULL;
    list.count = a != NULL ? a->ints.count : 0;
    return list;
}

/* The place of the attribute's text among the texts, "first|second|..."; 0 when it is absent. Another text is a fault.
   */
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

/* Value of input i, NNRT_NO_TENSOR when it is absent. */
static uint32_t nnrti_onnx_in(nnrti_onnx *c, uint32_t i)
{
    const nnrti_onnx_entry *e;
    char text[64];
    if (c->code != NNRT_SUCCESS || i >= c->node->inputs.count || c->node->inputs.data[i].length == 0)
        return NNRT_NO_TENSOR;
    e = nnrti_onnx_entry_of(c, c->node->inputs.data[i]);
    if (e->name.data != NULL)
        return e->value;
    NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "input %u is '%s', which nothing before it gives", i,
                    nnrti_onnx_text(text, c->node->inputs.data[i]));
    return NNRT_NO_TENSOR;
}

/* True when the node has output i. */
static bool nnrti_onnx_wants(const nnrti_onnx *c, uint32_t i)
{
    return i < c->node->outputs.count && c->node->outputs.data[i].length > 0;
}

/* Output i is value v. */
static void nnrti_onnx_out(nnrti_onnx *c, uint32_t i, uint32_t v)
{
    if (nnrti_onnx_wants(c, i))
        nnrti_onnx_bind(c, c->node->outputs.data[i], v);
}

static NNRT_DataType nnrti_onnx_type(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    if (o->dataType == NNRT_DATA_TYPE_UNKNOWN)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                        "the element type of '%s' cannot be told before extents are known: give them", o->name);
    return o->dataType;
}

static bool nnrti_onnx_is_a(nnrti_onnx *c, uint32_t v, uint32_t types)
{
    NNRT_DataType t = nnrti_onnx_type(c, v);
    return t != NNRT_DATA_TYPE_UNKNOWN && (types & NNRT_TYPES_OF(t)) != 0;
}

/* Number of axes; 0 and a fault when it is not known. */
static int32_t nnrti_onnx_rank(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    if (o->rank >= 0)
        return o->rank;
    NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                    "the shape of '%s' cannot be told before the inputs' extents are known: give them", o->name);
    return 0;
}

/* Extent of axis i, -1 when it is only known when a session is made. */
static int32_t nnrti_onnx_dim(const nnrti_onnx *c, uint32_t v, int32_t i)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    return i < 0 || i >= o->rank || i >= NNRT_MAX_RANK || o->symbols[i] != 0 ? -1 : o->dims[i];
}

/* Extent of axis i; 1 and a fault when it is not known. what: for what it is needed. */
static int32_t nnrti_onnx_extent(nnrti_onnx *c, uint32_t v, int32_t i, const char *what)
{
    int32_t n = nnrti_onnx_dim(c, v, i);
    if (n >= 0)
        return n;
    NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "%s needs to know the extent of axis %d of '%s': give the inputs' extents",
                    what, i, nnrti_onnx_at(c, v)->name);
    return 1;
}

/* axis in 0..rank-1. */
static int32_t nnrti_onnx_axis(nnrti_onnx *c, int64_t axis, int32_t rank)
{
    if (axis >= -(int64_t)rank && axis < rank)
        return (int32_t)(axis < 0 ? axis + rank : axis);
    if (rank == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "axis %l of a scalar, which has no axes", axis);
    else
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "axis %l, expected %d to %d", axis, -rank, rank - 1);
    return 0;
}

/* The known int32 or int64 elements of v, most of them at most; returns how many. what names it in messages. */
static uint32_t nnrti_onnx_list(nnrti_onnx *c, uint32_t v, const char *what, int64_t *list, uint32_t most)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    size_t count = 0;
    if (c->code != NNRT_SUCCESS)
        return 0;
    if (!nnrti_onnx_known(c, v)) {
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "%s '%s' must be a constant", what, o->name);
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

/* A list that newer operator sets give as input i and older ones as an attribute. *count = its entries, in list[most];
   false when it is given in neither way. */
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

/* int64[count], known. */
NNRTI_APART static uint32_t nnrti_onnx_const_ints(nnrti_onnx *c, const int64_t *list, uint32_t count)
{
    int32_t dims[1];
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    dims[0] = (int32_t)count;
    return nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_INT64, 1, dims, list);
}

NNRTI_APART static uint32_t nnrti_onnx_const_int(nnrti_onnx *c, int64_t value)
{
    return nnrti_onnx_const_ints(c, &value, 1);
}

static uint32_t nnrti_onnx_cast(nnrti_onnx *c, uint32_t v, NNRT_DataType type)
{
    if (nnrti_onnx_type(c, v) == type)
        return v;
    return nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_CAST, NULL, v, type);
}

/* A known scalar of a type, converted as CAST does. */
static uint32_t nnrti_onnx_scalar(nnrti_onnx *c, NNRT_DataType type, double value)
{
    return nnrti_onnx_cast(c, nnrti_onnx_constant_copy(c, NNRT_DATA_TYPE_FLOAT64, 0, NULL, &value), type);
}

/* A known scalar of the type of v. */
static uint32_t nnrti_onnx_like(nnrti_onnx *c, uint32_t v, double value)
{
    return nnrti_onnx_scalar(c, nnrti_onnx_type(c, v), value);
}

NNRTI_APART static uint32_t nnrti_onnx_add(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, a, b);
}

NNRTI_APART static uint32_t nnrti_onnx_sub(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_SUB_FUSION, NULL, a, b);
}

NNRTI_APART static uint32_t nnrti_onnx_mul(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, a, b);
}

NNRTI_APART static uint32_t nnrti_onnx_div(nnrti_onnx *c, uint32_t a, uint32_t b)
{
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_DIV_FUSION, NULL, a, b);
}

/* a > b ? a : b: of a NaN in a nothing is left. */
static uint32_t nnrti_onnx_larger(nnrti_onnx *c, uint32_t a, uint32_t b)
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

/* True when v is known and has no NaN. */
static bool nnrti_onnx_known_numbers(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    const size_t width = nnrt_type_size(o->dataType);
    size_t count;
    if (!nnrti_onnx_known(c, v) || !nnrt_dims_count(o->dims, o->rank, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        double d;
        nnrti_read_f64(&d, (const uint8_t *)o->data + i * width, 1, 1, o->dataType);
        if (d != d)
            return false;
    }
    return true;
}

/* x in another shape; entries as RESHAPE takes them. */
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

/* True when all extents of v are known. */
static bool nnrti_onnx_closed(const nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    bool closed = o->rank >= 0;
    for (int32_t i = 0; i < o->rank; i++)
        closed = closed && o->symbols[i] == 0;
    return closed;
}

/* condition ? x : y. WHERE could take a condition of one axis for one that chooses rows of x: it gets a second axis, or
   where axes of 1 may yet be dropped the shape of x. */
static uint32_t nnrti_onnx_where(nnrti_onnx *c, uint32_t condition, uint32_t x, uint32_t y)
{
    const int32_t rank = nnrti_onnx_at(c, condition)->rank, other = nnrti_onnx_at(c, x)->rank;
    if (rank == 1 && other > 1 && nnrti_onnx_closed(c, x))
        condition = nnrti_onnx_unsqueeze(c, condition, 0);
    else if (rank != 0 && rank < 2 && other != 0 && other != 1)
        condition = nnrti_onnx_step2(
            c, NNRT_NODE_TYPE_LOGICAL_OR, NULL, condition,
            nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL_LIKE, NULL, x, nnrti_onnx_scalar(c, NNRT_DATA_TYPE_BOOL, 0)));
    return nnrti_onnx_step3(c, NNRT_NODE_TYPE_WHERE, NULL, condition, x, y);
}

/* MAXIMUM or MINIMUM of a and b, and NaN where either is. A NaN of the second operand comes through by itself; where the
   first one may have some, too, they are put back. */
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
static uint32_t nnrti_onnx_part(nnrti_onnx *c, uint32_t x, int64_t axis, int64_t begin, int64_t end, int64_t step)
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

/* Reduction over axes; count 0: over all. */
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

/* The extents of x as int64[rank]. */
static uint32_t nnrti_onnx_shape(nnrti_onnx *c, uint32_t x)
{
    return nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_SHAPE, NULL, x, NNRT_DATA_TYPE_INT64);
}

/* Product of dims[from..to). A fault when it does not fit an extent. */
static int64_t nnrti_onnx_product(nnrti_onnx *c, const int64_t *dims, int32_t from, int32_t to)
{
    int64_t n = 1;
    for (int32_t i = from; i < to; i++) {
        if (dims[i] > 0 && n > INT32_MAX / dims[i]) {
            NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "%d axes taken together have too many elements", to - from);
            return 1;
        }
        n *= dims[i];
    }
    return n;
}

/* An extent, or what is computed from some: a number, or where that is open (known -1) a value, int64[1], that steps
   compute in the run. */
typedef struct nnrti_onnx_size {
    int64_t known;
    uint32_t value;
} nnrti_onnx_size;

NNRTI_APART static nnrti_onnx_size nnrti_onnx_size_known(int64_t n)
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

/* s as int64[1], known or not. */
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

/* The extent of axis i of x. */
static nnrti_onnx_size nnrti_onnx_size_of(nnrti_onnx *c, uint32_t x, int32_t i)
{
    const int64_t n = nnrti_onnx_dim(c, x, i);
    if (n >= 0)
        return nnrti_onnx_size_known(n);
    return nnrti_onnx_size_value(nnrti_onnx_gather(c, nnrti_onnx_shape(c, x), nnrti_onnx_const_int(c, i), 0));
}

/* The extents of all axes of x; returns the rank. */
static int32_t nnrti_onnx_sizes_of(nnrti_onnx *c, uint32_t x, nnrti_onnx_size sizes[NNRT_MAX_RANK])
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    for (int32_t i = 0; i < rank; i++)
        sizes[i] = nnrti_onnx_size_of(c, x, i);
    return rank;
}

/* The product of the extents of the axes from..to-1 of x. */
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
    return nnrti_onnx_size_value(nnrti_onnx_reduce(c, nnrti_onnx_part(c, nnrti_onnx_shape(c, x), 0, from, to, 1),
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

/* int64[count], known when all of them are. */
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

/* The entries of a list of sizes, most of them at most, of which some may be open; returns how many. */
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
                           : nnrti_onnx_size_value(nnrti_onnx_part(c, v, 0, i, i + 1, 1));
        return o.dims[0];
    }
    count = (int32_t)nnrti_onnx_list(c, v, what, list, (uint32_t)most);
    for (int32_t i = 0; i < count; i++) {
        if (list[i] < 0)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s[%d] is %l, expected 0 and above", what, i, list[i]);
        sizes[i] = nnrti_onnx_size_known(list[i]);
    }
    return count;
}

/* x in another shape. One size that is open beside others above 0 follows from x's elements. A size of 0 belongs to an
   empty x: RESHAPE takes it as it is then, and where it does not fit refuses, since the elements are not as many. */
static uint32_t nnrti_onnx_reshape_to(nnrti_onnx *c, uint32_t x, const nnrti_onnx_size *sizes, int32_t rank)
{
    int64_t dims[NNRT_MAX_RANK];
    int32_t open = 0;
    bool some = true;
    if (rank > NNRT_MAX_RANK) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "computed with %d axes, this build has at most %d", rank, NNRT_MAX_RANK);
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
static uint32_t nnrti_onnx_places_of(nnrti_onnx *c, nnrti_onnx_size n)
{
    return nnrti_onnx_step3(c, NNRT_NODE_TYPE_RANGE, NULL, nnrti_onnx_const_int(c, 0), nnrti_onnx_size_ints(c, n),
                            nnrti_onnx_const_int(c, 1));
}

/* x broadcast together with a tensor of a shape, int64[..], whatever the extents are: every type is copied exactly. The
   larger one of an element and the least that there is, is the element, even if it is not a number. */
static uint32_t nnrti_onnx_spread(nnrti_onnx *c, uint32_t x, uint32_t shape)
{
    const bool isBool = nnrti_onnx_is_a(c, x, NNRT_TYPES_BOOL);
    const uint64_t infinity = 0xFFF0000000000000u; /* -infinity: integers saturate */
    uint32_t fill;
    double least;
    memcpy(&least, &infinity, sizeof(least));
    fill = nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL, NULL, nnrti_onnx_like(c, x, isBool ? 1 : least), shape);
    return isBool ? nnrti_onnx_mul(c, fill, x) : nnrti_onnx_larger(c, fill, x);
}

/* The one float32 or float16 element of a known value, false when it is something else. */
static bool nnrti_onnx_known_float(nnrti_onnx *c, uint32_t v, float *value)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    size_t count;
    if (!nnrti_onnx_known(c, v) || (o->dataType != NNRT_DATA_TYPE_FLOAT32 && o->dataType != NNRT_DATA_TYPE_FLOAT16) ||
        !nnrt_dims_count(o->dims, o->rank, &count) || count != 1)
        return false;
    if (o->dataType == NNRT_DATA_TYPE_FLOAT16) {
        uint16_t half;
        memcpy(&half, o->data, sizeof(half));
        *value = nnrti_half_to_float(half);
        return true;
    }
    memcpy(value, o->data, sizeof(*value));
    return true;
}

/* A run ends where the condition, bools, is false anywhere; v is shown then. */
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

/* How many entries list v has that only a run tells; -1: it is known, or their number is told there, too. */
static int32_t nnrti_onnx_told_entries(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = v != NNRT_NO_TENSOR ? nnrti_onnx_at(c, v) : NULL;
    return o == NULL || nnrti_onnx_known(c, v) || o->data != NULL || o->rank != 1 || !nnrti_onnx_closed(c, v)
               ? -1
               : o->dims[0];
}

/* int64[rank], every entry `value`, but where `axes`, which a run tells, says so those of list. */
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

/* int64[rank]: 1 for each of the axes that a run tells, which are different ones; 0 for the others. */
static uint32_t nnrti_onnx_told_axes(nnrti_onnx *c, int32_t rank, uint32_t axes)
{
    const int32_t count = nnrti_onnx_told_entries(c, axes);
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

/* x with new axes of extent 1 where axes, which a run tells, says. */
static uint32_t nnrti_onnx_unsqueeze_told(nnrti_onnx *c, uint32_t x, uint32_t axes)
{
    const int32_t rank = nnrti_onnx_rank(c, x) + nnrti_onnx_told_entries(c, axes);
    uint32_t flags = nnrti_onnx_told_axes(c, rank, axes), from[2], places, dims;
    NNRT_CumSum a;
    if (rank > NNRT_MAX_RANK)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "the result has %d axes, at most %d are possible", rank, NNRT_MAX_RANK);
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_CUM_SUM, &a);
    a.exclusive = true; /* axes of x before each */
    places = nnrti_onnx_step2(c, NNRT_NODE_TYPE_CUM_SUM, &a, nnrti_onnx_sub(c, nnrti_onnx_const_int(c, 1), flags),
                              nnrti_onnx_scalar(c, NNRT_DATA_TYPE_INT64, 0));
    from[0] = nnrti_onnx_shape(c, x);
    from[1] = nnrti_onnx_const_int(c, 1);
    dims = nnrti_onnx_gather(c, nnrti_onnx_concat(c, from, 2, 0), places, 0);
    dims = nnrti_onnx_step3(c, NNRT_NODE_TYPE_WHERE, NULL, nnrti_onnx_cast(c, flags, NNRT_DATA_TYPE_BOOL),
                            nnrti_onnx_const_int(c, 1), dims);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, dims);
}

/* x without the axes that a run tells, whose extents are 1. */
static uint32_t nnrti_onnx_squeeze_told(nnrti_onnx *c, uint32_t x, uint32_t axes)
{
    const int32_t rank = nnrti_onnx_rank(c, x), left = rank - nnrti_onnx_told_entries(c, axes);
    const uint32_t flags = nnrti_onnx_told_axes(c, rank, axes), shape = nnrti_onnx_shape(c, x);
    static const NNRT_DataType types[2] = {NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_INT64};
    int64_t order[NNRT_MAX_RANK];
    uint32_t in[2], out[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_TopKFusion a;
    nnrti_onnx_assert_equal(c, nnrti_onnx_gather(c, shape, axes, 0), nnrti_onnx_const_int(c, 1));
    if (left == 0)
        return nnrti_onnx_reshape(c, x, NULL, 0);
    for (int32_t i = 0; i < rank; i++)
        order[i] = i + 1;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_TOPK_FUSION, &a); /* the axes that stay have the least numbers */
    a.sorted = true;
    in[0] = nnrti_onnx_add(c, nnrti_onnx_const_ints(c, order, (uint32_t)rank),
                           nnrti_onnx_mul(c, flags, nnrti_onnx_const_int(c, rank)));
    in[1] = nnrti_onnx_const_int(c, left);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_BOTTOM_K, &a, in, 2, out, 2, types);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, nnrti_onnx_gather(c, shape, out[1], 0));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_elementwise */

/* The second input of an operator that broadcasts: before operator set 7 only when broadcast is set, its axes
   beginning at `axis` of the first (default: its last ones). */
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
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "axis %d: the second input has %d axes, too many for %d", at, have,
                        rank);
    if (c->code != NNRT_SUCCESS || have + at == rank)
        return y;
    for (int32_t i = have; i < rank - at; i++)
        sizes[i] = nnrti_onnx_size_known(1);
    return nnrti_onnx_reshape_to(c, y, sizes, rank - at);
}

/* The node that gives input i of n, when it has this operator; else NULL. */
static const nnrt_onnx_node *nnrti_onnx_giver(const nnrti_onnx *c, const nnrt_onnx_node *n, uint32_t i,
                                              const char *type)
{
    const nnrti_onnx_entry *e = i < n->inputs.count ? nnrti_onnx_entry_of(c, n->inputs.data[i]) : NULL;
    return e != NULL && e->name.data != NULL && e->node != NULL && nnrti_onnx_is(e->node->opType, type) ? e->node
                                                                                                        : NULL;
}

/* True when the name stands for a known float32 near value, or the float16 nearest to it, that gives x no more axes. */
static bool nnrti_onnx_near(nnrti_onnx *c, nnrt_onnx_str name, uint32_t x, float value)
{
    const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, name);
    float v;
    if (e->name.data == NULL || !nnrti_onnx_known_float(c, e->value, &v) ||
        nnrti_onnx_at(c, e->value)->rank > nnrti_onnx_at(c, x)->rank)
        return false;
    if (nnrti_onnx_type(c, e->value) == NNRT_DATA_TYPE_FLOAT16)
        return nnrti_half_from_float(v) == nnrti_half_from_float(value);
    return v > value * 0.999999f && v < value * 1.000001f;
}

/* *x = input k of n; true when the other one is near value and the other input of add, beside input i, near 1. */
static bool nnrti_onnx_scaled(nnrti_onnx *c, const nnrt_onnx_node *n, uint32_t k, float value,
                              const nnrt_onnx_node *add, uint32_t i, uint32_t *x)
{
    *x = nnrti_onnx_entry_of(c, n->inputs.data[k])->value;
    return nnrti_onnx_near(c, n->inputs.data[1 - k], *x, value) && nnrti_onnx_near(c, add->inputs.data[1 - i], *x, 1);
}

/* x when the name stands for 1 + erf(x / sqrt(2)); else NNRT_NO_TENSOR. */
static uint32_t nnrti_onnx_erf_of(nnrti_onnx *c, nnrt_onnx_str name)
{
    const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, name);
    const nnrt_onnx_node *add = e->name.data != NULL ? e->node : NULL, *erf, *n;
    uint32_t x;
    if (add == NULL || !nnrti_onnx_is(add->opType, "Add") || add->inputs.count != 2)
        return NNRT_NO_TENSOR;
    for (uint32_t i = 0; i < 2; i++) {
        erf = nnrti_onnx_giver(c, add, i, "Erf");
        n = erf != NULL ? nnrti_onnx_giver(c, erf, 0, "Div") : NULL;
        if (n != NULL && n->inputs.count == 2 && nnrti_onnx_scaled(c, n, 0, 1.41421356f, add, i, &x))
            return x;
        n = erf != NULL ? nnrti_onnx_giver(c, erf, 0, "Mul") : NULL;
        for (uint32_t k = 0; k < 2 && n != NULL && n->inputs.count == 2; k++)
            if (nnrti_onnx_scaled(c, n, k, 0.70710678f, add, i, &x))
                return x;
    }
    return NNRT_NO_TENSOR;
}

/* Exporters write GELU as a product of x, 0.5 and 1 + erf(x / sqrt(2)), in any order. x when the current node, a Mul,
   is such a product of three; else NNRT_NO_TENSOR. */
static uint32_t nnrti_onnx_gelu_of(nnrti_onnx *c)
{
    for (uint32_t i = 0; i < 2; i++) { /* input i is a product of two of the three */
        const nnrt_onnx_node *inner = nnrti_onnx_giver(c, c->node, i, "Mul");
        nnrt_onnx_str factors[3];
        if (inner == NULL || inner->inputs.count != 2)
            continue;
        factors[0] = c->node->inputs.data[1 - i];
        factors[1] = inner->inputs.data[0];
        factors[2] = inner->inputs.data[1];
        for (uint32_t k = 0; k < 6; k++) { /* which is 1 + erf, which 0.5, which x */
            const uint32_t e = k % 3, h = (e + 1 + k / 3) % 3, rest = 3 - e - h, x = nnrti_onnx_erf_of(c, factors[e]);
            if (x != NNRT_NO_TENSOR && nnrti_onnx_entry_of(c, factors[rest])->value == x &&
                nnrti_onnx_near(c, factors[h], x, 0.5f))
                return x;
        }
    }
    return NNRT_NO_TENSOR;
}

/* An operator of two inputs that are broadcast: arg is the node type. */
static void nnrti_onnx_op_binary(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), y = nnrti_onnx_second(c);
    const uint32_t gelu =
        arg == NNRT_NODE_TYPE_MUL_FUSION && c->code == NNRT_SUCCESS ? nnrti_onnx_gelu_of(c) : NNRT_NO_TENSOR;
    if (gelu != NNRT_NO_TENSOR) {
        nnrti_onnx_out(c, 0, nnrti_onnx_act(c, gelu, NNRT_ACTIVATION_TYPE_GELU, 0));
        return;
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, arg, NULL, x, y));
}

/* x - y * trunc(x / y), or with fmod 0, of integers only, x - y * floor(x / y). */
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

/* Max and Min of any number of inputs: arg is the node type. */
static void nnrti_onnx_op_extreme(nnrti_onnx *c, int32_t arg)
{
    uint32_t y = nnrti_onnx_in(c, 0);
    for (uint32_t i = 1; i < c->node->inputs.count; i++)
        y = nnrti_onnx_extreme(c, arg, y, nnrti_onnx_in(c, i));
    nnrti_onnx_out(c, 0, y);
}

/* Sum 0, Mean 1 of any number of inputs. Two are ADD_FUSION, which needs no copy and takes an activation. */
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

/* Operators that nnrt has under a name of its own, arg: the same inputs, one or two, and no attributes. */
static void nnrti_onnx_op_same(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), y = nnrti_onnx_in(c, 1);
    nnrti_onnx_out(
        c, 0, c->node->inputs.count > 1 ? nnrti_onnx_step2(c, arg, NULL, x, y) : nnrti_onnx_step1(c, arg, NULL, x));
}

/* Operators that are an activation function: arg. alpha has its ONNX default where there is one. */
static void nnrti_onnx_op_activation(nnrti_onnx *c, int32_t arg)
{
    nnrti_onnx_out(c, 0, nnrti_onnx_act(c, nnrti_onnx_in(c, 0), arg, nnrti_onnx_float(c, "alpha", 1.0f)));
}

/* ACTIVATION computes floats and int32; of other integers y = (x > 0) - (x < 0). */
static void nnrti_onnx_op_sign(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const NNRT_DataType type = nnrti_onnx_type(c, x);
    uint32_t zero, above, below;
    (void)arg;
    if (c->code != NNRT_SUCCESS || nnrti_type_in(type, NNRT_TYPES_FLOAT | NNRT_TYPES_F64 | NNRT_TYPES_I32)) {
        nnrti_onnx_out(c, 0, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_SIGN, 1));
        return;
    }
    zero = nnrti_onnx_like(c, x, 0);
    above = nnrti_onnx_cast(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_GREATER, NULL, x, zero), type);
    below = nnrti_onnx_cast(c, nnrti_onnx_step2(c, NNRT_NODE_TYPE_LESS, NULL, x, zero), type);
    nnrti_onnx_out(c, 0, nnrti_onnx_sub(c, above, below));
}

/* x * sigmoid(alpha * x). */
static void nnrti_onnx_op_swish(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const float alpha = nnrti_onnx_float(c, "alpha", 1.0f);
    uint32_t y;
    (void)arg;
    if (alpha == 1) {
        nnrti_onnx_out(c, 0, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_SWISH, 0));
        return;
    }
    y = nnrti_onnx_mul(c, x, nnrti_onnx_like(c, x, (double)alpha));
    nnrti_onnx_out(c, 0, nnrti_onnx_mul(c, x, nnrti_onnx_act(c, y, NNRT_ACTIVATION_TYPE_SIGMOID, 0)));
}

static void nnrti_onnx_op_leaky_relu(nnrti_onnx *c, int32_t arg)
{
    NNRT_LeakyRelu a;
    (void)arg;
    a.negativeSlope = nnrti_onnx_float(c, "alpha", 0.01f);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_LEAKY_RELU, &a, nnrti_onnx_in(c, 0)));
}

/* ln(1 + e^x), however large x is. */
static void nnrti_onnx_op_softplus(nnrti_onnx *c, int32_t arg)
{
    NNRT_Softplus a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_SOFTPLUS, &a);
    a.threshold = FLT_MAX;
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_SOFTPLUS, &a, nnrti_onnx_in(c, 0)));
}

/* Types beyond the activation kernels take the maximum with zero. */
static void nnrti_onnx_op_relu(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    (void)arg;
    if (nnrti_onnx_is_a(c, x, NNRT_TYPES_FLOAT | NNRT_TYPES_F64 | NNRT_TYPES_I32))
        nnrti_onnx_out(c, 0, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_RELU, 0));
    else
        nnrti_onnx_out(c, 0, nnrti_onnx_larger(c, x, nnrti_onnx_like(c, x, 0)));
}

static uint32_t nnrti_onnx_power(nnrti_onnx *c, uint32_t x, uint32_t y)
{
    NNRT_PowFusion a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_POW_FUSION, &a);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_POW_FUSION, &a, x, y);
}

/* e^x; float64, which EXPFUSION does not take, as a power of e. */
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

/* The result has the type of the base. Integers with a float exponent, or the other way, meet in float64. */
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

/* gamma * (x >= 0 ? x : alpha*(e^x - 1)): the constants of the paper are SELU's own. */
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

/* x >= 0 ? x : alpha*(e^(x/alpha) - 1), which is alpha * elu(x/alpha); with a negative alpha, which turns the order
   around, relu(x) + alpha*(e^(-relu(-x)/alpha) - 1). */
static void nnrti_onnx_op_celu(nnrti_onnx *c, int32_t arg)
{
    const float alpha = nnrti_onnx_float(c, "alpha", 1);
    const uint32_t x = nnrti_onnx_in(c, 0), factor = nnrti_onnx_like(c, x, (double)alpha);
    NNRT_ExpFusion a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_EXPFUSION, &a);
    if (alpha < 0) {
        uint32_t y = nnrti_onnx_act(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_NEG, NULL, x), NNRT_ACTIVATION_TYPE_RELU, 0);
        y = nnrti_onnx_div(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_NEG, NULL, y), factor);
        y = nnrti_onnx_step1(c, NNRT_NODE_TYPE_EXPFUSION, &a, y);
        y = nnrti_onnx_mul(c, nnrti_onnx_sub(c, y, nnrti_onnx_like(c, x, 1)), factor);
        nnrti_onnx_out(c, 0, nnrti_onnx_add(c, nnrti_onnx_act(c, x, NNRT_ACTIVATION_TYPE_RELU, 0), y));
        return;
    }
    nnrti_onnx_out(
        c, 0, nnrti_onnx_mul(c, nnrti_onnx_act(c, nnrti_onnx_div(c, x, factor), NNRT_ACTIVATION_TYPE_ELU, 1), factor));
}

/* min(max(alpha*x + beta, 0), 1). With a slope of 1/6 it is an activation, which may go into the node before; in float64
   the float32 nearest to 1/6 is another number. */
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

/* x < -lambd ? x + bias : x > lambd ? x - bias : 0; integers in float64. */
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

/* x < 0 ? slope*x : x. Of floats a slope for all elements, or one a channel (axis 1), is PRELU_FUSION; a slope of any
   other shape, and one that is open, is not. */
static void nnrti_onnx_op_prelu(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    uint32_t slope = nnrti_onnx_in(c, 1), y;
    int64_t count = nnrti_onnx_closed(c, slope) ? 1 : -1;
    const int32_t rank = nnrti_onnx_rank(c, x), have = nnrti_onnx_rank(c, slope);
    const bool old = c->opset < 7 && have == 1;          /* along axis 1 */
    const int32_t channel = old ? 0 : have - (rank - 1); /* slope's axis that is axis 1 of x */
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

/* True when v is one number, which is known. */
static bool nnrti_onnx_known_number(nnrti_onnx *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_onnx_at(c, v);
    size_t count;
    return nnrti_onnx_known_numbers(c, v) && nnrt_dims_count(o->dims, o->rank, &count) && count == 1;
}

/* min(max(x, least), most): CLIP where these are known and in order, of float32 and float16 an activation where there
   is one, which may go into the node before. Bounds are attributes before operator set 11. */
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

/* Cast 0: `to` is a number, before operator set 6 a name. CastLike 1: to the type of input 1. */
/* round_mode and saturate are about float8, which is refused as a type. */
static void nnrti_onnx_op_cast(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    NNRT_DataType type;
    (void)nnrti_onnx_choice(c, "round_mode", "up|down|nearest");
    if (arg == 1) {
        type = nnrti_onnx_type(c, nnrti_onnx_in(c, 1));
    } else if (c->opset < 6) {
        type = nnrti_onnx_take_type(
            c,
            1 + nnrti_onnx_choice(c, "to",
                                  "FLOAT|UINT8|INT8|UINT16|INT16|INT32|INT64|STRING|BOOL|FLOAT16|DOUBLE|UINT32|UINT64"),
            "attribute", "to");
    } else {
        const int64_t to = nnrti_onnx_int(c, "to", 0);
        type = nnrti_onnx_take_type(c, to >= 0 && to < 1000 ? (nnrt_onnx_type)to : -1, "attribute", "to");
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, x, type));
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

static void nnrti_onnx_op_identity(nnrti_onnx *c, int32_t arg)
{
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_in(c, 0));
}

/* In inference nothing is dropped: the mask, when somebody wants it, is all ones. */
static void nnrti_onnx_op_dropout(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), ratio = nnrti_onnx_in(c, 1), training = nnrti_onnx_in(c, 2);
    const nnrt_operand *t = nnrti_onnx_at(c, training);
    uint8_t on = 0;
    float rate = 0.5f;
    (void)arg;
    if (training != NNRT_NO_TENSOR && !nnrti_onnx_known(c, training)) { /* a run must not ask for it */
        uint32_t off = nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOGICAL_NOT, NULL, training);
        if (ratio != NNRT_NO_TENSOR)
            off =
                nnrti_onnx_step2(c, NNRT_NODE_TYPE_LOGICAL_OR, NULL, off,
                                 nnrti_onnx_step2(c, NNRT_NODE_TYPE_EQUAL, NULL, ratio, nnrti_onnx_like(c, ratio, 0)));
        nnrti_onnx_assert(c, off, training);
    } else if (training != NNRT_NO_TENSOR) {
        if (t->dataType != NNRT_DATA_TYPE_BOOL)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "training_mode '%s' must be a bool", t->name);
        else
            memcpy(&on, t->data, 1);
        if (on != 0 && ratio != NNRT_NO_TENSOR)
            (void)nnrti_onnx_known_float(c, ratio, &rate);
        if (on != 0 && rate != 0)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "training mode, which drops elements at random, is not supported");
    }
    if (nnrti_onnx_wants(c, 1))
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

/* Quantization parameters from a scale and a zero point that are constants: one, or one for each index of an axis of x. */
typedef struct nnrti_onnx_quant {
    NNRT_QuantParam *list;
    uint32_t count; /* 0: scale or zero point is not constant, or of a form that NNRT_QuantParam has not */
    int32_t axis;   /* of several */
} nnrti_onnx_quant;

static nnrti_onnx_quant nnrti_onnx_quant_of(nnrti_onnx *c, uint32_t x, uint32_t scale, uint32_t zero,
                                            NNRT_DataType type, int64_t axis)
{
    const nnrt_operand *s = nnrti_onnx_at(c, scale), *z = nnrti_onnx_at(c, zero);
    const bool known = nnrti_onnx_known(c, scale) && (zero == NNRT_NO_TENSOR || nnrti_onnx_known(c, zero));
    size_t count = 0, zeros = 0;
    nnrti_onnx_quant q;
    memset(&q, 0, sizeof(q));
    if (!nnrti_type_in(type, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I32))
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
        nnrti_read_f64(&q.list[i].scale, (const float *)s->data + i, 1, 1, s->dataType);
        if (zero != NNRT_NO_TENSOR)
            nnrti_read_f64(&n, (const uint8_t *)z->data + i * nnrt_type_size(type), 1, 1, type);
        if (!(q.list[i].scale > 0 && q.list[i].scale <= (double)FLT_MAX))
            return q;
        q.list[i].numBits = (int32_t)(8 * nnrt_type_size(type));
        q.list[i].zeroPoint = (int32_t)n;
    }
    q.count = q.list != NULL ? (uint32_t)count : 0;
    return q;
}

/* A step whose result has a type and the parameters q (NULL: none). Of its inputs the last ones may be absent. */
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

/* Output 0 of the node has the bytes of y, a quantized tensor, as plain integers: an ONNX tensor has no quantization
   parameters, its consumers see integers. DequantizeLinear, QLinear operators and outputs of the model that find it by the
   name of the output use y itself. */
static void nnrti_onnx_out_integers(nnrti_onnx *c, uint32_t y)
{
    uint32_t integers;
    nnrti_onnx_entry *e;
    if (!nnrti_onnx_wants(c, 0))
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

/* A parameter that has a place for each `block` places of x along the attribute axis, as one for each place. */
static uint32_t nnrti_onnx_blocks(nnrti_onnx *c, uint32_t x, uint32_t v, int64_t block)
{
    const int32_t axis = nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", 1), nnrti_onnx_rank(c, x));
    const int32_t L = nnrti_onnx_extent(c, x, axis, "block_size"), have = nnrti_onnx_extent(c, v, axis, "block_size");
    int64_t *places = (int64_t *)nnrti_onnx_keep(c, (size_t)L, sizeof(*places));
    if (c->code != NNRT_SUCCESS)
        return v;
    if (have != (L + block - 1) / block) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE,
                        "parameter '%s' is %o, expected %l places on axis %d: blocks of %l of %d",
                        nnrti_onnx_at(c, v)->name, nnrti_onnx_at(c, v), (L + block - 1) / block, axis, block, L);
        return v;
    }
    for (int32_t i = 0; i < L && places != NULL; i++)
        places[i] = i / block;
    return nnrti_onnx_gather(c, v, nnrti_onnx_const_ints(c, places, (uint32_t)L), axis);
}

/* A parameter of QuantizeLinear and DequantizeLinear, which is a scalar, runs along `axis` of x, or has a place for each
   block of x: ready to broadcast. */
static uint32_t nnrti_onnx_along(nnrti_onnx *c, uint32_t x, uint32_t v)
{
    nnrti_onnx_size sizes[NNRT_MAX_RANK];
    const int32_t rank = nnrti_onnx_rank(c, x), have = nnrti_onnx_sizes_of(c, v, sizes);
    const int64_t block = nnrti_onnx_int(c, "block_size", 0);
    int32_t axis;
    if (block < 0 || block > INT32_MAX || (block > 0 && have != rank))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "block_size %l beside parameter '%s' %o", block,
                        nnrti_onnx_at(c, v)->name, nnrti_onnx_at(c, v));
    if (block > 0 && c->code == NNRT_SUCCESS)
        return nnrti_onnx_blocks(c, x, v, block);
    if (c->code != NNRT_SUCCESS || have == 0 || (have == 1 && sizes[0].known == 1))
        return nnrti_onnx_reshape(c, v, NULL, 0);
    axis = nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", 1), rank);
    if (have != 1)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "the scale has %d axes, expected one at most", have);
    for (int32_t i = 1; i < rank - axis; i++)
        sizes[i] = nnrti_onnx_size_known(1);
    return nnrti_onnx_reshape_to(c, v, sizes, rank - axis);
}

/* round(x) + zero, kept in the range of type, of 8 or 16 bits; halves to even. zero: float32, or NNRT_NO_TENSOR. */
static uint32_t nnrti_onnx_saturated(nnrti_onnx *c, uint32_t x, uint32_t zero, NNRT_DataType type)
{
    uint32_t y = nnrti_onnx_step1(c, NNRT_NODE_TYPE_ROUND, NULL, x);
    NNRT_Clip a;
    if (zero != NNRT_NO_TENSOR)
        y = nnrti_onnx_add(c, y, zero);
    a.min = type == NNRT_DATA_TYPE_INT8 ? -128.0f : type == NNRT_DATA_TYPE_INT16 ? -32768.0f : 0.0f;
    a.max = type == NNRT_DATA_TYPE_INT8    ? 127.0f
            : type == NNRT_DATA_TYPE_UINT8 ? 255.0f
            : type == NNRT_DATA_TYPE_INT16 ? 32767.0f
                                           : 65535.0f;
    return nnrti_onnx_cast(c, nnrti_onnx_step1(c, NNRT_NODE_TYPE_CLIP, &a, y), type);
}

/* y = saturate(round(x/scale) + zero), halves to even. */
static void nnrti_onnx_op_quantize(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), scale = nnrti_onnx_in(c, 1), zero = nnrti_onnx_in(c, 2);
    const int64_t said = nnrti_onnx_int(c, "output_dtype", 0), precision = nnrti_onnx_int(c, "precision", 0);
    const NNRT_DataType other = said != 0 ? nnrti_onnx_take_type(c, said > 0 && said < 1000 ? (nnrt_onnx_type)said : -1,
                                                                 "attribute", "output_dtype")
                                          : NNRT_DATA_TYPE_UINT8;
    const NNRT_DataType type = zero != NNRT_NO_TENSOR ? nnrti_onnx_type(c, zero) : other;
    NNRT_QuantizeLinear a;
    nnrti_onnx_quant q;
    uint32_t y;
    (void)arg;
    if (!nnrti_type_in(type, NNRT_TYPES_I8 | NNRT_TYPES_U8 |
                                 (c->opset < 21 ? 0u : NNRT_TYPES_I16 | NNRT_TYPES_OF(NNRT_DATA_TYPE_UINT16))))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "the zero point is %t, expected int8 or uint8%s", type,
                        c->opset < 21 ? "" : ", int16 or uint16");
    if (said != 0 && other != type)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "the zero point is %t, output_dtype %t", type, other);
    if (precision != 0 && precision != NNRT_ONNX_FLOAT)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "precision is %l, expected 1 (float)", precision);
    q = nnrti_onnx_quant_of(c, x, scale, zero, type, nnrti_onnx_int(c, "axis", 1));
    y = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_FLOAT32);
    if (q.count > 0) {
        a.dstT = type;
        a.axis = q.axis;
        nnrti_onnx_out_integers(c, nnrti_onnx_step_quantized(c, NNRT_NODE_TYPE_QUANTIZE_LINEAR, &a, &y, 1, type, &q));
        return;
    }
    y = nnrti_onnx_div(c, y, nnrti_onnx_cast(c, nnrti_onnx_along(c, x, scale), NNRT_DATA_TYPE_FLOAT32));
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_saturated(c, y,
                                        zero != NNRT_NO_TENSOR
                                            ? nnrti_onnx_cast(c, nnrti_onnx_along(c, x, zero), NNRT_DATA_TYPE_FLOAT32)
                                            : NNRT_NO_TENSOR,
                                        type));
}

/* The smallest range of x that holds 0, in 255 steps: y as QuantizeLinear has it, with this scale and zero point, which
   are results, too. Of nothing but zeros the scale is 0, and so are all y. */
static void nnrti_onnx_op_dynamic_quantize(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), none = nnrti_onnx_like(c, x, 0);
    const uint32_t least = nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MIN, NULL, 0, false),
                   most = nnrti_onnx_reduce(c, x, NNRT_REDUCE_MODE_MAX, NULL, 0, false);
    const uint32_t low = nnrti_onnx_extreme(c, NNRT_NODE_TYPE_MINIMUM, least, none),
                   high = nnrti_onnx_extreme(c, NNRT_NODE_TYPE_MAXIMUM, most, none);
    const uint32_t scale = nnrti_onnx_div(c, nnrti_onnx_sub(c, high, low), nnrti_onnx_like(c, x, 255));
    const uint32_t zero = nnrti_onnx_saturated(c, nnrti_onnx_sub(c, none, nnrti_onnx_div(c, low, scale)),
                                               NNRT_NO_TENSOR, NNRT_DATA_TYPE_UINT8);
    (void)arg;
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_saturated(c, nnrti_onnx_div(c, x, scale),
                                        nnrti_onnx_cast(c, zero, NNRT_DATA_TYPE_FLOAT32), NNRT_DATA_TYPE_UINT8));
    nnrti_onnx_out(c, 1, scale);
    nnrti_onnx_out(c, 2, zero);
}

/* Output 0 of an operator that sums products of integers: y = saturate(round(sum * (scaleA * scaleB / scaleY)) + zero), all
   in float32 from left to right, halves to even, as ONNX Runtime computes it. The type is that of zero. */
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

/* True when x, input 0 of a DequantizeLinear, is an input of the model that only such nodes read, all with the scale and
   zero point of this one: it may have them as its parameters. */
static bool nnrti_onnx_quant_input(const nnrti_onnx *c, uint32_t x)
{
    const nnrt_onnx_strs *own = &c->node->inputs;
    if (!nnrti_onnx_is(c->node->opType, "DequantizeLinear") || c->outer != NULL || c->call != NULL || !nnrti_onnx_is_input(c, x) ||
        !nnrti_onnx_own_entry(c, own->data[0])->isInput)
        return false;
    for (size_t i = 0; i < c->graph->nodes.count; i++) {
        const nnrt_onnx_node *n = &c->graph->nodes.data[i];
        bool reads = false, alike = nnrti_onnx_is(n->opType, "DequantizeLinear") && n->inputs.count == own->count;
        for (size_t k = 0; k < n->inputs.count; k++) {
            reads = reads || nnrti_onnx_same_text(n->inputs.data[k], own->data[0]);
            alike = alike && nnrti_onnx_same_text(n->inputs.data[k], own->data[k]);
        }
        for (size_t k = 0; k < n->attributes.count; k++) /* a graph inside may read it */
            reads = reads || n->attributes.data[k].g != NULL;
        if (reads && !alike)
            return false;
    }
    return true;
}

/* The bytes of x as a quantized tensor with parameters q: the tensor that x is a BITCAST of, a constant, an input of the
   model that may have these parameters, or a BITCAST. e: the entry of x by its name. NNRT_NO_TENSOR: q is empty. */
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
    if (nnrti_onnx_known(c, x)) {
        y = nnrti_onnx_constant(c, o.dataType, o.rank, o.dims, o.data);
        if (y == NNRT_NO_TENSOR)
            return y;
        c->builder->copied[y] = c->builder->copied[x];
        nnrt_builder_quant(c->builder, y, q->list, q->count);
        nnrt_builder_quant_axis(c->builder, y, q->count > 1 ? q->axis + 1 : 0);
    } else if (q->count == 1 && o.quantCount == 0 && nnrti_type_in(o.dataType, NNRT_TYPES_I8 | NNRT_TYPES_U8) &&
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
    uint32_t a, b; /* quantized */
    nnrti_onnx_quant y;
    NNRT_DataType type; /* of y */
} nnrti_onnx_q_linear;

/* True when the node can be a quantized operator: its parameters are constants that the runtime has (one, for b also one
   for each index of axisB), a and y have one type, b the same or int8, and --no-quantize does not ask for ONNX's rounding. */
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

/* y = (x - zero) * scale, in float32; the type of the scale. */
static void nnrti_onnx_op_dequantize(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), scale = nnrti_onnx_in(c, 1), zero = nnrti_onnx_in(c, 2);
    const NNRT_DataType type = nnrti_onnx_type(c, x), to = nnrti_onnx_type(c, scale), real = NNRT_DATA_TYPE_FLOAT32;
    const int64_t said = nnrti_onnx_int(c, "output_dtype", 0);
    const nnrti_onnx_quant q = nnrti_onnx_quant_of(c, x, scale, zero, type, nnrti_onnx_int(c, "axis", 1));
    const uint32_t of = nnrti_onnx_quantized(c, &q, x, nnrti_onnx_entry_of(c, c->node->inputs.data[0]));
    NNRT_QuantDTypeCastV2 several;
    NNRT_QuantDTypeCast one;
    uint32_t y;
    (void)arg;
    if (said != 0 &&
        nnrti_onnx_take_type(c, said > 0 && said < 1000 ? (nnrt_onnx_type)said : -1, "attribute", "output_dtype") != to)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "output_dtype is %l, expected the type of the scale, %t", said, to);
    if (of != NNRT_NO_TENSOR) {
        one.srcT = several.srcT = type;
        one.dstT = several.dstT = real;
        several.axis = q.axis;
        nnrti_onnx_out(c, 0,
                       q.count > 1
                           ? nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2, &several, of, real)
                           : nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &one, of, real));
        return;
    }
    y = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_INT32);
    if (zero != NNRT_NO_TENSOR)
        y = nnrti_onnx_sub(c, y, nnrti_onnx_cast(c, nnrti_onnx_along(c, x, zero), NNRT_DATA_TYPE_INT32));
    y = nnrti_onnx_mul(c, nnrti_onnx_cast(c, y, real), nnrti_onnx_cast(c, nnrti_onnx_along(c, x, scale), real));
    nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, y, to));
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

/* CONSTANT_OF_SHAPE has its value as a float; an element that this does not give is a FILL. */
static void nnrti_onnx_op_constant_shape(nnrti_onnx *c, int32_t arg)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, "value", NNRT_ONNX_ATTRIBUTE_TENSOR);
    const uint32_t shape = nnrti_onnx_in(c, 0);
    const uint32_t value =
        a != NULL && a->t != NULL ? nnrti_onnx_tensor_value(c, a->t) : nnrti_onnx_scalar(c, NNRT_DATA_TYPE_FLOAT32, 0);
    const uint32_t one = nnrti_onnx_reshape(c, value, NULL, 0); /* [1] to a scalar */
    const nnrt_operand *o = nnrti_onnx_at(c, one);
    NNRT_ConstantOfShape to;
    uint64_t same = 0;
    double wide = 0;
    float v = 0;
    (void)arg;
    if (!nnrti_onnx_known(c, one))
        return; /* after a fault */
    nnrti_read_f64(&wide, o->data, 1, 1, o->dataType);
    nnrti_write_f64(&v, 1, &wide, 1, NNRT_DATA_TYPE_FLOAT32);
    nnrti_number(o->dataType, (double)v, &same);
    if (memcmp(&same, o->data, nnrt_type_size(o->dataType)) != 0) {
        nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_FILL, NULL, one, shape));
        return;
    }
    to.dataType = o->dataType;
    to.value = nnrt_float_list(&v, 1);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_CONSTANT_OF_SHAPE, &to, shape));
}

/* A broadcast both ways: a shape of fewer axes than x has gets ones in front. */
static void nnrti_onnx_op_expand(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, x);
    uint32_t shape = nnrti_onnx_in(c, 1), parts[2];
    const int32_t entries = nnrti_onnx_extent(c, shape, 0, "expanding");
    NNRT_BroadcastTo a;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_BROADCAST_TO, &a);
    if (nnrti_onnx_known(c, shape)) {
        int64_t list[NNRT_MAX_RANK];
        const uint32_t count = nnrti_onnx_list(c, shape, "shape", list, NNRT_MAX_RANK);
        for (uint32_t i = 0; i < count; i++)
            if (list[i] < 0)
                NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "shape[%u] is %l, expected 0 and above", i, list[i]);
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

/* x as [product of the axes before axis, product of the others]. */
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

/* 0 copies an extent, unless allowzero makes it one: the runtime takes it literally only in an empty x, so known
   shapes are made explicit. */
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
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "shape with 0 to 8 entries expected");
        else
            shape = nnrti_onnx_const_ints(c, list.data, (uint32_t)list.count);
    }
    if (nnrti_onnx_known(c, shape)) {
        const int32_t rank = nnrti_onnx_rank(c, x);
        const uint32_t count = nnrti_onnx_list(c, shape, "shape", dims, NNRT_MAX_RANK);
        bool empty = false;
        for (int32_t i = 0; i < rank; i++)
            empty = empty || nnrti_onnx_dim(c, x, i) == 0;
        for (int32_t i = 0; i < (int32_t)count; i++) {
            if (dims[i] == 0 && literal && !empty)
                NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "shape has a 0, but '%s' is not empty",
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
        y = nnrti_onnx_part(c, y, 0, start, end, 1);
    nnrti_onnx_out(c, 0, y);
}

static void nnrti_onnx_op_size(nnrti_onnx *c, int32_t arg)
{
    const int64_t axis = 0;
    (void)arg;
    nnrti_onnx_out(
        c, 0, nnrti_onnx_reduce(c, nnrti_onnx_shape(c, nnrti_onnx_in(c, 0)), NNRT_REDUCE_MODE_PROD, &axis, 1, false));
}

/* Attributes before operator set 10, inputs from then on. Absent axes and steps are made explicit: 0,1,.. and ones. */
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
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "has no starts or no ends");
    for (uint32_t i = 3; i < 5; i++) {
        const int32_t count = nnrti_onnx_extent(c, in[1], 0, "slicing");
        if (in[i] != NNRT_NO_TENSOR || c->code != NNRT_SUCCESS || count > NNRT_MAX_RANK)
            continue;
        for (int32_t k = 0; k < count; k++)
            list[k] = i == 3 ? k : 1;
        in[i] = nnrti_onnx_const_ints(c, list, (uint32_t)count);
    }
    if (c->code == NNRT_SUCCESS && nnrti_onnx_told_entries(c, in[3]) > 0) { /* an entry for every axis */
        const int32_t rank = nnrti_onnx_rank(c, in[0]);
        const uint32_t axes = in[3];
        (void)nnrti_onnx_told_axes(c, rank, axes);
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

/* Parts of x along an axis whose lengths a run tells, all of the axis together. */
static void nnrti_onnx_split_told(nnrti_onnx *c, uint32_t x, uint32_t lengths, int64_t axis)
{
    const uint32_t nOut = (uint32_t)c->node->outputs.count, all = nnrti_onnx_cast(c, lengths, NNRT_DATA_TYPE_INT64);
    const nnrti_onnx_size whole = nnrti_onnx_size_of(c, x, (int32_t)axis);
    const int64_t first = 0;
    uint32_t begins;
    NNRT_SliceFusion a;
    NNRT_CumSum sum;
    if ((uint32_t)nnrti_onnx_told_entries(c, lengths) != nOut)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "split has %d entries, expected %u",
                        nnrti_onnx_told_entries(c, lengths), nOut);
    nnrti_onnx_assert(c, nnrti_onnx_less_equal(c, nnrti_onnx_const_int(c, 0), all), all);
    nnrti_onnx_assert_equal(c, nnrti_onnx_reduce(c, all, NNRT_REDUCE_MODE_SUM, &first, 1, true),
                            nnrti_onnx_size_ints(c, whole));
    nnrti_onnx_defaults(NNRT_NODE_TYPE_CUM_SUM, &sum);
    sum.exclusive = true;
    begins = nnrti_onnx_step2(c, NNRT_NODE_TYPE_CUM_SUM, &sum, all, nnrti_onnx_scalar(c, NNRT_DATA_TYPE_INT64, 0));
    a.axes = nnrt_int64_list(&axis, 1);
    for (uint32_t i = 0; i < nOut && c->code == NNRT_SUCCESS; i++)
        nnrti_onnx_out(c, i,
                       nnrti_onnx_step3(c, NNRT_NODE_TYPE_SLICE_FUSION, &a, x,
                                        nnrti_onnx_part(c, begins, 0, i, (int64_t)i + 1, 1),
                                        nnrti_onnx_part(c, all, 0, i, (int64_t)i + 1, 1)));
}

/* The lengths are an attribute before operator set 13. Parts that nobody names still count. */
static void nnrti_onnx_op_split(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), nOut = (uint32_t)c->node->outputs.count;
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
    if (nnrti_onnx_told_entries(c, nnrti_onnx_in(c, 1)) > 0) {
        nnrti_onnx_split_told(c, x, nnrti_onnx_in(c, 1), a.axis);
        return;
    }
    given = nnrti_onnx_param(c, "split", 1, sizes, nOut, &count);
    if (!given && c->code == NNRT_SUCCESS && nnrti_onnx_dim(c, x, (int32_t)a.axis) > 0) { /* the last part is smaller */
        const int64_t n = nnrti_onnx_dim(c, x, (int32_t)a.axis), part = (n + nOut - 1) / nOut;
        for (count = 0; count < nOut && n % nOut != 0 && c->opset >= 18; count++)
            sizes[count] = part * (count + 1) <= n ? part : n > part * count ? n - part * count : 0;
    }
    a.sizeSplits = nnrt_int64_list(sizes, count);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_SPLIT, &a, &x, 1, out, nOut, NULL);
    for (uint32_t i = 0; i < nOut; i++)
        nnrti_onnx_out(c, i, out[i]);
}

/* Axes are an attribute before operator set 13, an input from then on. */
static void nnrti_onnx_op_squeeze(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    int64_t axes[NNRT_MAX_RANK];
    uint32_t count;
    NNRT_Squeeze a;
    (void)arg;
    if (nnrti_onnx_told_entries(c, nnrti_onnx_in(c, 1)) > 0) {
        nnrti_onnx_out(c, 0, nnrti_onnx_squeeze_told(c, x, nnrti_onnx_in(c, 1)));
        return;
    }
    (void)nnrti_onnx_param(c, "axes", 1, axes, NNRT_MAX_RANK, &count);
    for (uint32_t i = 0; i < count && c->code == NNRT_SUCCESS; i++)
        if (nnrti_onnx_dim(c, x, nnrti_onnx_axis(c, axes[i], nnrti_onnx_rank(c, x))) > 1)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "axis %l of '%s' has an extent other than 1", axes[i],
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
    if (nnrti_onnx_told_entries(c, nnrti_onnx_in(c, 1)) > 0) {
        nnrti_onnx_out(c, 0, nnrti_onnx_unsqueeze_told(c, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
        return;
    }
    if (!nnrti_onnx_param(c, "axes", 1, axes, NNRT_MAX_RANK, &count))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "has no axes");
    a.axis = nnrt_int64_list(axes, count);
    nnrti_onnx_out(c, 0, nnrti_onnx_step1(c, NNRT_NODE_TYPE_UNSQUEEZE, &a, nnrti_onnx_in(c, 0)));
}

/* Operator set 1: how often, and along which axis. Later: a number for every axis. */
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
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "axis has no entry");
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

/* ONNX says both axes: nnrt takes two zeros for the defaults, so they are refused here. */
static void nnrti_onnx_op_reverse_sequence(nnrti_onnx *c, int32_t arg)
{
    NNRT_ReverseSequence a;
    (void)arg;
    a.batchAxis = nnrti_onnx_int(c, "batch_axis", 1);
    a.timeAxis = nnrti_onnx_int(c, "time_axis", 0);
    if (a.batchAxis == a.timeAxis)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "batch_axis and time_axis are both %l", a.batchAxis);
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

/* index, where it is negative plus extent: both int64. */
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

/* Without the attribute the input counts as one line: an empty list. */
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

/* indices [B..,I..,k] of `count` batch axes, which are x's: those [B..,I..,count + k] whose rows begin with their places
   in B... */
static uint32_t nnrti_onnx_with_batch(nnrti_onnx *c, uint32_t x, uint32_t indices, int32_t count)
{
    const int32_t last = nnrti_onnx_rank(c, indices) - 1;
    const NNRT_DataType type = nnrti_onnx_type(c, indices);
    uint32_t parts[NNRT_MAX_RANK + 1], shape;
    nnrti_onnx_size sizes[NNRT_MAX_RANK], line[NNRT_MAX_RANK];
    NNRT_BroadcastTo a;
    memset(sizes, 0, sizeof(sizes));
    nnrti_onnx_defaults(NNRT_NODE_TYPE_BROADCAST_TO, &a);
    if (count > last || count >= nnrti_onnx_rank(c, x))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "batch_dims is %d, expected less than the axes of both inputs",
                        count);
    if (c->code != NNRT_SUCCESS)
        return indices;
    for (int32_t i = 0; i <= last; i++) {
        sizes[i] = i == last ? nnrti_onnx_size_known(1) : nnrti_onnx_size_of(c, i < count ? x : indices, i);
        line[i] = nnrti_onnx_size_known(1);
    }
    shape = nnrti_onnx_size_list(c, sizes, last + 1);
    for (int32_t i = 0; i < count; i++) {
        const uint32_t places = nnrti_onnx_cast(c, nnrti_onnx_places_of(c, sizes[i]), type);
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
    (void)arg;
    if (batch < 0 || batch > NNRT_MAX_RANK)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "batch_dims is %l", batch);
    else if (batch > 0)
        indices = nnrti_onnx_with_batch(c, x, indices, (int32_t)batch);
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_GATHER_ND, NULL, x, indices));
}

/* x [B,..] with update, whose places along the axis begin in batch b at write_indices[b] (0 without them), or in a circle. */
static void nnrti_onnx_op_tensor_scatter(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), update = nnrti_onnx_in(c, 1), starts = nnrti_onnx_in(c, 2);
    const int32_t rank = nnrti_onnx_rank(c, x), axis = nnrti_onnx_axis(c, nnrti_onnx_int(c, "axis", -2), rank);
    const bool circular = nnrti_onnx_choice(c, "mode", "linear|circular") != 0;
    uint32_t places = nnrti_onnx_places_of(c, nnrti_onnx_size_of(c, update, axis));
    nnrti_onnx_size line[NNRT_MAX_RANK], column[NNRT_MAX_RANK];
    NNRT_ScatterElements a;
    NNRT_BroadcastTo to;
    (void)arg;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a);
    nnrti_onnx_defaults(NNRT_NODE_TYPE_BROADCAST_TO, &to);
    a.axis = axis;
    if (rank < 2 || axis == 0 || nnrti_onnx_rank(c, update) != rank)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "axis %d of %d axes, and update of %d", axis, rank,
                        nnrti_onnx_rank(c, update));
    if (c->code != NNRT_SUCCESS)
        return;
    for (int32_t i = 0; i < rank; i++) {
        line[i] = i == axis ? nnrti_onnx_size_of(c, update, axis) : nnrti_onnx_size_known(1);
        column[i] = i == 0 ? nnrti_onnx_size_of(c, update, 0) : nnrti_onnx_size_known(1);
    }
    places = nnrti_onnx_reshape_to(c, places, line, rank);
    if (starts != NNRT_NO_TENSOR) {
        nnrti_onnx_assert(c, nnrti_onnx_less_equal(c, nnrti_onnx_like(c, starts, 0), starts), starts);
        places = nnrti_onnx_add(
            c, places, nnrti_onnx_reshape_to(c, nnrti_onnx_cast(c, starts, NNRT_DATA_TYPE_INT64), column, rank));
    }
    if (circular)
        places = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MOD, NULL, places,
                                  nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x, axis)));
    places = nnrti_onnx_step2(c, NNRT_NODE_TYPE_BROADCAST_TO, &to, places, nnrti_onnx_shape(c, update));
    nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a, x, places, update));
}

/* Indices of any numeric type; those from -depth to -1 count from the end. values = [off, on]. */
static void nnrti_onnx_op_scatter_nd(nnrti_onnx *c, int32_t arg)
{
    NNRT_ScatterNDUpdate a;
    (void)arg;
    a.reduction = nnrti_onnx_choice(c, "reduction", "none|add|mul|min|max");
    nnrti_onnx_out(c, 0,
                   nnrti_onnx_step3(c, NNRT_NODE_TYPE_SCATTER_ND_UPDATE, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1),
                                    nnrti_onnx_in(c, 2)));
}

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

static void nnrti_onnx_op_range(nnrti_onnx *c, int32_t arg)
{
    const uint32_t start = nnrti_onnx_in(c, 0), limit = nnrti_onnx_in(c, 1), delta = nnrti_onnx_in(c, 2);
    const int64_t type = nnrti_onnx_int(c, "stash_type", NNRT_ONNX_FLOAT);
    (void)arg;
    if (type != NNRT_ONNX_FLOAT && nnrti_onnx_type(c, start) == NNRT_DATA_TYPE_FLOAT16) /* of others it says nothing */
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "stash_type is %l, expected 1 (float)", type);
    nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_RANGE, NULL, start, limit, delta));
}

static void nnrti_onnx_op_cum_sum(nnrti_onnx *c, int32_t arg)
{
    NNRT_CumSum a;
    (void)arg;
    a.exclusive = nnrti_onnx_int(c, "exclusive", 0) != 0;
    a.reverse = nnrti_onnx_int(c, "reverse", 0) != 0;
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_CUM_SUM, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

/* pads[2*i] and pads[2*i+1] from the node: all begins, then all ends; of the axes listed in input 3, else of all. */
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
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "pads[%u] is %l, which does not fit", i, given[i]);
    for (uint32_t i = 0; i < n && c->code == NNRT_SUCCESS; i++) {
        const int32_t axis = nnrti_onnx_axis(c, axes[i], rank);
        pads[2 * axis] = given[i];
        pads[2 * axis + 1] = given[n + i];
    }
}

/* Paddings that a run tells, which cannot be negative there, as [rank,2]: a pair for each axis; an axis that is not
   listed gets the 0 behind the pads. */
static uint32_t nnrti_onnx_pads_told(nnrti_onnx *c, int32_t rank)
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
    if (c->code == NNRT_SUCCESS &&
        (nnrti_onnx_rank(c, parts[0]) != 1 || nnrti_onnx_dim(c, parts[0], 0) != 2 * (int64_t)n))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "pads, which a run tells, are %o, expected %u",
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

/* *x without what negative pads cut off; the others as [rank,2]. NNRT_NO_TENSOR: there are none, or a fault. */
static uint32_t nnrti_onnx_pads_known(nnrti_onnx *c, uint32_t *x, int32_t rank)
{
    const int64_t dims[2] = {rank, 2};
    int64_t pads[2 * NNRT_MAX_RANK];
    bool any = false;
    nnrti_onnx_pads_of(c, rank, pads);
    for (int32_t i = 0; i < rank && c->code == NNRT_SUCCESS; i++) {
        if (pads[2 * i] < 0 || pads[2 * i + 1] < 0)
            *x = nnrti_onnx_part(c, *x, i, pads[2 * i] < 0 ? -pads[2 * i] : 0,
                                 pads[2 * i + 1] < 0 ? pads[2 * i + 1] : INT32_MAX, 1);
        for (int32_t k = 2 * i; k < 2 * i + 2; k++) {
            pads[k] = pads[k] < 0 ? 0 : pads[k];
            any = any || pads[k] > 0;
        }
    }
    return any ? nnrti_onnx_reshape(c, nnrti_onnx_const_ints(c, pads, 2 * (uint32_t)rank), dims, 2) : NNRT_NO_TENSOR;
}

/* x repeated around axis i: element k of the result is element (k - before) mod L of the axis. MOD has the sign of its
   first operand, which is kept at 0 or above. */
static uint32_t nnrti_onnx_wrapped(nnrti_onnx *c, uint32_t x, int32_t i, int64_t before, int64_t behind)
{
    const uint32_t L = nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x, i));
    const uint32_t all = nnrti_onnx_add(c, L, nnrti_onnx_const_int(c, before + behind));
    uint32_t first = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MOD, NULL, nnrti_onnx_const_int(c, before), L);
    first = nnrti_onnx_add(c, nnrti_onnx_places_of(c, nnrti_onnx_size_value(all)), nnrti_onnx_sub(c, L, first));
    return nnrti_onnx_gather(c, x, nnrti_onnx_step2(c, NNRT_NODE_TYPE_MOD, NULL, first, L), i);
}

/* Pad with mode wrap. Negative pads cut off, before the rest is repeated. */
static void nnrti_onnx_pad_wrap(nnrti_onnx *c)
{
    uint32_t x = nnrti_onnx_in(c, 0);
    const int32_t rank = nnrti_onnx_rank(c, x);
    int64_t pads[2 * NNRT_MAX_RANK];
    nnrti_onnx_pads_of(c, rank, pads);
    (void)nnrti_onnx_pads_known(c, &x, rank);
    for (int32_t i = 0; i < rank && c->code == NNRT_SUCCESS; i++) {
        const int64_t before = pads[2 * i] > 0 ? pads[2 * i] : 0, behind = pads[2 * i + 1] > 0 ? pads[2 * i + 1] : 0;
        if (before + behind > 0 && nnrti_onnx_dim(c, x, i) == 0)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "mode is wrap, but axis %d of '%s' %o is empty", i,
                            nnrti_onnx_at(c, x)->name, nnrti_onnx_at(c, x));
        else if (before > INT32_MAX || behind > INT32_MAX)
            NNRTI_ONNX_FAIL(c, NNRT_OUT_OF_MEMORY, "pads %l and %l of axis %d: too many", before, behind, i);
        else if (before > 0 || behind > 0)
            x = nnrti_onnx_wrapped(c, x, i, before, behind);
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
    pads = c->opset >= 11 && pads != NNRT_NO_TENSOR && !nnrti_onnx_known(c, pads) ? nnrti_onnx_pads_told(c, rank)
                                                                                  : nnrti_onnx_pads_known(c, &x, rank);
    if (c->opset < 11 && nnrti_onnx_float(c, "value", 0) != 0)
        value = nnrti_onnx_like(c, x, (double)nnrti_onnx_float(c, "value", 0));
    if (pads != NNRT_NO_TENSOR && mode == 2)
        x = nnrti_onnx_step2(c, NNRT_NODE_TYPE_PAD_EDGE, NULL, x, pads);
    else if (pads != NNRT_NO_TENSOR)
        x = nnrti_onnx_step3(c, NNRT_NODE_TYPE_PAD_FUSION, &a, x, pads, mode == 0 ? value : NNRT_NO_TENSOR);
    nnrti_onnx_out(c, 0, x);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_reductions */

/* The axes of a reduction: an attribute, or an input, of ReduceSum from operator set 13, of the others from 18.
   NNRT_NO_TENSOR: all, or where *none is true no axis. */
static uint32_t nnrti_onnx_reduced_axes(nnrti_onnx *c, bool *none)
{
    const uint32_t list = nnrti_onnx_in(c, 1);
    const bool noop = nnrti_onnx_int(c, "noop_with_empty_axes", 0) != 0;
    int64_t axes[NNRT_MAX_RANK];
    uint32_t count = 0;
    *none = false;
    if (list != NNRT_NO_TENSOR && !nnrti_onnx_known(c, list) && (!noop || nnrti_onnx_told_entries(c, list) > 0))
        return list;
    if (nnrti_onnx_told_entries(c, list) == 0) { /* empty: nothing is told */
        *none = noop;
        return NNRT_NO_TENSOR;
    }
    (void)nnrti_onnx_param(c, "axes", 1, axes, NNRT_MAX_RANK, &count);
    *none = count == 0 && noop;
    return count > 0 ? nnrti_onnx_const_ints(c, axes, count) : NNRT_NO_TENSOR;
}

static uint32_t nnrti_onnx_reduced(nnrti_onnx *c, uint32_t x, NNRT_ReduceMode mode, uint32_t axes, bool keep);

/* Whether x has a dimension that is known to be 0: whatever the axes are, each element of a reduction is then one of an
   empty set, or there is none. */
static bool nnrti_onnx_is_empty(const nnrti_onnx *c, uint32_t x)
{
    bool empty = false;
    for (int32_t i = 0; i < nnrti_onnx_at(c, x)->rank; i++)
        empty = empty || nnrti_onnx_dim(c, x, i) == 0;
    return empty;
}

/* MAX (MIN) of an empty set is the least (greatest) value of the type; REDUCE_FUSION has none. It is made of the shape that
   a sum (ALL of bool) has. */
static uint32_t nnrti_onnx_extreme_of_none(nnrti_onnx *c, uint32_t x, NNRT_ReduceMode mode, uint32_t axes, bool keep)
{
    const bool least = mode == NNRT_REDUCE_MODE_MAX;
    const NNRT_DataType type = nnrti_onnx_type(c, x);
    uint32_t y;
    if (type == NNRT_DATA_TYPE_BOOL) {
        y = nnrti_onnx_reduced(c, x, NNRT_REDUCE_MODE_ALL, axes, keep);
        return least ? nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOGICAL_NOT, NULL, y) : y;
    }
    y = nnrti_onnx_reduced(c, x, NNRT_REDUCE_MODE_SUM, axes, keep);
    if (type >= NNRT_DATA_TYPE_FLOAT16)
        return nnrti_onnx_add(c, y, nnrti_onnx_like(c, y, least ? -(double)INFINITY : (double)INFINITY));
    if (type < NNRT_DATA_TYPE_UINT8)
        y = nnrti_onnx_add(c, y, nnrti_onnx_like(c, y, -(double)((uint64_t)1 << (8 * nnrt_type_size(type) - 1))));
    return least ? y : nnrti_onnx_step1(c, NNRT_NODE_TYPE_BITWISE_NOT, NULL, y);
}

/* axes NNRT_NO_TENSOR: all. */
static uint32_t nnrti_onnx_reduced(nnrti_onnx *c, uint32_t x, NNRT_ReduceMode mode, uint32_t axes, bool keep)
{
    NNRT_ReduceFusion a;
    if ((mode == NNRT_REDUCE_MODE_MAX || mode == NNRT_REDUCE_MODE_MIN) && nnrti_onnx_is_empty(c, x))
        return nnrti_onnx_extreme_of_none(c, x, mode, axes, keep);
    nnrti_onnx_defaults(NNRT_NODE_TYPE_REDUCE_FUSION, &a);
    a.mode = mode;
    a.keepDims = keep;
    if (axes == NNRT_NO_TENSOR)
        return nnrti_onnx_step1(c, NNRT_NODE_TYPE_REDUCE_FUSION, &a, x);
    return nnrti_onnx_step2(c, NNRT_NODE_TYPE_REDUCE_FUSION, &a, x, axes);
}

static void nnrti_onnx_op_reduce(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const bool keep = nnrti_onnx_int(c, "keepdims", 1) != 0;
    bool none;
    const uint32_t axes = nnrti_onnx_reduced_axes(c, &none);
    if (!keep && nnrti_onnx_told_entries(c, axes) > 0)
        nnrti_onnx_out(c, 0, nnrti_onnx_squeeze_told(c, nnrti_onnx_reduced(c, x, arg, axes, true), axes));
    else
        nnrti_onnx_out(c, 0, none ? x : nnrti_onnx_reduced(c, x, arg, axes, keep));
}

/* log(sum(exp(x))) over axes of float32 or float64 x, less *top, which stays with them: the largest element, but
   finite, so that infinities in x come through. */
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

/* float64, which LOG_SOFTMAX does not take, step by step. */
static uint32_t nnrti_onnx_log_softmax(nnrti_onnx *c, uint32_t x, int32_t axis)
{
    NNRT_LogSoftmax a;
    a.axis = axis;
    if (nnrti_onnx_is_a(c, x, NNRT_TYPES_F64)) {
        uint32_t top = NNRT_NO_TENSOR;
        const uint32_t log = nnrti_onnx_log_sum_exp(c, x, nnrti_onnx_const_int(c, axis), true, &top);
        return nnrti_onnx_sub(c, nnrti_onnx_sub(c, x, top), log);
    }
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

/* Softmax 0, LogSoftmax 1, Hardmax 2. Before operator set 13 all axes from `axis` on count as one. */
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

/* NegativeLogLikelihoodLoss 0; SoftmaxCrossEntropyLoss 1, which takes the logarithms of the softmax first. */
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

/* log of the sum (0), or of the sum of e^x (1). float16 is computed in float32, where the sum does not overflow. */
static void nnrti_onnx_op_reduce_log(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0);
    const NNRT_DataType type = nnrti_onnx_type(c, x);
    const NNRT_DataType wide = type == NNRT_DATA_TYPE_FLOAT16 ? (NNRT_DataType)NNRT_DATA_TYPE_FLOAT32 : type;
    const bool keep = nnrti_onnx_int(c, "keepdims", 1) != 0;
    bool none;
    uint32_t axes = nnrti_onnx_reduced_axes(c, &none), y, top = NNRT_NO_TENSOR;
    if (none) {
        nnrti_onnx_out(c, 0, x);
        return;
    }
    y = nnrti_onnx_cast(c, x, wide);
    if (arg == 0) {
        y = nnrti_onnx_reduced(c, y, NNRT_REDUCE_MODE_SUM, axes, keep);
        y = nnrti_onnx_step1(c, NNRT_NODE_TYPE_LOG, NULL, y);
    } else {
        y = nnrti_onnx_log_sum_exp(c, y, axes, keep, &top);
        y = nnrti_onnx_add(c, y, keep ? top : nnrti_onnx_reduced(c, top, NNRT_REDUCE_MODE_MAX, axes, false));
    }
    nnrti_onnx_out(c, 0, nnrti_onnx_cast(c, y, type));
}

/* arg: the node type. select_last_index: the first one from the other end. */
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
        x = nnrti_onnx_part(c, x, axis, -1, INT32_MIN, -1);
    y = arg == NNRT_NODE_TYPE_ARGMAX_FUSION ? nnrti_onnx_step_typed(c, arg, &most, x, NNRT_DATA_TYPE_INT64)
                                            : nnrti_onnx_step_typed(c, arg, &least, x, NNRT_DATA_TYPE_INT64);
    if (last) {
        const uint32_t n = nnrti_onnx_size_like(c, nnrti_onnx_size_of(c, x, axis), y);
        y = nnrti_onnx_sub(c, nnrti_onnx_sub(c, n, nnrti_onnx_like(c, y, 1)), y);
    }
    nnrti_onnx_out(c, 0, y);
}

/* K is an attribute before operator set 10. */
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

/* Lists of convolution and pooling as the runtime has them: height, width; top, bottom, left, right. One spatial axis
   counts as the width of images of height 1. */
typedef struct nnrti_onnx_window {
    int64_t kernel[2], stride[2], dilation[2], pads[4];
    NNRT_PadMode mode;
    bool lower;   /* SAME with the odd cell first */
    int32_t axes; /* spatial axes of the ONNX tensor: 1 or 2 */
} nnrti_onnx_window;

/* Entries of a list attribute into to[2], the last axis last. */
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
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s[%d] is %l, expected 0 and above", name, i, list.data[i]);
            return;
        }
    to[0] = axes == 2 ? list.data[0] : to[0];
    to[1] = list.data[axes - 1];
}

/* Reads the attributes that all windows have. kernel is what kernel_shape says, or 1: a weight knows better. */
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
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "kernel %l, stride %l, dilation %l: expected 1 and above",
                            w->kernel[i], w->stride[i], w->dilation[i]);
    if (pads.data == NULL || mode != 0)
        return;
    if (pads.count != 2 * n) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "pads has %z entries, expected %z", pads.count, 2 * n);
        return;
    }
    for (size_t i = 0; i < 2 * n; i++) {
        if (pads.data[i] < 0 || pads.data[i] > INT32_MAX)
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "pads[%z] is %l, expected 0 and above", i, pads.data[i]);
        w->pads[2 * (i % n) + (n == 1 ? 2 : 0) + i / n] = pads.data[i];
    }
}

/* An image of one spatial axis gets a height of 1, at axis 2. */
static uint32_t nnrti_onnx_image(nnrti_onnx *c, uint32_t x, const nnrti_onnx_window *w)
{
    return w->axes == 1 ? nnrti_onnx_unsqueeze(c, x, 2) : x;
}

static uint32_t nnrti_onnx_unimage(nnrti_onnx *c, uint32_t y, const nnrti_onnx_window *w)
{
    return w->axes == 1 ? nnrti_onnx_squeeze(c, y, 2) : y;
}

/* SAME_LOWER is not known to the runtime: explicit paddings, for which the extents of x [N,C,H,W] must be known. With a
   stride of 1 they do not depend on them. */
static void nnrti_onnx_same_lower(nnrti_onnx *c, uint32_t x, nnrti_onnx_window *w)
{
    if (!w->lower || c->code != NNRT_SUCCESS)
        return;
    for (int32_t i = 0; i < 2; i++) {
        const int64_t n = w->stride[i] == 1 ? 1 : nnrti_onnx_extent(c, x, 2 + i, "auto_pad SAME_LOWER"),
                      out = (n + w->stride[i] - 1) / w->stride[i];
        int64_t total = (out - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - n;
        total = total > 0 ? total : 0;
        w->pads[2 * i + 1] = total / 2;
        w->pads[2 * i] = total - total / 2;
    }
    w->mode = NNRT_PAD_MODE_PAD;
}

/* The window is as large as the weight [.,.,kH,kW], whatever kernel_shape says; w->kernel of an extent that is open is
   what kernel_shape says, or 0. */
static void nnrti_onnx_kernel_of(nnrti_onnx *c, uint32_t weight, nnrti_onnx_window *w)
{
    const bool told = nnrti_onnx_ints_of(c, "kernel_shape").data != NULL;
    if (nnrti_onnx_rank(c, weight) != 4)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "the weight has %d axes less than expected",
                        4 - nnrti_onnx_rank(c, weight));
    for (int32_t i = 0; i < 2; i++) {
        const int64_t k = nnrti_onnx_dim(c, weight, 2 + i);
        if (told && k >= 0 && w->kernel[i] != k)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "kernel_shape says %l, the weight %l", w->kernel[i], k);
        w->kernel[i] = k >= 0 ? k : told ? w->kernel[i] : 0;
    }
}

/* The window that a convolution is told, none where the weight has to tell it in the run. */
static uint32_t nnrti_onnx_kernel_count(const nnrti_onnx_window *w)
{
    return w->kernel[0] > 0 && w->kernel[1] > 0 ? 2 : 0;
}

/* A fault where the window, which paddings follow from, is only told in the run. */
static void nnrti_onnx_need_kernel(nnrti_onnx *c, uint32_t weight, const nnrti_onnx_window *w, const char *what)
{
    for (int32_t i = 0; i < 2 && nnrti_onnx_kernel_count(w) == 0; i++)
        (void)nnrti_onnx_extent(c, weight, 2 + i, what);
}

/* A fault where the channels of x are not as many as the weight, in the order of axes that the file has, takes. */
static void nnrti_onnx_check_channels(nnrti_onnx *c, uint32_t x, uint32_t weight)
{
    const nnrt_operand *o = nnrti_onnx_at(c, x), *w = nnrti_onnx_at(c, weight);
    const int64_t group = nnrti_onnx_int(c, "group", 1), have = nnrti_onnx_dim(c, x, 1);
    const int64_t want = nnrti_onnx_dim(c, weight, 1);
    if (c->code == NNRT_SUCCESS && have >= 0 && want >= 0 && (group < 1 || have % group != 0 || have / group != want))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE,
                        "W '%s' is %o, which takes %l channels in each of %l groups; X '%s' is %o, of %l channels",
                        w->name, w, want, group, o->name, o, have);
}

/* The extent of axis i, 0 where it is open: the runtime takes it from the tensor. */
static int64_t nnrti_onnx_known_dim(const nnrti_onnx *c, uint32_t v, int32_t i)
{
    const int64_t n = nnrti_onnx_dim(c, v, i);
    return n > 0 ? n : 0;
}

/* A list of numbers of the node, which lives as long as it is read. */
static NNRT_Int64List nnrti_onnx_numbers(nnrti_onnx *c, const char *name)
{
    const nnrt_onnx_ints list = nnrti_onnx_ints_of(c, name);
    return nnrt_int64_list(list.data, (uint32_t)list.count);
}

/* Row-major positions in x [N,C,L..] as storage_order has them: with 1 the first spatial axis is the fastest one. */
static uint32_t nnrti_onnx_stored(nnrti_onnx *c, uint32_t x, uint32_t positions)
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    uint32_t rest, inside, turned;
    if (nnrti_onnx_int(c, "storage_order", 0) == 0 || rank < 4 || c->code != NNRT_SUCCESS)
        return positions;
    rest = nnrti_onnx_div(c, positions, nnrti_onnx_size_like(c, nnrti_onnx_size_product(c, x, 2, rank), positions));
    turned = nnrti_onnx_mul(c, rest, nnrti_onnx_size_like(c, nnrti_onnx_size_product(c, x, 2, rank), positions));
    inside = nnrti_onnx_sub(c, positions, turned);
    for (int32_t i = rank - 1; i >= 2; i--) { /* inside: the position among axes 2 to i */
        const uint32_t L = nnrti_onnx_size_like(c, nnrti_onnx_size_of(c, x, i), positions);
        const uint32_t step = nnrti_onnx_size_like(c, nnrti_onnx_size_product(c, x, 2, i), positions);
        rest = nnrti_onnx_div(c, inside, L);
        inside = nnrti_onnx_sub(c, inside, nnrti_onnx_mul(c, rest, L));
        turned = nnrti_onnx_add(c, turned, nnrti_onnx_mul(c, inside, step));
        inside = rest;
    }
    return turned;
}

/* Windows over three spatial axes and dilated ones of pooling, which have operators of their own, with the order of axes
   and the attributes of ONNX. The largest of 8-bit integers is taken as float32, which holds them exactly. */
static void nnrti_onnx_volume(nnrti_onnx *c, NNRT_NodeType type)
{
    static const NNRT_DataType types[2] = {NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_INT64};
    const NNRT_Int64List kernel = nnrti_onnx_numbers(c, "kernel_shape"), strides = nnrti_onnx_numbers(c, "strides"),
                         dilations = nnrti_onnx_numbers(c, "dilations"), pads = nnrti_onnx_numbers(c, "pads");
    const NNRT_AutoPad mode = nnrti_onnx_choice(c, "auto_pad", "NOTSET|SAME_UPPER|SAME_LOWER|VALID");
    const uint32_t given = nnrti_onnx_in(c, 0), w = nnrti_onnx_in(c, 1), b = nnrti_onnx_in(c, 2);
    const bool pool = type == NNRT_NODE_TYPE_MAX_POOL_3D && nnrti_onnx_wants(c, 1);
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
        nnrti_onnx_out(c, 1, nnrti_onnx_stored(c, x, out[1]));
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

/* In which extents indices count beside an output_shape, its own (ONNX Runtime) or those that the windows reach (ONNX's
   test), the operator tells by the windows. */
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

/* Whether the node's windows lie in volumes, or are those of pooling and dilated; the node is then done. */
static bool nnrti_onnx_is_volume(nnrti_onnx *c, NNRT_NodeType type)
{
    const nnrt_onnx_ints dilations = nnrti_onnx_ints_of(c, "dilations");
    bool volume = nnrti_onnx_rank(c, nnrti_onnx_in(c, 0)) == 5;
    if (type == NNRT_NODE_TYPE_MAX_POOL_3D || type == NNRT_NODE_TYPE_AVERAGE_POOL_3D)
        for (size_t i = 0; i < dilations.count; i++)
            volume = volume || dilations.data[i] != 1;
    if (volume)
        nnrti_onnx_volume(c, type);
    return volume;
}

/* The convolution of an image, in[0], and a weight, in[1], with further inputs of the operator. q: parameters of the
   result, which has the type of in[0] then; NULL: none. */
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

static void nnrti_onnx_op_conv(nnrti_onnx *c, int32_t arg)
{
    uint32_t in[3];
    (void)arg;
    if (nnrti_onnx_is_volume(c, NNRT_NODE_TYPE_CONV_3D))
        return;
    for (uint32_t i = 0; i < 3; i++)
        in[i] = nnrti_onnx_in(c, i);
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

/* Inputs x, w and y, the first two with scale and zero point behind them, y by these alone, and the bias: a quantized
   convolution, or one of integers whose sum is scaled in float32. */
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
    nnrti_onnx_out_sum(c, sum, nnrti_onnx_along(c, sum, nnrti_onnx_in(c, 1)),
                       nnrti_onnx_along(c, sum, nnrti_onnx_in(c, 4)), nnrti_onnx_along(c, sum, nnrti_onnx_in(c, 6)),
                       nnrti_onnx_along(c, sum, nnrti_onnx_in(c, 7)));
}

/* Weights [Ci,Co/g,kH,kW] become [Co,kH,kW,Ci/g], group by group. */
static uint32_t nnrti_onnx_transposed_weight(nnrti_onnx *c, uint32_t weight, int64_t group)
{
    static const int64_t whole[] = {1, 2, 3, 0}, grouped[] = {0, 2, 3, 4, 1};
    nnrti_onnx_size sizes[NNRT_MAX_RANK], parts[5];
    if (nnrti_onnx_sizes_of(c, weight, sizes) != 4 || group == 1)
        return nnrti_onnx_transpose(c, weight, whole, 4);
    if (group < 1 || (sizes[0].known >= 0 && sizes[0].known % group != 0)) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "group %l does not divide the %l input channels", group,
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

/* Paddings of ConvTranspose from output_shape, or from auto_pad, which makes the result L * stride. extra:
   output_padding. The odd cell goes last with SAME_UPPER, else first. A result larger than what the kernel reaches has
   more at the end. SAME_UPPER of a window that the weight tells in the run is the runtime's SAME, without extra. */
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
        const int64_t n = shaped ? nnrti_onnx_extent(c, x, 2 + i, "output_shape") : 1;
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

/* True when output_shape is given, but not all that the paddings then follow from is known. */
static bool nnrti_onnx_is_cropped(nnrti_onnx *c, uint32_t x, const nnrti_onnx_window *w)
{
    return nnrti_onnx_ints_of(c, "output_shape").data != NULL &&
           (nnrti_onnx_kernel_count(w) == 0 || nnrti_onnx_dim(c, x, 2) < 0 || nnrti_onnx_dim(c, x, 3) < 0);
}

/* The first place of output_shape's part along image axis i in all that a transposed convolution reaches: the padding at
   the begin, as nnrti_onnx_transposed_pads has it. int64[1]. */
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
    total = nnrti_onnx_larger(c, total, nnrti_onnx_const_int(c, 0));
    half = nnrti_onnx_div(c, total, nnrti_onnx_const_int(c, 2));
    return upper ? half : nnrti_onnx_sub(c, total, half);
}

/* A window that reaches all that there can be, of which output_shape's part then begins at begin. */
static void nnrti_onnx_uncropped(nnrti_onnx *c, uint32_t x, uint32_t weight, nnrti_onnx_window *w, int64_t extra[2],
                                 uint32_t begin[2])
{
    int64_t want[2] = {1, 1};
    nnrti_onnx_window_list(c, "output_shape", w->axes, want);
    if (want[0] < 1 || want[1] < 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "output_shape asks for %l x %l, expected 1 and above", want[0], want[1]);
    for (int32_t i = 0; i < 2; i++) {
        begin[i] = nnrti_onnx_crop_begin(c, x, weight, w, i, extra[i], want[i]);
        extra[i] = (w->stride[i] > w->dilation[i] ? w->stride[i] : w->dilation[i]) - 1; /* the most that is taken */
    }
    memset(w->pads, 0, sizeof(w->pads));
    w->mode = NNRT_PAD_MODE_PAD;
}

/* The part of y [N,C,H,W] that output_shape asks for, from begin on: one that y does not have is refused in the run. */
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
    if (nnrti_onnx_is_volume(c, NNRT_NODE_TYPE_CONV_TRANSPOSE_3D))
        return;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &a);
    nnrti_onnx_window_of(c, given, &w);
    x = nnrti_onnx_image(c, given, &w);
    weight = nnrti_onnx_image(c, nnrti_onnx_in(c, 1), &w);
    nnrti_onnx_kernel_of(c, weight, &w);
    nnrti_onnx_window_list(c, "output_padding", w.axes, extra);
    cropped = nnrti_onnx_is_cropped(c, x, &w);
    if (cropped)
        nnrti_onnx_uncropped(c, x, weight, &w, extra, begin);
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

/* How windows are counted with ceil_mode. A last one that would begin behind the data is dropped: less padding at the
   end, of cells that no window reads, leaves it out. Where there is not as much, windows are counted by floor, and the
   other axis gets the padding that its last window reaches; `counted`: padding counts, and must not get more. Along an
   axis whose extent is open the runtime keeps all windows and refuses one that has no cell. */
static NNRT_RoundMode nnrti_onnx_rounding(nnrti_onnx *c, uint32_t x, nnrti_onnx_window *w, bool counted)
{
    int64_t least[2] = {0, 0}; /* paddings at the end that end with the last window */
    bool gap = false;
    if (nnrti_onnx_int(c, "ceil_mode", 0) == 0 || w->mode == NNRT_PAD_MODE_SAME || c->code != NNRT_SUCCESS)
        return NNRT_ROUND_MODE_FLOOR;
    w->mode = NNRT_PAD_MODE_PAD;
    for (int32_t i = 0; i < 2; i++) {
        const int64_t n = nnrti_onnx_dim(c, x, 2 + i), s = w->stride[i], cells = n + w->pads[2 * i];
        int64_t begin = cells + w->pads[2 * i + 1] - w->kernel[i]; /* of the last window, were it to fit */
        least[i] = w->pads[2 * i + 1];
        if (n < 0 || begin <= 0 || cells < 1)
            continue; /* where not even one window begins, the runtime says so */
        begin = (begin + s - 1) / s * s;
        least[i] = begin + w->kernel[i] - cells;
        if (begin < cells)
            continue;
        least[i] -= s;
        w->pads[2 * i + 1] = least[i] > 0 ? least[i] : 0;
        gap = gap || least[i] < 0;
    }
    for (int32_t i = 0; i < 2 && gap; i++) {
        (void)nnrti_onnx_extent(c, x, 2 + i, "ceil_mode");
        if (counted && least[i] > w->pads[2 * i + 1])
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                            "ceil_mode drops a window of one axis and keeps one of the other, with count_include_pad");
        w->pads[2 * i + 1] = least[i] > 0 ? least[i] : 0;
    }
    return gap ? NNRT_ROUND_MODE_FLOOR : NNRT_ROUND_MODE_CEIL;
}

/* Padding counts as cells only with count_include_pad. */
static void nnrti_onnx_op_average_pool(nnrti_onnx *c, int32_t arg)
{
    const uint32_t given = nnrti_onnx_in(c, 0);
    const bool counted = nnrti_onnx_int(c, "count_include_pad", 0) != 0;
    NNRT_AvgPoolFusion a;
    nnrti_onnx_window w;
    uint32_t x, y;
    (void)arg;
    if (nnrti_onnx_is_volume(c, NNRT_NODE_TYPE_AVERAGE_POOL_3D))
        return;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_AVGPOOL_FUSION, &a);
    nnrti_onnx_window_of(c, given, &w);
    x = nnrti_onnx_image(c, given, &w);
    nnrti_onnx_same_lower(c, x, &w);
    a.roundMode = nnrti_onnx_rounding(c, x, &w, counted);
    a.kernelSize = nnrt_int64_list(w.kernel, 2);
    a.strides = nnrt_int64_list(w.stride, 2);
    a.padMode = w.mode;
    a.pad = nnrt_int64_list(w.pads, w.mode == NNRT_PAD_MODE_PAD ? 4 : 0);
    y = nnrti_onnx_step1(c, counted ? NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD : NNRT_NODE_TYPE_AVGPOOL_FUSION, &a, x);
    nnrti_onnx_out(c, 0, nnrti_onnx_unimage(c, y, &w));
}

/* Positions h*W + w in the plane of x [N,C,H,W], as the runtime gives them, become ONNX's positions in the whole
   tensor. */
static uint32_t nnrti_onnx_positions(nnrti_onnx *c, uint32_t x, uint32_t plane)
{
    nnrti_onnx_size own[NNRT_MAX_RANK], images, area;
    uint32_t base;
    if (nnrti_onnx_sizes_of(c, x, own) != 4)
        return plane;
    images = nnrti_onnx_size_product(c, x, 0, 2);
    area = nnrti_onnx_size_product(c, x, 2, 4);
    base = nnrti_onnx_places_of(c, images);
    base = nnrti_onnx_mul(c, base, nnrti_onnx_size_ints(c, area));
    own[2] = own[3] = nnrti_onnx_size_known(1);
    return nnrti_onnx_stored(c, x, nnrti_onnx_add(c, plane, nnrti_onnx_reshape_to(c, base, own, 4)));
}

/* 8-bit integers are pooled as float32, which holds them exactly. */
static void nnrti_onnx_op_max_pool(nnrti_onnx *c, int32_t arg)
{
    static const NNRT_DataType types[2] = {NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_INT64};
    const uint32_t given = nnrti_onnx_in(c, 0), nOut = nnrti_onnx_wants(c, 1) ? 2 : 1;
    const NNRT_DataType type = nnrti_onnx_type(c, given);
    uint32_t x = given, out[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_MaxPoolFusion a;
    nnrti_onnx_window w;
    (void)arg;
    if (nnrti_onnx_is_volume(c, NNRT_NODE_TYPE_MAX_POOL_3D))
        return;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_MAX_POOL_FUSION, &a);
    nnrti_onnx_window_of(c, given, &w);
    if (type == NNRT_DATA_TYPE_INT8 || type == NNRT_DATA_TYPE_UINT8)
        x = nnrti_onnx_cast(c, x, NNRT_DATA_TYPE_FLOAT32);
    x = nnrti_onnx_image(c, x, &w);
    nnrti_onnx_same_lower(c, x, &w);
    a.roundMode = nnrti_onnx_rounding(c, x, &w, false);
    a.kernelSize = nnrt_int64_list(w.kernel, 2);
    a.strides = nnrt_int64_list(w.stride, 2);
    a.padMode = w.mode;
    a.pad = nnrt_int64_list(w.pads, w.mode == NNRT_PAD_MODE_PAD ? 4 : 0);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_MAX_POOL_FUSION, &a, &x, 1, out, nOut, types);
    if (nOut == 2)
        nnrti_onnx_out(c, 1, nnrti_onnx_unimage(c, nnrti_onnx_positions(c, x, out[1]), &w));
    nnrti_onnx_out(c, 0, nnrti_onnx_unimage(c, nnrti_onnx_cast(c, out[0], type), &w));
}

/* arg: MEAN or MAX over all axes behind the channels. Images have an operator of their own. */
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
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input has %d axes, expected 2 and more", rank);
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

/* Coordinates are shifted by half a pixel from operator set 16 on, unless the node says otherwise. */
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
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "spatial_scale is 0");
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

/* What Resize and Upsample work on. */
typedef struct nnrti_onnx_resize {
    float scales[4];          /* of [N,C,H,W]; all 0: sizes count */
    nnrti_onnx_size sizes[4]; /* likewise */
    bool sized;
} nnrti_onnx_resize;

/* place[k] = axis of x that entry k of scales or sizes is for: all in order, or those of the attribute axes (operator
   set 18). Returns how many entries there are. */
static int32_t nnrti_onnx_resize_axes(nnrti_onnx *c, int32_t rank, int32_t place[4])
{
    const nnrt_onnx_ints axes = nnrti_onnx_ints_of(c, "axes");
    uint32_t seen = 0;
    for (int32_t i = 0; i < 4; i++)
        place[i] = i;
    if (axes.data == NULL)
        return rank;
    if (axes.count > (size_t)rank) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "axes has %z entries, the input %d axes", axes.count, rank);
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

/* Takes scales (float32) or sizes for the axes of x, which become those of an image [1.., H, W] of four axes. */
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

/* True when a size is the open extent of axis i of x. */
static bool nnrti_onnx_is_extent(const nnrti_onnx *c, nnrti_onnx_size s, uint32_t x, int32_t i)
{
    const nnrt_operand *o = nnrti_onnx_at(c, s.value);
    return s.known < 0 && o->open != NULL && o->open[0] == nnrti_onnx_at(c, x)->symbols[i];
}

/* Whether RESIZE does what the node wants of x [N,C,H,W]: it is given constants or extents and resizes the last two axes.
   An extent of 1 it puts at 0, as only pytorch_half_pixel does, and align_corners is that of the whole extent, where ONNX
   divides by L*scale - 1. */
static bool nnrti_onnx_resize_plain(nnrti_onnx *c, uint32_t x, const nnrti_onnx_resize *r, NNRT_ResizeCoordinates mode)
{
    for (int32_t i = 0; i < 4 && c->code == NNRT_SUCCESS; i++) {
        const int64_t n = nnrti_onnx_dim(c, x, i), size = r->sizes[i].known;
        const float product = (float)n * r->scales[i];
        if (i < 2 &&
            (r->sized ? !nnrti_onnx_is_extent(c, r->sizes[i], x, i) && (n < 0 || n != size) : r->scales[i] != 1))
            return false;
        if (i < 2)
            continue;
        if (r->sized && size < 0 && nnrti_onnx_at(c, r->sizes[i].value)->data == NULL) /* a run tells it */
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

/* Scales of Upsample before operator set 9: one attribute, or one for each axis. NNRT_NO_TENSOR after a fault. */
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

/* Input i, NNRT_NO_TENSOR where it is empty, too. */
static uint32_t nnrti_onnx_filled(nnrti_onnx *c, uint32_t i)
{
    const uint32_t v = nnrti_onnx_in(c, i);
    return v != NNRT_NO_TENSOR && nnrti_onnx_at(c, v)->rank == 1 && nnrti_onnx_dim(c, v, 0) == 0 ? NNRT_NO_TENSOR : v;
}

/* The attributes of Resize; before operator set 11 there are no modes: from the corner, and the nearest cell is the one
   before (Upsample), or where x becomes smaller the one behind. */
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
    if (!nnrti_onnx_known(c, scales) || o->dataType != NNRT_DATA_TYPE_FLOAT32 || o->rank != 1) {
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
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "one scale is below 1 and one above");
}

/* RESIZE_ND, with ONNX's own attributes. */
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

/* Resize 0: inputs x, scales (operator set 10) or x, roi, scales, sizes; Upsample 1: x, scales. RESIZE where it does the
   same: one spatial axis gets a height of 1; integers of 8 and 16 bits go through float32: nearest copies them, linear
   rounds toward zero, as ONNX Runtime does. */
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
    if (arg == 1 && !nnrti_onnx_known(c, scales) && c->code == NNRT_SUCCESS)
        nnrti_onnx_assert(c, nnrti_onnx_less_equal(c, nnrti_onnx_like(c, scales, 1), scales), scales);
    if (n.mode == NNRT_RESIZE_METHOD_LINEAR && nnrti_onnx_is_a(c, given, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16))
        given = nnrti_onnx_cast(c, given, NNRT_DATA_TYPE_FLOAT32);
    x = given;
    exact = n.mode == NNRT_RESIZE_METHOD_NEAREST &&
            nnrti_onnx_is_a(c, given, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16);
    plain = (exact || nnrti_onnx_is_a(c, given, NNRT_TYPES_FLOAT)) && rank >= 2 && rank <= 4 && n.antialias == 0 &&
            n.keepAspectRatioPolicy == NNRT_ASPECT_RATIO_POLICY_STRETCH &&
            !(n.mode == NNRT_RESIZE_METHOD_CUBIC && n.cubicCoeffA == 0) && /* which to RESIZE is none given */
            n.coordinateTransformationMode != NNRT_RESIZE_COORDINATES_HALF_PIXEL_SYMMETRIC &&
            n.coordinateTransformationMode < NNRT_RESIZE_COORDINATES_TF_HALF_PIXEL_FOR_NN &&
            (sizes != NNRT_NO_TENSOR ? nnrti_onnx_told_entries(c, sizes) < 0
                                     : scales != NNRT_NO_TENSOR && nnrti_onnx_known(c, scales));
    if (plain && c->code == NNRT_SUCCESS) {
        nnrti_onnx_resize_of(c, x, scales, sizes, rank, &r);
        for (int32_t i = rank; i < 4; i++) /* [W] in front of it [H=1], [C=1], [N=1] */
            x = nnrti_onnx_unsqueeze(c, x, rank == 3 ? 2 : 0);
        if (rank == 3) { /* the axes behind the channels, where there is only one */
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
    (void)arg;
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, NULL, x, y));
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

/* A parameter of the rows of matrices, or of all: [M] becomes [M,1], one element a scalar. */
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

/* Inputs a and b with scale and zero point behind each, scale and zero point of y: a quantized product, or one of integers
   that is scaled in float32. */
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
        nnrti_onnx_out_integers(
            c, nnrti_onnx_step_quantized(c, NNRT_NODE_TYPE_MATMUL_FUSION, NULL, in, 2, q.type, &q.y));
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

/* True when v is [n] or [1,n]: a bias of n outputs. */
static bool nnrti_onnx_is_bias(nnrti_onnx *c, uint32_t v, int32_t n)
{
    const int32_t rank = nnrti_onnx_rank(c, v);
    return n >= 0 && rank >= 1 && rank <= 2 && nnrti_onnx_dim(c, v, rank - 1) == n &&
           (rank == 1 || nnrti_onnx_dim(c, v, 0) == 1);
}

/* A vector bias where its length or the number of outputs is open: an entry for each output, or one for all. */
static uint32_t nnrti_onnx_open_bias(nnrti_onnx *c, uint32_t v, nnrti_onnx_size outputs)
{
    const int64_t n = nnrti_onnx_dim(c, v, 0);
    if (n == 1 || n < 0)
        return nnrti_onnx_spread(c, v, nnrti_onnx_size_ints(c, outputs));
    return v;
}

/* alpha*A*B + beta*C: FULL_CONNECTION in the form that networks have, else a product, scaled, and a sum. */
static void nnrti_onnx_op_gemm(nnrti_onnx *c, int32_t arg)
{
    static const int64_t swap[] = {1, 0};
    const float alpha = nnrti_onnx_float(c, "alpha", 1), beta = nnrti_onnx_float(c, "beta", 1);
    const bool transA = nnrti_onnx_int(c, "transA", 0) != 0, transB = nnrti_onnx_int(c, "transB", 0) != 0;
    const uint32_t x = nnrti_onnx_in(c, 0), w = nnrti_onnx_in(c, 1), bias = nnrti_onnx_in(c, 2);
    const int32_t outputs = nnrti_onnx_dim(c, w, transB ? 0 : 1);
    const bool open = outputs < 0 || (bias != NNRT_NO_TENSOR && !nnrti_onnx_closed(c, bias));
    const bool vector = open && bias != NNRT_NO_TENSOR && nnrti_onnx_rank(c, bias) == 1;
    const bool plain = bias == NNRT_NO_TENSOR || (beta == 1 && (vector || nnrti_onnx_is_bias(c, bias, outputs)));
    uint32_t y;
    (void)arg;
    if (nnrti_onnx_rank(c, x) != 2 || nnrti_onnx_rank(c, w) != 2)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "A has %d axes and B %d, expected 2", nnrti_onnx_rank(c, x),
                        nnrti_onnx_rank(c, w));
    if (plain && alpha == 1 && !transA) {
        const int64_t n = outputs;
        const uint32_t weight = transB ? w : nnrti_onnx_transpose(c, w, swap, 2);
        uint32_t b = NNRT_NO_TENSOR;
        NNRT_FullConnection a;
        nnrti_onnx_defaults(NNRT_NODE_TYPE_FULL_CONNECTION, &a);
        a.hasBias = bias != NNRT_NO_TENSOR;
        if (a.hasBias)
            b = vector ? nnrti_onnx_open_bias(c, bias, nnrti_onnx_size_of(c, weight, 0))
                       : nnrti_onnx_reshape(c, bias, &n, 1);
        nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_FULL_CONNECTION, &a, x, weight, b));
    } else {
        NNRT_MatMulFusion a;
        nnrti_onnx_defaults(NNRT_NODE_TYPE_MATMUL_FUSION, &a);
        a.transposeA = transA;
        a.transposeB = transB;
        y = nnrti_onnx_step2(c, NNRT_NODE_TYPE_MATMUL_FUSION, &a, x, w);
        if (alpha != 1)
            y = nnrti_onnx_mul(c, y, nnrti_onnx_like(c, y, (double)alpha));
        if (bias != NNRT_NO_TENSOR && beta != 0)
            y = nnrti_onnx_add(c, y,
                               beta == 1 ? bias : nnrti_onnx_mul(c, bias, nnrti_onnx_like(c, bias, (double)beta)));
        nnrti_onnx_out(c, 0, y);
    }
}

static void nnrti_onnx_op_affine_grid(nnrti_onnx *c, int32_t arg)
{
    NNRT_AffineGrid a;
    (void)arg;
    a.alignCorners = nnrti_onnx_int(c, "align_corners", 0);
    nnrti_onnx_out(c, 0, nnrti_onnx_step2(c, NNRT_NODE_TYPE_AFFINE_GRID, &a, nnrti_onnx_in(c, 0), nnrti_onnx_in(c, 1)));
}

/* A list attribute as the runtime has it; nothing where there is none. */
static NNRT_Int64List nnrti_onnx_list_of(nnrti_onnx *c, const char *name)
{
    const nnrt_onnx_ints list = nnrti_onnx_ints_of(c, name);
    if (list.count > NNRT_MAX_RANK * 2)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s has %z entries, expected %d at most", name, list.count,
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
/* >>onnx_normalisation */

/* Statistics of the batch, mean and variance [C], in the place of in[3] and in[4], which they are mixed with to be outputs
   1 and 2. */
static void nnrti_onnx_batch_statistics(nnrti_onnx *c, uint32_t in[5])
{
    static const int64_t axes[] = {0, 2, 3, 4, 5, 6, 7};
    const uint32_t x = in[0], count = (uint32_t)nnrti_onnx_rank(c, x) - 1;
    const double momentum = (double)nnrti_onnx_float(c, "momentum", 0.9f);
    if (count < 1 || count > sizeof(axes) / sizeof(axes[0])) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 2 axes or more", nnrti_onnx_at(c, x)->name,
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
        if (nnrti_onnx_wants(c, 1 + i))
            nnrti_onnx_out(c, 1 + i,
                           nnrti_onnx_add(c, old, nnrti_onnx_mul(c, now, nnrti_onnx_like(c, now, 1 - momentum))));
        in[3 + i] = now;
    }
}

/* In training, which ONNX has as a mode from operator set 14 on, by the statistics of the batch itself. */
static void nnrti_onnx_op_batch_norm(nnrti_onnx *c, int32_t arg)
{
    const bool training = c->opset >= 14 && nnrti_onnx_int(c, "training_mode", 0) != 0;
    NNRT_FusedBatchNorm a;
    uint32_t in[5], y = NNRT_NO_TENSOR;
    (void)arg;
    a.epsilon = nnrti_onnx_float(c, "epsilon", 1e-5f);
    if (!training && nnrti_onnx_wants(c, 1))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "output 1, of training before operator set 14, is not supported");
    if (nnrti_onnx_int(c, "spatial", 1) == 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "statistics for every element (spatial 0) are not supported");
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

/* x normalised over its axes from `axis` on, then scale and offset of those axes; NNRT_NO_TENSOR: neither. */
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

/* INSTANCE_NORM has no epsilon of 0. */
static void nnrti_onnx_op_instance_norm(nnrti_onnx *c, int32_t arg)
{
    const uint32_t x = nnrti_onnx_in(c, 0), scale = nnrti_onnx_in(c, 1), offset = nnrti_onnx_in(c, 2);
    NNRT_InstanceNorm a;
    (void)arg;
    a.epsilon = nnrti_onnx_float(c, "epsilon", 1e-5f);
    if (a.epsilon == 0)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "epsilon is 0, which is not supported");
    nnrti_onnx_out(c, 0, nnrti_onnx_step3(c, NNRT_NODE_TYPE_INSTANCE_NORM, &a, x, scale, offset));
}

/* v, a number for each of so many groups of channels of x, as one for each channel. */
static uint32_t nnrti_onnx_by_channel(nnrti_onnx *c, uint32_t x, uint32_t v, int64_t groups)
{
    nnrti_onnx_size sizes[2];
    int64_t column[2] = {1, 1}, line = -1;
    NNRT_BroadcastTo a;
    nnrti_onnx_defaults(NNRT_NODE_TYPE_BROADCAST_TO, &a);
    if (groups < 1 || groups > INT32_MAX || nnrti_onnx_rank(c, x) < 2) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "num_groups is %l, and '%s' is %o", groups,
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

/* scale and offset have a number for each group before operator set 21, from then on for each channel. */
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

/* x / norm. The least float that there is, added to the norm, changes none but those that are about as small, and makes
   zeros of zeros. */
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

/* True when v has just the extents that x has from `axis` on. */
static bool nnrti_onnx_ends_with(nnrti_onnx *c, uint32_t x, int32_t axis, uint32_t v)
{
    const int32_t rank = nnrti_onnx_rank(c, x);
    bool same = nnrti_onnx_rank(c, v) == rank - axis;
    for (int32_t i = axis; i < rank && same; i++)
        same = nnrti_onnx_dim(c, x, i) >= 0 && nnrti_onnx_dim(c, x, i) == nnrti_onnx_dim(c, v, i - axis);
    return same;
}

/* Mean and 1/sqrt(variance + epsilon) are computed apart when somebody wants them. */
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
    if (nnrti_onnx_wants(c, 1) || nnrti_onnx_wants(c, 2)) {
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

/* stash_type says in which type float16 is normalised: float32, as here always. */
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

/* A window of 2^31 keys and more sees all that there can be. */
static int64_t nnrti_onnx_window_size(nnrti_onnx *c, const char *name)
{
    const int64_t size = nnrti_onnx_int(c, name, -1);
    return size < INT32_MAX ? size : INT32_MAX;
}

/* As ONNX 1.23 defines it for all sets: the cap stands before the mask (set 23 had it behind), and a query that sees no key
   gives zeros. */
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
        nOut = nnrti_onnx_wants(c, i) ? i + 1 : nOut;
    a.isCausal = nnrti_onnx_int(c, "is_causal", 0);
    a.kvNumHeads = nnrti_onnx_int(c, "kv_num_heads", 0);
    a.qNumHeads = nnrti_onnx_int(c, "q_num_heads", 0);
    a.qkMatmulOutputMode = nOut == 4 ? nnrti_onnx_int(c, "qk_matmul_output_mode", 0) : 0;
    a.scale = nnrti_onnx_float(c, "scale", 0);
    a.softcap = nnrti_onnx_float(c, "softcap", 0);
    a.leftWindowSize = nnrti_onnx_window_size(c, "left_window_size");
    a.rightWindowSize = nnrti_onnx_window_size(c, "right_window_size");
    if (precision != NNRT_ONNX_FLOAT)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "softmax_precision is %l, expected 1 (float)", precision);
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

/* (x - mean) / (sqrt(variance) + 1e-9) over axes, by default all but the channels. */
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

/* x / (bias + alpha/size * sum of x^2 over `size` neighbouring channels)^beta: LRN, of images. Other tensors count as
   images of width 1. */
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
    if (rank < 2 || size < 1 || size > INT32_MAX || size % 2 == 0) {
        NNRTI_ONNX_FAIL(c, size > 0 && size % 2 == 0 ? NNRT_UNSUPPORTED_OP : NNRT_INVALID_PARAMETER,
                        "size %l of %d axes, expected an odd one and 2 axes and more", size, rank);
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

/* The activations of a node, and for each the parameters of HardSigmoid. */
typedef struct nnrti_onnx_gates {
    NNRT_Int64List activations;
    NNRT_FloatList alpha, beta; /* empty where no activation has parameters */
    int64_t types[6];
    float alphas[6], betas[6];
} nnrti_onnx_gates;

/* The next entry of a list that activations with parameters share in their order; where it ends, their default. */
static float nnrti_onnx_gate_parameter(nnrti_onnx *c, const char *name, size_t at, float initial)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_FLOATS);
    return a != NULL && at < a->floats.count ? a->floats.data[at] : initial;
}

/* Activations, `most` at most, which is no more than 6. Of those with parameters only HardSigmoid is supported. */
static void nnrti_onnx_activations(nnrti_onnx *c, nnrti_onnx_gates *g, size_t most)
{
    static const struct {
        const char *name;
        NNRT_ActivationType type;
    } known[] = {{"Relu", NNRT_ACTIVATION_TYPE_RELU},         {"Sigmoid", NNRT_ACTIVATION_TYPE_SIGMOID},
                 {"Softplus", NNRT_ACTIVATION_TYPE_SOFTPLUS}, {"Softsign", NNRT_ACTIVATION_TYPE_SOFTSIGN},
                 {"Tanh", NNRT_ACTIVATION_TYPE_TANH},         {"HardSigmoid", NNRT_ACTIVATION_TYPE_HSIGMOID}};
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, "activations", NNRT_ONNX_ATTRIBUTE_STRINGS);
    const size_t count = a != NULL ? a->strings.count : 0;
    size_t hard = 0;
    char text[64];
    memset(g, 0, sizeof(*g));
    if (count > most)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "activations has %z entries, expected %z at most", count, most);
    for (size_t i = 0; i < count && c->code == NNRT_SUCCESS; i++) {
        size_t k = 0;
        while (k < 6 && !nnrti_onnx_is(a->strings.data[i], known[k].name))
            k++;
        if (k == 6) {
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP,
                            "activations[%z] is '%s', expected Relu, Sigmoid, Softplus, Softsign, Tanh or HardSigmoid",
                            i, nnrti_onnx_text(text, a->strings.data[i]));
            return;
        }
        g->types[i] = known[k].type;
        g->alphas[i] = k == 5 ? nnrti_onnx_gate_parameter(c, "activation_alpha", hard, 0.2f) : 0;
        g->betas[i] = k == 5 ? nnrti_onnx_gate_parameter(c, "activation_beta", hard, 0.5f) : 0;
        hard += k == 5 ? 1 : 0;
    }
    if (c->code != NNRT_SUCCESS)
        return;
    g->activations = nnrt_int64_list(g->types, (uint32_t)count);
    g->alpha = nnrt_float_list(g->alphas, hard > 0 ? (uint32_t)count : 0);
    g->beta = nnrt_float_list(g->betas, hard > 0 ? (uint32_t)count : 0);
}

/* arg: the node type. */
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

/* Whether an LSTM is the plain cell, sigmoid and tanh without clip and peepholes, whose sequences all have the length of x and
   whose features are known. */
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
    plain = plain && steps >= 0 && nnrti_onnx_known(c, lengths) && o->rank == 1 &&
            (o->dataType == NNRT_DATA_TYPE_INT32 || o->dataType == NNRT_DATA_TYPE_INT64);
    for (int32_t i = 0; plain && i < o->dims[0]; i++)
        plain = nnrti_value(o, (size_t)i) == steps;
    return plain;
}

/* LSTM_PEEPHOLE, with ONNX's own attributes and order of axes. ONNX clips the input of every activation; ONNX Runtime
   leaves out that of the cell state. */
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

/* LSTM has X [T,N,I], Y [T,N,D*H]; states [D,N,H]. With layout 1 ONNX has the batch first in all of them, and D is an axis
   of Y. Backward alone, steps are turned around. */
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
    split[3] = nnrti_onnx_extent(c, weight, 2, "an LSTM");
    if (batchFirst)
        in[0] = nnrti_onnx_transpose(c, in[0], swap, 3);
    if (direction == 1)
        in[0] = nnrti_onnx_part(c, in[0], 0, -1, INT32_MIN, -1);
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
    y = nnrti_onnx_reshape(c, out[0], split, 4);
    if (direction == 1)
        y = nnrti_onnx_part(c, y, 0, -1, INT32_MIN, -1);
    nnrti_onnx_out(c, 0, nnrti_onnx_transpose(c, y, orders[batchFirst ? 1 : 0], 4));
    for (uint32_t i = 1; i < 3; i++)
        nnrti_onnx_out(c, i, batchFirst ? nnrti_onnx_transpose(c, out[i], swap, 3) : out[i]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_signals */

/* arg: which window. */
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

/* Attribute dtype, or initial where there is none. */
static NNRT_DataType nnrti_onnx_dtype(nnrti_onnx *c, NNRT_DataType initial)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, "dtype", NNRT_ONNX_ATTRIBUTE_INT);
    if (a == NULL)
        return initial;
    return nnrti_onnx_take_type(c, a->i >= 0 && a->i < 1000 ? (nnrt_onnx_type)a->i : -1, "attribute", "dtype");
}

/* arg: 0 normal, 1 uniform. ONNX leaves the numbers open: they are the runtime's, the same in every run, and without a
   seed those of seed 0. */
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
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "shape has %z entries, expected %d at most", shape.count,
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

/* The axis is an attribute, 1 where it is not said, and from operator set 20 on input 2, or -2. */
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
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input 2 (axis) is empty");
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
/* >>onnx_about: what operators become */

/* X(operator of ONNX, or else its handler, "what it becomes", "what may stand beside that", "why"); % is the row's
   argument. An operator that becomes nothing by itself is made of what stands beside it. What computes with extents that
   the file leaves open (SHAPE, GATHER, CONCAT, ...) is not named. A test compares it with the ONNX node tests. */
/* clang-format off */
#define NNRTI_ONNX_ABOUT(X) \
    X("GlobalAveragePool", "AVGPOOL_FUSION REDUCE_FUSION",   "", "") \
    X("GlobalMaxPool",   "MAX_POOL_FUSION REDUCE_FUSION",    "", "") \
    X("Hardmax",         "HARDMAX",                          "FLATTEN RESHAPE", \
      "axes from `axis` on that count as one, before set 13") \
    X("LogSoftmax",      "LOG_SOFTMAX", \
      "FLATTEN RESHAPE REDUCE_FUSION MINIMUM MAXIMUM SUB_FUSION POW_FUSION LOG", \
      "axes from `axis` on that count as one, before set 13; float64, which LOG_SOFTMAX does not take") \
    X("Mean",            "", "ADD_FUSION ADD_N DIV_FUSION",  "a sum over the number of inputs") \
    X("Mul",             "MUL_FUSION ACTIVATION",            "RESHAPE", \
      "`axis`, before set 7; the last product of GELU as exporters write it is that activation") \
    X("NegativeLogLikelihoodLoss", "NEGATIVE_LOG_LIKELIHOOD_LOSS", "", "") \
    X("RandomNormal",    "RANDOM_NORMAL",                    "", "") \
    X("RandomNormalLike", "RANDOM_NORMAL",                   "", "") \
    X("RandomUniform",   "RANDOM_UNIFORM",                   "", "") \
    X("RandomUniformLike", "RANDOM_UNIFORM",                 "", "") \
    X("ReduceLogSum",    "", "REDUCE_FUSION LOG CAST",       "the logarithm of a sum") \
    X("ReduceLogSumExp", "", \
      "REDUCE_FUSION MINIMUM MAXIMUM SUB_FUSION EXPFUSION POW_FUSION LOG ADD_FUSION CAST", \
      "the largest element is taken out of the sum, which then does not overflow") \
    X("Softmax",         "SOFTMAX",                          "FLATTEN RESHAPE", \
      "axes from `axis` on that count as one, before set 13") \
    X("SoftmaxCrossEntropyLoss", "", "LOG_SOFTMAX NEGATIVE_LOG_LIKELIHOOD_LOSS", \
      "the second output is what stands between the two") \
    X("Sum",             "ADD_FUSION ADD_N",                 "", "") \
    X("activation",      "ACTIVATION",                       "", "") \
    X("affine_grid",     "AFFINE_GRID",                      "", "") \
    X("arg",             "%", "STRIDED_SLICE SUB_FUSION",    "select_last_index takes the first from the other end") \
    X("attention",       "ATTENTION",                        "", "") \
    X("average_pool",    "AVGPOOL_FUSION AVGPOOL_INCLUDE_PAD AVERAGE_POOL_3D", "UNSQUEEZE SQUEEZE", \
      "one spatial axis, which gets a second one") \
    X("batch_norm",      "FUSED_BATCH_NORM", "CAST REDUCE_FUSION SQUARED_DIFFERENCE MUL_FUSION ADD_FUSION", \
      "parameters of another float type than the data; training_mode: statistics of the batch") \
    X("bernoulli",       "BERNOULLI",                        "", "") \
    X("binary",          "%", "RESHAPE",                     "`axis`, before set 7") \
    X("bit_shift",       "BIT_SHIFT",                        "", "") \
    X("cast",            "CAST",                             "", "") \
    X("celu",            "", "DIV_FUSION ACTIVATION MUL_FUSION NEG EXPFUSION SUB_FUSION ADD_FUSION", \
      "alpha * elu(x / alpha)") \
    X("center_crop_pad", "CENTER_CROP_PAD",                  "", "") \
    X("clip",            "CLIP ACTIVATION MAXIMUM MINIMUM",  "EQUAL WHERE", \
      "bounds that a run tells, or out of order; NaN comes through") \
    X("col2im",          "COL2IM",                           "", "") \
    X("compress",        "COMPRESS",                         "", "") \
    X("concat",          "CONCAT",                           "", "") \
    X("constant",        "",                                 "", "a constant of the model") \
    X("constant_shape",  "CONSTANT_OF_SHAPE FILL",           "", "") \
    X("conv",            "CONV2D_FUSION CONV_3D",            "TRANSPOSE UNSQUEEZE SQUEEZE", \
      "weights that a run tells, in the runtime's order; one spatial axis, which gets a second one") \
    X("conv_integer",    "CONV_INTEGER",                     "TRANSPOSE UNSQUEEZE SQUEEZE", "as conv") \
    X("conv_transpose",  "CONV2D_TRANSPOSE_FUSION CONV_TRANSPOSE_3D", \
      "TRANSPOSE RESHAPE UNSQUEEZE SQUEEZE SLICE_FUSION", \
      "weights that a run tells, in the runtime's order; one spatial axis; output_shape of open extents") \
    X("cum_sum",         "CUM_SUM",                          "", "") \
    X("deform_conv",     "DEFORMABLE_CONV_2D",               "", "") \
    X("depth_to_space",  "DEPTH_TO_SPACE",                   "", "") \
    X("dequantize",      "QUANT_DTYPE_CAST QUANT_DTYPE_CAST_V2", "BITCAST CAST RESHAPE SUB_FUSION MUL_FUSION GATHER", \
      "parameters that are not constant, or of blocks; 16 bits") \
    X("det",             "DET",                              "", "") \
    X("dft",             "DFT",                              "", "") \
    X("dropout",         "", "FILL_LIKE LOGICAL_NOT LOGICAL_OR EQUAL ASSERT", \
      "nothing is dropped: its input; the mask; a training_mode that a run tells must be off") \
    X("dynamic_quantize", "", \
      "REDUCE_FUSION MINIMUM MAXIMUM SUB_FUSION DIV_FUSION ROUND CAST ADD_FUSION CLIP MUL_FUSION", \
      "scale and zero point are results that a run tells") \
    X("einsum",          "EINSUM",                           "", "") \
    X("exp",             "EXPFUSION POW_FUSION",             "", "") \
    X("expand",          "BROADCAST_TO", "CONCAT",           "a shape, told in a run, of fewer axes than the input") \
    X("extreme",         "%", "EQUAL WHERE",                 "more than two inputs; NaN of any comes through") \
    X("eye_like",        "EYE_LIKE",                         "", "") \
    X("flatten",         "FLATTEN",                          "", "") \
    X("gather",          "GATHER",                           "", "") \
    X("gather_elements", "GATHER_ELEMENTS",                  "", "") \
    X("gather_nd",       "GATHER_ND", "CAST RESHAPE BROADCAST_TO CONCAT", \
      "batch_dims: the places in the batch stand before the indices") \
    X("gelu",            "ACTIVATION",                       "", "") \
    X("gemm",            "FULL_CONNECTION MATMUL_FUSION", \
      "TRANSPOSE RESHAPE MUL_FUSION ADD_FUSION FILL MAXIMUM", \
      "transA, alpha, beta; weights that a run tells; a bias that is no vector") \
    X("grid_sample",     "GRID_SAMPLE",                      "", "") \
    X("group_norm",      "GROUP_NORM_FUSION", "RESHAPE BROADCAST_TO", \
      "scale and offset of each group, before set 21") \
    X("hard_sigmoid",    "HARD_SIGMOID ACTIVATION",          "", "") \
    X("identity",        "",                                 "", "its input under another name") \
    X("if",              "IF",                               "", "") \
    X("instance_norm",   "INSTANCE_NORM",                    "", "") \
    X("is_inf",          "IS_INF",                           "", "") \
    X("layer_norm",      "LAYER_NORM_FUSION", \
      "MUL_FUSION ADD_FUSION REDUCE_FUSION SQUARED_DIFFERENCE RSQRT", \
      "mean and deviation as outputs; scale and offset that are broadcast") \
    X("leaky_relu",      "LEAKY_RELU",                       "", "") \
    X("loop",            "LOOP",                             "", "") \
    X("lp_norm",         "LP_NORMALIZATION",                 "", "") \
    X("lp_pool",         "LP_POOL",                          "", "") \
    X("lrn",             "LRN", "RESHAPE",                   "other than 4 axes, which count as an image") \
    X("lstm",            "LSTM LSTM_PEEPHOLE", "TRANSPOSE STRIDED_SLICE FILL RESHAPE", \
      "directions are an axis of Y; layout 1; backward alone; states that are not given") \
    X("matmul",          "MATMUL_FUSION",                    "", "") \
    X("matmul_integer",  "MATMUL_INTEGER",                   "RESHAPE UNSQUEEZE", "a zero point for each row") \
    X("max_pool",        "MAX_POOL_FUSION MAX_POOL_3D", \
      "UNSQUEEZE SQUEEZE CAST DIV_FUSION MUL_FUSION SUB_FUSION ADD_FUSION", \
      "one spatial axis; integers, as float32; indices, which count in the whole tensor") \
    X("max_unpool",      "MAX_UNPOOL",                       "", "") \
    X("mean_variance",   "", "REDUCE_FUSION SUB_FUSION MUL_FUSION SQRT ADD_FUSION DIV_FUSION", \
      "its epsilon stands outside of the root") \
    X("mel_weight_matrix", "MEL_WEIGHT_MATRIX",              "", "") \
    X("mod",             "MOD", "FLOOR_DIV MUL_FUSION SUB_FUSION", "fmod 0 of signed integers") \
    X("multinomial",     "MULTINOMIAL",                      "", "") \
    X("non_max_suppression", "NON_MAX_SUPPRESSION",          "", "") \
    X("one_hot",         "ONE_HOT", "CAST RESHAPE LESS_EQUAL MUL_FUSION ADD_FUSION GATHER", \
      "negative indices count from the end; the two values are one input") \
    X("pad",             "PAD_FUSION PAD_EDGE GATHER", "CONCAT STRIDED_SLICE RANGE MOD ADD_FUSION SUB_FUSION", \
      "dynamic pads, in the runtime's order; negative pads, which cut off; mode wrap, a GATHER of each axis") \
    X("pow",             "POW_FUSION", "CAST RESHAPE",       "two types; `axis`, before set 7") \
    X("prelu",           "PRELU_FUSION", "RESHAPE UNSQUEEZE LESS MUL_FUSION WHERE", \
      "a slope that is not one number, nor one for each channel") \
    X("q_linear_conv",   "CONV2D_FUSION CONV_INTEGER", \
      "BITCAST TRANSPOSE UNSQUEEZE SQUEEZE RESHAPE MUL_FUSION DIV_FUSION ROUND CAST ADD_FUSION CLIP", \
      "parameters that are not constant, or no_quantize: the sum is rounded once, from float32, halves to even") \
    X("q_linear_matmul", "MATMUL_FUSION MATMUL_INTEGER", \
      "BITCAST RESHAPE UNSQUEEZE MUL_FUSION DIV_FUSION ROUND CAST ADD_FUSION CLIP", \
      "parameters that are not constant, or no_quantize: the sum is rounded once, from float32, halves to even") \
    X("quantize",        "QUANTIZE_LINEAR", \
      "BITCAST RESHAPE DIV_FUSION ROUND CAST ADD_FUSION CLIP GATHER", \
      "parameters that are not constant, or of blocks; 16 bits") \
    X("range",           "RANGE",                            "", "") \
    X("recurrent",       "%",                                "", "") \
    X("reduce",          "REDUCE_FUSION", \
      "SCATTER_ELEMENTS CAST EQUAL ASSERT GATHER SHAPE MUL_FUSION ADD_FUSION BOTTOM_K RESHAPE BITWISE_NOT LOGICAL_NOT", \
      "keepdims 0 of dynamic axes; the largest and smallest of an empty axis, by a sum") \
    X("relu",            "ACTIVATION MAXIMUM",               "", "") \
    X("reshape",         "RESHAPE",                          "", "") \
    X("resize",          "RESIZE RESIZE_ND", "UNSQUEEZE SQUEEZE CAST LESS_EQUAL ASSERT", \
      "2 and 3 axes, which count as an image; integers, which are copied as float32; scales of Upsample that a run tells") \
    X("reverse_sequence", "REVERSE_SEQUENCE",                "", "") \
    X("rms_norm",        "RMS_NORMALIZATION",                "", "") \
    X("roi_align",       "ROI_ALIGN",                        "", "") \
    X("rotary_embedding", "ROTARY_EMBEDDING",                "", "") \
    X("same",            "%",                                "", "") \
    X("scan",            "LOOP",                             "", "") \
    X("scatter_elements", "SCATTER_ELEMENTS",                "", "") \
    X("scatter_nd",      "SCATTER_ND_UPDATE",                "", "") \
    X("selu",            "ACTIVATION", "MUL_FUSION",         "other numbers than SELU's own") \
    X("shape",           "SHAPE", "STRIDED_SLICE",           "start, end") \
    X("shrink",          "", "LESS GREATER ADD_FUSION SUB_FUSION WHERE CAST", "two comparisons choose") \
    X("sign",            "ACTIVATION", "GREATER LESS CAST SUB_FUSION", "integers other than int32") \
    X("size",            "", "SHAPE REDUCE_FUSION",          "the product of the extents") \
    X("slice",           "STRIDED_SLICE", "SCATTER_ELEMENTS CAST REDUCE_FUSION EQUAL ASSERT", \
      "axes that a run tells") \
    X("softplus",        "SOFTPLUS",                         "", "") \
    X("space_to_depth",  "SPACE_TO_DEPTH",                   "", "") \
    X("split",           "SPLIT", \
      "CAST LESS_EQUAL ASSERT REDUCE_FUSION EQUAL CUM_SUM STRIDED_SLICE SLICE_FUSION", "lengths that a run tells") \
    X("squeeze",         "SQUEEZE", \
      "SCATTER_ELEMENTS CAST REDUCE_FUSION EQUAL ASSERT GATHER MUL_FUSION ADD_FUSION BOTTOM_K RESHAPE", \
      "axes that a run tells") \
    X("stft",            "STFT",                             "", "") \
    X("swish",           "ACTIVATION", "MUL_FUSION",         "alpha other than 1") \
    X("tensor_scatter",  "SCATTER_ELEMENTS", \
      "LESS_EQUAL ASSERT RESHAPE UNSQUEEZE RANGE ADD_FUSION MOD BROADCAST_TO CAST", \
      "where each batch is written, of each place along the axis; circular") \
    X("tile",            "TILE_FUSION", "CAST RESHAPE",      "tiles and axis as scalars of set 1") \
    X("top_k",           "TOPK_FUSION BOTTOM_K",             "", "") \
    X("transpose",       "TRANSPOSE",                        "", "") \
    X("trilu",           "TRILU",                            "", "") \
    X("unique",          "UNIQUE",                           "", "") \
    X("unsqueeze",       "UNSQUEEZE", \
      "SCATTER_ELEMENTS CAST REDUCE_FUSION EQUAL ASSERT SUB_FUSION CUM_SUM GATHER WHERE RESHAPE", \
      "axes that a run tells") \
    X("where",           "WHERE", "UNSQUEEZE LOGICAL_OR FILL_LIKE", \
      "a condition of one axis, which WHERE could take for one that chooses rows") \
    X("window",          "WINDOW",                           "", "")

/* Operators that are left out: X("domain.name", "why"). */
#define NNRTI_ONNX_LEFT_OUT(X) \
    X("ai.onnx.ml.CastMap",                   "maps") \
    X("ai.onnx.ml.DictVectorizer",            "maps") \
    X("ai.onnx.ml.ZipMap",                    "maps") \
    X("ai.onnx.preview.training.Adagrad",     "training") \
    X("ai.onnx.preview.training.Adam",        "training") \
    X("ai.onnx.preview.training.Gradient",    "training") \
    X("ai.onnx.preview.training.Momentum",    "training") \
    X("ConcatFromSequence",                   "sequences") \
    X("Optional",                             "optionals") \
    X("OptionalGetElement",                   "optionals") \
    X("OptionalHasElement",                   "optionals") \
    X("RegexFullMatch",                       "strings") \
    X("SequenceAt",                           "sequences") \
    X("SequenceConstruct",                    "sequences") \
    X("SequenceEmpty",                        "sequences") \
    X("SequenceErase",                        "sequences") \
    X("SequenceInsert",                       "sequences") \
    X("SequenceLength",                       "sequences") \
    X("SequenceMap",                          "sequences") \
    X("SplitToSequence",                      "sequences") \
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
static const nnrti_onnx_note nnrti_onnx_left_out[] = {NNRTI_ONNX_LEFT_OUT(NNRTI_ONNX_OUT)};
static const char *const nnrti_onnx_handlers[] = {NNRTI_ONNX_OPS(NNRTI_ONNX_HANDLER_NAME)};
#define NNRTI_ONNX_LEFT_OUT_COUNT ((uint32_t)(sizeof(nnrti_onnx_left_out) / sizeof(nnrti_onnx_left_out[0])))

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
    if (!known && index - NNRTI_ONNX_ROW_COUNT >= NNRTI_ONNX_LEFT_OUT_COUNT)
        return false;
    if (!known) {
        about->name = nnrti_onnx_left_out[index - NNRTI_ONNX_ROW_COUNT].key;
        about->why = nnrti_onnx_left_out[index - NNRTI_ONNX_ROW_COUNT].why;
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

static bool nnrti_onnx_main_domain(nnrt_onnx_str domain)
{
    return domain.length == 0 || nnrti_onnx_is(domain, "ai.onnx");
}

/* The row of a node's operator in some version, NULL when there is none. */
static const nnrti_onnx_importer *nnrti_onnx_row_named(const nnrt_onnx_node *n)
{
    if (!nnrti_onnx_main_domain(n->domain))
        return NULL;
    for (uint32_t i = 0; i < NNRTI_ONNX_ROW_COUNT; i++)
        if (nnrti_onnx_is(n->opType, nnrti_onnx_rows[i].name))
            return &nnrti_onnx_rows[i];
    return NULL;
}

/* The row of a node's operator, NULL when it is not known in this version. */
static const nnrti_onnx_importer *nnrti_onnx_row_of(const nnrti_onnx *c, const nnrt_onnx_node *n)
{
    const nnrti_onnx_importer *r = nnrti_onnx_row_named(n);
    return r != NULL && c->opset >= r->least && c->opset <= r->most ? r : NULL;
}

/* The operator of the application that a node is of; NULL: none. */
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

/* Whether a node that calls no function is read. */
static bool nnrti_onnx_is_read(const nnrti_onnx *c, const nnrt_onnx_node *n)
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

/* Makes the table of the model's functions. */
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

/* The entry of the function that a node calls, nFunctions: none. A function of the file comes before an operator of the
   same name, but not before one of the application. */
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

#define NNRTI_ONNX_MAX_CALLS 64 /* functions in one another */
#define NNRTI_ONNX_LISTED 24

/* Operators that are not read, and how often each occurs; others: kinds beyond those. */
typedef struct nnrti_onnx_kinds {
    const nnrt_onnx_node *kinds[NNRTI_ONNX_LISTED];
    uint32_t counts[NNRTI_ONNX_LISTED], n, others;
    nnrti_onnx_entry *calls; /* [called].value: functions that are called; [place].isInput: this one is among them */
    bool *missing;           /* per place: an operator of that function is not read */
    size_t called;
} nnrti_onnx_kinds;

/* Those of nodes and of the graphs that they run; what lies too deep is refused later. */
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
        if (f < c->nFunctions || nnrti_onnx_is_read(c, node))
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

/* Whether the operator of one of these nodes, of a graph that it runs or of a function that it calls is not read. */
static bool nnrti_onnx_misses(const nnrti_onnx *c, const nnrti_onnx_kinds *found, const nnrt_onnx_node *nodes,
                              size_t count, uint32_t depth)
{
    for (size_t i = 0; i < count; i++) {
        const size_t f = nnrti_onnx_function_of(c, &nodes[i]);
        if (f < c->nFunctions ? found->missing[f] : !nnrti_onnx_is_read(c, &nodes[i]))
            return true;
        for (size_t a = 0; a < nodes[i].attributes.count && depth < NNRT_MAX_NESTING; a++) {
            const nnrt_onnx_graph *g = nodes[i].attributes.data[a].g;
            if (g != NULL && nnrti_onnx_misses(c, found, g->nodes.data, g->nodes.count, depth + 1))
                return true;
        }
    }
    return false;
}

/* A walk that looks for values to cut the graph at. Of an entry isInput: it depends on what is not read; value: 1 where it
   depends on an input of the model, and 2 once it is listed. */
typedef struct nnrti_onnx_before {
    const nnrti_onnx_names *names;
    bool missing, lost, fed; /* of a node: its operator is not read; what it reads depends on one, or on an input */
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

/* Names in b->text the values that nodes with missing operators read and that do not depend on one themselves. */
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
        b->missing = !node->unneeded && nnrti_onnx_misses(c, found, node, 1, 0);
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

/* Version of the domain "" among these, `initial` where there is none. */
static int64_t nnrti_onnx_opset_of(const nnrt_onnx_opsets *opsets, int64_t initial)
{
    int64_t version = initial;
    for (size_t i = 0; i < opsets->count; i++)
        if (nnrti_onnx_main_domain(opsets->data[i].domain))
            version = opsets->data[i].version;
    return version;
}

/* what has the operator set that is read now. */
static void nnrti_onnx_check_opset(nnrti_onnx *c, const char *what)
{
    int32_t newest = 0;
    for (uint32_t i = 0; i < NNRTI_ONNX_ROW_COUNT; i++)
        newest = nnrti_onnx_rows[i].most > newest ? nnrti_onnx_rows[i].most : newest;
    if (c->opset > newest)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "%s has operator set %l, the newest that is read is %d", what, c->opset,
                        newest);
}

/* Why a node's operator is left out; NULL: it is not. */
static const char *nnrti_onnx_left_out_why(const nnrt_onnx_node *n)
{
    const size_t domain = nnrti_onnx_main_domain(n->domain) ? 0 : n->domain.length + 1;
    for (uint32_t i = 0; i < NNRTI_ONNX_LEFT_OUT_COUNT; i++) {
        const char *name = nnrti_onnx_left_out[i].key;
        if (strlen(name) == domain + n->opType.length &&
            (domain == 0 || (memcmp(name, n->domain.data, domain - 1) == 0 && name[domain - 1] == '.')) &&
            (n->opType.length == 0 || memcmp(name + domain, n->opType.data, n->opType.length) == 0))
            return nnrti_onnx_left_out[i].why;
    }
    return NULL;
}

/* Which functions that are called have operators that are not read, in themselves or in those that they call. */
static void nnrti_onnx_find_missing(nnrti_onnx *c, const nnrti_onnx_kinds *found)
{
    const int64_t opset = c->opset;
    bool changed = true;
    for (uint32_t round = 0; round < NNRTI_ONNX_MAX_CALLS && changed; round++) {
        changed = false;
        for (size_t i = found->called; i-- > 0;) { /* mostly those behind are called by those in front */
            const size_t place = found->calls[i].value;
            const nnrt_onnx_function *f = &c->model->functions.data[c->functions[place].value];
            c->opset = nnrti_onnx_opset_of(&f->opsetImport, opset);
            if (!found->missing[place] && nnrti_onnx_misses(c, found, f->nodes.data, f->nodes.count, 0))
                changed = found->missing[place] = true;
        }
    }
    c->opset = opset;
}

#define NNRTI_ONNX_BEFORE "; nnrt_onnx_desc.outputs %s leaves them out"
#define NNRTI_ONNX_OWN "; nnrt_op_register takes those of such names"
#define NNRTI_ONNX_ORT "; com.microsoft is ONNX Runtime's: save at ORT_ENABLE_BASIC, quantized as QDQ, or nnrt_op_register"

/* Lists all operators that are not known: how often they occur, the first node of each, why they are left out, and the
   values that stand before them. */
static void nnrti_onnx_check_operators(nnrti_onnx *c)
{
    const int64_t opset = c->opset;
    nnrti_onnx_kinds found;
    const nnrt_onnx_node **kinds = found.kinds;
    const uint32_t *counts = found.counts;
    nnrti_onnx_before before;
    uint32_t n, others;
    bool main = false, ort = false, own = false; /* operators of ONNX, of ONNX Runtime, such as the application may have */
    size_t at, room = 24;                        /* for the last words */
    memset(&found, 0, sizeof(found));
    found.calls = (nnrti_onnx_entry *)nnrti_onnx_keep(c, c->nFunctions, sizeof(*found.calls));
    found.missing = (bool *)nnrti_onnx_keep(c, c->nFunctions, sizeof(*found.missing));
    nnrti_onnx_check_opset(c, "the file");
    if (c->code != NNRT_SUCCESS)
        return;
    nnrti_onnx_find_kinds(c, &c->model->graph->nodes, 0, &found);
    for (size_t i = 0; i < found.called && c->code == NNRT_SUCCESS; i++) {
        const nnrt_onnx_function *f = &c->model->functions.data[c->functions[found.calls[i].value].value];
        char text[64];
        c->opset = nnrti_onnx_opset_of(&f->opsetImport, opset);
        nnrti_onnx_check_opset(c, nnrti_onnx_text(text, f->name));
        nnrti_onnx_find_kinds(c, &f->nodes, 0, &found);
    }
    c->opset = opset;
    if (c->code != NNRT_SUCCESS)
        return;
    n = found.n;
    others = found.others;
    if (n == 0)
        return;
    nnrti_onnx_find_missing(c, &found);
    nnrti_onnx_before_missing(c, &found, &before);
    for (uint32_t k = 0; k < n; k++) {
        const nnrt_onnx_str domain = kinds[k]->domain;
        main = main || nnrti_onnx_main_domain(domain);
        own = own || (!nnrti_onnx_main_domain(domain) && nnrti_onnx_left_out_why(kinds[k]) == NULL);
        ort = ort || (domain.length == 13 && memcmp(domain.data, "com.microsoft", 13) == 0);
    }
    room += ort ? sizeof(NNRTI_ONNX_ORT) : own ? sizeof(NNRTI_ONNX_OWN) : 0;
    room += before.listed > 0 ? before.length + sizeof(NNRTI_ONNX_BEFORE) : 0;
    at = main ? nnrt_text(c->text, sizeof(c->text), "operators that are not supported (operator set %l):", c->opset)
              : nnrt_text(c->text, sizeof(c->text), "operators that are not supported:");
    for (uint32_t k = 0; k < n; k++) {
        char domain[64], type[64], name[64], one[256];
        const bool named = !nnrti_onnx_main_domain(kinds[k]->domain);
        const nnrti_onnx_importer *r = nnrti_onnx_row_named(kinds[k]);
        const char *why = nnrti_onnx_left_out_why(kinds[k]);
        size_t length = nnrt_text(one, sizeof(one), "%s %s%s%s x%u", k == 0 ? "" : ",",
                                  named ? nnrti_onnx_text(domain, kinds[k]->domain) : "", named ? "." : "",
                                  nnrti_onnx_text(type, kinds[k]->opType), counts[k]);
        if (kinds[k]->name.length > 0)
            length += nnrt_text(one + length, sizeof(one) - length, counts[k] > 1 ? " '%s', .." : " '%s'",
                                nnrti_onnx_text(name, kinds[k]->name));
        if (r != NULL)
            length += nnrt_text(one + length, sizeof(one) - length, " (read in sets %d to %d)", r->least, r->most);
        if (why != NULL)
            length += nnrt_text(one + length, sizeof(one) - length, " (%s)", why);
        if (at + length + room > sizeof(c->text))
            others += counts[k];
        else
            at += nnrt_text(c->text + at, sizeof(c->text) - at, "%s", one);
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

/* Ties what the caller says of inputs to their names. */
static void nnrti_onnx_take_told(nnrti_onnx *c)
{
    for (uint32_t i = 0; i < c->desc->inputCount && c->code == NNRT_SUCCESS; i++) {
        nnrti_onnx_entry *e;
        nnrt_onnx_str name;
        name.data = c->desc->inputs[i].name != NULL ? c->desc->inputs[i].name : "";
        name.length = strlen(name.data);
        e = nnrti_onnx_entry_of(c, name);
        if (!e->isInput || e->told != NULL)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER,
                            e->isInput ? "input '%s' is described twice" : "the model has no input '%s'", name.data);
        else
            e->told = &c->desc->inputs[i];
    }
}

/* Shape of an input: what the caller says, else the file; -1, open, where neither knows. Returns the rank. */
static int32_t nnrti_onnx_input_shape(nnrti_onnx *c, const nnrt_onnx_value_info *info, const nnrt_onnx_input *given,
                                      int32_t dims[NNRT_MAX_RANK], const char *name)
{
    const size_t rank = given != NULL ? (size_t)given->shape.rank : info->dims.count;
    if (given == NULL && !info->hasShape) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input '%s' has no shape in the file: give one", name);
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
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input '%s': extent %l of axis %z does not fit", name, n, i);
            return 0;
        }
        if (given != NULL && fixed && n >= 0 && info->dims.count == rank && n != info->dims.data[i].value) {
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "input '%s': axis %z has extent %l, given is %l", name, i,
                            fixed ? info->dims.data[i].value : -1, n);
            return 0;
        }
        dims[i] = n < 0 ? -1 : (int32_t)n;
    }
    return (int32_t)rank;
}

/* Open extents of inputs that the file gives one name (dim_param) are always equal. */
static void nnrti_onnx_name_extents(nnrti_onnx *c, const nnrt_onnx_value_info *info, uint32_t v, const int32_t *dims,
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

static void nnrti_onnx_add_input(nnrti_onnx *c, const nnrt_onnx_value_info *info)
{
    static const char *const kinds[] = {
        "no type",         "a tensor",         "?", "?", "a sequence", "a map", "?", "an opaque value",
        "a sparse tensor", "an optional value"};
    const nnrti_onnx_entry *entry = nnrti_onnx_entry_of(c, info->name);
    const nnrt_onnx_input *given = entry->told;
    int32_t dims[NNRT_MAX_RANK], rank;
    char name[64];
    NNRT_DataType type;
    const char *whole;
    (void)nnrti_onnx_text(name, info->name);
    if (entry->name.data != NULL && nnrti_onnx_is_input(c, entry->value)) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "value '%s' is given twice", name);
        return;
    }
    if (entry->name.data != NULL)
        return; /* also an initializer: a constant */
    if (info->kind != NNRT_ONNX_KIND_TENSOR) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_DATATYPE, "input '%s' is %s, expected a tensor", name,
                        info->kind >= 0 && info->kind < 10 ? kinds[info->kind] : "?");
        return;
    }
    type = nnrti_onnx_take_type(c, info->elemType, "input", name);
    rank = nnrti_onnx_input_shape(c, info, given, dims, name);
    if (c->code == NNRT_SUCCESS && given != NULL && given->data != NULL) {
        size_t bytes = 0;
        if (nnrt_dims_bytes(dims, rank, type, &bytes))
            nnrti_onnx_budget_add(c->budget, c->desc, bytes);
        nnrti_onnx_bind(c, info->name, nnrti_onnx_constant_copy(c, type, rank, dims, given->data));
        return;
    }
    whole = nnrti_onnx_copy_text(c, info->name);
    if (c->code == NNRT_SUCCESS) {
        const uint32_t v = nnrt_builder_input(c->builder, whole, type, rank, dims);
        nnrti_onnx_name_extents(c, info, v, dims, rank);
        if (nnrti_onnx_fine(c))
            nnrti_onnx_bind(c, info->name, v);
    }
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

/* True when the words of list, separated by spaces, have this one. */
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

/* What is the same for all operators: how many inputs, which attributes. */
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

/* The number of an enumerator that attribute a gives, by its name or itself. */
static int32_t nnrti_onnx_own_enum(nnrti_onnx *c, const nnrt_attr_member *m, const nnrt_onnx_attribute *a)
{
    char text[64];
    for (uint32_t i = 0; i < m->valueCount; i++)
        if (a->type == NNRT_ONNX_ATTRIBUTE_INT ? m->values[i].value == a->i : nnrti_onnx_is(a->s, m->values[i].name))
            return m->values[i].value;
    if (a->type == NNRT_ONNX_ATTRIBUTE_INT)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' is %l, which no enumerator has", m->name, a->i);
    else
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "attribute '%s' is '%s', which no enumerator is", m->name,
                        nnrti_onnx_text(text, a->s));
    return 0;
}

/* The type of attribute that a member takes, UNDEFINED: none. */
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

/* Attribute a of the node into member m of an operator's attributes. The builder copies lists. */
static void nnrti_onnx_own_attr(nnrti_onnx *c, const nnrt_attr_member *m, const nnrt_onnx_attribute *a, uint8_t *at)
{
    const nnrt_onnx_attribute_type type = nnrti_onnx_own_type(m, a);
    const double real = (double)a->f;
    const bool yes = a->i != 0;
    int64_t whole = a->i;
    int32_t number;
    if (type == NNRT_ONNX_ATTRIBUTE_UNDEFINED)
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' is a list of lists, which ONNX has not", m->name);
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
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' is element type %l, which is not read", m->name,
                            a->i);
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
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' is a text with zeros in it", m->name);
        memcpy(at, &text, sizeof(text));
        break;
    }
    case NNRT_ATTR_KIND_FLOATS:
        *(NNRT_FloatList *)(void *)at = nnrt_float_list(a->floats.data, (uint32_t)a->floats.count);
        break;
    default: *(NNRT_Int64List *)(void *)at = nnrt_int64_list(a->ints.data, (uint32_t)a->ints.count); break;
    }
}

/* The node as one of an operator of the application. */
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
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "the operator '%s' that is registered has no attribute '%s'",
                            op->name, nnrti_onnx_text(text, a->name));
        else
            nnrti_onnx_own_attr(c, &op->attr->members[k], a, attr + op->attr->members[k].offset);
    }
    for (uint32_t i = 0; i < nIn; i++)
        in[i] = nnrti_onnx_in(c, i);
    while (nIn > 0 && in[nIn - 1] == NNRT_NO_TENSOR)
        nIn--;
    while (nOut > 0 && !nnrti_onnx_wants(c, nOut - 1))
        nOut--;
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_emit(c, op->type, attr, in, nIn, out, nOut, NULL);
    for (uint32_t i = 0; i < nOut && c->code == NNRT_SUCCESS; i++)
        nnrti_onnx_out(c, i, out[i]);
}

/* The newest node of the builder, if it is of the current ONNX node, has the name of this. */
static void nnrti_onnx_name_last(nnrti_onnx *c)
{
    const uint32_t count = nnrti_array_count(c->builder->nodes);
    if (c->code == NNRT_SUCCESS && count > c->nNamed)
        c->builder->nodes[count - 1].name = nnrti_onnx_step_name(c, NNRT_NODE_TYPE_NONE, true);
    c->nNamed = count;
}

static const nnrt_onnx_node *nnrti_onnx_resolved(nnrti_onnx *c, const nnrt_onnx_node *node);
static void nnrti_onnx_inline(nnrti_onnx *c, uint32_t place);

NNRTI_COLD static void nnrti_onnx_add_nodes(nnrti_onnx *c)
{
    const nnrt_onnx_nodes *nodes = &c->graph->nodes;
    for (size_t i = 0; i < nodes->count && c->code == NNRT_SUCCESS; i++) {
        size_t f;
        if (nodes->data[i].unneeded)
            continue;
        c->node = nnrti_onnx_resolved(c, &nodes->data[i]);
        c->nodeIndex = (uint32_t)i;
        f = nnrti_onnx_function_of(c, c->node);
        if (f < c->nFunctions) {
            nnrti_onnx_inline(c, c->functions[f].value);
        } else if (nnrti_onnx_own_of(c->node) != NULL) {
            nnrti_onnx_add_own(c, nnrti_onnx_own_of(c->node));
        } else {
            c->row = nnrti_onnx_row_of(c, c->node);
            nnrti_onnx_check_node(c);
            if (c->code != NNRT_SUCCESS)
                return;
            c->row->handler(c, c->row->arg);
        }
        nnrti_onnx_name_last(c);
        for (uint32_t k = 0; k < c->node->outputs.count && c->code == NNRT_SUCCESS; k++)
            if (nnrti_onnx_wants(c, k) && nnrti_onnx_entry_of(c, c->node->outputs.data[k])->name.data == NULL)
                NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "output %u is not supported", k);
    }
    c->node = NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_control: graphs that nodes run */

/* The graph that an attribute of the node is. */
static const nnrt_onnx_graph *nnrti_onnx_graph_of(nnrti_onnx *c, const char *name)
{
    const nnrt_onnx_attribute *a = nnrti_onnx_attr(c, name, NNRT_ONNX_ATTRIBUTE_GRAPH);
    if (c->code == NNRT_SUCCESS && (a == NULL || a->g == NULL))
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "attribute '%s' is missing", name);
    else if (c->code == NNRT_SUCCESS && c->depth == NNRT_MAX_NESTING)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "lies in %d graphs, the most that there may be", NNRT_MAX_NESTING);
    return c->code == NNRT_SUCCESS ? a->g : NULL;
}

/* Reads graph g, whose steps go into graph `into` of the builder, with values for its nIn inputs. Returns the values of its
   outputs. */
static uint32_t *nnrti_onnx_read_graph(nnrti_onnx *c, const nnrt_onnx_graph *g, uint32_t into, const uint32_t *in,
                                       uint32_t nIn)
{
    const nnrti_onnx around = *c; /* names, graph and node of it */
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
            nnrti_onnx_leave_out(c, g->inputs.data[k].name);
    if (c->code == NNRT_SUCCESS)
        nnrti_onnx_add_nodes(c);
    c->node = around.node;
    c->nodeIndex = around.nodeIndex;
    c->row = around.row;
    for (size_t k = 0; k < g->outputs.count && c->code == NNRT_SUCCESS; k++) {
        const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, g->outputs.data[k].name);
        if (e->name.data == NULL)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "nothing gives output '%s' of a graph that it runs",
                            nnrti_onnx_text(text, g->outputs.data[k].name));
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

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_functions: functions of the file, whose nodes are read in the place of those that call them */

/* What a node of a function costs of the budget's elements. */
#define NNRTI_ONNX_CALL_WORK 64.0

static const nnrt_onnx_attribute *nnrti_onnx_attribute_of(const nnrt_onnx_attributes *list, nnrt_onnx_str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (nnrti_onnx_same_text(list->data[i].name, name))
            return &list->data[i];
    return NULL;
}

/* The node with the values of attributes that refer to the function's: what the call says, else the function's own
   value; without both there is no such attribute. */
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
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "attribute '%s' refers to one that is %s",
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

/* A function as a graph: only names are known of its inputs and outputs. */
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

/* What a call must have: no more inputs and outputs than the function, none but its attributes; and no function may
   come to call itself. */
static void nnrti_onnx_check_call(nnrti_onnx *c, const nnrt_onnx_function *f)
{
    const nnrt_onnx_node *n = c->node;
    char text[64];
    for (const nnrti_onnx_frame *o = c->call; o != NULL; o = o->outer)
        if (o->function == f)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "the function calls itself");
    if (c->call != NULL && c->call->depth >= NNRTI_ONNX_MAX_CALLS)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "lies in %u functions, the most that there may be", c->call->depth);
    if (n->inputs.count > f->inputs.count || n->outputs.count > f->outputs.count)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "%z inputs and %z outputs, the function has %z and %z", n->inputs.count,
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

/* "name/" of the current node, behind those of the calls around: the prefix of names in the function that it calls. */
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

/* Reads the nodes of a function in the place of the current node, which calls it. They see no names but the function's
   own, and have its operator set. */
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
        in[k] = nnrti_onnx_in(c, k);
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
        nnrti_onnx_out(c, k, out[k]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_loops: If, Loop and Scan */

/* One more graph of the builder. */
static uint32_t nnrti_onnx_new_graph(nnrti_onnx *c, const nnrt_onnx_graph *graph)
{
    char name[64];
    const uint32_t g =
        c->code == NNRT_SUCCESS ? nnrt_builder_graph(c->builder, nnrti_onnx_text(name, graph->name)) : NNRT_NO_GRAPH;
    return nnrti_onnx_fine(c) ? g : NNRT_NO_GRAPH;
}

/* Adds a step that runs graphs, with inputs in[] and the results of the node. What it costs to infer it depends on how much
   there is already. */
static void nnrti_onnx_control_step(nnrti_onnx *c, NNRT_NodeType type, const void *attr, const uint32_t *in,
                                    uint32_t nIn)
{
    const uint32_t nOut = (uint32_t)c->node->outputs.count;
    uint32_t *out = (uint32_t *)nnrti_onnx_keep(c, nOut, sizeof(*out));
    if (out == NULL || !nnrti_onnx_fine(c) || !nnrti_onnx_work(c, (double)nnrti_array_count(c->builder->tensors)))
        return;
    nnrti_onnx_emit(c, type, attr, in, nIn, out, nOut, NULL);
    for (uint32_t k = 0; k < nOut && c->code == NNRT_SUCCESS; k++)
        nnrti_onnx_out(c, k, out[k]);
}

/* If: of a condition that is known the one branch is read in its place. */
static void nnrti_onnx_op_if(nnrti_onnx *c, int32_t arg_)
{
    const uint32_t cond = nnrti_onnx_in(c, 0);
    const nnrt_onnx_graph *yes = nnrti_onnx_graph_of(c, "then_branch"), *no = nnrti_onnx_graph_of(c, "else_branch");
    const uint32_t nOut = (uint32_t)c->node->outputs.count;
    uint32_t *then, *otherwise, *out;
    NNRT_If a;
    (void)arg_;
    if (c->code != NNRT_SUCCESS)
        return;
    if (yes->outputs.count != nOut || no->outputs.count != nOut || yes->inputs.count + no->inputs.count != 0) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "its branches have %z and %z outputs, expected %u, and no inputs",
                        yes->outputs.count, no->outputs.count, nOut);
        return;
    }
    if (nnrti_onnx_known(c, cond) && nnrti_onnx_type(c, cond) == NNRT_DATA_TYPE_BOOL) {
        out = nnrti_onnx_read_graph(c, *(const uint8_t *)nnrti_onnx_at(c, cond)->data != 0 ? yes : no,
                                    c->builder->entered, NULL, 0);
        for (uint32_t k = 0; k < nOut && out != NULL; k++)
            nnrti_onnx_out(c, k, out[k]);
        return;
    }
    a.thenGraph = nnrti_onnx_new_graph(c, yes);
    a.elseGraph = nnrti_onnx_new_graph(c, no);
    then = c->code == NNRT_SUCCESS ? nnrti_onnx_read_graph(c, yes, a.thenGraph, NULL, 0) : NULL;
    otherwise = then != NULL ? nnrti_onnx_read_graph(c, no, a.elseGraph, NULL, 0) : NULL;
    if (otherwise == NULL)
        return;
    for (uint32_t k = 0; k < nOut; k++)
        nnrti_onnx_join_images(c, then[k], otherwise[k]);
    nnrt_builder_graph_io(c->builder, a.thenGraph, NULL, 0, then, nOut);
    nnrt_builder_graph_io(c->builder, a.elseGraph, NULL, 0, otherwise, nOut);
    nnrti_onnx_control_step(c, NNRT_NODE_TYPE_IF, &a, &cond, 1);
}

/* A Loop that is read, or a Scan: its body is not told trip and cond. */
typedef struct nnrti_onnx_loop {
    const nnrt_onnx_graph *body;
    bool scan;
    uint32_t carried, scans;
    uint32_t *start;    /* values: trips, cond, then what is carried at first */
    uint32_t *in, *out; /* of the body */
    bool *open;         /* NNRT_MAX_RANK for each carried value: it does not keep this extent */
    uint32_t rounds;    /* how often the body was read; after NNRTI_LOOP_ROUNDS all dimensions are dynamic */
} nnrti_onnx_loop;

/* The values that the body gets. */
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
            if (l->open[k * NNRT_MAX_RANK + (uint32_t)i]) { /* equal to no other */
                o.dims[i] = NNRTI_OPEN_EXTENT;
                o.symbols[i] = ++c->builder->symbols;
                o.most = 0;
            }
        if (o.rank >= 0)
            nnrti_builder_given(c->builder, l->in[2 + k], &o);
    }
}

/* Takes out all that was added since the mark. */
static void nnrti_onnx_back(nnrti_onnx *c, nnrti_builder_mark mark)
{
    nnrti_builder_back(c->builder, mark);
    c->nNamed = mark.nodes;
    c->imagesFrom = c->imagesFrom < mark.tensors ? c->imagesFrom : mark.tensors;
}

/* Whether the carried values leave the body as they came in. An extent that does not is noted. */
static bool nnrti_onnx_loop_closed(nnrti_onnx *c, nnrti_onnx_loop *l)
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
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "carried value %u comes into the body as %o and leaves it as %o", k,
                            x, y);
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

/* Loop: the body is read again where a carried value does not keep an extent, which then is open. */
static void nnrti_onnx_op_loop(nnrti_onnx *c, int32_t arg_)
{
    const nnrti_builder_mark mark = nnrti_builder_here(c->builder);
    NNRT_Loop a;
    nnrti_onnx_loop l;
    bool closed = false;
    (void)arg_;
    memset(&l, 0, sizeof(l));
    l.body = nnrti_onnx_graph_of(c, "body");
    if (c->code != NNRT_SUCCESS)
        return;
    if (c->node->inputs.count < 2) { /* which may both be left out */
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "%z inputs, expected trips, cond and carried values",
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
    for (uint32_t k = 0; k < l.carried + 2 && c->code == NNRT_SUCCESS; k++)
        l.start[k] = nnrti_onnx_in(c, k);
    for (uint32_t k = 2; k < l.carried + 2 && c->code == NNRT_SUCCESS; k++)
        if (l.start[k] == NNRT_NO_TENSOR)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_INPUT, "input %u is missing", k);
    while (!closed && c->code == NNRT_SUCCESS) {
        nnrti_onnx_back(c, mark);
        a.body = nnrti_onnx_new_graph(c, l.body);
        nnrti_onnx_loop_given(c, &l);
        l.out = c->code == NNRT_SUCCESS ? nnrti_onnx_read_graph(c, l.body, a.body, l.in, l.carried + 2) : NULL;
        closed = l.out == NULL || nnrti_onnx_loop_closed(c, &l);
    }
    if (c->code != NNRT_SUCCESS)
        return;
    nnrt_builder_graph_io(c->builder, a.body, l.in, l.carried + 2, l.out, (uint32_t)l.body->outputs.count);
    nnrti_onnx_control_step(c, NNRT_NODE_TYPE_LOOP, &a, l.start, l.carried + 2);
}

/* Entry i of a list attribute that has `count` of them or is absent: 0. */
static int64_t nnrti_onnx_scan_entry(nnrti_onnx *c, const char *name, uint32_t i, uint32_t count)
{
    const nnrt_onnx_ints list = nnrti_onnx_ints_of(c, name);
    if (list.data != NULL && list.count != count)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "%s has %z entries, expected %u", name, list.count, count);
    return list.data != NULL && i < list.count ? list.data[i] : 0;
}

/* A direction: false = forward, true = reverse. */
static bool nnrti_onnx_scan_turned(nnrti_onnx *c, const char *name, uint32_t i, uint32_t count)
{
    const int64_t direction = nnrti_onnx_scan_entry(c, name, i, count);
    if (direction != 0 && direction != 1)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_PARAMETER, "%s[%u] is %l, expected 0 or 1", name, i, direction);
    return direction != 0;
}

/* x with its places along the first axis in the other order. */
static uint32_t nnrti_onnx_turned(nnrti_onnx *c, uint32_t x, int32_t axis)
{
    return nnrti_onnx_part(c, x, axis, -1, INT32_MIN, -1);
}

/* Input i of a Scan of operator set 8, without its first axis, the batch, which must be 1. */
static uint32_t nnrti_onnx_scan_batch(nnrti_onnx *c, uint32_t x)
{
    const int64_t axis = 0;
    NNRT_Squeeze a;
    if (c->code == NNRT_SUCCESS && (nnrti_onnx_rank(c, x) < 1 || nnrti_onnx_dim(c, x, 0) != 1))
        NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "'%s' is %o: only a batch of 1 is supported", nnrti_onnx_at(c, x)->name,
                        nnrti_onnx_at(c, x));
    a.axis = nnrt_int64_list(&axis, 1);
    return nnrti_onnx_step1(c, NNRT_NODE_TYPE_SQUEEZE, &a, x);
}

/* What a Scan goes through: its inputs behind the carried values, turned where it goes from the end, with the axes that it
   goes along. Returns how many steps it makes, a known or computed number. */
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
        if (nnrti_onnx_scan_turned(c, old ? "directions" : "scan_input_directions", i, l->scans))
            x[i] = nnrti_onnx_turned(c, x[i], (int32_t)axes[i]);
        if (c->code == NNRT_SUCCESS && nnrti_onnx_rank(c, x[i]) < 1)
            NNRTI_ONNX_FAIL(c, NNRT_INVALID_SHAPE, "'%s' is a scalar", nnrti_onnx_at(c, x[i])->name);
        if (i == 0)
            trips = nnrti_onnx_size_ints(c, nnrti_onnx_size_of(c, x[0], (int32_t)axes[0]));
        else if (nnrti_onnx_dim(c, x[i], (int32_t)axes[i]) != nnrti_onnx_dim(c, x[0], (int32_t)axes[0]))
            NNRTI_ONNX_FAIL(c, NNRT_UNSUPPORTED_OP, "scan inputs 0 and %u do not have the same known number of steps",
                            i);
    }
    return trips;
}

/* The body of a Scan in a graph of the builder: it gets the places of x along axes that the trip has. */
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

/* Result i of a Scan, of which the loop made y. */
static void nnrti_onnx_scan_out(nnrti_onnx *c, const nnrti_onnx_loop *l, uint32_t i, uint32_t y)
{
    const uint32_t k = i - l->carried, count = (uint32_t)l->body->outputs.count - l->carried;
    int64_t perm[NNRT_MAX_RANK];
    int32_t rank, axis;
    if (c->opset < 9)
        y = nnrti_onnx_unsqueeze(c, y, 0);
    if (i >= l->carried && c->opset >= 9) {
        if (nnrti_onnx_scan_turned(c, "scan_output_directions", k, count))
            y = nnrti_onnx_turned(c, y, 0);
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

/* Scan: a loop over the places of its last inputs along an axis of each, whose other results lie one behind the other. */
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
        NNRTI_ONNX_FAIL(
            c, NNRT_INVALID_MODEL, "%z inputs, %l to go through, and %z outputs; its body has %z inputs and %z outputs",
            c->node->inputs.count, scans, c->node->outputs.count, l.body->inputs.count, l.body->outputs.count);
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
        nnrti_onnx_back(c, mark);
        a.body = nnrti_onnx_new_graph(c, l.body);
        closed =
            c->code != NNRT_SUCCESS || !nnrti_onnx_scan_body(c, &l, a.body, x, axes) || nnrti_onnx_loop_closed(c, &l);
    }
    if (!nnrti_onnx_fine(c) || !nnrti_onnx_work(c, (double)nnrti_array_count(c->builder->tensors)))
        return;
    nnrt_builder_graph_io(c->builder, a.body, l.in, l.carried + 2, l.out, (uint32_t)l.body->outputs.count + 1);
    nnrti_onnx_emit(c, NNRT_NODE_TYPE_LOOP, &a, l.start, l.carried + 2, out, (uint32_t)l.body->outputs.count, NULL);
    for (uint32_t i = 0; i < c->node->outputs.count && c->code == NNRT_SUCCESS; i++)
        if (nnrti_onnx_wants(c, i))
            nnrti_onnx_scan_out(c, &l, i, out[i]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_build: outputs, and the model */

/* Output `name` of the model: results of steps take its name, and so does an input that has it already; other inputs,
   constants and what is an output under another name (isOutput, per value) are copied. */
static void nnrti_onnx_output(nnrti_onnx *c, nnrt_onnx_str name, bool *isOutput)
{
    nnrt_builder *b = c->builder;
    const nnrti_onnx_entry *e = nnrti_onnx_entry_of(c, name);
    char text[64];
    uint32_t v;
    if (e->name.data == NULL) {
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "nothing gives output '%s'", nnrti_onnx_text(text, name));
        return;
    }
    v = e->isQuantized ? e->quantized : e->value; /* the caller may see the parameters */
    if (!nnrti_onnx_is_input(c, v) || !nnrti_onnx_is(name, b->tensors[v].name)) {
        if (nnrti_onnx_is_input(c, v) || isOutput[v] || nnrti_onnx_known(c, v)) {
            if (!nnrti_onnx_is_input(c, v) && !isOutput[v])
                b->tensors[v].name = NULL; /* the output has it, perhaps */
            v = b->tensors[v].quantParams.count > 0
                    ? nnrti_onnx_step1(c, NNRT_NODE_TYPE_ASSIGN, NULL, v)
                    : nnrti_onnx_step_typed(c, NNRT_NODE_TYPE_CAST, NULL, v, nnrti_onnx_type(c, v));
        }
        if (v != NNRT_NO_TENSOR)
            nnrti_onnx_call(c, v, nnrti_onnx_copy_text(c, name));
    }
    isOutput[e->isQuantized ? e->quantized : e->value] = true;
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_output(b, v);
}

static void nnrti_onnx_outputs(nnrti_onnx *c)
{
    const nnrt_onnx_value_infos *outputs = &c->model->graph->outputs;
    bool *isOutput = (bool *)nnrti_onnx_keep(c, nnrti_array_count(c->builder->tensors), sizeof(*isOutput));
    c->builder->worth = NULL; /* a constant output needs a step that gives it */
    if (outputs->count == 0)
        NNRTI_ONNX_FAIL(c, NNRT_INVALID_MODEL, "the graph has no outputs");
    for (size_t i = 0; i < outputs->count && c->code == NNRT_SUCCESS; i++)
        nnrti_onnx_output(c, outputs->data[i].name, isOutput);
}

/* Constants in bytes of our own are copied as well, and the bytes go, where these would cost a tenth more than all
   constants need. */
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

/* The model of what was imported. */
static NNRT_ReturnCode nnrti_onnx_build(nnrti_onnx *c, NNRT_Model **model)
{
    NNRT_ReturnCode code;
    bool any;
    c->nodeIndex = NNRT_NO_TENSOR;
    nnrti_onnx_outputs(c);
    c->builder->name = nnrti_onnx_copy_text(c, c->model->graph->name);
    nnrt_onnx_model_free(c->model); /* the builder has copies, or points into the file's bytes */
    c->model = NULL;
    if (c->code != NNRT_SUCCESS)
        return c->code;
    c->builder->log = c->desc->log;
    code = nnrti_builder_reduce(c->builder, !c->desc->no_optimize, c->desc->no_quantize ? NNRT_PASS_QUANTIZE : 0, &any);
    if (code == NNRT_SUCCESS) {
        nnrti_onnx_leave_bytes(c);
        return nnrt_builder_finish(c->builder, model, c->error);
    }
    return nnrti_builder_report(c->builder, code, c->error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>onnx_load */

#ifndef NNRT_NO_STDIO

/* The external tensor t: its file goes into list[*n], where it can be opened. What is wrong is told when it is read. */
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

/* All external tensors of nodes and of graphs in them; list NULL: only counts them. */
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

/* The budget grows by the size of each file with external data, however many tensors, locations and links name it. */
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
    for (size_t i = 0; i < n; i++) { /* device and number, which stand first, tell files apart */
        order[i].key.data = (const char *)&list[i];
        order[i].key.length = offsetof(nnrti_onnx_source, bytes);
    }
    n = nnrti_onnx_sort(order, n);
    for (size_t i = 0; i < n; i++)
        nnrti_onnx_budget_add(c->budget, c->desc, ((const nnrti_onnx_source *)(const void *)order[i].key.data)->bytes);
}

#endif

/* data[bytes] is a model; path and own as in nnrti_onnx. *inPlace: the model uses the bytes. */
NNRTI_COLD static NNRT_ReturnCode nnrti_onnx_import(NNRT_Model **model, const void *data, size_t bytes,
                                                    const nnrt_onnx_desc *desc, nnrti_onnx_budget *budget,
                                                    const char *path, bool own, bool *inPlace, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_onnx c;
    memset(&c, 0, sizeof(c));
    code = nnrt_onnx_parse(data, bytes, desc->allocator, &c.model, error);
    if (code == NNRT_SUCCESS && desc->outputCount > 0)
        code = nnrt_onnx_cut(c.model, desc->outputs, desc->outputCount, error);
    if (code != NNRT_SUCCESS) {
        nnrt_onnx_model_free(c.model);
        return code;
    }
    c.desc = desc;
    c.budget = budget;
    c.path = path;
    c.data = (const uint8_t *)data;
    c.dataBytes = bytes;
    c.ownBytes = own;
    c.error = error;
    code = nnrt_builder_create(&c.builder, NULL, desc->allocator);
    if (code != NNRT_SUCCESS) {
        nnrti_onnx_end(&c);
        return nnrt_error_set(error, code, "there is not enough memory for the model");
    }
    c.builder->worth = nnrti_onnx_worth;
    c.builder->user = &c;
    c.opset = nnrti_onnx_opset_of(&c.model->opsetImport, 1); /* 1: files older than the field */
    nnrti_onnx_take_functions(&c);
    nnrti_onnx_check_operators(&c);
#ifndef NNRT_NO_STDIO
    nnrti_onnx_add_sources(&c);
#endif
    c.graph = c.model->graph;
    if (c.code == NNRT_SUCCESS)
        nnrti_onnx_make_table(&c);
    nnrti_onnx_take_told(&c);
    if (c.code == NNRT_SUCCESS)
        nnrti_onnx_add_inputs(&c);
    nnrti_onnx_add_nodes(&c);
    code = c.code == NNRT_SUCCESS ? nnrti_onnx_build(&c, model) : c.code;
    *inPlace = c.usedInPlace;
    nnrti_onnx_end(&c);
    return code;
}

/* data[bytes], which are read or given: path NULL, or where external data are looked for; own: the bytes are ours, and
   the model's when it uses them, which *own then tells. */
static NNRT_ReturnCode nnrti_onnx_load(NNRT_Model **model, void *data, size_t bytes, const nnrt_onnx_desc *desc,
                                       const char *path, bool *own, nnrt_error *error)
{
    nnrt_onnx_desc limited;
    nnrti_onnx_budget budget;
    NNRT_ReturnCode code;
    bool inPlace = false;
    nnrti_onnx_budget_begin(&budget, desc, bytes, &limited);
    budget.live = own != NULL ? bytes : 0;
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
    code = nnrt_onnx_file_read(path, allocator, &data, &bytes, error);
    if (code != NNRT_SUCCESS)
        return code;
    code = nnrti_onnx_load(model, data, bytes, desc, path, &own, error);
    if (own)
        nnrt_onnx_file_free(allocator, data, bytes);
    return code;
}
#endif

NNRTI_SETUP_END()

#endif /* NNRT_IMPLEMENTATION */
