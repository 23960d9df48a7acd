/*
text_web.c - language models of GGUF files as a WebAssembly module: the functions that text.js calls.

An instance of the module holds one model with its tokenizer, its sampler and one conversation, so that all state is static
here. The conversation is a list of tokens; the session has keys and values of its first `done` ones. The module imports
nothing: no system interface, no threads.

    >>open          a file, its session and its tokenizer
    >>conversation  text becomes tokens, messages become text
    >>generate      the model runs on tokens, and chooses the next one
*/
#define _XOPEN_SOURCE 600 /* posix_memalign */
#define NNRT_NO_STDIO
#define NNRT_AUTO 0
#define NNRTI_CPU_OBJECT 1 /* the kernels are an object of their own, which is compiled for speed: web.mk */
/* The operators of formats/nnrt_gguf.h: a model with another one is refused by name. */
#define NNRT_SELECT
#define NNRT_KEEP_ACTIVATION 1
#define NNRT_KEEP_ADD_FUSION 1
#define NNRT_KEEP_ATTENTION 1
#define NNRT_KEEP_CAST 1
#define NNRT_KEEP_COS 1
#define NNRT_KEEP_CUM_SUM 1
#define NNRT_KEEP_FILL_LIKE 1
#define NNRT_KEEP_GATHER 1
#define NNRT_KEEP_GATHER_NBITS 1
#define NNRT_KEEP_LAYER_NORM_FUSION 1
#define NNRT_KEEP_MATMUL_FUSION 1
#define NNRT_KEEP_MATMUL_NBITS 1
#define NNRT_KEEP_MUL_FUSION 1
#define NNRT_KEEP_REDUCE_FUSION 1
#define NNRT_KEEP_RESHAPE 1
#define NNRT_KEEP_RMS_NORMALIZATION 1
#define NNRT_KEEP_ROTARY_EMBEDDING 1
#define NNRT_KEEP_SHAPE 1
#define NNRT_KEEP_SIN 1
#define NNRT_KEEP_SPLIT 1
#define NNRT_KEEP_TENSOR_SCATTER 1
#define NNRT_IMPLEMENTATION
#include "../../core/nnrt_text.h"
#include "../../formats/nnrt_gguf.h"
#include "../../tools/common/language.h" /* the next message of a chat */

#define TEXT_EXPORT(name) __attribute__((export_name(#name)))

static NNRT_Model *text_model;
static nnrt_session *text_session;
static nnrt_tokenizer *text_tokenizer;
static nnrt_sampler *text_sampler;
static nnrt_detokenizer text_decoder; /* of the reply */
static nnrt_io text_logits;           /* after the last token of a run */
static nnrt_error text_error;
static uint32_t *text_ids, text_end, text_done; /* the conversation, its length, and the tokens that the session has */
static int64_t *text_part;                      /* the tokens of a run */
static char *text_piece;                        /* the text of the last token */
static size_t text_pieceBytes;

/* Numbers that text.js reads after open(): tokens and bytes. */
static struct {
    uint32_t vocabulary, context, batch, chat; /* chat: NNRT_CHAT_NONE: the file has no template, or an unknown one */
    uint32_t memory, cache;                    /* of the session as a whole, and of keys and values in it */
} text_about;

/* Aligned as a file must be. */
TEXT_EXPORT(allocate) void *text_allocate(size_t bytes)
{
    void *block = NULL;
    return posix_memalign(&block, NNRT_ALIGNMENT, bytes + (bytes == 0)) == 0 ? block : NULL;
}

TEXT_EXPORT(release) void text_release(void *block)
{
    free(block);
}

/* The message of the last fault. */
TEXT_EXPORT(error) const char *text_get_error(void)
{
    return text_error.message;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>open */

static NNRT_ReturnCode text_open_session(void)
{
    nnrt_session_desc desc = {0};
    nnrt_bound most = {0};
    most.tensor = "input_ids";
    most.most.rank = 2;
    most.most.dims[0] = 1;
    most.most.dims[1] = (int32_t)text_about.batch;
    desc.bounds = nnrt_bound_list_make(&most, 1);
    return nnrt_session_create(&text_session, text_model, &desc, &text_error);
}

static NNRT_ReturnCode text_buffers(void)
{
    text_logits.bytes = nnrt_session_output(text_session, 0).bytes;
    text_logits.data = malloc(text_logits.bytes);
    text_ids = (uint32_t *)calloc(text_about.context, sizeof(*text_ids));
    text_part = (int64_t *)calloc(text_about.batch, sizeof(*text_part));
    text_piece = (char *)malloc(nnrt_detokenizer_bytes(text_tokenizer) + 3);
    if (text_logits.data == NULL || text_ids == NULL || text_part == NULL || text_piece == NULL)
        return nnrt_error_set(&text_error, NNRT_OUT_OF_MEMORY, "not enough memory for a context of %u tokens",
                              text_about.context);
    return NNRT_SUCCESS;
}

/* Opens the model in a block of allocate() with the bytes of a GGUF file, which stays, for a conversation of `context` tokens
   that the model runs on by at most `batch` at a time. Called once. Returns the address of text_about, or NULL: error(). */
TEXT_EXPORT(open) const void *text_open(const void *file, size_t bytes, uint32_t context, uint32_t batch)
{
    nnrt_gguf_desc desc = {0};
    nnrt_piece style;
    desc.context = desc.cache = text_about.context = context;
    text_about.batch = batch < context ? batch : context;
    if (nnrt_tokenizer_load_gguf(&text_tokenizer, file, bytes, NULL, &text_error) != NNRT_SUCCESS ||
        nnrt_gguf_load_memory(&text_model, file, bytes, &desc, &text_error) != NNRT_SUCCESS ||
        text_open_session() != NNRT_SUCCESS)
        return NULL;
    if (nnrt_session_inputs(text_session) != 2) { /* input_ids and position */
        (void)nnrt_error_set(&text_error, NNRT_UNSUPPORTED_OP,
                             "the model is no decoder: it computes vectors of texts, and generates none");
        return NULL;
    }
    if (text_buffers() != NNRT_SUCCESS)
        return NULL;
    style = nnrt_tokenizer_template(text_tokenizer);
    text_about.vocabulary = nnrt_tokenizer_count(text_tokenizer);
    text_about.chat = (uint32_t)nnrt_chat_recognize(style.data, style.bytes);
    text_about.memory = (uint32_t)nnrt_session_get_memory(text_session).total;
    text_about.cache = (uint32_t)nnrt_session_get_memory(text_session).states;
    return &text_about;
}

/* The name of the chat template, or NULL. */
TEXT_EXPORT(template) const char *text_template(void)
{
    return nnrt_chat_name((int32_t)text_about.chat);
}

/* Sets how the next tokens are chosen; see nnrt_sampler_desc. False: error(). */
TEXT_EXPORT(sampling) bool text_sampling(uint32_t seed, float temperature, int32_t topK, float topP, float minP,
                                         float repeatPenalty, float presencePenalty)
{
    nnrt_sampler_desc desc = {0};
    nnrt_sampler *sampler = NULL;
    nnrt_error_clear(&text_error);
    desc.seed = seed;
    desc.temperature = temperature;
    desc.topK = topK;
    desc.topP = topP;
    desc.minP = minP;
    desc.repeatPenalty = repeatPenalty;
    desc.presencePenalty = presencePenalty;
    if (nnrt_sampler_create(&sampler, &desc, text_about.vocabulary, NULL, &text_error) != NNRT_SUCCESS)
        return false;
    nnrt_sampler_destroy(text_sampler);
    text_sampler = sampler;
    for (uint32_t i = 0; i < text_end; i++)
        nnrt_sampler_accept(sampler, text_ids[i]);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>conversation */

/* Tokens of a text, with control tokens that it contains. Returns their number, also if it exceeds `capacity`, or UINT32_MAX: error(). */
TEXT_EXPORT(tokenize) uint32_t text_tokenize(const char *text, size_t bytes, bool affixes, uint32_t *ids, uint32_t capacity)
{
    size_t count = 0;
    NNRT_ReturnCode code;
    nnrt_error_clear(&text_error);
    code = nnrt_tokenize(text_tokenizer, text, bytes, NNRT_TEXT_SPECIAL | (affixes ? NNRT_TEXT_AFFIXES : 0u),
                                               ids, capacity, &count);
    if (code == NNRT_SUCCESS || (code == NNRT_INSUFFICIENT_BUFFER && count < UINT32_MAX))
        return (uint32_t)count;
    (void)nnrt_error_set(&text_error, code, "a text of %z bytes cannot become tokens: %s", bytes, nnrt_code_name(code));
    return UINT32_MAX;
}

/* Appends a text to the conversation. False: error(), and the conversation is unchanged. */
TEXT_EXPORT(add) bool text_add(const char *text, size_t bytes)
{
    const uint32_t left = text_about.context - text_end;
    const uint32_t count = text_tokenize(text, bytes, text_end == 0, text_ids + text_end, left);
    if (count == UINT32_MAX)
        return false;
    if (count > left || text_end + count == 0) {
        (void)nnrt_error_set(&text_error, NNRT_INVALID_SHAPE,
                             count > left ? "%u tokens after %u exceed the context of %u tokens" : "the prompt has no tokens",
                             count, text_end, text_about.context);
        return false;
    }
    for (uint32_t i = 0; i < count && text_sampler != NULL; i++)
        nnrt_sampler_accept(text_sampler, text_ids[text_end + i]);
    text_end += count;
    return true;
}

/* Appends a message of the user, before the first one also the system's (not empty), in the form of the file's chat template.
   system ends with a 0. False: error(). */
TEXT_EXPORT(message) bool text_message(const char *system, const char *user, size_t userBytes)
{
    const nnrt_piece message = {user, userBytes};
    lm_text out = {0};
    bool done = false;
    nnrt_error_clear(&text_error);
    if (lm_chat_next(&out, (int32_t)text_about.chat, text_end == 0, *system != '\0' ? system : NULL, message, &text_error) == NNRT_SUCCESS)
        done = text_add(out.data, out.bytes);
    lm_text_free(&out);
    return done;
}

/* The tokens of the conversation: their address; position() of them. */
TEXT_EXPORT(tokens) const uint32_t *text_tokens(void)
{
    return text_ids;
}

TEXT_EXPORT(position) uint32_t text_position(void)
{
    return text_end;
}

/* Forgets the tokens from `position` on. */
TEXT_EXPORT(rewind) void text_rewind(uint32_t position)
{
    text_end = position < text_end ? position : text_end;
    text_done = text_done < text_end ? text_done : text_end;
    if (text_sampler == NULL)
        return;
    nnrt_sampler_reset(text_sampler);
    for (uint32_t i = 0; i < text_end; i++)
        nnrt_sampler_accept(text_sampler, text_ids[i]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>generate */

/* Begins a reply. */
TEXT_EXPORT(begin) void text_begin(void)
{
    nnrt_detokenizer_start(&text_decoder, text_tokenizer, 0);
    if (text_done == text_end && text_end > 0)
        text_done--; /* its logits are needed again */
}

/* Runs the model on the next tokens, at most a batch. Returns how many are left, or UINT32_MAX: error(). */
TEXT_EXPORT(process) uint32_t text_process(void)
{
    uint32_t count = text_end - text_done;
    int64_t position = text_done;
    nnrt_io in[2];
    int32_t dims[2];
    nnrt_error_clear(&text_error);
    if (count == 0)
        return 0;
    count = count < text_about.batch ? count : text_about.batch;
    for (uint32_t i = 0; i < count; i++)
        text_part[i] = text_ids[text_done + i];
    dims[0] = 1;
    dims[1] = (int32_t)count;
    in[0] = nnrt_io_make(text_part, count * sizeof(*text_part));
    in[0].dims = dims;
    in[1] = nnrt_io_make(&position, sizeof(position));
    if (nnrt_run(text_session, in, 2, &text_logits, 1) != NNRT_SUCCESS) {
        (void)nnrt_error_set(&text_error, NNRT_FAILED, "%s", nnrt_session_error(text_session));
        return UINT32_MAX;
    }
    text_done += count;
    return text_end - text_done;
}

/* Chooses the next token by the logits of the last run. 1: its text is at piece(); 0: the text ends; 2: the context is full;
   3: error(). */
TEXT_EXPORT(next) uint32_t text_next(void)
{
    uint32_t id;
    NNRT_ReturnCode code;
    text_pieceBytes = 0;
    nnrt_error_clear(&text_error);
    if (text_end == text_about.context)
        return 2;
    if ((text_sampler == NULL && !text_sampling(0, 0, 0, 0, 0, 0, 0)))
        return 3;
    if ((code = nnrt_sample(text_sampler, (const float *)text_logits.data, &id)) != NNRT_SUCCESS) {
        (void)nnrt_error_set(&text_error, code, "no logit is a number");
        return 3;
    }
    if (nnrt_tokenizer_ends(text_tokenizer, id))
        return 0;
    text_ids[text_end++] = id;
    (void)nnrt_detokenize(&text_decoder, id, text_piece, nnrt_detokenizer_bytes(text_tokenizer), &text_pieceBytes);
    return 1;
}

/* Ends a reply: bytes that still wait for the rest of their character become U+FFFD, at piece(). */
TEXT_EXPORT(finish) void text_finish(void)
{
    text_pieceBytes = nnrt_detokenizer_end(&text_decoder, text_piece);
}

TEXT_EXPORT(piece) const char *text_get_piece(void)
{
    return text_piece;
}

TEXT_EXPORT(pieceBytes) size_t text_get_pieceBytes(void)
{
    return text_pieceBytes;
}
