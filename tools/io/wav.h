/*
wav.h - WAV files as input tensors: 16-bit PCM samples of one channel, as sample / 32768.
Part of tools/nnrt.c.

A RIFF file is a list of chunks: four letters, the number of bytes in 32 bits (little endian), the bytes, one more byte
after an odd number. "fmt " describes the samples of "data".
*/
#ifndef NNRT_TOOL_WAV_H
#define NNRT_TOOL_WAV_H

#include "files.h"
#include "tensor.h"

static uint32_t cli_wav_number(const uint8_t *b, int bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | b[bytes];
    return value;
}

static bool cli_is_wav(const cli_bytes *file)
{
    return file->size >= 12 && memcmp(file->data, "RIFF", 4) == 0 && memcmp(file->data + 8, "WAVE", 4) == 0;
}

/* Finds a chunk at offset *at or later: *bytes of it are at the result. NULL: there is none, or a chunk before it exceeds
   the file. */
static const uint8_t *cli_wav_chunk(const cli_bytes *file, const char *name, size_t *at, size_t *bytes)
{
    while (*at <= file->size && file->size - *at >= 8) {
        const uint8_t *chunk = file->data + *at;
        *bytes = cli_wav_number(chunk + 4, 4);
        if (*bytes > file->size - *at - 8)
            return NULL;
        *at += 8 + *bytes + (*bytes & 1);
        if (memcmp(chunk, name, 4) == 0)
            return chunk + 8;
    }
    return NULL;
}

/* Checks the chunk "fmt ". */
static int cli_wav_format(const uint8_t *format, size_t bytes, const char *path)
{
    uint32_t kind, channels, bits;
    if (bytes < 16)
        return cli_fail("cannot use %s: its format has %.0f bytes, expected at least 16", path, (double)bytes);
    kind = cli_wav_number(format, 2);
    channels = cli_wav_number(format + 2, 2);
    bits = cli_wav_number(format + 14, 2);
    if (kind == 0xFFFE && bytes >= 40) /* extensible: the format is in the subtype */
        kind = cli_wav_number(format + 24, 2);
    if (kind != 1 || bits != 16)
        return cli_fail("cannot use %s: it has samples of %u bits in format %u, expected 16 bits in format 1 (PCM): sox IN.wav "
                        "-b 16 -e signed-integer OUT.wav",
                        path, (unsigned)bits, (unsigned)kind);
    if (channels != 1)
        return cli_fail("cannot use %s: it has %u channels, expected one: sox IN.wav -c 1 OUT.wav", path, (unsigned)channels);
    if (cli_wav_number(format + 12, 2) != 2)
        return cli_fail("cannot use %s: its samples take %u bytes each, expected 2", path,
                        (unsigned)cli_wav_number(format + 12, 2));
    return CLI_DONE;
}

/* Finds the samples: *count at *samples. */
static int cli_wav_find(const cli_bytes *file, const char *path, const uint8_t **samples, size_t *count)
{
    const size_t riff = (size_t)cli_wav_number(file->data + 4, 4);
    cli_bytes within = *file;
    const uint8_t *format;
    size_t at = 12, bytes = 0;
    if (riff < 4 || riff > file->size - 8)
        return cli_fail("cannot use %s: it states %.0f bytes after its first 8 and has %.0f: it is cut short or was written to a "
                        "pipe; sox --ignore-length IN.wav OUT.wav corrects it",
                        path, (double)riff, (double)(file->size - 8));
    within.size = 8 + riff;
    if ((format = cli_wav_chunk(&within, "fmt ", &at, &bytes)) == NULL)
        return cli_fail("cannot use %s: it has no complete chunk 'fmt '", path);
    if (cli_wav_format(format, bytes, path) != CLI_DONE)
        return CLI_FAILED;
    if ((*samples = cli_wav_chunk(&within, "data", &at, &bytes)) == NULL)
        return cli_fail("cannot use %s: it has no complete chunk 'data' after 'fmt '", path);
    if (bytes % 2 != 0)
        return cli_fail("cannot use %s: its samples take %.0f bytes, expected an even number", path, (double)bytes);
    *count = bytes / 2;
    return CLI_DONE;
}

/* Fills dynamic dimensions: the last one becomes the number of samples unless a dimension is above 1, others become 1. The
   shape must have `count` elements along one axis. */
static int cli_wav_shape(const char *path, const char *name, size_t count, nnrt_dims *shape)
{
    char text[CLI_SHAPE_BYTES];
    nnrt_dims found = *shape;
    int32_t axes = 0, open = -1;
    size_t most = 1;
    for (int32_t k = 0; k < shape->rank; k++) {
        axes += shape->dims[k] > 1 ? 1 : shape->dims[k] == 0 ? 2 : 0; /* no axis may have 0 elements */
        most = shape->dims[k] > 1 ? (size_t)shape->dims[k] : most;
        open = shape->dims[k] < 0 ? k : open;
        found.dims[k] = shape->dims[k] < 0 ? 1 : shape->dims[k];
    }
    if (shape->rank < 1 || shape->rank > 3 || axes > 1 || count > INT32_MAX)
        return cli_fail("cannot use %s: input '%s' is %s, expected [N], [1,N] or [1,N,1] for a sound of N samples", path, name,
                        cli_shape_text(text, sizeof(text), NNRT_DATA_TYPE_FLOAT32, shape));
    if (axes == 0 && open >= 0) {
        found.dims[open] = (int32_t)count;
        most = count;
    }
    if (count == 0 || count != most)
        return cli_fail("cannot use %s: it has %.0f samples, input '%s' takes %.0f: sox IN.wav OUT.wav trim 0 %.0fs, or pad 0 Ns for "
                        "N more",
                        path, (double)count, name, (double)most, (double)most);
    *shape = found;
    return CLI_DONE;
}

/* Reads a sound as float32 for an input of that shape, whose dynamic dimensions it sets. */
static int cli_wav_read(const cli_bytes *file, const char *path, const char *name, nnrt_dims *shape, cli_tensor *t)
{
    const uint8_t *samples = NULL;
    size_t count = 0;
    memset(t, 0, sizeof(*t));
    if (cli_wav_find(file, path, &samples, &count) != CLI_DONE || cli_wav_shape(path, name, count, shape) != CLI_DONE ||
        cli_tensor_make(t, NNRT_DATA_TYPE_FLOAT32, shape, path) != CLI_DONE)
        return CLI_FAILED;
    for (size_t i = 0; i < count; i++) {
        const uint32_t word = cli_wav_number(samples + 2 * i, 2);
        ((float *)t->data)[i] = (float)((int32_t)word - (word >= 32768 ? 65536 : 0)) / 32768.0f;
    }
    return CLI_DONE;
}

#endif /* NNRT_TOOL_WAV_H */
