/* Finds wake words in a sound with the networks of openWakeWord, and draws their scores in the terminal.

   wake [--scores] FOLDER FILE.wav WORD...

   FOLDER contains the networks. Each 80 ms of sound pass through three of them, like from a microphone:

       1280 samples, and the 480 before them   melspectrogram.onnx    8 mel frames of 32 bands
       the last 76 mel frames                  embedding_model.onnx   an embedding of 96 values
       the last embeddings, 16 for most words  WORD.onnx              a score from 0 to 1

   The words share the first two. Memory does not depend on the length of the sound; no step allocates any. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"
#include "../sound.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { RATE = 16000, STEP = 1280, SAMPLES = 480 + STEP, BANDS = 32, NEW_FRAMES = 8, FRAMES = 76, EMBEDDING = 96 };
enum { EMBEDDINGS = 40, WORDS = 8 };                   /* maximum embeddings of a word; maximum words */
enum { NOISE_STEPS = 50, COLUMNS = 60, WIDTH = 5 };    /* columns of the picture; steps of a column */
static const double least_score = 0.5, refractory = 2; /* seconds until the same word is found again */

typedef struct network {
    const char *name;         /* it has one input and one output, float32 */
    NNRT_Model *file, *model; /* model: with the sizes of its input; it uses the constants of `file` in place */
    nnrt_session *session;
    void *block;           /* memory of the session */
    size_t bytes, in, out; /* size of the session; number of values of input and output */
} network;

typedef struct listener {
    network nets[2 + WORDS]; /* mel spectrogram, embedding, words */
    int words;
    float samples[SAMPLES], frames[FRAMES * BANDS], embeddings[EMBEDDINGS * EMBEDDING]; /* the last ones */
    float rows[1 + WORDS];             /* of this step: peak of the samples, scores */
    float columns[1 + WORDS][COLUMNS]; /* the picture: the maximum of WIDTH steps each */
    uint32_t steps;
    double deaf[WORDS]; /* seconds: the word is not found again before this time */
} listener;

/* Loads FOLDER/NAME.onnx and creates a session in a buffer of exactly the required size. The input must have `unit`
   values, or a multiple up to `most`, and the output `out`. input: name and shape, if the file has dynamic ones. */
static bool open_network(network *n, const char *folder, const char *name, const nnrt_input *input, size_t unit,
                         size_t most, size_t out)
{
    char path[1024];
    nnrt_session_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    n->name = name;
    snprintf(path, sizeof(path), "%s/%s.onnx", folder, name);
    if (nnrt_onnx_load(&n->file, path, NULL, &error) == NNRT_SUCCESS &&
        nnrt_model_fix(&n->model, n->file, input, input != NULL, &error) == NNRT_SUCCESS &&
        nnrt_session_bytes(n->model, &desc, &n->bytes, &error) == NNRT_SUCCESS &&
        (n->block = malloc(n->bytes + NNRT_ALIGNMENT)) != NULL) {
        desc.buffer = (char *)n->block + NNRT_ALIGNMENT - (uintptr_t)n->block % NNRT_ALIGNMENT;
        desc.bufferBytes = n->bytes;
        (void)nnrt_session_create(&n->session, n->model, &desc, &error);
    }
    if (n->session == NULL)
        return fprintf(stderr, "%s: %s\n", path, error.message[0] != '\0' ? error.message : "not enough memory"), false;
    const nnrt_io_info from = nnrt_session_input(n->session, 0), to = nnrt_session_output(n->session, 0);
    n->in = from.bytes / sizeof(float);
    n->out = to.bytes / sizeof(float);
    if (n->in >= unit && n->in % unit == 0 && n->in <= most && from.dataType == NNRT_DATA_TYPE_FLOAT32 &&
        n->out == out && to.dataType == NNRT_DATA_TYPE_FLOAT32)
        return true;
    fprintf(stderr, "%s: %zu values to %zu; expected n * %zu to %zu in float32, n from 1 to %zu (see `make wake`)\n",
            path, n->in, n->out, unit, out, most / unit);
    return false;
}

static bool run(const network *n, float *in, float *out)
{
    nnrt_io from = nnrt_io_make(in, n->in * sizeof(float)), to = nnrt_io_make(out, n->out * sizeof(float));
    return nnrt_run(n->session, &from, 1, &to, 1) == NNRT_SUCCESS ||
           (fprintf(stderr, "%s: %s\n", n->name, nnrt_session_error(n->session)), false);
}

/* Moves the last values of the array to its front. Returns where the next `more` values belong. */
static float *shift(float *values, size_t count, size_t more)
{
    memmove(values, values + more, (count - more) * sizeof(float));
    return values + count - more;
}

/* Computes the scores of all words for l->samples, in the range of 16-bit integers. */
static bool step(listener *l)
{
    float *frames = shift(l->frames, FRAMES * BANDS, NEW_FRAMES * BANDS);
    float *embedding = shift(l->embeddings, EMBEDDINGS * EMBEDDING, EMBEDDING);
    bool good = run(&l->nets[0], l->samples, frames);
    for (int i = 0; i < NEW_FRAMES * BANDS; i++)
        frames[i] = frames[i] / 10 + 2;
    good = good && run(&l->nets[1], l->frames, embedding);
    for (int w = 0; w < l->words && good; w++)
        good = run(&l->nets[2 + w], embedding + EMBEDDING - l->nets[2 + w].in, &l->rows[1 + w]);
    return good;
}

/* Adds the step, with these samples, to the last column of the picture, or to a new one. */
static void draw(listener *l, const float *x)
{
    l->rows[0] = 0;
    for (int i = 0; i < STEP; i++)
        l->rows[0] = fmaxf(l->rows[0], fabsf(x[i]) / 32768);
    for (int r = 0; r <= l->words; r++) {
        float *last = &l->columns[r][COLUMNS - 1];
        if (l->steps % WIDTH == 0)
            *shift(l->columns[r], COLUMNS, 1) = 0;
        *last = fmaxf(*last, l->rows[r]);
    }
    l->steps++;
}

/* Prints a row of bars for the sound and for each word, time and memory. */
static void show(const listener *l, double seconds)
{
    size_t bytes = 0;
    for (int r = 0; r <= l->words; r++) {
        printf("%-16s ", r == 0 ? "sound" : l->nets[1 + r].name);
        for (int k = 0; k < COLUMNS; k++) {
            const int eighths = (int)fminf(8, fmaxf(0, l->columns[r][k] * 8 + 0.5f));
            (void)(eighths == 0 ? putchar(' ') : printf("\xe2\x96%c", 0x80 + eighths));
        }
        printf("\n");
    }
    for (int i = 0; i < 2 + l->words; i++)
        bytes += l->nets[i].bytes;
    printf("%.2f ms per 80 ms of sound; memory: %zu bytes in %d sessions, %zu of sound, features and picture\n",
           seconds * 1000 / (l->steps + NOISE_STEPS), bytes, 2 + l->words, sizeof(*l));
}

/* Prints the words that are found, or all scores, while it reads the sound. Noise precedes it, as in openWakeWord: some
   words have high scores while their embeddings are zeros. */
static bool listen(listener *l, sound *s, bool all)
{
    const clock_t start = clock();
    uint32_t random = 1;
    for (int k = -NOISE_STEPS; s->done < s->count; k++) {
        float *x = shift(l->samples, SAMPLES, STEP);
        const double now = (k + 1.0) * STEP / RATE;
        if (k >= 0 && !read_samples(s, x, STEP))
            return false;
        for (int i = 0; i < STEP; i++)
            x[i] = k >= 0 ? x[i] * 32768 : (float)((random = random * 1664525 + 1013904223) >> 16) / 32.768f - 1000;
        if (!step(l))
            return false;
        for (int w = 0; w < l->words && k >= 0; w++) {
            const bool found = (double)l->rows[1 + w] >= least_score && now >= l->deaf[w];
            if (found || all)
                printf("%6.2f s  %s  %.*f\n", now, l->nets[2 + w].name, all ? 7 : 3, (double)l->rows[1 + w]);
            l->deaf[w] = found ? now + refractory : l->deaf[w];
        }
        fflush(stdout);
        if (k >= 0)
            draw(l, x);
    }
    if (!all)
        show(l, (double)(clock() - start) / CLOCKS_PER_SEC);
    return true;
}

int main(int argc, char **argv)
{
    static const nnrt_input samples = {"input", {2, {1, SAMPLES}}, NULL};
    static const nnrt_input frames = {"input_1", {4, {1, FRAMES, BANDS, 1}}, NULL};
    static listener l;
    const bool all = argc > 1 && strcmp(argv[1], "--scores") == 0, help = argc == 2 && strcmp(argv[1], "--help") == 0;
    bool good;
    sound s;
    l.words = argc - all - 3;
    if (help || l.words < 1 || l.words > WORDS || argv[1 + all][0] == '-')
        return fputs("usage: wake [--scores] FOLDER FILE.wav WORD...\n"
                     "Finds up to 8 wake words in 16-bit sound of 16000 samples per second. FOLDER contains\n"
                     "melspectrogram.onnx, embedding_model.onnx and WORD.onnx; `make wake` fetches them.\n"
                     "--scores prints every score. Exit status: 0 done, 1 error, 2 wrong usage.\n",
                     help ? stdout : stderr),
               help ? 0 : 2;
    argv += 1 + all; /* FOLDER FILE.wav WORD... */
    good = open_sound(&s, argv[1]) &&
           (s.rate == RATE || refuse(&s, "8000 samples per second, expected 16000: sox IN.wav -r 16000 OUT.wav")) &&
           open_network(&l.nets[0], argv[0], "melspectrogram", &samples, SAMPLES, SAMPLES, NEW_FRAMES * BANDS) &&
           open_network(&l.nets[1], argv[0], "embedding_model", &frames, FRAMES * BANDS, FRAMES * BANDS, EMBEDDING);
    for (int i = 2; i < 2 + l.words && good; i++)
        good = open_network(&l.nets[i], argv[0], argv[i], NULL, EMBEDDING, EMBEDDINGS * EMBEDDING, 1);
    good = good && listen(&l, &s, all);
    for (int i = 0; i < 2 + l.words; i++) {
        nnrt_session_destroy(l.nets[i].session);
        nnrt_model_destroy(l.nets[i].model);
        nnrt_model_destroy(l.nets[i].file);
        free(l.nets[i].block);
    }
    if (s.file != NULL)
        fclose(s.file);
    return good ? 0 : 1;
}
