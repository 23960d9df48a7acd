/*
check.h - the command check: compares a model's outputs with ONNX test data.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_CHECK_H
#define NNRT_TOOL_CHECK_H

#include <dirent.h>
#include <sys/stat.h>

#include "../common/job.h"

/* Folders of test data sets. */
typedef struct cli_sets {
    char **paths;
    size_t count;
} cli_sets;

static void cli_sets_free(cli_sets *sets)
{
    for (size_t i = 0; i < sets->count; i++)
        free(sets->paths[i]);
    free(sets->paths);
    memset(sets, 0, sizeof(*sets));
}

/* DIR/PREFIX_NUMBER.pb or .npy, false: neither exists. */
static bool cli_set_file(char *out, size_t size, const char *dir, const char *prefix, uint32_t number)
{
    struct stat s;
    for (int k = 0; k < 2; k++) {
        const int n = snprintf(out, size, "%s/%s_%u.%s", dir, prefix, (unsigned)number, k == 0 ? "pb" : "npy");
        if (n > 0 && (size_t)n < size && stat(out, &s) == 0)
            return true;
    }
    return false;
}

static int cli_sets_add(cli_sets *sets, const char *dir, const char *name)
{
    size_t room = strlen(dir) + strlen(name) + 2;
    char **grown = (char **)realloc(sets->paths, (sets->count + 1) * sizeof(*grown));
    char *path = (char *)cli_alloc(room, 1);
    if (grown != NULL)
        sets->paths = grown;
    if (grown == NULL || path == NULL) {
        free(path);
        return cli_fail("out of memory for the list of test data sets");
    }
    snprintf(path, room, "%s%s%s", dir, *name != '\0' ? "/" : "", name);
    sets->paths[sets->count++] = path;
    return CLI_DONE;
}

/* Shorter names first, so that _2 precedes _10. */
static int cli_compare_paths(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t n = strlen(x), m = strlen(y);
    return n != m ? (n < m ? -1 : 1) : strcmp(x, y);
}

/* DIR itself if it has input_0 or output_0, else its folders test_data_set_*. */
static int cli_sets_find(cli_sets *sets, const char *dir)
{
    char path[4096];
    struct dirent *entry;
    DIR *d;
    int status = CLI_DONE;
    if (cli_set_file(path, sizeof(path), dir, "input", 0) || cli_set_file(path, sizeof(path), dir, "output", 0))
        return cli_sets_add(sets, dir, "");
    d = opendir(dir);
    if (d == NULL)
        return cli_fail("cannot open the folder %s: %s", dir, strerror(errno));
    while (status == CLI_DONE && (entry = readdir(d)) != NULL)
        if (strncmp(entry->d_name, "test_data_set_", 14) == 0)
            status = cli_sets_add(sets, dir, entry->d_name);
    closedir(d);
    if (status == CLI_DONE && sets->count == 0)
        return cli_fail("%s has neither input_0.pb nor input_0.npy nor a folder test_data_set_*", dir);
    if (status == CLI_DONE)
        qsort(sets->paths, sets->count, sizeof(*sets->paths), cli_compare_paths);
    return status;
}

/* Reads one file of a set. *index: the input or output with the tensor's name, else number k. */
static int cli_set_read(const char *path, uint32_t k, const cli_job *job, bool output, cli_tensor *t, uint32_t *index)
{
    uint32_t count = output ? job->nOut : job->in.count;
    char name[512];
    int status = cli_tensor_read(path, t, name, sizeof(name));
    if (status != CLI_DONE)
        return status;
    *index = k;
    for (uint32_t i = 0; i < count && name[0] != '\0'; i++)
        if (strcmp(name, output ? nnrt_session_output(job->session, i).name : job->in.data[i].name) == 0)
            *index = i;
    if (*index < count)
        return CLI_DONE;
    cli_tensor_free(t);
    return cli_fail("%s: the model has %u %s%s only", path, (unsigned)count, output ? "output" : "input",
                    count != 1 ? "s" : "");
}

/* Sets the value of every input of job->in from its input_K. */
static int cli_set_inputs(cli_job *job, const char *dir)
{
    char path[4096], names[512];
    for (uint32_t k = 0; cli_set_file(path, sizeof(path), dir, "input", k); k++) {
        cli_tensor t;
        uint32_t i;
        if (cli_set_read(path, k, job, false, &t, &i) != CLI_DONE)
            return CLI_FAILED;
        if (job->in.data[i].source != NULL) {
            cli_tensor_free(&t);
            return cli_fail("%s: input '%s' already has a value", path, job->in.data[i].name);
        }
        job->in.data[i].source = "file";
        job->in.data[i].fromFile = true;
        job->in.data[i].value = t;
        if (cli_inputs_fit(&job->in, i, path) != CLI_DONE ||
            cli_tensor_convert(&job->in.data[i].value, job->in.data[i].type, path, job->in.data[i].name) != CLI_DONE)
            return CLI_FAILED;
    }
    if (*cli_inputs_text(&job->in, true, 0, names, sizeof(names)) != '\0')
        return cli_fail("%s has no value for input %s", dir, names);
    return CLI_DONE;
}

static const char *cli_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

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
        status = cli_inputs_apply_most(&job.in, args);
    if (status == CLI_DONE)
        status = dir != NULL ? cli_set_inputs(&job, dir) : cli_inputs_fill(&job.in, args);
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
