/*
accuracy.h - the command accuracy: how often a classifier's largest output is the right class, for one model or two.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_ACCURACY_H
#define NNRT_TOOL_ACCURACY_H

#include "../common/samples.h"

#define CLI_CONFUSIONS 10 /* lines of confused classes */

/* The results of one model. */
typedef struct cli_verdict {
    uint32_t *classes; /* of the largest element of each sample */
    uint32_t top1, top5;
} cli_verdict;

typedef struct cli_accuracy {
    cli_samples samples;
    cli_verdict models[2];
    const char *paths[2];
    uint32_t nModels;
} cli_accuracy;

static void cli_accuracy_free(cli_accuracy *a)
{
    free(a->models[0].classes);
    free(a->models[1].classes);
    cli_samples_free(&a->samples);
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
    int status = cli_job_load_optimized(job, args, true);
    a->samples.job = job;
    a->samples.args = args;
    if (status == CLI_DONE)
        status = cli_job_prepare(job, args);
    if (status == CLI_DONE && first)
        status = cli_samples_find(&a->samples, args->data);
    if (status == CLI_DONE)
        status = cli_samples_first(&a->samples);
    if (status == CLI_DONE)
        status = cli_job_bind(job, args);
    if (status != CLI_DONE)
        return status;
    if (job->outputs[0].count < 2 || job->outputs[0].count > CLI_MOST_CLASSES)
        return cli_fail("%s: output '%s' has %.0f elements, expected one for each of 2 to %d classes", args->model,
                        nnrt_session_output(job->session, 0).name, (double)job->outputs[0].count, CLI_MOST_CLASSES);
    if (!first && job->outputs[0].count != a->samples.nClasses)
        return cli_fail("%s has %.0f classes, %s %u", args->model, (double)job->outputs[0].count, a->paths[0], (unsigned)a->samples.nClasses);
    a->samples.nClasses = (uint32_t)job->outputs[0].count;
    if (first)
        status = cli_classes_read(&a->samples, nnrt_session_output(job->session, 0).name, args->labels[0]);
    return first && status == CLI_DONE ? cli_samples_drop_bad(&a->samples) : status;
}

/* Runs one model on all samples. */
static int cli_accuracy_run(cli_accuracy *a, const cli_args *args, uint32_t k)
{
    cli_progress progress = cli_progress_of("accuracy");
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
            cli_accuracy_count(&a->models[k], &job.outputs[0], i, a->samples.expected[i]);
        cli_progress_show(&progress, i + 1, a->samples.count);
    }
    cli_progress_end(&progress);
    cli_job_free(&job);
    return status;
}

/* The pairs of classes that model k confuses most often. */
static int cli_accuracy_confusions(const cli_accuracy *a, uint32_t k)
{
    uint32_t *pairs = (uint32_t *)cli_alloc((size_t)a->samples.nClasses * a->samples.nClasses, sizeof(*pairs));
    if (pairs == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < a->samples.count; i++)
        if (a->samples.expected[i] != a->models[k].classes[i])
            pairs[(size_t)a->samples.expected[i] * a->samples.nClasses + a->models[k].classes[i]]++;
    for (uint32_t line = 0; line < CLI_CONFUSIONS; line++) {
        size_t most = 0;
        for (size_t i = 1; i < (size_t)a->samples.nClasses * a->samples.nClasses; i++)
            most = pairs[i] > pairs[most] ? i : most;
        if (pairs[most] == 0)
            break;
        printf("%s%u as %u: %u\n", line == 0 ? "confused   " : "           ", (unsigned)(most / a->samples.nClasses), (unsigned)(most % a->samples.nClasses), (unsigned)pairs[most]);
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
        printf("{\"samples\":%u,\"classes\":%u,\"models\":[", (unsigned)a->samples.count, (unsigned)a->samples.nClasses);
    else
        printf("samples    %u of %u classes\n", (unsigned)a->samples.count, (unsigned)a->samples.nClasses);
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
