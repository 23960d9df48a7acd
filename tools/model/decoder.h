/*
decoder.h - a decoder, a language model that generates: its session and its cache; tokens go in, logits come out.
Part of tools/nnrt.c.

    cli_decoder_open     loads the model for a number of tokens
    cli_decoder_feed     the next tokens: of a prompt, or one that was generated
    cli_decoder_save     writes the cache to a file; cli_decoder_restore: continues with such a file
    cli_decoder_logits   the logits after the last one
    cli_decoder_close

The cache is one of two kinds. States of the session (GGUF files, .nnrt files that were made from them with --context, and most
ONNX files, by nnrt_model_cache): their size is that of the context, and a run writes only its new rows. Or inputs past... and outputs present... (decoders of Optimum): two buffers of the largest size for each, as a run copies
the one to the other. After cli_decoder_open nothing is allocated.
*/
#ifndef NNRT_TOOL_DECODER_H
#define NNRT_TOOL_DECODER_H

#include "../common/job.h"

#define CLI_DECODER_BATCH 256 /* tokens that one run processes at most, unless --batch states another number */

/* The kinds of inputs, by their names. */
enum { CLI_DECODER_IDS, CLI_DECODER_MASK, CLI_DECODER_PLACES, CLI_DECODER_POSITION, CLI_DECODER_PAST, CLI_DECODER_OTHER };

typedef struct cli_decoder {
    cli_job job;
    uint32_t context; /* tokens that the cache can hold */
    uint32_t batch;   /* tokens that one run processes at most */
    uint32_t done;    /* tokens that the cache holds. With states a smaller number returns to that position */
    uint32_t dropped; /* tokens that it held before, after the first `keep` */
    uint32_t keep;    /* tokens that stay when the older half of the others is dropped; 0: a full cache is a failure */
    bool states;      /* the cache is states of the session */
    NNRT_Model *whole; /* the model of an ONNX file, which became job.model with states; NULL: none */
    uint32_t logits;  /* index of that output */
    int64_t position, *ones, *places;
    nnrt_io *io;      /* inputs, then outputs */
    nnrt_dims *dims;  /* of the inputs in the next run */
    void **caches[2]; /* per input with past keys or values: its buffers, one that a run reads and one that it writes */
} cli_decoder;

static int cli_decoder_kind(const char *name)
{
    return strcmp(name, "input_ids") == 0        ? CLI_DECODER_IDS
           : strcmp(name, "attention_mask") == 0 ? CLI_DECODER_MASK
           : strcmp(name, "position_ids") == 0   ? CLI_DECODER_PLACES
           : strcmp(name, "position") == 0       ? CLI_DECODER_POSITION
           : strncmp(name, "past", 4) == 0       ? CLI_DECODER_PAST
                                                 : CLI_DECODER_OTHER;
}

/* Tokens of the cache that the states of a decoder are; 0: it has none. The states are hidden (cli_inputs_hide_states). */
static uint32_t cli_decoder_capacity(const cli_inputs *in)
{
    const cli_input *state = in->states > 0 ? &in->data[in->count] : NULL;
    bool placed = false;
    for (uint32_t i = 0; i < in->count; i++)
        placed = placed || cli_decoder_kind(in->data[i].name) == CLI_DECODER_POSITION;
    return placed && cli_decoder_kind(state != NULL ? state->name : "") == CLI_DECODER_PAST && state->declared.rank == 3
               ? (uint32_t)state->declared.dims[1]
               : 0;
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
    in->bounds = (nnrt_bound *)cli_alloc(in->count, sizeof(*in->bounds));
    if (in->bounds == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < in->count && status == CLI_DONE; i++) {
        const int kind = cli_decoder_kind(in->data[i].name);
        const int32_t rank = kind == CLI_DECODER_PAST ? 4 : kind == CLI_DECODER_POSITION ? 1 : 2;
        const int32_t axis = kind == CLI_DECODER_PAST ? 2 : 1;
        nnrt_dims most = in->data[i].declared;
        if (kind == CLI_DECODER_OTHER || most.rank != rank ||
            (kind != CLI_DECODER_PAST && in->data[i].type != NNRT_DATA_TYPE_INT64))
            return cli_fail("input '%s' of %s is none of a decoder: int64 input_ids, attention_mask, position_ids of two axes, "
                            "position of one, and past_key_values of four",
                            in->data[i].name, model);
        for (int32_t k = 0; k < most.rank; k++) /* other dynamic dimensions are the batch */
            if (most.dims[k] < 0)
                most.dims[k] = k != axis                                              ? 1
                               : kind == CLI_DECODER_PAST || kind == CLI_DECODER_MASK ? (int32_t)context
                                                                                      : (int32_t)batch;
        status = cli_decoder_bound(in, i, &most);
    }
    return status;
}

/* Finds the outputs, and allocates the buffers of the logits and of past and present keys and values: the present ones, in
   their order, are the past ones of the next run. */
static int cli_decoder_buffers(cli_decoder *d, const cli_args *args)
{
    cli_job *job = &d->job;
    uint32_t pasts = 0, presents = 0;
    job->nIn = nnrt_session_inputs(job->session);
    job->nOut = nnrt_session_outputs(job->session);
    d->logits = job->nOut;
    d->io = (nnrt_io *)cli_alloc((size_t)job->nIn + job->nOut, sizeof(*d->io));
    d->dims = (nnrt_dims *)cli_alloc(job->nIn, sizeof(*d->dims));
    for (int k = 0; k < 2; k++)
        d->caches[k] = (void **)cli_alloc(job->nIn, sizeof(void *));
    if (d->io == NULL || d->dims == NULL || d->caches[0] == NULL || d->caches[1] == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < job->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(job->session, i);
        d->dims[i] = info.shape;
        if (cli_decoder_kind(info.name) != CLI_DECODER_PAST)
            continue;
        d->caches[0][pasts] = cli_alloc(info.bytes, 1);
        d->caches[1][pasts] = cli_alloc(info.bytes, 1);
        if (d->caches[0][pasts] == NULL || d->caches[1][pasts++] == NULL)
            return CLI_FAILED;
    }
    for (uint32_t i = 0; i < job->nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(job->session, i);
        if (strncmp(info.name, "present", 7) == 0) {
            presents++;
        } else if (strcmp(info.name, "logits") == 0 && info.dataType == NNRT_DATA_TYPE_FLOAT32 &&
                   info.shape.rank == 3) {
            d->logits = i;
            d->io[job->nIn + i].bytes = info.bytes;
            if ((d->io[job->nIn + i].data = cli_alloc(info.bytes, 1)) == NULL)
                return CLI_FAILED;
        }
    }
    if (d->logits == job->nOut || presents != pasts || presents + 1 != job->nOut)
        return cli_fail("%s is no decoder: expected the output logits, float32 of three axes, and one output present... for each "
                        "input past...",
                        args->model);
    return CLI_DONE;
}

static void cli_decoder_close(cli_decoder *d)
{
    for (uint32_t i = 0; d->caches[0] != NULL && d->caches[1] != NULL && i < d->job.nIn; i++) {
        free(d->caches[0][i]);
        free(d->caches[1][i]);
    }
    if (d->io != NULL && d->logits < d->job.nOut)
        free(d->io[d->job.nIn + d->logits].data);
    free(d->caches[0]);
    free(d->caches[1]);
    free(d->io);
    free(d->dims);
    free(d->ones);
    free(d->places);
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
    if (d->states || d->job.fromNnrt || nnrt_model_cache(&cached, d->job.model, d->context, NULL) != NNRT_SUCCESS)
        return CLI_DONE;
    d->whole = d->job.model;
    d->job.model = cached;
    d->states = true;
    for (uint32_t i = 0; i < in->count; i++)
        if (cli_decoder_kind(in->data[i].name) == CLI_DECODER_PAST)
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
    int status;
    memset(d, 0, sizeof(*d));
    if (args->cacheType != NNRT_DATA_TYPE_UNKNOWN && !cli_is_weights(args->model))
        return cli_usage("--cache-type is for GGUF and safetensors files: %s has the type of its cache", args->model);
    own.capacity = args->context > 0 ? args->context : tokens;
    status = cli_inputs_make(&d->job.in, &own);
    if (status != CLI_DONE)
        return status;
    capacity = cli_decoder_capacity(&d->job.in);
    d->states = capacity > 0;
    d->keep = args->shift ? args->keepTokens > 0 ? args->keepTokens : 1 : 0;
    d->context = d->states ? capacity : own.capacity;
    if (args->context > 0 && args->context != d->context)
        return cli_usage("--context %u: the cache of %s holds %u tokens", (unsigned)args->context, args->model,
                         (unsigned)d->context);
    d->batch = args->batch > 0 ? args->batch : CLI_DECODER_BATCH;
    d->batch = d->batch < d->context ? d->batch : d->context;
    status = cli_decoder_bounds(&d->job.in, args->model, d->batch, d->context);
    if (status == CLI_DONE)
        status = cli_job_load(&d->job, &own);
    if (status == CLI_DONE && keeps)
        status = cli_decoder_keep(d);
    if (status == CLI_DONE && !d->states && (args->saveCache != NULL || args->loadCache != NULL || args->shift))
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
    if (status == CLI_DONE)
        status = cli_decoder_buffers(d, args);
    if (status == CLI_DONE && args->shift) {
        nnrt_error error;
        memset(&error, 0, sizeof(error));
        if (nnrt_session_drop_rows(d->job.session, d->job.model, 0, 0, 0, &error) != NNRT_SUCCESS)
            status = cli_fail("--context-shift: %s", error.message);
    }
    if (status == CLI_DONE && (!d->states || d->whole != NULL)) {
        d->ones = (int64_t *)cli_alloc(d->context, sizeof(*d->ones));
        d->places = (int64_t *)cli_alloc(d->context, sizeof(*d->places));
        status = d->ones != NULL && d->places != NULL ? CLI_DONE : CLI_FAILED;
    }
    for (uint32_t i = 0; status == CLI_DONE && d->ones != NULL && i < d->context; i++) {
        d->ones[i] = 1;
        d->places[i] = i;
    }
    return status;
}

static int cli_decoder_open(cli_decoder *d, const cli_args *args, uint32_t tokens)
{
    return cli_decoder_load(d, args, tokens, true);
}

/* Sets the inputs of a run on `count` tokens. */
static void cli_decoder_inputs(cli_decoder *d, const int64_t *ids, uint32_t count)
{
    cli_job *job = &d->job;
    d->position = d->done;
    for (uint32_t i = 0, past = 0; i < job->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(job->session, i);
        const int kind = cli_decoder_kind(info.name);
        nnrt_io *io = &d->io[i];
        const uint32_t length = kind == CLI_DECODER_PAST ? d->done : kind == CLI_DECODER_MASK ? d->done + count : count;
        if (kind != CLI_DECODER_POSITION)
            d->dims[i].dims[kind == CLI_DECODER_PAST ? 2 : 1] = (int32_t)length;
        io->dims = d->dims[i].dims;
        io->bytes = nnrt_type_size(info.dataType);
        for (int32_t k = 0; k < info.shape.rank; k++)
            io->bytes *= (size_t)d->dims[i].dims[k];
        io->data = kind == CLI_DECODER_IDS        ? (void *)(uintptr_t)ids
                   : kind == CLI_DECODER_MASK     ? d->ones
                   : kind == CLI_DECODER_PLACES   ? d->places + d->done
                   : kind == CLI_DECODER_POSITION ? &d->position
                                                  : d->caches[0][past++];
    }
}

/* Runs the model on at most d->batch tokens. */
static int cli_decoder_run(cli_decoder *d, const int64_t *ids, uint32_t count)
{
    cli_job *job = &d->job;
    cli_decoder_inputs(d, ids, count);
    for (uint32_t i = 0, past = 0, k = 0; i < job->nOut; i++) {
        if (i == d->logits)
            continue;
        while (cli_decoder_kind(nnrt_session_input(job->session, k).name) != CLI_DECODER_PAST)
            k++;
        d->io[job->nIn + i].data = d->caches[1][past++];
        d->io[job->nIn + i].bytes = nnrt_session_input(job->session, k++).bytes;
    }
    if (nnrt_run(job->session, d->io, job->nIn, d->io + job->nIn, job->nOut) != NNRT_SUCCESS)
        return cli_fail("the run failed: %s", nnrt_session_error(job->session));
    for (uint32_t i = 0; i < job->nIn; i++) {
        void *swapped = d->caches[0][i];
        d->caches[0][i] = d->caches[1][i];
        d->caches[1][i] = swapped;
    }
    d->done += count;
    return CLI_DONE;
}

/* Drops the older half of the tokens behind the first d->keep, or as many as make room for `count`. */
static int cli_decoder_shift(cli_decoder *d, uint32_t count)
{
    const uint32_t least = count - (d->context - d->done), rest = d->done > d->keep ? d->done - d->keep : 0;
    const uint32_t drop = rest / 2 > least ? rest / 2 : least;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (drop > rest)
        return cli_fail("%u tokens do not fit a context of %u behind the first %u (--context, --keep-tokens)", (unsigned)count,
                        (unsigned)d->context, (unsigned)d->keep);
    if (nnrt_session_drop_rows(d->job.session, d->job.model, d->done, d->keep, drop, &error) != NNRT_SUCCESS)
        return cli_fail("--context-shift: %s", error.message);
    d->done -= drop;
    d->dropped += drop;
    return CLI_DONE;
}

/* Processes the next tokens, of which there is at least one, in parts of d->batch. */
static int cli_decoder_feed(cli_decoder *d, const int64_t *ids, uint32_t count)
{
    int status = CLI_DONE;
    if (count > d->context - d->done && d->keep == 0)
        return cli_fail("%u tokens after %u exceed the context of %u tokens (--context)", (unsigned)count, (unsigned)d->done,
                        (unsigned)d->context);
    while (count > 0 && status == CLI_DONE) {
        const uint32_t part = count < d->batch ? count : d->batch;
        status = part > d->context - d->done ? cli_decoder_shift(d, part) : CLI_DONE;
        if (status == CLI_DONE)
            status = cli_decoder_run(d, ids, part);
        ids += part;
        count -= part;
    }
    return status;
}

/* The logits after the last token; *count: the size of the vocabulary. */
static float *cli_decoder_logits(const cli_decoder *d, uint32_t *count)
{
    const int32_t *dims = nnrt_session_output(d->job.session, d->logits).shape.dims;
    *count = (uint32_t)dims[2];
    return (float *)d->io[d->job.nIn + d->logits].data + (size_t)(dims[1] - 1) * (size_t)dims[2];
}

/* Writes the cache with its tokens, the `count` ones that were processed or chosen, to a file. */
static int cli_decoder_save(const cli_decoder *d, const int64_t *ids, uint32_t count, const char *path)
{
    uint32_t *note = (uint32_t *)cli_alloc((size_t)count + 1, sizeof(*note));
    nnrt_states states;
    nnrt_error error;
    void *data = NULL;
    size_t bytes = 0;
    int status = note != NULL ? CLI_DONE : CLI_FAILED;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    memset(&error, 0, sizeof(error));
    if (status == CLI_DONE) {
        note[0] = d->dropped;
        for (uint32_t i = 0; i < count; i++)
            note[1 + i] = (uint32_t)ids[i];
        states.rows = d->done;
        states.note = note;
        states.noteBytes = ((size_t)count + 1) * sizeof(*note);
        code = nnrt_session_save_states(d->job.session, d->job.model, &states, NULL, 0, &bytes, &error);
        if (code == NNRT_SUCCESS && (data = cli_alloc(bytes, 1)) == NULL)
            status = CLI_FAILED;
    }
    if (status == CLI_DONE && code == NNRT_SUCCESS)
        code = nnrt_session_save_states(d->job.session, d->job.model, &states, data, bytes, &bytes, &error);
    if (status == CLI_DONE && code == NNRT_SUCCESS)
        code = nnrt_file_write(path, data, bytes, &error);
    if (code != NNRT_SUCCESS)
        status = cli_fail("--save-cache %s: %s", path, error.message);
    free(data);
    free(note);
    return status;
}

/* Sets the cache to that of a file, whose first tokens were dropped. */
static int cli_decoder_restore(cli_decoder *d, const cli_bytes *file, uint32_t rows, uint32_t dropped, const char *path)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_session_load_states(d->job.session, d->job.model, file->data, file->size, NULL, &error) != NNRT_SUCCESS)
        return cli_fail("--load-cache %s: %s", path, error.message);
    d->done = rows;
    d->dropped = dropped;
    return CLI_DONE;
}

/* Bytes of the cache. */
static double cli_decoder_cache_bytes(const cli_decoder *d)
{
    double bytes = (double)nnrt_session_get_memory(d->job.session).states;
    for (uint32_t i = 0; i < d->job.nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(d->job.session, i);
        bytes += cli_decoder_kind(info.name) == CLI_DECODER_PAST ? 2 * (double)info.bytes : 0;
    }
    return bytes;
}

#endif /* NNRT_TOOL_DECODER_H */
