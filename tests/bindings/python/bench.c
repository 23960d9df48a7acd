/* bench MODEL...: nanoseconds of a run in C, the least mean of 30 loops; inputs are zeros. */
#define _POSIX_C_SOURCE 200809L
#include "formats/nnrt_onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int bench(const char *path)
{
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    nnrt_io in = {NULL, 0, NULL}, out = {NULL, 0, NULL};
    double best = 1e18;
    if (nnrt_onnx_load(&model, path, NULL, NULL) != NNRT_SUCCESS ||
        nnrt_session_create(&session, model, NULL, NULL) != NNRT_SUCCESS)
        return 1;
    in = nnrt_io_make(calloc(1, nnrt_session_input(session, 0).bytes), nnrt_session_input(session, 0).bytes);
    out = nnrt_io_make(calloc(1, nnrt_session_output(session, 0).bytes), nnrt_session_output(session, 0).bytes);
    for (int k = 0; k < 30; k++) {
        const double start = now();
        int n = 0;
        for (; n < 50000 && (n % 64 != 0 || now() - start < 2e7); n++)
            if (nnrt_run(session, &in, 1, &out, 1) != NNRT_SUCCESS)
                return 1;
        best = (now() - start) / n < best ? (now() - start) / n : best;
    }
    printf("%.0f\n", best);
    free(in.data);
    free(out.data);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc && status == 0; i++)
        status = bench(argv[i]);
    return status;
}
