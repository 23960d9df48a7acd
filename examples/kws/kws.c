/* Finds spoken words in a sound file.

   kws [--model MODEL] FILE.wav           prints a line for each detected word
   kws --features ROWS FILE.wav           writes the features of the sound, which sounds.py trains the network on

   The sound is read piece by piece, like from a microphone. The front end and the decision (kws.h) compute in integers, and
   the network has int8 inputs and outputs: firmware.c on a microcontroller has the same results, bit for bit. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include "../sound.h"
#include "kws.h"

#include <stdlib.h>
#include <time.h>

enum { PIECE = 1600 }; /* samples that are read at once */

static const char *const classes[KWS_COUNT] = {KWS_CLASSES};
static const float training_scale = 1.0f / 256; /* of the features that --features writes */

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return false;
}

/* ---- samples and features ---- */

static bool open_mono(sound *s, const char *path)
{
    if (!open_sound(s, path))
        return false;
    return s->rate == 16000 ||
           fail(path, "8000 samples per second, expected 16000; convert it: sox IN.wav -r 16000 OUT.wav");
}

/* Reads the next n samples. After the end: silence. */
static bool read_piece(sound *s, int16_t *x, uint32_t n)
{
    float values[PIECE];
    if (!read_samples(s, values, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        x[i] = (int16_t)(values[i] * 32768);
    return true;
}

/* A front end and the memory of a stream. */
typedef struct extractor {
    nnrt_frontend frontend;
    void *tables, *memory;
    size_t tableBytes, memoryBytes;
} extractor;

static bool open_extractor(extractor *e, NNRT_DataType output, float scale, int32_t zeroPoint)
{
    nnrt_frontend_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
#define SET(member, value) desc.member = value;
    KWS_FRONTEND(SET)
#undef SET
    desc.output = output;
    desc.scale = scale;
    desc.zeroPoint = zeroPoint;
    if (nnrt_frontend_size(&desc, &e->tableBytes, &e->memoryBytes, &error) != NNRT_SUCCESS)
        return fail("the front end", error.message);
    e->tables = malloc(e->tableBytes);
    e->memory = malloc(e->memoryBytes);
    if (e->tables == NULL || e->memory == NULL)
        return fail("the front end", "not enough memory");
    return nnrt_frontend_init(&e->frontend, &desc, e->tables, e->tableBytes, &error) == NNRT_SUCCESS ||
           fail("the front end", error.message);
}

static void close_extractor(extractor *e)
{
    free(e->tables);
    free(e->memory);
}

/* Writes the rows of a piece, int16 in the byte order of this machine. */
static bool write_rows(nnrt_frontend_stream *stream, const int16_t *samples, size_t count, FILE *file)
{
    int16_t row[KWS_FEATURES];
    bool ready;
    while (count > 0) {
        const size_t used = nnrt_frontend_push(stream, samples, count, row, &ready);
        samples += used;
        count -= used;
        if (ready && fwrite(row, sizeof(row), 1, file) != 1)
            return false;
    }
    return true;
}

/* Writes the features of a whole sound. */
static bool write_features(sound *s, const char *path)
{
    extractor e;
    nnrt_frontend_stream stream;
    int16_t piece[PIECE];
    FILE *file = fopen(path, "wb");
    bool good;
    memset(&e, 0, sizeof(e));
    good = (file != NULL || fail(path, "cannot be created")) &&
           open_extractor(&e, NNRT_DATA_TYPE_INT16, training_scale, 0) &&
           nnrt_frontend_start(&stream, &e.frontend, e.memory, e.memoryBytes) == NNRT_SUCCESS;
    while (good && s->done < s->count) {
        const uint32_t left = s->count - s->done, n = left < PIECE ? left : PIECE;
        good = read_piece(s, piece, n) && (write_rows(&stream, piece, n, file) || fail(path, "cannot be written"));
    }
    if (file != NULL && fclose(file) != 0)
        good = fail(path, "cannot be written");
    close_extractor(&e);
    return good;
}

/* ---- the network ---- */

typedef struct network {
    NNRT_Model *model;
    nnrt_session *session;
    float scale; /* quantization parameters of the input */
    int32_t zeroPoint;
} network;

/* Whether the session has one input of rows and one output of scores, both int8, and the input one scale. */
static bool fits(network *n)
{
    const nnrt_io_info in = nnrt_session_input(n->session, 0), out = nnrt_session_output(n->session, 0);
    const NNRT_Tensor *t;
    if (nnrt_session_inputs(n->session) != 1 || nnrt_session_outputs(n->session) != 1 ||
        in.dataType != NNRT_DATA_TYPE_INT8 || in.bytes != sizeof(((kws_spotter *)NULL)->rows) ||
        out.dataType != NNRT_DATA_TYPE_INT8 || out.bytes != KWS_COUNT)
        return false;
    t = &n->model->allTensors.data[n->model->inputIndex.data[0]];
    if (t->quantParams.count != 1)
        return false;
    n->scale = (float)t->quantParams.data[0].scale;
    n->zeroPoint = t->quantParams.data[0].zeroPoint;
    return true;
}

static bool open_network(network *n, const char *path)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_onnx_load(&n->model, path, NULL, &error) != NNRT_SUCCESS ||
        nnrt_session_create(&n->session, n->model, NULL, &error) != NNRT_SUCCESS)
        return fail(path, error.message);
    return fits(n) ||
           fail(path, "the model must have one input of 49 x 10 features, with one scale, and one output of 12 "
                      "scores, both int8: nnrt quantize --int8-io writes such a file");
}

static void close_network(network *n)
{
    nnrt_session_destroy(n->session);
    nnrt_model_destroy(n->model);
}

static bool run_network(network *n, kws_spotter *s, int8_t scores[KWS_COUNT])
{
    nnrt_io in = nnrt_io_make(s->rows, sizeof(s->rows)), out = nnrt_io_make(scores, KWS_COUNT);
    return nnrt_run(n->session, &in, 1, &out, 1) == NNRT_SUCCESS || fail("run", nnrt_session_error(n->session));
}

/* ---- the program ---- */

/* Pushes a piece whose first sample is number `first`; prints the words that end in it. */
static bool listen_to(kws_spotter *s, network *n, const int16_t *piece, uint32_t count, uint32_t first)
{
    int8_t scores[KWS_COUNT];
    int32_t mean, word;
    bool run;
    for (uint32_t at = 0; at < count;) {
        at += (uint32_t)kws_push(s, piece + at, count - at, &run);
        if (!run)
            continue;
        if (!run_network(n, s, scores))
            return false;
        word = kws_detect(s, scores, &mean);
        if (word >= 0)
            printf("%7.2f s  %-5s %3d %%\n", (double)(first + at) / 16000, classes[word], (int)(mean * 100 / 256));
    }
    return true;
}

/* Prints the words of a sound. A sound shorter than a window is followed by silence. */
static bool spot(sound *s, network *n, extractor *e)
{
    kws_spotter spotter;
    int16_t piece[PIECE];
    nnrt_session_memory memory;
    double began = seconds(), took;
    if (kws_start(&spotter, &e->frontend, e->memory, e->memoryBytes) != NNRT_SUCCESS)
        return fail("the front end", "cannot start");
    for (uint32_t first = 0; first < s->count || spotter.runs == 0; first += PIECE)
        if (!read_piece(s, piece, PIECE) || !listen_to(&spotter, n, piece, PIECE, first))
            return false;
    took = seconds() - began;
    memory = nnrt_session_get_memory(n->session);
    printf("%.2f s of sound, %.2f %% of real time\n", (double)s->count / s->rate, 100 * took * s->rate / s->count);
    printf("memory: arena %zu bytes, spotter %zu, front end %zu and %zu of constant tables\n", memory.arena,
           sizeof(spotter), e->memoryBytes, e->tableBytes);
    return true;
}

static int usage(FILE *f)
{
    fprintf(
        f,
        "usage: kws [--model MODEL] FILE.wav\n"
        "       kws --features ROWS FILE.wav\n"
        "Finds the words yes, no, up, down, left, right, on, off, stop and go in a WAV file: 16 bits, 16000 samples\n"
        "per second. Default MODEL: examples/kws/kws_int8.onnx. --features writes the features of the sound, int16.\n");
    return f == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    const char *model = "examples/kws/kws_int8.onnx", *rows = NULL, *path = NULL;
    network n;
    extractor e;
    sound s;
    bool good;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout);
        else if (strcmp(argv[i], "--model") == 0 && i + 1 < argc)
            model = argv[++i];
        else if (strcmp(argv[i], "--features") == 0 && i + 1 < argc)
            rows = argv[++i];
        else if (argv[i][0] == '-' || path != NULL)
            return usage(stderr);
        else
            path = argv[i];
    }
    if (path == NULL)
        return usage(stderr);
    memset(&n, 0, sizeof(n));
    memset(&e, 0, sizeof(e));
    good = open_mono(&s, path);
    if (rows != NULL)
        good = good && write_features(&s, rows);
    else
        good = good && open_network(&n, model) && open_extractor(&e, NNRT_DATA_TYPE_INT8, n.scale, n.zeroPoint) &&
               spot(&s, &n, &e);
    close_extractor(&e);
    close_network(&n);
    if (s.file != NULL)
        fclose(s.file);
    return good ? 0 : 1;
}
