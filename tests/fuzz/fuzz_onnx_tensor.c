/* Fuzz target: the bytes are a TensorProto of ONNX. It is read into memory of the size of its dims. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#include "inside.h"
#endif
#include "formats/nnrt_onnx.h"

#include "fuzz.h"

#define FUZZ_TENSOR_BYTES ((size_t)1 << 20) /* larger tensors are not read */

/* Two reads have the same elements, and a buffer of another size is refused. */
static void fuzz_tensor_elements(const nnrt_onnx_tensor *t)
{
    nnrt_error e;
    NNRT_ReturnCode code;
    nnrt_onnx_external external;
    size_t bytes = 0;
    uint8_t *first, *second;
    memset(&e, 0, sizeof(e));
    code = nnrt_onnx_tensor_external(t, &external, &e);
    fuzz_check_error(code, &e, "nnrt_onnx_tensor_external");
    memset(&e, 0, sizeof(e));
    code = nnrti_onnx_tensor_bytes(t, &bytes, &e);
    fuzz_check_error(code, &e, "nnrti_onnx_tensor_bytes");
    if (code != NNRT_SUCCESS || bytes > FUZZ_TENSOR_BYTES)
        return;
    first = (uint8_t *)fuzz_block(bytes + 1);
    second = (uint8_t *)fuzz_block(bytes + 1);
    memset(second, 0x5A, bytes + 1);
    code = nnrti_onnx_tensor_read(t, first + 1, bytes, &e);
    fuzz_check_error(code, &e, "nnrti_onnx_tensor_read");
    memset(&e, 0, sizeof(e));
    fuzz_expect(nnrti_onnx_tensor_read(t, second + 1, bytes, &e) == code, "reading twice gives the same code",
                e.message);
    if (code == NNRT_SUCCESS)
        fuzz_expect(memcmp(first + 1, second + 1, bytes) == 0, "reading twice gives the same elements", NULL);
    memset(&e, 0, sizeof(e));
    code = nnrti_onnx_tensor_read(t, first, bytes + 1, &e);
    fuzz_expect(code != NNRT_SUCCESS, "a buffer of another size is refused", NULL);
    fuzz_check_error(code, &e, "nnrti_onnx_tensor_read");
    free(first);
    free(second);
}

static void fuzz_onnx_tensor(const uint8_t *data, size_t size)
{
    uint8_t *file = (uint8_t *)fuzz_block(size);
    nnrt_onnx_tensor *tensor = NULL;
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, NNRT_ONNX_MEMORY_FACTOR * size + NNRT_ONNX_MEMORY_FREE);
    nnrt_error e;
    NNRT_ReturnCode code;
    if (size > 0)
        memcpy(file, data, size);
    memset(&e, 0, sizeof(e));
    code = nnrt_onnx_parse_tensor(file, size, &a, &tensor, &e);
    fuzz_check_error(code, &e, "nnrt_onnx_parse_tensor");
    fuzz_expect((tensor != NULL) == (code == NNRT_SUCCESS), "a tensor comes with success only", e.message);
    fuzz_expect(memory.refused == 0, "tables keep within what is promised", e.message);
    if (tensor != NULL)
        fuzz_tensor_elements(tensor);
    nnrt_onnx_tensor_free(tensor);
    fuzz_memory_empty(&memory);
    free(file);
}

FUZZ_TARGET(fuzz_onnx_tensor)
