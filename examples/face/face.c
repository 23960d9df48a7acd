/* Finds faces in a picture with MediaPipe's short-range face detector, and draws them.

   face MODEL PICTURE.png [-o OUT.png]   prints one line per face: score, box and six keypoints in pixels;
                                         writes the picture with boxes and keypoints to OUT.png

   MODEL is the .tflite file, or a .nnrt file that nnrt convert or nnrt quantize made of it.

   The network sees the picture as 128 x 128 pixels and predicts, at each of 896 anchors, a score, a box and keypoints.
   Several anchors find the same face; weighted non-maximum suppression makes one face of them. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_tflite.h"

#include "../picture.h"

#include <time.h>

enum { SIDE = 128, ANCHORS = 896, VALUES = 16, FAILED = 1, USAGE = 2, NO_FACE = 3 };
#define LEAST_SCORE 0.5
#define SAME_FACE 0.3 /* intersection over union of two boxes, above which they show one face */

/* Position in the network's input = position in the picture * scale + margin. */
typedef struct letterbox {
    double scale, left, top;
} letterbox;
/* value: left, top, right, bottom of the box, then x, y of the keypoints, in pixels of the picture. */
typedef struct face {
    double score, value[VALUES];
} face;
typedef struct prediction {
    float input[SIDE * SIDE * 3], values[ANCHORS * VALUES], scores[ANCHORS];
} prediction;

/* ---- the picture ---- */

/* Scales the picture into the square input, [height, width, color], with its aspect ratio and black margins. */
static letterbox fill_input(const picture *p, float *input)
{
    letterbox box;
    box.scale = (double)SIDE / (p->width > p->height ? p->width : p->height);
    box.left = (SIDE - p->width * box.scale) / 2;
    box.top = (SIDE - p->height * box.scale) / 2;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double color[3];
            mean_color(p, (x - box.left) / box.scale, (y - box.top) / box.scale, (x + 1 - box.left) / box.scale,
                       (y + 1 - box.top) / box.scale, color);
            for (int c = 0; c < 3; c++)
                input[(y * SIDE + x) * 3 + c] = (float)(color[c] / 127.5 - 1);
        }
    return box;
}

static void draw_face(picture *p, const face *f)
{
    static const uint8_t green[3] = {0, 220, 90}, yellow[3] = {255, 230, 0};
    const double t = line_width(p), *v = f->value;
    fill_rectangle(p, v[0] - t, v[1] - t, v[2] + t, v[1], green);
    fill_rectangle(p, v[0] - t, v[3], v[2] + t, v[3] + t, green);
    fill_rectangle(p, v[0] - t, v[1], v[0], v[3], green);
    fill_rectangle(p, v[2], v[1], v[2] + t, v[3], green);
    for (int k = 4; k < VALUES; k += 2)
        fill_rectangle(p, v[k] - t, v[k + 1] - t, v[k] + t, v[k + 1] + t, yellow);
}

/* ---- the network ---- */

static NNRT_ReturnCode load(NNRT_Model **model, const char *path, nnrt_error *error)
{
    const char *end = strrchr(path, '.');
    return end != NULL && strcmp(end, ".nnrt") == 0 ? nnrt_model_load(model, path, NULL, error)
                                                    : nnrt_tflite_load(model, path, NULL, error);
}

/* Creates a session for a model with the input and the two outputs of the detector. NULL after an error message. */
static nnrt_session *open_session(NNRT_Model **model, const char *path)
{
    nnrt_session *session = NULL;
    nnrt_io_info in, out[2];
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (load(model, path, &error) != NNRT_SUCCESS ||
        nnrt_session_create(&session, *model, NULL, &error) != NNRT_SUCCESS) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        return NULL;
    }
    in = nnrt_session_input(session, 0);
    out[0] = nnrt_session_output(session, 0);
    out[1] = nnrt_session_output(session, 1);
    if (nnrt_session_inputs(session) == 1 && nnrt_session_outputs(session) == 2 && in.shape.rank == 4 &&
        in.shape.dims[1] == SIDE && in.shape.dims[2] == SIDE && in.dataType == NNRT_DATA_TYPE_FLOAT32 &&
        in.bytes == sizeof(float) * SIDE * SIDE * 3 && out[0].dataType == NNRT_DATA_TYPE_FLOAT32 &&
        out[1].dataType == NNRT_DATA_TYPE_FLOAT32 && out[0].bytes == sizeof(float) * ANCHORS * VALUES &&
        out[1].bytes == sizeof(float) * ANCHORS)
        return session;
    fprintf(stderr,
            "%s: the model must have one input [1,%d,%d,3] and the outputs [1,%d,%d] and [1,%d,1], in float32, like "
            "face_detection_short_range.tflite, which `make face` fetches\n",
            path, SIDE, SIDE, ANCHORS, VALUES, ANCHORS);
    nnrt_session_destroy(session);
    return NULL;
}

/* ---- from predictions to faces ---- */

/* Coordinate x or y of an anchor in the input. 16 x 16 cells of 8 pixels have 2 anchors each, then 8 x 8 cells of 16
   pixels 6 each (three layers with 2), in the middle of their cell. */
static double anchor_position(int anchor, int axis)
{
    const bool fine = anchor < 512;
    const int cells = fine ? 16 : 8, cell = fine ? anchor / 2 : (anchor - 512) / 6;
    return (0.5 + (axis == 0 ? cell % cells : cell / cells)) * SIDE / cells;
}

/* Score = sigmoid(prediction); the predictions are center and size of the box, then keypoints, relative to the anchor,
   in pixels of the input. Returns whether the anchor sees a face. */
static bool decode(const prediction *p, const letterbox *box, int anchor, face *f)
{
    const float *raw = p->values + anchor * VALUES;
    f->score = 1 / (1 + exp(-fmin(100, fmax(-100, (double)p->scores[anchor]))));
    for (int k = 0; k < VALUES; k++) {
        double at = anchor_position(anchor, k % 2) + (double)raw[k];
        if (k < 4)
            at = anchor_position(anchor, k % 2) + (double)raw[k % 2] + (k < 2 ? -0.5 : 0.5) * (double)raw[2 + k % 2];
        f->value[k] = (at - (k % 2 == 0 ? box->left : box->top)) / box->scale;
        if (!isfinite(f->value[k]))
            return false;
    }
    return f->score >= LEAST_SCORE && f->value[0] < f->value[2] && f->value[1] < f->value[3];
}

static int by_score(const void *a, const void *b)
{
    const double x = ((const face *)a)->score, y = ((const face *)b)->score;
    return (x < y) - (x > y);
}

static double area(const double *box)
{
    return fmax(0, box[2] - box[0]) * fmax(0, box[3] - box[1]);
}

static bool same_face(const double *a, const double *b)
{
    const double both[4] = {fmax(a[0], b[0]), fmax(a[1], b[1]), fmin(a[2], b[2]), fmin(a[3], b[3])};
    return area(both) > SAME_FACE * (area(a) + area(b) - area(both));
}

/* Weighted non-maximum suppression: the best of count faces, and all that overlap it, become one face with the best
   score and the mean of their positions weighted by score; the same for the others. Returns the number of faces. */
static int merge_faces(face *faces, int count)
{
    int merged = 0;
    qsort(faces, (size_t)count, sizeof(face), by_score);
    while (count > merged) {
        double sum = 0, value[VALUES] = {0};
        int rest = merged + 1;
        for (int i = merged; i < count; i++) {
            const bool same = i == merged || same_face(faces[i].value, faces[merged].value);
            for (int k = 0; k < VALUES && same; k++)
                value[k] += faces[i].score * faces[i].value[k];
            sum += same ? faces[i].score : 0;
            if (!same)
                faces[rest++] = faces[i];
        }
        for (int k = 0; k < VALUES; k++)
            faces[merged].value[k] = value[k] / sum;
        merged++;
        count = rest;
    }
    return merged;
}

static void print_face(const face *f)
{
    static const char *const points[] = {"right eye", "left eye", "nose", "mouth", "right ear", "left ear"};
    printf("face %.3f  box %.1f %.1f %.1f %.1f", f->score, f->value[0], f->value[1], f->value[2], f->value[3]);
    for (int k = 4; k < VALUES; k += 2)
        printf("  %s %.1f %.1f", points[k / 2 - 2], f->value[k], f->value[k + 1]);
    printf("\n");
}

/* ---- the program ---- */

/* Detects, prints and draws the faces. Returns the exit status. */
static int find_faces(nnrt_session *session, picture *p)
{
    static prediction predicted;
    static face faces[ANCHORS];
    const letterbox box = fill_input(p, predicted.input);
    nnrt_io in = nnrt_io_make(predicted.input, sizeof(predicted.input)), out[2];
    int count = 0;
    double milliseconds;
    clock_t start = clock();
    out[0] = nnrt_io_make(predicted.values, sizeof(predicted.values));
    out[1] = nnrt_io_make(predicted.scores, sizeof(predicted.scores));
    if (nnrt_run(session, &in, 1, out, 2) != NNRT_SUCCESS) {
        fprintf(stderr, "%s\n", nnrt_session_error(session));
        return FAILED;
    }
    milliseconds = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
    for (int i = 0; i < ANCHORS; i++)
        count += decode(&predicted, &box, i, &faces[count]);
    count = merge_faces(faces, count);
    for (int i = 0; i < count; i++) {
        print_face(&faces[i]);
        draw_face(p, &faces[i]);
    }
    printf("%d face%s in %.2f ms; arena: %zu bytes\n", count, count == 1 ? "" : "s", milliseconds,
           nnrt_session_get_memory(session).arena);
    return count > 0 ? 0 : NO_FACE;
}

static int usage(FILE *f)
{
    fputs("usage: face MODEL PICTURE.png [-o OUT.png]\n"
          "Finds faces with MediaPipe's face_detection_short_range.tflite, which `make face` fetches, or a .nnrt file\n"
          "made of it, and draws them.\n"
          "Exit status: 0 faces found, 1 error, 2 wrong usage, 3 no face found.\n",
          f);
    return f == stdout ? 0 : USAGE;
}

int main(int argc, char **argv)
{
    const char *names[2] = {NULL, NULL}, *output = NULL;
    picture p = {0, 0, NULL};
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    int named = 0, status = FAILED;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout);
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc && output == NULL)
            output = argv[++i];
        else if (argv[i][0] == '-' || named == 2)
            return usage(stderr);
        else
            names[named++] = argv[i];
    }
    if (named != 2)
        return usage(stderr);
    if (read_picture(&p, names[1]) && (session = open_session(&model, names[0])) != NULL)
        status = find_faces(session, &p);
    if (status != FAILED && !write_picture(&p, output))
        status = FAILED;
    stbi_image_free(p.pixels);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return status;
}
