/*
accuracy.h - the command accuracy: how often a classifier's largest output is the right class, for one model or two.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_ACCURACY_H
#define NNRT_TOOL_ACCURACY_H

#include "quantize.h"

#define CLI_CONFUSIONS 10 /* lines of confused classes */
#define CLI_MOST_CLASSES 4096

/* The results of one model. */
typedef struct cli_verdict {
    uint32_t *classes; /* of the largest element of each sample */
    uint32_t top1, top5;
} cli_verdict;

typedef struct cli_accuracy {
    cli_samples samples;
    uint32_t *expected; /* class of each sample */
    uint32_t nClasses;
    cli_verdict models[2];
    const char *paths[2];
    uint32_t nModels;
} cli_accuracy;

static void cli_accuracy_free(cli_accuracy *a)
{
    free(a->expected);
    free(a->models[0].classes);
    free(a->models[1].classes);
    cli_samples_free(&a->samples);
}

/* The number that the text is, or the line of the model's labels; false: neither. */
static bool cli_class_of(const cli_metadata *m, const char *output, const char *text, uint32_t *class)
{
    const nnrt_metadata *labels = cli_labels_find(m, output);
    const char *line = labels != NULL ? labels->value : "";
    if (cli_take_whole(text, 0, UINT32_MAX - 1, class))
        return true;
    for (*class = 0; *line != '\0'; ++*class) {
        const size_t length = strcspn(line, "\n");
        if (strlen(text) == length && memcmp(text, line, length) == 0)
            return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

/* The sample whose file has this name; UINT32_MAX: none. */
static uint32_t cli_sample_named(const cli_samples *s, const char *name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->data[i].row == 0 && strcmp(cli_last_part(s->data[i].path), name) == 0)
            return i;
    return UINT32_MAX;
}

/* One line of --labels: CLASS of sample number `line`, or FILE CLASS. */
static int cli_accuracy_line(cli_accuracy *a, const char *path, uint32_t line, char *text)
{
    const nnrt_io_info out = nnrt_session_output(a->samples.job->session, 0);
    char *space = strrchr(text, ' ');
    uint32_t sample = line, class;
    if (space != NULL && (sample = cli_sample_named(&a->samples, (*space = '\0', text))) == UINT32_MAX)
        return cli_fail("%s: line %u names '%s', which is no file in %s", path, (unsigned)line + 1, text, a->samples.args->data);
    if (sample >= a->samples.count)
        return cli_fail("%s has more lines than %s has samples, %u", path, a->samples.args->data, (unsigned)a->samples.count);
    if (!cli_class_of(&a->samples.job->in.metadata, out.name, space != NULL ? space + 1 : text, &class) || class >= a->nClasses)
        return cli_fail("%s: line %u has class '%s', expected 0 to %u or a label of the model", path, (unsigned)line + 1,
                        space != NULL ? space + 1 : text, (unsigned)a->nClasses - 1);
    a->expected[sample] = class;
    return CLI_DONE;
}

/* Reads --labels, a text, or integers in a .npy file. */
static int cli_accuracy_labels(cli_accuracy *a, const char *path)
{
    char *text = NULL, *line;
    uint32_t n = 0;
    int status = CLI_DONE;
    if ((a->expected = (uint32_t *)cli_alloc(a->samples.count, sizeof(*a->expected))) == NULL)
        return CLI_FAILED;
    memset(a->expected, 0xFF, a->samples.count * sizeof(*a->expected));
    if (cli_ends_with(path, ".npy")) {
        cli_tensor t;
        char name[8];
        if (cli_tensor_read(path, &t, name, sizeof(name)) != CLI_DONE)
            return CLI_FAILED;
        for (; n < a->samples.count && n < t.count; n++)
            a->expected[n] = cli_element(&t, n) >= 0 && cli_element(&t, n) < a->nClasses ? (uint32_t)cli_element(&t, n) : UINT32_MAX;
        cli_tensor_free(&t);
    } else if ((status = cli_labels_read(path, &text)) == CLI_DONE) {
        for (line = text; status == CLI_DONE && *line != '\0'; n++) {
            char *end = line + strcspn(line, "\n");
            const bool last = *end == '\0';
            *end = '\0';
            status = cli_accuracy_line(a, path, n, line);
            line = last ? end : end + 1;
        }
        free(text);
    }
    for (uint32_t i = 0; i < a->samples.count && status == CLI_DONE; i++)
        if (a->expected[i] == UINT32_MAX)
            status = cli_fail("%s has no class from 0 to %u for sample %u, %s", path, (unsigned)a->nClasses - 1, (unsigned)i,
                              a->samples.data[i].path);
    return status;
}

/* Class and rank of the expected class in an output. */
static void cli_accuracy_count(cli_verdict *v, const cli_tensor *t, uint32_t sample, uint32_t expected)
{
    uint32_t before = 0;
    size_t best = 0;
    for (size_t i = 0; i < t->count; i++) {
        const double x = cli_element(t, i), want = cli_element(t, expected);
        before += x > want || (!(x < want) && i < expected);
        best = x > cli_element(t, best) ? i : best;
    }
    v->classes[sample] = (uint32_t)best;
    v->top1 += before == 0;
    v->top5 += before < 5;
}

static int cli_accuracy_prepare(cli_accuracy *a, cli_job *job, const cli_args *args, bool first)
{
    int status = cli_quantize_load(job, args, true);
    a->samples.job = job;
    a->samples.args = args;
    if (status == CLI_DONE)
        status = cli_job_prepare(job, args);
    if (status == CLI_DONE && first)
        status = cli_samples_find(&a->samples, args->data);
    if (status == CLI_DONE)
        status = cli_sample_values(&a->samples, 0);
    if (status == CLI_DONE)
        status = cli_job_bind(job, args);
    if (status != CLI_DONE)
        return status;
    if (job->outputs[0].count < 2 || job->outputs[0].count > CLI_MOST_CLASSES)
        return cli_fail("%s: output '%s' has %.0f elements, expected one for each of 2 to %d classes", args->model,
                        nnrt_session_output(job->session, 0).name, (double)job->outputs[0].count, CLI_MOST_CLASSES);
    if (!first && job->outputs[0].count != a->nClasses)
        return cli_fail("%s has %.0f classes, %s %u", args->model, (double)job->outputs[0].count, a->paths[0], (unsigned)a->nClasses);
    a->nClasses = (uint32_t)job->outputs[0].count;
    return first ? cli_accuracy_labels(a, args->labels[0]) : CLI_DONE;
}

/* Runs one model on all samples. */
static int cli_accuracy_run(cli_accuracy *a, const cli_args *args, uint32_t k)
{
    cli_progress progress = {"accuracy", 0, false};
    cli_args own = *args;
    cli_job job;
    int status;
    memset(&job, 0, sizeof(job));
    own.model = a->paths[k];
    cli_tensor_free(&a->samples.rows); /* of the other model's type */
    a->samples.rowsOf = NULL;
    status = cli_accuracy_prepare(a, &job, &own, k == 0);
    if (status == CLI_DONE && (a->models[k].classes = (uint32_t *)cli_alloc(a->samples.count, sizeof(uint32_t))) == NULL)
        status = CLI_FAILED;
    for (uint32_t i = 0; i < a->samples.count && status == CLI_DONE; i++) {
        nnrt_session_reset(job.session);
        if ((status = cli_sample_values(&a->samples, i)) == CLI_DONE && (status = cli_job_bind_inputs(&job, &own)) == CLI_DONE &&
            (status = cli_job_run(&job)) == CLI_DONE)
            cli_accuracy_count(&a->models[k], &job.outputs[0], i, a->expected[i]);
        cli_progress_show(&progress, i + 1, a->samples.count);
    }
    cli_progress_end(&progress);
    cli_job_free(&job);
    return status;
}

/* The pairs of classes that model k confuses most often. */
static int cli_accuracy_confusions(const cli_accuracy *a, uint32_t k)
{
    uint32_t *pairs = (uint32_t *)cli_alloc((size_t)a->nClasses * a->nClasses, sizeof(*pairs));
    if (pairs == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < a->samples.count; i++)
        if (a->expected[i] != a->models[k].classes[i])
            pairs[(size_t)a->expected[i] * a->nClasses + a->models[k].classes[i]]++;
    for (uint32_t line = 0; line < CLI_CONFUSIONS; line++) {
        size_t most = 0;
        for (size_t i = 1; i < (size_t)a->nClasses * a->nClasses; i++)
            most = pairs[i] > pairs[most] ? i : most;
        if (pairs[most] == 0)
            break;
        printf("%s%u as %u: %u\n", line == 0 ? "confused   " : "           ", (unsigned)(most / a->nClasses), (unsigned)(most % a->nClasses), (unsigned)pairs[most]);
        pairs[most] = 0;
    }
    free(pairs);
    return CLI_DONE;
}

static int cli_accuracy_print(const cli_accuracy *a, const cli_args *args)
{
    uint32_t agree = 0;
    int status = CLI_DONE;
    for (uint32_t i = 0; i < a->samples.count && a->nModels == 2; i++)
        agree += a->models[0].classes[i] == a->models[1].classes[i];
    if (args->json)
        printf("{\"samples\":%u,\"classes\":%u,\"models\":[", (unsigned)a->samples.count, (unsigned)a->nClasses);
    else
        printf("samples    %u of %u classes\n", (unsigned)a->samples.count, (unsigned)a->nClasses);
    for (uint32_t k = 0; k < a->nModels && status == CLI_DONE; k++) {
        const double percent = 100.0 / a->samples.count;
        if (args->json) {
            fputs(k > 0 ? ",{\"file\":" : "{\"file\":", stdout);
            cli_json_text(a->paths[k]);
            printf(",\"top1\":%u,\"top5\":%u}", (unsigned)a->models[k].top1, (unsigned)a->models[k].top5);
            continue;
        }
        fputs("model      ", stdout);
        cli_put_name(stdout, a->paths[k]);
        printf("\ntop 1      %.2f %%, %u\ntop 5      %.2f %%, %u\n",
               percent * a->models[k].top1, (unsigned)a->models[k].top1, percent * a->models[k].top5, (unsigned)a->models[k].top5);
        status = cli_accuracy_confusions(a, k);
    }
    if (args->json)
        printf("],\"agree\":%u}\n", (unsigned)agree);
    else if (a->nModels == 2)
        printf("agree      %u of %u\n", (unsigned)agree, (unsigned)a->samples.count);
    return status;
}

static int cli_accuracy_command(const cli_args *args)
{
    cli_accuracy a;
    int status = CLI_DONE;
    memset(&a, 0, sizeof(a));
    if (args->labelsCount != 1)
        return cli_usage("accuracy: expected --labels FILE once: the class of each sample");
    a.paths[0] = args->model;
    a.paths[1] = args->output;
    a.nModels = args->output != NULL ? 2 : 1;
    for (uint32_t k = 0; k < a.nModels && status == CLI_DONE; k++)
        status = cli_accuracy_run(&a, args, k);
    if (status == CLI_DONE)
        status = cli_accuracy_print(&a, args);
    cli_accuracy_free(&a);
    return status;
}

#endif /* NNRT_TOOL_ACCURACY_H */
