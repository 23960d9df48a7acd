/*
shapes.h - shapes and values of a model's inputs: --dim, --shape, --max, --fix and --input. No size is guessed, but 1 for a batch;
sizes that are missing are named, with a command that has them.
Part of tools/nnrt.c.

    >>sizes      --dim, --shape, --max
    >>values     --fix and --input: numbers, files, random
    >>missing    dimensions without a size
    >>all        the functions that commands call
*/
#ifndef NNRT_TOOL_SHAPES_H
#define NNRT_TOOL_SHAPES_H

#include "load.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>sizes */

/* A named dimension: axis `axis` of an input. */
typedef struct cli_symbol {
    const char *name;
    uint32_t input;
    int32_t axis;
} cli_symbol;

static int cli_compare_symbols(const void *a, const void *b)
{
    const cli_symbol *x = (const cli_symbol *)a, *y = (const cli_symbol *)b;
    const int names = strcmp(x->name, y->name);
    return names != 0 ? names : x->input != y->input ? (x->input < y->input ? -1 : 1) : x->axis - y->axis;
}

/* All named dimensions, equal names side by side; the caller frees the list. NULL: none, or no memory. */
static cli_symbol *cli_inputs_symbols(const cli_inputs *in, uint32_t *count)
{
    cli_symbol *list = NULL;
    for (int pass = 0; pass < 2 && (pass == 0 || *count > 0); pass++) {
        if (pass > 0 && (list = (cli_symbol *)cli_alloc(*count, sizeof(*list))) == NULL)
            break;
        *count = 0;
        for (uint32_t i = 0; i < in->count; i++)
            for (int32_t k = 0; k < in->shapes[i].rank; k++) {
                if (in->data[i].symbols[k] == NULL)
                    continue;
                if (list != NULL) {
                    list[*count].name = in->data[i].symbols[k];
                    list[*count].input = i;
                    list[*count].axis = k;
                }
                ++*count;
            }
    }
    if (list != NULL)
        qsort(list, *count, sizeof(*list), cli_compare_symbols);
    else
        *count = 0;
    return list;
}

/* Fails for --dim with an unknown name; lists the names, the closest one first. */
static int cli_unknown_dim(const cli_inputs *in, const char *text, size_t length)
{
    char names[512] = "", *name = cli_text_copy(text, length);
    uint32_t count = 0, near = 0;
    cli_symbol *list = cli_inputs_symbols(in, &count);
    size_t at = 0;
    for (uint32_t k = 1; k < count && name != NULL; k++)
        near = cli_distance(name, list[k].name) < cli_distance(name, list[near].name) ? k : near;
    for (uint32_t k = 0; k <= count && count > 0 && at < sizeof(names); k++) {
        const cli_symbol *d = &list[k == 0 ? near : k - 1];
        if (k > 0 && (strcmp(d->name, list[near].name) == 0 || (k > 1 && strcmp(d->name, list[k - 2].name) == 0)))
            continue;
        at += nnrt_text(names + at, sizeof(names) - at, "%s'%s'", k > 0 ? ", " : "", d->name);
    }
    free(list);
    free(name);
    return count == 0 ? cli_usage("--dim %s: no dimension of an input has a name; --shape sets their sizes", text)
                      : cli_usage("--dim %s: no dimension of an input is named '%.*s'; the names are %s", text, (int)length, text, names);
}

/* --dim NAME=N: the size of each dimension of that name. */
static int cli_inputs_apply_dim(cli_inputs *in, const char *text)
{
    const char *value = strrchr(text, '=');
    const size_t length = value != NULL ? (size_t)(value - text) : 0;
    bool found = false;
    uint32_t size;
    if (value == NULL || !cli_take_whole(value + 1, 0, INT32_MAX, &size))
        return cli_usage("--dim %s: expected NAME=N, the name of a dimension and its size", text);
    for (uint32_t i = 0; i < in->count; i++)
        for (int32_t k = 0; k < in->shapes[i].rank; k++) {
            const char *symbol = in->data[i].symbols[k];
            if (symbol == NULL || strncmp(symbol, text, length) != 0 || symbol[length] != '\0')
                continue;
            in->shapes[i].dims[k] = (int32_t)size;
            found = true;
        }
    return found ? CLI_DONE : cli_unknown_dim(in, text, length);
}

/* Parses the dimensions of an option, "1,3,28,28". */
static int cli_read_dims(const char *option, const char *text, const char *value, nnrt_dims *given)
{
    uint32_t extent;
    memset(given, 0, sizeof(*given));
    for (const char *end; *value != '\0'; value = *end == ',' ? end + 1 : end) {
        char digits[12] = "";
        end = value + strcspn(value, ",");
        if ((size_t)(end - value) < sizeof(digits))
            memcpy(digits, value, (size_t)(end - value));
        if (given->rank == NNRT_MAX_RANK || !cli_take_whole(digits, 0, INT32_MAX, &extent) ||
            (*end == ',' && end[1] == '\0'))
            return cli_usage("%s %s: expected whole numbers separated by commas, at most %d", option, text,
                             NNRT_MAX_RANK);
        given->dims[given->rank++] = (int32_t)extent;
    }
    return CLI_DONE;
}

/* --shape [NAME=]D,D,...: must repeat the fixed dimensions of the model, unless it is resizable. */
static int cli_inputs_apply_shape(cli_inputs *in, const char *text)
{
    const char *value;
    char message[CLI_INPUT_BYTES];
    nnrt_dims given;
    uint32_t i;
    bool fits;
    int status = cli_match_input(in, "--shape", text, &i, &value);
    if (status == CLI_DONE)
        status = cli_read_dims("--shape", text, value, &given);
    if (status != CLI_DONE)
        return status;
    fits = cli_fits(&in->shapes[i], &given);
    if (!fits && !(in->resizable && given.rank == in->shapes[i].rank))
        return cli_usage("--shape %s: input '%s' is %s", text, in->data[i].name,
                         cli_input_text(message, sizeof(message), &in->data[i], &in->shapes[i]));
    in->shapes[i] = given;
    if (!fits)
        in->data[i].declared = given;
    return CLI_DONE;
}

/* Dimensions of the same name have the same size. */
static void cli_inputs_spread(cli_inputs *in)
{
    uint32_t count = 0, next;
    cli_symbol *list = cli_inputs_symbols(in, &count);
    for (uint32_t first = 0; first < count; first = next) {
        int32_t size = -1;
        for (next = first; next < count && strcmp(list[next].name, list[first].name) == 0; next++)
            if (size < 0)
                size = in->shapes[list[next].input].dims[list[next].axis];
        for (uint32_t k = first; k < next; k++) {
            int32_t *dim = &in->shapes[list[k].input].dims[list[k].axis];
            *dim = *dim < 0 ? size : *dim;
        }
    }
    free(list);
}

/* --max [NAME=]D,D,...: upper bounds of an input, or of a named result, which the session checks. */
static int cli_inputs_apply_max(cli_inputs *in, const char *text)
{
    const char *value = strrchr(text, '='), *name;
    char message[CLI_SHAPE_BYTES];
    nnrt_bound *bound = &in->bounds[in->boundCount];
    uint32_t i = 0;
    size_t length;
    int status = CLI_DONE;
    if (value == NULL && (status = cli_match_input(in, "--max", text, &i, &value)) != CLI_DONE)
        return status;
    name = value == text ? in->data[i].name : text;
    length = value == text ? strlen(name) : (size_t)(value - text);
    if ((status = cli_read_dims("--max", text, value == text ? value : value + 1, &bound->most)) != CLI_DONE)
        return status;
    if ((bound->tensor = cli_text_copy(name, length)) == NULL)
        return CLI_FAILED;
    in->boundCount++;
    for (i = 0; i < in->count; i++) {
        if (strcmp(in->data[i].name, bound->tensor) != 0)
            continue;
        if (!cli_fits(&in->data[i].declared, &bound->most))
            return cli_usage("--max %s: input '%s' is %s", text, in->data[i].name,
                             cli_shape_text(message, sizeof(message), in->data[i].type, &in->data[i].declared));
        if (in->data[i].declared.rank < 0) /* as many axes, all dynamic */
            in->data[i].declared.rank = bound->most.rank;
        for (int32_t k = 0; in->shapes[i].rank < 0 && k < bound->most.rank; k++)
            in->data[i].declared.dims[k] = -1;
        if (in->shapes[i].rank < 0)
            in->shapes[i] = in->data[i].declared;
        for (int32_t k = 0; k < bound->most.rank; k++)
            if (in->shapes[i].dims[k] > bound->most.dims[k])
                return cli_usage("--max %s: --shape gives input '%s' %s", text, in->data[i].name,
                                 cli_shape_text(message, sizeof(message), in->data[i].type, &in->shapes[i]));
    }
    return status;
}

/* All --max options, applied after --shape. */
static int cli_inputs_apply_most(cli_inputs *in, const cli_args *args)
{
    int status = CLI_DONE;
    if (args->mostCount > 0 && (in->bounds = (nnrt_bound *)cli_alloc(args->mostCount, sizeof(*in->bounds))) == NULL)
        return CLI_FAILED;
    for (uint32_t k = 0; status == CLI_DONE && k < args->mostCount; k++)
        status = cli_inputs_apply_max(in, args->most[k]);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>values */

/* Whether text is a list of numbers (or true, false) with commas between them; *count: how many. */
static bool cli_is_numbers(const char *text, size_t *count)
{
    *count = 0;
    for (const char *end; ; text = end + 1) {
        char *stop;
        end = text + strcspn(text, ",");
        if (*text != '\0' && strchr("+-.0123456789", *text) != NULL)
            (void)strtod(text, &stop);
        else
            stop = (char *)(uintptr_t)(strncmp(text, "true", 4) == 0 ? text + 4 : strncmp(text, "false", 5) == 0 ? text + 5 : text);
        if (stop == text || stop != end)
            return false;
        ++*count;
        if (*end == '\0')
            return true;
    }
}

/* Stores number k of a list as an element. false: the type has no such value. */
static bool cli_set_number(cli_tensor *t, size_t i, const char *text)
{
    const bool negative = *text == '-';
    uint64_t v = 0;
    if (*text == 't' || *text == 'f' || cli_is_float(t->type) || t->type == NNRT_DATA_TYPE_BOOL) {
        const double number = *text == 't' ? 1 : *text == 'f' ? 0 : strtod(text, NULL);
        cli_set_element(t, i, number);
        return cli_is_float(t->type) || number == 0 || number == 1;
    }
    for (text += negative || *text == '+' ? 1 : 0; *text >= '0' && *text <= '9'; text++) {
        if (v > (UINT64_MAX - (uint64_t)(*text - '0')) / 10)
            return false;
        v = v * 10 + (uint64_t)(*text - '0');
    }
    if ((*text != '\0' && *text != ',') || (negative ? v > (uint64_t)1 << 63 : false) ||
        !cli_integer_fits(negative ? 0 - v : v, negative ? NNRT_DATA_TYPE_INT64 : NNRT_DATA_TYPE_UINT64, t->type))
        return false;
    cli_set_integer(t, i, negative ? 0 - v : v);
    return true;
}

/* The shape of a value of `count` numbers for an input of that shape: the last dynamic dimension gets the quotient of `count` and the
   other sizes. */
static bool cli_numbers_shape(const nnrt_dims *shape, size_t count, nnrt_dims *out)
{
    size_t others = 1;
    int32_t open = -1;
    memset(out, 0, sizeof(*out));
    if (shape->rank < 0) {
        out->rank = count == 1 ? 0 : 1;
        out->dims[0] = (int32_t)count;
        return count <= INT32_MAX;
    }
    *out = *shape;
    for (int32_t k = 0; k < shape->rank; k++)
        open = shape->dims[k] < 0 ? k : open;
    for (int32_t k = 0; k < shape->rank; k++) {
        if (k != open && out->dims[k] < 0)
            out->dims[k] = 1;
        others *= k != open ? (size_t)out->dims[k] : 1;
    }
    if (open >= 0 && others > 0 && count % others == 0 && count / others <= INT32_MAX)
        out->dims[open] = (int32_t)(count / others);
    else if (open >= 0)
        return false;
    return open >= 0 || others == count;
}

/* The value of input i from numbers; a single one fills an input of any fixed shape. */
static int cli_inputs_numbers(cli_inputs *in, uint32_t i, const char *option, const char *text, size_t count)
{
    cli_input *input = &in->data[i];
    char want[CLI_INPUT_BYTES];
    nnrt_dims shape;
    if ((count == 1 && in->shapes[i].rank > 1) || !cli_numbers_shape(&in->shapes[i], count, &shape)) {
        if (count != 1 || cli_open(&in->shapes[i]))
            return cli_usage("%s %s=%s: %u numbers, the input takes %s", option, input->name, text, (unsigned)count,
                             cli_input_text(want, sizeof(want), input, &in->shapes[i]));
        shape = in->shapes[i];
    }
    if (cli_tensor_make(&input->value, input->quantized ? NNRT_DATA_TYPE_FLOAT32 : input->type, &shape, input->name) != CLI_DONE)
        return CLI_FAILED;
    for (size_t k = 0; k < input->value.count; k++) {
        if (!cli_set_number(&input->value, k, text))
            return cli_usage("%s %s=..: '%.*s' is no value of %s", option, input->name, (int)strcspn(text, ","), text,
                             nnrt_type_name(input->value.type));
        text += count > 1 ? strcspn(text, ",") + 1 : 0;
    }
    in->shapes[i] = shape;
    input->given = true;
    return cli_inputs_within(in, i, input->name);
}

/* The value of input i from the text of --input or --fix: a file, or numbers. */
static int cli_inputs_value(cli_inputs *in, uint32_t i, const char *option, const char *text, const cli_args *args)
{
    struct stat s;
    size_t count;
    return stat(text, &s) != 0 && cli_is_numbers(text, &count) ? cli_inputs_numbers(in, i, option, text, count)
                                                               : cli_inputs_read(in, i, text, &args->image);
}

/* --fix NAME=VALUE: the input becomes a constant of the model, and leaves the list. */
static int cli_inputs_apply_fix(cli_inputs *in, const cli_args *args, const char *text)
{
    const char *value;
    uint32_t i, last;
    int status = cli_match_input(in, "--fix", text, &i, &value);
    if (status == CLI_DONE)
        status = cli_inputs_value(in, i, "--fix", value, args);
    if (status == CLI_DONE)
        status = cli_tensor_convert(&in->data[i].value, in->data[i].type, value, in->data[i].name);
    if (status != CLI_DONE)
        return status;
    in->fixed[in->fixedCount++] = in->data[i];
    last = --in->count + in->states;
    memmove(in->data + i, in->data + i + 1, (last - i) * sizeof(*in->data));
    memmove(in->shapes + i, in->shapes + i + 1, (last - i) * sizeof(*in->shapes));
    memset(in->data + last, 0, sizeof(*in->data));
    return CLI_DONE;
}

/* Sets the sizes of --dim and --shape, and the constants of --fix. */
static int cli_inputs_apply_shapes(cli_inputs *in, const cli_args *args)
{
    int status = CLI_DONE;
    if (args->fixCount > 0 && in->fixed == NULL && (in->fixed = (cli_input *)cli_alloc(args->fixCount, sizeof(*in->fixed))) == NULL)
        return CLI_FAILED;
    for (uint32_t k = 0; status == CLI_DONE && k < args->dimCount; k++)
        status = cli_inputs_apply_dim(in, args->dims[k]);
    for (uint32_t k = 0; status == CLI_DONE && k < args->shapeCount; k++)
        status = cli_names_sequence(in, args->shapes[k]) ? CLI_DONE : cli_inputs_apply_shape(in, args->shapes[k]);
    for (uint32_t k = 0; status == CLI_DONE && k < args->fixCount; k++)
        status = cli_inputs_apply_fix(in, args, args->fixes[k]);
    if (status == CLI_DONE)
        cli_inputs_spread(in);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>missing */

/* Whether all inputs with two axes or more have a dynamic first one, and none has just one axis. */
static bool cli_inputs_have_batch(const cli_inputs *in)
{
    for (uint32_t i = 0; i < in->count; i++) {
        const nnrt_dims *shape = &in->data[i].declared;
        if (shape->rank == 1 || (shape->rank > 1 && shape->dims[0] >= 0))
            return false;
    }
    return true;
}

/* Whether a dimension is called batch.. (in small or capital letters), or N as the first axis. */
static bool cli_is_batch(const char *symbol, int32_t axis)
{
    static const char word[] = "BATCH";
    int n = 0;
    while (symbol != NULL && n < 5 && cli_upper(symbol[n]) == word[n])
        n++;
    return n == 5 || (symbol != NULL && axis == 0 && cli_upper(symbol[0]) == 'N' && symbol[1] == '\0');
}

/* Gives dimensions with an upper bound that bound, and the batch the size 1, with a note. */
static void cli_inputs_close_batch(cli_inputs *in)
{
    const bool first = cli_inputs_have_batch(in);
    const char *told = NULL; /* one note for a name */
    char text[CLI_INPUT_BYTES];
    for (uint32_t i = 0; i < in->count; i++) {
        const nnrt_dims *most = cli_inputs_most(in, i);
        for (int32_t k = 0; most != NULL && k < in->shapes[i].rank; k++)
            in->shapes[i].dims[k] = in->shapes[i].dims[k] < 0 ? most->dims[k] : in->shapes[i].dims[k];
    }
    cli_inputs_spread(in);
    for (uint32_t i = 0; i < in->count; i++) {
        const nnrt_dims before = in->shapes[i];
        for (int32_t k = 0; k < before.rank; k++) {
            const char *symbol = in->data[i].symbols[k];
            if (before.dims[k] >= 0 || !(cli_is_batch(symbol, k) || (first && k == 0 && before.rank > 1)))
                continue;
            in->shapes[i].dims[k] = 1;
            cli_input_text(text, sizeof(text), &in->data[i], &before);
            if (symbol != NULL && (told == NULL || strcmp(told, symbol) != 0))
                cli_note("input '%s' is %s: its batch is 1; --dim %s=N sets it", in->data[i].name, text, symbol);
            told = symbol != NULL ? symbol : told;
            if (symbol == NULL)
                cli_note("input '%s' is %s: its batch is 1; --shape sets it", in->data[i].name, text);
        }
    }
    cli_inputs_spread(in);
}

/* The first input with a dimension without a size; NULL: none. */
static const cli_input *cli_inputs_missing(const cli_inputs *in)
{
    for (uint32_t i = 0; i < in->count; i++)
        if (cli_open(&in->shapes[i]))
            return &in->data[i];
    return NULL;
}

/* Whether the model can be imported with these shapes. */
static bool cli_inputs_possible(cli_inputs *in, const cli_args *args)
{
    NNRT_Model *model = NULL;
    nnrt_session_desc desc;
    nnrt_error error;
    NNRT_ReturnCode code;
    cli_args own = *args;
    size_t bytes;
    memset(&own.log, 0, sizeof(own.log));
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    own.noOptimize = true;
    desc.device = "reference";
    if (cli_is_whole(args->model)) {
        desc.inputDims = nnrt_dims_list_make(in->shapes, in->count + in->states);
        code = cli_load_whole(&model, &own, &error);
    } else {
        code = cli_is_tflite(args->model) ? cli_import_tflite(in, &own, &model, &error) : cli_import_onnx(in, &own, true, &model, &error);
    }
    if (code == NNRT_SUCCESS)
        code = nnrt_session_bytes(model, &desc, &bytes, &error);
    nnrt_model_destroy(model);
    return code == NNRT_SUCCESS;
}

/* Sizes that the model accepts: one of a few usual ones for the dynamic axes but the first, or for the last axis only, and 1 for the
   others. false: none of them, or not within two seconds. */
static bool cli_inputs_suggest(cli_inputs *in, const cli_args *args, nnrt_dims *sizes)
{
    static const int32_t usual[] = {64, 224, 128, 512, 256, 640, 1024, 4096, 16000, 32, 16, 8, 4, 3, 2, 1};
    const double begin = cli_now_ms();
    uint32_t count = 0;
    cli_symbol *list = cli_inputs_symbols(in, &count);
    nnrt_dims *const shapes = in->shapes;
    bool possible = false;
    for (size_t turn = 0; turn < 2 * sizeof(usual) / sizeof(usual[0]) && !possible && cli_now_ms() - begin < 2000; turn++) {
        memcpy(sizes, shapes, in->count * sizeof(*sizes));
        for (uint32_t i = 0; i < in->count; i++)
            for (int32_t k = 0; k < sizes[i].rank; k++)
                if (sizes[i].dims[k] < 0)
                    sizes[i].dims[k] = k >= (turn % 2 == 0 ? 1 : sizes[i].rank - 1) ? usual[turn / 2] : 1;
        for (uint32_t k = 1; k < count; k++) /* as the first dimension of the name */
            if (strcmp(list[k].name, list[k - 1].name) == 0 && shapes[list[k].input].dims[list[k].axis] < 0)
                sizes[list[k].input].dims[list[k].axis] = sizes[list[k - 1].input].dims[list[k - 1].axis];
        memcpy(sizes + in->count, shapes + in->count, in->states * sizeof(*sizes));
        in->shapes = sizes;
        possible = cli_inputs_possible(in, args);
        in->shapes = shapes;
    }
    free(list);
    return possible;
}

/* Appends a word of a command for a shell, in '' where it has other characters than names and paths do. */
static size_t cli_put_word(char *out, size_t size, size_t at, const char *word)
{
    const bool plain = *word != '\0' && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@")] == '\0';
    if (at > 0 && at < size)
        at += nnrt_text(out + at, size - at, " ");
    if (!plain && at < size)
        at += nnrt_text(out + at, size - at, "'");
    for (const char *end; *word != '\0' && at < size; word = end) {
        end = word + (*word == '\'' ? 1 : strcspn(word, "'"));
        at += *word == '\'' ? nnrt_text(out + at, size - at, "'\\''") : (size_t)snprintf(out + at, size - at, "%.*s", (int)(end - word), word);
    }
    if (!plain && at < size)
        at += nnrt_text(out + at, size - at, "'");
    return at;
}

/* The command as it was given, with the sizes that it lacks; sizes: of all inputs. */
static void cli_inputs_command(const cli_inputs *in, const cli_args *args, const nnrt_dims *sizes, char *out, size_t size)
{
    char word[512];
    uint32_t count = 0;
    cli_symbol *list = cli_inputs_symbols(in, &count);
    size_t at = cli_put_word(out, size, 0, args->program);
    for (int i = 0; i < args->argc; i++)
        at = cli_put_word(out, size, at, args->argv[i]);
    for (uint32_t k = 0; k < count && at < size; k++) {
        const cli_symbol *d = &list[k];
        if (in->shapes[d->input].dims[d->axis] >= 0 || (k > 0 && strcmp(list[k - 1].name, d->name) == 0))
            continue;
        nnrt_text(word, sizeof(word), "%s=%d", d->name, sizes[d->input].dims[d->axis]);
        at = cli_put_word(out, size, cli_put_word(out, size, at, "--dim"), word);
    }
    for (uint32_t i = 0; i < in->count && at < size; i++) {
        size_t n = in->count > 1 ? nnrt_text(word, sizeof(word), "%s=", in->data[i].name) : 0;
        bool unnamed = false;
        for (int32_t k = 0; k < sizes[i].rank && n < sizeof(word); k++) {
            unnamed = unnamed || (in->data[i].symbols[k] == NULL && in->shapes[i].dims[k] < 0);
            n += nnrt_text(word + n, sizeof(word) - n, k > 0 ? ",%d" : "%d", sizes[i].dims[k]);
        }
        if (unnamed)
            at = cli_put_word(out, size, cli_put_word(out, size, at, "--shape"), word);
    }
    free(list);
}

/* A text that names the input whose sizes are missing, and a command that has them. false: none is missing. */
static bool cli_inputs_ask(cli_inputs *in, const cli_args *args, char *out, size_t size)
{
    const cli_input *first = cli_inputs_missing(in);
    nnrt_dims *sizes;
    char text[CLI_INPUT_BYTES], command[CLI_LINE_BYTES / 2];
    bool possible;
    if (first == NULL)
        return false;
    for (uint32_t i = 0; i < in->count; i++)
        if (in->shapes[i].rank < 0) {
            snprintf(out, size, "input '%s' has no shape in the file; set it with --shape", in->data[i].name);
            return true;
        }
    sizes = (nnrt_dims *)cli_alloc(in->count + in->states, sizeof(*sizes));
    possible = sizes != NULL && cli_inputs_suggest(in, args, sizes);
    cli_input_text(text, sizeof(text), first, &in->shapes[first - in->data]);
    if (possible)
        cli_inputs_command(in, args, sizes, command, sizeof(command));
    if (possible)
        snprintf(out, size, "input '%s' is %s, and the sizes of its dynamic dimensions are not given; with some that fit: %s", first->name, text, command);
    else
        snprintf(out, size, "input '%s' is %s, and the sizes of its dynamic dimensions are not given; --dim NAME=N or --shape sets them", first->name, text);
    free(sizes);
    return true;
}

/* Gives each dimension a size, or fails and names the missing sizes. */
static int cli_inputs_close_shapes(cli_inputs *in, const cli_args *args)
{
    char text[CLI_LINE_BYTES];
    cli_inputs_close_batch(in);
    return cli_inputs_ask(in, args, text, sizeof(text)) ? cli_usage("%s", text) : CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>all */

/* Sets the values of all inputs: of files and lists of numbers first, since they may fix dimensions, then single numbers and random
   values. rest: inputs without --input are random. */
static int cli_inputs_fill(cli_inputs *in, const cli_args *args, bool rest)
{
    struct stat s;
    uint64_t seed;
    size_t count = 0;
    int status = cli_inputs_apply_shapes(in, args);
    if (status == CLI_DONE)
        status = cli_inputs_apply_most(in, args);
    if (status == CLI_DONE)
        status = cli_inputs_assign(in, args, rest);
    for (uint32_t pass = 0; pass < 2 && status == CLI_DONE; pass++) {
        for (uint32_t i = 0; status == CLI_DONE && i < in->count; i++) {
            const char *source = in->data[i].source;
            const bool number = cli_is_numbers(source, &count) && count == 1 && in->shapes[i].rank > 1 && stat(source, &s) != 0;
            if (!cli_is_random(source, &seed) && number == (pass > 0))
                status = cli_inputs_value(in, i, "--input", source, args);
        }
        cli_inputs_spread(in);
        if (status == CLI_DONE && pass == 0)
            status = cli_inputs_close_shapes(in, args);
    }
    for (uint32_t i = 0; status == CLI_DONE && i < in->count + in->states; i++)
        if (i >= in->count || cli_is_random(in->data[i].source, &seed)) { /* states are zeros */
            status = cli_tensor_make(&in->data[i].value, in->data[i].type, &in->shapes[i], in->data[i].name);
            if (status == CLI_DONE && i < in->count)
                cli_tensor_random(&in->data[i].value, seed, i);
        }
    return status;
}

/* Sets the shapes of all inputs, without values. */
static int cli_inputs_settle(cli_inputs *in, const cli_args *args)
{
    int status = cli_inputs_apply_shapes(in, args);
    if (status == CLI_DONE)
        status = cli_inputs_apply_most(in, args);
    return status == CLI_DONE ? cli_inputs_close_shapes(in, args) : status;
}

#endif /* NNRT_TOOL_SHAPES_H */
