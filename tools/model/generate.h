/*
generate.h - the command generate: tokens of a language model from the tokens of a prompt. talk.h has the text, decoder.h the
runs.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_GENERATE_H
#define NNRT_TOOL_GENERATE_H

#include "bench.h"
#include "decoder.h"
#include "talk.h"

typedef struct cli_generate_state {
    cli_decoder decoder;
    int64_t *ids;           /* the prompt, then the generated tokens */
    uint32_t prompt, total; /* tokens of the prompt; of ids */
    uint32_t room, turn;    /* of ids; tokens to generate at most */
    uint32_t context;       /* tokens that the cache needs */
    double first, *times;
    cli_talk talk;
    cli_bytes file; /* of --load-cache */
    lm_saved saved; /* its tokens; without a file there are none */
} cli_generate_state;

/* Reads the file of --load-cache. */
static int cli_generate_history(cli_generate_state *g, const cli_args *args)
{
    nnrt_error error;
    if (args->loadCache == NULL)
        return CLI_DONE;
    memset(&error, 0, sizeof(error));
    if (cli_read_file(args->loadCache, &g->file) != CLI_DONE)
        return CLI_FAILED;
    if (lm_saved_read(&g->saved, g->file.data, g->file.size, &error) == NNRT_SUCCESS)
        return CLI_DONE;
    return cli_fail("--load-cache %s: %s", args->loadCache, error.message);
}

/* Reads the numbers of --ids into g->ids. */
static int cli_generate_numbers(cli_generate_state *g, const char *text, uint32_t count)
{
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

/* Fits a prompt of `count` tokens, without dropped ones, and the text behind it into a context; 0: there is no limit. */
static int cli_generate_fit(cli_generate_state *g, const cli_args *args, size_t count, uint32_t context)
{
    if (context > 0 && (args->noTokens ? count > context : count >= context))
        return cli_fail("generate: the prompt has %.0f tokens, and the context %u: shorten it, or reserve more by --context N",
                        (double)count, (unsigned)context);
    if (context == 0 || g->room - g->saved.dropped <= context || args->shift)
        return CLI_DONE;
    if (args->tokens > 0)
        cli_note("generate: the context of %u tokens ends after %.0f; --context N reserves more", (unsigned)context,
                 (double)context - (double)count);
    g->room = g->saved.dropped + context;
    return CLI_DONE;
}

/* Writes the tokens of the prompt to g->ids, with room for those to generate. */
static int cli_generate_ids(cli_generate_state *g, const cli_args *args)
{
    const uint32_t context = cli_talk_context(&g->talk);
    size_t count = args->ids != NULL ? (args->ids[0] != '\0' || g->saved.count == 0 ? 1 : 0) : g->talk.said.count;
    int status;
    for (const char *p = args->ids; p != NULL && *p != '\0'; p++)
        count += *p == ',' ? 1 : 0;
    count += g->saved.count;
    if (count > 1000000)
        return cli_usage("generate: the prompt has %.0f tokens, at most 1000000 are possible", (double)count);
    g->turn = args->tokens > 0 || args->noTokens ? args->tokens : cli_talk_has_text(args) ? CLI_TALK_TOKENS : CLI_GENERATE_TOKENS;
    g->room = args->chat ? g->saved.dropped + context : (uint32_t)count + g->turn;
    if ((status = cli_generate_fit(g, args, count - g->saved.dropped, context)) != CLI_DONE)
        return status;
    g->context = context > 0 && context < g->room - g->saved.dropped ? context : g->room - g->saved.dropped;
    g->ids = (int64_t *)cli_alloc(g->room, sizeof(*g->ids));
    g->times = (double *)cli_alloc(g->turn, sizeof(*g->times));
    if (g->ids == NULL || g->times == NULL)
        return CLI_FAILED;
    while (g->prompt < g->saved.count) {
        const uint32_t id = lm_saved_token(&g->saved, g->prompt);
        size_t bytes;
        if (g->talk.tokenizer != NULL && g->talk.said.count == 0) /* text that is dropped, as in cli_talk_prompt */
            (void)nnrt_detokenize(&g->talk.out.d, id, g->talk.out.piece, g->talk.out.room, &bytes);
        g->ids[g->prompt++] = id;
    }
    g->total = g->prompt;
    if (args->ids != NULL)
        return cli_generate_numbers(g, args->ids, (uint32_t)count);
    while (g->prompt < count) {
        g->ids[g->prompt] = g->talk.said.ids[g->prompt - g->saved.count];
        g->prompt++;
    }
    return CLI_DONE;
}

/* Loads the model. The cache of a .nnrt file may be smaller than the room. */
static int cli_generate_open(cli_generate_state *g, const cli_args *args)
{
    int status = cli_decoder_open(&g->decoder, args, g->context);
    if (status == CLI_DONE)
        status = cli_generate_fit(g, args, g->prompt - g->saved.dropped, g->decoder.lm.context);
    if (status == CLI_DONE && args->loadCache != NULL)
        status = cli_decoder_restore(&g->decoder, &g->file, args->loadCache);
    free(g->file.data);
    g->file.data = NULL;
    g->saved.tokens = NULL;
    return status;
}

/* Chooses the token ids[at] by the logits of the last position. */
static int cli_generate_choose(cli_generate_state *g, uint32_t at)
{
    uint32_t count;
    const float *row = lm_decoder_logits(&g->decoder.lm, &count);
    return cli_talk_choose(&g->talk, row, count, g->ids, at, &g->ids[at]);
}

/* Processes the tokens up to ids[at], with progress if they are a long prompt, until Ctrl-C. At least the last one, for its
   logits. */
static int cli_generate_feed(cli_generate_state *g, uint32_t at, uint32_t before)
{
    lm_decoder *d = &g->decoder.lm;
    const bool shown = at == g->prompt && at - before > d->batch && g->talk.tokenizer != NULL && !g->talk.args->quiet;
    cli_progress progress = cli_progress_of("prompt");
    int status = CLI_DONE;
    if (d->done + d->dropped == at)
        (void)lm_decoder_return(d, d->done - 1, NULL); /* the cache of --load-cache, which are states */
    while (status == CLI_DONE && d->done + d->dropped < at && !cli_talk_stopped) {
        const uint32_t fed = d->done + d->dropped;
        status = cli_decoder_feed(&g->decoder, g->ids + fed, at - fed < d->batch ? at - fed : d->batch);
        if (shown)
            cli_progress_show(&progress, d->done + d->dropped - before, at - before);
    }
    cli_progress_end(&progress);
    return status;
}

/* Generates the tokens behind the prompt, until g->turn of them, the end of the room, of the text, or Ctrl-C. */
static int cli_generate_all(cli_generate_state *g)
{
    const uint32_t end = g->turn < g->room - g->prompt ? g->prompt + g->turn : g->room;
    const uint32_t before = g->decoder.lm.done + g->decoder.lm.dropped;
    double start = cli_now_ms();
    int status = CLI_DONE;
    g->talk.ended = false;
    g->total = g->prompt;
    if (end == g->prompt) /* --tokens 0 */
        status = cli_generate_feed(g, end, before);
    while (status == CLI_DONE && g->total < end && !g->talk.ended) {
        const uint32_t at = g->total;
        double now;
        status = cli_generate_feed(g, at, before);
        if (status != CLI_DONE || cli_talk_stopped || (status = cli_generate_choose(g, at)) != CLI_DONE)
            break;
        now = cli_now_ms();
        if (at == g->prompt)
            g->first = now - start;
        else
            g->times[at - g->prompt - 1] = now - start;
        *(at == g->prompt ? &g->talk.promptMs : &g->talk.stepMs) += now - start;
        g->talk.steps += at > g->prompt;
        g->total = at + 1;
        status = cli_talk_token(&g->talk, g->ids[at]);
        start = cli_now_ms();
    }
    g->talk.prompts += g->prompt - before;
    return status;
}

/* Makes room for `count` tokens. */
static int cli_generate_grow(cli_generate_state *g, double count)
{
    int64_t *grown;
    if (count <= g->room)
        return CLI_DONE;
    grown = count < 1e9 ? (int64_t *)realloc(g->ids, (size_t)count * sizeof(*grown)) : NULL;
    if (grown == NULL)
        return cli_fail("out of memory: %.0f tokens", count);
    g->ids = grown;
    g->room = (uint32_t)count;
    return CLI_DONE;
}

/* Messages from standard input, each with its reply. The tokens of all of them stay in the cache, but for --context-shift. */
static int cli_generate_chat(cli_generate_state *g)
{
    int status = CLI_DONE;
    while (status == CLI_DONE && cli_talk_listen(&g->talk, &status)) {
        const lm_ids *said = &g->talk.said;
        g->total -= g->talk.ended; /* the template has that token, too */
        g->talk.ended = false;
        if (said->count >= (g->decoder.lm.keep > 0 ? g->decoder.lm.context : g->room - g->total))
            return cli_fail("generate: the conversation has %.0f tokens, and the context %u; --context N reserves more",
                            (double)g->total + (double)said->count, (unsigned)g->decoder.lm.context);
        if (g->decoder.lm.keep > 0 && cli_generate_grow(g, (double)g->total + (double)said->count + g->turn) != CLI_DONE)
            return CLI_FAILED;
        for (size_t i = 0; i < said->count; i++)
            g->ids[g->total + i] = said->ids[i];
        g->prompt = g->total + (uint32_t)said->count;
        status = cli_generate_all(g);
        if (status == CLI_DONE)
            status = cli_talk_end(&g->talk);
    }
    return status;
}

static void cli_generate_print(cli_generate_state *g, const cli_args *args)
{
    const uint32_t steps = g->total > g->prompt ? g->total - g->prompt - 1 : 0;
    double step = (double)NAN;
    if (g->talk.tokenizer != NULL && !args->json)
        return;
    qsort(g->times, steps, sizeof(*g->times), cli_compare_doubles);
    if (steps > 0)
        step = (g->times[(steps - 1) / 2] + g->times[steps / 2]) / 2;
    if (args->json) {
        cli_json_open(args);
        cli_json_session(&g->decoder.job);
        printf(",\"context\":%u,\"batch\":%u,\"cache_bytes\":%.0f,\"session_bytes\":%.0f,\"model_bytes\":%.0f",
               (unsigned)g->decoder.lm.context, (unsigned)g->decoder.lm.batch, lm_decoder_cache_bytes(&g->decoder.lm),
               (double)nnrt_session_get_memory(g->decoder.job.session).total, (double)nnrt_model_bytes(g->decoder.job.model));
        if (args->loadCache != NULL)
            printf(",\"loaded_tokens\":%u", (unsigned)(g->saved.rows + g->saved.dropped));
        if (args->shift)
            printf(",\"dropped_tokens\":%u", (unsigned)g->decoder.lm.dropped);
        cli_json_ms("load_ms", g->decoder.job.loadMs);
        cli_json_ms("prepare_ms", g->decoder.job.prepareMs);
        cli_json_ms("first_ms", g->first);
        cli_json_ms("step_ms", step);
        fputs(",\"tokens\":[", stdout);
    }
    for (uint32_t i = g->prompt; i < g->total; i++)
        printf("%s%ld", i > g->prompt ? "," : "", (long)g->ids[i]);
    if (args->json && g->talk.tokenizer != NULL) {
        printf("],\"prompt_tokens\":%u,\"text\":", (unsigned)g->prompt);
        cli_json_bytes(stdout, g->talk.out.text, g->talk.out.bytes);
        printf(",\"end\":\"%s\"}\n", g->talk.ended ? "token" : cli_talk_stopped ? "interrupt" : "length");
    } else if (args->json)
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
    cli_talk_stopped = 0;
    status = cli_generate_history(&g, args);
    if (status == CLI_DONE)
        status = cli_talk_open(&g.talk, args);
    if (status == CLI_DONE)
        status = cli_generate_ids(&g, args);
    if (status == CLI_DONE)
        status = cli_generate_open(&g, args);
    if (status == CLI_DONE)
        status = args->chat ? cli_generate_chat(&g) : cli_generate_all(&g);
    if (status == CLI_DONE && !args->chat)
        status = cli_talk_end(&g.talk);
    if (status == CLI_DONE && args->saveCache != NULL)
        status = cli_decoder_save(&g.decoder, g.ids, g.total - g.talk.ended, args->saveCache);
    if (status == CLI_DONE) {
        cli_generate_print(&g, args);
        cli_talk_figures(&g.talk);
    }
    cli_talk_free(&g.talk);
    cli_decoder_close(&g.decoder);
    free(g.ids);
    free(g.times);
    free(g.file.data);
    return status;
}

#endif /* NNRT_TOOL_GENERATE_H */
