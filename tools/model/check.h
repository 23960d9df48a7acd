/*
check.h - the command check: compares a model's outputs with ONNX test data.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_CHECK_H
#define NNRT_TOOL_CHECK_H

#include "../common/sets.h"

/* Prints the comparison of one output, as a line or as JSON. */
static void cli_check_print(const cli_args *args, const char *dir, const char *name, const cli_tensor *got,
                            const cli_tensor *want, const cli_difference *d, bool first)
{
    char place[CLI_SHAPE_BYTES];
    if (args->json) {
        fputs(first ? "" : ",", stdout);
        cli_json_tensor(name, got->type, &got->shape);
        fputs(",\"max_error\":", stdout);
        cli_json_number(d->error, 9);
        fputs(",\"max_relative_error\":", stdout);
        cli_json_number(d->relative, 9);
        printf(",\"wrong\":%.0f,\"ok\":%s}", (double)d->wrong, d->wrong == 0 ? "true" : "false");
        return;
    }
    cli_put_name(stdout, cli_last_part(dir));
    fputs("  ", stdout);
    cli_put_name(stdout, name);
    printf("  %s  max error %.3g, relative %.3g  %s\n", cli_shape_text(place, sizeof(place), got->type, &got->shape),
           d->error, d->relative, d->wrong == 0 ? "ok" : "WRONG");
    if (d->wrong > 0) {
        printf("    %.0f of %.0f outside the tolerance, first %s: got ", (double)d->wrong, (double)got->count,
               cli_place_text(place, sizeof(place), &got->shape, d->at));
        cli_put_element(got, d->at, 9, false);
        fputs(", expected ", stdout);
        cli_put_element(want, d->at, 9, false);
        putchar('\n');
    }
}

/* Compares output i with the expected value, which was read from path; set: the name of the set. */
static int cli_check_output(const cli_job *job, const cli_args *args, const char *set, const char *path, uint32_t i,
                            const cli_tensor *want, bool first)
{
    const cli_tensor *got = &job->outputs[i];
    char have[CLI_SHAPE_BYTES], expected[CLI_SHAPE_BYTES];
    cli_difference d;
    if (want->type != got->type || want->shape.rank != got->shape.rank ||
        memcmp(want->shape.dims, got->shape.dims, (size_t)want->shape.rank * sizeof(int32_t)) != 0)
        return cli_fail("%s is %s, but the output is %s", path,
                        cli_shape_text(expected, sizeof(expected), want->type, &want->shape),
                        cli_shape_text(have, sizeof(have), got->type, &got->shape));
    d = cli_compare(got, want, cli_tolerance_of(args, got->type, false));
    cli_check_print(args, set, nnrt_session_output(job->session, i).name, got, want, &d, first);
    return d.wrong > 0 ? CLI_FAILED : CLI_DONE;
}

/* Compares all outputs that have an output_K in the folder. */
static int cli_set_outputs(const cli_job *job, const cli_args *args, const char *dir)
{
    char path[4096];
    int status = CLI_DONE;
    uint32_t k = 0, i;
    for (; cli_set_file(path, sizeof(path), dir, "output", k); k++) {
        cli_tensor want;
        if (cli_set_read(path, k, job, true, &want, &i) != CLI_DONE)
            return CLI_FAILED;
        if (cli_check_output(job, args, dir, path, i, &want, k == 0) != CLI_DONE)
            status = CLI_FAILED;
        cli_tensor_free(&want);
    }
    if (k == 0)
        return cli_fail("%s has no output_0.pb and no output_0.npy", dir);
    return status;
}

/* Compares the outputs of --expected: "OUTPUT=FILE", matching the longest output name; without a name the only
   output. */
static int cli_check_expected(const cli_job *job, const cli_args *args)
{
    int status = CLI_DONE;
    for (uint32_t k = 0; k < args->expectedCount; k++) {
        const char *text = args->expected[k], *path = text;
        uint32_t i = 0;
        char name[512];
        cli_tensor want;
        for (uint32_t o = 0; o < job->nOut; o++) {
            const char *output = nnrt_session_output(job->session, o).name;
            const size_t n = strlen(output);
            if (strncmp(text, output, n) == 0 && text[n] == '=' && text + n + 1 > path) {
                path = text + n + 1;
                i = o;
            }
        }
        if (path == text && (job->nOut != 1 || strchr(text, '=') != NULL))
            return cli_usage("--expected %s: it must start with NAME=, the name of an output; 'nnrt info' lists them", text);
        if (cli_tensor_read(path, &want, name, sizeof(name)) != CLI_DONE)
            return CLI_FAILED;
        if (cli_check_output(job, args, path, path, i, &want, k == 0) != CLI_DONE)
            status = CLI_FAILED;
        cli_tensor_free(&want);
    }
    return status;
}

/* Runs one set and compares its outputs; in JSON prints the set's object. dir NULL: the set of --input and
   --expected. */
static int cli_check_set(const cli_args *args, const char *dir, bool first)
{
    cli_job job;
    int status;
    memset(&job, 0, sizeof(job));
    if (args->json) {
        fputs(first ? "{\"name\":" : ",{\"name\":", stdout);
        cli_json_text(dir != NULL ? cli_last_part(dir) : "");
        fputs(",\"outputs\":[", stdout);
    }
    status = cli_inputs_list(&job.in, args);
    if (status == CLI_DONE && dir != NULL)
        status = cli_inputs_apply_shapes(&job.in, args);
    if (status == CLI_DONE && dir != NULL)
        status = cli_inputs_apply_most(&job.in, args);
    if (status == CLI_DONE)
        status = dir != NULL ? cli_set_inputs(&job, dir) : cli_inputs_fill(&job.in, args, false);
    if (status == CLI_DONE)
        status = cli_job_start(&job, args);
    if (status == CLI_DONE)
        status = cli_job_run(&job);
    if (status == CLI_DONE)
        status = dir != NULL ? cli_set_outputs(&job, args, dir) : cli_check_expected(&job, args);
    if (args->json)
        printf("],\"ok\":%s}", status == CLI_DONE ? "true" : "false");
    cli_job_free(&job);
    return status;
}

static int cli_check(const cli_args *args)
{
    cli_progress progress = cli_progress_of("check");
    cli_sets sets;
    cli_inputs inputs;
    size_t passed = 0, count;
    int status;
    if ((args->data == NULL) == (args->expectedCount == 0) || (args->data != NULL && args->inputCount > 0))
        return cli_usage("check: no test data; give --data DIR, or --input and --expected; see 'nnrt check --help'");
    memset(&sets, 0, sizeof(sets));
    status = cli_inputs_list(&inputs, args); /* reports an invalid model once, not once per set */
    cli_inputs_free(&inputs);
    if (status == CLI_DONE && args->data != NULL)
        status = cli_sets_find(&sets, args->data);
    if (status == CLI_DONE && args->json) {
        cli_json_open(args);
        printf(",\"rtol\":%.9g,\"atol\":%.9g,\"sets\":[", args->rtol, args->atol);
    }
    count = args->data != NULL ? sets.count : 1;
    for (size_t i = 0; status == CLI_DONE && i < count; i++) {
        cli_progress_show(&progress, i, count);
        cli_progress_end(&progress);
        passed += cli_check_set(args, args->data != NULL ? sets.paths[i] : NULL, i == 0) == CLI_DONE;
    }
    if (status == CLI_DONE && args->json)
        printf("],\"passed\":%.0f,\"failed\":%.0f}\n", (double)passed, (double)(count - passed));
    else if (status == CLI_DONE)
        printf("%.0f passed, %.0f failed\n", (double)passed, (double)(count - passed));
    if (status == CLI_DONE && passed < count)
        status = CLI_FAILED;
    cli_sets_free(&sets);
    return status;
}

#endif /* NNRT_TOOL_CHECK_H */
