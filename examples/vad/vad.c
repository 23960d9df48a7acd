/* Finds speech in a sound and draws it in the terminal.

   vad [--threshold P] [--model MODEL] FILE.wav      - instead of FILE.wav: a WAV stream on standard input

   The sound is read piece by piece, like from a microphone: the input of a run is the next samples, and the session keeps
   the state of the network from run to run. Speech is printed when it ends. Memory does not depend on the length. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include "../sound.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { PIECE = 512, CONTEXT = 64 }; /* samples of a run at 16 kHz, half as many at 8 kHz, and of the one before it */

/* ---- the network: Silero VAD 5 or 6 ---- */

typedef struct detector {
    NNRT_Model *model;
    nnrt_session *session;
    uint32_t piece, context;
    float input[CONTEXT + PIECE];
} detector;

/* The model is for any sampling rate. The session is for one: its inputs have the sizes for that rate, and the value of
   the input sr selects one of two networks in the file. It keeps the state. */
static bool open_detector(detector *d, const char *path, uint32_t rate)
{
    static const nnrt_metadata states = {"states", "state=stateN"}; /* input=output */
    const int32_t samples = (int32_t)((CONTEXT + PIECE) * rate / 16000);
    const int64_t sr = rate;
    const nnrt_input inputs[] = {
        {"input", {2, {1, samples}}, NULL}, {"state", {3, {2, 1, 128}}, NULL}, {"sr", {0, {0}}, &sr}};
    const nnrt_session_desc desc = {.inputs = inputs, .inputCount = 3};
    nnrt_error error;
    d->piece = PIECE * rate / 16000;
    d->context = CONTEXT * rate / 16000;
    if (nnrt_onnx_load(&d->model, path, NULL, &error) == NNRT_SUCCESS &&
        nnrt_model_annotate(&d->model, &states, 1, &error) == NNRT_SUCCESS &&
        nnrt_session_create(&d->session, d->model, &desc, &error) == NNRT_SUCCESS)
        return true;
    fprintf(stderr, "%s: %s (expected Silero VAD 5 or 6; make vad fetches them)\n", path, error.message);
    return false;
}

/* ---- pieces of speech ---- */

/* Speech begins where the probability reaches the threshold, and ends where it is below threshold - hysteresis for
   least_pause seconds. Speech shorter than least_speech seconds is ignored. */
static const double hysteresis = 0.15, least_pause = 0.4, least_speech = 0.25;

typedef struct segments {
    double threshold;
    bool inside;
    double from, to, total; /* seconds: of the last segment, of all */
    uint32_t count;
} segments;

static void end_segment(segments *s)
{
    if (s->inside && s->to - s->from >= least_speech) {
        printf("speech %8.2f s to %8.2f s\n", s->from, s->to);
        fflush(stdout);
        s->count++;
        s->total += s->to - s->from;
    }
    s->inside = false;
}

/* Adds the piece from `from` to `to`. Returns whether it is speech, as far as known so far. */
static bool add_piece(segments *s, double from, double to, double probability)
{
    if (probability >= s->threshold && !s->inside) {
        s->inside = true;
        s->from = from;
    }
    if (probability >= s->threshold - hysteresis)
        s->to = to;
    if (to - s->to >= least_pause)
        end_segment(s);
    return s->inside && s->to == to;
}

/* ---- the picture ---- */

enum { LEVEL, PROBABILITY, SPEECH, ROWS, COLUMNS = 78 };
static const int heights[ROWS] = {4, 2, 1}; /* in lines */

/* A column shows the largest values of its pieces. When all columns are full, two become one: any length fits. */
typedef struct picture {
    uint32_t pieces, each; /* so far; of a column */
    float value[ROWS][COLUMNS], full[ROWS];
} picture;

static void add_column(picture *p, const float value[ROWS])
{
    const bool halve = p->pieces == COLUMNS * p->each;
    p->each *= halve ? 2 : 1;
    for (int row = 0; row < ROWS; row++) {
        float *column = p->value[row];
        for (int k = 0; k < COLUMNS && halve; k++)
            column[k] = k < COLUMNS / 2 ? fmaxf(column[2 * k], column[2 * k + 1]) : 0;
        column += p->pieces / p->each;
        *column = fmaxf(*column, value[row]);
        p->full[row] = fmaxf(p->full[row], value[row]);
    }
    p->pieces++;
}

/* Draws each row as bars of block characters, in eighths of a line. */
static void draw(const picture *p)
{
    for (int row = 0; row < ROWS; row++)
        for (int line = heights[row] - 1; line >= 0; line--, printf("\n"))
            for (uint32_t k = 0; k * p->each < p->pieces; k++) {
                const float height = 8 * (float)heights[row] * p->value[row][k] / p->full[row];
                const int bar = (int)(height + 0.5f) - 8 * line;
                printf(bar > 0 ? "\xe2\x96%c" : " ", 0x80 + (bar < 8 ? bar : 8));
            }
}

/* ---- the program ---- */

/* Runs the network over the sound, piece by piece; prints and draws the result. */
static bool listen(detector *d, sound *s, segments *found, picture *p)
{
    const clock_t start = clock();
    const nnrt_session_memory memory = nnrt_session_get_memory(d->session);
    float *piece = d->input + d->context;
    double took, length;
    p->each = s->count == UINT32_MAX ? 1 : s->count / d->piece / COLUMNS + 1;
    while (s->done < s->count) {
        const double from = (double)s->done / s->rate;
        float probability = 0, value[ROWS] = {0};
        nnrt_io in = nnrt_io_make(d->input, (d->context + d->piece) * sizeof(float));
        nnrt_io out = nnrt_io_make(&probability, sizeof(probability));
        if (!read_samples(s, piece, d->piece))
            return false;
        if (nnrt_run(d->session, &in, 1, &out, 1) != NNRT_SUCCESS)
            return fprintf(stderr, "%s\n", nnrt_session_error(d->session)), false;
        value[PROBABILITY] = fminf(fmaxf(probability, 0), 1);
        value[SPEECH] = add_piece(found, from, (double)s->done / s->rate, (double)probability);
        for (uint32_t i = 0; i < d->piece; i++)
            value[LEVEL] = fmaxf(value[LEVEL], fabsf(piece[i]));
        add_column(p, value);
        memmove(d->input, piece + d->piece - d->context, d->context * sizeof(float));
    }
    if (p->pieces == 0)
        return refuse(s, "has no samples");
    end_segment(found);
    took = (double)(clock() - start) / CLOCKS_PER_SEC;
    length = (double)s->count / s->rate;
    draw(p);
    printf("%u piece%s of speech, %.2f s of %.2f s\n", (unsigned)found->count, found->count == 1 ? "" : "s",
           found->total, length);
    printf("time %.3f ms per piece of %.0f ms, %.2f %% of real time\n", 1000 * took / p->pieces,
           1000.0 * d->piece / s->rate, 100 * took / length);
    printf("memory %zu bytes, arena %zu of them\n", memory.total, memory.arena);
    return true;
}

static int usage(FILE *f)
{
    fprintf(f,
            "usage: vad [--threshold P] [--model MODEL] FILE.wav\n"
            "Finds speech in a WAV file, or in a WAV stream on standard input (-): 16 bits, 1 or 2 channels, 16000 or\n"
            "8000 samples per second. Default MODEL: build/vad-data/silero_vad_v5.onnx, which make vad fetches.\n"
            "Speech begins where its probability is at least P, from 0.2 to 1, default 0.5; it ends at P - 0.15.\n");
    return f == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    static detector d;
    static picture p = {.full = {1e-6f, 1, 2}};
    segments found = {.threshold = 0.5};
    const char *model = "build/vad-data/silero_vad_v5.onnx", *path = NULL;
    char *end = "";
    bool good;
    sound s;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout);
        else if (strcmp(argv[i], "--threshold") == 0 && i + 1 < argc)
            found.threshold = strtod(argv[++i], &end);
        else if (strcmp(argv[i], "--model") == 0 && i + 1 < argc)
            model = argv[++i];
        else if ((argv[i][0] == '-' && argv[i][1] != '\0') || path != NULL)
            return usage(stderr);
        else
            path = argv[i];
    }
    if (path == NULL || *end != '\0' || !(found.threshold >= 0.2 && found.threshold <= 1))
        return usage(stderr);
    good = open_sound(&s, path) && open_detector(&d, model, s.rate) && listen(&d, &s, &found, &p);
    nnrt_session_destroy(d.session);
    nnrt_model_destroy(d.model);
    if (s.file != NULL)
        fclose(s.file);
    return good ? 0 : 1;
}
