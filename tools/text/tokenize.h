/*
tokenize.h - the command tokenize: the tokens of a text, and the text of tokens.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_TOKENIZE_H
#define NNRT_TOOL_TOKENIZE_H

#include "../common/tokens.h"

/* The text of a token in quotes: characters that can be printed, others as bytes. */
static void cli_tokenize_quote(nnrt_piece text)
{
    char c[5];
    putchar('"');
    for (size_t at = 0; at < text.bytes;) {
        const size_t left = text.bytes - at;
        size_t n;
        memset(c, 0, sizeof(c));
        memcpy(c, text.data + at, left < 4 ? left : 4);
        n = cli_utf8(c);
        if (n > left || (n == 1 && ((uint8_t)*c < ' ' || *c == 0x7F)) || (n == 2 && (uint8_t)*c == 0xC2 && (uint8_t)c[1] < 0xA0))
            n = 0; /* C0, DEL, C1 */
        if (n == 0)
            printf("\\x%02X", (unsigned)(uint8_t)*c);
        else if (n == 1 && (*c == '"' || *c == '\\'))
            printf("\\%c", *c);
        else
            fwrite(c, 1, n, stdout);
        at += n > 0 ? n : 1;
    }
    putchar('"');
}

static void cli_tokenize_piece(const nnrt_tokenizer *t, uint32_t id)
{
    static const char *const types[] = {"", "", "unknown", "control", "user", "unused", "byte"};
    const char *type = types[nnrt_token_type(t, id)];
    printf("%7u  ", (unsigned)id);
    cli_tokenize_quote(nnrt_token_text(t, id));
    printf("%s%s\n", *type != '\0' ? "  " : "", type);
}

/* Prints the tokens of a text: a line, lines of --pieces, or a list in JSON. */
static int cli_tokenize_text(const nnrt_tokenizer *t, const cli_args *args, const char *text, size_t bytes, bool first)
{
    const uint32_t flags = (args->plain ? 0u : NNRT_TEXT_SPECIAL) | (args->bare ? 0u : NNRT_TEXT_AFFIXES);
    lm_ids tokens = {NULL, NULL, 0, 0};
    const int status = cli_ids_add(&tokens, t, text, bytes, flags);
    if (args->json)
        fputs(first ? "[" : ",[", stdout);
    for (size_t i = 0; i < tokens.count && status == CLI_DONE; i++)
        if (args->pieces && !args->json)
            cli_tokenize_piece(t, tokens.ids[i]);
        else
            printf("%s%u", i > 0 ? "," : "", (unsigned)tokens.ids[i]);
    if (args->json)
        putchar(']');
    else if (!args->pieces && status == CLI_DONE)
        putchar('\n');
    lm_ids_free(&tokens);
    return status;
}

/* Prints the text of --decode. */
static int cli_tokenize_decode(const nnrt_tokenizer *t, const cli_args *args)
{
    const char *at = args->decode;
    cli_stream_text s;
    int status = cli_stream_text_open(&s, t, !args->json);
    while (status == CLI_DONE) {
        char number[12] = "";
        uint32_t id = 0;
        const size_t n = strcspn(at, ",");
        memcpy(number, at, n < sizeof(number) ? n : sizeof(number) - 1);
        if (n >= sizeof(number) || !cli_take_whole(number, 0, INT32_MAX, &id))
            status = cli_usage("tokenize: --decode: '%.*s' is no token; expected numbers such as 1,15043",
                               n < 40 ? (int)n : 40, at);
        else if (args->pieces && !args->json && id < nnrt_tokenizer_count(t))
            cli_tokenize_piece(t, id);
        else
            status = cli_stream_text_token(&s, id);
        if (at[n] == '\0')
            break;
        at += n + 1;
    }
    if (status == CLI_DONE)
        status = cli_stream_text_end(&s);
    if (status == CLI_DONE && args->json) {
        cli_json_open(args);
        fputs(",\"text\":", stdout);
        cli_json_bytes(stdout, s.text, s.bytes);
        fputs("}\n", stdout);
    } else if (status == CLI_DONE && !args->pieces) {
        putchar('\n');
    }
    cli_stream_text_free(&s);
    return status;
}

/* Prints the tokens of all texts. */
static int cli_tokenize_all(const nnrt_tokenizer *t, const cli_args *args)
{
    const char *path = args->data != NULL ? args->data : "-";
    cli_bytes file = {NULL, 0};
    int status = CLI_DONE;
    if (args->textCount == 0)
        status = strcmp(path, "-") == 0 ? cli_read_stream(stdin, "standard input", &file) : cli_read_file(path, &file);
    if (status != CLI_DONE)
        return status;
    if (args->json) {
        cli_json_open(args);
        fputs(",\"tokens\":[", stdout);
    }
    for (uint32_t i = 0; i < args->textCount && status == CLI_DONE; i++)
        status = cli_tokenize_text(t, args, args->texts[i], strlen(args->texts[i]), i == 0);
    if (args->textCount == 0)
        status = cli_tokenize_text(t, args, (const char *)file.data, file.size, true);
    if (args->json)
        fputs("]}\n", stdout);
    free(file.data);
    return status;
}

static int cli_tokenize(const cli_args *args)
{
    nnrt_tokenizer *t = NULL;
    const char *beside;
    int status;
    if ((args->data != NULL) + (args->textCount > 0) + (args->decode != NULL) > 1)
        return cli_usage("tokenize: a file, --text and --decode exclude each other");
    beside = cli_tokenizer_beside(args->model);
    status = cli_tokenizer_load(&t, "tokenize", beside != NULL ? beside : args->model);
    if (status == CLI_DONE)
        status = args->decode != NULL ? cli_tokenize_decode(t, args) : cli_tokenize_all(t, args);
    nnrt_tokenizer_destroy(t);
    return status;
}

#endif /* NNRT_TOOL_TOKENIZE_H */
