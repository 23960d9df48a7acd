/*
image.h - PNG and JPEG files as input tensors: decoding, resizing, channels, layout, normalization.
Part of tools/nnrt.c. stb_image decodes PNG; JPEG is decoded by libjpeg (jpeg.h), because the JPEG decoder of stb_image 2.27
writes past the end of an array for some files.
*/
#ifndef NNRT_TOOL_IMAGE_H
#define NNRT_TOOL_IMAGE_H

#include "jpeg.h"
#include "tensor.h"

/* Memory limit and memory use of decoding. A file's chunks state the image size, but may contain more data. */
static size_t cli_image_room, cli_image_taken;

static void *cli_image_alloc(size_t bytes)
{
    size_t *block = bytes <= cli_image_room - cli_image_taken ? (size_t *)malloc(bytes + 2 * sizeof(size_t)) : NULL;
    if (block == NULL)
        return NULL;
    cli_image_taken += bytes;
    *block = bytes;
    return block + 2;
}

static void cli_image_free(void *block)
{
    if (block == NULL)
        return;
    cli_image_taken -= ((size_t *)block)[-2];
    free((size_t *)block - 2);
}

static void *cli_image_grow(void *block, size_t before, size_t bytes)
{
    void *grown = cli_image_alloc(bytes);
    if (grown != NULL && block != NULL)
        memcpy(grown, block, before < bytes ? before : bytes);
    if (grown != NULL)
        cli_image_free(block);
    return grown;
}

#define STBI_MALLOC(bytes) cli_image_alloc(bytes)
#define STBI_REALLOC(block, bytes) cli_image_grow(block, (block) != NULL ? ((size_t *)(block))[-2] : 0, bytes)
#define STBI_REALLOC_SIZED(block, before, bytes) cli_image_grow(block, before, bytes)
#define STBI_FREE(block) cli_image_free(block)

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_GIF
/* stb_image 2.27 declares this function under one name and defines it under another. */
#define stbi_set_unpremultiply_on_load_thread stbi__unpremultiply_on_load_thread
#include <stb/stb_image.h>
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

enum { CLI_LAYOUT_AUTO, CLI_LAYOUT_NCHW, CLI_LAYOUT_NHWC };
enum { CLI_COLOR_AUTO, CLI_COLOR_RGB, CLI_COLOR_BGR, CLI_COLOR_GRAY };
enum { CLI_INVERT_AUTO, CLI_INVERT_YES, CLI_INVERT_NO };

/* Image options of the user or of the model's metadata. value = (pixel - mean) * scale, pixel 0 to 255, or 255 - pixel
   if inverted. One number, or one per channel; a count of 0 selects the default of the tensor's type. */
typedef struct cli_image_options {
    double mean[4], scale[4];
    uint32_t means, scales;
    int layout, colour, invert;
    int quantize;    /* as invert: the value is real, a quantized input gets its integer */
    uint32_t budget; /* --budget; 0 means 1 */
} cli_image_options;

/* Memory limit for reading an image file of that many bytes, the file included. */
#define CLI_IMAGE_BYTES(bytes) (64.0 * (double)(bytes) + 1048576)

/* Fills options that *o leaves unset from *below. */
static void cli_image_options_over(cli_image_options *o, const cli_image_options *below)
{
    if (o->means == 0) {
        memcpy(o->mean, below->mean, sizeof(o->mean));
        o->means = below->means;
    }
    if (o->scales == 0) {
        memcpy(o->scale, below->scale, sizeof(o->scale));
        o->scales = below->scales;
    }
    if (o->layout == CLI_LAYOUT_AUTO)
        o->layout = below->layout;
    if (o->colour == CLI_COLOR_AUTO)
        o->colour = below->colour;
    if (o->invert == CLI_INVERT_AUTO)
        o->invert = below->invert;
    if (o->quantize == CLI_INVERT_AUTO)
        o->quantize = below->quantize;
}

static bool cli_is_png(const cli_bytes *file)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    return file->size >= sizeof(png) && memcmp(file->data, png, sizeof(png)) == 0;
}

static bool cli_is_image(const cli_bytes *file)
{
    return cli_is_png(file) || cli_is_jpeg(file);
}

static uint32_t cli_big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* True if the file consists of complete chunks up to its end chunk and no data chunk is empty, which stb_image
   assumes. */
static bool cli_image_chunks(const cli_bytes *file)
{
    size_t at = 8;
    while (file->size - at >= 12) {
        const size_t length = cli_big_endian(file->data + at);
        const uint8_t *type = file->data + at + 4;
        if (length > file->size - at - 12 || (length == 0 && memcmp(type, "IDAT", 4) == 0))
            return false;
        if (memcmp(type, "IEND", 4) == 0)
            return true;
        at += 12 + length;
    }
    return false;
}

/* Size and channels of an image; the result is NULL, or the fault of the file. */
static const char *cli_image_size(const cli_bytes *file, int *width, int *height, int *channels)
{
    cli_jpeg_size size;
    const char *fault;
    if (cli_is_jpeg(file)) {
        fault = cli_jpeg_read_size(file, &size);
        *width = size.width;
        *height = size.height;
        *channels = size.channels;
        return fault;
    }
    if (!cli_image_chunks(file))
        return "it is cut short or damaged";
    if (file->size > INT32_MAX)
        return "it is too large";
    return stbi_info_from_memory(file->data, (int)file->size, width, height, channels) ? NULL : stbi_failure_reason();
}

/* Indices of the channel, height and width axes of a tensor. */
typedef struct cli_image_axes {
    int32_t channel, height, width;
    bool open; /* height or width come from the image file, so that the tensor counts against its memory limit */
} cli_image_axes;

static bool cli_channels_like(int32_t extent)
{
    return extent == 1 || extent == 3 || extent == 4;
}

/* The layout that the user specifies; else NHWC if only the last dimension looks like a number of channels; else NCHW,
   the order of ONNX. false: an image cannot have that many axes. */
static bool cli_image_find_axes(const nnrt_dims *shape, int layout, cli_image_axes *axes)
{
    int32_t first = shape->rank - 3; /* the axis after the batch, if there is one */
    bool nchw;
    if (shape->rank != 3 && shape->rank != 4)
        return false;
    nchw = layout != CLI_LAYOUT_AUTO
               ? layout == CLI_LAYOUT_NCHW
               : cli_channels_like(shape->dims[first]) || !cli_channels_like(shape->dims[first + 2]);
    axes->channel = nchw ? first : first + 2;
    axes->height = nchw ? first + 1 : first;
    axes->width = axes->height + 1;
    return true;
}

/* Fills dynamic dimensions (-1): batch 1, the image's height and width, one or three channels. Then checks that the
   shape can hold an image. name: the input, for messages; *axes: the roles of the axes. */
static int cli_image_shape(const cli_bytes *file, const char *path, const cli_image_options *options, const char *name,
                           nnrt_dims *shape, cli_image_axes *axes)
{
    char text[CLI_SHAPE_BYTES];
    int width, height, channels;
    int32_t c;
    const char *fault;
    cli_image_room = 65536 + cli_image_taken;
    if ((fault = cli_image_size(file, &width, &height, &channels)) != NULL)
        return cli_fail("cannot use %s: %s", path, fault);
    if (!cli_image_find_axes(shape, options->layout, axes))
        return cli_fail("cannot use %s: input '%s' has %d axes, expected 3 or 4 for an image (batch, channels, height, "
                        "width)",
                        path, name, shape->rank);
    if (shape->dims[axes->channel] < 0)
        shape->dims[axes->channel] = options->colour == CLI_COLOR_GRAY ? 1 : 3;
    axes->open = shape->dims[axes->height] < 0 || shape->dims[axes->width] < 0;
    if (shape->dims[axes->height] < 0)
        shape->dims[axes->height] = height;
    if (shape->dims[axes->width] < 0)
        shape->dims[axes->width] = width;
    if (shape->rank == 4 && shape->dims[0] < 0)
        shape->dims[0] = 1;
    c = shape->dims[axes->channel];
    if (!cli_channels_like(c) || shape->dims[axes->height] == 0 || shape->dims[axes->width] == 0)
        return cli_fail(
            "cannot use %s: input '%s' is %s; an image has 1, 3 or 4 channels (is --layout right, or the metadata?)",
            path, name, cli_shape_text(text, sizeof(text), NNRT_DATA_TYPE_UNKNOWN, shape) + strlen("unknown"));
    if (shape->rank == 4 && shape->dims[0] != 1)
        return cli_fail("cannot use %s: input '%s' has a batch of %d, but an image is one sample", path, name,
                        shape->dims[0]);
    if (c == 1 && (options->colour == CLI_COLOR_RGB || options->colour == CLI_COLOR_BGR))
        return cli_fail("cannot use %s: colors rgb and bgr require 3 or 4 channels, input '%s' has one", path, name);
    if (c == 4 && options->colour == CLI_COLOR_GRAY)
        return cli_fail("cannot use %s: color gray requires 1 or 3 channels, input '%s' has 4", path, name);
    if ((options->means > 1 && options->means != (uint32_t)c) ||
        (options->scales > 1 && options->scales != (uint32_t)c))
        return cli_fail("cannot use %s: mean and scale (or std) must be one number or one per channel; input '%s' has "
                        "%d channels",
                        path, name, c);
    return CLI_DONE;
}

/* Resizes the middle axis of in[outer][n][inner] to m: out[outer][m][inner]. Triangle filter around the sample's center
   (pixel centers are at half-integer positions): its half width is one source pixel when enlarging, one result pixel
   when shrinking, so that no pixel is skipped. n == m copies the values. */
static void cli_resize_axis(const float *in, size_t outer, size_t n, size_t inner, float *out, size_t m)
{
    double step = (double)n / (double)m, reach = step > 1 ? step : 1;
    for (size_t i = 0; i < m; i++) {
        double centre = ((double)i + 0.5) * step, sum = 0;
        double low = floor(centre - reach + 0.5), high = floor(centre + reach + 0.5);
        size_t from = low > 0 ? (size_t)low : 0, to = high < (double)n ? (size_t)high : n;
        for (size_t j = from; j < to; j++)
            sum += fmax(0, 1 - fabs((double)j + 0.5 - centre) / reach);
        for (size_t o = 0; o < outer; o++)
            for (size_t j = from; j < to; j++) {
                float weight = (float)(fmax(0, 1 - fabs((double)j + 0.5 - centre) / reach) / sum);
                for (size_t k = 0; k < inner; k++) {
                    float v = weight * in[(o * n + j) * inner + k];
                    float *to_ = &out[(o * m + i) * inner + k];
                    *to_ = j == from ? v : *to_ + v;
                }
            }
    }
}

/* Memory of libjpeg's decoder: rows of blocks; of a progressive image two bytes per pixel and channel. */
static double cli_jpeg_needs(const cli_bytes *file, double width, double height, int there)
{
    cli_jpeg_size size;
    (void)cli_jpeg_read_size(file, &size);
    return 65536 + width * there * 64 + (size.progressive ? 2 * (width + 64) * (height + 64) * there : 0);
}

/* Upper bound of the memory for decoding a valid file, besides file and tensor: stb_image's buffers of compressed,
   filtered and decoded pixels, of which two live at once (interlaced: the first one grows); then the memory for
   resizing. channels: number of channels to decode. */
static double cli_image_needs(const cli_bytes *file, double width, double height, int there, int channels,
                              const nnrt_dims *shape, const cli_image_axes *axes)
{
    const bool plain = file->size > 28 && memcmp(file->data + 12, "IHDR", 4) == 0;
    const double bytes = plain && file->data[24] <= 8 ? 1 : 2, slow = plain && file->data[28] == 0 ? 1 : 2;
    const double pixels = width * height, filtered = slow * (pixels * there * bytes + height);
    const double whole = pixels * bytes * (channels > there ? channels : there < 4 ? there + 1 : 4);
    const double h = shape->dims[axes->height], w = shape->dims[axes->width];
    const double resizing = w == width && h == height ? 0 : (w * height + width) * channels * sizeof(float);
    const double decoded = pixels * channels;
    double most = filtered * (slow > 1 ? 1.5 : 1) + 3.0 * (double)file->size; /* 1.5: a buffer and its double */
    most = fmax(most, filtered + slow * whole);
    most = fmax(most, 2 * whole + decoded);
    if (cli_is_jpeg(file))
        most = decoded + cli_jpeg_needs(file, width, height, there);
    most = fmax(most, decoded + resizing + (axes->open ? w * h * channels * sizeof(float) : 0));
    return most + 65536;
}

/* Sets the memory limit for decoding the file, and fails for an image that is out of proportion to the file. tensor:
   bytes. */
static int cli_image_limit(const cli_bytes *file, const char *path, const cli_image_options *options, int channels,
                           const nnrt_dims *shape, const cli_image_axes *axes, size_t tensor)
{
    const uint32_t times = options->budget > 0 ? options->budget : 1;
    const double one = CLI_IMAGE_BYTES(file->size), most = one * times;
    const double beside = (double)file->size + (axes->open ? (double)tensor : 0);
    int width, height, there;
    double needs;
    const char *fault = cli_image_size(file, &width, &height, &there);
    if (fault != NULL)
        return cli_fail("cannot use %s: %s", path, fault);
    needs = beside + cli_image_needs(file, width, height, there, channels, shape, axes);
    if (needs > most)
        return cli_fail("cannot use %s: %d x %d pixels take more than %.0f bytes, the budget for %.0f bytes of file; "
                        "--budget %.0f allows them",
                        path, width, height, most, (double)file->size, ceil(needs / one));
    cli_image_room = most - beside < (double)(SIZE_MAX / 2) ? (size_t)(most - beside) : SIZE_MAX / 2;
    return CLI_DONE;
}

/* The pixels [*height][*width][channels]; NULL: the reason is *fault. cli_image_done frees them. */
static uint8_t *cli_image_decode(const cli_bytes *file, int *width, int *height, int channels, const char **fault)
{
    uint8_t *pixels;
    int there;
    if (cli_is_jpeg(file)) {
        (void)cli_image_size(file, width, height, &there);
        return cli_jpeg_pixels(file, channels, cli_image_room, fault);
    }
    pixels = stbi_load_from_memory(file->data, (int)file->size, width, height, &there, channels);
    *fault = stbi_failure_reason();
    return pixels;
}

static void cli_image_done(const cli_bytes *file, uint8_t *pixels)
{
    if (cli_is_jpeg(file))
        free(pixels);
    else
        stbi_image_free(pixels);
}

/* Decodes the image to *pixels[height][width][channels], 0 to 255, resized to that size. The caller frees it. */
static int cli_image_pixels(const cli_bytes *file, const char *path, size_t height, size_t width, int channels,
                            float **pixels)
{
    int w = 0, h = 0;
    const char *fault;
    uint8_t *decoded = cli_image_decode(file, &w, &h, channels, &fault);
    const size_t c = (size_t)channels, line = (size_t)w * c;
    float *row = NULL, *narrow = NULL, *out;
    *pixels = NULL;
    if (decoded == NULL)
        return cli_fail("cannot use %s: %s", path, fault);
    out = (float *)cli_alloc(width * height * c, sizeof(float));
    if (out != NULL && width == (size_t)w && height == (size_t)h) {
        for (size_t i = 0; i < height * line; i++)
            out[i] = (float)decoded[i];
    } else if (out != NULL) {
        row = (float *)cli_image_alloc(line * sizeof(float));
        narrow = row != NULL && width <= SIZE_MAX / sizeof(float) / c / (size_t)h
                     ? (float *)cli_image_alloc(width * (size_t)h * c * sizeof(float))
                     : NULL;
        for (size_t y = 0; y < (size_t)h && narrow != NULL; y++) {
            for (size_t i = 0; i < line; i++)
                row[i] = (float)decoded[y * line + i];
            cli_resize_axis(row, 1, (size_t)w, c, narrow + y * width * c, width);
        }
        if (narrow != NULL)
            cli_resize_axis(narrow, 1, (size_t)h, width * c, out, height);
    }
    cli_image_done(file, decoded);
    cli_image_free(row);
    if (out != NULL && narrow == NULL && (width != (size_t)w || height != (size_t)h)) {
        free(out);
        return cli_fail("cannot use %s: out of memory while it is resized", path);
    }
    cli_image_free(narrow);
    *pixels = out;
    return out != NULL ? CLI_DONE : CLI_FAILED;
}

/* value = (pixel - mean) * scale. Defaults: floats pixel / 255; int8 pixel - 128; other types the pixel itself. */
static double cli_image_value(const cli_image_options *o, NNRT_DataType type, uint32_t channel, double pixel)
{
    double mean = type == NNRT_DATA_TYPE_INT8 ? 128 : 0, scale = cli_is_float(type) ? 1.0 / 255 : 1;
    if (o->means > 0)
        mean = o->mean[o->means > 1 ? channel : 0];
    if (o->scales > 0)
        scale = o->scale[o->scales > 1 ? channel : 0];
    return (pixel - mean) * scale;
}

/* Creates the tensor of an image; shape and axes are from cli_image_shape. */
static int cli_image_read(const cli_bytes *file, const char *path, const cli_image_options *options, NNRT_DataType type,
                          const nnrt_dims *shape, const cli_image_axes *axes, cli_tensor *t)
{
    float *pixels;
    size_t height, width, channels, bytes = 0;
    bool gray;
    memset(t, 0, sizeof(*t));
    channels = (size_t)shape->dims[axes->channel];
    gray = channels == 1 || (options->colour == CLI_COLOR_GRAY && channels == 3);
    (void)nnrt_dims_bytes(shape->dims, shape->rank, type, &bytes); /* reported below if too large */
    if (cli_image_limit(file, path, options, gray ? 1 : (int)channels, shape, axes, bytes) != CLI_DONE ||
        cli_tensor_make(t, type, shape, path) != CLI_DONE)
        return CLI_FAILED;
    height = (size_t)shape->dims[axes->height];
    width = (size_t)shape->dims[axes->width];
    if (cli_image_pixels(file, path, height, width, gray ? 1 : (int)channels, &pixels) != CLI_DONE) {
        cli_tensor_free(t);
        return CLI_FAILED;
    }
    for (size_t p = 0; p < height * width; p++)
        for (size_t c = 0; c < channels; c++) {
            size_t from = gray ? 0 : options->colour == CLI_COLOR_BGR && c < 3 ? 2 - c : c;
            double pixel = (double)pixels[p * (gray ? 1 : channels) + from];
            pixel = options->invert == CLI_INVERT_YES && c < 3 ? 255 - pixel : pixel;
            size_t at = axes->channel < axes->height ? c * height * width + p : p * channels + c;
            cli_set_element(t, at, cli_image_value(options, type, (uint32_t)c, pixel));
        }
    free(pixels);
    return CLI_DONE;
}

#endif /* NNRT_TOOL_IMAGE_H */
