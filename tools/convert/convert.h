/*
convert.h - the command convert: .nnrt files and their metadata.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_CONVERT_H
#define NNRT_TOOL_CONVERT_H

#include "../common/job.h"

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

/* Checks that labels match the size of an axis of their output, or of any output. Labels of the file, which its author chose, give
   a note; labels of options are an error. */
static int cli_convert_check_labels(const cli_job *job, const nnrt_metadata *e, bool ofFile, const char *path)
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
    if (ofFile) {
        cli_note("%s: metadata %s has %u lines, expected the size of an axis of an output", path, e->key, (unsigned)n);
        return CLI_DONE;
    }
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
    const uint32_t count = m->count;
    uint64_t *values = (uint64_t *)cli_alloc(count, sizeof(*values)); /* hashes of the values in the file */
    int status = values != NULL ? CLI_DONE : CLI_FAILED;
    for (uint32_t i = 0; i < count && values != NULL; i++)
        values[i] = cli_hash(0, m->data[i].value, strlen(m->data[i].value));
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
            const char *value = m->data[i].value;
            cli_convert_prepare(job);
            status = cli_convert_check_labels(job, &m->data[i], i < count && values[i] == cli_hash(0, value, strlen(value)), args->model);
        } else if (strncmp(m->data[i].key, "input.", 6) == 0) {
            status = cli_convert_check_input(job, &m->data[i], args->model);
        }
    }
    for (uint32_t i = 0; status == CLI_DONE && i < job->in.count; i++)
        status = cli_metadata_one_factor(m, args->model, job->in.data[i].name);
    free(values);
    return status;
}

/* Prints the name and the size of the file that was written; kind: ", a plan for firmware", or nothing. The results of nnrt quantize
   have begun its line of JSON. */
static int cli_put_written(const cli_args *args, size_t bytes, const char *kind)
{
    if (args->json) {
        if (args->data == NULL && args->weightBits == 0 && !args->dynamicCodes)
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

static int cli_convert(const cli_args *given)
{
    cli_args own = *given;
    const cli_args *const args = &own;
    cli_job job;
    int status;
    own.operands = true;
    memset(&job, 0, sizeof(job));
    job.fixesShapes = true;
    status = cli_inputs_make(&job.in, args);
    if (status == CLI_DONE)
        status = cli_inputs_apply_shapes(&job.in, args);
    if (status == CLI_DONE)
        status = cli_convert_load(&job, args);
    if (status == CLI_DONE)
        status = cli_convert_metadata(&job, args);
    if (status == CLI_DONE)
        status = cli_convert_save(&job, args);
    cli_job_free(&job);
    return status;
}

#endif /* NNRT_TOOL_CONVERT_H */
