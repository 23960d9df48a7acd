/*
main.c - the largest output of a network with one input and one output, both float32.

    predict MODEL INPUT     MODEL: a .nnrt or .onnx file; INPUT: a file of raw float32, the exact size of the input

nnrt.c in the same folder contains the implementation; this file includes only the declarations.
*/
#include "formats/nnrt_onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A .nnrt file is used in place (memory-mapped); an ONNX file is imported. */
static NNRT_ReturnCode load(NNRT_Model **model, const char *path, nnrt_error *error)
{
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".onnx") == 0)
        return nnrt_onnx_load(model, path, NULL, error);
    return nnrt_model_load(model, path, NULL, error);
}

/* Fills the input from a file that has exactly its size. */
static bool fill(nnrt_io *in, const char *path)
{
    FILE *file = fopen(path, "rb");
    bool good =
        file != NULL && in->data != NULL && fread(in->data, 1, in->bytes, file) == in->bytes && fgetc(file) == EOF;
    if (file != NULL)
        fclose(file);
    if (!good)
        fprintf(stderr, "%s: expected a file of %lu bytes\n", path, (unsigned long)in->bytes);
    return good;
}

static void print_largest(const float *values, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (values[i] > values[best])
            best = i;
    printf("%lu: %.4f\n", (unsigned long)best, count > 0 ? (double)values[best] : 0.0);
}

/* Runs the session on the file; false after a message. */
static bool predict(nnrt_session *session, const char *path)
{
    nnrt_io_info input = nnrt_session_input(session, 0), output = nnrt_session_output(session, 0);
    nnrt_io in = nnrt_io_make(malloc(input.bytes), input.bytes);
    nnrt_io out = nnrt_io_make(calloc(1, output.bytes), output.bytes);
    bool good = false;
    if (nnrt_session_inputs(session) != 1 || nnrt_session_outputs(session) != 1 ||
        input.dataType != NNRT_DATA_TYPE_FLOAT32 || output.dataType != NNRT_DATA_TYPE_FLOAT32) {
        fprintf(stderr, "the network must have one input and one output of float32\n");
    } else if (fill(&in, path)) {
        good = out.data != NULL && nnrt_run(session, &in, 1, &out, 1) == NNRT_SUCCESS;
        if (good)
            print_largest((const float *)out.data, out.bytes / sizeof(float));
        else
            fprintf(stderr, "%s\n", out.data != NULL ? nnrt_session_error(session) : "no memory");
    }
    free(in.data);
    free(out.data);
    return good;
}

int main(int argc, char **argv)
{
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    nnrt_error error;
    bool good = false;
    memset(&error, 0, sizeof(error));
    if (argc != 3)
        fprintf(stderr, "usage: predict MODEL INPUT\n");
    else if (load(&model, argv[1], &error) != NNRT_SUCCESS ||
             nnrt_session_create(&session, model, NULL, &error) != NNRT_SUCCESS)
        fprintf(stderr, "%s\n", error.message);
    else
        good = predict(session, argv[2]);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return good ? 0 : 1;
}
