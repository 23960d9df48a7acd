/*
emit.h - nnrt emit-c: writes a model and its execution plan as constant data in C.
Part of tools/nnrt.c.

The plan of nnrt_plan_build is written unchanged: constants, resolved attributes, views, steps that name their kernels.
A program links these kernels and no operator table. Duplicates are written once: constants with the same address, lists
of integers with the same values. Subgraphs are plans that steps run (nnrt_plan_graphs), written before these steps.

    >>all      the whole file
    >>command  the command
*/
#ifndef NNRT_TOOL_EMIT_H
#define NNRT_TOOL_EMIT_H

#include "emit_functions.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>all */

static bool cli_emit_all(cli_emit *e)
{
    bool good = true;
    if (e->wasm)
        cli_wasm_begin(e);
    cli_emit_top(e);
    cli_emit_declarations(e);
    fprintf(e->out,
            "\n#if defined(NNRT_IMPLEMENTATION) && !defined(%s_MODEL_IMPLEMENTED)\n#define %s_MODEL_IMPLEMENTED\n\n"
            "#ifndef %s_DATA /* placement of weights and other constants, such as "
            "__attribute__((section(\".rodata.nn\"))) "
            "*/\n#define %s_DATA\n"
            "#endif\n",
            e->upper, e->upper, e->upper, e->upper);
    cli_emit_section_macros(e);
    if (e->plan->nRegions > 1)
        fputs("#ifndef NNRT_REGIONS\n"
              "#error \"this model has several memory regions: define NNRT_REGIONS before nnrt_plan.h\"\n#endif\n",
              e->out);
    cli_emit_constants(e);
    fputs("\n", e->out);
    for (uint32_t i = 0; i < e->plan->nArgs; i++)
        cli_emit_quant(e, i);
    for (uint32_t i = 0; good && i < e->nSteps; i++)
        good = cli_emit_attr(e, i);
    if (!good)
        return false;
    fputs("\n", e->out);
    cli_emit_specialized(e);
    cli_emit_plan(e);
    cli_emit_functions(e);
    if (!e->wasm)
        cli_emit_selftest(e);
    fprintf(e->out, "\n#endif /* NNRT_IMPLEMENTATION */\n");
    if (e->wasm)
        cli_wasm_end(e);
    return true;
}

/* Opens the file, writes all of it, closes it; on failure an existing file stays unchanged. */
static int cli_emit_write(cli_emit *e, const cli_args *args)
{
    cli_out out;
    bool good;
    int status;
    if (!cli_emit_find_constants(e))
        return CLI_FAILED;
    if ((status = cli_emit_read_placement(e, args)) != CLI_DONE)
        return status;
    if (!cli_emit_io_names(e) || cli_out_open(&out, e->path, true) != CLI_DONE)
        return CLI_FAILED;
    e->out = out.f;
    good = cli_emit_all(e);
    cli_progress_end(&e->progress);
    return cli_out_close(&out, good);
}

/* Whether the kernels of all steps exist on the target: reference kernels, and described kernels of a device. */
static bool cli_emit_check_kernels(const cli_emit *e, const char *model, const char *device)
{
    for (uint32_t i = 0; i < e->nSteps; i++) {
        const nnrt_plan_step *s = e->steps[i];
        bool reference = s->op == NULL && strcmp(s->kernelName, "nnrt_reshape") == 0;
        for (uint32_t k = 0; s->op != NULL && k < s->op->kernelCount; k++)
            reference = reference || strcmp(s->op->kernels[k].name, s->kernelName) == 0;
        if (!reference && s->deviceAttr == NULL && cli_emit_runs(s) == NULL) {
            (void)cli_fail("cannot write %s as C: kernel %s of step '%s' exists only in device '%s' of this machine; "
                           "use --device reference or --device mcu:TARGET",
                           model, s->kernelName, s->name, device);
            return false;
        }
        if (s->op != NULL && (s->op->flags & NNRT_OP_EMPTY) == 0 && nnrt_view_empty(&e->plan->args[s->arg + s->nIn + s->nDerived].view)) {
            (void)cli_fail("cannot write %s as C: the result of step '%s' has no elements; emit-c writes no batch of 0", model,
                           s->name);
            return false;
        }
    }
    return true;
}

/* The plan of a prepared model, if it can be written as C; NULL: it cannot, which is reported. */
static const nnrt_plan *cli_emit_plan_of(const NNRT_PreparedModel *prepared, const char *model, const char *device)
{
    const nnrt_plan *plan = nnrt_prepared_plan(prepared);
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (plan == NULL)
        (void)cli_fail("cannot write %s as C: device '%s' has no plan; use --device reference or --device mcu:TARGET",
                       model, device);
    else if (nnrt_plan_check_static(plan, &error) == NNRT_SUCCESS)
        return plan;
    else
        (void)cli_fail("cannot write %s as C: %s; emit-c requires static shapes", model, error.message);
    return NULL;
}

/* Makes the plan on `device`. With memory regions a plan of one arena comes first: its steps, which are the same,
   compute the checksums of --golden, as this program's executor knows no regions. */
static int cli_emit_build(cli_emit *e, const cli_args *args, const char *device, NNRT_ModelConfig *config,
                          nnrt_memory *memory)
{
    for (uint32_t way = e->nRegions > 0 ? 0 : 1; way < 2; way++) {
        if (e->prepared != NULL)
            e->prepared->vtbl->Destroy(e->prepared);
        e->prepared = NULL;
        config->regions = e->regions;
        config->nRegions = way == 1 ? e->nRegions : 0;
        if (nnrt_device_prepare(nnrt_device_find(device), e->job->model, config, &e->prepared) != NNRT_SUCCESS)
            return cli_fail("cannot plan %s: %s", args->model, config->error->message);
        e->plan = cli_emit_plan_of(e->prepared, args->model, device);
        if (e->plan == NULL || (args->golden && e->sums == NULL && !cli_emit_sums(e, memory)))
            return CLI_FAILED;
    }
    return cli_emit_find_steps(e) && cli_emit_check_kernels(e, args->model, device) ? CLI_DONE : CLI_FAILED;
}

/* The step whose arguments or scratch end at the end of the arena; NULL: the arena is empty. */
static const nnrt_plan_step *cli_emit_largest_step(const cli_emit *e)
{
    for (uint32_t i = 0; i < e->nSteps; i++) {
        const nnrt_plan_step *s = e->steps[i];
        size_t end = s->scratchBytes > 0 ? s->scratch + s->scratchBytes : 0;
        for (uint32_t k = 0; k < s->nIn + s->nDerived + s->nOut; k++) {
            const nnrt_plan_arg *a = &e->plan->args[s->arg + k];
            const size_t bytes = cli_emit_count(&a->view) * nnrt_type_size(a->view.dataType);
            if (a->kind == NNRT_PLACE_ARENA && a->offset + bytes > end)
                end = a->offset + bytes;
        }
        if (end > 0 && (end + 7) / 8 * 8 >= e->plan->arenaBytes)
            return s;
    }
    return NULL;
}

/* Rule of --arena: the arena is at most that large. */
static int cli_emit_check_arena(const cli_emit *e, const cli_args *args)
{
    const nnrt_plan_step *s = cli_emit_largest_step(e);
    if (args->arenaBytes == 0 || e->plan->arenaBytes <= args->arenaBytes)
        return CLI_DONE;
    return cli_fail("--arena %u: the arena of %s takes %.0f bytes, the most at step '%s' (%s); a smaller input or "
                    "--device mcu:TARGET, whose convolutions overwrite their input, makes it smaller",
                    (unsigned)args->arenaBytes, args->model, (double)e->plan->arenaBytes, s != NULL ? s->name : "",
                    s != NULL ? s->kernelName : "");
}

/* Prepares the model of job on `device`, for an arena with 8-byte alignment, and writes its plan; the job's inputs and
   results become the self-test. */
static int cli_emit_job(const cli_job *job, const cli_args *args, const char *device)
{
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_error error;
    cli_emit e;
    int status;
    memset(&e, 0, sizeof(e));
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    if (!cli_emit_name(&e, args) || cli_emit_read_regions(&e, args) != CLI_DONE)
        return CLI_USAGE;
    config.error = &error;
    config.arenaAlignment = 8;
    config.callerWorkspace = true;
    if (job->fromNnrt)
        config.inputDims = nnrt_dims_list_make(job->in.shapes, job->in.count + job->in.states);
    nnrt_memory_allocate(&memory, NULL);
    e.job = job;
    e.path = args->output;
    e.small = args->small;
    e.wasm = args->wasm;
    e.progress.label = "emit-c";
    status = cli_emit_build(&e, args, device, &config, &memory);
    if (status == CLI_DONE)
        status = cli_emit_check_arena(&e, args);
    if (status == CLI_DONE)
        status = cli_emit_write(&e, args);
    if (status == CLI_DONE && !e.wasm && strcmp(e.path, "-") != 0) {
        cli_put_name(stdout, e.path);
        printf("  %s_run, %s_run_in, %s_selftest; ", e.name, e.name, e.name);
        for (uint32_t r = 0; r < (e.nRegions > 0 ? e.nRegions : 1); r++)
            printf("%s %.0f bytes, ", e.nRegions > 0 ? e.regionNames[r] : "arena",
                   (double)(e.nRegions > 0 ? e.plan->regionBytes[r] : e.plan->arenaBytes));
        if (e.nStates > 0)
            printf("state %.0f bytes, ", (double)e.stateBytes);
        printf("weights %.0f bytes\n", (double)(e.plan->constantBytes + e.plan->derivedBytes));
    }
    for (uint32_t i = 0; i < e.nLists; i++)
        free(e.lists[i].data);
    free(e.lists);
    free(e.io);
    free(e.constants);
    free(e.inner);
    free(e.steps);
    if (e.prepared != NULL)
        e.prepared->vtbl->Destroy(e.prepared);
    nnrt_memory_end(&memory);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>command */

/* Creates a session on `device` with input values: the given ones, else random ones. */
static int cli_emit_prepare(cli_job *job, const cli_args *args, const char *device)
{
    cli_args own = *args;
    int status = cli_inputs_list(&job->in, args);
    own.device = device; /* the self-test expects its bits */
    if (status == CLI_DONE)
        status = cli_inputs_fill(&job->in, &own, true);
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

#endif /* NNRT_TOOL_EMIT_H */
