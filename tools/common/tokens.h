/*
tokens.h - tokenizers of the command line: their files, the tokens of a text, the text of tokens.
Part of tools/nnrt.c.

    >>tokenizer  the tokenizer of a model
    >>encode     the tokens of a text
    >>decode     the text of tokens
*/
#ifndef NNRT_TOOL_TOKENS_H
#define NNRT_TOOL_TOKENS_H

#include "args.h"
#include "inputs.h"
#include "language.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tokenizer */

/* The tokenizer.json beside the weights of a safetensors model; NULL: there is none. */
static const char *cli_tokenizer_beside(const char *model)
{
    static char path[1024];
    const char *slash = strrchr(model, '/');
    struct stat file;
    size_t folder = strlen(model);
    if (!cli_is_safetensors(model) || stat(model, &file) != 0)
        return NULL;
    if (!S_ISDIR(file.st_mode))
        folder = slash != NULL ? (size_t)(slash - model) : 0;
    if (folder + sizeof("./tokenizer.json") > sizeof(path))
        return NULL;
    snprintf(path, sizeof(path), "%.*s/tokenizer.json", folder > 0 || slash != NULL ? (int)folder : 1,
             folder > 0 || slash != NULL ? model : ".");
    return stat(path, &file) == 0 ? path : NULL;
}

/* The file of the tokenizer: --tokenizer, a model that is a GGUF file, or tokenizer.json beside a safetensors file. NULL, after
   a message: there is none. */
static const char *cli_tokenizer_path(const char *command, const cli_args *args)
{
    struct stat file;
    const char *beside;
    if (args->tokenizer != NULL)
        return args->tokenizer;
    if (strcmp(args->model, "-") != 0 && stat(args->model, &file) != 0)
        (void)cli_fail("cannot open %s: %s", args->model, strerror(errno));
    else if (strcmp(args->model, "-") == 0)
        (void)cli_fail("%s: the tokenizer of a model from standard input cannot be read: name the file, or --tokenizer FILE",
                       command);
    else if (cli_is_gguf(args->model))
        return args->model;
    else if ((beside = cli_tokenizer_beside(args->model)) != NULL)
        return beside;
    else
        (void)cli_fail("%s: %s has no tokenizer: --tokenizer FILE names the tokenizer.json of the model, or its GGUF file",
                       command, args->model);
    return NULL;
}

static int cli_tokenizer_load(nnrt_tokenizer **tokenizer, const char *command, const char *path)
{
    nnrt_error error;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    if (cli_note_read(path) != CLI_DONE)
        return CLI_FAILED;
    code = nnrt_tokenizer_load(tokenizer, path, NULL, &error);
    if (code == NNRT_SUCCESS)
        return CLI_DONE;
    return cli_fail("%s: cannot load the tokenizer of %s: %s%s", command, path, error.message,
                    cli_is_gguf(path) ? "; --tokenizer tokenizer.json names another one" : "");
}

/* The number of tokens that the model in a GGUF file was made for; 0: the file does not say, or is none. */
static uint32_t cli_tokenizer_context(const char *path)
{
    uint8_t *data = NULL;
    FILE *f = cli_is_gguf(path) ? fopen(path, "rb") : NULL;
    size_t room = 0, used = 0;
    uint32_t context = 0;
    bool read = false;
    while (f != NULL && !read && used == room && room < SIZE_MAX / 8) { /* until the keys are there */
        uint8_t *grown = (uint8_t *)realloc(data, room = room == 0 ? 65536 : 4 * room);
        if (grown == NULL)
            break;
        data = grown;
        used += fread(data + used, 1, room - used, f);
        read = lm_gguf_context(data, used, &context);
    }
    if (f != NULL)
        fclose(f);
    free(data);
    return context;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>encode */

/* The tokens of a text, appended to *out; flags: NNRT_TEXT_... */
static int cli_ids_add(lm_ids *out, const nnrt_tokenizer *tokenizer, const char *text, size_t bytes, uint32_t flags)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    return lm_ids_add(out, tokenizer, text, bytes, flags, &error) == NNRT_SUCCESS ? CLI_DONE : cli_fail("%s", error.message);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>decode */

/* Text on its way from tokens to standard output, or into memory. */
typedef struct cli_stream_text {
    nnrt_detokenizer d;
    char *piece; /* of a token */
    size_t room;
    char *text; /* all of it, if it is kept; a 0 follows */
    size_t bytes, capacity;
    bool prints, terminal; /* terminal: control characters become '?' */
} cli_stream_text;

static int cli_stream_text_open(cli_stream_text *s, const nnrt_tokenizer *tokenizer, bool prints)
{
    memset(s, 0, sizeof(*s));
    nnrt_detokenizer_start(&s->d, tokenizer, 0);
    s->room = nnrt_detokenizer_bytes(tokenizer);
    s->prints = prints;
#if defined(__unix__) || defined(__APPLE__)
    s->terminal = isatty(1) == 1;
#endif
    s->piece = (char *)cli_alloc(s->room + 3, 1);
    return s->piece != NULL ? CLI_DONE : CLI_FAILED;
}

static void cli_stream_text_free(cli_stream_text *s)
{
    free(s->piece);
    free(s->text);
    memset(s, 0, sizeof(*s));
}

static int cli_stream_text_put(cli_stream_text *s, size_t bytes)
{
    if (bytes + 1 > s->capacity - s->bytes) {
        const size_t capacity = 2 * (s->capacity + bytes) + 1024;
        char *grown = (char *)realloc(s->text, capacity);
        if (grown == NULL)
            return cli_fail("out of memory: a text of %.0f bytes", (double)s->bytes);
        s->text = grown;
        s->capacity = capacity;
    }
    memcpy(s->text + s->bytes, s->piece, bytes);
    s->bytes += bytes;
    s->text[s->bytes] = '\0';
    for (size_t i = 0; i < bytes && s->terminal; i++) {
        const unsigned char c = (unsigned char)s->piece[i], before = i > 0 ? (unsigned char)s->piece[i - 1] : 0;
        if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7F || (before == 0xC2 && c < 0xA0)) /* C0, DEL, C1 */
            s->piece[i] = '?';
    }
    if (s->prints && bytes > 0) {
        (void)fwrite(s->piece, 1, bytes, stdout);
        (void)fflush(stdout);
    }
    return CLI_DONE;
}

/* The text of the next token, as far as its characters are complete. */
static int cli_stream_text_token(cli_stream_text *s, uint32_t id)
{
    size_t bytes = 0;
    if (nnrt_detokenize(&s->d, id, s->piece, s->room, &bytes) != NNRT_SUCCESS)
        return cli_fail("token %u is not in the vocabulary, which has %u", (unsigned)id,
                        (unsigned)nnrt_tokenizer_count(s->d.tokenizer));
    return cli_stream_text_put(s, bytes);
}

/* Ends the text: a character that is not complete becomes U+FFFD. */
static int cli_stream_text_end(cli_stream_text *s)
{
    return cli_stream_text_put(s, nnrt_detokenizer_end(&s->d, s->piece));
}

#endif /* NNRT_TOOL_TOKENS_H */
