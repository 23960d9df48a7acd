/* Finds speech in a sound file and draws it in the terminal.

   vad [--ascii] [--threshold P] [--model MODEL] FILE.wav

   The network processes the sound piece by piece, like from a microphone: the input of a run is the next samples, and
   the session keeps the state from run to run. Memory does not depend on the length of the sound. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include "../sound.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/ioctl.h>
#include <unistd.h>
#endif

enum {
    PIECE = 1536,    /* maximum samples of a run, and */
    CONTEXT = 64,    /* the last samples of the previous run, which some networks need again */
    COLUMNS = 200,   /* maximum width of the picture */
    WAVE_LINES = 6,  /* of the picture: the waveform, */
    SPEECH_LINES = 2 /* and the probability of speech */
};

static const double least_speech = 0.25, least_pause = 0.4; /* seconds: shorter ones are ignored */

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- the network ---- */

/* Interface of a kind of network. All have the inputs "input" and "sr" and the output "output", the probability of
   speech. */
typedef struct network_kind {
    const char *states; /* values from run to run, 2 x 1 x width each: input and output of each */
    const char *in[2];  /* their inputs; NULL: there is one */
    int32_t width;
    uint32_t piece, context; /* samples at 16 kHz; half as many at 8 kHz */
} network_kind;

static const network_kind kinds[] = {
    {"state=stateN", {"state", NULL}, 128, 512, 64}, /* silero_vad_v5.onnx and silero_vad_v6.onnx */
    {"h=hn\nc=cn", {"h", "c"}, 64, 1536, 0}          /* silero_vad_legacy.onnx */
};

/* A network and its samples between runs. */
typedef struct detector {
    NNRT_Model *model;
    nnrt_session *session;
    void *block; /* allocated memory of the session */
    size_t bytes;
    uint32_t piece, context;
    float input[CONTEXT + PIECE]; /* context, then the piece */
} detector;

/* Imports the model as this kind, for one sampling rate: the branch for the other rate is not imported. Its sessions keep
   the states. */
static NNRT_ReturnCode load_kind(detector *d, const network_kind *k, const char *path, uint32_t rate, nnrt_error *error)
{
    const int64_t rateValue = rate;
    nnrt_metadata states;
    NNRT_ReturnCode code;
    nnrt_onnx_input inputs[4];
    nnrt_onnx_desc desc;
    memset(inputs, 0, sizeof(inputs));
    memset(&desc, 0, sizeof(desc));
    d->piece = k->piece * rate / 16000;
    d->context = k->context * rate / 16000;
    inputs[0].name = "input";
    inputs[0].shape.rank = 2;
    inputs[0].shape.dims[0] = 1;
    inputs[0].shape.dims[1] = (int32_t)(d->context + d->piece);
    inputs[1].name = "sr";
    inputs[1].data = &rateValue;
    desc.inputs = inputs;
    desc.inputCount = 2;
    for (int32_t i = 0; i < 2 && k->in[i] != NULL; i++) {
        nnrt_onnx_input *s = &inputs[desc.inputCount++];
        s->name = k->in[i];
        s->shape.rank = 3;
        s->shape.dims[0] = 2;
        s->shape.dims[1] = 1;
        s->shape.dims[2] = k->width;
    }
    states.key = "states";
    states.value = k->states;
    code = nnrt_onnx_load(&d->model, path, &desc, error);
    if (code == NNRT_SUCCESS && (code = nnrt_model_annotate(&d->model, &states, 1, error)) != NNRT_SUCCESS) {
        nnrt_model_destroy(d->model);
        d->model = NULL;
    }
    return code;
}

static bool is_floats(const nnrt_io_info *io, const char *name, size_t floats)
{
    return strcmp(io->name, name) == 0 && io->dataType == NNRT_DATA_TYPE_FLOAT32 && io->bytes == floats * sizeof(float);
}

/* Checks that the session has exactly the input and the output of its kind. */
static bool fits(const detector *d)
{
    const nnrt_io_info in = nnrt_session_input(d->session, 0), out = nnrt_session_output(d->session, 0);
    return nnrt_session_inputs(d->session) == 1 && nnrt_session_outputs(d->session) == 1 &&
           is_floats(&in, "input", d->context + d->piece) && is_floats(&out, "output", 1);
}

/* Loads the model and creates its session in a buffer of exactly the required size. */
static bool open_detector(detector *d, const char *path, uint32_t rate)
{
    nnrt_session_desc desc;
    nnrt_error error, other;
    memset(d, 0, sizeof(*d));
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    memset(&other, 0, sizeof(other));
    if (load_kind(d, &kinds[0], path, rate, &error) != NNRT_SUCCESS &&
        load_kind(d, &kinds[1], path, rate, &other) != NNRT_SUCCESS) {
        fprintf(stderr, "%s: %s (make vad fetches a network)\n", path, error.message);
        return false;
    }
    if (nnrt_session_bytes(d->model, &desc, &d->bytes, &error) == NNRT_SUCCESS &&
        (d->block = malloc(d->bytes + NNRT_ALIGNMENT)) != NULL) {
        const uintptr_t at = (uintptr_t)d->block;
        desc.buffer = (char *)d->block + (NNRT_ALIGNMENT - at % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
        desc.bufferBytes = d->bytes;
        (void)nnrt_session_create(&d->session, d->model, &desc, &error);
    }
    if (d->session == NULL) {
        fprintf(stderr, "%s: %s\n", path, error.message[0] != '\0' ? error.message : "not enough memory");
        return false;
    }
    if (fits(d))
        return true;
    fprintf(stderr, "%s: its inputs and outputs match no network that this program supports\n", path);
    return false;
}

static void close_detector(detector *d)
{
    nnrt_session_destroy(d->session);
    nnrt_model_destroy(d->model);
    free(d->block);
}

/* Runs the network on the next d->piece samples: the probability of speech. */
static bool detect(detector *d, const float *piece, float *probability)
{
    nnrt_io in, out;
    memcpy(d->input + d->context, piece, d->piece * sizeof(float));
    in = nnrt_io_make(d->input, (d->context + d->piece) * sizeof(float));
    out = nnrt_io_make(probability, sizeof(*probability));
    if (nnrt_run(d->session, &in, 1, &out, 1) != NNRT_SUCCESS) {
        fprintf(stderr, "%s\n", nnrt_session_error(d->session));
        return false;
    }
    memmove(d->input, d->input + d->piece, d->context * sizeof(float));
    return true;
}

/* ---- pieces of speech ---- */

/* Speech begins where the probability reaches `begin` and ends where it falls below `end`, for a while. */
typedef struct segments {
    double begin, end; /* probabilities */
    bool inside, pause;
    double from, to; /* seconds: of the speech; to: where the pause begins */
    uint32_t count;
    double total; /* seconds of speech */
} segments;

static void end_segment(segments *s)
{
    if (s->inside && s->to - s->from >= least_speech) {
        printf("speech %8.2f s to %8.2f s\n", s->from, s->to);
        fflush(stdout);
        s->count++;
        s->total += s->to - s->from;
    }
    s->inside = s->pause = false;
}

/* Adds the piece from `from` to `to`. Returns whether it is speech, as far as known so far. */
static bool add_piece(segments *s, double from, double to, float probability)
{
    if ((double)probability >= s->begin && !s->inside) {
        s->inside = true;
        s->from = from;
    }
    if ((double)probability >= s->end)
        s->pause = false;
    else if (!s->pause) {
        s->pause = true;
        s->to = from;
    }
    if (!s->pause)
        s->to = to;
    if (s->pause && to - s->to >= least_pause)
        end_segment(s);
    return s->inside && !s->pause;
}

/* ---- the picture ---- */

/* A column shows a part of the sound. */
typedef struct picture {
    bool ascii;
    int columns;
    struct {
        float low, high, probability; /* of its samples; the largest */
        bool speech;
    } column[COLUMNS];
} picture;

static picture find_picture(bool ascii)
{
    picture p;
    memset(&p, 0, sizeof(p));
    p.ascii = ascii;
    p.columns = 78;
#if defined(__unix__) || defined(__APPLE__)
    if (isatty(STDOUT_FILENO)) {
        struct winsize size;
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 2)
            p.columns = size.ws_col - 2;
    }
#endif
    p.columns = p.columns > COLUMNS ? COLUMNS : p.columns;
    return p;
}

/* Records n samples from sample `first` on, and the network's result for them. */
static void note(picture *p, const sound *s, uint32_t first, const float *x, uint32_t n, float probability, bool speech)
{
    for (uint32_t i = 0; i < n && first + i < s->count; i++) {
        const uint32_t k = (uint32_t)((uint64_t)(first + i) * (uint64_t)p->columns / s->count);
        p->column[k].low = x[i] < p->column[k].low ? x[i] : p->column[k].low;
        p->column[k].high = x[i] > p->column[k].high ? x[i] : p->column[k].high;
        p->column[k].probability = probability > p->column[k].probability ? probability : p->column[k].probability;
        p->column[k].speech = p->column[k].speech || speech;
    }
}

/* Prints a character with two points, one above the other. */
static void print_points(const picture *p, bool upper, bool lower)
{
    static const char *const blocks[] = {" ", "\xe2\x96\x84", "\xe2\x96\x80", "\xe2\x96\x88"};
    const int which = (upper ? 2 : 0) + (lower ? 1 : 0);
    fputs(p->ascii ? (which == 0 ? " " : which == 3 ? "|" : upper ? "'" : ".") : blocks[which], stdout);
}

/* Prints a bar of `eighths` of a character's height. */
static void print_bar(const picture *p, int eighths)
{
    static const char shades[] = " .,:;=+*#";
    eighths = eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
    if (p->ascii)
        putchar(shades[eighths]);
    else if (eighths == 0)
        putchar(' ');
    else
        printf("\xe2\x96%c", (char)(0x80 + eighths));
}

/* Prints the waveform, the probability, and a line under speech. */
static void show_picture(const picture *p)
{
    float most = 1e-6f;
    for (int k = 0; k < p->columns; k++) {
        most = p->column[k].high > most ? p->column[k].high : most;
        most = -p->column[k].low > most ? -p->column[k].low : most;
    }
    printf("\n");
    for (int line = 0; line < WAVE_LINES; line++) {
        putchar(' ');
        for (int k = 0; k < p->columns; k++) {
            bool on[2];
            for (int half = 0; half < 2; half++) { /* from `above` down to `below`; silence is drawn, too */
                const float above = most * (1.0f - (float)(2 * line + half) / WAVE_LINES);
                const float below = above - most / WAVE_LINES;
                on[half] =
                    (p->column[k].high > below && p->column[k].low < above) || (half == 0 && line == WAVE_LINES / 2);
            }
            print_points(p, on[0], on[1]);
        }
        printf("\n");
    }
    for (int line = SPEECH_LINES - 1; line >= 0; line--) {
        putchar(' ');
        for (int k = 0; k < p->columns; k++)
            print_bar(p, (int)(p->column[k].probability * 8 * SPEECH_LINES + 0.5f) - 8 * line);
        printf("\n");
    }
    putchar(' ');
    for (int k = 0; k < p->columns; k++)
        fputs(!p->column[k].speech ? " " : p->ascii ? "=" : "\xe2\x94\x81", stdout);
    printf("\n\n");
}

/* ---- the program ---- */

static void show_result(const detector *d, const sound *s, const segments *found, const picture *p, double took,
                        uint32_t runs)
{
    const nnrt_session_memory m = nnrt_session_get_memory(d->session);
    const double length = (double)s->count / s->rate;
    show_picture(p);
    printf("%u piece%s of speech, %.2f s of %.2f s\n", (unsigned)found->count, found->count == 1 ? "" : "s",
           found->total, length);
    printf("time %.3f ms per piece of %.0f ms, %.2f %% of real time\n", took * 1000 / runs, 1000.0 * d->piece / s->rate,
           100 * took * s->rate / ((double)runs * d->piece));
    printf("memory %zu bytes, the session's buffer; after planning it uses %zu of them: arena %zu, tables and plan "
           "%zu\n",
           d->bytes, m.total, m.arena, m.total - m.arena);
    printf("samples %zu bytes; weights, used in place in the model: %zu bytes\n",
           ((size_t)d->context + d->piece) * sizeof(float), m.constants);
}

/* Runs the network over the sound, piece by piece. */
static bool listen(detector *d, sound *s, segments *found, picture *p)
{
    double took = 0;
    uint32_t runs = 0;
    while (s->done < s->count) {
        const uint32_t first = s->done;
        float piece[PIECE], probability = 0;
        bool speech;
        if (!read_samples(s, piece, d->piece))
            return false;
        took -= seconds();
        if (!detect(d, piece, &probability))
            return false;
        took += seconds();
        runs++;
        speech = add_piece(found, (double)first / s->rate, (double)s->done / s->rate, probability);
        note(p, s, first, piece, d->piece, probability, speech);
    }
    end_segment(found);
    show_result(d, s, found, p, took, runs);
    return true;
}

static int usage(FILE *f)
{
    fprintf(f,
            "usage: vad [--ascii] [--threshold P] [--model MODEL] FILE.wav\n"
            "Finds speech in a WAV file: 16 bits, 1 or 2 channels, 16000 or 8000 samples per second.\n"
            "Default MODEL: build/vad-data/silero_vad_v5.onnx; make vad fetches it and others to that folder. Speech\n"
            "begins where its probability is at least P, from 0.2 to 1, default 0.5, and ends where it is 0.15 less.\n"
            "--ascii draws without block characters.\n");
    return f == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    static detector d;
    const char *model = NULL, *path = NULL, *threshold = "0.5";
    char *end = NULL;
    bool ascii = false, good;
    sound s;
    segments found;
    picture p;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout);
        else if (strcmp(argv[i], "--ascii") == 0)
            ascii = true;
        else if (strcmp(argv[i], "--threshold") == 0 && i + 1 < argc)
            threshold = argv[++i];
        else if (strcmp(argv[i], "--model") == 0 && i + 1 < argc)
            model = argv[++i];
        else if (argv[i][0] == '-' || path != NULL)
            return usage(stderr);
        else
            path = argv[i];
    }
    memset(&found, 0, sizeof(found));
    found.begin = strtod(threshold, &end);
    found.end = found.begin - 0.15;
    if (path == NULL || *end != '\0' || !(found.begin >= 0.2 && found.begin <= 1))
        return usage(stderr);
    p = find_picture(ascii);
    good = open_sound(&s, path) &&
           open_detector(&d, model != NULL ? model : "build/vad-data/silero_vad_v5.onnx", s.rate) &&
           listen(&d, &s, &found, &p);
    close_detector(&d);
    if (s.file != NULL)
        fclose(s.file);
    return good ? 0 : 1;
}
