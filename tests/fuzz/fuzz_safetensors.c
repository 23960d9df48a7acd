/* Fuzz target: the bytes are a config.json, a byte 0, and a safetensors file. The model is imported, prepared and run on zeros,
   optimized, prepared and run. config.json is the description of the pooling, too, if it names one. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "formats/nnrt_safetensors.h"

#include "fuzz.h"

static NNRT_ReturnCode fuzz_safetensors_load(NNRT_Model **model, const void *data, size_t bytes,
                                             const nnrt_allocator *allocator, nnrt_error *error)
{
    const char *text = (const char *)data, *end = bytes > 0 ? (const char *)memchr(data, 0, bytes) : NULL;
    nnrt_safetensors_files files;
    nnrt_safetensors_part part;
    nnrt_gguf_desc desc;
    memset(&files, 0, sizeof(files));
    memset(&desc, 0, sizeof(desc));
    files.config = text;
    files.configBytes = end != NULL ? (size_t)(end - text) : bytes;
    part.data = end != NULL ? end + 1 : text + bytes;
    part.bytes = bytes - files.configBytes - (end != NULL ? 1 : 0);
    files.parts = &part;
    files.partCount = 1;
    if (end != NULL && strstr(text, "pooling_mode") != NULL) {
        files.pooling = files.config;
        files.poolingBytes = files.configBytes;
    }
    desc.allocator = allocator;
    desc.no_optimize = true;
    desc.allLogits = bytes % 2 != 0; /* both ways */
    return nnrt_safetensors_load_memory(model, &files, &desc, error);
}

static void fuzz_safetensors(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, NNRT_GGUF_BUDGET * size + NNRT_GGUF_BUDGET_FREE, fuzz_safetensors_load,
                "nnrt_safetensors_load_memory");
}

FUZZ_TARGET(fuzz_safetensors)
