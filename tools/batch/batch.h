/*
batch.h - the command batch: runs a model on many samples, in processes of one or many machines.
Part of tools/nnrt.c.

Idea: the samples, in a fixed order, are divided into chunks of consecutive samples. The rows of a chunk of an output are one file
below OUTPUT/chunks, which gets its name when all of it is on the disk: it is whole or absent. A chunk whose files exist is
done, so a run that was killed continues, and any number of processes may work in one folder: the bytes of a chunk do not
depend on who computes it. Chunk c belongs to shard c % N: without communication, and no shard has more than one chunk more
than another. Two processes that compute the same chunk waste time and harm nothing. OUTPUT/batch.txt, the manifest, states
everything that the bytes depend on, and a run that differs from it is refused. At last the chunks are joined.

    >>shards   the shard of this process
    >>model    the session, inputs and outputs of a run
    >>chunks   computing
    >>jobs     processes
    >>command  the command
*/
#ifndef NNRT_TOOL_BATCH_H
#define NNRT_TOOL_BATCH_H

#include "batch_folder.h"

/* Set by nnrt-mpi: rank and number of the processes; wait returns the worst status of all of them when all have called it. */
static struct {
    uint32_t rank, size; /* size 0: no MPI */
    int (*wait)(int status);
} cli_ranks;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>shards */

/* Reads a number from a variable of the environment. false: it is not set, or has another value. */
static bool cli_batch_variable(const char *name, uint32_t *out)
{
    const char *text = getenv(name);
    return text != NULL && cli_take_whole(text, 0, INT32_MAX, out);
}

/* --shard env: array jobs of Slurm (indices with a common step), indexed jobs of Kubernetes, GNU parallel (counted from 1). */
static int cli_batch_environment(cli_batch *b)
{
    uint32_t first = 0, last = 0, step = 1, count = 0;
    if (cli_batch_variable("SLURM_ARRAY_TASK_ID", &b->shard)) {
        if (!cli_batch_variable("SLURM_ARRAY_TASK_MIN", &first) || !cli_batch_variable("SLURM_ARRAY_TASK_MAX", &last) ||
            !cli_batch_variable("SLURM_ARRAY_TASK_COUNT", &count))
            return cli_usage("--shard env: SLURM_ARRAY_TASK_ID without SLURM_ARRAY_TASK_MIN, _MAX and _COUNT");
        step = count > 1 ? (last - first) / (count - 1) : 1;
        if (b->shard < first || step == 0 || (last - first) != step * (count - 1) || (b->shard - first) % step != 0)
            return cli_usage("--shard env: the array of Slurm has %u tasks from %u to %u without a common step; use --array=0-N",
                             (unsigned)count, (unsigned)first, (unsigned)last);
        b->shard = (b->shard - first) / step;
    } else if (cli_batch_variable("PARALLEL_SEQ", &b->shard) && b->shard > 0) {
        b->shard--;
    } else if (!cli_batch_variable("JOB_COMPLETION_INDEX", &b->shard)) {
        return cli_usage("--shard env: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and PARALLEL_SEQ is set; give --shard I/N");
    }
    if (b->args->shard[3] == '\0' && count == 0)
        return cli_usage("--shard env: only an array of Slurm knows the number of shards; give --shard env/N");
    b->shards = count;
    return CLI_DONE;
}

/* Shard and number of shards: of MPI, or of --shard. */
static int cli_batch_shard(cli_batch *b)
{
    const char *text = b->args->shard, *slash = text != NULL ? strchr(text, '/') : NULL;
    char number[16] = "";
    bool env;
    int status = CLI_DONE;
    b->shard = cli_ranks.rank;
    b->shards = cli_ranks.size > 0 ? cli_ranks.size : 1;
    if (text == NULL)
        return CLI_DONE;
    if (cli_ranks.size > 0 || b->args->merge)
        return cli_usage(b->args->merge ? "--merge joins the chunks of all shards; omit --shard" : "nnrt-mpi takes the shard from MPI; omit --shard");
    env = strncmp(text, "env", 3) == 0 && (text[3] == '\0' || slash == text + 3);
    if (env)
        status = cli_batch_environment(b);
    else if (slash != NULL && (size_t)(slash - text) < sizeof(number))
        memcpy(number, text, (size_t)(slash - text));
    if (status == CLI_DONE && ((!env && !cli_take_whole(number, 0, INT32_MAX, &b->shard)) ||
                               (slash != NULL && !cli_take_whole(slash + 1, 1, INT32_MAX, &b->shards))))
        return cli_usage("--shard %s: expected I/N, env or env/N", text);
    if (status == CLI_DONE && b->shard >= b->shards)
        return cli_usage("--shard %s: shard %u of %u; shards are counted from 0", text, (unsigned)b->shard, (unsigned)b->shards);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>model */

/* The first dimension of input i becomes `batch` if the file leaves it dynamic. */
static int cli_batch_shape(cli_inputs *in, uint32_t i, uint32_t batch)
{
    nnrt_dims *shape = &in->shapes[i];
    const cli_input *input = &in->data[i];
    char text[CLI_SHAPE_BYTES];
    if (shape->rank > 0 && input->declared.dims[0] < 0 && (shape->dims[0] < 0 || batch > 1))
        shape->dims[0] = (int32_t)batch;
    if (batch > 1 && (shape->rank == 0 || shape->dims[0] != (int32_t)batch))
        return cli_fail("--batch %u: input '%s' is %s, its first dimension is not %u", (unsigned)batch, input->name,
                        cli_shape_text(text, sizeof(text), input->type, shape), (unsigned)batch);
    return CLI_DONE;
}

/* Loads and prepares the model for runs of `batch` samples. */
static int cli_batch_load(cli_job *job, const cli_args *args, uint32_t batch)
{
    char sizes[CLI_LINE_BYTES];
    int status = cli_inputs_make(&job->in, args);
    if (status == CLI_DONE)
        status = cli_inputs_apply_shapes(&job->in, args);
    for (uint32_t i = 0; i < job->in.count && status == CLI_DONE; i++)
        status = cli_batch_shape(&job->in, i, batch);
    if (status == CLI_DONE && cli_inputs_ask(&job->in, args, sizes, sizeof(sizes)))
        status = cli_usage("%s", sizes);
    if (status == CLI_DONE)
        status = cli_job_load_to_run(job, args);
    return status == CLI_DONE ? cli_job_prepare(job, args) : status;
}

/* Whether all first dimensions are the file's to leave dynamic. */
static bool cli_batch_dynamic(const cli_inputs *in)
{
    bool dynamic = in->count > 0;
    for (uint32_t i = 0; i < in->count; i++)
        dynamic = dynamic && in->data[i].declared.rank > 0 && in->data[i].declared.dims[0] < 0;
    return dynamic;
}

/* The first dimension of an output may equal --batch by chance, as 3 of [3,n]. It is the batch if it has the size of another
   batch, too. */
static int cli_batch_rows(const cli_args *args)
{
    cli_job job;
    int status;
    memset(&job, 0, sizeof(job));
    if ((status = cli_inputs_make(&job.in, args)) == CLI_DONE && cli_batch_dynamic(&job.in)) {
        cli_inputs_free(&job.in);
        status = cli_batch_load(&job, args, args->batch + 1);
        for (uint32_t i = 0; status == CLI_DONE && i < nnrt_session_outputs(job.session); i++) {
            const nnrt_io_info info = nnrt_session_output(job.session, i);
            if (info.shape.rank == 0 || info.shape.dims[0] != (int32_t)args->batch + 1)
                status = cli_fail("--batch %u: the first dimension of output '%s' is not that of the inputs", (unsigned)args->batch, info.name);
        }
    }
    cli_job_free(&job);
    return status;
}

/* An input of a run: finds the input of the file, which from now on has the shape of one sample. */
static int cli_batch_input(cli_batch *b, uint32_t i)
{
    const nnrt_io_info info = nnrt_session_input(b->job.session, i);
    uint32_t k = 0;
    while (k < b->job.in.count && strcmp(b->job.in.data[(i + k) % b->job.in.count].name, info.name) != 0)
        k++;
    if (k == b->job.in.count)
        return cli_fail("cannot run %s: the session expects an input '%s' that the file does not have", b->args->model, info.name);
    b->from[i] = (i + k) % b->job.in.count;
    if (b->batch > 1)
        b->job.in.shapes[b->from[i]].dims[0] = 1;
    if (cli_tensor_make(&b->inputs[i], info.dataType, &info.shape, info.name) != CLI_DONE)
        return CLI_FAILED;
    b->job.io[i].data = b->inputs[i].data;
    b->job.io[i].bytes = b->inputs[i].bytes;
    return CLI_DONE;
}

/* The rows of an output: without the first axis if that is the batch. NaN, or 0 for integers, is the row of a bad sample. */
static int cli_batch_output(cli_batch *b, uint32_t i)
{
    const nnrt_io_info info = nnrt_session_output(b->job.session, i);
    nnrt_dims row = info.shape;
    char text[CLI_SHAPE_BYTES];
    const bool first = row.rank > 0 && row.dims[0] == (int32_t)b->batch;
    if (info.open)
        return cli_fail("output '%s' is %s: its rows would have different sizes", info.name,
                        cli_shape_text(text, sizeof(text), info.dataType, &info.shape));
    if ((b->batch > 1 && !first) || (!first && row.rank == NNRT_MAX_RANK))
        return cli_fail("--batch %u: output '%s' is %s, its first dimension is not %u", (unsigned)b->batch, info.name,
                        cli_shape_text(text, sizeof(text), info.dataType, &info.shape), (unsigned)b->batch);
    if (first)
        memmove(row.dims, row.dims + 1, (size_t)--row.rank * sizeof(*row.dims));
    if (cli_tensor_make(&b->rows[i], info.dataType, &row, info.name) != CLI_DONE)
        return CLI_FAILED;
    for (size_t k = 0; k < b->rows[i].count && cli_is_float(info.dataType); k++)
        cli_set_element(&b->rows[i], k, (double)NAN);
    b->paths[i] = cli_output_path(b->args->outputDir, info.name, b->paths, i);
    return b->paths[i] != NULL ? CLI_DONE : CLI_FAILED;
}

/* Makes the session, and the buffers of a run. */
static int cli_batch_model(cli_batch *b)
{
    cli_job *job = &b->job;
    int status = b->args->batch > 1 ? cli_batch_rows(b->args) : CLI_DONE;
    b->batch = b->args->batch > 0 ? b->args->batch : 1;
    if (status == CLI_DONE)
        status = cli_batch_load(job, b->args, b->batch);
    if (status == CLI_DONE)
        status = cli_job_bind_outputs(job);
    if (status != CLI_DONE)
        return status;
    b->from = (uint32_t *)cli_alloc(job->nIn, sizeof(*b->from));
    b->inputs = (cli_tensor *)cli_alloc(job->nIn, sizeof(*b->inputs));
    b->rows = (cli_tensor *)cli_alloc(job->nOut, sizeof(*b->rows));
    b->paths = (char **)cli_alloc(job->nOut, sizeof(*b->paths));
    if (b->from == NULL || b->inputs == NULL || b->rows == NULL || b->paths == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < job->nIn && status == CLI_DONE; i++)
        status = cli_batch_input(b, i);
    for (uint32_t i = 0; i < job->nOut && status == CLI_DONE; i++)
        status = cli_batch_output(b, i);
    return status;
}

/* Lists the samples, and divides them. By default there are at least 64 chunks of equal size. */
static int cli_batch_samples(cli_batch *b)
{
    const size_t each = b->job.nIn > 0 && b->inputs[0].bytes > 0 ? b->inputs[0].bytes / b->batch : 1;
    int status;
    b->samples.job = &b->job;
    b->samples.args = b->args;
    b->samples.ahead = each < (size_t)1 << 24 ? (uint32_t)(((size_t)1 << 24) / each < 1024 ? ((size_t)1 << 24) / each : 1024) : 1;
    if ((status = cli_samples_find(&b->samples, b->args->data)) != CLI_DONE)
        return status;
    b->chunk = b->args->chunk > 0 ? b->args->chunk : (b->samples.count + 63) / 64;
    b->chunk = b->args->chunk == 0 && b->chunk > 1024 ? 1024 : b->chunk;
    b->chunk += (b->batch - b->chunk % b->batch) % b->batch;
    b->chunks = (uint32_t)(((uint64_t)b->samples.count + b->chunk - 1) / b->chunk);
    b->samples.ahead = b->samples.ahead < b->chunk ? b->samples.ahead : b->chunk;
    b->bad = (bool *)cli_alloc(b->chunk, sizeof(*b->bad));
    return b->bad != NULL ? CLI_DONE : CLI_FAILED;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>chunks */

/* Reports samples as done. given: they took no time. */
static void cli_batch_tell(cli_batch *b, uint32_t count, bool given)
{
#if CLI_PROCESSES
    const uint32_t message[2] = {count, given};
    if (b->pipe >= 0) {
        (void)!write(b->pipe, message, sizeof(message)); /* nobody reads any more: SIGPIPE */
        return;
    }
#endif
    b->done += count;
    b->progress.given += given ? count : 0;
    cli_progress_show(&b->progress, b->done, b->total);
}

/* Writes a sample into the inputs of a run at place `slot`. */
static int cli_batch_fill(cli_batch *b, uint32_t index, uint32_t slot)
{
    int status;
    cli_no_notes = b->samples.noted;
    status = cli_sample_values(&b->samples, index);
    cli_no_notes = false;
    b->samples.noted = true;
    for (uint32_t i = 0; i < b->job.nIn && status == CLI_DONE; i++) {
        cli_tensor *value = &b->job.in.data[b->from[i]].value;
        const size_t bytes = b->inputs[i].bytes / b->batch;
        status = cli_job_quantize(&b->job, i, value);
        if (status == CLI_DONE && value->bytes != bytes)
            status = cli_fail("%s: input '%s' has %.0f bytes, expected %.0f", b->samples.data[index].path, b->job.in.data[b->from[i]].name,
                              (double)value->bytes, (double)bytes);
        if (status == CLI_DONE)
            memcpy((uint8_t *)b->inputs[i].data + slot * bytes, value->data, bytes);
    }
    return status;
}

/* --skip-bad: the inputs of a sample that cannot be used are 0. */
static bool cli_batch_skips(const cli_batch *b, uint32_t slot)
{
    if (!b->args->skipBad)
        return false;
    for (uint32_t i = 0; i < b->job.nIn; i++)
        memset((uint8_t *)b->inputs[i].data + slot * (b->inputs[i].bytes / b->batch), 0, b->inputs[i].bytes / b->batch);
    return true;
}

/* Runs samples [first, first + count), count at most b->batch; the last one fills the rest of the batch. */
static int cli_batch_run(cli_batch *b, uint32_t first, uint32_t count, bool *bad)
{
    for (uint32_t k = 0; k < b->batch; k++) {
        const uint32_t at = k < count ? k : count - 1;
        bad[at] = cli_batch_fill(b, first + at, k) != CLI_DONE;
        if (bad[at] && !cli_batch_skips(b, k))
            return CLI_FAILED;
    }
    nnrt_session_reset(b->job.session);
    return cli_job_run(&b->job);
}

/* Writes the rows of the last run. */
static bool cli_batch_write(const cli_batch *b, cli_out *outs, uint32_t count, const bool *bad)
{
    bool good = true;
    for (uint32_t i = 0; i < b->job.nOut; i++)
        for (uint32_t k = 0; k < count && good; k++) {
            const cli_tensor *row = &b->rows[i];
            const uint8_t *data = bad[k] ? (const uint8_t *)row->data : (const uint8_t *)b->job.outputs[i].data + k * row->bytes;
            good = fwrite(data, 1, row->bytes, outs[i].f) == row->bytes;
        }
    return good;
}

/* Lists the bad samples of a chunk: index, tab, path. Written before the rows, so that rows which exist have it. */
static int cli_batch_bad(const cli_batch *b, uint32_t chunk)
{
    char path[4096];
    cli_out out;
    uint32_t count = 0;
    for (uint32_t k = 0; k < cli_batch_count(b, chunk); k++)
        count += b->bad[k];
    if (count == 0)
        return CLI_DONE;
    if (cli_out_open(&out, cli_batch_file(b, b->job.nOut, chunk, path, sizeof(path)), false) != CLI_DONE)
        return CLI_FAILED;
    out.sync = true;
    for (uint32_t k = 0; k < cli_batch_count(b, chunk); k++)
        if (b->bad[k]) {
            fprintf(out.f, "%u\t", (unsigned)(chunk * b->chunk + k));
            cli_put_name(out.f, b->samples.data[chunk * b->chunk + k].path);
            fputc('\n', out.f);
        }
    return cli_out_close(&out, true);
}

/* Computes a chunk. outs and paths have an element for each output. */
static int cli_batch_compute(cli_batch *b, uint32_t chunk, cli_out *outs, char (*paths)[4096])
{
    const uint32_t first = chunk * b->chunk, count = cli_batch_count(b, chunk);
    uint32_t opened = 0, told = 0;
    int status = CLI_DONE;
    bool good = true;
    for (; opened < b->job.nOut && status == CLI_DONE; opened += status == CLI_DONE) {
        cli_batch_file(b, opened, chunk, paths[opened], sizeof(paths[opened]));
        status = cli_batch_begin(b, opened, count, paths[opened], &outs[opened]);
    }
    for (uint32_t at = 0; at < count && status == CLI_DONE && good; at += b->batch) {
        const uint32_t n = count - at < b->batch ? count - at : b->batch;
        if ((status = cli_batch_run(b, first + at, n, b->bad + at)) == CLI_DONE)
            good = cli_batch_write(b, outs, n, b->bad + at);
        if (at + n == count || cli_now_ms() - b->told > 100) {
            b->told = cli_now_ms();
            cli_batch_tell(b, at + n - told, false);
            told = at + n;
        }
    }
    if (status == CLI_DONE && good)
        status = cli_batch_bad(b, chunk);
    for (uint32_t i = 0; i < opened; i++)
        if (status != CLI_DONE)
            cli_out_drop(&outs[i]);
        else
            status = cli_out_close(&outs[i], good);
    return status;
}

/* Computes the chunks of worker w of `workers` in this shard that do not exist. */
static int cli_batch_work(cli_batch *b, uint32_t w, uint32_t workers)
{
    cli_out *outs = (cli_out *)cli_alloc(b->job.nOut, sizeof(*outs));
    char(*paths)[4096] = (char(*)[4096])cli_alloc(b->job.nOut, sizeof(*paths));
    int status = outs != NULL && paths != NULL ? CLI_DONE : CLI_FAILED;
    for (uint64_t c = b->shard + (uint64_t)w * b->shards; c < b->chunks && status == CLI_DONE; c += (uint64_t)workers * b->shards) {
        if (cli_batch_exists(b, (uint32_t)c)) {
            cli_batch_tell(b, cli_batch_count(b, (uint32_t)c), true);
            continue;
        }
        status = cli_batch_compute(b, (uint32_t)c, outs, paths);
    }
    free(outs);
    free(paths);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>jobs */

#if CLI_PROCESSES
/* A device that works in this process, without threads or connections of its own, which a child process would lack. */
static bool cli_batch_forks(const char *device)
{
    return strncmp(device, "cpu", 3) == 0 || strncmp(device, "reference", 9) == 0 || strncmp(device, "auto", 4) == 0;
}

/* Starts worker w. The children share the model and its weights with this process, as none of them writes there. */
static pid_t cli_batch_start(cli_batch *b, uint32_t w, const int *ends)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        b->pipe = ends[1];
        if (cli_batch_work(b, w, b->args->jobs) == CLI_DONE)
            _exit(CLI_DONE);
        cli_batch_tell(b, 0, false); /* a failure: nobody waits for the others */
        _exit(CLI_FAILED);
    }
    return child;
}

/* Waits for all children. stop: they are stopped, as one has failed; their chunks are whole or absent. */
static int cli_batch_wait(const pid_t *children, uint32_t count, bool stop)
{
    int status = stop ? CLI_FAILED : CLI_DONE, how;
    for (uint32_t w = 0; w < count && stop; w++)
        (void)kill(children[w], SIGTERM);
    for (uint32_t w = 0; w < count; w++) {
        if (waitpid(children[w], &how, 0) < 0 || !WIFSIGNALED(how) || stop)
            continue;
        status = cli_fail("process %u of --jobs was ended by signal %d; run the same command again", (unsigned)w, WTERMSIG(how));
    }
    return status;
}

/* Runs --jobs processes, and shows their progress. */
static int cli_batch_fork(cli_batch *b)
{
    pid_t *children = (pid_t *)cli_alloc(b->args->jobs, sizeof(*children));
    uint32_t message[2], started = 0;
    int ends[2], status = CLI_DONE;
    if (children == NULL || pipe(ends) != 0) {
        free(children);
        return cli_fail("cannot start processes: %s", strerror(errno));
    }
    for (; started < b->args->jobs && status == CLI_DONE; started += status == CLI_DONE)
        if ((children[started] = cli_batch_start(b, started, ends)) < 0)
            status = cli_fail("cannot start process %u of --jobs: %s", (unsigned)started + 1, strerror(errno));
    (void)close(ends[1]);
    message[0] = 1;
    while (message[0] > 0 && read(ends[0], message, sizeof(message)) == (ssize_t)sizeof(message))
        if (message[0] > 0)
            cli_batch_tell(b, message[0], message[1] != 0);
    if (cli_batch_wait(children, started, message[0] == 0 || status != CLI_DONE) != CLI_DONE)
        status = CLI_FAILED;
    (void)close(ends[0]);
    free(children);
    return status;
}
#endif

/* Computes the chunks of this shard. */
static int cli_batch_all(cli_batch *b)
{
    int status;
    b->progress = cli_progress_of("batch");
    b->progress.lines = true;
    for (uint64_t c = b->shard; c < b->chunks; c += b->shards)
        b->total += cli_batch_count(b, (uint32_t)c);
#if CLI_PROCESSES
    status = b->args->jobs > 1 ? cli_batch_fork(b) : cli_batch_work(b, 0, 1);
#else
    status = cli_batch_work(b, 0, 1);
#endif
    cli_progress_end(&b->progress);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>command */

static void cli_batch_print(const cli_batch *b, bool merged)
{
    char text[CLI_SHAPE_BYTES];
    printf("samples     %u in %u chunks", (unsigned)b->samples.count, (unsigned)b->chunks);
    if (b->shards > 1 && !merged)
        printf(", shard %u of %u", (unsigned)b->shard, (unsigned)b->shards);
    printf("\ncomputed    %.0f now, %.0f before\n", (double)(b->done - b->progress.given), (double)b->progress.given);
    for (uint32_t i = 0; i < b->job.nOut && merged; i++) {
        nnrt_dims shape = b->rows[i].shape;
        memmove(shape.dims + 1, shape.dims, (size_t)shape.rank++ * sizeof(*shape.dims));
        shape.dims[0] = (int32_t)b->samples.count;
        fputs("output      ", stdout);
        cli_put_name(stdout, b->paths[i]);
        printf("  %s\n", cli_shape_text(text, sizeof(text), b->rows[i].type, &shape));
    }
}

static void cli_batch_free(cli_batch *b)
{
    for (uint32_t i = 0; i < b->job.nIn && b->inputs != NULL; i++)
        cli_tensor_free(&b->inputs[i]);
    for (uint32_t i = 0; i < b->job.nOut; i++) {
        if (b->rows != NULL)
            cli_tensor_free(&b->rows[i]);
        if (b->paths != NULL)
            free(b->paths[i]);
    }
    free(b->inputs);
    free(b->rows);
    free(b->paths);
    free(b->from);
    free(b->bad);
    cli_batch_unlock(b);
    cli_samples_free(&b->samples);
    cli_job_free(&b->job);
}

/* Refuses --jobs with threads, and with devices that do not survive fork(). */
static int cli_batch_check(const cli_batch *b)
{
    const uint32_t jobs = b->args->jobs;
#if CLI_PROCESSES
    if (jobs > 1 && (b->args->threads > 1 || b->args->mode > NNRT_PERFORMANCE_LOW))
        return cli_usage("batch: --jobs excludes --threads and --performance, as a process does not inherit threads");
    for (uint32_t i = 0; jobs > 1 && i < nnrt_device_count(); i++)
        if (!cli_batch_forks(nnrt_device_name(nnrt_device_at(i))))
            return cli_usage("batch: --jobs is not for device %s; start several commands with --shard I/N",
                             nnrt_device_name(nnrt_device_at(i)));
#else
    if (jobs > 1)
        return cli_usage("batch: --jobs is not available on this system; start several commands with --shard I/N");
#endif
    return CLI_DONE;
}

static int cli_batch_command(const cli_args *args)
{
    cli_batch b;
    bool merge;
    int status;
    memset(&b, 0, sizeof(b));
    b.args = args;
    b.lock = b.pipe = -1;
    status = cli_batch_shard(&b);
    if (status == CLI_DONE)
        status = cli_batch_check(&b);
    if (status == CLI_DONE)
        status = cli_batch_model(&b);
    if (status == CLI_DONE)
        status = cli_batch_samples(&b);
    if (status == CLI_DONE)
        status = cli_batch_manifest(&b);
    if (status == CLI_DONE && !args->merge)
        status = cli_batch_all(&b);
    if (cli_ranks.size > 0) {
        if (cli_ranks.rank > 0)
            cli_batch_unlock(&b);
        status = cli_ranks.wait(status);
    }
    merge = cli_ranks.size > 0 ? cli_ranks.rank == 0 : b.shards == 1;
    if (status == CLI_DONE && merge)
        status = cli_batch_merge(&b);
    if (status == CLI_DONE)
        cli_batch_print(&b, merge);
    cli_batch_free(&b);
    return status;
}

#endif /* NNRT_TOOL_BATCH_H */
