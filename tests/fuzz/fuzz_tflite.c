/* Fuzz target: the bytes are a .tflite file. It is imported, prepared and run on zeros, optimized, prepared and run. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "formats/nnrt_tflite.h"

#include "fuzz.h"

#define FUZZ_MODEL_BYTES ((size_t)32 << 20) /* what comes behind the import may take so much beside the model */

static void fuzz_tflite(const uint8_t *data, size_t size)
{
    uint8_t *file = (uint8_t *)fuzz_block(size);
    NNRT_Model *model = NULL;
    nnrt_tflite_desc desc;
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, NNRT_TFLITE_BUDGET * size + NNRT_TFLITE_BUDGET_FREE);
    nnrt_error e;
    NNRT_ReturnCode code;
    if (size > 0)
        memcpy(file, data, size);
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    desc.no_optimize = true;
    code = nnrt_tflite_load_memory(&model, file, size, &desc, &e);
    fuzz_check_error(code, &e, "nnrt_tflite_load_memory");
    fuzz_expect((model != NULL) == (code == NNRT_SUCCESS), "a model comes with success only", e.message);
    fuzz_expect(memory.refused == 0, "an import keeps within its budget", e.message);
    memory.limit += FUZZ_MODEL_BYTES;
    if (model != NULL)
        fuzz_model_both(&model, &memory, NULL);
    fuzz_expect(size == 0 || memcmp(file, data, size) == 0, "the file's bytes are only read", NULL);
    nnrt_model_destroy(model);
    fuzz_memory_empty(&memory);
    free(file);
}

FUZZ_TARGET(fuzz_tflite)
