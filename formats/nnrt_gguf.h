/*
nnrt_gguf.h - GGUF importer: converts a language model of llama.cpp's file format into an NNRT_Model, which nnrt.h runs.

    #define NNRT_IMPLEMENTATION
    #include "formats/nnrt_gguf.h"            includes ../nnrt.h

    NNRT_Model *model = NULL;
    nnrt_error error = {0};
    if (nnrt_gguf_load(&model, "model.gguf", NULL, &error) != NNRT_SUCCESS)
        puts(error.message);

SECTIONS (search for the tag)
    >>gguf                public functions
    -- implementation --
    >>gguf_tables         tensor types and architectures, one row each
    >>gguf_file           checked reading of header, keys and values
    >>gguf_state          state of an import, faults, the list of unsupported properties
    >>gguf_tensors        the tensors of the file; lookup by name
    >>gguf_blocks         quantized blocks as integers with scales
    >>gguf_steps          adding nodes; matrices, embeddings and norms of the file
    >>gguf_rope           angles of rotary position embeddings
    >>gguf_layers         attention, feed-forward network, the graph
    >>gguf_load           the public functions

SUPPORTED FILES
    Versions 2 and 3, little-endian, in one file. Architectures: the rows of NNRTI_GGUF_ARCHS. A file holds weights and
    hyperparameters only; the graph is that of its architecture.
    Tensor types: the rows of NNRTI_GGUF_TYPES. float32 matrices are used in place; float16 and bfloat16 become float32.
    Products (MATMUL_NBITS) read the blocks of quantized matrices in place, as entries of 4 or 8 bits with float32 scales:
    w = scale * (q - zero). GATHER_NBITS looks up rows of the same matrices, those of embeddings. As in
    llama.cpp, activations that multiply them are rounded to int8, with a scale for each block of a row (accuracyLevel 4);
    nnrt_gguf_desc.floatActivations: they stay float32.
    The values of Q4_0, Q5_0, Q8_0, Q3_K, Q6_K and IQ4_NL are exactly the values of the file; types with minima (Q4_1, Q5_1,
    Q2_K, Q4_K, Q5_K) have float32 zero points, -minimum / scale, and differ by the rounding of that quotient.
    Whatever is not supported is reported in one message, NNRT_UNSUPPORTED_OP: architecture, types, rotary scalings, and
    tensors that the architecture does not have, such as the experts of a mixture. The log has a line for each.

THE MODEL
    A decoder has the input input_ids, int64[1,S], and the outputs logits, float32[1,1,vocabulary], those after the last
    token (nnrt_gguf_desc.allLogits: [1,S,vocabulary]). S is dynamic. The keys and values of the tokens before have one of
    two forms, by nnrt_gguf_desc.cache:
    C           a cache of fixed size. The input position, int64[1], is the number P of tokens before. past_key_values.I.key
                and .value, float32 or float16 [1,C,heads*D], and present.I.key and .value are states (metadata "states"), which a
                session keeps and updates in place: a run writes the rows P to P + S - 1, in each layer, and copies
                nothing. P + S above C, and P below 0, fail before anything is written. A run reads only rows below
                P + S: the caller continues with P + S, returns to any earlier position by passing it, and begins anew
                with 0. After a failed or cancelled run the rows below P are as they were.
                nnrt_gguf_desc.cacheType NNRT_DATA_TYPE_FLOAT16: keys, after their rotation, and values are rounded to
                float16 when they are written. Half of the memory; scores and sums are float32. NNRT_DATA_TYPE_INT8: they are
                quantized instead, with a float16 scale for each block of 32 elements, or for a whole row of a head whose
                size is no multiple of 32: 34 bytes for 32 elements, as Q8_0 of llama.cpp. The scales are states, too:
                past_key_values.I.key_scale and .value_scale, float16 [1,C,heads*D/32]. Operators: QUANTIZE_BLOCKS, two
                TENSOR_SCATTER, and ATTENTION with scales. Rejected: one state of blocks of 34 bytes, in which no element
                would have the type of its tensor.
                nnrt_gguf_desc.cachePage R: the C rows are pages of R rows, which sequences share. The input pages, int32[1,C/R],
                lists the pages of the sequence of this run: its row j is row pages[j / R] * R + j % R of the states. nnrt_pages
                (core/nnrt_text.h) makes such tables, and says which rows to copy before a sequence writes a shared page.
                Metadata "pages" is R.
    0           inputs past_key_values.I.key and .value, float32[1,heads,P,D], and outputs present.I.key and .value,
                [1,heads,P+S,D], which are the past of the next run; P is dynamic, and 0 at first. These are the names of
                decoders that Optimum exports as ONNX.
    In the cache a row has all heads of a token: the rows of a run, and of the first P tokens, are one block of memory.
    Rejected: [1,heads,C,D], whose update is a piece for each head, although a head's keys would be adjacent.
    An encoder (bert, nomic-bert) has the input input_ids and one output: embedding, float32[1,width], pooled as the file
    says and not normalized, or without pooling hidden, [1,S,width].

TRUST
    The file is untrusted input: every count, length, offset and type is checked before use. The import allocates at most
    NNRT_GGUF_BUDGET times the bytes of the file, and NNRT_GGUF_BUDGET_FREE.

OPTIONS
    NNRT_NO_STDIO          no file I/O: only nnrt_gguf_load_memory

MIT license, see LICENSE.
*/
#ifndef NNRT_GGUF_H
#define NNRT_GGUF_H

#include "../nnrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf */

/* Limits on the memory of one import, from the allocator: NNRT_GGUF_BUDGET times the bytes of the file (with the file
   itself, if nnrt_gguf_load reads it instead of mapping it), and NNRT_GGUF_BUDGET_FREE. Exceeding it returns
   NNRT_OUT_OF_MEMORY. */
#define NNRT_GGUF_BUDGET 5
#define NNRT_GGUF_BUDGET_FREE ((size_t)1 << 20)

#define NNRT_GGUF_CACHE (1u << 24) /* the largest nnrt_gguf_desc.cache */

/* All zero is the default. */
typedef struct nnrt_gguf_desc {
    const nnrt_allocator *allocator; /* NULL = malloc */
    bool no_optimize;                /* leave the model as imported: no nnrt_model_optimize */
    uint32_t budget;                 /* factor for the limit on memory; 0 means 1 */
    const nnrt_log *log; /* receives a line for each unsupported property and each widened type; NULL: none */
    bool noMap;          /* nnrt_gguf_load reads the file into memory of the allocator instead of mapping it */
    bool allLogits;      /* logits after each token instead of the last one */
    bool floatActivations; /* multiply quantized matrices by float32; false: by activations rounded to int8, which is faster */
    bool operands; /* quantized matrices become entries, scales and zero points in memory, which the kernels of nnrt_mcu.h read; false:
                      products read the blocks of the file (MATMUL_NBITS, blockType), from which nnrt_cpu.h packs its weights */
    uint32_t context; /* tokens for which the model is meant, 0: the file's context length. Only files with two lists of
                         rotary factors (phi3) depend on it: the long one is used above their original context length */
    uint32_t cache;   /* tokens that the cache of a decoder holds, at most NNRT_GGUF_CACHE; 0: past and present keys and
                         values instead. See THE MODEL */
    uint32_t cachePage; /* rows of a page of that cache, a divisor of their number; 0: all rows belong to one sequence */
    NNRT_DataType cacheType; /* of the elements of that cache: NNRT_DATA_TYPE_INT8 with scales, FLOAT16, or FLOAT32, which
                                0 is as well */
} nnrt_gguf_desc;

/* Whether bytes begin like a GGUF file. 4 bytes suffice. */
NNRT_API bool nnrt_gguf_is(const void *data, size_t bytes);

/* Imports the model in the bytes of a GGUF file. Quantized matrices, and float32 ones if they are aligned, are used in place, so
   the bytes must outlive the model. On failure *model is NULL and error (may be NULL) names the fault. */
NNRT_API NNRT_ReturnCode nnrt_gguf_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                               const nnrt_gguf_desc *desc, nnrt_error *error);
#ifndef NNRT_NO_STDIO
/* Imports the model in a GGUF file, which is memory-mapped if possible (nnrt_gguf_desc.noMap). The model owns the map,
   or the memory, if it uses it. A mapped file must not shrink or change while the model exists; replacing it by another
   file of its name is safe. */
NNRT_API NNRT_ReturnCode nnrt_gguf_load(NNRT_Model **model, const char *path, const nnrt_gguf_desc *desc,
                                        nnrt_error *error);
#endif

/* Types of values. */
enum {
    NNRT_GGUF_UINT8,
    NNRT_GGUF_INT8,
    NNRT_GGUF_UINT16,
    NNRT_GGUF_INT16,
    NNRT_GGUF_UINT32,
    NNRT_GGUF_INT32,
    NNRT_GGUF_FLOAT32,
    NNRT_GGUF_BOOL,
    NNRT_GGUF_STRING,
    NNRT_GGUF_ARRAY,
    NNRT_GGUF_UINT64,
    NNRT_GGUF_INT64,
    NNRT_GGUF_FLOAT64
};

/* The keys of a GGUF file, checked; all pointers are into its bytes. */
typedef struct nnrt_gguf_keys {
    const uint8_t *data;
    size_t bytes;
    uint32_t version, count;
    uint32_t tensors;  /* number of tensors of the file */
    size_t begin, end; /* bytes of the keys; the table of tensors follows */
} nnrt_gguf_keys;

/* A key and its value. Texts do not end in 0. */
typedef struct nnrt_gguf_value {
    const char *key;
    size_t keyBytes;
    uint32_t type; /* NNRT_GGUF_UINT8 ..; of the elements if isArray */
    bool isArray;
    size_t count;     /* of elements; 1 unless isArray */
    const void *data; /* the elements, little-endian, not aligned; a string is a uint64 of its bytes, and these */
    size_t bytes;
} nnrt_gguf_value;

/* Reads and checks the header and all keys of a GGUF file, for example the lists of its tokenizer. Nothing is allocated. */
NNRT_API NNRT_ReturnCode nnrt_gguf_open(nnrt_gguf_keys *keys, const void *data, size_t bytes, nnrt_error *error);
/* The next key: the first one after a value of all zeros. Returns false after the last one. */
NNRT_API bool nnrt_gguf_next(const nnrt_gguf_keys *keys, nnrt_gguf_value *value);
/* Finds a key by its name; the first one of that name. Returns false if there is none. */
NNRT_API bool nnrt_gguf_find(const nnrt_gguf_keys *keys, const char *key, nnrt_gguf_value *value);
/* Element `index` as a number. Returns false if it is a string or absent. */
NNRT_API bool nnrt_gguf_number(const nnrt_gguf_value *value, size_t index, double *number);
/* The next string of a value: the one at *at, 0 at first, which then becomes the place of the following one. Returns
   false after the last one, or if the value has none. */
NNRT_API bool nnrt_gguf_string(const nnrt_gguf_value *value, size_t *at, const char **text, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_GGUF_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_GGUF_IMPLEMENTED)
#define NNRT_GGUF_IMPLEMENTED

#include "../nnrt.h" /* its implementation, if only its declarations have been included so far */

#include <math.h>
#include <stddef.h>
#include <string.h>

NNRT_SETUP()

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_tables */

/* One row per supported tensor type that is not quantized: X(number, NAME, elements, bytes, size, width, bits, minima), as in
   NNRT_BLOCK_TYPES, which has the others. size 0: the type is not quantized. */
/* clang-format off */
#define NNRTI_GGUF_TYPES(X) \
    X( 0, F32,      1,   4,  0, 0, 0, 0) \
    X( 1, F16,      1,   2,  0, 0, 0, 0) \
    X(30, BF16,     1,   2,  0, 0, 0, 0) \
    NNRT_BLOCK_TYPES(X)
/* Other types, for messages. */
#define NNRTI_GGUF_OTHER_TYPES(X) \
    X( 9, Q8_1) X(15, Q8_K) X(16, IQ2_XXS) X(17, IQ2_XS) X(18, IQ3_XXS) X(19, IQ1_S) X(21, IQ3_S) X(22, IQ2_S) \
    X(23, IQ4_XS) X(24, I8) X(25, I16) X(26, I32) X(27, I64) X(28, F64) X(29, IQ1_M) X(34, TQ1_0) X(35, TQ2_0) \
    X(39, MXFP4)

/* One row per architecture: X(name, rope, norm, act, period, wide, flags)
   rope    of queries and keys: NO, PAIRS (pairs of adjacent elements), HALVES (pairs half of the dimensions apart)
   norm    RMS or LAYER
   act     function of the feed-forward network
   period  attention.sliding_window holds for the layers i with i % period < period - 1; 1: for all
   wide    number of layers of the variant whose scores are scaled by 1 / sqrt(width / heads); others: 1 / sqrt(D)
   flags   sum of NNRTI_GGUF_...
   Tensors that only some models of an architecture have decide on their own: biases, norms of queries and keys, norms after
   attention and feed-forward network, a fused attn_qkv, factors of the rotary frequencies. */
#define NNRTI_GGUF_ARCHS(X) \
    X("llama",      PAIRS,  RMS,   SWISH, 1,  0, GATED) \
    X("qwen2",      HALVES, RMS,   SWISH, 1,  0, GATED) \
    X("qwen3",      HALVES, RMS,   SWISH, 1,  0, GATED) \
    X("phi3",       HALVES, RMS,   SWISH, 1,  0, GATED) \
    X("gemma",      HALVES, RMS,   GELU,  1,  0, GATED | NNRTI_GGUF_SCALED) \
    X("gemma2",     HALVES, RMS,   GELU,  2, 46, GATED | NNRTI_GGUF_SCALED | NNRTI_GGUF_CAPPED) \
    X("gemma3",     HALVES, RMS,   GELU,  6, 62, GATED | NNRTI_GGUF_SCALED | NNRTI_GGUF_LOCAL) \
    X("gpt2",       NO,     LAYER, GELU,  1,  0, PLACED) \
    X("bert",       NO,     LAYER, GELU,  1,  0, PLACED | NNRTI_GGUF_ENCODER) \
    X("nomic-bert", HALVES, LAYER, SWISH, 1,  0, GATED | NNRTI_GGUF_ENCODER)
/* clang-format on */

enum { NNRTI_GGUF_NO, NNRTI_GGUF_PAIRS, NNRTI_GGUF_HALVES };
enum { NNRTI_GGUF_RMS, NNRTI_GGUF_LAYER };
enum {
    NNRTI_GGUF_GATED = 1,   /* down(act(gate(x)) * up(x)); else down(act(up(x))) */
    NNRTI_GGUF_SCALED = 2,  /* embeddings are multiplied by sqrt(width) */
    NNRTI_GGUF_CAPPED = 4,  /* caps of scores and logits are 50 and 30 unless the file states them */
    NNRTI_GGUF_LOCAL = 8,   /* layers with a window have a rotary base of their own, 10000 unless the file states it */
    NNRTI_GGUF_PLACED = 16, /* learned position embeddings */
    NNRTI_GGUF_ENCODER = 32 /* queries see all keys; norms follow the residual additions; the output is pooled */
};

typedef nnrt_block_type nnrti_gguf_type;

typedef struct nnrti_gguf_arch {
    const char *name;
    int32_t rope, norm;
    NNRT_ActivationType act;
    uint32_t period, wide, flags;
} nnrti_gguf_arch;

#define NNRTI_GGUF_TYPE(number, name, ...) {number, #name, __VA_ARGS__},
#define NNRTI_GGUF_OTHER_TYPE(number, name) {number, #name, 0, 0, 0, 0, 0, 0},
static const nnrti_gguf_type nnrti_gguf_types[] = {NNRTI_GGUF_TYPES(NNRTI_GGUF_TYPE)
                                                       NNRTI_GGUF_OTHER_TYPES(NNRTI_GGUF_OTHER_TYPE)};
#define NNRTI_GGUF_NUMBER(number, name, ...) NNRTI_GGUF_##name = number,
enum { NNRTI_GGUF_TYPES(NNRTI_GGUF_NUMBER) NNRTI_GGUF_TYPE_NUMBERS_END };

#define NNRTI_GGUF_ARCH(name, rope, norm, act, period, wide, flags)                                                    \
    {name, NNRTI_GGUF_##rope, NNRTI_GGUF_##norm, NNRT_ACTIVATION_TYPE_##act, period, wide, NNRTI_GGUF_##flags},
static const nnrti_gguf_arch nnrti_gguf_archs[] = {NNRTI_GGUF_ARCHS(NNRTI_GGUF_ARCH)};

#define NNRTI_GGUF_COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The row of a type; NULL: the number is unknown. elements 0: the type is not supported. */
static const nnrti_gguf_type *nnrti_gguf_type_of(uint32_t number)
{
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(nnrti_gguf_types); i++)
        if ((uint32_t)nnrti_gguf_types[i].number == number)
            return &nnrti_gguf_types[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_file */

/* Header: "GGUF", u32 version, u64 tensors, u64 keys. A key: string, u32 type, value. A string: u64 bytes, bytes. A
   value of type array: u32 type of its elements, u64 count, elements. A tensor: string, u32 axes, u64 sizes with the
   one of adjacent elements first, u32 type, u64 offset in the data. The data begin at the next multiple of
   general.alignment after the table of tensors. */

static uint32_t nnrti_gguf_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t nnrti_gguf_u64(const uint8_t *p)
{
    return (uint64_t)nnrti_gguf_u32(p) | (uint64_t)nnrti_gguf_u32(p + 4) << 32;
}

/* Whether n more bytes are left at `at` of `bytes`. */
static bool nnrti_gguf_left(size_t bytes, size_t at, uint64_t n)
{
    return at <= bytes && n <= (uint64_t)(bytes - at);
}

/* Moves *at behind the string there; false: it exceeds the bytes. */
static bool nnrti_gguf_skip_string(const uint8_t *data, size_t bytes, size_t *at)
{
    if (!nnrti_gguf_left(bytes, *at, 8) || !nnrti_gguf_left(bytes, *at + 8, nnrti_gguf_u64(data + *at)))
        return false;
    *at += 8 + (size_t)nnrti_gguf_u64(data + *at);
    return true;
}

/* Bytes of an element; 0: a string, an array or unknown. */
static size_t nnrti_gguf_width(uint32_t type)
{
    static const uint8_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < sizeof(widths) ? widths[type] : 0;
}

/* Reads the key and the value at *at, which moves behind them. NULL, or the fault. */
static const char *nnrti_gguf_read_value(const uint8_t *data, size_t bytes, size_t *at, nnrt_gguf_value *v)
{
    size_t begin = *at;
    memset(v, 0, sizeof(*v));
    if (!nnrti_gguf_skip_string(data, bytes, at) || !nnrti_gguf_left(bytes, *at, 4))
        return "is cut short";
    v->key = (const char *)data + begin + 8;
    v->keyBytes = *at - begin - 8;
    v->type = nnrti_gguf_u32(data + *at);
    v->isArray = v->type == NNRT_GGUF_ARRAY;
    v->count = 1;
    *at += 4;
    if (v->isArray) {
        uint64_t count;
        if (!nnrti_gguf_left(bytes, *at, 12))
            return "is cut short";
        v->type = nnrti_gguf_u32(data + *at);
        count = nnrti_gguf_u64(data + *at + 4);
        if (count > bytes)
            return "has more elements than the file has bytes";
        v->count = (size_t)count;
        *at += 12;
    }
    if (v->type != NNRT_GGUF_STRING && nnrti_gguf_width(v->type) == 0)
        return v->type == NNRT_GGUF_ARRAY ? "is an array of arrays" : "has an unknown type";
    begin = *at;
    if (v->type == NNRT_GGUF_STRING) {
        for (size_t i = 0; i < v->count; i++)
            if (!nnrti_gguf_skip_string(data, bytes, at))
                return "has a string that exceeds the file";
    } else {
        if (!nnrti_gguf_left(bytes, *at, (uint64_t)v->count * nnrti_gguf_width(v->type)))
            return "exceeds the file";
        *at += v->count * nnrti_gguf_width(v->type);
    }
    v->data = data + begin;
    v->bytes = *at - begin;
    return NULL;
}

/* Copies text of the file for a message, with ? for control characters. */
static const char *nnrti_gguf_copy_text(char *out, size_t size, const char *text, size_t bytes)
{
    size_t n = 0;
    for (; n + 1 < size && n < bytes; n++)
        out[n] = (unsigned char)text[n] < 32 || text[n] == 127 ? '?' : text[n];
    out[n] = '\0';
    return out;
}

NNRT_API bool nnrt_gguf_is(const void *data, size_t bytes)
{
    return data != NULL && bytes >= 4 && memcmp(data, "GGUF", 4) == 0;
}

NNRT_API NNRT_ReturnCode nnrt_gguf_open(nnrt_gguf_keys *keys, const void *data, size_t bytes, nnrt_error *error)
{
    const uint8_t *p = (const uint8_t *)data;
    uint64_t tensors, count;
    nnrt_error_clear(error);
    if (keys == NULL || data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_gguf_open: %s is NULL", keys == NULL ? "keys" : "data");
    memset(keys, 0, sizeof(*keys));
    if (!nnrt_gguf_is(data, bytes))
        return nnrt_error_set(error, NNRT_INVALID_FILE, "this is no GGUF file: it does not begin with GGUF");
    if (bytes < 24)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the GGUF file is cut short: its header has 24 bytes, not %z",
                              bytes);
    keys->version = nnrti_gguf_u32(p + 4);
    if (keys->version == 0x03000000 || keys->version == 0x02000000)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the GGUF file is big-endian, which is not supported");
    if (keys->version < 2 || keys->version > 3)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the GGUF file has version %u, supported are 2 and 3",
                              keys->version);
    tensors = nnrti_gguf_u64(p + 8);
    count = nnrti_gguf_u64(p + 16);
    if (tensors > bytes / 24 || count > bytes / 13 || tensors > INT32_MAX || count > INT32_MAX)
        return nnrt_error_set(error, NNRT_INVALID_FILE,
                              "%l tensors and %l keys do not fit the %z bytes of the GGUF file",
                              (int64_t)(tensors & INT64_MAX), (int64_t)(count & INT64_MAX), bytes);
    keys->data = p;
    keys->bytes = bytes;
    keys->tensors = (uint32_t)tensors;
    keys->count = (uint32_t)count;
    keys->begin = keys->end = 24;
    for (uint32_t i = 0; i < keys->count; i++) {
        nnrt_gguf_value v;
        char name[64];
        const char *fault = nnrti_gguf_read_value(p, bytes, &keys->end, &v);
        if (fault != NULL)
            return nnrt_error_set(error, NNRT_INVALID_FILE, "key %u '%s' of the GGUF file %s", i,
                                  nnrti_gguf_copy_text(name, sizeof(name), v.key, v.keyBytes), fault);
    }
    return NNRT_SUCCESS;
}

NNRT_API bool nnrt_gguf_next(const nnrt_gguf_keys *keys, nnrt_gguf_value *value)
{
    size_t at;
    if (keys == NULL || value == NULL || keys->data == NULL)
        return false;
    at = value->data != NULL ? (size_t)((const uint8_t *)value->data - keys->data) + value->bytes : keys->begin;
    return at < keys->end && nnrti_gguf_read_value(keys->data, keys->end, &at, value) == NULL;
}

/* Whether a key is `name`. */
static bool nnrti_gguf_is_key(const nnrt_gguf_value *v, const char *name)
{
    return v->keyBytes == strlen(name) && memcmp(v->key, name, v->keyBytes) == 0;
}

NNRT_API bool nnrt_gguf_find(const nnrt_gguf_keys *keys, const char *key, nnrt_gguf_value *value)
{
    if (keys == NULL || key == NULL || value == NULL)
        return false;
    memset(value, 0, sizeof(*value));
    while (nnrt_gguf_next(keys, value))
        if (nnrti_gguf_is_key(value, key))
            return true;
    memset(value, 0, sizeof(*value));
    return false;
}

static float nnrti_gguf_f32(const uint8_t *p)
{
    const uint32_t bits = nnrti_gguf_u32(p);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

NNRT_API bool nnrt_gguf_number(const nnrt_gguf_value *value, size_t index, double *number)
{
    const uint8_t *p;
    uint64_t bits;
    if (value == NULL || number == NULL || value->data == NULL || index >= value->count ||
        nnrti_gguf_width(value->type) == 0)
        return false;
    p = (const uint8_t *)value->data + index * nnrti_gguf_width(value->type);
    switch (value->type) {
    case NNRT_GGUF_UINT8:
    case NNRT_GGUF_BOOL: *number = p[0]; break;
    case NNRT_GGUF_INT8: *number = p[0] < 128 ? p[0] : (double)p[0] - 256; break;
    case NNRT_GGUF_UINT16: *number = p[0] + 256 * p[1]; break;
    case NNRT_GGUF_INT16: *number = p[0] + 256 * p[1] - (p[1] < 128 ? 0 : 65536); break;
    case NNRT_GGUF_UINT32: *number = nnrti_gguf_u32(p); break;
    case NNRT_GGUF_INT32: *number = nnrti_gguf_u32(p) - (p[3] < 128 ? 0 : 4294967296.0); break;
    case NNRT_GGUF_FLOAT32: *number = (double)nnrti_gguf_f32(p); break;
    case NNRT_GGUF_UINT64: *number = (double)nnrti_gguf_u64(p); break;
    case NNRT_GGUF_INT64:
        *number = p[7] < 128 ? (double)nnrti_gguf_u64(p) : -1.0 - (double)(UINT64_MAX - nnrti_gguf_u64(p));
        break;
    default:
        bits = nnrti_gguf_u64(p);
        memcpy(number, &bits, sizeof(*number));
        break;
    }
    return true;
}

NNRT_API bool nnrt_gguf_string(const nnrt_gguf_value *value, size_t *at, const char **text, size_t *bytes)
{
    size_t from;
    if (value == NULL || at == NULL || text == NULL || bytes == NULL || value->type != NNRT_GGUF_STRING ||
        value->data == NULL)
        return false;
    from = *at;
    if (!nnrti_gguf_skip_string((const uint8_t *)value->data, value->bytes, at))
        return false;
    *text = (const char *)value->data + from + 8;
    *bytes = *at - from - 8;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_state */

#define NNRTI_GGUF_NAME 64 /* bytes of the name of a tensor that the graph looks up, with its end */
#define NNRTI_GGUF_PARTS 4 /* of the cache of a layer: keys, values, and the scales of both */

/* A tensor of the file. sizes: as in the file, the one of adjacent elements first; 1 behind the last axis. */
typedef struct nnrti_gguf_tensor {
    const char *name;
    uint32_t nameBytes, number, rank; /* number: of its type */
    int32_t sizes[4];
    const uint8_t *data;
    const nnrti_gguf_type *type; /* NULL: the type is not supported */
    bool used, kept; /* kept: data are memory of the import */
    const char *given; /* its name in a file of another format; NULL: name */
    uint32_t made[3]; /* constants of the model: elements or blocks, scales, zero points; NNRT_NO_TENSOR: not yet, or none */
} nnrti_gguf_tensor;

/* Hyperparameters. */
typedef struct nnrti_gguf_sizes {
    int32_t layers, width, heads, kvHeads, keySize, valueSize, inner, vocabulary, rotary, window, pooling;
    float epsilon, scale, scoreCap, logitCap;
} nnrti_gguf_sizes;

/* State of an import. The graph is built twice by the same functions: first `dry`, without nodes, which checks all
   tensors and collects all problems. */
typedef struct nnrti_gguf {
    nnrt_builder *builder;
    const nnrt_gguf_desc *desc;
    nnrt_error *error;
    NNRT_ReturnCode code;
    nnrt_gguf_keys keys;
    size_t *places; /* of the keys */
    nnrti_gguf_tensor *tensors;
    uint32_t *sorted; /* indices of tensors by name */
    const nnrti_gguf_arch *arch;
    char name[24]; /* of the architecture, the prefix of its keys */
    nnrti_gguf_sizes n;
    const char *kind;  /* of the file, for messages */
    const char *(*alias)(const struct nnrti_gguf *c, const char *name, char *out, size_t size); /* of a tensor, in messages */
    bool dry, inPlace;
    bool copies;        /* the files do not outlive the import: no tensor is used in place */
    bool halves, exact; /* rotary pairs are halves apart whatever the row says; GELU by the error function */
    uint32_t cosines[2], sines[2]; /* of layers without, and with a local rotary base */
    uint32_t positions;            /* int64[1,S] */
    int32_t capacity;              /* tokens of the cache; 0: past and present instead */
    uint32_t position, lengths;    /* int64[1], if there is a cache: tokens before this run, and with it */
    uint32_t pages;                /* int32[1,pages], if the cache has pages */
    uint32_t problems, hidden;     /* number of them, and of the ones for which `list` has no room */
    NNRT_ReturnCode worst;         /* code of the first problem */
    char list[176];
} nnrti_gguf;

/* Reports a fault, after which nothing more is done. */
#define NNRTI_GGUF_FAIL(c, fault, ...)                                                                                 \
    ((c)->code == NNRT_SUCCESS ? (void)((c)->code = nnrt_error_set((c)->error, fault, __VA_ARGS__)) : (void)0)

/* True if there is no fault so far, also none of the builder. */
static bool nnrti_gguf_fine(nnrti_gguf *c)
{
    const nnrt_error *e = nnrt_builder_error(c->builder);
    if (c->code == NNRT_SUCCESS && e->code != NNRT_SUCCESS)
        NNRTI_GGUF_FAIL(c, e->code, "%s",
                        e->message[0] != '\0' ? e->message : "there is not enough memory for the model");
    return c->code == NNRT_SUCCESS;
}

/* Zeroed memory that lives until the model is destroyed. NULL and a fault if there is none. */
static void *nnrti_gguf_keep(nnrti_gguf *c, size_t count, size_t size)
{
    void *p = c->code == NNRT_SUCCESS ? nnrti_builder_keep(c->builder, count, size) : NULL;
    return nnrti_gguf_fine(c) ? p : NULL;
}

/* Adds a problem to the list that ends the import after the dry pass. */
static void nnrti_gguf_problem(nnrti_gguf *c, NNRT_ReturnCode code, const char *text)
{
    const size_t at = strlen(c->list);
    if (!c->dry || c->code != NNRT_SUCCESS)
        return;
    nnrt_log_line(c->desc->log, NNRT_LOG_WARNING, "GGUF: %s", text);
    c->worst = c->problems++ == 0 ? code : c->worst;
    if (at + strlen(text) + 3 > sizeof(c->list))
        c->hidden++;
    else
        (void)nnrt_text(c->list + at, sizeof(c->list) - at, "%s%s", at > 0 ? "; " : "", text);
}

#define NNRTI_GGUF_PROBLEM(c, code, ...)                                                                               \
    do {                                                                                                               \
        char text_[160];                                                                                               \
        (void)nnrt_text(text_, sizeof(text_), __VA_ARGS__);                                                            \
        nnrti_gguf_problem(c, code, text_);                                                                            \
    } while (0)

/* Finds the places of the keys. */
static void nnrti_gguf_list_keys(nnrti_gguf *c)
{
    size_t at = c->keys.begin;
    c->places = (size_t *)nnrti_gguf_keep(c, c->keys.count, sizeof(*c->places));
    for (uint32_t i = 0; i < c->keys.count && c->places != NULL; i++) {
        nnrt_gguf_value v;
        c->places[i] = at;
        (void)nnrti_gguf_read_value(c->keys.data, c->keys.end, &at, &v);
    }
}

/* nnrt_gguf_find without a walk through long lists of strings. */
static bool nnrti_gguf_find_key(const nnrti_gguf *c, const char *name, nnrt_gguf_value *v)
{
    const size_t bytes = strlen(name);
    for (uint32_t i = 0; i < c->keys.count && c->places != NULL; i++) {
        size_t at = c->places[i];
        if (nnrti_gguf_u64(c->keys.data + at) == bytes && memcmp(c->keys.data + at + 8, name, bytes) == 0)
            return nnrti_gguf_read_value(c->keys.data, c->keys.end, &at, v) == NULL;
    }
    return false;
}

/* Finds the key "ARCHITECTURE.suffix". */
static bool nnrti_gguf_own_key(const nnrti_gguf *c, const char *suffix, nnrt_gguf_value *v)
{
    char name[80];
    (void)nnrt_text(name, sizeof(name), "%s.%s", c->name, suffix);
    return nnrti_gguf_find_key(c, name, v);
}

/* The number "ARCHITECTURE.suffix", `otherwise` without the key. */
static double nnrti_gguf_real(nnrti_gguf *c, const char *suffix, double otherwise)
{
    nnrt_gguf_value v;
    double number = otherwise;
    if (!nnrti_gguf_own_key(c, suffix, &v))
        return otherwise;
    if (v.isArray || !nnrt_gguf_number(&v, 0, &number) || !(fabs(number) < 1e30)) {
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "key %s.%s is no single number", c->name, suffix);
        return otherwise;
    }
    return number;
}

/* The integer "ARCHITECTURE.suffix", from `least` to 2^24. */
static int32_t nnrti_gguf_int(nnrti_gguf *c, const char *suffix, int32_t least, int32_t otherwise)
{
    const double number = nnrti_gguf_real(c, suffix, otherwise);
    if (!(number >= least && number <= 16777216) || number != floor(number)) {
        NNRTI_GGUF_PROBLEM(c, NNRT_INVALID_MODEL, "key %s.%s is %f, expected an integer of %d to 16777216", c->name,
                           suffix, number, least);
        return least;
    }
    return (int32_t)number;
}

/* The text of key `name` in out, "" without it. */
static const char *nnrti_gguf_text_key(const nnrti_gguf *c, const char *name, char *out, size_t size)
{
    nnrt_gguf_value v;
    const char *text = "";
    size_t at = 0, bytes = 0;
    if (nnrti_gguf_find_key(c, name, &v) && !v.isArray)
        (void)nnrt_gguf_string(&v, &at, &text, &bytes);
    return nnrti_gguf_copy_text(out, size, text, bytes);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_tensors */

/* -1, 0 or 1: the order of two names. */
static int nnrti_gguf_order(const char *a, size_t aBytes, const char *b, size_t bBytes)
{
    const int order = memcmp(a, b, aBytes < bBytes ? aBytes : bBytes);
    return order != 0 ? (order < 0 ? -1 : 1) : aBytes < bBytes ? -1 : aBytes > bBytes ? 1 : 0;
}

/* Restores the heap of names below place `at` of c->sorted, whose first n entries are the heap, the last name at its top. */
static void nnrti_gguf_sift(const nnrti_gguf *c, uint32_t at, uint32_t n)
{
    uint32_t *s = c->sorted;
    for (uint32_t next = 2 * at + 1; next < n; next = 2 * at + 1) {
        const nnrti_gguf_tensor *a, *b;
        uint32_t moved;
        if (next + 1 < n) {
            a = &c->tensors[s[next]];
            b = &c->tensors[s[next + 1]];
            next += nnrti_gguf_order(a->name, a->nameBytes, b->name, b->nameBytes) < 0 ? 1 : 0;
        }
        a = &c->tensors[s[at]];
        b = &c->tensors[s[next]];
        if (nnrti_gguf_order(a->name, a->nameBytes, b->name, b->nameBytes) >= 0)
            return;
        moved = s[at];
        s[at] = s[next];
        s[next] = moved;
        at = next;
    }
}

/* Sorts the tensors by name. Two of one name are a fault. */
static void nnrti_gguf_sort(nnrti_gguf *c)
{
    const uint32_t n = c->keys.tensors;
    char name[NNRTI_GGUF_NAME];
    c->sorted = (uint32_t *)nnrti_gguf_keep(c, n, sizeof(*c->sorted));
    if (c->sorted == NULL)
        return;
    for (uint32_t i = 0; i < n; i++)
        c->sorted[i] = i;
    for (uint32_t i = n / 2; i-- > 0;)
        nnrti_gguf_sift(c, i, n);
    for (uint32_t i = n; i-- > 1;) {
        const uint32_t last = c->sorted[0];
        c->sorted[0] = c->sorted[i];
        c->sorted[i] = last;
        nnrti_gguf_sift(c, 0, i);
    }
    for (uint32_t i = 1; i < n; i++) {
        const nnrti_gguf_tensor *a = &c->tensors[c->sorted[i - 1]], *b = &c->tensors[c->sorted[i]];
        if (nnrti_gguf_order(a->name, a->nameBytes, b->name, b->nameBytes) == 0)
            NNRTI_GGUF_FAIL(c, NNRT_INVALID_FILE, "two tensors of the %s have the name '%s'", c->kind,
                            nnrti_gguf_copy_text(name, sizeof(name), a->name, a->nameBytes));
    }
}

/* Reads the entry of a tensor at *at, which moves behind it. offset: of its data. NULL, or the fault. */
static const char *nnrti_gguf_read_tensor(const nnrt_gguf_keys *k, size_t *at, nnrti_gguf_tensor *t, uint64_t *offset)
{
    const size_t begin = *at;
    if (!nnrti_gguf_skip_string(k->data, k->bytes, at) || !nnrti_gguf_left(k->bytes, *at, 4))
        return "is cut short";
    if (*at - begin - 8 > 1024)
        return "has a name of more than 1024 bytes";
    t->name = (const char *)k->data + begin + 8;
    t->nameBytes = (uint32_t)(*at - begin - 8);
    t->rank = nnrti_gguf_u32(k->data + *at);
    *at += 4;
    if (t->rank < 1 || t->rank > 4)
        return "does not have 1 to 4 axes";
    if (!nnrti_gguf_left(k->bytes, *at, 8 * t->rank + 12))
        return "is cut short";
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t size = i < t->rank ? nnrti_gguf_u64(k->data + *at + 8 * i) : 1;
        if (size < 1 || size > INT32_MAX)
            return "has an axis of size 0, or of more than 2147483647";
        t->sizes[i] = (int32_t)size;
    }
    *at += 8 * t->rank;
    t->number = nnrti_gguf_u32(k->data + *at);
    t->type = nnrti_gguf_type_of(t->number);
    t->type = t->type != NULL && t->type->elements > 0 ? t->type : NULL;
    *offset = nnrti_gguf_u64(k->data + *at + 4);
    *at += 12;
    return NULL;
}

/* Checks that the data of a tensor, at `offset` of the data of the file, are inside of it. NULL, or the fault. */
static const char *nnrti_gguf_place(const nnrt_gguf_keys *k, nnrti_gguf_tensor *t, size_t data, uint64_t offset,
                                    uint32_t alignment)
{
    size_t bytes = 0, blocks = 1;
    if (offset % alignment != 0)
        return "has data at no multiple of general.alignment";
    if (!nnrti_gguf_left(k->bytes, data, offset))
        return "has data behind the end of the file";
    t->data = k->data + data + (size_t)offset;
    if (t->type == NULL)
        return NULL;
    if (t->sizes[0] % t->type->elements != 0)
        return "has rows that are no multiple of the block of its type";
    for (uint32_t i = 0; i < 4; i++)
        if (!nnrt_mul_size(blocks, (size_t)t->sizes[i] / (i == 0 ? (size_t)t->type->elements : 1), &blocks))
            return "is too large";
    if (!nnrt_mul_size(blocks, (size_t)t->type->bytes, &bytes))
        return "is too large";
    return nnrti_gguf_left(k->bytes, data + (size_t)offset, bytes) ? NULL : "has data that exceed the file";
}

/* Reads the table of tensors, whose first one is at c->keys.end. */
static void nnrti_gguf_list_tensors(nnrti_gguf *c)
{
    const uint32_t n = c->keys.tensors;
    uint64_t *offsets = (uint64_t *)nnrti_gguf_keep(c, n, sizeof(*offsets));
    double alignment = 32;
    size_t at = c->keys.end;
    nnrt_gguf_value v;
    char name[NNRTI_GGUF_NAME];
    c->tensors = (nnrti_gguf_tensor *)nnrti_gguf_keep(c, n, sizeof(*c->tensors));
    if (nnrti_gguf_find_key(c, "general.alignment", &v) &&
        (!nnrt_gguf_number(&v, 0, &alignment) || !(alignment >= 1 && alignment <= 1 << 20) ||
         alignment != floor(alignment)))
        NNRTI_GGUF_FAIL(c, NNRT_INVALID_FILE, "general.alignment is %f, expected an integer of 1 to 1048576",
                        alignment);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n && c->code == NNRT_SUCCESS; i++) {
            nnrti_gguf_tensor *t = &c->tensors[i];
            const char *fault = pass == 0 ? nnrti_gguf_read_tensor(&c->keys, &at, t, &offsets[i])
                                          : nnrti_gguf_place(&c->keys, t, at, offsets[i], (uint32_t)alignment);
            if (fault != NULL)
                NNRTI_GGUF_FAIL(c, NNRT_INVALID_FILE, "tensor %u '%s' of the GGUF file %s", i,
                                nnrti_gguf_copy_text(name, sizeof(name), t->name, t->nameBytes), fault);
            for (uint32_t j = 0; j < 3; j++)
                t->made[j] = NNRT_NO_TENSOR;
        }
        at += c->code == NNRT_SUCCESS && pass == 0
                  ? ((uint32_t)alignment - at % (uint32_t)alignment) % (uint32_t)alignment
                  : 0;
    }
    nnrti_gguf_sort(c);
}

/* The tensor of this name, which counts as used; NULL: there is none. */
static nnrti_gguf_tensor *nnrti_gguf_maybe(nnrti_gguf *c, const char *name)
{
    uint32_t low = 0, high = c->keys.tensors;
    const size_t bytes = strlen(name);
    while (low < high && c->sorted != NULL) {
        const uint32_t middle = low + (high - low) / 2;
        nnrti_gguf_tensor *t = &c->tensors[c->sorted[middle]];
        const int order = nnrti_gguf_order(t->name, t->nameBytes, name, bytes);
        if (order == 0) {
            t->used = true;
            return t;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

/* The name of a tensor of layer i: "blk.I.PART.LAST"; i < 0: "PART.LAST". */
static const char *nnrti_gguf_name(char out[NNRTI_GGUF_NAME], int32_t i, const char *part, const char *last)
{
    if (i < 0)
        (void)nnrt_text(out, NNRTI_GGUF_NAME, "%s.%s", part, last);
    else
        (void)nnrt_text(out, NNRTI_GGUF_NAME, "blk.%d.%s.%s", i, part, last);
    return out;
}

/* Whether the tensor exists; it then counts as used. */
static bool nnrti_gguf_has(nnrti_gguf *c, int32_t i, const char *part, const char *last)
{
    char name[NNRTI_GGUF_NAME];
    return nnrti_gguf_maybe(c, nnrti_gguf_name(name, i, part, last)) != NULL;
}

/* The tensor of this name with `rows` rows of `columns` elements; rows 0: one axis. plain: of a type that is not
   quantized. NULL and a problem if it is missing or different. */
static nnrti_gguf_tensor *nnrti_gguf_need(nnrti_gguf *c, const char *name, int32_t columns, int32_t rows, bool plain)
{
    nnrti_gguf_tensor *t = nnrti_gguf_maybe(c, name);
    const nnrti_gguf_type *type = t != NULL ? nnrti_gguf_type_of(t->number) : NULL;
    char other[2 * NNRTI_GGUF_NAME];
    if (c->alias != NULL)
        name = t != NULL ? t->given : c->alias(c, name, other, sizeof(other));
    if (t == NULL) {
        NNRTI_GGUF_PROBLEM(c, NNRT_INVALID_MODEL, "tensor '%s' is missing", name);
        return NULL;
    }
    if (t->sizes[0] != columns || t->sizes[1] != (rows > 0 ? rows : 1) || t->sizes[2] != 1 || t->sizes[3] != 1) {
        NNRTI_GGUF_PROBLEM(c, NNRT_INVALID_MODEL, "tensor '%s' is [%d,%d], expected [%d,%d]", name, t->sizes[0],
                           t->sizes[1], columns, rows > 0 ? rows : 1);
        return NULL;
    }
    if (t->type != NULL && (!plain || t->type->size == 0))
        return t;
    if (type != NULL)
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "tensor '%s' has type %s", name, type->name);
    else
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "tensor '%s' has the unknown type %u", name, t->number);
    return NULL;
}

/* Reports the tensors that no node uses: without them the results would be wrong. */
static void nnrti_gguf_check_unused(nnrti_gguf *c)
{
    const nnrti_gguf_tensor *first = NULL;
    uint32_t unused = 0;
    char name[NNRTI_GGUF_NAME];
    for (uint32_t i = c->keys.tensors; i-- > 0 && c->code == NNRT_SUCCESS;)
        if (!c->tensors[i].used) {
            first = &c->tensors[i];
            unused++;
            nnrt_log_line(c->desc->log, NNRT_LOG_WARNING, "GGUF: unknown tensor '%s'",
                          nnrti_gguf_copy_text(name, sizeof(name), first->name, first->nameBytes));
        }
    if (unused > 0)
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "%u unknown tensors, the first is '%s'", unused,
                           nnrti_gguf_copy_text(name, sizeof(name), first->name, first->nameBytes));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_blocks */

/* Eight elements of 4 bits as four bytes, each first one in the low bits. */
static void nnrti_gguf_pack_8(const uint8_t *q, uint8_t *packed)
{
    uint64_t all = nnrti_gguf_u32(q) | (uint64_t)nnrti_gguf_u32(q + 4) << 32;
    all = (all | all >> 4) & 0x00FF00FF00FF00FFu;
    all = (all | all >> 8) & 0x0000FFFF0000FFFFu;
    all |= all >> 16;
    for (uint32_t i = 0; i < 4; i++)
        packed[i] = (uint8_t)(all >> 8 * i);
}

/* Quantized rows as entries of MATMUL_NBITS: packed bytes, scales and, with minima, zero points. */
static void nnrti_gguf_pack(const nnrti_gguf_tensor *t, uint8_t *packed, float *scales, float *zeros)
{
    const nnrti_gguf_type *type = t->type;
    const int32_t groups = type->elements / type->size;
    const size_t blocks = (size_t)t->sizes[0] / (size_t)type->elements * (size_t)t->sizes[1];
    uint8_t q[NNRT_BLOCK_ELEMENTS];
    float none[NNRT_BLOCK_SCALES];
    for (size_t b = 0; b < blocks; b++, scales += groups) {
        nnrt_block_decode(type, t->data + b * (size_t)type->bytes, q, scales, zeros != NULL ? zeros : none);
        zeros = zeros != NULL ? zeros + groups : NULL;
        if (type->bits == 8)
            memcpy(packed, q, (size_t)type->elements);
        for (int32_t i = 0; i < type->elements && type->bits == 4; i += 8)
            nnrti_gguf_pack_8(q + i, packed + i / 2);
        packed += type->elements / 8 * type->bits;
    }
}

/* Elements of a type that is not quantized as float32. */
static void nnrti_gguf_widen(const nnrti_gguf_tensor *t, float *to, size_t count)
{
    const uint8_t *p = t->data;
    for (size_t i = 0; i < count; i++) {
        if (t->number == NNRTI_GGUF_F32) {
            to[i] = nnrti_gguf_f32(p + 4 * i);
        } else if (t->number == NNRTI_GGUF_F16) {
            to[i] = nnrt_half_to_float((uint16_t)(p[2 * i] | p[2 * i + 1] << 8));
        } else {
            const uint32_t bits = (uint32_t)p[2 * i] << 16 | (uint32_t)p[2 * i + 1] << 24;
            memcpy(&to[i], &bits, sizeof(*to));
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_steps */

/* All functions return NNRT_NO_TENSOR, and add nothing, in the dry pass and after a fault. */

static bool nnrti_gguf_adds(nnrti_gguf *c)
{
    return !c->dry && nnrti_gguf_fine(c);
}

/* A constant whose data live as long as the model: they were kept, or are bytes of the file. */
static uint32_t nnrti_gguf_constant(nnrti_gguf *c, const char *name, NNRT_DataType type, int32_t rank,
                                    const int32_t *dims, const void *data, bool inFile)
{
    uint32_t v;
    if (data == NULL || !nnrti_gguf_adds(c))
        return NNRT_NO_TENSOR;
    v = nnrt_builder_constant(c->builder, name, type, rank, dims, data, false);
    nnrti_builder_tables(c->builder);
    if (!nnrti_gguf_fine(c))
        return NNRT_NO_TENSOR;
    c->builder->copied[v] = !inFile;
    c->inPlace = c->inPlace || inFile;
    return v;
}

/* A constant with one axis, int64. */
static uint32_t nnrti_gguf_ints(nnrti_gguf *c, int64_t a, int64_t b, int64_t d, int64_t e, int32_t count)
{
    const int64_t list[4] = {a, b, d, e};
    int64_t *copy = nnrti_gguf_adds(c) ? (int64_t *)nnrti_gguf_keep(c, 4, sizeof(*copy)) : NULL;
    if (copy != NULL)
        memcpy(copy, list, sizeof(list));
    return nnrti_gguf_constant(c, NULL, NNRT_DATA_TYPE_INT64, 1, &count, copy, false);
}

/* A constant of one number. */
static uint32_t nnrti_gguf_float(nnrti_gguf *c, float value)
{
    const int32_t one = 1;
    float *copy = nnrti_gguf_adds(c) ? (float *)nnrti_gguf_keep(c, 1, sizeof(*copy)) : NULL;
    if (copy != NULL)
        *copy = value;
    return nnrti_gguf_constant(c, NULL, NNRT_DATA_TYPE_FLOAT32, 1, &one, copy, false);
}

/* Adds a node with one result. */
static uint32_t nnrti_gguf_node(nnrti_gguf *c, const char *name, NNRT_NodeType type, const void *attr,
                                const uint32_t *in, uint32_t nIn)
{
    return nnrti_gguf_adds(c) ? nnrt_builder_op(c->builder, name, type, attr, in, nIn) : NNRT_NO_TENSOR;
}

static uint32_t nnrti_gguf_one(nnrti_gguf *c, const char *name, NNRT_NodeType type, const void *attr, uint32_t x)
{
    return nnrti_gguf_node(c, name, type, attr, &x, 1);
}

static uint32_t nnrti_gguf_two(nnrti_gguf *c, const char *name, NNRT_NodeType type, const void *attr, uint32_t x,
                               uint32_t y)
{
    uint32_t in[2];
    in[0] = x;
    in[1] = y;
    return nnrti_gguf_node(c, name, type, attr, in, 2);
}

static uint32_t nnrti_gguf_add(nnrti_gguf *c, uint32_t x, uint32_t y)
{
    return nnrti_gguf_two(c, NULL, NNRT_NODE_TYPE_ADD_FUSION, NULL, x, y);
}

static uint32_t nnrti_gguf_mul(nnrti_gguf *c, uint32_t x, uint32_t y)
{
    return nnrti_gguf_two(c, NULL, NNRT_NODE_TYPE_MUL_FUSION, NULL, x, y);
}

/* x, of which the first two axes stay, with the axes a and b behind them; b 0: only a. */
static uint32_t nnrti_gguf_reshape(nnrti_gguf *c, uint32_t x, int32_t a, int32_t b)
{
    return nnrti_gguf_two(c, NULL, NNRT_NODE_TYPE_RESHAPE, NULL, x, nnrti_gguf_ints(c, 0, 0, a, b, b > 0 ? 4 : 3));
}

static uint32_t nnrti_gguf_cast(nnrti_gguf *c, uint32_t x, NNRT_DataType type)
{
    const int32_t one = 1;
    int32_t *to = nnrti_gguf_adds(c) ? (int32_t *)nnrti_gguf_keep(c, 1, sizeof(*to)) : NULL;
    if (to != NULL)
        *to = (int32_t)type;
    return nnrti_gguf_two(c, NULL, NNRT_NODE_TYPE_CAST, NULL, x,
                          nnrti_gguf_constant(c, NULL, NNRT_DATA_TYPE_INT32, 1, &one, to, false));
}

/* The entries `index` of an axis of x. */
static uint32_t nnrti_gguf_gather(nnrti_gguf *c, const char *name, uint32_t x, uint32_t index, int64_t axis)
{
    uint32_t in[3];
    in[0] = x;
    in[1] = index;
    in[2] = nnrti_gguf_ints(c, axis, 0, 0, 0, 1);
    return nnrti_gguf_node(c, name, NNRT_NODE_TYPE_GATHER, NULL, in, 3);
}

/* cap * tanh(x / cap); name: of the result. */
static uint32_t nnrti_gguf_capped(nnrti_gguf *c, const char *name, uint32_t x, float cap)
{
    NNRT_Activation tanh;
    memset(&tanh, 0, sizeof(tanh));
    tanh.activationType = NNRT_ACTIVATION_TYPE_TANH;
    x = nnrti_gguf_mul(c, x, nnrti_gguf_float(c, 1.0f / cap));
    x = nnrti_gguf_one(c, NULL, NNRT_NODE_TYPE_ACTIVATION, &tanh, x);
    return nnrti_gguf_two(c, name, NNRT_NODE_TYPE_MUL_FUSION, NULL, x, nnrti_gguf_float(c, cap));
}

/* Makes the constants t->made of a tensor, once: float32 of one axis (vector) or two, or the operands of MATMUL_NBITS. */
static void nnrti_gguf_make(nnrti_gguf *c, nnrti_gguf_tensor *t, const char *name, bool vector)
{
    const nnrti_gguf_type *type = t->type;
    const int32_t rows = t->sizes[1], columns = t->sizes[0];
    int32_t dims[3];
    size_t count;
    if (t->made[0] != NNRT_NO_TENSOR || !nnrti_gguf_adds(c))
        return;
    if (!nnrt_mul_size((size_t)rows, (size_t)columns, &count)) {
        NNRTI_GGUF_FAIL(c, NNRT_OUT_OF_MEMORY, "tensor '%s' exceeds the address space", name);
    } else if (type->size == 0) {
        const bool inPlace = (t->kept || !c->copies) && t->number == NNRTI_GGUF_F32 && nnrti_little_endian() &&
                             (uintptr_t)t->data % sizeof(float) == 0;
        float *copy = inPlace ? NULL : (float *)nnrti_gguf_keep(c, count, sizeof(*copy));
        dims[0] = vector ? columns : rows;
        dims[1] = columns;
        if (copy != NULL)
            nnrti_gguf_widen(t, copy, count);
        if (t->number != NNRTI_GGUF_F32 && copy != NULL)
            nnrt_log_line(c->desc->log, NNRT_LOG_INFO, "GGUF: '%s' becomes float32, %z bytes", name,
                          count * sizeof(*copy));
        t->made[0] = nnrti_gguf_constant(c, name, NNRT_DATA_TYPE_FLOAT32, vector ? 1 : 2, dims,
                                         inPlace ? (const void *)t->data : copy, inPlace && !t->kept);
    } else {
        const size_t scaled = count / (size_t)type->size;
        uint8_t *packed = (uint8_t *)nnrti_gguf_keep(c, count / 8, (size_t)type->bits);
        float *scales = (float *)nnrti_gguf_keep(c, scaled, sizeof(*scales));
        float *zeros = type->minima != 0 ? (float *)nnrti_gguf_keep(c, scaled, sizeof(*zeros)) : NULL;
        if (!nnrti_gguf_fine(c))
            return;
        dims[0] = rows;
        dims[1] = columns / type->size;
        dims[2] = type->size * type->bits / 8;
        nnrti_gguf_pack(t, packed, scales, zeros);
        t->made[0] = nnrti_gguf_constant(c, name, NNRT_DATA_TYPE_UINT8, 3, dims, packed, false);
        t->made[1] = nnrti_gguf_constant(c, NULL, NNRT_DATA_TYPE_FLOAT32, 2, dims, scales, false);
        t->made[2] = nnrti_gguf_constant(c, NULL, NNRT_DATA_TYPE_FLOAT32, 2, dims, zeros, false);
    }
}

/* Makes the constant t->made[0] of a quantized matrix: the blocks of the file, where they are, as MATMUL_NBITS and GATHER_NBITS read
   them (attribute blockType). With `operands`, or if the file is not mapped, nnrti_gguf_make makes entries, scales and zero points. */
static void nnrti_gguf_make_weight(nnrti_gguf *c, nnrti_gguf_tensor *t, const char *name)
{
    int32_t dims[3];
    if (t->type->size == 0 || c->desc->operands || c->copies || t->made[0] != NNRT_NO_TENSOR) {
        nnrti_gguf_make(c, t, name, false);
        return;
    }
    dims[0] = t->sizes[1];
    dims[1] = t->sizes[0] / t->type->elements;
    dims[2] = t->type->bytes;
    t->made[0] = nnrti_gguf_constant(c, name, NNRT_DATA_TYPE_UINT8, 3, dims, t->data, true);
}

/* A constant of one axis of the file; NNRT_NO_TENSOR also if `needed` is false and there is no such tensor. */
static uint32_t nnrti_gguf_vector(nnrti_gguf *c, int32_t layer, const char *part, const char *last, int32_t size,
                                  bool needed)
{
    char name[NNRTI_GGUF_NAME];
    nnrti_gguf_tensor *t;
    if (!needed && !nnrti_gguf_has(c, layer, part, last))
        return NNRT_NO_TENSOR;
    t = nnrti_gguf_need(c, nnrti_gguf_name(name, layer, part, last), size, 0, true);
    if (t == NULL)
        return NNRT_NO_TENSOR;
    nnrti_gguf_make(c, t, name, true);
    return t->made[0];
}

/* The attributes and inputs 1 to 3 of MATMUL_NBITS and GATHER_NBITS for a quantized matrix. */
static void nnrti_gguf_packed(const nnrti_gguf *c, const nnrti_gguf_tensor *t, NNRT_MatMulNBits *packed, uint32_t *in)
{
    packed->columns = t->sizes[0];
    packed->bits = t->type->bits;
    packed->blockSize = t->type->size;
    packed->blockType = t->type->size > 0 && t->made[1] == NNRT_NO_TENSOR ? t->type->number : 0;
    packed->accuracyLevel = c->desc->floatActivations ? 0 : 4;
    memcpy(in, t->made, 3 * sizeof(*in));
}

/* x times the transpose of a matrix [rows,columns] of the file, plus a bias if it has one. result: the name of the
   result; NULL: that of the matrix. */
static uint32_t nnrti_gguf_linear_of(nnrti_gguf *c, uint32_t x, nnrti_gguf_tensor *t, uint32_t bias, const char *result)
{
    NNRT_MatMulNBits packed;
    NNRT_MatMulFusion plain;
    uint32_t in[5], y;
    if (t == NULL || !nnrti_gguf_adds(c))
        return NNRT_NO_TENSOR;
    memset(&plain, 0, sizeof(plain));
    plain.transposeB = true;
    in[0] = x;
    nnrti_gguf_packed(c, t, &packed, in + 1);
    in[4] = bias;
    if (t->type->size > 0)
        return nnrti_gguf_node(c, result, NNRT_NODE_TYPE_MATMUL_NBITS, &packed, in, 5);
    y = nnrti_gguf_node(c, bias == NNRT_NO_TENSOR ? result : NULL, NNRT_NODE_TYPE_MATMUL_FUSION, &plain, in, 2);
    return bias == NNRT_NO_TENSOR ? y : nnrti_gguf_two(c, result, NNRT_NODE_TYPE_ADD_FUSION, NULL, y, bias);
}

static uint32_t nnrti_gguf_linear(nnrti_gguf *c, uint32_t x, int32_t layer, const char *part, int32_t columns,
                                  int32_t rows)
{
    char name[NNRTI_GGUF_NAME], result[NNRTI_GGUF_NAME];
    nnrti_gguf_tensor *t = nnrti_gguf_need(c, nnrti_gguf_name(name, layer, part, "weight"), columns, rows, false);
    const uint32_t bias = nnrti_gguf_vector(c, layer, part, "bias", rows, false);
    if (t != NULL)
        nnrti_gguf_make_weight(c, t, name);
    (void)nnrti_gguf_name(result, layer, part, "");
    result[strlen(result) - 1] = '\0'; /* the dot */
    return nnrti_gguf_linear_of(c, x, t, bias, result);
}

/* x normalized over its last axis of `size` elements. */
static uint32_t nnrti_gguf_norm(nnrti_gguf *c, uint32_t x, int32_t layer, const char *part, int32_t size, bool rms)
{
    const uint32_t weight = nnrti_gguf_vector(c, layer, part, "weight", size, true);
    NNRT_RMSNormalization root;
    NNRT_LayerNormFusion mean;
    uint32_t in[3];
    if (rms) {
        root.axis = -1;
        root.epsilon = c->n.epsilon;
        return nnrti_gguf_two(c, NULL, NNRT_NODE_TYPE_RMS_NORMALIZATION, &root, x, weight);
    }
    memset(&mean, 0, sizeof(mean));
    mean.beginNormAxis = mean.beginParamsAxis = -1;
    mean.epsilon = c->n.epsilon;
    mean.elementwiseAffine = true;
    in[0] = x;
    in[1] = weight;
    in[2] = nnrti_gguf_vector(c, layer, part, "bias", size, true);
    return nnrti_gguf_node(c, NULL, NNRT_NODE_TYPE_LAYER_NORM_FUSION, &mean, in, 3);
}

/* Rows of a matrix of the file, float32[1,S,columns], for indices [1,S]. */
static uint32_t nnrti_gguf_rows(nnrti_gguf *c, nnrti_gguf_tensor *t, const char *name, uint32_t index)
{
    NNRT_MatMulNBits packed;
    uint32_t in[4];
    if (t == NULL || c->dry)
        return NNRT_NO_TENSOR;
    nnrti_gguf_make_weight(c, t, name);
    if (t->type->size == 0)
        return nnrti_gguf_gather(c, NULL, t->made[0], index, 0);
    in[0] = index;
    nnrti_gguf_packed(c, t, &packed, in + 1);
    return nnrti_gguf_node(c, NULL, NNRT_NODE_TYPE_GATHER_NBITS, &packed, in, 4);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_rope */

/* Scaling of rotary frequencies. A pair k of n dimensions turns by position * base^(-2k/n) * f[k] / factors[k]. Linear:
   f = 1 / factor. YaRN: pairs that turn more than beta_fast times within the original context keep f = 1, those below
   beta_slow have 1 / factor, between them f is interpolated, and cosines and sines are multiplied by
   (1 + 0.1 * ln(factor)) * attn_factor. */

/* The factors of the frequencies in the file, float32[count]; NULL: it has none. */
static const uint8_t *nnrti_gguf_rope_factors(nnrti_gguf *c, int32_t count)
{
    static const char *const names[] = {"rope_freqs", "rope_factors_short", "rope_factors_long"};
    const int32_t meant = c->desc->context > 0 && c->desc->context < 1u << 24
                              ? (int32_t)c->desc->context
                              : nnrti_gguf_int(c, "context_length", 1, 1);
    const double original = nnrti_gguf_real(c, "rope.scaling.original_context_length", meant);
    const uint8_t *factors = NULL;
    for (uint32_t i = 0; i < 3; i++) {
        char name[NNRTI_GGUF_NAME];
        nnrti_gguf_tensor *t;
        if (!nnrti_gguf_has(c, -1, names[i], "weight"))
            continue;
        t = nnrti_gguf_need(c, nnrti_gguf_name(name, -1, names[i], "weight"), count, 0, true);
        if (t != NULL && t->number != NNRTI_GGUF_F32)
            NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "tensor '%s' is not float32", name);
        else if (t != NULL && (i == 0 || (i == 2) == (meant > original)))
            factors = t->data;
    }
    return factors;
}

/* The pair at which a frequency turns `turns` times within the original context. */
static double nnrti_gguf_yarn_pair(int32_t n, double context, double turns, double base)
{
    return n * log(context / (turns * 6.283185307179586)) / (2 * log(base));
}

/* The frequencies of the pairs in list; the factor of cosines and sines. local: of layers with a window and a base of
   their own. */
static float nnrti_gguf_frequencies(nnrti_gguf *c, bool local, float *list)
{
    const int32_t n = c->n.rotary;
    const uint8_t *factors = nnrti_gguf_rope_factors(c, n / 2);
    const double base =
        local ? nnrti_gguf_real(c, "rope.freq_base_swa", 10000) : nnrti_gguf_real(c, "rope.freq_base", 10000);
    double factor = nnrti_gguf_real(c, "rope.scaling.factor", nnrti_gguf_real(c, "rope.scale_linear", 1));
    double low = 0, high = 0;
    char key[64], type[24];
    bool yarn;
    (void)nnrt_text(key, sizeof(key), "%s.rope.scaling.type", c->name);
    (void)nnrti_gguf_text_key(c, key, type, sizeof(type));
    yarn = strcmp(type, "yarn") == 0 && !local;
    if (type[0] != '\0' && strcmp(type, "none") != 0 && strcmp(type, "linear") != 0 && strcmp(type, "yarn") != 0 &&
        strcmp(type, "longrope") != 0)
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "rotary scaling '%s'", type);
    if (!(base > 1) || !(factor >= 0))
        NNRTI_GGUF_PROBLEM(c, NNRT_INVALID_MODEL, "rope.freq_base is %f and rope.scaling.factor %f", base, factor);
    factor = local || strcmp(type, "none") == 0 || factor == 0 ? 1 : factor;
    if (yarn) {
        const double context =
            nnrti_gguf_real(c, "rope.scaling.original_context_length", nnrti_gguf_real(c, "context_length", 1));
        low = floor(nnrti_gguf_yarn_pair(n, context, nnrti_gguf_real(c, "rope.scaling.yarn_beta_fast", 32), base));
        high = ceil(nnrti_gguf_yarn_pair(n, context, nnrti_gguf_real(c, "rope.scaling.yarn_beta_slow", 1), base));
        low = low > 0 ? low : 0;
        high = high < n - 1 ? high : n - 1;
    }
    for (int32_t k = 0; k < n / 2 && list != NULL; k++) {
        const double divisor = factors != NULL ? (double)nnrti_gguf_f32(factors + 4 * k) : 1;
        const double at = (k - low) / (high - low > 0.001 ? high - low : 0.001);
        const double kept = yarn ? 1 - (at < 0 ? 0 : at > 1 ? 1 : at) : 0;
        const double f = pow(base, -2.0 * k / n) / divisor * (kept + (1 - kept) / factor);
        list[k] = fabs(f) < 3e38 ? (float)f : 0;
    }
    return (float)((yarn ? 1 + 0.1 * log(factor) : 1) * nnrti_gguf_real(c, "rope.scaling.attn_factor", 1));
}

/* Makes the cosines and sines [1,S,rotary / 2] of the positions, which all layers share. */
static void nnrti_gguf_angles(nnrti_gguf *c, uint32_t which)
{
    const int32_t count = c->n.rotary / 2;
    float *list = nnrti_gguf_adds(c) ? (float *)nnrti_gguf_keep(c, (size_t)count, sizeof(*list)) : NULL;
    const float by = nnrti_gguf_frequencies(c, which == 1, list);
    uint32_t x = nnrti_gguf_cast(c, c->positions, NNRT_DATA_TYPE_FLOAT32);
    x = nnrti_gguf_mul(c, nnrti_gguf_reshape(c, x, 1, 0),
                       nnrti_gguf_constant(c, NULL, NNRT_DATA_TYPE_FLOAT32, 1, &count, list, false));
    c->cosines[which] = nnrti_gguf_one(c, NULL, NNRT_NODE_TYPE_COS, NULL, x);
    c->sines[which] = nnrti_gguf_one(c, NULL, NNRT_NODE_TYPE_SIN, NULL, x);
    if (by == 1)
        return;
    c->cosines[which] = nnrti_gguf_mul(c, c->cosines[which], nnrti_gguf_float(c, by));
    c->sines[which] = nnrti_gguf_mul(c, c->sines[which], nnrti_gguf_float(c, by));
}

/* Queries or keys [1,S,heads*D], rotated by their positions. */
static uint32_t nnrti_gguf_rotated(nnrti_gguf *c, uint32_t x, int32_t heads, uint32_t which)
{
    NNRT_RotaryEmbedding a;
    uint32_t in[3];
    if (c->arch->rope == NNRTI_GGUF_NO)
        return x;
    a.interleaved = c->arch->rope == NNRTI_GGUF_PAIRS && !c->halves;
    a.numHeads = heads;
    a.rotaryEmbeddingDim = c->n.rotary;
    in[0] = x;
    in[1] = c->cosines[which];
    in[2] = c->sines[which];
    return nnrti_gguf_node(c, NULL, NNRT_NODE_TYPE_ROTARY_EMBEDDING, &a, in, 3);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_layers */

/* Reads and checks the hyperparameters. */
static void nnrti_gguf_read_sizes(nnrti_gguf *c)
{
    const uint32_t flags = c->arch->flags;
    const bool rms = c->arch->norm == NNRTI_GGUF_RMS, capped = (flags & NNRTI_GGUF_CAPPED) != 0;
    nnrti_gguf_sizes *n = &c->n;
    nnrt_gguf_value v;
    double split = 0;
    int32_t most; /* heads of queries, or of keys */
    n->layers = nnrti_gguf_int(c, "block_count", 1, 0);
    n->width = nnrti_gguf_int(c, "embedding_length", 1, 0);
    n->inner = nnrti_gguf_int(c, "feed_forward_length", 1, 0);
    n->heads = nnrti_gguf_int(c, "attention.head_count", 1, 0);
    n->kvHeads = nnrti_gguf_int(c, "attention.head_count_kv", 1, n->heads);
    n->keySize = nnrti_gguf_int(c, "attention.key_length", 1, n->width / n->heads > 0 ? n->width / n->heads : 1);
    n->valueSize = nnrti_gguf_int(c, "attention.value_length", 1, n->keySize);
    n->rotary = nnrti_gguf_int(c, "rope.dimension_count", 0, n->keySize);
    n->window = nnrti_gguf_int(c, "attention.sliding_window", 0, capped ? 4096 : 0);
    n->pooling = nnrti_gguf_int(c, "pooling_type", 0, 0);
    n->epsilon =
        (float)nnrti_gguf_real(c, rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", 1e-5);
    n->scoreCap = (float)nnrti_gguf_real(c, "attn_logit_softcapping", capped ? 50 : 0);
    n->logitCap = (float)nnrti_gguf_real(c, "final_logit_softcapping", capped ? 30 : 0);
    n->scale = (float)nnrti_gguf_real(
        c, "attention.scale",
        1 / sqrt((uint32_t)n->layers == c->arch->wide ? (double)n->width / n->heads : n->keySize));
    most = n->heads > n->kvHeads ? n->heads : n->kvHeads;
    if ((uint32_t)n->layers > c->keys.tensors)
        NNRTI_GGUF_FAIL(c, NNRT_INVALID_MODEL, "%s.block_count is %d, but the %s has %u tensors", c->name, n->layers,
                        c->kind, c->keys.tensors);
    if (n->heads % n->kvHeads != 0)
        NNRTI_GGUF_PROBLEM(c, NNRT_INVALID_MODEL, "%d heads of queries are no multiple of %d heads of keys", n->heads,
                           n->kvHeads);
    if ((int64_t)most * (n->keySize > n->valueSize ? n->keySize : n->valueSize) > 1 << 24)
        NNRTI_GGUF_FAIL(c, NNRT_INVALID_MODEL, "%d heads of %d and %d elements exceed 16777216", most, n->keySize, n->valueSize);
    if (c->arch->rope != NNRTI_GGUF_NO && (n->rotary < 2 || n->rotary > n->keySize || n->rotary % 2 != 0))
        NNRTI_GGUF_FAIL(c, NNRT_INVALID_MODEL, "%s.rope.dimension_count is %d, expected an even number of 2 to %d",
                        c->name, n->rotary, n->keySize);
    if (!(n->scoreCap >= 0) || !(n->logitCap >= 0))
        NNRTI_GGUF_PROBLEM(c, NNRT_INVALID_MODEL, "a soft cap is negative");
    if (nnrti_gguf_real(c, "expert_count", 0) > 0)
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "a mixture of experts");
    if ((flags & NNRTI_GGUF_ENCODER) != 0 && n->pooling > 3)
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "pooling type %d, supported are none, mean, first and last",
                           n->pooling);
    if (nnrti_gguf_find_key(c, "split.count", &v) && nnrt_gguf_number(&v, 0, &split) && split > 1)
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "a model split over %f files; merge them", split);
}

/* Queries or keys with a norm of each head, if the file has one. */
static uint32_t nnrti_gguf_head_norm(nnrti_gguf *c, uint32_t x, int32_t layer, const char *part, int32_t heads)
{
    if (!nnrti_gguf_has(c, layer, part, "weight"))
        return x;
    x = nnrti_gguf_norm(c, nnrti_gguf_reshape(c, x, heads, c->n.keySize), layer, part, c->n.keySize, true);
    return nnrti_gguf_reshape(c, x, heads * c->n.keySize, 0);
}

/* Splits the last axis of x into parts. */
static void nnrti_gguf_split(nnrti_gguf *c, uint32_t x, uint32_t *parts, uint32_t count, int64_t a, int64_t b,
                             int64_t d)
{
    int64_t sizes[3];
    NNRT_Split split;
    sizes[0] = a;
    sizes[1] = b;
    sizes[2] = d;
    memset(&split, 0, sizeof(split));
    split.axis = 2;
    split.outputNum = count;
    split.sizeSplits.data = sizes;
    split.sizeSplits.count = count;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = nnrti_gguf_adds(c) ? nnrt_builder_tensor(c->builder, NULL) : NNRT_NO_TENSOR;
    if (nnrti_gguf_adds(c))
        nnrt_builder_node(c->builder, NULL, NNRT_NODE_TYPE_SPLIT, &split, &x, 1, parts, count);
}

/* The names of the parts of a cache; the scales exist if it is int8. */
static const char *const nnrti_gguf_parts[NNRTI_GGUF_PARTS] = {"key", "value", "key_scale", "value_scale"};

/* The number of parts of the cache of a layer. */
static int32_t nnrti_gguf_part_count(const nnrti_gguf *c)
{
    return c->desc->cacheType == NNRT_DATA_TYPE_INT8 ? NNRTI_GGUF_PARTS : 2;
}

/* The elements of a row of a head that share a scale in a cache of int8; part 0: keys, 1: values. */
static int32_t nnrti_gguf_scaled(const nnrti_gguf *c, int32_t part)
{
    const int32_t size = part == 0 ? c->n.keySize : c->n.valueSize;
    return size % 32 == 0 ? 32 : size;
}

/* Writes the keys and values of this run into the cache of a layer, which becomes the present one. */
static void nnrti_gguf_update(nnrti_gguf *c, const uint32_t qkv[3], uint32_t past[NNRTI_GGUF_PARTS], int32_t layer)
{
    NNRT_TensorScatter a;
    uint32_t rows[NNRTI_GGUF_PARTS];
    memset(rows, 0, sizeof(rows));
    a.axis = 1;
    a.pageSize = c->desc->cachePage;
    for (int32_t i = 0; i < 2; i++) {
        NNRT_QuantizeBlocks quantize;
        uint32_t out[2];
        rows[i] = qkv[1 + i];
        if (c->desc->cacheType == NNRT_DATA_TYPE_FLOAT16)
            rows[i] = nnrti_gguf_cast(c, qkv[1 + i], NNRT_DATA_TYPE_FLOAT16);
        if (c->desc->cacheType != NNRT_DATA_TYPE_INT8 || !nnrti_gguf_adds(c))
            continue;
        quantize.blockSize = nnrti_gguf_scaled(c, i);
        out[0] = rows[i] = nnrt_builder_tensor(c->builder, NULL);
        out[1] = rows[2 + i] = nnrt_builder_tensor(c->builder, NULL);
        nnrt_builder_node(c->builder, NULL, NNRT_NODE_TYPE_QUANTIZE_BLOCKS, &quantize, &qkv[1 + i], 1, out, 2);
    }
    for (int32_t i = 0; i < nnrti_gguf_part_count(c); i++) {
        char name[NNRTI_GGUF_NAME];
        uint32_t in[4];
        in[0] = past[i];
        in[1] = rows[i];
        in[2] = c->position;
        in[3] = c->pages;
        (void)nnrt_text(name, sizeof(name), "present.%d.%s", layer, nnrti_gguf_parts[i]);
        past[i] = nnrti_gguf_node(c, name, NNRT_NODE_TYPE_TENSOR_SCATTER, &a, in, a.pageSize > 0 ? 4 : 3);
    }
}

/* ATTENTION of layer `layer`. Unless the model is an encoder, past are the past keys and values, which become the present
   ones. */
static uint32_t nnrti_gguf_attend(nnrti_gguf *c, const uint32_t qkv[3], uint32_t past[NNRTI_GGUF_PARTS], int32_t layer, bool window)
{
    const bool causal = (c->arch->flags & NNRTI_GGUF_ENCODER) == 0;
    NNRT_Attention a;
    uint32_t in[10], out[3];
    char name[NNRTI_GGUF_NAME];
    if (!nnrti_gguf_adds(c))
        return NNRT_NO_TENSOR;
    memset(&a, 0, sizeof(a));
    a.isCausal = causal;
    a.qNumHeads = c->n.heads;
    a.kvNumHeads = c->n.kvHeads;
    a.scale = c->n.scale;
    a.softcap = c->n.scoreCap;
    a.leftWindowSize = window ? c->n.window - 1 : -1;
    a.rightWindowSize = -1;
    memcpy(in, qkv, 3 * sizeof(*in));
    in[3] = NNRT_NO_TENSOR;
    in[4] = past[0];
    in[5] = past[1];
    (void)nnrt_text(name, sizeof(name), "blk.%d.attention", layer);
    if (!causal)
        return nnrti_gguf_node(c, name, NNRT_NODE_TYPE_ATTENTION, &a, in, 3);
    if (c->capacity > 0) { /* the queries are the last of the keys that count */
        nnrti_gguf_update(c, qkv, past, layer);
        in[1] = past[0];
        in[2] = past[1];
        in[4] = in[5] = NNRT_NO_TENSOR;
        in[6] = c->lengths;
        in[7] = past[2];
        in[8] = past[3];
        in[9] = c->pages;
        a.pageSize = c->desc->cachePage;
        return nnrti_gguf_node(c, name, NNRT_NODE_TYPE_ATTENTION, &a, in,
                               a.pageSize > 0                 ? 10
                               : nnrti_gguf_part_count(c) > 2 ? 9
                                                              : 7);
    }
    out[0] = nnrt_builder_tensor(c->builder, name);
    for (int i = 0; i < 2; i++) {
        char present[NNRTI_GGUF_NAME];
        (void)nnrt_text(present, sizeof(present), "present.%d.%s", layer, i == 0 ? "key" : "value");
        out[1 + i] = nnrt_builder_tensor(c->builder, present);
    }
    nnrt_builder_node(c->builder, name, NNRT_NODE_TYPE_ATTENTION, &a, in, 6, out, 3);
    memcpy(past, out + 1, 2 * sizeof(*past));
    return out[0];
}

/* Whether a layer has a window. */
static bool nnrti_gguf_windowed(const nnrti_gguf *c, int32_t layer)
{
    const uint32_t period = c->arch->period;
    return c->n.window > 0 && (period == 1 || (uint32_t)layer % period < period - 1);
}

/* The angles of a layer: 1: layers with a window have their own, if they have a base of their own. */
static uint32_t nnrti_gguf_which(const nnrti_gguf *c, int32_t layer)
{
    return nnrti_gguf_windowed(c, layer) && (c->arch->flags & NNRTI_GGUF_LOCAL) != 0 ? 1 : 0;
}

/* Self-attention of x. */
static uint32_t nnrti_gguf_attention(nnrti_gguf *c, uint32_t x, uint32_t past[NNRTI_GGUF_PARTS], int32_t layer)
{
    const nnrti_gguf_sizes *n = &c->n;
    const bool window = nnrti_gguf_windowed(c, layer);
    const uint32_t which = nnrti_gguf_which(c, layer);
    const int32_t q = n->heads * n->keySize, k = n->kvHeads * n->keySize, v = n->kvHeads * n->valueSize;
    uint32_t qkv[3];
    if (nnrti_gguf_has(c, layer, "attn_qkv", "weight")) {
        nnrti_gguf_split(c, nnrti_gguf_linear(c, x, layer, "attn_qkv", n->width, q + k + v), qkv, 3, q, k, v);
    } else {
        qkv[0] = nnrti_gguf_linear(c, x, layer, "attn_q", n->width, q);
        qkv[1] = nnrti_gguf_linear(c, x, layer, "attn_k", n->width, k);
        qkv[2] = nnrti_gguf_linear(c, x, layer, "attn_v", n->width, v);
    }
    qkv[0] = nnrti_gguf_rotated(c, nnrti_gguf_head_norm(c, qkv[0], layer, "attn_q_norm", n->heads), n->heads, which);
    qkv[1] =
        nnrti_gguf_rotated(c, nnrti_gguf_head_norm(c, qkv[1], layer, "attn_k_norm", n->kvHeads), n->kvHeads, which);
    return nnrti_gguf_linear(c, nnrti_gguf_attend(c, qkv, past, layer, window), layer, "attn_output",
                             n->heads * n->valueSize, n->width);
}

/* The feed-forward network. Without a tensor of the gates, the rows of the gates precede the rows of ffn_up. */
static uint32_t nnrti_gguf_feed(nnrti_gguf *c, uint32_t x, int32_t layer)
{
    const int32_t width = c->n.width, inner = c->n.inner;
    const bool gated = (c->arch->flags & NNRTI_GGUF_GATED) != 0;
    NNRT_Activation act;
    uint32_t parts[2];
    memset(&act, 0, sizeof(act));
    act.activationType = c->arch->act;
    act.approximate = !c->exact; /* the tanh form of GELU */
    if (gated && !nnrti_gguf_has(c, layer, "ffn_gate", "weight")) {
        nnrti_gguf_split(c, nnrti_gguf_linear(c, x, layer, "ffn_up", width, 2 * inner), parts, 2, inner, inner, 0);
    } else {
        parts[0] = gated ? nnrti_gguf_linear(c, x, layer, "ffn_gate", width, inner) : NNRT_NO_TENSOR;
        parts[1] = nnrti_gguf_linear(c, x, layer, "ffn_up", width, inner);
    }
    x = nnrti_gguf_one(c, NULL, NNRT_NODE_TYPE_ACTIVATION, &act, gated ? parts[0] : parts[1]);
    x = gated ? nnrti_gguf_mul(c, x, parts[1]) : x;
    return nnrti_gguf_linear(c, x, layer, "ffn_down", inner, width);
}

/* One layer of a decoder: norms precede attention and feed-forward network, and may follow them. */
static uint32_t nnrti_gguf_decode(nnrti_gguf *c, uint32_t x, uint32_t past[NNRTI_GGUF_PARTS], int32_t layer)
{
    const bool rms = c->arch->norm == NNRTI_GGUF_RMS;
    const int32_t width = c->n.width;
    uint32_t y = nnrti_gguf_attention(c, nnrti_gguf_norm(c, x, layer, "attn_norm", width, rms), past, layer);
    if (nnrti_gguf_has(c, layer, "post_attention_norm", "weight"))
        y = nnrti_gguf_norm(c, y, layer, "post_attention_norm", width, rms);
    x = nnrti_gguf_add(c, x, y);
    y = nnrti_gguf_feed(c, nnrti_gguf_norm(c, x, layer, "ffn_norm", width, rms), layer);
    if (nnrti_gguf_has(c, layer, "post_ffw_norm", "weight"))
        y = nnrti_gguf_norm(c, y, layer, "post_ffw_norm", width, rms);
    return nnrti_gguf_add(c, x, y);
}

/* One layer of an encoder: norms follow the residual additions. */
static uint32_t nnrti_gguf_encode(nnrti_gguf *c, uint32_t x, uint32_t past[NNRTI_GGUF_PARTS], int32_t layer)
{
    const int32_t width = c->n.width;
    x = nnrti_gguf_add(c, x, nnrti_gguf_attention(c, x, past, layer));
    x = nnrti_gguf_norm(c, x, layer, "attn_output_norm", width, false);
    x = nnrti_gguf_add(c, x, nnrti_gguf_feed(c, x, layer));
    return nnrti_gguf_norm(c, x, layer, "layer_output_norm", width, false);
}

/* Adds an input, whose axis `open` is dynamic with this symbol, unless it is 0. */
static uint32_t nnrti_gguf_input(nnrti_gguf *c, const char *name, NNRT_DataType type, int32_t rank, const int32_t *dims,
                                 int32_t open, uint32_t symbol)
{
    uint32_t symbols[4] = {0, 0, 0, 0}, x;
    if (!nnrti_gguf_adds(c))
        return NNRT_NO_TENSOR;
    symbols[open] = symbol;
    x = nnrt_builder_input(c->builder, name, type, rank, dims);
    nnrt_builder_symbols(c->builder, x, symbols, (uint32_t)rank);
    return x;
}

/* The past keys (part 0), values (1), or their scales of a layer. */
static uint32_t nnrti_gguf_past(nnrti_gguf *c, int32_t layer, int32_t part)
{
    char name[NNRTI_GGUF_NAME];
    int32_t dims[4];
    dims[0] = 1;
    dims[1] = c->n.kvHeads;
    dims[2] = -1;
    dims[3] = part % 2 == 0 ? c->n.keySize : c->n.valueSize;
    (void)nnrt_text(name, sizeof(name), "past_key_values.%d.%s", layer, nnrti_gguf_parts[part]);
    if (c->capacity > 0) {
        const bool plain = c->desc->cacheType == NNRT_DATA_TYPE_UNKNOWN;
        const NNRT_DataType type = part >= 2 ? NNRT_DATA_TYPE_FLOAT16 : plain ? NNRT_DATA_TYPE_FLOAT32 : c->desc->cacheType;
        dims[1] = c->capacity;
        dims[2] = c->n.kvHeads * (part >= 2 ? dims[3] / nnrti_gguf_scaled(c, part - 2) : dims[3]);
        return nnrti_gguf_input(c, name, type, 3, dims, 2, 0);
    }
    return nnrti_gguf_input(c, name, NNRT_DATA_TYPE_FLOAT32, 4, dims, 2, 2);
}

/* The size of axis 1 or 2 of x, int64[1]. */
static uint32_t nnrti_gguf_size(nnrti_gguf *c, uint32_t x, int64_t axis)
{
    x = nnrti_gguf_one(c, NULL, NNRT_NODE_TYPE_SHAPE, NULL, x);
    x = nnrti_gguf_gather(c, NULL, x, nnrti_gguf_ints(c, axis, 0, 0, 0, 1), 0);
    return nnrti_gguf_cast(c, x, NNRT_DATA_TYPE_INT64);
}

/* Positions of the tokens, int64[1,S]: P, P + 1, .. for P past tokens; past NNRT_NO_TENSOR: from 0 on. With a cache also
   its length after this run. */
static void nnrti_gguf_place_tokens(nnrti_gguf *c, uint32_t ids, uint32_t past)
{
    NNRT_CumSum before;
    uint32_t x;
    memset(&before, 0, sizeof(before));
    before.exclusive = true;
    x = nnrti_gguf_two(c, NULL, NNRT_NODE_TYPE_FILL_LIKE, NULL, ids, nnrti_gguf_ints(c, 1, 0, 0, 0, 1));
    c->positions = nnrti_gguf_two(c, NULL, NNRT_NODE_TYPE_CUM_SUM, &before, x, nnrti_gguf_ints(c, 1, 0, 0, 0, 1));
    if (past == NNRT_NO_TENSOR)
        return;
    x = c->capacity > 0 ? c->position : nnrti_gguf_size(c, past, 2);
    c->positions = nnrti_gguf_add(c, c->positions, x);
    if (c->capacity > 0)
        c->lengths = nnrti_gguf_add(c, x, nnrti_gguf_size(c, ids, 1));
}

/* The rows of "PART.weight" for indices [1,S]; rows 0: as many as it has. */
static uint32_t nnrti_gguf_table(nnrti_gguf *c, const char *part, int32_t rows, uint32_t index)
{
    char name[NNRTI_GGUF_NAME];
    nnrti_gguf_tensor *t = nnrti_gguf_maybe(c, nnrti_gguf_name(name, -1, part, "weight"));
    const int32_t have = t != NULL ? t->sizes[1] : 1;
    return nnrti_gguf_rows(c, nnrti_gguf_need(c, name, c->n.width, rows > 0 ? rows : have, false), name, index);
}

/* The embeddings of the tokens. */
static uint32_t nnrti_gguf_embed(nnrti_gguf *c, uint32_t ids)
{
    uint32_t x = nnrti_gguf_table(c, "token_embd", c->n.vocabulary, ids);
    if ((c->arch->flags & NNRTI_GGUF_SCALED) != 0)
        x = nnrti_gguf_mul(c, x, nnrti_gguf_float(c, sqrtf((float)c->n.width)));
    if (nnrti_gguf_has(c, -1, "token_types", "weight")) { /* all tokens have type 0 */
        const uint32_t zero = nnrti_gguf_two(c, NULL, NNRT_NODE_TYPE_RESHAPE, NULL, nnrti_gguf_ints(c, 0, 0, 0, 0, 1),
                                             nnrti_gguf_ints(c, 1, 1, 0, 0, 2));
        x = nnrti_gguf_add(c, x, nnrti_gguf_table(c, "token_types", 0, zero));
    }
    if ((c->arch->flags & NNRTI_GGUF_PLACED) != 0)
        x = nnrti_gguf_add(c, x, nnrti_gguf_table(c, "position_embd", 0, c->positions));
    if ((c->arch->flags & NNRTI_GGUF_ENCODER) != 0)
        x = nnrti_gguf_norm(c, x, -1, "token_embd_norm", c->n.width, false);
    return x;
}

/* The logits of x. Without a matrix of their own that of the embeddings is used. */
static uint32_t nnrti_gguf_logits(nnrti_gguf *c, uint32_t x)
{
    const bool capped = c->n.logitCap > 0;
    const char *part = nnrti_gguf_has(c, -1, "output", "weight") ? "output" : "token_embd";
    char name[NNRTI_GGUF_NAME];
    nnrti_gguf_tensor *t;
    if (!c->desc->allLogits)
        x = nnrti_gguf_gather(c, NULL, x, nnrti_gguf_ints(c, -1, 0, 0, 0, 1), 1);
    x = nnrti_gguf_norm(c, x, -1, "output_norm", c->n.width, c->arch->norm == NNRTI_GGUF_RMS);
    t = nnrti_gguf_need(c, nnrti_gguf_name(name, -1, part, "weight"), c->n.width, c->n.vocabulary, false);
    if (t != NULL)
        nnrti_gguf_make_weight(c, t, name);
    x = nnrti_gguf_linear_of(c, x, t, NNRT_NO_TENSOR, capped ? NULL : "logits");
    return capped ? nnrti_gguf_capped(c, "logits", x, c->n.logitCap) : x;
}

/* The pooled embedding of x [1,S,width]. */
static uint32_t nnrti_gguf_pooled(nnrti_gguf *c, uint32_t x)
{
    NNRT_ReduceFusion mean;
    uint32_t index;
    if (c->n.pooling == 0)
        return nnrti_gguf_one(c, "hidden", NNRT_NODE_TYPE_ACTIVATION, NULL, x);
    memset(&mean, 0, sizeof(mean));
    mean.mode = NNRT_REDUCE_MODE_MEAN;
    if (c->n.pooling == 1)
        return nnrti_gguf_two(c, "embedding", NNRT_NODE_TYPE_REDUCE_FUSION, &mean, x,
                              nnrti_gguf_ints(c, 1, 0, 0, 0, 1));
    index = nnrti_gguf_ints(c, c->n.pooling == 2 ? 0 : -1, 0, 0, 0, 1);
    x = nnrti_gguf_gather(c, NULL, x, index, 1);
    return nnrti_gguf_two(c, "embedding", NNRT_NODE_TYPE_RESHAPE, NULL, x, nnrti_gguf_ints(c, 1, c->n.width, 0, 0, 2));
}

/* Builds the graph, or in the dry pass checks it. */
static void nnrti_gguf_graph(nnrti_gguf *c)
{
    const bool encoder = (c->arch->flags & NNRTI_GGUF_ENCODER) != 0;
    const int32_t dims[2] = {1, -1};
    const uint32_t ids = nnrti_gguf_input(c, "input_ids", NNRT_DATA_TYPE_INT64, 2, dims, 1, 1);
    const int32_t parts = nnrti_gguf_part_count(c);
    int32_t table[2] = {1, 0};
    uint32_t *past = (uint32_t *)nnrti_gguf_keep(c, (size_t)c->n.layers, NNRTI_GGUF_PARTS * sizeof(*past)), x;
    c->capacity = encoder ? 0 : (int32_t)c->desc->cache;
    c->position = c->capacity > 0 ? nnrti_gguf_input(c, "position", NNRT_DATA_TYPE_INT64, 1, dims, 0, 0) : NNRT_NO_TENSOR;
    table[1] = c->capacity > 0 && c->desc->cachePage > 0 ? c->capacity / (int32_t)c->desc->cachePage : 0;
    c->pages = table[1] > 0 ? nnrti_gguf_input(c, "pages", NNRT_DATA_TYPE_INT32, 2, table, 0, 0) : NNRT_NO_TENSOR;
    for (int32_t i = 0; i < NNRTI_GGUF_PARTS * c->n.layers && past != NULL; i++)
        past[i] = encoder || i % NNRTI_GGUF_PARTS >= parts ? NNRT_NO_TENSOR
                                                           : nnrti_gguf_past(c, i / NNRTI_GGUF_PARTS, i % NNRTI_GGUF_PARTS);
    if (past == NULL)
        return;
    nnrti_gguf_place_tokens(c, ids, past[0]);
    for (uint32_t which = 0; which < 2 && c->arch->rope != NNRTI_GGUF_NO; which++)
        if (which == 0 || (c->arch->flags & NNRTI_GGUF_LOCAL) != 0)
            nnrti_gguf_angles(c, which);
    x = nnrti_gguf_embed(c, ids);
    for (int32_t i = 0; i < c->n.layers && nnrti_gguf_fine(c); i++)
        x = encoder ? nnrti_gguf_encode(c, x, &past[NNRTI_GGUF_PARTS * i], i)
                    : nnrti_gguf_decode(c, x, &past[NNRTI_GGUF_PARTS * i], i);
    x = encoder ? nnrti_gguf_pooled(c, x) : nnrti_gguf_logits(c, x);
    if (nnrti_gguf_adds(c))
        nnrt_builder_output(c->builder, x);
    for (int32_t i = 0; i < NNRTI_GGUF_PARTS * c->n.layers && !encoder && nnrti_gguf_adds(c); i++)
        if (i % NNRTI_GGUF_PARTS < parts)
            nnrt_builder_output(c->builder, past[i]);
}

/* Finds the row of the architecture, reads the hyperparameters, and checks the whole graph: one message for all
   problems. */
static void nnrti_gguf_check(nnrti_gguf *c)
{
    char more[32] = "", name[sizeof(c->name)];
    nnrti_gguf_tensor *t;
    c->dry = true;
    (void)nnrti_gguf_text_key(c, "general.architecture", name, sizeof(name));
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(nnrti_gguf_archs); i++)
        if (strcmp(name, nnrti_gguf_archs[i].name) == 0)
            c->arch = &nnrti_gguf_archs[i];
    memcpy(c->name, name, sizeof(name));
    if (c->arch == NULL) {
        NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "architecture '%s'", name);
        for (uint32_t i = 0; i < c->keys.tensors && c->code == NNRT_SUCCESS; i++)
            if (c->tensors[i].type == NULL && (i == 0 || c->tensors[i].number != c->tensors[i - 1].number)) {
                const nnrti_gguf_type *type = nnrti_gguf_type_of(c->tensors[i].number);
                NNRTI_GGUF_PROBLEM(c, NNRT_UNSUPPORTED_OP, "tensor type %s",
                                   type != NULL ? type->name : "of unknown number");
            }
    } else {
        nnrti_gguf_read_sizes(c);
        t = nnrti_gguf_maybe(c, "token_embd.weight");
        c->n.vocabulary = t != NULL ? t->sizes[1] : 1;
        if (c->code == NNRT_SUCCESS)
            nnrti_gguf_graph(c);
        nnrti_gguf_check_unused(c);
    }
    if (c->hidden > 0)
        (void)nnrt_text(more, sizeof(more), "; and %u others", c->hidden);
    if (c->problems > 0)
        NNRTI_GGUF_FAIL(c, c->worst, "%s with %s: %s%s", c->kind,
                        c->worst == NNRT_UNSUPPORTED_OP ? "unsupported properties" : "faults", c->list, more);
    c->dry = false;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gguf_load */

/* The metadata "states" of a cache; NULL: there is none, or no memory. */
static const char *nnrti_gguf_states(nnrti_gguf *c)
{
    const size_t line = 2 * NNRTI_GGUF_NAME, parts = (size_t)nnrti_gguf_part_count(c), lines = parts * (size_t)c->n.layers;
    char *text = c->capacity > 0 ? (char *)nnrti_gguf_keep(c, lines, line) : NULL;
    size_t used = 0;
    for (size_t i = 0; i < lines && text != NULL; i++) {
        const char *part = nnrti_gguf_parts[i % parts];
        used += nnrt_text(text + used, lines * line - used, "%spast_key_values.%z.%s=present.%z.%s", i > 0 ? "\n" : "",
                          i / parts, part, i / parts, part);
    }
    return text;
}

/* The metadata "rotary" of a cache; NULL: there is none, or no memory. */
static const char *nnrti_gguf_rotary(nnrti_gguf *c)
{
    const int32_t pairs = c->n.rotary / 2;
    const size_t room = (size_t)c->n.layers * 2 * NNRTI_GGUF_NAME + 2 * (32 + 9 * (size_t)pairs);
    const bool scaled = nnrti_gguf_part_count(c) > 2;
    const bool any = c->capacity > 0 && c->arch->rope != NNRTI_GGUF_NO;
    char *text = any ? (char *)nnrti_gguf_keep(c, room, 1) : NULL;
    float *list = any ? (float *)nnrti_gguf_keep(c, (size_t)pairs, sizeof(*list)) : NULL;
    size_t used = 0;
    for (uint32_t which = 0; which < 2 && text != NULL && list != NULL; which++) {
        const size_t begin = used;
        for (int32_t i = 0; i < c->n.layers; i++)
            if (nnrti_gguf_which(c, i) == which) {
                used += nnrt_text(text + used, room - used, "%spast_key_values.%d.key",
                                  used > begin ? "," : used > 0 ? "\n" : "", i);
                if (scaled)
                    used += nnrt_text(text + used, room - used, "*past_key_values.%d.key_scale", i);
            }
        if (used == begin)
            continue;
        (void)nnrti_gguf_frequencies(c, which == 1, list);
        used += nnrt_text(text + used, room - used, "=%d %s", c->n.kvHeads,
                          c->arch->rope == NNRTI_GGUF_PAIRS && !c->halves ? "pairs" : "halves");
        for (int32_t i = 0; i < pairs; i++) {
            uint32_t bits;
            memcpy(&bits, &list[i], sizeof(bits));
            text[used++] = ' ';
            for (int32_t k = 28; k >= 0; k -= 4)
                text[used++] = "0123456789abcdef"[bits >> k & 15];
        }
        text[used] = '\0';
    }
    return list != NULL ? text : NULL;
}

/* Makes the model of the builder, with name and license as metadata, and states. */
static NNRT_ReturnCode nnrti_gguf_build(nnrti_gguf *c, NNRT_Model **model)
{
    char description[256], license[128], pages[16];
    nnrt_metadata list[5];
    uint32_t count = 0;
    NNRT_ReturnCode code;
    bool any;
    list[0].key = "description";
    list[0].value = nnrti_gguf_text_key(c, "general.name", description, sizeof(description));
    count += list[0].value[0] != '\0' ? 1 : 0;
    list[count].key = "license";
    list[count].value = nnrti_gguf_text_key(c, "general.license", license, sizeof(license));
    count += list[count].value[0] != '\0' ? 1 : 0;
    list[count].key = "states";
    list[count].value = nnrti_gguf_states(c);
    count += list[count].value != NULL ? 1 : 0;
    list[count].key = "rotary";
    list[count].value = nnrti_gguf_rotary(c);
    count += list[count].value != NULL ? 1 : 0;
    list[count].key = "pages";
    list[count].value = pages;
    (void)nnrt_text(pages, sizeof(pages), "%u", c->desc->cachePage);
    count += c->capacity > 0 && c->desc->cachePage > 0 ? 1 : 0;
    if (c->code != NNRT_SUCCESS)
        return c->code;
    c->builder->log = c->desc->log;
    code = nnrti_builder_reduce(c->builder, !c->desc->no_optimize, (uint32_t)NNRT_PASS_QUANTIZE, false, &any);
    return code == NNRT_SUCCESS ? nnrti_builder_annotated(c->builder, model, list, count, c->error)
                                : nnrti_builder_report(c->builder, code, c->error);
}

/* Files of a model. read sets keys, places and tensors of the import. */
typedef struct nnrti_gguf_source {
    const void *data;
    size_t bytes;
    const char *kind;
    void (*read)(nnrti_gguf *c, const struct nnrti_gguf_source *source);
    const void *more; /* for read */
    bool copies;      /* of nnrti_gguf */
} nnrti_gguf_source;

/* Reads header, keys and tensors of a GGUF file. */
static void nnrti_gguf_read(nnrti_gguf *c, const nnrti_gguf_source *source)
{
    c->code = nnrt_gguf_open(&c->keys, source->data, source->bytes, c->error);
    if (c->code == NNRT_SUCCESS)
        nnrti_gguf_list_keys(c);
    if (c->code == NNRT_SUCCESS)
        nnrti_gguf_list_tensors(c);
}

/* Imports a model. *inPlace: it points into the bytes. */
NNRTI_COLD static NNRT_ReturnCode nnrti_gguf_import(NNRT_Model **model, const nnrti_gguf_source *source,
                                                    const nnrt_gguf_desc *desc, bool *inPlace, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_gguf c;
    memset(&c, 0, sizeof(c));
    c.desc = desc;
    c.error = error;
    c.kind = source->kind;
    c.copies = source->copies;
    if ((code = nnrt_builder_create(&c.builder, NULL, desc->allocator)) != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "there is not enough memory for the model");
    if (desc->cache > NNRT_GGUF_CACHE)
        NNRTI_GGUF_FAIL(&c, NNRT_INVALID_PARAMETER, "nnrt_gguf_desc.cache is %u, expected at most %u", desc->cache,
                        NNRT_GGUF_CACHE);
    if (desc->cacheType != NNRT_DATA_TYPE_UNKNOWN && desc->cacheType != NNRT_DATA_TYPE_FLOAT32 &&
        ((desc->cacheType != NNRT_DATA_TYPE_FLOAT16 && desc->cacheType != NNRT_DATA_TYPE_INT8) || desc->cache == 0))
        NNRTI_GGUF_FAIL(&c, NNRT_INVALID_PARAMETER,
                        "nnrt_gguf_desc.cacheType is %t with cache %u, expected float32, or float16 or int8 with a cache",
                        desc->cacheType, desc->cache);
    if (desc->cachePage > 0 && (desc->cache == 0 || desc->cache % desc->cachePage != 0))
        NNRTI_GGUF_FAIL(&c, NNRT_INVALID_PARAMETER, "nnrt_gguf_desc.cachePage is %u with cache %u, expected a divisor of it",
                        desc->cachePage, desc->cache);
    if (c.code == NNRT_SUCCESS)
        source->read(&c, source);
    if (c.code == NNRT_SUCCESS)
        nnrti_gguf_check(&c);
    if (c.code == NNRT_SUCCESS)
        nnrti_gguf_graph(&c);
    code = nnrti_gguf_fine(&c) ? nnrti_gguf_build(&c, model) : c.code;
    *inPlace = c.inPlace;
    nnrt_builder_destroy(c.builder);
    return code;
}

/* Imports within the limit on memory. file: NULL, or the block of the bytes, which the model gets if it uses them;
   file->data is then NULL. */
static NNRT_ReturnCode nnrti_gguf_load(NNRT_Model **model, const nnrti_gguf_source *source, const nnrt_gguf_desc *desc,
                                       nnrti_block *file, nnrt_error *error)
{
    nnrt_gguf_desc own;
    nnrti_limited memory;
    NNRT_ReturnCode code;
    bool inPlace = false;
    memset(&own, 0, sizeof(own));
    if (desc != NULL)
        own = *desc;
    own.budget = own.budget > 0 ? own.budget : 1;
    nnrti_limited_begin(&memory, own.allocator);
    if (!nnrt_mul_size(source->bytes, NNRT_GGUF_BUDGET, &memory.limit) ||
        !nnrt_add_size(memory.limit, NNRT_GGUF_BUDGET_FREE, &memory.limit) ||
        !nnrt_mul_size(memory.limit, own.budget, &memory.limit))
        memory.limit = SIZE_MAX;
    memory.live = file != NULL && file->release == NULL ? source->bytes : 0;
    own.allocator = &memory.allocator;
    code = nnrti_gguf_import(model, source, &own, &inPlace, error);
    if (code == NNRT_SUCCESS && file != NULL && inPlace) {
        nnrti_owned *o = nnrti_owned_of(*model);
        o->attached[o->nAttached++] = *file; /* it is new: there is room */
        memset(file, 0, sizeof(*file));
    }
    nnrti_limited_end(&memory, code == NNRT_SUCCESS ? *model : NULL);
    if (code == NNRT_OUT_OF_MEMORY && memory.over && error != NULL) {
        memset(error, 0, sizeof(*error));
        (void)nnrt_error_set(error, code,
                             "the import takes more than %z bytes, its limit (nnrt_gguf_desc.budget %u raises it)",
                             memory.limit, own.budget + 1);
    }
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_gguf_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                               const nnrt_gguf_desc *desc, nnrt_error *error)
{
    const nnrti_gguf_source source = {data, bytes, "GGUF file", nnrti_gguf_read, NULL, false};
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_gguf_load_memory: %s is NULL",
                              model == NULL ? "model" : "data");
    return nnrti_gguf_load(model, &source, desc, NULL, error);
}

#ifndef NNRT_NO_STDIO

NNRT_API NNRT_ReturnCode nnrt_gguf_load(NNRT_Model **model, const char *path, const nnrt_gguf_desc *desc,
                                        nnrt_error *error)
{
    const nnrt_allocator *allocator = desc != NULL ? desc->allocator : NULL;
    nnrti_gguf_source source = {NULL, 0, "GGUF file", nnrti_gguf_read, NULL, false};
    NNRT_ReturnCode code;
    nnrti_block file;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_gguf_load: %s is NULL", model == NULL ? "model" : "path");
    code = nnrti_file_block(path, desc != NULL && desc->noMap, allocator, &file, error);
    if (code != NNRT_SUCCESS)
        return code;
    source.data = file.data;
    source.bytes = file.bytes;
    code = nnrti_gguf_load(model, &source, desc, &file, error);
    if (file.data != NULL)
        nnrti_block_release(&file, allocator);
    return code;
}
#endif

NNRT_SETUP_END()

#endif /* NNRT_IMPLEMENTATION */
