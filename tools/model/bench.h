/*
bench.h - the command bench: times of loading, preparing and running.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_BENCH_H
#define NNRT_TOOL_BENCH_H

#include "profile.h"

static int cli_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* If the model divides by random integers, 0 to 7, one of which is 0: makes them 1 to 7. */
static void cli_bench_divisors(cli_job *job)
{
    uint64_t seed;
    bool changed = false;
    if (nnrt_run(job->session, job->io, job->nIn, job->io + job->nIn, job->nOut) != NNRT_INVALID_PARAMETER ||
        strstr(nnrt_session_error(job->session), "divisor is 0") == NULL)
        return;
    for (uint32_t i = 0; i < job->in.count; i++) {
        cli_tensor *t = &job->in.data[i].value;
        if (!cli_is_random(job->in.data[i].source, &seed) || (NNRT_TYPES_OF(t->type) & NNRT_TYPES_INT) == 0)
            continue;
        for (size_t k = 0; k < t->count; k++)
            if (cli_integer(t, k) == 0) {
                cli_set_integer(t, k, 1);
                changed = true;
            }
    }
    if (changed)
        cli_note("the model divides by random integers: they are 1 to 7, not 0 to 7");
}

/* Three untimed runs, then *reps timed ones (0: chosen from the time of the last untimed run). The caller frees
   *times. */
static int cli_bench_times(cli_job *job, cli_profile *profile, uint32_t *reps, double **times)
{
    cli_progress progress = cli_progress_of("bench");
    double start = 0;
    int status = CLI_DONE;
    cli_bench_divisors(job);
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
    printf("arena     %.0f bytes\n", (double)m.arena);
    printf("constants %.0f bytes, %.0f of them used in place\n", cli_constant_bytes(job->model), (double)m.constants);
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
        status = cli_inputs_fill(&job.in, args, true);
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

#endif /* NNRT_TOOL_BENCH_H */
