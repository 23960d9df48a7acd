/* Recognizes handwritten digits with digits.onnx, or digits_int8.onnx, and shows them in the terminal.

   digits [--ascii] [MODEL [SHEET]]           the digits of a sheet, 28 x 28 pixels each: of ten rows, row r holds digit
                                              r, which gives the accuracy; with fewer rows the digits are unknown
   digits [--ascii] --heldback FILE [MODEL]   accuracy over the digits of FILE, which heldback.py writes

   The steps of any program with nnrt: load a model, create a session, fill the input, run, read the output. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Limit of one allocation of stb_image, which makes two or three: in proportion to the file size, because a malformed
   file may declare chunks larger than memory. */
static size_t sheet_most;

#define STBI_MALLOC(bytes) ((bytes) <= sheet_most ? malloc(bytes) : NULL)
#define STBI_REALLOC(block, bytes) ((bytes) <= sheet_most ? realloc(block, bytes) : NULL)
#define STBI_FREE(block) free(block)
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb/stb_image.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/ioctl.h>
#include <unistd.h>
#endif

enum {
    SIDE = 28,
    PIXELS = SIDE * SIDE,
    CLASSES = 10,
    UNKNOWN = 255,
    MARGIN = 2,
    PICTURE = SIDE - 2 * MARGIN,
    SHOWN_WRONG = 30
};

/* Digits to recognize: 8 bits per pixel, 0 paper to 255 ink, row by row. */
typedef struct digit_set {
    uint32_t count;
    uint8_t *pixels; /* count * PIXELS */
    uint8_t *labels; /* count: the true digits, or UNKNOWN */
} digit_set;

typedef struct answer {
    uint8_t digit;
    float confidence;
} answer;

typedef struct terminal {
    bool ascii, color; /* color: standard output is a terminal */
    uint32_t perRow;    /* digits side by side */
} terminal;

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- reading ---- */

/* Returns the size of a file and rewinds it; 0: unknown. */
static size_t file_bytes(FILE *f)
{
    const long bytes = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : 0;
    return fseek(f, 0, SEEK_SET) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

/* Splits a sheet into single digits. Ten rows are the digits 0 to 9; the user's own pictures have fewer. */
static bool read_sheet(digit_set *set, const char *path)
{
    int width = 0, height = 0, channels = 0;
    uint8_t *sheet = NULL;
    uint32_t columns, rows;
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "%s: cannot be opened\n", path);
        return false;
    }
    sheet_most = 16 * file_bytes(f) + 262144;
    if (!stbi_info_from_file(f, &width, &height, &channels)) {
        fprintf(stderr, "%s: %s\n", path, stbi_failure_reason());
        fclose(f);
        return false;
    }
    columns = (uint32_t)width / SIDE;
    rows = (uint32_t)height / SIDE;
    if (rows == 0 || rows > CLASSES || columns == 0 || columns > 1000) {
        fprintf(stderr, "%s: %d x %d pixels, expected one to ten rows of digits of %d x %d\n", path, width, height,
                SIDE, SIDE);
        fclose(f);
        return false;
    }
    sheet = stbi_load_from_file(f, &width, &height, &channels, 1);
    fclose(f);
    if (sheet == NULL) {
        fprintf(stderr, "%s: %s\n", path, stbi_failure_reason());
        return false;
    }
    set->count = rows * columns;
    set->pixels = (uint8_t *)malloc((size_t)set->count * PIXELS);
    set->labels = (uint8_t *)malloc(set->count);
    for (uint32_t i = 0; i < set->count && set->pixels != NULL && set->labels != NULL; i++) {
        set->labels[i] = rows == CLASSES ? (uint8_t)(i / columns) : (uint8_t)UNKNOWN;
        for (uint32_t y = 0; y < SIDE; y++)
            memcpy(set->pixels + (size_t)i * PIXELS + y * SIDE,
                   sheet + (size_t)(i / columns * SIDE + y) * (size_t)width + i % columns * SIDE, SIDE);
    }
    stbi_image_free(sheet);
    return set->pixels != NULL && set->labels != NULL;
}

static uint32_t little_endian(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* "NNDG", count, height, width, the pixels of all digits, then their labels: see heldback.py. */
static bool read_heldback(digit_set *set, const char *path)
{
    uint8_t head[16];
    bool good = false;
    size_t bytes;
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "%s: cannot be opened; heldback.py writes it (make digits-accuracy)\n", path);
        return false;
    }
    bytes = file_bytes(f);
    if (fread(head, 1, sizeof(head), f) == sizeof(head) && memcmp(head, "NNDG", 4) == 0 &&
        little_endian(head + 8) == SIDE && little_endian(head + 12) == SIDE && little_endian(head + 4) <= 1000000 &&
        bytes == sizeof(head) + (size_t)little_endian(head + 4) * (PIXELS + 1)) {
        set->count = little_endian(head + 4);
        set->pixels = (uint8_t *)malloc((size_t)set->count * PIXELS + 1);
        set->labels = (uint8_t *)malloc((size_t)set->count + 1);
        good = set->pixels != NULL && set->labels != NULL && fread(set->pixels, PIXELS, set->count, f) == set->count &&
               fread(set->labels, 1, set->count, f) == set->count;
        for (uint32_t i = 0; good && i < set->count; i++)
            good = set->labels[i] < CLASSES;
    }
    if (!good || set->count == 0)
        fprintf(stderr, "%s: is not a file of heldback.py\n", path);
    fclose(f);
    return good && set->count > 0;
}

/* ---- recognition ---- */

/* Creates a session for a model with one input of 28 x 28 and one output of ten elements, both float32 or both int8.
   NULL after an error message. */
static nnrt_session *open_session(NNRT_Model **model, const char *path)
{
    nnrt_session *session = NULL;
    NNRT_DataType type;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_onnx_load(model, path, NULL, &error) != NNRT_SUCCESS ||
        nnrt_session_create(&session, *model, NULL, &error) != NNRT_SUCCESS) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        return NULL;
    }
    type = nnrt_session_input(session, 0).dataType;
    if (nnrt_session_inputs(session) == 1 && nnrt_session_outputs(session) == 1 &&
        (type == NNRT_DATA_TYPE_FLOAT32 || type == NNRT_DATA_TYPE_INT8) &&
        nnrt_session_output(session, 0).dataType == type &&
        nnrt_session_input(session, 0).bytes == PIXELS * nnrt_type_size(type) &&
        nnrt_session_output(session, 0).bytes == CLASSES * nnrt_type_size(type))
        return session;
    fprintf(stderr, "%s: the model must have one input of 28 x 28 and one output of ten elements, float32 or int8\n",
            path);
    nnrt_session_destroy(session);
    return NULL;
}

/* The network's input is ink from 0 to 1, its output the probability of each digit; quantized to int8
   they are pixel - 128 and 256 * probability - 128. */
static bool recognize(nnrt_session *session, const uint8_t *pixels, answer *a)
{
    float image[PIXELS], probabilities[CLASSES];
    int8_t small[PIXELS], scores[CLASSES];
    const bool quantized = nnrt_session_input(session, 0).dataType == NNRT_DATA_TYPE_INT8;
    NNRT_ReturnCode code;
    for (int i = 0; i < PIXELS; i++) {
        image[i] = (float)pixels[i] / 255.0f;
        small[i] = (int8_t)(pixels[i] - 128);
    }
    code = quantized ? nnrt_run(session, NNRT_IO(small), NNRT_IO(scores))
                     : nnrt_run(session, NNRT_IO(image), NNRT_IO(probabilities));
    if (code != NNRT_SUCCESS) {
        fprintf(stderr, "%s\n", nnrt_session_error(session));
        return false;
    }
    for (int i = 0; i < CLASSES && quantized; i++)
        probabilities[i] = (float)(scores[i] + 128) / 256.0f;
    a->digit = 0;
    for (uint8_t i = 1; i < CLASSES; i++)
        if (probabilities[i] > probabilities[a->digit])
            a->digit = i;
    a->confidence = probabilities[a->digit];
    return true;
}

static void show_progress(const terminal *t, uint32_t done, uint32_t count)
{
    int full = (int)((uint64_t)done * 40 / count);
    if (!t->color || (done % 50 != 0 && done != count))
        return;
    printf("\r[%.*s%*s] %u of %u", full, "########################################", 40 - full, "", (unsigned)done,
           (unsigned)count);
    if (done == count)
        printf("\r%*s\r", 70, "");
    fflush(stdout);
}

/* Fills answers[set->count], and the time per image in milliseconds. */
static bool recognize_all(nnrt_session *session, const digit_set *set, answer *answers, const terminal *progress,
                          double *milliseconds)
{
    double start = seconds();
    for (uint32_t i = 0; i < set->count; i++) {
        if (!recognize(session, set->pixels + (size_t)i * PIXELS, &answers[i]))
            return false;
        if (progress != NULL)
            show_progress(progress, i + 1, set->count);
    }
    *milliseconds = (seconds() - start) * 1000 / set->count;
    return true;
}

/* ---- output ---- */

/* Ink at a point of the picture, which omits the digit's margin and has half its resolution: mean of 2 x 2 pixels. */
static int ink(const uint8_t *pixels, int x, int y)
{
    const uint8_t *p = pixels + (MARGIN + 2 * y) * SIDE + MARGIN + 2 * x;
    return (p[0] + p[1] + p[SIDE] + p[SIDE + 1]) / 4;
}

/* One line of a digit's picture: two rows of points in each character. */
static void print_line(const terminal *t, const uint8_t *pixels, int line)
{
    static const char *const blocks[] = {" ", "\xe2\x96\x84", "\xe2\x96\x80",
                                         "\xe2\x96\x88"}; /* none, lower, upper, full */
    static const char shades[] = " .:-=+*#%@";
    for (int x = 0; x < PICTURE / 2; x++) {
        int upper = ink(pixels, x, 2 * line), lower = ink(pixels, x, 2 * line + 1);
        if (t->ascii)
            putchar(shades[(upper + lower) * 9 / 510]);
        else
            fputs(blocks[(upper > 80 ? 2 : 0) + (lower > 80 ? 1 : 0)], stdout);
    }
}

/* Digit, confidence and, if it is wrong, the true digit. */
static void print_caption(const terminal *t, answer a, uint8_t label)
{
    bool wrong = label != UNKNOWN && a.digit != label;
    if (wrong)
        printf("%s%u %3.0f%% NOT %u!%s  ", t->color ? "\033[1;31m" : "", (unsigned)a.digit, (double)a.confidence * 100,
               (unsigned)label, t->color ? "\033[0m" : "");
    else
        printf("%s%u%s  %5.1f %%    ", t->color ? "\033[1m" : "", (unsigned)a.digit, t->color ? "\033[0m" : "",
               (double)a.confidence * 100);
}

/* Pictures of the digits which[0..count-1], with the answers below. */
static void show_digits(const terminal *t, const digit_set *set, const answer *answers, const uint32_t *which,
                        uint32_t count)
{
    for (uint32_t first = 0; first < count; first += t->perRow) {
        uint32_t n = count - first < t->perRow ? count - first : t->perRow;
        for (int line = 0; line < PICTURE / 4; line++) {
            for (uint32_t i = 0; i < n; i++) {
                print_line(t, set->pixels + (size_t)which[first + i] * PIXELS, line);
                printf("   ");
            }
            printf("\n");
        }
        for (uint32_t i = 0; i < n; i++)
            print_caption(t, answers[which[first + i]], set->labels[which[first + i]]);
        printf("\n\n");
    }
}

/* Number of images of each digit, and number of recognized ones. */
static void show_table(const digit_set *set, const answer *answers)
{
    uint32_t total[CLASSES] = {0}, right[CLASSES] = {0};
    for (uint32_t i = 0; i < set->count; i++) {
        total[set->labels[i]]++;
        right[set->labels[i]] += answers[i].digit == set->labels[i];
    }
    printf("digit   right      of\n");
    for (int d = 0; d < CLASSES; d++)
        if (total[d] > 0)
            printf("%5d  %6u  %6u  %6.2f %%\n", d, (unsigned)right[d], (unsigned)total[d], 100.0 * right[d] / total[d]);
}

static void show_memory(const nnrt_session *session)
{
    nnrt_session_memory m = nnrt_session_get_memory(session);
    printf("memory %zu bytes: arena %zu, tables and plan %zu; weights, used in place in the model: %zu bytes\n",
           m.total, m.arena, m.total - m.arena, m.constants);
}

/* Prints all digits (or only the wrong ones, with a table), then accuracy, time and memory. */
static void show_result(const terminal *t, const nnrt_session *session, const digit_set *set, const answer *answers,
                        double milliseconds, bool sheet)
{
    uint32_t wrong = 0, shown = 0, *which = (uint32_t *)malloc(set->count * sizeof(uint32_t));
    for (uint32_t i = 0; i < set->count; i++) {
        bool isWrong = answers[i].digit != set->labels[i];
        wrong += isWrong ? 1 : 0;
        if (which != NULL && (sheet || (isWrong && shown < SHOWN_WRONG)))
            which[shown++] = i;
    }
    if (!sheet) {
        show_table(set, answers);
        printf("\n%u wrong%s\n\n", (unsigned)wrong, wrong > shown ? ", of which the first:" : shown > 0 ? ":" : "");
    }
    show_digits(t, set, answers, which, shown);
    free(which);
    if (set->labels[0] != UNKNOWN)
        printf("accuracy %.*f %%, %u of %u digits\n", sheet ? 1 : 2, 100.0 * (set->count - wrong) / set->count,
               (unsigned)(set->count - wrong), (unsigned)set->count);
    printf("time %.3f ms per image\n", milliseconds);
    show_memory(session);
}

/* ---- the program ---- */

static terminal find_terminal(bool ascii)
{
    terminal t;
    uint32_t width = 80;
    t.ascii = ascii;
    t.color = false;
#if defined(__unix__) || defined(__APPLE__)
    if (isatty(STDOUT_FILENO)) {
        struct winsize size;
        t.color = true;
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
            width = size.ws_col;
    }
#endif
    t.perRow = width >= 150 ? 10 : width >= 75 ? 5 : width >= 30 ? 2 : 1;
    return t;
}

static int usage(FILE *f)
{
    fprintf(
        f,
        "usage: digits [--ascii] [MODEL [SHEET]]\n"
        "       digits [--ascii] --heldback FILE [MODEL]\n"
        "Recognizes handwritten digits. Default MODEL: examples/digits/digits.onnx, SHEET: examples/digits/sheet.png.\n"
        "examples/digits/heldback.py writes FILE. --ascii draws without block characters.\n");
    return f == stdout ? 0 : 2;
}

/* Loads the model, recognizes and shows the digits. Returns the exit status. */
static int recognize_set(const terminal *t, const char *modelPath, const digit_set *set, bool sheet)
{
    NNRT_Model *model = NULL;
    nnrt_session *session = open_session(&model, modelPath);
    answer *answers = (answer *)calloc(set->count, sizeof(answer));
    double milliseconds = 0;
    bool good =
        session != NULL && answers != NULL && recognize_all(session, set, answers, sheet ? NULL : t, &milliseconds);
    if (good)
        show_result(t, session, set, answers, milliseconds, sheet);
    free(answers);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *names[2] = {"examples/digits/digits.onnx", "examples/digits/sheet.png"}, *heldback = NULL;
    int named = 0, status = 1;
    bool ascii = false;
    terminal t;
    digit_set set = {0, NULL, NULL};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout);
        else if (strcmp(argv[i], "--ascii") == 0)
            ascii = true;
        else if (strcmp(argv[i], "--heldback") == 0 && i + 1 < argc && heldback == NULL)
            heldback = argv[++i];
        else if (argv[i][0] == '-' || named >= 2)
            return usage(stderr);
        else
            names[named++] = argv[i];
    }
    if (heldback != NULL && named > 1)
        return usage(stderr);
    t = find_terminal(ascii);
    if (heldback != NULL ? read_heldback(&set, heldback) : read_sheet(&set, names[1]))
        status = recognize_set(&t, names[0], &set, heldback == NULL);
    free(set.pixels);
    free(set.labels);
    return status;
}
