/* Prints the probability of speech for each piece of 32 ms of some sounds, of 16 or 8 kHz, with one model.

   stream silero_vad_v5.onnx FILE.wav...

   The smallest program for a network with a state. The model is loaded without any size or value. A session has the
   sizes for one rate. sr, the rate, is an input of each run here, by which the network chooses a branch; vad.c gives its
   value to the session, which is then smaller. The program keeps the state: each run reads one array and writes the other. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include "../sound.h"

static int stream(const NNRT_Model *model, const char *path)
{
    float input[64 + 512] = {0}, state[2][256] = {{0}}, probability;
    nnrt_session *session = NULL;
    nnrt_error error;
    sound s;
    if (!open_sound(&s, path))
        return 1;
    int64_t rate = s.rate;
    const uint32_t context = s.rate / 250, piece = s.rate / 1000 * 32;
    const nnrt_input sizes[] = {{"input", {2, {1, (int32_t)(context + piece)}}, NULL},
                                {"state", {3, {2, 1, 128}}, NULL}};
    const nnrt_session_desc desc = {.inputs = sizes, .inputCount = 2};
    if (nnrt_session_create(&session, model, &desc, &error) != NNRT_SUCCESS)
        return fprintf(stderr, "%s\n", error.message), 1;
    for (int run = 0; s.done < s.count; run++) {
        float *now = state[run % 2], *next = state[1 - run % 2];
        const nnrt_io in[] = {{input, (context + piece) * sizeof(float), NULL}, {now, 1024, NULL}, {&rate, 8, NULL}};
        const nnrt_io out[] = {{&probability, sizeof(float), NULL}, {next, 1024, NULL}};
        if (!read_samples(&s, input + context, piece))
            return 1;
        if (nnrt_run(session, in, 3, out, 2) != NNRT_SUCCESS)
            return fprintf(stderr, "%s\n", nnrt_session_error(session)), 1;
        printf("%.9g\n", (double)probability);
        memmove(input, input + piece, context * sizeof(float));
    }
    nnrt_session_destroy(session);
    return fclose(s.file);
}

int main(int argc, char **argv)
{
    NNRT_Model *model;
    nnrt_error error;
    int status = 0;
    if (argc < 3)
        return fputs("usage: stream silero_vad_v5.onnx FILE.wav...\n", stderr), 2;
    if (nnrt_onnx_load(&model, argv[1], NULL, &error) != NNRT_SUCCESS)
        return fprintf(stderr, "%s: %s\n", argv[1], error.message), 1;
    for (int i = 2; i < argc && status == 0; i++)
        status = stream(model, argv[i]);
    nnrt_model_destroy(model);
    return status;
}
