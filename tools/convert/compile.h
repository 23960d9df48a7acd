/*
compile.h - the command compile: .nnrt files with the prepared model of a device, plans for firmware.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_COMPILE_H
#define NNRT_TOOL_COMPILE_H

#include "convert.h"

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

#endif /* NNRT_TOOL_COMPILE_H */
