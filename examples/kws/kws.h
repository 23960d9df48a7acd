/* kws.h - keyword spotting, from samples to words: the part that kws.c and firmware.c share.

   Sound becomes rows of MFCC (nnrt_frontend.h). Every KWS_STEP rows the network gets the last KWS_ROWS rows, about a second
   of sound, and computes a score for each class. A word is detected when its mean score over the last runs is high. */
#ifndef KWS_H
#define KWS_H

#include "core/nnrt_frontend.h"

#include <string.h>

/* The classes in the order of the network's output. The last two are never reported. sounds.py reads them here. */
#define KWS_CLASSES "yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go", "unknown", "silence"

/* Members of nnrt_frontend_desc; the network's input has its scale and zero point. qemu.py reads them here. */
#define KWS_FRONTEND(X)                                                                                                \
    X(rate, 16000)                                                                                                     \
    X(window, 512) X(hop, 320) X(fft, 512) X(mels, 32) X(lower, 60) X(upper, 7600) X(offset, 1e-6f) X(dct, 10)

enum {
    KWS_FEATURES = 10,   /* of a row; a row every 20 ms */
    KWS_ROWS = 49,       /* of the network's input */
    KWS_STEP = 5,        /* rows from one run to the next */
    KWS_WORDS = 10,      /* classes that are reported, */
    KWS_COUNT = 12,      /* and all classes */
    KWS_MEAN = 3,        /* runs of a mean score */
    KWS_THRESHOLD = 190, /* least mean score, 256 times a probability */
    KWS_PAUSE = 8        /* runs after a detection without another: a word stays in the window for a while */
};

/* A sound on its way. */
typedef struct kws_spotter {
    nnrt_frontend_stream stream;
    int8_t rows[KWS_ROWS * KWS_FEATURES]; /* the last ones, the oldest first: the network's input */
    int8_t scores[KWS_MEAN][KWS_COUNT];   /* of the last runs: run r is in r % KWS_MEAN */
    int32_t missing, runs, pause;         /* rows until the next run; runs so far, and without detections from now on */
} kws_spotter;

/* memory: nnrt_frontend_stream_bytes(frontend) bytes, aligned to 4. */
static NNRT_ReturnCode kws_start(kws_spotter *s, const nnrt_frontend *frontend, void *memory, size_t bytes)
{
    memset(s, 0, sizeof(*s));
    s->missing = KWS_ROWS;
    return nnrt_frontend_start(&s->stream, frontend, memory, bytes);
}

/* Reads samples until the network must run on s->rows, or all are read. Returns the number of samples that it read. */
static size_t kws_push(kws_spotter *s, const int16_t *samples, size_t count, bool *run)
{
    int8_t row[KWS_FEATURES];
    bool ready = false;
    const size_t used = nnrt_frontend_push(&s->stream, samples, count, row, &ready);
    *run = false;
    if (ready) {
        memmove(s->rows, s->rows + KWS_FEATURES, sizeof(s->rows) - sizeof(row));
        memcpy(s->rows + sizeof(s->rows) - sizeof(row), row, sizeof(row));
        *run = --s->missing == 0;
        s->missing = *run ? KWS_STEP : s->missing;
    }
    return used;
}

/* The sum of the scores of class k over the last `runs` runs, as 256 times a probability each. */
static int32_t kws_sum(const kws_spotter *s, int32_t k, int32_t runs)
{
    int32_t sum = 0;
    for (int32_t r = 0; r < runs; r++)
        sum += s->scores[r][k] + 128;
    return sum;
}

/* Takes the scores of a run: 256 p - 128 for each class. Returns the class of the detected word and its mean score, or -1. */
static int32_t kws_detect(kws_spotter *s, const int8_t *scores, int32_t *mean)
{
    int32_t best = 0, runs;
    memcpy(s->scores[s->runs % KWS_MEAN], scores, KWS_COUNT);
    s->runs++;
    runs = s->runs < KWS_MEAN ? s->runs : KWS_MEAN;
    for (int32_t c = 1; c < KWS_WORDS; c++)
        best = kws_sum(s, c, runs) > kws_sum(s, best, runs) ? c : best;
    *mean = kws_sum(s, best, runs) / runs;
    s->pause -= s->pause > 0 ? 1 : 0;
    if (s->pause > 0 || *mean < KWS_THRESHOLD)
        return -1;
    s->pause = KWS_PAUSE;
    return best;
}

#endif
