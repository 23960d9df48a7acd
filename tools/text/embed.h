/*
embed.h - the command embed: vectors of texts by an encoder, for search by meaning.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_EMBED_H
#define NNRT_TOOL_EMBED_H

#include "../common/job.h"
#include "../common/tokens.h"

/* The inputs of encoders, by the names in files of Optimum and sentence-transformers. */
enum { CLI_ENCODER_IDS, CLI_ENCODER_MASK, CLI_ENCODER_TYPES, CLI_ENCODER_OTHER };

typedef struct cli_embed_state {
    cli_job job;
    nnrt_tokenizer *tokenizer;
    cli_ids tokens;   /* of all texts */
    size_t *begins;      /* of each text, and the end of the last one */
    uint32_t texts, cut; /* cut: texts that were shortened to the context */
    size_t longest, context;
    int64_t *ids, *ones, *zeros; /* inputs of a run */
    nnrt_dims *dims;
    uint32_t chosen; /* index of the output */
    cli_tensor vectors;
} cli_embed_state;

static int cli_encoder_kind(const char *name)
{
    return strcmp(name, "input_ids") == 0        ? CLI_ENCODER_IDS
           : strcmp(name, "attention_mask") == 0 ? CLI_ENCODER_MASK
           : strcmp(name, "token_type_ids") == 0 ? CLI_ENCODER_TYPES
                                                 : CLI_ENCODER_OTHER;
}

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
    if (e->context > 0 && count > e->context) {
        const uint32_t last = e->tokens.ids[e->tokens.count - 1];
        count = e->context;
        e->tokens.count = begin + count;
        if (nnrt_token_type(e->tokenizer, last) == NNRT_TOKEN_CONTROL)
            e->tokens.ids[e->tokens.count - 1] = last;
        e->cut++;
    }
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
    in->bounds = (nnrt_bound *)cli_alloc(in->count, sizeof(*in->bounds));
    if (in->bounds == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < in->count; i++) {
        nnrt_dims *most = &in->bounds[i].most;
        if (cli_encoder_kind(in->data[i].name) == CLI_ENCODER_OTHER || in->data[i].declared.rank != 2 ||
            in->data[i].type != NNRT_DATA_TYPE_INT64)
            return cli_fail("embed: input '%s' of %s is none of an encoder: int64 input_ids, attention_mask, token_type_ids of two "
                            "axes",
                            in->data[i].name, args->model);
        *most = in->data[i].declared;
        most->dims[0] = most->dims[0] < 0 ? 1 : most->dims[0];
        most->dims[1] = most->dims[1] < 0 ? (int32_t)e->longest : most->dims[1];
        if (most->dims[0] != 1 || in->data[i].declared.dims[1] >= 0)
            return cli_fail("embed: input '%s' of %s has a fixed size: export the model with dynamic axes", in->data[i].name,
                            args->model);
        if ((in->bounds[i].tensor = cli_text_copy(in->data[i].name, strlen(in->data[i].name))) == NULL)
            return CLI_FAILED;
        in->boundCount++;
        in->shapes[i] = *most;
    }
    return CLI_DONE;
}

/* Chooses the output, and allocates inputs and results. The output is a vector of the text by its name, else the vectors of all
   tokens, else the first vector. */
static int cli_embed_buffers(cli_embed_state *e, const cli_args *args)
{
    cli_job *job = &e->job;
    nnrt_dims shape;
    int best = 0;
    int status = cli_job_bind_outputs(job);
    e->dims = status == CLI_DONE ? (nnrt_dims *)cli_alloc(job->nIn, sizeof(*e->dims)) : NULL;
    e->ids = (int64_t *)cli_alloc(e->longest, sizeof(*e->ids));
    e->ones = (int64_t *)cli_alloc(e->longest, sizeof(*e->ones));
    e->zeros = (int64_t *)cli_alloc(e->longest, sizeof(*e->zeros));
    if (e->dims == NULL || e->ids == NULL || e->ones == NULL || e->zeros == NULL)
        return CLI_FAILED;
    for (size_t i = 0; i < e->longest; i++)
        e->ones[i] = 1;
    for (uint32_t i = 0; i < job->nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(job->session, i);
        const bool named = strcmp(info.name, "embedding") == 0 || strcmp(info.name, "sentence_embedding") == 0;
        const int fits = info.dataType != NNRT_DATA_TYPE_FLOAT32 ? 0
                         : info.shape.rank == 2                  ? (named && args->pooling == CLI_POOLING_MODEL ? 3 : 1)
                         : info.shape.rank == 3                  ? 2
                                                                 : 0;
        if (fits > best) {
            best = fits;
            e->chosen = i;
            shape = info.shape;
        }
    }
    if (best == 0 || (best == 1 && args->pooling != CLI_POOLING_MODEL))
        return cli_fail("embed: %s is no encoder%s: expected an output float32[texts,width], or float32[texts,tokens,width]",
                        args->model, best == 1 ? " with a vector for each token" : "");
    shape.dims[0] = (int32_t)e->texts;
    shape.dims[1] = shape.dims[shape.rank - 1];
    shape.rank = 2;
    return cli_tensor_make(&e->vectors, NNRT_DATA_TYPE_FLOAT32, &shape, args->output);
}

/* Runs the model on text i. */
static int cli_embed_run(cli_embed_state *e, uint32_t i)
{
    cli_job *job = &e->job;
    const size_t count = e->begins[i + 1] - e->begins[i];
    for (size_t k = 0; k < count; k++)
        e->ids[k] = (int64_t)e->tokens.ids[e->begins[i] + k];
    for (uint32_t k = 0; k < job->nIn; k++) {
        const nnrt_io_info info = nnrt_session_input(job->session, k);
        const int kind = cli_encoder_kind(info.name);
        e->dims[k] = info.shape;
        e->dims[k].dims[0] = 1;
        e->dims[k].dims[1] = (int32_t)count;
        job->io[k].dims = e->dims[k].dims;
        job->io[k].bytes = count * sizeof(*e->ids);
        job->io[k].data = kind == CLI_ENCODER_IDS ? e->ids : kind == CLI_ENCODER_MASK ? e->ones : e->zeros;
    }
    return cli_job_run(job);
}

/* Pools the output into row i of the vectors, and normalizes it: x / |x|. */
static int cli_embed_pool(cli_embed_state *e, const cli_args *args, uint32_t i)
{
    const cli_tensor *out = &e->job.outputs[e->chosen];
    const size_t width = (size_t)e->vectors.shape.dims[1];
    const size_t rows = out->shape.rank == 3 ? (size_t)out->shape.dims[1] : 1;
    const size_t from = args->pooling == CLI_POOLING_LAST ? rows - 1 : 0, to = args->pooling == CLI_POOLING_FIRST ? 1 : rows;
    float *row = (float *)e->vectors.data + i * width;
    double length = 0;
    if (rows == 0 || out->bytes < rows * width * sizeof(*row))
        return cli_fail("embed: the model returns no vector for text %u", (unsigned)i + 1);
    for (size_t k = 0; k < width; k++) {
        double sum = 0;
        for (size_t r = from; r < to; r++)
            sum += (double)((const float *)out->data)[r * width + k];
        sum /= (double)(to - from);
        row[k] = (float)sum;
        length += sum * sum;
    }
    for (size_t k = 0; k < width && !args->noNormalize && length > 0; k++)
        row[k] = (float)((double)row[k] / sqrt(length));
    return CLI_DONE;
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
        status = cli_embed_run(&e, i);
        if (status == CLI_DONE)
            status = cli_embed_pool(&e, args, i);
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
    free(e.tokens.ids);
    free(e.ids);
    free(e.ones);
    free(e.zeros);
    free(e.dims);
    nnrt_tokenizer_destroy(e.tokenizer);
    cli_job_free(&e.job);
    return status;
}

#endif /* NNRT_TOOL_EMBED_H */
