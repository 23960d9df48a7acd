/* Reads the text in a picture with PP-OCRv4.

   ocr FOLDER PICTURE.png [-o OUT.png]   prints one line per text: score, corners of its box in pixels, text in UTF-8;
                                         writes the picture with the boxes to OUT.png

   FOLDER has three networks and a dictionary, which `make ocr` fetches. The detector computes for each pixel the
   probability of text; connected pixels become a box. The classifier recognizes boxes that are upside down. The
   recognizer computes for each step from left to right the probability of every word of the dictionary. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include "boxes.h"
#include "words.h"

#include <time.h>

enum { FAILED = 1, USAGE = 2, NO_TEXT = 3 };                   /* exit status */
enum { TILE = 32, HEIGHT = 48, CLASSIFIED = 192, STEP = 160 }; /* sizes of inputs are multiples of TILE, or of STEP */
#define TEXT_SCORE 0.5                                         /* score below which a text is ignored */
#define UPSIDE_DOWN 0.9f /* probability above which a box is turned by 180 degrees */

/* A model with dynamic dimensions, and its sessions, one for each size of the input: index width / STEP. */
typedef struct network {
    const char *name;
    double mean[3], deviation[3]; /* input = (color / 255 - mean) / deviation: blue, green, red */
    NNRT_Model *model;
    nnrt_session *sessions[8 * STEPS / STEP + 1];
    double milliseconds; /* of its runs */
} network;

static network detector = {"ch_PP-OCRv4_det_infer.onnx", {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}, NULL, {NULL}, 0};
static network classifier = {"ch_ppocr_mobile_v2.0_cls_infer.onnx", {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, NULL, {NULL}, 0};
static network recognizer = {"ch_PP-OCRv4_rec_infer.onnx", {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, NULL, {NULL}, 0};
static dictionary known;

static bool fail(const char *name, const char *why)
{
    return fprintf(stderr, "%s: %s; make ocr fetches the files to build/ocr-data\n", name, why), false;
}

/* ---- networks ---- */

static bool load(network *n, const char *folder)
{
    char path[4096];
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    (void)snprintf(path, sizeof(path), "%s/%s", folder, n->name);
    return nnrt_onnx_load(&n->model, path, NULL, &error) == NNRT_SUCCESS || fail(path, error.message);
}

/* The session for the input [1,3,height,width], and a result of the shape `expected`. NULL after an error message. */
static nnrt_session *open_session(network *n, int height, int width, const nnrt_dims *expected)
{
    const nnrt_input shape = {"x", {4, {1, 3, height, width}}, NULL};
    nnrt_session **session = &n->sessions[width / STEP];
    nnrt_session_desc desc;
    nnrt_error error;
    nnrt_io_info out;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.inputs = &shape;
    desc.inputCount = 1;
    if (*session == NULL && nnrt_session_create(session, n->model, &desc, &error) != NNRT_SUCCESS)
        return fail(n->name, error.message), NULL;
    out = nnrt_session_output(*session, 0);
    if (nnrt_session_inputs(*session) == 1 && nnrt_session_outputs(*session) == 1 &&
        nnrt_session_input(*session, 0).dataType == NNRT_DATA_TYPE_FLOAT32 && out.dataType == NNRT_DATA_TYPE_FLOAT32 &&
        !out.open && out.shape.rank == expected->rank &&
        memcmp(out.shape.dims, expected->dims, sizeof(int32_t) * (size_t)expected->rank) == 0)
        return *session;
    fprintf(stderr, "%s: for float32[1,3,%d,%d] the only result must be float32[", n->name, height, width);
    for (int i = 0; i < expected->rank; i++)
        fprintf(stderr, "%s%d", i > 0 ? "," : "", (int)expected->dims[i]);
    return fputs("]; make ocr fetches such a network\n", stderr), NULL;
}

/* Runs a network on a box, scaled to height x columns; zeros follow up to `width`. Returns the result, of the shape
   `expected`, which the next run overwrites; NULL after an error message. */
static float *run(network *n, const picture *p, const box *b, int height, int columns, int width, nnrt_dims expected)
{
    static float input[3 * MAP_SIDE * MAP_SIDE], output[STEPS * WORDS];
    nnrt_session *session = open_session(n, height, width, &expected);
    nnrt_io in = nnrt_io_make(input, sizeof(float) * 3 * (size_t)height * (size_t)width);
    nnrt_io out = nnrt_io_make(output, sizeof(output));
    clock_t start;
    if (session == NULL)
        return NULL;
    memset(input, 0, in.bytes);
    sample(p, b, height, columns, width, n->mean, n->deviation, input);
    start = clock();
    if (nnrt_run(session, &in, 1, &out, 1) != NNRT_SUCCESS)
        return fail(n->name, nnrt_session_error(session)), NULL;
    n->milliseconds += (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
    return output;
}

/* ---- reading ---- */

/* Finds the boxes of text in the picture. Returns their number, -1 on failure. */
static int detect(const picture *p, box *boxes)
{
    const double tiles = fmin(1, (double)MAP_SIDE / (p->width > p->height ? p->width : p->height)) / TILE;
    const int width = TILE * (int)fmax(1, round(p->width * tiles)),
              height = TILE * (int)fmax(1, round(p->height * tiles));
    const box whole = {p->width / 2.0, p->height / 2.0, {p->width / 2.0, 0}, {0, p->height / 2.0}};
    const nnrt_dims shape = {4, {1, 1, height, width}};
    float *map = run(&detector, p, &whole, height, width, width, shape);
    return map != NULL ? find_boxes(map, width, height, p, boxes) : -1;
}

/* Turns a box by 180 degrees if its text is upside down. */
static bool turn(const picture *p, box *b)
{
    const nnrt_dims shape = {2, {1, 2}};
    const float *probability = run(&classifier, p, b, HEIGHT, columns_of(b, HEIGHT, CLASSIFIED), CLASSIFIED, shape);
    if (probability != NULL && probability[1] > UPSIDE_DOWN)
        turn_box(b);
    return probability != NULL;
}

/* Reads a box and prints its text. Returns the number of texts, 0 or 1; -1 on failure. */
static int read_box(const picture *p, const box *b)
{
    const int columns = columns_of(b, HEIGHT, 8 * STEPS), width = (columns + STEP - 1) / STEP * STEP, steps = width / 8;
    const nnrt_dims shape = {3, {1, steps, known.count}};
    const float *probabilities = run(&recognizer, p, b, HEIGHT, columns, width, shape);
    int text[STEPS], length;
    double score;
    if (probabilities == NULL)
        return -1;
    length = decode(probabilities, steps, known.count, text, &score);
    if (!(score >= TEXT_SCORE))
        return 0;
    print_box(b, score);
    for (int i = 0; i < length; i++)
        fputs(known.words[text[i]], stdout);
    putchar('\n');
    return 1;
}

/* Prints all texts of the picture and draws their boxes. Returns the exit status. */
static int read_all(picture *p)
{
    static box boxes[BOXES];
    const int found = detect(p, boxes);
    int texts = 0;
    for (int i = 0; i < found; i++) {
        const int read = turn(p, &boxes[i]) ? read_box(p, &boxes[i]) : -1;
        if (read < 0)
            return FAILED;
        boxes[texts] = boxes[i];
        texts += read;
    }
    for (int i = 0; i < texts; i++)
        draw_box(p, &boxes[i]);
    if (found >= 0)
        printf("%d text%s; detector %.1f ms, classifier %.1f ms, recognizer %.1f ms\n", texts, texts == 1 ? "" : "s",
               detector.milliseconds, classifier.milliseconds, recognizer.milliseconds);
    return found < 0 ? FAILED : texts == 0 ? NO_TEXT : 0;
}

static int usage(FILE *f)
{
    fputs("usage: ocr FOLDER PICTURE.png [-o OUT.png]\n"
          "Reads the text in a picture with the networks in FOLDER, which `make ocr` fetches to build/ocr-data, and "
          "draws\n"
          "its boxes. Exit status: 0 text found, 1 error, 2 wrong usage, 3 no text found.\n",
          f);
    return f == stdout ? 0 : USAGE;
}

int main(int argc, char **argv)
{
    network *const networks[3] = {&detector, &classifier, &recognizer};
    char path[4096];
    picture p = {0, 0, NULL};
    int status = FAILED;
    bool good;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage(stdout);
    if ((argc != 3 && argc != 5) || argv[1][0] == '-' || argv[2][0] == '-' || (argc == 5 && strcmp(argv[3], "-o") != 0))
        return usage(stderr);
    (void)snprintf(path, sizeof(path), "%s/ppocr_keys_v1.txt", argv[1]);
    good = read_picture(&p, argv[2]) && (read_dictionary(&known, path) || fail(path, "cannot be opened"));
    for (int i = 0; i < 3; i++)
        good = good && load(networks[i], argv[1]);
    if (good)
        status = read_all(&p);
    if (status != FAILED && !write_picture(&p, argc == 5 ? argv[4] : NULL))
        status = FAILED;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k <= 8 * STEPS / STEP; k++)
            nnrt_session_destroy(networks[i]->sessions[k]);
        nnrt_model_destroy(networks[i]->model);
    }
    stbi_image_free(p.pixels);
    return status;
}
