/* nnrt_model_save on Windows, which does not replace a file that is open: the old file stays as it is, and nothing is left
   beside it. Prints "N passed, N failed". */
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include <windows.h>

#include <stdio.h>

#define FILE_NAME "windows_save.nnrt"

static int passed, failed;

static void expect(bool holds, const char *what)
{
    passed += holds;
    failed += !holds;
    if (!holds)
        printf("FAIL %s\n", what);
}

/* y = x + x, x float32[n]. */
static NNRT_Model *twice(int32_t n)
{
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t in[2];
    if (nnrt_builder_create(&b, "twice", NULL) != NNRT_SUCCESS)
        return NULL;
    in[0] = in[1] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, &n);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    expect(nnrt_builder_finish(b, &m, NULL) == NNRT_SUCCESS, "the model is built");
    nnrt_builder_destroy(b);
    return m;
}

/* The size of x in the file; 0: it cannot be loaded. */
static int32_t stored(void)
{
    NNRT_Model *m = NULL;
    const int32_t n = nnrt_model_load(&m, FILE_NAME, NULL, NULL) == NNRT_SUCCESS ? m->allTensors.data[0].dims.data[0] : 0;
    nnrt_model_destroy(m);
    return n;
}

int main(void)
{
    static const DWORD shares[] = {0, FILE_SHARE_READ};
    NNRT_Model *old = twice(4), *other = twice(5);
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    expect(nnrt_model_save(other, FILE_NAME, NULL, &error) == NNRT_SUCCESS, "a new file");
    expect(nnrt_model_save(old, FILE_NAME, NULL, &error) == NNRT_SUCCESS && stored() == 4, "a file is replaced");
    for (int i = 0; i < 2; i++) {
        HANDLE h = CreateFileA(FILE_NAME, GENERIC_READ, shares[i], NULL, OPEN_EXISTING, 0, NULL);
        expect(h != INVALID_HANDLE_VALUE, "the file is opened");
        expect(nnrt_model_save(other, FILE_NAME, NULL, &error) == NNRT_FAILED &&
                   strstr(error.message, "cannot write " FILE_NAME) != NULL,
               "a file that is open is not replaced");
        CloseHandle(h);
        expect(stored() == 4, "the old file is whole");
        expect(fopen(FILE_NAME ".0.tmp", "rb") == NULL, "no temporary file is left");
    }
    expect(nnrt_model_save(other, FILE_NAME, NULL, &error) == NNRT_SUCCESS && stored() == 5, "afterwards it is replaced");
    nnrt_model_destroy(old);
    nnrt_model_destroy(other);
    (void)remove(FILE_NAME);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
