/*
decoder.h - a language model that generates, from the options of the command line; ../common/language.h has its cache and runs.
Part of tools/nnrt.c.

    cli_decoder_open     loads the model for a number of tokens
    cli_decoder_feed     the next tokens: of a prompt, or one that was generated
    cli_decoder_save     writes the cache to a file; cli_decoder_restore: continues with such a file
    cli_decoder_close
*/
#ifndef NNRT_TOOL_DECODER_H
#define NNRT_TOOL_DECODER_H

#include "../common/job.h"
#include "../common/language.h"

typedef struct cli_decoder {
    cli_job job;
    NNRT_Model *whole; /* the model of an ONNX file, which became job.model with states; NULL: none */
    lm_decoder lm;
} cli_decoder;

/* Tokens of the cache that the states of a decoder are; 0: it has none. The states are hidden (cli_inputs_hide_states). */
static uint32_t cli_decoder_capacity(const cli_inputs *in)
{
    const cli_input *state = in->states > 0 ? &in->data[in->count] : NULL;
    bool placed = false;
    for (uint32_t i = 0; i < in->count; i++)
        placed = placed || lm_kind(in->data[i].name) == LM_POSITION;
    return placed && state != NULL ? lm_cache_rows(state->name, &state->declared) : 0;
}

/* Adds an upper bound of all dimensions of input i. */
static int cli_decoder_bound(cli_inputs *in, uint32_t i, const nnrt_dims *most)
{
    nnrt_bound *bound = &in->bounds[in->boundCount];
    if ((bound->tensor = cli_text_copy(in->data[i].name, strlen(in->data[i].name))) == NULL)
        return CLI_FAILED;
    bound->most = *most;
    in->boundCount++;
    in->shapes[i] = *most;
    return CLI_DONE;
}

/* Upper bounds of the dynamic dimensions: of `batch` tokens in a run, and of `context` ones before. */
static int cli_decoder_bounds(cli_inputs *in, const char *model, uint32_t batch, uint32_t context)
{
    int status = CLI_DONE;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    in->bounds = (nnrt_bound *)cli_alloc(in->count, sizeof(*in->bounds));
    if (in->bounds == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < in->count && status == CLI_DONE; i++) {
        nnrt_dims most = in->data[i].declared;
        if (lm_decoder_most(in->data[i].name, in->data[i].type, &most, batch, context, &error) != NNRT_SUCCESS)
            return cli_fail("%s: %s", model, error.message);
        status = cli_decoder_bound(in, i, &most);
    }
    return status;
}

static void cli_decoder_close(cli_decoder *d)
{
    lm_decoder_close(&d->lm);
    cli_job_free(&d->job);
    nnrt_model_destroy(d->whole);
    memset(d, 0, sizeof(*d));
}

/* Gives the model of an ONNX file a cache of states, if its attention is of that kind. */
static int cli_decoder_keep(cli_decoder *d)
{
    cli_inputs *in = &d->job.in;
    NNRT_Model *cached;
    const char *states;
    if (d->lm.states || d->job.fromNnrt || nnrt_model_cache(&cached, d->job.model, d->lm.context, NULL) != NNRT_SUCCESS)
        return CLI_DONE;
    d->whole = d->job.model;
    d->job.model = cached;
    d->lm.states = true;
    for (uint32_t i = 0; i < in->count; i++)
        if (lm_kind(in->data[i].name) == LM_PAST)
            cli_inputs_unbound(in, in->data[i].name);
    states = nnrt_model_metadata(cached, "states");
    if (cli_metadata_set(&in->metadata, "states", 6, states, strlen(states)) != CLI_DONE)
        return CLI_FAILED;
    cli_inputs_hide_states(in);
    return CLI_DONE;
}

/* Creates the session. *fits: false if the model with a cache of cli_decoder_keep has none. */
static int cli_decoder_prepare(cli_decoder *d, const cli_args *args, bool *fits)
{
    nnrt_error error;
    NNRT_ReturnCode code;
    int status;
    *fits = true;
    if (d->whole == NULL)
        return cli_job_prepare(&d->job, args);
    status = cli_job_attempt(&d->job, args, &code, &error);
    *fits = status != CLI_DONE || code == NNRT_SUCCESS;
    return status;
}

/* Loads a decoder whose cache holds --context tokens; without that option `tokens`, or as many as the file states. Free it also
   after a failure. keeps: the model of an ONNX file may get a cache of states. */
static int cli_decoder_load(cli_decoder *d, const cli_args *args, uint32_t tokens, bool keeps)
{
    bool fits = true;
    cli_args own = *args;
    uint32_t capacity;
    nnrt_error error;
    int status;
    memset(d, 0, sizeof(*d));
    memset(&error, 0, sizeof(error));
    if (args->cacheType != NNRT_DATA_TYPE_UNKNOWN && !cli_is_weights(args->model))
        return cli_usage("--cache-type is for GGUF and safetensors files: %s has the type of its cache", args->model);
    if (args->cachePage > 0 && !cli_is_weights(args->model))
        return cli_usage("--cache-page is for GGUF and safetensors files: %s has its cache", args->model);
    own.capacity = args->context > 0 ? args->context : tokens;
    if (args->cachePage > 0 && args->context == 0) /* whole pages */
        own.capacity += (args->cachePage - own.capacity % args->cachePage) % args->cachePage;
    status = cli_inputs_make(&d->job.in, &own);
    if (status != CLI_DONE)
        return status;
    capacity = cli_decoder_capacity(&d->job.in);
    d->lm.states = capacity > 0;
    d->lm.context = d->lm.states ? capacity : own.capacity;
    if (args->context > 0 && args->context != d->lm.context)
        return cli_usage("--context %u: the cache of %s holds %u tokens", (unsigned)args->context, args->model,
                         (unsigned)d->lm.context);
    d->lm.batch = args->batch > 0 ? args->batch : LM_BATCH;
    d->lm.batch = d->lm.batch < d->lm.context ? d->lm.batch : d->lm.context;
    status = cli_decoder_bounds(&d->job.in, args->model, d->lm.batch, d->lm.context);
    if (status == CLI_DONE)
        status = cli_job_load(&d->job, &own);
    if (status == CLI_DONE && keeps)
        status = cli_decoder_keep(d);
    if (status == CLI_DONE && !d->lm.states && (args->saveCache != NULL || args->loadCache != NULL || args->shift))
        status = cli_fail("%s: the keys and values of %s are inputs and outputs, not a cache of fixed size",
                          args->shift               ? "--context-shift"
                          : args->saveCache != NULL ? "--save-cache"
                                                    : "--load-cache",
                          args->model);
    if (status == CLI_DONE)
        status = cli_decoder_prepare(d, &own, &fits);
    if (!fits) {
        cli_decoder_close(d);
        return cli_decoder_load(d, args, tokens, false);
    }
    if (status == CLI_DONE && lm_decoder_open(&d->lm, d->job.session, d->job.model, NULL, &error) != NNRT_SUCCESS)
        status = cli_fail("%s: %s", args->model, error.message);
    if (status == CLI_DONE && args->shift &&
        lm_decoder_slide(&d->lm, args->keepTokens > 0 ? args->keepTokens : 1, &error) != NNRT_SUCCESS)
        status = cli_fail("--context-shift: %s", error.message);
    return status;
}

static int cli_decoder_open(cli_decoder *d, const cli_args *args, uint32_t tokens)
{
    return cli_decoder_load(d, args, tokens, true);
}

/* Processes the next tokens, of which there is at least one. */
static int cli_decoder_feed(cli_decoder *d, const int64_t *ids, uint32_t count)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (lm_decoder_feed(&d->lm, ids, count, &error) == NNRT_SUCCESS)
        return CLI_DONE;
    return cli_fail("%s%s", error.message,
                    error.code != NNRT_INVALID_PARAMETER ? ""
                    : d->lm.keep > 0                     ? " (--context, --keep-tokens)"
                                                         : " (--context)");
}

/* Writes the cache with its tokens, the `count` ones that were processed or chosen, to a file. */
static int cli_decoder_save(const cli_decoder *d, const int64_t *ids, uint32_t count, const char *path)
{
    nnrt_error error;
    void *data;
    size_t bytes;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    code = lm_decoder_save(&d->lm, ids, count, &data, &bytes, &error);
    if (code == NNRT_SUCCESS)
        code = nnrt_file_write(path, data, bytes, &error);
    nnrt_free(d->lm.allocator, data, bytes);
    return code == NNRT_SUCCESS ? CLI_DONE : cli_fail("--save-cache %s: %s", path, error.message);
}

/* Sets the cache to that of a file. */
static int cli_decoder_restore(cli_decoder *d, const cli_bytes *file, const char *path)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (lm_decoder_restore(&d->lm, file->data, file->size, &error) == NNRT_SUCCESS)
        return CLI_DONE;
    return cli_fail("--load-cache %s: %s", path, error.message);
}

#endif /* NNRT_TOOL_DECODER_H */
