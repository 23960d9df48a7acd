/*
language.h - language models: a decoder with its cache, an encoder with its pooling, the messages of a chat. The command line
and the extensions of Python and SQL include it: it prints nothing, and reports faults by nnrt_error.

    >>names    kinds of inputs, upper bounds, sessions
    >>encode   the tokens of a text, the context of a file
    >>decoder  tokens go in, logits come out; a cache that is saved, or drops tokens
    >>encoder  the vector of a text
    >>chat     messages as text

A decoder has the input input_ids, int64[1,S], and the output logits. Its cache is one of two kinds. States of the session (GGUF
and safetensors files, .nnrt files that were made from them with --context, and most ONNX files, by nnrt_model_cache): their size
is that of the context, and a run writes only its new rows; such a cache can be saved, and returns to any position. Or inputs
past... and outputs present... (other decoders of Optimum): two buffers of the largest size for each, as a run copies the one to
the other. States of pages (nnrt_gguf_desc.cachePage) hold several sequences, of which one is current: lm_decoder_select, and
lm_decoder_share, by which another one continues with the same tokens. An encoder has input_ids, and perhaps attention_mask and token_type_ids. After lm_decoder_open and lm_encoder_open
nothing is allocated, except by lm_decoder_save.
*/
#ifndef NNRT_TOOL_LANGUAGE_H
#define NNRT_TOOL_LANGUAGE_H

#include "../../core/nnrt_text.h"
#include "../../formats/nnrt_gguf.h"

#include <math.h>
#include <string.h>

#define LM_CONTEXT 2048  /* tokens of a conversation, unless the file states fewer */
#define LM_BATCH 256     /* tokens that one run of a decoder processes at most */
#define LM_SAVED 1000000 /* tokens of a saved cache at most */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>names */

enum { LM_IDS, LM_MASK, LM_TYPES, LM_PLACES, LM_POSITION, LM_PAST, LM_PAGES, LM_OTHER };

/* The kind of an input, by its name in files of Optimum and in models of nnrt_gguf.h. */
static inline int lm_kind(const char *name)
{
    return strcmp(name, "input_ids") == 0        ? LM_IDS
           : strcmp(name, "attention_mask") == 0 ? LM_MASK
           : strcmp(name, "token_type_ids") == 0 ? LM_TYPES
           : strcmp(name, "position_ids") == 0   ? LM_PLACES
           : strcmp(name, "position") == 0       ? LM_POSITION
           : strncmp(name, "past", 4) == 0       ? LM_PAST
           : strcmp(name, "pages") == 0          ? LM_PAGES
                                                 : LM_OTHER;
}

/* Replaces the dynamic dimensions of a shape by upper bounds: `tokens` for `axis`, 1 for others, which are the batch. */
static inline void lm_fill(nnrt_dims *shape, int32_t axis, uint32_t tokens)
{
    for (int32_t k = 0; k < shape->rank; k++)
        if (shape->dims[k] < 0)
            shape->dims[k] = k == axis ? (int32_t)tokens : 1;
}

/* The declared shape of a tensor; rank -1: unknown. */
static inline nnrt_dims lm_declared(const NNRT_Tensor *t)
{
    nnrt_dims shape;
    memset(&shape, 0, sizeof(shape));
    shape.rank = t->dims.count > NNRT_MAX_RANK || (t->dims.count == 1 && t->dims.data[0] == NNRT_RANK_UNKNOWN)
                     ? -1
                     : (int32_t)t->dims.count;
    for (int32_t k = 0; k < shape.rank; k++)
        shape.dims[k] = t->dims.data[k];
    return shape;
}

/* Creates a session of a model. most: the upper bounds of each input of the model, rank -1: of a state. */
static inline NNRT_ReturnCode lm_session(nnrt_session **session, const NNRT_Model *model, const nnrt_dims *most,
                                         const nnrt_session_desc *desc, nnrt_memory *memory, nnrt_error *error)
{
    const uint32_t count = model->inputIndex.count;
    nnrt_session_desc own = *desc;
    nnrt_dims *dims = (nnrt_dims *)nnrt_memory_temp_array(memory, count, sizeof(*dims));
    nnrt_bound *bounds = (nnrt_bound *)nnrt_memory_temp_array(memory, count, sizeof(*bounds));
    uint32_t bounded = 0;
    if (dims == NULL || bounds == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the inputs");
    for (uint32_t i = 0; i < count; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[model->inputIndex.data[i]];
        dims[i] = lm_declared(t);
        if (most[i].rank < 0)
            continue;
        bounds[bounded].tensor = t->name;
        bounds[bounded++].most = most[i];
    }
    own.inputDims = nnrt_dims_list_make(dims, count);
    own.bounds = nnrt_bound_list_make(bounds, bounded);
    return nnrt_session_create(session, model, &own, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>encode */

/* Tokens of texts. All zero is empty. */
typedef struct lm_ids {
    const nnrt_allocator *allocator; /* NULL: malloc */
    uint32_t *ids;
    size_t count, room;
} lm_ids;

static inline void lm_ids_free(lm_ids *list)
{
    nnrt_free(list->allocator, list->ids, list->room * sizeof(*list->ids));
    list->ids = NULL;
    list->count = list->room = 0;
}

/* Makes room for `more` further tokens. */
static inline bool lm_ids_reserve(lm_ids *list, size_t more)
{
    size_t room = list->room, bytes;
    uint32_t *grown;
    if (more <= list->room - list->count)
        return true;
    if (!nnrt_add_size(list->count, more, &room) || !nnrt_add_size(room, room / 2, &room) ||
        !nnrt_mul_size(room, sizeof(*grown), &bytes) || (grown = (uint32_t *)nnrt_alloc(list->allocator, bytes)) == NULL)
        return false;
    if (list->count > 0)
        memcpy(grown, list->ids, list->count * sizeof(*grown));
    nnrt_free(list->allocator, list->ids, list->room * sizeof(*grown));
    list->ids = grown;
    list->room = room;
    return true;
}

/* Appends the tokens of a text; flags: NNRT_TEXT_... */
static inline NNRT_ReturnCode lm_ids_add(lm_ids *list, const nnrt_tokenizer *tokenizer, const char *text, size_t bytes,
                                         uint32_t flags, nnrt_error *error)
{
    size_t room = bytes + 2 * NNRT_TEXT_MAX_AFFIXES, count = 0;
    NNRT_ReturnCode code = NNRT_INSUFFICIENT_BUFFER;
    while (code == NNRT_INSUFFICIENT_BUFFER) { /* twice if normalization makes the text longer */
        if (!lm_ids_reserve(list, room))
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for %z tokens", room);
        code = nnrt_tokenize(tokenizer, text, bytes, flags, list->ids + list->count, room, &count);
        room = count;
    }
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "a text of %z bytes cannot be encoded: %s", bytes, nnrt_code_name(code));
    list->count += count;
    return NNRT_SUCCESS;
}

/* The tokens that the model in a GGUF file was made for, *context; 0: the file does not say. data: the begin of the file. false:
   its keys go on behind `bytes`, or it is no GGUF file. */
static inline bool lm_gguf_context(const void *data, size_t bytes, uint32_t *context)
{
    static const char end[] = ".context_length";
    const size_t length = sizeof(end) - 1;
    nnrt_gguf_keys keys;
    nnrt_gguf_value v;
    double number = 0;
    *context = 0;
    memset(&v, 0, sizeof(v));
    if (nnrt_gguf_open(&keys, data, bytes, NULL) != NNRT_SUCCESS)
        return false;
    while (*context == 0 && nnrt_gguf_next(&keys, &v))
        if (v.keyBytes > length && memcmp(v.key + v.keyBytes - length, end, length) == 0 &&
            nnrt_gguf_number(&v, 0, &number) && number >= 1 && number <= INT32_MAX)
            *context = (uint32_t)number;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>decoder */

typedef struct lm_decoder {
    nnrt_session *session;
    const NNRT_Model *model; /* of the session */
    NNRT_Model *cached;      /* that model, if lm_decoder_create made it from one without states; NULL: it did not */
    bool owns;               /* the session is destroyed by lm_decoder_close */
    bool states;             /* the cache is states of the session */
    uint32_t context;        /* tokens that the cache can hold */
    uint32_t batch;          /* tokens that one run processes at most */
    uint32_t done;           /* tokens that the cache holds: see lm_decoder_return */
    uint32_t dropped;        /* tokens that it held before, since position 0: see lm_decoder_slide */
    uint32_t keep;           /* tokens that stay when others are dropped; 0: a full cache is a failure */
    uint32_t sequences;      /* that share a cache of pages: set before lm_decoder_open; 0: one */
    uint32_t sequence;       /* the current one, whose tokens `done` counts */
    uint32_t *positions;     /* `done` of the others */
    nnrt_pages *pages;       /* NULL: the cache has no pages */
    uint32_t nIn, nOut;
    uint32_t logits;                 /* index of that output */
    int64_t position, *ones, *places; /* ones, places: NULL if no input has them */
    nnrt_io *io;      /* inputs, then outputs */
    nnrt_dims *dims;  /* of the inputs in the next run */
    void **caches[2]; /* per input with past keys or values: its buffers, one that a run reads and one that it writes */
    const nnrt_allocator *allocator;
    nnrt_memory memory; /* of all of these except the caches, which are not cleared: pages are touched when they are used */
} lm_decoder;

/* The tokens that a cache of this name and shape holds as a state of the session; 0: it is no such cache. */
static inline uint32_t lm_cache_rows(const char *name, const nnrt_dims *shape)
{
    return lm_kind(name) == LM_PAST && shape->rank == 3 && shape->dims[1] > 0 ? (uint32_t)shape->dims[1] : 0;
}

/* Replaces the declared shape of an input that is no state by its upper bounds. */
static inline NNRT_ReturnCode lm_decoder_most(const char *name, NNRT_DataType type, nnrt_dims *shape, uint32_t batch,
                                              uint32_t context, nnrt_error *error)
{
    const int kind = lm_kind(name);
    const int32_t rank = kind == LM_PAST ? 4 : kind == LM_POSITION ? 1 : 2;
    if (kind == LM_PAGES && shape->rank == 2 && shape->dims[1] > 0)
        return NNRT_SUCCESS;
    if (kind == LM_TYPES || kind == LM_OTHER || kind == LM_PAGES || shape->rank != rank || (kind != LM_PAST && type != NNRT_DATA_TYPE_INT64))
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP,
                              "input '%s' is none of a decoder: int64 input_ids, attention_mask, position_ids of two axes, "
                              "position of one, and past_key_values of four",
                              name);
    lm_fill(shape, kind == LM_PAST ? 2 : 1, kind == LM_PAST || kind == LM_MASK ? context : batch);
    return NNRT_SUCCESS;
}

static inline void lm_decoder_close(lm_decoder *d)
{
    for (uint32_t i = 0, past = 0; d->caches[1] != NULL && i < d->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(d->session, i);
        if (lm_kind(info.name) != LM_PAST)
            continue;
        nnrt_free(d->allocator, d->caches[0][past], info.bytes);
        nnrt_free(d->allocator, d->caches[1][past++], info.bytes);
    }
    nnrt_memory_end(&d->memory);
    nnrt_pages_destroy(d->pages);
    if (d->owns)
        nnrt_session_destroy(d->session);
    nnrt_model_destroy(d->cached);
    memset(d, 0, sizeof(*d));
}

static inline NNRT_ReturnCode lm_decoder_no_memory(nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the cache of the decoder");
}

/* Creates the pages that the model has as an input. */
static inline NNRT_ReturnCode lm_decoder_pages(lm_decoder *d, nnrt_error *error)
{
    d->sequences = d->sequences > 0 ? d->sequences : 1;
    for (uint32_t i = 0; i < d->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(d->session, i);
        const uint32_t count = lm_kind(info.name) == LM_PAGES && info.shape.rank == 2 ? (uint32_t)info.shape.dims[1] : 0;
        if (count == 0)
            continue;
        if (info.dataType != NNRT_DATA_TYPE_INT32 || d->context % count != 0)
            return nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "input 'pages' with %u pages does not divide a cache of %u tokens",
                                  count, d->context);
        d->positions = (uint32_t *)nnrt_memory_keep_array(&d->memory, d->sequences, sizeof(*d->positions));
        return d->positions == NULL
                   ? nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for %u sequences", d->sequences)
                   : nnrt_pages_create(&d->pages, count, d->context / count, d->sequences, d->allocator, error);
    }
    return d->sequences == 1
               ? NNRT_SUCCESS
               : nnrt_error_set(error, NNRT_NOT_SUPPORT,
                                "%u sequences need a cache of pages: a GGUF or safetensors file", d->sequences);
}

/* Allocates the buffers of past keys and values, and finds the output of the logits. */
static inline NNRT_ReturnCode lm_decoder_buffers(lm_decoder *d, nnrt_error *error)
{
    uint32_t pasts = 0, presents = 0;
    for (uint32_t i = 0; i < d->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(d->session, i);
        d->dims[i] = info.shape;
        if (lm_kind(info.name) != LM_PAST)
            continue;
        d->caches[0][pasts] = nnrt_alloc(d->allocator, info.bytes);
        d->caches[1][pasts] = nnrt_alloc(d->allocator, info.bytes);
        if (d->caches[0][pasts] == NULL || d->caches[1][pasts++] == NULL)
            return lm_decoder_no_memory(error);
    }
    for (uint32_t i = 0; i < d->nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(d->session, i);
        if (strncmp(info.name, "present", 7) == 0) {
            presents++;
        } else if (strcmp(info.name, "logits") == 0 && info.dataType == NNRT_DATA_TYPE_FLOAT32 && info.shape.rank == 3) {
            d->logits = i;
            d->io[d->nIn + i].bytes = info.bytes;
            if ((d->io[d->nIn + i].data = nnrt_memory_keep_aligned(&d->memory, info.bytes)) == NULL)
                return lm_decoder_no_memory(error);
        }
    }
    if (d->logits == d->nOut || presents != pasts || presents + 1 != d->nOut) /* present i is past i of the next run */
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP,
                              "the model is no decoder: expected the output logits, float32 of three axes, and one output "
                              "present... for each input past...");
    return NNRT_SUCCESS;
}

/* Allocates the buffers of a decoder with this session of a model; context, batch and states are set. Close it also after a
   failure. */
static inline NNRT_ReturnCode lm_decoder_open(lm_decoder *d, nnrt_session *session, const NNRT_Model *model,
                                              const nnrt_allocator *allocator, nnrt_error *error)
{
    NNRT_ReturnCode code;
    bool placed = false;
    d->session = session;
    d->model = model;
    d->allocator = allocator;
    d->nIn = nnrt_session_inputs(session);
    d->logits = d->nOut = nnrt_session_outputs(session);
    nnrt_memory_allocate(&d->memory, allocator);
    d->io = (nnrt_io *)nnrt_memory_keep_array(&d->memory, (size_t)d->nIn + d->nOut, sizeof(*d->io));
    d->dims = (nnrt_dims *)nnrt_memory_keep_array(&d->memory, d->nIn, sizeof(*d->dims));
    d->caches[0] = (void **)nnrt_memory_keep_array(&d->memory, d->nIn, sizeof(void *));
    d->caches[1] = (void **)nnrt_memory_keep_array(&d->memory, d->nIn, sizeof(void *));
    if (d->memory.full)
        return lm_decoder_no_memory(error);
    if ((code = lm_decoder_buffers(d, error)) != NNRT_SUCCESS || (code = lm_decoder_pages(d, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < d->nIn; i++) {
        const int kind = lm_kind(nnrt_session_input(session, i).name);
        placed = placed || kind == LM_MASK || kind == LM_PLACES;
    }
    if (!placed)
        return NNRT_SUCCESS;
    d->ones = (int64_t *)nnrt_memory_keep_array(&d->memory, d->context, sizeof(*d->ones));
    d->places = (int64_t *)nnrt_memory_keep_array(&d->memory, d->context, sizeof(*d->places));
    if (d->memory.full)
        return lm_decoder_no_memory(error);
    for (uint32_t i = 0; i < d->context; i++) {
        d->ones[i] = 1;
        d->places[i] = i;
    }
    return NNRT_SUCCESS;
}

/* Creates the session of a model, and opens the decoder; context, batch and states are set. */
static inline NNRT_ReturnCode lm_decoder_prepare(lm_decoder *d, const NNRT_Model *model, const nnrt_session_desc *desc,
                                                 nnrt_error *error)
{
    const uint32_t count = model->inputIndex.count;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_session *session = NULL;
    nnrt_memory memory;
    nnrt_dims *most;
    nnrt_memory_allocate(&memory, desc->allocator);
    if ((most = (nnrt_dims *)nnrt_memory_temp_array(&memory, count, sizeof(*most))) == NULL)
        code = lm_decoder_no_memory(error);
    for (uint32_t i = 0; i < count && code == NNRT_SUCCESS; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[model->inputIndex.data[i]];
        most[i] = lm_declared(t);
        if (d->states && lm_kind(t->name) == LM_PAST)
            most[i].rank = -1;
        else
            code = lm_decoder_most(t->name, t->dataType, &most[i], d->batch, d->context, error);
    }
    if (code == NNRT_SUCCESS)
        code = lm_session(&session, model, most, desc, &memory, error);
    if (code == NNRT_SUCCESS) {
        d->owns = true;
        code = lm_decoder_open(d, session, model, desc->allocator, error);
    }
    nnrt_memory_end(&memory);
    return code;
}

/* Prepares a model as a decoder. context: tokens of the cache, 0: as many as its states hold, else LM_CONTEXT; batch 0: LM_BATCH.
   sequences: that share a cache of pages; 1, 0: one. Past and present keys and values become states, if nnrt_model_cache can do that and the result can be prepared. desc: device,
   threads and allocator; the model must outlive the decoder. On failure *d is empty. */
static inline NNRT_ReturnCode lm_decoder_create(lm_decoder *d, const NNRT_Model *model, uint32_t context, uint32_t batch,
                                                uint32_t sequences, const nnrt_session_desc *desc, nnrt_error *error)
{
    NNRT_ReturnCode code;
    uint32_t rows = 0;
    bool placed = false;
    memset(d, 0, sizeof(*d));
    for (uint32_t i = 0; i < model->inputIndex.count; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[model->inputIndex.data[i]];
        const nnrt_dims shape = lm_declared(t);
        placed = placed || lm_kind(t->name) == LM_POSITION;
        rows = rows > 0 ? rows : lm_cache_rows(t->name, &shape);
    }
    rows = placed ? rows : 0;
    if (rows > 0 && context > 0 && context != rows)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the context is %u tokens, and the cache of the model holds %u",
                              context, rows);
    context = rows > 0 ? rows : context > 0 ? context : LM_CONTEXT;
    batch = batch > 0 ? batch : LM_BATCH;
    for (bool cached = rows == 0;; cached = false) {
        d->context = context;
        d->batch = batch < context ? batch : context;
        d->states = rows > 0 || cached;
        d->sequences = sequences;
        if (cached && nnrt_model_cache(&d->cached, model, context, NULL) != NNRT_SUCCESS)
            continue;
        code = lm_decoder_prepare(d, cached ? d->cached : model, desc, cached ? NULL : error);
        if (code == NNRT_SUCCESS)
            return code;
        lm_decoder_close(d);
        if (!cached)
            return code;
    }
}

/* Sets the inputs of a run on `count` tokens. */
static inline void lm_decoder_inputs(lm_decoder *d, const int64_t *ids, uint32_t count)
{
    d->position = d->done;
    for (uint32_t i = 0, past = 0; i < d->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(d->session, i);
        const int kind = lm_kind(info.name);
        nnrt_io *io = &d->io[i];
        const uint32_t length = kind == LM_PAST ? d->done : kind == LM_MASK ? d->done + count : count;
        if (kind != LM_POSITION && kind != LM_PAGES)
            d->dims[i].dims[kind == LM_PAST ? 2 : 1] = (int32_t)length;
        io->dims = d->dims[i].dims;
        io->bytes = nnrt_type_size(info.dataType);
        for (int32_t k = 0; k < info.shape.rank; k++)
            io->bytes *= (size_t)d->dims[i].dims[k];
        io->data = kind == LM_IDS        ? (void *)(uintptr_t)ids
                   : kind == LM_MASK     ? d->ones
                   : kind == LM_PLACES   ? d->places + d->done
                   : kind == LM_POSITION ? &d->position
                   : kind == LM_PAGES    ? (void *)(uintptr_t)nnrt_pages_table(d->pages, d->sequence)
                                         : d->caches[0][past++];
    }
}

/* Runs the model on at most d->batch tokens. */
static inline NNRT_ReturnCode lm_decoder_run(lm_decoder *d, const int64_t *ids, uint32_t count, nnrt_error *error)
{
    NNRT_ReturnCode code;
    lm_decoder_inputs(d, ids, count);
    for (uint32_t i = 0, past = 0, k = 0; i < d->nOut; i++) {
        if (i == d->logits)
            continue;
        while (lm_kind(nnrt_session_input(d->session, k).name) != LM_PAST)
            k++;
        d->io[d->nIn + i].data = d->caches[1][past++];
        d->io[d->nIn + i].bytes = nnrt_session_input(d->session, k++).bytes;
    }
    code = nnrt_run(d->session, d->io, d->nIn, d->io + d->nIn, d->nOut);
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "the run failed: %s", nnrt_session_error(d->session));
    for (uint32_t i = 0; i < d->nIn; i++) {
        void *swapped = d->caches[0][i];
        d->caches[0][i] = d->caches[1][i];
        d->caches[1][i] = swapped;
    }
    d->done += count;
    return NNRT_SUCCESS;
}

/* From now on a full cache drops the older half of the tokens behind the first `keep`, which are at least 1. Fails if the
   decoder does not allow that: nnrt_session_drop_rows. */
static inline NNRT_ReturnCode lm_decoder_slide(lm_decoder *d, uint32_t keep, nnrt_error *error)
{
    const NNRT_ReturnCode code = nnrt_session_drop_rows(d->session, d->model, 0, 0, 0, error);
    d->keep = code == NNRT_SUCCESS ? keep : 0;
    return code;
}

/* Whether the cache has room for `count` further tokens, or makes it. */
static inline NNRT_ReturnCode lm_decoder_fits(const lm_decoder *d, size_t count, nnrt_error *error)
{
    if (count <= d->context - d->done || d->keep > 0)
        return NNRT_SUCCESS;
    return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%z tokens after %u exceed the context of %u tokens", count, d->done,
                          d->context);
}

/* Drops the older half of the tokens behind the first d->keep, or as many as make room for `count`. */
static inline NNRT_ReturnCode lm_decoder_shift(lm_decoder *d, uint32_t count, nnrt_error *error)
{
    const uint32_t least = count - (d->context - d->done), rest = d->done > d->keep ? d->done - d->keep : 0;
    const uint32_t drop = rest / 2 > least ? rest / 2 : least;
    NNRT_ReturnCode code;
    if (drop > rest)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%u tokens do not fit a context of %u behind the first %u", count,
                              d->context, d->keep);
    if ((code = nnrt_session_drop_rows(d->session, d->model, d->done, d->keep, drop, error)) != NNRT_SUCCESS)
        return code;
    d->done -= drop;
    d->dropped += drop;
    return NNRT_SUCCESS;
}

/* Makes the pages of the next `count` tokens those of the current sequence. */
static inline NNRT_ReturnCode lm_decoder_own(lm_decoder *d, uint32_t count, nnrt_error *error)
{
    nnrt_page_copy copy;
    const NNRT_ReturnCode code = nnrt_pages_write(d->pages, d->sequence, d->done, count, &copy, error);
    for (uint32_t k = 0; code == NNRT_SUCCESS && copy.rows > 0 && k < nnrt_session_states(d->session); k++) {
        const nnrt_state state = nnrt_session_state(d->session, k);
        const size_t row = state.info.bytes / (size_t)state.info.shape.dims[1];
        memcpy((uint8_t *)state.data + copy.to * row, (uint8_t *)state.data + copy.from * row, copy.rows * row);
    }
    return code;
}

/* Continues with another sequence of a cache of pages. */
static inline NNRT_ReturnCode lm_decoder_select(lm_decoder *d, uint32_t sequence, nnrt_error *error)
{
    if (sequence >= d->sequences)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "sequence %u, and the decoder has %u", sequence, d->sequences);
    if (d->pages == NULL)
        return NNRT_SUCCESS;
    d->positions[d->sequence] = d->done;
    d->sequence = sequence;
    d->done = d->positions[sequence];
    return NNRT_SUCCESS;
}

/* Another sequence becomes the tokens of the current one, whose pages it shares. */
static inline NNRT_ReturnCode lm_decoder_share(lm_decoder *d, uint32_t sequence, nnrt_error *error)
{
    NNRT_ReturnCode code;
    if (d->pages == NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the decoder has one sequence: expected a cache of pages");
    code = nnrt_pages_share(d->pages, d->sequence, sequence, d->done, error);
    if (code == NNRT_SUCCESS)
        d->positions[sequence] = d->done;
    return code;
}

/* Processes the next tokens in parts of d->batch, or as many as fit behind the first d->keep. */
static inline NNRT_ReturnCode lm_decoder_feed(lm_decoder *d, const int64_t *ids, uint32_t count, nnrt_error *error)
{
    const uint32_t room = d->keep < d->context ? d->context - d->keep : d->context, most = d->batch < room ? d->batch : room;
    NNRT_ReturnCode code = lm_decoder_fits(d, count, error);
    if (code == NNRT_SUCCESS && d->pages != NULL)
        code = lm_decoder_own(d, count, error);
    while (count > 0 && code == NNRT_SUCCESS) {
        const uint32_t part = count < most ? count : most;
        if (part > d->context - d->done)
            code = lm_decoder_shift(d, part, error);
        if (code == NNRT_SUCCESS)
            code = lm_decoder_run(d, ids, part, error);
        ids += part;
        count -= part;
    }
    return code;
}

/* Returns to an earlier position: the tokens from there on are forgotten. A cache that is inputs and outputs returns to 0
   only. */
static inline NNRT_ReturnCode lm_decoder_return(lm_decoder *d, uint32_t position, nnrt_error *error)
{
    if (position > d->done)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the position is %u, and the cache holds %u tokens", position,
                              d->done);
    if (!d->states && position > 0 && position < d->done)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "the position is %u: a cache of inputs past... returns to position 0 only", position);
    d->done = position;
    d->dropped = position > 0 ? d->dropped : 0;
    return d->pages != NULL ? lm_decoder_own(d, 0, error) : NNRT_SUCCESS; /* gives back pages */
}

/* A saved cache: the note of nnrt_states is the number of dropped tokens, then all tokens, each uint32. */
typedef struct lm_saved {
    uint32_t rows, dropped; /* tokens that the cache holds; tokens that it held before */
    uint32_t count;         /* all tokens: the processed ones, and perhaps one that was chosen behind them */
    const uint8_t *tokens;  /* in the data */
} lm_saved;

/* Token i of a saved cache. */
static inline uint32_t lm_saved_token(const lm_saved *saved, uint32_t i)
{
    uint32_t id;
    memcpy(&id, saved->tokens + (size_t)i * sizeof(id), sizeof(id));
    return id;
}

/* Reads the tokens of a saved cache, which are in data. data are untrusted. */
static inline NNRT_ReturnCode lm_saved_read(lm_saved *saved, const void *data, size_t bytes, nnrt_error *error)
{
    nnrt_states states;
    NNRT_ReturnCode code;
    size_t count;
    memset(saved, 0, sizeof(*saved));
    if ((code = nnrt_session_load_states(NULL, NULL, data, bytes, &states, error)) != NNRT_SUCCESS)
        return code;
    count = states.noteBytes / sizeof(uint32_t);
    if (count < 2 || count > LM_SAVED + 1 || states.noteBytes % sizeof(uint32_t) != 0 || states.rows == 0)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "%u rows with %z bytes of tokens are no cache of a decoder", states.rows,
                              states.noteBytes);
    memcpy(&saved->dropped, states.note, sizeof(saved->dropped));
    saved->tokens = (const uint8_t *)states.note + sizeof(uint32_t);
    saved->count = (uint32_t)count - 1;
    saved->rows = states.rows;
    if (saved->rows <= saved->count && saved->dropped <= saved->count - saved->rows)
        return NNRT_SUCCESS;
    return nnrt_error_set(error, NNRT_INVALID_FILE, "%u rows and %u dropped tokens exceed the %u tokens of the saved cache",
                          saved->rows, saved->dropped, saved->count);
}

/* Fails if the cache is inputs and outputs, which are neither saved nor restored. */
static inline NNRT_ReturnCode lm_decoder_fixed(const lm_decoder *d, nnrt_error *error)
{
    return d->states ? NNRT_SUCCESS
                     : nnrt_error_set(error, NNRT_NOT_SUPPORT,
                                      "the keys and values of the model are inputs and outputs, not a cache of fixed size");
}

/* Saves the cache with `count` tokens, the processed ones and perhaps a chosen one, into *data, which nnrt_free(d->allocator,
   *data, *bytes) frees. On failure *data is NULL. */
static inline NNRT_ReturnCode lm_decoder_save(const lm_decoder *d, const int64_t *ids, uint32_t count, void **data, size_t *bytes,
                                              nnrt_error *error)
{
    const size_t noteBytes = ((size_t)count + 1) * sizeof(uint32_t);
    uint32_t *note;
    nnrt_states states;
    NNRT_ReturnCode code;
    *data = NULL;
    *bytes = 0;
    if ((code = lm_decoder_fixed(d, error)) != NNRT_SUCCESS)
        return code;
    if (d->done == 0 || count < d->done || count - d->done < d->dropped || count > LM_SAVED)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "a cache of %u tokens behind %u dropped ones is not saved with %u tokens: expected all of them, "
                              "1 to %u",
                              d->done, d->dropped, count, LM_SAVED);
    if ((note = (uint32_t *)nnrt_alloc(d->allocator, noteBytes)) == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for %u tokens", count);
    note[0] = d->dropped;
    for (uint32_t i = 0; i < count; i++)
        note[1 + i] = (uint32_t)ids[i];
    states.rows = d->done;
    states.note = note;
    states.noteBytes = noteBytes;
    code = nnrt_session_save_states(d->session, d->model, &states, NULL, 0, bytes, error);
    if (code == NNRT_SUCCESS && (*data = nnrt_alloc(d->allocator, *bytes)) == NULL)
        code = nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for %z bytes of the cache", *bytes);
    if (code == NNRT_SUCCESS)
        code = nnrt_session_save_states(d->session, d->model, &states, *data, *bytes, bytes, error);
    nnrt_free(d->allocator, note, noteBytes);
    if (code != NNRT_SUCCESS) {
        nnrt_free(d->allocator, *data, *bytes);
        *data = NULL;
    }
    return code;
}

/* Continues with a saved cache, as behind its last row. There are no logits before a run: the caller feeds the next token, or
   returns by one. On failure the cache is as it was. */
static inline NNRT_ReturnCode lm_decoder_restore(lm_decoder *d, const void *data, size_t bytes, nnrt_error *error)
{
    lm_saved saved;
    NNRT_ReturnCode code = lm_decoder_fixed(d, error);
    if (code == NNRT_SUCCESS)
        code = lm_saved_read(&saved, data, bytes, error);
    if (code == NNRT_SUCCESS)
        code = nnrt_session_load_states(d->session, d->model, data, bytes, NULL, error);
    if (code != NNRT_SUCCESS)
        return code;
    d->done = saved.rows;
    d->dropped = saved.dropped;
    return NNRT_SUCCESS;
}

/* The logits after the last token; *count: the size of the vocabulary. */
static inline float *lm_decoder_logits(const lm_decoder *d, uint32_t *count)
{
    const int32_t *dims = nnrt_session_output(d->session, d->logits).shape.dims;
    *count = (uint32_t)dims[2];
    return (float *)d->io[d->nIn + d->logits].data + (size_t)(dims[1] - 1) * (size_t)dims[2];
}

/* The tokens that free pages hold, or those behind the current ones in a cache without pages. */
static inline uint32_t lm_decoder_room(const lm_decoder *d)
{
    const uint32_t count = d->pages != NULL ? nnrt_pages_available(d->pages) : 0;
    return d->pages != NULL ? count * nnrt_pages_rows(d->pages) : d->context - d->done;
}

/* Bytes of the cache. */
static inline double lm_decoder_cache_bytes(const lm_decoder *d)
{
    double bytes = (double)nnrt_session_get_memory(d->session).states;
    for (uint32_t i = 0; i < d->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(d->session, i);
        bytes += lm_kind(info.name) == LM_PAST ? 2 * (double)info.bytes : 0;
    }
    return bytes;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>encoder */

/* How the vectors of the tokens become one; 0: by the model, or the mean. */
enum { LM_POOLING_MODEL, LM_POOLING_MEAN, LM_POOLING_FIRST, LM_POOLING_LAST };

typedef struct lm_encoder {
    nnrt_session *session;
    bool owns;       /* the session is destroyed by lm_encoder_close */
    int32_t pooling; /* LM_POOLING_... */
    uint32_t tokens; /* of a text at most */
    uint32_t width;  /* elements of the vector */
    uint32_t nIn, nOut;
    uint32_t chosen; /* index of the output */
    int64_t *ids, *ones, *zeros;
    nnrt_io *io;     /* inputs, then outputs */
    nnrt_dims *dims; /* of the inputs */
    nnrt_memory memory;
} lm_encoder;

/* Replaces the declared shape of an input by its upper bounds: one text of so many tokens. */
static inline NNRT_ReturnCode lm_encoder_most(const char *name, NNRT_DataType type, nnrt_dims *shape, uint32_t tokens,
                                              nnrt_error *error)
{
    if (lm_kind(name) > LM_TYPES || shape->rank != 2 || type != NNRT_DATA_TYPE_INT64)
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP,
                              "input '%s' is none of an encoder: int64 input_ids, attention_mask, token_type_ids of two axes",
                              name);
    if (shape->dims[1] >= 0 || shape->dims[0] == 0 || shape->dims[0] > 1)
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "input '%s' has a fixed size: export the model with dynamic axes",
                              name);
    lm_fill(shape, 1, tokens);
    return NNRT_SUCCESS;
}

static inline void lm_encoder_close(lm_encoder *e)
{
    nnrt_memory_end(&e->memory);
    if (e->owns)
        nnrt_session_destroy(e->session);
    memset(e, 0, sizeof(*e));
}

/* Chooses the output: a vector of the text by its name, else the vectors of all tokens, else the first vector. */
static inline NNRT_ReturnCode lm_encoder_choose(lm_encoder *e, nnrt_error *error)
{
    int best = 0;
    for (uint32_t i = 0; i < e->nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(e->session, i);
        const bool named = strcmp(info.name, "embedding") == 0 || strcmp(info.name, "sentence_embedding") == 0;
        const int fits = info.dataType != NNRT_DATA_TYPE_FLOAT32 ? 0
                         : info.shape.rank == 2                  ? (named && e->pooling == LM_POOLING_MODEL ? 3 : 1)
                         : info.shape.rank == 3                  ? 2
                                                                 : 0;
        if (fits > best) {
            best = fits;
            e->chosen = i;
            e->width = (uint32_t)info.shape.dims[info.shape.rank - 1];
        }
    }
    if (best == 0 || (best == 1 && e->pooling != LM_POOLING_MODEL))
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP,
                              "the model is no encoder%s: expected an output float32[texts,width], or "
                              "float32[texts,tokens,width]",
                              best == 1 ? " with a vector for each token" : "");
    return NNRT_SUCCESS;
}

/* Allocates the buffers of an encoder with this session, for texts of at most so many tokens; pooling is set. Close it also after
   a failure. */
static inline NNRT_ReturnCode lm_encoder_open(lm_encoder *e, nnrt_session *session, uint32_t tokens,
                                              const nnrt_allocator *allocator, nnrt_error *error)
{
    e->session = session;
    e->tokens = tokens;
    e->nIn = nnrt_session_inputs(session);
    e->nOut = nnrt_session_outputs(session);
    nnrt_memory_allocate(&e->memory, allocator);
    e->io = (nnrt_io *)nnrt_memory_keep_array(&e->memory, (size_t)e->nIn + e->nOut, sizeof(*e->io));
    e->dims = (nnrt_dims *)nnrt_memory_keep_array(&e->memory, e->nIn, sizeof(*e->dims));
    e->ids = (int64_t *)nnrt_memory_keep_array(&e->memory, tokens, sizeof(*e->ids));
    e->ones = (int64_t *)nnrt_memory_keep_array(&e->memory, tokens, sizeof(*e->ones));
    e->zeros = (int64_t *)nnrt_memory_keep_array(&e->memory, tokens, sizeof(*e->zeros));
    for (uint32_t i = 0; i < e->nOut && !e->memory.full; i++) {
        const nnrt_io_info info = nnrt_session_output(session, i);
        e->io[e->nIn + i] = nnrt_io_make(nnrt_memory_keep_aligned(&e->memory, info.bytes), info.bytes);
    }
    if (e->memory.full)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the vectors of %u tokens", tokens);
    for (uint32_t i = 0; i < tokens; i++)
        e->ones[i] = 1;
    return lm_encoder_choose(e, error);
}

/* Prepares a model as an encoder of texts of at most so many tokens. desc: device, threads and allocator; the model must outlive
   the encoder. On failure *e is empty. */
static inline NNRT_ReturnCode lm_encoder_create(lm_encoder *e, const NNRT_Model *model, uint32_t tokens, int32_t pooling,
                                                const nnrt_session_desc *desc, nnrt_error *error)
{
    const uint32_t count = model->inputIndex.count;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_session *session = NULL;
    nnrt_memory memory;
    nnrt_dims *most;
    memset(e, 0, sizeof(*e));
    nnrt_memory_allocate(&memory, desc->allocator);
    if ((most = (nnrt_dims *)nnrt_memory_temp_array(&memory, count, sizeof(*most))) == NULL)
        code = nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the inputs");
    for (uint32_t i = 0; i < count && code == NNRT_SUCCESS; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[model->inputIndex.data[i]];
        most[i] = lm_declared(t);
        code = lm_encoder_most(t->name, t->dataType, &most[i], tokens, error);
    }
    if (code == NNRT_SUCCESS)
        code = lm_session(&session, model, most, desc, &memory, error);
    if (code == NNRT_SUCCESS) {
        e->owns = true;
        e->pooling = pooling;
        code = lm_encoder_open(e, session, tokens, desc->allocator, error);
    }
    nnrt_memory_end(&memory);
    if (code != NNRT_SUCCESS)
        lm_encoder_close(e);
    return code;
}

/* Prepares the model for a text of `count` tokens, unless it is prepared: for a power of two, so that texts of growing lengths
   prepare it O(log n) times. context: the longest text that the model allows, 0: unknown. On failure *e is empty. */
static inline NNRT_ReturnCode lm_encoder_reserve(lm_encoder *e, const NNRT_Model *model, size_t count, uint32_t context,
                                                 int32_t pooling, const nnrt_session_desc *desc, nnrt_error *error)
{
    uint32_t tokens = 64;
    if (e->session != NULL && count <= e->tokens)
        return NNRT_SUCCESS;
    if (count > INT32_MAX / 2)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "a text has %z tokens, and must have less than 2^30", count);
    while (tokens < count)
        tokens *= 2;
    tokens = context > 0 && context < tokens && context >= count ? context : tokens;
    lm_encoder_close(e);
    return lm_encoder_create(e, model, tokens, pooling, desc, error);
}

/* Shortens the tokens of a text that exceeds the context, without the control token behind it. Returns their number. context 0:
   there is no limit. */
static inline size_t lm_encoder_cut(const nnrt_tokenizer *tokenizer, uint32_t *ids, size_t count, size_t context)
{
    if (context == 0 || count <= context)
        return count;
    if (nnrt_token_type(tokenizer, ids[count - 1]) == NNRT_TOKEN_CONTROL)
        ids[context - 1] = ids[count - 1];
    return context;
}

/* Pools the output into a vector, and normalizes it: x / |x|. */
static inline NNRT_ReturnCode lm_encoder_pool(const lm_encoder *e, bool normalize, float *vector, nnrt_error *error)
{
    const nnrt_io_info info = nnrt_session_output(e->session, e->chosen);
    const float *data = (const float *)e->io[e->nIn + e->chosen].data;
    const size_t width = e->width, rows = info.shape.rank == 3 ? (size_t)info.shape.dims[1] : 1;
    const size_t from = e->pooling == LM_POOLING_LAST ? rows - 1 : 0, to = e->pooling == LM_POOLING_FIRST ? 1 : rows;
    double length = 0;
    if (rows == 0 || info.bytes < rows * width * sizeof(*data))
        return nnrt_error_set(error, NNRT_FAILED, "the model returns no vector for a text");
    for (size_t k = 0; k < width; k++) {
        double sum = 0;
        for (size_t r = from; r < to; r++)
            sum += (double)data[r * width + k];
        sum /= (double)(to - from);
        vector[k] = (float)sum;
        length += sum * sum;
    }
    for (size_t k = 0; k < width && normalize && length > 0; k++)
        vector[k] = (float)((double)vector[k] / sqrt(length));
    return NNRT_SUCCESS;
}

/* Computes the vector of a text, e->width elements, from its tokens, 1 to e->tokens of them. */
static inline NNRT_ReturnCode lm_encoder_run(lm_encoder *e, const uint32_t *ids, size_t count, bool normalize, float *vector,
                                             nnrt_error *error)
{
    NNRT_ReturnCode code;
    for (size_t k = 0; k < count; k++)
        e->ids[k] = (int64_t)ids[k];
    for (uint32_t i = 0; i < e->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(e->session, i);
        const int kind = lm_kind(info.name);
        e->dims[i] = info.shape;
        e->dims[i].dims[0] = 1;
        e->dims[i].dims[1] = (int32_t)count;
        e->io[i] = nnrt_io_make(kind == LM_IDS ? e->ids : kind == LM_MASK ? e->ones : e->zeros, count * sizeof(*e->ids));
        e->io[i].dims = e->dims[i].dims;
    }
    code = nnrt_run(e->session, e->io, e->nIn, e->io + e->nIn, e->nOut);
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "the run failed: %s", nnrt_session_error(e->session));
    return lm_encoder_pool(e, normalize, vector, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>chat */

/* The chat template of a name; NNRT_CHAT_NONE: it is none of the table. */
static inline int32_t lm_chat_find(const char *name)
{
    for (int32_t chat = 1; chat < NNRT_CHAT_END; chat++)
        if (strcmp(name, nnrt_chat_name(chat)) == 0)
            return chat;
    return NNRT_CHAT_NONE;
}

/* Text of messages. All zero is empty. */
typedef struct lm_text {
    const nnrt_allocator *allocator; /* NULL: malloc */
    char *data;
    size_t bytes, room;
} lm_text;

static inline void lm_text_free(lm_text *text)
{
    nnrt_free(text->allocator, text->data, text->room);
    text->data = NULL;
    text->bytes = text->room = 0;
}

/* Writes messages in a chat template; reply: the begin of the assistant's message follows. */
static inline NNRT_ReturnCode lm_chat_format(lm_text *out, int32_t chat, const nnrt_chat_message *messages, uint32_t count,
                                             bool reply, nnrt_error *error)
{
    NNRT_ReturnCode code;
    out->bytes = 0;
    do {
        const size_t room = out->bytes + 1;
        lm_text_free(out);
        if ((out->data = (char *)nnrt_alloc(out->allocator, room)) == NULL)
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for a message of %z bytes", room);
        out->room = room;
        code = nnrt_chat_format(chat, messages, count, reply, out->data, room, &out->bytes, error);
    } while (code == NNRT_INSUFFICIENT_BUFFER);
    return code;
}

/* Writes the next message of a user in a chat template. A later message begins with the end of the previous reply: the text
   behind the mark \1, which replaces that reply. system: of the first message; NULL: none. */
static inline NNRT_ReturnCode lm_chat_next(lm_text *out, int32_t chat, bool first, const char *system, nnrt_piece message,
                                           nnrt_error *error)
{
    nnrt_chat_message m[3];
    uint32_t count = 0;
    NNRT_ReturnCode code;
    const char *from;
    memset(m, 0, sizeof(m));
    if (first && system != NULL) {
        m[count].role = "system";
        m[count].content.data = system;
        m[count++].content.bytes = strlen(system);
    } else if (!first) {
        m[count].role = "user";
        m[count++].content.data = "";
        m[count].role = "assistant";
        m[count].content.data = "\1";
        m[count++].content.bytes = 1;
    }
    m[count].role = "user";
    m[count++].content = message;
    code = lm_chat_format(out, chat, m, count, true, error);
    from = code != NNRT_SUCCESS || first ? NULL : (const char *)memchr(out->data, '\1', out->bytes);
    if (from != NULL) {
        out->bytes -= (size_t)(from + 1 - out->data);
        memmove(out->data, from + 1, out->bytes);
    }
    return code;
}

#endif /* NNRT_TOOL_LANGUAGE_H */
