/* Separates a person from the background of a picture with MediaPipe's selfie segmentation.

   background MODEL PICTURE.png OUT.png   writes the picture with an alpha channel: 255 at the person, 0 elsewhere

   The network sees the picture as 256 x 256 pixels and returns the probability of the person at each of them. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_tflite.h"

#define PICTURE_CHANNELS 4
#include "../picture.h"

#include <time.h>

enum { SIDE = 256 };

static bool fail(const char *name, const char *why)
{
    return fprintf(stderr, "%s: %s\n", name, why), false;
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
    for (int i = 0; i < SIDE * SIDE; i++) {
        double color[3];
        mean_color(p, i % SIDE * w, i / SIDE * h, (i % SIDE + 1) * w, (i / SIDE + 1) * h, color);
        for (int c = 0; c < 3; c++)
            input[i * 3 + c] = (float)(color[c] / 255);
    }
    const clock_t start = clock();
    if (nnrt_run(session, &in, 1, &out, 1) != NNRT_SUCCESS)
        return fail("run", nnrt_session_error(session));
    printf("network: %.2f ms; arena: %zu bytes\n", (double)(clock() - start) * 1000 / CLOCKS_PER_SEC,
           nnrt_session_get_memory(session).arena);
    for (int i = 0; i < p->width * p->height; i++) {
        const double alpha = fmin(1, fmax(0, mask_at(mask, (i % p->width + 0.5) / w, (i / p->width + 0.5) / h)));
        p->pixels[(size_t)i * PICTURE_CHANNELS + 3] = (uint8_t)(255 * alpha + 0.5);
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
                      write_picture(&p, argv[3]);
    stbi_image_free(p.pixels);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return good ? 0 : 1;
}
