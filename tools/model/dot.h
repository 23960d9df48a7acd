/*
dot.h - the command dot: a model as a Graphviz graph.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_DOT_H
#define NNRT_TOOL_DOT_H

#include "../common/job.h"

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

#endif /* NNRT_TOOL_DOT_H */
