/*
generate.h - the command generate: tokens of a language model from the tokens of a prompt.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_GENERATE_H
#define NNRT_TOOL_GENERATE_H

#include "bench.h"

#define CLI_GENERATE_PART 256 /* tokens of the prompt that one run processes at most */
#define CLI_GENERATE_TOKENS 32

/* The kinds of inputs, by their names in decoders that Optimum exports. */
enum { CLI_DECODER_IDS, CLI_DECODER_MASK, CLI_DECODER_POSITIONS, CLI_DECODER_PAST, CLI_DECODER_OTHER };

typedef struct cli_generate_state {
    cli_job job;
    int64_t *ids;                 /* the prompt, then the generated tokens */
    uint32_t prompt, total, done; /* tokens of the prompt; of ids; that the cache has */
    uint32_t logits;              /* index of that output */
    int64_t *ones, *positions;
    nnrt_io *io;      /* inputs, then outputs */
    nnrt_dims *dims;  /* of the inputs in the next run */
    void **caches[2]; /* per input with past keys or values: its buffers, one that a run reads and one that it writes */
    double first, *times;
} cli_generate_state;

static int cli_decoder_kind(const char *name)
{
    return strcmp(name, "input_ids") == 0        ? CLI_DECODER_IDS
           : strcmp(name, "attention_mask") == 0 ? CLI_DECODER_MASK
           : strcmp(name, "position_ids") == 0   ? CLI_DECODER_POSITIONS
           : strncmp(name, "past", 4) == 0       ? CLI_DECODER_PAST
                                                 : CLI_DECODER_OTHER;
}

/* Reads --ids into g->ids, with room for the tokens to generate. */
static int cli_generate_ids(cli_generate_state *g, const cli_args *args)
{
    const uint32_t more = args->tokens > 0 ? args->tokens : CLI_GENERATE_TOKENS;
    uint32_t count = 1;
    const char *text = args->ids;
    if (text == NULL)
        return cli_usage("generate: --ids is missing: the tokens of the prompt; see 'nnrt generate --help'");
    for (const char *p = text; *p != '\0'; p++)
        count += *p == ',' ? 1 : 0;
    if (count > 1000000)
        return cli_usage("generate: --ids has %u tokens, at most 1000000 are possible", (unsigned)count);
    g->total = count + more;
    g->ids = (int64_t *)cli_alloc(g->total, sizeof(*g->ids));
    g->ones = (int64_t *)cli_alloc(g->total, sizeof(*g->ones));
    g->positions = (int64_t *)cli_alloc(g->total, sizeof(*g->positions));
    g->times = (double *)cli_alloc(more, sizeof(*g->times));
    if (g->ids == NULL || g->ones == NULL || g->positions == NULL || g->times == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < g->total; i++) {
        g->ones[i] = 1;
        g->positions[i] = i;
    }
    while (g->prompt < count) {
        char number[12];
        uint32_t id;
        const size_t n = strcspn(text, ",");
        snprintf(number, sizeof(number), "%.*s", n < sizeof(number) ? (int)n : (int)sizeof(number) - 1, text);
        if (n >= sizeof(number) || !cli_take_whole(number, 0, INT32_MAX, &id))
            return cli_usage("generate: --ids: '%.*s' is no token; expected numbers such as 1,15043",
                             n < 40 ? (int)n : 40, text);
        g->ids[g->prompt++] = id;
        text += n + 1;
    }
    return CLI_DONE;
}

/* Upper bounds of the dynamic dimensions: the sizes in the last run, and of the longest part of the prompt. */
static int cli_generate_bounds(cli_generate_state *g, const cli_args *args)
{
    cli_inputs *in = &g->job.in;
    const int32_t part = (int32_t)(g->prompt < CLI_GENERATE_PART ? g->prompt : CLI_GENERATE_PART);
    in->bounds = (nnrt_bound *)cli_alloc(in->count, sizeof(*in->bounds));
    if (in->bounds == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < in->count; i++) {
        const int kind = cli_decoder_kind(in->data[i].name);
        const int32_t axis = kind == CLI_DECODER_PAST ? 2 : 1;
        nnrt_dims *most = &in->bounds[i].most;
        if (kind == CLI_DECODER_OTHER || in->data[i].declared.rank != (kind == CLI_DECODER_PAST ? 4 : 2) ||
            (kind != CLI_DECODER_PAST && in->data[i].type != NNRT_DATA_TYPE_INT64))
            return cli_fail(
                "generate: input '%s' of %s is none of a decoder: int64 input_ids, attention_mask, position_ids of two "
                "axes, and past_key_values of four",
                in->data[i].name, args->model);
        *most = in->data[i].declared;
        for (int32_t k = 0; k < most->rank; k++) /* other dynamic dimensions are the batch */
            if (most->dims[k] < 0)
                most->dims[k] = k != axis                                              ? 1
                                : kind == CLI_DECODER_PAST || kind == CLI_DECODER_MASK ? (int32_t)g->total
                                                                                       : part;
        if ((in->bounds[i].tensor = cli_text_copy(in->data[i].name, strlen(in->data[i].name))) == NULL)
            return CLI_FAILED;
        in->boundCount++;
        in->shapes[i] = *most;
    }
    return CLI_DONE;
}

/* Finds the outputs and allocates the buffers: the present keys and values, in their order, are the past ones of the next
   run. */
static int cli_generate_buffers(cli_generate_state *g, const cli_args *args)
{
    cli_job *job = &g->job;
    uint32_t pasts = 0, presents = 0;
    job->nIn = nnrt_session_inputs(job->session);
    job->nOut = nnrt_session_outputs(job->session);
    g->logits = job->nOut;
    g->io = (nnrt_io *)cli_alloc((size_t)job->nIn + job->nOut, sizeof(*g->io));
    g->dims = (nnrt_dims *)cli_alloc(job->nIn, sizeof(*g->dims));
    for (int k = 0; k < 2; k++)
        g->caches[k] = (void **)cli_alloc(job->nIn, sizeof(void *));
    if (g->io == NULL || g->dims == NULL || g->caches[0] == NULL || g->caches[1] == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < job->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(job->session, i);
        g->dims[i] = info.shape;
        if (cli_decoder_kind(info.name) != CLI_DECODER_PAST)
            continue;
        g->caches[0][pasts] = cli_alloc(info.bytes, 1);
        g->caches[1][pasts] = cli_alloc(info.bytes, 1);
        if (g->caches[0][pasts] == NULL || g->caches[1][pasts++] == NULL)
            return CLI_FAILED;
    }
    for (uint32_t i = 0; i < job->nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(job->session, i);
        if (strncmp(info.name, "present", 7) == 0) {
            presents++;
        } else if (strcmp(info.name, "logits") == 0 && info.dataType == NNRT_DATA_TYPE_FLOAT32 &&
                   info.shape.rank == 3) {
            g->logits = i;
            g->io[job->nIn + i].bytes = info.bytes;
            if ((g->io[job->nIn + i].data = cli_alloc(info.bytes, 1)) == NULL)
                return CLI_FAILED;
        }
    }
    if (g->logits == job->nOut || presents != pasts || presents + 1 != job->nOut)
        return cli_fail(
            "generate: %s is no decoder: expected the output logits, float32 of three axes, and one output present... "
            "for each input past...",
            args->model);
    return CLI_DONE;
}

/* Runs the model on the next `count` tokens. */
static int cli_generate_run(cli_generate_state *g, uint32_t count)
{
    cli_job *job = &g->job;
    uint32_t past = 0;
    for (uint32_t i = 0; i < job->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(job->session, i);
        const int kind = cli_decoder_kind(info.name);
        nnrt_io *io = &g->io[i];
        const uint32_t length = kind == CLI_DECODER_PAST ? g->done : kind == CLI_DECODER_MASK ? g->done + count : count;
        g->dims[i].dims[kind == CLI_DECODER_PAST ? 2 : 1] = (int32_t)length;
        io->dims = g->dims[i].dims;
        io->bytes = nnrt_type_size(info.dataType);
        for (int32_t k = 0; k < info.shape.rank; k++)
            io->bytes *= (size_t)g->dims[i].dims[k];
        io->data = kind == CLI_DECODER_IDS         ? g->ids + g->done
                   : kind == CLI_DECODER_MASK      ? g->ones
                   : kind == CLI_DECODER_POSITIONS ? g->positions + g->done
                                                   : g->caches[0][past++];
    }
    past = 0;
    for (uint32_t i = 0, k = 0; i < job->nOut; i++) {
        if (i == g->logits)
            continue;
        while (cli_decoder_kind(nnrt_session_input(job->session, k).name) != CLI_DECODER_PAST)
            k++;
        g->io[job->nIn + i].data = g->caches[1][past++];
        g->io[job->nIn + i].bytes = nnrt_session_input(job->session, k++).bytes;
    }
    if (nnrt_run(job->session, g->io, job->nIn, g->io + job->nIn, job->nOut) != NNRT_SUCCESS)
        return cli_fail("generate: the run failed: %s", nnrt_session_error(job->session));
    for (uint32_t i = 0; i < job->nIn; i++) {
        void *swapped = g->caches[0][i];
        g->caches[0][i] = g->caches[1][i];
        g->caches[1][i] = swapped;
    }
    g->done += count;
    return CLI_DONE;
}

/* The token with the largest logit of the last position; of equal ones the first. */
static int64_t cli_generate_best(const cli_generate_state *g)
{
    const nnrt_io_info info = nnrt_session_output(g->job.session, g->logits);
    const int32_t *dims = info.shape.dims;
    const float *row = (const float *)g->io[g->job.nIn + g->logits].data + (size_t)(dims[1] - 1) * (size_t)dims[2];
    int32_t best = 0;
    for (int32_t i = 1; i < dims[2]; i++)
        best = row[i] > row[best] ? i : best;
    return best;
}

/* Generates the tokens behind the prompt. */
static int cli_generate_all(cli_generate_state *g)
{
    double start = cli_now_ms();
    int status = CLI_DONE;
    for (uint32_t at = g->prompt; status == CLI_DONE && at < g->total; at++) {
        double now;
        while (status == CLI_DONE && g->done < at)
            status = cli_generate_run(g, at - g->done < CLI_GENERATE_PART ? at - g->done : CLI_GENERATE_PART);
        if (status == CLI_DONE)
            g->ids[at] = cli_generate_best(g);
        now = cli_now_ms();
        if (at == g->prompt)
            g->first = now - start;
        else
            g->times[at - g->prompt - 1] = now - start;
        start = now;
    }
    return status;
}

static void cli_generate_print(cli_generate_state *g, const cli_args *args)
{
    const uint32_t steps = g->total - g->prompt - 1;
    double step = (double)NAN;
    qsort(g->times, steps, sizeof(*g->times), cli_compare_doubles);
    if (steps > 0)
        step = (g->times[(steps - 1) / 2] + g->times[steps / 2]) / 2;
    if (args->json) {
        cli_json_open(args);
        cli_json_session(&g->job);
        cli_json_ms("load_ms", g->job.loadMs);
        cli_json_ms("prepare_ms", g->job.prepareMs);
        cli_json_ms("first_ms", g->first);
        cli_json_ms("step_ms", step);
        fputs(",\"tokens\":[", stdout);
    }
    for (uint32_t i = g->prompt; i < g->total; i++)
        printf("%s%ld", i > g->prompt ? "," : "", (long)g->ids[i]);
    if (args->json)
        fputs("]}\n", stdout);
    else if (steps > 0)
        printf("\nfirst     %.3f ms\nstep      %.3f ms\n", g->first, step);
    else
        printf("\nfirst     %.3f ms\n", g->first);
}

static int cli_generate(const cli_args *args)
{
    cli_generate_state g;
    int status;
    memset(&g, 0, sizeof(g));
    status = cli_generate_ids(&g, args);
    if (status == CLI_DONE)
        status = cli_inputs_make(&g.job.in, args);
    if (status == CLI_DONE)
        status = cli_generate_bounds(&g, args);
    if (status == CLI_DONE)
        status = cli_job_load(&g.job, args);
    if (status == CLI_DONE)
        status = cli_job_prepare(&g.job, args);
    if (status == CLI_DONE)
        status = cli_generate_buffers(&g, args);
    if (status == CLI_DONE)
        status = cli_generate_all(&g);
    if (status == CLI_DONE)
        cli_generate_print(&g, args);
    for (uint32_t i = 0; g.caches[0] != NULL && g.caches[1] != NULL && i < g.job.nIn; i++) {
        free(g.caches[0][i]);
        free(g.caches[1][i]);
    }
    if (g.io != NULL && g.logits < g.job.nOut)
        free(g.io[g.job.nIn + g.logits].data);
    free(g.caches[0]);
    free(g.caches[1]);
    free(g.io);
    free(g.dims);
    free(g.ids);
    free(g.ones);
    free(g.positions);
    free(g.times);
    cli_job_free(&g.job);
    return status;
}

#endif /* NNRT_TOOL_GENERATE_H */
