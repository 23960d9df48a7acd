/* Fuzz target: the bytes are a GGUF file. Its keys are read; it is imported, prepared and run on zeros, optimized, prepared and run. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "formats/nnrt_gguf.h"

#include "fuzz.h"

static NNRT_ReturnCode fuzz_gguf_load(NNRT_Model **model, const void *data, size_t bytes,
                                      const nnrt_allocator *allocator, nnrt_error *error)
{
    nnrt_gguf_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = allocator;
    desc.no_optimize = true;
    desc.allLogits = bytes % 2 != 0; /* both ways */
    desc.floatActivations = bytes % 4 > 1;
    return nnrt_gguf_load_memory(model, data, bytes, &desc, error);
}

/* Each key is found by its name, and its elements are numbers or strings. */
static void fuzz_gguf_keys(const uint8_t *data, size_t size)
{
    nnrt_gguf_keys keys;
    nnrt_gguf_value v, found;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    memset(&v, 0, sizeof(v));
    if (data == NULL || nnrt_gguf_open(&keys, data, size, &e) != NNRT_SUCCESS)
        return;
    for (uint32_t i = 0; i < keys.count; i++) {
        char name[64];
        const char *text;
        double number;
        size_t at = 0, bytes, strings = 0;
        fuzz_expect(nnrt_gguf_next(&keys, &v), "there are as many keys as the header states", NULL);
        if (v.keyBytes < sizeof(name) && memchr(v.key, 0, v.keyBytes) == NULL) {
            memcpy(name, v.key, v.keyBytes);
            name[v.keyBytes] = '\0';
            fuzz_expect(nnrt_gguf_find(&keys, name, &found), "a key is found", name);
        }
        while (nnrt_gguf_string(&v, &at, &text, &bytes))
            strings++;
        fuzz_expect(strings == (v.type == NNRT_GGUF_STRING ? v.count : 0), "a list of strings has its strings", NULL);
        for (size_t k = 0; strings == 0 && k < v.count; k++)
            fuzz_expect(nnrt_gguf_number(&v, k, &number), "an element is a number", NULL);
    }
    fuzz_expect(!nnrt_gguf_next(&keys, &v), "there is no key more", NULL);
}

static void fuzz_gguf(const uint8_t *data, size_t size)
{
    fuzz_gguf_keys(data, size);
    fuzz_import(data, size, NNRT_GGUF_BUDGET * size + NNRT_GGUF_BUDGET_FREE, fuzz_gguf_load, "nnrt_gguf_load_memory");
}

FUZZ_TARGET(fuzz_gguf)
