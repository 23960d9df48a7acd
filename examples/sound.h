/* sound.h - reads WAV streams of 16-bit PCM from files and pipes, piece by piece: for the examples vad and kws. */
#ifndef EXAMPLES_SOUND_H
#define EXAMPLES_SOUND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A WAV stream that is being read, from its beginning to its end: it never seeks. */
typedef struct sound {
    FILE *file;
    const char *path;
    uint32_t rate, channels;
    uint32_t count; /* samples per channel; UINT32_MAX: unknown, because a pipe's header has no length, until the end */
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

static bool skip(sound *s, uint32_t bytes)
{
    while (bytes > 0 && getc(s->file) != EOF)
        bytes--;
    return bytes == 0 || refuse(s, "is cut short before its samples");
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
    if (format != 1 || bits != 16)
        fprintf(stderr,
                "%s: samples of %u bits in format %u, expected 16 bits in format 1, which is PCM; "
                "convert it: sox IN.wav -b 16 -e signed-integer OUT.wav\n",
                s->path, (unsigned)bits, (unsigned)format);
    else if (s->channels != 1 && s->channels != 2)
        fprintf(stderr, "%s: %u channels, expected 1 or 2; convert it: sox IN.wav -c 1 OUT.wav\n", s->path,
                (unsigned)s->channels);
    else if (s->rate != 16000 && s->rate != 8000)
        fprintf(stderr, "%s: %u samples per second, expected 16000 or 8000; convert it: sox IN.wav -r 16000 OUT.wav\n",
                s->path, (unsigned)s->rate);
    else if (little_endian(b + 12, 2) != 2 * s->channels)
        return refuse(s, "its samples must be contiguous: block alignment is not 2 bytes per channel");
    else
        return skip(s, bytes - take);
    return false;
}

/* Reads up to the first sample. */
static bool find_samples(sound *s)
{
    uint8_t b[12];
    int first;
    if (fread(b, 1, 12, s->file) != 12 || memcmp(b, "RIFF", 4) != 0 || memcmp(b + 8, "WAVE", 4) != 0)
        return refuse(s, "is not a WAV file: it must begin with RIFF and WAVE");
    while (fread(b, 1, 8, s->file) == 8) {
        const uint32_t bytes = little_endian(b + 4, 4);
        const bool format = memcmp(b, "fmt ", 4) == 0 && s->channels == 0;
        if (memcmp(b, "data", 4) != 0) {
            if (!(format ? read_format(s, bytes) : skip(s, bytes)) || !skip(s, bytes & 1))
                return false;
            continue;
        }
        if (s->channels == 0)
            return refuse(s, "its data chunk precedes its format chunk");
        /* Programs that write to a pipe cannot know the size: ffmpeg writes UINT32_MAX, sox a little less than 2^31,
           others 0. */
        s->count = bytes == 0 || bytes >= 0x7FFF0000u ? UINT32_MAX : bytes / (2 * s->channels);
        first = getc(s->file);
        return (s->count > 0 && ungetc(first, s->file) != EOF) || refuse(s, "has no samples");
    }
    return refuse(s, "has no samples");
}

/* Opens a file; "-" is standard input. The caller closes s->file, also after a failure if it is not NULL. */
static bool open_sound(sound *s, const char *path)
{
    memset(s, 0, sizeof(*s));
    s->path = path;
    s->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    return s->file != NULL ? find_samples(s) : refuse(s, "cannot be opened");
}

/* Reads the next n samples, from -1 to 1; of two channels their mean. After the end: silence, and s->count is known. */
static bool read_samples(sound *s, float *x, uint32_t n)
{
    uint8_t b[4];
    for (uint32_t i = 0; i < n; i++) {
        int32_t sum = 0;
        if (s->done < s->count && fread(b, 2, s->channels, s->file) != s->channels) {
            if (s->count != UINT32_MAX)
                fprintf(stderr, "%s: cut short: %u of %u samples are there\n", s->path, (unsigned)s->done,
                        (unsigned)s->count);
            s->count = s->done;
        }
        for (uint32_t c = 0; s->done < s->count && c < s->channels; c++) {
            const uint32_t word = little_endian(b + 2 * c, 2);
            sum += (int32_t)word - (word >= 32768 ? 65536 : 0);
        }
        s->done += s->done < s->count;
        x[i] = (float)sum / (32768.0f * (float)s->channels);
    }
    return !ferror(s->file) || refuse(s, "cannot be read to its end");
}

#endif
