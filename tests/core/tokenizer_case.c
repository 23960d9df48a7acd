/* tokenizer_case FILE FLAGS: encodes the texts of standard input, a line each, in hexadecimal digits, by the tokenizer.json
   FILE; prints the ids of each, |, and the decoded text in hexadecimal digits. */
#define NNRT_FIRMWARE /* and no operators: compiles in a second */
#define NNRT_STATIC
#define NNRT_SELECT
#define NNRT_KEEP_SOFTMAX 1
#define NNRT_IMPLEMENTATION
#include "core/nnrt_text.h"

#include <stdio.h>
#include <stdlib.h>

static void *heap_alloc(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    (void)alignment; /* malloc's is 16, which suffices for all types here */
    return malloc(bytes);
}

static void heap_free(void *user, void *block, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(block);
}

static char *read_whole(FILE *file, size_t *bytes)
{
    size_t size = 1 << 16, n;
    char *data = (char *)malloc(size);
    for (*bytes = 0; (n = fread(data + *bytes, 1, size - *bytes, file)) > 0;) {
        *bytes += n;
        if (*bytes == size)
            data = (char *)realloc(data, size *= 2);
    }
    return data;
}

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Prints the ids of a text, and the text that they become. */
static int print_case(const nnrt_tokenizer *t, char *line, size_t digits, uint32_t flags)
{
    const size_t capacity = 4 * digits + 8, most = nnrt_detokenizer_bytes(t);
    uint32_t *ids = (uint32_t *)malloc(capacity * sizeof(*ids));
    char *piece = (char *)malloc(most);
    size_t count = 0, bytes = 0;
    nnrt_detokenizer d;
    for (size_t i = 0; i < digits / 2; i++)
        line[i] = (char)(16 * digit(line[2 * i]) + digit(line[2 * i + 1]));
    if (nnrt_tokenize(t, line, digits / 2, flags, ids, capacity, &count) != NNRT_SUCCESS)
        return 1;
    for (size_t i = 0; i < count; i++)
        printf(i > 0 ? " %u" : "%u", (unsigned)ids[i]);
    putchar('|');
    nnrt_detokenizer_start(&d, t, flags);
    for (size_t i = 0; i <= count; i++) {
        if (i == count)
            bytes = nnrt_detokenizer_end(&d, piece);
        else if (nnrt_detokenize(&d, ids[i], piece, most, &bytes) != NNRT_SUCCESS)
            return 1;
        for (size_t k = 0; k < bytes; k++)
            printf("%02x", (unsigned char)piece[k]);
    }
    putchar('\n');
    free(ids);
    free(piece);
    return 0;
}

int main(int count, char **arguments)
{
    nnrt_tokenizer *t = NULL;
    nnrt_allocator allocator;
    nnrt_error error;
    size_t bytes = 0;
    char *data, *line;
    FILE *file = count > 2 ? fopen(arguments[1], "rb") : NULL;
    allocator.alloc = heap_alloc;
    allocator.free = heap_free;
    allocator.user = NULL;
    if (file == NULL)
        return 2;
    data = read_whole(file, &bytes);
    (void)fclose(file);
    memset(&error, 0, sizeof(error));
    if (nnrt_tokenizer_load_json(&t, data, bytes, &allocator, &error) != NNRT_SUCCESS) {
        fprintf(stderr, "%s: %s\n", arguments[1], error.message);
        return 1;
    }
    free(data);
    data = read_whole(stdin, &bytes);
    line = data;
    for (size_t i = 0; i < bytes; i++)
        if (data[i] == '\n') {
            if (print_case(t, line, (size_t)(data + i - line), (uint32_t)atoi(arguments[2])) != 0)
                return 1;
            line = data + i + 1;
        }
    free(data);
    nnrt_tokenizer_destroy(t);
    return 0;
}
