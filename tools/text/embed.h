/*
embed.h - the command embed: vectors of texts by an encoder, for search by meaning.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_EMBED_H
#define NNRT_TOOL_EMBED_H

#include "../common/job.h"
#include "../common/tokens.h"

typedef struct cli_embed_state {
    cli_job job;
    lm_encoder lm;
    nnrt_tokenizer *tokenizer;
    lm_ids tokens;       /* of all texts */
    size_t *begins;      /* of each text, and the end of the last one */
    uint32_t texts, cut; /* cut: texts that were shortened to the context */
    size_t longest, context;
    cli_tensor vectors;
} cli_embed_state;

/* Encodes a text. One that exceeds the context loses its end, but not the control token behind it. */
static int cli_embed_text(cli_embed_state *e, const cli_args *args, const char *text, size_t bytes)
{
    const uint32_t flags = (args->plain ? 0u : NNRT_TEXT_SPECIAL) | (args->bare ? 0u : NNRT_TEXT_AFFIXES);
    const size_t begin = e->tokens.count;
    size_t count;
    if (cli_ids_add(&e->tokens, e->tokenizer, text, bytes, flags) != CLI_DONE)
        return CLI_FAILED;
    count = e->tokens.count - begin;
    if (count == 0)
        return cli_fail("embed: text %u has no tokens", (unsigned)e->texts + 1);
    e->cut += e->context > 0 && count > e->context;
    count = lm_encoder_cut(e->tokenizer, e->tokens.ids + begin, count, e->context);
    e->tokens.count = begin + count;
    e->longest = count > e->longest ? count : e->longest;
    e->begins[++e->texts] = e->tokens.count;
    return CLI_DONE;
}

/* The end of the line at `at`, and of the whole text after its last line. */
static size_t cli_embed_line(const cli_bytes *file, size_t at)
{
    const uint8_t *end = at < file->size ? (const uint8_t *)memchr(file->data + at, '\n', file->size - at) : NULL;
    return end != NULL ? (size_t)(end - file->data) : file->size;
}

/* Encodes the texts of --text, or the lines of a file. */
static int cli_embed_texts(cli_embed_state *e, const cli_args *args)
{
    const char *path = args->data != NULL ? args->data : "-";
    cli_bytes file = {NULL, 0};
    size_t lines = args->textCount;
    int status = CLI_DONE;
    if (args->textCount == 0)
        status = strcmp(path, "-") == 0 ? cli_read_stream(stdin, "standard input", &file) : cli_read_file(path, &file);
    for (size_t at = 0; at < file.size; at = cli_embed_line(&file, at) + 1)
        lines++;
    if (status == CLI_DONE && (lines == 0 || lines > INT32_MAX))
        status = cli_fail("embed: %s has %.0f lines, expected 1 to 2^31 - 1", path, (double)lines);
    if (status == CLI_DONE && (e->begins = (size_t *)cli_alloc(lines + 1, sizeof(*e->begins))) == NULL)
        status = CLI_FAILED;
    for (uint32_t i = 0; i < args->textCount && status == CLI_DONE; i++)
        status = cli_embed_text(e, args, args->texts[i], strlen(args->texts[i]));
    for (size_t at = 0, end; at < file.size && status == CLI_DONE; at = end + 1) {
        end = cli_embed_line(&file, at);
        status = cli_embed_text(e, args, (const char *)file.data + at, end - at - (end > at && file.data[end - 1] == '\r'));
    }
    free(file.data);
    if (e->cut > 0)
        cli_note("embed: %u of %u texts have more than %.0f tokens and are cut off there", (unsigned)e->cut, (unsigned)e->texts,
                 (double)e->context);
    return status;
}

/* Upper bounds of the inputs: one text, of the longest one's tokens. */
static int cli_embed_bounds(cli_embed_state *e, const cli_args *args)
{
    cli_inputs *in = &e->job.in;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    in->bounds = (nnrt_bound *)cli_alloc(in->count, sizeof(*in->bounds));
    if (in->bounds == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < in->count; i++) {
        nnrt_dims *most = &in->bounds[i].most;
        *most = in->data[i].declared;
        if (lm_encoder_most(in->data[i].name, in->data[i].type, most, (uint32_t)e->longest, &error) != NNRT_SUCCESS)
            return cli_fail("embed: %s: %s", args->model, error.message);
        if ((in->bounds[i].tensor = cli_text_copy(in->data[i].name, strlen(in->data[i].name))) == NULL)
            return CLI_FAILED;
        in->boundCount++;
        in->shapes[i] = *most;
    }
    return CLI_DONE;
}

/* Allocates the buffers of the encoder, and the vectors. */
static int cli_embed_buffers(cli_embed_state *e, const cli_args *args)
{
    nnrt_error error;
    nnrt_dims shape;
    memset(&error, 0, sizeof(error));
    memset(&shape, 0, sizeof(shape));
    e->lm.pooling = args->pooling;
    if (lm_encoder_open(&e->lm, e->job.session, (uint32_t)e->longest, NULL, &error) != NNRT_SUCCESS)
        return cli_fail("embed: %s: %s", args->model, error.message);
    shape.rank = 2;
    shape.dims[0] = (int32_t)e->texts;
    shape.dims[1] = (int32_t)e->lm.width;
    return cli_tensor_make(&e->vectors, NNRT_DATA_TYPE_FLOAT32, &shape, args->output);
}

/* Computes row i of the vectors. */
static int cli_embed_run(cli_embed_state *e, const cli_args *args, uint32_t i)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (lm_encoder_run(&e->lm, e->tokens.ids + e->begins[i], e->begins[i + 1] - e->begins[i], !args->noNormalize,
                       (float *)e->vectors.data + (size_t)i * e->lm.width, &error) == NNRT_SUCCESS)
        return CLI_DONE;
    return cli_fail("embed: text %u: %s", (unsigned)i + 1, error.message);
}

static void cli_embed_print(const cli_embed_state *e, const cli_args *args)
{
    char shape[CLI_SHAPE_BYTES];
    if (!args->json) {
        printf("%s  %s\n", args->output, cli_shape_text(shape, sizeof(shape), NNRT_DATA_TYPE_FLOAT32, &e->vectors.shape));
        return;
    }
    cli_json_open(args);
    cli_json_session(&e->job);
    fputs(",\"output\":", stdout);
    cli_json_text(args->output);
    cli_json_dims("shape", &e->vectors.shape);
    printf(",\"tokens\":%.0f,\"cut\":%u}\n", (double)e->tokens.count, (unsigned)e->cut);
}

static int cli_embed(const cli_args *args)
{
    cli_embed_state e;
    cli_progress progress = cli_progress_of("embed");
    const char *path;
    int status = CLI_FAILED;
    memset(&e, 0, sizeof(e));
    if (args->data != NULL && args->textCount > 0)
        return cli_usage("embed: a file and --text exclude each other");
    if ((path = cli_tokenizer_path("embed", args)) != NULL)
        status = cli_tokenizer_load(&e.tokenizer, "embed", path);
    e.context = cli_tokenizer_context(args->model);
    if (status == CLI_DONE)
        status = cli_embed_texts(&e, args);
    if (status == CLI_DONE)
        status = cli_out_try(args->output);
    if (status == CLI_DONE)
        status = cli_inputs_make(&e.job.in, args);
    if (status == CLI_DONE)
        status = cli_embed_bounds(&e, args);
    if (status == CLI_DONE)
        status = cli_job_load(&e.job, args);
    if (status == CLI_DONE)
        status = cli_job_prepare(&e.job, args);
    if (status == CLI_DONE)
        status = cli_embed_buffers(&e, args);
    for (uint32_t i = 0; i < e.texts && status == CLI_DONE; i++) {
        status = cli_embed_run(&e, args, i);
        if (!args->quiet)
            cli_progress_show(&progress, i + 1, e.texts);
    }
    cli_progress_end(&progress);
    if (status == CLI_DONE)
        status = cli_npy_write(args->output, &e.vectors);
    if (status == CLI_DONE)
        cli_embed_print(&e, args);
    cli_tensor_free(&e.vectors);
    free(e.begins);
    lm_ids_free(&e.tokens);
    lm_encoder_close(&e.lm);
    nnrt_tokenizer_destroy(e.tokenizer);
    cli_job_free(&e.job);
    return status;
}

#endif /* NNRT_TOOL_EMBED_H */
