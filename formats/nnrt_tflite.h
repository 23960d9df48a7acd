/*
nnrt_tflite.h - TensorFlow Lite importer: converts a .tflite model into an NNRT_Model, which nnrt.h runs.

    #define NNRT_IMPLEMENTATION
    #include "formats/nnrt_tflite.h"          includes ../nnrt.h

    NNRT_Model *model = NULL;
    nnrt_error error = {0};
    if (nnrt_tflite_load(&model, "model.tflite", NULL, &error) != NNRT_SUCCESS)
        puts(error.message);

SECTIONS (search for the tag)
    >>tflite              public functions
    -- implementation --
    >>tflite_table        one row per builtin operator
    >>tflite_state        state of an import, limits, faults
    >>tflite_flatbuffer   checked accessors: table, vector, string, scalar
    >>tflite_tensors      tensors of the file as tensors of a builder
    >>tflite_steps        adding nodes; operands and options of the current operator
    >>tflite_wide         int16 computed in float32
    >>tflite_elementwise  handlers, grouped by operator class
    >>tflite_shapes
    >>tflite_reductions
    >>tflite_windows
    >>tflite_matrices
    >>tflite_spectrum     RFFT2D, and complex values
    >>tflite_custom       custom operators, whose options are a flexbuffer
    >>tflite_check        unsupported operators, all of them in one message
    >>tflite_import       the graph, operator by operator; inputs, outputs
    >>tflite_metadata     TFLITE_METADATA: labels, normalization of images; the model
    >>tflite_variables    values that stay between runs
    >>tflite_control      subgraphs: IF and WHILE
    >>tflite_recurrent    LSTM and RNN of sequences, SVDF
    >>tflite_load         the public functions

SUPPORTED FILES
    Version 3 of the format (identifier TFL3), the operators of NNRTI_TFLITE_OPS. The model is the first subgraph or that of
    a signature (nnrt_tflite_desc.signature); IF and WHILE run others.
    Types: float32, int32, int64, bool; int8 and uint8 with scale and zero point, per tensor or per channel; float16 and
    int4 of constants. Sparse constants become dense. Quantized operators keep their integers: the result has the
    parameters of the file. Hybrid operators, float32 inputs and int8 weights, compute in float32. A name of more than 95
    bytes is cut off and ends with "~" and the index of its tensor.
    Variables and the states of recurrent layers are the last inputs and outputs of the model; its metadata "states" pair
    them, and a session keeps them between runs (nnrt_model.h, >>format). An initial value that CALL_ONCE assigns is a
    constant, selected until the first run has ended. A variable that nothing else assigns is a constant.
    complex64 values exist inside of the model only.
    int16 with scale: convolutions and FULLY_CONNECTED compute in integers (docs/quantization.md, 16x8); other operators
    compute in float32, and their result is the nearest int16.
    TFLITE_METADATA become metadata of the model (nnrt_model.h, >>format): labels (stored files of the archive behind the
    model), mean and std of NormalizationOptions, the color of images, description, license. Damaged ones are left out.
    Unsupported: variables assigned in IF or WHILE, strings, and other custom operators. Unsupported operators are reported in one message,
    NNRT_UNSUPPORTED_OP.
    A model takes the sizes of its inputs from the file unless nnrt_tflite_desc.inputs states others, or
    nnrt_tflite_desc.dynamic leaves those open that the file does.

TRUST
    The file is untrusted input: every offset, length and count is checked before use. The import reads each part of the
    file a bounded number of times (NNRT_TFLITE_WORK) and allocates at most NNRT_TFLITE_BUDGET times its size, and 1 MiB.

OPTIONS
    NNRT_NO_STDIO          no file I/O: only nnrt_tflite_load_memory

MIT license, see LICENSE.
*/
#ifndef NNRT_TFLITE_H
#define NNRT_TFLITE_H

#include "../nnrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite */

/* The caller's shape for one model input. -1: dynamic dimension, which the session states. */
typedef struct nnrt_tflite_input {
    const char *name;
    nnrt_dims shape;
} nnrt_tflite_input;

/* Limits of one import, including the optimizer passes. Memory from the allocator: at most NNRT_TFLITE_BUDGET times the
   bytes of the file plus NNRT_TFLITE_BUDGET_FREE (with the file itself, if nnrt_tflite_load reads it), and, as sparse
   constants become dense, NNRT_TFLITE_SPARSE times their stored bytes, which count at most once each. Work: lists and
   texts of at most NNRT_TFLITE_WORK times the bytes of the file are read: tables of a flatbuffer may share parts, so that
   a small file could describe a graph of any size. Exceeding a limit returns NNRT_OUT_OF_MEMORY or NNRT_TIME_OUT. */
#define NNRT_TFLITE_BUDGET 4
#define NNRT_TFLITE_BUDGET_FREE ((size_t)1 << 20)
#define NNRT_TFLITE_SPARSE 8
#define NNRT_TFLITE_WORK 16

/* All zero is the default. */
typedef struct nnrt_tflite_desc {
    const nnrt_allocator *allocator; /* NULL = malloc */
    bool no_optimize;                /* leave the model as imported: no nnrt_model_optimize */
    const nnrt_tflite_input *inputs; /* shapes in place of the file's */
    uint32_t inputCount;
    uint32_t budget;            /* factor for the limits on memory and work; 0 means 1 */
    const char *const *outputs; /* names of the values that become the outputs; other operators are left out */
    uint32_t outputCount;       /* 0: the outputs of the file */
    const nnrt_log *log;        /* receives a line for each unsupported operator and each change; NULL: none */
    const char *signature;      /* name of the signature whose subgraph becomes the model; NULL: subgraph 0 */
    bool noMap;                 /* nnrt_tflite_load reads the file into memory of the allocator instead of mapping it */
    bool dynamic;               /* an input without a shape in `inputs` has a dynamic dimension where its shape_signature
                                   has -1 and its shape the 1 that writers store for it. false: the file's shape, unless no
                                   model can compute with it (its operators need larger inputs) */
    bool float16;               /* float16 weights of CONV_2D and FULLY_CONNECTED stay float16, with a CAST, if the input shapes
                                   are fixed: half of the memory. The device `cpu` packs them as they are; others
                                   compute the CAST in each run. false: they become float32 constants */
} nnrt_tflite_desc;

/* Whether bytes begin like a .tflite file: identifier TFL3 at byte 4. 8 bytes suffice. */
NNRT_API bool nnrt_tflite_is(const void *data, size_t bytes);

/* Imports the .tflite model in these bytes. Constants that are aligned to their element size are used in place, so the
   bytes must outlive the model. Inputs and outputs have the names of the signature, or those of their tensors. On
   failure *model is NULL and error (may be NULL) names the operator and the fault. */
NNRT_API NNRT_ReturnCode nnrt_tflite_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                                 const nnrt_tflite_desc *desc, nnrt_error *error);
#ifndef NNRT_NO_STDIO
/* Imports the model in a .tflite file, which is memory-mapped if possible (nnrt_tflite_desc.noMap). The model owns the
   map, or the memory. A mapped file must not shrink or change while the model exists; replacing it by another file of
   its name is safe. */
NNRT_API NNRT_ReturnCode nnrt_tflite_load(NNRT_Model **model, const char *path, const nnrt_tflite_desc *desc,
                                          nnrt_error *error);
#endif

/* Receives the contents of a .tflite file. Strings and shapes are valid during the call. */
typedef struct nnrt_tflite_view {
    void *user;
    /* An input or output of the model, in their order; -1: an open dimension. */
    void (*tensor)(void *user, bool output, const char *name, NNRT_DataType type, const nnrt_dims *shape);
    void (*constant)(void *user, NNRT_DataType type, size_t bytes);
    /* An operator of the format, such as CONV_2D or CUSTOM 'Name', that `count` nodes of the main graph have. supported: it, in
       its version, can be imported. */
    void (*op)(void *user, const char *name, uint32_t count, bool supported);
} nnrt_tflite_view;
/* Describes a .tflite file whose operators need not be supported. Of desc, signature, outputs, dynamic, budget and allocator
   count. The codes of nnrt_tflite_load_memory, but for UNSUPPORTED_OP. */
NNRT_API NNRT_ReturnCode nnrt_tflite_describe(const void *data, size_t bytes, const nnrt_tflite_desc *desc,
                                              const nnrt_tflite_view *view, nnrt_error *error);

/* Support of one builtin operator by the importer. */
typedef struct nnrt_tflite_about {
    const char *name;    /* "CONV_2D" */
    int32_t code;        /* number in the format */
    int32_t versions;    /* supported versions: 1 to this one; 0: unsupported */
    const char *types;   /* of the main operand, one letter each: f float32, h float16, i int32, l int64, b bool, n int8
                            or uint8 without scale, q int8 or uint8 with scale, s int16 with scale, w the same, computed
                            in float32 */
    const char *becomes; /* operators of the runtime, separated by spaces; NONE: no node */
} nnrt_tflite_about;

/* Describes operator `index`: the supported ones in the order of their numbers, then the unsupported ones, whose versions
   is 0. Returns false if index is too large. */
NNRT_API bool nnrt_tflite_operator(uint32_t index, nnrt_tflite_about *about);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_TFLITE_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_TFLITE_IMPLEMENTED)
#define NNRT_TFLITE_IMPLEMENTED

#include "../nnrt.h" /* its implementation, if only its declarations have been included so far */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#ifndef NNRT_NO_STDIO
#include <stdio.h>
#endif

NNRT_SETUP()

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_table */

/* One row per builtin operator: X(code, NAME, versions, least inputs, most inputs, main, types, options, members, rule,
   handler, operator, also)
   code      number of the operator in the format
   versions  1 to this version are read. Versions differ by types and members, which are checked on their own
   main      index of the input whose element type `types` restricts (nnrt_tflite_about.types); NONE: no input's
   options   number of the options table in its union, 0: the operator has none
   members   number of known members of that table; files that set others are refused
   rule      of quantization parameters: ANY; MOVES: the results have those of the main input, as elements are moved;
             EQUAL: all 8-bit operands have the same; OWN: the handler compares them
   handler   nnrti_tfl_op_<handler>
   operator  operator of the runtime, or the mode of one: argument of the handler (nnrti_tfl_row.argument)
   also      further operators of the runtime. Tests compare operator and also with the nodes of imported models */
#define NNRTI_TFL_WIDENED " CAST QUANT_DTYPE_CAST QUANT_DTYPE_CAST_V2" /* of weights (nnrti_tfl_weight) */
#define NNRTI_TFL_CELL " SHAPE GATHER CONCAT TRANSPOSE FULL_CONNECTION ADD_FUSION ACTIVATION"
/* clang-format off */
#define NNRTI_TFLITE_OPS(X, OP, ACT, MODE, PADDING, SIZE) \
    X(  0, ADD,                     5, 2, 2, 0, "filqw",   11, 2, ANY,   binary,     OP(ADD_FUSION), " ACTIVATION CLIP QUANT_DTYPE_CAST") \
    X(  1, AVERAGE_POOL_2D,         3, 1, 1, 0, "fqw",      5, 6, MOVES, pool,       OP(AVGPOOL_FUSION), " ACTIVATION QUANT_DTYPE_CAST") \
    X(  2, CONCATENATION,           4, 1, 0, 0, "filbqs",  10, 2, ANY,   concat,     OP(CONCAT), " ACTIVATION") \
    X(  3, CONV_2D, 8, 2, 3, 0, "fqs", 1, 7, ANY, conv, OP(CONV2D_FUSION), " ACTIVATION" NNRTI_TFL_WIDENED) \
    X( 4, DEPTHWISE_CONV_2D, 7, 2, 3, 0, "fqs", 2, 7, ANY, conv, OP(CONV2D_FUSION), " TRANSPOSE ACTIVATION" NNRTI_TFL_WIDENED) \
    X(  5, DEPTH_TO_SPACE,          2, 1, 1, 0, "filq",   94, 1, MOVES, blocks,     OP(DEPTH_TO_SPACE), "") \
    X( 6, DEQUANTIZE, 6, 1, 1, 0, "hqs", 38, 0, ANY, cast, OP(CAST), " QUANT_DTYPE_CAST QUANT_DTYPE_CAST_V2") \
    X(  7, EMBEDDING_LOOKUP,        4, 2, 2, 1, "fq",      0, 0, MOVES, gather,     OP(GATHER), " QUANT_DTYPE_CAST QUANT_DTYPE_CAST_V2") \
    X(  8, FLOOR,                   1, 1, 1, 0, "f",       0, 0, ANY,   same,       OP(FLOOR), "") \
    X( 9, FULLY_CONNECTED, 14, 2, 3, 0, "fqs", 8, 5, ANY, dense, OP(FULL_CONNECTION), " RESHAPE ACTIVATION" NNRTI_TFL_WIDENED) \
    X( 11, L2_NORMALIZATION,        2, 1, 1, 0, "fq",     12, 1, ANY,   l2norm,     OP(L2_NORMALIZE_FUSION), "") \
    X( 12, L2_POOL_2D, 1, 1, 1, 0, "f", 5, 6, ANY, pool, OP(SQRT), " SQUARE AVGPOOL_FUSION ACTIVATION") \
    X( 13, LOCAL_RESPONSE_NORMALIZATION,  1, 1, 1, 0, "f",      13, 4, ANY,   lrn,        OP(LRN), "") \
    X( 14, LOGISTIC,                3, 1, 1, 0, "fqw",      0, 0, ANY,   activation, ACT(SIGMOID), " QUANT_DTYPE_CAST") \
    X( 17, MAX_POOL_2D, 3, 1, 1, 0, "fqw", 5, 6, MOVES, pool, OP(MAX_POOL_FUSION), " ACTIVATION QUANT_DTYPE_CAST") \
    X( 18, MUL,                     7, 2, 2, 0, "filqw",   21, 1, ANY,   binary,     OP(MUL_FUSION), " ACTIVATION CLIP QUANT_DTYPE_CAST") \
    X( 19, RELU,                    3, 1, 1, 0, "fqw",      0, 0, ANY,   activation, ACT(RELU), " QUANT_DTYPE_CAST") \
    X( 20, RELU_N1_TO_1,            2, 1, 1, 0, "fq",      0, 0, ANY,   activation, ACT(HARD_TANH), "") \
    X( 21, RELU6,                   3, 1, 1, 0, "fqw",      0, 0, ANY,   activation, ACT(RELU6), " QUANT_DTYPE_CAST") \
    X( 22, RESHAPE,                 2, 1, 2, 0, "filbqs",  17, 1, MOVES, reshape,    OP(RESHAPE), "") \
    X( 23, RESIZE_BILINEAR,         4, 2, 2, 0, "fq",     15, 4, MOVES, resize,     SIZE(LINEAR), "") \
    X( 25, SOFTMAX,                 3, 1, 1, 0, "fqw",      9, 1, ANY,   softmax,    OP(SOFTMAX), " MUL_FUSION QUANT_DTYPE_CAST") \
    X( 26, SPACE_TO_DEPTH,          2, 1, 1, 0, "filq",   19, 1, MOVES, blocks,     OP(SPACE_TO_DEPTH), "") \
    X( 27, SVDF, 2, 3, 5, 0, "f", 6, 3, ANY, svdf, OP(FULL_CONNECTION), \
      " RESHAPE SLICE_FUSION CONCAT MUL_FUSION REDUCE_FUSION ADD_FUSION ACTIVATION" NNRTI_TFL_WIDENED) \
    X( 28, TANH,                    3, 1, 1, 0, "fqw",      0, 0, ANY,   activation, ACT(TANH), " QUANT_DTYPE_CAST") \
    X( 32, Convolution2DTransposeBias, 1, 3, 3, 0, "f", 0, 0, ANY, transposed, OP(CONV2D_TRANSPOSE_FUSION), "") \
    X( 32, MaxPoolingWithArgmax2D, 1, 1, 1, 0, "f", 0, 0, ANY, poolindices, OP(MAX_POOL_FUSION), \
      " FLOOR_DIV MUL_FUSION SUB_FUSION ADD_FUSION CAST") \
    X( 32, MaxUnpooling2D, 1, 2, 2, 0, "f", 0, 0, ANY, unpool, OP(SCATTER_ELEMENTS), \
      " CAST FLOOR_DIV MUL_FUSION SUB_FUSION ADD_FUSION FILL RESHAPE") \
    X( 32, TFLite_Detection_PostProcess, 1, 3, 3, 0, "fq", 0, 0, ANY, detection, OP(DETECTION_POST_PROCESS), " DIV_FUSION") \
    X( 34, PAD,                     4, 2, 2, 0, "filqs",   22, 0, MOVES, pad,        PADDING(CONSTANT), "") \
    X( 35, UNIDIRECTIONAL_SEQUENCE_RNN, 3, 5, 5, 0, "f", 31, 3, ANY, rnn, OP(LOOP), \
      NNRTI_TFL_CELL NNRTI_TFL_WIDENED) \
    X( 36, GATHER,                  7, 2, 2, 0, "filbqs",  23, 2, MOVES, gather,     OP(GATHER), \
      " GATHER_ND CONCAT RESHAPE TRANSPOSE") \
    X( 37, BATCH_TO_SPACE_ND,       4, 3, 3, 0, "filq",   24, 0, MOVES, batches,    OP(BATCH_TO_SPACE_ND), "") \
    X( 38, SPACE_TO_BATCH_ND,       4, 3, 3, 0, "filq",   25, 0, MOVES, batches,    OP(SPACE_TO_BATCH_ND), "") \
    X( 39, TRANSPOSE,               6, 2, 2, 0, "filbqs",  26, 0, MOVES, same,       OP(TRANSPOSE), "") \
    X( 40, MEAN,                    3, 2, 2, 0, "fqw",     27, 1, ANY,   reduce,     MODE(MEAN), " QUANT_DTYPE_CAST") \
    X( 41, SUB,                     5, 2, 2, 0, "filqw",   28, 2, ANY,   binary,     OP(SUB_FUSION), " ACTIVATION CLIP QUANT_DTYPE_CAST") \
    X( 42, DIV,                     2, 2, 2, 0, "fiq",    29, 1, ANY,   binary,     OP(DIV_FUSION), " ACTIVATION CLIP") \
    X( 43, SQUEEZE,                 2, 1, 1, 0, "filbqs",  30, 1, MOVES, squeeze,    OP(SQUEEZE), "") \
    X( 44, UNIDIRECTIONAL_SEQUENCE_LSTM, 4, 1, 24, 0, "f", 71, 6, ANY, lstm, OP(LOOP), \
      " SPLIT MUL_FUSION SUB_FUSION CLIP" NNRTI_TFL_CELL NNRTI_TFL_WIDENED) \
    X( 45, STRIDED_SLICE,           8, 4, 4, 0, "filbqs",  32, 6, MOVES, strided,    OP(STRIDED_SLICE), "") \
    X( 46, BIDIRECTIONAL_SEQUENCE_RNN, 3, 9, 12, 0, "f", 70, 4, ANY, rnn, OP(LOOP), \
      " STRIDED_SLICE" NNRTI_TFL_CELL NNRTI_TFL_WIDENED) \
    X( 47, EXP,                     2, 1, 1, 0, "f",      33, 0, ANY,   same,       OP(EXPFUSION), "") \
    X( 48, TOPK_V2,                 3, 2, 2, 0, "filq",   34, 0, MOVES, same,       OP(TOPK_FUSION), "") \
    X( 49, SPLIT,                   4, 2, 2, 1, "fiqs",    35, 1, MOVES, split,      OP(SPLIT), "") \
    X( 50, LOG_SOFTMAX,             2, 1, 1, 0, "fq",     36, 0, ANY,   logsoftmax, OP(LOG_SOFTMAX), "") \
    X( 52, BIDIRECTIONAL_SEQUENCE_LSTM, 3, 1, 48, 0, "f", 69, 6, ANY, lstm, OP(LOOP), \
      " SPLIT MUL_FUSION SUB_FUSION CLIP STRIDED_SLICE" NNRTI_TFL_CELL NNRTI_TFL_WIDENED) \
    X( 53, CAST,                    7, 1, 1, 0, "filbn",  37, 2, ANY,   cast,       OP(CAST), "") \
    X( 54, PRELU,                   1, 2, 2, 0, "fq",      0, 0, ANY,   prelu,      OP(PRELU_FUSION), \
      " RESHAPE GREATER_EQUAL MUL_FUSION SELECT") \
    X( 55, MAXIMUM,                 4, 2, 2, 0, "filqw",   39, 0, EQUAL, same,       OP(MAXIMUM), " QUANT_DTYPE_CAST") \
    X( 56, ARG_MAX,                 3, 2, 2, 0, "fiq",    40, 1, ANY,   arg,        OP(ARGMAX_FUSION), "") \
    X( 57, MINIMUM,                 4, 2, 2, 0, "filqw",   39, 0, EQUAL, same,       OP(MINIMUM), " QUANT_DTYPE_CAST") \
    X( 58, LESS,                    3, 2, 2, 0, "filq",   41, 0, ANY,   same,       OP(LESS), "") \
    X( 59, NEG,                     1, 1, 1, 0, "fil",    42, 0, ANY,   same,       OP(NEG), "") \
    X( 60, PADV2,                   4, 3, 3, 0, "filq",   43, 0, EQUAL, pad,        PADDING(CONSTANT), "") \
    X( 61, GREATER,                 2, 2, 2, 0, "filq",   44, 0, ANY,   same,       OP(GREATER), "") \
    X( 62, GREATER_EQUAL,           3, 2, 2, 0, "filq",   45, 0, ANY,   same,       OP(GREATER_EQUAL), "") \
    X( 63, LESS_EQUAL,              2, 2, 2, 0, "filq",   46, 0, ANY,   same,       OP(LESS_EQUAL), "") \
    X( 64, SELECT,                  4, 3, 3, 1, "filbq",  47, 0, EQUAL, select,     OP(SELECT), "") \
    X( 65, SLICE,                   6, 3, 3, 0, "filbqs",  48, 0, MOVES, same,       OP(SLICE_FUSION), "") \
    X( 66, SIN,                     1, 1, 1, 0, "f",       0, 0, ANY,   same,       OP(SIN), "") \
    X( 67, TRANSPOSE_CONV, 5, 3, 4, 2, "fq", 49, 5, ANY, transposed, OP(CONV2D_TRANSPOSE_FUSION), " ACTIVATION") \
    X( 68, SPARSE_TO_DENSE,         3, 4, 4, 2, "filn",   50, 1, EQUAL, sparse,     OP(SPARSE_TO_DENSE), "") \
    X( 69, TILE,                    3, 2, 2, 0, "filbq",  51, 0, MOVES, same,       OP(TILE_FUSION), "") \
    X( 70, EXPAND_DIMS,             1, 2, 2, 0, "filbqs",  52, 0, MOVES, same,       OP(EXPAND_DIMS), "") \
    X( 71, EQUAL,                   4, 2, 2, 0, "filbq",  53, 0, ANY,   same,       OP(EQUAL), "") \
    X( 72, NOT_EQUAL,               3, 2, 2, 0, "filbq",  54, 0, ANY,   same,       OP(NOT_EQUAL), "") \
    X( 73, LOG,                     2, 1, 1, 0, "f",       0, 0, ANY,   same,       OP(LOG), "") \
    X( 74, SUM,                     2, 2, 2, 0, "filq",   27, 1, ANY,   reduce,     MODE(SUM), "") \
    X( 75, SQRT,                    1, 1, 1, 0, "f",       0, 0, ANY,   same,       OP(SQRT), "") \
    X( 76, RSQRT,                   3, 1, 1, 0, "f",       0, 0, ANY,   same,       OP(RSQRT), "") \
    X( 77, SHAPE,                   1, 1, 1, 0, "filbq",  55, 1, ANY,   same,       OP(SHAPE), "") \
    X( 78, POW,                     1, 2, 2, 0, "fi",     56, 0, ANY,   same,       OP(POW_FUSION), "") \
    X( 79, ARG_MIN,                 3, 2, 2, 0, "fiq",    57, 1, ANY,   arg,        OP(ARGMIN_FUSION), "") \
    X( 81, REDUCE_PROD,             2, 2, 2, 0, "fil",    27, 1, ANY,   reduce,     MODE(PROD), "") \
    X( 82, REDUCE_MAX,              3, 2, 2, 0, "filq",   27, 1, MOVES, reduce,     MODE(MAX), "") \
    X( 83, PACK,                    4, 1, 0, 0, "filqs",   59, 2, EQUAL, axis,       OP(STACK), "") \
    X( 84, LOGICAL_OR,              1, 2, 2, 0, "b",      60, 0, ANY,   same,       OP(LOGICAL_OR), "") \
    X( 85, ONE_HOT,                 1, 4, 4, 0, "i",      61, 1, EQUAL, axis,       OP(ONE_HOT), "") \
    X( 86, LOGICAL_AND,             1, 2, 2, 0, "b",      62, 0, ANY,   same,       OP(LOGICAL_AND), "") \
    X( 87, LOGICAL_NOT,             1, 1, 1, 0, "b",      63, 0, ANY,   same,       OP(LOGICAL_NOT), "") \
    X( 88, UNPACK,                  4, 1, 1, 0, "fibqs",   64, 2, MOVES, axis,       OP(UNSTACK), "") \
    X( 89, REDUCE_MIN,              3, 2, 2, 0, "filq",   27, 1, MOVES, reduce,     MODE(MIN), "") \
    X( 90, FLOOR_DIV,               3, 2, 2, 0, "fi",     65, 0, ANY,   same,       OP(FLOOR_DIV), "") \
    X( 91, REDUCE_ANY,              1, 2, 2, 0, "b",      27, 1, ANY,   all,        OP(ALL), " LOGICAL_NOT") \
    X( 92, SQUARE,                  1, 1, 1, 0, "f",      66, 0, ANY,   same,       OP(SQUARE), "") \
    X( 93, ZEROS_LIKE,              1, 1, 1, 0, "fil",    67, 0, ANY,   zeros,      OP(FILL_LIKE), "") \
    X( 94, FILL,                    4, 2, 2, 1, "filbq",  68, 0, MOVES, fill,       OP(FILL), "") \
    X( 95, FLOOR_MOD, 2, 2, 2, 0, "fil", 72, 0, ANY, floormod, OP(SELECT), \
      " MOD ADD_FUSION NOT_EQUAL LESS LOGICAL_AND LOGICAL_XOR") \
    X( 96, RANGE,                   2, 3, 3, 0, "fi",     73, 0, EQUAL, same,       OP(RANGE), "") \
    X( 97, RESIZE_NEAREST_NEIGHBOR,  4, 2, 2, 0, "fq",     74, 2, MOVES, resize,     SIZE(NEAREST), "") \
    X( 98, LEAKY_RELU,              2, 1, 1, 0, "fqw",     75, 1, ANY,   activation, ACT(LEAKY_RELU), " QUANT_DTYPE_CAST") \
    X( 99, SQUARED_DIFFERENCE,      2, 2, 2, 0, "fiq",    76, 0, ANY,   same,       OP(SQUARED_DIFFERENCE), "") \
    X(100, MIRROR_PAD,              3, 2, 2, 0, "filq",   77, 1, MOVES, pad,        PADDING(REFLECT), "") \
    X(101, ABS,                     5, 1, 1, 0, "fq",     78, 0, ANY,   same,       OP(ABS), "") \
    X(102, SPLIT_V,                 2, 3, 3, 0, "filq",   79, 1, MOVES, split,      OP(SPLIT), "") \
    X(104, CEIL,                    1, 1, 1, 0, "f",       0, 0, ANY,   same,       OP(CEIL), "") \
    X(105, REVERSE_V2,              3, 2, 2, 0, "filbq",  81, 0, MOVES, reverse,    OP(STRIDED_SLICE), "") \
    X(106, ADD_N,                   1, 1, 0, 0, "fi",     82, 0, ANY,   same,       OP(ADD_N), "") \
    X(107, GATHER_ND,               5, 2, 2, 0, "filq",   83, 0, MOVES, same,       OP(GATHER_ND), "") \
    X(108, COS,                     1, 1, 1, 0, "f",      84, 0, ANY,   same,       OP(COS), "") \
    X(109, WHERE,                   2, 1, 1, 0, "b",      85, 0, ANY,   where,      OP(NON_ZERO), " TRANSPOSE") \
    X(110, RANK,                    1, 1, 1, 0, "filbq",  86, 0, ANY,   same,       OP(RANK), "") \
    X(111, ELU,                     1, 1, 1, 0, "fq",      0, 0, ANY,   activation, ACT(ELU), "") \
    X(112, REVERSE_SEQUENCE,        1, 2, 2, 0, "filq",   87, 2, MOVES, revseq,     OP(REVERSE_SEQUENCE), "") \
    X(114, QUANTIZE, 3, 1, 1, 0, "fqs", 89, 0, ANY, cast, OP(QUANT_DTYPE_CAST), " QUANT_DTYPE_CAST_V2") \
    X(116, ROUND,                   1, 1, 1, 0, "f",       0, 0, ANY,   same,       OP(ROUND), "") \
    X(117, HARD_SWISH,              1, 1, 1, 0, "fq",     91, 0, ANY,   activation, ACT(HSWISH), "") \
    X(118, IF,                      1, 1, 0, 0, "b",      92, 2, OWN,   if,         OP(IF), "") \
    X(119, WHILE,                   1, 1, 0, 0, "fhilbnq", 93, 2, OWN,  while,      OP(LOOP), "") \
    X(122, SCATTER_ND,              1, 3, 3, 1, "filn",   97, 0, EQUAL, same,       OP(SCATTER_ND), "") \
    X(123, SELECT_V2,               2, 3, 3, 1, "filbq",  98, 0, EQUAL, select,     OP(SELECT), " RESHAPE") \
    X(124, DENSIFY,                 1, 1, 1, 0, "fhnq",   99, 0, MOVES, densify,    OP(NONE), "") \
    X(126, BATCH_MATMUL,            4, 2, 2, 0, "fqw",    101, 3, ANY,   matmul,     OP(MATMUL_FUSION), NNRTI_TFL_WIDENED) \
    X(128, CUMSUM,                  1, 2, 2, 0, "fil",   102, 2, ANY,   cumsum,     OP(CUM_SUM), "") \
    X(129, CALL_ONCE,               1, 0, 0, NONE, "",   103, 1, OWN,   once,       OP(NONE), "") \
    X(130, BROADCAST_TO,            3, 2, 2, 0, "filbq", 104, 0, MOVES, same,       OP(BROADCAST_TO), "") \
    X(131, RFFT2D,                  1, 2, 2, 0, "f",     105, 0, OWN,   rfft,       OP(DFT), " RESHAPE") \
    X(132, CONV_3D, 1, 2, 3, 0, "f", 106, 8, ANY, conv3d, OP(CONV_3D), " TRANSPOSE ACTIVATION") \
    X(133, IMAG,                    1, 1, 1, 0, "f",       0, 0, ANY,   part,       OP(GATHER), "") \
    X(134, REAL,                    1, 1, 1, 0, "f",       0, 0, ANY,   part,       OP(GATHER), "") \
    X(135, COMPLEX_ABS,             1, 1, 1, 0, "f",       0, 0, ANY,   magnitude,  OP(SQRT), " SQUARE REDUCE_FUSION") \
    X(140, REDUCE_ALL,              1, 2, 2, 0, "b",      27, 1, ANY,   all,        OP(ALL), "") \
    X(142, VAR_HANDLE,              1, 0, 0, NONE, "",   111, 2, OWN,   handle,     OP(NONE), "") \
    X(143, READ_VARIABLE,           1, 1, 1, NONE, "filbq", 112, 0, OWN, read,      OP(SELECT), "") \
    X(144, ASSIGN_VARIABLE,         1, 2, 2, 1, "filbq", 113, 0, OWN,   assign,     OP(NONE), "") \
    X(150, GELU,                    2, 1, 1, 0, "fq",    116, 1, ANY,   activation, ACT(GELU), "") \
    X(152, RELU_0_TO_1,             1, 1, 1, 0, "fq",      0, 0, ANY,   activation, ACT(RELU1), "") \
    X(158, SIGN,                    2, 1, 1, 0, "f",     123, 0, ANY,   activation, ACT(SIGN), "") \
    X(160, BITWISE_XOR,             1, 2, 2, 0, "in",      125, 0, ANY,   same,       OP(BITWISE_XOR), "")
/* clang-format on */

enum { NNRTI_TFLITE_ANY, NNRTI_TFLITE_MOVES, NNRTI_TFLITE_EQUAL, NNRTI_TFLITE_OWN };
enum {
    NNRTI_TFL_CONCATENATION = 2, /* codes of operators */
    NNRTI_TFL_CONV_2D = 3,
    NNRTI_TFL_DEQUANTIZE = 6,
    NNRTI_TFL_FULLY_CONNECTED = 9,
    NNRTI_TFL_CUSTOM = 32,
    NNRTI_TFL_BOTH_RNN = 46,
    NNRTI_TFL_BOTH_LSTM = 52,
    NNRTI_TFL_QUANTIZE = 114,
    NNRTI_TFL_CALL_ONCE = 129,
    NNRTI_TFL_IMAG = 133,
    NNRTI_TFL_VAR_HANDLE = 142,
    NNRTI_TFL_ASSIGN = 144,
    NNRTI_TFL_NONE = 99 /* the column main, like the next three */
};
enum { NNRTI_TFL_MAIN_0, NNRTI_TFL_MAIN_1, NNRTI_TFL_MAIN_2, NNRTI_TFL_MAIN_NONE = NNRTI_TFL_NONE };

/* Operators without a row, for messages: code and name. 162 to 209 without a name are those of STABLEHLO. */
/* clang-format off */
#define NNRTI_TFLITE_OTHERS(X) \
    X( 10, HASHTABLE_LOOKUP) X( 15, LSH_PROJECTION) X( 16, LSTM) X( 24, RNN) X( 29, CONCAT_EMBEDDINGS) \
    X( 30, SKIP_GRAM) X( 31, CALL) X( 32, CUSTOM) X( 33, EMBEDDING_LOOKUP_SPARSE) X( 51, DELEGATE) \
    X( 80, FAKE_QUANT) X(103, UNIQUE) X(113, MATRIX_DIAG) X(115, MATRIX_SET_DIAG) \
    X(120, NON_MAX_SUPPRESSION_V4) X(121, NON_MAX_SUPPRESSION_V5) X(125, SEGMENT_SUM) \
    X(136, HASHTABLE) \
    X(137, HASHTABLE_FIND) X(138, HASHTABLE_IMPORT) X(139, HASHTABLE_SIZE) X(141, CONV_3D_TRANSPOSE) \
    X(145, BROADCAST_ARGS) \
    X(146, RANDOM_STANDARD_NORMAL) X(147, BUCKETIZE) X(148, RANDOM_UNIFORM) X(149, MULTINOMIAL) \
    X(151, DYNAMIC_UPDATE_SLICE) X(153, UNSORTED_SEGMENT_PROD) X(154, UNSORTED_SEGMENT_MAX) \
    X(155, UNSORTED_SEGMENT_SUM) X(156, ATAN2) X(157, UNSORTED_SEGMENT_MIN) X(159, BITCAST) X(161, RIGHT_SHIFT) \
    X(203, DILATE) X(205, REDUCE_WINDOW)
/* clang-format on */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_state */

/* Limits of an import. */
typedef struct nnrti_tfl_budget {
    nnrti_limited memory;
    double work;   /* bytes of lists and texts that may still be read */
    double fold;   /* elements that constant folding may still compute */
    size_t sparse; /* stored bytes of sparse constants that may still raise memory.limit */
} nnrti_tfl_budget;

/* A table of the flatbuffer, checked: its fields begin at `at` and take `size` bytes; fields[i] of `count` are at
   vtable + 4 + 2 * i. at 0: absent; every field has its default. */
typedef struct nnrti_tfl_table {
    size_t at, vtable;
    uint32_t size, count;
} nnrti_tfl_table;

/* A vector, checked: count elements from `at` on. at 0: absent. */
typedef struct nnrti_tfl_vector {
    size_t at;
    uint32_t count;
} nnrti_tfl_vector;

/* An absent table and vector. */
static const nnrti_tfl_table nnrti_tfl_no_table = {0, 0, 0, 0};
static const nnrti_tfl_vector nnrti_tfl_no_vector = {0, 0};

typedef struct nnrti_tfl nnrti_tfl;

/* One row of NNRTI_TFLITE_OPS. */
typedef struct nnrti_tfl_row {
    const char *name;
    int32_t code, versions;
    uint32_t least, most, main;
    const char *types;
    uint32_t options, members;
    int32_t rule;
    void (*handler)(nnrti_tfl *c);
    int32_t argument;
    const char *becomes;
} nnrti_tfl_row;

#define NNRTI_TFL_NAME 96 /* bytes of a name, with its end */

/* A tensor of the file that was read. */
typedef struct nnrti_tfl_tensor {
    char name[NNRTI_TFL_NAME]; /* nnrti_tfl_string */
    NNRT_DataType type;
    nnrt_dims shape;
    nnrti_tfl_vector scales, zeros;
    int32_t axis;
    size_t data, dataBytes; /* elements of a constant */
    nnrti_tfl_table sparse; /* at 0: the elements are dense */
    bool quantized, variable;
    bool nibbles; /* int4: two elements per byte, the first in the low bits; type is int8 */
} nnrti_tfl_tensor;

/* A variable, or the state of a recurrent layer. */
typedef struct nnrti_tfl_state {
    struct nnrti_tfl_state *next;
    char name[NNRTI_TFL_NAME];          /* of the input */
    nnrti_tfl_vector container, shared; /* a variable: its names in the file */
    bool assigned;                      /* by the main graph; else it keeps its initial value */
    uint32_t initial;                   /* constant, NNRT_NO_TENSOR: none */
    uint32_t in, now;                   /* the input, and the current value; NNRT_NO_TENSOR: none yet */
} nnrti_tfl_state;

/* All of them, shared by the imports of all subgraphs. */
typedef struct nnrti_tfl_states {
    nnrti_tfl_state *first, **end;
    uint32_t count;
    nnrti_tfl_state *begun; /* true after the first run: bool; NULL: no state has an initial value */
} nnrti_tfl_states;

/* State of an import. After the first fault code is set and all further operations are no-ops. */
struct nnrti_tfl {
    const nnrt_tflite_desc *desc; /* its allocator is the budget's */
    nnrti_tfl_budget *budget;
    const uint8_t *data;
    size_t bytes;
    nnrt_builder *builder;
    nnrt_error *error;
    NNRT_ReturnCode code;
    nnrti_tfl_vector codes, buffers, graphs;
    nnrti_tfl_table root, signature;
    const nnrti_tfl *outer; /* the import of the graph around the current one; NULL: the main graph */
    uint32_t graph, depth;  /* index of the current subgraph of the file, number of graphs around it */
    bool unnamed;           /* it is inlined: its names are not names of the model */
    nnrti_tfl_vector tensors, operators, inputs, outputs; /* of the current subgraph, like the next two */
    uint32_t *values;         /* value of each tensor of the file, NNRT_NO_TENSOR: none yet */
    uint8_t *needed;          /* of each tensor: an output depends on it (1), it is read otherwise than as the weight of a
                                 convolution or dense layer (2); of each operator, after them: 1 */
    bool keepsHalf;           /* nnrt_tflite_desc.float16, and all input shapes are fixed */
    nnrti_tfl_states *states;
    nnrti_tfl_state **variables; /* of each tensor of the file: the variable that it refers to, or NULL */
    bool widens;                 /* the current operator computes int16 in float32 (>>tflite_wide) */
    uint32_t wideFrom[4], wideTo[4]; /* the last four of its inputs, and their values in float32 */
    uint32_t nWide, wideOut[4];      /* number of its inputs; its results in float32 */
    bool initializes;         /* the current subgraph is that of CALL_ONCE */
    bool usedInPlace;         /* a constant points into the file's bytes */
    const nnrti_tfl_row *row; /* the current operator, NULL: none */
    uint32_t index, opGraph;  /* its index, and that of its subgraph */
    const char *opName;       /* its name in messages: that of its first result */
    nnrti_tfl_vector in, out; /* its operands: indices of tensors */
    nnrti_tfl_table options;
    nnrti_tfl_vector custom; /* options of a custom operator */
    nnrt_operand none;       /* zero (nnrti_tfl_at) */
    char text[256];
};

/* The column `operator`: the argument of the handler, and the name of the runtime's operator. */
#define NNRTI_TFL_OP(a) NNRT_NODE_TYPE_##a, #a
#define NNRTI_TFL_ACT(a) NNRT_ACTIVATION_TYPE_##a, "ACTIVATION"
#define NNRTI_TFL_MODE(a) NNRT_REDUCE_MODE_##a, "REDUCE_FUSION"
#define NNRTI_TFL_PAD(a) NNRT_PADDING_MODE_##a, "PAD_FUSION"
#define NNRTI_TFL_SIZE(a) NNRT_RESIZE_METHOD_##a, "RESIZE"
#define NNRTI_TFL_TABLE(X)                                                                                             \
    NNRTI_TFLITE_OPS(X, NNRTI_TFL_OP, NNRTI_TFL_ACT, NNRTI_TFL_MODE, NNRTI_TFL_PAD, NNRTI_TFL_SIZE)

#define NNRTI_TFL_PROTO(code, name, versions, least, most, main, types, options, members, rule, handler, operator_,    \
                        also)                                                                                          \
    NNRTI_COLD static void nnrti_tfl_op_##handler(nnrti_tfl *c);
NNRTI_TFL_TABLE(NNRTI_TFL_PROTO)

#define NNRTI_TFL_ROW(code, name, versions, least, most, main, types, options, members, rule, handler, operator_,      \
                      also)                                                                                            \
    {#name,                                                                                                            \
     code,                                                                                                             \
     versions,                                                                                                         \
     least,                                                                                                            \
     most,                                                                                                             \
     NNRTI_TFL_MAIN_##main,                                                                                            \
     types,                                                                                                            \
     options,                                                                                                          \
     members,                                                                                                          \
     NNRTI_TFLITE_##rule,                                                                                              \
     nnrti_tfl_op_##handler,                                                                                           \
     operator_ also},
static const nnrti_tfl_row nnrti_tfl_rows[] = {NNRTI_TFL_TABLE(NNRTI_TFL_ROW)};
#define NNRTI_TFL_COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define NNRTI_TFL_ROWS NNRTI_TFL_COUNT(nnrti_tfl_rows)

typedef struct nnrti_tfl_other {
    int32_t code;
    const char *name;
} nnrti_tfl_other;
#define NNRTI_TFL_OTHER(code, name) {code, #name},
static const nnrti_tfl_other nnrti_tfl_others[] = {NNRTI_TFLITE_OTHERS(NNRTI_TFL_OTHER)};

/* The row of an operator; NULL if it has none. custom: name of a custom operator. */
static const nnrti_tfl_row *nnrti_tfl_find(int32_t code, const char *custom)
{
    for (uint32_t i = 0; i < NNRTI_TFL_ROWS; i++)
        if (nnrti_tfl_rows[i].code == code && (code != NNRTI_TFL_CUSTOM || strcmp(nnrti_tfl_rows[i].name, custom) == 0))
            return &nnrti_tfl_rows[i];
    return NULL;
}

/* The name of an operator without a row. */
static const char *nnrti_tfl_other_name(int32_t code)
{
    for (uint32_t i = 0; i < NNRTI_TFL_COUNT(nnrti_tfl_others); i++)
        if (nnrti_tfl_others[i].code == code)
            return nnrti_tfl_others[i].name;
    return code >= 162 && code <= 209 ? "STABLEHLO" : "unknown";
}

/* Starts the budget of a file of `bytes` bytes. *own becomes a copy of desc (NULL: defaults) whose allocator is the
   budget's. */
static void nnrti_tfl_budget_begin(nnrti_tfl_budget *b, const nnrt_tflite_desc *desc, size_t bytes,
                                   nnrt_tflite_desc *own)
{
    size_t n;
    memset(b, 0, sizeof(*b));
    memset(own, 0, sizeof(*own));
    if (desc != NULL)
        *own = *desc;
    own->budget = own->budget > 0 ? own->budget : 1;
    nnrti_limited_begin(&b->memory, own->allocator);
    b->memory.limit = nnrt_mul_size(bytes, NNRT_TFLITE_BUDGET, &n) && nnrt_add_size(n, NNRT_TFLITE_BUDGET_FREE, &n) &&
                              nnrt_mul_size(n, own->budget, &n)
                          ? n
                          : SIZE_MAX;
    b->work = (double)bytes * NNRT_TFLITE_WORK * own->budget;
    b->fold = (double)b->memory.limit;
    b->sparse = bytes;
    own->allocator = &b->memory.allocator;
}

/* Raises the limit for a sparse constant of `stored` bytes, as long as all of them are no more bytes than the file. */
static void nnrti_tfl_budget_sparse(nnrti_tfl_budget *b, const nnrt_tflite_desc *desc, size_t stored)
{
    const size_t counted = stored < b->sparse ? stored : b->sparse;
    size_t n;
    b->sparse -= counted;
    b->memory.limit = nnrt_mul_size(counted, NNRT_TFLITE_SPARSE, &n) && nnrt_mul_size(n, desc->budget, &n) &&
                              nnrt_add_size(n, b->memory.limit, &n)
                          ? n
                          : SIZE_MAX;
}

/* Ends the budget: hands the model's blocks over to the caller's allocator. If the limit caused NNRT_OUT_OF_MEMORY, the
   error message says so. */
static NNRT_ReturnCode nnrti_tfl_budget_end(nnrti_tfl_budget *b, const nnrt_tflite_desc *own, NNRT_Model *model,
                                            NNRT_ReturnCode code, nnrt_error *error)
{
    nnrti_limited_end(&b->memory, model);
    if (code != NNRT_OUT_OF_MEMORY || !b->memory.over || error == NULL)
        return code;
    memset(error, 0, sizeof(*error));
    return nnrt_error_set(error, code,
                          "the import takes more than %z bytes, its limit (nnrt_tflite_desc.budget %u raises it)",
                          b->memory.limit, own->budget + 1);
}

/* Sets the message "TFLite operator 3 'conv1' (CONV_2D): " followed by c->text, unless an error is already set. */
NNRTI_COLD static void nnrti_tfl_blame(nnrti_tfl *c, NNRT_ReturnCode code)
{
    const nnrt_error *e = c->builder != NULL ? nnrt_builder_error(c->builder) : NULL;
    char graph[32] = "";
    if (c->code != NNRT_SUCCESS)
        return;
    if (e != NULL && e->code == NNRT_OUT_OF_MEMORY && code != NNRT_OUT_OF_MEMORY) { /* values look unknown then */
        code = NNRT_OUT_OF_MEMORY;
        (void)nnrt_text(c->text, sizeof(c->text), "%s", e->message);
    }
    c->code = code;
    if (c->opGraph > 0)
        (void)nnrt_text(graph, sizeof(graph), " of subgraph %u", c->opGraph);
    if (c->row == NULL)
        (void)nnrt_error_set(c->error, code, "%s", c->text);
    else
        (void)nnrt_error_set(c->error, code, "TFLite operator %u '%s' (%s)%s: %s", c->index, c->opName, c->row->name,
                             graph, c->text);
}

/* Reports a fault: code, then format and arguments of nnrt_text. */
#define NNRTI_TFL_FAIL(c, code, ...)                                                                                   \
    ((void)nnrt_text((c)->text, sizeof((c)->text), __VA_ARGS__), nnrti_tfl_blame(c, code))

/* True if there is no fault so far. Converts a fault of the builder, "node 7 '' (ADD_FUSION): ...", into one of the
   operator; the builder's prefix stays if it names a node other than the one just added. */
static bool nnrti_tfl_fine(nnrti_tfl *c)
{
    const nnrt_error *e = &c->builder->error;
    const char *text = e->message, *end = NULL;
    if (c->code != NNRT_SUCCESS || e->code == NNRT_SUCCESS)
        return c->code == NNRT_SUCCESS;
    if (strncmp(text, "node ", 5) == 0 && e->node + 1 == (int64_t)nnrti_array_count(c->builder->nodes))
        end = strstr(text, "): ");
    text = end != NULL ? end + 3 : text;
    NNRTI_TFL_FAIL(c, e->code, "%s", text[0] != '\0' ? text : "there is not enough memory for the model");
    return false;
}

/* Charges bytes that are read to the budget. False and a fault once it is exceeded. */
static bool nnrti_tfl_work(nnrti_tfl *c, double bytes)
{
    if (c->code == NNRT_SUCCESS && (c->budget->work -= bytes) < 0)
        NNRTI_TFL_FAIL(c, NNRT_TIME_OUT,
                       "lists and texts of more than %u times the bytes of the file are read, since its tables share "
                       "them (nnrt_tflite_desc.budget %u raises the limit)",
                       NNRT_TFLITE_WORK * c->desc->budget, c->desc->budget + 1);
    return c->code == NNRT_SUCCESS;
}

/* Zeroed memory that lives until the model is finished. Returns NULL and records the fault if there is none. */
static void *nnrti_tfl_keep(nnrti_tfl *c, size_t count, size_t size)
{
    void *p = c->code == NNRT_SUCCESS ? nnrti_builder_keep(c->builder, count, size) : NULL;
    return nnrti_tfl_fine(c) ? p : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_flatbuffer */

/* Every accessor checks offset, length and alignment before it reads; after a fault it returns 0. A table begins with
   the signed distance to its vtable: uint16 bytes of the vtable, uint16 bytes of the table, then one uint16 per field,
   the offset of the field in the table, 0: default. Fields of vectors, texts and tables are uint32 distances forward. */

static uint32_t nnrti_tfl_u16(const nnrti_tfl *c, size_t at)
{
    return (uint32_t)c->data[at] | (uint32_t)c->data[at + 1] << 8;
}

static uint32_t nnrti_tfl_u32(const nnrti_tfl *c, size_t at)
{
    return nnrti_tfl_u16(c, at) | nnrti_tfl_u16(c, at + 2) << 16;
}

static uint64_t nnrti_tfl_u64(const nnrti_tfl *c, size_t at)
{
    return (uint64_t)nnrti_tfl_u32(c, at) | (uint64_t)nnrti_tfl_u32(c, at + 4) << 32;
}

/* True if `bytes` bytes at `at` are inside the file and aligned to `alignment`; else a fault. */
static bool nnrti_tfl_inside(nnrti_tfl *c, size_t at, size_t bytes, size_t alignment, const char *what)
{
    if (c->code != NNRT_SUCCESS)
        return false;
    if (at <= c->bytes && bytes <= c->bytes - at && at % alignment == 0)
        return true;
    NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "damaged file: %s at byte %z takes %z bytes, aligned to %z; the file has %z",
                   what, at, bytes, alignment, c->bytes);
    return false;
}

/* The table at byte `at`. */
static nnrti_tfl_table nnrti_tfl_table_at(nnrti_tfl *c, size_t at)
{
    nnrti_tfl_table t;
    int64_t vtable;
    if (!nnrti_tfl_inside(c, at, 4, 4, "a table"))
        return nnrti_tfl_no_table;
    vtable = (int64_t)at - (int32_t)nnrti_tfl_u32(c, at);
    if (vtable < 0 || !nnrti_tfl_inside(c, (size_t)vtable, 4, 2, "a vtable")) {
        if (c->code == NNRT_SUCCESS)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "damaged file: the table at byte %z has its vtable at %l", at, vtable);
        return nnrti_tfl_no_table;
    }
    t.at = at;
    t.vtable = (size_t)vtable;
    t.size = nnrti_tfl_u16(c, t.vtable + 2);
    t.count = nnrti_tfl_u16(c, t.vtable);
    if (t.count < 4 || t.count % 2 != 0 || t.size < 4) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "damaged file: the vtable at byte %z has %u bytes, its table %u", t.vtable,
                       t.count, t.size);
        return nnrti_tfl_no_table;
    }
    if (!nnrti_tfl_inside(c, t.vtable, t.count, 2, "a vtable") || !nnrti_tfl_inside(c, at, t.size, 4, "a table"))
        return nnrti_tfl_no_table;
    t.count = (t.count - 4) / 2;
    return t;
}

/* Position of a field of `bytes` bytes; 0: the field has its default. */
static size_t nnrti_tfl_field(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field, uint32_t bytes)
{
    uint32_t offset;
    if (c->code != NNRT_SUCCESS || t->at == 0 || field >= t->count)
        return 0;
    offset = nnrti_tfl_u16(c, t->vtable + 4 + 2 * (size_t)field);
    if (offset == 0)
        return 0;
    if (offset < 4 || offset > t->size || bytes > t->size - offset || (t->at + offset) % bytes != 0) {
        NNRTI_TFL_FAIL(
            c, NNRT_INVALID_FILE,
            "damaged file: field %u of the table at byte %z, %u bytes at offset %u, is outside of its %u bytes "
            "or not aligned",
            field, t->at, bytes, offset, t->size);
        return 0;
    }
    return t->at + offset;
}

static int32_t nnrti_tfl_int(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field, int32_t otherwise)
{
    const size_t at = nnrti_tfl_field(c, t, field, 4);
    return at != 0 ? (int32_t)nnrti_tfl_u32(c, at) : otherwise;
}

/* A byte: an enumeration or a bool. */
static int32_t nnrti_tfl_byte(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field, int32_t otherwise)
{
    const size_t at = nnrti_tfl_field(c, t, field, 1);
    return at != 0 ? (int8_t)c->data[at] : otherwise;
}

static float nnrti_tfl_float_at(const nnrti_tfl *c, size_t at)
{
    const uint32_t bits = nnrti_tfl_u32(c, at);
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

static float nnrti_tfl_float(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field, float otherwise)
{
    const size_t at = nnrti_tfl_field(c, t, field, 4);
    return at != 0 ? nnrti_tfl_float_at(c, at) : otherwise;
}

/* Follows the distance at byte `at`. */
static size_t nnrti_tfl_follow(nnrti_tfl *c, size_t at)
{
    const uint32_t distance = nnrti_tfl_u32(c, at);
    if (distance >= 4 && distance <= c->bytes - at)
        return at + distance;
    NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "damaged file: the offset %u at byte %z leads out of the %z bytes of the file",
                   distance, at, c->bytes);
    return 0;
}

/* The table that a field refers to; at 0: absent. */
static nnrti_tfl_table nnrti_tfl_sub(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field)
{
    size_t at = nnrti_tfl_field(c, t, field, 4);
    at = at != 0 ? nnrti_tfl_follow(c, at) : 0;
    return at != 0 ? nnrti_tfl_table_at(c, at) : nnrti_tfl_no_table;
}

/* The vector that a field refers to, with elements of `size` bytes; at 0: absent. */
static nnrti_tfl_vector nnrti_tfl_vector_of(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field, uint32_t size)
{
    nnrti_tfl_vector v;
    size_t at = nnrti_tfl_field(c, t, field, 4);
    at = at != 0 ? nnrti_tfl_follow(c, at) : 0;
    if (at == 0 || !nnrti_tfl_inside(c, at, 4, 4, "the length of a vector"))
        return nnrti_tfl_no_vector;
    v.count = nnrti_tfl_u32(c, at);
    v.at = at + 4;
    if (v.count > (c->bytes - v.at) / size) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE,
                       "damaged file: the vector at byte %z has %u elements of %u bytes; the file has %z bytes", at,
                       v.count, size, c->bytes);
        return nnrti_tfl_no_vector;
    }
    return nnrti_tfl_inside(c, v.at, (size_t)v.count * size, size, "a vector") ? v : nnrti_tfl_no_vector;
}

/* Table i of a vector of tables. */
static nnrti_tfl_table nnrti_tfl_entry(nnrti_tfl *c, const nnrti_tfl_vector *v, uint32_t i)
{
    size_t at;
    if (c->code != NNRT_SUCCESS || i >= v->count)
        return nnrti_tfl_no_table;
    at = nnrti_tfl_follow(c, v->at + 4 * (size_t)i);
    return at != 0 ? nnrti_tfl_table_at(c, at) : nnrti_tfl_no_table;
}

/* Element i of a vector of int32. */
static int32_t nnrti_tfl_item(const nnrti_tfl *c, const nnrti_tfl_vector *v, uint32_t i)
{
    return (int32_t)nnrti_tfl_u32(c, v->at + 4 * (size_t)i);
}

/* The text of a field; returns out. A longer text than size - 1 bytes is cut off and ends with "~index", so that the
   names of different tensors stay different. */
static char *nnrti_tfl_string(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field, uint32_t index, char *out,
                              size_t size)
{
    const nnrti_tfl_vector v = nnrti_tfl_vector_of(c, t, field, 1);
    size_t length = v.count < size ? v.count : size - 12;
    out[0] = '\0';
    if (v.at == 0 || !nnrti_tfl_work(c, 4.0 + (double)length))
        return out;
    while (length < v.count && length > 0 && (c->data[v.at + length] & 0xc0) == 0x80) /* within a character of UTF-8 */
        length--;
    memcpy(out, c->data + v.at, length);
    out[length] = '\0';
    if (length < v.count)
        (void)nnrt_text(out + length, size - length, "~%u", index);
    return out;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_tensors */

/* Element types of the format by their numbers: name, type of the runtime (UNKNOWN: not supported), letter in the column
   `types` (nnrt_tflite_about.types; n is q with quantization parameters). */
static const struct {
    const char *name;
    NNRT_DataType type;
    char letter;
} nnrti_tfl_types[] = {
    {"float32", NNRT_DATA_TYPE_FLOAT32, 'f'},   {"float16", NNRT_DATA_TYPE_FLOAT16, 'h'},
    {"int32", NNRT_DATA_TYPE_INT32, 'i'},       {"uint8", NNRT_DATA_TYPE_UINT8, 'n'},
    {"int64", NNRT_DATA_TYPE_INT64, 'l'},       {"string", NNRT_DATA_TYPE_UNKNOWN, '?'},
    {"bool", NNRT_DATA_TYPE_BOOL, 'b'},         {"int16", NNRT_DATA_TYPE_INT16, '?'},
    {"complex64", NNRT_DATA_TYPE_UNKNOWN, '?'}, {"int8", NNRT_DATA_TYPE_INT8, 'n'},
    {"float64", NNRT_DATA_TYPE_UNKNOWN, '?'},   {"complex128", NNRT_DATA_TYPE_UNKNOWN, '?'},
    {"uint64", NNRT_DATA_TYPE_UNKNOWN, '?'},    {"resource", NNRT_DATA_TYPE_UNKNOWN, '?'},
    {"variant", NNRT_DATA_TYPE_UNKNOWN, '?'},   {"uint32", NNRT_DATA_TYPE_UNKNOWN, '?'},
    {"uint16", NNRT_DATA_TYPE_UNKNOWN, '?'},    {"int4", NNRT_DATA_TYPE_INT8, 'n'},
    {"bfloat16", NNRT_DATA_TYPE_UNKNOWN, '?'},  {"other", NNRT_DATA_TYPE_UNKNOWN, '?'},
};

enum { NNRTI_TFL_COMPLEX = 8, NNRTI_TFL_INT4 = 17 }; /* in nnrti_tfl_types */

/* Reads the elements of a constant: where they are in the file; dataBytes 0: not a constant. */
static void nnrti_tfl_read_buffer(nnrti_tfl *c, uint32_t index, nnrti_tfl_tensor *t)
{
    nnrti_tfl_table buffer;
    nnrti_tfl_vector bytes;
    size_t at;
    if (index >= c->buffers.count) {
        if (index > 0)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "tensor '%s' has its elements in buffer %u, but there are %u buffers",
                           t->name, index, c->buffers.count);
        return;
    }
    buffer = nnrti_tfl_entry(c, &c->buffers, index);
    bytes = nnrti_tfl_vector_of(c, &buffer, 0, 1);
    t->data = bytes.at;
    t->dataBytes = bytes.count;
    at = nnrti_tfl_field(c, &buffer, 1, 8);
    if (at != 0 && nnrti_tfl_u64(c, at) > 1)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT,
                       "tensor '%s' has its elements behind the model (files above 2 GB), which is not supported",
                       t->name);
}

/* Reads the quantization parameters. Those of other types than 8 and 16 bits have no effect in TensorFlow Lite. */
static void nnrti_tfl_read_quant(nnrti_tfl *c, const nnrti_tfl_table *table, nnrti_tfl_tensor *t)
{
    const nnrti_tfl_table q = nnrti_tfl_sub(c, table, 4);
    const bool counts =
        t->type == NNRT_DATA_TYPE_INT8 || t->type == NNRT_DATA_TYPE_UINT8 || t->type == NNRT_DATA_TYPE_INT16;
    if (q.at == 0 || !counts)
        return;
    if (nnrti_tfl_byte(c, &q, 4, 0) != 0)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "tensor '%s' has custom or blockwise quantization, which is not supported",
                       t->name);
    t->scales = nnrti_tfl_vector_of(c, &q, 2, 4);
    t->zeros = nnrti_tfl_vector_of(c, &q, 3, 8);
    t->axis = nnrti_tfl_int(c, &q, 6, 0);
    t->quantized = t->scales.count > 0;
    if (t->quantized && t->zeros.count > 0 && t->zeros.count != t->scales.count && t->zeros.count != 1)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "tensor '%s' has %u scales, but %u zero points", t->name, t->scales.count,
                       t->zeros.count);
    if (t->scales.count > 1 && (t->axis < 0 || t->axis >= t->shape.rank || t->shape.dims[t->axis] < 0 ||
                                (uint32_t)t->shape.dims[t->axis] != t->scales.count))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "tensor '%s' has %u scales on axis %d, whose size differs", t->name,
                       t->scales.count, t->axis);
}

/* Reads tensor `index` of the file. */
static bool nnrti_tfl_tensor_at(nnrti_tfl *c, uint32_t index, nnrti_tfl_tensor *t)
{
    nnrti_tfl_table table;
    nnrti_tfl_vector shape;
    int32_t type;
    uint32_t kind;
    memset(t, 0, sizeof(*t));
    if (index >= c->tensors.count)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "tensor %d does not exist, there are %u tensors", (int32_t)index,
                       c->tensors.count);
    table = nnrti_tfl_entry(c, &c->tensors, index);
    (void)nnrti_tfl_string(c, &table, 3, index, t->name, sizeof(t->name));
    type = nnrti_tfl_byte(c, &table, 1, 0);
    kind = type >= 0 && type < (int32_t)NNRTI_TFL_COUNT(nnrti_tfl_types) ? (uint32_t)type
                                                                         : NNRTI_TFL_COUNT(nnrti_tfl_types) - 1;
    t->type = nnrti_tfl_types[kind].type;
    t->nibbles = kind == NNRTI_TFL_INT4;
    if (t->type == NNRT_DATA_TYPE_UNKNOWN)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_DATATYPE, "tensor '%s' has element type %s (%d), which is not supported",
                       t->name, nnrti_tfl_types[kind].name, type);
    shape = nnrti_tfl_vector_of(c, &table, 0, 4);
    if (shape.count > NNRT_MAX_RANK)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "tensor '%s' has %u axes, at most %d are possible", t->name, shape.count,
                       NNRT_MAX_RANK);
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < shape.count; k++)
        if ((t->shape.dims[k] = nnrti_tfl_item(c, &shape, k)) < -1)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "tensor '%s' has size %d on axis %u", t->name, t->shape.dims[k], k);
    t->shape.rank = (int32_t)shape.count;
    t->variable = nnrti_tfl_byte(c, &table, 5, 0) != 0;
    t->sparse = nnrti_tfl_sub(c, &table, 6);
    nnrti_tfl_read_quant(c, &table, t);
    nnrti_tfl_read_buffer(c, (uint32_t)nnrti_tfl_int(c, &table, 2, 0), t);
    if (t->nibbles && (t->dataBytes == 0 || t->sparse.at != 0))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_DATATYPE, "tensor '%s' is int4, which is supported for dense constants only",
                       t->name);
    return c->code == NNRT_SUCCESS;
}

/* Sets the quantization parameters of tensor t of the file as those of value v, with the channels on `axis`. */
static void nnrti_tfl_set_quant(nnrti_tfl *c, const nnrti_tfl_tensor *t, uint32_t v, int32_t axis)
{
    NNRT_QuantParam one, *list = &one;
    if (!t->quantized || c->code != NNRT_SUCCESS || !nnrti_tfl_work(c, 12.0 * t->scales.count))
        return;
    if (t->scales.count > 1 && (list = (NNRT_QuantParam *)nnrti_tfl_keep(c, t->scales.count, sizeof(*list))) == NULL)
        return;
    for (uint32_t i = 0; i < t->scales.count; i++) {
        const uint32_t k = t->zeros.count > 1 ? i : 0;
        const int64_t zero = t->zeros.count > 0 ? (int64_t)nnrti_tfl_u64(c, t->zeros.at + 8 * (size_t)k) : 0;
        const float scale = nnrti_tfl_float_at(c, t->scales.at + 4 * (size_t)i);
        const bool good = scale >= 0 && scale <= 3.402823466e38f && zero >= -32768 && zero <= 32767;
        if (!good) {
            NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL,
                           "tensor '%s' has scale %f and zero point %l, which are no quantization parameters", t->name,
                           (double)scale, zero);
            return;
        }
        list[i].numBits = 8 * (int32_t)nnrt_type_size(t->type);
        list[i].zeroPoint = (int32_t)zero;
        list[i].scale = (double)scale;
    }
    nnrt_builder_quant(c->builder, v, list, t->scales.count);
    if (t->scales.count > 1)
        nnrt_builder_quant_axis(c->builder, v, axis + 1);
    (void)nnrti_tfl_fine(c);
}

/* A constant value; data must stay valid until the import ends. inFile: data are bytes of the file. */
static uint32_t nnrti_tfl_constant(nnrti_tfl *c, const char *name, NNRT_DataType type, int32_t rank,
                                   const int32_t *dims, const void *data, bool inFile)
{
    uint32_t v = NNRT_NO_TENSOR;
    if (c->code == NNRT_SUCCESS)
        v = nnrt_builder_constant(c->builder, c->depth > 0 ? NULL : name, type, rank, dims, data, false);
    nnrti_builder_tables(c->builder);
    if (!nnrti_tfl_fine(c))
        return NNRT_NO_TENSOR;
    c->builder->copied[v] = !inFile;
    c->usedInPlace = c->usedInPlace || inFile;
    return v;
}

/* A constant whose elements are copied. */
static uint32_t nnrti_tfl_constant_copy(nnrti_tfl *c, NNRT_DataType type, int32_t rank, const int32_t *dims,
                                        const void *data)
{
    size_t bytes = 0;
    void *copy;
    if (!nnrt_dims_bytes(dims, rank, type, &bytes) || (copy = nnrti_tfl_keep(c, bytes, 1)) == NULL)
        return NNRT_NO_TENSOR;
    if (bytes > 0)
        memcpy(copy, data, bytes);
    return nnrti_tfl_constant(c, NULL, type, rank, dims, copy, false);
}

/* A copy of `bytes` bytes of elements of the file in the machine's byte order; bools become 0 or 1, int4 becomes int8. */
static const void *nnrti_tfl_elements(nnrti_tfl *c, const nnrti_tfl_tensor *t, size_t bytes)
{
    const size_t size = nnrt_type_size(t->type);
    uint8_t *copy = (uint8_t *)nnrti_tfl_keep(c, bytes, 1);
    for (size_t i = 0; copy != NULL && i < bytes; i++) {
        const uint8_t from = c->data[t->data + (t->nibbles ? i / 2 : i)];
        copy[nnrti_little_endian() ? i : i / size * size + (size - 1 - i % size)] =
            t->nibbles                       ? (uint8_t)(((from >> 4 * (i % 2) & 15) ^ 8) - 8)
            : t->type == NNRT_DATA_TYPE_BOOL ? (uint8_t)(from != 0)
                                             : from;
    }
    return copy;
}

/* One level of a sparse tensor. Dense: all of its `size` indices are stored; else entry i of the level above has the
   indices indices[segments[i]] to indices[segments[i + 1] - 1]. */
typedef struct nnrti_tfl_level {
    int32_t axis, block; /* index along `axis` of the tensor: block * the index so far + the index of this level */
    int32_t size;
    bool dense;
    nnrti_tfl_vector segments, indices;
    uint32_t segmentBytes, indexBytes;
} nnrti_tfl_level;

typedef struct nnrti_tfl_sparse {
    nnrti_tfl *c;
    const nnrti_tfl_tensor *t;
    nnrti_tfl_level levels[2 * NNRT_MAX_RANK];
    uint32_t count;
    size_t next;  /* element of the file that is copied next */
    uint8_t *out; /* the dense elements, zeroed */
} nnrti_tfl_sparse;

/* A vector of indices, which is a union of int32, uint16 and uint8 vectors; *bytes: of one index. */
static nnrti_tfl_vector nnrti_tfl_indices(nnrti_tfl *c, const nnrti_tfl_table *level, uint32_t field, uint32_t *bytes)
{
    static const uint32_t sizes[] = {0, 4, 2, 1};
    const int32_t kind = nnrti_tfl_byte(c, level, field, 0);
    const nnrti_tfl_table list = nnrti_tfl_sub(c, level, field + 1);
    *bytes = kind >= 1 && kind <= 3 ? sizes[kind] : 1;
    return kind >= 1 && kind <= 3 ? nnrti_tfl_vector_of(c, &list, 0, *bytes) : nnrti_tfl_no_vector;
}

static int64_t nnrti_tfl_index_at(const nnrti_tfl *c, const nnrti_tfl_vector *v, uint32_t bytes, uint32_t i)
{
    const size_t at = v->at + (size_t)bytes * i;
    return bytes == 4 ? (int32_t)nnrti_tfl_u32(c, at) : bytes == 2 ? (int64_t)nnrti_tfl_u16(c, at) : c->data[at];
}

/* Reads the levels: the axes of the tensor in any order, then the blocks that divide some of them. */
static bool nnrti_tfl_levels(nnrti_tfl_sparse *s)
{
    nnrti_tfl *c = s->c;
    const nnrti_tfl_vector order = nnrti_tfl_vector_of(c, &s->t->sparse, 0, 4);
    const nnrti_tfl_vector blocks = nnrti_tfl_vector_of(c, &s->t->sparse, 1, 4);
    const nnrti_tfl_vector levels = nnrti_tfl_vector_of(c, &s->t->sparse, 2, 4);
    const uint32_t rank = (uint32_t)s->t->shape.rank;
    int32_t left[NNRT_MAX_RANK]; /* size of each axis that its levels have not covered yet */
    bool good = levels.count >= rank && levels.count - rank <= rank && levels.count == order.count &&
                blocks.count == levels.count - rank;
    memcpy(left, s->t->shape.dims, sizeof(left));
    s->count = levels.count;
    for (uint32_t k = levels.count; good && c->code == NNRT_SUCCESS && k-- > 0;) { /* the blocks first */
        const nnrti_tfl_table table = nnrti_tfl_entry(c, &levels, k);
        const int32_t at = nnrti_tfl_item(c, &order, k);
        nnrti_tfl_level *l = &s->levels[k];
        l->axis = k < rank ? at : nnrti_tfl_item(c, &blocks, k - rank);
        good = l->axis >= 0 && l->axis < (int32_t)rank && (k < rank || at == (int32_t)k);
        l->dense = nnrti_tfl_byte(c, &table, 0, 0) == 0;
        l->segments = nnrti_tfl_indices(c, &table, 2, &l->segmentBytes);
        l->indices = nnrti_tfl_indices(c, &table, 4, &l->indexBytes);
        l->size = !good ? 0 : k < rank ? left[l->axis] : nnrti_tfl_int(c, &table, 1, 0);
        good = good && l->size > 0 && left[l->axis] % l->size == 0 &&
               (!l->dense || nnrti_tfl_int(c, &table, 1, 0) == l->size);
        l->block = l->size;
        if (good)
            left[l->axis] /= l->size;
    }
    for (uint32_t k = 0; good && k < rank; k++)
        good = left[k] == 1;
    if (!good && c->code == NNRT_SUCCESS)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT,
                       "tensor '%s' has %u levels of sparse axes and blocks, which do not multiply to its %u axes",
                       s->t->name, levels.count, rank);
    return good && c->code == NNRT_SUCCESS;
}

/* Copies the elements of level k and below. entry: of the level above; at: the index along each axis so far. */
static bool nnrti_tfl_expand(nnrti_tfl_sparse *s, uint32_t k, uint32_t entry, const int64_t *at)
{
    nnrti_tfl *c = s->c;
    const nnrti_tfl_level *l = &s->levels[k];
    const size_t size = nnrt_type_size(s->t->type);
    int64_t here[NNRT_MAX_RANK], from = 0, to = l->size;
    memcpy(here, at, sizeof(here));
    if (k == s->count) {
        size_t offset = 0;
        for (int32_t i = 0; i < s->t->shape.rank; i++)
            offset = offset * (size_t)s->t->shape.dims[i] + (size_t)at[i];
        if (s->next >= s->t->dataBytes / size)
            return false;
        memcpy(s->out + offset * size, c->data + s->t->data + s->next++ * size, size);
        return true;
    }
    if (!l->dense) {
        if (entry >= l->segments.count || l->segments.count - entry < 2)
            return false;
        from = nnrti_tfl_index_at(c, &l->segments, l->segmentBytes, entry);
        to = nnrti_tfl_index_at(c, &l->segments, l->segmentBytes, entry + 1);
        if (from < 0 || to < from || to > (int64_t)l->indices.count)
            return false;
    }
    for (int64_t i = from; i < to; i++) {
        const int64_t index = l->dense ? i : nnrti_tfl_index_at(c, &l->indices, l->indexBytes, (uint32_t)i);
        if (index < 0 || index >= l->size || !nnrti_tfl_work(c, 1))
            return false;
        here[l->axis] = at[l->axis] * l->block + index;
        if (!nnrti_tfl_expand(s, k + 1, l->dense ? entry * (uint32_t)l->size + (uint32_t)i : (uint32_t)i, here))
            return false;
    }
    return true;
}

/* The dense elements, `bytes` bytes, of sparse constant t. */
static const void *nnrti_tfl_dense(nnrti_tfl *c, const nnrti_tfl_tensor *t, size_t bytes)
{
    const int64_t zeros[NNRT_MAX_RANK] = {0};
    nnrti_tfl_sparse s;
    memset(&s, 0, sizeof(s));
    s.c = c;
    s.t = t;
    if (!nnrti_little_endian())
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "tensor '%s' is sparse, only little-endian machines read that", t->name);
    nnrti_tfl_budget_sparse(c->budget, c->desc, t->dataBytes);
    if (!nnrti_tfl_levels(&s) || (s.out = (uint8_t *)nnrti_tfl_keep(c, bytes, 1)) == NULL)
        return NULL;
    if (!nnrti_tfl_expand(&s, 0, 0, zeros) || s.next != t->dataBytes / nnrt_type_size(t->type)) {
        if (c->code == NNRT_SUCCESS)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL,
                           "sparse tensor '%s' has indices outside of its shape, or not one for each "
                           "of its %z stored bytes",
                           t->name, t->dataBytes);
        return NULL;
    }
    return s.out;
}

/* The value of constant t: in place if its elements are aligned and dense. */
static uint32_t nnrti_tfl_constant_of(nnrti_tfl *c, const nnrti_tfl_tensor *t)
{
    const size_t size = nnrt_type_size(t->type);
    const void *data;
    size_t bytes = 0;
    uint32_t v;
    bool inFile;
    if (!nnrt_dims_bytes(t->shape.dims, t->shape.rank, t->type, &bytes) ||
        (t->sparse.at == 0 && bytes - (t->nibbles ? bytes / 2 : 0) != t->dataBytes)) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "constant '%s' has %z bytes, its shape and type %s require %z", t->name,
                       t->dataBytes, t->nibbles ? "int4" : nnrt_type_name(t->type),
                       bytes - (t->nibbles ? bytes / 2 : 0));
        return NNRT_NO_TENSOR;
    }
    inFile = bytes > 0 && nnrti_little_endian() && t->sparse.at == 0 && t->type != NNRT_DATA_TYPE_BOOL && !t->nibbles &&
             (uintptr_t)(c->data + t->data) % size == 0;
    data = inFile              ? (const void *)(c->data + t->data)
           : t->sparse.at != 0 ? nnrti_tfl_dense(c, t, bytes)
                               : nnrti_tfl_elements(c, t, bytes);
    if (data == NULL)
        return NNRT_NO_TENSOR;
    v = nnrti_tfl_constant(c, t->name, t->type, t->shape.rank, t->shape.dims, data, inFile);
    nnrti_tfl_set_quant(c, t, v, t->axis);
    return v;
}

/* True if tensor `index` of the file is complex64: its value is float32 with one more axis, real and imaginary part. */
static bool nnrti_tfl_is_complex(nnrti_tfl *c, int32_t index)
{
    const nnrti_tfl_table t = nnrti_tfl_entry(c, &c->tensors, (uint32_t)index);
    return index >= 0 && nnrti_tfl_byte(c, &t, 1, 0) == NNRTI_TFL_COMPLEX;
}

/* The value of tensor `index` of the file, which an operator reads. NNRT_NO_TENSOR after a fault. */
static uint32_t nnrti_tfl_value(nnrti_tfl *c, int32_t index)
{
    nnrti_tfl_tensor t;
    size_t count;
    if (c->code == NNRT_SUCCESS && index >= 0 && (uint32_t)index < c->tensors.count &&
        c->values[index] != NNRT_NO_TENSOR)
        return c->values[index];
    if (!nnrti_tfl_tensor_at(c, (uint32_t)index, &t))
        return NNRT_NO_TENSOR;
    if (t.variable) {
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "tensor '%s' is a variable, which only a recurrent operator can read",
                       t.name);
        return NNRT_NO_TENSOR;
    }
    if (t.dataBytes == 0 && !(nnrt_dims_count(t.shape.dims, t.shape.rank, &count) && count == 0)) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "tensor '%s' has no elements, and no operator before writes it", t.name);
        return NNRT_NO_TENSOR;
    }
    return c->values[index] = nnrti_tfl_constant_of(c, &t);
}

/* True if tensor t of the file has the quantization parameters of x. */
static bool nnrti_tfl_same_quant(const nnrti_tfl *c, const nnrt_operand *x, const nnrti_tfl_tensor *t)
{
    int64_t zero;
    if (!t->quantized || x->quantCount != 1 || t->scales.count != 1)
        return !t->quantized && x->quantCount == 0;
    zero = t->zeros.count > 0 ? (int64_t)nnrti_tfl_u64(c, t->zeros.at) : 0;
    return x->quant[0].zeroPoint == zero && x->quant[0].scale == (double)nnrti_tfl_float_at(c, t->scales.at);
}

/* Makes v the value of tensor `index` of the file: an input of a subgraph, or a result that no node of its own writes. */
static void nnrti_tfl_bind(nnrti_tfl *c, int32_t index, uint32_t v)
{
    const nnrt_operand *o = v != NNRT_NO_TENSOR ? nnrti_builder_operand(c->builder, v) : NULL;
    nnrti_tfl_tensor t;
    if (!nnrti_tfl_tensor_at(c, (uint32_t)index, &t) || o == NULL)
        return;
    if (c->values[index] != NNRT_NO_TENSOR || t.dataBytes > 0)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "tensor '%s' has a value already: it is written twice, or a constant",
                       t.name);
    else if (t.type != o->dataType || !nnrti_tfl_same_quant(c, o, &t))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "tensor '%s' is %t, but receives %o%s", t.name, t.type, o,
                       t.type == o->dataType ? " with other quantization parameters" : "");
    else
        c->values[index] = v;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_steps */

/* Whether the current operator dequantizes float16 weights that stay float16. */
static bool nnrti_tfl_stays_half(nnrti_tfl *c);

/* Constant folding policy, called for a resolved step whose inputs are all constant: true to compute its results, as
   long as the budget lasts. */
static bool nnrti_tfl_should_fold(void *user, const nnrt_resolve *r)
{
    nnrti_tfl *c = (nnrti_tfl *)user;
    const double work = nnrti_fold_work(r);
    if (!nnrti_fold_is_small(r) || c->budget->fold < work || (nnrti_is_widening(r) && nnrti_tfl_stays_half(c)))
        return false;
    c->budget->fold -= work;
    return true;
}

/* Value v in float32 if it is int16 with scale. */
static uint32_t nnrti_tfl_widened(nnrti_tfl *c, uint32_t v);

/* The letter of an operand's type in the column `types`. */
static char nnrti_tfl_letter(const nnrt_operand *o)
{
    uint32_t i = 0;
    while (i + 1 < NNRTI_TFL_COUNT(nnrti_tfl_types) && nnrti_tfl_types[i].type != o->dataType)
        i++;
    if (o->dataType == NNRT_DATA_TYPE_INT16 && o->quantCount > 0)
        return 's';
    return nnrti_tfl_types[i].letter == 'n' && o->quantCount > 0 ? 'q' : nnrti_tfl_types[i].letter;
}

/* Index in the file of operand k of the current operator; -1: absent. */
static int32_t nnrti_tfl_in_index(const nnrti_tfl *c, uint32_t k)
{
    return c->code == NNRT_SUCCESS && k < c->in.count ? nnrti_tfl_item(c, &c->in, k) : -1;
}

static int32_t nnrti_tfl_out_index(const nnrti_tfl *c, uint32_t k)
{
    return c->code == NNRT_SUCCESS && k < c->out.count ? nnrti_tfl_item(c, &c->out, k) : -1;
}

/* The value of input k of the current operator; NNRT_NO_TENSOR: absent, or after a fault. */
static uint32_t nnrti_tfl_in(nnrti_tfl *c, uint32_t k)
{
    const int32_t index = nnrti_tfl_in_index(c, k);
    const uint32_t v = index >= 0 ? nnrti_tfl_value(c, index) : NNRT_NO_TENSOR;
    return c->widens && v != NNRT_NO_TENSOR ? nnrti_tfl_widened(c, v) : v;
}

/* Type, shape (rank -1: unknown) and elements (data NULL: unknown) of value v, valid until the next value is made. A
   scalar of no type for NNRT_NO_TENSOR and after a fault. */
static const nnrt_operand *nnrti_tfl_at(const nnrti_tfl *c, uint32_t v)
{
    const nnrt_operand *o = v != NNRT_NO_TENSOR ? nnrti_builder_operand(c->builder, v) : NULL;
    return o != NULL ? o : &c->none;
}

/* True if the value is constant: it follows from constants and static shapes, whatever the dynamic dimensions are. */
static bool nnrti_tfl_is_constant(const nnrti_tfl *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_tfl_at(c, v);
    return o->data != NULL && o->open == NULL;
}

static bool nnrti_tfl_is_quantized(const nnrti_tfl *c, uint32_t v)
{
    return nnrti_tfl_at(c, v)->quantCount > 0;
}

/* Size of axis i (negative: from the end) of v; -1: dynamic. */
static int64_t nnrti_tfl_dim(const nnrti_tfl *c, uint32_t v, int32_t i)
{
    const nnrt_operand *o = nnrti_tfl_at(c, v);
    i = i < 0 ? i + o->rank : i;
    return i >= 0 && i < o->rank && o->symbols[i] == 0 ? o->dims[i] : -1;
}

/* A value made for output k of the current operator: with the name, type and quantization parameters of the file. k
   UINT32_MAX: an intermediate value without a name. */
static uint32_t nnrti_tfl_new(nnrti_tfl *c, uint32_t k)
{
    nnrti_tfl_tensor t;
    const int32_t index = k != UINT32_MAX ? nnrti_tfl_out_index(c, k) : -1;
    uint32_t v;
    bool narrow;
    if (c->code != NNRT_SUCCESS || (index >= 0 && !nnrti_tfl_tensor_at(c, (uint32_t)index, &t)))
        return NNRT_NO_TENSOR;
    if (index >= 0 && (c->values[index] != NNRT_NO_TENSOR || t.dataBytes > 0)) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "result '%s' has a value already: it is written twice, or a constant",
                       t.name);
        return NNRT_NO_TENSOR;
    }
    narrow = index >= 0 && c->widens && t.type == NNRT_DATA_TYPE_INT16 && k < 4;
    v = nnrt_builder_tensor(c->builder, index >= 0 && !c->unnamed && !narrow ? t.name : NULL);
    nnrti_builder_tables(c->builder);
    if (!nnrti_tfl_fine(c))
        return NNRT_NO_TENSOR;
    if (narrow) { /* nnrti_tfl_narrow makes the result of it */
        nnrt_builder_declare(c->builder, v, NNRT_DATA_TYPE_FLOAT32, NNRT_RANK_UNKNOWN, NULL);
        return c->wideOut[k] = v;
    }
    if (index >= 0) {
        nnrt_builder_declare(c->builder, v, t.type, NNRT_RANK_UNKNOWN, NULL);
        nnrti_tfl_set_quant(c, &t, v, t.axis);
        c->values[index] = v;
    }
    return v;
}

/* The parameters of quantization that shape inference passed on become those of the tensors. */
static void nnrti_tfl_keep_quant(nnrti_tfl *c, const uint32_t *out, uint32_t nOut)
{
    for (uint32_t i = 0; c->code == NNRT_SUCCESS && i < nOut; i++) {
        const nnrt_operand *o = nnrti_tfl_at(c, out[i]);
        if (out[i] == NNRT_NO_TENSOR || o->quantCount == 0)
            continue;
        c->builder->tensors[out[i]].quantParams = NNRT_QuantParamList_make(o->quant, o->quantCount);
        c->builder->tensors[out[i]].quantAxis = o->quantAxis;
    }
}

/* Adds a node of the current operator. attr NULL: no attributes, or the default ones. Trailing inputs may be absent. */
static void nnrti_tfl_add(nnrti_tfl *c, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                          const uint32_t *out, uint32_t nOut, bool last)
{
    char name[192];
    while (nIn > 0 && in[nIn - 1] == NNRT_NO_TENSOR)
        nIn--;
    if (c->code != NNRT_SUCCESS)
        return;
    (void)nnrt_text(name, sizeof(name), last ? "%s" : "%s/%s", c->opName, nnrt_op_find(type)->name);
    nnrt_builder_node(c->builder, name, type, attr, in, nIn, out, nOut);
    if (nnrti_tfl_fine(c))
        nnrti_tfl_keep_quant(c, out, nOut);
}

/* Adds the last node of the current operator, whose results are those of the operator. */
static void nnrti_tfl_last(nnrti_tfl *c, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn)
{
    uint32_t few[4], *out = few;
    if (c->out.count > 4)
        out = (uint32_t *)nnrti_tfl_keep(c, c->out.count, sizeof(*out));
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < c->out.count; k++)
        out[k] = nnrti_tfl_new(c, k);
    nnrti_tfl_add(c, type, attr, in, nIn, out, c->out.count, true);
}

/* The same with up to three inputs; NNRT_NO_TENSOR: absent. */
static void nnrti_tfl_last3(nnrti_tfl *c, NNRT_NodeType type, const void *attr, uint32_t a, uint32_t b, uint32_t d)
{
    uint32_t in[3];
    in[0] = a;
    in[1] = b;
    in[2] = d;
    nnrti_tfl_last(c, type, attr, in, 3);
}

static void nnrti_tfl_last1(nnrti_tfl *c, NNRT_NodeType type, const void *attr, uint32_t x)
{
    nnrti_tfl_last3(c, type, attr, x, NNRT_NO_TENSOR, NNRT_NO_TENSOR);
}

/* An intermediate step with one result. like: it has the quantization parameters of result 0 of the operator. */
static uint32_t nnrti_tfl_step(nnrti_tfl *c, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                               bool like)
{
    nnrti_tfl_tensor t;
    uint32_t y = nnrti_tfl_new(c, UINT32_MAX);
    if (like && !c->widens && nnrti_tfl_tensor_at(c, (uint32_t)nnrti_tfl_out_index(c, 0), &t))
        nnrti_tfl_set_quant(c, &t, y, t.axis);
    nnrti_tfl_add(c, type, attr, in, nIn, &y, 1, false);
    return c->code == NNRT_SUCCESS ? y : NNRT_NO_TENSOR;
}

/* The same with up to three inputs; NNRT_NO_TENSOR: absent. */
static uint32_t nnrti_tfl_step3(nnrti_tfl *c, NNRT_NodeType type, const void *attr, uint32_t a, uint32_t b, uint32_t d)
{
    uint32_t in[3];
    in[0] = a;
    in[1] = b;
    in[2] = d;
    return nnrti_tfl_step(c, type, attr, in, 3, false);
}

static uint32_t nnrti_tfl_step1(nnrti_tfl *c, NNRT_NodeType type, const void *attr, uint32_t x)
{
    return nnrti_tfl_step3(c, type, attr, x, NNRT_NO_TENSOR, NNRT_NO_TENSOR);
}

static uint32_t nnrti_tfl_step2(nnrti_tfl *c, NNRT_NodeType type, const void *attr, uint32_t a, uint32_t b)
{
    return nnrti_tfl_step3(c, type, attr, a, b, NNRT_NO_TENSOR);
}

/* A constant, int64[count]; rank 0: a scalar. */
static uint32_t nnrti_tfl_ints(nnrti_tfl *c, const int64_t *list, int32_t count)
{
    return nnrti_tfl_constant_copy(c, NNRT_DATA_TYPE_INT64, 1, &count, list);
}

/* x in another shape; dims as for RESHAPE. */
static uint32_t nnrti_tfl_reshape(nnrti_tfl *c, uint32_t x, const int64_t *dims, int32_t rank)
{
    return nnrti_tfl_step2(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, nnrti_tfl_ints(c, dims, rank));
}

/* Attributes of an operator with their defaults. */
static void nnrti_tfl_defaults(NNRT_NodeType type, void *attr)
{
    nnrt_attr_defaults(nnrt_op_find(type)->attr, attr);
}

/* x summed along an axis. */
static uint32_t nnrti_tfl_sum(nnrti_tfl *c, uint32_t x, int64_t axis)
{
    NNRT_ReduceFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_REDUCE_FUSION, &a);
    a.mode = NNRT_REDUCE_MODE_SUM;
    return nnrti_tfl_step2(c, NNRT_NODE_TYPE_REDUCE_FUSION, &a, x, nnrti_tfl_ints(c, &axis, 1));
}

/* A constant scalar of the type of v, converted as CAST does. */
static uint32_t nnrti_tfl_scalar(nnrti_tfl *c, uint32_t v, double value)
{
    const NNRT_DataType type = nnrti_tfl_at(c, v)->dataType;
    const uint32_t from = nnrti_tfl_constant_copy(c, NNRT_DATA_TYPE_FLOAT64, 0, NULL, &value);
    const uint32_t y = nnrti_tfl_new(c, UINT32_MAX);
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_declare(c->builder, y, type, NNRT_RANK_UNKNOWN, NULL);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_CAST, NULL, &from, 1, &y, 1, false);
    return c->code == NNRT_SUCCESS ? y : NNRT_NO_TENSOR;
}

/* A constant of the 8-bit type of v: one stored integer with these quantization parameters. */
static uint32_t nnrti_tfl_scalar8(nnrti_tfl *c, uint32_t v, int32_t stored, double scale, int32_t zero)
{
    const uint8_t byte = (uint8_t)stored;
    const uint32_t y = nnrti_tfl_constant_copy(c, nnrti_tfl_at(c, v)->dataType, 0, NULL, &byte);
    NNRT_QuantParam q;
    q.numBits = 8;
    q.zeroPoint = zero;
    q.scale = scale;
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_quant(c->builder, y, &q, 1);
    return nnrti_tfl_fine(c) ? y : NNRT_NO_TENSOR;
}

/* Elements of input k, which must be constant integers: at most `most` of them into list. Returns their number. */
static int32_t nnrti_tfl_list(nnrti_tfl *c, uint32_t k, const char *what, int64_t *list, int32_t most)
{
    const uint32_t v = nnrti_tfl_in(c, k);
    const nnrt_operand *o = nnrti_tfl_at(c, v);
    size_t count = 0;
    if (c->code != NNRT_SUCCESS)
        return 0;
    if (!nnrti_tfl_is_constant(c, v) || (o->dataType != NNRT_DATA_TYPE_INT32 && o->dataType != NNRT_DATA_TYPE_INT64) ||
        !nnrt_dims_count(o->dims, o->rank, &count) || count > (size_t)most) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "input %u (%s) is %o%s, expected at most %d constant integers", k,
                       what, o, o->data == NULL ? ", computed in the run" : "", most);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = nnrti_value(o, i);
    return (int32_t)count;
}

/* The only element of input k, a constant integer. */
static int64_t nnrti_tfl_one(nnrti_tfl *c, uint32_t k, const char *what)
{
    int64_t value = 0;
    const int32_t count = nnrti_tfl_list(c, k, what, &value, 1);
    if (count != 1)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "input %u (%s) is empty, expected one integer", k, what);
    return value;
}

/* Value v, quantized to 8 bits or float16, in float32; last: as result 0 of the operator. */
static uint32_t nnrti_tfl_real(nnrti_tfl *c, uint32_t v, bool last)
{
    const nnrt_operand *o = nnrti_tfl_at(c, v);
    const bool half = o->dataType == NNRT_DATA_TYPE_FLOAT16, channels = o->quantCount > 1;
    const uint32_t y = nnrti_tfl_new(c, last ? 0 : UINT32_MAX);
    NNRT_QuantDTypeCastV2 a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2, &a);
    o = nnrti_tfl_at(c, v);
    a.axis = o->quantAxis > 0 ? o->quantAxis - 1 : 0;
    for (uint32_t i = 0; i < o->quantCount && c->code == NNRT_SUCCESS; i++)
        if (o->dataType != NNRT_DATA_TYPE_INT8 || o->quant[i].zeroPoint != 0)
            NNRTI_TFL_FAIL(c, NNRT_UNSUPPORTED_OP,
                           "'%s' is %o with zero point %d beside float32 values, only int8 with zero point 0 is "
                           "supported: convert the model again",
                           o->name != NULL ? o->name : "", o, o->quant[i].zeroPoint);
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_declare(c->builder, y, NNRT_DATA_TYPE_FLOAT32, NNRT_RANK_UNKNOWN, NULL);
    nnrti_tfl_add(c,
                  half       ? NNRT_NODE_TYPE_CAST
                  : channels ? NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2
                             : NNRT_NODE_TYPE_QUANT_DTYPE_CAST,
                  channels ? &a : NULL, &v, 1, &y, 1, last);
    return c->code == NNRT_SUCCESS ? y : NNRT_NO_TENSOR;
}

/* Weight or bias v: in float32 beside a main input in float32 (hybrid operators). TensorFlow Lite quantizes that input
   instead, row by row, which loses up to 1/254 of the largest magnitude of the row. */
static uint32_t nnrti_tfl_weight(nnrti_tfl *c, uint32_t v)
{
    const bool real = nnrti_tfl_at(c, nnrti_tfl_in(c, c->row->main))->dataType == NNRT_DATA_TYPE_FLOAT32;
    const nnrt_operand *o = nnrti_tfl_at(c, v);
    return real && (o->quantCount > 0 || o->dataType == NNRT_DATA_TYPE_FLOAT16) ? nnrti_tfl_real(c, v, false) : v;
}

/* A fused activation of the file: `fused` is an attribute of the operator, `after` a node of its own. */
typedef struct nnrti_tfl_fuse {
    NNRT_ActivationType fused, after; /* NO_ACTIVATION: none */
} nnrti_tfl_fuse;

/* Reads the fused activation in a field of the options. fuses: the operator can fuse RELU and RELU6. */
static nnrti_tfl_fuse nnrti_tfl_fused(nnrti_tfl *c, uint32_t field, bool fuses)
{
    static const NNRT_ActivationType types[] = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU,
                                                NNRT_ACTIVATION_TYPE_HARD_TANH, NNRT_ACTIVATION_TYPE_RELU6,
                                                NNRT_ACTIVATION_TYPE_TANH};
    const int32_t number = nnrti_tfl_byte(c, &c->options, field, 0);
    nnrti_tfl_fuse f;
    f.fused = f.after = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    if (number < 0 || number > 4)
        NNRTI_TFL_FAIL(
            c, NNRT_UNSUPPORTED_OP,
            "fused activation %d is not supported, expected 0 (NONE), 1 (RELU), 2 (RELU_N1_TO_1), 3 (RELU6) or "
            "4 (TANH)",
            number);
    else if (number == 4 && nnrti_tfl_is_quantized(c, nnrti_tfl_in(c, c->row->main)))
        NNRTI_TFL_FAIL(c, NNRT_UNSUPPORTED_OP, "fused activation TANH is not supported with quantized tensors");
    else if (fuses && (number == 1 || number == 3))
        f.fused = types[number];
    else
        f.after = types[number];
    return f;
}

/* Attributes of ACTIVATION as the format defines the functions. */
static NNRT_Activation nnrti_tfl_activation(NNRT_ActivationType type)
{
    NNRT_Activation a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_ACTIVATION, &a);
    a.activationType = type;
    a.alpha = type == NNRT_ACTIVATION_TYPE_ELU ? 1.0f : 0.0f;
    if (type == NNRT_ACTIVATION_TYPE_HARD_TANH) {
        a.minVal = -1.0f;
        a.maxVal = 1.0f;
    }
    return a;
}

/* Adds the last node of the operator, followed by one for its activation, if that is not fused. ACTIVATION has no
   integers: CLIP limits them to -1 and 1. */
static void nnrti_tfl_finish(nnrti_tfl *c, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                             nnrti_tfl_fuse f)
{
    const NNRT_Activation a = nnrti_tfl_activation(f.after);
    NNRT_DataType of;
    uint32_t y;
    if (f.after == NNRT_ACTIVATION_TYPE_NO_ACTIVATION) {
        nnrti_tfl_last(c, type, attr, in, nIn);
        return;
    }
    y = nnrti_tfl_step(c, type, attr, in, nIn, true);
    of = nnrti_tfl_at(c, y)->dataType;
    if (a.activationType == NNRT_ACTIVATION_TYPE_HARD_TANH && (of == NNRT_DATA_TYPE_INT32 || of == NNRT_DATA_TYPE_INT64))
        nnrti_tfl_last3(c, NNRT_NODE_TYPE_CLIP, NULL, y, nnrti_tfl_scalar(c, y, -1), nnrti_tfl_scalar(c, y, 1));
    else
        nnrti_tfl_last1(c, NNRT_NODE_TYPE_ACTIVATION, &a, y);
}

/* The values of all inputs, at least `least` entries; NULL after a fault. */
static uint32_t *nnrti_tfl_inputs(nnrti_tfl *c, uint32_t least)
{
    uint32_t *in = (uint32_t *)nnrti_tfl_keep(c, c->in.count > least ? c->in.count : least, sizeof(*in));
    for (uint32_t k = 0; in != NULL && (k < c->in.count || k < least); k++)
        in[k] = nnrti_tfl_in(c, k);
    return c->code == NNRT_SUCCESS ? in : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_wide */

/* Idea: the runtime has quantized int16 in convolutions, dense layers and operators that move elements. For the others an
   operator of the file becomes casts of its int16 inputs to float32, the float32 operator, and a cast of the result:
   the int16 nearest to the result in float32, whose error is far below one unit. TensorFlow Lite computes in integers
   with an error of about one unit. Handlers are the same: nnrti_tfl_in and nnrti_tfl_new convert. */

static uint32_t nnrti_tfl_widened(nnrti_tfl *c, uint32_t v)
{
    const nnrt_operand *o = nnrti_tfl_at(c, v);
    uint32_t y;
    if (c->code != NNRT_SUCCESS || o->dataType != NNRT_DATA_TYPE_INT16 || o->quantCount != 1)
        return v;
    for (uint32_t i = 0; i < c->nWide && i < 4; i++)
        if (c->wideFrom[i] == v)
            return c->wideTo[i];
    y = nnrti_tfl_new(c, UINT32_MAX);
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_declare(c->builder, y, NNRT_DATA_TYPE_FLOAT32, NNRT_RANK_UNKNOWN, NULL);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, NULL, &v, 1, &y, 1, false);
    c->wideFrom[c->nWide % 4] = v;
    c->wideTo[c->nWide++ % 4] = y;
    return y;
}

/* True if the current operator has int16 inputs that it computes with in float32. */
static bool nnrti_tfl_is_wide(nnrti_tfl *c)
{
    return strchr(c->row->types, 'w') != NULL &&
           nnrti_tfl_letter(nnrti_tfl_at(c, nnrti_tfl_in(c, c->row->main))) == 's';
}

/* Calls the handler of the current operator with inputs in float32, and casts the results to int16. */
static void nnrti_tfl_widen(nnrti_tfl *c)
{
    c->widens = true;
    c->nWide = 0;
    for (uint32_t k = 0; k < 4; k++)
        c->wideOut[k] = NNRT_NO_TENSOR;
    c->row->handler(c);
    c->widens = false;
    for (uint32_t k = 0; k < 4 && c->code == NNRT_SUCCESS; k++) {
        uint32_t y = c->wideOut[k];
        if (y == NNRT_NO_TENSOR)
            continue;
        y = nnrti_tfl_new(c, k);
        nnrti_tfl_add(c, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, NULL, &c->wideOut[k], 1, &y, 1, true);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_elementwise */

/* ADD, SUB, MUL, DIV: their attribute structs have the same single member. */
static void nnrti_tfl_op_binary(nnrti_tfl *c)
{
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 0, true);
    uint32_t in[2];
    NNRT_AddFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_ADD_FUSION, &a);
    a.activationType = f.fused;
    in[0] = nnrti_tfl_in(c, 0);
    in[1] = nnrti_tfl_in(c, 1);
    nnrti_tfl_finish(c, (NNRT_NodeType)c->row->argument, &a, in, 2, f);
}

/* An operator that the runtime has with the same operands and without attributes. */
static void nnrti_tfl_op_same(nnrti_tfl *c)
{
    const uint32_t *in = nnrti_tfl_inputs(c, 1);
    if (in != NULL)
        nnrti_tfl_last(c, (NNRT_NodeType)c->row->argument, NULL, in, c->in.count);
}

static void nnrti_tfl_op_activation(nnrti_tfl *c)
{
    NNRT_Activation a = nnrti_tfl_activation((NNRT_ActivationType)c->row->argument);
    if (a.activationType == NNRT_ACTIVATION_TYPE_LEAKY_RELU)
        a.alpha = nnrti_tfl_float(c, &c->options, 0, 0.0f);
    if (a.activationType == NNRT_ACTIVATION_TYPE_GELU)
        a.approximate = nnrti_tfl_byte(c, &c->options, 0, 0) != 0;
    nnrti_tfl_last1(c, NNRT_NODE_TYPE_ACTIVATION, &a, nnrti_tfl_in(c, 0));
}

/* CAST, QUANTIZE, DEQUANTIZE: the types of the operands decide. */
static void nnrti_tfl_op_cast(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    const bool scaled = c->row->code != 53 && nnrti_tfl_at(c, x)->dataType != NNRT_DATA_TYPE_FLOAT16;
    const uint32_t channels = nnrti_tfl_at(c, x)->quantCount;
    NNRT_QuantDTypeCastV2 v2;
    nnrti_tfl_tensor y;
    if (!nnrti_tfl_tensor_at(c, (uint32_t)nnrti_tfl_out_index(c, 0), &y))
        return;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2, &v2);
    v2.axis = channels > 1 && nnrti_tfl_at(c, x)->quantAxis > 0 ? nnrti_tfl_at(c, x)->quantAxis - 1 : y.axis;
    if (scaled && (channels > 1 || y.scales.count > 1))
        nnrti_tfl_last1(c, NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2, &v2, x);
    else
        nnrti_tfl_last1(c, scaled ? NNRT_NODE_TYPE_QUANT_DTYPE_CAST : NNRT_NODE_TYPE_CAST, NULL, x);
}

/* Slopes of any shape that broadcasts: x >= 0 ? x : x * alpha. Both are products, which requantize x. */
static void nnrti_tfl_prelu_broadcast(nnrti_tfl *c, uint32_t x, uint32_t alpha)
{
    uint32_t in[2], zero, positive = x;
    in[0] = x;
    if (nnrti_tfl_is_quantized(c, x)) {
        const NNRT_QuantParam q = nnrti_tfl_at(c, x)->quant[0];
        zero = nnrti_tfl_scalar8(c, x, q.zeroPoint, q.scale, q.zeroPoint);
        in[1] = nnrti_tfl_scalar8(c, x, 1, 1.0, 0);
        positive = nnrti_tfl_step(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2, true);
    } else
        zero = nnrti_tfl_scalar(c, x, 0);
    in[1] = alpha;
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_SELECT, NULL, nnrti_tfl_step2(c, NNRT_NODE_TYPE_GREATER_EQUAL, NULL, x, zero),
                    positive, nnrti_tfl_step(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2, true));
}

/* A slope per channel, or one: the last axis of alpha. */
static void nnrti_tfl_op_prelu(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0), alpha = nnrti_tfl_in(c, 1);
    const nnrt_operand *o = nnrti_tfl_at(c, alpha);
    int64_t count = o->rank > 0 ? o->dims[o->rank - 1] : 1;
    for (int32_t k = 0; k + 1 < o->rank; k++)
        if (o->dims[k] != 1) {
            nnrti_tfl_prelu_broadcast(c, x, alpha);
            return;
        }
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_PRELU_FUSION, NULL, x,
                    o->rank == 1 ? alpha : nnrti_tfl_reshape(c, alpha, &count, 1), NNRT_NO_TENSOR);
}

/* SELECT: a condition of one axis selects rows. SELECT_V2: the condition is broadcast, so it gets axes of size 1. */
static void nnrti_tfl_op_select(nnrti_tfl *c)
{
    uint32_t condition = nnrti_tfl_in(c, 0);
    const uint32_t x = nnrti_tfl_in(c, 1), y = nnrti_tfl_in(c, 2);
    const nnrt_operand *o = nnrti_tfl_at(c, condition);
    int64_t dims[NNRT_MAX_RANK];
    int32_t rank = nnrti_tfl_at(c, x)->rank;
    rank = nnrti_tfl_at(c, y)->rank > rank ? nnrti_tfl_at(c, y)->rank : rank;
    if (o->dataType != NNRT_DATA_TYPE_BOOL)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_DATATYPE, "input 0 (condition) is %o, expected bool", o);
    if (c->row->code == 123 && o->rank == 1 && rank > 1) {
        for (int32_t k = 0; k < rank; k++)
            dims[k] = k + 1 < rank ? 1 : -1;
        condition = nnrti_tfl_reshape(c, condition, dims, rank);
    }
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_SELECT, NULL, condition, x, y);
}

/* The remainder with the sign of the divisor: r = x mod y with the sign of x; r != 0 and of the other sign: r + y. */
static void nnrti_tfl_op_floormod(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0), y = nnrti_tfl_in(c, 1), zero = nnrti_tfl_scalar(c, y, 0);
    const uint32_t r = nnrti_tfl_step2(c, NNRT_NODE_TYPE_MOD, NULL, x, y);
    const uint32_t signs =
        nnrti_tfl_step2(c, NNRT_NODE_TYPE_LOGICAL_XOR, NULL, nnrti_tfl_step2(c, NNRT_NODE_TYPE_LESS, NULL, r, zero),
                        nnrti_tfl_step2(c, NNRT_NODE_TYPE_LESS, NULL, y, zero));
    const uint32_t moves = nnrti_tfl_step2(c, NNRT_NODE_TYPE_LOGICAL_AND, NULL, signs,
                                           nnrti_tfl_step2(c, NNRT_NODE_TYPE_NOT_EQUAL, NULL, r, zero));
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_SELECT, NULL, moves, nnrti_tfl_step2(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, r, y),
                    r);
}

static void nnrti_tfl_op_zeros(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_FILL_LIKE, NULL, x, nnrti_tfl_scalar(c, x, 0), NNRT_NO_TENSOR);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_shapes */

static void nnrti_tfl_op_concat(nnrti_tfl *c)
{
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 1, false);
    const uint32_t *in = nnrti_tfl_inputs(c, 1);
    NNRT_Concat a;
    a.axis = nnrti_tfl_int(c, &c->options, 0, 0);
    if (in != NULL)
        nnrti_tfl_finish(c, NNRT_NODE_TYPE_CONCAT, &a, in, c->in.count, f);
}

/* STACK, UNSTACK and ONE_HOT: their attribute structs have the same single member, axis. */
static void nnrti_tfl_op_axis(nnrti_tfl *c)
{
    const uint32_t *in = nnrti_tfl_inputs(c, 1);
    NNRT_Stack a;
    a.axis = nnrti_tfl_int(c, &c->options, c->row->argument == NNRT_NODE_TYPE_ONE_HOT ? 0 : 1, 0);
    if (in != NULL)
        nnrti_tfl_last(c, (NNRT_NodeType)c->row->argument, &a, in, c->in.count);
}

/* Makes v the value of result 0, which must be complex64 in the file. */
static void nnrti_tfl_complex_result(nnrti_tfl *c, uint32_t v)
{
    const int32_t index = nnrti_tfl_out_index(c, 0);
    if (c->code != NNRT_SUCCESS)
        return;
    if (!nnrti_tfl_is_complex(c, index) || c->values[index] != NNRT_NO_TENSOR)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "its result is not complex64, or written twice");
    else
        c->values[index] = v;
}

/* RESHAPE and SQUEEZE of a complex value: dims of the new shape, without real and imaginary part. */
static void nnrti_tfl_complex_reshape(nnrti_tfl *c, int64_t *dims, int32_t rank)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    if (rank >= NNRT_MAX_RANK)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "complex values have at most %d axes", NNRT_MAX_RANK - 1);
    if (c->code != NNRT_SUCCESS)
        return;
    dims[rank] = 2;
    nnrti_tfl_complex_result(c, nnrti_tfl_reshape(c, x, dims, rank + 1));
}

/* The new shape is input 1, or an option of old files. A 0 in it is a size here, but a copied size in RESHAPE. */
static void nnrti_tfl_op_reshape(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    uint32_t shape = nnrti_tfl_in(c, 1);
    int64_t dims[NNRT_MAX_RANK];
    int32_t rank = 0;
    size_t count = 0;
    if (shape != NNRT_NO_TENSOR && nnrti_tfl_is_constant(c, shape)) {
        rank = nnrti_tfl_list(c, 1, "shape", dims, NNRT_MAX_RANK);
    } else if (shape == NNRT_NO_TENSOR) {
        const nnrti_tfl_vector list = nnrti_tfl_vector_of(c, &c->options, 0, 4);
        if (list.count > NNRT_MAX_RANK)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "the new shape has %u axes, at most %d are possible", list.count,
                           NNRT_MAX_RANK);
        for (; c->code == NNRT_SUCCESS && rank < (int32_t)list.count; rank++)
            dims[rank] = nnrti_tfl_item(c, &list, (uint32_t)rank);
        rank = rank == 1 && dims[0] == 0 ? 0 : rank; /* old files: a scalar */
        shape = nnrti_tfl_ints(c, dims, rank);
    } else if (nnrti_tfl_is_complex(c, nnrti_tfl_in_index(c, 0))) {
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "the new shape of a complex value is not constant");
    }
    if (nnrti_tfl_is_complex(c, nnrti_tfl_in_index(c, 0))) {
        nnrti_tfl_complex_reshape(c, dims, rank);
        return;
    }
    for (int32_t k = 0; k < rank; k++)
        if (c->code == NNRT_SUCCESS && dims[k] == 0 &&
            (!nnrt_dims_count(nnrti_tfl_at(c, x)->dims, nnrti_tfl_at(c, x)->rank, &count) || count > 0))
            NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "the new shape has size 0 on axis %d, input '%s' is %o", k,
                           nnrti_tfl_at(c, x)->name, nnrti_tfl_at(c, x));
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_RESHAPE, NULL, x, shape, NNRT_NO_TENSOR);
}

/* SQUEEZE of a complex value: the listed axes, without a list all of size 1. */
static void nnrti_tfl_complex_squeeze(nnrti_tfl *c, const int64_t *axes, uint32_t count)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    const int32_t rank = nnrti_tfl_at(c, x)->rank - 1;
    int64_t dims[NNRT_MAX_RANK];
    int32_t n = 0;
    for (int32_t k = 0; k < rank; k++) {
        bool listed = count == 0;
        for (uint32_t i = 0; i < count; i++)
            listed = listed || axes[i] == k || axes[i] + rank == k;
        if (nnrti_tfl_dim(c, x, k) < 0 || (count > 0 && listed && nnrti_tfl_dim(c, x, k) != 1))
            NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "axis %d has size %l, expected 1", k, nnrti_tfl_dim(c, x, k));
        if (!listed || nnrti_tfl_dim(c, x, k) != 1)
            dims[n++] = nnrti_tfl_dim(c, x, k);
    }
    nnrti_tfl_complex_reshape(c, dims, n);
}

static void nnrti_tfl_op_squeeze(nnrti_tfl *c)
{
    const nnrti_tfl_vector list = nnrti_tfl_vector_of(c, &c->options, 0, 4);
    int64_t axes[NNRT_MAX_RANK];
    NNRT_Squeeze a;
    if (list.count > NNRT_MAX_RANK)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "squeeze_dims has %u axes, at most %d are possible", list.count,
                       NNRT_MAX_RANK);
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < list.count; k++)
        axes[k] = nnrti_tfl_item(c, &list, k);
    a.axis = nnrt_int64_list(axes, list.count);
    if (nnrti_tfl_is_complex(c, nnrti_tfl_in_index(c, 0)))
        nnrti_tfl_complex_squeeze(c, axes, list.count);
    else
        nnrti_tfl_last1(c, NNRT_NODE_TYPE_SQUEEZE, &a, nnrti_tfl_in(c, 0));
}

/* The positions of the elements of indices [B..,I..] on their first `batches` axes: a constant [B..,I..,batches]. */
static uint32_t nnrti_tfl_positions(nnrti_tfl *c, const nnrt_operand *index, int32_t batches)
{
    int32_t dims[NNRT_MAX_RANK], *list;
    size_t count = 0, stride;
    memcpy(dims, index->dims, sizeof(dims));
    dims[index->rank] = batches;
    if (!nnrt_dims_count(dims, index->rank + 1, &count) ||
        (list = (int32_t *)nnrti_tfl_keep(c, count, sizeof(*list))) == NULL)
        return NNRT_NO_TENSOR;
    stride = count / (size_t)(batches > 0 ? batches : 1);
    for (int32_t k = 0; k < batches && count > 0; k++) {
        stride /= (size_t)dims[k];
        for (size_t i = 0; i < count / (size_t)batches; i++)
            list[i * (size_t)batches + (size_t)k] = (int32_t)(i / stride % (size_t)dims[k]);
    }
    return nnrti_tfl_constant(c, NULL, NNRT_DATA_TYPE_INT32, index->rank + 1, dims, list, false);
}

/* The list of axes for TRANSPOSE that moves `size` axes of `rank` from `from` on to `to`. */
static uint32_t nnrti_tfl_order(nnrti_tfl *c, int32_t rank, int32_t from, int32_t size, int32_t to)
{
    int64_t order[NNRT_MAX_RANK];
    for (int32_t k = 0; k < rank; k++) {
        const int32_t other = k < to ? k : k - size; /* its number among the axes that stay */
        order[k] = k >= to && k < to + size ? from + k - to : other + (other >= from ? size : 0);
    }
    return nnrti_tfl_ints(c, order, rank);
}

/* GATHER of x [B..,M..,N,R..] along axis `axis`, its size N, by index [B..,I..] with `batches` axes B: the result is
   [B..,M..,I..,R..]. As GATHER_ND of [B..,N,M..,R..] by indices that begin with the positions on the axes B. */
static void nnrti_tfl_gather_batches(nnrti_tfl *c, uint32_t x, uint32_t index, int32_t axis, int32_t batches)
{
    const nnrt_operand *const o = nnrti_tfl_at(c, x), i = *nnrti_tfl_at(c, index);
    const int32_t rank = o->rank, result = rank - 1 + i.rank - batches, own = i.rank - batches;
    int64_t dims[NNRT_MAX_RANK];
    NNRT_Concat join;
    uint32_t in[2], y;
    bool good = batches >= 0 && batches <= axis && axis < rank && batches <= i.rank && i.rank < NNRT_MAX_RANK &&
                result <= NNRT_MAX_RANK && i.dataType == NNRT_DATA_TYPE_INT32;
    for (int32_t k = 0; good && k < i.rank; k++) {
        dims[k] = nnrti_tfl_dim(c, index, k);
        good = dims[k] >= 0 && (k >= batches || dims[k] == nnrti_tfl_dim(c, x, k));
    }
    if (!good) {
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT,
                       "batch_dims is %d and axis %d for %o by indices %o, expected so many equal leading sizes, at most "
                       "axis of them, and int32 indices of static shape",
                       batches, axis, o, &i);
        return;
    }
    dims[i.rank] = 1;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_CONCAT, &join);
    join.axis = i.rank;
    in[0] = nnrti_tfl_positions(c, &i, batches);
    in[1] = nnrti_tfl_reshape(c, index, dims, i.rank + 1);
    index = nnrti_tfl_step2(c, NNRT_NODE_TYPE_CONCAT, &join, in[0], in[1]);
    if (axis > batches)
        x = nnrti_tfl_step2(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, x, nnrti_tfl_order(c, rank, axis, 1, batches));
    if (axis == batches || own == 0) {
        nnrti_tfl_last3(c, NNRT_NODE_TYPE_GATHER_ND, NULL, x, index, NNRT_NO_TENSOR);
        return;
    }
    y = nnrti_tfl_step2(c, NNRT_NODE_TYPE_GATHER_ND, NULL, x, index);
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, y, nnrti_tfl_order(c, result, batches, own, axis),
                    NNRT_NO_TENSOR);
}

/* GATHER; EMBEDDING_LOOKUP takes rows of input 1 by indices in input 0, and may convert them to float32. */
static void nnrti_tfl_op_gather(nnrti_tfl *c)
{
    const bool lookup = c->row->main == 1;
    const int64_t axis = nnrti_tfl_int(c, &c->options, 0, 0);
    const int32_t batches = nnrti_tfl_int(c, &c->options, 1, 0);
    nnrti_tfl_tensor y;
    uint32_t in[3];
    bool real;
    in[0] = nnrti_tfl_in(c, lookup ? 1 : 0);
    in[1] = nnrti_tfl_in(c, lookup ? 0 : 1);
    in[2] = nnrti_tfl_ints(c, &axis, 1);
    if (!nnrti_tfl_tensor_at(c, (uint32_t)nnrti_tfl_out_index(c, 0), &y))
        return;
    real = lookup && nnrti_tfl_is_quantized(c, in[0]) && y.type == NNRT_DATA_TYPE_FLOAT32;
    if (batches != 0) {
        const int32_t rank = nnrti_tfl_at(c, in[0])->rank, leading = nnrti_tfl_at(c, in[1])->rank;
        nnrti_tfl_gather_batches(c, in[0], in[1], (int32_t)axis + (axis < 0 ? rank : 0), batches + (batches < 0 ? leading : 0));
        return;
    }
    if (real && nnrti_tfl_at(c, in[0])->quantCount == 1) { /* the rows that are taken only */
        (void)nnrti_tfl_real(c, nnrti_tfl_step(c, NNRT_NODE_TYPE_GATHER, NULL, in, 3, false), true);
        return;
    }
    in[0] = real ? nnrti_tfl_real(c, in[0], false) : in[0];
    nnrti_tfl_last(c, NNRT_NODE_TYPE_GATHER, NULL, in, 3);
}

/* SPLIT: axis, x. SPLIT_V: x, sizes, axis. */
static void nnrti_tfl_op_split(nnrti_tfl *c)
{
    const bool equal = c->row->main == 1;
    int64_t *sizes = (int64_t *)nnrti_tfl_keep(c, c->out.count, sizeof(*sizes));
    NNRT_Split a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_SPLIT, &a);
    if (sizes != NULL && !equal)
        a.sizeSplits = nnrt_int64_list(sizes, (uint32_t)nnrti_tfl_list(c, 1, "sizes", sizes, (int32_t)c->out.count));
    a.axis = nnrti_tfl_one(c, equal ? 0 : 2, "axis");
    a.outputNum = nnrti_tfl_int(c, &c->options, 0, 0);
    nnrti_tfl_last1(c, NNRT_NODE_TYPE_SPLIT, &a, nnrti_tfl_in(c, equal ? 1 : 0));
}

static void nnrti_tfl_op_strided(nnrti_tfl *c)
{
    const uint32_t *in = nnrti_tfl_inputs(c, 4);
    NNRT_StridedSlice a;
    a.beginMask = nnrti_tfl_int(c, &c->options, 0, 0);
    a.endMask = nnrti_tfl_int(c, &c->options, 1, 0);
    a.ellipsisMask = nnrti_tfl_int(c, &c->options, 2, 0);
    a.newAxisMask = nnrti_tfl_int(c, &c->options, 3, 0);
    a.shrinkAxisMask = nnrti_tfl_int(c, &c->options, 4, 0);
    if (c->code == NNRT_SUCCESS && nnrti_tfl_byte(c, &c->options, 5, 0) != 0)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "option offset (ends relative to begins) is not supported");
    if (in != NULL)
        nnrti_tfl_last(c, NNRT_NODE_TYPE_STRIDED_SLICE, &a, in, 4);
}

/* Makes y all elements of x, in reverse order along the axes with stride -1. */
static void nnrti_tfl_reversed(nnrti_tfl *c, uint32_t x, const int64_t *strides, uint32_t y, bool last)
{
    static const int64_t zeros[NNRT_MAX_RANK] = {0};
    const int32_t rank = nnrti_tfl_at(c, x)->rank;
    uint32_t in[4];
    NNRT_StridedSlice a;
    if (c->code != NNRT_SUCCESS || rank < 0)
        return;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_STRIDED_SLICE, &a);
    a.beginMask = a.endMask = ((int64_t)1 << rank) - 1;
    in[0] = x;
    in[1] = in[2] = nnrti_tfl_ints(c, zeros, rank);
    in[3] = nnrti_tfl_ints(c, strides, rank);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_STRIDED_SLICE, &a, in, 4, &y, 1, last);
}

static void nnrti_tfl_op_reverse(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    const int32_t rank = nnrti_tfl_at(c, x)->rank;
    int64_t axes[NNRT_MAX_RANK], strides[NNRT_MAX_RANK];
    const int32_t count = nnrti_tfl_list(c, 1, "axes", axes, NNRT_MAX_RANK);
    for (int32_t k = 0; k < rank; k++)
        strides[k] = 1;
    for (int32_t k = 0; k < count && c->code == NNRT_SUCCESS; k++) {
        if (axes[k] < -rank || axes[k] >= rank)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "axis %l is outside of the %d axes of the input", axes[k], rank);
        else
            strides[axes[k] < 0 ? axes[k] + rank : axes[k]] = -1;
    }
    nnrti_tfl_reversed(c, x, strides, nnrti_tfl_new(c, 0), true);
}

static void nnrti_tfl_op_revseq(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0), lengths = nnrti_tfl_in(c, 1);
    NNRT_ReverseSequence a;
    a.timeAxis = nnrti_tfl_int(c, &c->options, 0, 0);
    a.batchAxis = nnrti_tfl_int(c, &c->options, 1, 0);
    if (a.timeAxis == a.batchAxis)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "seq_dim and batch_dim are both %l", a.timeAxis);
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_REVERSE_SEQUENCE, &a, x, lengths, NNRT_NO_TENSOR);
}

/* Sparse constants are dense values already (nnrti_tfl_dense). */
static void nnrti_tfl_op_densify(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    if (c->code == NNRT_SUCCESS && !nnrti_tfl_is_constant(c, x))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "input 0 is %o, expected a constant", nnrti_tfl_at(c, x));
    nnrti_tfl_bind(c, nnrti_tfl_out_index(c, 0), x);
}

/* PAD, PADV2 (CONSTANT; the default of quantized elements is their zero point) and MIRROR_PAD. */
static void nnrti_tfl_op_pad(nnrti_tfl *c)
{
    const uint32_t *in = nnrti_tfl_inputs(c, 3);
    NNRT_PadFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_PAD_FUSION, &a);
    a.paddingMode = (NNRT_PaddingMode)c->row->argument;
    if (a.paddingMode != NNRT_PADDING_MODE_CONSTANT) {
        const int32_t mode = nnrti_tfl_byte(c, &c->options, 0, 0);
        if (mode != 0 && mode != 1)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "mode is %d, expected 0 (REFLECT) or 1 (SYMMETRIC)", mode);
        a.paddingMode = mode == 1 ? NNRT_PADDING_MODE_SYMMETRIC : NNRT_PADDING_MODE_REFLECT;
    }
    if (in != NULL)
        nnrti_tfl_last(c, NNRT_NODE_TYPE_PAD_FUSION, &a, in, 3);
}

/* DEPTH_TO_SPACE and SPACE_TO_DEPTH: the struct of the second has the first members of the other. */
static void nnrti_tfl_op_blocks(nnrti_tfl *c)
{
    NNRT_DepthToSpace a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_DEPTH_TO_SPACE, &a);
    a.blockSize = nnrti_tfl_int(c, &c->options, 0, 0);
    nnrti_tfl_last1(c, (NNRT_NodeType)c->row->argument, &a, nnrti_tfl_in(c, 0));
}

/* BATCH_TO_SPACE_ND and SPACE_TO_BATCH_ND: their attribute structs have the same members, a block (2 entries) and crops or
   paddings (2 x 2). */
static void nnrti_tfl_op_batches(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    const int32_t rank = nnrti_tfl_at(c, x)->rank;
    int64_t block[2], sides[4];
    NNRT_Int64List rows[2];
    NNRT_BatchToSpaceND a;
    if (rank != 4)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "the input has %d axes, only 4 are supported", rank);
    if (c->code == NNRT_SUCCESS &&
        (nnrti_tfl_list(c, 1, "block", block, 2) != 2 || nnrti_tfl_list(c, 2, "crops or paddings", sides, 4) != 4))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "input 1 (block) must have 2 entries, and input 2 2 x 2");
    if (c->code != NNRT_SUCCESS)
        return;
    rows[0] = nnrt_int64_list(sides, 2);
    rows[1] = nnrt_int64_list(sides + 2, 2);
    a.blockShape = nnrt_int64_list(block, 2);
    a.crops.data = rows;
    a.crops.count = 2;
    nnrti_tfl_last1(c, (NNRT_NodeType)c->row->argument, &a, x);
}

static void nnrti_tfl_op_fill(nnrti_tfl *c)
{
    const uint32_t shape = nnrti_tfl_in(c, 0), value = nnrti_tfl_in(c, 1);
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_FILL, NULL, value, shape, NNRT_NO_TENSOR);
}

/* The operands of the format are indices, shape, values, default. */
static void nnrti_tfl_op_sparse(nnrti_tfl *c)
{
    uint32_t in[4];
    in[0] = nnrti_tfl_in(c, 0);
    in[1] = nnrti_tfl_in(c, 2);
    in[2] = nnrti_tfl_in(c, 1);
    in[3] = nnrti_tfl_in(c, 3);
    nnrti_tfl_last(c, NNRT_NODE_TYPE_SPARSE_TO_DENSE, NULL, in, 4);
}

/* Coordinates of the elements that are not 0, one per row; NON_ZERO has one per column. */
static void nnrti_tfl_op_where(nnrti_tfl *c)
{
    static const int64_t perm[2] = {1, 0};
    const uint32_t x = nnrti_tfl_in(c, 0);
    const uint32_t columns = nnrti_tfl_new(c, UINT32_MAX);
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_declare(c->builder, columns, NNRT_DATA_TYPE_INT64, NNRT_RANK_UNKNOWN, NULL);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_NON_ZERO, NULL, &x, 1, &columns, 1, false);
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, columns, nnrti_tfl_ints(c, perm, 2), NNRT_NO_TENSOR);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_reductions */

/* Sizes of an empty list of axes: REDUCE_FUSION would reduce all, the format none. */
static bool nnrti_tfl_axes(nnrti_tfl *c, uint32_t k)
{
    const nnrt_operand *o = nnrti_tfl_at(c, nnrti_tfl_in(c, k));
    size_t count = 0;
    if (c->code == NNRT_SUCCESS && (!nnrt_dims_count(o->dims, o->rank, &count) || count == 0))
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "input %u (axes) is %o, expected at least one axis", k, o);
    return c->code == NNRT_SUCCESS;
}

/* Input k, a list of axes, with one axis: a scalar becomes a list. */
static uint32_t nnrti_tfl_axis_list(nnrti_tfl *c, uint32_t k)
{
    const uint32_t v = nnrti_tfl_in(c, k);
    const int64_t one = 1;
    return nnrti_tfl_axes(c, k) && nnrti_tfl_at(c, v)->rank == 0 ? nnrti_tfl_reshape(c, v, &one, 1) : v;
}

static void nnrti_tfl_op_reduce(nnrti_tfl *c)
{
    const uint32_t axes = nnrti_tfl_axis_list(c, 1);
    NNRT_ReduceFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_REDUCE_FUSION, &a);
    a.mode = (NNRT_ReduceMode)c->row->argument;
    a.keepDims = nnrti_tfl_byte(c, &c->options, 0, 0) != 0;
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_REDUCE_FUSION, &a, nnrti_tfl_in(c, 0), axes, NNRT_NO_TENSOR);
}

/* REDUCE_ALL; REDUCE_ANY is not(all(not x)). */
static void nnrti_tfl_op_all(nnrti_tfl *c)
{
    const uint32_t axes = nnrti_tfl_axis_list(c, 1);
    uint32_t in[2];
    NNRT_All a;
    a.keepDims = nnrti_tfl_byte(c, &c->options, 0, 0) != 0;
    in[0] = nnrti_tfl_in(c, 0);
    in[1] = axes;
    if (c->row->code == 140) {
        nnrti_tfl_last(c, NNRT_NODE_TYPE_ALL, &a, in, 2);
        return;
    }
    in[0] = nnrti_tfl_step1(c, NNRT_NODE_TYPE_LOGICAL_NOT, NULL, in[0]);
    nnrti_tfl_last1(c, NNRT_NODE_TYPE_LOGICAL_NOT, NULL, nnrti_tfl_step(c, NNRT_NODE_TYPE_ALL, &a, in, 2, false));
}

/* ARG_MAX and ARG_MIN: their attribute structs have the same members. */
static void nnrti_tfl_op_arg(nnrti_tfl *c)
{
    NNRT_ArgMaxFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_ARGMAX_FUSION, &a);
    a.axis = nnrti_tfl_one(c, 1, "axis");
    nnrti_tfl_last1(c, (NNRT_NodeType)c->row->argument, &a, nnrti_tfl_in(c, 0));
}

static void nnrti_tfl_op_cumsum(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0), axis = nnrti_tfl_in(c, 1);
    NNRT_CumSum a;
    a.exclusive = nnrti_tfl_byte(c, &c->options, 0, 0) != 0;
    a.reverse = nnrti_tfl_byte(c, &c->options, 1, 0) != 0;
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_CUM_SUM, &a, x, axis, NNRT_NO_TENSOR);
}

/* beta * x, quantized: the same integers with beta times the scale, as the product with the integer 1 of scale beta. */
static uint32_t nnrti_tfl_rescaled(nnrti_tfl *c, uint32_t x, double beta)
{
    NNRT_QuantParam q = nnrti_tfl_at(c, x)->quant[0];
    uint32_t in[2], y;
    in[0] = x;
    in[1] = nnrti_tfl_scalar8(c, x, 1, beta, 0);
    y = nnrti_tfl_new(c, UINT32_MAX);
    q.scale *= beta;
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_quant(c->builder, y, &q, 1);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2, &y, 1, false);
    return nnrti_tfl_fine(c) ? y : NNRT_NO_TENSOR;
}

/* Softmax of beta * x along the last axis. */
static void nnrti_tfl_op_softmax(nnrti_tfl *c)
{
    static const int64_t axis = -1;
    const float beta = nnrti_tfl_float(c, &c->options, 0, 0.0f);
    uint32_t x = nnrti_tfl_in(c, 0);
    NNRT_Softmax a;
    a.axis = nnrt_int64_list(&axis, 1);
    if (c->code == NNRT_SUCCESS && !(beta > 0) && nnrti_tfl_is_quantized(c, x))
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "beta is %f, expected above 0 with quantized tensors", (double)beta);
    if (beta != 1.0f && nnrti_tfl_is_quantized(c, x))
        x = nnrti_tfl_rescaled(c, x, (double)beta);
    else if (beta != 1.0f)
        x = nnrti_tfl_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, x, nnrti_tfl_scalar(c, x, (double)beta));
    nnrti_tfl_last1(c, NNRT_NODE_TYPE_SOFTMAX, &a, x);
}

static void nnrti_tfl_op_logsoftmax(nnrti_tfl *c)
{
    NNRT_LogSoftmax a;
    a.axis = -1;
    nnrti_tfl_last1(c, NNRT_NODE_TYPE_LOG_SOFTMAX, &a, nnrti_tfl_in(c, 0));
}

/* x / max(|x|, 1e-6) along the last axis. */
static void nnrti_tfl_op_l2norm(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 0, true);
    NNRT_L2NormalizeFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_L2_NORMALIZE_FUSION, &a);
    a.epsilon = 1e-12f;
    a.activationType = f.fused;
    nnrti_tfl_finish(c, NNRT_NODE_TYPE_L2_NORMALIZE_FUSION, &a, &x, 1, f);
}

static void nnrti_tfl_op_lrn(nnrti_tfl *c)
{
    NNRT_LRN a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_LRN, &a);
    a.depthRadius = nnrti_tfl_int(c, &c->options, 0, 0);
    a.bias = nnrti_tfl_float(c, &c->options, 1, 0.0f);
    a.alpha = nnrti_tfl_float(c, &c->options, 2, 0.0f);
    a.beta = nnrti_tfl_float(c, &c->options, 3, 0.0f);
    nnrti_tfl_last1(c, NNRT_NODE_TYPE_LRN, &a, nnrti_tfl_in(c, 0));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_windows */

/* Padding mode of option 0. */
static NNRT_PadMode nnrti_tfl_padding(nnrti_tfl *c)
{
    const int32_t padding = nnrti_tfl_byte(c, &c->options, 0, 0);
    if (padding != 0 && padding != 1)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "padding is %d, expected 0 (SAME) or 1 (VALID)", padding);
    return padding == 1 ? NNRT_PAD_MODE_VALID : NNRT_PAD_MODE_SAME;
}

/* Reads [height, width] of two int32 options, each at least 1. */
static NNRT_Int64List nnrti_tfl_pair(nnrti_tfl *c, uint32_t height, uint32_t width, int32_t otherwise, const char *what,
                                     int64_t pair[2])
{
    pair[0] = nnrti_tfl_int(c, &c->options, height, otherwise);
    pair[1] = nnrti_tfl_int(c, &c->options, width, otherwise);
    if (c->code == NNRT_SUCCESS && (pair[0] < 1 || pair[1] < 1))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "%s is %l x %l, expected at least 1 x 1", what, pair[0], pair[1]);
    return nnrt_int64_list(pair, 2);
}

/* AVERAGE_POOL_2D, MAX_POOL_2D, and L2_POOL_2D: the square root of the mean of squares. */
static void nnrti_tfl_op_pool(nnrti_tfl *c)
{
    int64_t strides[2], kernel[2];
    const NNRT_NodeType type = (NNRT_NodeType)c->row->argument;
    const bool root = type == NNRT_NODE_TYPE_SQRT;
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 5, !root);
    uint32_t x = nnrti_tfl_in(c, 0);
    NNRT_AvgPoolFusion average;
    NNRT_MaxPoolFusion most;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_AVGPOOL_FUSION, &average);
    nnrti_tfl_defaults(NNRT_NODE_TYPE_MAX_POOL_FUSION, &most);
    most.padMode = average.padMode = nnrti_tfl_padding(c);
    most.strides = average.strides = nnrti_tfl_pair(c, 2, 1, 0, "the stride", strides);
    most.kernelSize = average.kernelSize = nnrti_tfl_pair(c, 4, 3, 0, "the filter", kernel);
    most.activationType = average.activationType = f.fused;
    if (root)
        x = nnrti_tfl_step1(c, NNRT_NODE_TYPE_AVGPOOL_FUSION, &average,
                            nnrti_tfl_step1(c, NNRT_NODE_TYPE_SQUARE, NULL, x));
    nnrti_tfl_finish(c, type,
                     root                                     ? NULL
                     : type == NNRT_NODE_TYPE_MAX_POOL_FUSION ? (const void *)&most
                                                              : &average,
                     &x, 1, f);
}

/* The options of MediaPipe's pools: int32 padding (1 SAME, 2 VALID), strides and filter, the width of each first, and the
   activation. */
static bool nnrti_tfl_pool_options(nnrti_tfl *c, int64_t strides[2], int64_t kernel[2], bool *same, int32_t *activation)
{
    int32_t v[6] = {0, 0, 0, 0, 0, 0};
    for (uint32_t k = 0; c->custom.count >= 24 && k < 6; k++)
        v[k] = (int32_t)nnrti_tfl_u32(c, c->custom.at + 4 * (size_t)k);
    strides[0] = v[2];
    strides[1] = v[1];
    kernel[0] = v[4];
    kernel[1] = v[3];
    *same = v[0] == 1;
    *activation = v[5];
    if ((v[0] != 1 && v[0] != 2) || v[1] < 1 || v[2] < 1 || v[3] < 1 || v[4] < 1)
        NNRTI_TFL_FAIL(
            c, NNRT_INVALID_PARAMETER,
            "its %u bytes of options have padding %d, strides %d, %d and filter %d, %d, expected 24 bytes or "
            "more with padding 1 or 2, and sizes of at least 1",
            c->custom.count, v[0], v[2], v[1], v[4], v[3]);
    return c->code == NNRT_SUCCESS;
}

/* A constant int32[1,P,Q,1]: (p * strides[0] - pads[0]) * row + q * strides[1] - pads[1], where windows begin. */
static uint32_t nnrti_tfl_origins(nnrti_tfl *c, const int64_t size[2], const int64_t strides[2], const int64_t pads[2],
                                  int64_t row)
{
    const int32_t dims[4] = {1, (int32_t)size[0], (int32_t)size[1], 1};
    const size_t count = (size_t)size[0] * (size_t)size[1];
    int32_t *list = (int32_t *)nnrti_tfl_keep(c, count, sizeof(*list));
    for (size_t i = 0; list != NULL && i < count; i++)
        list[i] = (int32_t)(((int64_t)(i / (size_t)size[1]) * strides[0] - pads[0]) * row +
                            (int64_t)(i % (size_t)size[1]) * strides[1] - pads[1]);
    return nnrti_tfl_constant(c, NULL, NNRT_DATA_TYPE_INT32, 4, dims, list, false);
}

/* x / from * to + x % from: the index (y, x) in rows of `from` elements becomes that in rows of `to`. */
static uint32_t nnrti_tfl_rerow(nnrti_tfl *c, uint32_t x, int64_t from, int64_t to)
{
    const uint32_t y = nnrti_tfl_step2(c, NNRT_NODE_TYPE_FLOOR_DIV, NULL, x, nnrti_tfl_scalar(c, x, (double)from));
    return nnrti_tfl_step2(
        c, NNRT_NODE_TYPE_SUB_FUSION, NULL, x,
        nnrti_tfl_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, y, nnrti_tfl_scalar(c, x, (double)(from - to))));
}

/* x in another type. */
static uint32_t nnrti_tfl_cast_to(nnrti_tfl *c, uint32_t x, NNRT_DataType type)
{
    const uint32_t y = nnrti_tfl_new(c, UINT32_MAX);
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_declare(c->builder, y, type, NNRT_RANK_UNKNOWN, NULL);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_CAST, NULL, &x, 1, &y, 1, false);
    return y;
}

/* Sizes of x [N,H,W,C]; false and a fault unless they are fixed and at most 2^24 in all, so that indices are exact. */
static bool nnrti_tfl_image(nnrti_tfl *c, uint32_t x, int64_t dims[4])
{
    double count = 1;
    for (int32_t k = 0; k < 4; k++)
        count *= (double)(dims[k] = nnrti_tfl_dim(c, x, k));
    if (c->code == NNRT_SUCCESS && (nnrti_tfl_at(c, x)->rank != 4 || dims[0] < 1 || dims[1] < 1 || dims[2] < 1 ||
                                    dims[3] < 1 || !(count <= 16777216)))
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "input 0 is %o, expected 4 fixed axes and at most 2^24 elements",
                       nnrti_tfl_at(c, x));
    return c->code == NNRT_SUCCESS;
}

/* The number of windows along an axis; returns the padding at both ends. */
static int64_t nnrti_tfl_windows(int64_t size, int64_t kernel, int64_t stride, bool same, int64_t *count)
{
    int64_t total;
    *count = same ? (size + stride - 1) / stride : (size - kernel + stride) / stride;
    total = (*count - 1) * stride + kernel - size;
    return same && total > 0 ? total : 0;
}

/* MaxPoolingWithArgmax2D: also y * width + x of the largest element in its window, plus 0.1, as float32. */
static void nnrti_tfl_op_poolindices(nnrti_tfl *c)
{
    static const NNRT_ActivationType fused[] = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU,
                                                NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU6};
    const uint32_t x = nnrti_tfl_in(c, 0);
    int64_t strides[2], kernel[2], pads[2], size[2], dims[4];
    uint32_t in[2], out[2];
    NNRT_MaxPoolFusion a;
    int32_t activation;
    bool same;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_MAX_POOL_FUSION, &a);
    if (!nnrti_tfl_pool_options(c, strides, kernel, &same, &activation) || !nnrti_tfl_image(c, x, dims))
        return;
    if (activation < 0 || activation > 3 || activation == 2 || c->out.count != 2) {
        NNRTI_TFL_FAIL(c, NNRT_UNSUPPORTED_OP,
                       "it has %u results and activation %d, expected 2 results and 0 (NONE), "
                       "1 (RELU) or 3 (RELU6)",
                       c->out.count, activation);
        return;
    }
    for (uint32_t k = 0; k < 2; k++) {
        const int64_t total = nnrti_tfl_windows(dims[1 + k], kernel[k], strides[k], same, &size[k]);
        pads[k] = total / 2;
    }
    if (size[0] < 1 || size[1] < 1 || (double)kernel[0] * (double)kernel[1] > 16777216 ||
        (double)dims[1] * (double)kernel[1] > INT32_MAX) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "filter %l x %l does not suit input 0, %o", kernel[0], kernel[1],
                       nnrti_tfl_at(c, x));
        return;
    }
    a.padMode = same ? NNRT_PAD_MODE_SAME : NNRT_PAD_MODE_VALID;
    a.strides = nnrt_int64_list(strides, 2);
    a.kernelSize = nnrt_int64_list(kernel, 2);
    a.activationType = fused[activation];
    out[0] = nnrti_tfl_new(c, 0);
    out[1] = nnrti_tfl_new(c, UINT32_MAX);
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_declare(c->builder, out[1], NNRT_DATA_TYPE_INT32, NNRT_RANK_UNKNOWN, NULL);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_MAX_POOL_FUSION, &a, &x, 1, out, 2, true);
    in[0] = nnrti_tfl_step2(c, NNRT_NODE_TYPE_SUB_FUSION, NULL, nnrti_tfl_rerow(c, out[1], dims[2], kernel[1]),
                            nnrti_tfl_origins(c, size, strides, pads, kernel[1]));
    in[0] = nnrti_tfl_cast_to(c, in[0], NNRT_DATA_TYPE_FLOAT32);
    in[1] = nnrti_tfl_scalar(c, in[0], (double)0.1f);
    out[1] = nnrti_tfl_new(c, 1);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2, out + 1, 1, false);
}

/* MaxUnpooling2D: zeros [N,H*kH,W*kW,C] with the elements of x where the indices (as above) point to. */
static void nnrti_tfl_op_unpool(nnrti_tfl *c)
{
    static const int64_t none[2] = {0, 0};
    const uint32_t x = nnrti_tfl_in(c, 0);
    int64_t strides[2], kernel[2], dims[4], list[4];
    uint32_t in[3], zero;
    NNRT_ScatterElements a;
    int32_t activation;
    bool same;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a);
    if (!nnrti_tfl_pool_options(c, strides, kernel, &same, &activation) || !nnrti_tfl_image(c, x, dims))
        return;
    if (strides[0] > kernel[0] || strides[1] > kernel[1] ||
        (double)dims[1] * (double)kernel[0] * (double)dims[2] * (double)kernel[1] > INT32_MAX) {
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT,
                       "stride %l x %l above filter %l x %l, or a too large result, is not supported", strides[0],
                       strides[1], kernel[0], kernel[1]);
        return;
    }
    in[1] = nnrti_tfl_rerow(c, nnrti_tfl_cast_to(c, nnrti_tfl_in(c, 1), NNRT_DATA_TYPE_INT32), kernel[1],
                            dims[2] * kernel[1]);
    in[1] = nnrti_tfl_step2(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, in[1],
                            nnrti_tfl_origins(c, dims + 1, strides, none, dims[2] * kernel[1]));
    list[0] = dims[0];
    list[1] = dims[1] * dims[2];
    list[2] = dims[3];
    in[1] = nnrti_tfl_reshape(c, in[1], list, 3);
    in[2] = nnrti_tfl_reshape(c, x, list, 3);
    list[1] *= kernel[0] * kernel[1];
    zero = nnrti_tfl_scalar(c, x, 0);
    in[0] = nnrti_tfl_step2(c, NNRT_NODE_TYPE_FILL, NULL, zero, nnrti_tfl_ints(c, list, 3));
    a.axis = 1;
    in[0] = nnrti_tfl_step(c, NNRT_NODE_TYPE_SCATTER_ELEMENTS, &a, in, 3, false);
    list[1] = dims[1] * kernel[0];
    list[2] = dims[2] * kernel[1];
    list[3] = dims[3];
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_RESHAPE, NULL, in[0], nnrti_tfl_ints(c, list, 4), NNRT_NO_TENSOR);
}

/* Weights [1,kH,kW,C*m] become [C*m,kH,kW,1], with parameters per channel on axis 0. */
static uint32_t nnrti_tfl_depthwise_weight(nnrti_tfl *c)
{
    static const int64_t perm[4] = {3, 1, 2, 0};
    const uint32_t w = nnrti_tfl_in(c, 1);
    nnrti_tfl_tensor t;
    uint32_t in[2], y;
    if (c->code == NNRT_SUCCESS && nnrti_tfl_at(c, w)->quantCount > 1 && nnrti_tfl_at(c, w)->quantAxis != 4)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "the weight has scales on axis %d, expected axis 3",
                       nnrti_tfl_at(c, w)->quantAxis - 1);
    if (!nnrti_tfl_tensor_at(c, (uint32_t)nnrti_tfl_in_index(c, 1), &t))
        return NNRT_NO_TENSOR;
    in[0] = w;
    in[1] = nnrti_tfl_ints(c, perm, 4);
    y = nnrti_tfl_new(c, UINT32_MAX);
    nnrti_tfl_set_quant(c, &t, y, 0);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, in, 2, &y, 1, false);
    return y;
}

/* CONV_2D: weights are [O,kH,kW,I] in both, I times groups are the channels. DEPTHWISE_CONV_2D: a group per channel. */
static void nnrti_tfl_op_conv(nnrti_tfl *c)
{
    const bool each = c->row->code == 4;
    const uint32_t at = each ? 1 : 0; /* depth_multiplier is before these options, it follows from the weight */
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 3 + at, true);
    int64_t strides[2], dilations[2], channels, inner;
    uint32_t in[3];
    NNRT_Conv2DFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_CONV2D_FUSION, &a);
    in[0] = nnrti_tfl_in(c, 0);
    in[1] = nnrti_tfl_weight(c, each ? nnrti_tfl_depthwise_weight(c) : nnrti_tfl_in(c, 1));
    in[2] = nnrti_tfl_weight(c, nnrti_tfl_in(c, 2));
    a.padMode = nnrti_tfl_padding(c);
    a.stride = nnrti_tfl_pair(c, 2, 1, 0, "the stride", strides);
    a.dilation = nnrti_tfl_pair(c, 5 + at, 4 + at, 1, "the dilation", dilations);
    a.activationType = f.fused;
    channels = nnrti_tfl_dim(c, in[0], 3);
    inner = nnrti_tfl_dim(c, in[1], 3);
    if (channels < 1 || inner < 1 || channels % inner != 0) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "the weight has %l input channels, which do not divide the %l of input 0",
                       inner, channels);
        return;
    }
    a.group = channels / inner;
    nnrti_tfl_finish(c, NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 3, f);
}

/* Padding along one axis of a transposed convolution: that of the convolution from the output (size `out`) to the input
   (size `in`). *extra: elements at the end that no window reaches. */
static void nnrti_tfl_transposed_axis(nnrti_tfl *c, bool same, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                                      int64_t pads[2], int64_t *extra)
{
    const int64_t size = out >= 1 && out <= INT32_MAX ? out : 0; /* out may be any int64 */
    const int64_t full = (in - 1) * stride + kernel, total = same && full > size ? full - size : 0;
    const int64_t reached = same ? size : size - kernel + 1; /* first elements of windows are below */
    const int64_t expected = reached < 1 ? 0 : (reached + stride - 1) / stride;
    pads[0] = total / 2;
    pads[1] = total - total / 2;
    *extra = size - (full - total);
    if (in < 1 || expected != in || *extra < 0)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE,
                       "output size %l does not suit input size %l, filter %l, stride %l and padding %s", out, in,
                       kernel, stride, same ? "SAME" : "VALID");
}

/* TRANSPOSE_CONV, whose operands are shape, weight, input and bias; and MediaPipe's custom operator, whose operands are
   input, weight and bias, and whose options are int32 padding (1 SAME, 2 VALID), stride of the width and of the height. */
static void nnrti_tfl_op_transposed(nnrti_tfl *c)
{
    const bool custom = c->row->code == NNRTI_TFL_CUSTOM;
    int64_t strides[2], shape[4] = {0, 0, 0, 0}, pads[4], extra[2];
    uint32_t in[3];
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 3, true);
    bool same = !custom && nnrti_tfl_padding(c) == NNRT_PAD_MODE_SAME;
    NNRT_Conv2dTransposeFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &a);
    in[0] = nnrti_tfl_in(c, custom ? 0 : 2);
    in[1] = nnrti_tfl_in(c, 1);
    in[2] = nnrti_tfl_in(c, custom ? 2 : 3);
    if (!custom)
        (void)nnrti_tfl_pair(c, 2, 1, 0, "the stride", strides);
    if (c->code == NNRT_SUCCESS && (nnrti_tfl_at(c, in[0])->rank != 4 || nnrti_tfl_at(c, in[1])->rank != 4 ||
                                    (!custom && nnrti_tfl_list(c, 0, "output shape", shape, 4) != 4)))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "input is %o, expected 4 axes, as of the weight and the output shape",
                       nnrti_tfl_at(c, in[0]));
    if (custom && c->code == NNRT_SUCCESS) {
        const int32_t padding = c->custom.count >= 12 ? (int32_t)nnrti_tfl_u32(c, c->custom.at) : 0;
        for (uint32_t k = 0; k < 2; k++) { /* the width is first */
            strides[1 - k] = padding != 0 ? (int32_t)nnrti_tfl_u32(c, c->custom.at + 4 + 4 * (size_t)k) : 0;
            if ((padding != 1 && padding != 2) || strides[1 - k] < 1) {
                NNRTI_TFL_FAIL(
                    c, NNRT_INVALID_PARAMETER,
                    "its %u bytes of options have padding %d and stride %l, expected 12 bytes with padding 1 or "
                    "2 and strides of at least 1",
                    c->custom.count, padding, strides[1 - k]);
                return;
            }
        }
        same = padding == 1;
        shape[0] = nnrti_tfl_dim(c, in[0], 0);
        shape[3] = nnrti_tfl_dim(c, in[1], 0);
        for (int32_t k = 1; k < 3; k++)
            shape[k] = same ? nnrti_tfl_dim(c, in[0], k) * strides[k - 1]
                            : (nnrti_tfl_dim(c, in[0], k) - 1) * strides[k - 1] + nnrti_tfl_dim(c, in[1], k);
    }
    if (c->code != NNRT_SUCCESS)
        return;
    for (int32_t k = 0; k < 2; k++)
        nnrti_tfl_transposed_axis(c, same, nnrti_tfl_dim(c, in[0], 1 + k), shape[1 + k], nnrti_tfl_dim(c, in[1], 1 + k),
                                  strides[k], pads + 2 * k, extra + k);
    if (c->code == NNRT_SUCCESS && (shape[0] != nnrti_tfl_dim(c, in[0], 0) || shape[3] != nnrti_tfl_dim(c, in[1], 0)))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "the output shape has batch %l and %l channels, expected %l and %l",
                       shape[0], shape[3], nnrti_tfl_dim(c, in[0], 0), nnrti_tfl_dim(c, in[1], 0));
    a.stride = nnrt_int64_list(strides, 2);
    a.padMode = NNRT_PAD_MODE_PAD;
    a.padList = nnrt_int64_list(pads, 4);
    a.outputPaddings = nnrt_int64_list(extra, 2);
    a.activationType = f.fused;
    nnrti_tfl_finish(c, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &a, in, 3, f);
}

/* x [N,D,H,W,I] and weight [D,H,W,I,O] are moved to [N,I,D,H,W] and [O,I,D,H,W], and the result back. */
static void nnrti_tfl_op_conv3d(nnrti_tfl *c)
{
    static const int64_t first[5] = {0, 4, 1, 2, 3}, weight[5] = {4, 3, 0, 1, 2}, last[5] = {0, 2, 3, 4, 1};
    static const uint32_t fields[6] = {1, 3, 2, 5, 7, 6}; /* depth, height, width of strides, then of dilations */
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 4, false);
    int64_t steps[6];
    uint32_t in[3];
    NNRT_Conv3D a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_CONV_3D, &a);
    for (uint32_t k = 0; k < 6; k++) {
        steps[k] = nnrti_tfl_int(c, &c->options, fields[k], k < 3 ? 0 : 1);
        if (steps[k] < 1)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "a stride or dilation is %l, expected at least 1", steps[k]);
    }
    in[0] = nnrti_tfl_step2(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, nnrti_tfl_in(c, 0), nnrti_tfl_ints(c, first, 5));
    in[1] = nnrti_tfl_step2(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, nnrti_tfl_in(c, 1), nnrti_tfl_ints(c, weight, 5));
    in[2] = nnrti_tfl_in(c, 2);
    a.strides = nnrt_int64_list(steps, 3);
    a.dilations = nnrt_int64_list(steps + 3, 3);
    a.autoPad = nnrti_tfl_padding(c) == NNRT_PAD_MODE_SAME ? NNRT_AUTO_PAD_SAME_UPPER : NNRT_AUTO_PAD_VALID;
    in[0] = nnrti_tfl_step(c, NNRT_NODE_TYPE_CONV_3D, &a, in, in[2] != NNRT_NO_TENSOR ? 3 : 2, false);
    in[1] = nnrti_tfl_ints(c, last, 5);
    nnrti_tfl_finish(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, in, 2, f);
}

/* RESIZE_BILINEAR (options at 2 and 3) and RESIZE_NEAREST_NEIGHBOR (at 0 and 1). */
static void nnrti_tfl_op_resize(nnrti_tfl *c)
{
    const uint32_t at = c->row->argument == NNRT_RESIZE_METHOD_LINEAR ? 2 : 0;
    const bool align = nnrti_tfl_byte(c, &c->options, at, 0) != 0,
               half = nnrti_tfl_byte(c, &c->options, at + 1, 0) != 0;
    int64_t size[2];
    NNRT_Resize a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_RESIZE, &a);
    if (nnrti_tfl_list(c, 1, "size", size, 2) != 2 || (align && half)) {
        if (c->code == NNRT_SUCCESS)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER,
                           align && half ? "align_corners and half_pixel_centers are both set"
                                         : "input 1 (size) must have 2 entries");
        return;
    }
    for (int32_t k = 0; half && k < 2; k++) /* the center here, the first element in RESIZE */
        if (size[k] == 1 && nnrti_tfl_dim(c, nnrti_tfl_in(c, 0), 1 + k) != 1)
            NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "half_pixel_centers is not supported for new size 1 (axis %d)", 1 + k);
    a.method = (NNRT_ResizeMethod)c->row->argument;
    a.newHeight = size[0];
    a.newWidth = size[1];
    a.coordinateTransformMode = align  ? NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS
                                : half ? NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL
                                       : NNRT_COORDINATE_TRANSFORM_MODE_ASYMMETRIC;
    a.nearestMode = align || half ? NNRT_NEAREST_MODE_ROUND_HALF_UP : NNRT_NEAREST_MODE_FLOOR;
    nnrti_tfl_last1(c, NNRT_NODE_TYPE_RESIZE, &a, nnrti_tfl_in(c, 0));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_matrices */

/* The input counts as rows of as many elements as the weight [O,K] has columns: [rows,O], or, with keep_num_dims, the
   axes of the input with O in place of the last. */
static void nnrti_tfl_op_dense(nnrti_tfl *c)
{
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 0, true);
    const bool keeps = nnrti_tfl_byte(c, &c->options, 2, 0) != 0;
    const int32_t format = nnrti_tfl_byte(c, &c->options, 1, 0);
    uint32_t in[3];
    int64_t dims[NNRT_MAX_RANK], columns;
    int32_t rank, open = 0;
    NNRT_FullConnection a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_FULL_CONNECTION, &a);
    for (uint32_t k = 0; k < 3; k++)
        in[k] = nnrti_tfl_weight(c, nnrti_tfl_in(c, k));
    a.hasBias = in[2] != NNRT_NO_TENSOR;
    a.activationType = f.fused;
    rank = nnrti_tfl_at(c, in[0])->rank;
    columns = nnrti_tfl_dim(c, in[1], 1);
    if (c->code == NNRT_SUCCESS && (format != 0 || nnrti_tfl_at(c, in[1])->rank != 2))
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "weights are %o in format %d, expected two axes and format 0",
                       nnrti_tfl_at(c, in[1]), format);
    for (int32_t k = 0; k < rank; k++) {
        dims[k] = k + 1 < rank ? nnrti_tfl_dim(c, in[0], k) : nnrti_tfl_dim(c, in[1], 0);
        open += dims[k] < 0;
    }
    if (c->code == NNRT_SUCCESS && keeps && (open > 1 || rank < 1 || nnrti_tfl_dim(c, in[0], -1) != columns))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE,
                       "input 0 is %o, expected a last axis of %l elements and at most one dynamic "
                       "dimension",
                       nnrti_tfl_at(c, in[0]), columns);
    if (rank != 2 || nnrti_tfl_dim(c, in[0], 1) != columns) {
        const int64_t rows[2] = {-1, columns};
        in[0] = nnrti_tfl_reshape(c, in[0], rows, 2);
    }
    if (!keeps || rank == 2) {
        nnrti_tfl_finish(c, NNRT_NODE_TYPE_FULL_CONNECTION, &a, in, 3, f);
        return;
    }
    in[0] = nnrti_tfl_step(c, NNRT_NODE_TYPE_FULL_CONNECTION, &a, in, a.hasBias ? 3 : 2, true);
    in[1] = nnrti_tfl_ints(c, dims, rank);
    nnrti_tfl_finish(c, NNRT_NODE_TYPE_RESHAPE, NULL, in, 2, f);
}

static void nnrti_tfl_op_matmul(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0), y = nnrti_tfl_weight(c, nnrti_tfl_in(c, 1));
    NNRT_MatMulFusion a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_MATMUL_FUSION, &a);
    a.transposeA = nnrti_tfl_byte(c, &c->options, 0, 0) != 0;
    a.transposeB = nnrti_tfl_byte(c, &c->options, 1, 0) != 0;
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_MATMUL_FUSION, &a, x, y, NNRT_NO_TENSOR);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_spectrum */

/* One axis (from the end, real and imaginary part included) of a transform of `size` values, an int32[1] or int32[]. */
static uint32_t nnrti_tfl_dft(nnrti_tfl *c, uint32_t x, int32_t axis, int64_t size, bool onesided)
{
    NNRT_DFT a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_DFT, &a);
    a.axis = axis;
    a.onesided = onesided;
    return nnrti_tfl_step2(c, NNRT_NODE_TYPE_DFT, &a, x, nnrti_tfl_ints(c, &size, 1));
}

/* The transform of the last axis of a real x has the frequencies 0 to size/2; then that of the axis before it. Input 1:
   both sizes, to which x is cut or padded with zeros at the end. */
static void nnrti_tfl_op_rfft(nnrti_tfl *c)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    const int32_t rank = nnrti_tfl_at(c, x)->rank;
    int64_t size[2], dims[NNRT_MAX_RANK];
    uint32_t y;
    if (nnrti_tfl_list(c, 1, "fft_length", size, 2) != 2 || rank < 2 || rank >= NNRT_MAX_RANK) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "input 0 is %o, expected 2 to %d axes, and two sizes",
                       nnrti_tfl_at(c, x), NNRT_MAX_RANK - 1);
        return;
    }
    for (int32_t k = 0; k < rank; k++)
        if ((dims[k] = nnrti_tfl_dim(c, x, k)) < 0)
            NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "input 0 is %o, dynamic dimensions are not supported",
                           nnrti_tfl_at(c, x));
    dims[rank] = 1;
    y = nnrti_tfl_dft(c, nnrti_tfl_reshape(c, x, dims, rank + 1), -2, size[1], true);
    if (size[0] != 1 || dims[rank - 2] != 1)
        y = nnrti_tfl_dft(c, y, -3, size[0], false);
    nnrti_tfl_complex_result(c, y);
}

/* IMAG and REAL: an index of the last axis. */
static void nnrti_tfl_op_part(nnrti_tfl *c)
{
    static const int64_t last = -1;
    const int64_t index = c->row->code == NNRTI_TFL_IMAG ? 1 : 0;
    if (!nnrti_tfl_is_complex(c, nnrti_tfl_in_index(c, 0)))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_DATATYPE, "input 0 is not complex64");
    nnrti_tfl_last3(c, NNRT_NODE_TYPE_GATHER, NULL, nnrti_tfl_in(c, 0),
                    nnrti_tfl_constant_copy(c, NNRT_DATA_TYPE_INT64, 0, NULL, &index), nnrti_tfl_ints(c, &last, 1));
}

/* The square root of the sum of squares, which overflows above 1.8e19. */
static void nnrti_tfl_op_magnitude(nnrti_tfl *c)
{
    if (!nnrti_tfl_is_complex(c, nnrti_tfl_in_index(c, 0)))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_DATATYPE, "input 0 is not complex64");
    nnrti_tfl_last1(c, NNRT_NODE_TYPE_SQRT, NULL,
                    nnrti_tfl_sum(c, nnrti_tfl_step1(c, NNRT_NODE_TYPE_SQUARE, NULL, nnrti_tfl_in(c, 0)), -1));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_custom */

/* The map in the options of a custom operator, a flexbuffer: `count` values of `width` bytes from byte `values` of the
   options on, followed by a byte with the type of each. Offsets lead backwards. */
typedef struct nnrti_tfl_map {
    size_t values, keys;
    uint32_t count, width, keyWidth;
} nnrti_tfl_map;

/* The unsigned integer of `width` bytes at byte `at` of the options; UINT64_MAX if they do not contain it. */
static uint64_t nnrti_tfl_flex_uint(const nnrti_tfl *c, size_t at, uint32_t width)
{
    uint64_t v = 0;
    if (at > c->custom.count || width > c->custom.count - at)
        return UINT64_MAX;
    for (uint32_t i = width; i-- > 0;)
        v = v << 8 | c->data[c->custom.at + at + i];
    return v;
}

/* The byte that the offset at byte `at` leads to; SIZE_MAX: none. */
static size_t nnrti_tfl_flex_back(const nnrti_tfl *c, size_t at, uint32_t width)
{
    const uint64_t distance = nnrti_tfl_flex_uint(c, at, width);
    return at < c->custom.count && distance <= at ? at - (size_t)distance : SIZE_MAX;
}

/* Finds the map at the root. */
static bool nnrti_tfl_flex_open(nnrti_tfl *c, nnrti_tfl_map *m)
{
    const size_t n = c->custom.count;
    const uint32_t root = n >= 3 ? c->data[c->custom.at + n - 1] : 0, type = n >= 3 ? c->data[c->custom.at + n - 2] : 0;
    uint64_t count = UINT64_MAX, keyWidth = 0;
    m->width = 1u << (type & 3);
    m->values = (root == 1 || root == 2 || root == 4 || root == 8) && root + 2 <= n
                    ? nnrti_tfl_flex_back(c, n - 2 - root, root)
                    : SIZE_MAX;
    if (type >> 2 == 9 && m->values != SIZE_MAX && m->values >= 3 * (size_t)m->width) { /* 9: a map */
        m->keys = nnrti_tfl_flex_back(c, m->values - 3 * (size_t)m->width, m->width);
        keyWidth = nnrti_tfl_flex_uint(c, m->values - 2 * (size_t)m->width, m->width);
        count = nnrti_tfl_flex_uint(c, m->values - m->width, m->width);
    }
    if (count > n || count * (m->width + 1) > n - m->values || m->keys == SIZE_MAX || keyWidth > 8 ||
        (keyWidth & (keyWidth - 1)) != 0 || keyWidth == 0)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "its %u bytes of options are no flexbuffer with a map", c->custom.count);
    m->count = (uint32_t)count;
    m->keyWidth = (uint32_t)keyWidth;
    return c->code == NNRT_SUCCESS;
}

/* Index of the value with a key; count: none. */
static uint32_t nnrti_tfl_flex_find(nnrti_tfl *c, const nnrti_tfl_map *m, const char *key)
{
    const size_t length = strlen(key) + 1;
    uint32_t i = 0;
    if (!nnrti_tfl_work(c, m->count))
        return m->count;
    for (; i < m->count; i++) {
        const size_t at = nnrti_tfl_flex_back(c, m->keys + (size_t)i * m->keyWidth, m->keyWidth);
        if (at <= c->custom.count && length <= c->custom.count - at &&
            memcmp(c->data + c->custom.at + at, key, length) == 0)
            break;
    }
    return i;
}

/* The number with a key; `otherwise` if it is absent. */
static double nnrti_tfl_flex_number(nnrti_tfl *c, const nnrti_tfl_map *m, const char *key, double otherwise)
{
    const uint32_t i = nnrti_tfl_flex_find(c, m, key);
    const size_t types = m->values + (size_t)m->count * m->width;
    const uint32_t packed = (uint32_t)nnrti_tfl_flex_uint(c, types + i, 1), type = packed >> 2;
    const bool indirect = type >= 6 && type <= 8;
    const uint32_t width = indirect ? 1u << (packed & 3) : m->width, kind = indirect ? type - 5 : type;
    size_t at = m->values + (size_t)i * m->width;
    uint64_t bits;
    double number;
    float small;
    if (c->code != NNRT_SUCCESS || i == m->count)
        return otherwise;
    at = indirect ? nnrti_tfl_flex_back(c, at, m->width) : at;
    bits = nnrti_tfl_flex_uint(c, at, width);
    if (at > c->custom.count || width > c->custom.count - at || (kind != 1 && kind != 2 && kind != 26 && kind != 3) ||
        (kind == 3 && width < 4)) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "option '%s' has type %u of %u bytes, expected a number", key, type,
                       width);
        return otherwise;
    }
    if (kind == 3) { /* 1: int, 2: uint, 3: float, 26: bool */
        const uint32_t half = (uint32_t)bits;
        memcpy(&number, &bits, sizeof(number));
        memcpy(&small, &half, sizeof(small));
        return width == 4 ? (double)small : number;
    }
    if (kind == 1 && width < 8 && bits >> (8 * width - 1) != 0)
        bits |= UINT64_MAX << 8 * width;
    return kind == 1 ? (double)(int64_t)bits : (double)bits;
}

/* The same for an integer of 32 bits. */
static int64_t nnrti_tfl_flex_int(nnrti_tfl *c, const nnrti_tfl_map *m, const char *key, int32_t otherwise)
{
    const double v = nnrti_tfl_flex_number(c, m, key, otherwise);
    if (!(v >= INT32_MIN && v <= INT32_MAX)) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "option '%s' is %f, expected 32 bits", key, v);
        return 0;
    }
    return (int64_t)v;
}

/* Decoding of boxes and non-maximum suppression of SSD models. */
static void nnrti_tfl_op_detection(nnrti_tfl *c)
{
    static const char *const scales[4] = {"y_scale", "x_scale", "h_scale", "w_scale"};
    const uint32_t *in = nnrti_tfl_inputs(c, 3);
    uint32_t out[4], div[2];
    float scale[4];
    nnrti_tfl_map m;
    NNRT_DetectionPostProcess a;
    if (in == NULL || !nnrti_tfl_flex_open(c, &m))
        return;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_DETECTION_POST_PROCESS, &a);
    for (uint32_t k = 0; k < 4; k++)
        scale[k] = (float)nnrti_tfl_flex_number(c, &m, scales[k], 0);
    a.scale = nnrt_float_list(scale, 4);
    a.maxDetections = nnrti_tfl_flex_int(c, &m, "max_detections", 0);
    a.maxClassesPerDetection = nnrti_tfl_flex_int(c, &m, "max_classes_per_detection", 0);
    a.detectionsPerClass = nnrti_tfl_flex_int(c, &m, "detections_per_class", 100);
    a.numClasses = nnrti_tfl_flex_int(c, &m, "num_classes", 0);
    a.nmsScoreThreshold = (float)nnrti_tfl_flex_number(c, &m, "nms_score_threshold", 0);
    a.nmsIoUThreshold = (float)nnrti_tfl_flex_number(c, &m, "nms_iou_threshold", 0);
    a.useRegularNms = nnrti_tfl_flex_int(c, &m, "use_regular_nms", 0) != 0;
    if (c->code == NNRT_SUCCESS && (c->out.count != 4 || (!a.useRegularNms && a.maxClassesPerDetection > a.numClasses)))
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT,
                       "it has %u results and reports %l classes per box, expected 4 and at most num_classes (%l)",
                       c->out.count, a.maxClassesPerDetection, a.numClasses);
    for (uint32_t k = 0; k < 4; k++)
        out[k] = nnrti_tfl_new(c, !a.useRegularNms && a.maxClassesPerDetection > 1 && k == 3 ? UINT32_MAX : k);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_DETECTION_POST_PROCESS, &a, in, 3, out, 4, true);
    if (c->code != NNRT_SUCCESS || a.useRegularNms || a.maxClassesPerDetection < 2)
        return;
    div[0] = out[3]; /* the number of slots, each class has one */
    div[1] = nnrti_tfl_scalar(c, out[3], (double)a.maxClassesPerDetection);
    out[3] = nnrti_tfl_new(c, 3);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_DIV_FUSION, NULL, div, 2, out + 3, 1, false);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_check */

/* Number of the operator that entry `index` of operator_codes stands for. Older files have only the byte of field 0, newer
   ones an int32 beside it. */
static int32_t nnrti_tfl_code(nnrti_tfl *c, uint32_t index)
{
    const nnrti_tfl_table t = nnrti_tfl_entry(c, &c->codes, index);
    const int32_t old = nnrti_tfl_byte(c, &t, 0, 0), code = nnrti_tfl_int(c, &t, 3, 0);
    return code > old ? code : old;
}

static int32_t nnrti_tfl_version(nnrti_tfl *c, uint32_t index)
{
    const nnrti_tfl_table t = nnrti_tfl_entry(c, &c->codes, index);
    return nnrti_tfl_int(c, &t, 2, 1);
}

/* The row of entry `index` of operator_codes; NULL: unsupported. */
static const nnrti_tfl_row *nnrti_tfl_row_of(nnrti_tfl *c, uint32_t index)
{
    const nnrti_tfl_table t = nnrti_tfl_entry(c, &c->codes, index);
    const int32_t code = nnrti_tfl_code(c, index);
    char custom[48] = "";
    if (code == NNRTI_TFL_CUSTOM)
        (void)nnrti_tfl_string(c, &t, 1, index, custom, sizeof(custom));
    return nnrti_tfl_find(code, custom);
}

/* Name of operator i in messages: that of its first result, or its number. */
static char *nnrti_tfl_operator_name(nnrti_tfl *c, uint32_t i, char *out, size_t size)
{
    const nnrti_tfl_table op = nnrti_tfl_entry(c, &c->operators, i);
    const nnrti_tfl_vector results = nnrti_tfl_vector_of(c, &op, 2, 4);
    const uint32_t index = results.count > 0 ? (uint32_t)nnrti_tfl_item(c, &results, 0) : UINT32_MAX;
    const nnrti_tfl_table result = nnrti_tfl_entry(c, &c->tensors, index);
    if (nnrti_tfl_string(c, &result, 3, index, out, size)[0] == '\0')
        (void)nnrt_text(out, size, "operator_%u", i);
    return out;
}

/* The name of entry `index` of operator_codes: "LSTM (number 16)", "CUSTOM 'Name'", "CONV_2D", with a version that is not supported
   "CONV_2D version 9 (at most 8)". Returns whether it is supported. */
static bool nnrti_tfl_code_text(nnrti_tfl *c, uint32_t index, char *out, size_t size)
{
    const nnrti_tfl_table t = nnrti_tfl_entry(c, &c->codes, index);
    const nnrti_tfl_row *row = nnrti_tfl_row_of(c, index);
    const int32_t code = nnrti_tfl_code(c, index), version = row != NULL ? nnrti_tfl_version(c, index) : 0;
    const bool supported = row != NULL && version >= 1 && version <= row->versions;
    char custom[32];
    if (code == NNRTI_TFL_CUSTOM)
        (void)nnrt_text(out, size, "CUSTOM '%s'", nnrti_tfl_string(c, &t, 1, index, custom, sizeof(custom)));
    else if (supported)
        (void)nnrt_text(out, size, "%s", row->name);
    else if (row != NULL)
        (void)nnrt_text(out, size, "%s version %d (at most %d)", row->name, version, row->versions);
    else
        (void)nnrt_text(out, size, "%s (number %d)", nnrti_tfl_other_name(code), code);
    return supported;
}

/* Text for an unsupported operator, first used by operator `first`: " LSTM (number 16) at 'rnn/out' x2". */
static size_t nnrti_tfl_list_one(nnrti_tfl *c, uint32_t index, uint32_t first, uint32_t times, char *out, size_t size)
{
    char what[64], at[28];
    (void)nnrti_tfl_code_text(c, index, what, sizeof(what));
    return nnrt_text(out, size, " %s at '%s' x%u", what, nnrti_tfl_operator_name(c, first, at, sizeof(at)), times);
}

/* Two numbers for each entry of operator_codes: of the operators that are needed and have it, and the first of them. */
static uint32_t *nnrti_tfl_uses(nnrti_tfl *c)
{
    uint32_t *times = (uint32_t *)nnrti_tfl_keep(c, c->codes.count, 2 * sizeof(*times));
    (void)nnrti_tfl_work(c, 4.0 * c->codes.count);
    for (uint32_t i = 0; c->code == NNRT_SUCCESS && i < c->operators.count; i++) {
        const nnrti_tfl_table op = nnrti_tfl_entry(c, &c->operators, i);
        const uint32_t index = (uint32_t)nnrti_tfl_int(c, &op, 0, 0);
        if (index >= c->codes.count)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "operator %u has code %u, but there are %u codes", i, index,
                           c->codes.count);
        else if (c->code == NNRT_SUCCESS && c->needed[c->tensors.count + i] != 0 && times[2 * index]++ == 0)
            times[2 * index + 1] = i;
    }
    return times;
}

/* Refuses operators without a row, and too new versions: one message with all of them that fit, each with its first use,
   and with the producer of the file. The log has all. */
static void nnrti_tfl_check(nnrti_tfl *c)
{
    const uint32_t *times = nnrti_tfl_uses(c);
    uint32_t kinds = 0, others = 0;
    char list[128], one[112], more[24], producer[32];
    size_t at = 0;
    list[0] = more[0] = '\0';
    for (uint32_t i = 0; c->code == NNRT_SUCCESS && i < c->codes.count; i++) {
        size_t length;
        if (times[2 * i] == 0 || nnrti_tfl_code_text(c, i, one, sizeof(one)))
            continue;
        length = nnrti_tfl_list_one(c, i, times[2 * i + 1], times[2 * i], one, sizeof(one));
        nnrt_log_line(c->desc->log, NNRT_LOG_WARNING, "unsupported operator:%s", one);
        kinds++;
        if (at + length + 2 > sizeof(list))
            others++;
        else
            at += nnrt_text(list + at, sizeof(list) - at, "%s%s", at > 0 ? "," : "", one);
    }
    (void)nnrti_tfl_string(c, &c->root, 3, 0, producer, sizeof(producer));
    if (others > 0)
        (void)nnrt_text(more, sizeof(more), " and %u others", others);
    if (kinds > 0)
        NNRTI_TFL_FAIL(
            c, NNRT_UNSUPPORTED_OP,
            "unsupported operators:%s%s (made by '%s'); end the model before them (nnrt_tflite_desc.outputs)", list,
            more, producer);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_import */

/* Makes subgraph `index` of the file the current one: finds its lists. */
static void nnrti_tfl_open_graph(nnrti_tfl *c, uint32_t index)
{
    const nnrti_tfl_table graph = nnrti_tfl_entry(c, &c->graphs, index);
    if (index >= c->graphs.count)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "subgraph %d does not exist, there are %u subgraphs", (int32_t)index,
                       c->graphs.count);
    c->graph = index;
    c->tensors = nnrti_tfl_vector_of(c, &graph, 0, 4);
    c->inputs = nnrti_tfl_vector_of(c, &graph, 1, 4);
    c->outputs = nnrti_tfl_vector_of(c, &graph, 2, 4);
    c->operators = nnrti_tfl_vector_of(c, &graph, 3, 4);
    if (!nnrti_tfl_work(c, 4.0 * (4.0 + c->tensors.count + c->operators.count + c->inputs.count + c->outputs.count)))
        return;
    c->values = (uint32_t *)nnrti_tfl_keep(c, c->tensors.count, sizeof(*c->values));
    c->needed = (uint8_t *)nnrti_tfl_keep(c, (size_t)c->tensors.count + c->operators.count, 1);
    c->variables = (nnrti_tfl_state **)nnrti_tfl_keep(c, c->tensors.count, sizeof(*c->variables));
    for (uint32_t i = 0; c->code == NNRT_SUCCESS && i < c->tensors.count; i++)
        c->values[i] = NNRT_NO_TENSOR;
}

/* True if the text in a field is `name`, also if it is longer than the buffers of nnrti_tfl_string. */
static bool nnrti_tfl_is_named(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field, uint32_t index, const char *name)
{
    const nnrti_tfl_vector full = nnrti_tfl_vector_of(c, t, field, 1);
    char text[96];
    return strcmp(nnrti_tfl_string(c, t, field, index, text, sizeof(text)), name) == 0 ||
           (full.at != 0 && full.count == strlen(name) && memcmp(c->data + full.at, name, full.count) == 0);
}

/* Finds the signature that the caller names, or the first one of subgraph 0. Returns the index of its subgraph. */
static uint32_t nnrti_tfl_open_signature(nnrti_tfl *c)
{
    const nnrti_tfl_vector signatures = nnrti_tfl_vector_of(c, &c->root, 7, 4);
    const char *name = c->desc->signature;
    char list[128] = "", one[48];
    size_t at = 0;
    for (uint32_t i = 0; c->code == NNRT_SUCCESS && i < signatures.count; i++) {
        const nnrti_tfl_table s = nnrti_tfl_entry(c, &signatures, i);
        const uint32_t graph = (uint32_t)nnrti_tfl_int(c, &s, 4, 0);
        if (name == NULL ? graph == 0 : nnrti_tfl_is_named(c, &s, 2, i, name)) {
            c->signature = s;
            return graph;
        }
        if (name != NULL)
            at += nnrt_text(list + at, sizeof(list) - at, " '%s'", nnrti_tfl_string(c, &s, 2, i, one, sizeof(one)));
    }
    if (name != NULL)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "the file has no signature '%n', it has %u:%s", name,
                       signatures.count, signatures.count > 0 ? list : " the inputs and outputs have no other names");
    return 0;
}

/* Finds the lists of the model: the format's version, and the subgraph of the signature. */
static void nnrti_tfl_open(nnrti_tfl *c)
{
    if (!nnrt_tflite_is(c->data, c->bytes)) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "this is not a .tflite file: no TFL3 at byte 4 of %z bytes", c->bytes);
        return;
    }
    c->root = nnrti_tfl_table_at(c, nnrti_tfl_follow(c, 0));
    if (c->code == NNRT_SUCCESS && nnrti_tfl_int(c, &c->root, 0, 0) != 3)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "version %d of the format is not supported, only 3",
                       nnrti_tfl_int(c, &c->root, 0, 0));
    c->codes = nnrti_tfl_vector_of(c, &c->root, 1, 4);
    c->graphs = nnrti_tfl_vector_of(c, &c->root, 2, 4);
    c->buffers = nnrti_tfl_vector_of(c, &c->root, 4, 4);
    nnrti_tfl_open_graph(c, nnrti_tfl_open_signature(c));
}

/* Name of an input (list 0) or output (list 1) of the model: that of the signature, or that of the tensor. */
static const char *nnrti_tfl_io_name(nnrti_tfl *c, uint32_t list, uint32_t k, uint32_t tensor, char *out, size_t size)
{
    const nnrti_tfl_vector maps = nnrti_tfl_vector_of(c, &c->signature, list, 4);
    nnrti_tfl_table table;
    out[0] = '\0';
    for (uint32_t i = 0; i < maps.count && nnrti_tfl_work(c, 4); i++) {
        const nnrti_tfl_table map = nnrti_tfl_entry(c, &maps, i);
        if ((uint32_t)nnrti_tfl_int(c, &map, 1, 0) == tensor &&
            nnrti_tfl_string(c, &map, 0, tensor, out, size)[0] != '\0')
            return out;
    }
    table = nnrti_tfl_entry(c, &c->tensors, tensor);
    if (nnrti_tfl_string(c, &table, 3, tensor, out, size)[0] == '\0')
        (void)nnrt_text(out, size, list == 0 ? "input_%u" : "output_%u", k);
    return out;
}

/* Index of the tensor that desc.outputs calls `name`: a name of the signature, or of a tensor. */
static uint32_t nnrti_tfl_output_named(nnrti_tfl *c, const char *name)
{
    char text[96];
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < c->outputs.count; k++) {
        const uint32_t t = (uint32_t)nnrti_tfl_item(c, &c->outputs, k);
        if (t < c->tensors.count && strcmp(nnrti_tfl_io_name(c, 1, k, t, text, sizeof(text)), name) == 0)
            return t;
    }
    for (uint32_t t = 0; c->code == NNRT_SUCCESS && t < c->tensors.count; t++) {
        const nnrti_tfl_table table = nnrti_tfl_entry(c, &c->tensors, t);
        if (nnrti_tfl_is_named(c, &table, 3, t, name))
            return t;
    }
    NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "no tensor of the file has the name '%n'", name);
    return 0;
}

static uint32_t nnrti_tfl_output_count(const nnrti_tfl *c)
{
    return c->depth == 0 && c->desc->outputCount > 0 ? c->desc->outputCount : c->outputs.count;
}

/* Index of the tensor that is output k of the current subgraph. */
static uint32_t nnrti_tfl_output_tensor(nnrti_tfl *c, uint32_t k)
{
    uint32_t t;
    if (c->depth == 0 && c->desc->outputCount > 0)
        return nnrti_tfl_output_named(c, c->desc->outputs[k]);
    t = (uint32_t)nnrti_tfl_item(c, &c->outputs, k);
    if (t >= c->tensors.count)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_FILE, "output %u is tensor %d, but there are %u tensors", k, (int32_t)t,
                       c->tensors.count);
    return t;
}

/* Makes operator i the current one. */
static void nnrti_tfl_enter(nnrti_tfl *c, uint32_t i)
{
    const nnrti_tfl_table op = nnrti_tfl_entry(c, &c->operators, i);
    c->in = nnrti_tfl_vector_of(c, &op, 1, 4);
    c->out = nnrti_tfl_vector_of(c, &op, 2, 4);
    (void)nnrti_tfl_work(c, 4.0 * ((double)c->in.count + c->out.count));
}

/* True if operator i has an effect without results: it assigns a variable. The table is that of the operator. */
static bool nnrti_tfl_has_effect(nnrti_tfl *c, uint32_t i)
{
    const nnrti_tfl_table op = nnrti_tfl_entry(c, &c->operators, i);
    const int32_t code = c->out.count == 0 ? nnrti_tfl_code(c, (uint32_t)nnrti_tfl_int(c, &op, 0, 0)) : 0;
    return code == NNRTI_TFL_ASSIGN || code == NNRTI_TFL_CALL_ONCE;
}

/* Whether input 1 of operator i is the weight of a convolution or dense layer. */
static bool nnrti_tfl_weighs(nnrti_tfl *c, uint32_t i)
{
    const nnrti_tfl_table op = nnrti_tfl_entry(c, &c->operators, i);
    const int32_t code = nnrti_tfl_code(c, (uint32_t)nnrti_tfl_int(c, &op, 0, 0));
    return code == NNRTI_TFL_CONV_2D || code == NNRTI_TFL_FULLY_CONNECTED;
}

/* Marks the tensors and operators that the outputs and variables depend on: backwards, as each operator follows those it
   reads. */
static void nnrti_tfl_mark(nnrti_tfl *c)
{
    const uint32_t outputs = nnrti_tfl_output_count(c);
    if (outputs == 0 && c->depth == 0)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "the model has no outputs");
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < outputs; k++) {
        const uint32_t t = nnrti_tfl_output_tensor(c, k);
        if (c->code == NNRT_SUCCESS)
            c->needed[t] = 3;
    }
    for (uint32_t i = c->operators.count; c->code == NNRT_SUCCESS && i-- > 0;) {
        bool needed, weighs;
        nnrti_tfl_enter(c, i);
        needed = nnrti_tfl_has_effect(c, i);
        for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < c->out.count; k++) {
            const int32_t t = nnrti_tfl_item(c, &c->out, k);
            needed = needed || (t >= 0 && (uint32_t)t < c->tensors.count && c->needed[t] != 0);
        }
        weighs = needed && nnrti_tfl_weighs(c, i);
        for (uint32_t k = 0; c->code == NNRT_SUCCESS && needed && k < c->in.count; k++) {
            const int32_t t = nnrti_tfl_item(c, &c->in, k);
            if (t >= 0 && (uint32_t)t < c->tensors.count)
                c->needed[t] |= k == 1 && weighs ? 1 : 3;
        }
        if (c->code == NNRT_SUCCESS)
            c->needed[c->tensors.count + i] = needed;
    }
}

static bool nnrti_tfl_stays_half(nnrti_tfl *c)
{
    const int32_t y = nnrti_tfl_out_index(c, 0);
    return c->keepsHalf && c->depth == 0 && c->row->code == NNRTI_TFL_DEQUANTIZE && y >= 0 && (c->needed[y] & 2) == 0;
}

/* The caller's shape for an input; NULL: none. */
static const nnrt_dims *nnrti_tfl_given(const nnrti_tfl *c, const char *name)
{
    for (uint32_t i = 0; i < c->desc->inputCount; i++)
        if (c->desc->inputs[i].name != NULL && strcmp(c->desc->inputs[i].name, name) == 0)
            return &c->desc->inputs[i].shape;
    return NULL;
}

/* nnrt_tflite_desc.dynamic: the dimensions that the signature of the shape of input t leaves open become -1. This is no
   default, as a session requires their sizes, and TensorFlow Lite runs the stored shape until ResizeInputTensor. That
   function may change fixed dimensions, too, so the caller's shapes are not compared with the signature. */
static void nnrti_tfl_open_shape(nnrti_tfl *c, uint32_t index, nnrti_tfl_tensor *t)
{
    const nnrti_tfl_table table = nnrti_tfl_entry(c, &c->tensors, index);
    const nnrti_tfl_vector open = nnrti_tfl_vector_of(c, &table, 7, 4);
    if (open.count > 0 && open.count != (uint32_t)t->shape.rank)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "the shape_signature of input '%s' has %u axes, its shape %d", t->name,
                       open.count, t->shape.rank);
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < open.count; k++) {
        const int32_t size = nnrti_tfl_item(c, &open, k);
        if (size != -1 && size != t->shape.dims[k])
            NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE,
                           "the shape_signature of input '%s' has %d on axis %u, expected %d or -1", t->name, size, k,
                           t->shape.dims[k]);
        else if (t->shape.dims[k] == 1)
            t->shape.dims[k] = size;
    }
}

static void nnrti_tfl_add_inputs(nnrti_tfl *c)
{
    uint32_t found = 0;
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < c->inputs.count; k++) {
        const uint32_t index = (uint32_t)nnrti_tfl_item(c, &c->inputs, k);
        const nnrt_dims *given, *shape;
        nnrti_tfl_tensor t;
        char name[96];
        uint32_t v;
        if (!nnrti_tfl_tensor_at(c, index, &t))
            return;
        given = nnrti_tfl_given(c, nnrti_tfl_io_name(c, 0, k, index, name, sizeof(name)));
        if (c->desc->dynamic && given == NULL)
            nnrti_tfl_open_shape(c, index, &t);
        shape = given != NULL ? given : &t.shape;
        found += given != NULL;
        if (c->values[index] != NNRT_NO_TENSOR || (given != NULL && t.shape.rank > 0 && given->rank != t.shape.rank)) {
            NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE,
                           c->values[index] != NNRT_NO_TENSOR
                               ? "tensor '%s' is listed twice as an input"
                               : "the shape given for input '%s' has %d axes, expected %d",
                           name, shape->rank, t.shape.rank);
            return;
        }
        v = nnrt_builder_input(c->builder, name, t.type, shape->rank, shape->dims);
        if (!nnrti_tfl_fine(c))
            return;
        nnrti_tfl_set_quant(c, &t, v, t.axis);
        c->values[index] = v;
        for (int32_t i = 0; i < shape->rank; i++)
            c->keepsHalf = c->keepsHalf && shape->dims[i] >= 0;
    }
    if (found < c->desc->inputCount)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "%u shapes of nnrt_tflite_desc.inputs name no input of the model",
                       c->desc->inputCount - found);
}

/* Checks the quantization parameters of result k: an 8-bit result has some if the main input has, and those of the column
   `rule`. The kernels of the format copy elements unchanged, those of the runtime would convert them. */
static void nnrti_tfl_check_quant(nnrti_tfl *c, uint32_t k)
{
    const bool wide = nnrti_tfl_at(c, nnrti_tfl_in(c, c->row->main))->dataType == NNRT_DATA_TYPE_INT16;
    const bool all = c->row->rule == NNRTI_TFLITE_EQUAL || (wide && c->row->code == NNRTI_TFL_CONCATENATION);
    const uint32_t from = all ? 0 : c->row->main, to = !all ? c->row->main + 1 : k == 0 ? c->in.count : 0;
    const bool scaled = nnrti_tfl_is_quantized(c, nnrti_tfl_in(c, c->row->main)) || c->row->code == NNRTI_TFL_QUANTIZE;
    nnrti_tfl_tensor y;
    if (c->row->rule == NNRTI_TFLITE_OWN || nnrti_tfl_is_complex(c, nnrti_tfl_out_index(c, k)) ||
        !nnrti_tfl_tensor_at(c, (uint32_t)nnrti_tfl_out_index(c, k), &y))
        return;
    if (nnrt_type_size(y.type) < 3 && y.type != NNRT_DATA_TYPE_BOOL && y.type != NNRT_DATA_TYPE_FLOAT16 &&
        y.quantized != scaled) {
        NNRTI_TFL_FAIL(c, NNRT_UNSUPPORTED_OP, "result '%s' is %t %s scale and zero point, expected %s", y.name, y.type,
                       y.quantized ? "with" : "without", scaled ? "some" : "none");
        return;
    }
    for (uint32_t i = from; (c->row->rule != NNRTI_TFLITE_ANY || all) && i < to && c->code == NNRT_SUCCESS; i++) {
        const nnrt_operand *x = nnrti_tfl_at(c, nnrti_tfl_in(c, i));
        if (c->code == NNRT_SUCCESS && nnrt_type_size(x->dataType) < 3 && x->dataType == y.type &&
            x->dataType != NNRT_DATA_TYPE_BOOL && !nnrti_tfl_same_quant(c, x, &y))
            NNRTI_TFL_FAIL(
                c, NNRT_UNSUPPORTED_OP,
                "result '%s' has other quantization parameters than input %u, but the operator moves elements "
                "unchanged",
                y.name, i);
    }
}

/* The operators that read complex values: RESHAPE, SQUEEZE, IMAG, REAL and COMPLEX_ABS. */
static bool nnrti_tfl_takes_complex(int32_t code)
{
    return code == 22 || code == 43 || (code >= NNRTI_TFL_IMAG && code <= NNRTI_TFL_IMAG + 2);
}

/* Checks operand counts, options and types of the current operator against its row. */
static void nnrti_tfl_check_operator(nnrti_tfl *c, const nnrti_tfl_table *op)
{
    const nnrti_tfl_row *row = c->row;
    const int32_t type = nnrti_tfl_byte(c, op, 3, 0) & 255;
    const nnrt_operand *x;
    c->options = nnrti_tfl_no_table;
    c->custom = nnrti_tfl_vector_of(c, op, 5, 1);
    if (type == (int32_t)row->options && type != 0)
        c->options = nnrti_tfl_sub(c, op, 4);
    else if (c->code == NNRT_SUCCESS && type != 0 && row->options != 0)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "its options have type %d, expected %u", type, row->options);
    (void)nnrti_tfl_work(c, 2.0 * c->options.count);
    for (uint32_t k = row->members; k < c->options.count; k++)
        if (nnrti_tfl_field(c, &c->options, k, 1) != 0)
            NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "it sets option %u, only the options 0 to %d are known", k,
                           (int32_t)row->members - 1);
    if (c->code == NNRT_SUCCESS && nnrti_tfl_byte(c, op, 11, 0) != 0)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "it has options of the second kind, which are not supported");
    if (c->code == NNRT_SUCCESS && (c->in.count < row->least || (row->most > 0 && c->in.count > row->most) ||
                                    (c->out.count == 0 && row->rule != NNRTI_TFLITE_OWN)))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "it has %u inputs and %u results, expected %u to %u inputs and a result",
                       c->in.count, c->out.count, row->least, row->most > 0 ? row->most : c->in.count);
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < row->least; k++)
        if (nnrti_tfl_in_index(c, k) < 0)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "input %u is missing", k);
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < c->out.count; k++)
        if (nnrti_tfl_item(c, &c->out, k) < 0)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "result %u is missing", k);
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < c->in.count; k++)
        if (nnrti_tfl_is_complex(c, nnrti_tfl_in_index(c, k)) && !nnrti_tfl_takes_complex(row->code))
            NNRTI_TFL_FAIL(c, NNRT_INVALID_DATATYPE, "input %u is complex64, which is not supported", k);
    x = nnrti_tfl_at(c, nnrti_tfl_in(c, row->main));
    if (c->code == NNRT_SUCCESS && row->main != NNRTI_TFL_NONE && strchr(row->types, nnrti_tfl_letter(x)) == NULL &&
        !nnrti_tfl_is_wide(c))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_DATATYPE, "input %u '%s' is %o%s, which is not supported", row->main,
                       x->name != NULL ? x->name : "", x, x->quantCount > 0 ? " with scale and zero point" : "");
    for (uint32_t k = 0; k < c->out.count && c->code == NNRT_SUCCESS; k++)
        nnrti_tfl_check_quant(c, k);
}

static void nnrti_tfl_add_operator(nnrti_tfl *c, uint32_t i)
{
    const nnrti_tfl_table op = nnrti_tfl_entry(c, &c->operators, i);
    char name[96];
    nnrti_tfl_enter(c, i);
    c->row = nnrti_tfl_row_of(c, (uint32_t)nnrti_tfl_int(c, &op, 0, 0));
    if (c->row == NULL || c->code != NNRT_SUCCESS)
        return;
    name[0] = '\0';
    c->opName = name;
    c->index = i;
    c->opGraph = c->graph;
    (void)nnrti_tfl_operator_name(c, i, name, sizeof(name));
    nnrti_tfl_check_operator(c, &op);
    if (c->code == NNRT_SUCCESS && nnrti_tfl_is_wide(c))
        nnrti_tfl_widen(c);
    else if (c->code == NNRT_SUCCESS)
        c->row->handler(c);
    c->row = NULL;
    c->opName = NULL;
}

static void nnrti_tfl_add_operators(nnrti_tfl *c)
{
    for (uint32_t i = 0; c->code == NNRT_SUCCESS && i < c->operators.count; i++)
        if (c->needed[c->tensors.count + i] != 0)
            nnrti_tfl_add_operator(c, i);
}

/* Makes v an output. The result of a node takes the name, which is kept; inputs, constants and values that already are an
   output are copied by a node. */
static void nnrti_tfl_add_output(nnrti_tfl *c, uint32_t v, const char *name)
{
    nnrt_builder *b = c->builder;
    if (c->code != NNRT_SUCCESS || v == NNRT_NO_TENSOR)
        return;
    if (b->writers[v] == NNRTI_BY_INPUT || nnrti_tfl_is_constant(c, v) || b->isOutput[v]) {
        uint32_t from = v;
        if (b->writers[v] != NNRTI_BY_INPUT && !b->isOutput[v])
            b->tensors[v].name = b->shapes[v].name = NULL; /* the copy takes the name */
        v = nnrt_builder_tensor(b, NULL);
        nnrti_builder_tables(b);
        nnrt_builder_node(b, name, NNRT_NODE_TYPE_ASSIGN, NULL, &from, 1, &v, 1);
        if (!nnrti_tfl_fine(c))
            return;
        nnrti_tfl_keep_quant(c, &v, 1);
    }
    if (nnrti_builder_operand(b, v) != NULL) {
        b->tensors[v].name = name;
        b->shapes[v].name = name;
        nnrt_builder_output(b, v);
    }
    (void)nnrti_tfl_fine(c);
}

/* Makes the outputs: the outputs of the file, and the states after a run. */
static void nnrti_tfl_add_outputs(nnrti_tfl *c)
{
    const uint32_t outputs = nnrti_tfl_output_count(c);
    c->builder->worth = NULL; /* no constant folding: a constant output needs a node that writes it */
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < outputs; k++) {
        const uint32_t t = nnrti_tfl_output_tensor(c, k);
        char *name = (char *)nnrti_tfl_keep(c, NNRTI_TFL_NAME, 1);
        nnrti_tfl_tensor described;
        if (name == NULL || !nnrti_tfl_tensor_at(c, t, &described))
            return;
        (void)nnrti_tfl_io_name(c, 1, k, t, name, NNRTI_TFL_NAME);
        nnrti_tfl_add_output(c, nnrti_tfl_value(c, (int32_t)t), name);
    }
    for (const nnrti_tfl_state *s = c->states->first; s != NULL && c->code == NNRT_SUCCESS; s = s->next) {
        char *name = s->in != NNRT_NO_TENSOR ? (char *)nnrti_tfl_keep(c, 2 * NNRTI_TFL_NAME, 1) : NULL;
        if (name == NULL)
            continue;
        (void)nnrt_text(name, 2 * NNRTI_TFL_NAME, "%s.next", s->name);
        nnrti_tfl_add_output(c, s->now, name);
    }
}

/* The metadata "states": a line per state. */
static nnrt_metadata nnrti_tfl_states_text(nnrti_tfl *c)
{
    nnrt_metadata m;
    size_t room = 1, at = 0;
    char *text = NULL;
    m.key = "states";
    for (const nnrti_tfl_state *s = c->states->first; s != NULL; s = s->next)
        room += s->in != NNRT_NO_TENSOR ? 2 * strlen(s->name) + sizeof("=.next\n") : 0;
    text = room > 1 ? (char *)nnrti_tfl_keep(c, room, 1) : NULL;
    for (const nnrti_tfl_state *s = c->states->first; s != NULL && text != NULL; s = s->next)
        if (s->in != NNRT_NO_TENSOR)
            at += nnrt_text(text + at, room - at, "%s%s=%s.next", at > 0 ? "\n" : "", s->name, s->name);
    m.value = text;
    return m;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_metadata */

/* Idea: TFLITE_METADATA is a buffer with a flatbuffer of its own (ModelMetadata), which names files of a zip archive behind
   the model. They describe the model without an effect on its results, so they are read with a copy of the import's
   state, whose faults leave them out. */
typedef struct nnrti_tfl_meta {
    nnrti_tfl *c;        /* the copy; its bytes are the flatbuffer of the metadata */
    const uint8_t *file; /* with the archive */
    size_t fileBytes;
    nnrt_metadata *list;
    uint32_t count, room;
} nnrti_tfl_meta;

/* Adds the key "first", "first.name" or "first.name.last"; NULL: no value. */
static void nnrti_tfl_meta_add(nnrti_tfl_meta *a, const char *first, const char *name, const char *last,
                               const char *value)
{
    const size_t room = strlen(first) + strlen(name) + strlen(last) + 3;
    char *key = value != NULL && value[0] != '\0' && a->count < a->room ? (char *)nnrti_tfl_keep(a->c, room, 1) : NULL;
    if (key == NULL)
        return;
    (void)nnrt_text(key, room, "%s%s%s%s%s", first, *name != '\0' ? "." : "", name, *last != '\0' ? "." : "", last);
    a->list[a->count].key = key;
    a->list[a->count++].value = value;
}

/* n bytes as a text: lines end with \n alone, and the last one without it. NULL: they contain a NUL. */
static const char *nnrti_tfl_meta_text(nnrti_tfl *c, const uint8_t *bytes, size_t n)
{
    char *text = n > 0 && memchr(bytes, 0, n) == NULL && nnrti_tfl_work(c, (double)n)
                     ? (char *)nnrti_tfl_keep(c, n + 1, 1)
                     : NULL;
    size_t to = 0;
    for (size_t i = 0; text != NULL && i < n; i++)
        if (bytes[i] != '\r' || i + 1 == n || bytes[i + 1] != '\n')
            text[to++] = (char)bytes[i];
    while (to > 0 && text[to - 1] == '\n')
        text[--to] = '\0';
    if (text != NULL)
        text[to] = '\0';
    return text;
}

static const char *nnrti_tfl_meta_string(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field)
{
    const nnrti_tfl_vector v = nnrti_tfl_vector_of(c, t, field, 1);
    return v.at != 0 ? nnrti_tfl_meta_text(c, c->data + v.at, v.count) : NULL;
}

/* Numbers separated by commas: 1 to 4 finite ones, none of them 0 if they are divisors; else NULL. */
static const char *nnrti_tfl_meta_numbers(nnrti_tfl *c, const nnrti_tfl_table *t, uint32_t field, bool divisors)
{
    const nnrti_tfl_vector v = nnrti_tfl_vector_of(c, t, field, 4);
    char *text = v.count >= 1 && v.count <= 4 ? (char *)nnrti_tfl_keep(c, 4 * 24, 1) : NULL;
    size_t at = 0;
    for (uint32_t i = 0; text != NULL && i < v.count; i++) {
        const float x = nnrti_tfl_float_at(c, v.at + 4 * (size_t)i);
        if (!(x >= -3.4e38f && x <= 3.4e38f) || (divisors && x == 0))
            return NULL;
        at += nnrt_text(text + at, 4 * 24 - at, "%s%f", i > 0 ? "," : "", (double)x);
    }
    return text;
}

/* Bytes of a little-endian number in the file that the archive ends; 0 outside of it. */
static uint32_t nnrti_tfl_zip_u(const nnrti_tfl_meta *a, size_t at, uint32_t bytes)
{
    uint32_t v = 0;
    if (at > a->fileBytes || bytes > a->fileBytes - at)
        return 0;
    for (uint32_t i = bytes; i-- > 0;)
        v = v << 8 | a->file[at + i];
    return v;
}

/* The end record of the archive: it is last, but for a comment of less than 64 KiB. 0: there is no archive. */
static size_t nnrti_tfl_zip_end(const nnrti_tfl_meta *a)
{
    size_t at = a->fileBytes >= 22 ? a->fileBytes - 22 : 0;
    for (uint32_t i = 0; at > 0 && i < 65536; i++, at--)
        if (nnrti_tfl_zip_u(a, at, 4) == 0x06054b50 && nnrti_tfl_zip_u(a, at + 20, 2) == i)
            return at;
    return 0;
}

/* The text of a file of the archive; NULL: there is none, or it is compressed. */
static const char *nnrti_tfl_zip_text(nnrti_tfl_meta *a, const char *name)
{
    const size_t end = nnrti_tfl_zip_end(a), length = strlen(name);
    const uint32_t entries = nnrti_tfl_zip_u(a, end + 10, 2), size = nnrti_tfl_zip_u(a, end + 12, 4);
    const size_t base = end - nnrti_tfl_zip_u(a, end + 16, 4) - size; /* offsets count from here */
    size_t at = end - size;
    if (end == 0 || at > end || base > at)
        return NULL;
    for (uint32_t i = 0; i < entries && nnrti_tfl_zip_u(a, at, 4) == 0x02014b50 && nnrti_tfl_work(a->c, 46); i++) {
        const uint32_t n = nnrti_tfl_zip_u(a, at + 28, 2), bytes = nnrti_tfl_zip_u(a, at + 24, 4);
        const size_t local = base + nnrti_tfl_zip_u(a, at + 42, 4);
        const size_t data = local + 30 + nnrti_tfl_zip_u(a, local + 26, 2) + nnrti_tfl_zip_u(a, local + 28, 2);
        if (n == length && at + 46 <= end && n <= end - at - 46 && memcmp(a->file + at + 46, name, n) == 0) {
            if (nnrti_tfl_zip_u(a, at + 10, 2) == 0 && nnrti_tfl_zip_u(a, local, 4) == 0x04034b50 && data <= end &&
                bytes <= end - data)
                return nnrti_tfl_meta_text(a->c, a->file + data, bytes);
            nnrt_log_line(a->c->desc->log, NNRT_LOG_WARNING, "the associated file '%s' is compressed or damaged", name);
            return NULL;
        }
        at += 46 + (size_t)n + nnrti_tfl_zip_u(a, at + 30, 2) + nnrti_tfl_zip_u(a, at + 32, 2);
    }
    return NULL;
}

/* The labels of the axis of classes: the first associated file of a tensor with type TENSOR_AXIS_LABELS (2). */
static const char *nnrti_tfl_meta_labels(nnrti_tfl_meta *a, const nnrti_tfl_table *tensor)
{
    const nnrti_tfl_vector files = nnrti_tfl_vector_of(a->c, tensor, 6, 4);
    for (uint32_t i = 0; i < files.count && nnrti_tfl_work(a->c, 4); i++) {
        const nnrti_tfl_table f = nnrti_tfl_entry(a->c, &files, i);
        const char *name = nnrti_tfl_byte(a->c, &f, 2, 0) == 2 ? nnrti_tfl_meta_string(a->c, &f, 0) : NULL;
        if (name != NULL)
            return nnrti_tfl_zip_text(a, name);
    }
    return NULL;
}

/* An input of a file: normalization (process unit 1) and the color of images (content 2). */
static void nnrti_tfl_meta_input(nnrti_tfl_meta *a, const nnrti_tfl_table *tensor, const char *name, bool quantized)
{
    nnrti_tfl *c = a->c;
    const nnrti_tfl_vector units = nnrti_tfl_vector_of(c, tensor, 4, 4);
    const nnrti_tfl_table content = nnrti_tfl_sub(c, tensor, 3);
    for (uint32_t i = 0; i < units.count && nnrti_tfl_work(c, 4); i++) {
        const nnrti_tfl_table unit = nnrti_tfl_entry(c, &units, i);
        const nnrti_tfl_table options = nnrti_tfl_sub(c, &unit, 1);
        const char *mean, *std;
        if (nnrti_tfl_byte(c, &unit, 0, 0) != 1)
            continue;
        mean = nnrti_tfl_meta_numbers(c, &options, 0, false);
        std = nnrti_tfl_meta_numbers(c, &options, 1, true);
        if (mean == NULL || std == NULL)
            break;
        nnrti_tfl_meta_add(a, "input", name, "mean", mean);
        nnrti_tfl_meta_add(a, "input", name, "std", std);
        nnrti_tfl_meta_add(a, "input", name, "quantize", quantized ? "yes" : NULL);
        break;
    }
    if (nnrti_tfl_byte(c, &content, 0, 0) == 2) {
        const nnrti_tfl_table image = nnrti_tfl_sub(c, &content, 1);
        const int32_t color = nnrti_tfl_byte(c, &image, 0, 0);
        nnrti_tfl_meta_add(a, "input", name, "color", color == 1 ? "rgb" : color == 2 ? "gray" : NULL);
    }
}

/* Inputs (list 2 of the metadata) or outputs (list 3) of the main graph. c: the import. */
static void nnrti_tfl_meta_list(nnrti_tfl_meta *a, nnrti_tfl *c, const nnrti_tfl_table *graph, uint32_t list)
{
    const nnrti_tfl_vector v = nnrti_tfl_vector_of(a->c, graph, list, 4), *io = list == 2 ? &c->inputs : &c->outputs;
    for (uint32_t k = 0; k < v.count && k < io->count && nnrti_tfl_work(a->c, 4); k++) {
        const nnrti_tfl_table tensor = nnrti_tfl_entry(a->c, &v, k);
        const uint32_t index = (uint32_t)nnrti_tfl_item(c, io, k);
        char name[NNRTI_TFL_NAME];
        nnrti_tfl_tensor t;
        if (!nnrti_tfl_tensor_at(c, index, &t))
            return;
        (void)nnrti_tfl_io_name(c, list - 2, k, index, name, sizeof(name));
        if (list == 2)
            nnrti_tfl_meta_input(a, &tensor, name, t.quantized && nnrt_type_size(t.type) == 1);
        else
            nnrti_tfl_meta_add(a, "labels", name, "", nnrti_tfl_meta_labels(a, &tensor));
    }
}

/* Finds the flatbuffer of TFLITE_METADATA in the file of c and makes it the bytes of c. */
static bool nnrti_tfl_meta_open(nnrti_tfl *c)
{
    const nnrti_tfl_vector all = nnrti_tfl_vector_of(c, &c->root, 6, 4);
    for (uint32_t i = 0; i < all.count && nnrti_tfl_work(c, 4); i++) {
        const nnrti_tfl_table entry = nnrti_tfl_entry(c, &all, i);
        nnrti_tfl_table buffer;
        nnrti_tfl_vector bytes;
        if (!nnrti_tfl_is_named(c, &entry, 0, i, "TFLITE_METADATA"))
            continue;
        buffer = nnrti_tfl_entry(c, &c->buffers, (uint32_t)nnrti_tfl_int(c, &entry, 1, 0));
        bytes = nnrti_tfl_vector_of(c, &buffer, 0, 1);
        if (bytes.count < 8 || memcmp(c->data + bytes.at + 4, "M001", 4) != 0)
            return false;
        c->data += bytes.at;
        c->bytes = bytes.count;
        c->root = nnrti_tfl_table_at(c, nnrti_tfl_follow(c, 0));
        return c->code == NNRT_SUCCESS;
    }
    return false;
}

/* All metadata of the model: the states, and the list of TFLITE_METADATA. NULL after a fault of c. */
static nnrt_metadata *nnrti_tfl_metadata(nnrti_tfl *c, uint32_t *count)
{
    const nnrt_metadata states = nnrti_tfl_states_text(c);
    nnrti_tfl copy = *c;
    nnrti_tfl_meta a;
    memset(&a, 0, sizeof(a));
    a.c = &copy;
    a.file = c->data;
    a.fileBytes = c->bytes;
    a.room = 4 * c->inputs.count + c->outputs.count + 3;
    a.list = (nnrt_metadata *)nnrti_tfl_keep(c, a.room, sizeof(*a.list));
    copy.error = NULL;
    if (a.list != NULL && c->graph == 0 && nnrti_tfl_meta_open(&copy)) {
        const nnrti_tfl_vector graphs = nnrti_tfl_vector_of(&copy, &copy.root, 3, 4);
        const nnrti_tfl_table graph = nnrti_tfl_entry(&copy, &graphs, 0);
        nnrti_tfl_meta_add(&a, "description", "", "", nnrti_tfl_meta_string(&copy, &copy.root, 1));
        nnrti_tfl_meta_add(&a, "license", "", "", nnrti_tfl_meta_string(&copy, &copy.root, 5));
        nnrti_tfl_meta_list(&a, c, &graph, 2);
        if (c->desc->outputCount == 0)
            nnrti_tfl_meta_list(&a, c, &graph, 3);
    }
    if (copy.code != NNRT_SUCCESS)
        nnrt_log_line(c->desc->log, NNRT_LOG_WARNING, "TFLITE_METADATA are damaged and left out: %s", copy.text);
    *count = copy.code == NNRT_SUCCESS ? a.count : 0;
    if (a.list != NULL && states.value != NULL)
        a.list[(*count)++] = states;
    return a.list;
}

/* Builds the model: outputs, dead-code elimination, optimizer passes. Casts between float32 and 8 bits stay where the
   file has them. */
static NNRT_ReturnCode nnrti_tfl_build(nnrti_tfl *c, NNRT_Model **model)
{
    nnrt_metadata *metadata;
    uint32_t count = 0;
    NNRT_ReturnCode code;
    bool any;
    nnrti_tfl_add_outputs(c);
    metadata = nnrti_tfl_metadata(c, &count);
    if (c->code != NNRT_SUCCESS)
        return c->code;
    c->builder->log = c->desc->log;
    code = nnrti_builder_reduce(c->builder, !c->desc->no_optimize,
                                (uint32_t)NNRT_PASS_QUANTIZE | (c->keepsHalf ? (uint32_t)NNRT_PASS_WIDEN : 0u), false, &any);
    return code == NNRT_SUCCESS ? nnrti_builder_annotated(c->builder, model, metadata, count, c->error)
                                : nnrti_builder_report(c->builder, code, c->error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_variables */

/* Idea: a state is an input with the value that the last run left, and an output with the next one (>>tflite_import); the
   operators read and replace its current value in their order. Variables are found before the operators are added, so
   that one that the main graph never assigns is a constant. A state begins as zeros; another initial value is selected
   as long as the state `begun` is false, which each run makes true. */

/* A new state; NULL after a fault. */
static nnrti_tfl_state *nnrti_tfl_state_new(nnrti_tfl *c, const char *name)
{
    nnrti_tfl_state *s = (nnrti_tfl_state *)nnrti_tfl_keep(c, 1, sizeof(*s));
    if (s == NULL)
        return NULL;
    if (*name != '\0')
        (void)nnrt_text(s->name, sizeof(s->name), "%s", name);
    else
        (void)nnrt_text(s->name, sizeof(s->name), "state_%u", c->states->count);
    s->initial = s->in = s->now = NNRT_NO_TENSOR;
    *c->states->end = s;
    c->states->end = &s->next;
    c->states->count++;
    return s;
}

/* Makes the input of a state with type, shape and quantization parameters of o, and its current value. */
static void nnrti_tfl_state_begin(nnrti_tfl *c, nnrti_tfl_state *s, const nnrt_operand *o)
{
    if (c->builder->entered != 0)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT,
                       "'%s' stays between runs and is used in a subgraph of IF or WHILE, which is not supported",
                       s->name);
    if (c->code != NNRT_SUCCESS)
        return;
    s->in = s->now = nnrt_builder_input(c->builder, s->name, o->dataType, o->rank, o->dims);
    nnrti_builder_tables(c->builder);
    if (nnrti_tfl_fine(c) && o->quantCount > 0)
        nnrt_builder_quant(c->builder, s->in, o->quant, o->quantCount);
    (void)nnrti_tfl_fine(c);
}

/* True if a new state has this initial value: zeros, or zero points of 8 bits. */
static bool nnrti_tfl_state_is_zero(const nnrt_operand *o)
{
    const int zero = o->quantCount > 0 && nnrt_type_size(o->dataType) == 1 ? o->quant[0].zeroPoint & 255 : 0;
    size_t bytes = 0;
    bool is = nnrt_dims_bytes(o->dims, o->rank, o->dataType, &bytes);
    for (size_t i = 0; is && i < bytes; i++)
        is = ((const uint8_t *)o->data)[i] == zero;
    return is;
}

/* The condition that selects initial values: false in the first run. */
static uint32_t nnrti_tfl_begun(nnrti_tfl *c)
{
    static const uint8_t yes = 1;
    const nnrt_operand flag = nnrt_operand_make(NNRT_DATA_TYPE_BOOL, 0, NULL, NULL);
    nnrti_tfl_state *s = c->states->begun;
    if (s != NULL)
        return s->in;
    if ((c->states->begun = s = nnrti_tfl_state_new(c, "states.begun")) == NULL)
        return NNRT_NO_TENSOR;
    nnrti_tfl_state_begin(c, s, &flag);
    s->now = nnrti_tfl_constant_copy(c, NNRT_DATA_TYPE_BOOL, 0, NULL, &yes);
    return s->in;
}

/* The current value of a variable. */
static uint32_t nnrti_tfl_variable_value(nnrti_tfl *c, nnrti_tfl_state *s)
{
    if (s->now != NNRT_NO_TENSOR)
        return s->now;
    if (s->initial == NNRT_NO_TENSOR)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "variable '%s' is read before a value is assigned to it", s->name);
    if (!s->assigned || c->code != NNRT_SUCCESS)
        return s->now = s->initial;
    nnrti_tfl_state_begin(c, s, nnrti_tfl_at(c, s->initial));
    if (c->code == NNRT_SUCCESS && !nnrti_tfl_state_is_zero(nnrti_tfl_at(c, s->initial)))
        s->now = nnrti_tfl_step3(c, NNRT_NODE_TYPE_SELECT, NULL, nnrti_tfl_begun(c), s->in, s->initial);
    return s->now;
}

/* True if two vectors of the file have the same bytes. */
static bool nnrti_tfl_same_bytes(const nnrti_tfl *c, const nnrti_tfl_vector *a, const nnrti_tfl_vector *b)
{
    return a->count == b->count && (a->count == 0 || memcmp(c->data + a->at, c->data + b->at, a->count) == 0);
}

/* The variable of the current operator, a VAR_HANDLE with this table; a new one if no operator before has its names. */
static nnrti_tfl_state *nnrti_tfl_handle(nnrti_tfl *c, const nnrti_tfl_table *op)
{
    const nnrti_tfl_table options = nnrti_tfl_sub(c, op, 4);
    const nnrti_tfl_vector container = nnrti_tfl_vector_of(c, &options, 0, 1),
                           shared = nnrti_tfl_vector_of(c, &options, 1, 1);
    nnrti_tfl_state *s = c->states->first;
    char name[NNRTI_TFL_NAME];
    if (!nnrti_tfl_work(c, (1.0 + c->states->count) * (4.0 + container.count + shared.count)))
        return NULL;
    while (s != NULL && (s->shared.at == 0 || !nnrti_tfl_same_bytes(c, &s->shared, &shared) ||
                         !nnrti_tfl_same_bytes(c, &s->container, &container)))
        s = s->next;
    if (s == NULL && shared.count == 0)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "an operator VAR_HANDLE has no name of a variable (shared_name)");
    if (s != NULL ||
        (s = nnrti_tfl_state_new(c, nnrti_tfl_string(c, &options, 1, c->states->count, name, sizeof(name)))) == NULL)
        return s;
    s->container = container;
    s->shared = shared;
    return s;
}

/* Finds the variables of the current subgraph, and marks the assigned ones, before any operator reads one. */
static void nnrti_tfl_find_variables(nnrti_tfl *c)
{
    for (uint32_t i = 0; c->code == NNRT_SUCCESS && i < c->operators.count; i++) {
        const nnrti_tfl_table op = nnrti_tfl_entry(c, &c->operators, i);
        const int32_t code =
            c->needed[c->tensors.count + i] != 0 ? nnrti_tfl_code(c, (uint32_t)nnrti_tfl_int(c, &op, 0, 0)) : 0;
        uint32_t t;
        if (code != NNRTI_TFL_VAR_HANDLE && code != NNRTI_TFL_ASSIGN)
            continue;
        nnrti_tfl_enter(c, i);
        t = (uint32_t)(code == NNRTI_TFL_ASSIGN ? nnrti_tfl_in_index(c, 0) : nnrti_tfl_out_index(c, 0));
        if (c->code != NNRT_SUCCESS || t >= c->tensors.count)
            continue; /* the operator is refused when it is added */
        if (code == NNRTI_TFL_VAR_HANDLE)
            c->variables[t] = nnrti_tfl_handle(c, &op);
        else if (c->variables[t] != NULL && !c->initializes)
            c->variables[t]->assigned = true;
    }
}

/* nnrti_tfl_find_variables has done its work. */
static void nnrti_tfl_op_handle(nnrti_tfl *c)
{
    if (c->out.count != 1)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "it has %u results, expected 1", c->out.count);
}

/* The variable that input 0 of the current operator refers to; NULL after a fault. */
static nnrti_tfl_state *nnrti_tfl_variable(nnrti_tfl *c)
{
    const uint32_t t = (uint32_t)nnrti_tfl_in_index(c, 0);
    nnrti_tfl_state *s = c->code == NNRT_SUCCESS && t < c->tensors.count ? c->variables[t] : NULL;
    if (s == NULL)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "input 0 is no result of a VAR_HANDLE of the same subgraph");
    return s;
}

static void nnrti_tfl_op_read(nnrti_tfl *c)
{
    nnrti_tfl_state *s = nnrti_tfl_variable(c);
    if (s != NULL)
        nnrti_tfl_bind(c, nnrti_tfl_out_index(c, 0), nnrti_tfl_variable_value(c, s));
}

static void nnrti_tfl_op_assign(nnrti_tfl *c)
{
    nnrti_tfl_state *s = nnrti_tfl_variable(c);
    const uint32_t v = nnrti_tfl_in(c, 1);
    const nnrt_operand *o = nnrti_tfl_at(c, v), *old = s != NULL ? nnrti_tfl_at(c, s->initial) : NULL;
    if (c->code != NNRT_SUCCESS || s == NULL)
        return;
    if (c->initializes && !nnrti_tfl_is_constant(c, v))
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "the initial value of variable '%s' is not constant", s->name);
    else if (!c->initializes && c->depth > 0)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT,
                       "variable '%s' is assigned in a subgraph of IF or WHILE, which is not supported", s->name);
    else if (s->initial != NNRT_NO_TENSOR && (o->dataType != old->dataType || o->rank != old->rank ||
                                              memcmp(o->dims, old->dims, (size_t)o->rank * sizeof(*o->dims)) != 0))
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "variable '%s' is %o and becomes %o, expected the same type and shape",
                       s->name, old, o);
    else if (c->initializes)
        s->initial = v;
    else
        s->now = v;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_control */

/* A further graph of the builder. */
static uint32_t nnrti_tfl_new_graph(nnrti_tfl *c)
{
    const uint32_t g = c->code == NNRT_SUCCESS ? nnrt_builder_graph(c->builder, NULL) : NNRT_NO_GRAPH;
    return nnrti_tfl_fine(c) ? g : NNRT_NO_GRAPH;
}

/* Checks that subgraph `index` is not the current one or one around it, which would never end. */
static void nnrti_tfl_check_nesting(nnrti_tfl *c, uint32_t index)
{
    if (c->depth == NNRT_MAX_NESTING)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "is nested in %d subgraphs, the maximum", NNRT_MAX_NESTING);
    for (const nnrti_tfl *g = c; g != NULL; g = g->outer)
        if (g->graph == index)
            NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "it runs subgraph %u, which it is part of", index);
}

/* Imports subgraph `index` into graph `into` of the builder, with values for its nIn inputs. Returns the values of its
   nOut outputs, NULL after a fault. `into` may be the current graph: the subgraph is then inlined. */
static uint32_t *nnrti_tfl_read_graph(nnrti_tfl *c, uint32_t index, uint32_t into, const uint32_t *in, uint32_t nIn,
                                      uint32_t nOut)
{
    const nnrti_tfl around = *c; /* subgraph and operator around the subgraph */
    const uint32_t entered = c->builder->entered;
    uint32_t *out = (uint32_t *)nnrti_tfl_keep(c, (size_t)nOut + 1, sizeof(*out));
    NNRT_ReturnCode code;
    bool inPlace;
    nnrti_tfl_check_nesting(c, index);
    c->outer = &around;
    c->depth++;
    c->unnamed = into == entered;
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_enter(c->builder, into);
    nnrti_tfl_open_graph(c, index);
    if (c->code == NNRT_SUCCESS && (c->inputs.count != nIn || c->outputs.count != nOut))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "subgraph %u has %u inputs and %u outputs, expected %u and %u", index,
                       c->inputs.count, c->outputs.count, nIn, nOut);
    nnrti_tfl_mark(c);
    nnrti_tfl_check(c);
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < nIn; k++)
        nnrti_tfl_bind(c, nnrti_tfl_item(c, &c->inputs, k), in[k]);
    nnrti_tfl_find_variables(c);
    nnrti_tfl_add_operators(c);
    c->row = around.row;
    c->opName = around.opName;
    c->index = around.index;
    c->opGraph = around.opGraph;
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < nOut; k++)
        out[k] = nnrti_tfl_value(c, nnrti_tfl_item(c, &c->outputs, k));
    code = c->code;
    inPlace = c->usedInPlace;
    *c = around;
    c->code = code;
    c->usedInPlace = inPlace;
    nnrt_builder_enter(c->builder, entered);
    return c->code == NNRT_SUCCESS ? out : NULL;
}

/* Adds IF or LOOP. Its inference is charged to the budget by the size of the builder. */
static void nnrti_tfl_control_step(nnrti_tfl *c, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                                   const uint32_t *results)
{
    for (uint32_t k = 0; c->code == NNRT_SUCCESS && k < c->out.count; k++) {
        const nnrt_operand *o = nnrti_tfl_at(c, results[k]);
        nnrti_tfl_tensor t;
        if (nnrti_tfl_tensor_at(c, (uint32_t)nnrti_tfl_out_index(c, k), &t) &&
            (t.type != o->dataType || !nnrti_tfl_same_quant(c, o, &t)))
            NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "result '%s' is %t, its subgraph returns %o%s", t.name, t.type, o,
                           t.type == o->dataType ? " with other quantization parameters" : "");
    }
    if (nnrti_tfl_work(c, (double)nnrti_array_count(c->builder->tensors)))
        nnrti_tfl_last(c, type, attr, in, nIn);
}

/* Input 0 is the condition, the others are the inputs of both subgraphs, which read them as tensors of the graph around.
   With a constant condition the selected subgraph is inlined. */
static void nnrti_tfl_op_if(nnrti_tfl *c)
{
    const uint32_t *in = nnrti_tfl_inputs(c, 1);
    const uint32_t nIn = c->in.count - 1, nOut = c->out.count;
    uint32_t *then = NULL, *otherwise = NULL, graphs[2];
    NNRT_If a;
    graphs[0] = (uint32_t)nnrti_tfl_int(c, &c->options, 0, 0);
    graphs[1] = (uint32_t)nnrti_tfl_int(c, &c->options, 1, 0);
    if (in == NULL)
        return;
    if (nnrti_tfl_is_constant(c, in[0]) && nnrti_count(nnrti_tfl_at(c, in[0])) == 1) {
        const bool yes = *(const uint8_t *)nnrti_tfl_at(c, in[0])->data != 0;
        then = nnrti_tfl_read_graph(c, graphs[yes ? 0 : 1], c->builder->entered, in + 1, nIn, nOut);
        for (uint32_t k = 0; then != NULL && k < nOut; k++)
            nnrti_tfl_bind(c, nnrti_tfl_out_index(c, k), then[k]);
        return;
    }
    a.thenGraph = nnrti_tfl_new_graph(c);
    a.elseGraph = nnrti_tfl_new_graph(c);
    if (c->code == NNRT_SUCCESS)
        then = nnrti_tfl_read_graph(c, graphs[0], a.thenGraph, in + 1, nIn, nOut);
    if (then != NULL)
        otherwise = nnrti_tfl_read_graph(c, graphs[1], a.elseGraph, in + 1, nIn, nOut);
    if (otherwise == NULL)
        return;
    nnrt_builder_graph_io(c->builder, a.thenGraph, NULL, 0, then, nOut);
    nnrt_builder_graph_io(c->builder, a.elseGraph, NULL, 0, otherwise, nOut);
    nnrti_tfl_control_step(c, NNRT_NODE_TYPE_IF, &a, in, 1, then);
}

/* A loop that is imported. in: of the body of LOOP, iteration, condition and values; out: condition, values, and, of a
   recurrent layer, a row of the result. open:
   NNRT_MAX_RANK flags for each value: this dimension changes between iterations. */
typedef struct nnrti_tfl_loop {
    uint32_t body, count, rounds;
    uint32_t *start, *in, *out;
    bool *open;
} nnrti_tfl_loop;

/* Memory of a loop with `count` values, and its initial values. */
static bool nnrti_tfl_loop_begin(nnrti_tfl *c, nnrti_tfl_loop *l, uint32_t count)
{
    memset(l, 0, sizeof(*l));
    l->count = count;
    l->start = (uint32_t *)nnrti_tfl_keep(c, (size_t)count + 2, sizeof(*l->start));
    l->in = (uint32_t *)nnrti_tfl_keep(c, (size_t)count + 2, sizeof(*l->in));
    l->out = (uint32_t *)nnrti_tfl_keep(c, (size_t)count + 2, sizeof(*l->out));
    l->open = (bool *)nnrti_tfl_keep(c, (size_t)count + 1, NNRT_MAX_RANK * sizeof(*l->open));
    if (c->code == NNRT_SUCCESS)
        l->start[0] = l->start[1] = NNRT_NO_TENSOR;
    return c->code == NNRT_SUCCESS;
}

/* An input of the body with the properties o. */
static uint32_t nnrti_tfl_loop_input(nnrti_tfl *c, const nnrt_operand *o)
{
    const uint32_t v = nnrti_tfl_new(c, UINT32_MAX);
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    nnrt_builder_declare(c->builder, v, o->dataType, NNRT_RANK_UNKNOWN, NULL);
    if (o->rank >= 0)
        nnrti_builder_given(c->builder, v, o);
    nnrti_tfl_keep_quant(c, &v, 1);
    return v;
}

/* Starts a body: a new graph and its inputs, with the types and shapes that are known so far. */
static void nnrti_tfl_loop_body(nnrti_tfl *c, nnrti_tfl_loop *l)
{
    const nnrt_operand trip = nnrt_operand_make(NNRT_DATA_TYPE_INT64, 0, NULL, NULL);
    const nnrt_operand cond = nnrt_operand_make(NNRT_DATA_TYPE_BOOL, 0, NULL, NULL);
    l->body = nnrti_tfl_new_graph(c);
    l->in[0] = nnrti_tfl_loop_input(c, &trip);
    l->in[1] = nnrti_tfl_loop_input(c, &cond);
    for (uint32_t k = 0; k < l->count && c->code == NNRT_SUCCESS; k++) {
        nnrt_operand o = *nnrti_tfl_at(c, l->start[2 + k]);
        o.data = NULL;
        o.open = NULL;
        o.viewRank = -1;
        for (int32_t i = 0; i < o.rank; i++)
            if (l->open[k * NNRT_MAX_RANK + (uint32_t)i]) { /* equal to no other dimension */
                o.dims[i] = NNRTI_OPEN_EXTENT;
                o.symbols[i] = ++c->builder->symbols;
                o.most = 0;
            }
        l->in[2 + k] = nnrti_tfl_loop_input(c, &o);
    }
}

/* True if the values leave the body with the shapes of its inputs. Marks dimensions that do not as open. */
static bool nnrti_tfl_loop_closed(nnrti_tfl *c, nnrti_tfl_loop *l)
{
    const bool all = ++l->rounds > NNRTI_LOOP_ROUNDS;
    bool closed = true;
    for (uint32_t k = 0; k < l->count && c->code == NNRT_SUCCESS; k++) {
        const nnrt_operand *x = nnrti_tfl_at(c, l->in[2 + k]), *y = nnrti_tfl_at(c, l->out[1 + k]);
        if (x->rank >= 0 && y->rank >= 0 && x->rank != y->rank)
            NNRTI_TFL_FAIL(c, NNRT_UNSUPPORTED_OP,
                           "value %u comes into the body as %o and leaves it as %o, expected the same rank", k, x, y);
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

/* WHILE: LOOP with the condition of the initial values, and a body that computes the next values and their condition. As
   long as a value leaves the body with another shape, its dimension becomes dynamic, and the body is read again. */
static void nnrti_tfl_op_while(nnrti_tfl *c)
{
    const uint32_t condition = (uint32_t)nnrti_tfl_int(c, &c->options, 0, 0), n = c->in.count;
    const uint32_t body = (uint32_t)nnrti_tfl_int(c, &c->options, 1, 0), around = c->builder->entered;
    nnrti_builder_mark mark;
    nnrti_tfl_loop l;
    NNRT_Loop a;
    bool closed = false;
    uint32_t *first = NULL, *goes;
    if (c->code == NNRT_SUCCESS && c->out.count != n)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "it has %u inputs and %u results, expected as many", n, c->out.count);
    if (nnrti_tfl_loop_begin(c, &l, n))
        for (uint32_t k = 0; k < n; k++)
            l.start[2 + k] = nnrti_tfl_in(c, k);
    if (c->code == NNRT_SUCCESS)
        first = nnrti_tfl_read_graph(c, condition, around, l.start + 2, n, 1);
    if (first == NULL)
        return;
    l.start[1] = first[0];
    mark = nnrti_builder_here(c->builder);
    while (!closed && c->code == NNRT_SUCCESS) {
        nnrti_builder_back(c->builder, mark);
        nnrti_tfl_loop_body(c, &l);
        first = c->code == NNRT_SUCCESS ? nnrti_tfl_read_graph(c, body, l.body, l.in + 2, n, n) : NULL;
        if (first == NULL)
            return;
        memcpy(l.out + 1, first, n * sizeof(*first));
        nnrt_builder_enter(c->builder, l.body);
        goes = nnrti_tfl_read_graph(c, condition, l.body, first, n, 1);
        nnrt_builder_enter(c->builder, around);
        l.out[0] = goes != NULL ? goes[0] : NNRT_NO_TENSOR;
        closed = nnrti_tfl_loop_closed(c, &l);
    }
    a.body = l.body;
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_graph_io(c->builder, a.body, l.in, n + 2, l.out, n + 1);
    nnrti_tfl_control_step(c, NNRT_NODE_TYPE_LOOP, &a, l.start, n + 2, l.out + 1);
}

/* CALL_ONCE: its subgraph assigns initial values. */
static void nnrti_tfl_op_once(nnrti_tfl *c)
{
    if (c->depth > 0 || c->in.count + c->out.count > 0)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "it is in a subgraph or has operands, expected neither");
    c->initializes = true;
    if (c->code == NNRT_SUCCESS)
        (void)nnrti_tfl_read_graph(c, (uint32_t)nnrti_tfl_int(c, &c->options, 0, 0), c->builder->entered, NULL, 0, 0);
    c->initializes = false;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_recurrent */

/* Recurrent layers are a LOOP over time, as TensorFlow Lite clips the cell state, and the operator LSTM does not. The GEMM
   of the inputs of all time steps is before the loop. */
typedef struct nnrti_tfl_cell {
    uint32_t gates, recurrent; /* W x + b of all time steps [T,N,G], and the recurrent weight [G,P] */
    uint32_t peephole[3];      /* [H] of input, forget and output gate, or NNRT_NO_TENSOR */
    uint32_t projection, projectionBias;
    nnrti_tfl_state *states[2]; /* h [N,P]; s [N,H] of an LSTM, else NULL */
    int64_t size;               /* H */
    bool coupled; /* input gate = 1 - forget gate, which is gate 0 */
    NNRT_ActivationType activation;
    float cellClip, projectionClip;
} nnrti_tfl_cell;

/* Weight k of the current operator in float32, with `rank` axes, the first one of `size` elements (-1: of any size). */
static uint32_t nnrti_tfl_cell_weight(nnrti_tfl *c, uint32_t k, int32_t rank, int64_t size)
{
    const uint32_t v = nnrti_tfl_weight(c, nnrti_tfl_in(c, k));
    const nnrt_operand *o = nnrti_tfl_at(c, v);
    if (c->code == NNRT_SUCCESS &&
        (v == NNRT_NO_TENSOR || o->rank != rank || (size >= 0 && nnrti_tfl_dim(c, v, 0) != size)))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "input %u is %o, expected a weight with %d axes, axis 0 of size %l", k, o,
                       rank, size);
    return v;
}

/* The weights of inputs k to k + 3, or of k + 1 to k + 3, joined. */
static uint32_t nnrti_tfl_cell_join(nnrti_tfl *c, uint32_t k, bool coupled, int32_t rank)
{
    uint32_t in[4], n = 0;
    NNRT_Concat a;
    a.axis = 0;
    for (uint32_t i = coupled ? 1 : 0; i < 4; i++, n++)
        in[n] = nnrti_tfl_cell_weight(c, k + i, rank, n > 0 ? nnrti_tfl_dim(c, in[0], 0) : -1);
    return nnrti_tfl_step(c, NNRT_NODE_TYPE_CONCAT, &a, in, n, false);
}

/* x w^T + b for the last axis of x. */
static uint32_t nnrti_tfl_cell_dense(nnrti_tfl *c, uint32_t x, uint32_t w, uint32_t b)
{
    NNRT_FullConnection a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_FULL_CONNECTION, &a);
    a.hasBias = b != NNRT_NO_TENSOR;
    a.useAxis = true;
    a.axis = nnrti_tfl_at(c, x)->rank - 1;
    return nnrti_tfl_step3(c, NNRT_NODE_TYPE_FULL_CONNECTION, &a, x, w, b);
}

static uint32_t nnrti_tfl_cell_gather(nnrti_tfl *c, uint32_t x, uint32_t index)
{
    static const int64_t axis = 0;
    return nnrti_tfl_step3(c, NNRT_NODE_TYPE_GATHER, NULL, x, index, nnrti_tfl_ints(c, &axis, 1));
}

/* Size of an axis of x, int64[1]. */
static uint32_t nnrti_tfl_cell_size(nnrti_tfl *c, uint32_t x, int64_t axis)
{
    const uint32_t shape = nnrti_tfl_new(c, UINT32_MAX);
    if (c->code == NNRT_SUCCESS)
        nnrt_builder_declare(c->builder, shape, NNRT_DATA_TYPE_INT64, NNRT_RANK_UNKNOWN, NULL);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_SHAPE, NULL, &x, 1, &shape, 1, false);
    return nnrti_tfl_cell_gather(c, shape, nnrti_tfl_ints(c, &axis, 1));
}

static uint32_t nnrti_tfl_cell_activate(nnrti_tfl *c, uint32_t x, NNRT_ActivationType type)
{
    const NNRT_Activation a = nnrti_tfl_activation(type);
    return type == NNRT_ACTIVATION_TYPE_NO_ACTIVATION ? x : nnrti_tfl_step1(c, NNRT_NODE_TYPE_ACTIVATION, &a, x);
}

/* x limited to -clip to clip; 0: unlimited. */
static uint32_t nnrti_tfl_cell_clip(nnrti_tfl *c, uint32_t x, float clip)
{
    NNRT_Clip a;
    a.max = clip;
    a.min = -clip;
    return clip > 0 ? nnrti_tfl_step1(c, NNRT_NODE_TYPE_CLIP, &a, x) : x;
}

/* One gate: sigmoid(x + p * state). */
static uint32_t nnrti_tfl_cell_gate(nnrti_tfl *c, uint32_t x, uint32_t p, uint32_t state)
{
    if (p != NNRT_NO_TENSOR)
        x = nnrti_tfl_step2(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, x,
                            nnrti_tfl_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, state, p));
    return nnrti_tfl_cell_activate(c, x, NNRT_ACTIVATION_TYPE_SIGMOID);
}

/* One time step of an LSTM with the gates x [N,G]: replaces the state s and returns h.
   s' = clip(f * s + i * a(g)), h' = o * a(s'), h'' = clip(Wp h' + bp). */
static uint32_t nnrti_tfl_cell_lstm(nnrti_tfl *c, const nnrti_tfl_cell *m, uint32_t x, uint32_t *s)
{
    uint32_t g[4], out[4], i, f, h, first = m->coupled ? 1 : 0;
    NNRT_Split a;
    nnrti_tfl_defaults(NNRT_NODE_TYPE_SPLIT, &a);
    a.outputNum = 4 - first;
    a.axis = 1;
    for (uint32_t k = 0; k < 4; k++)
        out[k] = g[k] = k < first ? NNRT_NO_TENSOR : nnrti_tfl_new(c, UINT32_MAX);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_SPLIT, &a, &x, 1, out + first, 4 - first, false);
    f = nnrti_tfl_cell_gate(c, g[1], m->peephole[1], *s);
    i = m->coupled ? nnrti_tfl_step2(c, NNRT_NODE_TYPE_SUB_FUSION, NULL, nnrti_tfl_scalar(c, f, 1), f)
                   : nnrti_tfl_cell_gate(c, g[0], m->peephole[0], *s);
    *s = nnrti_tfl_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, f, *s);
    i = nnrti_tfl_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, i, nnrti_tfl_cell_activate(c, g[2], m->activation));
    *s = nnrti_tfl_cell_clip(c, nnrti_tfl_step2(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, *s, i), m->cellClip);
    h = nnrti_tfl_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, nnrti_tfl_cell_gate(c, g[3], m->peephole[2], *s),
                        nnrti_tfl_cell_activate(c, *s, m->activation));
    if (m->projection != NNRT_NO_TENSOR)
        h = nnrti_tfl_cell_clip(c, nnrti_tfl_cell_dense(c, h, m->projection, m->projectionBias), m->projectionClip);
    return h;
}

/* The loop over the time steps of x [T,N,I]: states h [N,P] and, of an LSTM, s [N,H]; each h is a row of the result
   [T,N,P]. back: the time steps from the last to the first. */
static uint32_t nnrti_tfl_cell_loop(nnrti_tfl *c, nnrti_tfl_cell *m, uint32_t x, uint32_t w, uint32_t b, bool back)
{
    static const int64_t time[3] = {-1, 1, 1};
    const bool lstm = m->states[1] != NULL;
    const uint32_t around = c->builder->entered, states = lstm ? 2 : 1;
    uint32_t gates, out[3], y = x;
    nnrti_tfl_loop l;
    NNRT_Loop a;
    if (c->code == NNRT_SUCCESS &&
        nnrti_tfl_dim(c, w, 0) != nnrti_tfl_dim(c, m->recurrent, 0)) /* a sum would broadcast */
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "its weights have %l rows for the input and %l for the state",
                       nnrti_tfl_dim(c, w, 0), nnrti_tfl_dim(c, m->recurrent, 0));
    if (back)
        nnrti_tfl_reversed(c, x, time, y = nnrti_tfl_new(c, UINT32_MAX), false);
    m->gates = nnrti_tfl_cell_dense(c, y, w, b);
    if (!nnrti_tfl_loop_begin(c, &l, states))
        return NNRT_NO_TENSOR;
    l.start[0] = nnrti_tfl_cell_size(c, x, 0);
    for (uint32_t k = 0; k < states; k++)
        l.start[2 + k] = m->states[k]->now;
    nnrti_tfl_loop_body(c, &l);
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    nnrt_builder_enter(c->builder, l.body);
    l.out[0] = nnrti_tfl_scalar(c, l.in[1], 1);
    gates = nnrti_tfl_step2(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, nnrti_tfl_cell_gather(c, m->gates, l.in[0]),
                            nnrti_tfl_cell_dense(c, l.in[2], m->recurrent, NNRT_NO_TENSOR));
    l.out[2] = l.in[1 + states];
    if (lstm)
        l.out[1] = nnrti_tfl_cell_lstm(c, m, gates, &l.out[2]);
    else
        l.out[1] = nnrti_tfl_cell_activate(c, gates, m->activation);
    l.out[1 + states] = l.out[1];
    nnrt_builder_enter(c->builder, around);
    if (c->code != NNRT_SUCCESS)
        return NNRT_NO_TENSOR;
    a.body = l.body;
    nnrt_builder_graph_io(c->builder, a.body, l.in, states + 2, l.out, states + 2);
    for (uint32_t k = 0; k <= states; k++)
        out[k] = nnrti_tfl_new(c, UINT32_MAX);
    nnrti_tfl_add(c, NNRT_NODE_TYPE_LOOP, &a, l.start, states + 2, out, states + 1, false);
    for (uint32_t k = 0; k < states; k++)
        m->states[k]->now = out[k];
    if (!back)
        return out[states];
    nnrti_tfl_reversed(c, out[states], time, y = nnrti_tfl_new(c, UINT32_MAX), false);
    return y;
}

/* The state [batch,size] that is input k, a variable that nothing else uses. NULL after a fault. */
static nnrti_tfl_state *nnrti_tfl_cell_state(nnrti_tfl *c, uint32_t k, int64_t batch, int64_t size)
{
    const int32_t index = nnrti_tfl_in_index(c, k);
    nnrt_operand like;
    nnrti_tfl_state *s;
    nnrti_tfl_tensor t;
    memset(&t, 0, sizeof(t));
    if (c->code != NNRT_SUCCESS || (index >= 0 && !nnrti_tfl_tensor_at(c, (uint32_t)index, &t)))
        return NULL;
    if (!t.variable || t.dataBytes > 0 || t.type != NNRT_DATA_TYPE_FLOAT32 || c->values[index] != NNRT_NO_TENSOR)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "input %u (state) is no float32 variable of this operator alone", k);
    else if (batch < 0)
        NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT,
                       "the batch of input 0 is dynamic, but state '%s' stays between runs: set the shape of the input "
                       "(nnrt_tflite_desc.inputs)",
                       t.name);
    else if (t.shape.rank != 2 || t.shape.dims[1] != size || size < 1)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "state '%s' has %d axes, axis 1 of size %d, expected 2 axes and %l",
                       t.name, t.shape.rank, t.shape.rank > 1 ? t.shape.dims[1] : 0, size);
    t.shape.dims[0] = (int32_t)batch;
    like = nnrt_operand_make(NNRT_DATA_TYPE_FLOAT32, 2, t.shape.dims, NULL);
    if ((s = nnrti_tfl_state_new(c, t.name)) == NULL)
        return NULL;
    nnrti_tfl_state_begin(c, s, &like);
    if (c->code == NNRT_SUCCESS)
        c->values[index] = s->in;
    return c->code == NNRT_SUCCESS ? s : NULL;
}

static const int64_t nnrti_tfl_swap[3] = {1, 0, 2}; /* batch first to time first, and back */

/* Input 0 as [T,N,I]. */
static uint32_t nnrti_tfl_cell_input(nnrti_tfl *c, bool timeMajor)
{
    const uint32_t x = nnrti_tfl_in(c, 0);
    if (c->code == NNRT_SUCCESS && nnrti_tfl_at(c, x)->rank != 3)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_SHAPE, "input 0 is %o, expected 3 axes", nnrti_tfl_at(c, x));
    return timeMajor ? x : nnrti_tfl_step2(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, x, nnrti_tfl_ints(c, nnrti_tfl_swap, 3));
}

/* The results of both directions, y[k] [T,N,P]: y[0] only, one after the other in a result, or as two results. */
static void nnrti_tfl_cell_results(nnrti_tfl *c, uint32_t *y, bool both, bool merge, bool timeMajor)
{
    const uint32_t count = both && !merge ? 2 : 1;
    uint32_t in[2], out;
    NNRT_Concat a;
    a.axis = 2;
    if (both && merge)
        y[0] = nnrti_tfl_step2(c, NNRT_NODE_TYPE_CONCAT, &a, y[0], y[1]);
    if (c->code == NNRT_SUCCESS && c->out.count != count)
        NNRTI_TFL_FAIL(c, NNRT_INVALID_MODEL, "it has %u results, expected %u", c->out.count, count);
    for (uint32_t k = 0; k < count; k++) {
        if (timeMajor) {
            nnrti_tfl_bind(c, nnrti_tfl_out_index(c, k), y[k]);
            continue;
        }
        in[0] = y[k];
        in[1] = nnrti_tfl_ints(c, nnrti_tfl_swap, 3);
        out = nnrti_tfl_new(c, k);
        nnrti_tfl_add(c, NNRT_NODE_TYPE_TRANSPOSE, NULL, in, 2, &out, 1, true);
    }
}

/* Checks that the inputs from k on are absent. */
static void nnrti_tfl_cell_absent(nnrti_tfl *c, uint32_t k, const char *what)
{
    for (; k < c->in.count && c->code == NNRT_SUCCESS; k++)
        if (nnrti_tfl_in_index(c, k) >= 0)
            NNRTI_TFL_FAIL(c, NNRT_NOT_SUPPORT, "input %u (%s) is not supported", k, what);
}

/* h' = a(W x + b + R h). Inputs of each direction: W, R, b, state. */
static void nnrti_tfl_op_rnn(nnrti_tfl *c)
{
    const bool timeMajor = nnrti_tfl_byte(c, &c->options, 0, 0) != 0, both = c->row->code == NNRTI_TFL_BOTH_RNN;
    const bool merge = both && nnrti_tfl_byte(c, &c->options, 2, 0) != 0;
    const uint32_t x = nnrti_tfl_cell_input(c, timeMajor);
    uint32_t y[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    nnrti_tfl_cell m;
    memset(&m, 0, sizeof(m));
    m.activation = nnrti_tfl_fused(c, 1, false).after;
    for (uint32_t k = 0; k < (both ? 2 : 1); k++) {
        m.recurrent = nnrti_tfl_cell_weight(c, 2 + 4 * k, 2, -1);
        m.states[0] = nnrti_tfl_cell_state(c, 4 + 4 * k, nnrti_tfl_dim(c, x, 1), nnrti_tfl_dim(c, m.recurrent, 1));
        y[k] = nnrti_tfl_cell_loop(c, &m, x, nnrti_tfl_cell_weight(c, 1 + 4 * k, 2, -1),
                                   nnrti_tfl_cell_weight(c, 3 + 4 * k, 1, -1), k == 1);
    }
    nnrti_tfl_cell_absent(c, both ? 9 : 5, "auxiliary input");
    nnrti_tfl_cell_results(c, y, both, merge, timeMajor);
}

/* One direction of an LSTM with inputs from `at` on: 4 weights of input, forget, cell and output gate for x, 4 for h, 3
   peepholes, 4 biases, projection and its bias. Inputs `states` and the next one are h and s. */
static uint32_t nnrti_tfl_lstm(nnrti_tfl *c, uint32_t x, uint32_t at, uint32_t states, bool back)
{
    const bool coupled = nnrti_tfl_in_index(c, at) < 0;
    nnrti_tfl_cell m;
    memset(&m, 0, sizeof(m));
    m.coupled = coupled;
    m.activation = nnrti_tfl_fused(c, 0, false).after;
    m.cellClip = nnrti_tfl_float(c, &c->options, 1, 0.0f);
    m.projectionClip = nnrti_tfl_float(c, &c->options, 2, 0.0f);
    if (c->code == NNRT_SUCCESS && (!(m.cellClip >= 0) || !(m.projectionClip >= 0)))
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "it clips at %f and %f, expected 0 (no clipping) or more",
                       (double)m.cellClip, (double)m.projectionClip);
    m.recurrent = nnrti_tfl_cell_join(c, at + 4, coupled, 2);
    m.size = nnrti_tfl_dim(c, m.recurrent, 0) / (coupled ? 3 : 4);
    for (uint32_t k = 0; k < 3; k++)
        m.peephole[k] =
            nnrti_tfl_in_index(c, at + 8 + k) < 0 ? NNRT_NO_TENSOR : nnrti_tfl_cell_weight(c, at + 8 + k, 1, m.size);
    m.projection = nnrti_tfl_weight(c, nnrti_tfl_in(c, at + 15));
    m.projectionBias = nnrti_tfl_weight(c, nnrti_tfl_in(c, at + 16));
    m.states[0] = nnrti_tfl_cell_state(c, states, nnrti_tfl_dim(c, x, 1), nnrti_tfl_dim(c, m.recurrent, 1));
    m.states[1] = nnrti_tfl_cell_state(c, states + 1, nnrti_tfl_dim(c, x, 1), m.size);
    return nnrti_tfl_cell_loop(c, &m, x, nnrti_tfl_cell_join(c, at, coupled, 2),
                               nnrti_tfl_cell_join(c, at + 11, coupled, 1), back);
}

/* The states h and s of each direction follow the weights. */
static void nnrti_tfl_op_lstm(nnrti_tfl *c)
{
    const bool both = c->row->code == NNRTI_TFL_BOTH_LSTM, merge = both && nnrti_tfl_byte(c, &c->options, 3, 0) != 0;
    const bool timeMajor = nnrti_tfl_byte(c, &c->options, both ? 4 : 3, 0) != 0;
    const uint32_t x = nnrti_tfl_cell_input(c, timeMajor), states = both ? 35 : 18;
    uint32_t y[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    for (uint32_t k = 0; k < (both ? 2 : 1); k++)
        y[k] = nnrti_tfl_lstm(c, x, 1 + 17 * k, states + 2 * k, k == 1);
    nnrti_tfl_cell_absent(c, both ? 39 : 20, both ? "auxiliary input" : "layer normalization");
    nnrti_tfl_cell_results(c, y, both, merge, timeMajor);
}

/* The state [N,F*M] has the last M values of each of F filters, oldest first: the first one leaves, the product of x [N,I]
   and the weight of the features [F,I] enters. y[n,u] = act(b[u] + sum of state[n,f,m] * t[f,m] over m and the `rank`
   filters f of unit u). */
static void nnrti_tfl_op_svdf(nnrti_tfl *c)
{
    static const int64_t begin[3] = {0, 0, 1};
    const nnrti_tfl_fuse f = nnrti_tfl_fused(c, 1, false);
    const uint32_t x = nnrti_tfl_in(c, 0), w = nnrti_tfl_cell_weight(c, 1, 2, -1), bias = nnrti_tfl_in(c, 3);
    const uint32_t t = nnrti_tfl_cell_weight(c, 2, 2, nnrti_tfl_dim(c, w, 0));
    const int64_t batch = nnrti_tfl_dim(c, x, 0), filters = nnrti_tfl_dim(c, w, 0), memory = nnrti_tfl_dim(c, t, 1);
    const int64_t rank = nnrti_tfl_int(c, &c->options, 0, 0), units = rank > 0 ? filters / rank : 0;
    const int64_t shape[3] = {batch, filters, memory}, flat[2] = {batch, filters * memory},
                  one[3] = {batch, filters, 1};
    const int64_t size[3] = {batch, filters, memory - 1}, ranks[3] = {batch, units, rank};
    nnrti_tfl_state *s = nnrti_tfl_cell_state(c, 4, batch, filters * memory);
    uint32_t y, old;
    NNRT_Concat a;
    a.axis = 2;
    if (s == NULL)
        return;
    if (rank < 1 || units * rank != filters || nnrti_tfl_at(c, x)->rank != 2) {
        NNRTI_TFL_FAIL(c, NNRT_INVALID_PARAMETER, "rank is %l, expected a divisor of the %l filters; input 0 is %o",
                       rank, filters, nnrti_tfl_at(c, x));
        return;
    }
    y = nnrti_tfl_reshape(c, nnrti_tfl_cell_dense(c, x, w, NNRT_NO_TENSOR), one, 3);
    if (memory > 1) {
        old = nnrti_tfl_step3(c, NNRT_NODE_TYPE_SLICE_FUSION, NULL, nnrti_tfl_reshape(c, s->now, shape, 3),
                              nnrti_tfl_ints(c, begin, 3), nnrti_tfl_ints(c, size, 3));
        y = nnrti_tfl_step2(c, NNRT_NODE_TYPE_CONCAT, &a, old, y);
    }
    s->now = nnrti_tfl_reshape(c, y, flat, 2);
    y = nnrti_tfl_sum(c, nnrti_tfl_step2(c, NNRT_NODE_TYPE_MUL_FUSION, NULL, y, t), 2);
    y = nnrti_tfl_sum(c, nnrti_tfl_reshape(c, y, ranks, 3), 2);
    if (bias != NNRT_NO_TENSOR)
        y = nnrti_tfl_step2(c, NNRT_NODE_TYPE_ADD_FUSION, NULL, y, bias);
    nnrti_tfl_bind(c, nnrti_tfl_out_index(c, 0), nnrti_tfl_cell_activate(c, y, f.after));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tflite_load */

/* Opens the file in data[bytes], and marks the needed tensors and operators. c->builder must be destroyed; NULL: no memory. */
static NNRT_ReturnCode nnrti_tfl_begin(nnrti_tfl *c, nnrti_tfl_states *states, const void *data, size_t bytes,
                                       const nnrt_tflite_desc *desc, nnrti_tfl_budget *budget, nnrt_error *error)
{
    memset(c, 0, sizeof(*c));
    memset(states, 0, sizeof(*states));
    states->end = &states->first;
    c->states = states;
    c->desc = desc;
    c->budget = budget;
    c->data = (const uint8_t *)data;
    c->bytes = bytes;
    c->error = error;
    c->keepsHalf = desc->float16;
    c->code = nnrt_builder_create(&c->builder, NULL, desc->allocator);
    if (c->code != NNRT_SUCCESS)
        return nnrt_error_set(error, c->code, "there is not enough memory for the model");
    c->builder->worth = nnrti_tfl_should_fold;
    c->builder->user = c;
    nnrti_tfl_open(c);
    nnrti_tfl_mark(c);
    return c->code;
}

/* Imports the model in data[bytes]. *inPlace: the model points into the bytes. */
NNRTI_COLD static NNRT_ReturnCode nnrti_tfl_import(NNRT_Model **model, const void *data, size_t bytes,
                                                   const nnrt_tflite_desc *desc, nnrti_tfl_budget *budget,
                                                   bool *inPlace, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_tfl_states states;
    nnrti_tfl c;
    (void)nnrti_tfl_begin(&c, &states, data, bytes, desc, budget, error);
    if (c.builder == NULL)
        return c.code;
    nnrti_tfl_check(&c);
    nnrti_tfl_add_inputs(&c);
    nnrti_tfl_find_variables(&c);
    nnrti_tfl_add_operators(&c);
    code = c.code == NNRT_SUCCESS ? nnrti_tfl_build(&c, model) : c.code;
    *inPlace = c.usedInPlace;
    nnrt_builder_destroy(c.builder);
    return code;
}

/* Imports with a budget. file: NULL, or the block of the bytes, which the model gets if it uses them; file->data is then
   NULL. */
static NNRT_ReturnCode nnrti_tfl_load(NNRT_Model **model, void *data, size_t bytes, const nnrt_tflite_desc *desc,
                                      nnrti_block *file, nnrt_error *error)
{
    nnrt_tflite_desc limited;
    nnrti_tfl_budget budget, whole;
    NNRT_ReturnCode code;
    bool inPlace = false;
    nnrti_tfl_budget_begin(&budget, desc, bytes, &limited);
    budget.memory.live = file != NULL && file->release == NULL ? bytes : 0;
    whole = budget;
    code = nnrti_tfl_import(model, data, bytes, &limited, &budget, &inPlace, error);
    if (code == NNRT_INVALID_SHAPE && !limited.dynamic) { /* shapes that the caller shall resize before a run */
        limited.dynamic = true;
        budget = whole;
        if (nnrti_tfl_import(model, data, bytes, &limited, &budget, &inPlace, NULL) == NNRT_SUCCESS) {
            nnrt_error_clear(error);
            code = NNRT_SUCCESS;
        }
    }
    if (code == NNRT_SUCCESS && file != NULL && inPlace) {
        nnrti_owned *o = nnrti_owned_of(*model);
        o->attached[o->nAttached++] = *file; /* it is new: there is room */
        memset(file, 0, sizeof(*file));
    }
    code = nnrti_tfl_budget_end(&budget, &limited, *model, code, error);
    if (code != NNRT_SUCCESS) {
        nnrt_model_destroy(*model);
        *model = NULL;
    }
    return code;
}

NNRT_API bool nnrt_tflite_is(const void *data, size_t bytes)
{
    return data != NULL && bytes >= 8 && memcmp((const uint8_t *)data + 4, "TFL3", 4) == 0;
}

NNRT_API NNRT_ReturnCode nnrt_tflite_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                                 const nnrt_tflite_desc *desc, nnrt_error *error)
{
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_tflite_load_memory: %s is NULL",
                              model == NULL ? "model" : "data");
    return nnrti_tfl_load(model, (void *)(uintptr_t)data, bytes, desc, NULL, error);
}

/* Reports input or output k, tensor `index` of the file. */
static void nnrti_tfl_show_tensor(nnrti_tfl *c, const nnrt_tflite_view *view, bool output, uint32_t k, uint32_t index)
{
    nnrti_tfl_tensor t;
    char name[96];
    if (!nnrti_tfl_tensor_at(c, index, &t))
        return;
    if (!output && c->desc->dynamic)
        nnrti_tfl_open_shape(c, index, &t);
    (void)nnrti_tfl_io_name(c, output ? 1 : 0, k, index, name, sizeof(name));
    if (c->code == NNRT_SUCCESS)
        view->tensor(view->user, output, name, t.type, &t.shape);
}

/* Reports the constants that are needed; of types that the runtime lacks (strings) nothing. */
static void nnrti_tfl_show_constants(nnrti_tfl *c, const nnrt_tflite_view *view)
{
    nnrt_error *error = c->error;
    c->error = NULL;
    for (uint32_t i = 0; c->code == NNRT_SUCCESS && i < c->tensors.count; i++) {
        nnrti_tfl_tensor t;
        if (c->needed[i] == 0)
            continue;
        if (nnrti_tfl_tensor_at(c, i, &t) && t.dataBytes > 0)
            view->constant(view->user, t.type, t.dataBytes);
        if (c->code != NNRT_OUT_OF_MEMORY)
            c->code = NNRT_SUCCESS;
    }
    c->error = error;
}

NNRT_API NNRT_ReturnCode nnrt_tflite_describe(const void *data, size_t bytes, const nnrt_tflite_desc *desc,
                                              const nnrt_tflite_view *view, nnrt_error *error)
{
    nnrt_tflite_desc limited;
    nnrti_tfl_budget budget;
    nnrti_tfl_states states;
    const uint32_t *times;
    nnrti_tfl c;
    char name[112];
    nnrt_error_clear(error);
    if (data == NULL || view == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_tflite_describe: %s is NULL", data == NULL ? "data" : "view");
    nnrti_tfl_budget_begin(&budget, desc, bytes, &limited);
    if (nnrti_tfl_begin(&c, &states, data, bytes, &limited, &budget, error) == NNRT_SUCCESS)
        for (uint32_t k = 0; c.code == NNRT_SUCCESS && k < c.inputs.count; k++)
            nnrti_tfl_show_tensor(&c, view, false, k, (uint32_t)nnrti_tfl_item(&c, &c.inputs, k));
    for (uint32_t k = 0; c.code == NNRT_SUCCESS && k < nnrti_tfl_output_count(&c); k++)
        nnrti_tfl_show_tensor(&c, view, true, k, nnrti_tfl_output_tensor(&c, k));
    if (c.code == NNRT_SUCCESS)
        nnrti_tfl_show_constants(&c, view);
    times = c.code == NNRT_SUCCESS ? nnrti_tfl_uses(&c) : NULL;
    for (uint32_t i = 0; c.code == NNRT_SUCCESS && i < c.codes.count; i++)
        if (times[2 * i] > 0) {
            const bool supported = nnrti_tfl_code_text(&c, i, name, sizeof(name));
            if (c.code == NNRT_SUCCESS)
                view->op(view->user, name, times[2 * i], supported);
        }
    nnrt_builder_destroy(c.builder);
    return nnrti_tfl_budget_end(&budget, &limited, NULL, c.code, error);
}

NNRT_API bool nnrt_tflite_operator(uint32_t index, nnrt_tflite_about *about)
{
    const nnrti_tfl_row *row = &nnrti_tfl_rows[index < NNRTI_TFL_ROWS ? index : 0];
    const uint32_t other = index < NNRTI_TFL_ROWS ? 0 : index - NNRTI_TFL_ROWS;
    const bool known = index < NNRTI_TFL_ROWS;
    if (about == NULL || other >= NNRTI_TFL_COUNT(nnrti_tfl_others))
        return false;
    about->name = known ? row->name : nnrti_tfl_others[other].name;
    about->code = known ? row->code : nnrti_tfl_others[other].code;
    about->versions = known ? row->versions : 0;
    about->types = known ? row->types : "";
    about->becomes = known ? row->becomes : "";
    return true;
}

#ifndef NNRT_NO_STDIO

NNRT_API NNRT_ReturnCode nnrt_tflite_load(NNRT_Model **model, const char *path, const nnrt_tflite_desc *desc,
                                          nnrt_error *error)
{
    const nnrt_allocator *allocator = desc != NULL ? desc->allocator : NULL;
    NNRT_ReturnCode code;
    nnrti_block file;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_tflite_load: %s is NULL", model == NULL ? "model" : "path");
    code = nnrti_file_block(path, desc != NULL && desc->noMap, allocator, &file, error);
    if (code != NNRT_SUCCESS)
        return code;
    code = nnrti_tfl_load(model, file.data, file.bytes, desc, &file, error);
    if (file.data != NULL)
        nnrti_block_release(&file, allocator);
    return code;
}
#endif

NNRT_SETUP_END()

#endif /* NNRT_IMPLEMENTATION */
