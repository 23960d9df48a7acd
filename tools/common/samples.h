/*
samples.h - the samples of nnrt quantize, accuracy and batch: files, folders, rows of tables, and the class of each.
Part of tools/nnrt.c.

    >>samples  the files of --data as samples
    >>classes  the right answer for each sample
*/
#ifndef NNRT_TOOL_SAMPLES_H
#define NNRT_TOOL_SAMPLES_H

#include "../io/csv.h"
#include "sets.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>samples */

/* One sample: a file (.npy, .pb, .png, .jpg, .wav), row `row` of the rows in a .npy or .csv file, or a folder with
   input_0.npy, ... */
typedef struct cli_sample {
    char *path;
    uint32_t row;
    bool folder;
    bool bad; /* it cannot be used, which was reported: --skip-bad */
} cli_sample;

typedef struct cli_samples {
    cli_sample *data;
    uint32_t count, room;
    uint32_t dropped; /* bad samples behind those (cli_samples_drop_bad) */
    cli_job *job;     /* the float32 model, whose inputs receive the values */
    const cli_args *args;
    cli_tensor rows; /* of the file rowsOf, converted to the type of the input, or float32 */
    const char *rowsOf;
    uint32_t firstRow, nRows; /* those in `rows` */
    bool *wrong;              /* of a .csv file with --skip-bad: lines that are no sample; NULL: none */
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
    for (uint32_t i = 0; i < s->count + s->dropped; i++)
        if (s->data[i].row == 0) /* rows of one file share its path */
            free(s->data[i].path);
    free(s->data);
    free(s->wrong);
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
    s->data[s->count].bad = false;
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
    free(s->wrong);
    s->wrong = NULL;
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
                 ? cli_csv_read(path, input->quantized ? NNRT_DATA_TYPE_FLOAT32 : input->type, &s->job->in.shapes[0], &s->rows,
                                s->args->skipBad ? &s->wrong : NULL)
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

/* Adds a sample that cannot be used, with --skip-bad; its fault was reported. */
static int cli_samples_add_bad(cli_samples *s, char *path)
{
    const int status = cli_samples_add(s, path, 0, false);
    if (status == CLI_DONE)
        s->data[s->count - 1].bad = true;
    else
        free(path);
    return status;
}

/* A path that should be a sample and is none: fails, or adds it as a bad one. listed: a .txt file names it. */
static int cli_samples_refuse(cli_samples *s, const char *path, const struct stat *st, bool exists, bool listed)
{
    struct stat link;
    char *copy;
    const char *why = exists && S_ISDIR(st->st_mode)                            ? "it is a folder without input_0.npy"
                      : exists && !S_ISREG(st->st_mode)                         ? "it is no regular file"
                      : exists                                                  ? "it is no .npy, .csv, .pb, .png, .jpg or .wav file"
                      : lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? "it is a link to a file that does not exist"
                                                                         : "there is no such file";
    (void)cli_fail("%s%scannot use %s: %s", listed ? s->path : "", listed ? ": " : "", path, why);
    if (!s->args->skipBad)
        return CLI_FAILED;
    copy = cli_text_copy(path, strlen(path));
    return copy != NULL ? cli_samples_add_bad(s, copy) : CLI_FAILED;
}

/* Adds a file or folder, which has that name in the folder or list of samples. listed: a .txt file names it. Other files of a folder
   whose names do not end as a sample's do, such as a text beside them, are skipped. */
static int cli_samples_add_path(cli_samples *s, const char *path, const char *name, bool listed)
{
    char file[4096], *copy;
    uint32_t rows = 1;
    uint64_t size;
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    const bool folder = exists && S_ISDIR(st.st_mode) && cli_set_file(file, sizeof(file), path, "input", 0);
    const bool tensor = cli_ends_with(path, ".npy") || cli_ends_with(path, ".pb") || cli_ends_with(path, ".csv");
    const bool named = tensor || cli_is_media(path);
    size = exists && !folder ? (uint64_t)st.st_size : 0;
    if (folder || named || listed)
        s->listed = cli_hash(cli_hash(s->listed, name, strlen(name) + 1), &size, sizeof(size));
    if (!folder && (!exists || !S_ISREG(st.st_mode) || !named))
        return named || listed ? cli_samples_refuse(s, path, &st, exists, listed) : CLI_DONE;
    if (!folder && s->job->in.count != 1)
        return cli_fail("the model has %u inputs: each sample in %s is a folder with input_0.npy, input_1.npy, ...",
                        (unsigned)s->job->in.count, s->path);
    if ((copy = cli_text_copy(path, strlen(path))) == NULL)
        return CLI_FAILED;
    if (tensor && !folder && cli_samples_read_rows(s, copy, 0, &rows) != CLI_DONE) {
        if (s->args->skipBad)
            return cli_samples_add_bad(s, copy);
        free(copy);
        return CLI_FAILED;
    }
    s->noted = s->noted || (tensor && !folder);
    for (uint32_t i = 0; i < rows; i++) {
        if (cli_samples_add(s, copy, i, folder) != CLI_DONE) {
            if (i == 0)
                free(copy);
            return CLI_FAILED;
        }
        s->data[s->count - 1].bad = tensor && !folder && s->wrong != NULL && s->wrong[i];
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
        status = cli_samples_add_path(s, names.paths[i], names.paths[i] + strlen(path) + 1, false);
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
        if ((end = strchr(line, '\n')) != NULL)
            *end++ = '\0';
        status = cli_samples_add_path(s, line, line, true);
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
                                           : cli_samples_add_path(s, path, "", false);
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
    int status = CLI_DONE;
    cli_samples_clear(s);
    if (sample->bad)
        return CLI_FAILED;
    if (sample->folder)
        return cli_set_inputs(s->job, sample->path);
    if (cli_is_media(sample->path))
        return cli_inputs_read(&s->job->in, 0, sample->path, &s->args->image);
    if (s->rowsOf != sample->path || sample->row - s->firstRow >= s->nRows) {
        cli_no_errors = s->args->skipBad && cli_ends_with(sample->path, ".csv"); /* they were reported when it was listed */
        status = cli_samples_read_rows(s, sample->path, sample->row, &rows);
        cli_no_errors = false;
    }
    if (status != CLI_DONE)
        return status;
    if (sample->row - s->firstRow >= s->nRows)
        return cli_fail("%s has %u samples now, sample %u was listed before", sample->path, (unsigned)rows, (unsigned)sample->row);
    return cli_sample_row(s, sample->row);
}

/* The first sample that can be used; a bad one is an error, or with --skip-bad marked. */
static int cli_samples_first(cli_samples *s)
{
    int status = CLI_FAILED;
    for (uint32_t i = 0; i < s->count && status != CLI_DONE && (i == 0 || s->args->skipBad); i++) {
        status = cli_sample_values(s, i);
        s->data[i].bad = status != CLI_DONE;
    }
    return status;
}

/* --skip-bad: moves the samples that cannot be used behind the others, with their classes. */
static int cli_samples_drop_bad(cli_samples *s)
{
    cli_sample *bad;
    uint32_t kept = 0;
    if (s->count == 0 || !s->args->skipBad)
        return CLI_DONE;
    if ((bad = (cli_sample *)cli_alloc(s->count, sizeof(*bad))) == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < s->count; i++) {
        if (cli_sample_values(s, i) != CLI_DONE) {
            bad[s->dropped++] = s->data[i];
            continue;
        }
        if (s->expected != NULL)
            s->expected[kept] = s->expected[i];
        s->data[kept++] = s->data[i];
    }
    memcpy(s->data + kept, bad, s->dropped * sizeof(*bad));
    free(bad);
    s->count = kept;
    if (kept == 0)
        return cli_fail("%s: none of the %u samples can be used", s->path, (unsigned)s->dropped);
    if (s->dropped > 0)
        cli_note("%s: %u of %u samples are left out", s->path, (unsigned)s->dropped, (unsigned)(kept + s->dropped));
    return CLI_DONE;
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

#endif /* NNRT_TOOL_SAMPLES_H */
