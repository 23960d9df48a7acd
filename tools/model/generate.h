/*
generate.h - the command generate: tokens of a language model from the tokens of a prompt.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_GENERATE_H
#define NNRT_TOOL_GENERATE_H

#include "bench.h"
#include "decoder.h"

#define CLI_GENERATE_TOKENS 32

typedef struct cli_generate_state {
    cli_decoder decoder;
    int64_t *ids;           /* the prompt, then the generated tokens */
    uint32_t prompt, total; /* tokens of the prompt; of ids */
    double first, *times;
} cli_generate_state;

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
    g->times = (double *)cli_alloc(more, sizeof(*g->times));
    if (g->ids == NULL || g->times == NULL)
        return CLI_FAILED;
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

/* The token with the largest logit; of equal ones the first. */
static int64_t cli_generate_best(const cli_generate_state *g)
{
    uint32_t count, best = 0;
    const float *row = cli_decoder_logits(&g->decoder, &count);
    for (uint32_t i = 1; i < count; i++)
        best = row[i] > row[best] ? i : best;
    return best;
}

/* Generates the tokens behind the prompt. */
static int cli_generate_all(cli_generate_state *g)
{
    cli_decoder *d = &g->decoder;
    double start = cli_now_ms();
    int status = CLI_DONE;
    for (uint32_t at = g->prompt; status == CLI_DONE && at < g->total; at++) {
        double now;
        status = cli_decoder_feed(d, g->ids + d->done, at - d->done);
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
        cli_json_session(&g->decoder.job);
        printf(",\"context\":%u,\"batch\":%u,\"cache_bytes\":%.0f,\"session_bytes\":%.0f", (unsigned)g->decoder.context,
               (unsigned)g->decoder.batch, cli_decoder_cache_bytes(&g->decoder),
               (double)nnrt_session_get_memory(g->decoder.job.session).total);
        cli_json_ms("load_ms", g->decoder.job.loadMs);
        cli_json_ms("prepare_ms", g->decoder.job.prepareMs);
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
        status = cli_decoder_open(&g.decoder, args, g.total);
    if (status == CLI_DONE && g.total > g.decoder.context)
        status = cli_usage("generate: %u tokens of the prompt and %u more exceed the context of %u tokens", (unsigned)g.prompt,
                           (unsigned)(g.total - g.prompt), (unsigned)g.decoder.context);
    if (status == CLI_DONE)
        status = cli_generate_all(&g);
    if (status == CLI_DONE)
        cli_generate_print(&g, args);
    cli_decoder_close(&g.decoder);
    free(g.ids);
    free(g.times);
    return status;
}

#endif /* NNRT_TOOL_GENERATE_H */
