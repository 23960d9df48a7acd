/* Fuzz target: the bytes are calls of the builder, valid and invalid, with attributes derived from their descriptions.
   Models that can be finished are prepared and run, optimized, prepared and run; the remaining bytes are their inputs.
   */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "fuzz.h"
#include "calls.h"

static void fuzz_builder(const uint8_t *data, size_t size)
{
    static fuzz_building g;
    NNRT_Model *model = NULL;
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, FUZZ_BUILDER_BYTES);
    nnrt_error e;
    NNRT_ReturnCode code;
    memset(&g, 0, sizeof(g));
    memset(&e, 0, sizeof(e));
    g.f = fuzz_bytes_make(data, size);
    fuzz_expect(nnrt_builder_create(&g.b, fuzz_name(&g.f), &a) == NNRT_SUCCESS, "there is a builder", NULL);
    fuzz_calls(&g);
    if (!fuzz_rarely(&g.f, 32)) {
        code = nnrt_builder_finish(g.b, &model, &e);
        fuzz_check_error(code, &e, "nnrt_builder_finish");
        fuzz_expect((model != NULL) == (code == NNRT_SUCCESS), "a model comes with success only", e.message);
        if (memory.refused > 0) /* a size that exceeds any memory is OUT_OF_MEMORY, too */
            fuzz_expect(code == NNRT_OUT_OF_MEMORY, "memory that was refused is NNRT_OUT_OF_MEMORY", e.message);
    }
    nnrt_builder_destroy(g.b);
    if (model != NULL)
        fuzz_model_both(&model, &memory, &g.f);
    nnrt_model_destroy(model);
    fuzz_memory_empty(&memory);
    for (uint32_t i = 0; i < g.nConstants; i++)
        free(g.constants[i]);
}

FUZZ_TARGET(fuzz_builder)
