/* sound.h - reads WAV files of 16-bit PCM, piece by piece: for the examples vad and kws. */
#ifndef EXAMPLES_SOUND_H
#define EXAMPLES_SOUND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A WAV file that is being read. */
typedef struct sound {
    FILE *file;
    const char *path;
    uint32_t rate, channels;
    uint32_t count; /* samples per channel, */
    uint32_t done;  /* and the number read so far */
} sound;

static uint32_t little_endian(const uint8_t *b, int bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | b[bytes];
    return value;
}

static bool refuse(const sound *s, const char *why)
{
    fprintf(stderr, "%s: %s\n", s->path, why);
    return false;
}

/* Reads the chunk "fmt ", of which `bytes` follow. */
static bool read_format(sound *s, uint32_t bytes)
{
    uint8_t b[40];
    uint32_t format, bits;
    const uint32_t take = bytes < sizeof(b) ? bytes : (uint32_t)sizeof(b);
    memset(b, 0, sizeof(b));
    if (take < 16 || fread(b, 1, take, s->file) != take)
        return refuse(s, "its format is cut short");
    format = little_endian(b, 2);
    if (format == 0xFFFE && take == sizeof(b)) /* extensible: the format is in the subtype */
        format = little_endian(b + 24, 2);
    s->channels = little_endian(b + 2, 2);
    s->rate = little_endian(b + 4, 4);
    bits = little_endian(b + 14, 2);
    if (format != 1 || bits != 16) {
        fprintf(stderr,
                "%s: samples of %u bits in format %u, expected 16 bits in format 1, which is PCM; "
                "convert it: sox IN.wav -b 16 -e signed-integer OUT.wav\n",
                s->path, (unsigned)bits, (unsigned)format);
        return false;
    }
    if (s->channels != 1 && s->channels != 2) {
        fprintf(stderr, "%s: %u channels, expected 1 or 2; convert it: sox IN.wav -c 1 OUT.wav\n", s->path,
                (unsigned)s->channels);
        return false;
    }
    if (s->rate != 16000 && s->rate != 8000) {
        fprintf(stderr, "%s: %u samples per second, expected 16000 or 8000; convert it: sox IN.wav -r 16000 OUT.wav\n",
                s->path, (unsigned)s->rate);
        return false;
    }
    if (little_endian(b + 12, 2) != 2 * s->channels)
        return refuse(s, "its samples must be contiguous: block alignment is not 2 bytes per channel");
    return fseek(s->file, (long)(bytes - take + (bytes & 1)), SEEK_CUR) == 0 || refuse(s, "cannot be read");
}

/* Seeks to the samples of an open file. */
static bool find_samples(sound *s)
{
    uint8_t b[12];
    uint32_t bytes;
    uint64_t there;
    long at, end = fseek(s->file, 0, SEEK_END) == 0 ? ftell(s->file) : -1;
    if (end < 0 || fseek(s->file, 0, SEEK_SET) != 0)
        return refuse(s, "must be a regular file, which supports seeking");
    if (fread(b, 1, 12, s->file) != 12 || memcmp(b, "RIFF", 4) != 0 || memcmp(b + 8, "WAVE", 4) != 0)
        return refuse(s, "is not a WAV file: it must begin with RIFF and WAVE");
    while (fread(b, 1, 8, s->file) == 8 && (at = ftell(s->file)) >= 0) {
        bytes = little_endian(b + 4, 4);
        there = end > at ? (uint64_t)(end - at) : 0;
        if (memcmp(b, "data", 4) == 0) {
            if (s->channels == 0)
                return refuse(s, "its data chunk precedes its format chunk");
            if (bytes == 0) /* 0 or UINT32_MAX: written by a program that could not seek back */
                bytes = UINT32_MAX;
            if (bytes != UINT32_MAX && bytes > there)
                fprintf(stderr, "%s: cut short: %u of %u bytes of sound are there\n", s->path, (unsigned)there,
                        (unsigned)bytes);
            s->count = (bytes < there ? bytes : (uint32_t)there) / (2 * s->channels);
            return s->count > 0 || refuse(s, "has no samples");
        }
        if (bytes > there)
            return refuse(s, "is cut short before its samples");
        if (memcmp(b, "fmt ", 4) == 0 && s->channels == 0 ? !read_format(s, bytes)
                                                          : fseek(s->file, (long)(bytes + (bytes & 1)), SEEK_CUR) != 0)
            return false;
    }
    return refuse(s, "has no samples");
}

static bool open_sound(sound *s, const char *path)
{
    memset(s, 0, sizeof(*s));
    s->path = path;
    s->file = fopen(path, "rb");
    if (s->file == NULL)
        return refuse(s, "cannot be opened");
    return find_samples(s);
}

/* Reads the next n samples, from -1 to 1; of two channels their mean. After the end: silence. */
static bool read_samples(sound *s, float *x, uint32_t n)
{
    uint8_t b[4];
    const uint32_t left = s->count - s->done, take = n < left ? n : left;
    for (uint32_t i = 0; i < n; i++) {
        int32_t sum = 0;
        if (i < take && fread(b, 2, s->channels, s->file) != s->channels)
            return refuse(s, "cannot be read to its end");
        for (uint32_t c = 0; i < take && c < s->channels; c++) {
            const uint32_t word = little_endian(b + 2 * c, 2);
            sum += (int32_t)word - (word >= 32768 ? 65536 : 0);
        }
        x[i] = (float)sum / (32768.0f * (float)s->channels);
    }
    s->done += take;
    return true;
}

#endif
