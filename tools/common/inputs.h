/*
inputs.h - inputs of a model: as its file declares them, and their values in files.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_INPUTS_H
#define NNRT_TOOL_INPUTS_H

#include "../../formats/nnrt_onnx.h"
#include "../../formats/nnrt_gguf.h"
#include "../../formats/nnrt_tflite.h"
#include "../../formats/nnrt_safetensors.h"
#include "../io/npy.h"
#include "../io/wav.h"
#include "meta.h"

/* One input of the model as declared in its file, and the source of its value. */
typedef struct cli_input {
    char *name;
    const char *source; /* value of --input after NAME=, NULL: not given */
    NNRT_DataType type;
    const char *kind; /* of an ONNX input that no tensor of a session can be: "string", "sequence", ..; NULL: it is a tensor. Of a
                         sequence or an optional value `type` and `declared` describe its tensors */
    nnrt_dims declared; /* -1: dynamic dimension; rank -1: no shape in the file */
    char *symbols[NNRT_MAX_RANK]; /* names of dynamic dimensions; NULL: none */
    cli_tensor value;
    bool quantized; /* 8 bits with one scale and zero point: float32 values are quantized when the session is bound */
    bool given;     /* the value is from a file, or from --input NAME=NUMBERS */
    bool constant;  /* the value became a constant of the model, not an input of the session */
} cli_input;

/* All inputs in the file's order. shapes: the declared shapes, whose dynamic dimensions are filled in step by step.
   bounds: the upper bounds of --max, for inputs (whose dynamic dimensions then stay dynamic in the session) and for
   results. */
typedef struct cli_inputs {
    cli_input *data;
    nnrt_dims *shapes;
    uint32_t count;
    uint32_t states;  /* inputs after those, which a session keeps (metadata "states") */
    cli_input *fixed; /* fixedCount inputs of --fix, which are constants of the model */
    uint32_t fixedCount;
    cli_input *sequences; /* sequenceCount inputs of an ONNX file whose tensors are inputs: "x" of x[0], x[1]; declared: the length */
    uint32_t sequenceCount;
    nnrt_bound *bounds;
    uint32_t boundCount;
    cli_metadata metadata; /* of the model */
    cli_metadata producer; /* of an ONNX file: name, version */
    cli_metadata opsets;   /* of an ONNX file: version by domain */
    const char *path;      /* the model's file */
    const char **cut;      /* cutCount names of --outputs; their text follows the list in the same block */
    uint32_t cutCount;
    bool resizable; /* a .tflite file: --shape replaces its shapes, as ResizeInputTensor of TensorFlow Lite does */
    bool float16;   /* a .tflite file: float16 weights stay (nnrt_tflite_desc.float16), for a session on `cpu` */
    NNRT_Model *model; /* of a GGUF file, until the job takes it: its import packs the weights, which takes time */
    double loadMs;     /* that time */
} cli_inputs;

static void cli_input_free(cli_input *input)
{
    cli_tensor_free(&input->value);
    for (int k = 0; k < NNRT_MAX_RANK; k++)
        free(input->symbols[k]);
    free(input->name);
}

static void cli_inputs_free(cli_inputs *in)
{
    for (uint32_t i = 0; in->data != NULL && i < in->count + in->states; i++)
        cli_input_free(&in->data[i]);
    for (uint32_t i = 0; i < in->fixedCount; i++)
        cli_input_free(&in->fixed[i]);
    free(in->fixed);
    for (uint32_t i = 0; i < in->sequenceCount; i++)
        cli_input_free(&in->sequences[i]);
    free(in->sequences);
    for (uint32_t i = 0; i < in->boundCount; i++)
        free((void *)(uintptr_t)in->bounds[i].tensor);
    free(in->bounds);
    free((void *)in->cut);
    free(in->data);
    free(in->shapes);
    cli_metadata_free(&in->metadata);
    cli_metadata_free(&in->producer);
    cli_metadata_free(&in->opsets);
    nnrt_model_destroy(in->model);
    memset(in, 0, sizeof(*in));
}

#define CLI_INPUT_BYTES 512

/* "float32[batch,3,?]": shape with the names of dynamic dimensions, ? for those without; cut off after size - 1 bytes. */
static const char *cli_input_text(char *out, size_t size, const cli_input *input, const nnrt_dims *shape)
{
    size_t at = input->kind != NULL ? nnrt_text(out, size, "%s", input->kind) : 0;
    if (input->kind != NULL && input->type == NNRT_DATA_TYPE_UNKNOWN)
        return out;
    at += input->kind != NULL && at < size ? nnrt_text(out + at, size - at, " of ") : 0;
    at += at < size ? nnrt_text(out + at, size - at, "%s[%s", nnrt_type_name(input->type), shape->rank < 0 ? "*" : "") : 0;
    for (int32_t k = 0; k < shape->rank && at < size; k++) {
        const char *symbol = shape->dims[k] < 0 ? input->symbols[k] : NULL;
        at += nnrt_text(out + at, size - at, k > 0 ? "," : "");
        if (at < size)
            at += shape->dims[k] >= 0 ? nnrt_text(out + at, size - at, "%d", shape->dims[k])
                                      : nnrt_text(out + at, size - at, "%s", symbol != NULL ? symbol : "?");
    }
    if (at < size)
        nnrt_text(out + at, size - at, "]");
    return out;
}

/* Compares names: by length, then by bytes. */
static int cli_compare_names(const void *a, const void *b)
{
    const nnrt_onnx_str *x = (const nnrt_onnx_str *)a, *y = (const nnrt_onnx_str *)b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->length > 0 ? memcmp(x->data, y->data, x->length) : 0;
}

/* The sorted names of all initializers of the graph; NULL: no memory. */
static nnrt_onnx_str *cli_initializers(const nnrt_onnx_graph *g)
{
    nnrt_onnx_str *names = (nnrt_onnx_str *)cli_alloc(g->initializers.count, sizeof(*names));
    for (size_t i = 0; names != NULL && i < g->initializers.count; i++)
        names[i] = g->initializers.data[i].name;
    if (names != NULL)
        qsort(names, g->initializers.count, sizeof(*names), cli_compare_names);
    return names;
}

/* Records files with external data as read, so that they are not overwritten. */
static int cli_note_external(const nnrt_onnx_graph *g, const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    int status = CLI_DONE;
    for (size_t i = 0; status == CLI_DONE && i < g->initializers.count; i++) {
        nnrt_onnx_external where;
        char *file;
        if (g->initializers.data[i].dataLocation != 1 ||
            nnrt_onnx_tensor_external(&g->initializers.data[i], &where, NULL) != NNRT_SUCCESS)
            continue;
        file = (char *)cli_alloc(folder + where.location.length + 1, 1);
        if (file == NULL)
            return CLI_FAILED;
        memcpy(file, path, folder);
        memcpy(file + folder, where.location.data, where.location.length);
        status = cli_note_read(file);
        free(file);
    }
    return status;
}

static bool cli_is_optional(const nnrt_onnx_value_info *info)
{
    return info->kind == NNRT_ONNX_KIND_OPTIONAL;
}

/* Whether it is a sequence of tensors, also an optional one. */
static bool cli_is_sequence(const nnrt_onnx_value_info *info)
{
    return cli_is_optional(info) ? info->elemKind == NNRT_ONNX_KIND_SEQUENCE
                                 : info->kind == NNRT_ONNX_KIND_SEQUENCE && info->elemKind == NNRT_ONNX_KIND_TENSOR;
}

/* The kind of an input or output of an ONNX file that no session can have; NULL: a tensor that a session can have. element: of
   the tensors in a sequence or an optional value. */
static const char *cli_odd_kind(const nnrt_onnx_value_info *info, bool element)
{
    static const char *const kinds[10] = {"untyped", "", "", "", "sequence", "map", "", "opaque", "sparse tensor", "optional"};
    if (info->kind != NNRT_ONNX_KIND_TENSOR && !element)
        return cli_is_optional(info) && cli_is_sequence(info)  ? "optional sequence"
               : info->kind >= 0 && info->kind < 10 ? kinds[info->kind]
                                                    : "unknown";
    if (nnrt_onnx_data_type(info->elemType) == NNRT_DATA_TYPE_UNKNOWN)
        return info->elemType == NNRT_ONNX_STRING      ? "string"
               : info->elemType == NNRT_ONNX_COMPLEX64  ? "complex64"
               : info->elemType == NNRT_ONNX_COMPLEX128 ? "complex128"
                                                        : "unknown";
    for (size_t k = 0; k < info->dims.count; k++)
        if (info->dims.data[k].kind == NNRT_ONNX_DIM_VALUE && info->dims.data[k].value > INT32_MAX)
            return "tensor with a dimension above 2147483647";
    return info->dims.count > NNRT_MAX_RANK ? "tensor of more than 8 axes" : NULL;
}

/* Adds an input or output. element: as a tensor, if it is optional, or with its number if it is a tensor of a sequence; -1: as
   declared. */
static int cli_inputs_add(cli_inputs *in, const nnrt_onnx_value_info *info, int64_t element)
{
    cli_input *input = &in->data[in->count];
    nnrt_dims *shape = &input->declared;
    bool plain;
    input->name = (char *)cli_alloc(info->name.length + 24, 1);
    if (input->name == NULL)
        return CLI_FAILED;
    if (element >= 0 && cli_is_sequence(info))
        snprintf(input->name, info->name.length + 24, "%.*s[%lld]", (int)info->name.length, info->name.data, (long long)element);
    else if (info->name.length > 0)
        memcpy(input->name, info->name.data, info->name.length);
    in->count++;
    input->kind = cli_odd_kind(info, element >= 0);
    plain = input->kind == NULL || cli_odd_kind(info, true) == NULL; /* the tensors of a sequence, too */
    input->type = plain ? nnrt_onnx_data_type(info->elemType) : NNRT_DATA_TYPE_UNKNOWN;
    shape->rank = !plain ? 0 : info->hasShape != 0 ? (int32_t)info->dims.count : -1;
    for (int32_t k = 0; k < shape->rank; k++) {
        const nnrt_onnx_dim *d = &info->dims.data[k];
        shape->dims[k] = d->kind == NNRT_ONNX_DIM_VALUE ? (int32_t)d->value : -1;
        if (d->kind == NNRT_ONNX_DIM_PARAM && d->param.length > 0 && (input->kind != NULL || !cli_is_sequence(info)) &&
            (input->symbols[k] = cli_text_copy(d->param.data, d->param.length)) == NULL)
            return CLI_FAILED;
    }
    if (input->kind == NULL)
        in->shapes[in->count - 1] = *shape;
    return CLI_DONE;
}

/* A model from standard input ("-") or a pipe, which can be read only once: its bytes, aligned, for all readers. data
   NULL: the model is a file. */
static struct {
    cli_bytes bytes;
    void *block;
} cli_stream;

static void cli_stream_free(void)
{
    free(cli_stream.block);
    memset(&cli_stream, 0, sizeof(cli_stream));
}

/* Reads a model that can be read only once into memory. */
static int cli_stream_read(const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    cli_bytes bytes;
    struct stat s;
    int status;
    if (cli_stream.block != NULL)
        return CLI_DONE;
    if (!standard && (stat(path, &s) != 0 || S_ISREG(s.st_mode) || S_ISDIR(s.st_mode)))
        return cli_note_read(path);
    status = standard ? cli_read_stream(stdin, "standard input", &bytes) : cli_read_file(path, &bytes);
    if (status != CLI_DONE)
        return status;
    cli_stream.block = cli_alloc(bytes.size + NNRT_ALIGNMENT, 1);
    if (cli_stream.block != NULL) {
        const uintptr_t at = (uintptr_t)cli_stream.block;
        cli_stream.bytes.data = (uint8_t *)cli_stream.block + (NNRT_ALIGNMENT - at % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
        cli_stream.bytes.size = bytes.size;
        memcpy(cli_stream.bytes.data, bytes.data, bytes.size);
    }
    free(bytes.data);
    return cli_stream.block != NULL ? CLI_DONE : CLI_FAILED;
}

/* True if the model begins like a .nnrt file, whatever its name. */
static bool cli_is_nnrt(const char *path)
{
    uint8_t head[NNRT_FILE_HEADER];
    FILE *f;
    bool is;
    if (cli_stream.block != NULL)
        return cli_stream.bytes.size >= NNRT_FILE_HEADER && nnrt_file_is(cli_stream.bytes.data, cli_stream.bytes.size);
    f = fopen(path, "rb");
    is = f != NULL && fread(head, 1, sizeof(head), f) == sizeof(head) && nnrt_file_is(head, sizeof(head));
    if (f != NULL)
        fclose(f);
    return is;
}

/* Maps a .nnrt file into memory, or uses the bytes read before. */
static NNRT_ReturnCode cli_load_nnrt(NNRT_Model **model, const char *path, nnrt_error *error)
{
    return cli_stream.block != NULL
               ? nnrt_model_load_memory(model, cli_stream.bytes.data, cli_stream.bytes.size, NULL, error)
               : nnrt_model_load(model, path, NULL, error);
}

/* Whether `test` holds for the first bytes, at most 16, of the file, or for the bytes read before. */
static bool cli_begins(const char *path, size_t bytes, bool (*test)(const void *data, size_t bytes))
{
    uint8_t head[16];
    FILE *f;
    bool is;
    if (cli_stream.block != NULL)
        return test(cli_stream.bytes.data, cli_stream.bytes.size);
    f = fopen(path, "rb");
    is = f != NULL && fread(head, 1, bytes, f) == bytes && test(head, bytes);
    if (f != NULL)
        fclose(f);
    return is;
}

/* True if the model begins like a GGUF file, whatever its name. */
static bool cli_is_gguf(const char *path)
{
    return cli_begins(path, 4, nnrt_gguf_is);
}

/* Whether bytes begin like a JSON object. */
static bool cli_is_object(const void *data, size_t bytes)
{
    return bytes > 0 && *(const char *)data == '{';
}

/* True if the model is a safetensors file, or a folder with model.safetensors or an index of several. */
static bool cli_is_safetensors(const char *path)
{
    static const char *const names[] = {"/model.safetensors", "/model.safetensors.index.json"};
    const size_t bytes = strlen(path);
    char *inside;
    bool is = cli_begins(path, 9, nnrt_safetensors_is);
    if (is || cli_stream.block != NULL || (inside = (char *)cli_alloc(bytes + strlen(names[1]) + 1, 1)) == NULL)
        return is;
    memcpy(inside, path, bytes);
    for (size_t i = 0; i < 2 && !is; i++) {
        memcpy(inside + bytes, names[i], strlen(names[i]) + 1);
        is = i == 0 ? cli_begins(inside, 9, nnrt_safetensors_is) : cli_begins(inside, 1, cli_is_object);
    }
    free(inside);
    return is;
}

/* A language model of a file that holds weights and hyperparameters only. */
static bool cli_is_weights(const char *path)
{
    return cli_is_gguf(path) || cli_is_safetensors(path);
}

/* A .nnrt file or weights: dynamic dimensions get sizes when a session is created, not when the model is loaded. */
static bool cli_is_whole(const char *path)
{
    return cli_is_nnrt(path) || cli_is_weights(path);
}

/* Loads a file of cli_is_whole, or the bytes read before. */
static NNRT_ReturnCode cli_load_whole(NNRT_Model **model, const cli_args *args, nnrt_error *error)
{
    nnrt_gguf_desc desc;
    if (!cli_is_weights(args->model))
        return cli_load_nnrt(model, args->model, error);
    memset(&desc, 0, sizeof(desc));
    desc.no_optimize = args->noOptimize;
    desc.budget = args->image.budget;
    desc.log = &args->log;
    desc.allLogits = args->allLogits;
    desc.context = args->context;
    desc.cache = args->context > 0 ? args->context : args->capacity;
    desc.cacheType = args->cacheType;
    desc.cachePage = args->cachePage;
    desc.floatActivations = args->floatActivations;
    desc.operands = args->operands || (args->device != NULL && strncmp(args->device, "mcu:", 4) == 0);
    if (desc.cache == 0 && (args->cacheType != NNRT_DATA_TYPE_UNKNOWN || args->cachePage > 0))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "%s is for a cache of fixed size: --context N states its tokens",
                              args->cachePage > 0 ? "--cache-page" : "--cache-type");
    if (!cli_is_gguf(args->model))
        return cli_stream.block == NULL ? nnrt_safetensors_load(model, args->model, &desc, error)
                                        : nnrt_error_set(error, NNRT_INVALID_FILE,
                                                         "a safetensors file needs the config.json beside it, which a stream has not");
    return cli_stream.block != NULL
               ? nnrt_gguf_load_memory(model, cli_stream.bytes.data, cli_stream.bytes.size, &desc, error)
               : nnrt_gguf_load(model, args->model, &desc, error);
}

/* True if the model begins like a .tflite file, whatever its name. */
static bool cli_is_tflite(const char *path)
{
    return cli_begins(path, 8, nnrt_tflite_is);
}

/* Imports a .tflite file, or the bytes read before. */
static NNRT_ReturnCode cli_load_tflite(NNRT_Model **model, const char *path, const nnrt_tflite_desc *desc,
                                       nnrt_error *error)
{
    return cli_stream.block != NULL
               ? nnrt_tflite_load_memory(model, cli_stream.bytes.data, cli_stream.bytes.size, desc, error)
               : nnrt_tflite_load(model, path, desc, error);
}

/* Names of the dynamic dimensions of input i of a GGUF or safetensors file, for --dim. */
static int cli_inputs_name_symbols(cli_inputs *in, uint32_t i, const NNRT_Tensor *t)
{
    static const char *const names[] = {"sequence_length", "past_sequence_length"};
    for (uint32_t k = 0; k < t->symbols.count && k < NNRT_MAX_RANK; k++) {
        const uint32_t symbol = t->symbols.data[k];
        if (symbol == 0 || symbol > 2)
            continue;
        if ((in->data[i].symbols[k] = cli_text_copy(names[symbol - 1], strlen(names[symbol - 1]))) == NULL)
            return CLI_FAILED;
    }
    return CLI_DONE;
}

/* cli_inputs_list for a .nnrt, GGUF, safetensors or .tflite file. */
static int cli_inputs_make_model(cli_inputs *in, const cli_args *args)
{
    const char *path = args->model;
    NNRT_Model *model = NULL;
    nnrt_tflite_desc desc;
    nnrt_error error;
    NNRT_ReturnCode code;
    int status = CLI_DONE;
    const double start = cli_now_ms();
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    desc.no_optimize = true;
    desc.budget = args->image.budget;
    desc.outputs = in->cut;
    desc.outputCount = in->cutCount;
    desc.signature = args->signature;
    desc.dynamic = true; /* unless the operators require the stored shapes */
    if (cli_is_whole(path))
        code = cli_load_whole(&model, args, &error);
    else if ((code = cli_load_tflite(&model, path, &desc, &error)) != NNRT_SUCCESS) {
        desc.dynamic = false;
        code = cli_load_tflite(&model, path, &desc, &error);
    }
    if (code != NNRT_SUCCESS)
        return cli_fail("cannot load %s: %s%s", path, error.message,
                        strstr(error.message, "_desc.budget") != NULL               ? "; here --budget N does"
                        : strstr(error.message, "nnrt_tflite_desc.outputs") != NULL ? "; here --outputs NAME,... does"
                                                                                    : "");
    in->data = (cli_input *)cli_alloc(model->inputIndex.count, sizeof(*in->data));
    in->shapes = (nnrt_dims *)cli_alloc(model->inputIndex.count, sizeof(*in->shapes));
    if (in->data == NULL || in->shapes == NULL)
        status = CLI_FAILED;
    for (uint32_t i = 0; status == CLI_DONE && i < model->inputIndex.count; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[model->inputIndex.data[i]];
        nnrt_dims *shape = &in->data[i].declared;
        if ((in->data[i].name = (char *)cli_alloc(strlen(t->name) + 1, 1)) == NULL) {
            status = CLI_FAILED;
            break;
        }
        memcpy(in->data[i].name, t->name, strlen(t->name));
        in->data[i].type = t->dataType;
        in->data[i].quantized = t->quantParams.count == 1 && nnrt_type_size(t->dataType) == 1;
        shape->rank = (int32_t)t->dims.count;
        for (uint32_t k = 0; k < t->dims.count; k++)
            shape->dims[k] = t->dims.data[k];
        in->shapes[in->count++] = *shape;
        status = cli_is_weights(path) ? cli_inputs_name_symbols(in, i, t) : CLI_DONE;
    }
    if (status == CLI_DONE)
        status = cli_metadata_from_model(&in->metadata, model);
    if (cli_is_weights(path)) {
        in->model = model;
        in->loadMs = cli_now_ms() - start;
    } else {
        nnrt_model_destroy(model);
    }
    return status;
}

/* Splits the names of --outputs. */
static int cli_inputs_cut(cli_inputs *in, const cli_args *args)
{
    size_t bytes = 0, most = args->cutCount;
    char *text;
    for (uint32_t i = 0; i < args->cutCount; i++) {
        bytes += strlen(args->cuts[i]) + 1;
        for (const char *c = args->cuts[i]; *c != '\0'; c++)
            most += *c == ',';
    }
    if (most == 0)
        return CLI_DONE;
    if ((in->cut = (const char **)cli_alloc(most * sizeof(*in->cut) + bytes, 1)) == NULL)
        return CLI_FAILED;
    text = (char *)(in->cut + most);
    for (uint32_t i = 0; i < args->cutCount; i++) {
        memcpy(text, args->cuts[i], strlen(args->cuts[i]) + 1);
        for (char *end; text != NULL; text = end != NULL ? end + 1 : NULL) {
            if ((end = strchr(text, ',')) != NULL)
                *end = '\0';
            in->cut[in->cutCount++] = text;
        }
        text = (char *)(uintptr_t)in->cut[in->cutCount - 1] + strlen(in->cut[in->cutCount - 1]) + 1;
    }
    return CLI_DONE;
}

/* Copies producer and operator sets of the ONNX file. */
static int cli_inputs_origin(cli_inputs *in, const nnrt_onnx_model *m)
{
    const nnrt_onnx_str name = m->producerName, version = m->producerVersion;
    int status = cli_metadata_set(&in->producer, "name", 4, (const char *)name.data, name.length);
    if (status == CLI_DONE)
        status = cli_metadata_set(&in->producer, "version", 7, (const char *)version.data, version.length);
    for (size_t i = 0; status == CLI_DONE && i < m->opsetImport.count; i++) {
        const nnrt_onnx_opset *set = &m->opsetImport.data[i];
        char number[24];
        const int digits = snprintf(number, sizeof(number), "%lld", (long long)set->version);
        status = set->domain.length > 0 ? cli_metadata_set(&in->opsets, (const char *)set->domain.data, set->domain.length,
                                                           number, (size_t)digits)
                                        : cli_metadata_set(&in->opsets, "ai.onnx", 7, number, (size_t)digits);
    }
    return status;
}

/* The metadata "states": lines "INPUT=OUTPUT"; NULL: none. */
static const char *cli_states(const cli_inputs *in)
{
    for (uint32_t i = 0; i < in->metadata.count; i++)
        if (strcmp(in->metadata.data[i].key, "states") == 0)
            return in->metadata.data[i].value;
    return NULL;
}

/* True if a line of the states names an input of that name. */
static bool cli_is_state(const cli_inputs *in, const char *name)
{
    const size_t n = strlen(name);
    for (const char *line = cli_states(in); line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, name, n) == 0 && line[n] == '=')
            return true;
    }
    return false;
}

/* Moves the states behind the inputs: a session has no inputs for them. An ONNX file with other outputs has no states. */
static void cli_inputs_hide_states(cli_inputs *in)
{
    const bool cut = in->cutCount > 0 && in->opsets.count > 0;
    for (uint32_t i = 0, left = cut ? 0 : in->count; left > 0; left--) {
        const cli_input input = in->data[i];
        const nnrt_dims shape = in->shapes[i];
        const uint32_t last = in->count + in->states - 1;
        if (!cli_is_state(in, input.name)) {
            i++;
            continue;
        }
        memmove(in->data + i, in->data + i + 1, (last - i) * sizeof(*in->data));
        memmove(in->shapes + i, in->shapes + i + 1, (last - i) * sizeof(*in->shapes));
        in->data[last] = input;
        in->shapes[last] = shape;
        in->count--;
        in->states++;
    }
}

/* Marks the 8-bit inputs of an ONNX file that have the metadata input.NAME.quantize: their values are real. */
static int cli_inputs_mark_quantized(cli_inputs *in)
{
    int status = CLI_DONE;
    for (uint32_t i = 0; i < in->count && status == CLI_DONE; i++) {
        cli_image_options options;
        memset(&options, 0, sizeof(options));
        if (nnrt_type_size(in->data[i].type) != 1)
            continue;
        status = cli_metadata_image(&in->metadata, in->path, in->data[i].name, &options);
        in->data[i].quantized = options.quantize == CLI_INVERT_YES;
    }
    return status;
}

#define CLI_MOST_TENSORS 4096 /* of a sequence */

/* The meaning of an option "NAME=..", "NAME[K]=.." for the input `name`: the length N of a sequence in
   --shape NAME=N, or K + 1, or 0 that it has a value. -1: nothing. */
static int64_t cli_option_length(const char *option, bool shape, bool sequence, nnrt_onnx_str name)
{
    const char *at = option + name.length;
    char *end;
    unsigned long n;
    if (strncmp(option, (const char *)name.data, name.length) != 0 || (*at != '=' && *at != '['))
        return -1;
    if (*at == '=' && !shape)
        return sequence ? -1 : 0;
    n = at[1] >= '0' && at[1] <= '9' ? strtoul(at + 1, &end, 10) : ULONG_MAX;
    if (*at == '=' && !sequence)
        return 0;
    if (n > CLI_MOST_TENSORS || (*at == '[' && n == CLI_MOST_TENSORS))
        return -1;
    if (*at == '=')
        return *end == '\0' ? (int64_t)n : -1;
    return end[0] == ']' && end[1] == '=' ? (int64_t)n + 1 : -1;
}

/* The largest of these of all options; *told: an option names the input. */
static int64_t cli_told_length(const cli_args *args, bool sequence, nnrt_onnx_str name, bool *told)
{
    const char *const *const lists[] = {args->inputs, args->shapes, args->most, args->fixes};
    const uint32_t counts[] = {args->inputCount, args->shapeCount, args->mostCount, args->fixCount};
    int64_t most = 0;
    *told = false;
    for (int k = 0; k < 4; k++)
        for (uint32_t i = 0; i < counts[k]; i++) {
            const int64_t n = cli_option_length(lists[k][i], k == 1, sequence, name);
            *told = *told || n >= 0;
            most = n > most ? n : most;
        }
    return most;
}

/* Room for n more inputs. */
static int cli_inputs_room(cli_inputs *in, size_t n)
{
    cli_input *data = (cli_input *)cli_alloc(in->count + n, sizeof(*data));
    nnrt_dims *shapes = (nnrt_dims *)cli_alloc(in->count + n, sizeof(*shapes));
    if (data == NULL || shapes == NULL) {
        free(data);
        free(shapes);
        return CLI_FAILED;
    }
    if (in->count > 0) {
        memcpy(data, in->data, in->count * sizeof(*data));
        memcpy(shapes, in->shapes, in->count * sizeof(*shapes));
    }
    free(in->data);
    free(in->shapes);
    in->data = data;
    in->shapes = shapes;
    return CLI_DONE;
}

/* Adds an input of an ONNX file, of which `left` inputs are left: of a sequence its tensors, if options give their number, of an
   optional value its tensor, if options name it. */
static int cli_inputs_add_told(cli_inputs *in, const cli_args *args, const nnrt_onnx_value_info *info, size_t left)
{
    const bool sequence = cli_is_sequence(info), optional = cli_is_optional(info) && info->elemKind == NNRT_ONNX_KIND_TENSOR;
    bool told = false;
    const int64_t length = sequence || optional ? cli_told_length(args, sequence, info->name, &told) : 0;
    cli_input *more;
    int status = CLI_DONE;
    if (!told || !sequence)
        return cli_inputs_add(in, info, told && optional ? 0 : -1);
    more = (cli_input *)cli_alloc(in->sequenceCount + 1, sizeof(*more));
    if (more == NULL)
        return CLI_FAILED;
    if (in->sequenceCount > 0)
        memcpy(more, in->sequences, in->sequenceCount * sizeof(*more));
    free(in->sequences);
    in->sequences = more;
    more += in->sequenceCount;
    if ((more->name = cli_text_copy(info->name.data, info->name.length)) == NULL ||
        cli_inputs_room(in, (size_t)length + left) != CLI_DONE) {
        free(more->name);
        return CLI_FAILED;
    }
    in->sequenceCount++;
    more->declared.rank = 1;
    more->declared.dims[0] = (int32_t)length;
    for (int64_t k = 0; k < length && status == CLI_DONE; k++)
        status = cli_inputs_add(in, info, k);
    return status;
}

/* Whether `text`, "NAME=..", begins with the name of such a sequence. */
static bool cli_names_sequence(const cli_inputs *in, const char *text)
{
    for (uint32_t i = 0; i < in->sequenceCount; i++) {
        const size_t n = strlen(in->sequences[i].name);
        if (strncmp(text, in->sequences[i].name, n) == 0 && text[n] == '=')
            return true;
    }
    return false;
}

/* Lists the inputs of the model, states included, without values; also inputs that no session can have (cli_input.kind). Free
   the list even after a failure. */
static int cli_inputs_describe(cli_inputs *in, const cli_args *args)
{
    const char *path = args->model;
    nnrt_onnx_model *model = NULL;
    nnrt_onnx_str *constants = NULL;
    nnrt_error error;
    cli_bytes file;
    struct stat s;
    int status;
    memset(in, 0, sizeof(*in));
    memset(&error, 0, sizeof(error));
    in->path = path;
    status = cli_stream_read(path);
    if (status == CLI_DONE && cli_stream.block == NULL && stat(path, &s) == 0 && S_ISDIR(s.st_mode) && !cli_is_safetensors(path))
        return cli_fail("cannot read %s: a folder is a model if it has model.safetensors, or model.safetensors.index.json", path);
    if (status == CLI_DONE && args->signature != NULL && !cli_is_tflite(path))
        return cli_usage("--signature is for .tflite files, %s is none", path);
    if (status == CLI_DONE && args->allLogits && !cli_is_weights(path))
        return cli_usage("--all-logits is for GGUF and safetensors files, %s is none", path);
    if (status == CLI_DONE && args->floatActivations && !cli_is_gguf(path) && (cli_is_whole(path) || cli_is_tflite(path)))
        return cli_usage("--float-activations is for GGUF and ONNX files, %s is none", path);
    if (status == CLI_DONE && cli_is_whole(path))
        return args->cutCount == 0 ? cli_inputs_make_model(in, args)
                                   : cli_usage("--outputs is for ONNX and .tflite files, %s is a %s file", path,
                                               cli_is_nnrt(path)   ? ".nnrt"
                                               : cli_is_gguf(path) ? "GGUF"
                                                                   : "safetensors");
    if (status == CLI_DONE)
        status = cli_inputs_cut(in, args);
    in->resizable = status == CLI_DONE && cli_is_tflite(path);
    if (in->resizable)
        return cli_inputs_make_model(in, args);
    file = cli_stream.bytes;
    if (status == CLI_DONE && cli_stream.block == NULL)
        status = cli_read_file(path, &file);
    if (status != CLI_DONE)
        return status;
    if (nnrt_onnx_parse(file.data, file.size, NULL, &model, &error) != NNRT_SUCCESS ||
        (in->cutCount > 0 && nnrt_onnx_cut(model, in->cut, in->cutCount, &error) != NNRT_SUCCESS)) {
        status = cli_fail("cannot load %s: %s", path, error.message);
    } else {
        const nnrt_onnx_value_infos *inputs = &model->graph->inputs;
        in->data = (cli_input *)cli_alloc(inputs->count, sizeof(*in->data));
        in->shapes = (nnrt_dims *)cli_alloc(inputs->count, sizeof(*in->shapes));
        constants = cli_initializers(model->graph);
        status = in->data != NULL && in->shapes != NULL && constants != NULL ? CLI_DONE : CLI_FAILED;
        for (size_t i = 0; status == CLI_DONE && i < inputs->count; i++) /* initialized inputs are constants */
            if (bsearch(&inputs->data[i].name, constants, model->graph->initializers.count, sizeof(*constants),
                        cli_compare_names) == NULL)
                status = cli_inputs_add_told(in, args, &inputs->data[i], inputs->count - i);
        if (status == CLI_DONE)
            status = cli_metadata_from_onnx(&in->metadata, &model->metadataProps);
        if (status == CLI_DONE)
            status = cli_inputs_mark_quantized(in);
        if (status == CLI_DONE)
            status = cli_inputs_origin(in, model);
        if (status == CLI_DONE)
            status = cli_note_external(model->graph, path);
    }
    nnrt_onnx_model_free(model);
    free(constants);
    if (cli_stream.block == NULL)
        free(file.data);
    return status;
}

/* The same for a session: without optional inputs that get no value; fails if it cannot have an input. */
static int cli_inputs_list(cli_inputs *in, const cli_args *args)
{
    const int status = cli_inputs_describe(in, args);
    uint32_t kept = 0;
    for (uint32_t i = 0; status == CLI_DONE && i < in->count; i++) {
        const bool absent = in->data[i].kind != NULL && strncmp(in->data[i].kind, "optional", 8) == 0;
        if (absent)
            cli_input_free(&in->data[i]);
        in->data[kept] = in->data[i];
        in->shapes[kept] = in->shapes[i];
        kept += !absent;
    }
    in->count = status == CLI_DONE ? kept : in->count;
    for (uint32_t i = 0; status == CLI_DONE && i < in->count; i++)
        if (in->data[i].kind != NULL && strcmp(in->data[i].kind, "sequence") == 0)
            return cli_usage("input '%s' is a sequence of tensors: give each, --input %s[0]=FILE --input %s[1]=FILE .., or their "
                             "number (at most 4096), --shape %s=2",
                             in->data[i].name, in->data[i].name, in->data[i].name, in->data[i].name);
        else if (in->data[i].kind != NULL)
            return cli_fail("cannot load %s: input '%s' is not a tensor of a supported element type: %s", args->model,
                            in->data[i].name, in->data[i].kind);
    return status;
}

/* The same without the states, for commands whose sessions keep them. The others run the model without memory. */
static int cli_inputs_make(cli_inputs *in, const cli_args *args)
{
    const int status = cli_inputs_list(in, args);
    if (status == CLI_DONE)
        cli_inputs_hide_states(in);
    return status;
}

/* All names as "'a', 'b'", input `first` in front; missingOnly: only inputs without a value. */
static const char *cli_inputs_text(const cli_inputs *in, bool missingOnly, uint32_t first, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t k = 0; k < in->count && at < size; k++) {
        const uint32_t i = k == 0 ? first : k <= first ? k - 1 : k;
        if (!missingOnly || in->data[i].source == NULL)
            at += nnrt_text(out + at, size - at, "%s'%s'", at > 0 ? ", " : "", in->data[i].name);
    }
    return out;
}

/* Fails for "NAME=VALUE" with an unknown input; lists the inputs, the closest name first. */
static int cli_unknown_input(const cli_inputs *in, const char *option, const char *text)
{
    const size_t length = strcspn(text, "=");
    char *name = cli_text_copy(text, length), names[512];
    uint32_t near = 0;
    if (name == NULL)
        return CLI_FAILED;
    for (uint32_t i = 1; i < in->count; i++)
        if (cli_distance(name, in->data[i].name) < cli_distance(name, in->data[near].name))
            near = i;
    free(name);
    return cli_usage("%s %s: the model has no input '%.*s'; its input%s %s", option, text, (int)length, text,
                     in->count > 1 ? "s are" : " is", cli_inputs_text(in, false, near, names, sizeof(names)));
}

/* Splits "NAME=VALUE" at the longest matching input name. Without a name, the only input is meant. Text before '=' must
   be a name, unless the whole text is the path of a file. *index: the input, *value: the text after the name. */
static int cli_match_input(const cli_inputs *in, const char *option, const char *text, uint32_t *index,
                           const char **value)
{
    char names[512];
    struct stat s;
    size_t longest = 0;
    bool found = false;
    *value = text;
    *index = 0;
    for (uint32_t i = 0; i < in->count; i++) {
        size_t n = strlen(in->data[i].name); /* NOLINT(clang-analyzer-core.NonNullParamChecker): "" at least */
        if (strncmp(text, in->data[i].name, n) == 0 && text[n] == '=' && (!found || n > longest)) {
            *index = i;
            *value = text + n + 1;
            longest = n;
            found = true;
        }
    }
    if (found || (in->count == 1 &&
                  (strchr(text, '=') == NULL || (strcmp(option, "--input") == 0 && stat(text, &s) == 0))))
        return CLI_DONE;
    if (in->count == 0)
        return cli_usage("%s %s: the model has no inputs", option, text);
    if (strchr(text, '=') != NULL)
        return cli_unknown_input(in, option, text);
    return cli_usage("%s %s: it must start with NAME=, one of the inputs %s", option, text,
                     cli_inputs_text(in, false, 0, names, sizeof(names)));
}

/* True if a value of that shape is valid for a declared shape with dynamic dimensions. */
static bool cli_fits(const nnrt_dims *open, const nnrt_dims *shape)
{
    bool fits = open->rank == shape->rank || open->rank < 0;
    for (int32_t k = 0; fits && k < open->rank; k++)
        fits = open->dims[k] < 0 || open->dims[k] == shape->dims[k];
    return fits;
}

static bool cli_open(const nnrt_dims *shape)
{
    bool open = shape->rank < 0;
    for (int32_t k = 0; k < shape->rank; k++)
        open = open || shape->dims[k] < 0;
    return open;
}

/* The upper bounds of input i from --max; NULL: none. */
static const nnrt_dims *cli_inputs_most(const cli_inputs *in, uint32_t i)
{
    for (uint32_t k = 0; k < in->boundCount; k++)
        if (strcmp(in->bounds[k].tensor, in->data[i].name) == 0)
            return &in->bounds[k].most;
    return NULL;
}

/* Removes the upper bounds of an input that has become a constant. */
static void cli_inputs_unbound(cli_inputs *in, const char *name)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < in->boundCount; k++)
        if (strcmp(in->bounds[k].tensor, name) != 0)
            in->bounds[kept++] = in->bounds[k];
        else
            free((void *)(uintptr_t)in->bounds[k].tensor);
    in->boundCount = kept;
}

/* Checks that the shape of input i is within its upper bounds from --max. */
static int cli_inputs_within(const cli_inputs *in, uint32_t i, const char *what)
{
    const nnrt_dims *most = cli_inputs_most(in, i), *shape = &in->shapes[i];
    char have[CLI_SHAPE_BYTES], want[CLI_SHAPE_BYTES];
    for (int32_t k = 0; most != NULL && k < shape->rank; k++)
        if (shape->dims[k] > most->dims[k])
            return cli_fail("%s is %s, which exceeds --max for input '%s', %s", what,
                            cli_shape_text(have, sizeof(have), in->data[i].type, shape), in->data[i].name,
                            cli_shape_text(want, sizeof(want), in->data[i].type, most));
    return CLI_DONE;
}

/* "random" or "random:SEED". */
static bool cli_is_random(const char *source, uint64_t *seed)
{
    uint64_t v = 0;
    if (strncmp(source, "random", 6) != 0 || (source[6] != '\0' && source[6] != ':') ||
        (source[6] == ':' && source[7] == '\0'))
        return false;
    for (source += source[6] == ':' ? 7 : 6; *source >= '0' && *source <= '9'; source++)
        if (v > (UINT64_MAX - (uint64_t)(*source - '0')) / 10)
            return false;
        else
            v = v * 10 + (uint64_t)(*source - '0');
    *seed = v;
    return *source == '\0';
}

/* A value from a file must match the fixed dimensions, and sets the dynamic ones. */
static int cli_inputs_fit(cli_inputs *in, uint32_t i, const char *path)
{
    nnrt_dims *shape = &in->shapes[i];
    const cli_tensor *t = &in->data[i].value;
    char have[CLI_SHAPE_BYTES], want[CLI_SHAPE_BYTES];
    if (!cli_fits(shape, &t->shape))
        return cli_fail("%s is %s, input '%s' takes %s", path, cli_shape_text(have, sizeof(have), t->type, &t->shape),
                        in->data[i].name, cli_shape_text(want, sizeof(want), in->data[i].type, shape));
    *shape = t->shape;
    return cli_inputs_within(in, i, path);
}

/* Reads input i from a file. The first bytes identify the format; TensorProto has no signature and is recognized by
   ".pb". */
static int cli_inputs_read(cli_inputs *in, uint32_t i, const char *path, const cli_image_options *options)
{
    cli_input *input = &in->data[i];
    cli_bytes file;
    int status = cli_read_file(path, &file);
    if (status != CLI_DONE)
        return status;
    if (cli_is_image(&file)) {
        cli_image_axes axes = {0, 0, 0, false};
        cli_image_options all = *options;
        status = cli_metadata_image(&in->metadata, in->path, input->name, &all);
        if (status == CLI_DONE)
            status = cli_image_shape(&file, path, &all, input->name, &in->shapes[i], &axes);
        if (status == CLI_DONE)
            status = cli_inputs_within(in, i, path);
        if (status == CLI_DONE)
            status = cli_image_read(&file, path, &all,
                                    input->quantized && all.quantize == CLI_INVERT_YES ? NNRT_DATA_TYPE_FLOAT32
                                                                                       : input->type,
                                    &in->shapes[i], &axes, &input->value);
        free(file.data);
        return status;
    }
    if (cli_is_npy(&file))
        status = cli_npy_read(&file, path, &input->value);
    else if (cli_is_wav(&file))
        status = cli_wav_read(&file, path, input->name, &in->shapes[i], &input->value);
    else if (cli_ends_with(path, ".pb"))
        status = cli_pb_read(&file, path, &input->value, NULL, 0);
    else
        status = cli_fail("cannot use %s: expected a .npy, .png, .jpg, .wav or .pb file", path);
    free(file.data);
    if (status == CLI_DONE)
        status = cli_inputs_fit(in, i, path);
    input->given = true;
    return status == CLI_DONE ? cli_tensor_convert(&input->value,
                                                   input->quantized && cli_is_float(input->value.type)
                                                       ? NNRT_DATA_TYPE_FLOAT32
                                                       : input->type,
                                                   path, input->name)
                              : status;
}

/* Assigns every --input to an input. "random" without a name applies to all inputs without another value; random: as if it was
   there. */
static int cli_inputs_assign(cli_inputs *in, const cli_args *args, bool random)
{
    const char *rest = NULL, *value;
    char names[512];
    uint64_t seed;
    uint32_t i;
    int status;
    for (uint32_t k = 0; k < args->inputCount; k++) {
        if (in->count != 1 && cli_is_random(args->inputs[k], &seed)) {
            if (rest != NULL)
                return cli_usage("--input %s: the remaining inputs already have %s", args->inputs[k], rest);
            rest = args->inputs[k];
            continue;
        }
        if ((status = cli_match_input(in, "--input", args->inputs[k], &i, &value)) != CLI_DONE)
            return status;
        if (in->data[i].source != NULL)
            return cli_usage("--input %s: input '%s' already has %s", args->inputs[k], in->data[i].name,
                             in->data[i].source);
        in->data[i].source = value;
    }
    rest = rest == NULL && random ? "random" : rest;
    for (i = 0; rest != NULL && i < in->count; i++)
        if (in->data[i].source == NULL)
            in->data[i].source = rest;
    if (*cli_inputs_text(in, true, 0, names, sizeof(names)) != '\0')
        return cli_usage("no value for input %s; give --input NAME=FILE, or --input random", names);
    return CLI_DONE;
}

#endif /* NNRT_TOOL_INPUTS_H */
