/*
nnrt.c - the command line of nnrt: look at a model, run it, time it, check it against ONNX test data.

    cc -std=c99 -O2 -I. tools/nnrt.c -o build/nnrt -lm

It uses the public functions of nnrt.h, formats/nnrt_onnx.h, devices/ and compat/nnrt_nnadapter_driver.h only, and
stb_image (libstb-dev) to read PNG images.
Parts: text.h messages, JSON, progress; tensor.h values; npy.h tensor files; image.h images; args.h arguments; meta.h
metadata; inputs.h model inputs; place.h placement; job.h sessions; map.h memory maps; profile.h times of steps; check.h test
data; compare.h two devices; report.h a page about a model; emit.h models as C; copy.h operators as C; serve.h a device for
other processes.
Exit status: 0 done, 1 failed, 2 wrong usage. Results go to standard output, everything else to standard error.

    >>info     what a model is, has and needs
    >>convert  .nnrt files, their metadata
    >>compile  .nnrt files with what a device made
    >>emit     models as C
    >>run      one run on given inputs
    >>bench    times
    >>tables   drawings, operators, devices
    >>main     texts of help, the table of commands
*/
#define _POSIX_C_SOURCE 200809L

#if defined(__linux__) && defined(__GNUC__) && !defined(NNRT_THREADS)
#define NNRT_THREADS 1 /* nnrt serve */
#endif
#define NNRT_IMPLEMENTATION
#include "../nnrt.h"

#include "../compat/nnrt_nnadapter_driver.h"
#include "../devices/nnrt_driver.h"
#include "../devices/nnrt_fake.h"
#include "../devices/nnrt_remote.h"
#include "../formats/nnrt_onnx.h"

#include <sys/stat.h>
#include <sys/types.h>
#if defined(_WIN32)
#include <direct.h>
#endif

#include "check.h"
#include "compare.h"
#include "copy.h"
#include "emit.h"
#include "map.h"
#include "profile.h"
#include "report.h"
#include "serve.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>info */

/* Prints an input as the file declares it, with open extents, or an output as the session has it. most: the largest
   extents, where the session leaves some open; NULL: it does not. */
static void cli_info_tensor(const char *name, NNRT_DataType type, NNRT_Format format, const nnrt_dims *shape,
                            const nnrt_dims *most, bool json)
{
    const char *text = format == NNRT_FORMAT_NCHW ? "NCHW" : format == NNRT_FORMAT_NHWC ? "NHWC" : "";
    char buffer[CLI_SHAPE_BYTES];
    if (json) {
        cli_json_tensor(name, type, shape);
        printf(",\"format\":\"%s\"", *text != '\0' ? text : "none");
        if (most == shape)
            fputs(",\"open\":true", stdout);
        else if (most != NULL)
            cli_json_dims("max", most);
        putchar('}');
    } else {
        cli_put_name(stdout, name);
        printf("  %s%s%s", cli_shape_text(buffer, sizeof(buffer), type, shape), *text != '\0' ? "  " : "", text);
        if (most == shape)
            fputs("  at most", stdout);
        else if (most != NULL)
            printf("  up to %s", cli_shape_text(buffer, sizeof(buffer), type, most));
        putchar('\n');
    }
}

/* Format of input i by its name; the session may have fewer inputs than the file. */
static NNRT_Format cli_input_format(const nnrt_session *session, const char *name, uint32_t i)
{
    const uint32_t count = nnrt_session_inputs(session);
    for (uint32_t k = 0; k < count; k++) {
        nnrt_io_info info = nnrt_session_input(session, (i + count - k % count) % count); /* mostly there, or before */
        if (strcmp(info.name, name) == 0)
            return info.format;
    }
    return NNRT_FORMAT_NONE;
}

static void cli_info_tensors(const cli_job *job, bool json)
{
    fputs(json ? ",\"inputs\":[" : "", stdout);
    for (uint32_t i = 0; i < job->in.count; i++) {
        const cli_input *in = &job->in.data[i];
        fputs(json ? (i > 0 ? "," : "") : i > 0 ? "            " : "input       ", stdout);
        cli_info_tensor(in->name, in->type, cli_input_format(job->session, in->name, i), &in->declared,
                        cli_open(&in->declared) ? cli_inputs_most(&job->in, i) : NULL, json);
    }
    fputs(json ? "],\"outputs\":[" : "", stdout);
    for (uint32_t i = 0; i < nnrt_session_outputs(job->session); i++) {
        nnrt_io_info out = nnrt_session_output(job->session, i);
        fputs(json ? (i > 0 ? "," : "") : i > 0 ? "            " : "output      ", stdout);
        cli_info_tensor(out.name, out.dataType, out.format, &out.shape, out.open ? &out.shape : NULL, json);
    }
    fputs(json ? "]" : "", stdout);
}

/* Nodes of each operator, in the order of the operators' numbers. */
static void cli_info_operators(const NNRT_Model *m, bool json)
{
    bool first = true;
    printf(json ? ",\"nodes\":%u,\"operators\":{" : "nodes       %u\n", (unsigned)m->nodes.count);
    for (uint32_t k = 0; nnrt_op_at(k) != NULL; k++) {
        const nnrt_op *op = nnrt_op_at(k);
        unsigned count = 0;
        for (uint32_t i = 0; i < m->nodes.count; i++)
            count += m->nodes.data[i].nodeType == op->type;
        if (count > 0 && json)
            printf("%s\"%s\":%u", first ? "" : ",", op->name, count);
        else if (count > 0)
            printf("            %5u  %s\n", count, op->name);
        first = first && count == 0;
    }
    if (json)
        putchar('}');
}

/* map: NULL where none is wanted. */
static void cli_info_memory(const cli_job *job, const cli_map *map, const cli_args *args)
{
    nnrt_session_memory m = nnrt_session_get_memory(job->session);
    if (args->json) {
        printf(",\"weight_bytes\":%.0f,\"arena_bytes\":%.0f,\"arena_lower_bound_bytes\":%.0f,\"session_bytes\":%.0f,"
               "\"steps\":%u",
               (double)m.constants, (double)m.arena, (double)m.bound, (double)m.total, (unsigned)m.steps);
        cli_json_session(job);
        if (map != NULL)
            cli_map_json(map);
        fputs("}\n", stdout);
        return;
    }
    printf("device      ");
    cli_put_name(stdout, nnrt_session_device(job->session));
    printf("\nsteps       %u kernels in a run\n", (unsigned)m.steps);
    printf("arena       %.0f bytes, lower bound %.0f\n", (double)m.arena, (double)m.bound);
    printf("session     %.0f bytes, arena included, parameters not\n", (double)m.total);
    if (map != NULL)
        cli_map_print(map);
}

/* Sections of a .nnrt file. */
static void cli_info_sections(const NNRT_Model *m, bool json)
{
    nnrt_file_section s;
    if (!nnrt_model_section(m, 0, &s))
        return;
    fputs(json ? ",\"sections\":[" : "", stdout);
    for (uint32_t i = 0; nnrt_model_section(m, i, &s); i++) {
        if (json) {
            printf("%s{\"type\":%u,\"kind\":\"%s\",\"name\":", i > 0 ? "," : "", (unsigned)s.type, s.kind);
            cli_json_text(s.name);
            printf(",\"offset\":%.0f,\"bytes\":%.0f}", (double)s.offset, (double)s.bytes);
        } else {
            printf("%s%-10s %12.0f bytes at %.0f%s", i > 0 ? "            " : "section     ", s.kind, (double)s.bytes,
                   /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a section's name is "" at least */
                   (double)s.offset, *s.name != '\0' ? "  " : "");
            cli_put_name(stdout, s.name);
            putchar('\n');
        }
    }
    fputs(json ? "]" : "", stdout);
}

/* A value as people read it: of several lines their number and the first five. */
static void cli_put_value(const char *value)
{
    const uint32_t lines = cli_lines(value);
    if (lines > 1)
        printf("%u lines: ", (unsigned)lines);
    for (uint32_t i = 0; i < 5 && i < lines; i++) {
        const size_t n = strcspn(value, "\n");
        char *line = cli_text_copy(value, n);
        fputs(i > 0 ? ", " : "", stdout);
        cli_put_name(stdout, line != NULL ? line : "");
        free(line);
        value += n + (value[n] == '\n');
    }
    fputs(lines > 5 ? ", ...\n" : "\n", stdout);
}

static void cli_info_metadata(const cli_metadata *m, bool json)
{
    fputs(json ? ",\"metadata\":{" : "", stdout);
    for (uint32_t i = 0; i < m->count; i++) {
        fputs(json ? (i > 0 ? "," : "") : i > 0 ? "            " : "metadata    ", stdout);
        if (json) {
            cli_json_text(m->data[i].key);
            putchar(':');
            cli_json_text(m->data[i].value);
        } else {
            cli_put_name(stdout, m->data[i].key);
            putchar('=');
            cli_put_value(m->data[i].value);
        }
    }
    fputs(json ? "}" : "", stdout);
}

/* What a look at all nodes collects: the types of their operands, and multiply-accumulates. */
typedef struct cli_info_sums {
    uint32_t types;
    double macs;
} cli_info_sums;

static double cli_info_count(const nnrt_operand *o)
{
    double count = 1;
    for (int32_t k = 0; k < o->rank; k++)
        count *= o->dims[k];
    return count;
}

/* EINSUM: the product of the extents of all labels, for each input behind the first. */
static double cli_info_einsum(const nnrt_resolve *c)
{
    const int32_t *labels = c->nDerived > 0 ? (const int32_t *)c->derived[0].data : NULL;
    const int32_t count = labels != NULL ? *labels++ : 0;
    double macs = c->nIn > 1 ? c->nIn - 1 : 0;
    for (int32_t label = 0; label < count; label++) {
        const int32_t *at = labels;
        int32_t extent = 1;
        for (uint32_t i = 0; i < c->nIn; i++)
            for (int32_t k = 0; k < c->in[i].rank; k++, at++)
                extent = *at == label && c->in[i].dims[k] > extent ? c->in[i].dims[k] : extent;
        macs *= extent;
    }
    return macs;
}

/* Multiply-accumulates of a node, padding included. */
static double cli_info_macs(const nnrt_resolve *c)
{
    const nnrt_operand *x = c->in, *w = c->in + 1, *y = c->out;
    switch ((int)c->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV_3D:
    case NNRT_NODE_TYPE_CONV_INTEGER:
    case NNRT_NODE_TYPE_FULL_CONNECTION: /* weight [Co,..]: each element of y is a sum over one Co */
        return w->dims[0] > 0 ? cli_info_count(y) * cli_info_count(w) / w->dims[0] : 0;
    case NNRT_NODE_TYPE_DEFORMABLE_CONV_2D:
        return c->in[3].dims[0] > 0 ? cli_info_count(y) * cli_info_count(&c->in[3]) / c->in[3].dims[0] : 0;
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION:
    case NNRT_NODE_TYPE_CONV_TRANSPOSE_3D: { /* each place of x meets the whole weight */
        const int32_t channels = x->dims[x->format == NNRT_FORMAT_NCHW || x->rank == 5 ? 1 : x->rank - 1];
        return channels > 0 ? cli_info_count(x) / channels * cli_info_count(w) : 0;
    }
    case NNRT_NODE_TYPE_MATMUL_FUSION: {
        const bool turned = ((const NNRT_MatMulFusion *)c->resolved)->transposeA;
        return cli_info_count(y) * x->dims[x->rank > 1 && turned ? x->rank - 2 : x->rank - 1];
    }
    case NNRT_NODE_TYPE_MATMUL_INTEGER: return cli_info_count(y) * x->dims[x->rank - 1];
    case NNRT_NODE_TYPE_EINSUM: return cli_info_einsum(c);
    case NNRT_NODE_TYPE_ATTENTION: { /* q k' and the product with v, over all keys */
        const int32_t past = c->nIn > 4 && c->in[4].rank == 4 ? c->in[4].dims[2] : 0;
        return (cli_info_count(x) + cli_info_count(y)) * ((double)w->dims[w->rank - 2] + past);
    }
    case NNRT_NODE_TYPE_LSTM:
    case NNRT_NODE_TYPE_LSTM_PEEPHOLE:
    case NNRT_NODE_TYPE_GRU:
    case NNRT_NODE_TYPE_RNN: /* both weights, for each step of each sequence */
        return (double)x->dims[0] * x->dims[1] * (cli_info_count(w) + cli_info_count(&c->in[2]));
    default: return 0;
    }
}

static NNRT_ReturnCode cli_info_visit(void *user, uint32_t node, nnrt_resolve *resolved, bool folded)
{
    cli_info_sums *sums = (cli_info_sums *)user;
    (void)node;
    for (uint32_t i = 0; i < resolved->nIn; i++)
        sums->types |= nnrt_operand_types(&resolved->in[i]);
    for (uint32_t i = 0; i < resolved->nOut; i++)
        sums->types |= nnrt_operand_types(&resolved->out[i]);
    if (!folded)
        sums->macs += cli_info_macs(resolved);
    return NNRT_SUCCESS;
}

/* Elements and bytes of all constants, by type. */
static void cli_info_parameters(const NNRT_Model *m, bool json)
{
    double all = 0;
    bool first = true;
    for (int pass = 0; pass < 2; pass++) { /* the sum stands before its parts */
        for (int type = 0; type <= NNRT_DATA_TYPE_FLOAT64; type++) {
            double count = 0, bytes = 0;
            for (uint32_t i = 0; i < m->allTensors.count; i++) {
                const NNRT_Tensor *t = &m->allTensors.data[i];
                if (t->dataType == (NNRT_DataType)type && t->data.dataSize > 0)
                    bytes += (double)t->data.dataSize;
            }
            if (bytes == 0)
                continue;
            count = bytes / (double)nnrt_type_size((NNRT_DataType)type);
            all += pass == 0 ? count : 0;
            if (pass == 1) {
                printf(json ? "%s\"%s\":{\"count\":%.0f,\"bytes\":%.0f}" : "%s%s %.0f in %.0f bytes",
                       first ? json ? "" : ": " : json ? "," : ", ", nnrt_type_name((NNRT_DataType)type), count, bytes);
                first = false;
            }
        }
        if (pass == 0)
            printf(json ? ",\"parameters\":%.0f,\"weights\":{" : "parameters  %.0f", all);
    }
    fputs(json ? "}" : "\n", stdout);
}

/* Who wrote an ONNX file, and the operator sets that it names. */
static void cli_info_origin(const cli_inputs *in, bool json)
{
    const cli_metadata *both[2] = {&in->producer, &in->opsets};
    for (int k = 0; k < 2; k++) {
        const cli_metadata *m = both[k];
        if (m->count == 0)
            continue;
        fputs(json ? k == 0 ? ",\"producer\":{" : ",\"opsets\":{" : k == 0 ? "producer    " : "opsets      ", stdout);
        for (uint32_t i = 0; i < m->count; i++) {
            fputs(i == 0 ? "" : json ? "," : k == 0 ? " " : ", ", stdout);
            if (json) {
                cli_json_text(m->data[i].key);
                putchar(':');
            } else if (k == 1) {
                cli_put_name(stdout, m->data[i].key);
                putchar(' ');
            }
            if (!json)
                cli_put_name(stdout, m->data[i].value);
            else if (k == 1)
                fputs(m->data[i].value, stdout);
            else
                cli_json_text(m->data[i].value);
        }
        fputs(json ? "}" : "\n", stdout);
    }
}

/* Multiply-accumulates, and the macros with which a program that loads this model has the operators and types that it
   needs, and no others. */
static void cli_info_look(const cli_job *job, bool json)
{
    const NNRT_Model *m = job->model;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_operand *tensors;
    nnrt_dims *dims = cli_job_dims(job);
    cli_info_sums sums = {0, 0};
    memset(&config, 0, sizeof(config));
    if (job->fromNnrt)
        config.inputDims = nnrt_dims_list_make(dims, job->in.count);
    config.bounds = nnrt_bound_list_make(job->in.bounds, job->in.boundCount);
    nnrt_memory_allocate(&memory, NULL);
    tensors = (nnrt_operand *)nnrt_memory_temp(&memory, m->allTensors.count * sizeof(*tensors));
    if (tensors != NULL && dims != NULL)
        (void)nnrt_model_infer(m, &config, &memory, tensors, cli_info_visit, &sums);
    nnrt_memory_end(&memory);
    free(dims);
    printf(json ? ",\"macs\":%.0f" : "MACs        %.0f in a run\n", sums.macs);
    fputs(json ? ",\"keep\":\"-DNNRT_SELECT" : "keep        -DNNRT_SELECT", stdout);
    for (uint32_t k = 0; nnrt_op_at(k) != NULL; k++)
        for (uint32_t i = 0; i < m->nodes.count; i++)
            if (nnrt_op_at(k)->type > 0 && m->nodes.data[i].nodeType == nnrt_op_at(k)->type) {
                printf(" -DNNRT_KEEP_%s=1", nnrt_op_at(k)->name);
                break;
            }
    printf(json ? " -DNNRT_KEEP_TYPES=0x%xu\"" : " -DNNRT_KEEP_TYPES=0x%xu\n", (unsigned)sums.types);
}

static int cli_info_job(cli_job *job, cli_map *map, const cli_args *args)
{
    int status = cli_inputs_make(&job->in, args);
    if (status == CLI_DONE)
        status = cli_inputs_settle(&job->in, args);
    if (status == CLI_DONE)
        status = cli_job_load(job, args);
    if (status == CLI_DONE && args->records) {
        cli_records_print(job->model);
        return CLI_DONE;
    }
    if (status == CLI_DONE)
        status = cli_job_prepare(job, args);
    if (status == CLI_DONE && args->memory)
        status = cli_map_make(map, job, args);
    if (status != CLI_DONE)
        return status;
    if (args->json) {
        cli_json_open(args);
        fputs(",\"name\":", stdout);
        cli_json_text(job->model->name != NULL ? job->model->name : "");
    } else {
        printf("model       ");
        cli_put_name(stdout, job->model->name != NULL ? job->model->name : "");
        putchar('\n');
    }
    cli_info_origin(&job->in, args->json);
    cli_info_tensors(job, args->json);
    cli_info_operators(job->model, args->json);
    cli_info_parameters(job->model, args->json);
    cli_info_look(job, args->json);
    cli_info_sections(job->model, args->json);
    cli_info_metadata(&job->in.metadata, args->json);
    cli_places_settle(&job->places, nnrt_session_device(job->session));
    cli_places_print(&job->places, job->model, args->json);
    cli_info_memory(job, args->memory ? map : NULL, args);
    return CLI_DONE;
}

static int cli_info(const cli_args *args)
{
    cli_job job;
    int status;
    cli_map map;
    memset(&job, 0, sizeof(job));
    memset(&map, 0, sizeof(map));
    status = cli_info_job(&job, &map, args);
    cli_map_free(&map);
    cli_job_free(&job);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>convert */

static void cli_convert_progress(void *user, uint64_t done, uint64_t total)
{
    cli_progress_show((cli_progress *)user, (size_t)(done / 1024), (size_t)(total / 1024));
}

/* Reads one --labels [OUTPUT=]FILE into the metadata. */
static int cli_convert_labels(cli_job *job, const char *option)
{
    const NNRT_Model *m = job->model;
    const char *name = "", *path = option;
    char *text = NULL, *key;
    size_t room;
    int status;
    for (uint32_t i = 0; i < m->outputIndex.count; i++) {
        const char *other = m->allTensors.data[m->outputIndex.data[i]].name;
        const size_t n = other != NULL ? strlen(other) : 0;
        if (n > strlen(name) && strncmp(option, other, n) == 0 && option[n] == '=') {
            name = other;
            path = option + n + 1;
        }
    }
    status = cli_labels_read(path, &text);
    room = strlen(name) + sizeof("labels.");
    key = status == CLI_DONE ? (char *)cli_alloc(room, 1) : NULL;
    if (key != NULL && text != NULL) {
        snprintf(key, room, "labels%s%s", *name != '\0' ? "." : "", name);
        status = cli_metadata_set(&job->in.metadata, key, strlen(key), text, strlen(text));
    } else if (status == CLI_DONE) {
        status = CLI_FAILED;
    }
    free(key);
    free(text);
    return status;
}

/* A session, for the shapes of the outputs, which the model itself may not tell. None where an input has an extent that
   is open, or where the device cannot run the model: then labels are checked when it is run. */
static void cli_convert_prepare(cli_job *job)
{
    nnrt_session_desc desc;
    bool open = false;
    memset(&desc, 0, sizeof(desc));
    for (uint32_t i = 0; i < job->in.count; i++) {
        const nnrt_dims *shape = &job->in.shapes[i];
        open = open || shape->rank < 0;
        for (int32_t k = 0; k < shape->rank; k++)
            open = open || shape->dims[k] < 0;
    }
    if (job->fromNnrt)
        desc.inputDims = nnrt_dims_list_make(job->in.shapes, job->in.count);
    if (!open && job->session == NULL)
        (void)nnrt_session_create(&job->session, job->model, &desc, NULL);
}

/* Labels must fit the output that they are for, or one of all. */
static int cli_convert_check_labels(const cli_job *job, const nnrt_metadata *e, const char *path)
{
    const NNRT_Model *m = job->model;
    const bool one = e->key[6] == '.';
    const uint32_t n = cli_lines(e->value);
    char names[512], want[640];
    size_t at = 0;
    bool found = false, fits = false;
    nnrt_dims shape;
    memset(&shape, 0, sizeof(shape));
    names[0] = '\0';
    for (uint32_t i = 0; i < m->outputIndex.count; i++) {
        const NNRT_Tensor *t = &m->allTensors.data[m->outputIndex.data[i]];
        const bool meant = !one || strcmp(e->key + 7, t->name) == 0;
        found = found || meant;
        shape.rank = -1;
        if (job->session != NULL)
            shape = nnrt_session_output(job->session, i).shape;
        fits = fits || (meant && n > 1 && (shape.rank < 0 || cli_class_axis(&shape, n) >= 0));
        if (at < sizeof(names))
            at += nnrt_text(names + at, sizeof(names) - at, "%s'%s'", i > 0 ? ", " : "", t->name);
    }
    if (fits)
        return CLI_DONE;
    if (found)
        snprintf(want, sizeof(want), "as many lines as an axis of the output has extents, not %u", (unsigned)n);
    else
        snprintf(want, sizeof(want), "an output, one of %s, behind labels.", names);
    return cli_metadata_fail(path, e, want);
}

/* "input.NAME.KEY" must be of an input, and something that nnrt run knows. */
static int cli_convert_check_input(const cli_job *job, const nnrt_metadata *e, const char *path)
{
    char names[512], want[600];
    const char *fault = NULL;
    for (uint32_t i = 0; i < job->in.count; i++) {
        const char *key = cli_image_key(e->key, job->in.data[i].name);
        cli_image_options o;
        memset(&o, 0, sizeof(o));
        if (key == NULL)
            continue;
        key = cli_image_take(&o, key, e->value);
        if (key == NULL)
            return CLI_DONE;
        if (fault == NULL || *fault == '\0')
            fault = key;
    }
    if (fault == NULL)
        snprintf(want, sizeof(want), "an input, one of %s, behind input.",
                 cli_inputs_text(&job->in, false, 0, names, sizeof(names)));
    else
        snprintf(want, sizeof(want), "%s",
                 *fault != '\0' ? fault : "mean, scale, std, color, layout or invert behind the input");
    return cli_metadata_fail(path, e, want);
}

/* Metadata of the new file: what the old one has, --labels over it and --meta over that; all that nnrt run would use
   must be good. */
static int cli_convert_metadata(cli_job *job, const cli_args *args)
{
    cli_metadata *m = &job->in.metadata;
    int status = CLI_DONE;
    for (uint32_t i = 0; status == CLI_DONE && i < args->labelsCount; i++)
        status = cli_convert_labels(job, args->labels[i]);
    for (uint32_t i = 0; status == CLI_DONE && i < args->metadataCount; i++) {
        const size_t n = strcspn(args->metadata[i], "=");
        const char *value = args->metadata[i] + n + 1;
        status = cli_metadata_set(m, args->metadata[i], n, value, strlen(value));
    }
    for (uint32_t i = 0; status == CLI_DONE && i < m->count; i++) {
        if (strcmp(m->data[i].key, "labels") == 0 || strncmp(m->data[i].key, "labels.", 7) == 0) {
            cli_convert_prepare(job);
            status = cli_convert_check_labels(job, &m->data[i], args->model);
        } else if (strncmp(m->data[i].key, "input.", 6) == 0) {
            status = cli_convert_check_input(job, &m->data[i], args->model);
        }
    }
    for (uint32_t i = 0; status == CLI_DONE && i < job->in.count; i++)
        status = cli_metadata_one_factor(m, args->model, job->in.data[i].name);
    return status;
}

/* Writes the model that has been loaded, and tells the size of the file. */
static int cli_convert_save(const cli_job *job, const cli_args *args)
{
    cli_progress progress = {"convert", 0, false};
    nnrt_save_desc desc;
    nnrt_error error;
    NNRT_ReturnCode code;
    size_t bytes;
    char *target;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.metadata = job->in.metadata.data;
    desc.metadataCount = job->in.metadata.count;
    desc.cache = job->cache;
    desc.progress = cli_convert_progress;
    desc.user = &progress;
    if (strcmp(args->output, "-") == 0)
        return cli_fail("cannot write -: a .nnrt file does not go to standard output; ./- is a file of that name");
    if (cli_may_replace(args->output) != CLI_DONE || cli_link_target(args->output, &target) != CLI_DONE)
        return CLI_FAILED;
    code = nnrt_model_save_memory(job->model, &desc, NULL, 0, &bytes, &error);
    if (code == NNRT_SUCCESS)
        code = nnrt_model_save(job->model, target != NULL ? target : args->output, &desc, &error);
    cli_progress_end(&progress);
    free(target);
    if (code != NNRT_SUCCESS)
        return cli_fail("cannot convert %s: %s", args->model,
                        error.message[0] != '\0' ? error.message : nnrt_code_name(code));
    if (args->json) {
        cli_json_open(args);
        fputs(",\"file\":", stdout);
        cli_json_text(args->output);
        printf(",\"bytes\":%.0f}\n", (double)bytes);
    } else {
        cli_put_name(stdout, args->output);
        printf("  %.0f bytes\n", (double)bytes);
    }
    return CLI_DONE;
}

/* Loads the model; a .nnrt file is optimised here, an ONNX file has been. */
static int cli_convert_load(cli_job *job, const cli_args *args)
{
    nnrt_optimize_desc optimize;
    nnrt_error error;
    int status = cli_job_load(job, args);
    memset(&optimize, 0, sizeof(optimize));
    memset(&error, 0, sizeof(error));
    optimize.no_quantize = args->noQuantize;
    optimize.log = &args->log;
    if (status == CLI_DONE && job->fromNnrt && !args->noOptimize &&
        nnrt_model_optimize_with(&job->model, &optimize, &error) != NNRT_SUCCESS)
        status = cli_fail("cannot convert %s: %s", args->model, error.message);
    return status;
}

static int cli_convert(const cli_args *args)
{
    cli_job job;
    int status;
    memset(&job, 0, sizeof(job));
    status = cli_inputs_make(&job.in, args);
    if (status == CLI_DONE)
        status = cli_inputs_apply_shapes(&job.in, args);
    if (status == CLI_DONE)
        status = cli_convert_load(&job, args);
    if (status == CLI_DONE && job.fromNnrt && args->shapeCount > 0)
        status = cli_usage("convert: --shape is for ONNX files; a .nnrt file keeps its open extents");
    if (status == CLI_DONE)
        status = cli_convert_metadata(&job, args);
    if (status == CLI_DONE)
        status = cli_convert_save(&job, args);
    cli_job_free(&job);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>compile */

/* The file has what the session of the device would make. */
static int cli_compile_job(cli_job *job, const cli_args *args)
{
    const nnrt_cache_state *s;
    int status = cli_inputs_make(&job->in, args);
    if (status == CLI_DONE)
        status = cli_inputs_settle(&job->in, args);
    if (status == CLI_DONE)
        status = cli_convert_load(job, args);
    if (status == CLI_DONE)
        status = cli_job_cache(job, args);
    if (status == CLI_DONE)
        status = cli_job_prepare(job, args);
    if (status != CLI_DONE)
        return status;
    s = nnrt_cache_get_state(job->cache);
    if (s->kept == 0)
        return cli_fail("cannot compile %s: device '%s' %s; nnrt convert writes a file without", args->model,
                        nnrt_session_device(job->session),
                        s->prepared == 0 ? "has no model cache" : "gives nothing to keep");
    if (s->kept < s->prepared)
        cli_note("%u of %u parts are not in the file: their device does not give them", (unsigned)(s->prepared - s->kept),
                 (unsigned)s->prepared);
    return cli_convert_save(job, args);
}

static int cli_compile(const cli_args *args)
{
    cli_job job;
    int status;
    memset(&job, 0, sizeof(job));
    status = cli_compile_job(&job, args);
    cli_job_free(&job);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>emit */

/* From the arguments to a session with inputs: those given, else random ones. */
static int cli_emit_prepare(cli_job *job, const cli_args *args)
{
    cli_args own = *args;
    int status = cli_inputs_make(&job->in, args);
    bool all = job->in.count == 1 && args->inputCount > 0; /* have a value */
    uint64_t seed;
    own.device = "reference"; /* whose bits the self-test expects */
    for (uint32_t i = 0; i < args->inputCount; i++)
        all = all || cli_is_random(args->inputs[i], &seed);
    if (!all && own.inputCount < CLI_MOST_INPUTS)
        own.inputs[own.inputCount++] = "random";
    if (status == CLI_DONE)
        status = cli_inputs_fill(&job->in, &own);
    if (status == CLI_DONE)
        status = cli_job_start(job, &own);
    return status == CLI_DONE ? cli_job_run(job) : status;
}

static int cli_emit_c(const cli_args *args)
{
    cli_job job;
    int status;
    memset(&job, 0, sizeof(job));
    status = cli_emit_prepare(&job, args);
    for (uint32_t i = 0; status == CLI_DONE && i < job.model->nodes.count; i++)
        if (job.model->nodes.data[i].nodeType < 0)
            status = cli_fail("cannot write %s as C: node %u '%s' is of the application's operator %s, whose kernel only "
                              "this program has",
                              args->model, (unsigned)i, job.model->nodes.data[i].name,
                              nnrt_op_find(job.model->nodes.data[i].nodeType)->name);
    if (status == CLI_DONE)
        status = cli_emit_job(&job, args);
    cli_job_free(&job);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>run */

/* Writes name without the characters that some system's file names cannot have, at most 200 bytes, and returns their
   number: '_' for / \ : * ? " < > | and control characters, and for a '.' in front. */
static size_t cli_file_name(char *out, const char *name)
{
    size_t n = strlen(name);
    if (n > 200)
        for (n = 200; n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80;)
            n--;
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)name[k];
        out[k] = c < 32 || c == 127 || strchr("/\\:*?\"<>|", c) != NULL || (c == '.' && k == 0) ? '_' : name[k];
    }
    return n;
}

/* True when two paths differ at most by the case of letters a to z, which some systems take for the same. */
static bool cli_same_path(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a, y = *b >= 'A' && *b <= 'Z' ? (char)(*b + 32) : *b;
        if (x != y)
            return false;
    }
    return *a == *b;
}

/* Path of one output's file: DIR/NAME.npy. Where one of paths[0..i) is the same, NAME_2.npy, NAME_3.npy, ... The caller
   frees it; NULL: no memory. */
static char *cli_output_path(const char *dir, const char *name, char *const *paths, uint32_t i)
{
    size_t at = strlen(dir) + 1, room = at + 256;
    char *path = (char *)cli_alloc(room, 1);
    bool taken = true;
    if (path == NULL)
        return NULL;
    snprintf(path, room, "%s/", dir);
    if (*name != '\0') /* NOLINT(clang-analyzer-core.NullDereference): an output's name is "" at least */
        at += cli_file_name(path + at, name);
    else
        at += (size_t)snprintf(path + at, room - at, "output_%u", (unsigned)i);
    for (uint32_t number = 1; taken; number++) {
        if (number > 1)
            snprintf(path + at, room - at, "_%u.npy", (unsigned)number);
        else
            snprintf(path + at, room - at, ".npy");
        taken = false;
        for (uint32_t k = 0; k < i && !taken; k++)
            taken = cli_same_path(path, paths[k]);
    }
    return path;
}

/* Makes the folder unless it is there. */
static int cli_make_dir(const char *dir)
{
    struct stat s;
#if defined(_WIN32)
    int failed = _mkdir(dir);
#else
    int failed = mkdir(dir, 0777);
#endif
    if (failed != 0 && errno != EEXIST)
        return cli_fail("cannot make the folder %s: %s", dir, strerror(errno));
    if (failed != 0 && (stat(dir, &s) != 0 || !S_ISDIR(s.st_mode)))
        return cli_fail("cannot write to %s: it is no folder", dir);
    return CLI_DONE;
}

/* Writes all outputs; paths[i] becomes the name of each file, for the caller to free. */
static int cli_write_outputs(const cli_job *job, const cli_args *args, char **paths)
{
    int status = cli_make_dir(args->outputDir);
    for (uint32_t i = 0; status == CLI_DONE && i < job->nOut; i++) {
        paths[i] = cli_output_path(args->outputDir, nnrt_session_output(job->session, i).name, paths, i);
        status = paths[i] != NULL ? cli_npy_write(paths[i], &job->outputs[i]) : CLI_FAILED;
    }
    return status;
}

/* Writes result i of a watched run to DIR/NNNN_NAME.npy, and its line of the table. */
static int cli_dump_one(const cli_watched *w, const cli_job *job, const char *dir, uint32_t i, FILE *index)
{
    const cli_watched_value *v = &w->values[i];
    const cli_tensor *t = &job->outputs[v->output];
    const nnrt_op *op = nnrt_op_find(w->model.nodes.data[v->node].nodeType);
    const char *node = w->model.nodes.data[v->node].name, *value = w->model.allTensors.data[v->tensor].name;
    const size_t room = strlen(dir) + 256;
    char *path = (char *)cli_alloc(room, 1), text[CLI_SHAPE_BYTES];
    size_t at;
    int status;
    if (path == NULL)
        return CLI_FAILED;
    at = (size_t)snprintf(path, room, "%s/%04u_", dir, (unsigned)i);
    at += cli_file_name(path + at, value != NULL && *value != '\0' ? value : op != NULL ? op->name : "");
    snprintf(path + at, room - at, ".npy");
    status = cli_npy_write(path, t);
    cli_put_name(index, path + strlen(dir) + 1);
    fprintf(index, "\t%u\t", (unsigned)v->node);
    cli_put_name(index, node != NULL ? node : "");
    fprintf(index, "\t%s\t", op != NULL ? op->name : "");
    cli_put_name(index, value != NULL ? value : "");
    fprintf(index, "\t%s\n", cli_shape_text(text, sizeof(text), t->type, &t->shape));
    free(path);
    return status;
}

/* Runs the job's model once more with all results of the nodes of its main graph as outputs, and writes them. */
static int cli_dump(const cli_job *job, const cli_args *args)
{
    const size_t room = strlen(args->dumpDir) + sizeof("/index.tsv");
    char *path = (char *)cli_alloc(room, 1);
    FILE *index = NULL;
    cli_watched watch;
    cli_job watched;
    uint32_t values = 0;
    int status = path != NULL ? cli_make_dir(args->dumpDir) : CLI_FAILED;
    memset(&watch, 0, sizeof(watch));
    memset(&watched, 0, sizeof(watched));
    nnrt_memory_allocate(&watch.memory, NULL);
    if (status == CLI_DONE)
        status = cli_watch(&watch, job->model, &values);
    if (status == CLI_DONE) {
        cli_compare_lend(&watched, job, &watch.model);
        status = cli_compare_run(&watched, args, args->device != NULL ? args->device : "auto");
    }
    if (status == CLI_DONE) {
        snprintf(path, room, "%s/index.tsv", args->dumpDir);
        if ((index = fopen(path, "w")) == NULL)
            status = cli_fail("cannot write %s: %s", path, strerror(errno));
        else
            fputs("file\tnode\tname\toperator\tvalue\ttype\n", index);
    }
    for (uint32_t i = 0; i < values && status == CLI_DONE; i++)
        status = cli_dump_one(&watch, &watched, args->dumpDir, i, index);
    if (index != NULL && (ferror(index) | fclose(index)) != 0 && status == CLI_DONE)
        status = cli_fail("cannot write %s: %s", path, strerror(errno));
    if (status == CLI_DONE)
        cli_note("%u results are in %s", (unsigned)values, args->dumpDir);
    free(path);
    memset(&watched.in, 0, sizeof(watched.in));
    watched.model = NULL;
    cli_job_free(&watched);
    nnrt_memory_end(&watch.memory);
    return status;
}

/* True when element a stands before b among the largest: larger first, NaN last, equal ones by place. */
static bool cli_before(const cli_tensor *t, size_t a, size_t b)
{
    double x = cli_element(t, a), y = cli_element(t, b);
    if (t->type == NNRT_DATA_TYPE_INT64 || t->type == NNRT_DATA_TYPE_UINT64) {
        uint64_t flip = t->type == NNRT_DATA_TYPE_INT64 ? (uint64_t)1 << 63 : 0;
        uint64_t u = cli_integer(t, a) ^ flip, v = cli_integer(t, b) ^ flip;
        return u != v ? u > v : a < b;
    }
    if (isnan(x) || isnan(y))
        return isnan(x) == isnan(y) ? a < b : isnan(y);
    return x != y ? x > y : a < b;
}

/* Places of the count largest elements, largest first; count is at most 1000, so inserting into a list is fast enough.
   NULL: no memory. */
static size_t *cli_largest(const cli_tensor *t, size_t count)
{
    size_t *best = (size_t *)cli_alloc(count, sizeof(size_t)), n = 0;
    for (size_t i = 0; best != NULL && i < t->count; i++) {
        size_t at;
        if (n == count && !cli_before(t, i, best[count - 1]))
            continue;
        at = n < count ? n++ : count - 1;
        for (; at > 0 && cli_before(t, i, best[at - 1]); at--)
            best[at] = best[at - 1];
        best[at] = i;
    }
    return best;
}

/* Index of an element as people read it: the number alone where one axis only is longer than 1. */
static void cli_put_place(const cli_tensor *t, size_t i, bool json)
{
    char text[CLI_SHAPE_BYTES];
    int32_t longAxes = 0;
    for (int32_t k = 0; k < t->shape.rank; k++)
        longAxes += t->shape.dims[k] > 1;
    if (json || longAxes > 1)
        printf("%s", cli_place_text(text, sizeof(text), &t->shape, i));
    else
        printf("%.0f", (double)i);
}

static int cli_put_largest(const cli_tensor *t, uint32_t top, const cli_labels *labels, bool json)
{
    size_t count = t->count < top ? t->count : top;
    size_t *best = cli_largest(t, count);
    if (best == NULL)
        return CLI_FAILED;
    fputs(json ? ",\"top\":[" : "", stdout);
    for (size_t i = 0; i < count; i++) {
        const char *label = cli_label_of(labels, &t->shape, best[i]);
        fputs(json ? (i > 0 ? ",{\"index\":" : "{\"index\":") : "  ", stdout);
        cli_put_place(t, best[i], json);
        fputs(json ? ",\"value\":" : "  ", stdout);
        cli_put_element(t, best[i], json ? (t->type == NNRT_DATA_TYPE_FLOAT64 ? 17 : 9) : 6, json);
        if (label != NULL && json) {
            fputs(",\"label\":", stdout);
            cli_json_text(label);
        } else if (label != NULL) {
            fputs("  ", stdout);
            cli_put_name(stdout, label);
        }
        fputs(json ? "}" : "\n", stdout);
    }
    fputs(json ? "]" : "", stdout);
    free(best);
    return CLI_DONE;
}

/* Says of which metadata no label can be shown: those that have not as many lines as the output has extents in an axis.
   What is for all outputs need fit one only. */
static void cli_note_labels(const cli_job *job)
{
    const nnrt_metadata *all = NULL;
    bool fits = false;
    for (uint32_t i = 0; i < job->nOut; i++) {
        const char *name = nnrt_session_output(job->session, i).name;
        const nnrt_metadata *e = cli_labels_find(&job->in.metadata, name);
        const uint32_t n = e != NULL ? cli_lines(e->value) : 0;
        char text[CLI_SHAPE_BYTES];
        if (e == NULL)
            continue;
        if (e->key[6] == '\0') {
            all = e;
            fits = fits || cli_class_axis(&job->outputs[i].shape, n) >= 0;
        } else if (cli_class_axis(&job->outputs[i].shape, n) < 0) {
            cli_note("%s: metadata %s has %u lines, expected as many as an axis of output '%s' has extents: %s",
                     job->in.path, e->key, (unsigned)n, name,
                     cli_shape_text(text, sizeof(text), job->outputs[i].type, &job->outputs[i].shape));
        }
    }
    if (all != NULL && !fits)
        cli_note("%s: metadata labels has %u lines, expected as many as an axis of an output has extents", job->in.path,
                 (unsigned)cli_lines(all->value));
}

/* Prints outputs: name, type, shape, where it went, largest values. */
static int cli_put_outputs(const cli_job *job, const cli_args *args, char *const *paths)
{
    uint32_t top = args->top > 0 ? args->top : args->outputDir != NULL ? 0 : 5;
    int status = CLI_DONE;
    cli_labels labels;
    memset(&labels, 0, sizeof(labels));
    if (top > 0)
        cli_note_labels(job);
    for (uint32_t i = 0; status == CLI_DONE && i < job->nOut; i++) {
        const cli_tensor *t = &job->outputs[i];
        const char *name = nnrt_session_output(job->session, i).name;
        char text[CLI_SHAPE_BYTES];
        if (args->json) {
            fputs(i > 0 ? "," : "", stdout);
            cli_json_tensor(name, t->type, &t->shape);
            if (paths[i] != NULL) {
                fputs(",\"file\":", stdout);
                cli_json_text(paths[i]);
            }
        } else {
            cli_put_name(stdout, name);
            printf("  %s", cli_shape_text(text, sizeof(text), t->type, &t->shape));
            fputs(paths[i] != NULL ? "  " : "", stdout);
            cli_put_name(stdout, paths[i] != NULL ? paths[i] : "");
            putchar('\n');
        }
        if (top > 0)
            status = cli_labels_make(&labels, &job->in.metadata, name, &t->shape);
        if (top > 0 && status == CLI_DONE)
            status = cli_put_largest(t, top, &labels, args->json);
        cli_labels_free(&labels);
        fputs(args->json ? "}" : "", stdout);
    }
    return status;
}

static int cli_run_job(cli_job *job, cli_profile *profile, const cli_args *args)
{
    int status = cli_inputs_make(&job->in, args);
    char **paths;
    if (args->profile)
        cli_profile_begin(profile, job, args->trace);
    if (status == CLI_DONE)
        status = cli_inputs_fill(&job->in, args);
    if (status == CLI_DONE)
        status = cli_job_start(job, args);
    if (status != CLI_DONE)
        return status;
    status = cli_profile_run(profile, job);
    paths = (char **)cli_alloc(job->nOut, sizeof(*paths));
    if (status == CLI_DONE && paths == NULL)
        status = CLI_FAILED;
    if (status == CLI_DONE && args->outputDir != NULL)
        status = cli_write_outputs(job, args, paths);
    if (status == CLI_DONE && args->trace != NULL)
        status = cli_profile_write(profile, args->trace);
    if (status == CLI_DONE && args->dumpDir != NULL)
        status = cli_dump(job, args);
    if (status == CLI_DONE && args->json) {
        cli_json_open(args);
        cli_json_session(job);
        cli_json_ms("run_ms", profile->ms);
        fputs(",\"outputs\":[", stdout);
    }
    if (status == CLI_DONE)
        status = cli_put_outputs(job, args, paths);
    if (status == CLI_DONE && args->json)
        putchar(']');
    if (status == CLI_DONE && args->profile)
        status = cli_profile_show(profile, job, args);
    if (status == CLI_DONE && args->json)
        fputs("}\n", stdout);
    for (uint32_t i = 0; paths != NULL && i < job->nOut; i++)
        free(paths[i]);
    free(paths);
    return status;
}

static int cli_run(const cli_args *args)
{
    cli_job job;
    cli_profile profile;
    int status;
    memset(&job, 0, sizeof(job));
    memset(&profile, 0, sizeof(profile));
    status = cli_run_job(&job, &profile, args);
    cli_job_free(&job);
    cli_profile_free(&profile);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>bench */

static int cli_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Three runs that are not counted, then *reps that are (0: chosen by the last of the three). *times is the caller's. */
static int cli_bench_times(cli_job *job, cli_profile *profile, uint32_t *reps, double **times)
{
    cli_progress progress = {"bench", 0, false};
    double start = 0;
    int status = CLI_DONE;
    for (int i = 0; status == CLI_DONE && i < 3; i++) {
        start = cli_now_ms();
        status = cli_job_run(job);
    }
    if (*reps == 0) {
        double fit = 1000 / fmax(cli_now_ms() - start, 1e-3);
        *reps = fit < 10 ? 10 : fit > 10000 ? 10000 : (uint32_t)fit;
    }
    cli_profile_reset(profile);
    *times = status == CLI_DONE ? (double *)cli_alloc(*reps, sizeof(double)) : NULL;
    for (uint32_t i = 0; *times != NULL && status == CLI_DONE && i < *reps; i++) {
        start = profile->ms;
        status = cli_profile_run(profile, job);
        (*times)[i] = profile->ms - start;
        cli_progress_show(&progress, (size_t)i + 1, *reps);
    }
    cli_progress_end(&progress);
    return *times != NULL ? status : CLI_FAILED;
}

/* Prints the figures of sorted times: the median is the mean of the middle two where their number is even, p95 the
   least time that 95 % of the runs do not exceed. */
static int cli_bench_print(const cli_job *job, const cli_profile *profile, const cli_args *args, const double *times,
                           uint32_t reps)
{
    int status = CLI_DONE;
    nnrt_session_memory m = nnrt_session_get_memory(job->session);
    double median = (times[(reps - 1) / 2] + times[reps / 2]) / 2;
    double p95 = times[(uint32_t)(((uint64_t)reps * 95 + 99) / 100) - 1];
    if (args->json) {
        cli_json_open(args);
        cli_json_session(job);
        printf(",\"reps\":%u", (unsigned)reps);
        cli_json_ms("load_ms", job->loadMs);
        cli_json_ms("prepare_ms", job->prepareMs);
        cli_json_ms("min_ms", times[0]);
        cli_json_ms("median_ms", median);
        cli_json_ms("p95_ms", p95);
        printf(",\"arena_bytes\":%.0f,\"weight_bytes\":%.0f", (double)m.arena, (double)m.constants);
        if (args->profile)
            status = cli_profile_show(profile, job, args);
        fputs("}\n", stdout);
        return status;
    }
    printf("device    ");
    cli_put_name(stdout, nnrt_session_device(job->session));
    printf(", %u thread%s\n", (unsigned)cli_threads_used(job), cli_threads_used(job) != 1 ? "s" : "");
    printf("load      %.3f ms\nprepare   %.3f ms\n", job->loadMs, job->prepareMs);
    printf("run       min %.4f ms, median %.4f ms, p95 %.4f ms over %u runs\n", times[0], median, p95, (unsigned)reps);
    printf("arena     %.0f bytes\nconstants %.0f bytes\n", (double)m.arena, (double)m.constants);
    return args->profile ? cli_profile_show(profile, job, args) : status;
}

static int cli_bench(const cli_args *args)
{
    cli_job job;
    cli_profile profile;
    uint32_t reps = args->reps;
    double *times = NULL;
    int status;
    memset(&job, 0, sizeof(job));
    memset(&profile, 0, sizeof(profile));
    if (args->profile)
        cli_profile_begin(&profile, &job, args->trace);
    status = cli_inputs_make(&job.in, args);
    if (status == CLI_DONE)
        status = cli_inputs_random(&job.in, args);
    if (status == CLI_DONE)
        status = cli_job_start(&job, args);
    if (status == CLI_DONE)
        status = cli_bench_times(&job, &profile, &reps, &times);
    if (status == CLI_DONE && args->trace != NULL)
        status = cli_profile_write(&profile, args->trace);
    if (status == CLI_DONE) {
        qsort(times, reps, sizeof(double), cli_compare_doubles);
        status = cli_bench_print(&job, &profile, args, times, reps);
    }
    free(times);
    cli_job_free(&job);
    cli_profile_free(&profile);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tables */

/* Prepares the model for the device that was asked for; *places: where its nodes are. */
static int cli_dot_places(cli_job *job, const cli_args *args, nnrt_placement **places)
{
    cli_args own = *args;
    int status;
    own.placement = true;
    if ((status = cli_job_prepare(job, &own)) != CLI_DONE)
        return status;
    cli_places_settle(&job->places, nnrt_session_device(job->session));
    *places = (nnrt_placement *)cli_alloc(job->model->nodes.count, sizeof(**places));
    for (uint32_t i = 0; i < job->model->nodes.count && *places != NULL; i++) {
        const cli_place *p = i < job->places.count ? &job->places.data[i] : NULL;
        (*places)[i].node = i;
        (*places)[i].device = p != NULL ? p->device : "";
        (*places)[i].part = p != NULL ? p->part : NNRT_NO_TENSOR;
        (*places)[i].reason = p != NULL ? p->reason : "";
    }
    return *places != NULL ? CLI_DONE : CLI_FAILED;
}

static int cli_dot(const cli_args *args)
{
    const bool placed = args->device != NULL || args->strict || args->keep != NULL || args->smallest > 0;
    cli_job job;
    nnrt_placement *places = NULL;
    char *text = NULL;
    size_t length;
    cli_out out;
    int status;
    memset(&job, 0, sizeof(job));
    status = cli_inputs_make(&job.in, args);
    if (status == CLI_DONE)
        status = placed ? cli_inputs_settle(&job.in, args) : cli_inputs_apply_shapes(&job.in, args);
    if (status == CLI_DONE)
        status = cli_job_load(&job, args);
    if (status == CLI_DONE && placed)
        status = cli_dot_places(&job, args, &places);
    if (status == CLI_DONE) {
        length = nnrt_model_dot_placed(job.model, places, NULL, 0);
        text = (char *)cli_alloc(length + 1, 1);
        status = text != NULL ? CLI_DONE : CLI_FAILED;
        if (text != NULL && nnrt_model_dot_placed(job.model, places, text, length + 1) != length)
            status = cli_fail("cannot describe %s: out of memory", args->model);
    }
    if (status == CLI_DONE)
        status = cli_out_open(&out, args->output != NULL ? args->output : "-", true);
    if (status == CLI_DONE)
        status = cli_out_close(&out, fputs(text, out.f) >= 0);
    free(text);
    free(places);
    cli_job_free(&job);
    return status;
}

/* What one operator of ONNX becomes. */
static void cli_ops_onnx_row(const nnrt_onnx_about *a, const cli_args *args, bool first)
{
    const bool alone = *a->becomes != '\0', several = *a->with != '\0';
    if (args->json) {
        printf("%s{\"name\":\"%s\",\"sets\":[%d,%d],\"becomes\":", first ? "" : ",", a->name, (int)a->least,
               (int)a->most);
        cli_json_text(a->becomes);
        fputs(",\"with\":", stdout);
        cli_json_text(a->with);
        fputs(",\"why\":", stdout);
        cli_json_text(a->why);
        putchar('}');
    } else if (args->tsv) {
        printf("%s\t%d\t%d\t%s\t%s\t%s\n", a->name, (int)a->least, (int)a->most, a->becomes, a->with, a->why);
    } else if (a->most == 0) {
        printf("%-34s  left out: %s\n", a->name, a->why);
    } else {
        printf("%-26s %2d-%2d   %s%s%s%s", a->name, (int)a->least, (int)a->most, a->becomes,
               several && alone ? ", with "
               : several        ? "made of "
                                : "",
               a->with, *a->why != '\0' && alone ? ": " : "");
        printf(!alone && several ? ": %s\n" : "%s\n", a->why);
    }
}

static int cli_ops_onnx(const cli_args *args)
{
    nnrt_onnx_about about;
    fputs(args->json ? "{\"operators\":[" : "", stdout);
    for (uint32_t i = 0; nnrt_onnx_operator(i, &about); i++)
        cli_ops_onnx_row(&about, args, i == 0);
    fputs(args->json ? "]}\n" : "", stdout);
    return CLI_DONE;
}

/* The end of an operator's row of JSON. */
static void cli_ops_kernels(const nnrt_op *op)
{
    fputs("],\"kernels\":[", stdout);
    for (uint32_t i = 0; i < op->kernelCount; i++)
        printf("%s\"%s\"", i > 0 ? "," : "", op->kernels[i].name);
    printf("],\"since\":%u}", (unsigned)op->since);
}

static int cli_ops(const cli_args *args)
{
    const nnrt_op *op;
    if (args->onnx && (args->copy != NULL || args->header != NULL))
        return cli_usage("ops: --onnx lists operators of ONNX, %s does not go with it",
                         args->copy != NULL ? "--copy" : "--header");
    if (args->onnx)
        return cli_ops_onnx(args);
    if (args->copy == NULL && args->header != NULL)
        return cli_usage("ops: --header is for --copy NAME");
    if (args->copy != NULL && (args->json || args->tsv))
        return cli_usage("ops: --copy prints C, %s does not go with it", args->json ? "--json" : "--tsv");
    if (args->copy != NULL)
        return cli_copy_run(args);
    if (args->json)
        fputs("{\"operators\":[", stdout);
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++) {
        if (args->json)
            printf("%s{\"name\":\"%s\",\"number\":%d,\"types\":[", i > 0 ? "," : "", op->name, (int)op->type);
        else
            printf(args->tsv ? "%s\t%d\t" : "%-24s %3d  ", op->name, (int)op->type);
        cli_put_types(nnrt_op_types(op), args->json ? "\"" : "");
        if (args->json)
            cli_ops_kernels(op);
        else if (args->tsv)
            printf("\t%u\n", (unsigned)op->since);
        else
            printf(op->since > 0 ? "  HDI %u.%u\n" : "\n", (unsigned)op->since / 10, (unsigned)op->since % 10);
    }
    if (args->json)
        fputs("]}\n", stdout);
    return CLI_DONE;
}

/* Name of a value in one of the enumerations of the library, "GPU". */
#define CLI_ENUM_NAME(prefix, name, value)                                                                             \
    case value: return #name;
static const char *cli_device_type(NNRT_DeviceType type)
{
    switch (type) {
        NNRT_ENUM_DeviceType(CLI_ENUM_NAME) default : return "OTHER";
    }
}

static const char *cli_device_status(NNRT_DeviceStatus status)
{
    switch (status) {
        NNRT_ENUM_DeviceStatus(CLI_ENUM_NAME) default : return "UNKNOWN";
    }
}

static int cli_devices(const cli_args *args)
{
    fputs(args->json ? "{\"devices\":[" : "", stdout);
    for (uint32_t i = 0; i < nnrt_device_count(); i++) {
        const nnrt_device *d = nnrt_device_at(i);
        const char *type = cli_device_type(nnrt_device_type(d)), *status = cli_device_status(nnrt_device_status(d));
        if (args->json) {
            fputs(i > 0 ? ",{\"name\":" : "{\"name\":", stdout);
            cli_json_text(nnrt_device_name(d));
            fputs(",\"unique_name\":", stdout);
            cli_json_text(nnrt_device_unique_name(d));
            fputs(",\"vendor\":", stdout);
            cli_json_text(nnrt_device_vendor(d));
            printf(",\"type\":\"%s\",\"status\":\"%s\"}", type, status);
        } else {
            cli_put_name(stdout, nnrt_device_name(d));
            fputs("  ", stdout);
            cli_put_name(stdout, nnrt_device_vendor(d));
            printf("  %s  %s\n", type, status);
        }
    }
    if (args->json)
        printf("],\"same_bits\":%s}\n", nnrt_same_bits() ? "true" : "false");
    else
        puts(nnrt_same_bits()
                 ? "the reference device gives the same bits here as everywhere"
                 : "the reference device may give other bits here than elsewhere: nnrt was compiled with fast\n"
                   "math or excess precision, or the processor's rounding mode or subnormal numbers are off");
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>main */

static const char cli_info_text[] =
    "Inputs are shown as the file declares them, ? for an open extent; all else is what a session on the\n"
    "chosen device has when open extents are those of --shape, or 1; with --max they stay open, and memory\n"
    "is that for the largest.\n"
    "opsets: the operator sets of an ONNX file. parameters: elements of all constants, by type.\n"
    "MACs: multiply-accumulates of convolutions, matrix products, EINSUM, attention and recurrent layers for these\n"
    "extents: one for each pair that is multiplied, padding included, bodies of LOOP once.\n"
    "arena: room for the values between nodes; its lower bound is the most that lives at one moment.\n"
    "keep: what to compile with so that only these operators are there in a program that loads the model.\n"
    "session: all that nnrt_session_create allocates; parameters are used where they lie. Also the metadata, and the sections of a .nnrt file.\n"
    "--memory: where the reference device keeps every value in the arena, in bytes from its begin, and from\n"
    "which step to which; then what is taken while each step runs. Inputs and outputs lie with the caller.\n"
    "--placement: a line a node: number, name, operator, device, part (nodes that are prepared together), and\n"
    "why the preferred device does not have it.\n\n";

static const char cli_run_text[] =
    "Every input needs a value. NAME= may be left out when there is one input; --input random without\n"
    "a name serves all that have no other value. Files of floats are rounded to the input's float type,\n"
    "integers take its integer type when they fit; both are noted. Extents that the model leaves open\n"
    "come from the files or from --shape, else they are 1. Where an operator must know a parameter (axes,\n"
    "sizes) when it is planned, values of at most 64 elements from files become constants; it is noted.\n"
    "With --max the session is made for all extents up to these, once, and a run brings its own.\n\n"
    "Images are resized to the input's height and width: bilinear, averaging where they shrink. Then\n"
    "value = (pixel - mean) * scale, pixel 0 to 255. Default: pixel / 255 for floats, pixel - 128 for\n"
    "int8, the pixel itself for other types. torchvision's mean 0.485 and std 0.229, which it takes of\n"
    "pixel / 255, are --mean 123.675 --std 58.395 here. Where these options say nothing, the metadata of\n"
    "the model do (see nnrt convert --help); labels among those stand behind the values. EXIF rotation is ignored, and "
    "so is alpha\n"
    "unless the input has 4 channels.\n\n"
    "random is SplitMix64, started with SEED (default 0) + 2^32 * the input's number, one step an\n"
    "element, of which the top bits are taken: floats in [-1, 1), integers 0 to 7, bool 0 or 1. The\n"
    "values are the same on every machine.\n\n"
    "--profile shows the steps in the order in which they ended: the time of each in microseconds, without that\n"
    "of steps inside it (IF, LOOP), its share, and the bytes of its inputs and results; then the sums by\n"
    "operator. chrome://tracing and Perfetto show the file. nnrt bench takes the mean of many runs.\n\n"
    "Output files are NAME.npy with '_' for what file names cannot have, such as / and :. Names that\n"
    "are then the same get _2, _3, ...\n\n";

static const char cli_check_text[] =
    "A set is a folder with input_0.pb, ... and output_0.pb, ..., or .npy; they belong to the input or output\n"
    "that their tensor names, else to that number. --input and --expected name the files of one set. A float is right when\n"
    "|got - expected| <= A + R * |expected|, or both are NaN or the same infinity; integers and bools\n"
    "must be equal. The exit status is 1 when a set is wrong.\n\n";

static const char cli_compare_text[] =
    "Runs the model on both devices, then once more on both with all results of the nodes as outputs, and names\n"
    "the first node, in the order in which they run, whose result is not the same: the first element that differs\n"
    "with both values, the largest difference, and the largest relative to the first device. Values are the same\n"
    "when |b - a| <= A + R * |a|, or both are NaN or the same infinity. R and A are --rtol and --atol, else of float16\n"
    "1e-2 and 1e-3, of float32 1e-4 and 1e-5, of float64 1e-7 and 1e-7; quantized values may differ by 1 unit (--atol);\n"
    "other integers and bools must be equal. --rtol 0 --atol 0 compares bits. Nodes of subgraphs are looked at with the node that runs them. Inputs are those of nnrt run; without any, random ones.\n"
    "One --device is compared with reference. The exit status is 1 when something differs.\n\n";

static const char cli_report_text[] =
    "The page needs nothing but itself: inputs and outputs, the graph, colored by operator and framed by device,\n"
    "the time of every step and operator, and what lies where in the arena of the reference device from step to\n"
    "step. Inputs are those of nnrt run; without any, random ones. Nodes of subgraphs are not drawn, and there is no\n"
    "picture of the memory of models that have some.\n\n";

static const char cli_convert_text[] =
    "IN is an ONNX or a .nnrt file. A .nnrt file is used where it lies, in a memory map or in flash; its\n"
    "weights are not copied, and what the importer does has been done. OUT appears when all of it is\n"
    "written; it is a regular file and not one that is read.\n\n"
    "OUT has the metadata of IN (metadata_props of an ONNX file), then what --labels and --meta say. nnrt\n"
    "run uses these; its options stand above them:\n"
    "  labels, labels.OUTPUT         names of the classes, one a line, of all outputs or of one\n"
    "  input.NAME.mean, .scale       images: value = (pixel - mean) * scale: one number or one a channel\n"
    "  input.NAME.std                a divisor in the place of scale\n"
    "  input.NAME.color              rgb, bgr or gray\n"
    "  input.NAME.invert             yes: 255 - pixel in the pixel's place; no\n"
    "  input.NAME.layout             nchw or nhwc\n"
    "Texts for people: description, license, source. Other keys are kept as they are.\n\n";

static const char cli_compile_text[] =
    "The file is that of nnrt convert, and has beside the model what the device made of it (a section of the device's\n"
    "name, which nnrt info shows), or of the parts that auto gives to devices. A session on that device takes it from\n"
    "there and does not compile. Where the device is another one, or of another version, or the options or extents\n"
    "differ, the section is left alone, and the model prepared as always. Extents that an ONNX file leaves open are those\n"
    "of --shape, or 1, in the file as well; those of a .nnrt file stay open, and what is compiled is for --shape.\n"
    "Of the devices that are built in, cpu has the weights there that it packed, for the instructions of this machine, and\n"
    "reference has no model cache; those of --load, or fake:cache=yes, may have one.\n\n";

static const char cli_emit_text_help[] =
    "The file has the model as constant data, planned for an arena whose size it states: include it behind\n"
    "nnrt.h, and NAME_run runs it. No file, no heap, and only the kernels it needs are linked. NAME_selftest\n"
    "compares the results for one input, --input or random values, with those of this machine. With --golden it\n"
    "also compares checksums of the results of all nodes, and NAME_selftest_node names the first that differs.\n"
    "Subgraphs (IF, LOOP) are written, too; a model whose extents or shapes only a run tells is refused.\n\n";

static const char cli_ops_text[] =
    "--onnx lists the operators of ONNX that are read: the operator sets, first and last, the operator that each\n"
    "becomes, one of several where they are separated by spaces; with what others and why; or of what it is made.\n"
    "Behind them those that are left out, and why. What computes with open extents is not listed.\n"
    "--copy NAME prints all that the kernels of one operator need (CONV2D_FUSION, in any case and as ONNX, TensorFlow\n"
    "Lite and papers call it: Conv, DepthwiseConv2D, NMS), or one kernel (nnrt_softmax_f32): types, attribute struct, views,\n"
    "helpers, licence, how derived constants are made, a comment that says how it is called, and for most operators a main()\n"
    "that calls it (NNRT_EXAMPLE). It is taken from nnrt_ops.h, looked for beside this program, in the current folder, in the folder above the\n"
    "program's, and in ../include/nnrt from there, where make install puts it.\n\n";

static const char cli_serve_text[] =
    "Another process uses the device with --device remote:PATH. Models and tensors lie in memory that both share. When the\n"
    "server listens it prints a line; SIGTERM and SIGINT end it when the runs that have begun are done, and remove the\n"
    "socket's file. Only Linux has this.\n\n";

static const cli_command cli_commands[] = {
    {"info", "MODEL", "Shows inputs, outputs, nodes of each operator, and the memory a model takes.", cli_info_text,
     "nnrt info examples/digits/digits.onnx", CLI_INFO, cli_info},
    {"run", "MODEL", "Runs a model once and shows or writes its outputs.", cli_run_text,
     "nnrt run examples/digits/digits.onnx --input examples/digits/digit_7.png --top 1", CLI_RUN, cli_run},
    {"bench", "MODEL", "Times loading, preparing and running a model on random inputs.",
     "The inputs are those of --input random. Three runs go first and are not counted. --profile shows means of\n"
     "the counted runs, which it makes longer by two looks at the clock a step.\n\n",
     "nnrt bench examples/digits/digits.onnx --device reference --json", CLI_BENCH, cli_bench},
    {"check", "MODEL", "Runs a model on test data and compares its outputs.", cli_check_text,
     "nnrt check model.onnx --input x=x.npy --expected y=y.npy --rtol 1e-4", CLI_CHECK, cli_check},
    {"compare", "MODEL", "Runs a model on two devices and names the first node whose result differs.",
     cli_compare_text, "nnrt compare examples/digits/digits.onnx --device reference --device auto", CLI_COMPARE,
     cli_compare_devices},
    {"report", "MODEL", "Writes a page of HTML about a model: graph, time, memory.", cli_report_text,
     "nnrt report examples/digits/digits.onnx -o digits.html", CLI_REPORT, cli_report_make},
    {"convert", "IN OUT.nnrt", "Writes a model as a .nnrt file.", cli_convert_text,
     "nnrt convert examples/digits/digits.onnx digits.nnrt --meta license=MIT --meta input.image.color=gray",
     CLI_CONVERT, cli_convert},
    {"compile", "MODEL", "Writes a .nnrt file that loads without compiling on a device.", cli_compile_text,
     "nnrt compile examples/digits/digits.onnx --device fake:cache=yes -o digits.nnrt", CLI_COMPILE, cli_compile},
    {"emit-c", "MODEL", "Writes a model as C: constant data that runs without files and heap.", cli_emit_text_help,
     "nnrt emit-c examples/digits/digits.onnx -o digits_model.h --name digits --input examples/digits/digit_7.png",
     CLI_EMIT, cli_emit_c},
    {"dot", "MODEL", "Writes a model as a Graphviz graph.", "",
     "nnrt dot examples/digits/digits.onnx -o digits.dot && dot -Tsvg digits.dot -o digits.svg", CLI_DOT, cli_dot},
    {"ops", "", "Lists the operators: name, number, element types of input 0; or prints one as C.", cli_ops_text,
     "nnrt ops --copy SOFTMAX > softmax.c", CLI_OPS, cli_ops},
    {"devices", "", "Lists the devices: name, vendor, type, status.", "", "nnrt devices --device fake:name=npu0 --json", CLI_DEVICES,
     cli_devices},
    {"serve", "", "Serves a device to other processes, at a socket.", cli_serve_text,
     "nnrt serve --socket /run/npu.sock --device fake: --limits clients=4", CLI_SERVE, cli_serve},
};

#define CLI_COMMANDS (sizeof(cli_commands) / sizeof(cli_commands[0]))

static void cli_help(void)
{
    printf("nnrt %s - runs neural networks\n\nusage: nnrt COMMAND [arguments]\n\ncommands:\n", nnrt_version());
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        printf("  %-8s %-11s %s\n", cli_commands[i].name, cli_commands[i].operands, cli_commands[i].what);
    printf("\n'nnrt COMMAND --help' tells the options of a command. 'nnrt --version' prints the version.\n"
           "MODEL is an ONNX or a .nnrt file, - standard input. Results go to standard output, messages to standard "
           "error.\n"
           "Exit status: 0 done, 1 failed, 2 wrong usage.\n\n"
           "example:\n  nnrt run examples/digits/digits.onnx --input examples/digits/digit_7.png\n");
}

/* Runs the command that argv names. */
static int cli_main(int argc, char **argv)
{
    cli_args args;
    int status;
    if (argc < 2)
        return cli_usage("which command? 'nnrt --help' lists them");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_help();
        return argc == 2 ? CLI_DONE : cli_usage("--help: what is '%s' for?", argv[2]);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("nnrt %s\n", nnrt_version());
        return argc == 2 ? CLI_DONE : cli_usage("--version: what is '%s' for?", argv[2]);
    }
    for (size_t i = 0; i < CLI_COMMANDS; i++) {
        if (strcmp(argv[1], cli_commands[i].name) != 0)
            continue;
        status = cli_parse(&cli_commands[i], &args, argc - 2, argv + 2);
        args.program = argv[0];
        if (status == CLI_DONE && args.help)
            cli_help_command(&cli_commands[i]);
        else if (status == CLI_DONE)
            status = cli_commands[i].run(&args);
        return status;
    }
    return cli_usage("there is no command '%s'; 'nnrt --help' lists them", argv[1]);
}

/* What cannot be written counts as failed: a full disk must not look like success. */
int main(int argc, char **argv)
{
    int status = cli_main(argc, argv);
    for (uint32_t i = nnrt_device_count(); i-- > 0;)
        (void)nnrt_device_unregister(nnrt_device_unique_name(nnrt_device_at(i))); /* those of --load */
    cli_stream_free();
    cli_read_files_free();
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == CLI_DONE)
        status = cli_fail("cannot write to standard output: %s", strerror(errno));
    return status;
}
