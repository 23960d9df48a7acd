/* What the fuzz targets of the command line's readers share: the readers, and a count of what they say. A target includes
 * this first. */
#ifndef NNRT_TESTS_FUZZ_TOOL_H
#define NNRT_TESTS_FUZZ_TOOL_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "formats/nnrt_onnx.h"

#include "fuzz.h"

/* Messages so far; they go nowhere. */
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
#include "tools/inputs.h"
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* A copy of the bytes in a block of their own size, so that the first one behind them is seen. */
static inline cli_bytes fuzz_file(const uint8_t *data, size_t size)
{
    cli_bytes file;
    file.data = (uint8_t *)malloc(size > 0 ? size : 1);
    file.size = size;
    fuzz_expect(file.data != NULL, "there is memory for the file", NULL);
    if (size > 0)
        memcpy(file.data, data, size);
    return file;
}

/* What failed says why, in one line; what is done may say something that the user should know. */
static inline void fuzz_said(int status, size_t before, const char *what)
{
    fuzz_expect(status == CLI_DONE || status == CLI_FAILED, "a reader is done or has failed", what);
    if (status == CLI_FAILED)
        fuzz_expect(fuzz_messages == before + 1, "a failure is one message", what);
}

/* A tensor that was read: its elements are there, and may become each other type or are refused in one line. */
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
