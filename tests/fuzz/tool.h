/* Shared by the fuzz targets of the command line's readers: the readers, and counters of their messages and
   allocations. A target includes this first. */
#ifndef NNRT_TESTS_FUZZ_TOOL_H
#define NNRT_TESTS_FUZZ_TOOL_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "formats/nnrt_gguf.h"
#include "formats/nnrt_onnx.h"
#include "formats/nnrt_tflite.h"

#include "fuzz.h"

/* Blocks of the readers, each after its size. Bytes allocated now (fuzz_taken), with the file, and at most (fuzz_most). */
typedef union fuzz_head {
    size_t bytes;
    long double align;
} fuzz_head;

static size_t fuzz_taken, fuzz_most;

static inline void *fuzz_tool_malloc(size_t bytes)
{
    fuzz_head *head = bytes <= SIZE_MAX - sizeof(*head) ? (fuzz_head *)malloc(sizeof(*head) + bytes) : NULL;
    if (head == NULL)
        return NULL;
    head->bytes = bytes;
    fuzz_taken += bytes;
    fuzz_most = fuzz_taken > fuzz_most ? fuzz_taken : fuzz_most;
    return head + 1;
}

static inline void fuzz_tool_free(void *block)
{
    if (block == NULL)
        return;
    fuzz_taken -= ((fuzz_head *)block)[-1].bytes;
    free((fuzz_head *)block - 1);
}

static inline void *fuzz_tool_calloc(size_t count, size_t bytes)
{
    void *block = bytes == 0 || count <= SIZE_MAX / bytes ? fuzz_tool_malloc(count * bytes) : NULL;
    if (block != NULL)
        memset(block, 0, count * bytes);
    return block;
}

/* Always moves to another block: that needs the most memory. */
static inline void *fuzz_tool_realloc(void *block, size_t bytes)
{
    const size_t before = block != NULL ? ((fuzz_head *)block)[-1].bytes : 0;
    void *grown = fuzz_tool_malloc(bytes);
    if (grown != NULL && before > 0)
        memcpy(grown, block, before < bytes ? before : bytes);
    if (grown != NULL)
        fuzz_tool_free(block);
    return grown;
}

/* Messages so far; nothing prints them. */
static size_t fuzz_messages;

static inline FILE *fuzz_message(void)
{
    static FILE *nowhere;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    fuzz_messages++;
    return nowhere != NULL ? nowhere : stderr;
}
#define CLI_MESSAGES fuzz_message()

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* a target uses some of the readers */
#endif
#define malloc(bytes) fuzz_tool_malloc(bytes)
#define calloc(count, bytes) fuzz_tool_calloc(count, bytes)
#define realloc(block, bytes) fuzz_tool_realloc(block, bytes)
#define free(block) fuzz_tool_free(block)
#include "tools/common/inputs.h"
#undef malloc
#undef calloc
#undef realloc
#undef free
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* A copy of the bytes in a block of exactly their size, so that a read after the last byte is detected. */
static inline cli_bytes fuzz_file(const uint8_t *data, size_t size)
{
    cli_bytes file;
    fuzz_expect(fuzz_taken == 0, "the readers have given back what they took", NULL);
    fuzz_most = 0;
    file.data = (uint8_t *)fuzz_tool_malloc(size);
    file.size = size;
    fuzz_expect(file.data != NULL, "there is memory for the file", NULL);
    if (size > 0)
        memcpy(file.data, data, size);
    return file;
}

/* Frees the copy of fuzz_file: no block of the reader is left, and its memory was in proportion to the file. */
static inline void fuzz_file_end(cli_bytes *file)
{
    fuzz_tool_free(file->data);
    fuzz_expect(fuzz_taken == 0, "a reader gives back what it takes", NULL);
    fuzz_expect(fuzz_most <= 64 * file->size + ((size_t)1 << 20), "a reader takes 64 times the file and 1 MiB", NULL);
}

/* A failure prints one message, the reason; a success may print warnings. */
static inline void fuzz_said(int status, size_t before, const char *what)
{
    fuzz_expect(status == CLI_DONE || status == CLI_FAILED, "a reader is done or has failed", what);
    if (status == CLI_FAILED)
        fuzz_expect(fuzz_messages == before + 1, "a failure is one message", what);
}

/* A tensor that was read has its elements; conversion to each other type succeeds or fails with one message. */
static inline void fuzz_converted(cli_tensor *t)
{
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_FLOAT16, NNRT_DATA_TYPE_INT8,
                                          NNRT_DATA_TYPE_UINT64, NNRT_DATA_TYPE_BOOL};
    size_t count = 1, before;
    for (int32_t k = 0; k < t->shape.rank; k++)
        count *= (size_t)t->shape.dims[k];
    fuzz_expect(t->count == count && t->bytes == count * nnrt_type_size(t->type), "a tensor has its elements", NULL);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        before = fuzz_messages;
        fuzz_said(cli_tensor_convert(t, types[i], "file", "x"), before, "cli_tensor_convert");
    }
    cli_tensor_free(t);
}

#endif /* NNRT_TESTS_FUZZ_TOOL_H */
