/* Fuzz target: the bytes are a .tflite file. It is imported, prepared and run on zeros, optimized, prepared and run. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "formats/nnrt_tflite.h"

#include "fuzz.h"

static NNRT_ReturnCode fuzz_tflite_load(NNRT_Model **model, const void *data, size_t bytes,
                                      const nnrt_allocator *allocator, nnrt_error *error)
{
    nnrt_tflite_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = allocator;
    desc.no_optimize = true;
    desc.dynamic = bytes % 2 != 0; /* both ways */
    return nnrt_tflite_load_memory(model, data, bytes, &desc, error);
}

static void fuzz_tflite(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, (NNRT_TFLITE_BUDGET + NNRT_TFLITE_SPARSE) * size + NNRT_TFLITE_BUDGET_FREE, fuzz_tflite_load, "nnrt_tflite_load_memory");
}

FUZZ_TARGET(fuzz_tflite)
