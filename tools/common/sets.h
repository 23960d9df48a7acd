/*
sets.h - folders of input_K and output_K files: ONNX test data, samples with several inputs.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_SETS_H
#define NNRT_TOOL_SETS_H

#include <dirent.h>
#include <sys/stat.h>

#include "job.h"

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
        job->in.data[i].given = true;
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

#endif /* NNRT_TOOL_SETS_H */
