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

static NNRT_Model *model;
static nnrt_session *session; /* it keeps the keys and values of CONTEXT tokens */
static nnrt_tokenizer *tokenizer;
static nnrt_sampler *sampler;
static uint32_t ids[CONTEXT], done; /* the conversation; number of its tokens that the session has */
static nnrt_io logits;              /* after the last token of a run */

/* Loads the model with a cache of CONTEXT tokens, and plans it for PART tokens in a run. */
static NNRT_ReturnCode open_session(const char *path, nnrt_error *error)
{
    nnrt_gguf_desc gguf = {0};
    nnrt_session_desc desc = {0};
    nnrt_bound most = {0};
    gguf.context = gguf.cache = CONTEXT;
    if (nnrt_gguf_load(&model, path, &gguf, error) != NNRT_SUCCESS)
        return error->code;
    most.tensor = "input_ids";
    most.most.rank = 2;
    most.most.dims[0] = 1;
    most.most.dims[1] = PART;
    desc.bounds = nnrt_bound_list_make(&most, 1);
    if (nnrt_session_create(&session, model, &desc, error) != NNRT_SUCCESS)
        return error->code;
    if (nnrt_session_inputs(session) != 2) /* input_ids and position */
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "the model is no decoder");
    logits.bytes = nnrt_session_output(session, 0).bytes;
    if ((logits.data = malloc(logits.bytes)) == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "no memory for the logits");
    return NNRT_SUCCESS;
}

/* Runs the model on the tokens up to `end` that the session lacks. */
static bool run(uint32_t end)
{
    for (uint32_t count = 0; done < end; done += count) {
        int64_t part[PART], position = done;
        nnrt_io in[2];
        int32_t dims[2];
        count = end - done < PART ? end - done : PART;
        for (uint32_t i = 0; i < count; i++)
            part[i] = ids[done + i];
        dims[0] = 1;
        dims[1] = (int32_t)count;
        in[0] = nnrt_io_make(part, count * sizeof(*part));
        in[0].dims = dims;
        in[1] = nnrt_io_make(&position, sizeof(position));
        if (nnrt_run(session, in, 2, &logits, 1) != NNRT_SUCCESS)
            return false;
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
        if (!run(end) || nnrt_sample(sampler, (const float *)logits.data, &ids[end]) != NNRT_SUCCESS)
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
        open_session(argv[1], &error) != NNRT_SUCCESS ||
        nnrt_sampler_create(&sampler, &desc, nnrt_tokenizer_count(tokenizer), NULL, &error) != NNRT_SUCCESS)
        return fprintf(stderr, "%s\n", argc != 2 ? "usage: text MODEL.gguf" : error.message), 1 + (argc != 2);
    for (uint32_t end = 0; fgets(line, sizeof(line), stdin) != NULL;) {
        line[strcspn(line, "\r\n")] = '\0';
        if ((end = answer(line, end)) == 0)
            return fprintf(stderr, "no reply: an unknown chat template, or more than %d tokens\n", CONTEXT), 1;
    }
    return 0;
}
