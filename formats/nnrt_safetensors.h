/*
nnrt_safetensors.h - safetensors importer: converts a language model in Hugging Face's layout (model.safetensors with
config.json) into an NNRT_Model, which nnrt.h runs.

    #define NNRT_IMPLEMENTATION
    #include "formats/nnrt_safetensors.h"     includes nnrt_gguf.h, ../core/nnrt_text.h, ../nnrt.h

    NNRT_Model *model = NULL;
    nnrt_error error = {0};
    if (nnrt_safetensors_load(&model, "SmolLM2-135M", NULL, &error) != NNRT_SUCCESS)
        puts(error.message);

SECTIONS (search for the tag)
    >>safetensors         public functions
    -- implementation --
    >>safetensors_tables  architectures, members of config.json, names of tensors, one row each
    >>safetensors_header  tensors of the file: names, types, shapes, places
    >>safetensors_config  config.json as keys of GGUF
    >>safetensors_rope    scalings of rotary position embeddings
    >>safetensors_load    the public functions

SUPPORTED MODELS
    Models of the architectures in NNRTI_SAFE_MODELS, with the graphs of nnrt_gguf.h; tensor types F32 (used in place
    unless there are several weight files), F16 and BF16 (become float32). Architecture, sizes and rotary embeddings come from config.json, the pooling of an encoder
    from 1_Pooling/config.json of Sentence Transformers. Whatever is not supported is reported in one message,
    NNRT_UNSUPPORTED_OP, with the names of the file.

THE MODEL
    The same graph as of a GGUF file, with the same inputs and outputs: see nnrt_gguf.h. Tensors have GGUF's names.

TRUST
    All files are untrusted input: JSON, shapes, types and places are checked before use. The limit on memory is that of
    nnrt_gguf.h.

OPTIONS
    NNRT_NO_STDIO          no file I/O: only nnrt_safetensors_load_memory

MIT license, see LICENSE.
*/
#ifndef NNRT_SAFETENSORS_H
#define NNRT_SAFETENSORS_H

#include "../core/nnrt_text.h"
#include "nnrt_gguf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>safetensors */

/* Whether bytes begin like a safetensors file: a length below 2^27, and a JSON object. 9 bytes suffice. */
NNRT_API bool nnrt_safetensors_is(const void *data, size_t bytes);

/* A file of weights as bytes. */
typedef struct nnrt_safetensors_part {
    const void *data;
    size_t bytes;
} nnrt_safetensors_part;

/* The files of a model as bytes. */
typedef struct nnrt_safetensors_files {
    const nnrt_safetensors_part *parts; /* model.safetensors, or all of model-00001-of-0000N.safetensors */
    uint32_t partCount;
    const char *config; /* of config.json */
    size_t configBytes;
    const char *pooling; /* of 1_Pooling/config.json; NULL: the outputs of an encoder are not pooled */
    size_t poolingBytes;
} nnrt_safetensors_files;

/* Imports the model in these bytes. float32 matrices are used in place if they are aligned, so the bytes of the weights must
   outlive the model. On failure *model is NULL and error (may be NULL) names the fault. */
NNRT_API NNRT_ReturnCode nnrt_safetensors_load_memory(NNRT_Model **model, const nnrt_safetensors_files *files,
                                                      const nnrt_gguf_desc *desc, nnrt_error *error);
#ifndef NNRT_NO_STDIO
/* Imports the model at `path`: a safetensors file, or a folder with model.safetensors, or with
   model.safetensors.index.json and the files that it names. config.json, and for an encoder 1_Pooling/config.json, lie in the
   same folder. The weights are memory-mapped if possible, as nnrt_gguf_load does. */
NNRT_API NNRT_ReturnCode nnrt_safetensors_load(NNRT_Model **model, const char *path, const nnrt_gguf_desc *desc,
                                               nnrt_error *error);
#endif

#ifdef __cplusplus
}
#endif

#endif /* NNRT_SAFETENSORS_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_SAFETENSORS_IMPLEMENTED)
#define NNRT_SAFETENSORS_IMPLEMENTED

#include "../core/nnrt_text.h" /* its implementation, if only its declarations have been included so far */
#include "nnrt_gguf.h"         /* likewise */

#include <math.h>
#include <string.h>

NNRT_SETUP()

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>safetensors_tables */

/* clang-format off */
/* Values of model_type, and the architecture of nnrt_gguf.h. */
#define NNRTI_SAFE_MODELS(X) \
    X("llama",       "llama") \
    X("mistral",     "llama") \
    X("qwen2",       "qwen2") \
    X("qwen3",       "qwen3") \
    X("phi3",        "phi3") \
    X("gemma",       "gemma") \
    X("gemma2",      "gemma2") \
    X("gemma3_text", "gemma3") \
    X("gpt2",        "gpt2") \
    X("bert",        "bert") \
    X("nomic_bert",  "nomic-bert")

/* Numbers of config.json: X(name, other name, key of GGUF without the architecture) */
#define NNRTI_SAFE_NUMBERS(X) \
    X("num_hidden_layers",       "n_layer",            "block_count") \
    X("hidden_size",             "n_embd",             "embedding_length") \
    X("intermediate_size",       "n_inner",            "feed_forward_length") \
    X("num_attention_heads",     "n_head",             "attention.head_count") \
    X("num_key_value_heads",     "",                   "attention.head_count_kv") \
    X("head_dim",                "",                   "attention.key_length") \
    X("max_position_embeddings", "n_positions",        "context_length") \
    X("rms_norm_eps",            "",                   "attention.layer_norm_rms_epsilon") \
    X("layer_norm_epsilon",      "layer_norm_eps",     "attention.layer_norm_epsilon") \
    X("attn_logit_softcapping",  "",                   "attn_logit_softcapping") \
    X("final_logit_softcapping", "",                   "final_logit_softcapping") \
    X("num_local_experts",       "num_experts",        "expert_count")

/* Parts of the names of tensors: X(theirs, GGUF's, where, how)
   where  LAYER: of a layer, TOP: of the model
   how    PLAIN; TURNED: the matrix is stored transposed; BEFORE and AFTER: only without, and with norms after the blocks */
#define NNRTI_SAFE_PARTS(X) \
    X("embed_tokens",                    "token_embd",          TOP,   PLAIN) \
    X("wte",                             "token_embd",          TOP,   PLAIN) \
    X("embeddings.word_embeddings",      "token_embd",          TOP,   PLAIN) \
    X("wpe",                             "position_embd",       TOP,   PLAIN) \
    X("embeddings.position_embeddings",  "position_embd",       TOP,   PLAIN) \
    X("embeddings.token_type_embeddings", "token_types",        TOP,   PLAIN) \
    X("embeddings.LayerNorm",            "token_embd_norm",     TOP,   PLAIN) \
    X("emb_ln",                          "token_embd_norm",     TOP,   PLAIN) \
    X("norm",                            "output_norm",         TOP,   PLAIN) \
    X("ln_f",                            "output_norm",         TOP,   PLAIN) \
    X("lm_head",                         "output",              TOP,   PLAIN) \
    X("self_attn.q_proj",                "attn_q",              LAYER, PLAIN) \
    X("self_attn.k_proj",                "attn_k",              LAYER, PLAIN) \
    X("self_attn.v_proj",                "attn_v",              LAYER, PLAIN) \
    X("self_attn.qkv_proj",              "attn_qkv",            LAYER, PLAIN) \
    X("self_attn.q_norm",                "attn_q_norm",         LAYER, PLAIN) \
    X("self_attn.k_norm",                "attn_k_norm",         LAYER, PLAIN) \
    X("self_attn.o_proj",                "attn_output",         LAYER, PLAIN) \
    X("input_layernorm",                 "attn_norm",           LAYER, PLAIN) \
    X("post_attention_layernorm",        "ffn_norm",            LAYER, BEFORE) \
    X("post_attention_layernorm",        "post_attention_norm", LAYER, AFTER) \
    X("pre_feedforward_layernorm",       "ffn_norm",            LAYER, AFTER) \
    X("post_feedforward_layernorm",      "post_ffw_norm",       LAYER, AFTER) \
    X("mlp.gate_proj",                   "ffn_gate",            LAYER, PLAIN) \
    X("mlp.up_proj",                     "ffn_up",              LAYER, PLAIN) \
    X("mlp.gate_up_proj",                "ffn_up",              LAYER, PLAIN) \
    X("mlp.down_proj",                   "ffn_down",            LAYER, PLAIN) \
    X("ln_1",                            "attn_norm",           LAYER, PLAIN) \
    X("attn.c_attn",                     "attn_qkv",            LAYER, TURNED) \
    X("attn.c_proj",                     "attn_output",         LAYER, TURNED) \
    X("ln_2",                            "ffn_norm",            LAYER, PLAIN) \
    X("mlp.c_fc",                        "ffn_up",              LAYER, TURNED) \
    X("mlp.c_proj",                      "ffn_down",            LAYER, TURNED) \
    X("attention.self.query",            "attn_q",              LAYER, PLAIN) \
    X("attention.self.key",              "attn_k",              LAYER, PLAIN) \
    X("attention.self.value",            "attn_v",              LAYER, PLAIN) \
    X("attention.output.dense",          "attn_output",         LAYER, PLAIN) \
    X("attention.output.LayerNorm",      "attn_output_norm",    LAYER, PLAIN) \
    X("intermediate.dense",              "ffn_up",              LAYER, PLAIN) \
    X("output.dense",                    "ffn_down",            LAYER, PLAIN) \
    X("output.LayerNorm",                "layer_output_norm",   LAYER, PLAIN) \
    X("attn.Wqkv",                       "attn_qkv",            LAYER, PLAIN) \
    X("attn.out_proj",                   "attn_output",         LAYER, PLAIN) \
    X("norm1",                           "attn_output_norm",    LAYER, PLAIN) \
    X("norm2",                           "layer_output_norm",   LAYER, PLAIN) \
    X("mlp.fc11",                        "ffn_up",              LAYER, PLAIN) \
    X("mlp.fc12",                        "ffn_gate",            LAYER, PLAIN) \
    X("mlp.fc2",                         "ffn_down",            LAYER, PLAIN)

/* Types of tensors: X(name, number of GGUF, bytes of an element) */
#define NNRTI_SAFE_TYPES(X) \
    X("F32", 0, 4) X("F16", 1, 2) X("BF16", 30, 2) X("F64", 28, 8) X("I64", 27, 8) X("I32", 26, 4) X("I16", 25, 2) \
    X("I8", 24, 1) X("U8", 254, 1) X("BOOL", 254, 1) X("F8_E4M3", 254, 1) X("F8_E5M2", 254, 1) X("U16", 254, 2) \
    X("U32", 254, 4) X("U64", 254, 8)
/* clang-format on */

enum { NNRTI_SAFE_TOP, NNRTI_SAFE_LAYER };
enum { NNRTI_SAFE_PLAIN, NNRTI_SAFE_TURNED, NNRTI_SAFE_BEFORE, NNRTI_SAFE_AFTER };

typedef struct nnrti_safe_part {
    const char *theirs, *ours;
    int32_t where, how;
} nnrti_safe_part;

typedef struct nnrti_safe_words {
    const char *name, *other, *key;
} nnrti_safe_words;

typedef struct nnrti_safe_type {
    const char *name;
    uint32_t number, bytes;
} nnrti_safe_type;

#define NNRTI_SAFE_PART(theirs, ours, where, how) {theirs, ours, NNRTI_SAFE_##where, NNRTI_SAFE_##how},
static const nnrti_safe_part nnrti_safe_parts[] = {NNRTI_SAFE_PARTS(NNRTI_SAFE_PART)};
#define NNRTI_SAFE_NUMBER(name, other, key) {name, other, key},
static const nnrti_safe_words nnrti_safe_numbers[] = {NNRTI_SAFE_NUMBERS(NNRTI_SAFE_NUMBER)};
#define NNRTI_SAFE_MODEL(name, arch) {name, arch, NULL},
static const nnrti_safe_words nnrti_safe_models[] = {NNRTI_SAFE_MODELS(NNRTI_SAFE_MODEL)};
#define NNRTI_SAFE_TYPE(name, number, bytes) {name, number, bytes},
static const nnrti_safe_type nnrti_safe_types[] = {NNRTI_SAFE_TYPES(NNRTI_SAFE_TYPE)};

#define NNRTI_SAFE_KEYS 4096 /* bytes of all keys of GGUF: about 40 of less than 70 bytes */

/* State of an import. */
typedef struct nnrti_safe {
    nnrti_gguf *c;
    nnrti_text_file header, config; /* the JSON of the weights and of config.json; memory for texts with escapes */
    const char *top;                /* the object with the hyperparameters */
    bool gemma, after;              /* norms store their factor minus 1; norms follow the blocks */
    char type[24];                  /* model_type */
    uint8_t *keys;
    size_t keyBytes;
} nnrti_safe;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>safetensors_header */

/* A file: u64 length of the header, the header, the data. The header is a JSON object: "NAME": {"dtype": .., "shape": [..],
   "data_offsets": [begin, end]}, with offsets in the data, and "__metadata__". */

NNRT_API bool nnrt_safetensors_is(const void *data, size_t bytes)
{
    const uint8_t *p = (const uint8_t *)data;
    return data != NULL && bytes >= 9 && nnrti_gguf_u64(p) < 1u << 27 && p[8] == '{';
}

/* Checks a whole JSON text; the object at its top, or NULL and a fault. */
static const char *nnrti_safe_json(nnrti_gguf *c, nnrti_text_file *f, const char *text, size_t bytes, const char *name)
{
    const char *behind;
    f->begin = nnrti_text_skip_space(text, text + bytes);
    f->end = text + bytes;
    behind = f->begin < f->end && *f->begin == '{' ? nnrti_text_skip(f->begin, f->end) : NULL;
    if (behind != NULL && nnrti_text_skip_space(behind, f->end) == f->end)
        return f->begin;
    NNRTI_GGUF_FAIL(c, NNRT_INVALID_FILE, "%s is no JSON object, or is damaged", name);
    return NULL;
}

/* A string as text of at most size - 1 bytes, with ? for control characters. */
static const char *nnrti_safe_text(nnrt_piece piece, char *out, size_t size)
{
    return nnrti_gguf_copy_text(out, size, piece.data, piece.bytes);
}

/* Whether a name at *at begins with `prefix`, which is then skipped. */
static bool nnrti_safe_skip(const char **at, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (strncmp(*at, prefix, n) != 0)
        return false;
    *at += n;
    return true;
}

/* The layer in a name at "PREFIX.I.", which is skipped; -1: none. */
static int32_t nnrti_safe_layer(const char **at)
{
    static const char *const prefixes[] = {"layers.", "h.", "encoder.layer.", "encoder.layers."};
    int32_t layer = 0;
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(prefixes); i++) {
        const char *digits = *at;
        if (!nnrti_safe_skip(&digits, prefixes[i]) || *digits < '0' || *digits > '9')
            continue;
        for (; *digits >= '0' && *digits <= '9' && layer < 100000; digits++)
            layer = 10 * layer + (*digits - '0');
        if (*digits != '.')
            return -1;
        *at = digits + 1;
        return layer;
    }
    return -1;
}

/* Whether a row is one of this model. */
static bool nnrti_safe_applies(const nnrti_safe *s, const nnrti_safe_part *row)
{
    return row->how < NNRTI_SAFE_BEFORE || (row->how == NNRTI_SAFE_AFTER) == s->after;
}

/* GGUF's name of a tensor; NULL: it is unknown. *turned: the matrix is stored transposed. */
static const char *nnrti_safe_rename(const nnrti_safe *s, const char *given, char out[NNRTI_GGUF_NAME], bool *turned)
{
    const char *at = given, *last = strrchr(given, '.');
    int32_t layer;
    while (nnrti_safe_skip(&at, "model.") || nnrti_safe_skip(&at, "transformer.") || nnrti_safe_skip(&at, "bert."))
        continue;
    layer = nnrti_safe_layer(&at);
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(nnrti_safe_parts) && last != NULL && last > at; i++) {
        const nnrti_safe_part *row = &nnrti_safe_parts[i];
        if ((row->where == NNRTI_SAFE_LAYER) != (layer >= 0) || strlen(row->theirs) != (size_t)(last - at) ||
            memcmp(row->theirs, at, (size_t)(last - at)) != 0 || !nnrti_safe_applies(s, row))
            continue;
        if (strcmp(last, ".weight") != 0 && strcmp(last, ".bias") != 0)
            return NULL;
        *turned = row->how == NNRTI_SAFE_TURNED && strcmp(last, ".weight") == 0;
        return nnrti_gguf_name(out, layer, row->ours, last + 1);
    }
    return NULL;
}

/* Tensors that do not change the outputs: tables that follow from config.json, and heads for training. */
static bool nnrti_safe_left_out(const char *name)
{
    static const char *const ends[] = {".attn.bias", ".attn.masked_bias", "position_ids", "rotary_emb.inv_freq"};
    const size_t bytes = strlen(name);
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(ends); i++)
        if (bytes >= strlen(ends[i]) && strcmp(name + bytes - strlen(ends[i]), ends[i]) == 0)
            return true;
    return nnrti_safe_skip(&name, "cls.") || nnrti_safe_skip(&name, "pooler.") || nnrti_safe_skip(&name, "bert.pooler.");
}

/* Reads "dtype" of a tensor; bytes of an element, or 0 and a fault. */
static uint32_t nnrti_safe_read_type(nnrti_safe *s, const char *value, const char *name, nnrti_gguf_tensor *t)
{
    const nnrt_piece type = nnrti_text_string_of(&s->header, value, "dtype");
    char text[24];
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(nnrti_safe_types); i++)
        if (nnrti_text_is(type, nnrti_safe_types[i].name)) {
            t->number = nnrti_safe_types[i].number;
            t->type = nnrti_gguf_type_of(t->number);
            t->type = t->type != NULL && t->type->elements > 0 ? t->type : NULL;
            return nnrti_safe_types[i].bytes;
        }
    NNRTI_GGUF_FAIL(s->c, NNRT_UNSUPPORTED_OP, "tensor '%s' has the unknown type '%s'", name,
                    nnrti_safe_text(type, text, sizeof(text)));
    return 0;
}

/* Reads shape, which GGUF has in reverse order; *count: elements. */
static const char *nnrti_safe_read_shape(nnrti_safe *s, const char *value, nnrti_gguf_tensor *t, size_t *count)
{
    int32_t sizes[4];
    const char *at = nnrti_text_member(&s->header, value, "shape");
    *count = 1;
    if (at == NULL || *at != '[')
        return "has no shape";
    for (at = nnrti_text_first(&s->header, at); at != NULL; at = nnrti_text_next(&s->header, at)) {
        const uint32_t size = nnrti_text_id(at);
        if (t->rank == 4 || size == NNRT_NO_TOKEN || size == 0)
            return "does not have 1 to 4 axes, each of 1 to 2147483646";
        sizes[t->rank++] = (int32_t)size;
        if (!nnrt_mul_size(*count, size, count))
            return "is too large";
    }
    for (uint32_t i = 0; i < 4; i++)
        t->sizes[i] = i < t->rank ? sizes[t->rank - 1 - i] : 1;
    t->rank = t->rank > 0 ? t->rank : 1;
    return NULL;
}

/* Reads data_offsets and checks them. */
static const char *nnrti_safe_read_place(nnrti_safe *s, const char *value, nnrti_gguf_tensor *t, size_t bytes,
                                         const nnrt_safetensors_part *part)
{
    const char *at = nnrti_text_first(&s->header, nnrti_text_member(&s->header, value, "data_offsets"));
    const size_t data = 8 + (size_t)nnrti_gguf_u64((const uint8_t *)part->data);
    double offsets[2] = {-1, -1};
    for (int i = 0; i < 2 && at != NULL; i++, at = nnrti_text_next(&s->header, at))
        offsets[i] = *at >= '0' && *at <= '9' ? nnrti_text_real(at) : -1;
    if (!(offsets[0] >= 0 && offsets[0] <= offsets[1] && offsets[1] <= (double)(part->bytes - data)))
        return "has data outside of the file";
    if (offsets[1] - offsets[0] != (double)bytes)
        return "has data_offsets that do not fit its type and shape";
    t->data = (const uint8_t *)part->data + data + (size_t)offsets[0];
    return NULL;
}

/* Replaces the data of a tensor by float32 numbers: transposed, or plus 1. */
static void nnrti_safe_change(nnrti_safe *s, nnrti_gguf_tensor *t, size_t count, bool turned)
{
    const size_t rows = (size_t)t->sizes[1], columns = (size_t)t->sizes[0];
    float *wide = (float *)nnrti_gguf_keep(s->c, count, sizeof(*wide)), *y = wide;
    if (wide == NULL || t->type == NULL || t->rank > 2)
        return;
    nnrti_gguf_widen(t, wide, count);
    if (turned) {
        if ((y = (float *)nnrti_gguf_keep(s->c, count, sizeof(*y))) == NULL)
            return;
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                y[j * rows + i] = wide[i * columns + j];
        t->sizes[0] = (int32_t)rows;
        t->sizes[1] = (int32_t)columns;
    } else {
        for (size_t i = 0; i < count; i++)
            y[i] = wide[i] + 1;
    }
    t->data = (const uint8_t *)y;
    t->kept = true;
    t->number = NNRTI_GGUF_F32;
    t->type = nnrti_gguf_type_of(t->number);
}

/* Reads the tensor with this key and value of the header. */
static void nnrti_safe_read_tensor(nnrti_safe *s, const char *key, const char *value, const nnrt_safetensors_part *part)
{
    nnrti_gguf *c = s->c;
    const nnrt_piece name = nnrti_text_string(&s->header, key);
    nnrti_gguf_tensor *t = &c->tensors[c->keys.tensors];
    char renamed[NNRTI_GGUF_NAME], *given, *own;
    const char *found, *fault;
    bool turned = false;
    size_t count = 0, bytes = 0;
    if (name.bytes > 1024)
        NNRTI_GGUF_FAIL(c, NNRT_INVALID_FILE, "a tensor has a name of more than 1024 bytes");
    if (s->header.memory.full)
        NNRTI_GGUF_FAIL(c, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    given = (char *)nnrti_gguf_keep(c, name.bytes + 1, 1);
    if (given == NULL)
        return;
    (void)nnrti_safe_text(name, given, name.bytes + 1);
    if (nnrti_safe_left_out(given)) {
        nnrt_log_line(c->desc->log, NNRT_LOG_INFO, "safetensors: '%s' is not used", given);
        return;
    }
    memset(t, 0, sizeof(*t));
    if ((bytes = nnrti_safe_read_type(s, value, given, t)) == 0)
        return;
    fault = nnrti_safe_read_shape(s, value, t, &count);
    if (fault == NULL)
        fault = nnrt_mul_size(bytes, count, &bytes) ? nnrti_safe_read_place(s, value, t, bytes, part) : "is too large";
    if (fault != NULL) {
        NNRTI_GGUF_FAIL(c, NNRT_INVALID_FILE, "tensor '%s' of the safetensors file %s", given, fault);
        return;
    }
    found = nnrti_safe_rename(s, given, renamed, &turned);
    if (turned || (s->gemma && found != NULL && strstr(found, "norm.weight") != NULL))
        nnrti_safe_change(s, t, count, turned);
    own = found != NULL ? (char *)nnrti_gguf_keep(c, strlen(found) + 1, 1) : given;
    if (own == NULL)
        return;
    if (found != NULL)
        memcpy(own, found, strlen(found));
    t->name = own;
    t->nameBytes = (uint32_t)strlen(own);
    t->given = given;
    for (uint32_t i = 0; i < 3; i++)
        t->made[i] = NNRT_NO_TENSOR;
    c->keys.tensors++;
}

#define NNRTI_SAFE_ADDED 2 /* tensors that are made: factors of rotary frequencies */

/* The header of a file of weights: its object, or NULL and a fault. */
static const char *nnrti_safe_header(nnrti_safe *s, const nnrt_safetensors_part *part)
{
    const uint8_t *p = (const uint8_t *)part->data;
    if (!nnrt_safetensors_is(p, part->bytes))
        NNRTI_GGUF_FAIL(s->c, NNRT_INVALID_FILE, "this is no safetensors file: expected a length and a JSON object");
    else if (nnrti_gguf_u64(p) > part->bytes - 8)
        NNRTI_GGUF_FAIL(s->c, NNRT_INVALID_FILE, "the safetensors file is cut short: its header has %z bytes of %z",
                        (size_t)nnrti_gguf_u64(p), part->bytes);
    else
        return nnrti_safe_json(s->c, &s->header, (const char *)p + 8, (size_t)nnrti_gguf_u64(p),
                               "the header of the safetensors file");
    return NULL;
}

/* Reads the headers of the weights: first the number of their tensors, then the tensors. */
static void nnrti_safe_read_headers(nnrti_safe *s, const nnrt_safetensors_files *files)
{
    nnrti_gguf *c = s->c;
    size_t count = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        if (pass == 1)
            c->tensors = (nnrti_gguf_tensor *)nnrti_gguf_keep(c, count + NNRTI_SAFE_ADDED, sizeof(*c->tensors));
        for (uint32_t i = 0; i < files->partCount && c->code == NNRT_SUCCESS; i++) {
            const char *key = nnrti_text_first(&s->header, nnrti_safe_header(s, &files->parts[i]));
            while (key != NULL && c->code == NNRT_SUCCESS) {
                const char *value = nnrti_text_value(&s->header, key);
                if (pass == 0)
                    count++;
                else if (!nnrti_text_is(nnrti_text_string(&s->header, key), "__metadata__"))
                    nnrti_safe_read_tensor(s, key, value, &files->parts[i]);
                key = nnrti_text_next(&s->header, value);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>safetensors_config */

/* Adds a key of GGUF: a float64, or a string. */
static void nnrti_safe_key(nnrti_safe *s, const char *key, const char *text, double number)
{
    const size_t bytes = strlen(key), more = text != NULL ? 8 + strlen(text) : 8;
    uint8_t *at = s->keys + s->keyBytes;
    uint64_t bits;
    if (s->keyBytes + 12 + bytes + more > NNRTI_SAFE_KEYS)
        return; /* the table has less */
    memset(at, 0, 12 + bytes + more);
    at[0] = (uint8_t)bytes;
    memcpy(at + 8, key, bytes);
    at += 8 + bytes;
    at[0] = (uint8_t)(text != NULL ? NNRT_GGUF_STRING : NNRT_GGUF_FLOAT64);
    memcpy(&bits, &number, sizeof(bits));
    for (uint32_t i = 0; i < 8; i++)
        at[4 + i] = (uint8_t)((text != NULL ? (uint64_t)strlen(text) : bits) >> 8 * i);
    if (text != NULL)
        memcpy(at + 12, text, strlen(text));
    s->keyBytes += 12 + bytes + more;
    s->c->keys.count++;
}

/* The same with the name of the architecture before it. */
static void nnrti_safe_own(nnrti_safe *s, const char *suffix, const char *text, double number)
{
    char key[80];
    (void)nnrt_text(key, sizeof(key), "%s.%s", s->c->name, suffix);
    nnrti_safe_key(s, key, text, number);
}

/* The number `name` of an object; `otherwise` if it has none. */
static double nnrti_safe_number(nnrti_safe *s, const char *object, const char *name, double otherwise)
{
    const char *at = nnrti_text_member(&s->config, object, name);
    if (at == NULL)
        return otherwise;
    if (*at != '-' && (*at < '0' || *at > '9')) {
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "%s of config.json is not a number", name);
        return otherwise;
    }
    return nnrti_text_real(at);
}

/* A number of the hyperparameters. */
static double nnrti_safe_top(nnrti_safe *s, const char *name, double otherwise)
{
    return nnrti_safe_number(s, s->top, name, otherwise);
}

/* Elements of a head. */
static double nnrti_safe_head(nnrti_safe *s)
{
    const double width = nnrti_safe_top(s, "hidden_size", nnrti_safe_top(s, "n_embd", 0));
    const double heads = nnrti_safe_top(s, "num_attention_heads", nnrti_safe_top(s, "n_head", 0));
    return nnrti_safe_top(s, "head_dim", heads > 0 ? floor(width / heads) : 0);
}

/* Checks the function of the feed-forward network. */
static void nnrti_safe_read_activation(nnrti_safe *s)
{
    static const char *const members[] = {"hidden_activation", "hidden_act", "activation_function"};
    static const char *const tanhs[] = {"gelu_pytorch_tanh", "gelu_new", "gelu_fast"};
    const bool swish = s->c->arch->act == NNRT_ACTIVATION_TYPE_SWISH;
    nnrt_piece act = {"", 0};
    bool known = false, tanh = false;
    char text[32];
    for (size_t i = 0; i < 3 && act.bytes == 0; i++)
        act = nnrti_text_string_of(&s->config, s->top, members[i]);
    for (size_t i = 0; i < 3; i++)
        tanh = tanh || nnrti_text_is(act, tanhs[i]);
    if (swish)
        known = nnrti_text_is(act, "silu") || nnrti_text_is(act, "swish") || nnrti_text_is(act, "swiglu");
    else
        known = tanh || nnrti_text_is(act, "gelu");
    /* configurations of the first Gemma say gelu, its weights were trained with the tanh form */
    s->c->exact = !swish && !tanh && !s->gemma;
    if (!known)
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "activation '%s'", nnrti_safe_text(act, text, sizeof(text)));
}

/* Sliding windows: their size, and which layers have them. */
static void nnrti_safe_read_window(nnrti_safe *s)
{
    const uint32_t period = s->c->arch->period;
    const double size = nnrti_safe_top(s, "sliding_window", 0);
    const bool qwen = s->type[0] == 'q';
    const bool used = size > 0 && nnrti_text_true(&s->config, s->top, "use_sliding_window", !qwen);
    const double pattern = nnrti_safe_top(s, "sliding_window_pattern", period);
    uint32_t layer = 0, others = 0;
    nnrti_safe_own(s, "attention.sliding_window", NULL, used ? size : 0);
    if (qwen && used)
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "use_sliding_window");
    if (period > 2 && pattern != period)
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "sliding_window_pattern %f, supported is %u", pattern, period);
    for (const char *at = nnrti_text_first(&s->config, nnrti_text_member(&s->config, s->top, "layer_types")); at != NULL;
         at = nnrti_text_next(&s->config, at), layer++) {
        const bool window = used && (period == 1 || layer % period < period - 1);
        const nnrt_piece kind = *at == '"' ? nnrti_text_string(&s->config, at) : nnrti_text_piece("", 0);
        others += nnrti_text_is(kind, window ? "sliding_attention" : "full_attention") ? 0 : 1;
    }
    if (others > 0)
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "layer_types: %u layers differ from the pattern of '%s'", others,
                           s->type);
}

/* The pooling of an encoder. */
static void nnrti_safe_read_pooling(nnrti_safe *s, const nnrt_safetensors_files *files)
{
    static const char *const modes[] = {"", "pooling_mode_mean_tokens", "pooling_mode_cls_token", "pooling_mode_lasttoken"};
    static const char *const others[] = {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                                         "pooling_mode_weightedmean_tokens"};
    nnrti_text_file f = s->config;
    const char *top;
    uint32_t chosen = 0, count = 0;
    if (files->pooling == NULL || (s->c->arch->flags & NNRTI_GGUF_ENCODER) == 0)
        return;
    top = nnrti_safe_json(s->c, &f, files->pooling, files->poolingBytes, "1_Pooling/config.json");
    if (top == NULL)
        return;
    for (uint32_t i = 1; i < 4; i++)
        if (nnrti_text_true(&f, top, modes[i], false)) {
            chosen = i;
            count++;
        }
    for (uint32_t i = 0; i < 3; i++)
        count += nnrti_text_true(&f, top, others[i], false) ? 2 : 0;
    if (count != 1)
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "pooling other than one of mean, first and last token");
    nnrti_safe_own(s, "pooling_type", NULL, chosen);
}

/* Finds the row of model_type. */
static void nnrti_safe_read_architecture(nnrti_safe *s)
{
    nnrti_gguf *c = s->c;
    const char *inner = nnrti_text_member(&s->config, s->top, "text_config");
    const char *arch = "";
    if (inner != NULL && *inner == '{')
        s->top = inner;
    (void)nnrti_safe_text(nnrti_text_string_of(&s->config, s->top, "model_type"), s->type, sizeof(s->type));
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(nnrti_safe_models); i++)
        if (strcmp(s->type, nnrti_safe_models[i].name) == 0)
            arch = nnrti_safe_models[i].other;
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(nnrti_gguf_archs); i++)
        if (strcmp(arch, nnrti_gguf_archs[i].name) == 0)
            c->arch = &nnrti_gguf_archs[i];
    if (c->arch == NULL) {
        NNRTI_GGUF_FAIL(c, NNRT_UNSUPPORTED_OP, "config.json has model_type '%s', which is not supported", s->type);
        return;
    }
    (void)nnrt_text(c->name, sizeof(c->name), "%s", arch);
    nnrti_safe_key(s, "general.architecture", arch, 0);
    s->gemma = strncmp(arch, "gemma", 5) == 0;
    s->after = s->gemma && arch[5] != '\0';
    c->halves = true;
}

/* Checks members that change the network without a tensor that shows it. */
static void nnrti_safe_read_switches(nnrti_safe *s)
{
    static const char *const refused[] = {"quantization_config", "scale_attn_by_inverse_layer_idx", "is_decoder",
                                          "prenorm",             "use_rms_norm",                    "add_cross_attention"};
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(refused); i++) {
        const char *at = nnrti_text_member(&s->config, s->top, refused[i]);
        if (at != NULL && *at != 'f')
            NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "%s", refused[i]);
    }
    if (nnrti_text_true(&s->config, s->top, "use_bidirectional_attention", false))
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "use_bidirectional_attention");
}

/* Reads config.json into keys of GGUF. */
static void nnrti_safe_read_config(nnrti_safe *s, const nnrt_safetensors_files *files)
{
    nnrti_gguf *c = s->c;
    const nnrti_safe_words *row = nnrti_safe_numbers;
    double scalar;
    bool rms;
    s->top = nnrti_safe_json(c, &s->config, files->config, files->configBytes, "config.json");
    s->keys = (uint8_t *)nnrti_gguf_keep(c, 1, NNRTI_SAFE_KEYS);
    if (s->top == NULL || s->keys == NULL)
        return;
    nnrti_safe_read_architecture(s);
    if (c->arch == NULL)
        return;
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(nnrti_safe_numbers); i++, row++) {
        const double number = nnrti_safe_top(s, row->name, row->other[0] != '\0' ? nnrti_safe_top(s, row->other, -1) : -1);
        if (number != -1)
            nnrti_safe_own(s, row->key, NULL, number);
        else if (strcmp(row->name, "intermediate_size") == 0) /* GPT-2's n_inner is null */
            nnrti_safe_own(s, row->key, NULL, 4 * nnrti_safe_top(s, "n_embd", 0));
        else if (strstr(row->name, "softcapping") != NULL)
            nnrti_safe_own(s, row->key, NULL, 0);
    }
    rms = c->arch->norm == NNRTI_GGUF_RMS;
    if (!(nnrti_safe_top(s, rms ? "rms_norm_eps" : "layer_norm_eps",
                         nnrti_safe_top(s, rms ? "rms_norm_eps" : "layer_norm_epsilon", 0)) > 0))
        NNRTI_GGUF_PROBLEM(c, NNRT_INVALID_MODEL, "config.json has no %s", rms ? "rms_norm_eps" : "layer_norm_eps");
    if ((scalar = nnrti_safe_top(s, "query_pre_attn_scalar", 0)) > 0)
        nnrti_safe_own(s, "attention.scale", NULL, 1 / sqrt(scalar));
    nnrti_safe_read_activation(s);
    nnrti_safe_read_window(s);
    nnrti_safe_read_pooling(s, files);
    nnrti_safe_read_switches(s);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>safetensors_rope */

/* Scalings after transformers (modeling_rope_utils.py). llama3: the wavelength of a pair is w = 2 pi / f, L the original
   context. w < L / high_freq_factor: f stays; w > L / low_freq_factor: f / factor; between them interpolated by L / w.
   longrope: f divided by a list of factors, cosines and sines times sqrt(1 + ln(context / L) / ln(L)). */

/* Adds a tensor of float32 numbers. */
static float *nnrti_safe_add(nnrti_safe *s, const char *name, int32_t count)
{
    nnrti_gguf *c = s->c;
    float *data = (float *)nnrti_gguf_keep(c, (size_t)count, sizeof(*data));
    nnrti_gguf_tensor *t;
    if (data == NULL)
        return NULL;
    t = &c->tensors[c->keys.tensors++];
    memset(t, 0, sizeof(*t));
    t->name = t->given = name;
    t->nameBytes = (uint32_t)strlen(name);
    t->rank = 1;
    t->sizes[0] = count;
    t->sizes[1] = t->sizes[2] = t->sizes[3] = 1;
    t->number = NNRTI_GGUF_F32;
    t->type = nnrti_gguf_type_of(t->number);
    t->data = (const uint8_t *)data;
    t->kept = true;
    for (uint32_t i = 0; i < 3; i++)
        t->made[i] = NNRT_NO_TENSOR;
    return data;
}

/* The factors of Llama 3 for n dimensions with this base. */
static void nnrti_safe_llama3(nnrti_safe *s, const char *rope, int32_t n, double base)
{
    const double factor = nnrti_safe_number(s, rope, "factor", 1), low = nnrti_safe_number(s, rope, "low_freq_factor", 1);
    const double high = nnrti_safe_number(s, rope, "high_freq_factor", 4);
    const double context = nnrti_safe_number(s, rope, "original_max_position_embeddings", 8192);
    float *factors = nnrti_safe_add(s, "rope_freqs.weight", n / 2);
    if (!(factor > 0 && low > 0 && high > low && context > 0))
        NNRTI_GGUF_PROBLEM(s->c, NNRT_INVALID_MODEL, "rotary scaling llama3 of %f, %f, %f and %f", factor, low, high, context);
    for (int32_t k = 0; k < n / 2 && factors != NULL; k++) {
        const double turns = context * pow(base, -2.0 * k / n) / 6.283185307179586; /* L / w */
        const double kept = turns > high ? 1 : turns < low ? 0 : (turns - low) / (high - low);
        factors[k] = (float)(1 / ((1 - kept) / factor + kept));
    }
}

/* The list of factors `member` of longrope as a tensor. */
static void nnrti_safe_factors(nnrti_safe *s, const char *rope, const char *member, const char *name, int32_t count)
{
    const char *list = nnrti_text_member(&s->config, rope, member), *at = nnrti_text_first(&s->config, list);
    float *factors = nnrti_safe_add(s, name, count);
    int32_t n = 0;
    for (; at != NULL; at = nnrti_text_next(&s->config, at), n++)
        if (n < count && factors != NULL && ((*at >= '0' && *at <= '9') || *at == '-'))
            factors[n] = (float)nnrti_text_real(at);
    if (n != count)
        NNRTI_GGUF_PROBLEM(s->c, NNRT_INVALID_MODEL, "%s of config.json has %d numbers, expected %d", member, n, count);
}

/* Reads longrope for n dimensions. */
static void nnrti_safe_longrope(nnrti_safe *s, const char *rope, int32_t n)
{
    const double longest = nnrti_safe_top(s, "max_position_embeddings", 1);
    const double context = nnrti_safe_top(s, "original_max_position_embeddings",
                                          nnrti_safe_number(s, rope, "original_max_position_embeddings", longest));
    const double ratio = context > 1 ? longest / context : 1;
    const double by = ratio > 1 ? sqrt(1 + log(ratio) / log(context)) : 1;
    nnrti_safe_own(s, "rope.scaling.type", "longrope", 0);
    nnrti_safe_own(s, "rope.scaling.original_context_length", NULL, context);
    nnrti_safe_own(s, "rope.scaling.attn_factor", NULL, nnrti_safe_number(s, rope, "attention_factor", by));
    nnrti_safe_factors(s, rope, "short_factor", "rope_factors_short.weight", n / 2);
    nnrti_safe_factors(s, rope, "long_factor", "rope_factors_long.weight", n / 2);
}

/* Reads YaRN. */
static void nnrti_safe_yarn(nnrti_safe *s, const char *rope)
{
    const double factor = nnrti_safe_number(s, rope, "factor", 1), usual = 1 + 0.1 * log(factor > 1 ? factor : 1);
    nnrti_safe_own(s, "rope.scaling.type", "yarn", 0);
    nnrti_safe_own(s, "rope.scaling.factor", NULL, factor);
    nnrti_safe_own(s, "rope.scaling.original_context_length", NULL,
                   nnrti_safe_number(s, rope, "original_max_position_embeddings",
                                     nnrti_safe_top(s, "max_position_embeddings", 1)));
    nnrti_safe_own(s, "rope.scaling.yarn_beta_fast", NULL, nnrti_safe_number(s, rope, "beta_fast", 32));
    nnrti_safe_own(s, "rope.scaling.yarn_beta_slow", NULL, nnrti_safe_number(s, rope, "beta_slow", 1));
    nnrti_safe_own(s, "rope.scaling.attn_factor", NULL, nnrti_safe_number(s, rope, "attention_factor", usual) / usual);
    if (nnrti_text_member(&s->config, rope, "mscale") != NULL || !nnrti_text_true(&s->config, rope, "truncate", true))
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "rotary scaling yarn with mscale, or without truncate");
}

/* Reads base, dimensions and scaling of the rotary position embeddings. */
static void nnrti_safe_read_rope(nnrti_safe *s)
{
    const char *rope = nnrti_text_member(&s->config, s->top, "rope_parameters"), *local = NULL;
    const double part = nnrti_safe_top(s, "partial_rotary_factor", nnrti_safe_top(s, "rotary_emb_fraction", 1));
    const double n = floor(nnrti_safe_head(s) * part);
    double base = nnrti_safe_top(s, "rope_theta", nnrti_safe_top(s, "rotary_emb_base", 10000)), near = 0;
    nnrt_piece type;
    char text[24];
    if (s->c->arch->rope == NNRTI_GGUF_NO || s->c->code != NNRT_SUCCESS)
        return;
    rope = rope != NULL ? rope : nnrti_text_member(&s->config, s->top, "rope_scaling");
    if (nnrti_text_member(&s->config, rope, "full_attention") != NULL) { /* one object for each kind of layers */
        local = nnrti_text_member(&s->config, rope, "sliding_attention");
        rope = nnrti_text_member(&s->config, rope, "full_attention");
    }
    base = nnrti_safe_number(s, rope, "rope_theta", base);
    near = nnrti_safe_number(s, local, "rope_theta", nnrti_safe_top(s, "rope_local_base_freq", 10000));
    nnrti_safe_own(s, "rope.freq_base", NULL, base);
    nnrti_safe_own(s, "rope.freq_base_swa", NULL, near);
    nnrti_safe_own(s, "rope.dimension_count", NULL, n);
    if (!(n >= 2 && n <= 65536 && base > 1)) {
        NNRTI_GGUF_PROBLEM(s->c, NNRT_INVALID_MODEL, "rotary embeddings of %f dimensions with the base %f", n, base);
        return;
    }
    type = nnrti_text_string_of(&s->config, rope, "rope_type");
    type = type.bytes > 0 ? type : nnrti_text_string_of(&s->config, rope, "type");
    if (nnrti_text_is(type, "linear")) {
        nnrti_safe_own(s, "rope.scaling.type", "linear", 0);
        nnrti_safe_own(s, "rope.scaling.factor", NULL, nnrti_safe_number(s, rope, "factor", 1));
    } else if (nnrti_text_is(type, "yarn")) {
        nnrti_safe_yarn(s, rope);
    } else if (nnrti_text_is(type, "llama3")) {
        nnrti_safe_llama3(s, rope, (int32_t)n, base);
    } else if (nnrti_text_is(type, "longrope") || nnrti_text_is(type, "su")) {
        nnrti_safe_longrope(s, rope, (int32_t)n);
    } else if (type.bytes > 0 && !nnrti_text_is(type, "default")) {
        NNRTI_GGUF_PROBLEM(s->c, NNRT_UNSUPPORTED_OP, "rotary scaling '%s'", nnrti_safe_text(type, text, sizeof(text)));
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>safetensors_load */

/* The name in a safetensors file of a tensor with this GGUF name: that of the first row with it. */
static const char *nnrti_safe_alias(const nnrti_gguf *c, const char *name, char *out, size_t size)
{
    const char *at = name, *last = strrchr(name, '.');
    int32_t layer = -1;
    (void)c;
    if (nnrti_safe_skip(&at, "blk.")) {
        layer = 0;
        for (; *at >= '0' && *at <= '9' && layer < 100000; at++)
            layer = 10 * layer + (*at - '0');
        at += *at == '.';
    }
    for (size_t i = 0; i < NNRTI_GGUF_COUNT(nnrti_safe_parts) && last != NULL && last > at; i++) {
        const nnrti_safe_part *row = &nnrti_safe_parts[i];
        if ((row->where == NNRTI_SAFE_LAYER) != (layer >= 0) || strlen(row->ours) != (size_t)(last - at) ||
            memcmp(row->ours, at, (size_t)(last - at)) != 0)
            continue;
        if (layer < 0)
            (void)nnrt_text(out, size, "%s%s", row->theirs, last);
        else
            (void)nnrt_text(out, size, "layers.%d.%s%s", layer, row->theirs, last);
        return out;
    }
    return name;
}

/* Reads config.json and the header of the weights; sets keys and tensors as the reader of GGUF files does. */
static void nnrti_safe_read(nnrti_gguf *c, const nnrti_gguf_source *source)
{
    const nnrt_safetensors_files *files = (const nnrt_safetensors_files *)source->more;
    nnrti_safe s;
    memset(&s, 0, sizeof(s));
    s.c = c;
    c->dry = true;
    c->alias = nnrti_safe_alias;
    nnrt_memory_allocate(&s.header.memory, c->desc->allocator);
    nnrt_memory_allocate(&s.config.memory, c->desc->allocator);
    nnrti_safe_read_config(&s, files);
    if (c->code == NNRT_SUCCESS)
        nnrti_safe_read_headers(&s, files);
    if (c->code == NNRT_SUCCESS)
        nnrti_safe_read_rope(&s);
    c->keys.data = s.keys;
    c->keys.bytes = c->keys.end = s.keyBytes;
    if (c->code == NNRT_SUCCESS) {
        nnrti_gguf_list_keys(c);
        nnrti_gguf_sort(c);
    }
    if (c->code == NNRT_SUCCESS && (c->arch->flags & NNRTI_GGUF_ENCODER) == 0 &&
        nnrti_gguf_maybe(c, "output.weight") == NULL &&
        !nnrti_text_true(&s.config, s.top, "tie_word_embeddings", true))
        NNRTI_GGUF_PROBLEM(c, NNRT_INVALID_MODEL, "tensor 'lm_head.weight' is missing: tie_word_embeddings is false");
    if (s.header.memory.full || s.config.memory.full)
        NNRTI_GGUF_FAIL(c, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    nnrt_memory_end(&s.header.memory);
    nnrt_memory_end(&s.config.memory);
}

/* Imports from bytes. block: of the only file of weights, or NULL. copies: the bytes do not outlive the model. */
static NNRT_ReturnCode nnrti_safe_load(NNRT_Model **model, const nnrt_safetensors_files *files,
                                       const nnrt_gguf_desc *desc, bool copies, nnrti_block *block, nnrt_error *error)
{
    nnrti_gguf_source source = {NULL, 0, "safetensors model", nnrti_safe_read, NULL, false};
    for (uint32_t i = 0; i < files->partCount; i++)
        if (!nnrt_add_size(source.bytes, files->parts[i].bytes, &source.bytes))
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the weights exceed the address space");
    source.more = files;
    source.copies = copies;
    return nnrti_gguf_load(model, &source, desc, block, error);
}

NNRT_API NNRT_ReturnCode nnrt_safetensors_load_memory(NNRT_Model **model, const nnrt_safetensors_files *files,
                                                      const nnrt_gguf_desc *desc, nnrt_error *error)
{
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || files == NULL || (files->parts == NULL && files->partCount > 0) || files->config == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_safetensors_load_memory: %s is NULL",
                              model == NULL   ? "model"
                              : files == NULL ? "files"
                                              : "files->parts or files->config");
    for (uint32_t i = 0; i < files->partCount; i++)
        if (files->parts[i].data == NULL)
            return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_safetensors_load_memory: files->parts[%u].data is NULL", i);
    return nnrti_safe_load(model, files, desc, false, NULL, error);
}

#ifndef NNRT_NO_STDIO

#define NNRTI_SAFE_PATH 1024 /* bytes of a path */
#define NNRTI_SAFE_FILES 64  /* files of weights */

/* The files of a model. */
typedef struct nnrti_safe_set {
    const nnrt_gguf_desc *desc;
    const nnrt_allocator *allocator;
    char folder[NNRTI_SAFE_PATH]; /* "", or ends in a slash */
    nnrti_block config, pooling, weights[NNRTI_SAFE_FILES];
    nnrt_safetensors_part parts[NNRTI_SAFE_FILES];
    uint32_t count;
} nnrti_safe_set;

/* Reads, or maps, the file `name` of the folder. */
static NNRT_ReturnCode nnrti_safe_file(const nnrti_safe_set *set, const char *name, bool small, nnrti_block *block,
                                       nnrt_error *error)
{
    char path[2 * NNRTI_SAFE_PATH];
    (void)nnrt_text(path, sizeof(path), "%s%s", set->folder, name);
    return nnrti_file_block(path, small || (set->desc != NULL && set->desc->noMap), set->allocator, block, error);
}

/* Opens a file of weights. */
static NNRT_ReturnCode nnrti_safe_part_file(nnrti_safe_set *set, const char *name, nnrt_error *error)
{
    nnrti_block *block = &set->weights[set->count];
    const NNRT_ReturnCode code = nnrti_safe_file(set, name, false, block, error);
    if (code == NNRT_SUCCESS) {
        set->parts[set->count].data = block->data;
        set->parts[set->count++].bytes = block->bytes;
    }
    return code;
}

/* Opens the files that weight_map of an index names: {"weight_map": {tensor: file}}. */
static NNRT_ReturnCode nnrti_safe_indexed(nnrti_safe_set *set, const nnrti_block *index, nnrt_error *error)
{
    static const char where[] = "model.safetensors.index.json";
    NNRT_ReturnCode code = NNRT_SUCCESS;
    char names[NNRTI_SAFE_FILES][64];
    const char *top, *behind, *value;
    nnrti_text_file f;
    memset(&f, 0, sizeof(f)); /* no memory: a name with escapes is refused */
    nnrt_memory_buffer(&f.memory, NULL, 0);
    f.begin = top = (const char *)index->data;
    f.end = f.begin + index->bytes;
    behind = *top == '{' ? nnrti_text_skip(top, f.end) : NULL;
    if (behind == NULL || nnrti_text_skip_space(behind, f.end) != f.end)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "%s is no JSON object, or is damaged", where);
    for (const char *key = nnrti_text_first(&f, nnrti_text_member(&f, top, "weight_map"));
         key != NULL && code == NNRT_SUCCESS; key = nnrti_text_next(&f, value)) {
        nnrt_piece name = {"", 0};
        uint32_t i = 0;
        value = nnrti_text_value(&f, key);
        if (*value == '"')
            name = nnrti_text_piece(value + 1, (size_t)(nnrti_text_skip_string(value, f.end) - value) - 2);
        if (name.bytes == 0 || name.bytes >= sizeof(names[0]) || memchr(name.data, '/', name.bytes) != NULL ||
            memchr(name.data, '\\', name.bytes) != NULL)
            return nnrt_error_set(error, NNRT_INVALID_FILE, "%s names a file that is none of the folder", where);
        while (i < set->count && !nnrti_text_is(name, names[i]))
            i++;
        if (i < set->count)
            continue;
        if (i == NNRTI_SAFE_FILES)
            return nnrt_error_set(error, NNRT_NOT_SUPPORT, "%s names more than %d files", where, NNRTI_SAFE_FILES);
        memset(names[i], 0, sizeof(names[i]));
        memcpy(names[i], name.data, name.bytes);
        code = nnrti_safe_part_file(set, names[i], error);
    }
    return set->count > 0 || code != NNRT_SUCCESS ? code
                                                  : nnrt_error_set(error, NNRT_INVALID_FILE, "%s has no weight_map", where);
}

/* Whether path is a file of weights, and no folder: by its name, or by its first bytes. */
static bool nnrti_safe_is_file(const char *path)
{
    static const char end[] = ".safetensors";
    const size_t bytes = strlen(path);
    uint8_t head[9];
    FILE *f;
    bool is;
    if (bytes >= sizeof(end) && strcmp(path + bytes - sizeof(end) + 1, end) == 0)
        return true;
    f = fopen(path, "rb");
    is = f != NULL && fread(head, 1, sizeof(head), f) == sizeof(head) && nnrt_safetensors_is(head, sizeof(head));
    if (f != NULL)
        (void)fclose(f);
    return is;
}

/* Opens all files of the model at path. */
static NNRT_ReturnCode nnrti_safe_open(nnrti_safe_set *set, const char *path, nnrt_error *error)
{
    const char *slash = strrchr(path, '/');
    const size_t bytes = strlen(path);
    const bool file = nnrti_safe_is_file(path);
    const size_t folder = file ? (slash != NULL ? (size_t)(slash - path) + 1 : 0) : bytes;
    NNRT_ReturnCode code;
    nnrti_block index;
    nnrt_error none;
    if (bytes + 2 > NNRTI_SAFE_PATH)
        return nnrt_error_set(error, NNRT_INVALID_PATH, "the path of the model has more than %d bytes", NNRTI_SAFE_PATH - 2);
    memcpy(set->folder, path, folder);
    if (folder > 0 && set->folder[folder - 1] != '/')
        set->folder[folder] = '/';
    memset(&none, 0, sizeof(none));
    if (!file && nnrti_safe_file(set, "model.safetensors.index.json", true, &index, &none) == NNRT_SUCCESS) {
        code = nnrti_safe_indexed(set, &index, error);
        nnrti_block_release(&index, set->allocator);
    } else {
        code = nnrti_safe_part_file(set, file ? path + folder : "model.safetensors", error);
    }
    if (code != NNRT_SUCCESS)
        return code;
    code = nnrti_safe_file(set, "config.json", true, &set->config, &none);
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "%s; config.json belongs beside the weights", none.message);
    (void)nnrti_safe_file(set, "1_Pooling/config.json", true, &set->pooling, &none); /* only encoders have it */
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_safetensors_load(NNRT_Model **model, const char *path, const nnrt_gguf_desc *desc,
                                               nnrt_error *error)
{
    nnrt_safetensors_files files;
    nnrti_safe_set set;
    NNRT_ReturnCode code;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_safetensors_load: %s is NULL", model == NULL ? "model" : "path");
    memset(&files, 0, sizeof(files));
    memset(&set, 0, sizeof(set));
    set.desc = desc;
    set.allocator = desc != NULL ? desc->allocator : NULL;
    code = nnrti_safe_open(&set, path, error);
    files.parts = set.parts;
    files.partCount = set.count;
    files.config = (const char *)set.config.data;
    files.configBytes = set.config.bytes;
    files.pooling = (const char *)set.pooling.data;
    files.poolingBytes = set.pooling.bytes;
    if (code == NNRT_SUCCESS)
        code = nnrti_safe_load(model, &files, desc, set.count > 1, set.count == 1 ? &set.weights[0] : NULL, error);
    for (uint32_t i = 0; i < set.count; i++)
        if (set.weights[i].data != NULL)
            nnrti_block_release(&set.weights[i], set.allocator);
    if (set.config.data != NULL)
        nnrti_block_release(&set.config, set.allocator);
    if (set.pooling.data != NULL)
        nnrti_block_release(&set.pooling, set.allocator);
    return code;
}
#endif

NNRT_SETUP_END()

#endif /* NNRT_IMPLEMENTATION */
