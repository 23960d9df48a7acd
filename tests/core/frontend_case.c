/* Prints a hash over the features of several front ends and signals, for tests/core/test_frontend_bits.sh: it must be the
   same from every compiler and on every processor. With -DFRONTEND_BOARD it runs without an operating system
   (examples/firmware), and also prints the instructions of one frame. With -DFRONTEND_EMITTED it is the front end
   of kws_frontend.h, which nnrt emit-frontend wrote, only. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC /* with NNRT_SELECT: compilers drop the operators at once, all but one, which a table needs */
#define NNRT_SELECT
#define NNRT_KEEP_SOFTMAX 1
#ifdef FRONTEND_BOARD
#include "board.h"
#else
#include <stdio.h>
#endif
#include "core/nnrt_frontend.h"
#ifdef FRONTEND_EMITTED
#include "kws_frontend.h"
#endif

enum { SAMPLES = 1600, ROOM = 3000 };

static int16_t signal[SAMPLES];
static uint32_t memory[ROOM];
#ifndef FRONTEND_EMITTED
static uint32_t tables[ROOM];
#endif

static void print(const char *name, uint32_t value)
{
#ifdef FRONTEND_BOARD
    char text[11];
    for (int i = 0; i < 8; i++)
        text[i] = "0123456789abcdef"[(value >> (28 - 4 * i)) & 15u];
    text[8] = '\n';
    text[9] = '\0';
    board_print(name);
    board_print("=");
    board_print(text);
#else
    printf("%s=%08lx\n", name, (unsigned long)value);
#endif
}

/* Fills signal: 0 silence, 1 full-scale square wave, 2 full-scale noise, 3 quiet noise, 4 a chirp of parabolas, 5 one
   impulse. */
static void make_signal(int kind)
{
    uint32_t seed = 1, phase = 0;
    for (int i = 0; i < SAMPLES; i++) {
        int32_t s, x;
        seed = seed * 1664525u + 1013904223u;
        phase += (uint32_t)i * 40000u;
        s = (int32_t)(seed >> 16) - 32768;
        x = (int32_t)(phase >> 18) & 0x1fff; /* a half wave: x (8192 - x) / 2048 */
        x = x * (8192 - x) / 2048;
        signal[i] = (int16_t)(kind == 0   ? 0
                              : kind == 1 ? (i / 40 % 2 ? -32768 : 32767)
                              : kind == 2 ? s
                              : kind == 3 ? s / 4096
                              : kind == 4 ? ((phase >> 31) != 0 ? -x : x)
                                          : (i == 700 ? 32767 : 0));
    }
}

static uint32_t hash_word(uint32_t hash, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        hash = (hash ^ ((word >> (8 * i)) & 0xffu)) * 16777619u;
    return hash;
}

static uint32_t hash_row(uint32_t hash, const nnrt_frontend *f, const void *row)
{
    for (int32_t i = 0; i < f->features; i++) {
        uint32_t word = 0;
        if (f->output == NNRT_DATA_TYPE_INT8)
            word = (uint32_t)((const int8_t *)row)[i];
        else if (f->output == NNRT_DATA_TYPE_INT16)
            word = (uint32_t)((const int16_t *)row)[i];
        else
            memcpy(&word, (const float *)row + i, sizeof(word));
        hash = hash_word(hash, word);
    }
    return hash;
}

static uint32_t hash_frontend(uint32_t hash, const nnrt_frontend *f)
{
    static uint32_t row[520];
    for (int kind = 0; kind < 6; kind++) {
        nnrt_frontend_stream stream;
        bool ready;
        if (nnrt_frontend_start(&stream, f, memory, sizeof(memory)) != NNRT_SUCCESS)
            return 0;
        make_signal(kind);
        for (size_t used = 0; used < SAMPLES;) {
            used += nnrt_frontend_push(&stream, signal + used, SAMPLES - used, row, &ready);
            if (ready)
                hash = hash_row(hash, f, row);
        }
    }
    return hash;
}

#ifdef FRONTEND_EMITTED

static uint32_t all(void)
{
    return hash_frontend(2166136261u, kws_frontend());
}

#else

/* Keyword spotting: 40 ms every 20 ms, 10 MFCC as int8. The same as in tests/core/test_frontend_bits.sh. */
static void kws(nnrt_frontend_desc *d)
{
    memset(d, 0, sizeof(*d));
    d->rate = 16000;
    d->window = 640;
    d->hop = 320;
    d->fft = 1024;
    d->mels = 40;
    d->lower = 20;
    d->upper = 4000;
    d->dct = 10;
    d->output = NNRT_DATA_TYPE_INT8;
    d->scale = 0.5f;
    d->zeroPoint = 83;
}

static void describe(nnrt_frontend_desc *d, int kind)
{
    kws(d);
    if (kind == 0)
        return;
    d->output = NNRT_DATA_TYPE_INT16;
    d->scale = 0.01f;
    d->zeroPoint = 0;
    if (kind == 2) { /* all bins, of an odd window longer than the hop, without their mean */
        d->window = 301;
        d->hop = 77;
        d->fft = 512;
        d->mels = d->dct = 0;
        d->upper = d->lower = 0;
        d->removeMean = d->symmetric = true;
        d->log = NNRT_FRONTEND_DB;
    } else if (kind == 3) { /* magnitudes, as TensorFlow makes them */
        d->spectrum = NNRT_FRONTEND_MAGNITUDE;
        d->melTriangles = d->dctEqual = true;
        d->offset = 1e-6f;
    } else if (kind == 4) { /* as librosa makes them; hop longer than the window */
        d->melScale = NNRT_FRONTEND_SLANEY;
        d->melArea = true;
        d->windowKind = NNRT_FRONTEND_HAMMING;
        d->hop = 700;
        d->log = NNRT_FRONTEND_LOG10;
    } else if (kind == 5) { /* a small linear spectrum of an accelerometer */
        d->rate = 50;
        d->window = d->fft = 32;
        d->hop = 8;
        d->mels = d->dct = 0;
        d->lower = 0;
        d->upper = 20;
        d->windowKind = NNRT_FRONTEND_RECTANGULAR;
        d->log = NNRT_FRONTEND_NONE;
        d->spectrum = NNRT_FRONTEND_MAGNITUDE;
    } else if (kind == 6) { /* Whisper's: 400 = 16 * 25 */
        d->window = d->fft = 400;
        d->hop = 160;
        d->mels = 80;
        d->melScale = NNRT_FRONTEND_SLANEY;
        d->melArea = true;
        d->lower = d->upper = 0;
        d->dct = 0;
        d->log = NNRT_FRONTEND_LOG10;
    } else if (kind == 7) { /* an odd size, 3 * 7 * 11, and each bin */
        d->window = d->fft = 231;
        d->mels = d->dct = 0;
        d->lower = d->upper = 0;
    }
}

static uint32_t all(void)
{
    uint32_t hash = 2166136261u;
    nnrt_frontend f;
    for (int kind = 0; kind < 16; kind++) {
        nnrt_frontend_desc d;
        describe(&d, kind % 8);
        if (kind >= 8) {
            d.arithmetic = NNRT_DATA_TYPE_FLOAT32;
            if (kind % 8 != 0) {
                d.output = NNRT_DATA_TYPE_FLOAT32;
                d.scale = 0;
            }
        }
        if (nnrt_frontend_init(&f, &d, tables, sizeof(tables), NULL) != NNRT_SUCCESS)
            return 0;
        hash = hash_frontend(hash, &f);
        if (kind == 0)
            print("kws", hash);
        if (kind == 7)
            print("int16", hash);
    }
    return hash;
}

#endif

#ifdef FRONTEND_BOARD
static void measure(const nnrt_frontend *f)
{
    static uint32_t row[520];
    uint32_t first;
    make_signal(4);
    board_count_start();
    first = board_count();
    for (int i = 0; i < 10; i++)
        f->kernel(f, signal + 10 * i, memory, row);
    print("instructions", (board_count() - first) / 10);
}
#endif

int main(void)
{
#ifdef FRONTEND_BOARD
#ifndef FRONTEND_EMITTED
    nnrt_frontend_desc d;
    nnrt_frontend made, *f = &made;
    kws(&d);
#ifdef FRONTEND_FLOAT
    d.arithmetic = NNRT_DATA_TYPE_FLOAT32;
#endif
    (void)nnrt_frontend_init(&made, &d, tables, sizeof(tables), NULL);
#else
    const nnrt_frontend *f = kws_frontend();
#endif
    measure(f);
#endif
    print("bits", all());
    return 0;
}
