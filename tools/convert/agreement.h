/*
agreement.h - the outputs of two models over the samples: noise, accuracy.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_AGREEMENT_H
#define NNRT_TOOL_AGREEMENT_H

#include "../common/samples.h"
#include "quantize_report.h"

/* One output of two models over the samples. */
typedef struct cli_agreement {
    double signal, noise;
    uint32_t same; /* samples with the same largest element */
    bool classes;  /* it has at least two elements */
    uint32_t right[2]; /* samples whose largest element is the expected class, of either model */
} cli_agreement;

/* Losses of a quantization: the noise of the outputs relative to their signal, and the accuracy (top 1). */
typedef struct cli_loss {
    double noise, accuracy;
} cli_loss;

static size_t cli_argmax(const float *x, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        at = x[i] > x[at] ? i : at;
    return at;
}

/* want, got: n elements of the output. expected: the class of the sample, or UINT32_MAX. */
static void cli_agree(cli_agreement *a, const float *x, const float *y, size_t n, uint32_t expected)
{
    for (size_t i = 0; i < n; i++) {
        a->signal += (double)x[i] * (double)x[i];
        a->noise += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
    }
    a->classes = n > 1;
    if (n < 2)
        return;
    a->same += cli_argmax(x, n) == cli_argmax(y, n);
    a->right[0] += cli_argmax(x, n) == expected;
    a->right[1] += cli_argmax(y, n) == expected;
}

/* A session of a model with buffers for everything. */
typedef struct cli_side {
    nnrt_session *session;
    nnrt_io *io;
    uint32_t nIn, nOut;
} cli_side;

static void cli_side_free(cli_side *s)
{
    for (uint32_t i = 0; s->io != NULL && i < s->nIn + s->nOut; i++)
        free(s->io[i].data);
    free(s->io);
    nnrt_session_destroy(s->session);
}

static int cli_side_make(cli_side *s, const NNRT_Model *model, const nnrt_session_desc *desc, const char *what)
{
    nnrt_error error;
    memset(s, 0, sizeof(*s));
    memset(&error, 0, sizeof(error));
    if (nnrt_session_create(&s->session, model, desc, &error) != NNRT_SUCCESS)
        return cli_fail("cannot run the %s model: %s", what, error.message);
    s->nIn = nnrt_session_inputs(s->session);
    s->nOut = nnrt_session_outputs(s->session);
    s->io = (nnrt_io *)cli_alloc((size_t)s->nIn + s->nOut, sizeof(*s->io));
    for (uint32_t i = 0; s->io != NULL && i < s->nIn + s->nOut; i++) {
        const size_t bytes = (i < s->nIn ? nnrt_session_input(s->session, i) : nnrt_session_output(s->session, i - s->nIn)).bytes;
        s->io[i] = nnrt_io_make(cli_alloc(bytes, 1), bytes);
        if (s->io[i].data == NULL)
            return CLI_FAILED;
    }
    return s->io != NULL ? CLI_DONE : CLI_FAILED;
}

static int cli_side_run(cli_side *s, const char *what)
{
    return nnrt_run(s->session, s->io, s->nIn, s->io + s->nIn, s->nOut) == NNRT_SUCCESS
               ? CLI_DONE
               : cli_fail("the run of the %s model failed: %s", what, nnrt_session_error(s->session));
}

/* Runs that are timed: for CLI_TIMED_MS, but at least 3. */
enum { CLI_TIMED_RUNS = 1000, CLI_TIMED_MS = 250 };

/* The least time of a run on the inputs that the side has, which has run before: other programs only add to it. */
static int cli_side_time(cli_side *s, const char *what, double *ms)
{
    const double begin = cli_now_ms();
    int status = CLI_DONE;
    *ms = (double)INFINITY;
    for (int i = 0; status == CLI_DONE && (i < 3 || (i < CLI_TIMED_RUNS && cli_now_ms() - begin < CLI_TIMED_MS)); i++) {
        const double start = cli_now_ms();
        status = cli_side_run(s, what);
        *ms = fmin(*ms, cli_now_ms() - start);
    }
    return status;
}

/* Writes the float32 outputs of all samples to s->wanted, once. progressing: shows a bar. ms: receives the time of a run; NULL: it is
   not measured. */
static int cli_samples_want(cli_samples *s, const nnrt_session_desc *desc, bool progressing, double *ms)
{
    cli_progress progress = cli_progress_of("float32");
    cli_side side;
    FILE *file = s->wanted == NULL ? tmpfile() : NULL;
    int status;
    if (s->wanted != NULL)
        return CLI_DONE;
    if (file == NULL)
        return cli_fail("cannot create a temporary file for the outputs: %s", strerror(errno));
    status = cli_side_make(&side, s->job->model, desc, "float32");
    for (uint32_t k = 0; k < s->count && status == CLI_DONE; k++) {
        status = cli_sample_load(s, k, side.io, side.nIn);
        if (status == CLI_DONE)
            status = cli_side_run(&side, "float32");
        for (uint32_t i = side.nIn; i < side.nIn + side.nOut && status == CLI_DONE; i++)
            if (fwrite(side.io[i].data, 1, side.io[i].bytes, file) != side.io[i].bytes)
                status = cli_fail("cannot write the outputs to a temporary file: %s", strerror(errno));
        if (progressing)
            cli_progress_show(&progress, k + 1, s->count);
    }
    cli_progress_end(&progress);
    if (status == CLI_DONE && ms != NULL)
        status = cli_side_time(&side, "float32", ms);
    cli_side_free(&side);
    if (status == CLI_DONE)
        s->wanted = file;
    else
        fclose(file);
    return status;
}

/* Compares the outputs of one sample with the float32 outputs, which are next in s->wanted. want: room for the largest. */
static int cli_agreement_sample(cli_samples *s, uint32_t k, const cli_side *side, float *want, cli_agreement *all)
{
    for (uint32_t i = 0; i < side->nOut; i++) {
        const nnrt_io *got = &side->io[side->nIn + i];
        if (fread(want, 1, got->bytes, s->wanted) != got->bytes)
            return cli_fail("cannot read the float32 outputs of sample %u", (unsigned)k);
        if (nnrt_session_output(side->session, i).dataType == NNRT_DATA_TYPE_FLOAT32)
            cli_agree(&all[i], want, (const float *)got->data, got->bytes / sizeof(float),
                      i == 0 && s->expected != NULL ? s->expected[k] : UINT32_MAX);
    }
    return CLI_DONE;
}

/* Runs the 8-bit model on all samples. progressing: shows a bar. */
static int cli_agreement_measure(cli_samples *s, cli_side *side, cli_agreement *all, bool progressing)
{
    cli_progress progress = cli_progress_of("quantized");
    size_t most = 1;
    float *want;
    int status = CLI_DONE;
    for (uint32_t i = side->nIn; i < side->nIn + side->nOut; i++)
        most = side->io[i].bytes > most ? side->io[i].bytes : most;
    if ((want = (float *)cli_alloc(most, 1)) == NULL)
        return CLI_FAILED;
    rewind(s->wanted);
    for (uint32_t k = 0; k < s->count && status == CLI_DONE; k++) {
        status = cli_sample_load(s, k, side->io, side->nIn);
        if (status == CLI_DONE)
            status = cli_side_run(side, "quantized");
        if (status == CLI_DONE)
            status = cli_agreement_sample(s, k, side, want, all);
        if (progressing)
            cli_progress_show(&progress, k + 1, s->count);
    }
    cli_progress_end(&progress);
    free(want);
    return status;
}

static double cli_agreement_sqnr(const cli_agreement *a)
{
    return a->noise > 0 ? 10 * log10(a->signal / a->noise) : (double)INFINITY;
}

static void cli_agreement_print(const cli_samples *s, const cli_side *side, const cli_agreement *all, const cli_args *args)
{
    fputs(args->json ? ",\"outputs\":[" : "", stdout);
    for (uint32_t i = 0; i < side->nOut; i++) {
        const double sqnr = cli_agreement_sqnr(&all[i]);
        const char *name = nnrt_session_output(side->session, i).name;
        if (args->json) {
            fputs(i > 0 ? ",{\"name\":" : "{\"name\":", stdout);
            cli_json_text(name);
            fputs(",\"sqnr\":", stdout);
            cli_json_number(sqnr, 9);
            printf(",\"same_class\":%u}", (unsigned)all[i].same);
            continue;
        }
        fputs(i > 0 ? "           " : "output     ", stdout);
        cli_put_name(stdout, name);
        printf("  %.1f dB", sqnr);
        if (all[i].classes)
            printf(", the same largest element in %u of %u samples", (unsigned)all[i].same, (unsigned)s->count);
        putchar('\n');
    }
    fputs(args->json ? "]" : "", stdout);
    if (s->expected != NULL && args->json)
        printf(",\"top1\":[%u,%u]", (unsigned)all[0].right[0], (unsigned)all[0].right[1]);
    else if (s->expected != NULL)
        printf("top 1      %.2f %% float32, %.2f %% %s\n", 100.0 * all[0].right[0] / s->count, 100.0 * all[0].right[1] / s->count,
               args->int16 ? "16x8" : "8 bits");
}

/* The largest noise of an output, relative to its signal. */
static double cli_agreement_noise(const cli_agreement *all, uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = all[i].noise > most * all[i].signal && all[i].signal > 0 ? all[i].noise / all[i].signal : most;
    return most;
}

/* Compares the outputs of the float32 and the quantized model. print: prints the figures.
   notes: receives them; NULL: none. ms: receives the time of a run of the quantized model; NULL: it is not measured. */
static int cli_agreement_of(cli_samples *s, const NNRT_Model *quantized, const nnrt_session_desc *desc, bool print,
                            cli_notes *notes, cli_loss *loss, double *ms)
{
    cli_side side;
    cli_agreement *all = NULL;
    int status = cli_samples_want(s, desc, print, NULL);
    memset(&side, 0, sizeof(side));
    if (status == CLI_DONE)
        status = cli_side_make(&side, quantized, desc, "quantized");
    if (status == CLI_DONE && (all = (cli_agreement *)cli_alloc(side.nOut, sizeof(*all))) == NULL)
        status = CLI_FAILED;
    if (status == CLI_DONE)
        status = cli_agreement_measure(s, &side, all, print);
    if (status == CLI_DONE && ms != NULL)
        status = cli_side_time(&side, "quantized", ms);
    if (status == CLI_DONE) {
        loss->noise = cli_agreement_noise(all, side.nOut);
        loss->accuracy = s->expected != NULL ? ((double)all[0].right[0] - (double)all[0].right[1]) / s->count : 0;
    }
    if (status == CLI_DONE && print)
        cli_agreement_print(s, &side, all, s->args);
    for (uint32_t i = 0; status == CLI_DONE && notes != NULL && i < side.nOut; i++)
        cli_notes_output(notes, nnrt_session_output(side.session, i).name, cli_agreement_sqnr(&all[i]), all[i].same,
                         all[i].classes);
    for (uint32_t i = 0; status == CLI_DONE && notes != NULL && s->expected != NULL && i < 2; i++)
        notes->right[i] = 100.0 * all[0].right[i] / s->count;
    free(all);
    cli_side_free(&side);
    return status;
}

#endif /* NNRT_TOOL_AGREEMENT_H */
