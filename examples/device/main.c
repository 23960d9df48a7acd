/* Runs a network on the device of device.h and on the reference device, and prints the largest difference of their
   results.
   cc -std=c99 -I. examples/device/main.c -o device -lm && ./device MODEL */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 }; /* inputs or outputs */

typedef struct place { /* a session and its buffers */
    nnrt_session *session;
    nnrt_io in[MOST], out[MOST];
    uint32_t nIn, nOut;
} place;

/* Fills float32 inputs with values from -1 to 1, the same on every device; others with 0. */
static bool fill(nnrt_io *io, NNRT_DataType type, size_t bytes)
{
    *io = nnrt_io_make(calloc(1, bytes + 1), bytes);
    for (size_t i = 0; io->data != NULL && type == NNRT_DATA_TYPE_FLOAT32 && i < bytes / sizeof(float); i++)
        ((float *)io->data)[i] = (float)(i * 7919u % 2001u) / 1000.0f - 1.0f;
    return io->data != NULL;
}

static NNRT_ReturnCode run_on(const char *device, const NNRT_Model *model, place *p, nnrt_error *error)
{
    nnrt_session_desc desc;
    NNRT_ReturnCode code;
    memset(p, 0, sizeof(*p));
    memset(&desc, 0, sizeof(desc));
    desc.device = device;
    if ((code = nnrt_session_create(&p->session, model, &desc, error)) != NNRT_SUCCESS)
        return code;
    p->nIn = nnrt_session_inputs(p->session);
    p->nOut = nnrt_session_outputs(p->session);
    if (p->nIn > MOST || p->nOut > MOST)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "more than %d inputs or outputs", MOST);
    for (uint32_t i = 0; i < p->nIn + p->nOut; i++) {
        const bool input = i < p->nIn;
        const nnrt_io_info info =
            input ? nnrt_session_input(p->session, i) : nnrt_session_output(p->session, i - p->nIn);
        if (!fill(input ? &p->in[i] : &p->out[i - p->nIn], input ? info.dataType : NNRT_DATA_TYPE_UNKNOWN, info.bytes))
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "no memory for '%s'", info.name);
    }
    code = nnrt_run(p->session, p->in, p->nIn, p->out, p->nOut);
    return code == NNRT_SUCCESS ? code : nnrt_error_set(error, code, "%s", nnrt_session_error(p->session));
}

/* The largest difference of the float32 outputs; infinity if outputs of another type differ. */
static double difference(const place *a, const place *b)
{
    double most = 0;
    for (uint32_t i = 0; i < a->nOut; i++) {
        const float *x = (const float *)a->out[i].data, *y = (const float *)b->out[i].data;
        const size_t bytes = a->out[i].bytes;
        if (memcmp(x, y, bytes) != 0 && nnrt_session_output(a->session, i).dataType != NNRT_DATA_TYPE_FLOAT32)
            return HUGE_VAL;
        for (size_t k = 0; memcmp(x, y, bytes) != 0 && k < bytes / sizeof(float); k++) {
            const double off = x[k] == y[k] ? 0 : fabs((double)x[k] - (double)y[k]);
            most = off <= most ? most : off; /* NaN counts as the largest */
        }
    }
    return most;
}

static void end(place *p)
{
    for (uint32_t i = 0; i < MOST; i++) {
        free(p->in[i].data);
        free(p->out[i].data);
    }
    nnrt_session_destroy(p->session);
}

int main(int argc, char **argv)
{
    static place reference, example;
    NNRT_Model *model = NULL;
    nnrt_error error;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    if (argc != 2) {
        fputs("usage: device MODEL\n", stderr);
        return 1;
    }
    if ((code = example_device_register(&error)) == NNRT_SUCCESS &&
        (code = nnrt_onnx_load(&model, argv[1], NULL, &error)) == NNRT_SUCCESS &&
        (code = run_on("reference", model, &reference, &error)) == NNRT_SUCCESS &&
        (code = run_on("example", model, &example, &error)) == NNRT_SUCCESS)
        printf("largest difference: %g; steps: %u on reference, %u on example\n", difference(&reference, &example),
               (unsigned)nnrt_session_get_memory(reference.session).steps,
               (unsigned)nnrt_session_get_memory(example.session).steps);
    else
        fprintf(stderr, "%s\n", error.message[0] != '\0' ? error.message : nnrt_code_name(code));
    end(&reference);
    end(&example);
    nnrt_model_destroy(model);
    (void)nnrt_device_unregister("example");
    return code != NNRT_SUCCESS;
}
