/*
quantize.h - the command quantize: a float32 model becomes an 8-bit model, with the ranges of its values over samples.
Part of tools/nnrt.c.

    >>samples      the files of --data as samples
    >>classes      the right answer for each sample
    >>compare      the outputs of both models over the samples
    >>quantize     quantizing a model
    >>sensitivity  the noise that each node adds; nodes that stay float32
    >>weights      weights of matrix products alone
    >>command      the command
*/
#ifndef NNRT_TOOL_QUANTIZE_H
#define NNRT_TOOL_QUANTIZE_H

#include "../devices/nnrt_auto.h"
#include "../formats/nnrt_quantize.h"
#include "check.h"
#include "cost.h"
#include "csv.h"
#include "qdq.h"
#include "quantize_report.h"
#include "widen.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>samples */

/* One sample: a file (.npy, .pb, .png, .jpg, .wav), row `row` of the rows in a .npy or .csv file, or a folder with
   input_0.npy, ... */
typedef struct cli_sample {
    char *path;
    uint32_t row;
    bool folder;
} cli_sample;

typedef struct cli_samples {
    cli_sample *data;
    uint32_t count, room;
    cli_job *job; /* the float32 model, whose inputs receive the values */
    const cli_args *args;
    cli_tensor rows; /* of the file rowsOf, converted to the type of the input, or float32 */
    const char *rowsOf;
    uint32_t firstRow, nRows; /* those in `rows` */
    uint32_t ahead; /* rows of a .npy file to read at once; 0: one */
    uint64_t listed; /* hash of the names and sizes of all files */
    int status; /* CLI_DONE, or why a sample could not be read */
    const char *path; /* the file or folder */
    uint32_t *expected; /* class of each sample; NULL: unknown */
    uint32_t nClasses;
    bool noted;   /* notes about the first sample were printed; they hold for the others, too */
    FILE *wanted; /* a temporary file: the float32 outputs of all samples. NULL: not computed yet */
} cli_samples;

static void cli_samples_free(cli_samples *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->data[i].row == 0) /* rows of one file share its path */
            free(s->data[i].path);
    free(s->data);
    free(s->expected);
    cli_tensor_free(&s->rows);
    if (s->wanted != NULL)
        fclose(s->wanted);
    memset(s, 0, sizeof(*s));
}

static int cli_samples_add(cli_samples *s, char *path, uint32_t row, bool folder)
{
    if (s->count == s->room) {
        const uint32_t room = s->room * 2 + 64;
        cli_sample *more = (cli_sample *)realloc(s->data, room * sizeof(*more));
        if (more == NULL)
            return cli_fail("out of memory: cannot allocate a list of %u samples", (unsigned)room);
        s->data = more;
        s->room = room;
    }
    s->data[s->count].path = path;
    s->data[s->count].row = row;
    s->data[s->count++].folder = folder;
    return CLI_DONE;
}

/* How many samples a tensor has: 1 if it has the shape of the input, or a multiple of its first dimension; 0: it does
   not fit. */
static uint32_t cli_sample_rows(const nnrt_dims *input, const nnrt_dims *value)
{
    const int32_t more = value->rank - input->rank;
    int32_t batch = 1;
    if (more != 0 && more != 1)
        return 0;
    for (int32_t k = more == 0 ? 1 : 0; k < input->rank; k++)
        if (input->dims[k] != value->dims[k + more])
            return 0;
    if (value->rank == 0)
        return 1;
    batch = more == 0 ? input->dims[0] : 1;
    return batch > 0 && value->dims[0] % batch == 0 ? (uint32_t)(value->dims[0] / batch) : 0;
}

/* Samples in a tensor of this shape; 0 with a message: none. */
static uint32_t cli_samples_in(const cli_samples *s, const char *path, NNRT_DataType type, const nnrt_dims *shape)
{
    const cli_input *input = &s->job->in.data[0];
    char have[CLI_SHAPE_BYTES], want[CLI_SHAPE_BYTES];
    const uint32_t rows = cli_sample_rows(&s->job->in.shapes[0], shape);
    if (rows == 0)
        cli_fail("%s is %s, input '%s' takes %s, or several of it along the first axis", path,
                 cli_shape_text(have, sizeof(have), type, shape), input->name,
                 cli_shape_text(want, sizeof(want), input->type, &s->job->in.shapes[0]));
    return rows;
}

/* Reads rows from `row` on of a .npy file into s->rows, s->ahead at most, or all rows of another file. *rows: how many the
   file has. */
static int cli_samples_read_rows(cli_samples *s, const char *path, uint32_t row, uint32_t *rows)
{
    const cli_input *input = &s->job->in.data[0];
    char name[512];
    nnrt_dims shape;
    uint32_t count = s->ahead > 0 ? s->ahead : 1;
    bool part;
    cli_tensor_free(&s->rows);
    s->rowsOf = NULL;
    s->firstRow = 0;
    *rows = cli_npy_read_part(path, 0, 0, &shape, &s->rows) ? cli_sample_rows(&s->job->in.shapes[0], &shape) : 0;
    part = *rows > 1 && row < *rows;
    if (part) {
        const int32_t each = shape.dims[0] / (int32_t)*rows;
        count = count < *rows - row ? count : *rows - row;
        part = cli_npy_read_part(path, (int32_t)row * each, (int32_t)count * each, &shape, &s->rows);
        s->firstRow = row;
    }
    if (!part) {
        s->firstRow = 0;
        if ((cli_ends_with(path, ".csv")
                 ? cli_csv_read(path, input->quantized ? NNRT_DATA_TYPE_FLOAT32 : input->type, &s->job->in.shapes[0], &s->rows)
                 : cli_tensor_read(path, &s->rows, name, sizeof(name))) != CLI_DONE ||
            (*rows = cli_samples_in(s, path, s->rows.type, &s->rows.shape)) == 0)
            return CLI_FAILED;
    }
    s->nRows = part ? count : *rows;
    if (cli_tensor_convert(&s->rows, input->quantized && cli_is_float(s->rows.type) ? NNRT_DATA_TYPE_FLOAT32 : input->type, path,
                           input->name) != CLI_DONE)
        return CLI_FAILED;
    s->rowsOf = path;
    return CLI_DONE;
}

/* Picture or sound: a sample that is converted. */
static bool cli_is_media(const char *path)
{
    static const char *const ends[] = {".png", ".jpg", ".jpeg", ".JPG", ".JPEG", ".wav"};
    bool media = false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        media = media || cli_ends_with(path, ends[i]);
    return media;
}

/* Adds a file or folder, which has that name in the folder or list of samples; skips other things. */
static int cli_samples_add_path(cli_samples *s, const char *path, const char *name)
{
    char file[4096], *copy;
    uint32_t rows = 1;
    uint64_t size;
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    const bool folder = exists && S_ISDIR(st.st_mode) && cli_set_file(file, sizeof(file), path, "input", 0);
    const bool tensor = cli_ends_with(path, ".npy") || cli_ends_with(path, ".pb") || cli_ends_with(path, ".csv");
    if (!folder && (!exists || !S_ISREG(st.st_mode) || (!tensor && !cli_is_media(path))))
        return CLI_DONE;
    if (!folder && s->job->in.count != 1)
        return cli_fail("the model has %u inputs: each sample in %s is a folder with input_0.npy, input_1.npy, ...",
                        (unsigned)s->job->in.count, s->path);
    if ((copy = cli_text_copy(path, strlen(path))) == NULL)
        return CLI_FAILED;
    if (tensor && !folder && cli_samples_read_rows(s, copy, 0, &rows) != CLI_DONE) {
        free(copy);
        return CLI_FAILED;
    }
    s->noted = s->noted || (tensor && !folder);
    size = folder ? 0 : (uint64_t)st.st_size;
    s->listed = cli_hash(cli_hash(s->listed, name, strlen(name) + 1), &size, sizeof(size));
    for (uint32_t i = 0; i < rows; i++)
        if (cli_samples_add(s, copy, i, folder) != CLI_DONE) {
            if (i == 0)
                free(copy);
            return CLI_FAILED;
        }
    return CLI_DONE;
}

/* Lists the entries of a folder in the order of their names. */
static int cli_samples_find_in(cli_samples *s, const char *path)
{
    cli_sets names;
    struct dirent *entry;
    DIR *d = opendir(path);
    int status = CLI_DONE;
    memset(&names, 0, sizeof(names));
    if (d == NULL)
        return cli_fail("cannot open the folder %s: %s", path, strerror(errno));
    while (status == CLI_DONE && (entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.')
            status = cli_sets_add(&names, path, entry->d_name);
    closedir(d);
    if (names.count > 1)
        qsort(names.paths, names.count, sizeof(*names.paths), cli_compare_paths);
    for (size_t i = 0; i < names.count && status == CLI_DONE; i++)
        status = cli_samples_add_path(s, names.paths[i], names.paths[i] + strlen(path) + 1);
    cli_sets_free(&names);
    return status;
}

/* Lists the files that the lines of a text name. */
static int cli_samples_find_listed(cli_samples *s, const char *path)
{
    cli_bytes file;
    char *text = NULL;
    int status = cli_read_file(path, &file);
    if (status == CLI_DONE)
        status = cli_lines_text(&file, path, "path", &text);
    free(file.data);
    for (char *line = text, *end; status == CLI_DONE && line != NULL; line = end) {
        const uint32_t before = s->count;
        if ((end = strchr(line, '\n')) != NULL)
            *end++ = '\0';
        status = cli_samples_add_path(s, line, line);
        if (status == CLI_DONE && s->count == before)
            status = cli_fail("%s names '%s', which is no .npy, .csv, .pb, .png, .jpg or .wav file here, and no folder with "
                              "input_0.npy", path, line);
    }
    free(text);
    return status;
}

/* Lists the samples at `path`: a file, the entries of a folder, or the lines of a .txt file. */
static int cli_samples_find(cli_samples *s, const char *path)
{
    struct stat st;
    int status;
    s->path = path;
    if (stat(path, &st) != 0)
        return cli_fail("cannot open %s: %s", path, strerror(errno));
    status = S_ISDIR(st.st_mode)            ? cli_samples_find_in(s, path)
             : cli_ends_with(path, ".txt") ? cli_samples_find_listed(s, path)
                                           : cli_samples_add_path(s, path, "");
    if (status == CLI_DONE && s->count == 0)
        return cli_fail("%s has no samples: expected .npy, .csv, .pb, .png, .jpg or .wav files, or folders with input_0.npy, ...",
                        path);
    if (status == CLI_DONE && s->args->samples > 0 && s->count > s->args->samples) {
        for (uint32_t i = s->args->samples; i < s->count; i++)
            if (s->data[i].row == 0)
                free(s->data[i].path);
        s->count = s->args->samples;
    }
    return status;
}

/* Forgets the values of all inputs. */
static void cli_samples_clear(cli_samples *s)
{
    for (uint32_t i = 0; i < s->job->in.count; i++) {
        cli_tensor_free(&s->job->in.data[i].value);
        s->job->in.data[i].source = NULL;
    }
}

/* Copies the values of the inputs to the buffers of a session. */
static int cli_samples_copy(const cli_samples *s, const char *path, const nnrt_io *inputs, uint32_t nIn)
{
    for (uint32_t i = 0; i < nIn; i++) {
        const cli_tensor *t = &s->job->in.data[i].value;
        if (t->bytes != inputs[i].bytes)
            return cli_fail("%s: input '%s' has %.0f bytes, the model takes %.0f", path, s->job->in.data[i].name,
                            (double)t->bytes, (double)inputs[i].bytes);
        memcpy(inputs[i].data, t->data, t->bytes);
    }
    return CLI_DONE;
}

/* A copy of row `row` of the file, which is in s->rows, as the value of the input. */
static int cli_sample_row(cli_samples *s, uint32_t row)
{
    cli_input *input = &s->job->in.data[0];
    if (cli_tensor_make(&input->value, s->rows.type, &s->job->in.shapes[0], input->name) != CLI_DONE)
        return CLI_FAILED;
    memcpy(input->value.data, (const uint8_t *)s->rows.data + (size_t)(row - s->firstRow) * input->value.bytes, input->value.bytes);
    return CLI_DONE;
}

/* Sets the inputs to the values of a sample. */
static int cli_sample_values(cli_samples *s, uint32_t index)
{
    const cli_sample *sample = &s->data[index];
    uint32_t rows = s->nRows;
    cli_samples_clear(s);
    if (sample->folder)
        return cli_set_inputs(s->job, sample->path);
    if (cli_is_media(sample->path))
        return cli_inputs_read(&s->job->in, 0, sample->path, &s->args->image);
    if ((s->rowsOf != sample->path || sample->row - s->firstRow >= s->nRows) &&
        cli_samples_read_rows(s, sample->path, sample->row, &rows) != CLI_DONE)
        return CLI_FAILED;
    if (sample->row - s->firstRow >= s->nRows)
        return cli_fail("%s has %u samples now, sample %u was listed before", sample->path, (unsigned)rows, (unsigned)sample->row);
    return cli_sample_row(s, sample->row);
}

/* Writes a sample to the buffers of a session. */
static int cli_sample_load(cli_samples *s, uint32_t index, const nnrt_io *inputs, uint32_t nIn)
{
    int status;
    cli_no_notes = s->noted;
    status = cli_sample_values(s, index);
    cli_no_notes = false;
    s->noted = true;
    return status == CLI_DONE ? cli_samples_copy(s, s->data[index].path, inputs, nIn) : status;
}

/* nnrt_quantize_desc.sample */
static NNRT_ReturnCode cli_sample_read(void *user, uint32_t index, const nnrt_io *inputs, uint32_t nIn)
{
    cli_samples *s = (cli_samples *)user;
    s->status = cli_sample_load(s, index, inputs, nIn);
    return s->status == CLI_DONE ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>classes */

#define CLI_MOST_CLASSES 4096

/* The number that the text is, or the line of the model's labels; false: neither. */
static bool cli_class_of(const cli_metadata *m, const char *output, const char *text, uint32_t *class)
{
    const nnrt_metadata *labels = cli_labels_find(m, output);
    const char *line = labels != NULL ? labels->value : "";
    if (cli_take_whole(text, 0, UINT32_MAX - 1, class))
        return true;
    for (*class = 0; *line != '\0'; ++*class) {
        const size_t length = strcspn(line, "\n");
        if (strlen(text) == length && memcmp(text, line, length) == 0)
            return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

/* The sample whose file has this name; UINT32_MAX: none. */
static uint32_t cli_sample_named(const cli_samples *s, const char *name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->data[i].row == 0 && strcmp(cli_last_part(s->data[i].path), name) == 0)
            return i;
    return UINT32_MAX;
}

/* One line of classes: CLASS of sample number `line`, or FILE CLASS. */
static int cli_classes_line(cli_samples *s, const char *output, const char *path, uint32_t line, char *text)
{
    char *space = strrchr(text, ' ');
    uint32_t sample = line, class;
    if (space != NULL && (sample = cli_sample_named(s, (*space = '\0', text))) == UINT32_MAX)
        return cli_fail("%s: line %u names '%s', which is no file in %s", path, (unsigned)line + 1, text, s->path);
    if (sample >= s->count)
        return cli_fail("%s has more lines than %s has samples, %u", path, s->path, (unsigned)s->count);
    if (!cli_class_of(&s->job->in.metadata, output, space != NULL ? space + 1 : text, &class) || class >= s->nClasses)
        return cli_fail("%s: line %u has class '%s', expected 0 to %u or a label of the model", path, (unsigned)line + 1,
                        space != NULL ? space + 1 : text, (unsigned)s->nClasses - 1);
    s->expected[sample] = class;
    return CLI_DONE;
}

/* Reads the classes of the samples, a text, or integers in a .npy file. output: its labels may be in the metadata. */
static int cli_classes_read(cli_samples *s, const char *output, const char *path)
{
    char *text = NULL, *line;
    uint32_t n = 0;
    int status = CLI_DONE;
    if ((s->expected = (uint32_t *)cli_alloc(s->count, sizeof(*s->expected))) == NULL)
        return CLI_FAILED;
    memset(s->expected, 0xFF, s->count * sizeof(*s->expected));
    if (cli_ends_with(path, ".npy")) {
        cli_tensor t;
        char name[8];
        if (cli_tensor_read(path, &t, name, sizeof(name)) != CLI_DONE)
            return CLI_FAILED;
        for (; n < s->count && n < t.count; n++)
            s->expected[n] = cli_element(&t, n) >= 0 && cli_element(&t, n) < s->nClasses ? (uint32_t)cli_element(&t, n) : UINT32_MAX;
        cli_tensor_free(&t);
    } else if ((status = cli_labels_read(path, &text)) == CLI_DONE) {
        for (line = text; status == CLI_DONE && *line != '\0'; n++) {
            char *end = line + strcspn(line, "\n");
            const bool last = *end == '\0';
            *end = '\0';
            status = cli_classes_line(s, output, path, n, line);
            line = last ? end : end + 1;
        }
        free(text);
    }
    for (uint32_t i = 0; i < s->count && status == CLI_DONE; i++)
        if (s->expected[i] == UINT32_MAX)
            status = cli_fail("%s has no class from 0 to %u for sample %u, %s", path, (unsigned)s->nClasses - 1, (unsigned)i,
                              s->data[i].path);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>compare */

/* One output of two models over the samples. */
typedef struct cli_agreement {
    double signal, noise;
    uint32_t same; /* samples with the same largest element */
    bool classes;  /* it has at least two elements */
    uint32_t right[2]; /* samples whose largest element is the expected class, of either model */
} cli_agreement;

/* Losses of a quantization: the noise of the outputs relative to their signal, and the accuracy (top 1). */
typedef struct cli_loss {
    double noise, accuracy;
} cli_loss;

static size_t cli_argmax(const float *x, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        at = x[i] > x[at] ? i : at;
    return at;
}

/* want, got: n elements of the output. expected: the class of the sample, or UINT32_MAX. */
static void cli_agree(cli_agreement *a, const float *x, const float *y, size_t n, uint32_t expected)
{
    for (size_t i = 0; i < n; i++) {
        a->signal += (double)x[i] * (double)x[i];
        a->noise += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
    }
    a->classes = n > 1;
    if (n < 2)
        return;
    a->same += cli_argmax(x, n) == cli_argmax(y, n);
    a->right[0] += cli_argmax(x, n) == expected;
    a->right[1] += cli_argmax(y, n) == expected;
}

/* A session of a model with buffers for everything. */
typedef struct cli_side {
    nnrt_session *session;
    nnrt_io *io;
    uint32_t nIn, nOut;
} cli_side;

static void cli_side_free(cli_side *s)
{
    for (uint32_t i = 0; s->io != NULL && i < s->nIn + s->nOut; i++)
        free(s->io[i].data);
    free(s->io);
    nnrt_session_destroy(s->session);
}

static int cli_side_make(cli_side *s, const NNRT_Model *model, const nnrt_session_desc *desc, const char *what)
{
    nnrt_error error;
    memset(s, 0, sizeof(*s));
    memset(&error, 0, sizeof(error));
    if (nnrt_session_create(&s->session, model, desc, &error) != NNRT_SUCCESS)
        return cli_fail("cannot run the %s model: %s", what, error.message);
    s->nIn = nnrt_session_inputs(s->session);
    s->nOut = nnrt_session_outputs(s->session);
    s->io = (nnrt_io *)cli_alloc((size_t)s->nIn + s->nOut, sizeof(*s->io));
    for (uint32_t i = 0; s->io != NULL && i < s->nIn + s->nOut; i++) {
        const size_t bytes = (i < s->nIn ? nnrt_session_input(s->session, i) : nnrt_session_output(s->session, i - s->nIn)).bytes;
        s->io[i] = nnrt_io_make(cli_alloc(bytes, 1), bytes);
        if (s->io[i].data == NULL)
            return CLI_FAILED;
    }
    return s->io != NULL ? CLI_DONE : CLI_FAILED;
}

static int cli_side_run(cli_side *s, const char *what)
{
    return nnrt_run(s->session, s->io, s->nIn, s->io + s->nIn, s->nOut) == NNRT_SUCCESS
               ? CLI_DONE
               : cli_fail("the run of the %s model failed: %s", what, nnrt_session_error(s->session));
}

/* Writes the float32 outputs of all samples to s->wanted, once. progressing: shows a bar. */
static int cli_samples_want(cli_samples *s, const nnrt_session_desc *desc, bool progressing)
{
    cli_progress progress = cli_progress_of("float32");
    cli_side side;
    FILE *file = s->wanted == NULL ? tmpfile() : NULL;
    int status;
    if (s->wanted != NULL)
        return CLI_DONE;
    if (file == NULL)
        return cli_fail("cannot create a temporary file for the outputs: %s", strerror(errno));
    status = cli_side_make(&side, s->job->model, desc, "float32");
    for (uint32_t k = 0; k < s->count && status == CLI_DONE; k++) {
        status = cli_sample_load(s, k, side.io, side.nIn);
        if (status == CLI_DONE)
            status = cli_side_run(&side, "float32");
        for (uint32_t i = side.nIn; i < side.nIn + side.nOut && status == CLI_DONE; i++)
            if (fwrite(side.io[i].data, 1, side.io[i].bytes, file) != side.io[i].bytes)
                status = cli_fail("cannot write the outputs to a temporary file: %s", strerror(errno));
        if (progressing)
            cli_progress_show(&progress, k + 1, s->count);
    }
    cli_progress_end(&progress);
    cli_side_free(&side);
    if (status == CLI_DONE)
        s->wanted = file;
    else
        fclose(file);
    return status;
}

/* Compares the outputs of one sample with the float32 outputs, which are next in s->wanted. want: room for the largest. */
static int cli_agreement_sample(cli_samples *s, uint32_t k, const cli_side *side, float *want, cli_agreement *all)
{
    for (uint32_t i = 0; i < side->nOut; i++) {
        const nnrt_io *got = &side->io[side->nIn + i];
        if (fread(want, 1, got->bytes, s->wanted) != got->bytes)
            return cli_fail("cannot read the float32 outputs of sample %u", (unsigned)k);
        if (nnrt_session_output(side->session, i).dataType == NNRT_DATA_TYPE_FLOAT32)
            cli_agree(&all[i], want, (const float *)got->data, got->bytes / sizeof(float),
                      i == 0 && s->expected != NULL ? s->expected[k] : UINT32_MAX);
    }
    return CLI_DONE;
}

/* Runs the 8-bit model on all samples. progressing: shows a bar. */
static int cli_agreement_measure(cli_samples *s, cli_side *side, cli_agreement *all, bool progressing)
{
    cli_progress progress = cli_progress_of("quantized");
    size_t most = 1;
    float *want;
    int status = CLI_DONE;
    for (uint32_t i = side->nIn; i < side->nIn + side->nOut; i++)
        most = side->io[i].bytes > most ? side->io[i].bytes : most;
    if ((want = (float *)cli_alloc(most, 1)) == NULL)
        return CLI_FAILED;
    rewind(s->wanted);
    for (uint32_t k = 0; k < s->count && status == CLI_DONE; k++) {
        status = cli_sample_load(s, k, side->io, side->nIn);
        if (status == CLI_DONE)
            status = cli_side_run(side, "quantized");
        if (status == CLI_DONE)
            status = cli_agreement_sample(s, k, side, want, all);
        if (progressing)
            cli_progress_show(&progress, k + 1, s->count);
    }
    cli_progress_end(&progress);
    free(want);
    return status;
}

static double cli_agreement_sqnr(const cli_agreement *a)
{
    return a->noise > 0 ? 10 * log10(a->signal / a->noise) : (double)INFINITY;
}

static void cli_agreement_print(const cli_samples *s, const cli_side *side, const cli_agreement *all, const cli_args *args)
{
    fputs(args->json ? ",\"outputs\":[" : "", stdout);
    for (uint32_t i = 0; i < side->nOut; i++) {
        const double sqnr = cli_agreement_sqnr(&all[i]);
        const char *name = nnrt_session_output(side->session, i).name;
        if (args->json) {
            fputs(i > 0 ? ",{\"name\":" : "{\"name\":", stdout);
            cli_json_text(name);
            fputs(",\"sqnr\":", stdout);
            cli_json_number(sqnr, 9);
            printf(",\"same_class\":%u}", (unsigned)all[i].same);
            continue;
        }
        fputs(i > 0 ? "           " : "output     ", stdout);
        cli_put_name(stdout, name);
        printf("  %.1f dB", sqnr);
        if (all[i].classes)
            printf(", the same largest element in %u of %u samples", (unsigned)all[i].same, (unsigned)s->count);
        putchar('\n');
    }
    fputs(args->json ? "]" : "", stdout);
    if (s->expected != NULL && args->json)
        printf(",\"top1\":[%u,%u]", (unsigned)all[0].right[0], (unsigned)all[0].right[1]);
    else if (s->expected != NULL)
        printf("top 1      %.2f %% float32, %.2f %% %s\n", 100.0 * all[0].right[0] / s->count, 100.0 * all[0].right[1] / s->count,
               args->int16 ? "16x8" : "8 bits");
}

/* The largest noise of an output, relative to its signal. */
static double cli_agreement_noise(const cli_agreement *all, uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = all[i].noise > most * all[i].signal && all[i].signal > 0 ? all[i].noise / all[i].signal : most;
    return most;
}

/* Compares the outputs of the float32 and the quantized model. print: prints the figures.
   notes: receives them; NULL: none. */
static int cli_agreement_of(cli_samples *s, const NNRT_Model *quantized, const nnrt_session_desc *desc, bool print,
                            cli_notes *notes, cli_loss *loss)
{
    cli_side side;
    cli_agreement *all = NULL;
    int status = cli_samples_want(s, desc, print);
    memset(&side, 0, sizeof(side));
    if (status == CLI_DONE)
        status = cli_side_make(&side, quantized, desc, "quantized");
    if (status == CLI_DONE && (all = (cli_agreement *)cli_alloc(side.nOut, sizeof(*all))) == NULL)
        status = CLI_FAILED;
    if (status == CLI_DONE)
        status = cli_agreement_measure(s, &side, all, print);
    if (status == CLI_DONE) {
        loss->noise = cli_agreement_noise(all, side.nOut);
        loss->accuracy = s->expected != NULL ? ((double)all[0].right[0] - (double)all[0].right[1]) / s->count : 0;
    }
    if (status == CLI_DONE && print)
        cli_agreement_print(s, &side, all, s->args);
    for (uint32_t i = 0; status == CLI_DONE && notes != NULL && i < side.nOut; i++)
        cli_notes_output(notes, nnrt_session_output(side.session, i).name, cli_agreement_sqnr(&all[i]), all[i].same,
                         all[i].classes);
    for (uint32_t i = 0; status == CLI_DONE && notes != NULL && s->expected != NULL && i < 2; i++)
        notes->right[i] = 100.0 * all[0].right[i] / s->count;
    free(all);
    cli_side_free(&side);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize */

/* The desc's `user`. */
typedef struct cli_quantize_user {
    cli_samples samples, heldOut; /* heldOut: of --held-out, for the comparison with float32; empty: `samples` are compared */
    cli_progress progress;
    bool quiet; /* no bar: one of many quantizations */
    const char *keep;
    bool *floats; /* per node: it stays float32. NULL: none */
    cli_qdq qdq;  /* notes for an ONNX file */
    bool onnx;    /* the output is one */
    bool ranges;  /* prints ranges */
    cli_notes *notes; /* for --report; NULL: none */
    const NNRT_Model *model; /* the float32 model */
    nnrt_session_desc session;
} cli_quantize_user;

/* The samples of the comparison. */
static cli_samples *cli_quantize_judges(cli_quantize_user *user)
{
    return user->heldOut.count > 0 ? &user->heldOut : &user->samples;
}

static NNRT_ReturnCode cli_quantize_sample(void *user, uint32_t index, const nnrt_io *inputs, uint32_t nIn)
{
    return cli_sample_read(&((cli_quantize_user *)user)->samples, index, inputs, nIn);
}

static void cli_quantize_show(void *user, uint64_t done, uint64_t total)
{
    if (!((cli_quantize_user *)user)->quiet)
        cli_progress_show(&((cli_quantize_user *)user)->progress, (size_t)done, (size_t)total);
}

static void cli_quantize_range(void *user, const nnrt_quantize_range *r)
{
    cli_quantize_user *u = (cli_quantize_user *)user;
    if (u->onnx)
        cli_qdq_note_range(&u->qdq, r);
    if (u->notes != NULL)
        cli_notes_range(u->notes, r);
    if (!u->ranges)
        return;
    printf("range      ");
    cli_put_name(stdout, r->tensor);
    printf("  %.6g to %.6g, codes %.6g to %.6g (%s), scale %.9g, zero point %d, %.1f dB\n", (double)r->least, (double)r->most,
           (double)r->lower, (double)r->upper, r->method, r->quant.scale, (int)r->quant.zeroPoint, r->sqnr);
}

static void cli_quantize_layer(void *user, const nnrt_quantize_layer *layer)
{
    cli_quantize_user *u = (cli_quantize_user *)user;
    if (u->onnx)
        cli_qdq_note_layer(&u->qdq, layer);
    if (u->notes != NULL)
        cli_notes_layer(u->notes, u->model, layer);
}

/* nnrt_quantize_desc.keep: the nodes of --keep, and the nodes that a search keeps. */
static bool cli_quantize_keep(void *user, const NNRT_Model *model, uint32_t node)
{
    const cli_quantize_user *u = (const cli_quantize_user *)user;
    if (u->onnx && model->nodes.data[node].nodeType == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION)
        return true; /* ONNX has scales for other channels there */
    return nnrt_partition_keeps(u->keep, model, node) || (u->floats != NULL && u->floats[node]);
}

static void cli_quantize_print(const nnrt_quantize_report *r, const cli_args *args, uint32_t samples)
{
    if (args->json) {
        cli_json_open(args);
        printf(",\"samples\":%u,\"nodes\":%u,\"quantized\":%u,\"equalized\":%u,\"corrected\":%u,\"rounded\":%u", (unsigned)samples,
               (unsigned)r->nodes, (unsigned)r->chosen, (unsigned)r->equalized, (unsigned)r->corrected, (unsigned)r->rounded);
        return;
    }
    printf("samples    %u\nnodes      %u of %u quantized, %u with weights\n", (unsigned)samples, (unsigned)r->chosen,
           (unsigned)r->nodes, (unsigned)r->layers);
    printf("equalized  %u pairs of layers\ncorrected  %u biases\n", (unsigned)r->equalized, (unsigned)r->corrected);
    printf("ranges     %u min-max, %u percentile, %u least squares, %u by operator\n", (unsigned)r->ranges[0],
           (unsigned)r->ranges[1], (unsigned)r->ranges[2], (unsigned)r->ranges[3]);
    if (args->leastSquares)
        printf("rounded    %u of %u weight tensors by least squares\n", (unsigned)r->rounded, (unsigned)r->layers);
}

/* Quantizes the loaded model. report NULL: one of many times, without ranges. quantized NULL: only checks model and options. */
static NNRT_ReturnCode cli_quantize_once(const cli_job *job, const cli_args *args, cli_quantize_user *user,
                                         NNRT_Model **quantized, nnrt_quantize_report *report, nnrt_error *error)
{
    nnrt_quantize_desc desc;
    memset(&desc, 0, sizeof(desc));
    memset(error, 0, sizeof(*error));
    desc.samples = user->samples.count;
    desc.sample = cli_quantize_sample;
    desc.user = user;
    desc.session = &user->session;
    desc.without = args->withoutSteps;
    desc.least_squares = args->leastSquares;
    desc.uint8 = args->uint8;
    desc.int16 = args->int16;
    desc.keep = cli_quantize_keep;
    user->ranges = args->ranges && !args->json;
    desc.range = report != NULL ? cli_quantize_range : NULL;
    desc.layer = report != NULL ? cli_quantize_layer : NULL;
    user->model = job->model;
    desc.progress = cli_quantize_show;
    desc.report = report;
    desc.log = report != NULL ? &args->log : NULL;
    return nnrt_quantize(quantized, job->model, &desc, error);
}

static int cli_quantize_failed(const cli_quantize_user *user, const cli_args *args, const nnrt_error *error)
{
    return user->samples.status != CLI_DONE ? CLI_FAILED : cli_fail("cannot quantize %s: %s", args->model, error->message);
}

/* Reads the model in QDQ form. */
static int cli_quantize_import(const cli_args *args, const cli_quantize_user *user, NNRT_Model **model)
{
    nnrt_onnx_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.budget = args->image.budget;
    if (nnrt_onnx_load_memory(model, user->qdq.out, user->qdq.size, &desc, &error) != NNRT_SUCCESS)
        return cli_fail("cannot write %s: the importer refuses it: %s; write a .nnrt file", args->output, error.message);
    return CLI_DONE;
}

/* Whether the model in QDQ form computes the same as the quantized model, whose noise is given: the importer reads it, and
   its noise is at most twice as large, as roundings differ where it has no casts. */
static int cli_quantize_check(const cli_args *args, cli_quantize_user *user, double noise)
{
    NNRT_Model *model = NULL;
    cli_loss own = {0, 0};
    int status = cli_quantize_import(args, user, &model);
    if (status != CLI_DONE)
        return status;
    status = cli_agreement_of(cli_quantize_judges(user), model, &user->session, false, NULL, &own);
    nnrt_model_destroy(model);
    if (status == CLI_DONE && !(own.noise <= 2 * noise + 1e-9))
        status = cli_fail("cannot write %s: as an ONNX file the model has a noise of %g instead of %g; write a .nnrt file",
                          args->output, own.noise, noise);
    return status;
}

/* Gives the file, which was checked, 8-bit inputs and outputs. */
static int cli_quantize_int8_io(const cli_args *args, cli_quantize_user *user)
{
    NNRT_Model *model = NULL;
    int status = cli_qdq_make_int8_io(&user->qdq, args->model);
    if (status == CLI_DONE)
        status = cli_quantize_import(args, user, &model);
    nnrt_model_destroy(model);
    return status;
}

/* Freed blocks of 128 KiB and more return to the system. By default glibc keeps blocks of up to 32 MB, between others that
   are in use: an eighth of the peak here. A setting of the whole process, so not where `main` is a function of another
   program (bindings/python/nnrt/_nnrt.c). */
static void cli_return_blocks(void)
{
#if defined(__GLIBC__) && !defined(main)
    (void)mallopt(M_MMAP_THRESHOLD, 131072);
#endif
}

/* Makes the ONNX file in QDQ form, in memory. */
static int cli_quantize_onnx(const cli_args *args, cli_quantize_user *user, double noise)
{
    cli_bytes file = cli_stream.bytes;
    int status = cli_stream.block == NULL ? cli_read_file(args->model, &file) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    user->qdq.data = file.data;
    user->qdq.bytes = file.size;
    user->qdq.uint8 = args->uint8;
    status = cli_qdq_make(&user->qdq, args->model);
    if (!args->int8Io && cli_stream.block == NULL) {
        free(file.data); /* before the check, which needs memory */
        file.data = NULL;
    }
    if (status == CLI_DONE)
        status = cli_quantize_check(args, user, noise);
    if (status == CLI_DONE && args->int8Io)
        status = cli_quantize_int8_io(args, user);
    if (cli_stream.block == NULL)
        free(file.data);
    return status;
}

/* Quantizes the loaded model, compares both, and replaces it. The float32 outputs are computed before, so that the packed
   weights of that session and the quantized model are not in memory at the same time. */
static int cli_quantize_model(cli_job *job, const cli_args *args, cli_quantize_user *user)
{
    nnrt_quantize_report report;
    NNRT_Model *quantized = NULL;
    nnrt_error error;
    cli_loss loss = {0, 0};
    int status;
    NNRT_ReturnCode code = cli_quantize_once(job, args, user, NULL, NULL, &error); /* refuses the model, if it must */
    if (code != NNRT_SUCCESS)
        return cli_quantize_failed(user, args, &error);
    status = cli_samples_want(cli_quantize_judges(user), &user->session, true);
    if (status != CLI_DONE)
        return status;
    code = cli_quantize_once(job, args, user, &quantized, &report, &error);
    cli_progress_end(&user->progress);
    if (code != NNRT_SUCCESS)
        return cli_quantize_failed(user, args, &error);
    cli_quantize_print(&report, args, user->samples.count);
    if (user->notes != NULL) {
        user->notes->counts = report;
        user->notes->samples = user->samples.count;
        user->notes->judged = cli_quantize_judges(user)->count;
    }
    nnrt_model_destroy(job->model);
    job->model = quantized;
    status = cli_agreement_of(cli_quantize_judges(user), quantized, &user->session, true, user->notes, &loss);
    if (status == CLI_DONE && args->json)
        fputs("}\n", stdout);
    if (status == CLI_DONE && user->onnx)
        status = cli_quantize_onnx(args, user, loss.noise);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>sensitivity */

/* A node, and the noise of the outputs if it alone is quantized, relative to their signal. */
typedef struct cli_sensitivity {
    double noise;
    uint32_t node;
} cli_sensitivity;

/* The noisiest first. */
static int cli_compare_sensitivities(const void *a, const void *b)
{
    const cli_sensitivity *x = (const cli_sensitivity *)a, *y = (const cli_sensitivity *)b;
    if (x->noise < y->noise || x->noise > y->noise)
        return x->noise < y->noise ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Quantizes the nodes that user->floats leaves, and compares. *chosen: whether any node was quantized. */
static int cli_quantize_loss(const cli_job *job, const cli_args *args, cli_quantize_user *user, cli_loss *loss, bool *chosen)
{
    NNRT_Model *quantized = NULL;
    nnrt_error error;
    int status = CLI_DONE;
    const NNRT_ReturnCode code = cli_quantize_once(job, args, user, &quantized, NULL, &error);
    *chosen = code == NNRT_SUCCESS;
    loss->noise = loss->accuracy = 0;
    if (code == NNRT_SUCCESS)
        status = cli_agreement_of(cli_quantize_judges(user), quantized, &user->session, false, NULL, loss);
    else if (code != NNRT_NOT_SUPPORT)
        status = cli_quantize_failed(user, args, &error);
    nnrt_model_destroy(quantized);
    return status;
}

/* Fills the list of sensitivities, and sorts it. */
static int cli_sensitivity_measure(const cli_job *job, const cli_args *args, cli_quantize_user *user, cli_sensitivity *list,
                                   uint32_t *count)
{
    const uint32_t n = job->model->nodes.count;
    int status = CLI_DONE;
    *count = 0;
    memset(user->floats, 1, n * sizeof(*user->floats));
    for (uint32_t i = 0; i < n && status == CLI_DONE; i++) {
        bool chosen = false;
        cli_loss loss;
        user->floats[i] = false;
        status = cli_quantize_loss(job, args, user, &loss, &chosen);
        list[*count].noise = loss.noise;
        user->floats[i] = true;
        list[*count].node = i;
        *count += chosen;
        cli_progress_show(&user->progress, i + 1, n);
    }
    cli_progress_end(&user->progress);
    if (*count > 0)
        qsort(list, *count, sizeof(*list), cli_compare_sensitivities);
    return status;
}

/* Lets the `kept` noisiest nodes stay float32, all others be quantized. */
static void cli_sensitivity_keep(const cli_job *job, cli_quantize_user *user, const cli_sensitivity *list, uint32_t kept)
{
    memset(user->floats, 0, job->model->nodes.count * sizeof(*user->floats));
    for (uint32_t i = 0; i < kept; i++)
        user->floats[list[i].node] = true;
}

/* The fewest of the noisiest nodes that must stay float32 so that the loss is at most args->maxLoss, by bisection. */
static int cli_sensitivity_search(const cli_job *job, const cli_args *args, cli_quantize_user *user, const cli_sensitivity *list,
                                  uint32_t count, uint32_t *kept)
{
    uint32_t low = 0, high = count;
    int status = CLI_DONE;
    while (low < high && status == CLI_DONE) {
        const uint32_t middle = low + (high - low) / 2;
        cli_loss loss;
        bool chosen;
        cli_sensitivity_keep(job, user, list, middle);
        status = cli_quantize_loss(job, args, user, &loss, &chosen);
        if ((cli_quantize_judges(user)->expected != NULL ? loss.accuracy : loss.noise) <= args->maxLoss)
            high = middle;
        else
            low = middle + 1;
    }
    *kept = low;
    if (status == CLI_DONE && low == count)
        status = cli_fail("--max-loss %g: no node of %s can be quantized with a %s of at most that", args->maxLoss, args->model,
                          cli_quantize_judges(user)->expected != NULL ? "loss of accuracy" : "noise");
    cli_sensitivity_keep(job, user, list, *kept);
    return status;
}

/* print: prints the list. notes: receives it; NULL: none. */
static void cli_sensitivity_tell(const cli_job *job, const cli_sensitivity *list, uint32_t count, uint32_t kept, bool print,
                                 cli_notes *notes)
{
    for (uint32_t i = 0; i < count; i++) {
        const double sqnr = list[i].noise > 0 ? -10 * log10(list[i].noise) : (double)INFINITY;
        if (notes != NULL)
            cli_notes_node(notes, &job->model->nodes.data[list[i].node], sqnr, i < kept);
        if (!print)
            continue;
        fputs(i < kept ? "float32    " : "quantized  ", stdout);
        printf("%.1f dB  ", sqnr);
        cli_record_print(job->model, list[i].node);
    }
}

/* --max-loss, --sensitivity: measures each node, and chooses the nodes that stay float32. */
static int cli_quantize_search(const cli_job *job, const cli_args *args, cli_quantize_user *user)
{
    cli_sensitivity *list = (cli_sensitivity *)cli_alloc(job->model->nodes.count, sizeof(*list));
    uint32_t count = 0, kept = 0;
    int status = CLI_FAILED;
    user->floats = (bool *)cli_alloc(job->model->nodes.count, sizeof(bool));
    user->quiet = true;
    user->progress.label = "sensitivity";
    if (list != NULL && user->floats != NULL)
        status = cli_sensitivity_measure(job, args, user, list, &count);
    if (status == CLI_DONE && args->maxLoss > 0)
        status = cli_sensitivity_search(job, args, user, list, count, &kept);
    else if (status == CLI_DONE)
        cli_sensitivity_keep(job, user, list, 0);
    if (status == CLI_DONE)
        cli_sensitivity_tell(job, list, count, kept, !args->json, user->notes);
    user->quiet = false;
    user->progress.label = "quantize";
    free(list);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>weights */

/* Loads the model, optimized, with the shapes of --shape. close: other dynamic dimensions are 1. */
static int cli_quantize_load(cli_job *job, const cli_args *args, bool close)
{
    cli_args own = *args;
    nnrt_error error;
    int status = cli_inputs_make(&job->in, args);
    own.int8Io = false; /* of the 8-bit model */
    memset(&error, 0, sizeof(error));
    if (status == CLI_DONE)
        status = cli_inputs_apply_shapes(&job->in, args);
    if (status == CLI_DONE && close)
        status = cli_inputs_close_shapes(&job->in);
    if (status == CLI_DONE)
        status = cli_job_load(job, &own);
    if (status == CLI_DONE && job->fromNnrt && nnrt_model_optimize(&job->model, NULL, &error) != NNRT_SUCCESS)
        status = cli_fail("cannot optimize %s: %s", args->model, error.message);
    return status;
}

/* nnrt_quantize_desc.keep: the nodes of --keep, whose text is `user`. */
static bool cli_weights_keep(void *user, const NNRT_Model *model, uint32_t node)
{
    return nnrt_partition_keeps((const char *)user, model, node);
}

static void cli_weights_print(const nnrt_quantize_report *r, const cli_args *args)
{
    if (args->json) {
        cli_json_open(args);
        printf(",\"nodes\":%u,\"quantized\":%u,\"weights\":[%.0f,%.0f]}\n", (unsigned)r->nodes, (unsigned)r->chosen,
               (double)r->bytes[0], (double)r->bytes[1]);
        return;
    }
    printf("nodes      weights of %u of %u quantized\nweights    %.0f bytes were %.0f\n", (unsigned)r->chosen, (unsigned)r->nodes,
           (double)r->bytes[1], (double)r->bytes[0]);
}

/* --weights-only and --dynamic: replaces the loaded model. Dynamic dimensions stay dynamic. */
static int cli_quantize_weights(cli_job *job, const cli_args *args)
{
    nnrt_quantize_report report;
    nnrt_quantize_desc desc;
    NNRT_Model *quantized = NULL;
    nnrt_error error;
    char *keep = NULL;
    int status = cli_quantize_load(job, args, false);
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    if (status == CLI_DONE && cli_ends_with(args->output, ".onnx"))
        status = cli_fail("cannot write %s: %s writes .nnrt files", args->output,
                          args->dynamicCodes ? "--dynamic" : "--weights-only");
    if (status == CLI_DONE)
        status = cli_job_widen(job, args);
    if (status == CLI_DONE)
        status = cli_job_keep(args, &keep);
    desc.weight_bits = args->weightBits;
    desc.weight_block = args->weightBlock;
    desc.dynamic = args->dynamicCodes;
    desc.keep = keep != NULL ? cli_weights_keep : NULL;
    desc.user = keep;
    desc.report = &report;
    desc.log = &args->log;
    if (status == CLI_DONE && nnrt_quantize(&quantized, job->model, &desc, &error) != NNRT_SUCCESS)
        status = cli_fail("cannot quantize %s: %s", args->model, error.message);
    free(keep);
    if (status != CLI_DONE)
        return status;
    cli_weights_print(&report, args);
    nnrt_model_destroy(job->model);
    job->model = quantized;
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>command */

/* The sessions in which the samples run. */
static int cli_quantize_session(cli_job *job, const cli_args *args, nnrt_session_desc *session)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (cli_job_threads(job, args, session, &error) != NNRT_SUCCESS)
        return cli_fail("%s", error.message);
    session->device = args->device;
    if (job->fromNnrt)
        session->inputDims = nnrt_dims_list_make(job->in.shapes, job->in.count);
    return CLI_DONE;
}

/* Reads --classes for the first output. */
static int cli_quantize_classes(const cli_job *job, const cli_args *args, cli_quantize_user *user)
{
    cli_samples *judges = cli_quantize_judges(user);
    cli_side side;
    int status = cli_side_make(&side, job->model, &user->session, "float32");
    if (status == CLI_DONE) {
        const nnrt_io_info out = nnrt_session_output(side.session, 0);
        const size_t count = out.bytes / sizeof(float);
        judges->nClasses = (uint32_t)(count < CLI_MOST_CLASSES ? count : CLI_MOST_CLASSES);
        if (out.dataType != NNRT_DATA_TYPE_FLOAT32 || count < 2 || count > CLI_MOST_CLASSES)
            status = cli_fail("--classes: output '%s' of %s has %.0f bytes, expected float32 values for 2 to %d classes", out.name,
                              args->model, (double)out.bytes, CLI_MOST_CLASSES);
        else
            status = cli_classes_read(judges, out.name, args->classes);
    }
    cli_side_free(&side);
    return status;
}

/* Writes the file of cli_quantize_onnx. */
static int cli_quantize_write(const cli_args *args, const cli_qdq *qdq)
{
    cli_out out;
    const int status = cli_out_open(&out, args->output, false);
    return status == CLI_DONE ? cli_out_close(&out, fwrite(qdq->out, 1, qdq->size, out.f) == qdq->size) : status;
}

/* Sizes and instructions of the loaded model, whose file is `path`. */
static int cli_quantize_sizes(cli_job *job, const cli_args *args, const char *path, cli_noted_model *sizes)
{
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    nnrt_error error;
    struct stat st;
    int status;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    status = cli_quantize_session(job, args, &desc);
    desc.device = "reference";
    if (status == CLI_DONE && nnrt_session_create(&session, job->model, &desc, &error) != NNRT_SUCCESS)
        return cli_fail("cannot plan %s: %s", path, error.message);
    if (status == CLI_DONE)
        sizes->session = nnrt_session_get_memory(session);
    sizes->instructions = cli_work_of(job).instructions;
    sizes->file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (double)st.st_size : (double)cli_stream.bytes.size;
    nnrt_session_destroy(session);
    return status;
}

/* Whether --report can be written: it is another file than -o, and none that this command reads. */
static int cli_quantize_report_path(const cli_args *args)
{
    if (strcmp(args->report, "-") == 0 || strcmp(args->report, args->output) == 0)
        return cli_usage("--report %s: expected a file beside the model %s", args->report, args->output);
    return cli_out_try(args->report);
}

static int cli_quantize_report_begin(cli_job *job, const cli_args *args, cli_notes *notes)
{
    int status = cli_quantize_report_path(args);
    if (status == CLI_DONE)
        status = cli_notes_begin(notes, job->model);
    return status == CLI_DONE ? cli_quantize_sizes(job, args, args->model, &notes->before) : status;
}

/* Writes the report when the model is written. */
static int cli_quantize_report_end(cli_job *job, const cli_args *args, cli_notes *notes)
{
    int status = cli_note_read(args->output); /* as a link, --report may lead to it */
    if (status == CLI_DONE)
        status = cli_quantize_sizes(job, args, args->output, &notes->after);
    if (status == CLI_DONE)
        status = cli_notes_write(notes, args);
    if (status == CLI_DONE && !args->json) {
        fputs("report     ", stdout);
        cli_put_name(stdout, args->report);
        putchar('\n');
    }
    return status;
}

/* Quantizes the model into job->model; *written: the size of the ONNX file, 0 if OUT is none. notes: for --report. */
static int cli_quantize_job(cli_job *job, const cli_args *args, cli_notes *notes, size_t *written)
{
    cli_quantize_user user;
    char *keep = NULL;
    int status = cli_quantize_load(job, args, true);
    memset(&user, 0, sizeof(user));
    *written = 0;
    user.onnx = cli_ends_with(args->output, ".onnx");
    if (status == CLI_DONE && user.onnx && (job->fromNnrt || cli_is_tflite(args->model)))
        status = cli_fail("cannot write %s: an ONNX file is made of an ONNX file; write a .nnrt file", args->output);
    if (status == CLI_DONE && user.onnx && cli_has_half(job->model))
        status = cli_fail("cannot write %s: the model is float16; write a .nnrt file", args->output);
    if (status == CLI_DONE)
        status = cli_job_widen(job, args);
    if (status == CLI_DONE)
        status = cli_out_try(args->output);
    user.samples.job = user.heldOut.job = job;
    user.samples.args = user.heldOut.args = args;
    user.progress.label = "quantize";
    user.notes = args->report != NULL ? notes : NULL;
    if (status == CLI_DONE && user.notes != NULL)
        status = cli_quantize_report_begin(job, args, notes);
    if (status == CLI_DONE)
        status = cli_job_keep(args, &keep);
    user.keep = keep;
    if (status == CLI_DONE)
        status = cli_samples_find(&user.samples, args->data);
    if (status == CLI_DONE && args->heldOut != NULL)
        status = cli_samples_find(&user.heldOut, args->heldOut);
    if (status == CLI_DONE)
        status = cli_quantize_session(job, args, &user.session);
    if (status == CLI_DONE && args->classes != NULL)
        status = cli_quantize_classes(job, args, &user);
    if (status == CLI_DONE && (args->sensitivity || args->maxLoss > 0))
        status = cli_quantize_search(job, args, &user);
    if (status == CLI_DONE)
        status = cli_quantize_model(job, args, &user);
    if (status == CLI_DONE && user.onnx && (status = cli_quantize_write(args, &user.qdq)) == CLI_DONE)
        *written = user.qdq.size;
    cli_qdq_free(&user.qdq);
    cli_samples_free(&user.samples);
    cli_samples_free(&user.heldOut);
    free(user.floats);
    free(keep);
    return status;
}

#endif /* NNRT_TOOL_QUANTIZE_H */
