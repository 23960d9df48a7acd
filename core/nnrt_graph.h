/*
nnrt_graph.h - the graph of nnrt while it may still change: the builder, which infers each node as it is added, and the
optimizer passes, which rewrite the graph of a finished model. Also searching a model, and drawing it.

READERS
    An importer, or a program that makes models by hand: nnrt_builder_create, a call per node, nnrt_builder_finish, then
    nnrt_model_optimize. The author of an optimizer pass: >>passes. Applications include nnrt.h, which includes this
    file.

SECTIONS (search for the tag)
    >>builder   building a model by hand
    >>models    optimizing, searching, drawing a model
    >>graph_writers  for writers of importers: subgraphs, symbols of dynamic dimensions
    -- implementation --
    >>builder >>models >>passes
    >>importers shared by the readers in formats/

OWNERSHIP
    The builder copies names, lists and attributes; constants on request. nnrt_builder_finish turns it into an immutable
    model, which nnrt_model_destroy frees. All memory comes from the allocator of nnrt_builder_create, or malloc.
    An optimized model keeps the one that it replaces, because it uses its constants.

ERRORS
    As in nnrt_model.h. A builder keeps its first fault: later calls do nothing, and nnrt_builder_finish returns it.

MIT license, see LICENSE.
*/
#ifndef NNRT_GRAPH_H
#define NNRT_GRAPH_H

#include "nnrt_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef NNRT_FIRMWARE

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>builder */

/* Builds a model step by step. The call that adds a node infers its shapes, as far as its inputs are known, and
   reports its faults. After a fault, calls do nothing and return NNRT_NO_TENSOR; nnrt_builder_error and
   nnrt_builder_finish return the first fault. Tensors are named by the index that the calls return. Properties of a
   tensor (declare, format, quant, quant_axis, symbols) must be set before the first node that reads it, otherwise the
   call fails with OPERATION_FORBIDDEN; the node that writes the tensor is inferred again. A node that reads a tensor
   before a node writes it is inferred once that exists, at the latest by nnrt_builder_finish. Dynamic dimensions (-1)
   may have any size: shapes that depend on them are checked when a session is created. Names are copied; name NULL =
   none. One thread at a time. */
typedef struct nnrt_builder nnrt_builder;

/* Begins a model. allocator NULL = malloc. The allocator is copied; the object of its `user` pointer must outlive the
   model. */
NNRT_API NNRT_ReturnCode nnrt_builder_create(nnrt_builder **builder, const char *name, const nnrt_allocator *allocator);
/* Frees a builder; the model that it finished stays. NULL is fine. */
NNRT_API void nnrt_builder_destroy(nnrt_builder *builder);
/* The first fault of a builder; its code is NNRT_SUCCESS while there is none. The pointer is valid until the builder is
   finished or destroyed. After nnrt_builder_finish, every call except this one and nnrt_builder_destroy fails with
   OPERATION_FORBIDDEN. Returns NULL if builder is NULL. */
NNRT_API const nnrt_error *nnrt_builder_error(const nnrt_builder *builder);
/* Adds an input of the model and returns its tensor. dims: -1 = dynamic dimension, fixed or bounded when a session is
   created. */
NNRT_API uint32_t nnrt_builder_input(nnrt_builder *builder, const char *name, NNRT_DataType type, int32_t rank,
                                     const int32_t *dims);
/* Adds a constant and returns its tensor. copy: the bytes are copied into the model; otherwise data must outlive it.
   data may be NULL for 0 elements. */
NNRT_API uint32_t nnrt_builder_constant(nnrt_builder *builder, const char *name, NNRT_DataType type, int32_t rank,
                                        const int32_t *dims, const void *data, bool copy);
/* Adds a tensor for a result, whose type and shape are inferred; nnrt_builder_declare fixes them. */
NNRT_API uint32_t nnrt_builder_tensor(nnrt_builder *builder, const char *name);
/* Fixes type and shape of a tensor. rank NNRT_RANK_UNKNOWN: shape unknown. */
NNRT_API void nnrt_builder_declare(nnrt_builder *builder, uint32_t tensor, NNRT_DataType type, int32_t rank,
                                   const int32_t *dims);
/* Sets the order of the axes of an image. */
NNRT_API void nnrt_builder_format(nnrt_builder *builder, uint32_t tensor, NNRT_Format format);
/* Sets the scale and zero point of a quantized tensor, or those of each index along an axis. */
NNRT_API void nnrt_builder_quant(nnrt_builder *builder, uint32_t tensor, const NNRT_QuantParam *params, uint32_t count);
/* Sets the axis of per-axis quantization, NNRT_Tensor.quantAxis: 0 = that of the operator, k = axis k - 1. */
NNRT_API void nnrt_builder_quant_axis(nnrt_builder *builder, uint32_t tensor, int32_t quantAxis);
/* Adds a node with any number of results. attr: the attribute struct of the operator, copied with its lists; NULL = all
   defaults. inputs may contain NNRT_NO_TENSOR for an optional input that is absent. */
NNRT_API void nnrt_builder_node(nnrt_builder *builder, const char *name, NNRT_NodeType type, const void *attr,
                                const uint32_t *inputs, uint32_t nIn, const uint32_t *outputs, uint32_t nOut);
/* Adds a node with one result; returns that tensor, which has the node's name. */
NNRT_API uint32_t nnrt_builder_op(nnrt_builder *builder, const char *name, NNRT_NodeType type, const void *attr,
                                  const uint32_t *inputs, uint32_t nIn);
/* nnrt_builder_op as one function per operator: nnrt_add_SOFTMAX and so on. The compiler checks the type of the
   attributes. */
#define NNRTI_BUILDER_ADD(op, number, S, ...)                                                                          \
    static inline uint32_t nnrt_add_##op(nnrt_builder *builder, const char *name, const NNRT_##S *attr,                \
                                         const uint32_t *inputs, uint32_t nIn)                                         \
    {                                                                                                                  \
        return nnrt_builder_op(builder, name, NNRT_NODE_TYPE_##op, attr, inputs, nIn);                                 \
    }
NNRT_OPS(NNRTI_BUILDER_ADD, NNRTI_NO_KERNEL)
/* Makes a tensor a model output; a second time for the same tensor: OPERATION_FORBIDDEN. */
NNRT_API void nnrt_builder_output(nnrt_builder *builder, uint32_t tensor);
/* Records a fault that the caller (an importer, for example) detected; the first fault is kept. */
NNRT_API void nnrt_builder_fail(nnrt_builder *builder, NNRT_ReturnCode code, const char *message);
/* Ends a model and returns it: one block of memory, independent of the builder, validated by nnrt_model_check. It
   succeeds or fails once: afterwards the builder can only be destroyed. */
NNRT_API NNRT_ReturnCode nnrt_builder_finish(nnrt_builder *builder, NNRT_Model **model, nnrt_error *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>models */

/* Makes a model of a struct that the application assembled, or copied from a model and edited. *model is a copy in one
   block of the allocator (NULL = malloc): `from` and all it points to stay the caller's and are not needed afterwards,
   except for the constants if copyConstants is false: those with an address are used in place and must outlive the
   model. nnrt_model_destroy frees it. It has the metadata of `source`, a model that a builder, a loader or an importer
   made, in a second block; NULL: none. On failure *model is NULL, and error names the fault: codes of nnrt_model_check,
   OUT_OF_MEMORY, or INVALID_PARAMETER if the states among the metadata name no input or output of `from`. */
NNRT_API NNRT_ReturnCode nnrt_model_create(NNRT_Model **model, const NNRT_Model *from, const NNRT_Model *source,
                                           bool copyConstants, const nnrt_allocator *allocator, nnrt_error *error);
/* The passes of the optimizer, one bit each. */
enum {
    NNRT_PASS_RESHAPES = 1,     /* consecutive reshapes become one */
    NNRT_PASS_TRANSPOSES = 2,   /* consecutive transposes become one */
    NNRT_PASS_COPIES = 4,       /* nodes that change nothing are removed */
    NNRT_PASS_AFFINE = 8,       /* scale and offset per channel are folded into weight and bias */
    NNRT_PASS_BIAS = 16,        /* an addition after a matrix multiplication becomes its bias */
    NNRT_PASS_ACTIVATIONS = 32, /* activations are fused into the node before */
    NNRT_PASS_BRANCHES = 64,    /* an IF whose condition is known becomes the branch that it runs */
    NNRT_PASS_QUANTIZE = 128,   /* operators between casts from and to 8 bits compute in integers */
    NNRT_PASS_CONSTANTS = 256,  /* constant folding */
    NNRT_PASS_DEAD = 512,       /* dead-code elimination */
    NNRT_PASS_PADS = 1024,      /* a PAD before a quantized convolution becomes padding of that */
    NNRT_PASS_WIDEN = 2048,     /* constant folding of casts from float16 to float32, of more than 64 KB in float32 */
    NNRT_PASS_CHAINS = 4096     /* nodes that exporters write for one operator, such as GELU, become that operator */
};
/* The options of the optimizer. All zero is the default. */
typedef struct nnrt_optimize_desc {
    bool no_quantize;    /* keep operators between casts in float32: as NNRT_PASS_QUANTIZE in without */
    const nnrt_log *log; /* receives a line for each changed node. NULL: none */
    uint32_t without;    /* disabled passes: the sum of their NNRT_PASS_ bits */
    bool integer_io; /* inputs and outputs become int8 or uint8 tensors with scale and zero point: casts of inputs to
                        8 bits and casts from 8 bits to outputs are removed. A SOFTMAX between such a cast and an
                        output becomes quantized, its result with scale 1/256 and the lowest zero point, as in
                        TensorFlow Lite, unless NNRT_PASS_QUANTIZE is disabled; its values differ from float32 by up
                        to 1/256. A warning in the log explains each input and output that stays float32;
                        NNRT_NOT_SUPPORT if all of them do */
} nnrt_optimize_desc;
/* Replaces *model, which a builder or loader made, by an equivalent, faster one. The passes are constant folding,
   dead-code elimination, operator fusion (batch normalization into convolutions, bias and activations into the node
   before; the nodes that exporters write for GELU, LayerNorm and others into one), in subgraphs as well; an IF with a
   known condition becomes the branch that it runs. Constants that would
   take memory or time out of proportion to the model are left to the run. On failure *model is unchanged. The new model
   uses the constants of the old one in place and frees it when it is destroyed. Operators between DequantizeLinear and
   QuantizeLinear (casts from and to quantized int8, uint8 or int16) that have quantized arithmetic compute in integers:
   their results differ from those in float32 by the rounding of the last stored integer; a bias becomes int32. desc
   NULL: all zero. */
NNRT_API NNRT_ReturnCode nnrt_model_optimize(NNRT_Model **model, const nnrt_optimize_desc *desc, nnrt_error *error);
/* Makes a new model with the given sizes and values of inputs: dynamic dimensions get their sizes, and an input with a
   value becomes a constant, which may remove nodes; the passes of nnrt_model_optimize but QUANTIZE run. A deferred model
   (nnrt_model_deferred) is imported with them. Inputs that are not listed stay as they are; dynamic dimensions of inputs
   that share a symbol get the same size. Values are copied; the constants of `model`, which must outlive *fixed, are used
   in place. Memory from the allocator of `model`. On failure *fixed is NULL: INVALID_PARAMETER for an unknown name,
   INVALID_SHAPE for a dimension that contradicts the model's, UNSUPPORTED_OP if a deferred model needs more than that, or
   a code of nnrt_model_check or the import. */
NNRT_API NNRT_ReturnCode nnrt_model_fix(NNRT_Model **fixed, const NNRT_Model *model, const nnrt_input *inputs,
                                        uint32_t count, nnrt_error *error);
/* Makes a new model of a decoder whose past keys and values are inputs and whose present ones are outputs of its ATTENTION
   nodes: they become states that a run updates in place (nnrt_session_states), a cache of `rows` tokens, with a new input
   position, int64[1], the number of tokens before. A cache of three axes is [1,rows,heads*size], of four [1,heads,rows,size].
   A run copies nothing of the past. Past and present of nodes CONCAT along axis 2 of four become states as well, if there
   is an input attention_mask [1,tokens], all tokens of a run and before it; a run then copies their rows, one layer after the
   other. The other inputs stay. The constants of `model`, which must outlive *cached, are used in place. On failure *cached
   is NULL; NOT_SUPPORT: no such nodes, or something else reads the keys and values. */
NNRT_API NNRT_ReturnCode nnrt_model_cache(NNRT_Model **cached, const NNRT_Model *model, uint32_t rows, nnrt_error *error);
/* Index of the first tensor with this name; NNRT_NO_TENSOR if no tensor has it, or name is NULL or empty. */
NNRT_API uint32_t nnrt_model_tensor(const NNRT_Model *model, const char *name);
/* Writes a model as Graphviz text: nodes with operator and attributes, shapes on the edges. Returns the length of the
   whole text without its terminating 0, also if size is too small. places, if not NULL, is the device of each node, as
   nnrt_partition.placed reports it: one entry per node, in order. The color of a node then shows its device; the nodes
   of a partition share a box. */
NNRT_API size_t nnrt_model_dot(const NNRT_Model *model, const nnrt_placement *places, char *out, size_t size);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>graph_writers

   For writers of importers, and programs that build control flow by hand. */

/* Sets the symbols of dynamic dimensions, NNRT_Tensor.symbols, one per axis. Call it after nnrt_builder_declare, which
   clears the symbols. */
NNRT_API void nnrt_builder_symbols(nnrt_builder *builder, uint32_t tensor, const uint32_t *symbols, uint32_t count);
/* Creates a subgraph and returns its number, for an attribute of a node (IF, LOOP). A subgraph must be complete when
   the node that runs it is added: that call infers its nodes. Each further node that runs it receives a copy of its
   nodes; the constants are shared. */
NNRT_API uint32_t nnrt_builder_graph(nnrt_builder *builder, const char *name);
/* Enters a graph: nodes added from now on belong to it, until another one is entered; 0 is the main graph. They may
   read every tensor of the enclosing graphs. */
NNRT_API void nnrt_builder_enter(nnrt_builder *builder, uint32_t graph);
/* Sets the inputs and outputs of a subgraph. The inputs are tensors that no node writes; the node that runs the
   subgraph supplies them. */
NNRT_API void nnrt_builder_graph_io(nnrt_builder *builder, uint32_t graph, const uint32_t *inputs, uint32_t nIn,
                                    const uint32_t *outputs, uint32_t nOut);

#endif /* NNRT_FIRMWARE */

#ifdef __cplusplus
}
#endif

#endif /* NNRT_GRAPH_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_GRAPH_IMPLEMENTED)
#define NNRT_GRAPH_IMPLEMENTED

#include "nnrt_plan.h" /* its implementation, if only its declarations were included so far */

#include <math.h>
#include <string.h>

#ifndef NNRT_FIRMWARE

/* The builder stores its growing arrays with the array header of stb_ds; no run uses it. Only this header and the
   macros that read it are used: nnrti_array_room grows and nnrti_array_free frees, through the builder's allocator. So
   no code of stb_ds is compiled and the object exports none of its symbols. Its names are renamed while it is included
   and released at the end of >>passes: a program may include its own copy before or after this file, with or without
   its implementation. NNRT_STB_DS_H is its path. Rejected: growth by stb_ds, which dereferences NULL when memory runs
   out. */
#ifndef INCLUDE_STB_DS_H
#define NNRTI_STBDS_PRIVATE
#define stbds_rand_seed nnrt_stbds_rand_seed
#define stbds_hash_bytes nnrt_stbds_hash_bytes
#define stbds_hash_string nnrt_stbds_hash_string
#define stbds_stralloc nnrt_stbds_stralloc
#define stbds_strreset nnrt_stbds_strreset
#define stbds_unit_tests nnrt_stbds_unit_tests
#define stbds_arrgrowf nnrt_stbds_arrgrowf
#define stbds_arrfreef nnrt_stbds_arrfreef
#define stbds_hmfree_func nnrt_stbds_hmfree_func
#define stbds_hmget_key nnrt_stbds_hmget_key
#define stbds_hmget_key_ts nnrt_stbds_hmget_key_ts
#define stbds_hmput_default nnrt_stbds_hmput_default
#define stbds_hmput_key nnrt_stbds_hmput_key
#define stbds_hmdel_key nnrt_stbds_hmdel_key
#define stbds_shmode_func nnrt_stbds_shmode_func
#define stbds_string_arena nnrt_stbds_string_arena
#define stbds_string_block nnrt_stbds_string_block
#define stbds_array_header nnrt_stbds_array_header
#define STBDS_SH_NONE NNRT_STBDS_SH_NONE
#define STBDS_SH_DEFAULT NNRT_STBDS_SH_DEFAULT
#define STBDS_SH_STRDUP NNRT_STBDS_SH_STRDUP
#define STBDS_SH_ARENA NNRT_STBDS_SH_ARENA
#ifdef __cplusplus
#define stbds_arrgrowf_wrapper nnrt_stbds_arrgrowf_wrapper
#define stbds_hmget_key_wrapper nnrt_stbds_hmget_key_wrapper
#define stbds_hmget_key_ts_wrapper nnrt_stbds_hmget_key_ts_wrapper
#define stbds_hmput_default_wrapper nnrt_stbds_hmput_default_wrapper
#define stbds_hmput_key_wrapper nnrt_stbds_hmput_key_wrapper
#define stbds_hmdel_key_wrapper nnrt_stbds_hmdel_key_wrapper
#define stbds_shmode_func_wrapper nnrt_stbds_shmode_func_wrapper
#endif
#ifndef STBDS_NO_SHORT_NAMES
#define STBDS_NO_SHORT_NAMES
#define NNRTI_STBDS_SHORT_NAMES
#endif
#ifdef STB_DS_IMPLEMENTATION
#undef STB_DS_IMPLEMENTATION
#define NNRTI_STBDS_IMPLEMENTATION
#endif
#ifndef STBDS_REALLOC
#define NNRTI_STBDS_REALLOC
#endif
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#endif
#if defined(NNRT_STB_DS_H)
#elif !defined(__has_include)
#define NNRT_STB_DS_H <stb/stb_ds.h> /* not found: apt-get install libstb-dev, or define NNRT_STB_DS_H */
#elif __has_include("../stb_ds.h") /* beside nnrt.h */
#define NNRT_STB_DS_H "../stb_ds.h"
#elif __has_include("stb_ds.h")
#define NNRT_STB_DS_H "stb_ds.h"
#elif __has_include(<stb/stb_ds.h>)
#define NNRT_STB_DS_H <stb/stb_ds.h>
#else
#error "nnrt_graph.h needs stb_ds.h of stb: apt-get install libstb-dev, or put stb_ds.h beside nnrt.h, or define NNRT_STB_DS_H"
#endif
#include NNRT_STB_DS_H
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>builder */

/* Idea: flat arrays of tensors and nodes, indexed by the numbers that the API returns; growing an array invalidates no
   index. Each call validates its node and runs its shape rule at once, so an error names the call that caused it.
   Invariant: the first fault is kept, and every later call does nothing; callers check once, at the end. Rejected:
   validation only in nnrt_builder_finish, which would report a fault far from its cause. */

NNRT_SETUP()

#define NNRTI_WRITTEN 1
#define NNRTI_READ 2
#define NNRTI_ALONE 2
#define NNRTI_LARGE 65536u /* constants from so many bytes on are handed over to the model, and changed in place */

/* A graph of a builder. A node that runs the graph closes it: nodeIndices then lists its nodes, and no more are added.
   So the cost of adding a control-flow node is linear in the nodes of its subgraphs, independent of the size of the
   rest of the model. */
typedef struct nnrti_building {
    uint32_t caller; /* the node that runs it, or NNRTI_BY_NOBODY */
    uint32_t height; /* nesting depth of its subgraphs, itself included */
    uint32_t last;   /* the node added last, or NNRTI_BY_NOBODY */
    size_t widest;   /* closed: operands of its widest node, subgraphs included */
} nnrti_building;

/* The tables per tensor of nnrt_builder: type, member, value for tensor i when it is new. */
#define NNRTI_BUILDER_TABLES(X)                                                                                        \
    X(uint32_t, writers, nnrti_is_constant(&b->tensors[i]) ? NNRTI_BY_CONSTANT : NNRTI_BY_NOBODY)                      \
    X(nnrt_operand, shapes, unknown)                                                                                   \
    X(uint8_t, known, 0)                                                                                               \
    X(uint8_t, named, 0)                                                                                               \
    X(uint8_t, isOutput, 0)                                                                                            \
    X(uint8_t, opened, 0)                                                                                              \
    X(uint32_t, twins, NNRT_NO_TENSOR)

/* The arrays have the header of stb_ds. Everything else is allocated from memory, small objects in pieces of
   NNRTI_BUILDER_PIECE bytes. */
struct nnrt_builder {
    nnrt_allocator allocator;
    nnrt_memory memory;
    uint8_t *piece; /* bytes left in the last piece */
    size_t pieceLeft;
    const char *name;
    NNRT_Tensor *tensors;
    uint8_t *copied; /* per tensor: the model receives its data from memory; NNRTI_ALONE: no other tensor shares them */
    NNRT_Node *nodes;
    uint32_t *inputs, *outputs;
    NNRT_SubGraph *graphs; /* the main graph first; NULL without subgraphs, like the next three */
    uint32_t *owners;      /* per node: its graph */
    uint32_t *before;      /* per node: the node added before it to its graph, or NNRTI_BY_NOBODY */
    nnrti_building *building; /* per graph */
    uint32_t entered;      /* the graph of the next node */
    nnrt_error error;      /* the first fault; with a code all calls do nothing */
    bool finished;         /* nnrt_builder_finish was called: every further call is a fault */
    bool waiting;          /* a node reads tensors that were unknown when it was added */
    nnrt_memory inferred;  /* results of shape rules */
    uint32_t symbols;      /* symbols given to dynamic dimensions so far */
    /* Per tensor (NNRTI_BUILDER_TABLES): its writer (a node, or NNRTI_BY_), its properties, whether these are
       known, and how nodes use it. */
    uint32_t *writers;
    nnrt_operand *shapes;
    uint8_t *known, *named; /* named: NNRTI_WRITTEN, or NNRTI_READ */
    uint8_t *isOutput, *opened;  /* an output of the model; nnrti_inference.opened */
    uint32_t *twins;             /* its copy while a subgraph is copied, or NNRT_NO_TENSOR */
    uint32_t *twinned;           /* the tensors that have one */
    nnrti_input_axis *inputAxes; /* of the inputs' symbols */
    /* For importers: a node whose results are known when it is added is replaced by these as constants (constant
       folding); worth, with user, decides whether to compute a node (nnrti_inference); NULL: nodes stay. */
    bool (*worth)(void *user, const nnrt_resolve *c);
    void *user;
    const nnrt_log *log; /* of changes to nodes; NULL: none */
};

static void nnrti_builder_init(nnrt_builder *b, const nnrt_allocator *allocator)
{
    memset(b, 0, sizeof(*b));
    if (allocator != NULL)
        b->allocator = *allocator;
    nnrt_memory_allocate(&b->memory, &b->allocator);
    nnrt_memory_allocate(&b->inferred, &b->allocator);
}

/* Whether a fault is recorded: then calls do nothing. */
NNRTI_NOINLINE static bool nnrti_builder_failed(nnrt_builder *b)
{
    if (b != NULL && b->finished && b->error.code == NNRT_SUCCESS)
        (void)nnrt_error_set(&b->error, NNRT_OPERATION_FORBIDDEN,
                             "nnrt_builder_finish was called: a builder makes one model, create another one for the next");
    return b == NULL || b->error.code != NNRT_SUCCESS;
}

static void nnrti_builder_no_memory(nnrt_builder *b)
{
    (void)nnrt_error_set(&b->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
}

/* Returns the array with room for `extra` more elements of this size; the capacity at least doubles, so appending is
   O(1) amortized. Failure is recorded in b; with a fault in b the array is returned unchanged. */
static void *nnrti_array_room(nnrt_builder *b, void *array, size_t size, size_t extra)
{
    size_t length = stbds_arrlenu(array), capacity = stbds_arrcap(array), bytes, want;
    stbds_array_header *grown = NULL;
    if (extra <= capacity - length || b->error.code != NNRT_SUCCESS)
        return array;
    if (nnrt_add_size(length, extra, &want)) {
        want = want < 16 ? 16 : want < 2 * capacity ? 2 * capacity : want;
        if (nnrt_mul_size(want, size, &bytes) && nnrt_add_size(bytes, sizeof(*grown), &bytes))
            grown = (stbds_array_header *)nnrt_alloc(&b->allocator, bytes);
    }
    if (grown == NULL) {
        nnrti_builder_no_memory(b);
        return array;
    }
    memset(grown, 0, sizeof(*grown));
    if (array != NULL) {
        memcpy(grown + 1, array, length * size);
        nnrt_free(&b->allocator, stbds_header(array), capacity * size + sizeof(*grown));
    }
    grown->length = length;
    grown->capacity = want;
    return grown + 1;
}

NNRTI_NOINLINE static void nnrti_array_free(nnrt_builder *b, void *array, size_t size)
{
    if (array != NULL)
        nnrt_free(&b->allocator, stbds_header(array), stbds_arrcap(array) * size + sizeof(stbds_array_header));
}

/* Appends value to an array of the builder b, unless b has a fault; lack of memory is recorded. */
#define NNRTI_PUSH(b, T, array, value)                                                                                 \
    do {                                                                                                               \
        (array) = (T *)nnrti_array_room(b, array, sizeof(T), 1);                                                       \
        if ((b)->error.code == NNRT_SUCCESS)                                                                           \
            (array)[stbds_header(array)->length++] = (value);                                                          \
    } while (0)

NNRTI_NOINLINE static uint32_t nnrti_array_count(const void *array)
{
    return array != NULL ? (uint32_t)(((const stbds_array_header *)array) - 1)->length : 0;
}

/* Shortens an array to count elements; the capacity stays. */
NNRTI_NOINLINE static void nnrti_array_cut(void *array, uint32_t count)
{
    if (nnrti_array_count(array) > count)
        stbds_header(array)->length = count;
}

/* Frees everything and resets the builder; only the allocator is kept. */
static void nnrti_builder_clear(nnrt_builder *b)
{
    nnrt_allocator allocator = b->allocator;
    nnrti_array_free(b, b->tensors, sizeof(*b->tensors));
    nnrti_array_free(b, b->copied, sizeof(*b->copied));
    nnrti_array_free(b, b->nodes, sizeof(*b->nodes));
    nnrti_array_free(b, b->inputs, sizeof(*b->inputs));
    nnrti_array_free(b, b->outputs, sizeof(*b->outputs));
    nnrti_array_free(b, b->graphs, sizeof(*b->graphs));
    nnrti_array_free(b, b->owners, sizeof(*b->owners));
    nnrti_array_free(b, b->before, sizeof(*b->before));
    nnrti_array_free(b, b->building, sizeof(*b->building));
    nnrti_array_free(b, b->twinned, sizeof(*b->twinned));
#define NNRTI_FREE(T, table, value) nnrti_array_free(b, b->table, sizeof(T));
    NNRTI_BUILDER_TABLES(NNRTI_FREE)
#undef NNRTI_FREE
    nnrt_memory_end(&b->inferred);
    nnrt_memory_end(&b->memory);
    nnrti_builder_init(b, &allocator);
}

#define NNRTI_BUILDER_PIECE 8192

/* count * size zeroed bytes that live as long as the model being built; NULL = no memory, which is recorded. */
static void *nnrti_builder_keep(nnrt_builder *b, size_t count, size_t size)
{
    size_t bytes;
    uint8_t *block = NULL;
    if (nnrt_mul_size(count, size, &bytes) && bytes > NNRTI_BUILDER_PIECE / 8) {
        block = (uint8_t *)nnrt_memory_keep_aligned(&b->memory, bytes);
    } else if (nnrt_mul_size(count, size, &bytes)) {
        bytes = (bytes + 15) & ~(size_t)15;
        if (b->piece == NULL || b->pieceLeft < bytes) {
            b->piece = (uint8_t *)nnrt_memory_keep(&b->memory, NNRTI_BUILDER_PIECE);
            b->pieceLeft = b->piece != NULL ? NNRTI_BUILDER_PIECE : 0;
        }
        block = b->piece;
        b->piece = b->piece != NULL ? b->piece + bytes : NULL;
        b->pieceLeft -= b->piece != NULL ? bytes : 0;
    }
    if (block == NULL)
        nnrti_builder_no_memory(b);
    return block;
}

/* A copy that lives as long as the model being built; NULL = no memory, which is recorded. */
static void *nnrti_builder_copy(nnrt_builder *b, const void *data, size_t count, size_t size)
{
    void *copy = nnrti_builder_keep(b, count, size);
    if (copy != NULL && count * size > 0)
        memcpy(copy, data, count * size);
    return copy;
}

static const char *nnrti_builder_text(nnrt_builder *b, const char *text)
{
    return text != NULL ? (const char *)nnrti_builder_copy(b, text, strlen(text) + 1, 1) : NULL;
}

/* Memory of attribute lists. */
static void *nnrti_builder_alloc(void *user, size_t bytes)
{
    return nnrti_builder_keep((nnrt_builder *)user, 1, bytes);
}

NNRT_API NNRT_ReturnCode nnrt_builder_create(nnrt_builder **builder, const char *name, const nnrt_allocator *allocator)
{
    nnrt_builder *b;
    if (builder == NULL)
        return NNRT_NULL_PTR;
    *builder = NULL;
    b = (nnrt_builder *)nnrt_alloc(allocator, sizeof(*b));
    if (b == NULL)
        return NNRT_OUT_OF_MEMORY;
    nnrti_builder_init(b, allocator);
    b->name = nnrti_builder_text(b, name);
    if (nnrti_builder_failed(b)) {
        nnrt_builder_destroy(b);
        return NNRT_OUT_OF_MEMORY;
    }
    *builder = b;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_builder_destroy(nnrt_builder *builder)
{
    nnrt_allocator allocator;
    if (builder == NULL)
        return;
    nnrti_builder_clear(builder);
    allocator = builder->allocator;
    nnrt_free(&allocator, builder, sizeof(*builder));
}

NNRT_API const nnrt_error *nnrt_builder_error(const nnrt_builder *builder)
{
    return builder != NULL ? &builder->error : NULL;
}

NNRT_API void nnrt_builder_fail(nnrt_builder *builder, NNRT_ReturnCode code, const char *message)
{
    if (builder != NULL)
        (void)nnrt_error_set(&builder->error, code != NNRT_SUCCESS ? code : NNRT_FAILED, "%s", message);
}

static const int32_t nnrti_dims_unknown[1] = {NNRT_RANK_UNKNOWN};

/* *list = a copy of dims. Rule: dimensions are at least `least`; a violation records a fault and returns false. */
static bool nnrti_builder_dims(nnrt_builder *b, const char *name, int32_t rank, const int32_t *dims, int32_t least,
                               NNRT_Int32List *list)
{
    if (rank < 0 || rank > NNRT_MAX_RANK) {
        (void)nnrt_error_set(&b->error, NNRT_INVALID_SHAPE, "tensor '%s' has %d axes, expected 0 to %d", name, rank,
                             NNRT_MAX_RANK);
        return false;
    }
    if (rank > 0 && dims == NULL) {
        (void)nnrt_error_set(&b->error, NNRT_NULL_PTR, "tensor '%s' has %d axes, but dims is NULL", name, rank);
        return false;
    }
    for (int32_t i = 0; i < rank; i++)
        if (dims[i] < least) {
            (void)nnrt_error_set(&b->error, NNRT_INVALID_SHAPE, "tensor '%s': axis %d has size %d, expected %d or more",
                                 name, i, dims[i], least);
            return false;
        }
    *list =
        NNRT_Int32List_make((const int32_t *)nnrti_builder_copy(b, dims, (size_t)rank, sizeof(*dims)), (uint32_t)rank);
    return list->data != NULL;
}

/* Rule: the data type exists; a violation records a fault and returns false. */
static bool nnrti_builder_type(nnrt_builder *b, const char *name, NNRT_DataType type)
{
    if (nnrt_type_size(type) != 0)
        return true;
    (void)nnrt_error_set(&b->error, NNRT_INVALID_DATATYPE, "tensor '%s': data type %d does not exist", name, type);
    return false;
}

/* Appends a tensor and returns its index, NNRT_NO_TENSOR after a fault. *t has all members except name and format,
   which are set here; copied: see nnrt_builder.copied. */
static uint32_t nnrti_builder_add(nnrt_builder *b, const char *name, NNRT_Tensor *t, bool copied)
{
    t->name = nnrti_builder_text(b, name);
    t->format = NNRT_FORMAT_NONE;
    NNRTI_PUSH(b, uint8_t, b->copied, copied);
    NNRTI_PUSH(b, NNRT_Tensor, b->tensors, *t);
    return nnrti_builder_failed(b) ? NNRT_NO_TENSOR : nnrti_array_count(b->tensors) - 1;
}

static NNRT_Tensor nnrti_tensor_make(NNRT_DataType type)
{
    NNRT_Tensor t;
    memset(&t, 0, sizeof(t));
    t.dataType = type;
    t.data.fd = -1;
    return t;
}

/* Extends the per-tensor tables to all tensors: a tensor that is new has the writer NNRTI_BY_CONSTANT or
   NNRTI_BY_NOBODY, and unknown properties. */
static void nnrti_builder_tables(nnrt_builder *b)
{
    nnrt_operand unknown;
    nnrti_absent_operand(&unknown);
#define NNRTI_GROW(T, table, value)                                                                                    \
    for (uint32_t i = nnrti_array_count(b->table); i < nnrti_array_count(b->tensors) && !nnrti_builder_failed(b); i++) \
        NNRTI_PUSH(b, T, b->table, value);
    NNRTI_BUILDER_TABLES(NNRTI_GROW)
#undef NNRTI_GROW
}

NNRT_API uint32_t nnrt_builder_input(nnrt_builder *builder, const char *name, NNRT_DataType type, int32_t rank,
                                     const int32_t *dims)
{
    NNRT_Tensor t = nnrti_tensor_make(type);
    uint32_t index;
    if (nnrti_builder_failed(builder) || !nnrti_builder_type(builder, nnrti_text_of(name), type) ||
        !nnrti_builder_dims(builder, nnrti_text_of(name), rank, dims, -1, &t.dims))
        return NNRT_NO_TENSOR;
    index = nnrti_builder_add(builder, name, &t, false);
    nnrti_builder_tables(builder);
    if (!nnrti_builder_failed(builder))
        builder->writers[index] = NNRTI_BY_INPUT;
    NNRTI_PUSH(builder, uint32_t, builder->inputs, index);
    return nnrti_builder_failed(builder) ? NNRT_NO_TENSOR : index;
}

/* Makes t a constant: uses data in place, or a copy of them. Rules: at most 4 GiB - 1 bytes, as dataSize has 32 bits;
   data is not NULL unless there are no elements. */
static bool nnrti_builder_data(nnrt_builder *b, NNRT_Tensor *t, const char *name, const void *data, bool copy)
{
    size_t bytes;
    if (!nnrt_dims_bytes(t->dims.data, (int32_t)t->dims.count, t->dataType, &bytes) || bytes > UINT32_MAX) {
        (void)nnrt_error_set(&b->error, NNRT_INVALID_BUFFER_SIZE,
                             "constant '%s' is too large, at most 4 GiB are possible", name);
        return false;
    }
    if (data == NULL && bytes > 0) {
        (void)nnrt_error_set(&b->error, NNRT_NULL_PTR, "constant '%s' has no data, expected %z bytes", name, bytes);
        return false;
    }
    t->data.addr = copy ? nnrti_builder_copy(b, data, bytes, 1) : (void *)(uintptr_t)data;
    t->data.bufferSize = t->data.dataSize = (uint32_t)bytes;
    return t->data.addr != NULL;
}

NNRT_API uint32_t nnrt_builder_constant(nnrt_builder *builder, const char *name, NNRT_DataType type, int32_t rank,
                                        const int32_t *dims, const void *data, bool copy)
{
    NNRT_Tensor t = nnrti_tensor_make(type);
    copy = copy || data == NULL;
    if (nnrti_builder_failed(builder) || !nnrti_builder_type(builder, nnrti_text_of(name), type) ||
        !nnrti_builder_dims(builder, nnrti_text_of(name), rank, dims, 0, &t.dims) ||
        !nnrti_builder_data(builder, &t, nnrti_text_of(name), data, copy))
        return NNRT_NO_TENSOR;
    return nnrti_builder_add(builder, name, &t, copy);
}

NNRT_API uint32_t nnrt_builder_tensor(nnrt_builder *builder, const char *name)
{
    NNRT_Tensor t = nnrti_tensor_make(NNRT_DATA_TYPE_UNKNOWN);
    if (nnrti_builder_failed(builder))
        return NNRT_NO_TENSOR;
    t.dims = NNRT_Int32List_make(nnrti_dims_unknown, 1);
    return nnrti_builder_add(builder, name, &t, false);
}

/* The tensor with this index; NULL and a recorded fault when there is none. */
static NNRT_Tensor *nnrti_builder_at(nnrt_builder *b, uint32_t tensor, const char *call)
{
    if (nnrti_builder_failed(b))
        return NULL;
    if (tensor < nnrti_array_count(b->tensors))
        return &b->tensors[tensor];
    (void)nnrt_error_set(&b->error, NNRT_INVALID_TENSOR, "%s: there is no tensor %u, but %u tensors", call, tensor,
                         nnrti_array_count(b->tensors));
    return NULL;
}

/* The same, for a call that changes its properties. Rule: no node reads it yet. */
static NNRT_Tensor *nnrti_builder_change(nnrt_builder *b, uint32_t tensor, const char *call)
{
    NNRT_Tensor *t = nnrti_builder_at(b, tensor, call);
    if (t == NULL || tensor >= nnrti_array_count(b->named) || b->named[tensor] != NNRTI_READ)
        return t;
    (void)nnrt_error_set(&b->error, NNRT_OPERATION_FORBIDDEN,
                         "%s: a node reads tensor %u '%s' already; call it before the node is added", call, tensor,
                         nnrti_text_of(t->name));
    return NULL;
}

static void nnrti_builder_again(nnrt_builder *b, uint32_t tensor);

NNRT_API void nnrt_builder_declare(nnrt_builder *builder, uint32_t tensor, NNRT_DataType type, int32_t rank,
                                   const int32_t *dims)
{
    NNRT_Tensor *t = nnrti_builder_change(builder, tensor, "nnrt_builder_declare");
    if (t == NULL)
        return;
    if (nnrti_is_constant(t)) {
        (void)nnrt_error_set(&builder->error, NNRT_OPERATION_FORBIDDEN,
                             "tensor '%s' is a constant: its type and shape are given with its data",
                             nnrti_text_of(t->name));
        return;
    }
    if (type != NNRT_DATA_TYPE_UNKNOWN && !nnrti_builder_type(builder, nnrti_text_of(t->name), type))
        return;
    t->dataType = type;
    t->symbols = NNRT_Uint32List_make(NULL, 0);
    if (rank == NNRT_RANK_UNKNOWN)
        t->dims = NNRT_Int32List_make(nnrti_dims_unknown, 1);
    else
        (void)nnrti_builder_dims(builder, nnrti_text_of(t->name), rank, dims, -1, &t->dims);
    nnrti_builder_again(builder, tensor);
}

NNRT_API void nnrt_builder_format(nnrt_builder *builder, uint32_t tensor, NNRT_Format format)
{
    NNRT_Tensor *t = nnrti_builder_change(builder, tensor, "nnrt_builder_format");
    if (t == NULL)
        return;
    t->format = format;
    nnrti_builder_again(builder, tensor);
}

NNRT_API void nnrt_builder_quant(nnrt_builder *builder, uint32_t tensor, const NNRT_QuantParam *params, uint32_t count)
{
    NNRT_Tensor *t = nnrti_builder_change(builder, tensor, "nnrt_builder_quant");
    if (t == NULL)
        return;
    if (count > 0 && params == NULL) {
        (void)nnrt_error_set(&builder->error, NNRT_NULL_PTR,
                             "tensor '%s': %u quantization parameters, but params is NULL", nnrti_text_of(t->name),
                             count);
        return;
    }
    t->quantParams = NNRT_QuantParamList_make(
        (const NNRT_QuantParam *)nnrti_builder_copy(builder, params, count, sizeof(*params)), count);
    nnrti_builder_again(builder, tensor);
}

NNRT_API void nnrt_builder_quant_axis(nnrt_builder *builder, uint32_t tensor, int32_t quantAxis)
{
    NNRT_Tensor *t = nnrti_builder_change(builder, tensor, "nnrt_builder_quant_axis");
    if (t == NULL)
        return;
    t->quantAxis = quantAxis;
    nnrti_builder_again(builder, tensor);
}

NNRT_API void nnrt_builder_symbols(nnrt_builder *builder, uint32_t tensor, const uint32_t *symbols, uint32_t count)
{
    NNRT_Tensor *t = nnrti_builder_change(builder, tensor, "nnrt_builder_symbols");
    if (t == NULL)
        return;
    if (count > 0 && symbols == NULL)
        (void)nnrt_error_set(&builder->error, NNRT_NULL_PTR, "tensor '%s': %u symbols, but symbols is NULL",
                             nnrti_text_of(t->name), count);
    else
        t->symbols = NNRT_Uint32List_make(
            (const uint32_t *)nnrti_builder_copy(builder, symbols, count, sizeof(*symbols)), count);
    nnrti_builder_again(builder, tensor);
}

/* A whole attribute struct of s in memory: from `bytes` bytes at attr, defaults for the rest; lists are not copied. */
static void *nnrti_builder_attr(nnrt_builder *b, const nnrt_attr_struct *s, const void *attr, size_t bytes)
{
    uint8_t *copy = (uint8_t *)nnrti_builder_keep(b, 1, s->bytes);
    if (copy == NULL)
        return NULL;
    nnrt_attr_defaults(s, copy);
    for (uint32_t i = 0; i < s->count && attr != NULL; i++)
        if (s->members[i].offset + s->members[i].bytes <= bytes)
            memcpy(copy + s->members[i].offset, (const uint8_t *)attr + s->members[i].offset, s->members[i].bytes);
    return copy;
}

/* A copy of a list of indices; its data are NULL after a fault. */
static NNRT_Uint32List nnrti_builder_list(nnrt_builder *b, const uint32_t *list, uint32_t count)
{
    return NNRT_Uint32List_make((const uint32_t *)nnrti_builder_copy(b, list, count, sizeof(*list)), count);
}

/* Write access to a list of a node in g->edit, which owns its lists. */
static uint32_t *nnrti_ids(const NNRT_Uint32List *list)
{
    return (uint32_t *)(uintptr_t)list->data;
}

/* Entry k of a list of operands; NNRT_NO_TENSOR if the list is shorter. */
NNRTI_NOINLINE static uint32_t nnrti_id(const NNRT_Uint32List *list, uint32_t k)
{
    return k < list->count ? list->data[k] : NNRT_NO_TENSOR;
}

/* Iterates over the tensors of a list, begun with *k = 0: true while *t = entry *k - 1, which is present. */
static bool nnrti_next_id(const NNRT_Uint32List *list, uint32_t *k, uint32_t *t)
{
    for (*t = NNRT_NO_TENSOR; *k < list->count && *t == NNRT_NO_TENSOR;)
        *t = list->data[(*k)++];
    return *t != NNRT_NO_TENSOR;
}

/* The same for the graphs that node n runs. */
static bool nnrti_next_graph(const NNRT_Node *n, uint32_t *k, uint32_t *graph)
{
    for (*graph = NNRT_NO_GRAPH; *k < nnrt_node_graphs(n) && *graph == NNRT_NO_GRAPH;)
        *graph = nnrt_node_graph(n, (*k)++);
    return *graph != NNRT_NO_GRAPH;
}

/* The current content of the builder as a model, for shape rules and checks. It uses b's arrays in place and is valid
   until one of them grows. */
static NNRT_Model nnrti_builder_model(const nnrt_builder *b)
{
    NNRT_Model m;
    memset(&m, 0, sizeof(m));
    m.name = b->name;
    m.inputIndex = NNRT_Uint32List_make(b->inputs, nnrti_array_count(b->inputs));
    m.outputIndex = NNRT_Uint32List_make(b->outputs, nnrti_array_count(b->outputs));
    m.nodes = NNRT_NodeList_make(b->nodes, nnrti_array_count(b->nodes));
    m.allTensors = NNRT_TensorList_make(b->tensors, nnrti_array_count(b->tensors));
    m.subGraph = NNRT_SubGraphList_make(b->graphs, b->graphs != NULL ? nnrti_array_count(b->graphs) : 1);
    return m;
}

/* Gives dynamic dimensions of input t, in shapes[t], a placeholder size (NNRTI_OPEN_EXTENT) and a symbol: shape rules
   compute with sizes, the symbol marks results that depend on a dynamic dimension. Dimensions with the same number in
   NNRT_Tensor.symbols get the same symbol. inputAxes: the dynamic dimensions of earlier inputs, allocated from memory;
   false: no memory. */
static bool nnrti_builder_open_input(const nnrt_builder *b, nnrt_operand *shapes, uint32_t t,
                                     nnrti_input_axis **inputAxes, nnrt_memory *memory, uint32_t *symbols)
{
    const NNRT_Uint32List *own = &b->tensors[t].symbols;
    nnrt_operand *o = &shapes[t];
    for (int32_t k = 0; k < o->rank; k++)
        if (o->dims[k] < 0) {
            o->dims[k] = NNRTI_OPEN_EXTENT;
            o->symbols[k] = nnrti_input_symbol(inputAxes, own->count > 0 ? own->data[k] : 0, memory, symbols);
            if (o->symbols[k] == 0)
                return false;
        }
    nnrti_fit_open(o);
    return true;
}

/* Sets the declared properties of tensor t; known if it is an input or a constant. */
static bool nnrti_builder_shape(nnrt_builder *b, const NNRT_Model *m, uint32_t t)
{
    nnrt_operand *o = &b->shapes[t];
    const NNRT_ReturnCode code = nnrti_check_tensor(m, t, &b->error);
    if (code != NNRT_SUCCESS)
        return nnrt_error_blame(&b->error, code, -1, t) == NNRT_SUCCESS;
    nnrti_operand_of(&b->tensors[t], o);
    b->known[t] = b->writers[t] == NNRTI_BY_INPUT || b->writers[t] == NNRTI_BY_CONSTANT;
    if (b->writers[t] == NNRTI_BY_INPUT &&
        !nnrti_builder_open_input(b, b->shapes, t, &b->inputAxes, &b->memory, &b->symbols))
        nnrti_builder_no_memory(b);
    return !nnrti_builder_failed(b);
}

/* The properties of tensor t for the next node that reads it; NULL after a fault. */
static const nnrt_operand *nnrti_builder_operand(nnrt_builder *b, uint32_t t)
{
    NNRT_Model m;
    nnrti_builder_tables(b);
    if (nnrti_builder_failed(b))
        return NULL;
    m = nnrti_builder_model(b);
    if (b->named[t] == 0 && !nnrti_builder_shape(b, &m, t))
        return NULL;
    b->named[t] = b->named[t] > NNRTI_WRITTEN ? b->named[t] : NNRTI_WRITTEN;
    return &b->shapes[t];
}

/* Sets the properties of tensor t, an input of a subgraph that receives nodes before a node runs it. */
static NNRTI_UNUSED void nnrti_builder_given(nnrt_builder *b, uint32_t t, const nnrt_operand *o)
{
    if (nnrti_builder_operand(b, t) == NULL)
        return;
    b->shapes[t] = *o;
    b->shapes[t].name = nnrti_text_of(b->tensors[t].name);
    b->known[t] = 1;
}

/* Records that the newest node reads or writes the tensors of list (how: NNRTI_READ or NNRTI_WRITTEN); a tensor that no
   node used before gets its declared properties. */
static bool nnrti_builder_name(nnrt_builder *b, const NNRT_Model *m, const NNRT_Uint32List *list, uint8_t how)
{
    for (uint32_t k = 0, t; nnrti_next_id(list, &k, &t);) {
        if (b->named[t] == 0 && !nnrti_builder_shape(b, m, t))
            return false;
        b->named[t] = b->named[t] > how ? b->named[t] : how;
    }
    return true;
}

/* Adds a node to a graph. */
static void nnrti_builder_push_node(nnrt_builder *b, const NNRT_Node *node, uint32_t graph)
{
    if (b->graphs != NULL) {
        NNRTI_PUSH(b, uint32_t, b->owners, graph);
        NNRTI_PUSH(b, uint32_t, b->before, b->building[graph].last);
    }
    NNRTI_PUSH(b, NNRT_Node, b->nodes, *node);
    if (!nnrti_builder_failed(b) && b->graphs != NULL)
        b->building[graph].last = nnrti_array_count(b->nodes) - 1;
}

/* Removes all nodes from index `count` on, and restores the last node of each graph. */
static void nnrti_builder_cut_nodes(nnrt_builder *b, uint32_t count)
{
    for (uint32_t n = nnrti_array_count(b->owners); n-- > count;)
        b->building[b->owners[n]].last = b->before[n];
    nnrti_array_cut(b->nodes, count);
    nnrti_array_cut(b->owners, count);
    nnrti_array_cut(b->before, count);
}

/* Appends a graph. The first call creates the main graph, which owns all nodes so far: models without subgraphs pay
   nothing for the tables of graphs. */
static void nnrti_builder_push_graph(nnrt_builder *b, const char *name)
{
    const uint32_t nodes = b->graphs == NULL ? nnrti_array_count(b->nodes) : 0;
    nnrti_building building;
    NNRT_SubGraph s;
    memset(&s, 0, sizeof(s));
    memset(&building, 0, sizeof(building));
    building.caller = NNRTI_BY_NOBODY;
    building.height = 1;
    building.last = nodes - 1; /* NNRTI_BY_NOBODY */
    s.name = nnrti_builder_text(b, name);
    for (uint32_t i = 0; i < nodes && !nnrti_builder_failed(b); i++) {
        NNRTI_PUSH(b, uint32_t, b->owners, 0);
        NNRTI_PUSH(b, uint32_t, b->before, i - 1);
    }
    NNRTI_PUSH(b, nnrti_building, b->building, building);
    NNRTI_PUSH(b, NNRT_SubGraph, b->graphs, s);
}

/* Operands of node n, or of the widest node in the subgraphs that it runs. */
static size_t nnrti_builder_width(const nnrt_builder *b, uint32_t n)
{
    size_t width = nnrti_node_operands(&b->nodes[n]);
    for (uint32_t k = 0, g; nnrti_next_graph(&b->nodes[n], &k, &g);)
        width = b->building[g].widest > width ? b->building[g].widest : width;
    return width;
}

/* Closes graph g, which node n runs: lists its nodes in nodeIndices, in the order in which they were added, and sets
   widest. */
static void nnrti_builder_close(nnrt_builder *b, uint32_t g, uint32_t n)
{
    nnrti_building *building = &b->building[g];
    uint32_t count = 0, *nodes;
    for (uint32_t i = building->last; i != NNRTI_BY_NOBODY; i = b->before[i])
        count++;
    nodes = (uint32_t *)nnrti_builder_keep(b, count, sizeof(*nodes));
    if (nodes == NULL)
        return;
    b->graphs[g].nodeIndices = NNRT_Uint32List_make(nodes, count);
    for (uint32_t i = building->last; i != NNRTI_BY_NOBODY; i = b->before[i]) {
        const size_t width = nnrti_builder_width(b, i);
        nodes[--count] = i;
        building->widest = width > building->widest ? width : building->widest;
    }
    building->caller = n;
}

/* Appends a copy of tensor t for the copy of a subgraph and records it in twins[t]; data are shared. */
static void nnrti_builder_twin_tensor(nnrt_builder *b, uint32_t t, uint32_t writer)
{
    const NNRT_Tensor tensor = b->tensors[t];
    NNRTI_PUSH(b, uint8_t, b->copied, 0);
    NNRTI_PUSH(b, NNRT_Tensor, b->tensors, tensor);
    NNRTI_PUSH(b, uint32_t, b->twinned, t);
    nnrti_builder_tables(b);
    if (nnrti_builder_failed(b))
        return;
    b->twins[t] = nnrti_array_count(b->tensors) - 1;
    b->writers[b->twins[t]] = writer;
}

/* Copies a list, with the copies of tensors that have one. */
static NNRT_Uint32List nnrti_builder_twin_list(nnrt_builder *b, const NNRT_Uint32List *list)
{
    const NNRT_Uint32List twin = nnrti_builder_list(b, list->data, list->count);
    for (uint32_t k = 0, t; twin.data != NULL && nnrti_next_id(list, &k, &t);)
        if (b->twins[t] != NNRT_NO_TENSOR)
            nnrti_ids(&twin)[k - 1] = b->twins[t];
    return twin;
}

static void nnrti_builder_run(nnrt_builder *b, uint32_t n);

/* Copies graph g for another node that runs it: tensors, nodes and inner graphs are copied; constants, and tensors
   that it reads from the graphs around it, are shared. */
static uint32_t nnrti_builder_twin(nnrt_builder *b, uint32_t g)
{
    const uint32_t twin = nnrti_array_count(b->graphs);
    const NNRT_SubGraph graph = b->graphs[g];
    nnrti_builder_push_graph(b, graph.name);
    for (uint32_t k = 0; k < graph.inputIndices.count && !nnrti_builder_failed(b); k++)
        nnrti_builder_twin_tensor(b, graph.inputIndices.data[k], NNRTI_BY_CALLER);
    for (uint32_t i = 0; i < graph.nodeIndices.count && !nnrti_builder_failed(b); i++) {
        const NNRT_Uint32List out = b->nodes[graph.nodeIndices.data[i]].outputIndex;
        for (uint32_t k = 0, t; nnrti_next_id(&out, &k, &t) && !nnrti_builder_failed(b);)
            nnrti_builder_twin_tensor(b, t, NNRTI_BY_NOBODY);
    }
    for (uint32_t i = 0; i < graph.nodeIndices.count && !nnrti_builder_failed(b); i++) {
        const uint32_t n = nnrti_array_count(b->nodes);
        NNRT_Node node = b->nodes[graph.nodeIndices.data[i]];
        NNRT_Model m;
        node.inputIndex = nnrti_builder_twin_list(b, &node.inputIndex);
        node.outputIndex = nnrti_builder_twin_list(b, &node.outputIndex);
        if (nnrt_node_graphs(&node) > 0)
            node.nodeAttr.data = nnrti_builder_copy(b, node.nodeAttr.data, node.nodeAttr.size, 1);
        nnrti_builder_push_node(b, &node, twin);
        if (nnrti_builder_failed(b))
            break;
        m = nnrti_builder_model(b);
        if (nnrti_check_node(&m, n, b->writers, false, &b->error) == NNRT_SUCCESS &&
            nnrti_builder_name(b, &m, &node.inputIndex, NNRTI_READ) &&
            nnrti_builder_name(b, &m, &node.outputIndex, NNRTI_WRITTEN))
            nnrti_builder_run(b, n);
    }
    if (!nnrti_builder_failed(b)) {
        b->building[twin].height = b->building[g].height;
        b->graphs[twin].inputIndices = nnrti_builder_twin_list(b, &graph.inputIndices);
        b->graphs[twin].outputIndices = nnrti_builder_twin_list(b, &graph.outputIndices);
    }
    return twin;
}

/* Closes the graphs that node n runs; its attributes must be the builder's copy, as graph numbers in them may change. A
   graph that another node runs already is copied. Rules: a graph does not run itself, and the nesting depth is at most
   NNRT_MAX_NESTING. */
NNRTI_COLD static void nnrti_builder_run(nnrt_builder *b, uint32_t n)
{
    const uint32_t owner = b->owners != NULL ? b->owners[n] : 0;
    for (uint32_t k = 0, g; nnrti_next_graph(&b->nodes[n], &k, &g) && !nnrti_builder_failed(b);) {
        if (g == owner || b->building[g].height > NNRT_MAX_NESTING) {
            (void)nnrt_error_blame(&b->error, nnrti_nested(g, &b->error), n, -1);
            return;
        }
        if (b->building[g].caller != NNRTI_BY_NOBODY) {
            const nnrt_attr_member *a = &nnrt_op_find(b->nodes[n].nodeType)->attr->members[k - 1];
            g = nnrti_builder_twin(b, g);
            memcpy((uint8_t *)(uintptr_t)b->nodes[n].nodeAttr.data + a->offset, &g, sizeof(g));
        }
        if (nnrti_builder_failed(b))
            return;
        nnrti_builder_close(b, g, n);
        if (b->building[owner].height <= b->building[g].height)
            b->building[owner].height = b->building[g].height + 1;
    }
}

/* Connects the newest node with the graphs that it runs, if any: closes or copies them, clears the table of copies, and
   marks their outputs as read (these may be tensors that no node reads). */
static void nnrti_builder_runs(nnrt_builder *b, uint32_t n)
{
    NNRT_Model m;
    if (nnrti_builder_failed(b) || nnrt_node_graphs(&b->nodes[n]) == 0)
        return;
    nnrti_builder_run(b, n);
    for (uint32_t i = 0; i < nnrti_array_count(b->twinned); i++)
        b->twins[b->twinned[i]] = NNRT_NO_TENSOR;
    nnrti_array_cut(b->twinned, 0);
    m = nnrti_builder_model(b);
    for (uint32_t k = 0, g; nnrti_next_graph(&b->nodes[n], &k, &g) && !nnrti_builder_failed(b);)
        (void)nnrti_builder_name(b, &m, &b->graphs[g].outputIndices, NNRTI_READ);
}

/* Checks the newest node as far as possible without inference. */
static bool nnrti_builder_check(nnrt_builder *b, const NNRT_Model *m, uint32_t n)
{
    const NNRT_Node *node = &b->nodes[n];
    const nnrt_op *op = nnrt_op_find(node->nodeType);
    const NNRT_ReturnCode code = nnrti_check_node(m, n, b->writers, false, &b->error);
    if (code != NNRT_SUCCESS)
        return nnrt_error_blame(&b->error, code, n, -1) == NNRT_SUCCESS;
    if (node->nodeAttr.data != NULL && !nnrti_attr_lists(op->attr, node->nodeAttr.data))
        return nnrt_error_blame(&b->error,
                           nnrt_error_set(&b->error, NNRT_NULL_PTR,
                                          "node %u '%s' (%s): a list of its attributes counts entries, but has no data",
                                          n, nnrti_text_of(node->name), op->name),
                           n, -1) == NNRT_SUCCESS;
    if (b->entered != 0 && b->building[b->entered].caller != NNRTI_BY_NOBODY)
        return nnrt_error_blame(&b->error,
                           nnrt_error_set(&b->error, NNRT_OPERATION_FORBIDDEN,
                                          "node %u '%s' (%s): subgraph %u gets no more nodes, node %u '%s' runs it", n,
                                          nnrti_text_of(node->name), op->name, b->entered,
                                          b->building[b->entered].caller,
                                          nnrti_text_of(b->nodes[b->building[b->entered].caller].name)),
                           n, -1) == NNRT_SUCCESS;
    return true;
}

/* Layout propagation and types for a node whose shapes cannot be inferred: results have the type that the signature of
   the operator derives from an input ('=') or fixes ('b': bool), or that the results of its graphs have; and
   layout-dependent and elementwise operators pass the format (NCHW or NHWC) of input 0 on. So passes can compare types
   and formats behind a dynamic shape, and importers know the types of values whose rank is unknown. */
static void nnrti_guess_types(nnrt_operand *shapes, const NNRT_Model *m, const NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    nnrti_sig s;
    for (uint32_t i = 0; i < nnrt_node_graphs(n); i++) { /* the results of a LOOP's body begin with its cond */
        const uint32_t g = nnrt_node_graph(n, i), first = n->nodeType == NNRT_NODE_TYPE_LOOP ? 1 : 0;
        const NNRT_Uint32List *out = g < m->subGraph.count ? &m->subGraph.data[g].outputIndices : NULL;
        for (uint32_t k = 0; out != NULL && k < n->outputIndex.count && first + k < out->count; k++) {
            const uint32_t from = out->data[first + k], to = n->outputIndex.data[k];
            if (from != NNRT_NO_TENSOR && to != NNRT_NO_TENSOR && shapes[to].dataType == NNRT_DATA_TYPE_UNKNOWN)
                shapes[to].dataType = shapes[from].dataType;
        }
    }
    nnrti_sig_begin(&s, op->outputs);
    for (uint32_t k = 0; k < n->outputIndex.count; k++) {
        uint32_t from = NNRT_NO_TENSOR, to = n->outputIndex.data[k];
        if (!nnrti_sig_next(&s))
            return;
        if (to == NNRT_NO_TENSOR)
            continue;
        if (s.code == '=')
            from = nnrti_id(&n->inputIndex, (uint32_t)s.same);
        if (from != NNRT_NO_TENSOR)
            shapes[to].dataType = shapes[from].dataType;
        if (s.code == 'b')
            shapes[to].dataType = NNRT_DATA_TYPE_BOOL;
        if (((op->flags & NNRT_OP_LAYOUT) || (op->flags & NNRTI_MAP) == NNRTI_MAP) &&
            nnrti_id(&n->inputIndex, 0) != NNRT_NO_TENSOR)
            shapes[to].format = shapes[n->inputIndex.data[0]].format;
    }
}

/* Whether node n may have been refused with this code only because of the size assumed for a dynamic dimension. */
static bool nnrti_builder_open(const nnrt_builder *b, uint32_t n, NNRT_ReturnCode code)
{
    const NNRT_Uint32List *in = &b->nodes[n].inputIndex;
    const bool runs = nnrti_is_control(b->nodes[n].nodeType);
    bool open = runs && b->symbols > 0; /* its graphs may read anything */
    for (uint32_t k = 0, t; !open && nnrti_next_id(in, &k, &t);) {
        open = nnrti_value_dynamic(&b->shapes[t]);
        for (int32_t i = 0; i < b->shapes[t].rank; i++)
            open = open || b->shapes[t].symbols[i] != 0;
    }
    switch (code) {
    case NNRT_INVALID_DATATYPE:
    case NNRT_INVALID_FORMAT:
    case NNRT_INVALID_INPUT:
    case NNRT_INVALID_OUTPUT:
    case NNRT_NULL_PTR: return false;
    default: return open;
    }
}

/* Infers the results of node n by the shape rule of its operator, if its inputs are known. */
static NNRT_ReturnCode nnrti_builder_rule(nnrt_builder *b, const NNRT_Model *m, uint32_t n, bool *skipped, bool *folded)
{
    const bool runs = nnrti_is_control(b->nodes[n].nodeType);
    const size_t width = nnrti_builder_width(b, n);
    nnrti_inference f;
    nnrt_resolve c;
    NNRT_ReturnCode code;
    memset(&f, 0, sizeof(f));
    f.model = m;
    f.memory = &b->inferred;
    f.tensors = b->shapes;
    f.known = b->known;
    f.error = &b->error;
    f.symbols = b->symbols;
    f.worth = b->worth;
    f.user = b->user;
    *folded = false;
    *skipped = !nnrti_node_known(&f, n);
    if (*skipped)
        return NNRT_SUCCESS;
    f.operands = (nnrt_operand *)nnrt_memory_temp_array(&b->inferred, width, sizeof(*f.operands));
    f.results = (void **)nnrt_memory_temp_array(&b->inferred, width, sizeof(*f.results));
    f.opened = b->opened;
    if (b->inferred.full)
        return NNRT_OUT_OF_MEMORY;
    if (runs)
        nnrti_control_fresh(&f, n);
    code = runs ? nnrti_infer_control(&f, n) : nnrti_infer_node(&f, n, &c, folded);
    b->symbols = f.symbols;
    *skipped = f.skipped;
    return code;
}

/* Multiplies the assumed sizes of the node's dynamic input dimensions by 8, or divides them again. A tensor that the node
   reads twice changes twice. */
static void nnrti_builder_assume(nnrt_builder *b, uint32_t n, bool larger)
{
    const NNRT_Uint32List *in = &b->nodes[n].inputIndex;
    for (uint32_t k = 0, t; nnrti_next_id(in, &k, &t);)
        for (int32_t i = 0; i < b->shapes[t].rank; i++)
            if (b->shapes[t].symbols[i] != 0)
                b->shapes[t].dims[i] = larger ? b->shapes[t].dims[i] * 8 : b->shapes[t].dims[i] / 8;
}

/* Whether nnrti_builder_assume keeps all sizes small enough. */
static bool nnrti_builder_may_assume(const nnrt_builder *b, uint32_t n)
{
    const NNRT_Uint32List *in = &b->nodes[n].inputIndex;
    for (uint32_t k = 0, t; nnrti_next_id(in, &k, &t);)
        for (int32_t i = 0; i < b->shapes[t].rank; i++)
            if (b->shapes[t].symbols[i] != 0 && b->shapes[t].dims[i] > NNRTI_OPEN_EXTENT * 8)
                return false;
    return true;
}

/* nnrti_builder_rule. If it refuses sizes that are only assumed, larger ones are tried twice: a window of 512 samples
   does not fit a sound of NNRTI_OPEN_EXTENT. Not more often, because some sizes never grow: a slice that begins behind
   NNRTI_OPEN_EXTENT stays empty. */
static NNRT_ReturnCode nnrti_builder_rules(nnrt_builder *b, const NNRT_Model *m, uint32_t n, bool *skipped, bool *folded)
{
    const bool runs = nnrti_is_control(b->nodes[n].nodeType);
    NNRT_ReturnCode code = nnrti_builder_rule(b, m, n, skipped, folded);
    int larger = 0;
    while (code != NNRT_SUCCESS && larger < 2 && !*skipped && !b->inferred.full && !runs &&
           nnrti_builder_open(b, n, code) && nnrti_builder_may_assume(b, n)) {
        memset(&b->error, 0, sizeof(b->error));
        nnrt_memory_drop_temp(&b->inferred);
        nnrti_builder_assume(b, n, true);
        larger++;
        code = nnrti_builder_rule(b, m, n, skipped, folded);
    }
    for (; larger > 0; larger--)
        nnrti_builder_assume(b, n, false);
    return code;
}

/* Infers node n. Results that depend on dynamic dimensions or unknown tensors stay unknown. True: all results are
   known values. */
NNRTI_COLD static bool nnrti_builder_infer(nnrt_builder *b, const NNRT_Model *m, uint32_t n)
{
    const NNRT_Uint32List *out = &b->nodes[n].outputIndex;
    bool skipped, folded;
    const NNRT_ReturnCode code = nnrti_builder_rules(b, m, n, &skipped, &folded);
    const bool full = b->inferred.full;
    nnrt_memory_drop_temp(&b->inferred);
    if (full) {
        memset(&b->error, 0, sizeof(b->error));
        nnrti_builder_no_memory(b);
    } else if (code != NNRT_SUCCESS && (skipped || nnrti_builder_open(b, n, code))) {
        memset(&b->error, 0, sizeof(b->error));
        for (uint32_t k = 0, t; nnrti_next_id(out, &k, &t);) {
            (void)nnrti_operand_of(&b->tensors[t], &b->shapes[t]);
            b->known[t] = 0;
        }
    } else if (code != NNRT_SUCCESS) {
        (void)nnrt_error_blame(&b->error, code, n, -1);
    }
    if (skipped || code != NNRT_SUCCESS)
        nnrti_guess_types(b->shapes, m, &b->nodes[n]);
    b->waiting = b->waiting || skipped;
    for (uint32_t k = 0, t; nnrti_next_id(out, &k, &t);)
        for (int32_t i = 0; i < b->shapes[t].rank; i++)
            b->shapes[t].symbols[i] &= ~NNRTI_UNBOUNDED;
    return folded && !nnrti_builder_failed(b);
}

/* A property of a tensor changed: infers the node that writes it again. */
static void nnrti_builder_again(nnrt_builder *b, uint32_t tensor)
{
    NNRT_Model m;
    if (nnrti_builder_failed(b) || tensor >= nnrti_array_count(b->named) || b->named[tensor] == 0)
        return;
    m = nnrti_builder_model(b);
    if (nnrti_builder_shape(b, &m, tensor) && b->writers[tensor] < m.nodes.count)
        (void)nnrti_builder_infer(b, &m, b->writers[tensor]);
}

/* Infers nodes of the main graph that waited for an input, producers first (order: of nnrt_model_check). Called by
   nnrt_builder_finish, when every tensor has its writer. */
static void nnrti_builder_wait(nnrt_builder *b, const NNRT_Model *m, const uint32_t *order)
{
    const uint32_t *begin = order + m->nodes.count;
    for (uint32_t i = begin[0]; i < begin[1] && b->waiting && !nnrti_builder_failed(b); i++) {
        const NNRT_Uint32List *out = &m->nodes.data[order[i]].outputIndex;
        bool known = true;
        for (uint32_t k = 0, t; nnrti_next_id(out, &k, &t);)
            known = known && b->known[t] != 0;
        if (!known)
            (void)nnrti_builder_infer(b, m, order[i]);
    }
}

/* Makes tensor t the constant o. Its data are in b and belong to t alone, or are shared with constant `from`, which
   then counts as shared as well (no NNRTI_ALONE). */
static bool nnrti_builder_settle(nnrt_builder *b, uint32_t t, const nnrt_operand *o, uint32_t from)
{
    NNRT_Tensor *tensor = &b->tensors[t];
    if (!nnrti_builder_dims(b, nnrti_text_of(tensor->name), o->rank, o->dims, 0, &tensor->dims))
        return false;
    tensor->dataType = o->dataType;
    tensor->format = o->format;
    tensor->quantParams = NNRT_QuantParamList_make(o->quant, o->quantCount);
    tensor->quantAxis = o->quantAxis;
    tensor->symbols = NNRT_Uint32List_make(NULL, 0); /* its dimensions are known now */
    if (!nnrti_builder_data(b, tensor, nnrti_text_of(tensor->name), o->data, false))
        return false;
    if (from != NNRT_NO_TENSOR)
        b->copied[from] = b->copied[from] != 0;
    b->copied[t] = from != NNRT_NO_TENSOR ? b->copied[from] : NNRTI_ALONE;
    return true;
}

/* Constant folding during import: the results of the newest node, all known, become constants, and the node is removed.
   A result with the data of a constant input (a reshape) shares them. */
static void nnrti_builder_settle_node(nnrt_builder *b)
{
    const uint32_t n = nnrti_array_count(b->nodes) - 1;
    const NNRT_Node *node = &b->nodes[n];
    for (uint32_t k = 0, t; nnrti_next_id(&node->outputIndex, &k, &t);) {
        uint32_t from = NNRT_NO_TENSOR;
        for (uint32_t i = 0, x; nnrti_next_id(&node->inputIndex, &i, &x);)
            if (nnrti_is_constant(&b->tensors[x]) && b->shapes[x].data == b->shapes[t].data)
                from = x;
        if (!nnrti_builder_settle(b, t, &b->shapes[t], from))
            return;
        b->writers[t] = NNRTI_BY_CONSTANT;
    }
    nnrti_builder_cut_nodes(b, n);
}

/* A checkpoint of the builder, for rollback: everything added after it is removed. */
typedef struct nnrti_builder_mark {
    uint32_t tensors, nodes, graphs;
} nnrti_builder_mark;

static NNRTI_UNUSED nnrti_builder_mark nnrti_builder_here(const nnrt_builder *b)
{
    nnrti_builder_mark m;
    m.tensors = nnrti_array_count(b->tensors);
    m.nodes = nnrti_array_count(b->nodes);
    m.graphs = b->graphs != NULL ? nnrti_array_count(b->graphs) : 1;
    return m;
}

/* Rollback to mark m. Memory that was allocated since stays until the builder is cleared. */
static NNRTI_UNUSED void nnrti_builder_back(nnrt_builder *b, nnrti_builder_mark m)
{
    nnrti_array_cut(b->tensors, m.tensors);
    nnrti_array_cut(b->copied, m.tensors);
#define NNRTI_CUT(T, table, value) nnrti_array_cut(b->table, m.tensors);
    NNRTI_BUILDER_TABLES(NNRTI_CUT)
#undef NNRTI_CUT
    nnrti_builder_cut_nodes(b, m.nodes);
    nnrti_array_cut(b->graphs, m.graphs);
    nnrti_array_cut(b->building, m.graphs);
}

NNRTI_COLD NNRT_API void nnrt_builder_node(nnrt_builder *builder, const char *name, NNRT_NodeType type,
                                           const void *attr, const uint32_t *inputs, uint32_t nIn,
                                           const uint32_t *outputs, uint32_t nOut)
{
    const nnrt_op *op = nnrt_op_find(type);
    uint32_t n;
    NNRT_Node node;
    NNRT_Model m;
    if (nnrti_builder_failed(builder))
        return;
    n = nnrti_array_count(builder->nodes);
    memset(&node, 0, sizeof(node));
    node.name = nnrti_builder_text(builder, name);
    node.nodeType = type;
    node.nodeAttr.data = attr;
    node.nodeAttr.size = op != NULL ? op->attr->bytes : 0;
    node.inputIndex = NNRT_Uint32List_make(inputs, nIn);
    node.outputIndex = NNRT_Uint32List_make(outputs, nOut);
    nnrti_builder_push_node(builder, &node, builder->entered);
    nnrti_builder_tables(builder);
    if (nnrti_builder_failed(builder))
        return;
    m = nnrti_builder_model(builder);
    if (!nnrti_builder_check(builder, &m, n))
        return;
    node.nodeAttr.data = attr != NULL ? nnrti_attr_copy(op->attr, attr, nnrti_builder_alloc, builder)
                                      : nnrti_builder_attr(builder, op->attr, NULL, 0);
    node.inputIndex = nnrti_builder_list(builder, inputs, nIn);
    node.outputIndex = nnrti_builder_list(builder, outputs, nOut);
    builder->nodes[n] = node;
    nnrti_builder_runs(builder, n);
    m = nnrti_builder_model(builder);
    if (!nnrti_builder_failed(builder) && nnrti_builder_name(builder, &m, &node.inputIndex, NNRTI_READ) &&
        nnrti_builder_name(builder, &m, &node.outputIndex, NNRTI_WRITTEN) && nnrti_builder_infer(builder, &m, n) &&
        builder->worth != NULL)
        nnrti_builder_settle_node(builder);
}

NNRT_API uint32_t nnrt_builder_op(nnrt_builder *builder, const char *name, NNRT_NodeType type, const void *attr,
                                  const uint32_t *inputs, uint32_t nIn)
{
    uint32_t result = nnrt_builder_tensor(builder, name);
    if (result != NNRT_NO_TENSOR)
        nnrt_builder_node(builder, name, type, attr, inputs, nIn, &result, 1);
    return nnrti_builder_failed(builder) ? NNRT_NO_TENSOR : result;
}

NNRT_API void nnrt_builder_output(nnrt_builder *builder, uint32_t tensor)
{
    const NNRT_Tensor *t = nnrti_builder_at(builder, tensor, "nnrt_builder_output");
    uint32_t i = 0;
    if (t == NULL)
        return;
    nnrti_builder_tables(builder);
    if (nnrti_builder_failed(builder))
        return;
    if (builder->isOutput[tensor]) {
        while (builder->outputs[i] != tensor)
            i++;
        (void)nnrt_error_set(&builder->error, NNRT_OPERATION_FORBIDDEN,
                             "nnrt_builder_output: tensor %u '%s' is output %u already", tensor, nnrti_text_of(t->name),
                             i);
        return;
    }
    builder->isOutput[tensor] = 1;
    NNRTI_PUSH(builder, uint32_t, builder->outputs, tensor);
}

NNRT_API uint32_t nnrt_builder_graph(nnrt_builder *builder, const char *name)
{
    if (nnrti_builder_failed(builder))
        return NNRT_NO_GRAPH;
    if (builder->graphs == NULL)
        nnrti_builder_push_graph(builder, "main");
    if (!nnrti_builder_failed(builder))
        nnrti_builder_push_graph(builder, name);
    return nnrti_builder_failed(builder) ? NNRT_NO_GRAPH : nnrti_array_count(builder->graphs) - 1;
}

/* Rule: graph exists; a violation records a fault and returns false. */
static bool nnrti_builder_has_graph(nnrt_builder *b, uint32_t graph, const char *what)
{
    uint32_t most;
    if (nnrti_builder_failed(b))
        return false;
    most = b->graphs != NULL ? nnrti_array_count(b->graphs) - 1 : 0;
    if (graph > most)
        (void)nnrt_error_set(&b->error, NNRT_INVALID_PARAMETER, "%s: there is no subgraph %u, only %u", what, graph,
                             most);
    return graph <= most;
}

NNRT_API void nnrt_builder_enter(nnrt_builder *builder, uint32_t graph)
{
    if (nnrti_builder_has_graph(builder, graph, "nnrt_builder_enter"))
        builder->entered = graph;
}

/* Rule: the list has data if it has entries, and each entry is an existing tensor. */
static bool nnrti_builder_tensors(nnrt_builder *b, const uint32_t *list, uint32_t count)
{
    if (count > 0 && list == NULL)
        nnrt_builder_fail(b, NNRT_NULL_PTR, "nnrt_builder_graph_io: a list that counts entries is NULL");
    for (uint32_t i = 0; i < count && !nnrti_builder_failed(b); i++)
        (void)nnrti_builder_at(b, list[i], "nnrt_builder_graph_io");
    return !nnrti_builder_failed(b);
}

NNRT_API void nnrt_builder_graph_io(nnrt_builder *builder, uint32_t graph, const uint32_t *inputs, uint32_t nIn,
                                    const uint32_t *outputs, uint32_t nOut)
{
    NNRT_SubGraph *s;
    if (!nnrti_builder_has_graph(builder, graph, "nnrt_builder_graph_io"))
        return;
    if (graph == 0)
        nnrt_builder_fail(
            builder, NNRT_INVALID_PARAMETER,
            "nnrt_builder_graph_io: graph 0 is the main graph, use nnrt_builder_input and nnrt_builder_output");
    if (nnrti_builder_failed(builder) || !nnrti_builder_tensors(builder, inputs, nIn) ||
        !nnrti_builder_tensors(builder, outputs, nOut))
        return;
    nnrti_builder_tables(builder);
    if (nnrti_builder_failed(builder))
        return;
    s = &builder->graphs[graph];
    for (uint32_t k = 0; k < s->inputIndices.count; k++)
        if (builder->writers[s->inputIndices.data[k]] == NNRTI_BY_CALLER) /* it has others now */
            builder->writers[s->inputIndices.data[k]] = NNRTI_BY_NOBODY;
    s->inputIndices = nnrti_builder_list(builder, inputs, nIn);
    s->outputIndices = nnrti_builder_list(builder, outputs, nOut);
    for (uint32_t k = 0; k < nIn && !nnrti_builder_failed(builder); k++)
        if (builder->writers[inputs[k]] == NNRTI_BY_NOBODY) /* otherwise nnrt_model_check reports it */
            builder->writers[inputs[k]] = NNRTI_BY_CALLER;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>models */

/* Idea: a model is one block of its allocator - nnrti_owned, tables, constants - so that one call frees it. Invariant:
   a model never changes; optimization makes a new one that keeps the old one alive (replaced), as it uses its
   constants. Rejected: a block per table, with as many ways to fail in between. */

/* Copies tables, names and attributes of m, not its constants, into memory. NULL = no memory. */
static nnrti_owned *nnrti_owned_tables(const NNRT_Model *m, nnrt_memory *memory)
{
    nnrti_owned *o = (nnrti_owned *)nnrt_memory_keep(memory, sizeof(*o));
    NNRT_Model *copy = o != NULL ? nnrti_model_copy(m, memory, false) : NULL;
    if (copy == NULL)
        return NULL;
    o->model = *copy;
    return o;
}

/* Places the constants marked in copied one after the other from offset *at, each aligned to NNRT_ALIGNMENT, and
   advances *at. block NULL: only counts; otherwise copies them into block and redirects the tensors of m, which is in
   that block. False if the size overflows. */
static bool nnrti_owned_constants(const NNRT_Model *m, const uint8_t *copied, uint8_t *block, size_t *at)
{
    for (uint32_t i = 0; i < m->allTensors.count; i++) {
        NNRT_SharedBuffer *d = &((NNRT_Tensor *)(uintptr_t)m->allTensors.data)[i].data;
        if (!copied[i])
            continue;
        if (block != NULL) {
            memcpy(block + *at, nnrti_buffer_data(d), d->dataSize);
            d->addr = block + *at;
            d->fd = -1;
            d->offset = 0;
            d->bufferSize = d->dataSize;
        }
        if (!nnrt_add_size(*at, d->dataSize > 0 ? d->dataSize : 1, at) || !nnrt_round_size(*at, NNRT_ALIGNMENT, at))
            return false;
    }
    return true;
}

/* *model = a copy of m in one block of the allocator, with the constants marked in copied; the other constants are used
   in place. The same walk counts the bytes and fills the block; two formulas would drift apart. */
static NNRT_ReturnCode nnrti_owned_make(const NNRT_Model *m, const uint8_t *copied, const nnrt_allocator *allocator,
                                        NNRT_Model **model)
{
    nnrt_memory memory;
    nnrti_owned *o;
    size_t tables, bytes;
    uint8_t *block;
    nnrt_memory_count(&memory, allocator);
    o = nnrti_owned_tables(m, &memory);
    tables = memory.peak;
    nnrt_memory_end(&memory);
    if (o == NULL || !nnrt_round_size(tables, NNRT_ALIGNMENT, &tables))
        return NNRT_OUT_OF_MEMORY;
    bytes = tables;
    if (!nnrti_owned_constants(m, copied, NULL, &bytes) || (block = (uint8_t *)nnrt_alloc(allocator, bytes)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    nnrt_memory_buffer(&memory, block, tables);
    o = nnrti_owned_tables(m, &memory);
    if (o == NULL || !nnrti_owned_constants(&o->model, copied, block, &tables)) {
        nnrt_free(allocator, block, bytes);
        return NNRT_OUT_OF_MEMORY;
    }
    o->model.self = &o->model;
    if (allocator != NULL)
        o->allocator = *allocator;
    o->bytes = bytes;
    *model = &o->model;
    return NNRT_SUCCESS;
}

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_model_create(NNRT_Model **model, const NNRT_Model *from,
                                                      const NNRT_Model *source, bool copyConstants,
                                                      const nnrt_allocator *allocator, nnrt_error *error)
{
    const nnrti_owned *old = nnrti_owned_of(source);
    const NNRT_Model *mapped;
    uint8_t *copied;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    nnrt_mapping *mappings = NULL;
    nnrt_memory memory;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || from == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_create: %s is NULL", model == NULL ? "model" : "from");
    nnrt_memory_allocate(&memory, allocator);
    if ((mapped = nnrt_model_map(from, &memory, &mappings)) != NULL &&
        (code = nnrt_model_check(mapped, &memory, NULL, error)) == NNRT_SUCCESS) {
        copied = (uint8_t *)nnrt_memory_keep_array(&memory, (size_t)mapped->allTensors.count + 1, 1);
        for (uint32_t i = 0; i < mapped->allTensors.count && copied != NULL; i++)
            copied[i] = nnrti_buffer_data(&mapped->allTensors.data[i].data) != NULL &&
                        (copyConstants || nnrti_buffer_data(&from->allTensors.data[i].data) == NULL);
        code = copied != NULL ? nnrti_owned_make(mapped, copied, allocator, model) : NNRT_OUT_OF_MEMORY;
    }
    nnrt_model_unmap(mappings);
    nnrt_memory_end(&memory);
    if (code == NNRT_SUCCESS && old != NULL && old->nMetadata > 0)
        code = nnrt_model_annotate(model, old->metadata, old->nMetadata, error);
    else if (code == NNRT_OUT_OF_MEMORY)
        code = nnrt_error_set(error, code, "there is not enough memory for the model");
    if (code != NNRT_SUCCESS) {
        nnrt_model_destroy(*model);
        *model = NULL;
    }
    return code;
}

/* Fills nodeIndices of every graph from owners by a counting sort, O(nodes + graphs); the order of the nodes is kept.
   all has room for every node. */
static void nnrti_builder_nodes_of(nnrt_builder *b, uint32_t *all)
{
    const uint32_t nodes = nnrti_array_count(b->nodes), graphs = nnrti_array_count(b->graphs);
    uint32_t at = 0;
    for (uint32_t g = 0; g < graphs; g++)
        b->graphs[g].nodeIndices.count = 0;
    for (uint32_t i = 0; i < nodes; i++)
        b->graphs[b->owners[i]].nodeIndices.count++;
    for (uint32_t g = 0; g < graphs; g++) {
        b->graphs[g].nodeIndices.data = &all[at];
        at += b->graphs[g].nodeIndices.count;
        b->graphs[g].nodeIndices.count = 0;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        NNRT_Uint32List *list = &b->graphs[b->owners[i]].nodeIndices;
        all[(uint32_t)(list->data - all) + list->count++] = i;
    }
}

/* *m = the content of b as a model that uses b's lists; graph is the main graph, with all nodes if it is the only
   one. */
static void nnrti_builder_view(nnrt_builder *b, NNRT_Model *m, NNRT_SubGraph *graph)
{
    const uint32_t nodes = nnrti_array_count(b->nodes);
    uint32_t *all = (uint32_t *)nnrti_builder_keep(b, nodes, sizeof(*all));
    for (uint32_t i = 0; all != NULL && i < nodes; i++)
        all[i] = i;
    *m = nnrti_builder_model(b);
    memset(graph, 0, sizeof(*graph));
    if (b->graphs == NULL)
        m->subGraph = NNRT_SubGraphList_make(graph, 1);
    else
        graph = b->graphs;
    graph->name = "main";
    graph->inputIndices = m->inputIndex;
    graph->outputIndices = m->outputIndex;
    graph->nodeIndices = NNRT_Uint32List_make(all, all != NULL ? nodes : 0);
    if (b->graphs != NULL && all != NULL)
        nnrti_builder_nodes_of(b, all);
}

/* Copies the fault that b recorded to the caller's error, unless that holds one. OUT_OF_MEMORY may arrive here without
   a message: it is set. */
static NNRT_ReturnCode nnrti_builder_report(nnrt_builder *b, NNRT_ReturnCode code, nnrt_error *error)
{
    if (code == NNRT_OUT_OF_MEMORY)
        nnrti_builder_no_memory(b);
    if (code != NNRT_SUCCESS && error != NULL && error->code == NNRT_SUCCESS) {
        (void)nnrt_error_set(error, b->error.code, "%s", b->error.message);
        error->node = b->error.node;
        error->tensor = b->error.tensor;
    }
    return code;
}

/* Order of tensors by the address of their data. */
static int nnrti_data_order(const void *user, uint32_t a, uint32_t b)
{
    const NNRT_Tensor *tensors = (const NNRT_Tensor *)user;
    const uintptr_t x = (uintptr_t)nnrti_buffer_data(&tensors[a].data),
                    y = (uintptr_t)nnrti_buffer_data(&tensors[b].data);
    return x < y ? -1 : x > y;
}

/* The piece at data is handed to the model: clears copied of the tensors in list (sorted by nnrti_data_order) whose
   data are there, by binary search. False: no tensor uses it. */
static bool nnrti_builder_given_data(nnrt_builder *b, const uint32_t *list, uint32_t count, const uint8_t *data)
{
    uint32_t low = 0, high = count;
    bool found = false;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)nnrti_buffer_data(&b->tensors[list[middle]].data) < (uintptr_t)data)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && nnrti_buffer_data(&b->tensors[list[low]].data) == data; low++) {
        b->copied[list[low]] = 0;
        found = true;
    }
    return found;
}

/* Moves each piece of memory that is one large constant to the list `given` and returns the list: the model owns these
   pieces, which saves a copy of its largest constants. Without memory for the sorted list it moves none, and they are
   copied. */
static void *nnrti_builder_give(nnrt_builder *b, nnrt_memory *memory, void *given)
{
    nnrti_piece **at = (nnrti_piece **)(void *)&memory->pieces[0];
    uint32_t count = 0, room = 0, *list;
    for (uint32_t t = 0; t < nnrti_array_count(b->tensors); t++)
        room += b->copied[t] && b->tensors[t].data.dataSize >= NNRTI_LARGE ? 1 : 0;
    if (room == 0 || (list = (uint32_t *)nnrt_alloc(&b->allocator, room * sizeof(*list))) == NULL)
        return given;
    for (uint32_t t = 0; t < nnrti_array_count(b->tensors); t++)
        if (b->copied[t] && b->tensors[t].data.dataSize >= NNRTI_LARGE)
            list[count++] = t;
    nnrti_sort_list(list, count, nnrti_data_order, b->tensors);
    while (*at != NULL) {
        nnrti_piece *p = *at;
        if (p->bytes <= NNRTI_LARGE ||
            !nnrti_builder_given_data(b, list, count, (const uint8_t *)p + NNRTI_PIECE_HEADER)) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = (nnrti_piece *)given;
        given = p;
    }
    nnrt_free(&b->allocator, list, room * sizeof(*list));
    return given;
}

/* Validates the content of b, infers nodes that waited, and makes the model; afterwards b can only be destroyed. */
static NNRT_ReturnCode nnrti_builder_make(nnrt_builder *b, NNRT_Model **model)
{
    NNRT_ReturnCode code;
    NNRT_SubGraph graph;
    nnrt_memory memory;
    uint32_t *order = NULL;
    void *pieces;
    NNRT_Model m;
    nnrti_builder_view(b, &m, &graph);
    if (nnrti_builder_failed(b))
        return b->error.code;
    nnrt_memory_allocate(&memory, &b->allocator);
    code = nnrt_model_check(&m, &memory, &order, &b->error);
    if (code == NNRT_SUCCESS)
        nnrti_builder_wait(b, &m, order);
    nnrt_memory_end(&memory);
    if ((code = b->error.code) != NNRT_SUCCESS)
        return code;
    pieces = nnrti_builder_give(b, &b->memory, nnrti_builder_give(b, &b->inferred, NULL));
    if ((code = nnrti_owned_make(&m, b->copied, &b->allocator, model)) == NNRT_SUCCESS)
        nnrti_owned_of(*model)->pieces = pieces;
    else
        nnrti_memory_free(&b->allocator, pieces);
    return code;
}

/* Sets quantType as HDI requires: ALL exactly if the first result has quantization parameters. */
static void nnrti_builder_quant_types(nnrt_builder *b)
{
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes); i++) {
        const NNRT_Uint32List *out = &b->nodes[i].outputIndex;
        if (out->count > 0 && out->data[0] != NNRT_NO_TENSOR && b->tensors[out->data[0]].quantParams.count > 0)
            b->nodes[i].quantType = NNRT_QUANT_TYPE_ALL;
    }
}

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_builder_finish(nnrt_builder *builder, NNRT_Model **model, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (builder == NULL || model == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_builder_finish: %s is NULL",
                              builder == NULL ? "builder" : "model");
    if (nnrti_builder_failed(builder)) {
        code = builder->error.code;
    } else {
        nnrti_builder_quant_types(builder);
        code = nnrti_builder_make(builder, model);
    }
    code = nnrti_builder_report(builder, code, error);
    nnrti_builder_clear(builder);
    builder->finished = true;
    return code;
}

NNRT_API uint32_t nnrt_model_tensor(const NNRT_Model *model, const char *name)
{
    for (uint32_t i = 0; model != NULL && name != NULL && *name != '\0' && i < model->allTensors.count; i++)
        if (strcmp(nnrti_text_of(model->allTensors.data[i].name), name) == 0)
            return i;
    return NNRT_NO_TENSOR;
}

/* ---- Graphviz ---- */

/* Writes format, whose letters nnrt_error_set lists; texts are not escaped. */
static void nnrti_dot(nnrti_out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    nnrti_vformat(o, format, &args, false);
    va_end(args);
}

/* Writes text inside the quotes of a Graphviz label: escapes " and \, control characters become spaces. */
static void nnrti_dot_text(nnrti_out *o, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            nnrti_put(o, '\\');
        if ((unsigned char)*text >= ' ' && *text != 0x7F)
            nnrti_put(o, *text);
        else
            nnrti_puts(o, *text == '\n' ? "\\n" : " ");
    }
}

/* "  t3 [shape=ellipse label="name\nfloat32[1,3]"];". An identifier is a letter for the kind (n node, t tensor, o
   output, s subgraph output) and the index. */
static void nnrti_dot_tensor(nnrti_out *o, const nnrt_operand *t, char kind, uint32_t index, const char *style)
{
    nnrti_dot(o, "  %c%u [%s label=\"", kind, index, style);
    nnrti_dot_text(o, nnrti_text_of(t->name));
    nnrti_dot(o, "%s%o\"];\n", *nnrti_text_of(t->name) != '\0' ? "\\n" : "", t);
}

/* A color for a device, "0.583 0.25 1": its name determines the hue, in thousandths, rest saturation and brightness. */
static void nnrti_dot_color(nnrti_out *o, const char *device, const char *rest)
{
    uint32_t hue = 0;
    for (; *device != '\0'; device++)
        hue = (hue * 31 + (unsigned char)*device) % 1000;
    nnrti_dot(o, "0.%s%u%s", hue < 10 ? "00" : hue < 100 ? "0" : "", hue, rest);
}

/* Writes a node: operator, name and attributes, one line each. place NULL: the device is unknown. */
static void nnrti_dot_node(nnrti_out *o, const NNRT_Node *n, uint32_t index, const nnrt_placement *place)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    const char *device = place != NULL ? nnrti_text_of(place->device) : "";
    nnrti_dot(o, "  n%u [shape=box ", index);
    if (*device != '\0') {
        nnrti_puts(o, "style=\"rounded,filled\" fillcolor=\"");
        nnrti_dot_color(o, device, " 0.25 1");
        nnrti_puts(o, "\" tooltip=\"");
        nnrti_dot_text(o, device);
        nnrti_puts(o, "\" label=\"");
    } else {
        nnrti_puts(o, "style=rounded label=\"");
    }
    nnrti_puts(o, op->name);
    if (*nnrti_text_of(n->name) != '\0') {
        nnrti_puts(o, "\\n");
        nnrti_dot_text(o, n->name);
    }
    for (uint32_t i = 0; i < op->attr->count; i++) {
        const nnrt_attr_member *m = &op->attr->members[i];
        if (n->nodeAttr.data == NULL || m->offset + m->bytes > n->nodeAttr.size)
            continue;
        nnrti_dot(o, "\\n%s=", m->name);
        if (m->kind == NNRT_ATTR_KIND_STRING) {
            nnrti_put(o, '\'');
            nnrti_dot_text(o, nnrti_text_at((const uint8_t *)n->nodeAttr.data + m->offset));
            nnrti_put(o, '\'');
        } else {
            nnrti_put_member(o, m, (const uint8_t *)n->nodeAttr.data + m->offset);
        }
    }
    nnrti_puts(o, "\"];\n");
}

/* An edge from the node, input or constant that tensor t comes from to node or output `to`. */
static void nnrti_dot_edge(nnrti_out *o, const nnrt_operand *shapes, const uint32_t *writer, uint32_t t, char kind,
                           uint32_t to)
{
    const bool written = writer[t] != NNRTI_BY_NOBODY;
    nnrti_dot(o, "  %c%u -> %c%u", written ? 'n' : 't', written ? writer[t] : t, kind, to);
    if (written)
        nnrti_dot(o, " [label=\"%o\"]", &shapes[t]);
    nnrti_puts(o, ";\n");
}

/* Subgraph g, whose first output is number `first` of all: a box around its nodes, inputs and outputs, labeled with
   its number, which is an attribute of the node that runs it. */
static void nnrti_dot_graph(nnrti_out *o, const NNRT_Model *m, const nnrt_operand *shapes, const uint32_t *writer,
                            uint32_t g, uint32_t first)
{
    const NNRT_SubGraph *s = &m->subGraph.data[g];
    nnrti_dot(o, "  subgraph cluster%u {\n  label=\"subgraph %u ", g, g);
    nnrti_dot_text(o, nnrti_text_of(s->name));
    nnrti_puts(o, "\";\n");
    for (uint32_t k = 0; k < s->inputIndices.count; k++)
        nnrti_dot_tensor(o, &shapes[s->inputIndices.data[k]], 't', s->inputIndices.data[k],
                         "shape=ellipse style=dashed");
    for (uint32_t k = 0; k < s->nodeIndices.count; k++)
        nnrti_dot(o, "  n%u;\n", s->nodeIndices.data[k]);
    for (uint32_t k = 0; k < s->outputIndices.count; k++)
        nnrti_dot_tensor(o, &shapes[s->outputIndices.data[k]], 's', first + k,
                         "shape=ellipse style=dashed peripheries=2");
    nnrti_puts(o, "  }\n");
    for (uint32_t k = 0; k < s->outputIndices.count; k++)
        nnrti_dot_edge(o, shapes, writer, s->outputIndices.data[k], 's', first + k);
}

/* A box around the nodes of the main graph in the partition of node `first`, its first node. */
static void nnrti_dot_part(nnrti_out *o, const NNRT_Model *m, const nnrt_placement *places, uint32_t first)
{
    const NNRT_Uint32List all = m->subGraph.count > 0 ? m->subGraph.data[0].nodeIndices : NNRT_Uint32List_make(NULL, 0);
    const uint32_t count = m->subGraph.count > 0 ? all.count : m->nodes.count;
    nnrti_dot(o, "  subgraph cluster_part%u {\n  fontname=\"sans-serif\" fontsize=11 ", places[first].part);
    nnrti_puts(o, "style=filled fillcolor=\"#f6f6f6\" color=\"");
    nnrti_dot_color(o, nnrti_text_of(places[first].device), " 0.8 0.7");
    nnrti_dot(o, "\" label=\"part %u, ", places[first].part);
    nnrti_dot_text(o, nnrti_text_of(places[first].device));
    nnrti_puts(o, "\";\n");
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t n = m->subGraph.count > 0 ? all.data[k] : k;
        if (places[n].part == places[first].part)
            nnrti_dot(o, "  n%u;\n", n);
    }
    nnrti_puts(o, "  }\n");
}

/* Boxes around all partitions. */
static void nnrti_dot_parts(nnrti_out *o, const NNRT_Model *m, const nnrt_placement *places)
{
    for (uint32_t n = 0; n < m->nodes.count; n++) {
        bool first = places[n].part != NNRT_NO_TENSOR;
        for (uint32_t k = 0; k < n && first; k++)
            first = places[k].part != places[n].part;
        if (first)
            nnrti_dot_part(o, m, places, n);
    }
}

/* Writes a model that nnrt_model_check has accepted. writer: per tensor the node that writes it, or NNRTI_BY_NOBODY. */
static void nnrti_dot_model(nnrti_out *o, const NNRT_Model *m, const nnrt_operand *shapes, const uint32_t *writer,
                            const nnrt_placement *places)
{
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        nnrti_dot_tensor(o, &shapes[m->inputIndex.data[i]], 't', m->inputIndex.data[i], "shape=ellipse style=filled");
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        if (nnrti_is_constant(&m->allTensors.data[t]))
            nnrti_dot_tensor(o, &shapes[t], 't', t, "shape=note fontsize=9");
    for (uint32_t n = 0; n < m->nodes.count; n++)
        nnrti_dot_node(o, &m->nodes.data[n], n, places != NULL ? &places[n] : NULL);
    if (places != NULL)
        nnrti_dot_parts(o, m, places);
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        nnrti_dot_tensor(o, &shapes[m->outputIndex.data[i]], 'o', i, "shape=ellipse peripheries=2");
    for (uint32_t n = 0; n < m->nodes.count; n++)
        for (uint32_t k = 0, t; nnrti_next_id(&m->nodes.data[n].inputIndex, &k, &t);)
            nnrti_dot_edge(o, shapes, writer, t, 'n', n);
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        nnrti_dot_edge(o, shapes, writer, m->outputIndex.data[i], 'o', i);
    for (uint32_t g = 1, first = 0; g < m->subGraph.count; first += m->subGraph.data[g++].outputIndices.count)
        nnrti_dot_graph(o, m, shapes, writer, g, first);
}

/* Writes the model with inferred shapes, or with declared ones if inference fails; *error reports an invalid model. */
static void nnrti_dot_body(nnrti_out *o, const NNRT_Model *m, const nnrt_placement *places, nnrt_memory *memory,
                           nnrt_error *error)
{
    nnrt_operand *shapes;
    uint32_t *writer;
    if (nnrt_model_check(m, memory, NULL, error) != NNRT_SUCCESS)
        return;
    shapes = (nnrt_operand *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(*shapes));
    writer = (uint32_t *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(*writer));
    if (shapes == NULL || writer == NULL) {
        (void)nnrti_no_memory(error);
        return;
    }
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        writer[t] = NNRTI_BY_NOBODY;
    for (uint32_t n = 0; n < m->nodes.count; n++)
        for (uint32_t k = 0, t; nnrti_next_id(&m->nodes.data[n].outputIndex, &k, &t);)
            writer[t] = n;
    if (nnrt_model_infer(m, NULL, memory, shapes, NULL, NULL) != NNRT_SUCCESS)
        for (uint32_t t = 0; t < m->allTensors.count; t++)
            (void)nnrti_operand_of(&m->allTensors.data[t], &shapes[t]);
    nnrti_dot_model(o, m, shapes, writer, places);
}

NNRT_API size_t nnrt_model_dot(const NNRT_Model *model, const nnrt_placement *places, char *out, size_t size)
{
    nnrt_memory memory;
    nnrt_error error;
    nnrti_out o;
    o.data = out;
    o.size = out != NULL ? size : 0;
    o.length = 0;
    memset(&error, 0, sizeof(error));
    nnrt_memory_allocate(&memory, NULL);
    nnrti_puts(&o, "digraph \"");
    nnrti_dot_text(&o, model != NULL ? nnrti_text_of(model->name) : "");
    nnrti_puts(&o,
               "\" {\n  node [fontname=\"sans-serif\" fontsize=11];\n  edge [fontname=\"sans-serif\" fontsize=9];\n");
    nnrti_dot_body(&o, model, places, &memory, &error);
    if (error.code != NNRT_SUCCESS) {
        nnrti_puts(&o, "  error [shape=plaintext label=\"");
        nnrti_dot_text(&o, error.message);
        nnrti_puts(&o, "\"];\n");
    }
    nnrti_puts(&o, "}\n");
    nnrt_memory_end(&memory);
    return nnrti_end(&o);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>passes */

/* Idea: nnrti_builder_reduce edits the graph of a builder in rounds, until a round changes nothing. A round
     1. sorts the nodes, producers first, and fills the tables of nnrti_graph (nnrti_graph_tables);
     2. removes dead nodes, then infers shapes and folds constants (nnrti_graph_infer);
     3. visits the nodes in that order: the passes try one after the other to rewrite the node, the first success ends
        its visit; producers have been visited before;
     4. removes dead nodes, and closes the gaps of all removed nodes (nnrti_graph_compact).
   A model with casts from and to 8 bits has two series of rounds: in the first one dequantized constants are not
   folded, because the pass `quantize` needs their casts. After the rounds, nnrti_graph_io removes the casts of inputs
   and outputs (nnrt_optimize_desc.integer_io).

   Passes, in the order in which they are tried (nnrti_passes). The bit NNRT_PASS_... in nnrt_optimize_desc.without
   disables a pass. Bits: whether results keep their bits on the reference device.

     bit          rewrites                                                                  bits
     CONSTANTS    a node of constants -> its results as constants (in step 2)               kept
     DEAD         a node whose results nobody uses -> nothing (steps 2 and 4)               kept
     RESHAPES     reshape, reshape -> the second                                            kept
     TRANSPOSES   TRANSPOSE, TRANSPOSE -> one with the product of the permutations          kept
     COPIES       BITCAST, data movement, BITCAST back -> data movement                     kept
     COPIES       a node that copies its input -> nothing                                   kept
     AFFINE       convolution or FULL_CONNECTION, affine map per channel -> new weights     rounded once per weight
     BIAS         MATMUL, ADD of a constant per column -> MATMUL with a bias                sums in another order
     ACTIVATIONS  node, ACTIVATION -> the node with activationType                          kept
     CHAINS       nodes of a formula in nnrti_chains -> one operator                        see nnrti_pass_chain
     AFFINE       MUL or ADD of constants, convolution -> new weights                       rounded once per weight
     PADS         PAD by zeros, quantized convolution -> the convolution with more padding  kept
     BRANCHES     IF with a constant condition -> the nodes of its branch                   kept
     QUANTIZE     dequantize, operator, cast to 8 bits -> the operator on integers          last stored integer rounded

   A pass is a function nnrti_pass that looks at one node and its producers. All functions nnrti_graph_ before the first
   pass are its interface to the graph:
     reads   _node, _owner, _writer, _producer, _written, _next, _data, _alike, _same_values, _same_dims, _may_write;
             the tables shapes and open, users, isOutput, and the number live
     edits   _constant, _numbers, _attr, _set_input, _set_inputs, _set_output, _instead, _take_over, _delete,
             _delete_graph, _unuse; _temp is memory of the round, nnrti_builder_keep and _copy memory of constants
   It checks all conditions before the first edit. Lack of memory is recorded in the builder: the optimization then
   fails, and the model stays unchanged. Only quantize also changes types and quantization parameters of tensors, and
   inline_if the graph of nodes.

   Other files and sections call nnrti_builder_reduce, nnrti_fold_work and nnrti_is_dequantize only. The section reads
   and compacts the arrays of the builder, allocates by nnrti_builder_keep, _copy, _list and _attr, makes constants by
   nnrti_builder_data and _settle, and uses nnrti_builder_view, _make and _report of >>models.

   Invariant: the values of a tensor never change, so inferred properties stay true while nodes are rewired. A tensor
   that another graph reads keeps its writer: it counts as an output, like the outputs of subgraphs. Chains of
   several nodes are formulas in a table (nnrti_chains), if the conditions are about operators and constants. Rejected:
   such a language for the other passes, whose conditions are about shapes, attributes and layouts. */
typedef struct nnrti_chain_term nnrti_chain_term;
typedef struct nnrti_graph {
    nnrt_builder *edit; /* removed nodes have nodeType NNRT_NODE_TYPE_NONE until the end of the round */
    nnrt_memory work;   /* everything below, for one round */
    uint32_t *sorted;   /* of nnrt_model_check */
    uint32_t *order;    /* of the nodes, producers first; nodes of subgraphs directly after the node that runs them */
    uint32_t *place;    /* per node: its index in order */
    uint32_t *behind;   /* per place: the next place outside the subgraphs of its node */
    nnrt_operand *shapes; /* per tensor: type, shape and data as far as known; rank -1 = unknown */
    nnrt_operand *open;   /* the same with dynamic dimensions as symbols, of the first nOpen tensors (nnrti_graph_seen) */
    uint32_t nOpen;       /* 0: no dimension is dynamic */
    uint32_t *users;      /* per tensor: number of uses by nodes and model outputs */
    uint32_t *convolutions; /* per tensor: the uses as the image of CONV2D when the round began */
    uint32_t *writer;     /* per tensor: the node that writes it, or NNRTI_BY_NOBODY */
    uint32_t *same;   /* per tensor: its replacement in nodes that the round has not visited yet, or itself */
    bool *isOutput;   /* per tensor */
    uint32_t *cast;   /* per result of a SPLIT: the last visited cast to 8 bits that reads it */
    uint32_t *casts;  /* per SPLIT node: number of visited casts to 8 bits of its results */
    uint32_t room;    /* capacity of the per-tensor tables: passes add constants */
    uint32_t live;    /* nodes that are not removed */
    uint32_t symbols; /* number of symbols in `open` so far */
    nnrti_chain_term *formulas; /* of nnrti_chains, or NULL: not read yet */
    double foldBytes, foldWork; /* remaining budget of constant folding */
    uint32_t without;           /* disabled passes: NNRT_PASS_ bits */
    nnrt_error stays;           /* of nnrti_graph_io: why the first input or output stays float32 */
    bool channelsLast;          /* an operator that depends on the layout reads an image that is not declared NCHW */
    bool quantize;              /* first series of rounds: the pass `quantize` is tried, dequantizing nodes stay */
    bool changed;
} nnrti_graph;

#define NNRTI_GRAPH_ADDED 2 /* constants that a pass may add for a node */

/* ---- reading the graph ---- */

NNRTI_NOINLINE static NNRT_Node *nnrti_graph_node(nnrti_graph *g, uint32_t node)
{
    return &g->edit->nodes[node];
}

/* The graph that a node is in. */
NNRTI_NOINLINE static uint32_t nnrti_graph_owner(const nnrti_graph *g, uint32_t node)
{
    return g->edit->owners != NULL ? g->edit->owners[node] : 0;
}

/* The node that writes tensor t; NULL: t is absent, or an input or constant. */
NNRTI_NOINLINE static NNRT_Node *nnrti_graph_writer(nnrti_graph *g, uint32_t t)
{
    return t != NNRT_NO_TENSOR && g->writer[t] != NNRTI_BY_NOBODY ? nnrti_graph_node(g, g->writer[t]) : NULL;
}

/* nnrti_graph_writer, if t has exactly one use and is no output, so that a pass may rewrite node and tensor;
   otherwise NULL. */
static NNRT_Node *nnrti_graph_producer(nnrti_graph *g, uint32_t t)
{
    return t != NNRT_NO_TENSOR && g->users[t] == 1 && !g->isOutput[t] ? nnrti_graph_writer(g, t) : NULL;
}

/* Whether a node of graph `own` writes tensor t. */
static bool nnrti_graph_written(nnrti_graph *g, uint32_t t, uint32_t own)
{
    return nnrti_graph_writer(g, t) != NULL && nnrti_graph_owner(g, g->writer[t]) == own;
}

/* Iterates over the nodes of graph x, which `node` runs, without their subgraphs; begun with *at = 0. True while
   order[*at] is one. */
static bool nnrti_graph_next(nnrti_graph *g, uint32_t node, uint32_t x, uint32_t *at)
{
    const uint32_t end = g->behind[g->place[node]];
    for (*at = *at == 0 ? g->place[node] + 1 : g->behind[*at]; *at < end; *at = g->behind[*at])
        if (nnrti_graph_owner(g, g->order[*at]) == x &&
            nnrti_graph_node(g, g->order[*at])->nodeType != NNRT_NODE_TYPE_NONE)
            return true;
    return false;
}

/* The operand of a constant tensor, else NULL. */
static const nnrt_operand *nnrti_graph_data(const nnrti_graph *g, uint32_t t)
{
    return t != NNRT_NO_TENSOR && nnrti_is_constant(&g->edit->tensors[t]) ? &g->shapes[t] : NULL;
}

/* Whether the channels of an image come first; NNRT_FORMAT_NONE counts as NHWC. */
static bool nnrti_is_nchw(const nnrt_operand *o)
{
    return o->format == NNRT_FORMAT_NCHW;
}

/* Whether type and quantization of two tensors are equal. */
static bool nnrti_graph_same_values(const nnrti_graph *g, uint32_t a, uint32_t b)
{
    const nnrt_operand *x = &g->shapes[a], *y = &g->shapes[b];
    return x->dataType == y->dataType && !nnrti_absent(x) && nnrti_quant_equal(x, y) &&
           (x->quantCount < 2 || nnrti_quant_axis(x) == nnrti_quant_axis(y));
}

/* Whether a reader of tensor a may read b instead: equal type, quantization and layout. The caller compares shapes. */
static bool nnrti_graph_alike(const nnrti_graph *g, uint32_t a, uint32_t b)
{
    return nnrti_graph_same_values(g, a, b) && nnrti_is_nchw(&g->shapes[a]) == nnrti_is_nchw(&g->shapes[b]);
}

/* Whether the producer of x may write y instead: equal type and quantization; the layout must be equal only if the
   operator depends on it. */
static bool nnrti_graph_may_write(const nnrti_graph *g, const NNRT_Node *before, uint32_t x, uint32_t y)
{
    return (nnrt_op_find(before->nodeType)->flags & NNRT_OP_LAYOUT) ? nnrti_graph_alike(g, x, y)
                                                                    : nnrti_graph_same_values(g, x, y);
}

/* Properties of t without sample sizes: dynamic dimensions are symbols. Constants of this round have shapes only. */
static nnrt_operand *nnrti_graph_seen(const nnrti_graph *g, uint32_t t)
{
    return t < g->nOpen ? &g->open[t] : &g->shapes[t];
}

/* The size of axis i of t if it is the same in every run, else -1. */
static int32_t nnrti_graph_dim(const nnrti_graph *g, uint32_t t, int32_t i)
{
    const nnrt_operand *o = nnrti_graph_seen(g, t);
    return i < o->rank && o->symbols[i] == 0 ? o->dims[i] : -1;
}

/* Whether both shapes are fully known and equal. */
static bool nnrti_graph_same_dims(const nnrti_graph *g, uint32_t a, uint32_t b)
{
    const nnrt_operand *x = &g->shapes[a], *y = &g->shapes[b];
    return nnrti_operand_known(x) && nnrti_operand_known(y) && x->rank == y->rank &&
           memcmp(x->dims, y->dims, (size_t)x->rank * sizeof(x->dims[0])) == 0;
}

/* ---- editing the graph ---- */

/* Memory of the round, zeroed; NULL = no memory, which is recorded. */
static void *nnrti_graph_temp(nnrti_graph *g, size_t count, size_t size)
{
    void *block = nnrt_memory_temp_array(&g->work, count, size);
    if (block == NULL)
        nnrti_builder_no_memory(g->edit);
    return block;
}

/* Initializes the tables for tensor t: declared properties, no users, no writer. */
static void nnrti_graph_enter(nnrti_graph *g, uint32_t t)
{
    (void)nnrti_operand_of(&g->edit->tensors[t], &g->shapes[t]);
    g->users[t] = 0;
    g->writer[t] = NNRTI_BY_NOBODY;
    g->same[t] = t;
    g->isOutput[t] = false;
}

/* Appends a constant whose data are memory of g->edit and are not copied; NNRT_NO_TENSOR = no memory, or more than
   NNRTI_GRAPH_ADDED constants per node. */
static uint32_t nnrti_graph_constant(nnrti_graph *g, NNRT_DataType type, int32_t rank, const int32_t *dims, void *data)
{
    NNRT_Tensor t = nnrti_tensor_make(type);
    uint32_t index;
    if (nnrti_array_count(g->edit->tensors) >= g->room || !nnrti_builder_dims(g->edit, "", rank, dims, 0, &t.dims) ||
        !nnrti_builder_data(g->edit, &t, "", data, false))
        return NNRT_NO_TENSOR;
    index = nnrti_builder_add(g->edit, NULL, &t, true);
    if (index != NNRT_NO_TENSOR)
        nnrti_graph_enter(g, index);
    return index;
}

/* nnrti_graph_constant for a copy of int32 numbers along one axis. */
static uint32_t nnrti_graph_numbers(nnrti_graph *g, const int32_t *list, int32_t count)
{
    return nnrti_graph_constant(g, NNRT_DATA_TYPE_INT32, 1, &count,
                                nnrti_builder_copy(g->edit, list, (size_t)count, sizeof(*list)));
}

/* A writable pointer to a member of n's attributes, after copying the whole struct: the old one may belong to another
   model. NULL: the operator has no such member, or no memory. */
static void *nnrti_graph_attr(nnrti_graph *g, NNRT_Node *n, const char *name)
{
    const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(s->members[i].name, name) == 0) {
            void *copy = nnrti_builder_attr(g->edit, s, n->nodeAttr.data, n->nodeAttr.size);
            if (copy == NULL)
                return NULL;
            n->nodeAttr.data = copy;
            n->nodeAttr.size = s->bytes;
            return (uint8_t *)copy + s->members[i].offset;
        }
    return NULL;
}

/* Makes node n read tensor t as input k, which it has. */
static void nnrti_graph_set_input(nnrti_graph *g, NNRT_Node *n, uint32_t k, uint32_t t)
{
    if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
        g->users[n->inputIndex.data[k]]--;
    if (t != NNRT_NO_TENSOR)
        g->users[t]++;
    nnrti_ids(&n->inputIndex)[k] = t;
}

/* Replaces the list of inputs of node n by `count` others; false = no memory. */
static bool nnrti_graph_set_inputs(nnrti_graph *g, NNRT_Node *n, const uint32_t *inputs, uint32_t count)
{
    const NNRT_Uint32List list = nnrti_builder_list(g->edit, inputs, count);
    if (list.data == NULL)
        return false;
    for (uint32_t k = 0, t; nnrti_next_id(&list, &k, &t);)
        g->users[t]++;
    for (uint32_t k = 0, t; nnrti_next_id(&n->inputIndex, &k, &t);)
        g->users[t]--;
    n->inputIndex = list;
    return true;
}

/* Makes `node` write tensor y as result k. */
static void nnrti_graph_set_output(nnrti_graph *g, uint32_t node, uint32_t k, uint32_t y)
{
    nnrti_ids(&nnrti_graph_node(g, node)->outputIndex)[k] = y;
    g->writer[y] = node;
}

/* Replaces y, whose writer is removed, by x: nodes that the round has not visited yet read x; if y is an
   output, the writer of x, which has no other reader, writes y. */
static void nnrti_graph_instead(nnrti_graph *g, uint32_t y, uint32_t x)
{
    const NNRT_Uint32List *results = g->isOutput[y] ? &nnrti_graph_writer(g, x)->outputIndex : NULL;
    if (results == NULL) {
        g->same[y] = x;
        g->users[x] += g->users[y];
        g->users[y] = 0;
        return;
    }
    g->edit->tensors[y].dataType = g->shapes[x].dataType; /* CAST reads it */
    for (uint32_t k = 0; k < results->count; k++)
        if (results->data[k] == x)
            nnrti_graph_set_output(g, g->writer[x], k, y);
}

static void nnrti_graph_delete_graph(nnrti_graph *g, uint32_t node, uint32_t x);

/* Removes a node and the subgraphs that it runs; uses of its inputs are subtracted, its results have no writer any
   more. */
static void nnrti_graph_delete(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    for (uint32_t k = 0, x; nnrti_next_graph(n, &k, &x);)
        nnrti_graph_delete_graph(g, node, x);
    for (uint32_t k = 0, t; nnrti_next_id(&n->inputIndex, &k, &t);)
        g->users[t]--;
    for (uint32_t k = 0, t; nnrti_next_id(&n->outputIndex, &k, &t);)
        if (g->writer[t] == node)
            g->writer[t] = NNRTI_BY_NOBODY;
    n->nodeType = NNRT_NODE_TYPE_NONE;
    g->live--;
    g->changed = true;
}

/* Subtracts the uses of the outputs of graph x by the node that runs it. */
static void nnrti_graph_unuse(nnrti_graph *g, uint32_t x)
{
    const NNRT_Uint32List *out = &g->edit->graphs[x].outputIndices;
    for (uint32_t k = 0; k < out->count; k++)
        g->users[out->data[k]]--;
}

/* Removes the nodes of graph x, which `node` runs, with their own subgraphs. */
static void nnrti_graph_delete_graph(nnrti_graph *g, uint32_t node, uint32_t x)
{
    nnrti_graph_unuse(g, x);
    for (uint32_t at = 0; nnrti_graph_next(g, node, x, &at);)
        nnrti_graph_delete(g, g->order[at]);
}

/* Completes a fusion: removes `node`, and the node before it, which wrote x for it alone, writes its result 0. */
static void nnrti_graph_take_over(nnrti_graph *g, uint32_t node, uint32_t x)
{
    const uint32_t y = nnrti_graph_node(g, node)->outputIndex.data[0];
    nnrti_graph_delete(g, node);
    nnrti_graph_set_output(g, g->writer[x], 0, y);
}

/* ---- the tables of a round ---- */

/* Copies the graphs of m into b, and records the graph of each node in owners. */
static void nnrti_builder_load_graphs(nnrt_builder *b, const NNRT_Model *m)
{
    for (uint32_t i = 0; i < m->nodes.count && !nnrti_builder_failed(b); i++)
        NNRTI_PUSH(b, uint32_t, b->owners, 0);
    for (uint32_t i = 0; i < m->subGraph.count && !nnrti_builder_failed(b); i++) {
        NNRT_SubGraph s = m->subGraph.data[i];
        for (uint32_t k = 0; k < s.nodeIndices.count; k++)
            b->owners[s.nodeIndices.data[k]] = i;
        s.inputIndices = nnrti_builder_list(b, s.inputIndices.data, s.inputIndices.count);
        s.outputIndices = nnrti_builder_list(b, s.outputIndices.data, s.outputIndices.count);
        NNRTI_PUSH(b, NNRT_SubGraph, b->graphs, s);
    }
}

/* Fills b with m; names, attributes and constants stay where they are. */
static void nnrti_builder_load(nnrt_builder *b, const NNRT_Model *m)
{
    b->name = m->name;
    for (uint32_t i = 0; i < m->allTensors.count && !nnrti_builder_failed(b); i++) {
        NNRTI_PUSH(b, NNRT_Tensor, b->tensors, m->allTensors.data[i]);
        NNRTI_PUSH(b, uint8_t, b->copied, 0);
    }
    for (uint32_t i = 0; i < m->nodes.count && !nnrti_builder_failed(b); i++) {
        NNRT_Node n = m->nodes.data[i];
        n.inputIndex = nnrti_builder_list(b, n.inputIndex.data, n.inputIndex.count);
        n.outputIndex = nnrti_builder_list(b, n.outputIndex.data, n.outputIndex.count);
        NNRTI_PUSH(b, NNRT_Node, b->nodes, n);
    }
    for (uint32_t i = 0; i < m->inputIndex.count && !nnrti_builder_failed(b); i++)
        NNRTI_PUSH(b, uint32_t, b->inputs, m->inputIndex.data[i]);
    for (uint32_t i = 0; i < m->outputIndex.count && !nnrti_builder_failed(b); i++)
        NNRTI_PUSH(b, uint32_t, b->outputs, m->outputIndex.data[i]);
    if (m->subGraph.count > 1)
        nnrti_builder_load_graphs(b, m);
}

/* Appends the nodes of graph x to order, from *place on; the nodes of the subgraphs that a node runs follow it
   directly. */
static void nnrti_graph_flatten(nnrti_graph *g, const NNRT_Model *m, uint32_t x, uint32_t *place)
{
    const uint32_t *begin = g->sorted + m->nodes.count;
    for (uint32_t i = begin[x]; i < begin[x + 1]; i++) {
        const uint32_t n = g->sorted[i], own = (*place)++;
        g->order[own] = n;
        g->place[n] = own;
        for (uint32_t k = 0, inner; nnrti_next_graph(&m->nodes.data[n], &k, &inner);)
            nnrti_graph_flatten(g, m, inner, place);
        g->behind[own] = *place;
    }
}

/* Counts a use of each tensor of list as an output. */
static void nnrti_graph_use_outputs(nnrti_graph *g, const NNRT_Uint32List *list)
{
    for (uint32_t k = 0; k < list->count; k++) {
        g->users[list->data[k]]++;
        g->isOutput[list->data[k]] = true;
    }
}

/* Uses the outputs of subgraphs, and sets isOutput of tensors that another graph reads than the graph of their writer:
   such a tensor must still be written under its own index when a pass has rewired the nodes. */
static void nnrti_graph_borders(nnrti_graph *g, const NNRT_Model *m)
{
    for (uint32_t x = 1; x < m->subGraph.count; x++)
        nnrti_graph_use_outputs(g, &m->subGraph.data[x].outputIndices);
    for (uint32_t n = 0; n < m->nodes.count && m->subGraph.count > 1; n++)
        for (uint32_t k = 0, t; nnrti_next_id(&m->nodes.data[n].inputIndex, &k, &t);)
            if (nnrti_graph_writer(g, t) != NULL && !nnrti_graph_written(g, t, nnrti_graph_owner(g, n)))
                g->isOutput[t] = true;
}

/* Validates m, sorts its nodes, and allocates and fills the tables of a round. */
static NNRT_ReturnCode nnrti_graph_tables(nnrti_graph *g, const NNRT_Model *m)
{
    uint32_t place = 0, images = 0; /* tensors, if one may be the image of a convolution */
    NNRT_ReturnCode code = nnrt_model_check(m, &g->work, &g->sorted, &g->edit->error);
    if (code != NNRT_SUCCESS)
        return code;
    g->order = (uint32_t *)nnrt_memory_temp_array(&g->work, m->nodes.count, sizeof(*g->order));
    g->place = (uint32_t *)nnrt_memory_temp_array(&g->work, m->nodes.count, sizeof(*g->place));
    g->behind = (uint32_t *)nnrt_memory_temp_array(&g->work, m->nodes.count, sizeof(*g->behind));
    g->live = m->nodes.count;
    g->room = m->allTensors.count + NNRTI_GRAPH_ADDED * m->nodes.count;
    g->shapes = (nnrt_operand *)nnrt_memory_temp_array(&g->work, g->room, sizeof(*g->shapes));
    g->users = (uint32_t *)nnrt_memory_temp_array(&g->work, g->room, sizeof(*g->users));
    for (uint32_t n = 0; n < m->nodes.count && images == 0; n++)
        images = m->nodes.data[n].nodeType == NNRT_NODE_TYPE_CONV2D_FUSION ? m->allTensors.count : 0;
    g->convolutions = (uint32_t *)nnrt_memory_temp_array(&g->work, images, sizeof(*g->convolutions));
    g->writer = (uint32_t *)nnrt_memory_temp_array(&g->work, g->room, sizeof(*g->writer));
    g->same = (uint32_t *)nnrt_memory_temp_array(&g->work, g->room, sizeof(*g->same));
    g->isOutput = (bool *)nnrt_memory_temp_array(&g->work, g->room, sizeof(*g->isOutput));
    g->cast = (uint32_t *)nnrt_memory_temp_array(&g->work, g->quantize ? g->room : 0, sizeof(*g->cast));
    g->casts = (uint32_t *)nnrt_memory_temp_array(&g->work, g->quantize ? m->nodes.count : 0, sizeof(*g->casts));
    g->open = NULL;
    g->nOpen = 0;
    g->formulas = NULL;
    g->channelsLast = false;
    if (g->work.full || g->room < m->allTensors.count)
        return NNRT_OUT_OF_MEMORY;
    nnrti_graph_flatten(g, m, 0, &place);
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        nnrti_graph_enter(g, t);
    for (uint32_t n = 0; n < m->nodes.count; n++) {
        const NNRT_Node *node = &m->nodes.data[n];
        for (uint32_t k = 0, t; nnrti_next_id(&node->inputIndex, &k, &t);)
            g->users[t]++;
        if (nnrti_id(&node->inputIndex, 0) != NNRT_NO_TENSOR) {
            const uint32_t x = node->inputIndex.data[0];
            if (node->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION)
                g->convolutions[x]++;
            g->channelsLast = g->channelsLast || ((nnrt_op_find(node->nodeType)->flags & NNRT_OP_LAYOUT) != 0 &&
                                                  !nnrti_is_nchw(&g->shapes[x]));
        }
        for (uint32_t k = 0, t; nnrti_next_id(&node->outputIndex, &k, &t);)
            g->writer[t] = n;
    }
    nnrti_graph_use_outputs(g, &m->outputIndex);
    nnrti_graph_borders(g, m);
    return NNRT_SUCCESS;
}

/* ---- pass: constant folding (CONSTANTS) ---- */

/* The budget of constant folding. Results larger than this, and this many times larger than the inputs, are left to
   the run: FILL and TILE would only enlarge the model. All results together have a budget in proportion to the model:
   bytes, and elements to compute. Weights of one byte that are dequantized (cast, difference, product) and transposed
   need 16 bytes each, and a model may consist of them. */
#define NNRTI_FOLD_FREE 65536
#define NNRTI_FOLD_GROWTH 16
#define NNRTI_FOLD_BUDGET 32
#define NNRTI_FOLD_BUDGET_FREE 524288.0
#define NNRTI_FOLD_WORK 64
#define NNRTI_FOLD_WORK_FREE 16777216.0

/* The product of a list of integers, entries below 1 counted as 1: the number of filter taps of a kernelSize. */
static double nnrti_fold_product(const NNRT_Int64List *list)
{
    double n = 1;
    for (uint32_t i = 0; i < list->count; i++)
        n *= list->data[i] > 0 ? (double)list->data[i] : 1;
    return n;
}

/* Estimates the cost of a resolved node in element reads and multiply-adds: inputs + results * terms per result. Terms
   of a GEMM: the largest of the last two dimensions of x, which holds with and without transposeA. Terms of a
   convolution: the weights divided by the smaller one of their first and last dimension, an upper bound, as one of
   these holds the output channels. RESIZE counts 16 terms, TOPK 32 per input element. */
static double nnrti_fold_work(const nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0], *w = &c->in[c->nIn > 1 ? 1 : 0];
    double in = 0, out = 0, each = 1;
    size_t n = 0;
    for (uint32_t k = 0; k < c->nIn; k++)
        in += !nnrti_absent(&c->in[k]) && nnrt_dims_count(c->in[k].dims, c->in[k].rank, &n) ? (double)n : 0;
    for (uint32_t k = 0; k < c->nOut; k++)
        out += !nnrti_absent(&c->out[k]) && nnrt_dims_count(c->out[k].dims, c->out[k].rank, &n) ? (double)n : 0;
    switch (c->op->type) {
    case NNRT_NODE_TYPE_MATMUL_FUSION:
    case NNRT_NODE_TYPE_MATMUL_INTEGER:
    case NNRT_NODE_TYPE_MATMUL_NBITS:
        for (int32_t i = x->rank > 2 ? x->rank - 2 : 0; i < x->rank; i++)
            each = x->dims[i] > each ? x->dims[i] : each;
        break;
    case NNRT_NODE_TYPE_FULL_CONNECTION:
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV_INTEGER:
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION: /* weights, but for one of their outer axes */
        each = nnrt_dims_count(w->dims, w->rank, &n) ? (double)n : 1;
        if (w->rank > 0 && w->dims[0] > 0 && w->dims[w->rank - 1] > 0)
            each /= w->dims[0] < w->dims[w->rank - 1] ? w->dims[0] : w->dims[w->rank - 1];
        break;
    case NNRT_NODE_TYPE_AVGPOOL_FUSION:
        each = nnrti_fold_product(&((const NNRT_AvgPoolFusion *)c->resolved)->kernelSize);
        break;
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
        each = nnrti_fold_product(&((const NNRT_MaxPoolFusion *)c->resolved)->kernelSize);
        break;
    case NNRT_NODE_TYPE_RESIZE: each = 16; break;
    case NNRT_NODE_TYPE_TOPK_FUSION: in *= 32; break;
    default: break;
    }
    return in + out * each;
}

/* Casts between float32 and quantized integers, in both directions. */
static bool nnrti_is_quant_cast(NNRT_NodeType type)
{
    return type == NNRT_NODE_TYPE_QUANT_DTYPE_CAST || type == NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2 ||
           type == NNRT_NODE_TYPE_QUANTIZE_LINEAR;
}

/* A node that converts integers to float32 (dequantize): its readers may become operators on integers. */
static bool nnrti_is_dequantize(const nnrt_resolve *c)
{
    return nnrti_is_quant_cast(c->op->type) && c->out[0].dataType == NNRT_DATA_TYPE_FLOAT32;
}

/* A cast from float16 to float32 whose result is large (NNRT_PASS_WIDEN). */
static bool nnrti_is_widening(const nnrt_resolve *c)
{
    size_t bytes = 0;
    return c->op->type == NNRT_NODE_TYPE_CAST && c->in[0].dataType == NNRT_DATA_TYPE_FLOAT16 &&
           c->out[0].dataType == NNRT_DATA_TYPE_FLOAT32 &&
           nnrt_dims_bytes(c->out[0].dims, c->out[0].rank, c->out[0].dataType, &bytes) && bytes > NNRTI_FOLD_FREE;
}

/* Decides for shape inference whether to compute the results of a node: if they are small, and the node does not
   dequantize (nnrti_pass_quantize needs to see that node). */
static bool nnrti_graph_worth(void *user, const nnrt_resolve *c)
{
    size_t total;
    (void)user;
    return !nnrti_is_dequantize(c) && nnrti_fold_bytes(c, &total);
}

/* Conditions of constant folding: all inputs have data, no result is a model output, the node has no effect, and the
   budget suffices. folded: inference has computed the results already. While quantize is set, dequantizing nodes stay.
   */
static bool nnrti_graph_may_fold(const nnrti_graph *g, const NNRT_Node *n, const nnrt_resolve *c, bool folded)
{
    size_t in = 0, out = 0, bytes = 0;
    if (g->live < 2 || (!folded && !nnrti_may_compute(c->op)) || (g->quantize && nnrti_is_dequantize(c)) ||
        (g->without & NNRT_PASS_CONSTANTS) != 0 || ((g->without & NNRT_PASS_WIDEN) != 0 && nnrti_is_widening(c)))
        return false;
    for (uint32_t k = 0; k < c->nIn; k++) {
        if (nnrti_absent(&c->in[k]))
            continue;
        if (c->in[k].data == NULL && !folded)
            return false;
        if (!nnrt_dims_bytes(c->in[k].dims, c->in[k].rank, c->in[k].dataType, &bytes) || !nnrt_add_size(in, bytes, &in))
            return false;
    }
    for (uint32_t k = 0; k < c->nOut; k++) {
        if (nnrti_absent(&c->out[k]))
            continue;
        if (g->isOutput[n->outputIndex.data[k]] ||
            !nnrt_dims_bytes(c->out[k].dims, c->out[k].rank, c->out[k].dataType, &bytes) || bytes > UINT32_MAX ||
            !nnrt_add_size(out, bytes, &out))
            return false;
    }
    return (out <= NNRTI_FOLD_FREE || out / NNRTI_FOLD_GROWTH <= in) && (double)out <= g->foldBytes &&
           (folded || nnrti_fold_work(c) <= g->foldWork);
}

/* Pass: constant folding. Pattern: a node whose inputs are all constants -> its results as constants. Conditions:
   nnrti_graph_may_fold. The results have the bits of the reference kernels, which compute them; a device with kernels
   of its own might round differently. Results of an alias operator (RESHAPE) share the data of the input. A kernel that
   fails (a divisor 0, an index out of range) leaves the node in place, so that the run reports the fault. */
static NNRT_ReturnCode nnrti_graph_fold(nnrti_graph *g, uint32_t node, nnrt_resolve *c, void **results, bool folded)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    uint32_t from = nnrti_id(&n->inputIndex, 0);
    const bool shares = (c->op->flags & NNRT_OP_ALIAS) && c->nDerived == 0 && from != NNRT_NO_TENSOR &&
                        nnrti_is_constant(&g->edit->tensors[from]);
    NNRT_ReturnCode code;
    if (!nnrti_graph_may_fold(g, n, c, folded))
        return NNRT_SUCCESS;
    g->foldWork -= folded || shares ? 0 : nnrti_fold_work(c);
    for (uint32_t k = 0; k < c->nOut; k++) {
        size_t bytes = 0;
        results[k] = NULL;
        if (nnrti_absent(&c->out[k]))
            continue;
        (void)nnrt_dims_bytes(c->out[k].dims, c->out[k].rank, c->out[k].dataType, &bytes);
        g->foldBytes -= shares ? 0 : (double)bytes;
        results[k] = shares   ? (void *)(uintptr_t)nnrti_buffer_data(&g->edit->tensors[from].data)
                     : folded ? nnrti_builder_copy(g->edit, c->out[k].data, 1, bytes)
                              : nnrti_builder_keep(g->edit, 1, bytes);
        if (results[k] == NULL)
            return NNRT_OUT_OF_MEMORY;
    }
    code = folded || shares ? NNRT_SUCCESS : nnrti_node_run(c, results, &g->work);
    if (code == NNRT_OUT_OF_MEMORY)
        return code;
    if (code != NNRT_SUCCESS) { /* a divisor is 0, an index out of range: a run may tell */
        memset(&g->edit->error, 0, sizeof(g->edit->error));
        return NNRT_SUCCESS;
    }
    for (uint32_t k = 0, t; nnrti_next_id(&n->outputIndex, &k, &t);) {
        g->shapes[t].data = results[k - 1];
        if (results[k - 1] != NULL &&
            !nnrti_builder_settle(g->edit, t, &g->shapes[t], shares ? from : NNRT_NO_TENSOR))
            return NNRT_OUT_OF_MEMORY;
    }
    nnrt_log_line(g->edit->log, NNRT_LOG_DEBUG, "node '%s' (%s) is folded: its results are constants",
                  nnrti_text_of(n->name), c->op->name);
    nnrti_graph_delete(g, node);
    return NNRT_SUCCESS;
}

/* ---- pass: dead-code elimination (DEAD) ---- */

/* Whether the node at a place, or a node of the subgraphs that it runs, has an effect besides its results. */
static bool nnrti_graph_acts(nnrti_graph *g, uint32_t place)
{
    for (uint32_t at = place; at < g->behind[place]; at++) {
        const nnrt_op *op = nnrt_op_find(nnrti_graph_node(g, g->order[at])->nodeType);
        if (op != NULL && (op->flags & NNRT_OP_EFFECT))
            return true;
    }
    return false;
}

/* Pass: dead-code elimination. Pattern: a node whose results nobody uses -> removed, with its subgraphs. Conditions: no
   effect (NNRT_OP_EFFECT), and at least one node remains in the model. Visits consumers before producers, so one walk
   removes whole chains. Bits: unchanged, as no result depends on the node. */
static void nnrti_graph_drop_dead(nnrti_graph *g, uint32_t count)
{
    for (uint32_t i = (g->without & NNRT_PASS_DEAD) == 0 ? count : 0; i-- > 0;) {
        const NNRT_Node *n = nnrti_graph_node(g, g->order[i]);
        bool used = n->nodeType == NNRT_NODE_TYPE_NONE || nnrti_graph_acts(g, i);
        for (uint32_t k = 0, t; nnrti_next_id(&n->outputIndex, &k, &t);)
            used = used || g->users[t] > 0;
        if (!used && g->live > g->behind[i] - i)
            nnrti_graph_delete(g, g->order[i]);
    }
}

/* ---- shape inference of a round ---- */

/* Dynamic dimensions of tensors with a data-dependent shape are unknown. */
static void nnrti_graph_open(nnrti_graph *g, const NNRT_Uint32List *list)
{
    for (uint32_t i = 0, t; nnrti_next_id(list, &i, &t);) {
        nnrt_operand *o = &g->shapes[t];
        for (int32_t k = 0; k < o->rank; k++) {
            if (o->symbols[k] != 0)
                o->dims[k] = -1;
            o->symbols[k] = 0;
        }
        o->data = NULL;
        o->open = NULL;
        o->most = 0;
    }
}

/* Resets these tensors to the declarations of the model. */
static void nnrti_graph_forget(nnrti_graph *g, const NNRT_Uint32List *list)
{
    for (uint32_t i = 0, t; nnrti_next_id(list, &i, &t);)
        nnrti_operand_of(&g->edit->tensors[t], &g->shapes[t]);
}

/* Infers a control-flow node: its results, and the inputs of its subgraphs, whose nodes follow in order. Values that
   only a run computes stay unknown. */
static NNRT_ReturnCode nnrti_graph_control(nnrti_graph *g, nnrti_inference *f, uint32_t node)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const uint32_t end = g->behind[g->place[node]];
    NNRT_ReturnCode code = NNRT_SUCCESS;
    f->symbols = 0;
    f->skipped = !nnrti_node_known(f, node);
    nnrti_control_fresh(f, node);
    if (!f->skipped)
        code = nnrti_infer_control(f, node);
    for (uint32_t at = g->place[node] + 1; at < end; at++) {
        const NNRT_Node *other = nnrti_graph_node(g, g->order[at]);
        nnrti_graph_forget(g, &other->outputIndex);
        for (uint32_t k = 0, inner; nnrti_next_graph(other, &k, &inner);)
            nnrti_graph_forget(g, &g->edit->graphs[inner].inputIndices);
    }
    for (uint32_t k = 0, inner; nnrti_next_graph(n, &k, &inner);)
        if (f->skipped || code != NNRT_SUCCESS)
            nnrti_graph_forget(g, &g->edit->graphs[inner].inputIndices);
        else
            nnrti_graph_open(g, &g->edit->graphs[inner].inputIndices);
    if (!f->skipped && code == NNRT_SUCCESS) {
        nnrti_graph_open(g, &n->outputIndex);
        return code;
    }
    nnrti_graph_forget(g, &n->outputIndex);
    if (g->work.full || (!f->skipped && f->symbols == 0))
        return code;
    memset(&g->edit->error, 0, sizeof(g->edit->error)); /* the sizes assumed for dynamic dimensions may be the cause */
    return NNRT_SUCCESS;
}

/* Begins shape inference of a round, with results in tensors; false = no memory. */
static bool nnrti_graph_inference(nnrti_graph *g, const NNRT_Model *m, nnrt_operand *tensors, nnrti_inference *f)
{
    const size_t widest = nnrti_widest(m);
    memset(f, 0, sizeof(*f));
    f->model = m;
    f->memory = &g->work;
    f->tensors = tensors;
    f->operands = (nnrt_operand *)nnrt_memory_temp_array(&g->work, widest, sizeof(*f->operands));
    f->results = (void **)nnrt_memory_temp_array(&g->work, widest, sizeof(*f->results));
    f->error = &g->edit->error;
    f->partial = true;
    f->worth = g->quantize ? nnrti_graph_worth : NULL;
    return !g->work.full;
}

/* Shape inference of a round, as in nnrt_model_infer, with constant folding of each node whose results are known before
   a run. Nodes that depend on dynamic inputs (-1) stay unknown and get types and formats by nnrti_guess_types. */
static NNRT_ReturnCode nnrti_graph_infer(nnrti_graph *g, const NNRT_Model *m)
{
    nnrti_inference f;
    if (!nnrti_graph_inference(g, m, g->shapes, &f))
        return NNRT_OUT_OF_MEMORY;
    f.order = g->sorted;
    f.opened = (uint8_t *)nnrt_memory_temp_array(&g->work, g->edit->graphs != NULL ? m->allTensors.count : 0, 1);
    if (g->work.full)
        return NNRT_OUT_OF_MEMORY;
    nnrti_graph_drop_dead(g, m->nodes.count); /* unused nodes need not be valid: a constant divided by 0 */
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[g->order[i]];
        bool folded = false;
        NNRT_ReturnCode code;
        nnrt_resolve c;
        if (n->nodeType == NNRT_NODE_TYPE_NONE)
            continue;
        if (nnrti_is_control(n->nodeType)) {
            if ((code = nnrti_graph_control(g, &f, g->order[i])) != NNRT_SUCCESS)
                return nnrt_error_blame(&g->edit->error, code, g->order[i], -1);
            continue;
        }
        if (!nnrti_node_known(&f, g->order[i])) {
            nnrti_guess_types(g->shapes, m, n);
            continue;
        }
        code = nnrti_infer_node(&f, g->order[i], &c, &folded);
        if (code == NNRT_SUCCESS && nnrti_still_open(&c))
            nnrti_graph_open(g, &n->outputIndex);
        else if (code == NNRT_SUCCESS)
            code = nnrti_graph_fold(g, g->order[i], &c, f.results, folded);
        if (code != NNRT_SUCCESS)
            return nnrt_error_blame(&g->edit->error, code, g->order[i], -1);
    }
    return NNRT_SUCCESS;
}

/* Whether passes that read g->open can find something: casts to 8 bits, or chains, each of which has one of these nodes. */
static bool nnrti_graph_has_chains(const nnrti_graph *g, const NNRT_Model *m)
{
    bool has = g->quantize;
    for (uint32_t i = 0; i < m->nodes.count && !has; i++) {
        const NNRT_NodeType type = m->nodes.data[i].nodeType;
        has = type == NNRT_NODE_TYPE_ADD_FUSION || type == NNRT_NODE_TYPE_MUL_FUSION || type == NNRT_NODE_TYPE_DIV_FUSION ||
              type == NNRT_NODE_TYPE_SUB_FUSION;
    }
    return has;
}

/* Fills g->open by inference with symbols: dynamic dimensions stay dynamic, with assumed sizes. If the rule of a node
   fails, maybe because of an assumed size, its results are unknown, as are the outputs of subgraphs. Only where a pass may
   read it: it takes as much memory as the inference of shapes. */
static NNRT_ReturnCode nnrti_graph_infer_open(nnrti_graph *g, const NNRT_Model *m)
{
    nnrti_input_axis *inputAxes = NULL;
    nnrti_inference f;
    bool open = false;
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        open = open || !nnrti_operand_known(&g->shapes[m->inputIndex.data[i]]);
    if (!open || !nnrti_graph_has_chains(g, m))
        return NNRT_SUCCESS;
    g->open = (nnrt_operand *)nnrt_memory_temp_array(&g->work, m->allTensors.count, sizeof(*g->open));
    g->nOpen = m->allTensors.count;
    if (!nnrti_graph_inference(g, m, g->open, &f))
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        (void)nnrti_operand_of(&g->edit->tensors[t], &g->open[t]);
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        if (!nnrti_builder_open_input(g->edit, g->open, m->inputIndex.data[i], &inputAxes, &g->work, &f.symbols))
            return NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[g->order[i]];
        bool folded;
        nnrt_resolve c;
        if (n->nodeType == NNRT_NODE_TYPE_NONE || nnrti_is_control(n->nodeType) || !nnrti_node_known(&f, g->order[i]) ||
            nnrti_infer_node(&f, g->order[i], &c, &folded) == NNRT_SUCCESS)
            continue;
        if (g->work.full)
            return NNRT_OUT_OF_MEMORY;
        memset(&g->edit->error, 0, sizeof(g->edit->error));
    }
    g->symbols = f.symbols;
    return NNRT_SUCCESS;
}

/* ---- patterns that several passes use ---- */

/* Tries one rewrite at one node, whose inputs are up to date; returns whether the graph changed. */
typedef bool (*nnrti_pass)(nnrti_graph *g, uint32_t node);

/* Reshapes: nodes whose result has the elements of the input in the same order, with another shape. */
static bool nnrti_is_reshape(const NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    return op != NULL && (op->flags & NNRT_OP_ALIAS) != 0 && (op->flags & NNRT_OP_MOVEMENT) != 0;
}

static bool nnrti_is_transpose(const NNRT_Node *n)
{
    return n->nodeType == NNRT_NODE_TYPE_TRANSPOSE;
}

/* The node that writes input 0 of n, if test accepts it and its own input 0 has equal quantization parameters, so that
   n may read that input instead; otherwise NULL. Other readers of the node do not matter: it stays until dead-code
   elimination. */
static const NNRT_Node *nnrti_pass_before(nnrti_graph *g, const NNRT_Node *n, bool (*test)(const NNRT_Node *))
{
    const uint32_t x = nnrti_id(&n->inputIndex, 0);
    const NNRT_Node *before = nnrti_graph_writer(g, x);
    if (before == NULL || !test(before) || nnrti_id(&before->inputIndex, 0) == NNRT_NO_TENSOR ||
        !nnrti_quant_equal(&g->shapes[before->inputIndex.data[0]], &g->shapes[x]))
        return NULL;
    return before;
}

/* Copies the attributes of n, of `bytes` bytes in this version, with defaults for members that it lacks. */
static void nnrti_pass_attr(const NNRT_Node *n, void *attr, size_t bytes)
{
    nnrt_attr_defaults(nnrt_op_find(n->nodeType)->attr, attr);
    if (n->nodeAttr.size > 0)
        memcpy(attr, n->nodeAttr.data, n->nodeAttr.size < bytes ? n->nodeAttr.size : bytes);
}

/* The attribute activationType of a node; NO_ACTIVATION if the operator has none. *has: whether it has one. Operators
   of the application count as without: there the name may have any meaning. */
static NNRT_ActivationType nnrti_activation_of(const NNRT_Node *n, bool *has)
{
    const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
    NNRT_ActivationType type = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    *has = false;
    for (uint32_t i = 0; i < s->count && n->nodeType > 0; i++) /* not for operators of the application */
        if (s->members[i].kind == NNRT_ATTR_KIND_ENUM && strcmp(s->members[i].name, "activationType") == 0) {
            *has = true;
            if (s->members[i].offset + sizeof(type) <= n->nodeAttr.size)
                memcpy(&type, (const uint8_t *)n->nodeAttr.data + s->members[i].offset, sizeof(type));
        }
    return type;
}

static bool nnrti_pass_set_activation(nnrti_graph *g, NNRT_Node *n, NNRT_ActivationType type)
{
    NNRT_ActivationType *at = (NNRT_ActivationType *)nnrti_graph_attr(g, n, "activationType");
    if (at != NULL)
        *at = type;
    return at != NULL;
}

/* Whether n limits results of RELU further, so that its activation replaces that one. */
static bool nnrti_pass_limits(const NNRT_Node *n, NNRT_ActivationType before)
{
    bool has;
    const NNRT_ActivationType type = nnrti_activation_of(n, &has);
    return n->nodeType == NNRT_NODE_TYPE_ACTIVATION && before == NNRT_ACTIVATION_TYPE_RELU &&
           (type == NNRT_ACTIVATION_TYPE_RELU6 || type == NNRT_ACTIVATION_TYPE_RELU1);
}

/* The node before n that operator fusion may extend by n: n is the only reader of its result 0, x, the node has the
   attribute activationType, which is unset or superseded, and may write result 0 of n. Otherwise NULL. */
static NNRT_Node *nnrti_pass_into(nnrti_graph *g, const NNRT_Node *n, uint32_t x)
{
    const uint32_t y = nnrti_id(&n->outputIndex, 0);
    NNRT_Node *before = nnrti_graph_producer(g, x);
    NNRT_ActivationType type;
    bool has;
    if (before == NULL || y == NNRT_NO_TENSOR || before->outputIndex.data[0] != x ||
        !nnrti_graph_may_write(g, before, x, y))
        return NULL;
    type = nnrti_activation_of(before, &has);
    return has && (type == NNRT_ACTIVATION_TYPE_NO_ACTIVATION || nnrti_pass_limits(n, type)) ? before : NULL;
}

/* Fuses the affine node into `before`, which writes x: sets the inputs of `before`, two data operands and a bias, moves
   the activation of `node` to it (the limits of HARD_SIGMOID are RELU1), and removes `node`. False = no memory. */
static bool nnrti_pass_fuse_inputs(nnrti_graph *g, uint32_t node, NNRT_Node *before, uint32_t x,
                                   const uint32_t inputs[3])
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    bool has, *hasBias;
    if (!nnrti_pass_set_activation(g, before,
                                   n->nodeType == NNRT_NODE_TYPE_HARD_SIGMOID ? NNRT_ACTIVATION_TYPE_RELU1
                                                                              : nnrti_activation_of(n, &has)) ||
        !nnrti_graph_set_inputs(g, before, inputs, 3))
        return false;
    if (before->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION) {
        if ((hasBias = (bool *)nnrti_graph_attr(g, before, "hasBias")) == NULL)
            return false;
        *hasBias = true;
    }
    nnrti_graph_take_over(g, node, x);
    return true;
}

/* Makes n a node of another operator; returns its attributes, which are the defaults, or NULL: no memory. */
static void *nnrti_pass_become(nnrti_graph *g, NNRT_Node *n, NNRT_NodeType type, const uint32_t *inputs, uint32_t count)
{
    const nnrt_attr_struct *s = nnrt_op_find(type)->attr;
    void *attr = nnrti_builder_attr(g->edit, s, NULL, 0);
    if (attr == NULL || !nnrti_graph_set_inputs(g, n, inputs, count))
        return NULL;
    n->nodeType = type;
    n->nodeAttr.data = attr;
    n->nodeAttr.size = s->bytes;
    return attr;
}

/* ---- pass: consecutive reshapes (RESHAPES) ---- */

/* Pass: reshape -> reshape becomes the second one, reading the input of the first. If all dimensions of the result are
   known, it becomes RESHAPE to these. Otherwise its shape list must be constant without an entry 0: 0 copies a
   dimension of the input, whose shape changes; a list without 0 has the same meaning for any input with as many
   elements. Bits: unchanged, no element is computed. */
NNRTI_COLD static bool nnrti_pass_join_reshapes(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    const NNRT_Node *before = nnrti_is_reshape(n) ? nnrti_pass_before(g, n, nnrti_is_reshape) : NULL;
    const uint32_t shape = nnrti_id(&n->inputIndex, 1), out = nnrti_id(&n->outputIndex, 0);
    const nnrt_operand *list = n->nodeType == NNRT_NODE_TYPE_RESHAPE ? nnrti_graph_data(g, shape) : NULL;
    bool fixed = list != NULL && list->rank == 1;
    uint32_t inputs[2];
    void *attr;
    if (before == NULL || out == NNRT_NO_TENSOR)
        return false;
    for (int32_t i = 0; fixed && i < list->dims[0]; i++)
        fixed = nnrti_value(list, (size_t)i) != 0;
    if (!fixed && !nnrti_operand_known(&g->shapes[out]))
        return false;
    inputs[0] = before->inputIndex.data[0];
    inputs[1] = shape;
    if (!fixed) {
        inputs[1] = nnrti_graph_numbers(g, g->shapes[out].dims, g->shapes[out].rank);
        attr = nnrti_builder_attr(g->edit, nnrt_op_find(NNRT_NODE_TYPE_RESHAPE)->attr, NULL, 0);
        if (inputs[1] == NNRT_NO_TENSOR || attr == NULL)
            return false;
        n->nodeType = NNRT_NODE_TYPE_RESHAPE;
        n->nodeAttr.data = attr;
        n->nodeAttr.size = nnrt_op_find(NNRT_NODE_TYPE_RESHAPE)->attr->bytes;
    }
    return nnrti_graph_set_inputs(g, n, inputs, 2);
}

/* ---- pass: consecutive transposes (TRANSPOSES) ---- */

/* perm[k] = entry k of TRANSPOSE n's constant permutation, in 0..*rank-1; false if it is not constant or not a
   permutation. */
static bool nnrti_pass_perm(const nnrti_graph *g, const NNRT_Node *n, int32_t perm[NNRT_MAX_RANK], int32_t *rank)
{
    const nnrt_operand *p = nnrti_graph_data(g, nnrti_id(&n->inputIndex, 1));
    uint32_t seen = 0;
    if (p == NULL || p->rank != 1 || p->dims[0] > NNRT_MAX_RANK || !nnrti_type_in(p->dataType, NNRT_TYPES_INDEX))
        return false;
    *rank = p->dims[0];
    for (int32_t k = 0; k < *rank; k++) {
        int64_t axis = nnrti_value(p, (size_t)k);
        axis += axis < 0 ? *rank : 0;
        if (axis < 0 || axis >= *rank)
            return false;
        perm[k] = (int32_t)axis;
        seen |= 1u << axis;
    }
    return seen == (1u << *rank) - 1u;
}

/* Pass: TRANSPOSE(first) -> TRANSPOSE(then) becomes one TRANSPOSE with both[k] = first[then[k]], reading the input of
   the first. Conditions: both permutations are constants of equal rank. Bits: unchanged. An inverse pair becomes the
   identity, which nnrti_pass_drop_copy removes in the next round. */
NNRTI_COLD static bool nnrti_pass_join_transposes(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    const NNRT_Node *before = nnrti_is_transpose(n) ? nnrti_pass_before(g, n, nnrti_is_transpose) : NULL;
    int32_t first[NNRT_MAX_RANK], then[NNRT_MAX_RANK], both[NNRT_MAX_RANK], rank, same;
    uint32_t perm;
    if (before == NULL || !nnrti_pass_perm(g, before, first, &same) || !nnrti_pass_perm(g, n, then, &rank) ||
        rank != same)
        return false;
    for (int32_t k = 0; k < rank; k++)
        both[k] = first[then[k]];
    if ((perm = nnrti_graph_numbers(g, both, rank)) == NNRT_NO_TENSOR)
        return false;
    nnrti_graph_set_input(g, n, 0, before->inputIndex.data[0]);
    nnrti_graph_set_input(g, n, 1, perm);
    return true;
}

/* ---- pass: copies (COPIES) ---- */

/* Whether the constant permutation of TRANSPOSE n leaves every axis in place. */
static bool nnrti_pass_identity_perm(const nnrti_graph *g, const NNRT_Node *n)
{
    int32_t perm[NNRT_MAX_RANK], rank;
    if (!nnrti_pass_perm(g, n, perm, &rank))
        return false;
    for (int32_t k = 0; k < rank; k++)
        if (perm[k] != k)
            return false;
    return true;
}

/* Whether all strides of STRIDED_SLICE n are known and positive: if its result then has the shape of the input, it is
   the whole input in order. */
static bool nnrti_pass_forward(const nnrti_graph *g, const NNRT_Node *n)
{
    const uint32_t t = nnrti_id(&n->inputIndex, n->inputIndex.count == 5 ? 4 : 3);
    const nnrt_operand *strides = nnrti_graph_data(g, t);
    if (t == NNRT_NO_TENSOR)
        return true;
    for (int32_t i = 0; strides != NULL && strides->rank == 1 && i < strides->dims[0]; i++)
        if (nnrti_value(strides, (size_t)i) <= 0)
            return false;
    return strides != NULL;
}

/* Whether result y of n has exactly the values of input x. The caller has compared types, quantization and layout. */
static bool nnrti_pass_copies(nnrti_graph *g, const NNRT_Node *n, uint32_t x, uint32_t y)
{
    const void *attr = n->nodeAttr.data;
    if (nnrti_is_reshape(n))
        return nnrti_graph_same_dims(g, x, y);
    switch (n->nodeType) {
    case NNRT_NODE_TYPE_TILE_FUSION:
    case NNRT_NODE_TYPE_PAD_FUSION: /* no multiple below 1 keeps a shape, and paddings are not negative */
    case NNRT_NODE_TYPE_SLICE_FUSION: return nnrti_graph_same_dims(g, x, y);
    case NNRT_NODE_TYPE_STRIDED_SLICE: return nnrti_graph_same_dims(g, x, y) && nnrti_pass_forward(g, n);
    case NNRT_NODE_TYPE_TRANSPOSE: return nnrti_pass_identity_perm(g, n);
    case NNRT_NODE_TYPE_CAST: /* types and quantization parameters are equal: the caller has compared them */
    case NNRT_NODE_TYPE_BITCAST: return true;
    case NNRT_NODE_TYPE_CONCAT: return n->inputIndex.count == 1;
    case NNRT_NODE_TYPE_SPLIT: return n->outputIndex.count == 1;
    case NNRT_NODE_TYPE_ACTIVATION:
        return n->nodeAttr.size >= sizeof(NNRT_ActivationType) &&
               (((const NNRT_Activation *)attr)->activationType == NNRT_ACTIVATION_TYPE_NO_ACTIVATION ||
                ((const NNRT_Activation *)attr)->activationType == NNRT_ACTIVATION_TYPE_LINEAR);
    default: return false;
    }
}

/* Pass: x -> copy -> y becomes x for all readers of y. Conditions: nnrti_pass_copies (an identity permutation, a slice
   of everything, a CAST to the same type, ...), equal type, quantization and layout, and at least one node remains. If
   y is an output, the node before must write y directly, for which x may have no other reader; an output that equals an
   input, a constant or another output keeps its node. Bits: unchanged. */
NNRTI_COLD static bool nnrti_pass_drop_copy(nnrti_graph *g, uint32_t node)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const uint32_t x = nnrti_id(&n->inputIndex, 0), y = nnrti_id(&n->outputIndex, 0);
    if (g->live < 2 || x == NNRT_NO_TENSOR || y == NNRT_NO_TENSOR || !nnrti_graph_alike(g, x, y) ||
        !nnrti_pass_copies(g, n, x, y))
        return false;
    if (g->isOutput[y] && nnrti_graph_producer(g, x) == NULL)
        return false;
    nnrti_graph_delete(g, node);
    nnrti_graph_instead(g, y, x);
    return true;
}

/* ---- pass: activations (ACTIVATIONS) ---- */

/* Whether another node can apply this activation of n: it is not the identity, and needs no parameter of ACTIVATION
   (alpha, limits, approximate), for which other attribute structs have no member. */
static bool nnrti_may_fuse(const NNRT_Node *n, NNRT_ActivationType type)
{
    NNRT_Activation a;
    switch (type) {
    case NNRT_ACTIVATION_TYPE_NO_ACTIVATION:
    case NNRT_ACTIVATION_TYPE_LINEAR:
    case NNRT_ACTIVATION_TYPE_ELU:
    case NNRT_ACTIVATION_TYPE_LEAKY_RELU:
    case NNRT_ACTIVATION_TYPE_THRESHOLDRELU:
    case NNRT_ACTIVATION_TYPE_HARD_TANH:
    case NNRT_ACTIVATION_TYPE_UNKNOWN: return false;
    case NNRT_ACTIVATION_TYPE_GELU:
        memset(&a, 0, sizeof(a));
        memcpy(&a, n->nodeAttr.data, n->nodeAttr.size < sizeof(a) ? n->nodeAttr.size : sizeof(a));
        return !a.approximate;
    default: return true;
    }
}

/* Fusing a float16 activation: float16 is computed in float32 and rounded at the end, so fusion saves the rounding
   between the node and its activation. That does not change the result if rounding commutes with the activation:
   limits that float16 represents, and removing the sign. */
static bool nnrti_rounds_alike(NNRT_DataType dataType, NNRT_ActivationType type)
{
    return dataType != NNRT_DATA_TYPE_FLOAT16 || type == NNRT_ACTIVATION_TYPE_RELU ||
           type == NNRT_ACTIVATION_TYPE_RELU6 || type == NNRT_ACTIVATION_TYPE_RELU1 || type == NNRT_ACTIVATION_TYPE_ABS;
}

/* Pass (operator fusion): node -> ACTIVATION becomes the node with activationType set. Conditions: the operator has
   that attribute and it is unset, or RELU before RELU6 or RELU1, only the ACTIVATION reads the result, the type is
   float, and nnrti_may_fuse. Bits: unchanged on the reference device, as its kernels apply the activation to the value
   that they would have stored; for float16 see nnrti_rounds_alike. */
NNRTI_COLD static bool nnrti_pass_fuse_activation(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node), *before;
    const uint32_t x = nnrti_id(&n->inputIndex, 0);
    NNRT_ActivationType type;
    bool has;
    if (n->nodeType != NNRT_NODE_TYPE_ACTIVATION || (before = nnrti_pass_into(g, n, x)) == NULL)
        return false;
    type = nnrti_activation_of(before, &has);
    if (before->nodeType == NNRT_NODE_TYPE_ACTIVATION && !nnrti_pass_limits(n, type))
        return false;
    type = nnrti_activation_of(n, &has);
    if (!nnrti_may_fuse(n, type) || !nnrti_type_in(g->shapes[x].dataType, NNRT_TYPES_FLOAT) ||
        !nnrti_rounds_alike(g->shapes[x].dataType, type) ||
        !nnrti_pass_set_activation(g, before, type))
        return false;
    nnrti_graph_take_over(g, node, x);
    return true;
}

/* ---- pass: affine maps per channel (AFFINE) ---- */

/* An affine map per channel, y = factor * x + shift: a normalization, or scaling or addition of constants. */
typedef struct nnrti_affine {
    double *factor, *shift;
    int32_t channels, axis, rank; /* x has `rank` axes, and the channels lie along `axis` */
} nnrti_affine;

/* values[c] = float32 constant t for channel c, where axis 0 of t is axis `first` of x. False unless t is broadcast
   along all axes but the channels. exact: a value per channel is required, one for all is not enough. */
static bool nnrti_affine_values(const nnrti_graph *g, const nnrti_affine *a, uint32_t t, int32_t first, bool exact,
                                double *values)
{
    const nnrt_operand *o = nnrti_graph_data(g, t);
    bool each = false;
    if (o == NULL || o->dataType != NNRT_DATA_TYPE_FLOAT32 || first < 0 || first + o->rank > a->rank)
        return false;
    for (int32_t i = 0; i < o->rank; i++) {
        if (first + i == a->axis && o->dims[i] == a->channels)
            each = true;
        else if (o->dims[i] != 1)
            return false;
    }
    if (exact && !each)
        return false;
    for (int32_t c = 0; c < a->channels; c++)
        values[c] = (double)((const float *)o->data)[each ? c : 0];
    return true;
}

/* FUSED_BATCH_NORM: factor = scale / sqrt(variance + epsilon), shift = offset - mean * factor. work has 2 * channels.
   */
static bool nnrti_affine_norm(nnrti_graph *g, const NNRT_Node *n, nnrti_affine *a, double *work)
{
    double *mean = work, *variance = work + a->channels;
    NNRT_FusedBatchNorm attr;
    nnrti_pass_attr(n, &attr, sizeof(attr));
    for (uint32_t k = 1; k <= 4; k++) {
        double *const to[] = {NULL, a->factor, a->shift, mean, variance};
        if (!nnrti_affine_values(g, a, nnrti_id(&n->inputIndex, k), a->axis, true, to[k]))
            return false;
    }
    for (int32_t c = 0; c < a->channels; c++) {
        a->factor[c] /= sqrt(variance[c] + (double)attr.epsilon);
        a->shift[c] -= mean[c] * a->factor[c];
    }
    return true;
}

/* SCALE_FUSION: factor = scale, shift = bias. Axis 0 of these constants is the axis of x that the attribute axis names;
   they must have a value per channel. */
static bool nnrti_affine_scale(nnrti_graph *g, const NNRT_Node *n, nnrti_affine *a)
{
    const uint32_t bias = nnrti_id(&n->inputIndex, 2);
    int64_t axis = n->nodeAttr.size >= sizeof(int64_t) ? ((const NNRT_ScaleFusion *)n->nodeAttr.data)->axis : 0;
    axis += axis < 0 ? a->rank : 0;
    if (axis < 0 || axis > a->axis)
        return false;
    return nnrti_affine_values(g, a, nnrti_id(&n->inputIndex, 1), (int32_t)axis, true, a->factor) &&
           (bias == NNRT_NO_TENSOR || nnrti_affine_values(g, a, bias, (int32_t)axis, true, a->shift));
}

/* ADD, SUB or MUL of x and a constant that is broadcast to it: shift = c; factor = 1 and shift = -c for x - c, factor =
   -1 and shift = c for c - x; factor = c for MUL. */
static bool nnrti_affine_binary(nnrti_graph *g, const NNRT_Node *n, uint32_t x, nnrti_affine *a)
{
    const bool first = nnrti_id(&n->inputIndex, 0) == x;
    const uint32_t other = nnrti_id(&n->inputIndex, first ? 1 : 0);
    const nnrt_operand *o = nnrti_graph_data(g, other);
    double *to = n->nodeType == NNRT_NODE_TYPE_MUL_FUSION ? a->factor : a->shift;
    if (o == NULL || other == x || !nnrti_affine_values(g, a, other, a->rank - o->rank, false, to))
        return false;
    for (int32_t c = 0; c < a->channels && n->nodeType == NNRT_NODE_TYPE_SUB_FUSION; c++) {
        a->factor[c] = first ? 1 : -1;
        a->shift[c] = first ? -a->shift[c] : a->shift[c];
    }
    return true;
}

/* HARD_SIGMOID before its limits 0 and 1, the limits of RELU1, too: factor = alpha, shift = beta. */
static void nnrti_affine_hard_sigmoid(const NNRT_Node *n, nnrti_affine *a)
{
    NNRT_HardSigmoid attr;
    nnrti_pass_attr(n, &attr, sizeof(attr));
    for (int32_t c = 0; c < a->channels; c++) {
        a->factor[c] = (double)attr.alpha;
        a->shift[c] = (double)attr.beta;
    }
}

/* Fills *a for node n, whose data operand is x; false if n is no affine map of constants per channel. byFormat: the
   channel axis that the format gives n (1 for NCHW, otherwise the last); operators that take their channel axis from
   the format must agree with the axis of the node before. */
static bool nnrti_affine_of(nnrti_graph *g, const NNRT_Node *n, uint32_t x, int32_t byFormat, nnrti_affine *a)
{
    double *block = (double *)nnrti_graph_temp(g, 4 * (size_t)a->channels, sizeof(*block));
    const bool onFirst = nnrti_id(&n->inputIndex, 0) == x;
    if (block == NULL)
        return false;
    a->factor = block;
    a->shift = block + a->channels;
    for (int32_t c = 0; c < a->channels; c++)
        a->factor[c] = 1;
    switch (n->nodeType) {
    case NNRT_NODE_TYPE_FUSED_BATCH_NORM:
        return onFirst && byFormat == a->axis && nnrti_affine_norm(g, n, a, a->shift + a->channels);
    case NNRT_NODE_TYPE_BIAS_ADD:
        return onFirst && byFormat == a->axis &&
               nnrti_affine_values(g, a, nnrti_id(&n->inputIndex, 1), a->axis, true, a->shift);
    case NNRT_NODE_TYPE_SCALE_FUSION: return onFirst && nnrti_affine_scale(g, n, a);
    case NNRT_NODE_TYPE_HARD_SIGMOID: nnrti_affine_hard_sigmoid(n, a); return true;
    default: return nnrti_affine_binary(g, n, x, a);
    }
}

/* Sets channels, rank and channel axis of x, the result of n, a convolution or FULL_CONNECTION with a constant float32
   weight whose axis 0 holds the output channels. False if these are unknown, or the bias is not constant. */
static bool nnrti_affine_channels(const nnrti_graph *g, const NNRT_Node *n, uint32_t x, nnrti_affine *a,
                                  int32_t *byFormat)
{
    const nnrt_operand *w = nnrti_graph_data(g, nnrti_id(&n->inputIndex, 1)), *o = &g->shapes[x];
    const uint32_t bias = nnrti_id(&n->inputIndex, 2);
    const nnrt_operand *b = nnrti_graph_data(g, bias);
    if (w == NULL || w->dataType != NNRT_DATA_TYPE_FLOAT32 || w->rank < 2 || w->dims[0] < 1)
        return false;
    if (bias != NNRT_NO_TENSOR &&
        (b == NULL || b->dataType != NNRT_DATA_TYPE_FLOAT32 || b->rank != 1 || b->dims[0] != w->dims[0]))
        return false;
    a->channels = w->dims[0];
    a->rank = 4;
    a->axis = *byFormat = nnrti_is_nchw(o) ? 1 : 3;
    if (n->nodeType != NNRT_NODE_TYPE_FULL_CONNECTION)
        return w->rank == 4;
    if (o->rank < 0 &&
        (n->nodeAttr.size < sizeof(NNRT_FullConnection) || ((const NNRT_FullConnection *)n->nodeAttr.data)->useAxis))
        return false;
    a->rank = o->rank < 0 ? 2 : o->rank;
    a->axis = a->rank - 1;
    *byFormat = a->rank > 2 && nnrti_is_nchw(o) ? 1 : a->axis;
    return w->rank == 2 && a->axis >= 0;
}

/* The elements of constant t for in-place changes: a large constant of the builder with one reader and memory that no
   other tensor shares; otherwise NULL. */
static float *nnrti_pass_alone(nnrti_graph *g, uint32_t t)
{
    const nnrt_builder *b = g->edit;
    const void *data = nnrti_buffer_data(&b->tensors[t].data);
    if (b->copied[t] != NNRTI_ALONE || g->users[t] != 1 || b->tensors[t].data.dataSize < NNRTI_LARGE)
        return NULL;
    for (uint32_t i = 0; i < nnrti_array_count(b->tensors); i++)
        if (i != t && nnrti_buffer_data(&b->tensors[i].data) == data)
            return NULL;
    return (float *)(uintptr_t)data;
}

/* Applies a to n: weight'[c,..] = weight[c,..] * factor[c], bias'[c] = bias[c] * factor[c] + shift[c], computed in
   double and rounded once to float32. inputs[]: the new inputs of n. False if a value is not finite, or memory is
   missing; nothing has changed then. A large weight with no other reader is changed in place, after all values were
   checked, which saves its copy. */
static bool nnrti_affine_apply(nnrti_graph *g, const NNRT_Node *n, const nnrti_affine *a, uint32_t inputs[3])
{
    const nnrt_operand *w = &g->shapes[n->inputIndex.data[1]], *b = nnrti_graph_data(g, nnrti_id(&n->inputIndex, 2));
    float *weight = nnrti_pass_alone(g, n->inputIndex.data[1]),
          *bias = (float *)nnrti_builder_keep(g->edit, (size_t)a->channels, sizeof(float));
    const bool alone = weight != NULL;
    size_t count = 0, row;
    bool scales = false;
    float bad = 0;
    (void)nnrt_dims_count(w->dims, w->rank, &count);
    row = count / (size_t)a->channels;
    for (int32_t c = 0; c < a->channels; c++)
        scales = scales || a->factor[c] != 1;
    if (bias == NULL ||
        (scales && !alone && (weight = (float *)nnrti_builder_keep(g->edit, count, sizeof(float))) == NULL))
        return false;
    for (size_t c = 0; c < (size_t)a->channels; c++) {
        bias[c] = (float)((b != NULL ? (double)((const float *)b->data)[c] : 0.0) * a->factor[c] + a->shift[c]);
        bad += bias[c] - bias[c]; /* 0, or NaN once something is infinite or NaN */
        for (size_t i = c * row; scales && i < (c + 1) * row; i++) {
            const float v = (float)((double)((const float *)w->data)[i] * a->factor[c]);
            bad += v - v;
            if (!alone)
                weight[i] = v;
        }
    }
    if (bad != 0)
        return false;
    for (size_t i = 0; alone && scales && i < count; i++)
        weight[i] = (float)((double)weight[i] * a->factor[i / row]);
    inputs[0] = n->inputIndex.data[0];
    inputs[1] = scales && !alone ? nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, w->rank, w->dims, weight)
                                 : n->inputIndex.data[1];
    inputs[2] = nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, 1, &a->channels, bias);
    return inputs[1] != NNRT_NO_TENSOR && inputs[2] != NNRT_NO_TENSOR;
}

/* The data operand of an affine node: input 0, or input 1 if the constant of ADD, SUB or MUL is input 0. NNRT_NO_TENSOR
   for other operators. */
static uint32_t nnrti_affine_operand(const nnrti_graph *g, const NNRT_Node *n)
{
    const uint32_t x = nnrti_id(&n->inputIndex, 0);
    switch (n->nodeType) {
    case NNRT_NODE_TYPE_ADD_FUSION:
    case NNRT_NODE_TYPE_SUB_FUSION:
    case NNRT_NODE_TYPE_MUL_FUSION: return nnrti_graph_data(g, x) != NULL ? nnrti_id(&n->inputIndex, 1) : x;
    case NNRT_NODE_TYPE_FUSED_BATCH_NORM:
    case NNRT_NODE_TYPE_BIAS_ADD:
    case NNRT_NODE_TYPE_HARD_SIGMOID:
    case NNRT_NODE_TYPE_SCALE_FUSION: return x;
    default: return NNRT_NO_TENSOR;
    }
}

/* Pass (operator fusion): CONV2D, CONV2D_TRANSPOSE or FULL_CONNECTION -> FUSED_BATCH_NORM, BIAS_ADD, SCALE, ADD, SUB,
   MUL with constants per channel, or HARD_SIGMOID becomes the first node with changed weight and bias; the activation
   of the second moves to it. Conditions: weight, bias and constants are float32 constants, all new values are finite,
   and only the second node reads the result of the first. Error: each new weight and bias is within half an ulp of its
   value in double arithmetic, and the separate rounding of the second node disappears: bits change within the rounding
   error of a float32 sum of these terms. */
NNRTI_COLD static bool nnrti_pass_fold_affine(nnrti_graph *g, uint32_t node)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const uint32_t x = nnrti_affine_operand(g, n);
    NNRT_Node *before = nnrti_pass_into(g, n, x);
    uint32_t inputs[3];
    nnrti_affine a;
    int32_t byFormat;
    if (before == NULL || g->shapes[x].dataType != NNRT_DATA_TYPE_FLOAT32 || before->inputIndex.count < 2 ||
        (before->nodeType != NNRT_NODE_TYPE_CONV2D_FUSION &&
         before->nodeType != NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION &&
         before->nodeType != NNRT_NODE_TYPE_FULL_CONNECTION) ||
        !nnrti_affine_channels(g, before, x, &a, &byFormat) || !nnrti_affine_of(g, n, x, byFormat, &a) ||
        !nnrti_affine_apply(g, before, &a, inputs))
        return false;
    return nnrti_pass_fuse_inputs(g, node, before, x, inputs);
}

/* Whether the windows of a convolution of weights w cover no padding. */
static bool nnrti_pass_unpadded(const NNRT_Node *n, const nnrt_operand *w)
{
    NNRT_Conv2DFusion attr;
    nnrti_pass_attr(n, &attr, sizeof(attr));
    if (attr.padMode == NNRT_PAD_MODE_SAME)
        return w->dims[1] == 1 && w->dims[2] == 1;
    for (uint32_t i = 0; i < attr.padList.count && attr.padMode != NNRT_PAD_MODE_VALID; i++)
        if (attr.padList.data[i] != 0)
            return false;
    return true;
}

/* Weights and bias of a convolution n of weights w and the bias b, or NULL, that take x instead of factor * x + shift:
   weight'[o,..,i] = weight[o,..,i] * factor[c], bias'[o] = bias[o] + sum of weight[o,..,i] * shift[c], where c is channel i
   of the group of o; in double, rounded once. False if a value is not finite, or memory is missing. */
static bool nnrti_affine_before(nnrti_graph *g, const nnrt_operand *w, const nnrt_operand *b, const nnrti_affine *a,
                                uint32_t inputs[3])
{
    const int32_t O = w->dims[0], I = w->dims[3], perGroup = O / (a->channels / I);
    const size_t row = (size_t)w->dims[1] * (size_t)w->dims[2] * (size_t)I;
    float *weight = (float *)nnrti_builder_keep(g->edit, row * (size_t)O, sizeof(float));
    float *bias = (float *)nnrti_builder_keep(g->edit, (size_t)O, sizeof(float)), bad = 0;
    if (weight == NULL || bias == NULL)
        return false;
    for (int32_t o = 0; o < O; o++) {
        double sum = b != NULL ? (double)((const float *)b->data)[o] : 0.0;
        for (size_t i = 0; i < row; i++) {
            const size_t at = (size_t)o * row + i, c = (size_t)(o / perGroup * I) + i % (size_t)I;
            const double v = (double)((const float *)w->data)[at];
            weight[at] = (float)(v * a->factor[c]);
            sum += v * a->shift[c];
            bad += weight[at] - weight[at]; /* 0, or NaN once something is infinite or NaN */
        }
        bias[o] = (float)sum;
        bad += bias[o] - bias[o];
    }
    inputs[1] = bad == 0 ? nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, 4, w->dims, weight) : NNRT_NO_TENSOR;
    inputs[2] = bad == 0 ? nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, 1, &w->dims[0], bias) : NNRT_NO_TENSOR;
    return inputs[1] != NNRT_NO_TENSOR && inputs[2] != NNRT_NO_TENSOR;
}

/* A constant that is added to images: shift[c] / factor[c] in channel c, one number if all are equal. NNRT_NO_TENSOR if
   a value is not finite, or memory is missing. */
static uint32_t nnrti_affine_summand(nnrti_graph *g, const nnrti_affine *sum, const nnrti_affine *product)
{
    const int32_t first[3] = {sum->channels, 1, 1}, one = 1;
    float *values = (float *)nnrti_builder_keep(g->edit, (size_t)sum->channels, sizeof(float)), bad = 0;
    bool same = true;
    for (int32_t c = 0; c < sum->channels && values != NULL; c++) {
        values[c] = (float)(sum->shift[c] / product->factor[c]);
        bad += values[c] - values[c];
        same = same && values[c] == values[0];
    }
    if (values == NULL || bad != 0)
        return NNRT_NO_TENSOR;
    return nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, same || sum->axis == 3 ? 1 : 3, same ? &one : first, values);
}

static bool nnrti_is_plain_affine(const NNRT_Node *n)
{
    bool has;
    return n != NULL &&
           (n->nodeType == NNRT_NODE_TYPE_MUL_FUSION || n->nodeType == NNRT_NODE_TYPE_ADD_FUSION ||
            n->nodeType == NNRT_NODE_TYPE_SUB_FUSION) &&
           nnrti_activation_of(n, &has) == NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
}

/* Pass: MUL, ADD or SUB of constants per channel, or one of the latter after MUL -> CONV2D becomes the convolution with
   changed weight and bias, of the operand of the first node. Before a convolution that pads a summand stays, since
   padding is 0 behind it: MUL, ADD -> CONV2D becomes ADD of shift / factor -> the convolution with changed weight.
   Conditions as for nnrti_pass_fold_affine; several convolutions may read the result. Error: as there; a new summand is
   rounded, too. */
NNRTI_COLD static bool nnrti_pass_fold_before(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node), *last, *first;
    const uint32_t x = nnrti_id(&n->inputIndex, 0);
    const nnrt_operand *w = nnrti_graph_data(g, nnrti_id(&n->inputIndex, 1));
    uint32_t inputs[3], summed[2];
    bool stays;
    nnrti_affine a, sum;
    int32_t byFormat;
    if (n->nodeType != NNRT_NODE_TYPE_CONV2D_FUSION || x == NNRT_NO_TENSOR || g->isOutput[x] ||
        g->users[x] != g->convolutions[x] || !nnrti_is_plain_affine(last = nnrti_graph_writer(g, x)) ||
        nnrti_graph_seen(g, x)->dataType != NNRT_DATA_TYPE_FLOAT32 || nnrti_graph_seen(g, x)->rank != 4 ||
        !nnrti_affine_channels(g, n, nnrti_id(&n->outputIndex, 0), &a, &byFormat))
        return false;
    inputs[0] = nnrti_affine_operand(g, last);
    first = last->nodeType != NNRT_NODE_TYPE_MUL_FUSION ? nnrti_graph_producer(g, inputs[0]) : NULL;
    if (nnrti_is_plain_affine(first) && first->nodeType == NNRT_NODE_TYPE_MUL_FUSION)
        inputs[0] = nnrti_affine_operand(g, first);
    else
        first = last;
    stays = last->nodeType != NNRT_NODE_TYPE_MUL_FUSION && !nnrti_pass_unpadded(n, w);
    a.axis = byFormat = nnrti_is_nchw(nnrti_graph_seen(g, x)) ? 1 : 3;
    a.channels = nnrti_graph_dim(g, x, a.axis);
    sum = a;
    if ((stays && (first == last || g->users[x] != 1)) || w->dims[3] < 1 || a.channels < w->dims[3] ||
        a.channels % w->dims[3] != 0 || w->dims[0] % (a.channels / w->dims[3]) != 0 || inputs[0] == NNRT_NO_TENSOR ||
        nnrti_graph_seen(g, inputs[0])->rank != 4 || nnrti_graph_dim(g, inputs[0], a.axis) != a.channels ||
        !nnrti_affine_of(g, first, inputs[0], byFormat, &a) ||
        !nnrti_affine_of(g, last, nnrti_affine_operand(g, last), byFormat, &sum) || (stays && sum.factor[0] < 0))
        return false;
    for (int32_t c = 0; c < a.channels && first != last && !stays; c++) {
        a.factor[c] *= sum.factor[c];
        a.shift[c] = sum.shift[c];
    }
    summed[0] = inputs[0];
    summed[1] = stays ? nnrti_affine_summand(g, &sum, &a) : NNRT_NO_TENSOR;
    if ((stays && summed[1] == NNRT_NO_TENSOR) ||
        !nnrti_affine_before(g, w, nnrti_graph_data(g, nnrti_id(&n->inputIndex, 2)), &a, inputs))
        return false;
    inputs[0] = stays ? x : inputs[0];
    if (stays && nnrti_pass_become(g, last, NNRT_NODE_TYPE_ADD_FUSION, summed, 2) == NULL)
        return false;
    return nnrti_graph_set_inputs(g, n, inputs, 3);
}

/* ---- pass: chains that exporters write for one operator (CHAINS) ---- */

/* A formula is a text of
     x g b        tensors, the same in the whole formula;
     p q          constants of one element;
     numbers      constants of one element, within 2^-21 of the number; of float16, the nearest one;
     + - * /      ADD, whose operands may be swapped, SUB, MUL and DIV; a product or quotient means each order and
                  nesting of its factors, and a reciprocal may be RECIPROCAL, RSQRT, 1 / .. or a constant factor;
     f(..)        functions, nnrti_functions.
   A part that a formula repeats is one node or several. A formula becomes terms once a round (nnrti_graph_formulas). */
struct nnrti_chain_term {
    uint8_t kind;    /* NNRTI_TERM_ */
    uint8_t which;   /* index in nnrti_letters or nnrti_functions */
    uint8_t count;   /* of parts */
    uint8_t inverse; /* bit i: a product is divided by part i */
    uint8_t part[4]; /* indices of terms of the same formula */
    float number;
};

enum {
    NNRTI_TERM_NUMBER,
    NNRTI_TERM_LETTER,
    NNRTI_TERM_SUM,
    NNRTI_TERM_DIFFERENCE,
    NNRTI_TERM_PRODUCT,
    NNRTI_TERM_FUNCTION
};

#define NNRTI_LETTER_P 3 /* p and q follow the tensors */
static const char nnrti_letters[] = "xgbpq";

/* An activation is a node, or the activationType of the node before. square and cube are also POW by 2 and 3, square
   also MUL of a tensor and itself and SQUARED_DIFFERENCE. mean is that of the last axes, which stay with size 1. norm
   has no gamma and beta, rms the scale 1, instance the scale 1 and bias 0. */
static const struct {
    const char *name;
    NNRT_NodeType type;
    NNRT_ActivationType activation;
} nnrti_functions[] = {
    {"sigmoid", NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_SIGMOID},
    {"hsigmoid", NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_HSIGMOID},
    {"tanh", NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_TANH},
    {"relu1", NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU1},
    {"relu6", NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU6},
    {"erf", NNRT_NODE_TYPE_ERF, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
    {"sqrt", NNRT_NODE_TYPE_SQRT, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
    {"square", NNRT_NODE_TYPE_SQUARE, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
    {"cube", NNRT_NODE_TYPE_POW_FUSION, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
    {"mean", NNRT_NODE_TYPE_REDUCE_FUSION, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
    {"norm", NNRT_NODE_TYPE_LAYER_NORM_FUSION, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
    {"rms", NNRT_NODE_TYPE_RMS_NORMALIZATION, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
    {"instance", NNRT_NODE_TYPE_INSTANCE_NORM, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
    {"reshape", NNRT_NODE_TYPE_RESHAPE, NNRT_ACTIVATION_TYPE_NO_ACTIVATION},
};

/* A reader of one formula. */
typedef struct nnrti_formula {
    const char *at;
    nnrti_chain_term *terms;
    uint8_t count;
} nnrti_formula;

static uint8_t nnrti_formula_term(nnrti_formula *f, uint8_t kind)
{
    f->terms[f->count].kind = kind;
    return f->count++;
}

static void nnrti_formula_part(nnrti_formula *f, uint8_t k, uint8_t part)
{
    f->terms[k].part[f->terms[k].count++] = part;
}

/* The next character, after spaces. */
static char nnrti_formula_next(nnrti_formula *f)
{
    while (*f->at == ' ')
        f->at++;
    return *f->at;
}

static uint8_t nnrti_formula_sum(nnrti_formula *f);

static uint8_t nnrti_formula_number(nnrti_formula *f)
{
    const uint8_t k = nnrti_formula_term(f, NNRTI_TERM_NUMBER);
    double value = 0, unit = 1;
    for (bool behind = false; *f->at == '.' || (*f->at >= '0' && *f->at <= '9'); f->at++) {
        behind = behind || *f->at == '.';
        value = *f->at == '.' ? value : 10 * value + (*f->at - '0');
        unit *= behind && *f->at != '.' ? 10 : 1;
    }
    f->terms[k].number = (float)(value / unit);
    return k;
}

/* A number, a letter, a function of a sum, or a sum in parentheses. */
static uint8_t nnrti_formula_factor(nnrti_formula *f)
{
    size_t length = 0;
    uint8_t k, which = 0;
    if (nnrti_formula_next(f) >= '0' && *f->at <= '9')
        return nnrti_formula_number(f);
    while (f->at[length] != '(' && strchr(" +-*/)", f->at[length]) == NULL) /* which also finds the end */
        length++;
    if (f->at[length] != '(') {
        k = nnrti_formula_term(f, NNRTI_TERM_LETTER);
        f->terms[k].which = (uint8_t)(strchr(nnrti_letters, *f->at) - nnrti_letters);
        f->at += length;
        return k;
    }
    while (length > 0 &&
           (strncmp(nnrti_functions[which].name, f->at, length) != 0 || nnrti_functions[which].name[length] != 0))
        which++;
    f->at += length + 1;
    k = nnrti_formula_sum(f);
    f->at++; /* the ) */
    if (length > 0) {
        const uint8_t of = k;
        k = nnrti_formula_term(f, NNRTI_TERM_FUNCTION);
        f->terms[k].which = which;
        nnrti_formula_part(f, k, of);
    }
    return k;
}

static uint8_t nnrti_formula_product(nnrti_formula *f)
{
    const uint8_t first = nnrti_formula_factor(f);
    uint8_t k;
    if (nnrti_formula_next(f) != '*' && *f->at != '/')
        return first;
    k = nnrti_formula_term(f, NNRTI_TERM_PRODUCT);
    nnrti_formula_part(f, k, first);
    while (nnrti_formula_next(f) == '*' || *f->at == '/') {
        if (*f->at++ == '/')
            f->terms[k].inverse = (uint8_t)(f->terms[k].inverse | 1u << f->terms[k].count);
        nnrti_formula_part(f, k, nnrti_formula_factor(f));
    }
    return k;
}

static uint8_t nnrti_formula_sum(nnrti_formula *f)
{
    uint8_t k = nnrti_formula_product(f);
    while (nnrti_formula_next(f) == '+' || *f->at == '-') {
        const uint8_t first = k, kind = *f->at++ == '+' ? NNRTI_TERM_SUM : NNRTI_TERM_DIFFERENCE;
        const uint8_t second = nnrti_formula_product(f);
        k = nnrti_formula_term(f, kind);
        nnrti_formula_part(f, k, first);
        nnrti_formula_part(f, k, second);
    }
    return k;
}

/* The parts that a formula has matched so far; a copy restores it when an order of operands fails. */
typedef struct nnrti_match {
    uint32_t of[sizeof(nnrti_letters) - 1]; /* per letter: the tensor, or NNRT_NO_TENSOR */
    float numbers[2];                       /* p, q */
    int32_t rank;                           /* most axes of a constant of one element */
    int32_t axis;                           /* first axis of mean, or -1 */
    const NNRT_Node *norm;                  /* of norm, rms or instance */
    uint32_t count;
    struct {
        uint32_t tensor, term, reads;
    } inner[16]; /* results of the nodes before the last one: their term, and how often the chain reads them */
} nnrti_match;

/* Whether two terms of a formula are equal. */
static bool nnrti_match_equal(const nnrti_chain_term *f, uint32_t a, uint32_t b)
{
    const nnrti_chain_term *x = &f[a], *y = &f[b];
    bool same = x->kind == y->kind && x->which == y->which && x->count == y->count && x->inverse == y->inverse &&
                !(x->number < y->number) && !(x->number > y->number);
    for (uint32_t i = 0; i < x->count && same; i++)
        same = nnrti_match_equal(f, x->part[i], y->part[i]);
    return same;
}

/* Counts a read of t, the result of a node of the chain, as term k. *again: it is known to be that. False: it is
   another term, or the chain has too many nodes. */
static bool nnrti_match_read(nnrti_match *m, const nnrti_chain_term *f, uint32_t k, uint32_t t, bool *again)
{
    uint32_t i = 0;
    while (i < m->count && m->inner[i].tensor != t)
        i++;
    *again = i < m->count;
    if (i == NNRTI_COUNT(m->inner) || (*again && !nnrti_match_equal(f, m->inner[i].term, k)))
        return false;
    m->inner[i].reads = *again ? m->inner[i].reads + 1 : 1;
    m->inner[i].tensor = t;
    m->inner[i].term = k;
    m->count += !*again;
    return true;
}

/* The operand of t, and its value, if it is a float constant of one element; else NULL. */
static const nnrt_operand *nnrti_match_constant(const nnrti_graph *g, nnrti_match *m, uint32_t t, float *value)
{
    const nnrt_operand *o = nnrti_graph_data(g, t);
    size_t count = 0;
    if (o == NULL || !nnrti_type_in(o->dataType, NNRT_TYPES_FLOAT) || !nnrt_dims_count(o->dims, o->rank, &count) ||
        count != 1)
        return NULL;
    *value = nnrti_load(o->data, 0, o->dataType);
    m->rank = o->rank > m->rank ? o->rank : m->rank;
    return o;
}

static bool nnrti_match_number(const nnrti_graph *g, nnrti_match *m, uint32_t t, float number)
{
    float v, most = (number < 0 ? -number : number) / 2097152;
    const nnrt_operand *o = nnrti_match_constant(g, m, t, &v);
    if (o != NULL && o->dataType == NNRT_DATA_TYPE_FLOAT16)
        return nnrt_half_from_float(v) == nnrt_half_from_float(number);
    return o != NULL && v - number <= most && number - v <= most;
}

/* Whether t, or with `inverse` 1 / t, is the letter. */
static bool nnrti_match_letter(const nnrti_graph *g, nnrti_match *m, uint32_t letter, uint32_t t, bool inverse)
{
    const bool first = m->of[letter] == NNRT_NO_TENSOR;
    float v, *number = letter >= NNRTI_LETTER_P ? &m->numbers[letter - NNRTI_LETTER_P] : NULL;
    if (number == NULL && (inverse || (!first && m->of[letter] != t)))
        return false;
    m->of[letter] = t;
    if (number == NULL)
        return true;
    if (nnrti_match_constant(g, m, t, &v) == NULL)
        return false;
    v = inverse ? 1 / v : v;
    *number = first ? v : *number;
    return v == *number;
}

static bool nnrti_match_node(nnrti_graph *g, const nnrti_chain_term *f, uint32_t k, const NNRT_Node *n, bool activated,
                             nnrti_match *m);

/* Whether tensor t is term k. */
static bool nnrti_match_tensor(nnrti_graph *g, const nnrti_chain_term *f, uint32_t k, uint32_t t, nnrti_match *m)
{
    const NNRT_Node *n = nnrti_graph_writer(g, t);
    bool again;
    if (f[k].kind == NNRTI_TERM_NUMBER)
        return nnrti_match_number(g, m, t, f[k].number);
    if (f[k].kind == NNRTI_TERM_LETTER)
        return t != NNRT_NO_TENSOR && nnrti_match_letter(g, m, f[k].which, t, false);
    return n != NULL && nnrti_match_read(m, f, k, t, &again) && (again || nnrti_match_node(g, f, k, n, false, m));
}

/* Whether input i of n is term a and input 1 - i is term b. */
static bool nnrti_match_pair(nnrti_graph *g, const nnrti_chain_term *f, const NNRT_Node *n, uint32_t i, uint32_t a,
                             uint32_t b, nnrti_match *m)
{
    return nnrti_match_tensor(g, f, a, nnrti_id(&n->inputIndex, i), m) &&
           nnrti_match_tensor(g, f, b, nnrti_id(&n->inputIndex, 1 - i), m);
}

/* The same in either order. */
static bool nnrti_match_either(nnrti_graph *g, const nnrti_chain_term *f, const NNRT_Node *n, uint32_t a, uint32_t b,
                               nnrti_match *m)
{
    const nnrti_match before = *m;
    if (nnrti_match_pair(g, f, n, 0, a, b, m))
        return true;
    *m = before;
    return nnrti_match_pair(g, f, n, 1, a, b, m);
}

/* Whether n has no activation, or the formula has it already. */
static bool nnrti_match_plain(const NNRT_Node *n, bool activated)
{
    bool has;
    return activated || nnrti_activation_of(n, &has) == NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
}

static bool nnrti_is_product(const NNRT_Node *n, bool activated)
{
    return n != NULL && (n->nodeType == NNRT_NODE_TYPE_MUL_FUSION || n->nodeType == NNRT_NODE_TYPE_DIV_FUSION) &&
           n->inputIndex.count == 2 && nnrti_match_plain(n, activated);
}

/* Factors of a product of nodes. */
typedef struct nnrti_factors {
    uint32_t count, tensor[4];
    bool inverse[4];
} nnrti_factors;

/* Whether factor i of the nodes is part j of product k. */
static bool nnrti_match_factor(nnrti_graph *g, const nnrti_chain_term *f, uint32_t k, uint32_t j,
                               const nnrti_factors *factors, uint32_t i, nnrti_match *m)
{
    const uint32_t part = f[k].part[j], t = factors->tensor[i];
    const nnrti_chain_term *term = &f[part];
    const NNRT_Node *n = nnrti_graph_writer(g, t);
    bool again;
    if (((f[k].inverse >> j & 1) != 0) == factors->inverse[i])
        return nnrti_match_tensor(g, f, part, t, m);
    if (term->kind == NNRTI_TERM_NUMBER)
        return nnrti_match_number(g, m, t, 1 / term->number);
    if (term->kind == NNRTI_TERM_LETTER)
        return nnrti_match_letter(g, m, term->which, t, true);
    if (factors->inverse[i] || n == NULL || !nnrti_match_read(m, f, part, t, &again))
        return false;
    if (again)
        return true;
    switch (n->nodeType) {
    case NNRT_NODE_TYPE_RECIPROCAL: return nnrti_match_tensor(g, f, part, nnrti_id(&n->inputIndex, 0), m);
    case NNRT_NODE_TYPE_RSQRT:
        return term->kind == NNRTI_TERM_FUNCTION && nnrti_functions[term->which].type == NNRT_NODE_TYPE_SQRT &&
               nnrti_match_tensor(g, f, term->part[0], nnrti_id(&n->inputIndex, 0), m);
    case NNRT_NODE_TYPE_DIV_FUSION:
        return nnrti_is_product(n, false) && nnrti_match_number(g, m, n->inputIndex.data[0], 1) &&
               nnrti_match_tensor(g, f, part, n->inputIndex.data[1], m);
    default: return false;
    }
}

/* Whether the factors that `open` has bits of are parts j, j + 1, .. of product k, in any order. */
static bool nnrti_match_factors(nnrti_graph *g, const nnrti_chain_term *f, uint32_t k, uint32_t j,
                                const nnrti_factors *factors, uint32_t open, nnrti_match *m)
{
    const nnrti_match before = *m;
    for (uint32_t i = 0; i < factors->count; i++) {
        if ((open >> i & 1u) == 0)
            continue;
        if (nnrti_match_factor(g, f, k, j, factors, i, m) &&
            (j + 1 == f[k].count || nnrti_match_factors(g, f, k, j + 1, factors, open & ~(1u << i), m)))
            return true;
        *m = before;
    }
    return false;
}

/* Whether the factors, some of them replaced by the two factors of the MUL or DIV that writes them, are product k. */
static bool nnrti_match_product(nnrti_graph *g, const nnrti_chain_term *f, uint32_t k, const nnrti_factors *factors,
                                nnrti_match *m)
{
    const nnrti_match before = *m;
    if (factors->count == f[k].count)
        return nnrti_match_factors(g, f, k, 0, factors, (1u << factors->count) - 1, m);
    for (uint32_t i = 0; i < factors->count; i++) {
        const NNRT_Node *n = nnrti_graph_producer(g, factors->tensor[i]);
        nnrti_factors more = *factors;
        bool again;
        if (!nnrti_is_product(n, false) || !nnrti_match_read(m, f, k, factors->tensor[i], &again))
            continue;
        more.tensor[i] = n->inputIndex.data[0];
        more.tensor[more.count] = n->inputIndex.data[1];
        more.inverse[more.count++] = more.inverse[i] != (n->nodeType == NNRT_NODE_TYPE_DIV_FUSION);
        if (nnrti_match_product(g, f, k, &more, m))
            return true;
        *m = before;
    }
    return false;
}

/* Whether constant t consists of one number. */
static bool nnrti_graph_all(const nnrti_graph *g, uint32_t t, float number)
{
    const nnrt_operand *o = nnrti_graph_data(g, t);
    size_t count = 0;
    bool all = o != NULL && o->dataType == NNRT_DATA_TYPE_FLOAT32 && nnrt_dims_count(o->dims, o->rank, &count);
    for (size_t i = 0; i < count && all; i++)
        all = ((const float *)o->data)[i] == number;
    return all;
}

/* Whether n is POW by an exponent. */
static bool nnrti_match_power(const nnrti_graph *g, const NNRT_Node *n, float exponent, nnrti_match *m)
{
    NNRT_PowFusion a;
    if (n->nodeType != NNRT_NODE_TYPE_POW_FUSION)
        return false;
    nnrti_pass_attr(n, &a, sizeof(a));
    return a.scale == 1 && a.shift == 0 && nnrti_match_number(g, m, nnrti_id(&n->inputIndex, 1), exponent);
}

/* Whether n is the mean over the last axes, from m->axis on, which it keeps. */
static bool nnrti_match_mean(const nnrti_graph *g, const NNRT_Node *n, nnrti_match *m)
{
    const nnrt_operand *axes = nnrti_graph_data(g, nnrti_id(&n->inputIndex, 1));
    uint32_t reduced = 0;
    int32_t axis, rank;
    NNRT_ReduceFusion a;
    if (n->nodeType != NNRT_NODE_TYPE_REDUCE_FUSION || axes == NULL)
        return false;
    rank = nnrti_graph_seen(g, n->inputIndex.data[0])->rank;
    nnrti_pass_attr(n, &a, sizeof(a));
    for (size_t i = 0; i < nnrti_count(axes); i++) {
        const int64_t k = nnrti_value(axes, i) + (nnrti_value(axes, i) < 0 ? rank : 0);
        if (k < 0 || k >= rank)
            return false;
        reduced |= 1u << k;
    }
    for (axis = rank; axis > 0 && (reduced >> (axis - 1) & 1u) != 0; axis--)
        reduced &= ~(1u << (axis - 1));
    if (a.mode != NNRT_REDUCE_MODE_MEAN || !a.keepDims || a.reduceToEnd || reduced != 0 || axis == rank ||
        (m->axis >= 0 && m->axis != axis))
        return false;
    m->axis = axis;
    return true;
}

/* Whether n is a normalization without scale and offset; m->norm = n. */
static bool nnrti_match_norm(const nnrti_graph *g, const NNRT_Node *n, NNRT_NodeType type, nnrti_match *m)
{
    NNRT_LayerNormFusion a;
    if (n->nodeType != type)
        return false;
    m->norm = n;
    if (type != NNRT_NODE_TYPE_LAYER_NORM_FUSION)
        return nnrti_graph_all(g, nnrti_id(&n->inputIndex, 1), 1) &&
               (type == NNRT_NODE_TYPE_RMS_NORMALIZATION || nnrti_graph_all(g, nnrti_id(&n->inputIndex, 2), 0));
    nnrti_pass_attr(n, &a, sizeof(a));
    return !a.elementwiseAffine;
}

/* Whether n is function k. */
static bool nnrti_match_function(nnrti_graph *g, const nnrti_chain_term *f, uint32_t k, const NNRT_Node *n,
                                 nnrti_match *m)
{
    const NNRT_NodeType type = nnrti_functions[f[k].which].type;
    const uint32_t of = f[k].part[0];
    bool good = n->nodeType == type;
    switch (type) {
    case NNRT_NODE_TYPE_ACTIVATION:
        if (nnrti_activation_of(n, &good) != nnrti_functions[f[k].which].activation)
            return false;
        if (n->nodeType != NNRT_NODE_TYPE_ACTIVATION)
            return nnrti_match_node(g, f, of, n, true, m);
        break;
    case NNRT_NODE_TYPE_SQUARE:
        if (n->nodeType == NNRT_NODE_TYPE_SQUARED_DIFFERENCE && f[of].kind == NNRTI_TERM_DIFFERENCE)
            return nnrti_match_either(g, f, n, f[of].part[0], f[of].part[1], m);
        if (n->nodeType == NNRT_NODE_TYPE_MUL_FUSION && nnrti_is_product(n, false) &&
            n->inputIndex.data[0] == n->inputIndex.data[1])
            return nnrti_match_pair(g, f, n, 0, of, of, m);
        good = good || nnrti_match_power(g, n, 2, m);
        break;
    case NNRT_NODE_TYPE_POW_FUSION: good = nnrti_match_power(g, n, 3, m); break;
    case NNRT_NODE_TYPE_REDUCE_FUSION: good = nnrti_match_mean(g, n, m); break;
    case NNRT_NODE_TYPE_LAYER_NORM_FUSION:
    case NNRT_NODE_TYPE_RMS_NORMALIZATION:
    case NNRT_NODE_TYPE_INSTANCE_NORM: good = nnrti_match_norm(g, n, type, m); break;
    case NNRT_NODE_TYPE_RESHAPE: good = nnrti_is_reshape(n); break;
    default: break;
    }
    return good && nnrti_match_tensor(g, f, of, nnrti_id(&n->inputIndex, 0), m);
}

/* Whether the result of n is term k; activated: before its activation. */
static bool nnrti_match_node(nnrti_graph *g, const nnrti_chain_term *f, uint32_t k, const NNRT_Node *n, bool activated,
                             nnrti_match *m)
{
    nnrti_factors factors;
    switch (f[k].kind) {
    case NNRTI_TERM_SUM:
        return n->nodeType == NNRT_NODE_TYPE_ADD_FUSION && nnrti_match_plain(n, activated) &&
               nnrti_match_either(g, f, n, f[k].part[0], f[k].part[1], m);
    case NNRTI_TERM_DIFFERENCE:
        return n->nodeType == NNRT_NODE_TYPE_SUB_FUSION && nnrti_match_plain(n, activated) &&
               nnrti_match_pair(g, f, n, 0, f[k].part[0], f[k].part[1], m);
    case NNRTI_TERM_PRODUCT:
        if (!nnrti_is_product(n, activated))
            return false;
        factors.count = 2;
        for (uint32_t i = 0; i < 2; i++)
            factors.tensor[i] = n->inputIndex.data[i];
        factors.inverse[0] = false;
        factors.inverse[1] = n->nodeType == NNRT_NODE_TYPE_DIV_FUSION;
        return nnrti_match_product(g, f, k, &factors, m);
    case NNRTI_TERM_FUNCTION: return !activated && nnrti_match_function(g, f, k, n, m);
    default: return false;
    }
}

/* Whether one operator may replace the matched nodes: x has one of the types, the constants add no axes to it, and only
   these nodes read their results. */
static bool nnrti_match_complete(const nnrti_graph *g, const nnrti_match *m, uint32_t types)
{
    const nnrt_operand *x = nnrti_graph_seen(g, m->of[0]);
    if (!nnrti_type_in(x->dataType, types) || (m->rank > 0 && m->rank > x->rank))
        return false;
    for (uint32_t i = 0; i < m->count; i++)
        if (g->users[m->inner[i].tensor] != m->inner[i].reads || g->isOutput[m->inner[i].tensor])
            return false;
    return true;
}

/* Makes n the operator of a chain; `with` is that of its row. */
typedef bool (*nnrti_chain_make)(nnrti_graph *g, NNRT_Node *n, const nnrti_match *m, NNRT_ActivationType with);

/* ACTIVATION of x. */
static bool nnrti_chain_activation(nnrti_graph *g, NNRT_Node *n, const nnrti_match *m, NNRT_ActivationType with)
{
    NNRT_Activation *a = (NNRT_Activation *)nnrti_pass_become(g, n, NNRT_NODE_TYPE_ACTIVATION, m->of, 1);
    if (a != NULL)
        a->activationType = with;
    return a != NULL;
}

/* GELU in its tanh form. */
static bool nnrti_chain_gelu_tanh(nnrti_graph *g, NNRT_Node *n, const nnrti_match *m, NNRT_ActivationType with)
{
    if (!nnrti_chain_activation(g, n, m, with))
        return false;
    ((NNRT_Activation *)(uintptr_t)n->nodeAttr.data)->approximate = true;
    return true;
}

/* HARD_SIGMOID with slope p and offset q. */
static bool nnrti_chain_hard_sigmoid(nnrti_graph *g, NNRT_Node *n, const nnrti_match *m, NNRT_ActivationType with)
{
    NNRT_HardSigmoid *a = (NNRT_HardSigmoid *)nnrti_pass_become(g, n, NNRT_NODE_TYPE_HARD_SIGMOID, m->of, 1);
    (void)with;
    if (a == NULL)
        return false;
    a->alpha = m->numbers[0];
    a->beta = m->numbers[1];
    return true;
}

/* Whether tensor t has the fixed dimensions of x from axis on, and float32. */
static bool nnrti_graph_ends(const nnrti_graph *g, uint32_t t, uint32_t x, int64_t axis)
{
    const int32_t rank = nnrti_graph_seen(g, x)->rank, from = (int32_t)axis;
    bool same =
        nnrti_graph_seen(g, t)->dataType == NNRT_DATA_TYPE_FLOAT32 && axis >= 0 && axis < rank &&
        nnrti_graph_seen(g, t)->rank == rank - from;
    for (int32_t i = from; same && i < rank; i++)
        same = nnrti_graph_dim(g, t, i - from) >= 0 && nnrti_graph_dim(g, t, i - from) == nnrti_graph_dim(g, x, i);
    return same;
}

/* LAYER_NORM_FUSION with epsilon p over the axes from m->axis on, or as m->norm; gamma g and beta b, if the formula has
   them, have the shape of these axes. */
static bool nnrti_chain_layer_norm(nnrti_graph *g, NNRT_Node *n, const nnrti_match *m, NNRT_ActivationType with)
{
    const bool affine = m->of[1] != NNRT_NO_TENSOR;
    const nnrt_operand *x = &g->shapes[m->of[0]];
    const int32_t rank = nnrti_graph_seen(g, m->of[0])->rank;
    int32_t parts[2];
    NNRT_LayerNormFusion old, *a;
    (void)with;
    old.beginNormAxis = m->axis;
    old.epsilon = m->numbers[0];
    if (m->norm != NULL)
        nnrti_pass_attr(m->norm, &old, sizeof(old));
    old.beginNormAxis += old.beginNormAxis < 0 ? rank : 0;
    if ((nnrti_operand_known(x) && !nnrti_two_parts(x, (int32_t)old.beginNormAxis, parts)) || !(old.epsilon >= 0) ||
        (affine && (!nnrti_graph_ends(g, m->of[1], m->of[0], old.beginNormAxis) ||
                    !nnrti_graph_ends(g, m->of[2], m->of[0], old.beginNormAxis))))
        return false;
    a = (NNRT_LayerNormFusion *)nnrti_pass_become(g, n, NNRT_NODE_TYPE_LAYER_NORM_FUSION, m->of, affine ? 3 : 1);
    if (a == NULL)
        return false;
    a->beginNormAxis = a->beginParamsAxis = old.beginNormAxis;
    a->epsilon = old.epsilon;
    a->elementwiseAffine = affine;
    return true;
}

/* A constant of ones with the dimensions of x from axis on; of one element if they are dynamic. NNRT_NO_TENSOR: no
   memory. */
static uint32_t nnrti_graph_ones(nnrti_graph *g, uint32_t x, int64_t axis)
{
    int32_t dims[NNRT_MAX_RANK], rank = 0;
    size_t count = 0;
    float *ones;
    for (int32_t i = (int32_t)axis; i < nnrti_graph_seen(g, x)->rank; i++)
        dims[rank++] = nnrti_graph_dim(g, x, i);
    if (!nnrt_dims_count(dims, rank, &count)) {
        count = 1;
        dims[0] = rank = 1;
    }
    if ((ones = (float *)nnrti_builder_keep(g->edit, count, sizeof(*ones))) == NULL)
        return NNRT_NO_TENSOR;
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    return nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, rank, dims, ones);
}

/* RMS_NORMALIZATION, likewise; without g its scale is 1. Not of x - mean(..): that is a part of LAYER_NORM_FUSION. */
static bool nnrti_chain_rms_norm(nnrti_graph *g, NNRT_Node *n, const nnrti_match *m, NNRT_ActivationType with)
{
    const int32_t rank = nnrti_graph_seen(g, m->of[0])->rank;
    const NNRT_Node *x = nnrti_graph_writer(g, m->of[0]);
    uint32_t inputs[2];
    NNRT_RMSNormalization old, *a;
    (void)with;
    if (x != NULL && x->nodeType == NNRT_NODE_TYPE_SUB_FUSION &&
        (x = nnrti_graph_writer(g, nnrti_id(&x->inputIndex, 1))) != NULL && x->nodeType == NNRT_NODE_TYPE_REDUCE_FUSION)
        return false;
    inputs[0] = m->of[0];
    inputs[1] = m->of[1];
    old.axis = m->axis;
    old.epsilon = m->numbers[0];
    if (m->norm != NULL)
        nnrti_pass_attr(m->norm, &old, sizeof(old));
    old.axis += old.axis < 0 ? rank : 0;
    if (!(old.epsilon >= 0) || old.axis < 0 || old.axis >= rank ||
        (inputs[1] != NNRT_NO_TENSOR && !nnrti_graph_ends(g, inputs[1], inputs[0], old.axis)))
        return false;
    if (inputs[1] == NNRT_NO_TENSOR && (inputs[1] = nnrti_graph_ones(g, inputs[0], old.axis)) == NNRT_NO_TENSOR)
        return false;
    a = (NNRT_RMSNormalization *)nnrti_pass_become(g, n, NNRT_NODE_TYPE_RMS_NORMALIZATION, inputs, 2);
    if (a == NULL)
        return false;
    a->axis = old.axis;
    a->epsilon = old.epsilon;
    return true;
}

/* Whether axis i of two tensors has the same size in every run. */
static bool nnrti_graph_same_axis(const nnrti_graph *g, uint32_t a, uint32_t b, int32_t i)
{
    const nnrt_operand *x = nnrti_graph_seen(g, a), *y = nnrti_graph_seen(g, b);
    return x->dims[i] >= 0 && x->dims[i] == y->dims[i] && x->symbols[i] == y->symbols[i];
}

/* GROUP_NORM_FUSION: an image [N,C,..] is seen as [N,groups,..] by INSTANCE_NORM, channels first in both shapes; g and
   b are constants per channel. The result becomes NCHW, if all images are. */
static bool nnrti_chain_group_norm(nnrti_graph *g, NNRT_Node *n, const nnrti_match *m, NNRT_ActivationType with)
{
    const uint32_t x = m->of[0], y = n->outputIndex.data[0], r = m->norm->inputIndex.data[0];
    const nnrt_operand *image = nnrti_graph_seen(g, x), *view = nnrti_graph_seen(g, r);
    uint32_t inputs[3];
    NNRT_InstanceNorm old;
    NNRT_GroupNormFusion *a;
    nnrti_affine map;
    (void)with;
    if (image->rank < 3 || nnrti_graph_seen(g, y)->rank != image->rank || view->rank < 3 || !nnrti_is_nchw(image) ||
        !nnrti_is_nchw(view) || (!nnrti_is_nchw(nnrti_graph_seen(g, y)) && g->channelsLast) ||
        !nnrti_graph_same_axis(g, x, r, 0) || image->dims[1] < 1 || image->symbols[1] != 0 || view->dims[1] < 1 ||
        view->symbols[1] != 0 || image->dims[1] % view->dims[1] != 0)
        return false;
    for (int32_t i = 0; i < image->rank; i++)
        if (!nnrti_graph_same_axis(g, x, y, i))
            return false;
    inputs[0] = x;
    map.channels = image->dims[1];
    map.axis = 1;
    map.rank = image->rank;
    map.shift = (double *)nnrti_graph_temp(g, (size_t)map.channels, sizeof(*map.shift));
    for (uint32_t k = 1; k < 3; k++) {
        const nnrt_operand *o = nnrti_graph_data(g, m->of[k]);
        float *values = (float *)nnrti_builder_keep(g->edit, (size_t)map.channels, sizeof(*values));
        if (map.shift == NULL || values == NULL || o == NULL ||
            !nnrti_affine_values(g, &map, m->of[k], map.rank - o->rank, false, map.shift))
            return false;
        for (int32_t c = 0; c < map.channels; c++)
            values[c] = (float)map.shift[c];
        inputs[k] = nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, 1, &map.channels, values);
        if (inputs[k] == NNRT_NO_TENSOR)
            return false;
    }
    nnrti_pass_attr(m->norm, &old, sizeof(old));
    view = nnrti_graph_seen(g, r);
    a = (NNRT_GroupNormFusion *)nnrti_pass_become(g, n, NNRT_NODE_TYPE_GROUP_NORM_FUSION, inputs, 3);
    if (a == NULL)
        return false;
    a->numGroups = view->dims[1];
    a->epsilon = old.epsilon == 0 ? 1e-5f : old.epsilon;
    return true;
}

/* The chains, in the order in which they are tried; numbers come first, since they exclude most nodes. Rejected:
   attention (MatMul, Softmax, MatMul) and rotary embedding, whose chains have vectorized kernels, unlike ATTENTION and
   ROTARY_EMBEDDING; x * sigmoid(1.702 * x), for which there is no operator. */
#define NNRTI_DEVIATION "mean(square(x - mean(x))) + p"
static const struct {
    const char *formula;
    nnrti_chain_make make;
    NNRT_ActivationType with;
    uint32_t types;
} nnrti_chains[] = {
    {"x * sigmoid(x)", nnrti_chain_activation, NNRT_ACTIVATION_TYPE_SWISH, NNRT_TYPES_F32},
    {"x * sigmoid(1 * x)", nnrti_chain_activation, NNRT_ACTIVATION_TYPE_SWISH, NNRT_TYPES_F32},
    {"relu6(x + 3) / 6", nnrti_chain_activation, NNRT_ACTIVATION_TYPE_HSIGMOID, NNRT_TYPES_F32},
    {"relu1(0.5 + x / 6)", nnrti_chain_activation, NNRT_ACTIVATION_TYPE_HSIGMOID, NNRT_TYPES_F32},
    {"relu1(x * p + q)", nnrti_chain_hard_sigmoid, 0, NNRT_TYPES_F32},
    {"x * relu6(x + 3) / 6", nnrti_chain_activation, NNRT_ACTIVATION_TYPE_HSWISH, NNRT_TYPES_F32},
    {"x * hsigmoid(x)", nnrti_chain_activation, NNRT_ACTIVATION_TYPE_HSWISH, NNRT_TYPES_F32},
    {"0.5 * x * (1 + erf(x / 1.41421356))", nnrti_chain_activation, NNRT_ACTIVATION_TYPE_GELU, NNRT_TYPES_FLOAT},
    {"0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * cube(x))))", nnrti_chain_gelu_tanh, NNRT_ACTIVATION_TYPE_GELU,
     NNRT_TYPES_FLOAT},
    {"0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * x * x * x)))", nnrti_chain_gelu_tanh, NNRT_ACTIVATION_TYPE_GELU,
     NNRT_TYPES_FLOAT},
    {"0.5 * x * (1 + tanh(0.79788456 * x * (1 + 0.044715 * x * x)))", nnrti_chain_gelu_tanh, NNRT_ACTIVATION_TYPE_GELU,
     NNRT_TYPES_FLOAT},
    {"(x - mean(x)) / sqrt(" NNRTI_DEVIATION ")", nnrti_chain_layer_norm, 0, NNRT_TYPES_F32},
    {"norm(x) * g + b", nnrti_chain_layer_norm, 0, NNRT_TYPES_F32},
    {"(x - mean(x)) / sqrt(" NNRTI_DEVIATION ") * g + b", nnrti_chain_layer_norm, 0, NNRT_TYPES_F32},
    {"x * (g / sqrt(" NNRTI_DEVIATION ")) + (b - mean(x) * (g / sqrt(" NNRTI_DEVIATION ")))", nnrti_chain_layer_norm, 0,
     NNRT_TYPES_F32},
    {"x / sqrt(mean(square(x)) + p)", nnrti_chain_rms_norm, 0, NNRT_TYPES_F32},
    {"rms(x) * g", nnrti_chain_rms_norm, 0, NNRT_TYPES_F32},
    {"x * g / sqrt(mean(square(x)) + p)", nnrti_chain_rms_norm, 0, NNRT_TYPES_F32},
    {"reshape(instance(reshape(x))) * g + b", nnrti_chain_group_norm, 0, NNRT_TYPES_F32},
};

#define NNRTI_FORMULA_TERMS 64 /* at most, of a formula */

/* Reads the formulas; their terms are memory of the round. False = no memory. */
NNRTI_COLD static bool nnrti_graph_formulas(nnrti_graph *g)
{
    const uint32_t rows = NNRTI_COUNT(nnrti_chains);
    nnrti_formula f;
    g->formulas = (nnrti_chain_term *)nnrti_graph_temp(g, rows * NNRTI_FORMULA_TERMS, sizeof(*g->formulas));
    for (uint32_t i = 0; i < rows && g->formulas != NULL; i++) {
        nnrti_chain_term *first = g->formulas + i * NNRTI_FORMULA_TERMS;
        f.at = nnrti_chains[i].formula;
        f.terms = first;
        f.count = 1;
        first[0] = first[nnrti_formula_sum(&f)]; /* no term has the first one as a part */
    }
    return g->formulas != NULL;
}

/* Pass: the last node of a chain of nnrti_chains becomes the operator that the chain computes, reading x. Conditions:
   the types of the row, shapes that are known where its function compares them, no activation outside the formula, and
   only the chain reads its results. Bits: on the reference device SWISH, HARD_SIGMOID and HSIGMOID of (x + 3) / 6 keep
   them, HSWISH for |x| < 3 if it divides by 6 last; limits are exact: SWISH and GELU of -infinity are 0, not NaN, and
   HSWISH has 0 for -0. Others: the operator rounds fewer intermediate results, and the terms of a mean may be added in
   another order; the results differ by rounding errors of float32, of GELU in float16 by one rounding to float16 less
   per node. */
NNRTI_COLD static bool nnrti_pass_chain(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    nnrti_match m;
    if (n->nodeType != NNRT_NODE_TYPE_MUL_FUSION && n->nodeType != NNRT_NODE_TYPE_DIV_FUSION &&
        n->nodeType != NNRT_NODE_TYPE_ADD_FUSION && n->nodeType != NNRT_NODE_TYPE_ACTIVATION)
        return false;
    for (uint32_t i = 0; i < NNRTI_COUNT(nnrti_chains) && (g->formulas != NULL || nnrti_graph_formulas(g)); i++) {
        memset(&m, 0, sizeof(m));
        for (uint32_t k = 0; k < NNRTI_COUNT(m.of); k++)
            m.of[k] = NNRT_NO_TENSOR;
        m.axis = -1;
        if (nnrti_match_node(g, g->formulas + i * NNRTI_FORMULA_TERMS, 0, n, false, &m) &&
            nnrti_match_complete(g, &m, nnrti_chains[i].types) && nnrti_chains[i].make(g, n, &m, nnrti_chains[i].with))
            return true;
    }
    return false;
}

/* ---- pass: bias of a matrix multiplication (BIAS) ---- */

/* The operand of a constant, or of the float32 result of a cast of a constant while g->quantize is set (that cast is
   not folded then, its data are not known); otherwise NULL. */
static const nnrt_operand *nnrti_bias_values(nnrti_graph *g, uint32_t t)
{
    const nnrt_operand *o = nnrti_graph_data(g, t);
    const NNRT_Node *n = o == NULL && g->quantize ? nnrti_graph_writer(g, t) : NULL;
    if (n == NULL || !nnrti_is_quant_cast(n->nodeType) || nnrti_graph_data(g, n->inputIndex.data[0]) == NULL)
        return o;
    return nnrti_operand_known(&g->shapes[t]) ? &g->shapes[t] : NULL;
}

/* Pass (operator fusion): MATMUL -> ADD of a constant per column becomes MATMUL with a bias; the activation of the ADD
   moves to it. Conditions: float32, no bias yet, the constant has the known size of the last axis and 1 in every other
   axis, and only the ADD reads the result. Error: the sum starts with the bias instead of ending with it, so the same K
   + 1 terms are added in another order: bits change within the rounding error of a float32 sum. */
NNRTI_COLD static bool nnrti_pass_matmul_bias(nnrti_graph *g, uint32_t node)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const bool adds = n->nodeType == NNRT_NODE_TYPE_ADD_FUSION && n->inputIndex.count == 2;
    const bool first = adds && nnrti_bias_values(g, n->inputIndex.data[0]) != NULL; /* the constants come first */
    const uint32_t x = adds ? n->inputIndex.data[first ? 1 : 0] : NNRT_NO_TENSOR;
    NNRT_Node *before = nnrti_pass_into(g, n, x);
    const uint32_t other = adds ? n->inputIndex.data[first ? 0 : 1] : NNRT_NO_TENSOR;
    const nnrt_operand *z, *c = nnrti_bias_values(g, other);
    uint32_t inputs[3];
    if (before == NULL || before->nodeType != NNRT_NODE_TYPE_MATMUL_FUSION || before->inputIndex.count < 2 ||
        g->shapes[x].dataType != NNRT_DATA_TYPE_FLOAT32 || c == NULL || c->rank < 1 ||
        c->dataType != NNRT_DATA_TYPE_FLOAT32 || nnrti_id(&before->inputIndex, 2) != NNRT_NO_TENSOR)
        return false;
    z = nnrti_graph_seen(g, x);
    if (!nnrti_operand_known(z) || z->rank < c->rank || nnrti_graph_seen(g, before->inputIndex.data[1])->rank < 2 ||
        c->dims[c->rank - 1] != z->dims[z->rank - 1] || z->symbols[z->rank - 1] != 0 ||
        (c->data == NULL && c->rank != 1))
        return false;
    for (int32_t i = 0; i < c->rank - 1; i++)
        if (c->dims[i] != 1)
            return false;
    inputs[0] = before->inputIndex.data[0];
    inputs[1] = before->inputIndex.data[1];
    inputs[2] =
        c->rank == 1
            ? other
            : nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, 1, &z->dims[z->rank - 1],
                                   nnrti_builder_copy(g->edit, c->data, (size_t)z->dims[z->rank - 1], sizeof(float)));
    return inputs[2] != NNRT_NO_TENSOR && nnrti_pass_fuse_inputs(g, node, before, x, inputs);
}

/* ---- pass: IF with a constant condition (BRANCHES) ---- */

/* Whether output k of graph x can replace result k of n: readers may read it instead, or, if the result is an output,
   the writer in x may write it under that index. */
static bool nnrti_pass_may_give(nnrti_graph *g, const NNRT_Node *n, uint32_t x, uint32_t k)
{
    const uint32_t from = g->edit->graphs[x].outputIndices.data[k], to = nnrti_id(&n->outputIndex, k);
    if (to == NNRT_NO_TENSOR)
        return true;
    return nnrti_graph_alike(g, from, to) &&
           (!g->isOutput[to] ||
            (g->users[from] == 1 && nnrti_graph_written(g, from, x)));
}

/* Pass: IF with a constant condition becomes the nodes of the branch that runs; its outputs replace the results of IF.
   The other branch is removed. Conditions: nnrti_pass_may_give for every result, and at least one node remains in the
   model. The nodes keep their places in the order of the round, as they directly follow IF. Their results lose their
   names, which are unique within the branch only. Bits: unchanged, a run would compute the same nodes. */
NNRTI_COLD static bool nnrti_pass_inline_if(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    const nnrt_operand *cond =
        n->nodeType == NNRT_NODE_TYPE_IF ? nnrti_graph_data(g, nnrti_id(&n->inputIndex, 0)) : NULL;
    const uint32_t owner = nnrti_graph_owner(g, node);
    uint32_t x, other, at = 0;
    bool stays = g->live > g->behind[g->place[node]] - g->place[node]; /* one node, here or elsewhere */
    if (cond == NULL || cond->dataType != NNRT_DATA_TYPE_BOOL || nnrti_count(cond) != 1)
        return false;
    x = nnrt_node_graph(n, *(const uint8_t *)cond->data != 0 ? 0 : 1); /* thenGraph, elseGraph */
    other = nnrt_node_graph(n, *(const uint8_t *)cond->data != 0 ? 1 : 0);
    stays = stays || nnrti_graph_next(g, node, x, &at);
    for (uint32_t k = 0; k < n->outputIndex.count; k++)
        stays = stays && nnrti_pass_may_give(g, n, x, k);
    if (!stays)
        return false;
    nnrti_graph_delete_graph(g, node, other);
    nnrti_graph_unuse(g, x);
    for (uint32_t k = 0, y; nnrti_next_id(&n->outputIndex, &k, &y);)
        nnrti_graph_instead(g, y, g->edit->graphs[x].outputIndices.data[k - 1]);
    for (at = 0; nnrti_graph_next(g, node, x, &at);) {
        const NNRT_Node *moved = nnrti_graph_node(g, g->order[at]);
        g->edit->owners[g->order[at]] = owner;
        for (uint32_t k = 0, y; nnrti_next_id(&moved->outputIndex, &k, &y);)
            if (!g->isOutput[y])
                g->edit->tensors[y].name = NULL;
    }
    g->edit->graphs[x].outputIndices.count = 0;
    g->behind[g->place[node]] = g->place[node] + 1;
    n->nodeAttr.size = 0; /* it runs nothing any more */
    nnrti_graph_delete(g, node);
    return true;
}

/* ---- pass: quantized operators (QUANTIZE) ---- */

/* Operators whose quantized kernels equal their float32 kernels up to rounding. */
static bool nnrti_qdq_operator(NNRT_NodeType type)
{
    switch (type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION:
    case NNRT_NODE_TYPE_FULL_CONNECTION:
    case NNRT_NODE_TYPE_MATMUL_FUSION:
    case NNRT_NODE_TYPE_ADD_FUSION:
    case NNRT_NODE_TYPE_ADD_N:
    case NNRT_NODE_TYPE_SUB_FUSION:
    case NNRT_NODE_TYPE_MUL_FUSION:
    case NNRT_NODE_TYPE_DIV_FUSION:
    case NNRT_NODE_TYPE_SQUARED_DIFFERENCE:
    case NNRT_NODE_TYPE_MAXIMUM:
    case NNRT_NODE_TYPE_MINIMUM:
    case NNRT_NODE_TYPE_ELTWISE:
    case NNRT_NODE_TYPE_ABS:
    case NNRT_NODE_TYPE_ACTIVATION:
    case NNRT_NODE_TYPE_CLIP:
    case NNRT_NODE_TYPE_LEAKY_RELU:
    case NNRT_NODE_TYPE_PRELU_FUSION:
    case NNRT_NODE_TYPE_HARD_SIGMOID:
    case NNRT_NODE_TYPE_HARD_SWISH:
    case NNRT_NODE_TYPE_SOFTMAX:
    case NNRT_NODE_TYPE_AVGPOOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD:
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
    case NNRT_NODE_TYPE_REDUCE_FUSION:
    case NNRT_NODE_TYPE_RESIZE:
    case NNRT_NODE_TYPE_RESHAPE:
    case NNRT_NODE_TYPE_FLATTEN:
    case NNRT_NODE_TYPE_SQUEEZE:
    case NNRT_NODE_TYPE_UNSQUEEZE:
    case NNRT_NODE_TYPE_EXPAND_DIMS:
    case NNRT_NODE_TYPE_TRANSPOSE:
    case NNRT_NODE_TYPE_CONCAT:
    case NNRT_NODE_TYPE_SLICE_FUSION:
    case NNRT_NODE_TYPE_STRIDED_SLICE:
    case NNRT_NODE_TYPE_SPLIT:
    case NNRT_NODE_TYPE_GATHER:
    case NNRT_NODE_TYPE_TILE_FUSION:
    case NNRT_NODE_TYPE_PAD_FUSION:
    case NNRT_NODE_TYPE_DEPTH_TO_SPACE:
    case NNRT_NODE_TYPE_SPACE_TO_DEPTH: return true;
    default: return false;
    }
}

/* Input k is a bias. */
static bool nnrti_qdq_is_bias(NNRT_NodeType type, uint32_t k)
{
    return k == 2 && (type == NNRT_NODE_TYPE_CONV2D_FUSION || type == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION ||
                      type == NNRT_NODE_TYPE_FULL_CONNECTION || type == NNRT_NODE_TYPE_MATMUL_FUSION);
}

/* The quantized tensor whose dequantized form, by a cast in the same graph, is float32 tensor t; NNRT_NO_TENSOR:
   none. */
static uint32_t nnrti_qdq_source(nnrti_graph *g, uint32_t t, uint32_t own)
{
    const NNRT_Node *n = nnrti_graph_written(g, t, own) ? nnrti_graph_writer(g, t) : NULL;
    return n != NULL && nnrti_is_quant_cast(n->nodeType) && nnrti_is_quant(&g->shapes[n->inputIndex.data[0]])
               ? n->inputIndex.data[0]
               : NNRT_NO_TENSOR;
}

/* The axis of the result of a TRANSPOSE or a reshape to which axis `axis` of its input moves; -1: none. A reshape keeps
   an axis if it and all axes before it are unchanged. */
static int32_t nnrti_qdq_axis(const nnrti_graph *g, const NNRT_Node *n, int32_t axis)
{
    const nnrt_operand *x = nnrti_graph_seen(g, n->inputIndex.data[0]), *y = nnrti_graph_seen(g, n->outputIndex.data[0]);
    int32_t perm[NNRT_MAX_RANK], rank;
    if (nnrti_is_transpose(n)) {
        if (!nnrti_pass_perm(g, n, perm, &rank))
            return -1;
        for (int32_t k = 0; k < rank; k++)
            if (perm[k] == axis)
                return k;
        return -1;
    }
    for (int32_t k = 0; k <= axis; k++)
        if (k >= x->rank || k >= y->rank || x->dims[k] != y->dims[k] || x->symbols[k] != y->symbols[k])
            return -1;
    return axis;
}

#define NNRTI_QDQ_MOVES 4

/* An input of a node that becomes quantized. tensor: the tensor that the node will read. moves: results of the
   data-movement nodes between the cast and the node, which become quantized as well, the last one first. from: the
   input of the cast. */
typedef struct nnrti_qdq_input {
    uint32_t tensor, from, moves[NNRTI_QDQ_MOVES], nMoves;
    int32_t axes[NNRTI_QDQ_MOVES]; /* with parameters per channel: their axis in each of moves */
} nnrti_qdq_input;

/* The node that writes t for one reader, if it is data movement in graph `own` that quantized elements can pass:
   TRANSPOSE or a reshape. Otherwise NULL. */
static const NNRT_Node *nnrti_qdq_movement(nnrti_graph *g, uint32_t t, uint32_t own)
{
    const NNRT_Node *n = nnrti_graph_written(g, t, own) ? nnrti_graph_producer(g, t) : NULL;
    return n != NULL && (nnrti_is_transpose(n) || nnrti_is_reshape(n)) && n->inputIndex.data[0] != NNRT_NO_TENSOR ? n
                                                                                                               : NULL;
}

/* Follows float32 tensor t back through at most NNRTI_QDQ_MOVES data-movement nodes to a cast from int8, uint8 or int16
   in graph `own`. Fills *in, and *o with the properties of t in quantized form; false: there is no such cast. */
static bool nnrti_qdq_trace(nnrti_graph *g, uint32_t t, uint32_t own, nnrti_qdq_input *in, nnrt_operand *o)
{
    const nnrt_operand *from;
    int32_t axis;
    in->nMoves = 0;
    *o = *nnrti_graph_seen(g, t);
    while ((in->from = nnrti_qdq_source(g, t, own)) == NNRT_NO_TENSOR) {
        const NNRT_Node *n = nnrti_qdq_movement(g, t, own);
        if (n == NULL || in->nMoves == NNRTI_QDQ_MOVES)
            return false;
        in->moves[in->nMoves++] = t;
        t = n->inputIndex.data[0];
    }
    from = nnrti_graph_seen(g, in->from);
    axis = from->quantAxis - 1;
    if (!nnrti_type_in(from->dataType, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16) ||
        (from->quantCount > 1 && axis < 0))
        return false;
    for (uint32_t i = in->nMoves; i-- > 0;) {
        if (from->quantCount > 1 && (axis = nnrti_qdq_axis(g, nnrti_graph_writer(g, in->moves[i]), axis)) < 0)
            return false;
        in->axes[i] = axis;
    }
    o->dataType = from->dataType;
    o->quant = from->quant;
    o->quantCount = from->quantCount;
    o->quantAxis = from->quantCount > 1 ? axis + 1 : 0;
    o->data = NULL;
    in->tensor = in->nMoves > 0 ? in->moves[0] : in->from;
    return true;
}

/* The stored integer i of a constant of int8, uint8 or int32. */
static double nnrti_qdq_code(const nnrt_operand *o, int32_t i)
{
    switch (o->dataType) {
    case NNRT_DATA_TYPE_INT8: return ((const int8_t *)o->data)[i];
    case NNRT_DATA_TYPE_UINT8: return ((const uint8_t *)o->data)[i];
    default: return ((const int32_t *)o->data)[i];
    }
}

/* Requantizes a bias to int32: round(bias[i] / (scale of x * scale of weight[i])), zero point 0. Returns the tensor
   itself if it has these integers already, otherwise a new constant. NNRT_NO_TENSOR: the bias is not a float32 or
   dequantized constant, or an entry does not fit in int32; a saturated bias would change results. */
static uint32_t nnrti_qdq_bias(nnrti_graph *g, uint32_t t, uint32_t own, const nnrt_operand *x, const nnrt_operand *w)
{
    const int32_t n = nnrti_graph_seen(g, t)->dims[0];
    const nnrt_operand *o;
    int32_t *list;
    uint32_t from;
    bool same;
    while (nnrti_graph_data(g, t) == NULL && nnrti_graph_writer(g, t) != NULL &&
           nnrti_is_reshape(nnrti_graph_writer(g, t)))
        t = nnrti_graph_writer(g, t)->inputIndex.data[0];
    from = nnrti_qdq_source(g, t, own);
    o = nnrti_graph_data(g, from != NNRT_NO_TENSOR ? from : t);
    if (o == NULL ||
        !nnrti_type_in(o->dataType,
                       from != NNRT_NO_TENSOR ? NNRT_TYPES_I32 | NNRT_TYPES_I8 | NNRT_TYPES_U8 : NNRT_TYPES_F32) ||
        nnrti_count(o) != (size_t)n || (o->quantCount > 1 && o->quantCount != (uint32_t)n))
        return NNRT_NO_TENSOR;
    if ((list = (int32_t *)nnrti_builder_keep(g->edit, (size_t)n, sizeof(*list))) == NULL)
        return NNRT_NO_TENSOR;
    same = o->dataType == NNRT_DATA_TYPE_INT32 && o->rank == 1;
    for (int32_t i = 0; i < n; i++) {
        const NNRT_QuantParam *q = o->quantCount > 0 ? &o->quant[o->quantCount > 1 ? i : 0] : NULL;
        const double unit = (double)(float)x->quant[0].scale * (float)w->quant[w->quantCount > 1 ? i : 0].scale;
        const double real = q == NULL ? (double)((const float *)o->data)[i]
                                      : (double)(float)q->scale * (nnrti_qdq_code(o, i) - (double)q->zeroPoint);
        const double v = nnrti_round(real / unit);
        if (!(v >= -2147483647.0 && v <= 2147483647.0))
            return NNRT_NO_TENSOR;
        list[i] = (int32_t)v;
        same = same && list[i] == ((const int32_t *)o->data)[i];
    }
    return same ? from : nnrti_graph_constant(g, NNRT_DATA_TYPE_INT32, 1, &n, list);
}

/* Whether the quantized tensor `from` can get the layout of t, as the node will read `from` instead: the layouts are
   equal, or `from` has none and no layout-dependent operator reads it. */
static bool nnrti_qdq_format(nnrti_graph *g, uint32_t t, uint32_t from)
{
    if (!nnrti_is_nchw(nnrti_graph_seen(g, t)) || nnrti_graph_seen(g, from)->format != NNRT_FORMAT_NONE)
        return nnrti_is_nchw(nnrti_graph_seen(g, t)) == nnrti_is_nchw(nnrti_graph_seen(g, from));
    for (uint32_t i = 0; i < nnrti_array_count(g->edit->nodes); i++) {
        const NNRT_Node *n = nnrti_graph_node(g, i);
        if (n->nodeType != NNRT_NODE_TYPE_NONE && (nnrt_op_find(n->nodeType)->flags & NNRT_OP_LAYOUT) &&
            nnrti_id(&n->inputIndex, 0) == from)
            return false;
    }
    return true;
}

/* Whether the shape rule of the operator accepts these quantized operands (inputs, then results); *c is the resolved
   node. REDUCE_FUSION only with coeff 1. Deciding by the rule itself keeps a second list of conditions from drifting
   apart. */
static bool nnrti_qdq_accepts(nnrti_graph *g, uint32_t node, nnrt_operand *operands, uint32_t maxIn, nnrt_resolve *c)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    nnrt_error error;
    memset(c, 0, sizeof(*c));
    memset(&error, 0, sizeof(error));
    c->op = nnrt_op_find(n->nodeType);
    c->node = -1;
    c->nodeName = "";
    c->attr = n->nodeAttr.data;
    c->attrBytes = n->nodeAttr.size;
    c->in = operands;
    c->out = operands + maxIn;
    c->nIn = n->inputIndex.count;
    c->nOut = n->outputIndex.count;
    c->alloc = nnrti_keep_for_rule;
    c->user = &g->work;
    c->error = &error;
    c->symbolCount = &g->symbols;
    for (uint32_t k = 0; k < c->nIn; k++)
        if (n->inputIndex.data[k] != NNRT_NO_TENSOR && !nnrti_operand_known(&c->in[k]))
            return false;
    if (nnrt_resolve_node(c) == NNRT_SUCCESS)
        return n->nodeType != NNRT_NODE_TYPE_REDUCE_FUSION || ((const NNRT_ReduceFusion *)c->resolved)->coeff == 1;
    if (g->work.full)
        nnrti_builder_no_memory(g->edit);
    return false;
}

/* Gives tensor t the type and the quantization parameters of o; parameters per channel apply to `axis`. */
static void nnrti_qdq_become(nnrti_graph *g, uint32_t t, const nnrt_operand *o, int32_t axis)
{
    NNRT_Tensor *tensor = &g->edit->tensors[t];
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_operand *shape = i == 0 ? &g->shapes[t] : nnrti_graph_seen(g, t);
        shape->dataType = o->dataType;
        shape->quant = o->quant;
        shape->quantCount = o->quantCount;
        shape->quantAxis = o->quantCount > 1 ? axis + 1 : 0;
    }
    tensor->dataType = o->dataType;
    tensor->quantParams = NNRT_QuantParamList_make(o->quant, o->quantCount);
    tensor->quantAxis = g->shapes[t].quantAxis;
}

/* Makes the data-movement nodes of in move quantized elements: the first one reads the input of the cast. */
static void nnrti_qdq_move(nnrti_graph *g, const nnrti_qdq_input *in, const nnrt_operand *o)
{
    for (uint32_t i = 0; i < in->nMoves; i++)
        nnrti_qdq_become(g, in->moves[i], o, in->axes[i]);
    if (in->nMoves > 0)
        nnrti_graph_set_input(g, nnrti_graph_writer(g, in->moves[in->nMoves - 1]), 0, in->from);
}

/* Makes a node read quantized inputs instead of dequantized ones. o[]: its operands; the caller sets the results, from
   o[maxIn] on, this function the inputs. False if the rule of the operator rejects them, or a bias does not fit in
   int32: nothing has changed then. *c is the resolved node. */
static bool nnrti_qdq_inputs(nnrti_graph *g, uint32_t node, nnrt_operand *o, uint32_t maxIn, nnrt_resolve *c)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    const uint32_t own = nnrti_graph_owner(g, node), nIn = n->inputIndex.count;
    nnrti_qdq_input *from = (nnrti_qdq_input *)nnrti_graph_temp(g, nIn, sizeof(*from));
    uint32_t bias = nnrti_qdq_is_bias(n->nodeType, nIn - 1) ? n->inputIndex.data[nIn - 1] : NNRT_NO_TENSOR;
    const bool biased = bias != NNRT_NO_TENSOR;
    if (from == NULL)
        return false;
    for (uint32_t k = 0; k < maxIn; k++)
        nnrti_absent_operand(&o[k]);
    for (uint32_t k = 0; k < nIn; k++) {
        const uint32_t t = n->inputIndex.data[k];
        from[k].tensor = NNRT_NO_TENSOR; /* stays as it is */
        if (t == NNRT_NO_TENSOR)
            continue;
        o[k] = *nnrti_graph_seen(g, t);
        if (nnrti_qdq_is_bias(n->nodeType, k) && o[k].rank == 1)
            o[k].dataType = NNRT_DATA_TYPE_INT32;
        else if (o[k].dataType == NNRT_DATA_TYPE_FLOAT32 && !(n->nodeType == NNRT_NODE_TYPE_RESIZE && k > 0) &&
                 (!nnrti_qdq_trace(g, t, own, &from[k], &o[k]) ||
                  (from[k].nMoves == 0 && !nnrti_qdq_format(g, t, from[k].tensor))))
            return false;
    }
    if (!nnrti_qdq_accepts(g, node, o, maxIn, c) ||
        (biased && (bias = nnrti_qdq_bias(g, bias, own, &o[0], &o[1])) == NNRT_NO_TENSOR))
        return false;
    if (biased)
        nnrti_graph_set_input(g, n, nIn - 1, bias);
    for (uint32_t k = 0; k < nIn; k++) {
        const uint32_t t = from[k].tensor;
        if (t == NNRT_NO_TENSOR)
            continue;
        if (from[k].nMoves == 0) {
            nnrti_graph_seen(g, t)->format = nnrti_graph_seen(g, n->inputIndex.data[k])->format;
            g->edit->tensors[t].format = g->shapes[t].format = nnrti_graph_seen(g, t)->format;
        }
        nnrti_qdq_move(g, &from[k], &o[k]);
        nnrti_graph_set_input(g, n, k, t);
    }
    return true;
}

/* nnrti_qdq_inputs for a node with one result, which has the shape of tensor y and the type and the one quantization
   parameter of q. */
static bool nnrti_qdq_compute(nnrti_graph *g, uint32_t node, uint32_t y, const nnrt_operand *q, nnrt_resolve *c)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const nnrt_op_arity arity = nnrt_op_operands(nnrt_op_find(n->nodeType));
    const uint32_t maxIn = nnrti_kernel_operands(n->inputIndex.count, arity.maxIn);
    nnrt_operand *o = (nnrt_operand *)nnrti_graph_temp(g, (size_t)maxIn + 1, sizeof(*o));
    if (o == NULL)
        return false;
    o[maxIn] = *nnrti_graph_seen(g, y);
    o[maxIn].dataType = q->dataType;
    o[maxIn].quant = q->quant;
    o[maxIn].quantCount = 1;
    o[maxIn].quantAxis = 0;
    return nnrti_qdq_inputs(g, node, o, maxIn, c);
}

/* Makes y, the result of a cast, result k of `node`, with the properties o. */
static void nnrti_qdq_gives(nnrti_graph *g, uint32_t node, uint32_t k, uint32_t y, const nnrt_operand *o)
{
    nnrti_graph_set_output(g, node, k, y);
    *nnrti_graph_seen(g, y) = *o;
    nnrti_graph_seen(g, y)->viewRank = -1;
    g->shapes[y].format = g->edit->tensors[y].format = o->format;
}

/* Whether this node is a cast of tensor t to 8 bits. */
static bool nnrti_qdq_casts(nnrti_graph *g, uint32_t node, uint32_t t)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    return nnrti_is_quant_cast(n->nodeType) && nnrti_id(&n->inputIndex, 0) == t;
}

/* Pass (quantize), for SPLIT, which has several results. Pattern: dequantize -> SPLIT -> a cast to int8 or uint8 of
   each result becomes a quantized SPLIT. Conditions: nobody else reads the results. Called for each visited cast of a
   result t; only the call for the last one can succeed, when all casts are known. */
static bool nnrti_qdq_split(nnrti_graph *g, uint32_t node, uint32_t t, uint32_t cast)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const nnrt_op_arity arity = nnrt_op_operands(nnrt_op_find(n->nodeType));
    const uint32_t nOut = n->outputIndex.count, maxIn = nnrti_kernel_operands(n->inputIndex.count, arity.maxIn),
                   nAll = nnrti_kernel_operands(nOut, arity.maxOut);
    nnrt_operand *o;
    nnrt_resolve c;
    g->cast[t] = cast;
    if (++g->casts[node] < nOut)
        return false;
    if ((o = (nnrt_operand *)nnrti_graph_temp(g, (size_t)maxIn + nAll, sizeof(*o))) == NULL)
        return false;
    for (uint32_t k = 0; k < nAll; k++)
        nnrti_absent_operand(&o[maxIn + k]);
    for (uint32_t k = 0; k < nOut; k++) {
        uint32_t y;
        t = n->outputIndex.data[k];
        if (t == NNRT_NO_TENSOR || g->users[t] != 1 || g->isOutput[t] || !nnrti_qdq_casts(g, g->cast[t], t))
            return false;
        y = nnrti_graph_node(g, g->cast[t])->outputIndex.data[0];
        if (g->shapes[y].quantCount != 1 || !nnrti_type_in(g->shapes[y].dataType, NNRT_TYPES_I8 | NNRT_TYPES_U8))
            return false;
        o[maxIn + k] = *nnrti_graph_seen(g, y);
    }
    if (!nnrti_qdq_inputs(g, node, o, maxIn, &c))
        return false;
    for (uint32_t k = 0; k < nOut; k++) {
        uint32_t y;
        t = n->outputIndex.data[k];
        y = nnrti_graph_node(g, g->cast[t])->outputIndex.data[0];
        nnrti_graph_delete(g, g->cast[t]);
        nnrti_qdq_gives(g, node, k, y, &c.out[k]);
    }
    return true;
}

/* Pass (quantize). Pattern: dequantize each input -> operator -> cast to int8, uint8 or int16 becomes the operator on
   integers, which writes the result of the cast. Data-movement nodes (TRANSPOSE, reshapes) may stand before and after
   the operator and become quantized as well. Conditions: nnrti_qdq_operator, one scale and zero point for the result,
   no other reader of the tensors between the operator and the casts (a dequantized input may have others), all in one
   graph, and the shape rule of the operator accepts the operands. Error: results differ from those in float32 by the
   rounding of the stored integer (docs/quantization.md); a bias is rounded to a multiple of scale of x * scale of
   weight. */
NNRTI_COLD static bool nnrti_pass_quantize(nnrti_graph *g, uint32_t node)
{
    const NNRT_Node *cast = nnrti_graph_node(g, node);
    const uint32_t y = nnrti_id(&cast->outputIndex, 0), own = nnrti_graph_owner(g, node);
    uint32_t x, t, tail[NNRTI_QDQ_MOVES], nTail = 0;
    nnrt_operand q;
    nnrti_qdq_input in;
    const NNRT_Node *n;
    nnrt_resolve c;
    if (!g->quantize || !nnrti_is_quant_cast(cast->nodeType) || y == NNRT_NO_TENSOR || g->shapes[y].quantCount != 1 ||
        !nnrti_type_in(g->shapes[y].dataType, NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16))
        return false;
    t = x = nnrti_id(&cast->inputIndex, 0);
    if ((n = nnrti_graph_writer(g, t)) != NULL && n->nodeType == NNRT_NODE_TYPE_SPLIT)
        return nnrti_graph_written(g, t, own) && nnrti_qdq_split(g, g->writer[t], t, node);
    while ((n = nnrti_qdq_movement(g, t, own)) != NULL && !nnrti_qdq_trace(g, n->inputIndex.data[0], own, &in, &q) &&
           nTail < NNRTI_QDQ_MOVES) {
        tail[nTail++] = t;
        t = n->inputIndex.data[0];
    }
    n = nnrti_graph_producer(g, t);
    if (n == NULL || !nnrti_graph_written(g, t, own) || !nnrti_qdq_operator(n->nodeType) ||
        n->nodeType == NNRT_NODE_TYPE_SPLIT || n->outputIndex.count != 1 ||
        g->shapes[t].dataType != NNRT_DATA_TYPE_FLOAT32 ||
        !nnrti_qdq_compute(g, g->writer[t], nTail > 0 ? t : y, &g->shapes[y], &c))
        return false;
    nnrti_graph_delete(g, node);
    if (nTail == 0) {
        nnrti_qdq_gives(g, g->writer[t], 0, y, &c.out[0]);
        return true;
    }
    nnrti_qdq_become(g, t, &c.out[0], 0);
    for (uint32_t i = nTail; i-- > 1;)
        nnrti_qdq_become(g, tail[i], &c.out[0], 0);
    q = *nnrti_graph_seen(g, y);
    q.format = nnrti_graph_seen(g, x)->format;
    nnrti_qdq_gives(g, g->writer[x], 0, y, &q);
    return true;
}

/* ---- pass: BITCAST (COPIES) ---- */

/* The quantized tensor with the type and parameters of y whose BITCAST is tensor t; NNRT_NO_TENSOR: none. */
static uint32_t nnrti_bitcast_source(nnrti_graph *g, uint32_t t, uint32_t y)
{
    const NNRT_Node *n = nnrti_graph_writer(g, t);
    return n != NULL && n->nodeType == NNRT_NODE_TYPE_BITCAST && nnrti_graph_alike(g, n->inputIndex.data[0], y)
               ? n->inputIndex.data[0]
               : NNRT_NO_TENSOR;
}

/* Pass: removes BITCAST, the conversion between quantized and plain integers (QuantizeLinear is followed by one,
   DequantizeLinear reads one). Pattern 1: BITCAST -> BITCAST becomes the second one, reading the input of the first.
   Pattern 2: BITCAST -> data movement -> BITCAST back to the same parameters, one scale and zero point for the tensor,
   becomes data movement of the quantized tensors. Conditions: one graph, at most NNRTI_QDQ_MOVES nodes, each read by
   the next one only. Bits: unchanged, bytes move the same way; no BITCAST is left between a quantized producer and a
   quantized consumer. */
NNRTI_COLD static bool nnrti_pass_bitcast(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node), *m;
    const uint32_t x = nnrti_id(&n->inputIndex, 0), y = nnrti_id(&n->outputIndex, 0), own = nnrti_graph_owner(g, node);
    uint32_t moved[NNRTI_QDQ_MOVES], nMoved = 0, nFrom = 1, t = x;
    if (n->nodeType != NNRT_NODE_TYPE_BITCAST || x == NNRT_NO_TENSOR || y == NNRT_NO_TENSOR)
        return false;
    if ((m = nnrti_graph_writer(g, x)) != NULL && m->nodeType == NNRT_NODE_TYPE_BITCAST) {
        nnrti_graph_set_input(g, n, 0, m->inputIndex.data[0]);
        return true;
    }
    if (g->shapes[y].quantCount != 1)
        return false;
    do {
        m = nnrti_graph_producer(g, t);
        if (m == NULL || nMoved == NNRTI_QDQ_MOVES || !nnrti_graph_written(g, t, own) ||
            (nnrt_op_find(m->nodeType)->flags & NNRT_OP_MOVEMENT) == 0 || m->outputIndex.count != 1)
            return false;
        moved[nMoved++] = t;
        t = m->inputIndex.data[0];
        if (nnrt_op_operands(nnrt_op_find(m->nodeType)).maxIn == UINT32_MAX) { /* it moves elements of all inputs */
            nFrom = m->inputIndex.count;
            break;
        }
    } while (nnrti_bitcast_source(g, t, y) == NNRT_NO_TENSOR);
    for (uint32_t k = 0; k < nFrom; k++)
        if (nnrti_bitcast_source(g, m->inputIndex.data[k], y) == NNRT_NO_TENSOR)
            return false;
    for (uint32_t k = 0; k < nFrom; k++)
        nnrti_graph_set_input(g, m, k, nnrti_bitcast_source(g, m->inputIndex.data[k], y));
    for (uint32_t k = 1; k < nMoved; k++)
        nnrti_qdq_become(g, moved[k], &g->shapes[y], 0);
    nnrti_graph_take_over(g, node, x);
    return true;
}

/* ---- pass: padding of a convolution (PADS) ---- */

/* Whether a PAD_FUSION node pads the quantized image x by zeros, only rows and columns: top, bottom, left, right. */
static bool nnrti_pass_zero_pads(const nnrti_graph *g, const NNRT_Node *n, uint32_t x, int64_t to[4])
{
    const nnrt_operand *image = &g->shapes[x], *list = nnrti_graph_data(g, nnrti_id(&n->inputIndex, 1));
    const bool given = nnrti_id(&n->inputIndex, 1) != NNRT_NO_TENSOR;
    NNRT_PadFusion a;
    nnrti_pass_attr(n, &a, sizeof(a));
    if (a.paddingMode != NNRT_PADDING_MODE_CONSTANT || a.constantValue != 0 || image->rank != 4 ||
        nnrti_id(&n->inputIndex, 2) != NNRT_NO_TENSOR || (!given && a.paddings.count != 4) ||
        (given && (list == NULL || !nnrti_type_in(list->dataType, NNRT_TYPES_INDEX) || nnrti_count(list) != 8)))
        return false;
    for (int32_t i = 0; i < 8; i++) {
        const int32_t row = nnrti_image_axis(image, 0), column = nnrti_image_axis(image, 1);
        int64_t v;
        if (!given && a.paddings.data[i / 2].count != 2)
            return false;
        v = given ? nnrti_value(list, (size_t)i) : a.paddings.data[i / 2].data[i % 2];
        if (v < 0 || v > INT32_MAX || (v != 0 && i / 2 != row && i / 2 != column))
            return false;
        if (i / 2 == row || i / 2 == column)
            to[(i / 2 == row ? 0 : 2) + i % 2] = v;
    }
    return true;
}

/* Pass: PAD -> CONV2D becomes the convolution with the padding of both, reading the input of the PAD. Conditions: int8
   or uint8 and one scale and zero point, which the PAD keeps; constant paddings of rows and columns, by the number 0;
   padMode PAD or VALID. Bits: unchanged, as the products of padding are 0. Float tensors keep their PAD: a product of 0
   and an infinite weight is NaN. */
NNRTI_COLD static bool nnrti_pass_fold_pads(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    const uint32_t t = nnrti_id(&n->inputIndex, 0);
    const NNRT_Node *pad = n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION ? nnrti_graph_writer(g, t) : NULL;
    const uint32_t x = pad != NULL ? nnrti_id(&pad->inputIndex, 0) : NNRT_NO_TENSOR;
    int64_t sums[4];
    NNRT_Conv2DFusion a;
    NNRT_Int64List *list;
    NNRT_PadMode *mode;
    const int64_t *kept;
    if (x == NNRT_NO_TENSOR || pad->nodeType != NNRT_NODE_TYPE_PAD_FUSION || !nnrti_graph_alike(g, x, t) ||
        g->shapes[x].quantCount != 1 || !nnrti_type_in(g->shapes[x].dataType, NNRT_TYPES_I8 | NNRT_TYPES_U8) ||
        !nnrti_pass_zero_pads(g, pad, x, sums))
        return false;
    nnrti_pass_attr(n, &a, sizeof(a));
    if ((a.padMode != NNRT_PAD_MODE_PAD && a.padMode != NNRT_PAD_MODE_VALID) ||
        (a.padMode == NNRT_PAD_MODE_PAD && a.padList.count != 0 && a.padList.count != 4))
        return false;
    for (uint32_t i = 0; i < 4; i++) {
        sums[i] += a.padMode == NNRT_PAD_MODE_PAD && a.padList.count == 4 ? a.padList.data[i] : 0;
        if (sums[i] > INT32_MAX)
            return false;
    }
    kept = (const int64_t *)nnrti_builder_copy(g->edit, sums, 4, sizeof(*sums));
    if (kept == NULL || (mode = (NNRT_PadMode *)nnrti_graph_attr(g, n, "padMode")) == NULL)
        return false;
    *mode = NNRT_PAD_MODE_PAD;
    if ((list = (NNRT_Int64List *)nnrti_graph_attr(g, n, "padList")) == NULL)
        return false;
    *list = nnrt_int64_list(kept, 4);
    nnrti_graph_set_input(g, n, 0, x);
    g->changed = true;
    return true;
}

/* ---- rounds ---- */

/* The passes in the order in which they are tried at each node; after the first success the round continues with the
   next node. `did` completes the log line "node 'NAME' (OPERATOR) ...". */
static const struct {
    nnrti_pass pass;
    uint32_t bit;
    const char *did;
} nnrti_passes[] = {
    {nnrti_pass_join_reshapes, NNRT_PASS_RESHAPES, "is merged with the reshape before it"},
    {nnrti_pass_join_transposes, NNRT_PASS_TRANSPOSES, "is merged with the TRANSPOSE before it"},
    {nnrti_pass_bitcast, NNRT_PASS_COPIES, "is removed: the nodes before it move quantized elements"},
    {nnrti_pass_drop_copy, NNRT_PASS_COPIES, "is removed: it changes nothing"},
    {nnrti_pass_fold_affine, NNRT_PASS_AFFINE, "is folded into weight and bias of the node before it"},
    {nnrti_pass_fold_before, NNRT_PASS_AFFINE, "has the constants of the node before it in weight and bias"},
    {nnrti_pass_matmul_bias, NNRT_PASS_BIAS, "became the bias of the matrix multiplication before it"},
    {nnrti_pass_chain, NNRT_PASS_CHAINS, "became the operator that the nodes up to it compute"},
    {nnrti_pass_fuse_activation, NNRT_PASS_ACTIVATIONS, "is fused into the node before it"},
    {nnrti_pass_fold_pads, NNRT_PASS_PADS, "has the padding of the PAD before it"},
    {nnrti_pass_inline_if, NNRT_PASS_BRANCHES, "became the branch that it runs"},
    {nnrti_pass_quantize, NNRT_PASS_QUANTIZE, "computes in integers"},
};

/* Renumbers the graphs in a node's attributes by to[]; false = no memory. */
static bool nnrti_graph_renumber(nnrti_graph *g, NNRT_Node *n, const uint32_t *to)
{
    for (uint32_t k = 0, x; nnrti_next_graph(n, &k, &x);) {
        const char *name = nnrt_op_find(n->nodeType)->attr->members[k - 1].name;
        uint32_t *number = (uint32_t *)nnrti_graph_attr(g, n, name);
        if (number == NULL)
            return false;
        *number = to[x];
    }
    return true;
}

/* Removes the graphs that no node runs, and renumbers the others; false = no memory. */
static bool nnrti_graph_compact_graphs(nnrti_graph *g)
{
    nnrt_builder *b = g->edit;
    const uint32_t count = nnrti_array_count(b->graphs);
    uint32_t *to = (uint32_t *)nnrt_memory_temp_array(&g->work, count, sizeof(*to)), kept = 1;
    if (to == NULL)
        return false;
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes); i++)
        for (uint32_t k = 0, inner; nnrti_next_graph(&b->nodes[i], &k, &inner);)
            to[inner] = 1;
    for (uint32_t x = 1; x < count; x++)
        if (to[x] != 0) {
            b->graphs[kept] = b->graphs[x];
            to[x] = kept++;
        }
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes) && kept < count; i++) {
        b->owners[i] = to[b->owners[i]];
        if (!nnrti_graph_renumber(g, &b->nodes[i], to))
            return false;
    }
    stbds_header(b->graphs)->length = kept;
    return true;
}

/* List i of all lists of tensor indices: inputs and outputs of the model, of each node, and of each subgraph; false
   after the last. */
static bool nnrti_graph_names(const nnrt_builder *b, uint32_t i, NNRT_Uint32List *list)
{
    const uint32_t nodes = nnrti_array_count(b->nodes), n = i / 2 - 1;
    const uint32_t *const own = i == 0 ? b->inputs : b->outputs;
    if (i < 2)
        *list = NNRT_Uint32List_make(own, nnrti_array_count(own));
    else if (n < nodes)
        *list = i % 2 == 0 ? b->nodes[n].inputIndex : b->nodes[n].outputIndex;
    else if (n - nodes + 1 < nnrti_array_count(b->graphs)) /* the main graph has the lists of the model */
        *list = i % 2 == 0 ? b->graphs[n - nodes + 1].inputIndices : b->graphs[n - nodes + 1].outputIndices;
    else
        return false;
    return true;
}

/* Tensors without writer and reader lose their names: they belong to no graph any more, in which they are unique.
   false = no memory. */
static bool nnrti_graph_forget_names(nnrti_graph *g)
{
    const uint32_t count = nnrti_array_count(g->edit->tensors);
    bool *used = (bool *)nnrt_memory_temp_array(&g->work, count, sizeof(*used));
    NNRT_Uint32List list;
    for (uint32_t i = 0; used != NULL && nnrti_graph_names(g->edit, i, &list); i++)
        for (uint32_t k = 0, t; nnrti_next_id(&list, &k, &t);)
            used[t] = true;
    for (uint32_t t = 0; used != NULL && t < count; t++)
        if (!used[t])
            g->edit->tensors[t].name = NULL;
    return used != NULL;
}

/* Ends a round: closes the gaps of removed nodes and graphs; false = no memory. Indices of nodes change. */
static bool nnrti_graph_compact(nnrti_graph *g)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < nnrti_array_count(g->edit->nodes); i++)
        if (g->edit->nodes[i].nodeType != NNRT_NODE_TYPE_NONE) {
            if (g->edit->owners != NULL)
                g->edit->owners[kept] = g->edit->owners[i];
            g->edit->nodes[kept++] = g->edit->nodes[i];
        }
    stbds_header(g->edit->nodes)->length = kept;
    if (g->edit->owners == NULL)
        return true;
    stbds_header(g->edit->owners)->length = kept;
    return nnrti_graph_forget_names(g) && nnrti_graph_compact_graphs(g);
}

/* ---- integer inputs and outputs (nnrt_optimize_desc.integer_io) ---- */

/* Uses of a tensor that is an input or output of the model. */
typedef struct nnrti_io_use {
    bool isInput, isOutput;
    uint32_t cast;   /* an input: the first node that casts it to 8 bits */
    uint32_t reader; /* the first other node that reads it: of an input, one without such a cast or with other
                        parameters */
} nnrti_io_use;

/* Whether t has 8 bits, and one scale and zero point. */
static bool nnrti_io_is_quant(const nnrti_graph *g, uint32_t t)
{
    const nnrt_operand *o = &g->shapes[t];
    return nnrti_type_in(o->dataType, NNRT_TYPES_I8 | NNRT_TYPES_U8) && o->quantCount == 1 && o->quant[0].numBits == 8;
}

/* Whether the node casts input x to 8 bits, with the parameters of the cast before it. */
static bool nnrti_io_casts(nnrti_graph *g, const nnrti_io_use *uses, uint32_t node, uint32_t x)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const uint32_t y = nnrti_id(&n->outputIndex, 0), first = uses[x].cast;
    return nnrti_is_quant_cast(n->nodeType) && nnrti_graph_owner(g, node) == 0 && y != NNRT_NO_TENSOR &&
           nnrti_io_is_quant(g, y) && !uses[y].isOutput &&
           (first == NNRTI_BY_NOBODY || nnrti_graph_alike(g, y, nnrti_graph_node(g, first)->outputIndex.data[0]));
}

/* Fills the table of the uses, per tensor; NULL = no memory. */
static nnrti_io_use *nnrti_io_uses(nnrti_graph *g)
{
    const nnrt_builder *b = g->edit;
    nnrti_io_use *uses = (nnrti_io_use *)nnrti_graph_temp(g, g->room, sizeof(*uses));
    for (uint32_t t = 0; t < g->room && uses != NULL; t++)
        uses[t].cast = uses[t].reader = NNRTI_BY_NOBODY;
    for (uint32_t i = 0; i < nnrti_array_count(b->inputs) && uses != NULL; i++)
        uses[b->inputs[i]].isInput = true;
    for (uint32_t i = 0; i < nnrti_array_count(b->outputs) && uses != NULL; i++)
        uses[b->outputs[i]].isOutput = true;
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes) && uses != NULL; i++)
        for (uint32_t k = 0, t; b->nodes[i].nodeType != NNRT_NODE_TYPE_NONE &&
                                nnrti_next_id(&b->nodes[i].inputIndex, &k, &t);) {
            uint32_t *use = uses[t].isInput && nnrti_io_casts(g, uses, i, t) ? &uses[t].cast : &uses[t].reader;
            *use = *use == NNRTI_BY_NOBODY ? i : *use;
        }
    return uses;
}

/* Records and logs why an input or output stays float32. node: the node that is the reason, or NNRTI_BY_NOBODY. */
static void nnrti_io_stays(nnrti_graph *g, const char *what, uint32_t t, uint32_t node, const char *why)
{
    const NNRT_Node *n = node != NNRTI_BY_NOBODY ? nnrti_graph_node(g, node) : NULL;
    nnrt_error stays;
    memset(&stays, 0, sizeof(stays));
    (void)nnrt_error_set(&stays, NNRT_NOT_SUPPORT, n != NULL ? "%s '%s' stays float32: node '%s' (%s) %s"
                                                             : "%s '%s' stays float32: %s",
                         what, nnrti_text_of(g->edit->tensors[t].name), n != NULL ? nnrti_text_of(n->name) : why,
                         n != NULL ? nnrt_op_find(n->nodeType)->name : "", why);
    nnrt_log_line(g->edit->log, NNRT_LOG_WARNING, "%s", stays.message);
    if (g->stays.code == NNRT_SUCCESS)
        g->stays = stays;
}

/* Why the cast of an input stays. */
static const char *nnrti_io_reason(nnrti_graph *g, const nnrti_io_use *uses, uint32_t x)
{
    const NNRT_Node *n = nnrti_graph_node(g, uses[x].reader);
    const uint32_t y = nnrti_id(&n->outputIndex, 0);
    return !nnrti_is_quant_cast(n->nodeType)            ? "reads it in float32"
           : y == NNRT_NO_TENSOR || uses[y].isOutput    ? "writes an output"
           : uses[x].cast != NNRTI_BY_NOBODY            ? "quantizes it with other parameters than the first reader"
           : nnrti_graph_owner(g, uses[x].reader) != 0 ? "is in a subgraph"
                                                        : "does not quantize it to 8 bits with one scale";
}

/* Decides whether float32 input x becomes an integer: all its readers are casts to 8 bits with equal parameters. */
static bool nnrti_io_input(nnrti_graph *g, const nnrti_io_use *uses, uint32_t x)
{
    const uint32_t reader = uses[x].reader, cast = uses[x].cast;
    if (g->shapes[x].dataType != NNRT_DATA_TYPE_FLOAT32)
        return false;
    if (reader != NNRTI_BY_NOBODY)
        nnrti_io_stays(g, "input", x, reader, nnrti_io_reason(g, uses, x));
    else if (g->isOutput[x])
        nnrti_io_stays(g, "input", x, reader, "it is an output, too");
    else if (cast == NNRTI_BY_NOBODY)
        nnrti_io_stays(g, "input", x, reader, "no node reads it");
    else
        return true;
    return false;
}

/* Makes the node before float32 output y compute in integers, if it is SOFTMAX or data movement of a dequantized
   tensor. SOFTMAX gets the parameters that TensorFlow Lite prescribes; data movement keeps its parameters. */
static void nnrti_io_compute(nnrti_graph *g, uint32_t y)
{
    const NNRT_Node *n = nnrti_graph_written(g, y, 0) && g->users[y] == 1 ? nnrti_graph_writer(g, y) : NULL;
    const bool softmax = n != NULL && n->nodeType == NNRT_NODE_TYPE_SOFTMAX;
    nnrti_qdq_input in;
    NNRT_QuantParam *q;
    nnrt_operand x;
    nnrt_resolve c;
    if (n == NULL || (!softmax && !nnrti_is_transpose(n) && !nnrti_is_reshape(n)) ||
        g->shapes[y].dataType != NNRT_DATA_TYPE_FLOAT32 || nnrti_id(&n->inputIndex, 0) == NNRT_NO_TENSOR ||
        !nnrti_qdq_trace(g, n->inputIndex.data[0], 0, &in, &x) || x.quantCount != 1)
        return;
    if (softmax) {
        if ((q = (NNRT_QuantParam *)nnrti_builder_keep(g->edit, 1, sizeof(*q))) == NULL)
            return;
        q->numBits = 8;
        q->zeroPoint = x.dataType == NNRT_DATA_TYPE_INT8 ? INT8_MIN : 0;
        q->scale = 1.0 / 256;
        x.quant = q;
    }
    if (!nnrti_qdq_compute(g, g->writer[y], y, &x, &c))
        return;
    nnrti_qdq_become(g, y, &c.out[0], 0);
    g->changed = true;
}

/* Replaces float32 output y by the 8-bit tensor whose cast it is. */
static void nnrti_io_output(nnrti_graph *g, const nnrti_io_use *uses, uint32_t y)
{
    const NNRT_Node *n = nnrti_graph_written(g, y, 0) ? nnrti_graph_writer(g, y) : NULL;
    const uint32_t q = n != NULL && nnrti_is_quant_cast(n->nodeType) ? nnrti_id(&n->inputIndex, 0) : NNRT_NO_TENSOR;
    if (g->shapes[y].dataType != NNRT_DATA_TYPE_FLOAT32)
        return;
    if (n == NULL)
        nnrti_io_stays(g, "output", y, NNRTI_BY_NOBODY, "no node of the main graph writes it");
    else if (g->users[y] > 1)
        nnrti_io_stays(g, "output", y, uses[y].reader,
                       uses[y].reader != NNRTI_BY_NOBODY ? "reads it in float32" : "a subgraph returns it");
    else if (q == NNRT_NO_TENSOR || !nnrti_io_is_quant(g, q))
        nnrti_io_stays(g, "output", y, g->writer[y], "has no quantized input");
    else if (!nnrti_graph_written(g, q, 0) || g->same[q] != q || uses[q].isOutput)
        nnrti_io_stays(g, "output", y, g->writer[y], "reads an input, a constant or another output");
    else {
        g->same[q] = y;
        nnrti_graph_delete(g, g->writer[y]);
    }
}

/* Gives inputs and outputs the type and parameters of the tensors that they replace (g->same), and puts them in their
   places in all lists. */
static void nnrti_io_join(nnrti_graph *g)
{
    NNRT_Uint32List list;
    for (uint32_t t = 0; t < nnrti_array_count(g->edit->tensors); t++) {
        const NNRT_Format declared = g->edit->tensors[t].format; /* which inference may not know, with dynamic shapes */
        const NNRT_Format format = declared != NNRT_FORMAT_NONE ? declared : g->shapes[t].format;
        const uint32_t to = g->same[t];
        if (to == t)
            continue;
        nnrti_qdq_become(g, to, &g->shapes[t], 0);
        if (format != NNRT_FORMAT_NONE)
            g->edit->tensors[to].format = format;
        g->users[to] += g->users[t];
    }
    for (uint32_t i = 0; nnrti_graph_names(g->edit, i, &list); i++)
        for (uint32_t k = 0, t; nnrti_next_id(&list, &k, &t);)
            nnrti_ids(&list)[k - 1] = g->same[t];
}

/* Makes inputs and outputs integers. Patterns: input -> casts to 8 bits; cast from 8 bits -> output; that cast ->
   SOFTMAX or data movement -> output. The input or output keeps its name and becomes the 8-bit tensor, and the casts
   are removed. Conditions: one scale and zero point; equal ones in all casts of an input; an output has no readers.
   Bits: of casts and data movement kept; SOFTMAX computes in integers. */
NNRTI_COLD static NNRT_ReturnCode nnrti_graph_io(nnrti_graph *g)
{
    const nnrt_builder *b = g->edit;
    const uint32_t nIn = nnrti_array_count(b->inputs), nOut = nnrti_array_count(b->outputs);
    nnrti_io_use *uses = nnrti_io_uses(g);
    bool any = false;
    if (uses == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < nOut && (g->without & NNRT_PASS_QUANTIZE) == 0; i++)
        nnrti_io_compute(g, b->outputs[i]);
    for (uint32_t i = 0; i < nIn; i++)
        uses[b->inputs[i]].isInput = nnrti_io_input(g, uses, b->inputs[i]);
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes); i++) {
        const uint32_t x = nnrti_id(&b->nodes[i].inputIndex, 0);
        if (b->nodes[i].nodeType == NNRT_NODE_TYPE_NONE || x == NNRT_NO_TENSOR || !uses[x].isInput)
            continue;
        g->same[b->nodes[i].outputIndex.data[0]] = x;
        nnrti_graph_delete(g, i);
    }
    for (uint32_t i = 0; i < nOut; i++)
        nnrti_io_output(g, uses, b->outputs[i]);
    nnrti_io_join(g);
    for (uint32_t i = 0; i < nIn + nOut; i++)
        any = any || nnrti_io_is_quant(g, i < nIn ? b->inputs[i] : b->outputs[i - nIn]);
    if (any || nnrti_builder_failed(g->edit))
        return g->edit->error.code;
    return nnrt_error_set(&g->edit->error, NNRT_NOT_SUPPORT,
                          "integer_io: %s; quantize the network in QDQ form, from its inputs to its outputs",
                          g->stays.code != NNRT_SUCCESS ? g->stays.message : "no input or output is float32");
}

/* One round; g->changed: another round may find more. passes false: only dead-code elimination. io: the round of
   nnrti_graph_io, without passes. */
static NNRT_ReturnCode nnrti_graph_round(nnrti_graph *g, bool passes, bool io)
{
    NNRT_ReturnCode code;
    NNRT_SubGraph graph;
    NNRT_Model m;
    nnrti_builder_view(g->edit, &m, &graph);
    if ((code = g->edit->error.code) != NNRT_SUCCESS || (code = nnrti_graph_tables(g, &m)) != NNRT_SUCCESS ||
        (code = passes || io ? nnrti_graph_infer_open(g, &m) : NNRT_SUCCESS) != NNRT_SUCCESS ||
        (code = passes || io ? nnrti_graph_infer(g, &m) : NNRT_SUCCESS) != NNRT_SUCCESS ||
        (code = io ? nnrti_graph_io(g) : NNRT_SUCCESS) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < m.nodes.count && passes; i++) {
        NNRT_Node *n = nnrti_graph_node(g, g->order[i]);
        const NNRT_NodeType type = n->nodeType;
        const char *name = nnrti_text_of(n->name);
        bool done = type == NNRT_NODE_TYPE_NONE;
        for (uint32_t k = 0; k < n->inputIndex.count; k++)
            if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
                nnrti_ids(&n->inputIndex)[k] = g->same[n->inputIndex.data[k]];
        for (uint32_t p = 0; p < NNRTI_COUNT(nnrti_passes) && !done; p++) {
            done = (g->without & nnrti_passes[p].bit) == 0 && nnrti_passes[p].pass(g, g->order[i]);
            g->changed = g->changed || done;
            if (done)
                nnrt_log_line(g->edit->log, NNRT_LOG_DEBUG, "node '%s' (%s) %s", name, nnrt_op_find(type)->name,
                              nnrti_passes[p].did);
            if (nnrti_builder_failed(g->edit))
                return g->edit->error.code;
        }
    }
    nnrti_graph_drop_dead(g, m.nodes.count);
    return nnrti_graph_compact(g) ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY;
}

/* Removes tensors that no node, model input or output uses, and renumbers the others. */
static NNRT_ReturnCode nnrti_graph_drop_tensors(nnrti_graph *g)
{
    NNRT_Uint32List list;
    nnrt_builder *b = g->edit;
    const uint32_t count = nnrti_array_count(b->tensors);
    uint32_t *to = (uint32_t *)nnrti_builder_keep(b, count, sizeof(*to)), kept = 0;
    if (to == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; nnrti_graph_names(b, i, &list); i++)
        for (uint32_t k = 0, t; nnrti_next_id(&list, &k, &t);)
            to[t] = 1;
    for (uint32_t t = 0; t < count; t++) {
        if (to[t] == 0)
            continue;
        b->tensors[kept] = b->tensors[t];
        b->copied[kept] = b->copied[t];
        to[t] = kept++;
    }
    g->changed = g->changed || kept < count;
    stbds_header(b->tensors)->length = stbds_header(b->copied)->length = kept;
    for (uint32_t i = 0; nnrti_graph_names(b, i, &list); i++)
        for (uint32_t k = 0, t; nnrti_next_id(&list, &k, &t);)
            nnrti_ids(&list)[k - 1] = to[t];
    return NNRT_SUCCESS;
}

#define NNRTI_MAX_ROUNDS 64 /* two or three are usual; a round that changes nothing is the last */

/* Sets the budget of constant folding for a model of this size. */
static void nnrti_graph_budget(nnrti_graph *g)
{
    const nnrt_builder *b = g->edit;
    double bytes = 16.0 * ((double)nnrti_array_count(b->tensors) + nnrti_array_count(b->nodes));
    for (uint32_t t = 0; t < nnrti_array_count(b->tensors); t++)
        bytes += (double)b->tensors[t].data.dataSize;
    g->foldBytes = NNRTI_FOLD_BUDGET * bytes + NNRTI_FOLD_BUDGET_FREE;
    g->foldWork = NNRTI_FOLD_WORK * bytes + NNRTI_FOLD_WORK_FREE;
}

/* Removes the nodes of b that no output needs; with passes, optimizes in rounds until nothing changes. *any =
   something changed. Properties inferred when nodes were added become invalid: b receives no more nodes. In a first
   series of rounds operators become quantized, unless that pass is excluded (without). io: inputs and outputs then
   become integers. */
NNRTI_COLD static NNRT_ReturnCode nnrti_builder_reduce(nnrt_builder *b, bool passes, uint32_t without, bool io,
                                                       bool *any)
{
    const uint32_t before = nnrti_array_count(b->nodes);
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrti_graph g;
    memset(&g, 0, sizeof(g));
    g.edit = b;
    g.changed = true;
    g.without = without;
    b->waiting = false;
    nnrti_graph_budget(&g);
    *any = false;
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes) && passes && (without & NNRT_PASS_QUANTIZE) == 0; i++)
        g.quantize = g.quantize || nnrti_is_quant_cast(b->nodes[i].nodeType);
    for (uint32_t i = 0; i < (passes ? NNRTI_MAX_ROUNDS : 1) && g.changed && code == NNRT_SUCCESS; i++) {
        g.changed = false;
        nnrt_memory_allocate(&g.work, &b->allocator);
        code = nnrti_graph_round(&g, passes, false);
        nnrt_memory_end(&g.work);
        *any = *any || g.changed;
        if (!g.changed && g.quantize)
            g.changed = !(g.quantize = false);
    }
    g.changed = false;
    if (code == NNRT_SUCCESS && io) {
        g.quantize = true;
        nnrt_memory_allocate(&g.work, &b->allocator);
        code = nnrti_graph_round(&g, false, true);
        nnrt_memory_end(&g.work);
    }
    if (code == NNRT_SUCCESS)
        code = nnrti_graph_drop_tensors(&g);
    *any = *any || g.changed;
    if (code == NNRT_SUCCESS)
        nnrt_log_line(b->log, NNRT_LOG_INFO, "%s: %u nodes became %u",
                      passes ? "optimized" : "unused nodes removed", before, nnrti_array_count(b->nodes));
    return code;
}

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_model_optimize(NNRT_Model **model, const nnrt_optimize_desc *desc,
                                                        nnrt_error *error)
{
    nnrti_owned *old = model != NULL ? nnrti_owned_of(*model) : NULL;
    NNRT_Model *made = NULL;
    NNRT_ReturnCode code;
    nnrt_builder edit;
    uint32_t without = 0;
    bool any;
    nnrt_error_clear(error);
    if (old == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR,
                              "nnrt_model_optimize: takes only a model that a builder or loader made");
    if ((code = nnrti_check_complete(&old->model, error)) != NNRT_SUCCESS)
        return code;
    nnrti_builder_init(&edit, &old->allocator);
    nnrti_builder_load(&edit, &old->model);
    if (desc != NULL) {
        edit.log = desc->log;
        without = desc->without | (desc->no_quantize ? NNRT_PASS_QUANTIZE : 0);
    }
    code = nnrti_builder_reduce(&edit, true, without, desc != NULL && desc->integer_io, &any);
    if (code == NNRT_SUCCESS && any)
        code = nnrti_builder_make(&edit, &made);
    code = nnrti_builder_report(&edit, code, error);
    nnrti_builder_clear(&edit);
    if (made != NULL) {
        nnrti_owned_of(made)->replaced = &old->model;
        nnrti_owned_of(made)->file = old->file;
        nnrti_owned_of(made)->metadata = old->metadata;
        nnrti_owned_of(made)->nMetadata = old->nMetadata;
        *model = made;
    }
    return code;
}

/* Position of the input with this name in the list of inputs; NNRT_NO_TENSOR: the model has none. */
static uint32_t nnrti_model_input(const NNRT_Model *m, const char *name)
{
    for (uint32_t i = 0; i < m->inputIndex.count && name != NULL; i++)
        if (strcmp(nnrti_text_of(m->allTensors.data[m->inputIndex.data[i]].name), name) == 0)
            return i;
    return NNRT_NO_TENSOR;
}

/* Sets axis `axis` of tensor t, an input, to size n. Rule: a size that is known already is n. */
static void nnrti_builder_fix_axis(nnrt_builder *b, uint32_t t, uint32_t axis, int32_t n)
{
    NNRT_Tensor *x = &b->tensors[t];
    int32_t *dims;
    if (x->dims.data[axis] >= 0) {
        if (x->dims.data[axis] != n)
            (void)nnrt_error_set(&b->error, NNRT_INVALID_SHAPE, "input '%s': axis %u has size %d, but the given size is %d",
                                 nnrti_text_of(x->name), axis, x->dims.data[axis], n);
        return;
    }
    dims = (int32_t *)nnrti_builder_copy(b, x->dims.data, x->dims.count, sizeof(*dims));
    if (dims == NULL)
        return;
    dims[axis] = n;
    x->dims.data = dims;
    if (x->symbols.count > 0 && x->symbols.data[axis] != 0) {
        const uint32_t symbol = x->symbols.data[axis];
        uint32_t *symbols = (uint32_t *)nnrti_builder_copy(b, x->symbols.data, x->symbols.count, sizeof(*symbols));
        if (symbols == NULL)
            return;
        symbols[axis] = 0;
        x->symbols.data = symbols;
        for (uint32_t i = 0; i < nnrti_array_count(b->inputs); i++)
            for (uint32_t k = 0; k < b->tensors[b->inputs[i]].symbols.count && !nnrti_builder_failed(b); k++)
                if (b->tensors[b->inputs[i]].symbols.data[k] == symbol)
                    nnrti_builder_fix_axis(b, b->inputs[i], k, n);
    }
}

/* Applies the given dimensions, or the value, to an input of the model in b. */
static void nnrti_builder_fix(nnrt_builder *b, const nnrt_input *known)
{
    const NNRT_Model m = nnrti_builder_model(b);
    const uint32_t at = nnrti_model_input(&m, known->name), t = at != NNRT_NO_TENSOR ? b->inputs[at] : 0;
    if (at == NNRT_NO_TENSOR) {
        (void)nnrt_error_set(&b->error, NNRT_INVALID_PARAMETER, "the model has no input '%s'", nnrti_text_of(known->name));
        return;
    }
    if (known->shape.rank < 0 || (uint32_t)known->shape.rank != b->tensors[t].dims.count) {
        (void)nnrt_error_set(&b->error, NNRT_INVALID_SHAPE, "input '%s' has %u axes, but the given shape has %d", known->name,
                             b->tensors[t].dims.count, known->shape.rank);
        return;
    }
    for (uint32_t i = 0; i < b->tensors[t].dims.count && !nnrti_builder_failed(b); i++) {
        if (known->shape.dims[i] < (known->data != NULL ? 0 : -1))
            (void)nnrt_error_set(&b->error, NNRT_INVALID_SHAPE, "input '%s': axis %u has size %d, expected %d or more",
                                 known->name, i, known->shape.dims[i], known->data != NULL ? 0 : -1);
        else if (known->shape.dims[i] >= 0)
            nnrti_builder_fix_axis(b, t, i, known->shape.dims[i]);
    }
    if (known->data == NULL || nnrti_builder_failed(b) ||
        !nnrti_builder_data(b, &b->tensors[t], known->name, known->data, true))
        return;
    b->copied[t] = 1;
    for (uint32_t i = at; i + 1 < nnrti_array_count(b->inputs); i++)
        b->inputs[i] = b->inputs[i + 1];
    stbds_header(b->inputs)->length--;
}

/* nnrt_model_fix of a model with nodes. */
static NNRT_ReturnCode nnrti_model_fix(NNRT_Model **fixed, const NNRT_Model *model, const nnrt_input *inputs, uint32_t count,
                                       nnrt_error *error)
{
    const nnrti_owned *old = nnrti_owned_of(model);
    NNRT_ReturnCode code;
    nnrt_builder edit;
    bool any;
    nnrti_builder_init(&edit, old != NULL ? &old->allocator : NULL);
    nnrti_builder_load(&edit, model);
    for (uint32_t i = 0; i < count && !nnrti_builder_failed(&edit); i++)
        nnrti_builder_fix(&edit, &inputs[i]);
    code = edit.error.code == NNRT_SUCCESS ? nnrti_builder_reduce(&edit, true, NNRT_PASS_QUANTIZE, false, &any)
                                           : edit.error.code;
    if (code == NNRT_SUCCESS)
        code = nnrti_builder_make(&edit, fixed);
    code = nnrti_builder_report(&edit, code, error);
    nnrti_builder_clear(&edit);
    return code;
}

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_model_fix(NNRT_Model **fixed, const NNRT_Model *model, const nnrt_input *inputs,
                                                   uint32_t count, nnrt_error *error)
{
    const nnrti_owned *old = nnrti_owned_of(model);
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_memory memory;
    nnrt_error_clear(error);
    if (fixed != NULL)
        *fixed = NULL;
    if (fixed == NULL || model == NULL || (inputs == NULL && count > 0))
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_fix: %s is NULL",
                              fixed == NULL ? "fixed" : model == NULL ? "model" : "inputs");
    if (nnrt_model_deferred(model) != NULL) {
        code = old->deferred->import(old->deferred, inputs, count, fixed, error);
        if (code == NNRT_SUCCESS)
            code = nnrti_check_complete(*fixed, error);
    } else { /* checked before it is edited: a caller's model is not trusted */
        nnrt_memory_allocate(&memory, old != NULL ? &old->allocator : NULL);
        code = nnrt_model_check(model, &memory, NULL, error);
        nnrt_memory_end(&memory);
        if (code == NNRT_SUCCESS)
            code = nnrti_model_fix(fixed, model, inputs, count, error);
    }
    if (code == NNRT_SUCCESS && old != NULL && old->nMetadata > 0)
        code = nnrt_model_annotate(fixed, old->metadata, old->nMetadata, error);
    if (code != NNRT_SUCCESS) {
        nnrt_model_destroy(*fixed);
        *fixed = NULL;
    }
    return code;
}

/* Idea of nnrt_model_cache: past -> ATTENTION -> present becomes cache -> TENSOR_SCATTER -> ATTENTION with key lengths, which
   attends to the same keys, as its queries are the last of the keys that count. The number of past tokens, of which a graph may
   compute positions and masks by SHAPE, is that of the mask minus that of the new ones, since shape inference knows these
   sizes; without a mask it is the position. */
typedef struct nnrti_cacher {
    nnrt_builder *b;
    int32_t rows;
    uint32_t position, steps, lengths, past; /* int64[1]: tokens before, of this run, their sum; past: the tokens before */
    uint32_t mask;                           /* the input attention_mask [1,tokens]; NNRT_NO_TENSOR: there is none */
    uint32_t count;                          /* of changed nodes */
} nnrti_cacher;

/* A new tensor of one axis; data NULL: for a result, otherwise a constant. */
static uint32_t nnrti_cacher_tensor(nnrti_cacher *c, const char *name, NNRT_DataType type, int32_t count, const void *data)
{
    NNRT_Tensor t = nnrti_tensor_make(type);
    if (nnrti_builder_failed(c->b) || !nnrti_builder_dims(c->b, "", 1, &count, -1, &t.dims) ||
        (data != NULL && !nnrti_builder_data(c->b, &t, "", data, true)))
        return NNRT_NO_TENSOR;
    return nnrti_builder_add(c->b, name, &t, data != NULL);
}

/* Adds a node of up to three inputs, the present ones, whose result is y. */
static uint32_t nnrti_cacher_node(nnrti_cacher *c, NNRT_NodeType type, const void *attr, uint32_t x0, uint32_t x1, uint32_t x2,
                                  uint32_t y)
{
    const nnrt_attr_struct *s = nnrt_op_find(type)->attr;
    NNRT_Node n;
    uint32_t in[3];
    memset(&n, 0, sizeof(n));
    in[0] = x0;
    in[1] = x1;
    in[2] = x2;
    n.nodeType = type;
    n.inputIndex = nnrti_builder_list(c->b, in, x1 == NNRT_NO_TENSOR ? 1 : x2 == NNRT_NO_TENSOR ? 2 : 3);
    n.outputIndex = nnrti_builder_list(c->b, &y, 1);
    n.nodeAttr.data = nnrti_builder_attr(c->b, s, attr, s->bytes);
    n.nodeAttr.size = s->bytes;
    NNRTI_PUSH(c->b, NNRT_Node, c->b->nodes, n);
    return y;
}

/* The size of an axis of x, of `rank` axes, int64[1]. */
static uint32_t nnrti_cacher_size(nnrti_cacher *c, uint32_t x, int32_t rank, int64_t axis)
{
    const int32_t int64 = NNRT_DATA_TYPE_INT64;
    const int64_t first = 0;
    uint32_t y = nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT32, rank, NULL);
    x = nnrti_cacher_node(c, NNRT_NODE_TYPE_SHAPE, NULL, x, NNRT_NO_TENSOR, NNRT_NO_TENSOR, y);
    y = nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT32, 1, NULL);
    x = nnrti_cacher_node(c, NNRT_NODE_TYPE_GATHER, NULL, x, nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 1, &axis),
                          nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 1, &first), y);
    y = nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 1, NULL);
    return nnrti_cacher_node(c, NNRT_NODE_TYPE_CAST, NULL, x, nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT32, 1, &int64),
                             NNRT_NO_TENSOR, y);
}

static bool nnrti_cacher_has(const uint32_t *list, uint32_t t)
{
    for (uint32_t i = 0; i < nnrti_array_count(list); i++)
        if (list[i] == t)
            return true;
    return false;
}

/* Whether past, an input, and present, an output, of node n are a pair. Nothing else reads past but SHAPE, nor present, unless
   `read`. */
static bool nnrti_cacher_pair(const nnrti_cacher *c, const NNRT_Node *n, uint32_t past, uint32_t present, bool read)
{
    const nnrt_builder *b = c->b;
    if (past == NNRT_NO_TENSOR || present == NNRT_NO_TENSOR || !nnrti_cacher_has(b->inputs, past) ||
        !nnrti_cacher_has(b->outputs, present) || b->tensors[past].dims.count != 4 || b->tensors[past].dims.data[1] < 1 ||
        b->tensors[past].dims.data[3] < 1 || b->tensors[past].dims.data[0] > 1 || b->tensors[past].dims.data[2] >= 0)
        return false;
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes); i++)
        for (uint32_t k = 0; k < b->nodes[i].inputIndex.count; k++) {
            const uint32_t x = b->nodes[i].inputIndex.data[k];
            if ((x == present && !read) || (x == past && &b->nodes[i] != n && b->nodes[i].nodeType != NNRT_NODE_TYPE_SHAPE))
                return false;
        }
    return true;
}

/* Whether node n is ATTENTION with two pairs, or, if there is a mask, CONCAT of past and new ones along axis 2. */
static bool nnrti_cacher_fits(const nnrti_cacher *c, const NNRT_Node *n)
{
    const NNRT_Uint32List *in = &n->inputIndex, *out = &n->outputIndex;
    if (n->nodeType == NNRT_NODE_TYPE_CONCAT && in->count == 2 && n->nodeAttr.data != NULL && c->mask != NNRT_NO_TENSOR) {
        const int64_t axis = ((const NNRT_Concat *)n->nodeAttr.data)->axis;
        return (axis == 2 || axis == -2) && nnrti_id(in, 0) != nnrti_id(in, 1) &&
               nnrti_cacher_pair(c, n, nnrti_id(in, 0), nnrti_id(out, 0), true);
    }
    return n->nodeType == NNRT_NODE_TYPE_ATTENTION && nnrti_id(in, 6) == NNRT_NO_TENSOR && nnrti_id(out, 3) == NNRT_NO_TENSOR &&
           nnrti_id(in, 1) != nnrti_id(in, 4) && nnrti_id(in, 4) != nnrti_id(in, 5) &&
           nnrti_cacher_pair(c, n, nnrti_id(in, 4), nnrti_id(out, 1), false) &&
           nnrti_cacher_pair(c, n, nnrti_id(in, 5), nnrti_id(out, 2), false);
}

/* Makes position, steps, lengths and past. k: keys of a run, of three axes or four. */
static void nnrti_cacher_begin(nnrti_cacher *c, uint32_t k, bool three)
{
    c->position = nnrti_cacher_tensor(c, "position", NNRT_DATA_TYPE_INT64, 1, NULL);
    if (c->position != NNRT_NO_TENSOR)
        NNRTI_PUSH(c->b, uint32_t, c->b->inputs, c->position);
    c->steps = nnrti_cacher_size(c, k, three ? 3 : 4, three ? 1 : 2);
    c->lengths = nnrti_cacher_node(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, c->position, c->steps, NNRT_NO_TENSOR,
                                   nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 1, NULL));
    c->past = c->position;
    if (c->mask != NNRT_NO_TENSOR && !nnrti_builder_failed(c->b))
        c->past = nnrti_cacher_node(c, NNRT_NODE_TYPE_SUB_FUSION, NULL, nnrti_cacher_size(c, c->mask, 2, 1), c->steps,
                                    NNRT_NO_TENSOR, nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 1, NULL));
}

/* Node i, SHAPE of past keys or values: its result becomes [1,heads,past,size]. */
static void nnrti_cacher_shape(nnrti_cacher *c, uint32_t i, int64_t heads, int64_t size)
{
    const uint32_t y = c->b->nodes[i].outputIndex.data[0];
    const int32_t type = c->b->tensors[y].dataType != NNRT_DATA_TYPE_UNKNOWN ? (int32_t)c->b->tensors[y].dataType
                                                                             : (int32_t)NNRT_DATA_TYPE_INT32;
    const int64_t first[2] = {1, heads};
    uint32_t all, list[2];
    const uint32_t before = nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 2, first);
    const uint32_t behind = nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 1, &size);
    all = nnrti_cacher_node(c, NNRT_NODE_TYPE_CONCAT, NULL, before, c->past, behind,
                            nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 4, NULL));
    list[0] = all;
    list[1] = nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT32, 1, &type);
    if (nnrti_builder_failed(c->b))
        return;
    c->b->nodes[i].nodeType = NNRT_NODE_TYPE_CAST;
    c->b->nodes[i].inputIndex = nnrti_builder_list(c->b, list, 2);
    memset(&c->b->nodes[i].nodeAttr, 0, sizeof(c->b->nodes[i].nodeAttr));
}

/* Makes past and present a state: the rows x of a run are written into it. three: of three axes. */
static void nnrti_cacher_state(nnrti_cacher *c, uint32_t past, uint32_t x, uint32_t present, bool three)
{
    const int32_t *old = c->b->tensors[past].dims.data;
    const int64_t heads = old[1], size = old[3];
    const uint32_t nodes = nnrti_array_count(c->b->nodes), rank = three ? 3 : 4;
    NNRT_TensorScatter a = {0, 0};
    int32_t dims[4] = {1, 0, 0, 0};
    a.axis = three ? 1 : 2;
    dims[1] = three ? c->rows : (int32_t)heads;
    dims[2] = three ? (int32_t)(heads * size) : c->rows;
    dims[3] = (int32_t)size;
    if (heads * size > INT32_MAX) {
        (void)nnrt_error_set(&c->b->error, NNRT_INVALID_SHAPE, "%l heads of %l elements are too many", heads, size);
        return;
    }
    for (uint32_t i = 0; i < nodes && !nnrti_builder_failed(c->b); i++)
        if (c->b->nodes[i].nodeType == NNRT_NODE_TYPE_SHAPE && nnrti_id(&c->b->nodes[i].inputIndex, 0) == past)
            nnrti_cacher_shape(c, i, heads, size);
    for (int k = 0; k < 2 && !nnrti_builder_failed(c->b); k++) {
        NNRT_Tensor *t = &c->b->tensors[k == 0 ? past : present];
        t->dims = NNRT_Int32List_make((const int32_t *)nnrti_builder_copy(c->b, dims, rank, sizeof(*dims)), rank);
        memset(&t->symbols, 0, sizeof(t->symbols));
    }
    (void)nnrti_cacher_node(c, NNRT_NODE_TYPE_TENSOR_SCATTER, &a, past, x, c->position, present);
}

/* Node i, of nnrti_cacher_fits, reads the caches that its pairs become. */
static void nnrti_cacher_attention(nnrti_cacher *c, uint32_t i)
{
    const NNRT_Node n = c->b->nodes[i];
    const uint32_t k = n.inputIndex.data[1];
    NNRT_Attention a;
    uint32_t in[7];
    bool three;
    memset(&a, 0, sizeof(a));
    if (n.nodeAttr.data != NULL)
        memcpy(&a, n.nodeAttr.data, n.nodeAttr.size < sizeof(a) ? n.nodeAttr.size : sizeof(a));
    three = c->b->tensors[k].dims.count == 3 || (c->b->tensors[k].dims.count != 4 && a.kvNumHeads > 0);
    if (c->count++ == 0)
        nnrti_cacher_begin(c, k, three);
    for (int p = 0; p < 2; p++)
        nnrti_cacher_state(c, n.inputIndex.data[4 + p], n.inputIndex.data[1 + p], n.outputIndex.data[1 + p], three);
    if (nnrti_builder_failed(c->b))
        return;
    memcpy(in, n.inputIndex.data, 4 * sizeof(*in));
    in[1] = n.outputIndex.data[1];
    in[2] = n.outputIndex.data[2];
    in[4] = in[5] = NNRT_NO_TENSOR;
    in[6] = c->lengths;
    c->b->nodes[i].inputIndex = nnrti_builder_list(c->b, in, 7);
    c->b->nodes[i].outputIndex.count = 1;
}

/* Node i, CONCAT of nnrti_cacher_fits: its readers get the first rows of the cache, as many as the mask has tokens. This copies
   them, as CONCAT does, but into memory of the run, which layers share. */
static void nnrti_cacher_concat(nnrti_cacher *c, uint32_t i)
{
    const uint32_t past = c->b->nodes[i].inputIndex.data[0], k = c->b->nodes[i].inputIndex.data[1];
    const uint32_t present = c->b->nodes[i].outputIndex.data[0];
    const int64_t zero = 0, axis = 2;
    const uint32_t nodes = nnrti_array_count(c->b->nodes);
    NNRT_Tensor t = nnrti_tensor_make(c->b->tensors[present].dataType);
    NNRT_SliceFusion a;
    uint32_t in[3], rows;
    t.dims = NNRT_Int32List_make(nnrti_dims_unknown, 1);
    if (c->count++ == 0)
        nnrti_cacher_begin(c, k, false);
    nnrti_cacher_state(c, past, k, present, false);
    in[0] = present;
    in[1] = nnrti_cacher_tensor(c, NULL, NNRT_DATA_TYPE_INT64, 1, &zero);
    in[2] = nnrti_builder_failed(c->b) ? NNRT_NO_TENSOR : nnrti_cacher_size(c, c->mask, 2, 1);
    rows = nnrti_builder_failed(c->b) ? NNRT_NO_TENSOR : nnrti_builder_add(c->b, NULL, &t, false);
    a.axes.data = (const int64_t *)nnrti_builder_copy(c->b, &axis, 1, sizeof(axis));
    a.axes.count = 1;
    if (nnrti_builder_failed(c->b))
        return;
    for (uint32_t n = 0; n < nodes; n++)
        for (uint32_t j = 0; j < c->b->nodes[n].inputIndex.count; j++)
            if (c->b->nodes[n].inputIndex.data[j] == present)
                nnrti_ids(&c->b->nodes[n].inputIndex)[j] = rows;
    c->b->nodes[i].nodeType = NNRT_NODE_TYPE_SLICE_FUSION;
    c->b->nodes[i].nodeAttr.data = nnrti_builder_copy(c->b, &a, 1, sizeof(a));
    c->b->nodes[i].nodeAttr.size = sizeof(a);
    c->b->nodes[i].inputIndex = nnrti_builder_list(c->b, in, 3);
    c->b->nodes[i].outputIndex = nnrti_builder_list(c->b, &rows, 1);
}

/* The metadata "states": the pairs of the nodes TENSOR_SCATTER behind the first `nodes` ones; NULL: no memory. */
static char *nnrti_cacher_states(nnrti_cacher *c, uint32_t nodes)
{
    const nnrt_builder *b = c->b;
    size_t room = 1, used = 0;
    char *text = NULL;
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = nodes; i < nnrti_array_count(b->nodes); i++) {
            const char *x, *y;
            if (b->nodes[i].nodeType != NNRT_NODE_TYPE_TENSOR_SCATTER)
                continue;
            x = nnrti_text_of(b->tensors[b->nodes[i].inputIndex.data[0]].name);
            y = nnrti_text_of(b->tensors[b->nodes[i].outputIndex.data[0]].name);
            if (turn == 0)
                room += strlen(x) + strlen(y) + 2;
            else
                used += nnrt_text(text + used, room - used, "%s%s=%s", used > 0 ? "\n" : "", x, y);
        }
        if (turn == 0 && (text = (char *)nnrti_builder_keep(c->b, room, 1)) == NULL)
            return NULL;
    }
    return text;
}

/* nnrt_model_cache of a model that is valid. */
static NNRT_ReturnCode nnrti_model_cache(NNRT_Model **cached, const NNRT_Model *model, uint32_t rows, nnrt_error *error)
{
    const nnrti_owned *old = nnrti_owned_of(model);
    nnrt_metadata states;
    NNRT_ReturnCode code;
    nnrt_builder edit;
    nnrti_cacher c;
    bool any;
    memset(&c, 0, sizeof(c));
    c.b = &edit;
    c.rows = (int32_t)rows;
    nnrti_builder_init(&edit, old != NULL ? &old->allocator : NULL);
    nnrti_builder_load(&edit, model);
    c.mask = NNRT_NO_TENSOR;
    for (uint32_t i = 0; i < model->inputIndex.count && !nnrti_builder_failed(&edit); i++) {
        const uint32_t t = model->inputIndex.data[i];
        if (strcmp(nnrti_text_of(edit.tensors[t].name), "attention_mask") == 0 && edit.tensors[t].dims.count == 2)
            c.mask = t;
    }
    for (uint32_t i = 0; i < model->nodes.count && !nnrti_builder_failed(&edit); i++)
        if ((uint64_t)(c.count + 1) * model->nodes.count < (uint64_t)1 << 26 && nnrti_cacher_fits(&c, &edit.nodes[i])) {
            if (edit.nodes[i].nodeType == NNRT_NODE_TYPE_CONCAT)
                nnrti_cacher_concat(&c, i);
            else
                nnrti_cacher_attention(&c, i);
        }
    if (c.count == 0 && !nnrti_builder_failed(&edit))
        (void)nnrt_error_set(&edit.error, NNRT_NOT_SUPPORT,
                             "the model has no ATTENTION, nor CONCAT with a mask, whose past keys and values are inputs of the "
                             "model and whose present ones are outputs");
    states.key = "states";
    states.value = nnrti_builder_failed(&edit) ? NULL : nnrti_cacher_states(&c, model->nodes.count);
    code = edit.error.code == NNRT_SUCCESS ? nnrti_builder_reduce(&edit, true, NNRT_PASS_QUANTIZE, false, &any)
                                           : edit.error.code;
    if (code == NNRT_SUCCESS)
        code = nnrti_builder_make(&edit, cached);
    code = nnrti_builder_report(&edit, code, error);
    if (code == NNRT_SUCCESS && old != NULL && old->nMetadata > 0)
        code = nnrt_model_annotate(cached, old->metadata, old->nMetadata, error);
    if (code == NNRT_SUCCESS)
        code = nnrt_model_annotate(cached, &states, 1, error);
    nnrti_builder_clear(&edit);
    return code;
}

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_model_cache(NNRT_Model **cached, const NNRT_Model *model, uint32_t rows,
                                                     nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrt_memory memory;
    nnrt_error_clear(error);
    if (cached != NULL)
        *cached = NULL;
    if (cached == NULL || model == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_cache: %s is NULL", cached == NULL ? "cached" : "model");
    if (rows < 1 || rows > 1u << 24)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "a cache of %u rows, expected 1 to %u", rows, 1u << 24);
    if (nnrt_model_deferred(model) != NULL || model->subGraph.count > 1 || nnrt_model_metadata(model, "states") != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the model %s",
                              nnrt_model_deferred(model) != NULL ? "is not imported before it has sizes"
                              : model->subGraph.count > 1        ? "has subgraphs"
                                                                 : "has states already");
    nnrt_memory_allocate(&memory, nnrti_owned_of(model) != NULL ? &nnrti_owned_of(model)->allocator : NULL);
    code = nnrt_model_check(model, &memory, NULL, error);
    nnrt_memory_end(&memory);
    if (code == NNRT_SUCCESS)
        code = nnrti_model_cache(cached, model, rows, error);
    if (code != NNRT_SUCCESS) {
        nnrt_model_destroy(*cached);
        *cached = NULL;
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>importers */

/* Idea: readers of other formats, in formats/, fill a builder and share this section. Files are untrusted: an import has
   limits on memory and work in proportion to the bytes of the file. */

/* An allocator that forwards to `under`, counts the bytes (live), and refuses to exceed the limit (over: it has). */
typedef struct nnrti_limited {
    nnrt_allocator allocator;
    const nnrt_allocator *under;
    size_t limit, live;
    bool over;
} nnrti_limited;

static void *nnrti_limited_alloc(void *user, size_t bytes, size_t alignment)
{
    nnrti_limited *l = (nnrti_limited *)user;
    void *block = NULL;
    (void)alignment; /* nnrt_alloc always passes NNRT_ALIGNMENT */
    if (l->live > l->limit || bytes > l->limit - l->live)
        l->over = true;
    else
        block = nnrt_alloc(l->under, bytes);
    l->live += block != NULL ? bytes : 0;
    return block;
}

static void nnrti_limited_free(void *user, void *block, size_t bytes)
{
    nnrti_limited *l = (nnrti_limited *)user;
    l->live -= bytes;
    nnrt_free(l->under, block, bytes);
}

/* The caller sets l->limit. */
NNRTI_UNUSED static void nnrti_limited_begin(nnrti_limited *l, const nnrt_allocator *under)
{
    const nnrt_allocator own = {nnrti_limited_alloc, nnrti_limited_free, l};
    memset(l, 0, sizeof(*l));
    l->allocator = own;
    l->under = under;
}

/* Hands the blocks of the imported model over to the caller's allocator: l ends with the import. NULL: no model. */
NNRTI_UNUSED static void nnrti_limited_end(const nnrti_limited *l, NNRT_Model *model)
{
    for (nnrti_owned *o = nnrti_owned_of(model); o != NULL; o = nnrti_owned_of(o->replaced)) {
        memset(&o->allocator, 0, sizeof(o->allocator));
        if (l->under != NULL)
            o->allocator = *l->under;
    }
}

/* Finishes an import: makes the model of b, with metadata whose texts may be b's. */
NNRTI_UNUSED static NNRT_ReturnCode nnrti_builder_annotated(nnrt_builder *b, NNRT_Model **model,
                                                            const nnrt_metadata *metadata, uint32_t count,
                                                            nnrt_error *error)
{
    NNRT_Model *made = NULL;
    NNRT_ReturnCode code;
    nnrti_builder_quant_types(b);
    code = nnrti_builder_report(b, nnrti_builder_failed(b) ? b->error.code : nnrti_builder_make(b, &made), error);
    if (code == NNRT_SUCCESS && count > 0)
        code = nnrt_model_annotate(&made, metadata, count, error);
    if (code != NNRT_SUCCESS)
        nnrt_model_destroy(made);
    else
        *model = made;
    return code;
}

/* Adds an input, or an output, of a deferred model; rank NNRT_RANK_UNKNOWN: it has none in the file. */
NNRTI_UNUSED static void nnrti_builder_deferred_end(nnrt_builder *b, bool output, const char *name, NNRT_DataType type,
                                                    int32_t rank, const int32_t *dims)
{
    const uint32_t t = nnrt_builder_tensor(b, name);
    nnrt_builder_declare(b, t, type, rank, dims);
    if (output)
        NNRTI_PUSH(b, uint32_t, b->outputs, t);
    else
        NNRTI_PUSH(b, uint32_t, b->inputs, t);
}

/* Makes the deferred model of the inputs and outputs of b. It owns all that was kept in b, such as deferred. */
NNRTI_UNUSED static NNRT_ReturnCode nnrti_builder_defer(nnrt_builder *b, const nnrti_deferred *deferred, NNRT_Model **model,
                                                        nnrt_error *error)
{
    NNRT_ReturnCode code = b->error.code;
    NNRT_SubGraph graph;
    NNRT_Model m;
    if (code == NNRT_SUCCESS) {
        nnrti_builder_view(b, &m, &graph);
        code = nnrti_owned_make(&m, b->copied, &b->allocator, model);
    }
    if (code == NNRT_SUCCESS) {
        nnrti_owned_of(*model)->pieces = nnrti_memory_give(&b->memory);
        nnrti_owned_of(*model)->deferred = deferred;
    }
    return nnrti_builder_report(b, code, error);
}

/* Constant folding during import: the results take at most NNRTI_FOLD_FREE bytes, or twice the bytes of the inputs. */
NNRTI_UNUSED static bool nnrti_fold_is_small(const nnrt_resolve *c)
{
    size_t in = 0, out = 0, bytes;
    for (uint32_t i = 0; i < c->nOut; i++)
        if (!nnrti_absent(&c->out[i]) &&
            (!nnrt_dims_bytes(c->out[i].dims, c->out[i].rank, c->out[i].dataType, &bytes) ||
             !nnrt_add_size(out, bytes, &out)))
            return false;
    for (uint32_t i = 0; i < c->nIn; i++)
        if (!nnrti_absent(&c->in[i]) && nnrt_dims_bytes(c->in[i].dims, c->in[i].rank, c->in[i].dataType, &bytes))
            (void)nnrt_add_size(in, bytes, &in);
    return out <= NNRTI_FOLD_FREE || out / 2 <= in;
}

#ifdef NNRTI_STBDS_PRIVATE
#undef INCLUDE_STB_DS_H
#undef stbds_rand_seed
#undef stbds_hash_bytes
#undef stbds_hash_string
#undef stbds_stralloc
#undef stbds_strreset
#undef stbds_unit_tests
#undef stbds_arrgrowf
#undef stbds_arrfreef
#undef stbds_hmfree_func
#undef stbds_hmget_key
#undef stbds_hmget_key_ts
#undef stbds_hmput_default
#undef stbds_hmput_key
#undef stbds_hmdel_key
#undef stbds_shmode_func
#undef stbds_string_arena
#undef stbds_string_block
#undef stbds_array_header
#undef STBDS_SH_NONE
#undef STBDS_SH_DEFAULT
#undef STBDS_SH_STRDUP
#undef STBDS_SH_ARENA
#ifdef __cplusplus
#undef stbds_arrgrowf_wrapper
#undef stbds_hmget_key_wrapper
#undef stbds_hmget_key_ts_wrapper
#undef stbds_hmput_default_wrapper
#undef stbds_hmput_key_wrapper
#undef stbds_hmdel_key_wrapper
#undef stbds_shmode_func_wrapper
#endif
#ifdef NNRTI_STBDS_SHORT_NAMES
#undef STBDS_NO_SHORT_NAMES
#endif
#ifdef NNRTI_STBDS_IMPLEMENTATION
#define STB_DS_IMPLEMENTATION
#endif
#ifdef NNRTI_STBDS_REALLOC
#undef STBDS_REALLOC
#undef STBDS_FREE
#endif
#endif

NNRT_SETUP_END()

#endif /* NNRT_FIRMWARE */

#endif /* NNRT_IMPLEMENTATION */
