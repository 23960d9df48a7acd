/*
nnrt.c - the command line of nnrt: inspect a model, run it, time it, check it against ONNX test data.

    cc -std=c99 -O2 -I. tools/nnrt.c -o build/nnrt -lm

It uses the public functions of nnrt.h, formats/nnrt_onnx.h, devices/ and compat/nnrt_nnadapter_driver.h only, and
stb_image (libstb-dev) to read PNG images. Parts: text.h messages, JSON, progress; tensor.h values; npy.h tensor files;
image.h images; wav.h sounds; args.h arguments; quantize.h, quantize_report.h, qdq.h, accuracy.h 8-bit models, classifiers; batch.h, batch_folder.h many samples; csv.h tables; meta.h metadata; inputs.h model inputs; place.h placement; job.h sessions; map.h
memory maps; profile.h times of steps; check.h test data; compare.h two devices; report.h HTML report of a model; emit.h
models as C; emit_wasm.h models as WebAssembly; frontend.h front ends as C; copy.h operators as C, specialized by fold.h;
serve.h a device for other processes. Exit status: 0 done, 1 failed, 2 wrong usage.
Results go to standard output, everything else to standard error.

    >>info     inputs, outputs, nodes and memory of a model
    >>convert  .nnrt files, their metadata
    >>compile  .nnrt files with the prepared model of a device
    >>emit     models as C
    >>run      one run with given inputs
    >>bench    timing
    >>tables   drawings, operators, devices
    >>main     help texts, the table of commands
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
#include "../formats/nnrt_tflite.h"

#include <sys/stat.h>
#include <sys/types.h>

#include "accuracy.h"
#include "batch.h"
#include "check.h"
#include "compare.h"
#include "copy.h"
#include "cost.h"
#include "emit.h"
#include "frontend.h"
#include "map.h"
#include "profile.h"
#include "quantize.h"
#include "report.h"
#include "serve.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>info */

/* Prints an input as declared in the file, with dynamic dimensions, or an output of the session. most: upper bounds, if
   dimensions stay dynamic in the session; NULL: they do not. */
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

/* Format of input i, looked up by its name; the session may have fewer inputs than the file. */
static NNRT_Format cli_input_format(const nnrt_session *session, const char *name, uint32_t i)
{
    const uint32_t count = nnrt_session_inputs(session);
    for (uint32_t k = 0; k < count; k++) {
        nnrt_io_info info = nnrt_session_input(session, (i + count - k % count) % count); /* usually at i, or before */
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

/* Prints the number of nodes of each operator, in the order of the operators' numbers. */
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

/* map: NULL if not requested. */
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

/* Prints a metadata value for people: of several lines the number and the first five. */
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

/* Elements and bytes of all constants, by type. */
static void cli_info_parameters(const NNRT_Model *m, bool json)
{
    double all = 0;
    bool first = true;
    for (int pass = 0; pass < 2; pass++) { /* the sum precedes its parts */
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

/* Prints producer and operator sets of an ONNX file. */
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

/* Prints multiply-accumulates, and the macros that restrict a program that loads this model to the operators and types
   it needs. */
static void cli_info_look(const cli_job *job, bool json)
{
    const NNRT_Model *m = job->model;
    const cli_work work = cli_work_of(job);
    printf(json ? ",\"macs\":%.0f" : "MACs        %.0f in a run\n", work.macs);
    printf(json                        ? ",\"cortex_m4\":%.0f"
           : work.instructions >= 10e6 ? "cortex-m4   about %.0f million instructions in a run\n"
                                       : "cortex-m4   about %.2g million instructions in a run\n",
           json ? work.instructions : work.instructions / 1e6);
    fputs(json ? ",\"keep\":\"-DNNRT_SELECT" : "keep        -DNNRT_SELECT", stdout);
    for (uint32_t k = 0; nnrt_op_at(k) != NULL; k++)
        for (uint32_t i = 0; i < m->nodes.count; i++)
            if (nnrt_op_at(k)->type > 0 && m->nodes.data[i].nodeType == nnrt_op_at(k)->type) {
                printf(" -DNNRT_KEEP_%s=1", nnrt_op_at(k)->name);
                break;
            }
    printf(json ? " -DNNRT_KEEP_TYPES=0x%xu\"" : " -DNNRT_KEEP_TYPES=0x%xu\n", (unsigned)work.types);
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

/* Prints an input or output of a plan for firmware. */
static void cli_info_plan_io(const nnrt_mcu_program *program, const nnrt_mcu_io *io, const char *what)
{
    char shape[CLI_SHAPE_BYTES];
    nnrt_dims dims;
    memset(&dims, 0, sizeof(dims));
    dims.rank = io->rank < NNRT_MAX_RANK ? io->rank : NNRT_MAX_RANK;
    memcpy(dims.dims, io->dims, (size_t)dims.rank * sizeof(dims.dims[0]));
    printf("%-11s ", what);
    cli_put_name(stdout, nnrt_mcu_text(program, io->name));
    printf("  %s%s", cli_shape_text(shape, sizeof(shape), io->dataType, &dims),
           io->format == NNRT_FORMAT_NCHW   ? "  NCHW"
           : io->format == NNRT_FORMAT_NHWC ? "  NHWC"
                                            : "");
    if (io->scale > 0)
        printf("  scale %.9g, zero point %d", io->scale, (int)io->zeroPoint);
    putchar('\n');
}

/* Prints a plan for firmware, and its kernels as the row of their table. */
static void cli_info_plan(const nnrt_mcu_program *program, size_t bytes, const cli_args *args)
{
    const nnrt_mcu_info info = nnrt_mcu_get_info(program);
    uint32_t kernels[256];
    uint32_t used = nnrt_mcu_used(program, kernels, 256);
    used = used < 256 ? used : 256;
    if (args->json) {
        cli_json_open(args);
        fputs(",\"name\":", stdout);
        cli_json_text(info.name);
        fputs(",\"target\":", stdout);
        cli_json_text(info.target);
        printf(",\"steps\":%u,\"arena\":%u,\"views\":%u,\"bytes\":%.0f,\"kernels\":[", (unsigned)info.steps,
               (unsigned)info.arenaBytes, (unsigned)info.views, (double)bytes);
        for (uint32_t i = 0; i < used; i++)
            printf("%s\"%s\"", i > 0 ? "," : "", nnrt_mcu_kernel_name(kernels[i]));
        fputs("]}\n", stdout);
        return;
    }
    printf("model       ");
    cli_put_name(stdout, info.name);
    putchar('\n');
    for (uint32_t i = 0; i < info.inputs; i++)
        cli_info_plan_io(program, nnrt_mcu_input(program, i), "input");
    for (uint32_t i = 0; i < info.outputs; i++)
        cli_info_plan_io(program, nnrt_mcu_output(program, i), "output");
    printf("plan        for firmware on ");
    cli_put_name(stdout, info.target);
    printf(", %u steps, arena %u bytes, %u views, file %.0f bytes\nkernels     static const nnrt_mcu_row rows[] = {",
           (unsigned)info.steps, (unsigned)info.arenaBytes, (unsigned)info.views, (double)bytes);
    for (uint32_t i = 0; i < used; i++)
        printf("%sNNRT_MCU_LINK(%s)", i > 0 ? ", " : "", nnrt_mcu_kernel_name(kernels[i]));
    fputs("};\n", stdout);
}

/* Prints the file if it is a plan for firmware; *found: whether it is one. */
static int cli_info_find_plan(const cli_args *args, bool *found)
{
    uint8_t head[128];
    nnrt_mcu_program program;
    cli_bytes file;
    NNRT_ReturnCode code;
    FILE *f = strcmp(args->model, "-") != 0 ? fopen(args->model, "rb") : NULL;
    *found = f != NULL && fread(head, 1, sizeof(head), f) == sizeof(head) && nnrt_mcu_is(head, sizeof(head));
    if (f != NULL)
        fclose(f);
    if (!*found)
        return CLI_DONE;
    if (cli_read_file(args->model, &file) != CLI_DONE)
        return CLI_FAILED;
    code = nnrt_mcu_open(&program, file.data, file.size, nnrt_mcu_all());
    if (code == NNRT_SUCCESS)
        cli_info_plan(&program, file.size, args);
    else
        (void)cli_fail("cannot open the plan %s: %s", args->model,
                       code == NNRT_NOT_SUPPORT      ? "its layout is of another version of nnrt"
                       : code == NNRT_UNSUPPORTED_OP ? "it has a kernel of a later version of nnrt"
                                                     : "the file is damaged");
    free(file.data);
    return code == NNRT_SUCCESS ? CLI_DONE : CLI_FAILED;
}

static int cli_info(const cli_args *args)
{
    cli_job job;
    bool plan = false;
    int status = cli_info_find_plan(args, &plan);
    cli_map map;
    if (plan || status != CLI_DONE)
        return status;
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

/* Creates a session to get the shapes of the outputs, which the model itself may not have. No session if an input has
   dynamic dimensions or the device cannot run the model: labels are then checked in runs. */
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
        desc.inputDims = nnrt_dims_list_make(job->in.shapes, job->in.count + job->in.states);
    if (!open && job->session == NULL)
        (void)nnrt_session_create(&job->session, job->model, &desc, NULL);
}

/* Checks that labels match the size of an axis of their output, or of any output. */
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
        snprintf(want, sizeof(want), "as many lines as the size of an axis of the output, not %u", (unsigned)n);
    else
        snprintf(want, sizeof(want), "an output, one of %s, after labels.", names);
    return cli_metadata_fail(path, e, want);
}

/* Checks that "input.NAME.KEY" names an input and a key that nnrt run supports. */
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
        snprintf(want, sizeof(want), "an input, one of %s, after input.",
                 cli_inputs_text(&job->in, false, 0, names, sizeof(names)));
    else
        snprintf(want, sizeof(want), "%s",
                 *fault != '\0' ? fault : "mean, scale, std, color, layout, invert or quantize after the input");
    return cli_metadata_fail(path, e, want);
}

/* --state: adds lines to the states. Then moves all states behind the other inputs and outputs of the model. */
static int cli_convert_states(cli_job *job, const cli_args *args)
{
    nnrt_metadata states = {"states", NULL};
    nnrt_error error;
    int status = CLI_DONE;
    for (uint32_t i = 0; status == CLI_DONE && i < args->stateCount; i++) {
        const char *const old = cli_states(&job->in);
        const size_t room = (old != NULL ? strlen(old) + 1 : 0) + strlen(args->states[i]) + 1;
        char *text = (char *)cli_alloc(room, 1);
        if (text == NULL)
            return CLI_FAILED;
        snprintf(text, room, "%s%s%s", old != NULL ? old : "", old != NULL ? "\n" : "", args->states[i]);
        status = cli_metadata_set(&job->in.metadata, "states", 6, text, strlen(text));
        free(text);
    }
    states.value = cli_states(&job->in);
    if (status != CLI_DONE || states.value == NULL)
        return status;
    return nnrt_model_annotate(&job->model, &states, 1, &error) == NNRT_SUCCESS
               ? CLI_DONE
               : cli_fail("cannot convert %s: %s", args->model, error.message);
}

/* Metadata of the new file: those of the old file, overridden by --labels, then by --meta. All metadata that nnrt run
   would use are checked. */
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
    if (status == CLI_DONE)
        status = cli_convert_states(job, args);
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

/* Prints the name and the size of the file that was written; kind: ", a plan for firmware", or nothing. */
static int cli_put_written(const cli_args *args, size_t bytes, const char *kind)
{
    if (args->json) {
        cli_json_open(args);
        fputs(",\"file\":", stdout);
        cli_json_text(args->output);
        printf(",\"bytes\":%.0f}\n", (double)bytes);
    } else {
        cli_put_name(stdout, args->output);
        printf("  %.0f bytes%s\n", (double)bytes, kind);
    }
    return CLI_DONE;
}

/* Writes the loaded model, and prints the size of the file. */
static int cli_convert_save(const cli_job *job, const cli_args *args)
{
    cli_progress progress = cli_progress_of("convert");
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
        return cli_fail("cannot write -: a .nnrt file cannot be written to standard output; ./- is a file of that "
                        "name");
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
    return cli_put_written(args, bytes, "");
}

/* --int8-io: stores that images for inputs that were float32 are quantized. */
static int cli_convert_quantize(cli_job *job)
{
    int status = CLI_DONE;
    for (uint32_t i = 0; i < job->in.count && status == CLI_DONE; i++) {
        const cli_input *in = &job->in.data[i];
        const uint32_t t = nnrt_model_tensor(job->model, in->name);
        const size_t room = strlen(in->name) + sizeof("input..quantize");
        char *key;
        if (in->type != NNRT_DATA_TYPE_FLOAT32 || t == NNRT_NO_TENSOR ||
            job->model->allTensors.data[t].dataType == in->type)
            continue;
        if ((key = (char *)cli_alloc(room, 1)) == NULL)
            return CLI_FAILED;
        snprintf(key, room, "input.%s.quantize", in->name);
        status = cli_metadata_set(&job->in.metadata, key, room - 1, "yes", 3);
        free(key);
    }
    return status;
}

/* Loads the model. A .nnrt file is optimized here; an ONNX file was optimized by the importer. */
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
        nnrt_model_optimize(&job->model, &optimize, &error) != NNRT_SUCCESS)
        status = cli_fail("cannot convert %s: %s", args->model, error.message);
    return status == CLI_DONE && args->int8Io ? cli_convert_quantize(job) : status;
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
        status = cli_usage("convert: --shape is for ONNX files; a .nnrt file keeps its dynamic dimensions");
    if (status == CLI_DONE)
        status = cli_convert_metadata(&job, args);
    if (status == CLI_DONE)
        status = cli_convert_save(&job, args);
    cli_job_free(&job);
    return status;
}

/* Writes a quantized model as convert does. */
static int cli_quantize_save(cli_job *job, const cli_args *args)
{
    nnrt_error error;
    int status = CLI_DONE;
    memset(&error, 0, sizeof(error));
    if (args->int8Io && cli_job_integer_io(job, args, &error) != NNRT_SUCCESS)
        status = cli_fail("%s: %s", args->model, error.message);
    if (status == CLI_DONE && args->int8Io)
        status = cli_convert_quantize(job);
    if (status == CLI_DONE)
        status = cli_convert_metadata(job, args);
    return status == CLI_DONE ? cli_convert_save(job, args) : status;
}

static int cli_quantize(const cli_args *args)
{
    cli_job job;
    cli_notes notes;
    size_t written = 0;
    int status;
    memset(&job, 0, sizeof(job));
    memset(&notes, 0, sizeof(notes));
    cli_return_blocks();
    nnrt_memory_allocate(&notes.memory, NULL);
    status = args->weightBits > 0 || args->dynamicCodes ? cli_quantize_weights(&job, args) : cli_quantize_job(&job, args, &notes, &written);
    if (status == CLI_DONE)
        status = written > 0 ? cli_put_written(args, written, "") : cli_quantize_save(&job, args);
    if (status == CLI_DONE && args->report != NULL)
        status = cli_quantize_report_end(&job, args, &notes);
    nnrt_memory_end(&notes.memory);
    cli_job_free(&job);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>compile */

/* Writes a file, and prints its size. */
static int cli_compile_write(const void *data, size_t bytes, const cli_args *args)
{
    cli_out out;
    int status;
    if (strcmp(args->output, "-") == 0)
        return cli_fail("cannot write -: a .nnrt file cannot be written to standard output; ./- is a file of that "
                        "name");
    status = cli_out_open(&out, args->output, false);
    if (status == CLI_DONE)
        status = cli_out_close(&out, fwrite(data, 1, bytes, out.f) == bytes);
    if (status != CLI_DONE)
        return status;
    return cli_put_written(args, bytes, ", a plan for firmware");
}

/* Compiles for firmware: prepares the model on mcu:TARGET, and writes the plan instead of the model. */
static int cli_compile_plan(const cli_job *job, const cli_args *args)
{
    NNRT_ModelConfig config;
    NNRT_PreparedModel *prepared = NULL;
    nnrt_error error;
    NNRT_ReturnCode code;
    void *data = NULL;
    size_t bytes = 0;
    int status = CLI_FAILED;
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    config.error = &error;
    config.arenaAlignment = 8;
    config.callerWorkspace = true;
    if (job->fromNnrt)
        config.inputDims = nnrt_dims_list_make(job->in.shapes, job->in.count + job->in.states);
    code = nnrt_device_prepare(nnrt_device_find(args->device), job->model, &config, &prepared);
    if (code == NNRT_SUCCESS)
        code = nnrt_mcu_save_memory(prepared, job->model, args->device + strlen("mcu:"), NULL, 0, &bytes, &error);
    if (code == NNRT_SUCCESS && (data = cli_alloc(bytes, 1)) != NULL)
        code = nnrt_mcu_save_memory(prepared, job->model, args->device + strlen("mcu:"), data, bytes, &bytes, &error);
    if (code != NNRT_SUCCESS)
        (void)cli_fail("cannot compile %s: %s", args->model, error.message);
    else if (data != NULL)
        status = cli_compile_write(data, bytes, args);
    if (prepared != NULL)
        prepared->vtbl->Destroy(prepared);
    free(data);
    return status;
}

/* Compiles: prepares the model on the device and stores the prepared model in the file. */
static int cli_compile_job(cli_job *job, const cli_args *args)
{
    const nnrt_cache_state *s;
    int status = cli_inputs_make(&job->in, args);
    if (status == CLI_DONE)
        status = cli_inputs_settle(&job->in, args);
    if (status == CLI_DONE)
        status = cli_convert_load(job, args);
    if (status == CLI_DONE && args->device != NULL && strncmp(args->device, "mcu:", 4) == 0)
        return cli_compile_plan(job, args);
    if (status == CLI_DONE)
        status = cli_job_cache(job, args);
    if (status == CLI_DONE)
        status = cli_job_prepare(job, args);
    if (status != CLI_DONE)
        return status;
    s = nnrt_cache_get_state(job->cache);
    if (s->kept == 0)
        return cli_fail("cannot compile %s: device '%s' %s; nnrt convert writes a file without it", args->model,
                        nnrt_session_device(job->session),
                        s->prepared == 0 ? "has no model cache" : "has nothing to store in it");
    if (s->kept < s->prepared)
        cli_note("%u of %u partitions are not in the file: their device has no model cache for them",
                 (unsigned)(s->prepared - s->kept),
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

/* Creates a session on `device` with input values: the given ones, else random ones. */
static int cli_emit_prepare(cli_job *job, const cli_args *args, const char *device)
{
    cli_args own = *args;
    int status = cli_inputs_list(&job->in, args);
    bool all = job->in.count == 1 && args->inputCount > 0; /* all inputs have a value */
    uint64_t seed;
    own.device = device; /* the self-test expects its bits */
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
    const char *device = args->device != NULL ? args->device : "reference";
    cli_job job;
    int status;
    memset(&job, 0, sizeof(job));
    status = cli_emit_prepare(&job, args, device);
    for (uint32_t i = 0; status == CLI_DONE && i < job.model->nodes.count; i++)
        if (job.model->nodes.data[i].nodeType < 0)
            status = cli_fail("cannot write %s as C: node %u '%s' is of the application's operator %s, whose kernel "
                              "exists only in this program",
                              args->model, (unsigned)i, job.model->nodes.data[i].name,
                              nnrt_op_find(job.model->nodes.data[i].nodeType)->name);
    if (status == CLI_DONE)
        status = cli_emit_job(&job, args, device);
    cli_job_free(&job);
    return status;
}

#include "emit_wasm.h" /* calls cli_emit_c */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>run */

/* Writes all outputs; paths[i] becomes the path of each file, which the caller frees. */
static int cli_write_outputs(const cli_job *job, const cli_args *args, char **paths)
{
    int status = cli_make_dir(args->outputDir);
    for (uint32_t i = 0; status == CLI_DONE && i < job->nOut; i++) {
        paths[i] = cli_output_path(args->outputDir, nnrt_session_output(job->session, i).name, paths, i);
        status = paths[i] != NULL ? cli_npy_write(paths[i], &job->outputs[i]) : CLI_FAILED;
    }
    return status;
}

/* Writes result i of a watched run to DIR/NNNN_NAME.npy, and its line of the index. */
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

/* Runs the job's model once more with the results of all nodes of its main graph as outputs, and writes them. States are
   zeros. */
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
        watched.in.count += watched.in.states; /* this model has no metadata, and so no states */
        watched.in.states = 0;
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

/* True if element a precedes b among the largest: larger first, NaN last, equal ones by index. */
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

/* Indices of the count largest elements, largest first. count is at most 1000, so insertion into a sorted list is fast
   enough. NULL: no memory. */
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

/* Prints the index of an element: a single number if only one axis is longer than 1. */
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

/* Prints notes about labels that cannot be shown: their number of lines equals the size of no axis of the output.
   Labels for all outputs need to match one output only. */
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
            cli_note("%s: metadata %s has %u lines, expected the size of an axis of output '%s': %s",
                     job->in.path, e->key, (unsigned)n, name,
                     cli_shape_text(text, sizeof(text), job->outputs[i].type, &job->outputs[i].shape));
        }
    }
    if (all != NULL && !fits)
        cli_note("%s: metadata labels has %u lines, expected the size of an axis of an output", job->in.path,
                 (unsigned)cli_lines(all->value));
}

/* Prints outputs: name, type, shape, file, largest values. */
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
    for (uint32_t i = 1; status == CLI_DONE && i < args->reps; i++)
        status = cli_job_run(job);
    if (status == CLI_DONE)
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

/* Three untimed runs, then *reps timed ones (0: chosen from the time of the last untimed run). The caller frees
   *times. */
static int cli_bench_times(cli_job *job, cli_profile *profile, uint32_t *reps, double **times)
{
    cli_progress progress = cli_progress_of("bench");
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

/* Prints statistics of sorted times. median: the mean of the middle two for an even number; p95: the smallest time that
   95 % of the runs do not exceed. */
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

/* Prepares the model on the requested device; *places: the placement of its nodes. */
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
        length = nnrt_model_dot(job.model, places, NULL, 0);
        text = (char *)cli_alloc(length + 1, 1);
        status = text != NULL ? CLI_DONE : CLI_FAILED;
        if (text != NULL && nnrt_model_dot(job.model, places, text, length + 1) != length)
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

/* Prints the support of one ONNX operator. */
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
        printf("%-34s  unsupported: %s\n", a->name, a->why);
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

/* Prints the support of the operators of TensorFlow Lite. */
static int cli_ops_tflite(const cli_args *args)
{
    nnrt_tflite_about a;
    fputs(args->json ? "{\"operators\":[" : "", stdout);
    for (uint32_t i = 0; nnrt_tflite_operator(i, &a); i++)
        if (args->json)
            printf("%s{\"name\":\"%s\",\"number\":%d,\"versions\":%d,\"types\":\"%s\",\"becomes\":\"%s\"}",
                   i > 0 ? "," : "", a.name, (int)a.code, (int)a.versions, a.types, a.becomes);
        else if (args->tsv)
            printf("%s\t%d\t%d\t%s\t%s\n", a.name, (int)a.code, (int)a.versions, a.types, a.becomes);
        else if (a.versions == 0)
            printf("%-28s %3d  unsupported\n", a.name, (int)a.code);
        else
            printf("%-28s %3d  1-%-2d  %-5s  %s\n", a.name, (int)a.code, (int)a.versions, a.types, a.becomes);
    fputs(args->json ? "]}\n" : "", stdout);
    return CLI_DONE;
}

/* The end of an operator's row of JSON. */
static void cli_ops_kernels(const nnrt_op *op)
{
    fputs("],\"kernels\":[", stdout);
    for (uint32_t i = 0; i < op->kernelCount; i++)
        printf("%s\"%s\"", i > 0 ? "," : "", op->kernels[i].name);
    printf("],\"inputs\":\"%s\",\"outputs\":\"%s\",\"since\":%u}", op->inputs, op->outputs, (unsigned)op->since);
}

static int cli_ops(const cli_args *args)
{
    const nnrt_op *op;
    if ((args->onnx || args->tflite) && (args->copy != NULL || args->header != NULL || (args->onnx && args->tflite)))
        return cli_usage("ops: %s lists operators of %s and cannot be combined with %s",
                         args->onnx ? "--onnx" : "--tflite", args->onnx ? "ONNX" : "TensorFlow Lite",
                         args->copy != NULL     ? "--copy"
                         : args->header != NULL ? "--header"
                                                : "--tflite");
    if (args->onnx || args->tflite)
        return args->onnx ? cli_ops_onnx(args) : cli_ops_tflite(args);
    if (args->copy == NULL && args->header != NULL)
        return cli_usage("ops: --header requires --copy NAME");
    if (args->copy == NULL && (args->type != NNRT_DATA_TYPE_UNKNOWN || args->example || args->activations != NULL))
        return cli_usage("ops: %s requires --copy NAME",
                         args->example ? "--example" : args->activations != NULL ? "--activation" : "--type");
    if (args->copy != NULL && (args->json || args->tsv))
        return cli_usage("ops: --copy prints C and cannot be combined with %s", args->json ? "--json" : "--tsv");
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

/* Name of an enumerator of the library, such as "GPU". */
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
        const char *type = cli_device_type(nnrt_device_type(d, NULL)),
                   *status = cli_device_status(nnrt_device_status(d));
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
    "Inputs are shown as the file declares them, with ? for a dynamic dimension; everything else describes a session\n"
    "on the chosen device, with dynamic dimensions set by --shape, or to 1. With --max they stay dynamic, and memory\n"
    "sizes are those of the upper bounds.\n"
    "opsets: the operator sets of an ONNX file. parameters: number of elements of all constants, by type.\n"
    "MACs: multiply-accumulates of convolutions, matrix multiplications, EINSUM, attention and recurrent layers for\n"
    "these shapes, including padding; bodies of LOOP count once.\n"
    "cortex-m4: an estimate for the kernels of nnrt_mcu.h (mcu:cortex-m4), by operators, types and shapes.\n"
    "arena: memory for the values between nodes; its lower bound is the largest number of bytes that live at a time.\n"
    "keep: compiler options that restrict a program that loads the model to the operators it needs.\n"
    "session: everything that nnrt_session_create allocates; parameters are used in place. Also the metadata, and\n"
    "the sections of a .nnrt file.\n"
    "--memory: the offset of every value in the arena of the reference device, in bytes, and its first and last\n"
    "step; then the bytes in use during each step. Inputs and outputs are the caller's memory.\n"
    "--placement: one line per node: number, name, operator, device, part (partition: nodes that are prepared\n"
    "together), and why the preferred device does not run it.\n\n";

static const char cli_run_text[] =
    "Every input needs a value. NAME= is optional if there is one input; --input random without a name applies to\n"
    "all inputs without another value. Files of floats are rounded to the input's float type, or quantized for a\n"
    "quantized input of a .nnrt file; integers are converted to its integer type if they fit; rounding and\n"
    "converting print a note. Dynamic dimensions are set by the files or by --shape, else they are 1. If an operator\n"
    "requires a parameter (axes, sizes) at planning time, values of at most 64 elements\n"
    "from files become constants, with a note. With --max the session is created once for all shapes up to these\n"
    "upper bounds, and each run has its own.\n"
    "\n"
    "Images are resized to the input's height and width: bilinear, averaging when they shrink. Then\n"
    "value = (pixel - mean) * scale, pixel 0 to 255. Default: pixel / 255 for floats, pixel - 128 for\n"
    "int8, the pixel itself for other types. torchvision's mean 0.485 and std 0.229, which apply to\n"
    "pixel / 255, are --mean 123.675 --std 58.395 here. The defaults of these options are the metadata of the model\n"
    "(see nnrt convert --help), which also contain the labels shown after the values. EXIF rotation is ignored, and\n"
    "alpha is, too, unless the input has 4 channels.\n"
    "\n"
    "Sounds are WAV files of one channel, 16-bit PCM, and become sample / 32768, one sample per element of an input\n"
    "[N], [1,N] or [1,N,1]. The rate of a file is not compared with the model's, which states none.\n"
    "\n"
    "random is SplitMix64, starting at SEED (default 0) + 2^32 * the input's number, one step per element, of which\n"
    "the top bits are used: floats in [-1, 1), integers 0 to 7, bool 0 or 1. The values are the same on every "
    "machine.\n"
    "\n"
    "--profile shows the steps in the order in which they ended: the time of each in microseconds, without\n"
    "the steps inside it (IF, LOOP), its share, and the bytes of its inputs and results; then the sums by operator.\n"
    "chrome://tracing and Perfetto show the file. nnrt bench shows the mean of many runs.\n"
    "\n"
    "Output files are NAME.npy with '_' for characters that file names cannot have, such as / and :. Names that\n"
    "become equal get _2, _3, ...\n\n";

static const char cli_check_text[] =
    "A set is a folder with input_0.pb, ... and output_0.pb, ..., or .npy; they belong to the input or output with\n"
    "the name of their tensor, else with that number. --input and --expected name the files of one set. A float is\n"
    "right if |got - expected| <= A + R * |expected|, or both are NaN or the same infinity; integers and bools\n"
    "must be equal. The exit status is 1 if a set is wrong.\n\n";

static const char cli_compare_text[] =
    "Runs the model on both devices, then once more on both with the results of all nodes as outputs, and names the\n"
    "first node, in execution order, whose result differs: the first element that differs with both values, the\n"
    "largest difference, and the largest difference relative to the first device. Values are equal if\n"
    "|b - a| <= A + R * |a|, or both are NaN or the same infinity. R and A are --rtol and --atol, else for float16\n"
    "1e-2 and 1e-3, for float32 1e-4 and 1e-5, for float64 1e-7 and 1e-7; quantized values may differ by 1 unit\n"
    "(--atol); other integers and bools must be equal. --rtol 0 --atol 0 compares bits. Nodes of subgraphs are\n"
    "compared by the results of the node that contains them. Inputs are as for nnrt run; without any, random ones.\n"
    "A single --device is compared with reference. The exit status is 1 if anything differs.\n\n";

static const char cli_batch_text[] =
    "Writes each output as DIR/NAME.npy, with a row for each sample, in the order of names, shorter names first; DIR/names.txt has\n"
    "the path of each row's sample, if there are several files. Images and sounds are converted as by nnrt run.\n"
    "\n"
    "The samples are divided into chunks. The results of a chunk are files in DIR/chunks that appear when they are complete:\n"
    "the same command continues after it was killed, and --shard divides the chunks among machines that see DIR. Without --shard\n"
    "the command joins the chunks and removes them; after the shards, do so with --merge. The bytes of the results do not depend\n"
    "on --shard, --jobs, --threads and interruptions. DIR/batch.txt states model, samples and options; a command with other ones\n"
    "is refused.\n"
    "A damaged file ends the run with a message that names it, unless --skip-bad is given. docs/batch.md describes Slurm,\n"
    "Kubernetes, MPI (nnrt-mpi) and others.\n\n";

static const char cli_accuracy_text[] =
    "The class of a sample is the largest element of the first output. Top 5: the expected class is among the five\n"
    "largest. With a second model: both figures, and in how many samples both give the same class.\n"
    "A quantized input takes real values, which are quantized as by nnrt run. Images and sounds are\n"
    "converted as by nnrt run.\n\n";

static const char cli_report_text[] =
    "The page is self-contained: inputs and outputs, the graph, colored by operator and framed by device, the time of\n"
    "every step and operator, and the memory map of the reference device's arena from step to step. Inputs are as\n"
    "for nnrt run; without any, random ones. Nodes of subgraphs are not drawn, and models with subgraphs have no\n"
    "memory map.\n\n";

static const char cli_convert_text[] =
    "IN is an ONNX, a .tflite or a .nnrt file. A .nnrt file is used in place, memory-mapped or in flash: loading it copies no\n"
    "weights and repeats nothing of the import. OUT appears when it is completely written; an existing OUT must be a\n"
    "regular file that is not read by the command.\n"
    "\n"
    "OUT has the metadata of IN (metadata_props of an ONNX file), overridden by --labels and --meta. nnrt run uses\n"
    "these keys; its options take precedence:\n"
    "  labels, labels.OUTPUT         class labels, one per line, of all outputs or of one\n"
    "  input.NAME.mean, .scale       images: value = (pixel - mean) * scale: one number or one per channel\n"
    "  input.NAME.std                a divisor instead of scale\n"
    "  input.NAME.color              rgb, bgr or gray\n"
    "  input.NAME.invert             yes: 255 - pixel instead of the pixel; no\n"
    "  input.NAME.layout             nchw or nhwc\n"
    "  input.NAME.quantize           yes: the value is real, and is quantized with scale and zero point of the input;\n"
    "                                no. --int8-io stores yes\n"
    "Texts for people: description, license, source. Other keys are kept unchanged.\n\n";

static const char cli_quantize_text[] =
    "Runs the model on the samples of --data and derives scale and zero point of every value between operators. Weights\n"
    "become int8 with one scale per output channel. The file computes in integers wherever operators have quantized\n"
    "arithmetic (docs/quantization.md); inputs and outputs stay float32 unless --int8-io is given. A name FILE.onnx writes\n"
    "the ONNX file in QDQ form, also for ONNX Runtime.\n"
    "equalize: channels between two convolutions get similar ranges, their weights are scaled accordingly.\n"
    "ranges: of every tensor the range with the least squared error over the samples.\n"
    "bias: the mean error of rounded weights in each output channel is subtracted from the bias.\n"
    "Printed: signal-to-noise ratio of each output of the 8-bit model against the float32 model over the samples, and\n"
    "the number of samples with the same largest element. Images and sounds are converted as by nnrt run.\n"
    "--report: the sizes of both models in bytes, ranges and histograms of the values, scales of the weights.\n\n";

static const char cli_compile_text[] =
    "The file is that of nnrt convert plus the model as the device prepared it (a section with the device's name, "
    "which\n"
    "nnrt info shows), or the partitions that auto gives to devices. A session on that device restores it and does "
    "not\n"
    "compile. For another device or version, other options or other shapes the section is ignored, and the model is\n"
    "prepared as usual. Dynamic dimensions of an ONNX file are set by --shape, or to 1, in the file as well; those "
    "of a\n"
    ".nnrt file stay dynamic, and it is compiled for --shape.\n"
    "Of the built-in devices, cpu stores its prepacked weights, for the instruction set of this machine, and "
    "reference has\n"
    "no model cache; devices of --load, or fake:cache=yes, may have one.\n\n"
    "With --device mcu:TARGET the file has the finished plan instead of the model: firmware runs it in flash\n"
    "(nnrt_mcu_open, nnrt_mcu_run of devices/nnrt_mcu.h). Every node must have a kernel of that header. nnrt info "
    "shows\n"
    "the file, and the kernels that the firmware must link.\n\n";

static const char cli_wasm_text[] =
    "The module has the model's weights, the kernels that it needs, and a memory of fixed size. It exports memory,\n"
    "run(), which returns 0 or a return code, and the addresses and sizes of the buffers: input(i), input_bytes(i),\n"
    "output(i), output_bytes(i), i from 0. A model with states keeps them between runs; reset() sets them to their\n"
    "initial values. Compiled by clang and wasm-ld (Debian: clang lld wasi-libc). Dynamic shapes are an error.\n\n"
    "  const {exports: m} = (await WebAssembly.instantiateStreaming(fetch('digits.wasm'))).instance;\n"
    "  new Float32Array(m.memory.buffer, m.input(0), 784).set(image);\n"
    "  if (m.run() !== 0) throw new Error('the run failed');\n"
    "  const scores = new Float32Array(m.memory.buffer, m.output(0), 10);\n\n";
static const char cli_emit_text_help[] =
    "The file has the model as constant data, planned for an arena whose size it states: include it after nnrt.h,\n"
    "and NAME_run runs it. No files, no heap, and only the kernels it needs are linked. NAME_selftest compares the\n"
    "results for one input, --input or random values, with those of this machine. With --golden it also\n"
    "compares checksums of the results of all nodes, and NAME_selftest_node names the first one that differs.\n"
    "Quantized inputs and outputs have macros NAME_INPUT_SCALE and NAME_INPUT_ZERO_POINT, after the tensor's name.\n"
    "Subgraphs (IF, LOOP) are written, too; a model with dynamic or data-dependent shapes is an error.\n"
    "--region places the tensors that are accessed most in the first region that has room (define NNRT_REGIONS).\n"
    "--state: NAME_run has no parameters for IN and OUT, but a pointer to NAME_STATE_BYTES, which NAME_state_reset\n"
    "zeroes.\n\n";

static const char cli_frontend_text[] =
    "DESCRIPTION is a list MEMBER=VALUE,... of members of nnrt_frontend_desc, which nnrt_frontend.h describes; a\n"
    "member that is not named is 0. rate, window, hop, fft, output and, for integers, scale are required.\n"
    "  arithmetic    int16, float32\n"
    "  output        int8, int16, float32\n"
    "  rate, window, hop, fft, mels, dct, zeroPoint          integers\n"
    "  fullScale, lower, upper, offset, floor, scale         numbers\n"
    "  windowKind    hann, hamming, rectangular\n"
    "  spectrum      power, magnitude\n"
    "  melScale      htk, slaney\n"
    "  log           ln, log10, db, none\n"
    "  symmetric, removeMean, melTriangles, melArea, dctEqual    no, yes\n"
    "The file has its tables as constant data: include it after nnrt_frontend.h. NAME_frontend() is the front end for\n"
    "nnrt_frontend_start, NAME_FRONTEND_WORDS the memory of a stream, and int16 arithmetic needs no floats.\n\n";

static const char cli_ops_text[] =
    "--tflite lists the operators of TensorFlow Lite: number, versions, types of the main input, and the operators that\n"
    "each becomes. --onnx lists the supported operators of ONNX: the first and last operator set, the operator that each becomes\n"
    "(one of several separated by spaces), the operators that may be added and why, or those it is made of;\n"
    "then the unsupported operators, and why. Operators that only compute with dynamic dimensions are not listed.\n"
    "--copy NAME prints all that the kernels of one operator need (CONV2D_FUSION, in any case and as ONNX, TensorFlow\n"
    "Lite and papers call it: Conv, DepthwiseConv2D, NMS), or one kernel (nnrt_softmax_f32): types, attribute struct,\n"
    "views, helpers, license, how derived constants are made, a comment with the calling convention, and with --example\n"
    "for most operators a main() that calls it (NNRT_EXAMPLE). It is extracted from nnrt_ops.h, which is searched for beside "
    "this\n"
    "program, in the current folder, in the folder above the program's, and in ../include/nnrt from there, where make\n"
    "install puts it.\n\n";

static const char cli_serve_text[] =
    "Another process uses the device with --device remote:PATH. Models and tensors are in shared memory. The server\n"
    "prints a line when it listens; SIGTERM and SIGINT stop it after its current runs, and it removes the socket's\n"
    "file. Only Linux supports this.\n\n";

static const cli_command cli_commands[] = {
    {"info", "MODEL", "Shows inputs, outputs, nodes of each operator, and the memory of a model.", cli_info_text,
     "nnrt info examples/digits/digits.onnx", CLI_INFO, cli_info},
    {"run", "MODEL", "Runs a model once and shows or writes its outputs.", cli_run_text,
     "nnrt run examples/digits/digits.onnx --input examples/digits/digit_7.png --top 1", CLI_RUN, cli_run},
    {"bench", "MODEL", "Times loading, preparing and running a model on random inputs.",
     "Inputs are random, as with --input random. Three untimed warm-up runs come first. --profile shows means of the\n"
     "timed runs, which it slows down by two clock reads per step.\n\n",
     "nnrt bench examples/digits/digits.onnx --device reference --json", CLI_BENCH, cli_bench},
    {"check", "MODEL", "Runs a model on test data and compares its outputs.", cli_check_text,
     "nnrt check model.onnx --input x=x.npy --expected y=y.npy --rtol 1e-4", CLI_CHECK, cli_check},
    {"compare", "MODEL", "Runs a model on two devices and names the first node whose result differs.",
     cli_compare_text, "nnrt compare examples/digits/digits.onnx --device reference --device auto", CLI_COMPARE,
     cli_compare_devices},
    {"accuracy", "MODEL [MODEL]", "Counts how often a classifier is right on samples with labels; compares two.", cli_accuracy_text,
     "nnrt accuracy float.onnx int8.nnrt --data images.npy --labels classes.npy", CLI_ACCURACY, cli_accuracy_command},
    {"batch", "MODEL", "Runs a model on many samples: files whole or absent, resumable, on many machines.", cli_batch_text,
     "nnrt batch examples/digits/digits.onnx --input examples/digits --output build/digits --jobs 2", CLI_BATCH, cli_batch_command},
    {"report", "MODEL", "Writes an HTML report of a model: graph, time, memory.", cli_report_text,
     "nnrt report examples/digits/digits.onnx -o digits.html", CLI_REPORT, cli_report_make},
    {"convert", "IN OUT.nnrt", "Writes a model as a .nnrt file.", cli_convert_text,
     "nnrt convert examples/digits/digits.onnx digits.nnrt --meta license=MIT --meta input.image.color=gray",
     CLI_CONVERT, cli_convert},
    {"quantize", "MODEL", "Writes a float32 model as a .nnrt file that computes in 8-bit integers.", cli_quantize_text,
     "nnrt quantize examples/digits/digits.onnx --data examples/digits -o digits_int8.nnrt", CLI_QUANTIZE, cli_quantize},
    {"compile", "MODEL", "Writes a .nnrt file that loads without compiling on a device.", cli_compile_text,
     "nnrt compile examples/digits/digits.onnx --device fake:cache=yes -o digits.nnrt", CLI_COMPILE, cli_compile},
    {"emit-c", "MODEL", "Writes a model as C: constant data that runs without files or heap.", cli_emit_text_help,
     "nnrt emit-c examples/digits/digits.onnx -o digits_model.h --name digits --input examples/digits/digit_7.png",
     CLI_EMIT, cli_emit_c},
    {"emit-wasm", "MODEL", "Writes a model as a WebAssembly module that imports nothing.", cli_wasm_text,
     "nnrt emit-wasm examples/digits/digits_int8.onnx -o digits.wasm", CLI_WASM, cli_emit_wasm},
    {"emit-frontend", "DESCRIPTION", "Writes a front end for sound or sensors as C: spectrum, mel, MFCC.",
     cli_frontend_text,
     "nnrt emit-frontend rate=16000,window=640,hop=320,fft=1024,mels=40,lower=20,upper=4000,dct=10,output=int8,scale=0.5 "
     "-o kws_frontend.h --name kws",
     CLI_FRONTEND, cli_emit_frontend},
    {"dot", "MODEL", "Writes a model as a Graphviz graph.", "",
     "nnrt dot examples/digits/digits.onnx -o digits.dot && dot -Tsvg digits.dot -o digits.svg", CLI_DOT, cli_dot},
    {"ops", "", "Lists the operators: name, number, element types of input 0; or prints one as C.", cli_ops_text,
     "nnrt ops --copy SOFTMAX > softmax.c", CLI_OPS, cli_ops},
    {"devices", "", "Lists the devices: name, vendor, type, status.", "", "nnrt devices --device fake:name=npu0 --json", CLI_DEVICES,
     cli_devices},
    {"serve", "", "Serves a device to other processes through a socket.", cli_serve_text,
     "nnrt serve --socket /run/npu.sock --device fake: --limits clients=4", CLI_SERVE, cli_serve},
};

#define CLI_COMMANDS (sizeof(cli_commands) / sizeof(cli_commands[0]))

static void cli_help(void)
{
    printf("nnrt %s - runs neural networks\n\nusage: nnrt COMMAND [arguments]\n\ncommands:\n", nnrt_version());
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        printf("  %-8s %-11s %s\n", cli_commands[i].name, cli_commands[i].operands, cli_commands[i].what);
    printf("\n'nnrt COMMAND --help' lists the options of a command. 'nnrt --version' prints the version.\n"
           "MODEL is an ONNX, a .tflite or a .nnrt file, - standard input. Results go to standard output, messages to standard "
           "error.\n"
           "Exit status: 0 done, 1 failed, 2 wrong usage.\n\n"
           "example:\n  nnrt run examples/digits/digits.onnx --input examples/digits/digit_7.png\n");
}

/* Runs the command in argv. */
static int cli_main(int argc, char **argv)
{
    cli_args args;
    int status;
    if (argc < 2)
        return cli_usage("the command is missing; 'nnrt --help' lists the commands");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_help();
        return argc == 2 ? CLI_DONE : cli_usage("--help: unexpected argument '%s'", argv[2]);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("nnrt %s\n", nnrt_version());
        return argc == 2 ? CLI_DONE : cli_usage("--version: unexpected argument '%s'", argv[2]);
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
    return cli_usage("unknown command '%s'; 'nnrt --help' lists the commands", argv[1]);
}

/* A failed write to standard output is a failure: a full disk must not look like success. */
int cli_program(int argc, char **argv)
{
    int status = cli_main(argc, argv);
    for (uint32_t i = nnrt_device_count(); i-- > 0;)
        (void)nnrt_device_unregister(nnrt_device_unique_name(nnrt_device_at(i))); /* drivers of --load */
    cli_stream_free();
    cli_read_files_free();
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == CLI_DONE)
        status = cli_fail("cannot write to standard output: %s", strerror(errno));
    return status;
}

#ifndef NNRT_TOOL_NO_MAIN /* of programs that include this file: tools/nnrt_mpi.c, tests */
int main(int argc, char **argv)
{
    return cli_program(argc, argv);
}
#endif
