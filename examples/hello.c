// Runs a network once, on zeros.   cc -std=c99 -I. examples/hello.c -o hello -lm && ./hello MODEL.onnx
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    NNRT_Model *model = NULL;        // the network: plain data, immutable
    nnrt_session *session = NULL;    // the model prepared on a device, with its memory
    nnrt_io in = {NULL, 0, NULL}, out = {NULL, 0, NULL};
    nnrt_error error;                // one sentence: the node, the fault, the remedy
    size_t best = 0;
    memset(&error, 0, sizeof(error));
    if (argc != 2 || nnrt_onnx_load(&model, argv[1], NULL, &error) != NNRT_SUCCESS)
        goto end;
    if (nnrt_session_create(&session, model, NULL, &error) != NNRT_SUCCESS)
        goto end;                    // from here on nothing is allocated by nnrt
    in.bytes = nnrt_session_input(session, 0).bytes;
    out.bytes = nnrt_session_output(session, 0).bytes;
    in.data = calloc(1, in.bytes);   // your image, sound or text goes here
    out.data = calloc(1, out.bytes); // the caller owns inputs and outputs
    if ((error.code = nnrt_run(session, &in, 1, &out, 1)) != NNRT_SUCCESS)
        goto end;
    for (size_t i = 0; i < out.bytes / sizeof(float); i++)
        if (((const float *)out.data)[i] > ((const float *)out.data)[best])
            best = i;
    printf("largest output: %zu; arena: %zu bytes\n", best, nnrt_session_get_memory(session).arena);
end:
    if (session == NULL || error.code != NNRT_SUCCESS)
        fprintf(stderr, "%s\n", argc != 2 ? "usage: hello MODEL" : session ? nnrt_session_error(session)
                                                                          : error.message);
    free(in.data);
    free(out.data);
    nnrt_session_destroy(session);   // NULL is fine
    nnrt_model_destroy(model);
    return error.code != NNRT_SUCCESS || session == NULL;
}
