/*
compare.h - the command compare: one model on two devices, and the first node whose result differs.
Part of tools/nnrt.c.

To compare intermediate values, the model is run once more with the results of all nodes of its main graph as outputs.
This disables operator fusion: if the outputs of the model differ but no intermediate value does, fusion is the cause.
*/
#ifndef NNRT_TOOL_COMPARE_H
#define NNRT_TOOL_COMPARE_H

#include "../common/job.h"

/* A result of a node, and its output index in the watched model. */
typedef struct cli_watched_value {
    uint32_t node, tensor, output;
} cli_watched_value;

/* A copy of a model with all results as outputs. It shares the model's data, except for the lists here. */
typedef struct cli_watched {
    NNRT_Model model;
    NNRT_SubGraph *graphs;
    uint32_t *outputs;
    cli_watched_value *values; /* in the order in which nodes run */
    uint32_t count;
    nnrt_memory memory;
} cli_watched;

typedef struct cli_compare_runs {
    cli_job plain[2], watched[2]; /* on the first and the second device; plain[0] owns model and inputs */
    cli_watched watch;
    const char *devices[2];
} cli_compare_runs;

/* Lets a job borrow another job's inputs and a model. */
static void cli_compare_lend(cli_job *to, const cli_job *from, NNRT_Model *model)
{
    to->in = from->in;
    to->fromNnrt = from->fromNnrt;
    to->model = model;
}

static void cli_compare_free(cli_compare_runs *r)
{
    cli_job *lent[3] = {&r->plain[1], &r->watched[0], &r->watched[1]};
    for (int i = 0; i < 3; i++) {
        memset(&lent[i]->in, 0, sizeof(lent[i]->in));
        lent[i]->model = NULL;
        cli_job_free(lent[i]);
    }
    cli_job_free(&r->plain[0]);
    nnrt_memory_end(&r->watch.memory);
}

/* The output index of a tensor in the watched model; adds the tensor if it is not an output. */
static uint32_t cli_watch_output(cli_watched *w, uint32_t tensor)
{
    uint32_t i = 0;
    while (i < w->count && w->outputs[i] != tensor)
        i++;
    if (i == w->count)
        w->outputs[w->count++] = tensor;
    return i;
}

/* Creates the watched model of m; *values = number of results. */
static int cli_watch(cli_watched *w, const NNRT_Model *m, uint32_t *values)
{
    const uint32_t all = m->allTensors.count + m->outputIndex.count;
    uint32_t *order, end = m->nodes.count;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    *values = 0;
    if (nnrt_model_check(m, &w->memory, &order, &error) != NNRT_SUCCESS)
        return cli_fail("%s", error.message);
    if (m->subGraph.count > 1)
        end = order[m->nodes.count + 1];
    w->outputs = (uint32_t *)nnrt_memory_keep(&w->memory, all * sizeof(*w->outputs));
    w->values = (cli_watched_value *)nnrt_memory_keep(&w->memory, all * sizeof(*w->values));
    w->graphs = (NNRT_SubGraph *)nnrt_memory_keep(&w->memory, m->subGraph.count * sizeof(*w->graphs));
    if (w->outputs == NULL || w->values == NULL || w->graphs == NULL)
        return cli_fail("out of memory: cannot allocate the results of all nodes");
    memcpy(w->outputs, m->outputIndex.data, m->outputIndex.count * sizeof(*w->outputs));
    w->count = m->outputIndex.count;
    for (uint32_t i = 0; i < end; i++) {
        const NNRT_Node *n = &m->nodes.data[order[i]];
        for (uint32_t k = 0; k < n->outputIndex.count; k++) {
            cli_watched_value *v = &w->values[*values];
            if (n->outputIndex.data[k] == NNRT_NO_TENSOR)
                continue;
            v->node = order[i];
            v->tensor = n->outputIndex.data[k];
            v->output = cli_watch_output(w, v->tensor);
            ++*values;
        }
    }
    w->model = *m;
    w->model.self = NULL; /* not a model that the library allocated */
    w->model.outputIndex = NNRT_Uint32List_make(w->outputs, w->count);
    if (m->subGraph.count > 0) {
        memcpy(w->graphs, m->subGraph.data, m->subGraph.count * sizeof(*w->graphs));
        w->graphs[0].outputIndices = w->model.outputIndex;
        w->model.subGraph = NNRT_SubGraphList_make(w->graphs, m->subGraph.count);
    }
    return CLI_DONE;
}

/* Creates a job's session on a device, and runs it. */
static int cli_compare_run(cli_job *job, const cli_args *args, const char *device)
{
    nnrt_error error;
    NNRT_ReturnCode code;
    int status;
    memset(&error, 0, sizeof(error));
    if (job->keep == NULL && cli_job_keep(args, &job->keep) != CLI_DONE)
        return CLI_FAILED;
    code = cli_job_session(job, args, device, &error);
    if (code != NNRT_SUCCESS)
        return cli_fail("cannot prepare %s on '%s': %s", args->model, device,
                        error.message[0] != '\0' ? error.message : nnrt_code_name(code));
    status = cli_job_bind(job, args);
    return status == CLI_DONE ? cli_job_run(job) : status;
}

/* The tolerance of output i, a tensor of the job's model. */
static cli_tolerance cli_compare_tolerance(const cli_job *job, uint32_t i, const cli_args *args)
{
    const NNRT_Model *m = job->model;
    const bool quantized = m->allTensors.data[m->outputIndex.data[i]].quantParams.count > 0;
    return cli_tolerance_of(args, job->outputs[i].type, quantized);
}

/* Compares output i of two runs; if the shapes differ, all elements count as wrong. */
static cli_difference cli_compare_output(const cli_job *jobs, uint32_t i, const cli_args *args)
{
    const cli_tensor *x = &jobs[0].outputs[i], *y = &jobs[1].outputs[i];
    cli_difference d;
    if (x->type == y->type && x->shape.rank == y->shape.rank &&
        memcmp(x->shape.dims, y->shape.dims, (size_t)x->shape.rank * sizeof(int32_t)) == 0)
        return cli_compare(y, x, cli_compare_tolerance(jobs, i, args));
    memset(&d, 0, sizeof(d));
    d.wrong = x->count > 0 ? x->count : 1;
    d.error = d.relative = (double)INFINITY;
    d.at = SIZE_MAX;
    return d;
}

/* Prints the statistics of a difference of output i, as members of JSON or as one line. */
static void cli_compare_figures(const cli_job *jobs, uint32_t i, const cli_difference *d, const cli_args *args)
{
    const cli_tolerance t = cli_compare_tolerance(jobs, i, args);
    const cli_tensor *x = &jobs[0].outputs[i], *y = &jobs[1].outputs[i];
    char text[CLI_SHAPE_BYTES], other[CLI_SHAPE_BYTES];
    const int digits = x->type == NNRT_DATA_TYPE_FLOAT64 ? 17 : 9;
    if (args->json) {
        printf(",\"rtol\":%.9g,\"atol\":%.9g,\"max_error\":", t.rtol, t.atol);
        cli_json_number(d->error, 9);
        fputs(",\"max_relative_error\":", stdout);
        cli_json_number(d->relative, 9);
        printf(",\"wrong\":%.0f,\"ok\":%s", (double)d->wrong, d->wrong == 0 ? "true" : "false");
        if (d->wrong > 0 && d->at != SIZE_MAX) {
            printf(",\"index\":%s,\"values\":[", cli_place_text(text, sizeof(text), &x->shape, d->at));
            cli_put_element(x, d->at, digits, true);
            putchar(',');
            cli_put_element(y, d->at, digits, true);
            putchar(']');
        } else if (d->wrong > 0) {
            cli_json_dims("other_shape", &y->shape);
        }
    } else if (d->wrong > 0 && d->at == SIZE_MAX) {
        printf("is %s on one and %s on the other\n", cli_shape_text(text, sizeof(text), x->type, &x->shape),
               cli_shape_text(other, sizeof(other), y->type, &y->shape));
    } else if (d->wrong > 0) {
        printf("%.0f of %.0f differ, first %s: ", (double)d->wrong, (double)x->count,
               cli_place_text(text, sizeof(text), &x->shape, d->at));
        cli_put_element(x, d->at, digits, false);
        fputs(" and ", stdout);
        cli_put_element(y, d->at, digits, false);
        printf("; max error %.3g, relative %.3g\n", d->error, d->relative);
    } else {
        printf("ok, max error %.3g, relative %.3g\n", d->error, d->relative);
    }
}

/* Prints the comparison of all outputs; *same: no output differs. */
static void cli_compare_outputs(const cli_compare_runs *r, const cli_args *args, bool *same)
{
    char text[CLI_SHAPE_BYTES];
    *same = true;
    for (uint32_t i = 0; i < r->plain[0].nOut; i++) {
        const cli_tensor *t = &r->plain[0].outputs[i];
        const cli_difference d = cli_compare_output(r->plain, i, args);
        const char *name = nnrt_session_output(r->plain[0].session, i).name;
        *same = *same && d.wrong == 0;
        if (args->json) {
            fputs(i > 0 ? "," : "", stdout);
            cli_json_tensor(name, t->type, &t->shape);
        } else {
            fputs(i > 0 ? "          " : "output    ", stdout);
            cli_put_name(stdout, name);
            printf("  %s  ", cli_shape_text(text, sizeof(text), t->type, &t->shape));
        }
        cli_compare_figures(r->plain, i, &d, args);
        fputs(args->json ? "}" : "", stdout);
    }
}

/* Prints the first of `values` results that differs; false: none differs. */
static bool cli_compare_first(const cli_compare_runs *r, uint32_t values, const cli_args *args)
{
    const NNRT_Model *m = &r->watch.model;
    char text[CLI_SHAPE_BYTES];
    for (uint32_t i = 0; i < values; i++) {
        const cli_watched_value *v = &r->watch.values[i];
        const cli_difference d = cli_compare_output(r->watched, v->output, args);
        const cli_tensor *t = &r->watched[0].outputs[v->output];
        const nnrt_op *op = nnrt_op_find(m->nodes.data[v->node].nodeType);
        const char *name = m->nodes.data[v->node].name, *value = m->allTensors.data[v->tensor].name;
        if (d.wrong == 0)
            continue;
        if (args->json) {
            printf("{\"node\":%u,\"node_name\":", (unsigned)v->node);
            cli_json_text(name != NULL ? name : "");
            printf(",\"operator\":\"%s\",\"value\":", op != NULL ? op->name : "");
            cli_json_tensor(value != NULL ? value : "", t->type, &t->shape);
            cli_compare_figures(r->watched, v->output, &d, args);
            fputs("}}", stdout);
        } else {
            printf("first     node %u '", (unsigned)v->node);
            cli_put_name(stdout, name != NULL ? name : "");
            printf("' (%s), '", op != NULL ? op->name : "");
            cli_put_name(stdout, value != NULL ? value : "");
            printf("' %s\n          ", cli_shape_text(text, sizeof(text), t->type, &t->shape));
            cli_compare_figures(r->watched, v->output, &d, args);
        }
        return true;
    }
    return false;
}

/* The tolerances of all types, in one line. */
static void cli_compare_tolerances(const cli_args *args)
{
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_FLOAT16, NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_FLOAT64};
    fputs("tolerance ", stdout);
    for (int i = 0; i < 3; i++) {
        const cli_tolerance t = cli_tolerance_of(args, types[i], false);
        printf("%s %g + %g * |a|, ", nnrt_type_name(types[i]), t.atol, t.rtol);
    }
    printf("quantized %g, other types 0\n", cli_tolerance_of(args, NNRT_DATA_TYPE_INT8, true).atol);
}

static int cli_compare_print(const cli_compare_runs *r, uint32_t values, const cli_args *args)
{
    bool same, found;
    if (args->json) {
        cli_json_open(args);
        fputs(",\"devices\":[", stdout);
        cli_json_text(nnrt_session_device(r->plain[0].session));
        putchar(',');
        cli_json_text(nnrt_session_device(r->plain[1].session));
        fputs("],\"outputs\":[", stdout);
    } else {
        fputs("devices   ", stdout);
        cli_put_name(stdout, nnrt_session_device(r->plain[0].session));
        fputs(" and ", stdout);
        cli_put_name(stdout, nnrt_session_device(r->plain[1].session));
        printf("\nnodes     %u with %u results\n", (unsigned)r->watch.model.nodes.count, (unsigned)values);
        cli_compare_tolerances(args);
    }
    cli_compare_outputs(r, args, &same);
    if (args->json)
        printf("],\"compared\":%u,\"first\":", (unsigned)values);
    found = cli_compare_first(r, values, args);
    if (args->json)
        printf("%s,\"ok\":%s}\n", found ? "" : "null", same && !found ? "true" : "false");
    else if (!found && same)
        puts("first     no result differs");
    else if (!found)
        puts("first     no result differs when all results are outputs, which disables fusion: a device computes\n"
             "          fused nodes differently");
    return same && !found ? CLI_DONE : CLI_FAILED;
}

static int cli_compare_runs_make(cli_compare_runs *r, const cli_args *args, uint32_t *values)
{
    cli_job *first = &r->plain[0];
    cli_args own = *args;
    int status = cli_inputs_list(&first->in, args);
    own.device = r->devices[0];
    if (status == CLI_DONE)
        status = cli_inputs_fill(&first->in, args, args->inputCount == 0);
    if (status == CLI_DONE)
        status = cli_job_start(first, &own);
    if (status == CLI_DONE)
        status = cli_job_run(first);
    if (status != CLI_DONE)
        return status;
    cli_compare_lend(&r->plain[1], first, first->model);
    status = cli_compare_run(&r->plain[1], args, r->devices[1]);
    if (status == CLI_DONE)
        status = cli_watch(&r->watch, first->model, values);
    for (int i = 0; i < 2 && status == CLI_DONE; i++) {
        cli_compare_lend(&r->watched[i], first, &r->watch.model);
        status = cli_compare_run(&r->watched[i], args, r->devices[i]);
    }
    return status;
}

static int cli_compare_devices(const cli_args *args)
{
    cli_compare_runs r;
    uint32_t values;
    int status;
    if (args->deviceCount == 0 || args->deviceCount > 2)
        return cli_usage("compare: expected --device A --device B, or one --device to compare with reference");
    memset(&r, 0, sizeof(r));
    nnrt_memory_allocate(&r.watch.memory, NULL);
    r.devices[0] = args->deviceCount == 2 ? args->devices[0] : "reference";
    r.devices[1] = args->devices[args->deviceCount - 1];
    status = cli_compare_runs_make(&r, args, &values);
    if (status == CLI_DONE)
        status = cli_compare_print(&r, values, args);
    cli_compare_free(&r);
    return status;
}

#endif /* NNRT_TOOL_COMPARE_H */
