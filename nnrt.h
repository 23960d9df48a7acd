/*
nnrt.h - neural-network inference in your program: copy three headers, write one #define, and networks run.

WHY
    Exact memory: how many bytes a network needs is known before it runs, to the byte, and a run allocates nothing.
    The same bits everywhere: the reference kernels give the same result on every machine and compiler.
    Trust: whatever a file, a caller or an allocator does, the answer is a return code and a sentence that names the
    node. One table of functions is a device: an accelerator is one file, and the rest comes with it.
    Every operator can be read, and copied, by itself.

QUICK START (examples/hello.c)
    // Runs a network once, on zeros.   cc -std=c99 -I. examples/hello.c -o hello -lm && ./hello MODEL.onnx
    #define NNRT_IMPLEMENTATION
    #include "formats/nnrt_onnx.h"

    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>

    int main(int argc, char **argv)
    {
        NNRT_Model *model = NULL;        // what is computed: plain data
        nnrt_session *session = NULL;    // the model prepared on a device, with its memory
        nnrt_io in = {NULL, 0}, out = {NULL, 0};
        nnrt_error error;                // says which node is wrong, and what to do about it
        size_t best = 0;
        memset(&error, 0, sizeof(error));
        if (argc != 2 || nnrt_onnx_load(&model, argv[1], NULL, &error) != NNRT_SUCCESS)
            goto end;
        if (nnrt_session_create(&session, model, NULL, &error) != NNRT_SUCCESS)
            goto end;                    // from here on nothing is allocated by nnrt
        in.bytes = nnrt_session_input(session, 0).bytes;
        out.bytes = nnrt_session_output(session, 0).bytes;
        in.data = calloc(1, in.bytes);   // your image, sound or text goes here
        out.data = calloc(1, out.bytes); // the caller owns inputs and outputs
        if ((error.code = nnrt_run(session, &in, 1, &out, 1)) != NNRT_SUCCESS)
            goto end;
        for (size_t i = 0; i < out.bytes / sizeof(float); i++)
            if (((const float *)out.data)[i] > ((const float *)out.data)[best])
                best = i;
        printf("largest output: %zu; arena: %zu bytes\n", best, nnrt_session_get_memory(session).arena);
    end:
        if (session == NULL || error.code != NNRT_SUCCESS)
            fprintf(stderr, "%s\n", argc != 2 ? "usage: hello MODEL" : session ? nnrt_session_error(session)
                                                                              : error.message);
        free(in.data);
        free(out.data);
        nnrt_session_destroy(session);   // NULL is fine
        nnrt_model_destroy(model);
        return error.code != NNRT_SUCCESS || session == NULL;
    }

FILES
    nnrt_ops.h             operators: types, attribute structs, shape rules, reference kernels
    nnrt_hal.h             models, validation, the plan, devices
    nnrt.h                 what an application calls; includes the two above
    formats/nnrt_onnx.h    ONNX files -> models; includes nnrt.h
    Each compiles alone, as C99 and as C++17. The implementation is compiled where NNRT_IMPLEMENTATION is defined before
    the include: in one file of the program. It uses stb_ds (<stb/stb_ds.h>, Debian's libstb-dev) while a model is
    built, under names of its own; give the implementation a file of its own if you use stb_ds yourself.

OPTIONS (define before including, alike in all files of the program)
    NNRT_IMPLEMENTATION    compile the implementation here
    NNRT_STATIC            all functions are static: for one file that does everything
    NNRT_API               linkage of public functions, for shared libraries; default extern
    NNRT_STB_DS_H          where stb_ds.h lies, with its quotes; default <stb/stb_ds.h>
    NNRT_FP_STRICT         clang with -ffp-contract=fast: keep the kernels' bits all the same (slow)

SECTIONS (search for the tag)
    >>builder   building a model by hand
    >>models    freeing, optimising, looking up, drawing a model
    >>sessions  preparing and running a model
    -- implementation --
    >>builder >>models >>passes >>sessions

nnrt DOES NOT
    train, run control flow (If, Loop), or hold strings and sequences. A tensor has at most 8 axes and, as its
    descriptor counts bytes in 32 bits, less than 4 GiB. Shapes are fixed when a session is made: inputs with open
    extents get them from nnrt_session_desc.inputDims. Quantised data are converted (QUANT_DTYPE_CAST) and moved, but
    not computed with. nnrt_ops.h lists the operators there are: NNRT_OPS.

ERRORS
    Functions that can fail return NNRT_ReturnCode (0 = NNRT_SUCCESS) and write their results through pointers, NULL on
    failure. The nnrt_error you pass, zeroed, gets one sentence: which node, which operator, what was found, what was
    expected. A session that failed to run stays usable.

MEMORY
    nnrt_session_bytes() tells what a session takes; hand a buffer of that size in nnrt_session_desc.buffer and nothing
    is allocated. One byte less is NNRT_OUT_OF_MEMORY. Otherwise all memory comes from nnrt_session_desc.allocator, or
    malloc, when the session is created. Constants of the model are used where they lie, in flash, in a file's memory,
    and are not copied. Inputs are read and outputs written in the caller's arrays.

THREADS
    A model is immutable and may be used by any number of threads. A session belongs to one thread at a time; make more
    with nnrt_session_desc.share, they use one prepared model, each with a workspace of its own.

DEVICES
    "reference" runs everything with the kernels of nnrt_ops.h; "auto", the default, picks the best single device that
    is registered. A device of your own is an NNRT_DeviceVtbl (nnrt_hal.h, >>tables) and one call of
    nnrt_device_register.

ADDING AN OPERATOR
    See the top of nnrt_ops.h: a row, a struct, a rule, a kernel, a test.

MIT licence, see LICENSE.
*/
#ifndef NNRT_H
#define NNRT_H

#include "nnrt_hal.h"

#define NNRT_VERSION_MAJOR 0
#define NNRT_VERSION_MINOR 1
#define NNRT_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>builder */

/* Builds a model step by step. Calls after a failure do nothing and return NNRT_NO_TENSOR; nnrt_builder_finish tells
   what went wrong first. Tensors are named by the index that the calls return. Names are copied; name NULL = none.
   One thread at a time. */
typedef struct nnrt_builder nnrt_builder;

/* allocator NULL = malloc. The allocator is copied, what its user points to must live as long as the model. */
NNRT_API NNRT_ReturnCode nnrt_builder_create(nnrt_builder **builder, const char *name, const nnrt_allocator *allocator);
NNRT_API void nnrt_builder_destroy(nnrt_builder *builder); /* NULL is fine */
/* A model input. dims: -1 = given when a session is made. */
NNRT_API uint32_t nnrt_builder_input(nnrt_builder *builder, const char *name, NNRT_DataType type, int32_t rank,
                                     const int32_t *dims);
/* A constant. copy: the bytes are copied into the model; otherwise data must outlive it. data may be NULL for 0
   elements. */
NNRT_API uint32_t nnrt_builder_constant(nnrt_builder *builder, const char *name, NNRT_DataType type, int32_t rank,
                                        const int32_t *dims, const void *data, bool copy);
/* A result whose type and shape are inferred; nnrt_builder_declare fixes them. */
NNRT_API uint32_t nnrt_builder_tensor(nnrt_builder *builder, const char *name);
/* rank NNRT_RANK_UNKNOWN: shape unknown. */
NNRT_API void nnrt_builder_declare(nnrt_builder *builder, uint32_t tensor, NNRT_DataType type, int32_t rank,
                                   const int32_t *dims);
NNRT_API void nnrt_builder_format(nnrt_builder *builder, uint32_t tensor, NNRT_Format format);
NNRT_API void nnrt_builder_quant(nnrt_builder *builder, uint32_t tensor, const NNRT_QuantParam *params, uint32_t count);
/* A node. attr: the struct of type, copied with its lists; NULL = all defaults. inputs may hold NNRT_NO_TENSOR. */
NNRT_API void nnrt_builder_node(nnrt_builder *builder, const char *name, NNRT_NodeType type, const void *attr,
                                const uint32_t *inputs, uint32_t nIn, const uint32_t *outputs, uint32_t nOut);
/* A node with one result, which is returned and has the node's name. */
NNRT_API uint32_t nnrt_builder_op(nnrt_builder *builder, const char *name, NNRT_NodeType type, const void *attr,
                                  const uint32_t *inputs, uint32_t nIn);
NNRT_API void nnrt_builder_output(nnrt_builder *builder, uint32_t tensor);
/* Records a fault of the caller's own (an importer's, say); the first one counts. */
NNRT_API void nnrt_builder_fail(nnrt_builder *builder, NNRT_ReturnCode code, const char *message);
/* Makes the model: one block of memory, independent of the builder, checked by nnrt_model_check. The builder is empty
   afterwards. */
NNRT_API NNRT_ReturnCode nnrt_builder_finish(nnrt_builder *builder, NNRT_Model **model, nnrt_error *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>models */

/* Frees a model that a builder, a loader or an importer made. NULL is fine. Not for models of your own making. */
NNRT_API void nnrt_model_destroy(NNRT_Model *model);
/* Gives a block that the model's constants point into (the bytes of a file) to the model, to be freed with it through
   the model's allocator (nnrt_alloc). A model has room for four; beyond, OUT_OF_MEMORY: the block stays the caller's.
   */
NNRT_API NNRT_ReturnCode nnrt_model_attach(NNRT_Model *model, void *block, size_t bytes);
/* Replaces *model, which a builder or loader made, by an equivalent one that is faster: constants folded, nodes that do
   nothing or reach no output dropped, batch normalisation folded into convolutions, activations fused. On failure
   *model is unchanged. The new model uses the old one's constants in place and frees it when it is destroyed. */
NNRT_API NNRT_ReturnCode nnrt_model_optimize(NNRT_Model **model, nnrt_error *error);
/* Index of the tensor with this name, NNRT_NO_TENSOR when there is none. */
NNRT_API uint32_t nnrt_model_tensor(const NNRT_Model *model, const char *name);
/* Graphviz text of a model: nodes with operator and attributes, shapes on the edges. Returns the length it needs
   without the end. */
NNRT_API size_t nnrt_model_dot(const NNRT_Model *model, char *out, size_t size);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>sessions */

/* All zero is the default: the best device, memory from malloc. */
typedef struct nnrt_session_desc {
    const char *device; /* NULL = "auto" */
    uint32_t threads;   /* 0 = one */
    const nnrt_allocator *allocator;
    void *buffer; /* everything is laid into it, nothing is allocated; aligned to NNRT_ALIGNMENT */
    size_t bufferBytes;
    bool copyConstants;         /* the model may be destroyed before the session */
    nnrt_dims_list inputDims;   /* extents for inputs that have -1: one entry an input */
    struct nnrt_session *share; /* use the prepared model of this session: same model, own workspace, another thread */
} nnrt_session_desc;

typedef struct nnrt_session nnrt_session;

/* Plans the model on a device. After it nothing is allocated. The model must outlive the session unless copyConstants
   is set. On failure *session is NULL and error (may be NULL) tells node, operator, found and expected. */
NNRT_API NNRT_ReturnCode nnrt_session_create(nnrt_session **session, const NNRT_Model *model,
                                             const nnrt_session_desc *desc, nnrt_error *error);
NNRT_API void nnrt_session_destroy(nnrt_session *session); /* NULL is fine */
/* Bytes that desc->buffer must have, exactly: one fewer is NNRT_OUT_OF_MEMORY. */
NNRT_API NNRT_ReturnCode nnrt_session_bytes(const NNRT_Model *model, const nnrt_session_desc *desc, size_t *bytes,
                                            nnrt_error *error);
/* What a session holds, in bytes. total: all that stays taken, tables and arena included; preparing may need more for a
   while, which nnrt_session_bytes counts. bound: largest sum of results that live at once, no arena can be smaller.
   constants: those of the model that steps read where they lie, not part of total. steps: kernels called in a run. */
typedef struct nnrt_session_memory {
    size_t total, tables, arena, bound, constants;
    uint32_t steps;
} nnrt_session_memory;
NNRT_API nnrt_session_memory nnrt_session_get_memory(const nnrt_session *session);
NNRT_API const char *nnrt_session_device(const nnrt_session *session); /* unique name */

/* One input or output buffer: aligned to its element size, bytes exactly those of the tensor (outputs: at least). */
typedef struct nnrt_io {
    void *data;
    size_t bytes;
} nnrt_io;
/* An array variable as the only input (output) of nnrt_run: nnrt_run(session, NNRT_IO(image), NNRT_IO(scores)). */
#ifdef __cplusplus
#define NNRT_IO(array) nnrt_io_address(nnrt_io_make((void *)(array), sizeof(array))), 1
#else
#define NNRT_IO(array) &(nnrt_io){(void *)(array), sizeof(array)}, 1
#endif
static inline nnrt_io nnrt_io_make(void *data, size_t bytes)
{
    nnrt_io io;
    io.data = data;
    io.bytes = bytes;
    return io;
}

typedef struct nnrt_io_info {
    const char *name;
    NNRT_DataType dataType;
    NNRT_Format format;
    nnrt_dims shape;
    size_t bytes;
} nnrt_io_info;
NNRT_API uint32_t nnrt_session_inputs(const nnrt_session *session);
NNRT_API uint32_t nnrt_session_outputs(const nnrt_session *session);
NNRT_API nnrt_io_info nnrt_session_input(const nnrt_session *session, uint32_t index);
NNRT_API nnrt_io_info nnrt_session_output(const nnrt_session *session, uint32_t index);

/* Runs the network once: inputs are only read, outputs written in place. Blocks; one thread at a time per session. */
NNRT_API NNRT_ReturnCode nnrt_run(nnrt_session *session, const nnrt_io *inputs, uint32_t nIn, const nnrt_io *outputs,
                                  uint32_t nOut);
/* What the last failed nnrt_run says; "" after success. */
NNRT_API const char *nnrt_session_error(const nnrt_session *session);

NNRT_API const char *nnrt_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
/* For NNRT_IO: the address of a temporary, good until the end of the call. */
static inline const nnrt_io *nnrt_io_address(const nnrt_io &io)
{
    return &io;
}
#endif

#endif /* NNRT_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_IMPLEMENTED)
#define NNRT_IMPLEMENTED

#include "nnrt_hal.h" /* its implementation, where only its declarations were read so far */

#include <math.h>
#include <string.h>

/* stb_ds serves while a model is built, never in a run. Only its array header and the macros that read it are used:
   growth and freeing are ours (nnrti_array_room), so nothing of its code is compiled and no symbol of it leaves the
   object. Its names are hidden while it is read and set free again at the end of >>models: a program may include its
   own copy before or after this file, with or without its implementation. NNRT_STB_DS_H: where it lies. */
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
#ifdef NNRT_STB_DS_H
#include NNRT_STB_DS_H
#else
#include <stb/stb_ds.h>
#endif
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>builder */

/* The arrays carry stb_ds' header. All else lies in memory: small things in pieces of NNRTI_BUILDER_PIECE bytes. */
struct nnrt_builder {
    nnrt_allocator allocator;
    nnrt_memory memory;
    uint8_t *piece; /* what is left of the last piece */
    size_t pieceLeft;
    const char *name;
    NNRT_Tensor *tensors;
    uint8_t *copied; /* per tensor: its data lie in memory and go into the model's block */
    NNRT_Node *nodes;
    uint32_t *inputs, *outputs;
    nnrt_error error; /* the first fault; with a code nothing more happens */
};

static void nnrti_builder_init(nnrt_builder *b, const nnrt_allocator *allocator)
{
    memset(b, 0, sizeof(*b));
    if (allocator != NULL)
        b->allocator = *allocator;
    nnrt_memory_count(&b->memory, &b->allocator);
}

static bool nnrti_builder_failed(const nnrt_builder *b)
{
    return b == NULL || b->error.code != NNRT_SUCCESS;
}

static void nnrti_builder_no_memory(nnrt_builder *b)
{
    (void)nnrt_error_set(&b->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
}

/* The array with room for `extra` more elements of that size. Failure is recorded in b, the array is then as before. */
static void *nnrti_array_room(nnrt_builder *b, void *array, size_t size, size_t extra)
{
    size_t length = stbds_arrlenu(array), capacity = stbds_arrcap(array), bytes, want;
    stbds_array_header *grown = NULL;
    if (extra <= capacity - length)
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

static void nnrti_array_free(nnrt_builder *b, void *array, size_t size)
{
    if (array != NULL)
        nnrt_free(&b->allocator, stbds_header(array), stbds_arrcap(array) * size + sizeof(stbds_array_header));
}

/* Appends value to an array of the builder b; nothing happens when there is no memory. */
#define NNRTI_PUSH(b, T, array, value)                                                                                 \
    do {                                                                                                               \
        (array) = (T *)nnrti_array_room(b, array, sizeof(T), 1);                                                       \
        if ((b)->error.code == NNRT_SUCCESS)                                                                           \
            (array)[stbds_header(array)->length++] = (value);                                                          \
    } while (0)

static uint32_t nnrti_array_count(const void *array)
{
    return array != NULL ? (uint32_t)(((const stbds_array_header *)array) - 1)->length : 0;
}

/* Gives everything back; the allocator stays. */
static void nnrti_builder_clear(nnrt_builder *b)
{
    nnrt_allocator allocator = b->allocator;
    nnrti_array_free(b, b->tensors, sizeof(*b->tensors));
    nnrti_array_free(b, b->copied, sizeof(*b->copied));
    nnrti_array_free(b, b->nodes, sizeof(*b->nodes));
    nnrti_array_free(b, b->inputs, sizeof(*b->inputs));
    nnrti_array_free(b, b->outputs, sizeof(*b->outputs));
    nnrt_memory_end(&b->memory);
    nnrti_builder_init(b, &allocator);
}

#define NNRTI_BUILDER_PIECE 8192

/* count * size zeroed bytes that live as long as what is being built; NULL = no memory, which is recorded. */
static void *nnrti_builder_keep(nnrt_builder *b, size_t count, size_t size)
{
    size_t bytes;
    uint8_t *block = NULL;
    if (nnrt_mul_size(count, size, &bytes) && bytes > NNRTI_BUILDER_PIECE / 8) {
        block = (uint8_t *)nnrt_memory_keep_aligned(&b->memory, bytes);
    } else if (nnrt_mul_size(count, size, &bytes)) {
        bytes = (bytes + 15) & ~(size_t)15;
        if (b->pieceLeft < bytes) {
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

NNRT_API void nnrt_builder_fail(nnrt_builder *builder, NNRT_ReturnCode code, const char *message)
{
    if (builder != NULL)
        (void)nnrt_error_set(&builder->error, code != NNRT_SUCCESS ? code : NNRT_FAILED, "%s", message);
}

static const int32_t nnrti_dims_unknown[1] = {NNRT_RANK_UNKNOWN};

/* *list = a copy of dims, whose extents are at least `least`; false and a recorded fault when something is wrong. */
static bool nnrti_builder_dims(nnrt_builder *b, const char *name, int32_t rank, const int32_t *dims, int32_t least,
                               NNRT_Int32List *list)
{
    if (rank < 0 || rank > NNRT_MAX_RANK) {
        (void)nnrt_error_set(&b->error, NNRT_INVALID_SHAPE, "tensor '%s' has %d axes, expected 0 to 8", name, rank);
        return false;
    }
    if (rank > 0 && dims == NULL) {
        (void)nnrt_error_set(&b->error, NNRT_NULL_PTR, "tensor '%s' has %d axes, but dims is NULL", name, rank);
        return false;
    }
    for (int32_t i = 0; i < rank; i++)
        if (dims[i] < least) {
            (void)nnrt_error_set(&b->error, NNRT_INVALID_SHAPE,
                                 "tensor '%s': axis %d has extent %d, expected %d or more", name, i, dims[i], least);
            return false;
        }
    *list =
        NNRT_Int32List_make((const int32_t *)nnrti_builder_copy(b, dims, (size_t)rank, sizeof(*dims)), (uint32_t)rank);
    return list->data != NULL;
}

static bool nnrti_builder_type(nnrt_builder *b, const char *name, NNRT_DataType type)
{
    if (nnrt_type_size(type) != 0)
        return true;
    (void)nnrt_error_set(&b->error, NNRT_INVALID_DATATYPE, "tensor '%s': data type %d does not exist", name, type);
    return false;
}

/* Appends a tensor; *t has all but the name. */
static uint32_t nnrti_builder_add(nnrt_builder *b, const char *name, NNRT_Tensor *t, bool copied)
{
    t->name = nnrti_builder_text(b, name);
    t->format = NNRT_FORMAT_NONE;
    if (!nnrti_builder_failed(b))
        NNRTI_PUSH(b, uint8_t, b->copied, copied);
    if (!nnrti_builder_failed(b))
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

NNRT_API uint32_t nnrt_builder_input(nnrt_builder *builder, const char *name, NNRT_DataType type, int32_t rank,
                                     const int32_t *dims)
{
    NNRT_Tensor t = nnrti_tensor_make(type);
    uint32_t index;
    if (nnrti_builder_failed(builder) || !nnrti_builder_type(builder, nnrti_text_of(name), type) ||
        !nnrti_builder_dims(builder, nnrti_text_of(name), rank, dims, -1, &t.dims))
        return NNRT_NO_TENSOR;
    index = nnrti_builder_add(builder, name, &t, false);
    if (index != NNRT_NO_TENSOR)
        NNRTI_PUSH(builder, uint32_t, builder->inputs, index);
    return nnrti_builder_failed(builder) ? NNRT_NO_TENSOR : index;
}

/* Makes t a constant with these bytes, which are at data or, when wanted, at a copy. */
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

NNRT_API void nnrt_builder_declare(nnrt_builder *builder, uint32_t tensor, NNRT_DataType type, int32_t rank,
                                   const int32_t *dims)
{
    NNRT_Tensor *t = nnrti_builder_at(builder, tensor, "nnrt_builder_declare");
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
    if (rank == NNRT_RANK_UNKNOWN)
        t->dims = NNRT_Int32List_make(nnrti_dims_unknown, 1);
    else
        (void)nnrti_builder_dims(builder, nnrti_text_of(t->name), rank, dims, -1, &t->dims);
}

NNRT_API void nnrt_builder_format(nnrt_builder *builder, uint32_t tensor, NNRT_Format format)
{
    NNRT_Tensor *t = nnrti_builder_at(builder, tensor, "nnrt_builder_format");
    if (t != NULL)
        t->format = format;
}

NNRT_API void nnrt_builder_quant(nnrt_builder *builder, uint32_t tensor, const NNRT_QuantParam *params, uint32_t count)
{
    NNRT_Tensor *t = nnrti_builder_at(builder, tensor, "nnrt_builder_quant");
    if (t == NULL)
        return;
    if (count > 0 && params == NULL) {
        (void)nnrt_error_set(&builder->error, NNRT_NULL_PTR,
                             "tensor '%s': %u quantisation parameters, but params is NULL", nnrti_text_of(t->name),
                             count);
        return;
    }
    t->quantParams = NNRT_QuantParamList_make(
        (const NNRT_QuantParam *)nnrti_builder_copy(builder, params, count, sizeof(*params)), count);
}

/* Every list of the attributes that counts entries has them. */
static bool nnrti_attr_lists(const nnrt_attr_struct *s, const void *attr)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const void *at = (const uint8_t *)attr + s->members[i].offset;
        const NNRT_Int64List *list = (const NNRT_Int64List *)at;
        const NNRT_Int64Lists *lists = (const NNRT_Int64Lists *)at;
        if (s->members[i].kind == NNRT_ATTR_KIND_INTS && list->count > 0 && list->data == NULL)
            return false;
        if (s->members[i].kind != NNRT_ATTR_KIND_INTS2)
            continue;
        if (lists->count > 0 && lists->data == NULL)
            return false;
        for (uint32_t k = 0; k < lists->count; k++)
            if (lists->data[k].count > 0 && lists->data[k].data == NULL)
                return false;
    }
    return true;
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

static NNRT_Uint32List nnrti_builder_list(nnrt_builder *b, const uint32_t *list, uint32_t count)
{
    return NNRT_Uint32List_make((const uint32_t *)nnrti_builder_copy(b, list, count, sizeof(*list)), count);
}

/* What can be said of a node at once; the rest is found when the model is finished. */
static bool nnrti_builder_check_node(nnrt_builder *b, const char *name, NNRT_NodeType type, const uint32_t *list,
                                     uint32_t count, const char *what)
{
    const uint32_t tensors = nnrti_array_count(b->tensors);
    if (nnrt_op_find(type) == NULL) {
        (void)nnrt_error_set(&b->error, NNRT_UNSUPPORTED_OP, "node '%s': there is no operator with number %d", name,
                             type);
        return false;
    }
    if (count > 0 && list == NULL) {
        (void)nnrt_error_set(&b->error, NNRT_NULL_PTR, "node '%s' (%s): counts %u %ss, but has no list of them", name,
                             nnrt_op_find(type)->name, count, what);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (list[i] >= tensors && list[i] != NNRT_NO_TENSOR) {
            (void)nnrt_error_set(&b->error, *what == 'i' ? NNRT_INVALID_INPUT : NNRT_INVALID_OUTPUT,
                                 "node '%s' (%s): %s %u is tensor %u, but there are %u", name, nnrt_op_find(type)->name,
                                 what, i, list[i], tensors);
            return false;
        }
    return true;
}

NNRT_API void nnrt_builder_node(nnrt_builder *builder, const char *name, NNRT_NodeType type, const void *attr,
                                const uint32_t *inputs, uint32_t nIn, const uint32_t *outputs, uint32_t nOut)
{
    const nnrt_attr_struct *s;
    NNRT_Node n;
    if (nnrti_builder_failed(builder) ||
        !nnrti_builder_check_node(builder, nnrti_text_of(name), type, inputs, nIn, "input") ||
        !nnrti_builder_check_node(builder, nnrti_text_of(name), type, outputs, nOut, "output"))
        return;
    s = nnrt_op_find(type)->attr;
    if (attr != NULL && !nnrti_attr_lists(s, attr)) {
        (void)nnrt_error_set(&builder->error, NNRT_NULL_PTR,
                             "node '%s' (%s): a list of its attributes counts entries, but has no data",
                             nnrti_text_of(name), nnrt_op_find(type)->name);
        return;
    }
    memset(&n, 0, sizeof(n));
    n.name = nnrti_builder_text(builder, name);
    n.nodeType = type;
    n.nodeAttr.data =
        attr != NULL ? nnrt_attr_copy(s, attr, nnrti_builder_alloc, builder) : nnrti_builder_attr(builder, s, NULL, 0);
    n.nodeAttr.size = s->bytes;
    n.inputIndex = nnrti_builder_list(builder, inputs, nIn);
    n.outputIndex = nnrti_builder_list(builder, outputs, nOut);
    if (!nnrti_builder_failed(builder))
        NNRTI_PUSH(builder, NNRT_Node, builder->nodes, n);
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
    if (nnrti_builder_at(builder, tensor, "nnrt_builder_output") != NULL)
        NNRTI_PUSH(builder, uint32_t, builder->outputs, tensor);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>models */

#define NNRTI_MODEL_MAGIC 0x6c65646f6d74726eu /* "nrtmodel" */
#define NNRTI_MAX_ATTACHED 4

/* A model that we made: the block begins with this, and all that the model points to lies in it, in what was attached,
   in the replaced model, or is the caller's (constants that were not copied). */
typedef struct nnrti_owned {
    NNRT_Model model;
    uint64_t magic;
    nnrt_allocator allocator;
    size_t bytes; /* of the block */
    struct {
        void *block;
        size_t bytes;
    } attached[NNRTI_MAX_ATTACHED];
    uint32_t nAttached;
    NNRT_Model *replaced; /* the model that this one is the optimised form of, or NULL */
} nnrti_owned;

/* What lies behind model; NULL when we did not make it. */
static nnrti_owned *nnrti_owned_of(const NNRT_Model *model)
{
    nnrti_owned *o = (nnrti_owned *)(uintptr_t)model;
    return o != NULL && o->magic == NNRTI_MODEL_MAGIC ? o : NULL;
}

/* Tables, names and attributes of m in memory; NULL = no memory. */
static nnrti_owned *nnrti_owned_tables(const NNRT_Model *m, nnrt_memory *memory)
{
    nnrti_owned *o = (nnrti_owned *)nnrt_memory_keep(memory, sizeof(*o));
    NNRT_Model *copy = o != NULL ? nnrt_model_copy(m, memory, false) : NULL;
    if (copy == NULL)
        return NULL;
    o->model = *copy;
    return o;
}

/* Lays the constants marked in copied one behind the other from *at on, each aligned, and moves *at behind them. block
   NULL: only counts; otherwise m lies in the block. False when the size does not fit. */
static bool nnrti_owned_constants(const NNRT_Model *m, const uint8_t *copied, uint8_t *block, size_t *at)
{
    for (uint32_t i = 0; i < m->allTensors.count; i++) {
        NNRT_SharedBuffer *d = &((NNRT_Tensor *)(uintptr_t)m->allTensors.data)[i].data;
        if (!copied[i])
            continue;
        if (block != NULL) {
            memcpy(block + *at, nnrti_buffer_data(d), d->dataSize);
            d->addr = block + *at;
            d->offset = 0;
            d->bufferSize = d->dataSize;
        }
        if (!nnrt_add_size(*at, d->dataSize > 0 ? d->dataSize : 1, at) || !nnrti_round_size(*at, NNRT_ALIGNMENT, at))
            return false;
    }
    return true;
}

/* *model = a copy of m in one block of the allocator, with the constants marked in copied; the others stay where they
   are. The same walk counts the bytes and fills the block. */
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
    if (o == NULL || !nnrti_round_size(tables, NNRT_ALIGNMENT, &tables))
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
    o->magic = NNRTI_MODEL_MAGIC;
    o->allocator = *allocator;
    o->bytes = bytes;
    *model = &o->model;
    return NNRT_SUCCESS;
}

/* *m = what b holds, as a model whose lists are b's own; graph is its only subgraph, of all nodes. */
static void nnrti_builder_view(nnrt_builder *b, NNRT_Model *m, NNRT_SubGraph *graph)
{
    const uint32_t nodes = nnrti_array_count(b->nodes);
    uint32_t *all = (uint32_t *)nnrti_builder_keep(b, nodes, sizeof(*all));
    for (uint32_t i = 0; all != NULL && i < nodes; i++)
        all[i] = i;
    m->name = b->name;
    m->inputIndex = NNRT_Uint32List_make(b->inputs, nnrti_array_count(b->inputs));
    m->outputIndex = NNRT_Uint32List_make(b->outputs, nnrti_array_count(b->outputs));
    m->nodes = NNRT_NodeList_make(b->nodes, nodes);
    m->allTensors = NNRT_TensorList_make(b->tensors, nnrti_array_count(b->tensors));
    m->subGraph = NNRT_SubGraphList_make(graph, 1);
    graph->name = "main";
    graph->inputIndices = m->inputIndex;
    graph->outputIndices = m->outputIndex;
    graph->nodeIndices = NNRT_Uint32List_make(all, all != NULL ? nodes : 0);
}

/* The fault that b recorded becomes the caller's; memory may have run out below without a word. */
static NNRT_ReturnCode nnrti_builder_report(nnrt_builder *b, NNRT_ReturnCode code, nnrt_error *error)
{
    if (code == NNRT_OUT_OF_MEMORY)
        nnrti_builder_no_memory(b);
    if (code != NNRT_SUCCESS && error != NULL && error->code == NNRT_SUCCESS)
        *error = b->error;
    return code;
}

/* Checks what b holds and makes the model of it. */
static NNRT_ReturnCode nnrti_builder_make(nnrt_builder *b, NNRT_Model **model)
{
    NNRT_ReturnCode code;
    NNRT_SubGraph graph;
    nnrt_memory memory;
    NNRT_Model m;
    nnrti_builder_view(b, &m, &graph);
    if (nnrti_builder_failed(b))
        return b->error.code;
    nnrt_memory_count(&memory, &b->allocator);
    code = nnrt_model_check(&m, &memory, NULL, &b->error);
    nnrt_memory_end(&memory);
    return code != NNRT_SUCCESS ? code : nnrti_owned_make(&m, b->copied, &b->allocator, model);
}

/* quantType as HDI wants it: ALL exactly when the first result has quantisation parameters. */
static void nnrti_builder_quant_types(nnrt_builder *b)
{
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes); i++) {
        const NNRT_Uint32List *out = &b->nodes[i].outputIndex;
        if (out->count > 0 && out->data[0] != NNRT_NO_TENSOR && b->tensors[out->data[0]].quantParams.count > 0)
            b->nodes[i].quantType = NNRT_QUANT_TYPE_ALL;
    }
}

NNRT_API NNRT_ReturnCode nnrt_builder_finish(nnrt_builder *builder, NNRT_Model **model, nnrt_error *error)
{
    NNRT_ReturnCode code;
    if (model != NULL)
        *model = NULL;
    if (builder == NULL || model == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_builder_finish: %s is NULL",
                              builder == NULL ? "builder" : "model");
    code = builder->error.code;
    if (code == NNRT_SUCCESS) {
        nnrti_builder_quant_types(builder);
        code = nnrti_builder_make(builder, model);
    }
    code = nnrti_builder_report(builder, code, error);
    nnrti_builder_clear(builder);
    return code;
}

NNRT_API void nnrt_model_destroy(NNRT_Model *model)
{
    for (nnrti_owned *o = nnrti_owned_of(model); o != NULL;) {
        nnrti_owned *replaced = nnrti_owned_of(o->replaced);
        nnrt_allocator allocator = o->allocator;
        for (uint32_t i = 0; i < o->nAttached; i++)
            nnrt_free(&allocator, o->attached[i].block, o->attached[i].bytes);
        o->magic = 0;
        nnrt_free(&allocator, o, o->bytes);
        o = replaced;
    }
}

NNRT_API NNRT_ReturnCode nnrt_model_attach(NNRT_Model *model, void *block, size_t bytes)
{
    nnrti_owned *o = nnrti_owned_of(model);
    if (o == NULL || block == NULL)
        return NNRT_NULL_PTR;
    if (o->nAttached == NNRTI_MAX_ATTACHED)
        return NNRT_OUT_OF_MEMORY;
    o->attached[o->nAttached].block = block;
    o->attached[o->nAttached++].bytes = bytes;
    return NNRT_SUCCESS;
}

NNRT_API uint32_t nnrt_model_tensor(const NNRT_Model *model, const char *name)
{
    for (uint32_t i = 0; model != NULL && name != NULL && *name != '\0' && i < model->allTensors.count; i++)
        if (strcmp(nnrti_text_of(model->allTensors.data[i].name), name) == 0)
            return i;
    return NNRT_NO_TENSOR;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>passes */

/* A model while it is optimised. A round sorts the nodes, infers what can be inferred, then walks over the nodes in
   that order and lets each pass try each node; a pass sees producers that the round has already been to. What a tensor
   holds never changes, so what was inferred stays true while nodes are rewired. */
typedef struct nnrti_graph {
    nnrt_builder edit;    /* taken-out nodes have nodeType NNRT_NODE_TYPE_NONE until the end of the round */
    nnrt_memory work;     /* everything below, for one round */
    uint32_t *order;      /* of the nodes, producers first */
    nnrt_operand *shapes; /* per tensor: type, shape and data as far as known; rank -1 = not */
    uint32_t *users;      /* per tensor: how often nodes and model outputs name it */
    uint32_t *writer;     /* per tensor: the node that makes it, or NNRTI_BY_NOBODY */
    uint32_t *same; /* per tensor: the one that takes its place in nodes that the walk has not been to, or itself */
    bool *isOutput; /* per tensor */
    uint32_t room;  /* tensors that these tables have room for: passes add a few */
    uint32_t live;  /* nodes not taken out */
    bool changed;
} nnrti_graph;

#define NNRTI_GRAPH_ADDED 2 /* constants that a pass may add for a node */

static NNRT_Node *nnrti_graph_node(nnrti_graph *g, uint32_t node)
{
    return &g->edit.nodes[node];
}

/* Lists of g->edit.nodes are its own. */
static uint32_t *nnrti_ids(const NNRT_Uint32List *list)
{
    return (uint32_t *)(uintptr_t)list->data;
}

/* Operand k of a list, NNRT_NO_TENSOR when it is not there. */
static uint32_t nnrti_id(const NNRT_Uint32List *list, uint32_t k)
{
    return k < list->count ? list->data[k] : NNRT_NO_TENSOR;
}

/* Fills g->edit with m; names, attributes and constants stay where they are. */
static void nnrti_graph_load(nnrti_graph *g, const NNRT_Model *m)
{
    nnrt_builder *b = &g->edit;
    b->name = m->name;
    for (uint32_t i = 0; i < m->allTensors.count && !nnrti_builder_failed(b); i++) {
        NNRTI_PUSH(b, NNRT_Tensor, b->tensors, m->allTensors.data[i]);
        NNRTI_PUSH(b, uint8_t, b->copied, 0);
    }
    for (uint32_t i = 0; i < m->nodes.count && !nnrti_builder_failed(b); i++) {
        NNRT_Node n = m->nodes.data[i];
        n.inputIndex = nnrti_builder_list(b, n.inputIndex.data, n.inputIndex.count);
        n.outputIndex = nnrti_builder_list(b, n.outputIndex.data, n.outputIndex.count);
        if (!nnrti_builder_failed(b))
            NNRTI_PUSH(b, NNRT_Node, b->nodes, n);
    }
    for (uint32_t i = 0; i < m->inputIndex.count && !nnrti_builder_failed(b); i++)
        NNRTI_PUSH(b, uint32_t, b->inputs, m->inputIndex.data[i]);
    for (uint32_t i = 0; i < m->outputIndex.count && !nnrti_builder_failed(b); i++)
        NNRTI_PUSH(b, uint32_t, b->outputs, m->outputIndex.data[i]);
}

static void nnrti_graph_enter(nnrti_graph *g, uint32_t t)
{
    (void)nnrti_operand_of(&g->edit.tensors[t], &g->shapes[t]);
    g->users[t] = 0;
    g->writer[t] = NNRTI_BY_NOBODY;
    g->same[t] = t;
    g->isOutput[t] = false;
}

/* The tables of a round, and the order of the nodes. */
static NNRT_ReturnCode nnrti_graph_tables(nnrti_graph *g, const NNRT_Model *m)
{
    NNRT_ReturnCode code = nnrt_model_check(m, &g->work, &g->order, &g->edit.error);
    if (code != NNRT_SUCCESS)
        return code;
    g->live = m->nodes.count;
    g->room = m->allTensors.count + NNRTI_GRAPH_ADDED * m->nodes.count;
    g->shapes = (nnrt_operand *)nnrti_temp(&g->work, g->room, sizeof(*g->shapes));
    g->users = (uint32_t *)nnrti_temp(&g->work, g->room, sizeof(*g->users));
    g->writer = (uint32_t *)nnrti_temp(&g->work, g->room, sizeof(*g->writer));
    g->same = (uint32_t *)nnrti_temp(&g->work, g->room, sizeof(*g->same));
    g->isOutput = (bool *)nnrti_temp(&g->work, g->room, sizeof(*g->isOutput));
    if (g->work.full || g->room < m->allTensors.count)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        nnrti_graph_enter(g, t);
    for (uint32_t n = 0; n < m->nodes.count; n++) {
        const NNRT_Node *node = &m->nodes.data[n];
        for (uint32_t k = 0; k < node->inputIndex.count; k++)
            if (node->inputIndex.data[k] != NNRT_NO_TENSOR)
                g->users[node->inputIndex.data[k]]++;
        for (uint32_t k = 0; k < node->outputIndex.count; k++)
            if (node->outputIndex.data[k] != NNRT_NO_TENSOR)
                g->writer[node->outputIndex.data[k]] = n;
    }
    for (uint32_t i = 0; i < m->outputIndex.count; i++) {
        g->users[m->outputIndex.data[i]]++;
        g->isOutput[m->outputIndex.data[i]] = true;
    }
    return NNRT_SUCCESS;
}

/* Takes a node out. */
static void nnrti_graph_delete(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    for (uint32_t k = 0; k < n->inputIndex.count; k++)
        if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
            g->users[n->inputIndex.data[k]]--;
    for (uint32_t k = 0; k < n->outputIndex.count; k++)
        if (n->outputIndex.data[k] != NNRT_NO_TENSOR && g->writer[n->outputIndex.data[k]] == node)
            g->writer[n->outputIndex.data[k]] = NNRTI_BY_NOBODY;
    n->nodeType = NNRT_NODE_TYPE_NONE;
    g->live--;
    g->changed = true;
}

/* Gives a node another list of inputs; false = no memory. */
static bool nnrti_graph_set_inputs(nnrti_graph *g, uint32_t node, const uint32_t *inputs, uint32_t count)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    NNRT_Uint32List list = nnrti_builder_list(&g->edit, inputs, count);
    if (list.data == NULL)
        return false;
    for (uint32_t k = 0; k < count; k++)
        if (inputs[k] != NNRT_NO_TENSOR)
            g->users[inputs[k]]++;
    for (uint32_t k = 0; k < n->inputIndex.count; k++)
        if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
            g->users[n->inputIndex.data[k]]--;
    n->inputIndex = list;
    return true;
}

/* A new constant whose data lie in g->edit; NNRT_NO_TENSOR = no memory. */
static uint32_t nnrti_graph_constant(nnrti_graph *g, NNRT_DataType type, int32_t rank, const int32_t *dims, void *data)
{
    NNRT_Tensor t = nnrti_tensor_make(type);
    uint32_t index;
    if (nnrti_array_count(g->edit.tensors) >= g->room || !nnrti_builder_dims(&g->edit, "", rank, dims, 0, &t.dims) ||
        !nnrti_builder_data(&g->edit, &t, "", data, false))
        return NNRT_NO_TENSOR;
    index = nnrti_builder_add(&g->edit, NULL, &t, true);
    if (index != NNRT_NO_TENSOR)
        nnrti_graph_enter(g, index);
    return index;
}

/* Type and shape are known, so that a node with this operand can be resolved. */
static bool nnrti_graph_known(const nnrt_operand *o)
{
    for (int32_t i = 0; i < o->rank; i++)
        if (o->dims[i] < 0)
            return false;
    return o->rank >= 0 && !nnrti_absent(o);
}

/* What follows of the results of a node that cannot be resolved: types, and the order of an image's axes. */
static void nnrti_graph_guess(nnrti_graph *g, const NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    const char *text = op->outputs;
    nnrti_sig s;
    memset(&s, 0, sizeof(s));
    for (uint32_t k = 0; k < n->outputIndex.count; k++) {
        uint32_t from = NNRT_NO_TENSOR, to = n->outputIndex.data[k];
        if (!s.repeated && !nnrti_sig_next(&text, &s))
            return;
        if (to == NNRT_NO_TENSOR)
            continue;
        if (s.code == '=')
            from = nnrti_id(&n->inputIndex, (uint32_t)s.same);
        if (from != NNRT_NO_TENSOR)
            g->shapes[to].dataType = g->shapes[from].dataType;
        if (s.code == 'b')
            g->shapes[to].dataType = NNRT_DATA_TYPE_BOOL;
        if ((op->flags & NNRT_OP_LAYOUT) && nnrti_id(&n->inputIndex, 0) != NNRT_NO_TENSOR)
            g->shapes[to].format = g->shapes[n->inputIndex.data[0]].format;
    }
}

/* Results that are larger than this and this many times the inputs are left to the run: FILL and TILE would only make
   the model larger. */
#define NNRTI_FOLD_FREE 65536
#define NNRTI_FOLD_GROWTH 16

/* The results of a resolved node may become constants: its inputs are known, none of the results is a model output. */
static bool nnrti_graph_may_fold(const nnrti_graph *g, const NNRT_Node *n, const nnrt_resolve *c, bool folded)
{
    size_t in = 0, out = 0, bytes = 0;
    if (g->live < 2 || (c->kernel == NULL && !folded))
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
    return out <= NNRTI_FOLD_FREE || out / NNRTI_FOLD_GROWTH <= in;
}

/* Makes tensor t, which was inferred, a constant with these data: in g->edit, or those of constant `from`. */
static bool nnrti_graph_set_constant(nnrti_graph *g, uint32_t t, void *data, uint32_t from)
{
    nnrt_operand *o = &g->shapes[t];
    NNRT_Tensor *tensor = &g->edit.tensors[t];
    if (data == NULL || !nnrti_builder_dims(&g->edit, o->name, o->rank, o->dims, 0, &tensor->dims))
        return false;
    tensor->dataType = o->dataType;
    tensor->format = o->format;
    tensor->quantParams = NNRT_QuantParamList_make(o->quant, o->quantCount);
    if (!nnrti_builder_data(&g->edit, tensor, o->name, data, false))
        return false;
    g->edit.copied[t] = from != NNRT_NO_TENSOR ? g->edit.copied[from] : 1;
    o->data = data;
    return true;
}

/* Computes the results of a resolved node whose inputs are known and makes constants of them, where that is worth it.
   */
static NNRT_ReturnCode nnrti_graph_fold(nnrti_graph *g, uint32_t node, nnrt_resolve *c, void **results, bool folded)
{
    NNRT_Node *n = nnrti_graph_node(g, node);
    uint32_t from = nnrti_id(&n->inputIndex, 0);
    const bool shares =
        (c->op->flags & NNRT_OP_ALIAS) && from != NNRT_NO_TENSOR && nnrti_is_constant(&g->edit.tensors[from]);
    NNRT_ReturnCode code;
    if (!nnrti_graph_may_fold(g, n, c, folded))
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < c->nOut; k++) {
        size_t bytes = 0;
        results[k] = NULL;
        if (nnrti_absent(&c->out[k]))
            continue;
        (void)nnrt_dims_bytes(c->out[k].dims, c->out[k].rank, c->out[k].dataType, &bytes);
        results[k] = shares   ? (void *)(uintptr_t)nnrti_buffer_data(&g->edit.tensors[from].data)
                     : folded ? nnrti_builder_copy(&g->edit, c->out[k].data, 1, bytes)
                              : nnrti_builder_keep(&g->edit, 1, bytes);
        if (results[k] == NULL)
            return NNRT_OUT_OF_MEMORY;
    }
    if (!folded && !shares && (code = nnrt_node_run(c, results, &g->work)) != NNRT_SUCCESS)
        return code;
    for (uint32_t k = 0; k < c->nOut; k++)
        if (results[k] != NULL &&
            !nnrti_graph_set_constant(g, n->outputIndex.data[k], results[k], shares ? from : NNRT_NO_TENSOR))
            return NNRT_OUT_OF_MEMORY;
    nnrti_graph_delete(g, node);
    return NNRT_SUCCESS;
}

/* Infers every node whose inputs are known, as nnrt_model_infer does; those behind inputs without extents (-1) stay
   unknown. Nodes whose results are known before a run become constants. */
static NNRT_ReturnCode nnrti_graph_infer(nnrti_graph *g, const NNRT_Model *m)
{
    const size_t widest = nnrti_widest(m);
    nnrt_operand *operands = (nnrt_operand *)nnrti_temp(&g->work, widest, sizeof(*operands));
    void **results = (void **)nnrti_temp(&g->work, widest, sizeof(*results));
    if (operands == NULL || results == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[g->order[i]];
        bool known = true, folded = false;
        NNRT_ReturnCode code;
        nnrt_resolve c;
        for (uint32_t k = 0; k < n->inputIndex.count; k++)
            known = known &&
                    (n->inputIndex.data[k] == NNRT_NO_TENSOR || nnrti_graph_known(&g->shapes[n->inputIndex.data[k]]));
        if (!known) {
            nnrti_graph_guess(g, n);
            continue;
        }
        code = nnrti_infer_node(m, g->order[i], g->shapes, operands, results, &g->work, &g->edit.error, &c, &folded);
        if (code == NNRT_SUCCESS)
            code = nnrti_graph_fold(g, g->order[i], &c, results, folded);
        if (code != NNRT_SUCCESS)
            return nnrti_blame(&g->edit.error, code, g->order[i], -1);
    }
    return NNRT_SUCCESS;
}

/* Channel axis and the like follow the format; NONE counts as NHWC. */
static bool nnrti_is_nchw(const nnrt_operand *o)
{
    return o->format == NNRT_FORMAT_NCHW;
}

/* Type and quantisation of two tensors are the same. */
static bool nnrti_graph_same_values(const nnrti_graph *g, uint32_t a, uint32_t b)
{
    const nnrt_operand *x = &g->shapes[a], *y = &g->shapes[b];
    return x->dataType == y->dataType && !nnrti_absent(x) && nnrti_quant_equal(x, y);
}

/* Tensor b may be read where a was: the order of the axes is the same, too. Shapes are the caller's matter. */
static bool nnrti_graph_alike(const nnrti_graph *g, uint32_t a, uint32_t b)
{
    return nnrti_graph_same_values(g, a, b) && nnrti_is_nchw(&g->shapes[a]) == nnrti_is_nchw(&g->shapes[b]);
}

/* The node before, which writes x, may write y instead. Only for an image does it matter what order y has. */
static bool nnrti_graph_may_write(const nnrti_graph *g, const NNRT_Node *before, uint32_t x, uint32_t y)
{
    return (nnrt_op_find(before->nodeType)->flags & NNRT_OP_LAYOUT) ? nnrti_graph_alike(g, x, y)
                                                                    : nnrti_graph_same_values(g, x, y);
}

static bool nnrti_graph_same_dims(const nnrti_graph *g, uint32_t a, uint32_t b)
{
    const nnrt_operand *x = &g->shapes[a], *y = &g->shapes[b];
    return nnrti_graph_known(x) && nnrti_graph_known(y) && x->rank == y->rank &&
           memcmp(x->dims, y->dims, (size_t)x->rank * sizeof(x->dims[0])) == 0;
}

/* The operand of a constant tensor, else NULL. */
static const nnrt_operand *nnrti_graph_data(const nnrti_graph *g, uint32_t t)
{
    return t != NNRT_NO_TENSOR && nnrti_is_constant(&g->edit.tensors[t]) ? &g->shapes[t] : NULL;
}

/* The node that makes tensor t, when only one node uses t and t is no model output; NULL otherwise. */
static NNRT_Node *nnrti_graph_producer(nnrti_graph *g, uint32_t t)
{
    if (t == NNRT_NO_TENSOR || g->writer[t] == NNRTI_BY_NOBODY || g->users[t] != 1 || g->isOutput[t])
        return NULL;
    return nnrti_graph_node(g, g->writer[t]);
}

/* The place of a member of n's attributes, whole and changeable; NULL when the operator has no such member, or no
   memory. */
static void *nnrti_graph_attr(nnrti_graph *g, NNRT_Node *n, const char *name)
{
    const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(s->members[i].name, name) == 0) {
            void *copy = nnrti_builder_attr(&g->edit, s, n->nodeAttr.data, n->nodeAttr.size);
            if (copy == NULL)
                return NULL;
            n->nodeAttr.data = copy;
            n->nodeAttr.size = s->bytes;
            return (uint8_t *)copy + s->members[i].offset;
        }
    return NULL;
}

/* A pass tries to change the graph at one node, whose inputs are up to date. It returns whether it did; a lack of
   memory is recorded in g->edit, and the graph is then given up. */
typedef bool (*nnrti_pass)(nnrti_graph *g, uint32_t node);

/* Nodes that only give their input another shape. */
static bool nnrti_is_reshape(const NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    return op != NULL && (op->flags & NNRT_OP_ALIAS) != 0;
}

/* The node before `node` that writes its input 0, when test accepts it and its own input 0 may be read instead. */
static const NNRT_Node *nnrti_pass_before(nnrti_graph *g, const NNRT_Node *n, bool (*test)(const NNRT_Node *))
{
    const uint32_t x = nnrti_id(&n->inputIndex, 0);
    const NNRT_Node *before;
    if (x == NNRT_NO_TENSOR || g->writer[x] == NNRTI_BY_NOBODY)
        return NULL;
    before = nnrti_graph_node(g, g->writer[x]);
    if (!test(before) || nnrti_id(&before->inputIndex, 0) == NNRT_NO_TENSOR ||
        !nnrti_quant_equal(&g->shapes[before->inputIndex.data[0]], &g->shapes[x]))
        return NULL;
    return before;
}

/* Two changes of shape in a row: the second one does both. With extents known it becomes RESHAPE to just these; a list
   without 0 (which copies an extent) holds for any input of as many elements. */
static bool nnrti_pass_join_reshapes(nnrti_graph *g, uint32_t node)
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
    if (!fixed && !nnrti_graph_known(&g->shapes[out]))
        return false;
    inputs[0] = before->inputIndex.data[0];
    inputs[1] = shape;
    if (!fixed) {
        const nnrt_operand *o = &g->shapes[out];
        inputs[1] = nnrti_graph_constant(g, NNRT_DATA_TYPE_INT32, 1, &o->rank,
                                         nnrti_builder_copy(&g->edit, o->dims, (size_t)o->rank, sizeof(o->dims[0])));
        attr = nnrti_builder_attr(&g->edit, nnrt_op_find(NNRT_NODE_TYPE_RESHAPE)->attr, NULL, 0);
        if (inputs[1] == NNRT_NO_TENSOR || attr == NULL)
            return false;
        n->nodeType = NNRT_NODE_TYPE_RESHAPE;
        n->nodeAttr.data = attr;
        n->nodeAttr.size = nnrt_op_find(NNRT_NODE_TYPE_RESHAPE)->attr->bytes;
    }
    return nnrti_graph_set_inputs(g, node, inputs, 2);
}

/* perm[k] = entry k of TRANSPOSE n's constant permutation, in 0..*rank-1; false when it is not a constant or no
   permutation. */
static bool nnrti_graph_perm(const nnrti_graph *g, const NNRT_Node *n, int32_t perm[NNRT_MAX_RANK], int32_t *rank)
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

static bool nnrti_is_transpose(const NNRT_Node *n)
{
    return n->nodeType == NNRT_NODE_TYPE_TRANSPOSE;
}

/* Two permutations in a row: the second one does both. */
static bool nnrti_pass_join_transposes(nnrti_graph *g, uint32_t node)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const NNRT_Node *before = nnrti_is_transpose(n) ? nnrti_pass_before(g, n, nnrti_is_transpose) : NULL;
    int32_t first[NNRT_MAX_RANK], then[NNRT_MAX_RANK], both[NNRT_MAX_RANK], rank, same;
    uint32_t inputs[2];
    if (before == NULL || !nnrti_graph_perm(g, before, first, &same) || !nnrti_graph_perm(g, n, then, &rank) ||
        rank != same)
        return false;
    for (int32_t k = 0; k < rank; k++)
        both[k] = first[then[k]];
    inputs[0] = before->inputIndex.data[0];
    inputs[1] = nnrti_graph_constant(g, NNRT_DATA_TYPE_INT32, 1, &rank,
                                     nnrti_builder_copy(&g->edit, both, (size_t)rank, sizeof(both[0])));
    return inputs[1] != NNRT_NO_TENSOR && nnrti_graph_set_inputs(g, node, inputs, 2);
}

static bool nnrti_graph_identity_perm(const nnrti_graph *g, const NNRT_Node *n)
{
    int32_t perm[NNRT_MAX_RANK], rank;
    if (!nnrti_graph_perm(g, n, perm, &rank))
        return false;
    for (int32_t k = 0; k < rank; k++)
        if (perm[k] != k)
            return false;
    return true;
}

/* No step backwards: a STRIDED_SLICE that gives the shape of its input then takes all of it, in order. */
static bool nnrti_graph_forward(const nnrti_graph *g, const NNRT_Node *n)
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

/* Result 0 of the node has just the values of input 0. */
static bool nnrti_graph_copies(nnrti_graph *g, const NNRT_Node *n, uint32_t x, uint32_t y)
{
    const void *attr = n->nodeAttr.data;
    if (nnrti_is_reshape(n))
        return nnrti_graph_same_dims(g, x, y);
    switch (n->nodeType) {
    case NNRT_NODE_TYPE_TILE_FUSION:
    case NNRT_NODE_TYPE_PAD_FUSION: /* no multiple below 1 keeps a shape, and paddings are not negative */
    case NNRT_NODE_TYPE_SLICE_FUSION: return nnrti_graph_same_dims(g, x, y);
    case NNRT_NODE_TYPE_STRIDED_SLICE: return nnrti_graph_same_dims(g, x, y) && nnrti_graph_forward(g, n);
    case NNRT_NODE_TYPE_TRANSPOSE: return nnrti_graph_identity_perm(g, n);
    case NNRT_NODE_TYPE_CAST: return true; /* the types are equal, which the caller looks at */
    case NNRT_NODE_TYPE_CONCAT: return n->inputIndex.count == 1;
    case NNRT_NODE_TYPE_SPLIT: return n->outputIndex.count == 1;
    case NNRT_NODE_TYPE_ACTIVATION:
        return n->nodeAttr.size >= sizeof(NNRT_ActivationType) &&
               (((const NNRT_Activation *)attr)->activationType == NNRT_ACTIVATION_TYPE_NO_ACTIVATION ||
                ((const NNRT_Activation *)attr)->activationType == NNRT_ACTIVATION_TYPE_LINEAR);
    default: return false;
    }
}

/* Takes out a node that changes nothing: its users read its input. Where the result is a model output, the node before
   writes it instead; an output that equals an input, a constant or another output keeps its node. */
static bool nnrti_pass_drop_copy(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node), *before;
    const uint32_t x = nnrti_id(&n->inputIndex, 0), y = nnrti_id(&n->outputIndex, 0);
    if (g->live < 2 || x == NNRT_NO_TENSOR || y == NNRT_NO_TENSOR || !nnrti_graph_alike(g, x, y) ||
        !nnrti_graph_copies(g, n, x, y))
        return false;
    if (!g->isOutput[y]) {
        nnrti_graph_delete(g, node);
        g->same[y] = x;
        g->users[x] += g->users[y];
        g->users[y] = 0;
        return true;
    }
    before = nnrti_graph_producer(g, x);
    if (before == NULL)
        return false;
    for (uint32_t k = 0; k < before->outputIndex.count; k++)
        if (before->outputIndex.data[k] == x)
            nnrti_ids(&before->outputIndex)[k] = y;
    nnrti_graph_delete(g, node);
    g->writer[y] = g->writer[x];
    return true;
}

/* Takes node out; the node before, which wrote x for it alone, writes its result. */
static void nnrti_graph_take_over(nnrti_graph *g, uint32_t node, NNRT_Node *before, uint32_t x)
{
    const uint32_t y = nnrti_graph_node(g, node)->outputIndex.data[0], writer = g->writer[x];
    nnrti_graph_delete(g, node);
    nnrti_ids(&before->outputIndex)[0] = y;
    g->writer[y] = writer;
}

/* activationType of an operator's attributes, NO_ACTIVATION where it has none. *has: it has one. */
static NNRT_ActivationType nnrti_activation_of(const NNRT_Node *n, bool *has)
{
    const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
    NNRT_ActivationType type = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    *has = false;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->members[i].kind == NNRT_ATTR_KIND_ENUM && strcmp(s->members[i].name, "activationType") == 0) {
            *has = true;
            if (s->members[i].offset + sizeof(type) <= n->nodeAttr.size)
                memcpy(&type, (const uint8_t *)n->nodeAttr.data + s->members[i].offset, sizeof(type));
        }
    return type;
}

static bool nnrti_graph_set_activation(nnrti_graph *g, NNRT_Node *n, NNRT_ActivationType type)
{
    NNRT_ActivationType *at = (NNRT_ActivationType *)nnrti_graph_attr(g, n, "activationType");
    if (at != NULL)
        *at = type;
    return at != NULL;
}

/* Types that need no parameter of ACTIVATION (OPS.md A11). */
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

/* An ACTIVATION becomes part of the node before, if that has a place for it. */
static bool nnrti_pass_fuse_activation(nnrti_graph *g, uint32_t node)
{
    NNRT_Node *n = nnrti_graph_node(g, node), *before;
    const uint32_t x = nnrti_id(&n->inputIndex, 0), y = nnrti_id(&n->outputIndex, 0);
    NNRT_ActivationType type;
    bool has;
    if (n->nodeType != NNRT_NODE_TYPE_ACTIVATION || y == NNRT_NO_TENSOR ||
        (before = nnrti_graph_producer(g, x)) == NULL || before->nodeType == NNRT_NODE_TYPE_ACTIVATION ||
        before->outputIndex.data[0] != x)
        return false;
    type = nnrti_activation_of(n, &has);
    if (!nnrti_may_fuse(n, type) || !nnrti_type_in(g->shapes[x].dataType, NNRT_TYPES_FLOAT) ||
        !nnrti_graph_may_write(g, before, x, y) ||
        nnrti_activation_of(before, &has) != NNRT_ACTIVATION_TYPE_NO_ACTIVATION || !has ||
        !nnrti_graph_set_activation(g, before, type))
        return false;
    nnrti_graph_take_over(g, node, before, x);
    return true;
}

/* y = factor * x + shift for each of the channels of x: what a normalisation, scaling or addition of constants is. */
typedef struct nnrti_affine {
    double *factor, *shift;
    int32_t channels, axis, rank; /* x has `rank` axes, and the channels lie along `axis` */
} nnrti_affine;

/* values[c] = float32 constant t, laid over the axes of x from axis `first` on, when it varies along the channels only.
   exact: it must have all the channels. */
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
    nnrt_attr_defaults(nnrt_op_find(n->nodeType)->attr, &attr);
    if (n->nodeAttr.size >= sizeof(attr))
        memcpy(&attr, n->nodeAttr.data, sizeof(attr));
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

/* SCALE_FUSION: the constants lie over the axes from attribute axis on, and have all the channels. */
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

/* ADD, SUB or MUL of x and a constant that is broadcast to it. */
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

/* Fills *a for node n, whose data operand is x. byFormat: where n's own channel axis lies (OPS.md A8), -1 = not known.
   */
static bool nnrti_affine_of(nnrti_graph *g, const NNRT_Node *n, uint32_t x, int32_t byFormat, nnrti_affine *a)
{
    double *block = (double *)nnrti_temp(&g->work, 4 * (size_t)a->channels, sizeof(*block));
    const bool onFirst = nnrti_id(&n->inputIndex, 0) == x;
    if (block == NULL) {
        nnrti_builder_no_memory(&g->edit);
        return false;
    }
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
    default: return nnrti_affine_binary(g, n, x, a);
    }
}

/* What the channels of the result x of a convolution or full connection are: false when their place is not known. */
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

/* inputs[1] and inputs[2] = weight and bias of n with a applied: computed in double, rounded once. False when a value
   would not be finite, or there is no memory. */
static bool nnrti_affine_apply(nnrti_graph *g, const NNRT_Node *n, const nnrti_affine *a, uint32_t inputs[3])
{
    const nnrt_operand *w = &g->shapes[n->inputIndex.data[1]], *b = nnrti_graph_data(g, nnrti_id(&n->inputIndex, 2));
    float *weight = NULL, *bias = (float *)nnrti_builder_keep(&g->edit, (size_t)a->channels, sizeof(float));
    size_t count = 0, row;
    bool scales = false;
    float bad = 0;
    (void)nnrt_dims_count(w->dims, w->rank, &count);
    row = count / (size_t)a->channels;
    for (int32_t c = 0; c < a->channels; c++)
        scales = scales || a->factor[c] != 1;
    if (bias == NULL || (scales && (weight = (float *)nnrti_builder_keep(&g->edit, count, sizeof(float))) == NULL))
        return false;
    for (size_t c = 0; c < (size_t)a->channels; c++) {
        bias[c] = (float)((b != NULL ? (double)((const float *)b->data)[c] : 0.0) * a->factor[c] + a->shift[c]);
        bad += bias[c] - bias[c]; /* 0, or NaN once something is infinite or NaN */
        for (size_t i = c * row; scales && i < (c + 1) * row; i++) {
            weight[i] = (float)((double)((const float *)w->data)[i] * a->factor[c]);
            bad += weight[i] - weight[i];
        }
    }
    if (bad != 0)
        return false;
    inputs[0] = n->inputIndex.data[0];
    inputs[1] =
        scales ? nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, w->rank, w->dims, weight) : n->inputIndex.data[1];
    inputs[2] = nnrti_graph_constant(g, NNRT_DATA_TYPE_FLOAT32, 1, &a->channels, bias);
    return inputs[1] != NNRT_NO_TENSOR && inputs[2] != NNRT_NO_TENSOR;
}

/* The operand of n that is not a constant: 0, or 1 where addition and its like have the constant first. */
static uint32_t nnrti_affine_operand(const nnrti_graph *g, const NNRT_Node *n)
{
    const uint32_t x = nnrti_id(&n->inputIndex, 0);
    switch (n->nodeType) {
    case NNRT_NODE_TYPE_ADD_FUSION:
    case NNRT_NODE_TYPE_SUB_FUSION:
    case NNRT_NODE_TYPE_MUL_FUSION: return nnrti_graph_data(g, x) != NULL ? nnrti_id(&n->inputIndex, 1) : x;
    case NNRT_NODE_TYPE_FUSED_BATCH_NORM:
    case NNRT_NODE_TYPE_BIAS_ADD:
    case NNRT_NODE_TYPE_SCALE_FUSION: return x;
    default: return NNRT_NO_TENSOR;
    }
}

/* The node before n, which makes x for n alone, has an input behind 0 and no activation yet, and n's result fits in its
   place; NULL otherwise. */
static NNRT_Node *nnrti_affine_before(nnrti_graph *g, const NNRT_Node *n, uint32_t x)
{
    const uint32_t y = nnrti_id(&n->outputIndex, 0);
    NNRT_Node *before = nnrti_graph_producer(g, x);
    bool has;
    if (before == NULL || y == NNRT_NO_TENSOR || before->inputIndex.count < 2 || before->outputIndex.data[0] != x ||
        g->shapes[x].dataType != NNRT_DATA_TYPE_FLOAT32 || !nnrti_graph_may_write(g, before, x, y) ||
        nnrti_activation_of(before, &has) != NNRT_ACTIVATION_TYPE_NO_ACTIVATION || !has)
        return NULL;
    return before;
}

/* A normalisation, scaling or addition of constants for each channel goes into weight and bias of the node before. */
static bool nnrti_pass_fold_affine(nnrti_graph *g, uint32_t node)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const uint32_t x = nnrti_affine_operand(g, n);
    NNRT_Node *before = nnrti_affine_before(g, n, x);
    uint32_t inputs[3];
    nnrti_affine a;
    int32_t byFormat;
    bool has, *hasBias;
    if (before == NULL ||
        (before->nodeType != NNRT_NODE_TYPE_CONV2D_FUSION &&
         before->nodeType != NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION &&
         before->nodeType != NNRT_NODE_TYPE_FULL_CONNECTION) ||
        !nnrti_affine_channels(g, before, x, &a, &byFormat) || !nnrti_affine_of(g, n, x, byFormat, &a) ||
        !nnrti_affine_apply(g, before, &a, inputs) ||
        !nnrti_graph_set_activation(g, before, nnrti_activation_of(n, &has)) ||
        !nnrti_graph_set_inputs(g, g->writer[x], inputs, 3))
        return false;
    if (before->nodeType == NNRT_NODE_TYPE_FULL_CONNECTION) {
        if ((hasBias = (bool *)nnrti_graph_attr(g, before, "hasBias")) == NULL)
            return false;
        *hasBias = true;
    }
    nnrti_graph_take_over(g, node, before, x);
    return true;
}

/* z = x * y + constants for each column: the constants become the bias of MATMUL_FUSION. */
static bool nnrti_pass_matmul_bias(nnrti_graph *g, uint32_t node)
{
    const NNRT_Node *n = nnrti_graph_node(g, node);
    const uint32_t x = n->nodeType == NNRT_NODE_TYPE_ADD_FUSION ? nnrti_affine_operand(g, n) : NNRT_NO_TENSOR;
    NNRT_Node *before = nnrti_affine_before(g, n, x);
    const uint32_t other = nnrti_id(&n->inputIndex, nnrti_id(&n->inputIndex, 0) == x ? 1 : 0);
    const nnrt_operand *z, *c = nnrti_graph_data(g, other);
    uint32_t inputs[3];
    bool has;
    if (before == NULL || before->nodeType != NNRT_NODE_TYPE_MATMUL_FUSION || c == NULL || c->rank < 1 ||
        c->dataType != NNRT_DATA_TYPE_FLOAT32 || nnrti_id(&before->inputIndex, 2) != NNRT_NO_TENSOR)
        return false;
    z = &g->shapes[x];
    if (!nnrti_graph_known(z) || z->rank < c->rank || g->shapes[before->inputIndex.data[1]].rank < 2 ||
        c->dims[c->rank - 1] != z->dims[z->rank - 1])
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
                                   nnrti_builder_copy(&g->edit, c->data, (size_t)z->dims[z->rank - 1], sizeof(float)));
    if (inputs[2] == NNRT_NO_TENSOR || !nnrti_graph_set_activation(g, before, nnrti_activation_of(n, &has)) ||
        !nnrti_graph_set_inputs(g, g->writer[x], inputs, 3))
        return false;
    nnrti_graph_take_over(g, node, before, x);
    return true;
}

/* Tried in this order, one success a node and round. */
static const nnrti_pass nnrti_passes[] = {nnrti_pass_join_reshapes, nnrti_pass_join_transposes,
                                          nnrti_pass_drop_copy,     nnrti_pass_fold_affine,
                                          nnrti_pass_matmul_bias,   nnrti_pass_fuse_activation};

/* From the last node to the first: those whose results nobody uses go, but one node always stays. */
static void nnrti_graph_drop_dead(nnrti_graph *g, uint32_t count)
{
    for (uint32_t i = count; i-- > 0 && g->live > 1;) {
        const NNRT_Node *n = nnrti_graph_node(g, g->order[i]);
        bool used = n->nodeType == NNRT_NODE_TYPE_NONE;
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            used = used || (n->outputIndex.data[k] != NNRT_NO_TENSOR && g->users[n->outputIndex.data[k]] > 0);
        if (!used)
            nnrti_graph_delete(g, g->order[i]);
    }
}

static void nnrti_graph_compact(nnrti_graph *g)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < nnrti_array_count(g->edit.nodes); i++)
        if (g->edit.nodes[i].nodeType != NNRT_NODE_TYPE_NONE)
            g->edit.nodes[kept++] = g->edit.nodes[i];
    stbds_header(g->edit.nodes)->length = kept;
}

/* One round; g->changed tells whether another one may find more. */
static NNRT_ReturnCode nnrti_graph_round(nnrti_graph *g)
{
    NNRT_ReturnCode code;
    NNRT_SubGraph graph;
    NNRT_Model m;
    nnrti_builder_view(&g->edit, &m, &graph);
    if ((code = g->edit.error.code) != NNRT_SUCCESS || (code = nnrti_graph_tables(g, &m)) != NNRT_SUCCESS ||
        (code = nnrti_graph_infer(g, &m)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < m.nodes.count; i++) {
        NNRT_Node *n = nnrti_graph_node(g, g->order[i]);
        bool done = n->nodeType == NNRT_NODE_TYPE_NONE;
        for (uint32_t k = 0; k < n->inputIndex.count; k++)
            if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
                nnrti_ids(&n->inputIndex)[k] = g->same[n->inputIndex.data[k]];
        for (uint32_t p = 0; p < NNRTI_COUNT(nnrti_passes) && !done; p++) {
            done = nnrti_passes[p](g, g->order[i]);
            g->changed = g->changed || done;
            if (nnrti_builder_failed(&g->edit))
                return g->edit.error.code;
        }
    }
    nnrti_graph_drop_dead(g, m.nodes.count);
    nnrti_graph_compact(g);
    return NNRT_SUCCESS;
}

/* Takes out the tensors that no node, input or output names. */
static NNRT_ReturnCode nnrti_graph_drop_tensors(nnrti_graph *g)
{
    nnrt_builder *b = &g->edit;
    const uint32_t count = nnrti_array_count(b->tensors);
    uint32_t *to = (uint32_t *)nnrti_builder_keep(b, count, sizeof(*to)), kept = 0;
    if (to == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < nnrti_array_count(b->inputs); i++)
        to[b->inputs[i]] = 1;
    for (uint32_t i = 0; i < nnrti_array_count(b->outputs); i++)
        to[b->outputs[i]] = 1;
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes); i++)
        for (uint32_t side = 0; side < 2; side++) {
            const NNRT_Uint32List *list = side == 0 ? &b->nodes[i].inputIndex : &b->nodes[i].outputIndex;
            for (uint32_t k = 0; k < list->count; k++)
                if (list->data[k] != NNRT_NO_TENSOR)
                    to[list->data[k]] = 1;
        }
    for (uint32_t t = 0; t < count; t++) {
        if (to[t] == 0)
            continue;
        b->tensors[kept] = b->tensors[t];
        b->copied[kept] = b->copied[t];
        to[t] = kept++;
    }
    g->changed = g->changed || kept < count;
    stbds_header(b->tensors)->length = stbds_header(b->copied)->length = kept;
    for (uint32_t i = 0; i < nnrti_array_count(b->inputs); i++)
        b->inputs[i] = to[b->inputs[i]];
    for (uint32_t i = 0; i < nnrti_array_count(b->outputs); i++)
        b->outputs[i] = to[b->outputs[i]];
    for (uint32_t i = 0; i < nnrti_array_count(b->nodes); i++)
        for (uint32_t side = 0; side < 2; side++) {
            const NNRT_Uint32List *list = side == 0 ? &b->nodes[i].inputIndex : &b->nodes[i].outputIndex;
            for (uint32_t k = 0; k < list->count; k++)
                if (list->data[k] != NNRT_NO_TENSOR)
                    nnrti_ids(list)[k] = to[list->data[k]];
        }
    return NNRT_SUCCESS;
}

#define NNRTI_MAX_ROUNDS 64 /* two or three are usual; a round that changes nothing is the last */

/* Rounds until nothing changes; *any = something did. */
static NNRT_ReturnCode nnrti_graph_optimize(nnrti_graph *g, const NNRT_Model *m, bool *any)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    *any = false;
    g->changed = true;
    for (uint32_t i = 0; i < NNRTI_MAX_ROUNDS && g->changed && code == NNRT_SUCCESS; i++) {
        if (i == 0)
            nnrti_graph_load(g, m);
        g->changed = false;
        nnrt_memory_count(&g->work, &g->edit.allocator);
        code = nnrti_graph_round(g);
        nnrt_memory_end(&g->work);
        *any = *any || g->changed;
    }
    if (code == NNRT_SUCCESS)
        code = nnrti_graph_drop_tensors(g);
    *any = *any || g->changed;
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_model_optimize(NNRT_Model **model, nnrt_error *error)
{
    nnrti_owned *old = model != NULL ? nnrti_owned_of(*model) : NULL;
    NNRT_Model *made = NULL;
    NNRT_ReturnCode code;
    nnrti_graph g;
    bool any;
    if (old == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR,
                              "nnrt_model_optimize: takes only a model that a builder or loader made");
    memset(&g, 0, sizeof(g));
    nnrti_builder_init(&g.edit, &old->allocator);
    code = nnrti_graph_optimize(&g, &old->model, &any);
    if (code == NNRT_SUCCESS && any)
        code = nnrti_builder_make(&g.edit, &made);
    code = nnrti_builder_report(&g.edit, code, error);
    nnrti_builder_clear(&g.edit);
    if (made != NULL) {
        nnrti_owned_of(made)->replaced = &old->model;
        *model = made;
    }
    return code;
}

/* A text inside the quotes of a Graphviz label. */
static void nnrti_dot_text(nnrti_out *o, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            nnrti_put(o, '\\');
        if ((unsigned char)*text >= ' ')
            nnrti_put(o, *text);
        else
            nnrti_puts(o, *text == '\n' ? "\\n" : " ");
    }
}

static void nnrti_dot_id(nnrti_out *o, char kind, uint32_t index)
{
    nnrti_put(o, kind);
    nnrti_put_u64(o, index);
}

/* "  t3 [shape=ellipse label="name\nfloat32[1,3]"];" */
static void nnrti_dot_tensor(nnrti_out *o, const nnrt_operand *t, char kind, uint32_t index, const char *style)
{
    nnrti_puts(o, "  ");
    nnrti_dot_id(o, kind, index);
    nnrti_puts(o, " [");
    nnrti_puts(o, style);
    nnrti_puts(o, " label=\"");
    nnrti_dot_text(o, nnrti_text_of(t->name));
    if (*nnrti_text_of(t->name) != '\0')
        nnrti_puts(o, "\\n");
    nnrti_put_operand(o, t);
    nnrti_puts(o, "\"];\n");
}

/* Operator, name, and the attributes, a line each. */
static void nnrti_dot_node(nnrti_out *o, const NNRT_Node *n, uint32_t index)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    nnrti_puts(o, "  ");
    nnrti_dot_id(o, 'n', index);
    nnrti_puts(o, " [shape=box style=rounded label=\"");
    nnrti_puts(o, op->name);
    if (*nnrti_text_of(n->name) != '\0') {
        nnrti_puts(o, "\\n");
        nnrti_dot_text(o, n->name);
    }
    for (uint32_t i = 0; i < op->attr->count; i++) {
        const nnrt_attr_member *m = &op->attr->members[i];
        if (n->nodeAttr.data == NULL || m->offset + m->bytes > n->nodeAttr.size)
            continue;
        nnrti_puts(o, "\\n");
        nnrti_puts(o, m->name);
        nnrti_put(o, '=');
        nnrti_put_member(o, m, (const uint8_t *)n->nodeAttr.data + m->offset);
    }
    nnrti_puts(o, "\"];\n");
}

/* An edge from the node, input or constant that tensor t comes from to node or output `to`. */
static void nnrti_dot_edge(nnrti_out *o, const nnrt_operand *shapes, const uint32_t *writer, uint32_t t, char kind,
                           uint32_t to)
{
    nnrti_puts(o, "  ");
    nnrti_dot_id(o, writer[t] == NNRTI_BY_NOBODY ? 't' : 'n', writer[t] == NNRTI_BY_NOBODY ? t : writer[t]);
    nnrti_puts(o, " -> ");
    nnrti_dot_id(o, kind, to);
    if (writer[t] != NNRTI_BY_NOBODY) {
        nnrti_puts(o, " [label=\"");
        nnrti_put_operand(o, &shapes[t]);
        nnrti_puts(o, "\"]");
    }
    nnrti_puts(o, ";\n");
}

/* The model has been checked. writer: per tensor the node that makes it, or NNRTI_BY_NOBODY. */
static void nnrti_dot_model(nnrti_out *o, const NNRT_Model *m, const nnrt_operand *shapes, const uint32_t *writer)
{
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        nnrti_dot_tensor(o, &shapes[m->inputIndex.data[i]], 't', m->inputIndex.data[i], "shape=ellipse style=filled");
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        if (nnrti_is_constant(&m->allTensors.data[t]))
            nnrti_dot_tensor(o, &shapes[t], 't', t, "shape=note fontsize=9");
    for (uint32_t n = 0; n < m->nodes.count; n++)
        nnrti_dot_node(o, &m->nodes.data[n], n);
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        nnrti_dot_tensor(o, &shapes[m->outputIndex.data[i]], 'o', i, "shape=ellipse peripheries=2");
    for (uint32_t n = 0; n < m->nodes.count; n++)
        for (uint32_t k = 0; k < m->nodes.data[n].inputIndex.count; k++)
            if (m->nodes.data[n].inputIndex.data[k] != NNRT_NO_TENSOR)
                nnrti_dot_edge(o, shapes, writer, m->nodes.data[n].inputIndex.data[k], 'n', n);
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        nnrti_dot_edge(o, shapes, writer, m->outputIndex.data[i], 'o', i);
}

/* The shapes that are inferred, or those declared where that does not work; or the fault of a model that is none. */
static void nnrti_dot_body(nnrti_out *o, const NNRT_Model *m, nnrt_memory *memory, nnrt_error *error)
{
    nnrt_operand *shapes;
    uint32_t *writer;
    if (nnrt_model_check(m, memory, NULL, error) != NNRT_SUCCESS)
        return;
    shapes = (nnrt_operand *)nnrti_temp(memory, m->allTensors.count, sizeof(*shapes));
    writer = (uint32_t *)nnrti_temp(memory, m->allTensors.count, sizeof(*writer));
    if (shapes == NULL || writer == NULL) {
        (void)nnrti_no_memory(error);
        return;
    }
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        writer[t] = NNRTI_BY_NOBODY;
    for (uint32_t n = 0; n < m->nodes.count; n++)
        for (uint32_t k = 0; k < m->nodes.data[n].outputIndex.count; k++)
            if (m->nodes.data[n].outputIndex.data[k] != NNRT_NO_TENSOR)
                writer[m->nodes.data[n].outputIndex.data[k]] = n;
    if (nnrt_model_infer(m, NULL, memory, shapes, NULL, NULL) != NNRT_SUCCESS)
        for (uint32_t t = 0; t < m->allTensors.count; t++)
            (void)nnrti_operand_of(&m->allTensors.data[t], &shapes[t]);
    nnrti_dot_model(o, m, shapes, writer);
}

NNRT_API size_t nnrt_model_dot(const NNRT_Model *model, char *out, size_t size)
{
    nnrt_memory memory;
    nnrt_error error;
    nnrti_out o;
    o.data = out;
    o.size = out != NULL ? size : 0;
    o.length = 0;
    memset(&error, 0, sizeof(error));
    nnrt_memory_count(&memory, NULL);
    nnrti_puts(&o, "digraph \"");
    nnrti_dot_text(&o, model != NULL ? nnrti_text_of(model->name) : "");
    nnrti_puts(&o,
               "\" {\n  node [fontname=\"sans-serif\" fontsize=11];\n  edge [fontname=\"sans-serif\" fontsize=9];\n");
    nnrti_dot_body(&o, model, &memory, &error);
    if (error.code != NNRT_SUCCESS) {
        nnrti_puts(&o, "  error [shape=plaintext label=\"");
        nnrti_dot_text(&o, error.message);
        nnrti_puts(&o, "\"];\n");
    }
    nnrti_puts(&o, "}\n");
    nnrt_memory_end(&memory);
    return nnrti_end(&o);
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

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>sessions */

/* Lies at the start of the session's memory; behind it the arrays of inputs and outputs and their names, then (in a
   caller's buffer) what the device prepared, then the workspace. */
struct nnrt_session {
    nnrt_session *owner; /* the session that owns prepared: itself, unless it shares */
    int32_t users;       /* sessions that use prepared, this one included */
    nnrt_device *device;
    NNRT_PreparedModel *prepared;
    void *workspace;
    size_t workspaceBytes, headBytes;
    nnrt_allocator allocator;
    bool allocated; /* head and workspace come from the allocator */
    uint32_t nIn, nOut;
    nnrt_io_info *infos; /* nIn + nOut */
    NNRT_IOTensor *io;   /* nIn + nOut */
    nnrt_session_memory memory;
    nnrt_error error;
};

NNRT_API const char *nnrt_version(void)
{
#define NNRTI_TEXT2(x) #x
#define NNRTI_TEXT(x) NNRTI_TEXT2(x)
    return NNRTI_TEXT(NNRT_VERSION_MAJOR) "." NNRTI_TEXT(NNRT_VERSION_MINOR) "." NNRTI_TEXT(NNRT_VERSION_PATCH);
}

static const char *nnrti_model_name_of(const NNRT_Model *m, uint32_t i)
{
    uint32_t n = m->inputIndex.count;
    uint32_t t = i < n ? m->inputIndex.data[i] : m->outputIndex.data[i - n];
    return nnrti_text_of(m->allTensors.data[t].name);
}

/* Bytes of the head: struct, arrays and names. false when they do not fit a size_t. */
static bool nnrti_head_bytes(const NNRT_Model *m, size_t *bytes)
{
    size_t count = (size_t)m->inputIndex.count + m->outputIndex.count, arrays;
    if (!nnrt_mul_size(count, sizeof(nnrt_io_info) + sizeof(NNRT_IOTensor), &arrays) ||
        !nnrt_add_size(sizeof(nnrt_session) + 16, arrays, bytes))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!nnrt_add_size(*bytes, strlen(nnrti_model_name_of(m, i)) + 1, bytes))
            return false;
    return nnrti_round_size(*bytes, NNRT_ALIGNMENT, bytes);
}

/* Sets up the head; the shapes come when the model is prepared. */
static nnrt_session *nnrti_head_make(void *block, size_t bytes, const NNRT_Model *m)
{
    nnrt_session *s = (nnrt_session *)block;
    uint8_t *at = (uint8_t *)block + (sizeof(*s) + 15) / 16 * 16;
    memset(block, 0, bytes);
    s->headBytes = bytes;
    s->nIn = m->inputIndex.count;
    s->nOut = m->outputIndex.count;
    s->infos = (nnrt_io_info *)(void *)at;
    at += (s->nIn + s->nOut) * sizeof(*s->infos);
    s->io = (NNRT_IOTensor *)(void *)at;
    at += (s->nIn + s->nOut) * sizeof(*s->io);
    for (uint32_t i = 0; i < s->nIn + s->nOut; i++) {
        size_t length = strlen(nnrti_model_name_of(m, i)) + 1;
        memcpy(at, nnrti_model_name_of(m, i), length);
        s->infos[i].name = (const char *)at;
        at += length;
    }
    return s;
}

/* Type and shape of an input or output: from the device, or as the model declares them. */
static NNRT_ReturnCode nnrti_session_io(nnrt_session *s, const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    bool output = i >= s->nIn;
    uint32_t number = output ? i - s->nIn : i;
    const NNRT_Tensor *t = &m->allTensors.data[output ? m->outputIndex.data[number] : m->inputIndex.data[number]];
    nnrt_io_info *info = &s->infos[i];
    NNRT_IOTensor *io = &s->io[i];
    NNRT_ReturnCode code = NNRT_NOT_SUPPORT;
    info->dataType = t->dataType;
    info->format = t->format;
    if (NNRTI_MODEL_HAS(s->prepared, GetIO))
        code = s->prepared->vtbl->GetIO(s->prepared, output, number, &info->dataType, &info->shape);
    if (code == NNRT_NOT_SUPPORT && nnrti_rank_known(t)) {
        info->shape.rank = (int32_t)t->dims.count;
        for (uint32_t k = 0; k < t->dims.count; k++)
            info->shape.dims[k] = t->dims.data[k];
        code = NNRT_SUCCESS;
    }
    if (code != NNRT_SUCCESS || !nnrt_dims_bytes(info->shape.dims, info->shape.rank, info->dataType, &info->bytes) ||
        nnrt_type_size(info->dataType) == 0)
        return nnrt_error_set(error, code != NNRT_SUCCESS ? code : NNRT_INVALID_SHAPE,
                              "%s %u '%s': neither the device nor the model tells its type and shape",
                              output ? "output" : "input", number, info->name);
    io->name = info->name;
    io->dataType = info->dataType;
    io->format = info->format;
    io->dimensions.data = info->shape.dims;
    io->dimensions.count = (uint32_t)info->shape.rank;
    io->data.fd = -1;
    return NNRT_SUCCESS;
}

/* What prepared holds and needs for a run, with zeros where the device does not tell. */
static nnrt_prepared_memory nnrti_prepared_memory(NNRT_PreparedModel *prepared)
{
    nnrt_prepared_memory memory;
    memset(&memory, 0, sizeof(memory));
    if (NNRTI_MODEL_HAS(prepared, GetMemory) && prepared->vtbl->GetMemory(prepared, &memory) != NNRT_SUCCESS)
        memset(&memory, 0, sizeof(memory));
    memory.workspace = 0;
    if (NNRTI_MODEL_HAS(prepared, RunIn) && NNRTI_MODEL_HAS(prepared, GetWorkspaceSize) &&
        prepared->vtbl->GetWorkspaceSize(prepared, &memory.workspace) != NNRT_SUCCESS)
        memory.workspace = 0;
    return memory;
}

/* Bytes behind the head: what the device keeps, rounded, and the workspace; while preparing, peak. */
static bool nnrti_body_bytes(const nnrt_prepared_memory *memory, size_t peak, size_t *bytes)
{
    size_t tables, workspace;
    if (!nnrti_round_size(memory->tables, NNRT_ALIGNMENT, &tables) ||
        !nnrti_round_size(memory->workspace, NNRT_ALIGNMENT, &workspace) || !nnrt_add_size(tables, workspace, bytes))
        return false;
    *bytes = *bytes > peak ? *bytes : peak;
    return true;
}

static void nnrti_session_config(const nnrt_session_desc *desc, NNRT_ModelConfig *config, nnrt_error *error)
{
    memset(config, 0, sizeof(*config));
    config->allocator = desc->allocator;
    config->copyConstants = desc->copyConstants;
    config->callerWorkspace = true;
    config->threads = desc->threads;
    config->inputDims = desc->inputDims;
    config->error = error;
}

static NNRT_ReturnCode nnrti_session_device(const nnrt_session_desc *desc, nnrt_device **device, nnrt_error *error)
{
    const char *name = desc->device != NULL ? desc->device : "auto";
    *device = nnrt_device_find(name);
    if (*device == NULL)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "there is no device named '%s'", name);
    return NNRT_SUCCESS;
}

/* The model's lists are what the head is made from, so they are looked at before a device checks the rest. */
static NNRT_ReturnCode nnrti_session_model(const NNRT_Model *m, nnrt_error *error)
{
    NNRT_ReturnCode code;
    if (m == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the model is NULL");
    if ((code = nnrti_check_lists(m, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        if (m->inputIndex.data[i] >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_INPUT, "model input %u is tensor %u, but there are %u tensors", i,
                                  m->inputIndex.data[i], m->allTensors.count);
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        if (m->outputIndex.data[i] >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT, "model output %u is tensor %u, but there are %u tensors",
                                  i, m->outputIndex.data[i], m->allTensors.count);
    return NNRT_SUCCESS;
}

/* prepared is there: shapes, workspace, figures. */
static NNRT_ReturnCode nnrti_session_finish(nnrt_session *s, const NNRT_Model *m, const nnrt_session_desc *desc,
                                            nnrt_error *error)
{
    nnrt_prepared_memory memory = nnrti_prepared_memory(s->prepared);
    size_t tables = s->owner == s ? memory.tables : 0, body;
    NNRT_ReturnCode code;
    memory.tables = tables;
    for (uint32_t i = 0; i < s->nIn + s->nOut; i++)
        if ((code = nnrti_session_io(s, m, i, error)) != NNRT_SUCCESS)
            return code;
    s->workspaceBytes = memory.workspace;
    if (!nnrti_body_bytes(&memory, 0, &body))
        return nnrti_no_memory(error);
    if (desc->buffer != NULL) {
        if (desc->bufferBytes - s->headBytes < body)
            return nnrti_no_memory(error);
        s->workspace = (uint8_t *)desc->buffer + s->headBytes +
                       (body - (memory.workspace + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT);
    } else if (memory.workspace > 0) {
        s->workspace = nnrt_alloc(desc->allocator, memory.workspace);
        if (s->workspace == NULL)
            return nnrti_no_memory(error);
    }
    s->memory.total = s->headBytes + body;
    s->memory.tables = s->headBytes + tables;
    s->memory.arena = memory.arena;
    s->memory.bound = memory.bound;
    s->memory.constants = memory.constants;
    s->memory.steps = memory.steps;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_session_prepare(nnrt_session *s, const NNRT_Model *m, const nnrt_session_desc *desc,
                                             nnrt_error *error)
{
    NNRT_ModelConfig config;
    NNRT_ReturnCode code;
    if (desc->share != NULL) {
        s->owner = desc->share->owner;
        s->device = s->owner->device;
        s->prepared = s->owner->prepared;
        if (!NNRTI_MODEL_HAS(s->prepared, RunIn))
            return nnrt_error_set(error, NNRT_NOT_SUPPORT, "device '%s' cannot share a prepared model",
                                  nnrt_device_unique_name(s->device));
        return NNRT_SUCCESS;
    }
    s->owner = s;
    if ((code = nnrti_session_device(desc, &s->device, error)) != NNRT_SUCCESS)
        return code;
    nnrti_session_config(desc, &config, error);
    if (desc->buffer != NULL) {
        config.buffer = (uint8_t *)desc->buffer + s->headBytes;
        config.bufferBytes = desc->bufferBytes - s->headBytes;
    }
    return nnrt_device_prepare(s->device, m, &config, &s->prepared);
}

/* Takes the session apart as far as it was made. */
static void nnrti_session_free(nnrt_session *s)
{
    nnrt_allocator allocator = s->allocator;
    bool allocated = s->allocated;
    if (s->owner == s)
        nnrt_device_release(s->device, s->prepared);
    if (allocated) {
        nnrt_free(&allocator, s->workspace, s->workspaceBytes);
        nnrt_free(&allocator, s, s->headBytes);
    }
}

NNRT_API NNRT_ReturnCode nnrt_session_create(nnrt_session **session, const NNRT_Model *model,
                                             const nnrt_session_desc *desc, nnrt_error *error)
{
    nnrt_session_desc zero;
    nnrt_session *s;
    size_t head;
    void *block;
    NNRT_ReturnCode code;
    memset(&zero, 0, sizeof(zero));
    if (desc == NULL)
        desc = &zero;
    if (session == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the place for the session is NULL");
    *session = NULL;
    if ((code = nnrti_session_model(model, error)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_head_bytes(model, &head))
        return nnrti_no_memory(error);
    if (desc->buffer != NULL && (uintptr_t)desc->buffer % NNRT_ALIGNMENT != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the buffer is not aligned to %d bytes", NNRT_ALIGNMENT);
    if (desc->buffer != NULL && desc->bufferBytes < head)
        return nnrti_no_memory(error);
    block = desc->buffer != NULL ? desc->buffer : nnrt_alloc(desc->allocator, head);
    if (block == NULL)
        return nnrti_no_memory(error);
    s = nnrti_head_make(block, head, model);
    s->users = 1;
    s->allocated = desc->buffer == NULL;
    if (desc->allocator != NULL)
        s->allocator = *desc->allocator;
    if ((code = nnrti_session_prepare(s, model, desc, error)) != NNRT_SUCCESS ||
        (code = nnrti_session_finish(s, model, desc, error)) != NNRT_SUCCESS) {
        nnrti_session_free(s);
        return code;
    }
    if (s->owner != s)
        (void)NNRTI_ATOMIC_ADD(&s->owner->users, 1);
    *session = s;
    return NNRT_SUCCESS;
}

/* The owner of a prepared model that others share goes last: it waits, destroyed or not, for the last user. */
NNRT_API void nnrt_session_destroy(nnrt_session *session)
{
    nnrt_session *owner;
    if (session == NULL)
        return;
    owner = session->owner;
    if (session != owner)
        nnrti_session_free(session);
    if (NNRTI_ATOMIC_ADD(&owner->users, -1) == 0)
        nnrti_session_free(owner);
}

NNRT_API NNRT_ReturnCode nnrt_session_bytes(const NNRT_Model *model, const nnrt_session_desc *desc, size_t *bytes,
                                            nnrt_error *error)
{
    nnrt_session_desc own;
    NNRT_ModelConfig config;
    nnrt_prepared_memory memory;
    NNRT_PreparedModel *prepared = NULL;
    nnrt_device *device;
    size_t head, body, peak = 0;
    NNRT_ReturnCode code;
    if (bytes == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the place for the size is NULL");
    *bytes = 0;
    memset(&own, 0, sizeof(own));
    if (desc != NULL)
        own = *desc;
    if ((code = nnrti_session_model(model, error)) != NNRT_SUCCESS)
        return code;
    memset(&memory, 0, sizeof(memory));
    if (own.share != NULL) {
        memory = nnrti_prepared_memory(own.share->prepared);
        memory.tables = 0;
    } else {
        nnrti_session_config(&own, &config, error);
        if ((code = nnrti_session_device(&own, &device, error)) != NNRT_SUCCESS ||
            (code = nnrt_device_prepare(device, model, &config, &prepared)) != NNRT_SUCCESS)
            return code;
        memory = nnrti_prepared_memory(prepared);
        nnrt_device_release(device, prepared);
        code = nnrt_device_model_memory(device, model, &config, &peak);
        if (code != NNRT_SUCCESS && code != NNRT_NOT_SUPPORT)
            return code;
    }
    if (!nnrti_head_bytes(model, &head) || !nnrti_body_bytes(&memory, peak, &body) || !nnrt_add_size(head, body, bytes))
        return nnrti_no_memory(error);
    return NNRT_SUCCESS;
}

NNRT_API nnrt_session_memory nnrt_session_get_memory(const nnrt_session *session)
{
    nnrt_session_memory none;
    memset(&none, 0, sizeof(none));
    return session != NULL ? session->memory : none;
}

NNRT_API const char *nnrt_session_device(const nnrt_session *session)
{
    return session != NULL ? nnrt_device_unique_name(session->device) : "";
}

NNRT_API uint32_t nnrt_session_inputs(const nnrt_session *session)
{
    return session != NULL ? session->nIn : 0;
}

NNRT_API uint32_t nnrt_session_outputs(const nnrt_session *session)
{
    return session != NULL ? session->nOut : 0;
}

static nnrt_io_info nnrti_io_info(const nnrt_session *session, uint32_t index, uint32_t count, uint32_t first)
{
    nnrt_io_info none;
    memset(&none, 0, sizeof(none));
    return index < count ? session->infos[first + index] : none;
}

NNRT_API nnrt_io_info nnrt_session_input(const nnrt_session *session, uint32_t index)
{
    return nnrti_io_info(session, index, nnrt_session_inputs(session), 0);
}

NNRT_API nnrt_io_info nnrt_session_output(const nnrt_session *session, uint32_t index)
{
    return nnrti_io_info(session, index, nnrt_session_outputs(session), nnrt_session_inputs(session));
}

/* Takes over the caller's buffers of nIn inputs or nOut outputs. */
static NNRT_ReturnCode nnrti_bind(nnrt_session *s, const nnrt_io *given, uint32_t count, bool output)
{
    uint32_t first = output ? s->nIn : 0, want = output ? s->nOut : s->nIn;
    const char *what = output ? "output" : "input";
    if (count != want)
        return nnrt_error_set(&s->error, output ? NNRT_INVALID_OUTPUT : NNRT_INVALID_INPUT,
                              "got %u %ss, the model has %u", count, what, want);
    if (count > 0 && given == NULL)
        return nnrt_error_set(&s->error, NNRT_NULL_PTR, "the list of %ss is NULL", what);
    for (uint32_t i = 0; i < count; i++) {
        const nnrt_io_info *info = &s->infos[first + i];
        NNRT_SharedBuffer *b = &s->io[first + i].data;
        size_t bytes = given[i].bytes < UINT32_MAX ? given[i].bytes : UINT32_MAX;
        if (output ? bytes < info->bytes : given[i].bytes != info->bytes || bytes != info->bytes)
            return nnrt_error_set(&s->error, output ? NNRT_INSUFFICIENT_BUFFER : NNRT_INVALID_BUFFER_SIZE,
                                  "%s %u '%s' has %z bytes, expected %z", what, i, info->name, given[i].bytes,
                                  info->bytes);
        if (given[i].data == NULL && info->bytes > 0)
            return nnrt_error_set(&s->error, NNRT_NULL_PTR, "%s %u '%s' is NULL", what, i, info->name);
        b->addr = given[i].data;
        b->bufferSize = b->dataSize = (uint32_t)bytes;
    }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_run(nnrt_session *session, const nnrt_io *inputs, uint32_t nIn, const nnrt_io *outputs,
                                  uint32_t nOut)
{
    NNRT_ReturnCode code;
    if (session == NULL)
        return NNRT_NULL_PTR;
    session->error.code = NNRT_SUCCESS;
    session->error.message[0] = '\0';
    if ((code = nnrti_bind(session, inputs, nIn, false)) != NNRT_SUCCESS ||
        (code = nnrti_bind(session, outputs, nOut, true)) != NNRT_SUCCESS)
        return code;
    return nnrt_prepared_run(session->prepared, session->workspace, session->workspaceBytes, session->io, nIn,
                             session->io + session->nIn, nOut, NULL, &session->error);
}

NNRT_API const char *nnrt_session_error(const nnrt_session *session)
{
    return session != NULL ? session->error.message : "";
}

#endif /* NNRT_IMPLEMENTATION */
