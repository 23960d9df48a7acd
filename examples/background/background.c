/* Separates a person from the background of a picture with MediaPipe's selfie segmentation.

   background MODEL PICTURE.png OUT.png   writes the picture with an alpha channel: 255 at the person, 0 elsewhere

   The network sees the picture as 256 x 256 pixels and returns the probability of the person at each of them. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_tflite.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* A malformed file may declare any size: no allocation of stb_image exceeds 256 MiB. */
#define STBI_MALLOC(bytes) ((bytes) <= 1u << 28 ? malloc(bytes) : NULL)
#define STBI_REALLOC(block, bytes) ((bytes) <= 1u << 28 ? realloc(block, bytes) : NULL)
#define STBI_FREE(block) free(block)
#define STBI_ONLY_PNG
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

enum { SIDE = 256, CHANNELS = 4 };

typedef struct picture {
    int width, height;
    uint8_t *pixels; /* height * width * CHANNELS: red, green, blue, alpha */
} picture;

static bool fail(const char *name, const char *why)
{
    return fprintf(stderr, "%s: %s\n", name, why), false;
}

static bool read_picture(picture *p, const char *path)
{
    p->pixels = stbi_load(path, &p->width, &p->height, NULL, CHANNELS);
    return p->pixels != NULL || fail(path, "cannot be read as a PNG file; convert others: convert photo.jpg photo.png");
}

/* The mean color of a rectangle of the picture, from 0 to 1. */
static void mean_color(const picture *p, double left, double top, double right, double bottom, float *color)
{
    double sum[3] = {0, 0, 0};
    for (int y = (int)top; y < p->height && y < bottom; y++)
        for (int x = (int)left; x < p->width && x < right; x++) {
            const uint8_t *pixel = p->pixels + (y * p->width + x) * CHANNELS;
            const double area = (fmin(right, x + 1) - fmax(left, x)) * (fmin(bottom, y + 1) - fmax(top, y));
            for (int c = 0; c < 3; c++)
                sum[c] += area * pixel[c];
        }
    for (int c = 0; c < 3; c++)
        color[c] = (float)(sum[c] / ((right - left) * (bottom - top)) / 255);
}

/* The mask at column u and row v, by bilinear interpolation between the centers of its pixels. */
static double mask_at(const float *mask, double u, double v)
{
    const int x = (int)fmin(SIDE - 2, fmax(0, u - 0.5)), y = (int)fmin(SIDE - 2, fmax(0, v - 0.5));
    const double right = fmin(1, fmax(0, u - 0.5 - x)), below = fmin(1, fmax(0, v - 0.5 - y));
    const float *m = mask + y * SIDE + x;
    return (1 - below) * ((1 - right) * (double)m[0] + right * (double)m[1]) +
           below * ((1 - right) * (double)m[SIDE] + right * (double)m[SIDE + 1]);
}

static bool open_session(NNRT_Model **model, nnrt_session **session, const char *path)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_tflite_load(model, path, NULL, &error) != NNRT_SUCCESS ||
        nnrt_session_create(session, *model, NULL, &error) != NNRT_SUCCESS)
        return fail(path, error.message);
    const nnrt_io_info in = nnrt_session_input(*session, 0), out = nnrt_session_output(*session, 0);
    return (in.dataType == NNRT_DATA_TYPE_FLOAT32 && in.bytes == sizeof(float) * SIDE * SIDE * 3 &&
            out.dataType == NNRT_DATA_TYPE_FLOAT32 && out.bytes == sizeof(float) * SIDE * SIDE) ||
           fail(path, "expected [1,256,256,3] to [1,256,256,1] in float32; `make background` fetches a model");
}

/* Runs the network and sets the alpha channel. */
static bool separate(nnrt_session *session, picture *p)
{
    static float input[SIDE * SIDE * 3], mask[SIDE * SIDE];
    const double w = (double)p->width / SIDE, h = (double)p->height / SIDE;
    nnrt_io in = nnrt_io_make(input, sizeof(input)), out = nnrt_io_make(mask, sizeof(mask));
    double person = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        mean_color(p, i % SIDE * w, i / SIDE * h, (i % SIDE + 1) * w, (i / SIDE + 1) * h, input + i * 3);
    const clock_t start = clock();
    if (nnrt_run(session, &in, 1, &out, 1) != NNRT_SUCCESS)
        return fail("run", nnrt_session_error(session));
    printf("network: %.2f ms; arena: %zu bytes\n", (double)(clock() - start) * 1000 / CLOCKS_PER_SEC,
           nnrt_session_get_memory(session).arena);
    for (int i = 0; i < p->width * p->height; i++) {
        const double alpha = fmin(1, fmax(0, mask_at(mask, (i % p->width + 0.5) / w, (i / p->width + 0.5) / h)));
        p->pixels[i * CHANNELS + 3] = (uint8_t)(255 * alpha + 0.5);
        person += alpha;
    }
    printf("person: %.1f %% of the picture\n", 100 * person / p->width / p->height);
    return true;
}

int main(int argc, char **argv)
{
    const bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    picture p = {0, 0, NULL};
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    if (argc != 4 || argv[1][0] == '-')
        return fputs("usage: background MODEL PICTURE.png OUT.png\n"
                     "Makes the background of a picture transparent. `make background` fetches MODEL, which is\n"
                     "MediaPipe's selfie_segmentation.tflite. Exit status: 0 done, 1 error, 2 wrong usage.\n",
                     help ? stdout : stderr),
               help ? 0 : 2;
    const bool good = read_picture(&p, argv[2]) && open_session(&model, &session, argv[1]) && separate(session, &p) &&
                      (stbi_write_png(argv[3], p.width, p.height, CHANNELS, p.pixels, CHANNELS * p.width) != 0 ||
                       fail(argv[3], "cannot be written"));
    stbi_image_free(p.pixels);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return good ? 0 : 1;
}
