/* Prints the probability of speech for each piece of 32 ms of some sounds, of 16 or 8 kHz, with one model.

   stream silero_vad_v5.onnx FILE.wav...      - instead of FILE.wav: a WAV stream on standard input

   The smallest program for a network with a state. The model is loaded without any size or value; a session has the
   sizes for one rate. Here the rate, sr, is an input of each run, by which the network selects a branch; in vad.c it is a
   value of the session. The program keeps the state: each run reads one array and writes the other. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include "../sound.h"

static bool stream(const NNRT_Model *model, sound *s)
{
    const uint32_t context = s->rate / 250, piece = s->rate / 1000 * 32; /* samples of the piece before, of a piece */
    const nnrt_input inputs[] = {{"input", {2, {1, (int32_t)(context + piece)}}, NULL},
                                 {"state", {3, {2, 1, 128}}, NULL}};
    const nnrt_session_desc desc = {.inputs = inputs, .inputCount = 2};
    float input[64 + 512] = {0}, state[2][2 * 128] = {{0}}, probability = 0;
    int64_t rate = s->rate;
    nnrt_session *session = NULL;
    nnrt_error error;
    bool good = nnrt_session_create(&session, model, &desc, &error) == NNRT_SUCCESS;
    for (int k = 0; good && s->done < s->count; k = 1 - k) {
        const nnrt_io in[] = {nnrt_io_make(input, (context + piece) * sizeof(float)),
                              nnrt_io_make(state[k], sizeof(state[k])), nnrt_io_make(&rate, sizeof(rate))};
        const nnrt_io out[] = {nnrt_io_make(&probability, sizeof(probability)),
                               nnrt_io_make(state[1 - k], sizeof(state[k]))};
        good = read_samples(s, input + context, piece) && nnrt_run(session, in, 3, out, 2) == NNRT_SUCCESS;
        memmove(input, input + piece, context * sizeof(float));
        if (good)
            printf("%.9g\n", (double)probability);
    }
    if (!good)
        fprintf(stderr, "%s: %s\n", s->path, session != NULL ? nnrt_session_error(session) : error.message);
    nnrt_session_destroy(session);
    return good;
}

int main(int argc, char **argv)
{
    NNRT_Model *model;
    nnrt_error error;
    bool good = true;
    if (argc < 3)
        return fputs("usage: stream silero_vad_v5.onnx FILE.wav...\n", stderr), 2;
    if (nnrt_onnx_load(&model, argv[1], NULL, &error) != NNRT_SUCCESS)
        return fprintf(stderr, "%s: %s\n", argv[1], error.message), 1;
    for (int i = 2; i < argc && good; i++) {
        sound s;
        good = open_sound(&s, argv[i]) && stream(model, &s);
        if (s.file != NULL)
            fclose(s.file);
    }
    nnrt_model_destroy(model);
    return good ? 0 : 1;
}
