/*
info.h - the command info: inputs, outputs, nodes and memory of a model, or of a plan for firmware.
Part of tools/nnrt.c.

    >>session  a model that has a session
    >>file     the contents of a file for which no session can be made
    >>unsupported  .tflite files with unsupported operators
    >>command  the command, and plans for firmware
*/
#ifndef NNRT_TOOL_INFO_H
#define NNRT_TOOL_INFO_H

#include "../common/cost.h"
#include "decoder.h"
#include "map.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>session */

/* Prints an input or output as declared in the file, with dynamic dimensions and their names, or an output of the session. most: upper
   bounds, if dimensions stay dynamic in the session; NULL: they do not. */
static void cli_info_tensor(const cli_input *io, NNRT_Format format, const nnrt_dims *most, bool json)
{
    const char *text = format == NNRT_FORMAT_NCHW ? "NCHW" : format == NNRT_FORMAT_NHWC ? "NHWC" : "";
    const nnrt_dims *shape = &io->declared;
    char buffer[CLI_INPUT_BYTES];
    bool named = false;
    if (json && io->kind != NULL) {
        fputs("{\"name\":", stdout);
        cli_json_text(io->name);
        printf(",\"type\":\"%s\"}", io->kind);
    } else if (json) {
        cli_json_tensor(io->name, io->type, shape);
        for (int32_t k = 0; k < shape->rank; k++)
            named = named || io->symbols[k] != NULL;
        fputs(named ? ",\"dims\":[" : "", stdout);
        for (int32_t k = 0; k < shape->rank && named; k++) {
            fputs(k > 0 ? "," : "", stdout);
            if (io->symbols[k] != NULL)
                cli_json_text(io->symbols[k]);
            else
                fputs("null", stdout);
        }
        fputs(named ? "]" : "", stdout);
        printf(",\"format\":\"%s\"", *text != '\0' ? text : "none");
        if (most == shape)
            fputs(",\"open\":true", stdout);
        else if (most != NULL)
            cli_json_dims("max", most);
        putchar('}');
    } else {
        cli_put_name(stdout, io->name);
        fputs("  ", stdout);
        cli_put_name(stdout, cli_input_text(buffer, sizeof(buffer), io, shape));
        printf("%s%s", *text != '\0' ? "  " : "", text);
        if (most == shape)
            fputs("  at most", stdout);
        else if (most != NULL)
            printf("  up to %s", cli_shape_text(buffer, sizeof(buffer), io->type, most));
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
        cli_info_tensor(in, cli_input_format(job->session, in->name, i), cli_open(&in->declared) ? cli_inputs_most(&job->in, i) : NULL, json);
    }
    fputs(json ? "],\"outputs\":[" : "", stdout);
    for (uint32_t i = 0; i < nnrt_session_outputs(job->session); i++) {
        nnrt_io_info info = nnrt_session_output(job->session, i);
        cli_input out;
        memset(&out, 0, sizeof(out));
        out.name = (char *)(uintptr_t)info.name;
        out.type = info.dataType;
        out.declared = info.shape;
        fputs(json ? (i > 0 ? "," : "") : i > 0 ? "            " : "output      ", stdout);
        cli_info_tensor(&out, info.format, info.open ? &out.declared : NULL, json);
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
        if (m.states > 0)
            printf(",\"state_bytes\":%.0f", (double)m.states);
        printf(",\"model_bytes\":%.0f", (double)nnrt_model_bytes(job->model));
        if (job->sized)
            printf(",\"buffer_bytes\":%.0f", (double)job->bufferBytes);
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
    if (m.states > 0)
        printf("states      %.0f bytes\n", (double)m.states);
    printf("session     %.0f bytes, arena%s included, parameters not\n", (double)m.total, m.states > 0 ? " and states" : "");
    printf("model       %.0f bytes in memory, beside the parts of its file that are used in place\n", (double)nnrt_model_bytes(job->model));
    if (job->sized)
        printf("buffer      %.0f bytes, the least in which this session can be made\n", (double)job->bufferBytes);
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

/* Prints elements and bytes of constants; bytes[t]: of element type t. */
static void cli_info_weights(const double *bytes, bool json)
{
    double all = 0;
    bool first = true;
    for (int type = 0; type <= NNRT_DATA_TYPE_FLOAT64; type++)
        all += bytes[type] > 0 ? bytes[type] / (double)nnrt_type_size((NNRT_DataType)type) : 0;
    printf(json ? ",\"parameters\":%.0f,\"weights\":{" : "parameters  %.0f", all);
    for (int type = 0; type <= NNRT_DATA_TYPE_FLOAT64; type++) {
        if (bytes[type] == 0)
            continue;
        printf(json ? "%s\"%s\":{\"count\":%.0f,\"bytes\":%.0f}" : "%s%s %.0f in %.0f bytes",
               first ? json ? "" : ": " : json ? "," : ", ", nnrt_type_name((NNRT_DataType)type),
               bytes[type] / (double)nnrt_type_size((NNRT_DataType)type), bytes[type]);
        first = false;
    }
    fputs(json ? "}" : "\n", stdout);
}

/* Elements and bytes of all constants of a model, by type. */
static void cli_info_parameters(const NNRT_Model *m, bool json)
{
    double bytes[NNRT_DATA_TYPE_FLOAT64 + 1] = {0};
    for (uint32_t i = 0; i < m->allTensors.count; i++) {
        const NNRT_Tensor *t = &m->allTensors.data[i];
        if (t->dataType >= 0 && t->dataType <= NNRT_DATA_TYPE_FLOAT64)
            bytes[t->dataType] += (double)t->data.dataSize;
    }
    cli_info_weights(bytes, json);
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
    const cli_work work = cli_work_of(job, NULL, NULL, CLI_PROCESSOR_BYTES);
    printf(json ? ",\"macs\":%.0f" : "MACs        %.0f in a run\n", work.macs);
    printf(json                        ? ",\"cortex_m4\":%.0f"
           : work.instructions >= 10e6 ? "cortex-m4   about %.0f million instructions in a run\n"
                                       : "cortex-m4   about %.2g million instructions in a run\n",
           json ? work.instructions : work.instructions / 1e6);
    fputs(json ? ",\"keep\":\"-DNNRT_SELECT" : "keep        -DNNRT_SELECT", stdout);
    for (uint32_t k = 0; nnrt_op_at(k) != NULL; k++)
        for (uint32_t i = 0; i < m->nodes.count; i++)
            if (nnrt_op_at(k)->type > 0 && m->nodes.data[i].nodeType == nnrt_op_at(k)->type &&
                !cli_widens_weights(m, &m->nodes.data[i])) {
                printf(" -DNNRT_KEEP_%s=1", nnrt_op_at(k)->name);
                break;
            }
    printf(json ? " -DNNRT_KEEP_TYPES=0x%xu\"" : " -DNNRT_KEEP_TYPES=0x%xu\n", (unsigned)work.types);
}

static void cli_info_head(const cli_job *job, const char *name, const cli_args *args)
{
    if (args->json) {
        cli_json_open(args);
        fputs(",\"name\":", stdout);
        cli_json_text(name);
    } else {
        printf("model       ");
        cli_put_name(stdout, name);
        putchar('\n');
    }
    cli_info_origin(&job->in, args->json);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>file: the contents of a file for which no session can be made */

/* An operator of the file and its number of nodes. */
typedef struct cli_info_count {
    nnrt_onnx_str domain, type;
    uint32_t count;
} cli_info_count;

/* Contents of the graphs of an ONNX file: nodes by operator, constants by type. */
typedef struct cli_info_graph {
    cli_info_count *operators; /* room for all nodes */
    uint32_t count, nodes;
    double bytes[NNRT_DATA_TYPE_FLOAT64 + 1];
} cli_info_graph;

static void cli_info_add_constant(cli_info_graph *g, const nnrt_onnx_tensor *t)
{
    const NNRT_DataType type = nnrt_onnx_data_type(t->dataType);
    double count = 1;
    for (size_t k = 0; k < t->dims.count; k++)
        count *= (double)t->dims.data[k];
    if (type > NNRT_DATA_TYPE_UNKNOWN && type <= NNRT_DATA_TYPE_FLOAT64)
        g->bytes[type] += count * (double)nnrt_type_size(type);
}

/* Adds a graph and the graphs of its nodes: one entry for each node. g->operators NULL: counts the nodes only. */
static void cli_info_add_graph(cli_info_graph *g, const nnrt_onnx_graph *graph)
{
    for (size_t i = 0; i < graph->initializers.count && g->operators != NULL; i++)
        cli_info_add_constant(g, &graph->initializers.data[i]);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const nnrt_onnx_node *node = &graph->nodes.data[i];
        for (size_t a = 0; a < node->attributes.count; a++) {
            const nnrt_onnx_attribute *attribute = &node->attributes.data[a];
            if (attribute->g != NULL)
                cli_info_add_graph(g, attribute->g);
            else if (attribute->t != NULL && g->operators != NULL)
                cli_info_add_constant(g, attribute->t);
        }
        if (g->operators != NULL) {
            g->operators[g->nodes].domain = node->domain;
            g->operators[g->nodes].type = node->opType;
            g->operators[g->nodes].count = 1;
        }
        g->nodes++;
    }
}

static int cli_compare_operators(const void *a, const void *b)
{
    const cli_info_count *x = (const cli_info_count *)a, *y = (const cli_info_count *)b;
    const int type = cli_compare_names(&x->type, &y->type);
    return type != 0 ? type : cli_compare_names(&x->domain, &y->domain);
}

static int cli_compare_counts(const void *a, const void *b)
{
    const cli_info_count *x = (const cli_info_count *)a, *y = (const cli_info_count *)b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : cli_compare_operators(a, b);
}

/* Counts equal operators; the most frequent first. */
static void cli_info_sum(cli_info_graph *g)
{
    qsort(g->operators, g->nodes, sizeof(*g->operators), cli_compare_operators);
    for (uint32_t i = 0; i < g->nodes; i++)
        if (g->count > 0 && cli_compare_operators(&g->operators[i], &g->operators[g->count - 1]) == 0)
            g->operators[g->count - 1].count++;
        else
            g->operators[g->count++] = g->operators[i];
    qsort(g->operators, g->count, sizeof(*g->operators), cli_compare_counts);
}

/* Prints the operators of the file, the most frequent first, as "Conv" or "com.microsoft.Gelu". */
static int cli_info_file_operators(const nnrt_onnx_graph *graph, bool json)
{
    cli_info_graph g;
    memset(&g, 0, sizeof(g));
    cli_info_add_graph(&g, graph);
    if ((g.operators = (cli_info_count *)cli_alloc(g.nodes + 1u, sizeof(*g.operators))) == NULL)
        return CLI_FAILED;
    g.nodes = 0;
    cli_info_add_graph(&g, graph);
    cli_info_sum(&g);
    printf(json ? ",\"nodes\":%u,\"operators\":{" : "nodes       %u\n", (unsigned)g.nodes);
    for (uint32_t i = 0; i < g.count; i++) {
        const cli_info_count *o = &g.operators[i];
        char name[256];
        const bool own = o->domain.length == 0 || (o->domain.length == 7 && memcmp(o->domain.data, "ai.onnx", 7) == 0);
        snprintf(name, sizeof(name), "%.*s%s%.*s", own ? 0 : (int)o->domain.length, own ? "" : o->domain.data, own ? "" : ".",
                 (int)o->type.length, o->type.length > 0 ? o->type.data : "");
        if (json) {
            fputs(i > 0 ? "," : "", stdout);
            cli_json_text(name);
            printf(":%u", (unsigned)o->count);
        } else {
            printf("            %5u  ", (unsigned)o->count);
            cli_put_name(stdout, name);
            putchar('\n');
        }
    }
    fputs(json ? "}" : "", stdout);
    cli_info_weights(g.bytes, json);
    free(g.operators);
    return CLI_DONE;
}

/* Prints inputs, and the outputs as an ONNX file declares them. */
static int cli_info_file_tensors(const cli_inputs *in, const nnrt_onnx_graph *graph, bool json)
{
    cli_inputs out;
    int status = CLI_DONE;
    memset(&out, 0, sizeof(out));
    out.data = (cli_input *)cli_alloc(graph->outputs.count, sizeof(*out.data));
    out.shapes = (nnrt_dims *)cli_alloc(graph->outputs.count, sizeof(*out.shapes));
    if (out.data == NULL || out.shapes == NULL)
        status = CLI_FAILED;
    for (size_t i = 0; i < graph->outputs.count && status == CLI_DONE; i++)
        status = cli_inputs_add(&out, &graph->outputs.data[i], -1);
    for (int k = 0; k < 2 && status == CLI_DONE; k++) {
        const cli_inputs *list = k == 0 ? in : &out;
        fputs(json ? k == 0 ? ",\"inputs\":[" : ",\"outputs\":[" : "", stdout);
        for (uint32_t i = 0; i < list->count; i++) {
            fputs(json ? (i > 0 ? "," : "") : i > 0 ? "            " : k == 0 ? "input       " : "output      ", stdout);
            cli_info_tensor(&list->data[i], NNRT_FORMAT_NONE, NULL, json);
        }
        fputs(json ? "]" : "", stdout);
    }
    cli_inputs_free(&out);
    return status;
}

/* The last line: why there is no session. */
static void cli_info_none(const char *why, bool json)
{
    fputs(json ? ",\"no_session\":" : "session     none: ", stdout);
    if (json)
        cli_json_text(why);
    else
        cli_put_name(stdout, why);
    fputs(json ? "}\n" : "\n", stdout);
}

/* Prints the contents of an ONNX file, and why there is no session. */
static int cli_info_file(const cli_job *job, const char *why, const cli_args *args)
{
    nnrt_onnx_model *m = NULL;
    nnrt_error error;
    cli_bytes file = cli_stream.bytes;
    int status = CLI_DONE;
    memset(&error, 0, sizeof(error));
    if (cli_stream.block == NULL && cli_read_file(args->model, &file) != CLI_DONE)
        return CLI_FAILED;
    if (nnrt_onnx_parse(file.data, file.size, NULL, &m, &error) != NNRT_SUCCESS ||
        (job->in.cutCount > 0 && nnrt_onnx_cut(m, job->in.cut, job->in.cutCount, &error) != NNRT_SUCCESS))
        status = cli_fail("cannot load %s: %s", args->model, error.message);
    if (status == CLI_DONE) {
        char *name = cli_text_copy(m->graph->name.data != NULL ? m->graph->name.data : "", m->graph->name.length);
        cli_info_head(job, name != NULL ? name : "", args);
        free(name);
        status = cli_info_file_tensors(&job->in, m->graph, args->json);
    }
    if (status == CLI_DONE)
        status = cli_info_file_operators(m->graph, args->json);
    if (status == CLI_DONE) {
        cli_info_metadata(&job->in.metadata, args->json);
        cli_info_none(why, args->json);
    }
    nnrt_onnx_model_free(m);
    if (cli_stream.block == NULL)
        free(file.data);
    return status;
}

/* Prints the contents of a .nnrt, GGUF, safetensors or .tflite file, and why there is no session. */
static int cli_info_model(cli_job *job, const char *why, const cli_args *args)
{
    nnrt_error error;
    nnrt_tflite_desc desc;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    desc.outputs = job->in.cut;
    desc.outputCount = job->in.cutCount;
    desc.signature = args->signature;
    desc.budget = args->image.budget;
    desc.dynamic = true;
    code = cli_is_whole(args->model) ? cli_load_whole(&job->model, args, &error) : cli_load_tflite(&job->model, args->model, &desc, &error);
    if (code != NNRT_SUCCESS)
        return cli_usage("%s", why);
    cli_info_head(job, job->model->name != NULL ? job->model->name : "", args);
    for (int k = 0; k < 2; k++) {
        const NNRT_Uint32List *list = k == 0 ? &job->model->inputIndex : &job->model->outputIndex;
        fputs(args->json ? k == 0 ? ",\"inputs\":[" : ",\"outputs\":[" : "", stdout);
        for (uint32_t i = 0; i < list->count; i++) {
            const NNRT_Tensor *t = &job->model->allTensors.data[list->data[i]];
            cli_input io;
            memset(&io, 0, sizeof(io));
            io.name = (char *)(uintptr_t)(t->name != NULL ? t->name : "");
            io.type = t->dataType;
            io.declared.rank = t->dims.count == 1 && t->dims.data[0] == NNRT_RANK_UNKNOWN ? -1 : (int32_t)t->dims.count;
            for (int32_t d = 0; d < io.declared.rank; d++)
                io.declared.dims[d] = t->dims.data[d];
            fputs(args->json ? (i > 0 ? "," : "") : i > 0 ? "            " : k == 0 ? "input       " : "output      ", stdout);
            cli_info_tensor(&io, t->format, NULL, args->json);
        }
        fputs(args->json ? "]" : "", stdout);
    }
    cli_info_operators(job->model, args->json);
    cli_info_parameters(job->model, args->json);
    cli_info_sections(job->model, args->json);
    cli_info_metadata(&job->in.metadata, args->json);
    cli_info_none(why, args->json);
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>unsupported */

/* The contents of a .tflite file, as nnrt_tflite_describe reports them: counted at first, then printed. */
typedef struct cli_info_lite {
    uint32_t inputs, outputs, operators, nodes; /* nodes: as counted; the others: as printed */
    double bytes[NNRT_DATA_TYPE_FLOAT64 + 1];
    bool json, prints;
} cli_info_lite;

static void cli_info_lite_tensor(void *user, bool output, const char *name, NNRT_DataType type, const nnrt_dims *shape)
{
    cli_info_lite *l = (cli_info_lite *)user;
    const bool first = l->prints && (output ? l->outputs++ : l->inputs++) == 0;
    cli_input io;
    if (!l->prints)
        return;
    memset(&io, 0, sizeof(io));
    io.name = (char *)(uintptr_t)name;
    io.type = type;
    io.declared = *shape;
    fputs(l->json ? first ? output ? "],\"outputs\":[" : ",\"inputs\":[" : ","
          : !first ? "            "
          : output ? "output      "
                   : "input       ",
          stdout);
    cli_info_tensor(&io, NNRT_FORMAT_NONE, NULL, l->json);
}

static void cli_info_lite_constant(void *user, NNRT_DataType type, size_t bytes)
{
    cli_info_lite *l = (cli_info_lite *)user;
    l->bytes[type] += l->prints ? 0 : (double)bytes;
}

static void cli_info_lite_op(void *user, const char *name, uint32_t count, bool supported)
{
    cli_info_lite *l = (cli_info_lite *)user;
    if (!l->prints) {
        l->nodes += count;
        return;
    }
    if (l->operators++ == 0)
        printf(l->json ? "],\"nodes\":%u,\"operators\":{" : "nodes       %u\n", (unsigned)l->nodes);
    else
        fputs(l->json ? "," : "", stdout);
    if (l->json) {
        cli_json_text(name);
        printf(":%u", (unsigned)count);
        return;
    }
    printf("            %5u  ", (unsigned)count);
    cli_put_name(stdout, name);
    puts(supported ? "" : "  (not supported)");
}

/* Prints the contents of a .tflite file with unsupported operators, and that there is no session. *done: it is such a file. */
static int cli_info_unsupported(const cli_job *job, const cli_args *args, bool *done)
{
    cli_info_lite l;
    const nnrt_tflite_view view = {&l, cli_info_lite_tensor, cli_info_lite_constant, cli_info_lite_op};
    cli_bytes file = cli_stream.bytes;
    NNRT_Model *model = NULL;
    nnrt_tflite_desc desc;
    char text[CLI_LINE_BYTES];
    nnrt_error why, error;
    NNRT_ReturnCode code;
    memset(&l, 0, sizeof(l));
    memset(&why, 0, sizeof(why));
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    desc.no_optimize = desc.dynamic = desc.float16 = true;
    desc.signature = args->signature;
    desc.budget = args->image.budget;
    code = cli_load_tflite(&model, args->model, &desc, &why);
    nnrt_model_destroy(model);
    *done = code == NNRT_UNSUPPORTED_OP && strncmp(why.message, "unsupported operators", 21) == 0;
    if (!*done)
        return CLI_DONE;
    if (cli_stream.block == NULL && cli_read_file(args->model, &file) != CLI_DONE)
        return CLI_FAILED;
    l.json = args->json;
    code = NNRT_SUCCESS;
    for (int k = 0; k < 2 && code == NNRT_SUCCESS; k++, l.prints = true) {
        if (k == 1)
            cli_info_head(job, "", args);
        code = nnrt_tflite_describe(file.data, file.size, &desc, &view, &error);
    }
    if (cli_stream.block == NULL)
        free(file.data);
    if (code != NNRT_SUCCESS)
        return cli_fail("cannot load %s: %s", args->model, error.message);
    fputs(l.json ? "}" : "", stdout);
    cli_info_weights(l.bytes, l.json);
    cli_job_why(job, NNRT_UNSUPPORTED_OP, &why, text, sizeof(text));
    cli_info_none(text, l.json);
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>command */

/* True for options that need a session. */
static bool cli_info_whole(const cli_args *args)
{
    return args->records || args->memory || args->placement || args->strict;
}

/* Prints a loaded model with its session. If the default device refuses a node: the contents of the file, and why. */
static int cli_info_session(cli_job *job, cli_map *map, const cli_args *args)
{
    const bool onnx = job->in.opsets.count > 0;
    char why[CLI_LINE_BYTES];
    nnrt_error error;
    NNRT_ReturnCode code;
    int status;
    if (args->records) {
        cli_records_print(job->model);
        return CLI_DONE;
    }
    status = cli_job_attempt(job, args, &code, &error);
    if (status == CLI_DONE && code != NNRT_SUCCESS) {
        cli_job_why(job, code, &error, why, sizeof(why));
        if (cli_info_whole(args) || error.node < 0)
            return cli_fail("cannot prepare %s: %s", args->model, why);
        nnrt_model_destroy(job->model);
        job->model = NULL;
        return onnx ? cli_info_file(job, why, args) : cli_info_model(job, why, args);
    }
    if (status == CLI_DONE && args->memory)
        status = cli_map_make(map, job, args);
    if (status != CLI_DONE)
        return status;
    cli_info_head(job, job->model->name != NULL ? job->model->name : "", args);
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

/* Sets the shapes. The tokens of a decoder with a cache get an upper bound, --batch, as generate gives them, unless options state
   other shapes. */
static int cli_info_shapes(cli_job *job, const cli_args *args)
{
    const uint32_t context = cli_decoder_capacity(&job->in), batch = args->batch > 0 ? args->batch : LM_BATCH;
    int status;
    if (context > 0 && args->shapeCount + args->dimCount + args->mostCount == 0) {
        job->sized = true;
        return cli_decoder_bounds(&job->in, args->model, batch < context ? batch : context, context);
    }
    if (args->batch > 0)
        return cli_usage("info: --batch is for decoders with a cache: with --context, without --shape, --dim and --max");
    status = cli_inputs_apply_shapes(&job->in, args);
    return status == CLI_DONE ? cli_inputs_apply_most(&job->in, args) : status;
}

static int cli_info_job(cli_job *job, cli_map *map, const cli_args *args)
{
    const bool whole = cli_info_whole(args);
    char why[CLI_LINE_BYTES];
    nnrt_error error;
    NNRT_ReturnCode code;
    bool onnx, done = false;
    int status = CLI_DONE;
    if (!whole && args->cutCount == 0 && cli_is_tflite(args->model))
        status = cli_info_unsupported(job, args, &done);
    if (done || status != CLI_DONE)
        return status;
    status = cli_inputs_describe(&job->in, args);
    if (status == CLI_DONE)
        cli_inputs_hide_states(&job->in);
    if (status == CLI_DONE)
        status = cli_info_shapes(job, args);
    if (status != CLI_DONE)
        return status;
    onnx = job->in.opsets.count > 0;
    cli_inputs_close_batch(&job->in);
    if (cli_inputs_ask(&job->in, args, why, sizeof(why)))
        return whole ? cli_usage("%s", why) : onnx ? cli_info_file(job, why, args) : cli_info_model(job, why, args);
    if (!onnx || whole) {
        status = cli_job_load_to_run(job, args);
        return status == CLI_DONE ? cli_info_session(job, map, args) : status;
    }
    code = cli_job_model(job, args, false, &error);
    if (code != NNRT_SUCCESS) {
        cli_job_why(job, code, &error, why, sizeof(why));
        return cli_info_file(job, why, args);
    }
    return cli_info_session(job, map, args);
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
    const int status = cli_stream_read(args->model);
    FILE *f = status == CLI_DONE && cli_stream.block == NULL ? fopen(args->model, "rb") : NULL;
    *found = f != NULL && fread(head, 1, sizeof(head), f) == sizeof(head) && nnrt_mcu_is(head, sizeof(head));
    if (f != NULL)
        fclose(f);
    if (cli_stream.block != NULL)
        *found = nnrt_mcu_is(cli_stream.bytes.data, cli_stream.bytes.size);
    if (!*found)
        return status;
    file = cli_stream.bytes;
    if (cli_stream.block == NULL && cli_read_file(args->model, &file) != CLI_DONE)
        return CLI_FAILED;
    code = nnrt_mcu_open(&program, file.data, file.size, nnrt_mcu_all());
    if (code == NNRT_SUCCESS)
        cli_info_plan(&program, file.size, args);
    else
        (void)cli_fail("cannot open the plan %s: %s", args->model,
                       code == NNRT_NOT_SUPPORT      ? "its layout is of another version of nnrt"
                       : code == NNRT_UNSUPPORTED_OP ? "it has a kernel of a later version of nnrt"
                                                     : "the file is damaged");
    if (cli_stream.block == NULL)
        free(file.data);
    return code == NNRT_SUCCESS ? CLI_DONE : CLI_FAILED;
}

static int cli_info(const cli_args *args)
{
    cli_job job;
    bool plan = false;
    int status;
    cli_map map;
    if (args->records && args->json)
        return cli_usage("info: --records prints the lines of a --keep file and cannot be combined with --json");
    status = cli_info_find_plan(args, &plan);
    if (plan || status != CLI_DONE)
        return status;
    memset(&job, 0, sizeof(job));
    memset(&map, 0, sizeof(map));
    status = cli_info_job(&job, &map, args);
    cli_map_free(&map);
    cli_job_free(&job);
    return status;
}

#endif /* NNRT_TOOL_INFO_H */
