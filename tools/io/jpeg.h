/*
jpeg.h - decodes JPEG images with libjpeg, if the tool is compiled with NNRT_TOOL_JPEG (the Makefile defines it where
jpeglib.h is installed). Part of tools/nnrt.c.

    >>orientation  how a camera was held, from the Exif data
    >>jpeg         size, pixels
*/
#ifndef NNRT_TOOL_JPEG_H
#define NNRT_TOOL_JPEG_H

#include "files.h"

static bool cli_is_jpeg(const cli_bytes *file)
{
    return file->size >= 3 && memcmp(file->data, "\xFF\xD8\xFF", 3) == 0;
}

/* Of an upright image. */
typedef struct cli_jpeg_size {
    int width, height, channels;
    bool progressive; /* the decoder keeps all coefficients */
} cli_jpeg_size;

#ifndef NNRT_TOOL_JPEG

static const char *cli_jpeg_read_size(const cli_bytes *file, cli_jpeg_size *size)
{
    (void)file;
    memset(size, 0, sizeof(*size));
    return "it is a JPEG image, and this program was built without libjpeg: install libjpeg-dev and build it again, or "
           "convert the image to PNG";
}

static uint8_t *cli_jpeg_pixels(const cli_bytes *file, int channels, size_t room, const char **fault)
{
    cli_jpeg_size size;
    (void)channels;
    (void)room;
    *fault = cli_jpeg_read_size(file, &size);
    return NULL;
}

#else

#include <setjmp.h>
#include <jpeglib.h>

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>orientation */

/* A number of n bytes in the byte order of Exif data: "II" low byte first, "MM" high byte first. */
static uint32_t cli_exif_number(const uint8_t *at, uint32_t n, bool low)
{
    uint32_t v = 0;
    for (uint32_t i = 0; i < n; i++)
        v |= (uint32_t)at[i] << 8 * (low ? i : n - 1 - i);
    return v;
}

/* Tag 0x112 of the first directory (Exif 2.3, 4.6.4): 1 to 8; 1, upright, if there is none. */
static uint32_t cli_exif_orientation(const uint8_t *d, size_t size)
{
    bool low;
    size_t at;
    uint32_t count;
    if (size < 14 || memcmp(d, "Exif\0", 6) != 0)
        return 1;
    d += 6;
    size -= 6;
    low = d[0] == 'I';
    at = cli_exif_number(d + 4, 4, low);
    if (at > size - 2)
        return 1;
    count = cli_exif_number(d + at, 2, low);
    for (at += 2; count > 0 && size >= 12 && at <= size - 12; at += 12, count--)
        if (cli_exif_number(d + at, 2, low) == 0x112) {
            const uint32_t value = cli_exif_number(d + at + 8, 2, low);
            return value >= 1 && value <= 8 ? value : 1;
        }
    return 1;
}

/* Where pixel (x, y) of the stored image, width x height, is in the upright one, which is height x width from 5 on. */
static size_t cli_upright(uint32_t orientation, size_t width, size_t height, size_t x, size_t y)
{
    const bool turned = orientation >= 5;
    const size_t w = turned ? height : width, h = turned ? width : height;
    size_t column = turned ? y : x, row = turned ? x : y;
    if (orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7)
        column = w - 1 - column;
    if (orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8)
        row = h - 1 - row;
    return row * w + column;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>jpeg */

/* A decoder. libjpeg reports errors by a function that must not return. */
typedef struct cli_jpeg {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    jmp_buf failed;
    char message[JMSG_LENGTH_MAX];
    uint8_t *line, *out; /* a row of the stored image, the upright one */
} cli_jpeg;

static cli_jpeg cli_jpeg_decoder;

/* Every warning is an error: the image is damaged. */
static void cli_jpeg_fail(j_common_ptr info)
{
    info->err->format_message(info, cli_jpeg_decoder.message);
    longjmp(cli_jpeg_decoder.failed, 1);
}

static void cli_jpeg_warn(j_common_ptr info, int level)
{
    if (level < 0)
        cli_jpeg_fail(info);
}

/* Begins to read a file; the orientation. */
static uint32_t cli_jpeg_start(const cli_bytes *file)
{
    cli_jpeg *d = &cli_jpeg_decoder;
    jpeg_create_decompress(&d->info);
    jpeg_mem_src(&d->info, file->data, (unsigned long)file->size);
    jpeg_save_markers(&d->info, JPEG_APP0 + 1, 65535);
    (void)jpeg_read_header(&d->info, TRUE);
    for (jpeg_saved_marker_ptr m = d->info.marker_list; m != NULL; m = m->next)
        if (m->marker == JPEG_APP0 + 1)
            return cli_exif_orientation(m->data, m->data_length);
    return 1;
}

static void cli_jpeg_begin(cli_jpeg *d)
{
    memset(d, 0, sizeof(*d));
    d->info.err = jpeg_std_error(&d->errors);
    d->errors.error_exit = cli_jpeg_fail;
    d->errors.emit_message = cli_jpeg_warn;
}

/* Size and components; the result is NULL, or the fault of the file. */
static const char *cli_jpeg_read_size(const cli_bytes *file, cli_jpeg_size *size)
{
    cli_jpeg *d = &cli_jpeg_decoder;
    uint32_t orientation;
    memset(size, 0, sizeof(*size));
    cli_jpeg_begin(d);
    if (setjmp(d->failed) != 0) {
        jpeg_destroy_decompress(&d->info);
        return d->message;
    }
    orientation = cli_jpeg_start(file);
    size->width = (int)(orientation < 5 ? d->info.image_width : d->info.image_height);
    size->height = (int)(orientation < 5 ? d->info.image_height : d->info.image_width);
    size->channels = d->info.num_components;
    size->progressive = d->info.progressive_mode == TRUE;
    jpeg_destroy_decompress(&d->info);
    return size->channels == 1 || size->channels == 3 ? NULL : "it is a JPEG image with CMYK colors: convert it to RGB";
}

/* Copies row y to its place in the upright image. there: channels of a row, 1 or 3; a fourth one is opaque. */
static void cli_jpeg_place(const cli_jpeg *d, uint32_t orientation, size_t y, size_t there, size_t channels)
{
    const size_t width = d->info.output_width, height = d->info.output_height;
    for (size_t x = 0; x < width; x++) {
        uint8_t *to = d->out + cli_upright(orientation, width, height, x, y) * channels;
        for (size_t c = 0; c < channels; c++)
            to[c] = c < there ? d->line[x * there + c] : 255;
    }
}

/* The upright pixels [height][width][channels], which free() frees; channels: 1, 3 or 4. NULL with *fault. room: bytes that the
   decoder may take. */
static uint8_t *cli_jpeg_pixels(const cli_bytes *file, int channels, size_t room, const char **fault)
{
    cli_jpeg *d = &cli_jpeg_decoder;
    const size_t there = channels == 1 ? 1 : 3;
    uint32_t orientation;
    cli_jpeg_begin(d);
    if (setjmp(d->failed) != 0) {
        jpeg_destroy_decompress(&d->info);
        free(d->line);
        free(d->out);
        *fault = d->message;
        return NULL;
    }
    orientation = cli_jpeg_start(file);
    d->info.out_color_space = there == 1 ? JCS_GRAYSCALE : JCS_RGB;
    d->info.mem->max_memory_to_use = room < LONG_MAX ? (long)room : LONG_MAX;
    (void)jpeg_start_decompress(&d->info);
    d->line = (uint8_t *)malloc((size_t)d->info.output_width * there);
    d->out = (uint8_t *)malloc((size_t)d->info.output_width * d->info.output_height * (size_t)channels);
    if (d->line == NULL || d->out == NULL) {
        (void)snprintf(d->message, sizeof(d->message), "there is not enough memory for its pixels");
        longjmp(d->failed, 1);
    }
    while (d->info.output_scanline < d->info.output_height) {
        const size_t y = d->info.output_scanline;
        JSAMPROW row = d->line;
        if (jpeg_read_scanlines(&d->info, &row, 1) == 1)
            cli_jpeg_place(d, orientation, y, there, (size_t)channels);
    }
    (void)jpeg_finish_decompress(&d->info);
    jpeg_destroy_decompress(&d->info);
    free(d->line);
    return d->out;
}

#endif /* NNRT_TOOL_JPEG */

#endif /* NNRT_TOOL_JPEG_H */
