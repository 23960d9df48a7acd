/*
run.h - the command run: one run with given inputs, its outputs, and the results of all nodes.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_RUN_H
#define NNRT_TOOL_RUN_H

#include "compare.h"
#include "profile.h"

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
        status = cli_inputs_fill(&job->in, args, false);
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

#endif /* NNRT_TOOL_RUN_H */
