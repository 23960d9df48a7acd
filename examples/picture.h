/* picture.h - reads, samples, draws and writes PNG pictures: for the examples face, ocr and background. A program that
   defines PICTURE_CHANNELS as 4 before it has pictures with alpha. */
#ifndef EXAMPLES_PICTURE_H
#define EXAMPLES_PICTURE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PICTURE_CHANNELS
#define PICTURE_CHANNELS 3
#endif

/* Limit of one allocation of stb_image: in proportion to the file size, as a malformed file may declare any size. */
static size_t picture_most;

#define STBI_MALLOC(bytes) ((bytes) <= picture_most ? malloc(bytes) : NULL)
#define STBI_REALLOC(block, bytes) ((bytes) <= picture_most ? realloc(block, bytes) : NULL)
#define STBI_FREE(block) free(block)
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

typedef struct picture {
    int width, height;
    uint8_t *pixels; /* height * width * PICTURE_CHANNELS: red, green, blue, alpha; free with stbi_image_free */
} picture;

/* Reads a PNG file. false after an error message. */
static bool read_picture(picture *p, const char *path)
{
    FILE *f = fopen(path, "rb");
    long bytes;
    if (f == NULL)
        return fprintf(stderr, "%s: cannot be opened\n", path), false;
    bytes = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : 0;
    picture_most = 64 * (size_t)(bytes > 0 ? bytes : 0) + 1048576;
    p->pixels = fseek(f, 0, SEEK_SET) == 0 ? stbi_load_from_file(f, &p->width, &p->height, NULL, PICTURE_CHANNELS)
                                              : NULL;
    fclose(f);
    if (p->pixels == NULL)
        fprintf(stderr, "%s: cannot be read as a PNG file (%s); convert other pictures: convert photo.jpg photo.png\n",
                path, stbi_failure_reason() != NULL ? stbi_failure_reason() : "cannot be read");
    return p->pixels != NULL;
}

/* Writes a PNG file; path NULL: none. false after an error message. */
static bool write_picture(const picture *p, const char *path)
{
    if (path == NULL || stbi_write_png(path, p->width, p->height, PICTURE_CHANNELS, p->pixels, PICTURE_CHANNELS * p->width))
        return true;
    return fprintf(stderr, "%s: cannot be written\n", path), false;
}

/* The mean color of a rectangle of the picture, from 0 to 255: red, green, blue. Outside, the picture is black. */
static void mean_color(const picture *p, double left, double top, double right, double bottom, double *color)
{
    const int x0 = (int)fmax(0, floor(left)), x1 = (int)fmin(p->width, ceil(right));
    const int y0 = (int)fmax(0, floor(top)), y1 = (int)fmin(p->height, ceil(bottom));
    double sum[3] = {0, 0, 0};
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            const uint8_t *pixel = p->pixels + ((size_t)y * (size_t)p->width + (size_t)x) * PICTURE_CHANNELS;
            double area = (fmin(right, x + 1) - fmax(left, x)) * (fmin(bottom, y + 1) - fmax(top, y));
            for (int c = 0; c < 3; c++)
                sum[c] += area * pixel[c];
        }
    for (int c = 0; c < 3; c++)
        color[c] = sum[c] / ((right - left) * (bottom - top));
}

/* Fills a rectangle, which may exceed the picture or contain no pixel. */
static inline void fill_rectangle(picture *p, double left, double top, double right, double bottom, const uint8_t *color)
{
    const int x0 = (int)fmin(p->width, fmax(0, left)), x1 = (int)fmin(p->width, fmax(0, right));
    const int y0 = (int)fmin(p->height, fmax(0, top)), y1 = (int)fmin(p->height, fmax(0, bottom));
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            memcpy(p->pixels + ((size_t)y * (size_t)p->width + (size_t)x) * PICTURE_CHANNELS, color, 3);
}

/* The width of a drawn line, so that it is visible in a picture of any size. */
static inline int line_width(const picture *p)
{
    return 1 + (p->width > p->height ? p->width : p->height) / 240;
}

#endif
