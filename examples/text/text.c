/* A chat with a language model of a GGUF file: each line of standard input is a message.
       cc -std=c99 -O2 -I. examples/text/text.c -o text -lm -lpthread && ./text MODEL.gguf */
#define NNRT_IMPLEMENTATION
#include "core/nnrt_text.h"
#include "formats/nnrt_gguf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT 2048 /* tokens of all messages and replies */
#define PART 64      /* tokens that a run takes at most */
#define MOST 512     /* inputs of the model: ids, then the past keys and values of each layer */

static NNRT_Model *model;
static nnrt_session *session;
static nnrt_tokenizer *tokenizer;
static nnrt_sampler *sampler;
static uint32_t ids[CONTEXT], done; /* the conversation; number of its tokens in the cache */
static nnrt_io in[MOST], out[MOST]; /* ids, past keys and values; logits, present keys and values */
static nnrt_bound sizes[MOST];      /* of the inputs: at first upper bounds, then sizes of a run */

/* Plans the model for CONTEXT tokens; allocates logits and two caches: one that a run reads, one that it writes. */
static NNRT_ReturnCode open_session(nnrt_error *error)
{
    const uint32_t n = model->inputIndex.count;
    nnrt_session_desc desc = {0};
    if (n < 2 || n > MOST || model->outputIndex.count != n)
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "the model is no decoder");
    for (uint32_t i = 0; i < n; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[model->inputIndex.data[i]];
        sizes[i].tensor = t->name;
        sizes[i].most.rank = (int32_t)t->dims.count;
        for (uint32_t k = 0; k < t->dims.count; k++) /* the dynamic dimension is that of tokens */
            sizes[i].most.dims[k] = t->dims.data[k] >= 0 ? t->dims.data[k] : i == 0 ? PART : CONTEXT;
    }
    desc.bounds = nnrt_bound_list_make(sizes, n);
    if (nnrt_session_create(&session, model, &desc, error) != NNRT_SUCCESS)
        return error->code;
    for (uint32_t i = 0; i < n; i++) {
        const size_t bytes = nnrt_session_input(session, i).bytes, logits = nnrt_session_output(session, 0).bytes;
        in[i] = nnrt_io_make(malloc(bytes), bytes);
        out[i] = nnrt_io_make(malloc(i == 0 ? logits : bytes), i == 0 ? logits : bytes);
        if (in[i].data == NULL || out[i].data == NULL)
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "no memory for the cache");
    }
    return NNRT_SUCCESS;
}

/* Runs the model on the tokens up to `end` that the cache lacks; the logits of the last one are in out[0]. */
static bool run(uint32_t end)
{
    const uint32_t n = nnrt_session_inputs(session);
    for (uint32_t count = 0; done < end; done += count) {
        count = end - done < PART ? end - done : PART;
        for (uint32_t i = 0; i < n; i++) {
            const NNRT_DataType type = i == 0 ? NNRT_DATA_TYPE_INT64 : NNRT_DATA_TYPE_FLOAT32;
            in[i].dims = sizes[i].most.dims;
            sizes[i].most.dims[i == 0 ? 1 : 2] = (int32_t)(i == 0 ? count : done);
            (void)nnrt_dims_bytes(in[i].dims, sizes[i].most.rank, type, &in[i].bytes);
        }
        for (uint32_t i = 0; i < count; i++)
            ((int64_t *)in[0].data)[i] = ids[done + i];
        if (nnrt_run(session, in, n, out, n) != NNRT_SUCCESS)
            return false;
        for (uint32_t i = 1; i < n; i++) { /* the next run reads the new cache */
            void *read = in[i].data;
            in[i].data = out[i].data;
            out[i].data = read;
        }
    }
    return true;
}

/* Appends a message and the reply, which it prints, to the conversation, and returns its end; 0: failed. */
static uint32_t answer(const char *line, uint32_t end)
{
    const nnrt_piece style = nnrt_tokenizer_template(tokenizer);
    static char text[8192], piece[65536]; /* only the text behind the last reply, "\1", is new */
    const nnrt_chat_message m[] = {{"user", {"", 0}}, {"assistant", {"\1", 1}}, {"user", {line, strlen(line)}}};
    const uint32_t first = end == 0 ? 2 : 0, flags = NNRT_TEXT_SPECIAL | (end == 0 ? NNRT_TEXT_AFFIXES : 0u);
    const char *from = text;
    nnrt_detokenizer d;
    size_t bytes = 0, count = 0;
    if (nnrt_chat_format(nnrt_chat_recognize(style.data, style.bytes), m + first, 3 - first, true, text, sizeof(text),
                         &bytes, NULL) != NNRT_SUCCESS)
        return 0;
    if (end > 0 && (from = (const char *)memchr(text, '\1', bytes)) != NULL)
        bytes -= (size_t)(++from - text);
    if (nnrt_tokenize(tokenizer, from, bytes, flags, ids + end, CONTEXT - end, &count) != NNRT_SUCCESS)
        return 0;
    end += (uint32_t)count;
    for (nnrt_detokenizer_start(&d, tokenizer, 0); end < CONTEXT; end++) {
        if (!run(end) || nnrt_sample(sampler, (const float *)out[0].data, &ids[end]) != NNRT_SUCCESS)
            return 0;
        if (nnrt_tokenizer_ends(tokenizer, ids[end]))
            break; /* the next message begins with this token */
        (void)nnrt_detokenize(&d, ids[end], piece, sizeof(piece), &bytes);
        printf("%.*s", (int)bytes, piece);
        (void)fflush(stdout);
    }
    printf("%.*s\n", (int)nnrt_detokenizer_end(&d, piece), piece);
    return end;
}

int main(int argc, char **argv)
{
    const nnrt_sampler_desc desc = {0, 0.7f, 0, 0.9f, 0, 0, 0, 0}; /* temperature 0.7, top-p 0.9 */
    nnrt_error error = {0};
    char line[4096];
    if (argc != 2 || nnrt_tokenizer_load(&tokenizer, argv[1], NULL, &error) != NNRT_SUCCESS ||
        nnrt_gguf_load(&model, argv[1], NULL, &error) != NNRT_SUCCESS || open_session(&error) != NNRT_SUCCESS ||
        nnrt_sampler_create(&sampler, &desc, nnrt_tokenizer_count(tokenizer), NULL, &error) != NNRT_SUCCESS)
        return fprintf(stderr, "%s\n", argc != 2 ? "usage: text MODEL.gguf" : error.message), 1 + (argc != 2);
    for (uint32_t end = 0; fgets(line, sizeof(line), stdin) != NULL;) {
        line[strcspn(line, "\r\n")] = '\0';
        if ((end = answer(line, end)) == 0)
            return fprintf(stderr, "no reply: an unknown chat template, or more than %d tokens\n", CONTEXT), 1;
    }
    return 0;
}
