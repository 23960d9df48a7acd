/*
talk.h - text for the command generate: prompts and messages become tokens, tokens are chosen and become text.
Part of tools/nnrt.c. It knows no model: generate.h gives it logits and takes tokens.

    >>interrupt  Ctrl-C
    >>talk       tokenizer, the prompt
    >>choose     sampler, the next token
    >>chat       messages of the user
*/
#ifndef NNRT_TOOL_TALK_H
#define NNRT_TOOL_TALK_H

#include "../common/tokens.h"

#include <signal.h>

#define CLI_GENERATE_TOKENS 32 /* --tokens: default for numbers, and for text */
#define CLI_TALK_TOKENS 256

/* All zero: tokens are numbers, and the largest logit is chosen. */
typedef struct cli_talk {
    const cli_args *args;
    nnrt_tokenizer *tokenizer; /* NULL: tokens are numbers */
    nnrt_sampler *sampler;     /* NULL: the largest logit, or no token was chosen yet */
    uint32_t heard;            /* tokens of the history of the sampler */
    cli_stream_text out;
    lm_ids said;      /* tokens of the prompt, or of the last message in its chat template */
    int32_t style;    /* NNRT_CHAT_...; NONE: lines as they are */
    bool first;       /* there is no message before */
    bool asked;       /* --prompt was the first message */
    bool ended;       /* the last token ended the text */
    uint32_t prompts, tokens, steps; /* for the figures: tokens of prompts, generated ones, those with a step */
    double promptMs, stepMs;
} cli_talk;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>interrupt */

static volatile sig_atomic_t cli_talk_stopped;

/* The first signal ends the text, the second one the program. */
static void cli_talk_stop(int number)
{
    (void)signal(number, SIG_DFL);
    cli_talk_stopped = 1;
}

/* Reading a line ends, too: without SA_RESTART. */
static void cli_talk_catch(void)
{
#if defined(__unix__) || defined(__APPLE__)
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = cli_talk_stop;
    (void)sigaction(SIGINT, &action, NULL);
#else
    (void)signal(SIGINT, cli_talk_stop);
#endif
    cli_talk_stopped = 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>talk */

static bool cli_talk_samples(const cli_args *args)
{
    return args->temperature > 0 || args->repeatPenalty > 0 || args->presencePenalty > 0;
}

static bool cli_talk_has_text(const cli_args *args)
{
    return args->prompt != NULL || args->promptFile != NULL || args->chat || (args->loadCache != NULL && args->ids == NULL);
}

/* Combinations of options without meaning. */
static int cli_talk_check(const cli_args *args)
{
    const bool text = cli_talk_has_text(args);
    if (!text && args->ids == NULL)
        return cli_usage("generate: --prompt or --ids is missing: text, or the tokens of the prompt; see 'nnrt generate --help'");
    if (args->ids != NULL && text)
        return cli_usage("generate: --ids and %s exclude each other", args->chat ? "--chat" : "--prompt");
    if (args->prompt != NULL && args->promptFile != NULL)
        return cli_usage("generate: --prompt and --prompt-file exclude each other");
    if (!args->chat && (args->system != NULL || args->raw || args->chatTemplate != NULL))
        return cli_usage("generate: %s is for --chat", args->system != NULL ? "--system" : args->raw ? "--raw" : "--template");
    if (args->raw && (args->system != NULL || args->chatTemplate != NULL))
        return cli_usage("generate: --raw sends lines as they are: without --system and --template");
    if (args->noTokens && (args->saveCache == NULL || args->chat))
        return cli_usage("generate: --tokens 0 is for --save-cache, without --chat");
    if (args->system != NULL && args->loadCache != NULL)
        return cli_usage("generate: --system begins a conversation, and --load-cache continues one");
    if (args->keepTokens > 0 && !args->shift)
        return cli_usage("generate: --keep-tokens is for --context-shift");
    if (args->chat && args->json)
        return cli_usage("generate: --chat prints text, without --json");
    if (!text && args->tokenizer != NULL)
        return cli_usage("generate: --tokenizer is for --prompt and --chat");
    if (!(args->temperature > 0) && (args->topK > 0 || args->topP > 0 || args->minP > 0 || args->seeded))
        return cli_usage("generate: %s has no effect without --temperature T, such as 0.8: the most likely token is chosen",
                         args->topK > 0 ? "--top-k" : args->topP > 0 ? "--top-p" : args->minP > 0 ? "--min-p" : "--seed");
    return CLI_DONE;
}

/* Chooses the chat template. */
static int cli_talk_template(cli_talk *t)
{
    const nnrt_piece text = nnrt_tokenizer_template(t->tokenizer);
    char names[128] = "";
    size_t at = 0;
    for (int32_t chat = 1; chat < NNRT_CHAT_END; chat++)
        at += nnrt_text(names + at, sizeof(names) - at, "%s%s", chat > 1 ? ", " : "", nnrt_chat_name(chat));
    if (t->args->chatTemplate != NULL)
        return (t->style = lm_chat_find(t->args->chatTemplate)) != NNRT_CHAT_NONE
                   ? CLI_DONE
                   : cli_usage("generate: --template: '%s' is none of %s", t->args->chatTemplate, names);
    t->style = t->args->raw || text.bytes == 0 ? NNRT_CHAT_NONE : nnrt_chat_recognize(text.data, text.bytes);
    if (t->style != NNRT_CHAT_NONE || t->args->raw)
        return CLI_DONE;
    if (text.bytes == 0)
        return cli_fail("generate: the file has no chat template: --template NAME chooses one of %s; --raw sends lines as they are",
                        names);
    return cli_fail("generate: the chat template '%.*s%s' is none of %s, which --template NAME chooses; --raw sends lines as they "
                    "are",
                    text.bytes < 60 ? (int)text.bytes : 60, text.data, text.bytes < 60 ? "" : "...", names);
}

/* The tokens of the prompt, which may be empty if a file has tokens before. Its last characters may wait for the first token. */
static int cli_talk_prompt(cli_talk *t)
{
    const uint32_t flags = NNRT_TEXT_SPECIAL | (t->first ? NNRT_TEXT_AFFIXES : 0u);
    const char *path = t->args->promptFile;
    cli_bytes file = {NULL, 0};
    int status = CLI_DONE;
    if (path != NULL)
        status = strcmp(path, "-") == 0 ? cli_read_stream(stdin, "standard input", &file) : cli_read_file(path, &file);
    if (status == CLI_DONE && path != NULL)
        status = cli_ids_add(&t->said, t->tokenizer, (const char *)file.data, file.size, flags);
    else if (status == CLI_DONE && t->args->prompt != NULL)
        status = cli_ids_add(&t->said, t->tokenizer, t->args->prompt, strlen(t->args->prompt), flags);
    free(file.data);
    if (status == CLI_DONE && t->said.count == 0 && t->first)
        return cli_fail("generate: the prompt has no tokens");
    for (size_t i = 0; i < t->said.count && status == CLI_DONE; i++) {
        size_t bytes; /* text that is dropped: the first token continues it, with its space */
        (void)nnrt_detokenize(&t->out.d, t->said.ids[i], t->out.piece, t->out.room, &bytes);
    }
    return status;
}

/* Loads the tokenizer, if the command has text, and encodes the prompt. */
static int cli_talk_open(cli_talk *t, const cli_args *args)
{
    const char *path;
    int status = cli_talk_check(args);
    t->args = args;
    t->first = args->loadCache == NULL;
    if (status != CLI_DONE || !cli_talk_has_text(args))
        return status;
    path = cli_tokenizer_path("generate", args);
    status = path != NULL ? cli_tokenizer_load(&t->tokenizer, "generate", path) : CLI_FAILED;
    if (status == CLI_DONE)
        status = cli_stream_text_open(&t->out, t->tokenizer, !args->json);
    if (status == CLI_DONE)
        status = args->chat ? cli_talk_template(t) : cli_talk_prompt(t);
    if (status == CLI_DONE)
        cli_talk_catch();
    return status;
}

static void cli_talk_free(cli_talk *t)
{
    if (t->tokenizer != NULL)
        (void)signal(SIGINT, SIG_DFL);
    cli_stream_text_free(&t->out);
    lm_ids_free(&t->said);
    nnrt_sampler_destroy(t->sampler);
    nnrt_tokenizer_destroy(t->tokenizer);
    memset(t, 0, sizeof(*t));
}

/* Tokens that prompt and text have at most together; 0: there is no limit. */
static uint32_t cli_talk_context(const cli_talk *t)
{
    const uint32_t file = t->tokenizer != NULL ? cli_tokenizer_context(t->args->model) : 0;
    if (t->args->context > 0)
        return t->args->context;
    return t->args->chat && (file == 0 || file > LM_CONTEXT) ? LM_CONTEXT : file;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>choose */

static int cli_talk_sampler(cli_talk *t, uint32_t count)
{
    nnrt_sampler_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.seed = t->args->seed;
    desc.temperature = (float)t->args->temperature;
    desc.topK = (int32_t)t->args->topK;
    desc.topP = (float)t->args->topP;
    desc.minP = (float)t->args->minP;
    desc.repeatPenalty = (float)t->args->repeatPenalty;
    desc.presencePenalty = (float)t->args->presencePenalty;
    if (nnrt_sampler_create(&t->sampler, &desc, count, NULL, &error) != NNRT_SUCCESS)
        return cli_fail("generate: %s", error.message);
    return CLI_DONE;
}

/* Chooses the token behind ids[0..at) by the logits, one for each of `count` tokens. Without a sampler the largest one, of equal
   ones the first. Logits behind the vocabulary of the tokenizer are padding. */
static int cli_talk_choose(cli_talk *t, const float *logits, uint32_t count, const int64_t *ids, uint32_t at, int64_t *id)
{
    const uint32_t known = t->tokenizer != NULL ? nnrt_tokenizer_count(t->tokenizer) : count;
    uint32_t best = 0;
    count = count < known ? count : known;
    if (!cli_talk_samples(t->args)) {
        for (uint32_t i = 1; i < count; i++)
            best = logits[i] > logits[best] ? i : best;
    } else {
        if (t->sampler == NULL && cli_talk_sampler(t, count) != CLI_DONE)
            return CLI_FAILED;
        for (; t->heard < at; t->heard++)
            nnrt_sampler_accept(t->sampler, (uint32_t)ids[t->heard]);
        if (nnrt_sample(t->sampler, logits, &best) != NNRT_SUCCESS)
            return cli_fail("generate: no logit of the model is a number");
        t->heard = at + 1;
    }
    *id = (int64_t)best;
    return CLI_DONE;
}

/* Takes a token that was generated. t->ended: it ends the text, and is not written. */
static int cli_talk_token(cli_talk *t, int64_t id)
{
    t->tokens++;
    if (t->tokenizer == NULL)
        return CLI_DONE;
    t->ended = nnrt_tokenizer_ends(t->tokenizer, (uint32_t)id);
    return t->ended ? CLI_DONE : cli_stream_text_token(&t->out, (uint32_t)id);
}

/* Ends the text of a prompt or a reply. */
static int cli_talk_end(cli_talk *t)
{
    if (t->tokenizer == NULL)
        return CLI_DONE;
    if (cli_stream_text_end(&t->out) != CLI_DONE)
        return CLI_FAILED;
    if (!t->args->json) {
        putchar('\n');
        (void)fflush(stdout);
    }
    return CLI_DONE;
}

/* Figures, on standard error. */
static void cli_talk_figures(const cli_talk *t)
{
    if (t->tokenizer == NULL || t->args->quiet || t->args->json || t->tokens == 0)
        return;
    fprintf(CLI_MESSAGES, "nnrt: %u tokens of the prompt in %.1f ms, %u generated", (unsigned)t->prompts, t->promptMs,
            (unsigned)t->tokens);
    if (t->steps > 0 && t->stepMs > 0)
        fprintf(CLI_MESSAGES, ", %.1f tokens/s", (double)t->steps * 1e3 / t->stepMs);
    fputs("\n", CLI_MESSAGES);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>chat */

/* Reads a line of standard input without its end. NULL, *status unchanged: the input has ended. The caller frees it. */
static char *cli_talk_line(int *status)
{
    char *line = NULL;
    size_t used = 0, room = 0;
    for (;;) {
        if (room - used < 2) {
            char *grown = room < SIZE_MAX / 4 ? (char *)realloc(line, room = 2 * room + 256) : NULL;
            if (grown == NULL) {
                *status = cli_fail("out of memory: a line of %.0f bytes", (double)used);
                break;
            }
            line = grown;
        }
        if (fgets(line + used, (int)(room - used < 65536 ? room - used : 65536), stdin) == NULL)
            break;
        used += strlen(line + used);
        if (used > 0 && line[used - 1] == '\n')
            break;
    }
    if (*status != CLI_DONE || used == 0 || cli_talk_stopped) {
        free(line);
        return NULL;
    }
    while (used > 0 && (line[used - 1] == '\n' || line[used - 1] == '\r'))
        line[--used] = '\0';
    return line;
}

/* The next message as tokens, t->said; the first one is --prompt, if that is given. false: there is none, or *status is a
   failure. */
static bool cli_talk_listen(cli_talk *t, int *status)
{
    const uint32_t flags = NNRT_TEXT_SPECIAL | (t->first ? NNRT_TEXT_AFFIXES : 0u);
    const bool given = !t->asked && t->args->prompt != NULL;
    char *line = NULL;
    lm_text text;
    nnrt_error error;
    nnrt_piece message;
    memset(&error, 0, sizeof(error));
    memset(&text, 0, sizeof(text));
    t->said.count = 0;
    t->asked = true;
    cli_talk_catch();
    while (*status == CLI_DONE && (line == NULL || *line == '\0')) { /* empty lines are no messages */
        free(line);
        if (cli_on_terminal() && !given)
            fputs("> ", stderr);
        line = given ? cli_text_copy(t->args->prompt, strlen(t->args->prompt)) : cli_talk_line(status);
        if (line == NULL || given)
            break;
    }
    if (line == NULL) {
        if (cli_on_terminal())
            fputs("\n", stderr);
        return false;
    }
    message.data = line;
    message.bytes = strlen(line);
    if (t->style == NNRT_CHAT_NONE)
        *status = cli_ids_add(&t->said, t->tokenizer, line, message.bytes, flags);
    else if (lm_chat_next(&text, t->style, t->first, t->args->system, message, &error) == NNRT_SUCCESS)
        *status = cli_ids_add(&t->said, t->tokenizer, text.data, text.bytes, flags);
    else
        *status = cli_fail("generate: %s", error.message);
    lm_text_free(&text);
    free(line);
    nnrt_detokenizer_start(&t->out.d, t->tokenizer, 0);
    t->first = false;
    return *status == CLI_DONE;
}

#endif /* NNRT_TOOL_TALK_H */
