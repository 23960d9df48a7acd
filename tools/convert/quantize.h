/*
quantize.h - the command quantize: a float32 model becomes an 8-bit model, with the ranges of its values over samples.
Part of tools/nnrt.c.

    >>quantize     quantizing a model
    >>sensitivity  the noise that each node adds; nodes that stay float32
    >>choice       nodes that stay float32 because they are faster so, or cost accuracy
    >>weights      weights of matrix products alone
    >>command      the command
*/
#ifndef NNRT_TOOL_QUANTIZE_H
#define NNRT_TOOL_QUANTIZE_H

#include "../../devices/nnrt_auto.h"
#include "../../formats/nnrt_quantize.h"
#include "../common/cost.h"
#include "agreement.h"
#include "convert.h"
#include "qdq.h"
#include "quantize_choice.h"
#include "widen.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>quantize */

/* The desc's `user`. */
typedef struct cli_quantize_user {
    cli_samples samples, heldOut; /* heldOut: of --held-out, for the comparison with float32; empty: `samples` are compared */
    cli_progress progress;
    bool quiet; /* no bar: one of many quantizations */
    const char *keep;
    bool *floats; /* per node: it stays float32. NULL: none */
    bool *faster; /* per node: it stays float32 because it is faster so. NULL: none */
    cli_choice choice; /* predicted times */
    bool asks; /* a call that only fills choice.may */
    bool few, estimates; /* only the first samples; only the noise is wanted (nnrt_quantize_desc.estimate) */
    cli_noted_time time;
    cli_qdq qdq;  /* notes for an ONNX file */
    bool onnx;    /* the output is one */
    bool ranges;  /* prints ranges */
    cli_notes *notes; /* for --report; NULL: none */
    const NNRT_Model *model; /* the float32 model */
    const cli_inputs *in;
    nnrt_session_desc session;
} cli_quantize_user;

/* The samples of the comparison. */
static cli_samples *cli_quantize_judges(cli_quantize_user *user)
{
    return user->heldOut.count > 0 ? &user->heldOut : &user->samples;
}

static NNRT_ReturnCode cli_quantize_sample(void *user, uint32_t index, const nnrt_io *inputs, uint32_t nIn)
{
    return cli_sample_read(&((cli_quantize_user *)user)->samples, index, inputs, nIn);
}

static void cli_quantize_show(void *user, uint64_t done, uint64_t total)
{
    if (!((cli_quantize_user *)user)->quiet)
        cli_progress_show(&((cli_quantize_user *)user)->progress, (size_t)done, (size_t)total);
}

static void cli_quantize_range(void *user, const nnrt_quantize_range *r)
{
    cli_quantize_user *u = (cli_quantize_user *)user;
    if (u->onnx)
        cli_qdq_note_range(&u->qdq, r);
    if (u->notes != NULL)
        cli_notes_range(u->notes, r);
    if (!u->ranges)
        return;
    printf("range      ");
    cli_put_name(stdout, r->tensor);
    printf("  %.6g to %.6g, codes %.6g to %.6g (%s), scale %.9g, zero point %d, %.1f dB\n", (double)r->least, (double)r->most,
           (double)r->lower, (double)r->upper, r->method, r->quant.scale, (int)r->quant.zeroPoint, r->sqnr);
}

static void cli_quantize_layer(void *user, const nnrt_quantize_layer *layer)
{
    cli_quantize_user *u = (cli_quantize_user *)user;
    if (u->onnx)
        cli_qdq_note_layer(&u->qdq, layer);
    if (u->notes != NULL)
        cli_notes_layer(u->notes, u->model, layer);
}

/* nnrt_quantize_desc.keep: the nodes of --keep, and the nodes that a search keeps. */
static bool cli_quantize_keep(void *user, const NNRT_Model *model, uint32_t node)
{
    cli_quantize_user *u = (cli_quantize_user *)user;
    if (u->onnx && model->nodes.data[node].nodeType == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION)
        return true; /* ONNX has scales for other channels there */
    if (nnrt_partition_keeps(u->keep, model, node))
        return true;
    if (u->asks)
        u->choice.may[node] = true;
    return u->floats != NULL && u->floats[node];
}

/* As JSON, it begins the line that cli_put_written ends. */
static void cli_quantize_print(const nnrt_quantize_report *r, const cli_args *args, uint32_t samples)
{
    if (args->json) {
        cli_json_open(args);
        printf(",\"samples\":%u,\"nodes\":%u,\"quantized\":%u,\"equalized\":%u,\"corrected\":%u,\"rounded\":%u", (unsigned)samples,
               (unsigned)r->nodes, (unsigned)r->chosen, (unsigned)r->equalized, (unsigned)r->corrected, (unsigned)r->rounded);
        return;
    }
    printf("samples    %u\nnodes      %u of %u quantized, %u with weights\n", (unsigned)samples, (unsigned)r->chosen,
           (unsigned)r->nodes, (unsigned)r->layers);
    printf("equalized  %u pairs of layers\ncorrected  %u biases\n", (unsigned)r->equalized, (unsigned)r->corrected);
    printf("ranges     %u min-max, %u percentile, %u least squares, %u by operator\n", (unsigned)r->ranges[0],
           (unsigned)r->ranges[1], (unsigned)r->ranges[2], (unsigned)r->ranges[3]);
    if (args->leastSquares)
        printf("rounded    %u of %u weight tensors by least squares\n", (unsigned)r->rounded, (unsigned)r->layers);
}

#define CLI_FEW_SAMPLES 2 /* with `few` */

/* Whether nodes may stay float32 by themselves. Firmware wants integers alone, other runtimes have other times, and --max-loss and
   --16x8 choose themselves. */
static bool cli_quantize_chooses(const cli_args *args, const cli_quantize_user *user)
{
    return !args->fullInteger && !args->int8Io && !args->int16 && !user->onnx && !(args->maxLoss > 0);
}

/* Whether weights get 7 bits, for the 16-bit sums of processors with AVX2 and without VNNI: on request, or if times decide. */
static bool cli_quantize_reduces(const cli_args *args, const cli_quantize_user *user)
{
    return cli_processor_of(args) == CLI_PROCESSOR_WORDS && !args->int16 &&
           (args->processor != 0 || cli_quantize_chooses(args, user));
}

/* The processor that the file is for, where that changes it. */
static void cli_quantize_print_processor(const cli_args *args, const cli_quantize_user *user)
{
    const char *const name = cli_processor_of(args) == CLI_PROCESSOR_WORDS ? "avx2" : "vnni";
    if (!cli_quantize_chooses(args, user) && !cli_quantize_reduces(args, user))
        return;
    if (args->json)
        printf(",\"processor\":\"%s\",\"weight_bits\":%d", name, cli_quantize_reduces(args, user) ? 7 : 8);
    else
        printf("processor  %s, weights of %d bits\n", name, cli_quantize_reduces(args, user) ? 7 : 8);
}

/* Quantizes the loaded model. report NULL: one of many times, without ranges. quantized NULL: only checks model and options. */
static NNRT_ReturnCode cli_quantize_once(const cli_job *job, const cli_args *args, cli_quantize_user *user,
                                         NNRT_Model **quantized, nnrt_quantize_report *report, nnrt_error *error)
{
    nnrt_quantize_desc desc;
    memset(&desc, 0, sizeof(desc));
    memset(error, 0, sizeof(*error));
    desc.samples = user->few && user->samples.count > CLI_FEW_SAMPLES ? CLI_FEW_SAMPLES : user->samples.count;
    desc.estimate = user->estimates;
    desc.sample = cli_quantize_sample;
    desc.user = user;
    desc.session = &user->session;
    desc.without = args->withoutSteps;
    desc.least_squares = args->leastSquares;
    desc.uint8 = args->uint8;
    desc.int16 = args->int16;
    desc.reduce_range = cli_quantize_reduces(args, user);
    desc.keep = cli_quantize_keep;
    user->ranges = args->ranges && !args->json;
    desc.range = report != NULL ? cli_quantize_range : NULL;
    desc.layer = report != NULL ? cli_quantize_layer : NULL;
    user->model = job->model;
    user->in = &job->in;
    desc.progress = cli_quantize_show;
    desc.report = report;
    desc.log = report != NULL ? &args->log : NULL;
    return nnrt_quantize(quantized, job->model, &desc, error);
}

static int cli_quantize_failed(const cli_quantize_user *user, const cli_args *args, const nnrt_error *error)
{
    return user->samples.status != CLI_DONE ? CLI_FAILED : cli_fail("cannot quantize %s: %s", args->model, error->message);
}

/* Reads the model in QDQ form, with the shapes that were given for the float32 model. */
static int cli_quantize_import(const cli_args *args, const cli_quantize_user *user, NNRT_Model **model)
{
    nnrt_input *given = (nnrt_input *)cli_alloc(user->in->count, sizeof(*given));
    nnrt_onnx_desc desc;
    nnrt_error error;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.budget = args->image.budget;
    desc.inputs = given;
    for (uint32_t i = 0; given != NULL && i < user->in->count; i++) {
        if (user->in->shapes[i].rank < 0)
            continue;
        given[desc.inputCount].name = user->in->data[i].name;
        given[desc.inputCount++].shape = user->in->shapes[i];
    }
    if (given != NULL)
        code = nnrt_onnx_load_memory(model, user->qdq.file.data, user->qdq.file.size, &desc, &error);
    free(given);
    return code == NNRT_SUCCESS ? CLI_DONE
                                : cli_fail("cannot write %s: the importer refuses it: %s; write a .nnrt file", args->output,
                                           given != NULL ? error.message : "out of memory");
}

/* Whether the model in QDQ form computes the same as the quantized model, whose noise is given: the importer reads it, and
   its noise is at most twice as large, as roundings differ where it has no casts. */
static int cli_quantize_check(const cli_args *args, cli_quantize_user *user, double noise)
{
    NNRT_Model *model = NULL;
    cli_loss own = {0, 0};
    int status = cli_quantize_import(args, user, &model);
    if (status != CLI_DONE)
        return status;
    status = cli_agreement_of(cli_quantize_judges(user), model, &user->session, false, NULL, &own, NULL);
    nnrt_model_destroy(model);
    if (status == CLI_DONE && !(own.noise <= 2 * noise + 1e-9))
        status = cli_fail("cannot write %s: as an ONNX file the model has a noise of %g instead of %g; write a .nnrt file",
                          args->output, own.noise, noise);
    return status;
}

/* Gives the file, which was checked, 8-bit inputs and outputs. */
static int cli_quantize_int8_io(const cli_args *args, cli_quantize_user *user)
{
    NNRT_Model *model = NULL;
    int status = cli_qdq_make_int8_io(&user->qdq, args->model);
    if (status == CLI_DONE)
        status = cli_quantize_import(args, user, &model);
    nnrt_model_destroy(model);
    return status;
}

/* Freed blocks of 128 KiB and more return to the system. By default glibc keeps blocks of up to 32 MB, between others that
   are in use: an eighth of the peak here. A setting of the whole process, so not where `main` is a function of another
   program (bindings/python/nnrt/_nnrt.c). */
static void cli_return_blocks(void)
{
#if defined(__GLIBC__) && !defined(main)
    (void)mallopt(M_MMAP_THRESHOLD, 131072);
#endif
}

/* Makes the ONNX file in QDQ form, in memory. */
static int cli_quantize_onnx(const cli_args *args, cli_quantize_user *user, double noise)
{
    cli_bytes file = cli_stream.bytes;
    int status = cli_stream.block == NULL ? cli_read_file(args->model, &file) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    user->qdq.data = file.data;
    user->qdq.bytes = file.size;
    user->qdq.uint8 = args->uint8;
    status = cli_qdq_make(&user->qdq, args->model);
    if (!args->int8Io && cli_stream.block == NULL) {
        free(file.data); /* before the check, which needs memory */
        file.data = NULL;
    }
    if (status == CLI_DONE)
        status = cli_quantize_check(args, user, noise);
    if (status == CLI_DONE && args->int8Io)
        status = cli_quantize_int8_io(args, user);
    if (cli_stream.block == NULL)
        free(file.data);
    return status;
}

/* Nodes that stay float32, in the format of --keep. */
static void cli_quantize_print_floats(const cli_quantize_user *user)
{
    for (uint32_t i = 0; i < user->model->nodes.count; i++)
        if (user->floats[i] && user->choice.may[i]) {
            fputs(user->faster[i] ? "float32    faster    " : "float32    accuracy  ", stdout);
            cli_record_print(user->model, i);
        }
}

/* Nodes that stay float32, and times. After the outputs. */
static void cli_quantize_print_time(const cli_quantize_user *user, const cli_args *args)
{
    const cli_noted_time *t = &user->time;
    if (args->json) {
        printf(",\"float32\":{\"faster\":%u,\"accuracy\":%u},\"time\":{\"predicted\":", (unsigned)t->faster, (unsigned)t->accuracy);
        cli_json_number(t->predicted, 4);
        if (t->measured) {
            cli_json_ms("float32_ms", t->f32);
            cli_json_ms("int8_ms", t->int8);
            fputs(",\"ratio\":", stdout);
            cli_json_number(t->int8 / t->f32, 4);
        }
        putchar('}');
        return;
    }
    if (t->measured)
        printf("time       float32 %.3f ms, %s %.3f ms (%.2f), predicted %.2f\n", t->f32, args->int16 ? "16x8" : "8 bits", t->int8,
               t->int8 / t->f32, t->predicted);
    else
        printf("time       %.2f of float32, predicted for the device cpu\n", t->predicted);
}

/* A measured time that is larger by this factor is no chance. */
#define CLI_SLOWER 1.1

static void cli_quantize_warn_slower(const cli_quantize_user *user, const cli_args *args)
{
    const cli_noted_time *t = &user->time;
    if (t->measured && t->int8 > CLI_SLOWER * t->f32)
        cli_note("%s: a run takes %.3f ms instead of %.3f ms in float32; 'nnrt bench %s --profile' shows the slow operators, and "
                 "--keep FILE leaves them in float32", args->output, t->int8, t->f32, args->output);
}

/* Quantizes the loaded model, compares both, and replaces it. The float32 outputs are computed before, so that the packed
   weights of that session and the quantized model are not in memory at the same time. */
static int cli_quantize_model(cli_job *job, const cli_args *args, cli_quantize_user *user)
{
    nnrt_quantize_report report;
    NNRT_Model *quantized = NULL;
    nnrt_error error;
    cli_loss loss = {0, 0};
    int status;
    NNRT_ReturnCode code = cli_quantize_once(job, args, user, NULL, NULL, &error); /* refuses the model, if it must */
    if (code != NNRT_SUCCESS)
        return cli_quantize_failed(user, args, &error);
    status = cli_samples_want(cli_quantize_judges(user), &user->session, true, user->time.measured ? &user->time.f32 : NULL);
    if (status != CLI_DONE)
        return status;
    code = cli_quantize_once(job, args, user, &quantized, &report, &error);
    cli_progress_end(&user->progress);
    if (code != NNRT_SUCCESS)
        return cli_quantize_failed(user, args, &error);
    cli_quantize_print(&report, args, user->samples.count);
    cli_quantize_print_processor(args, user);
    if (!args->json && !(args->maxLoss > 0)) /* --max-loss has printed them */
        cli_quantize_print_floats(user);
    if (user->notes != NULL) {
        user->notes->counts = report;
        user->notes->samples = user->samples.count;
        user->notes->judged = cli_quantize_judges(user)->count;
    }
    nnrt_model_destroy(job->model);
    job->model = quantized;
    status = cli_agreement_of(cli_quantize_judges(user), quantized, &user->session, true, user->notes, &loss,
                              user->time.measured ? &user->time.int8 : NULL);
    if (status == CLI_DONE)
        cli_quantize_print_time(user, args);
    if (status == CLI_DONE)
        cli_quantize_warn_slower(user, args);
    if (user->notes != NULL)
        user->notes->time = user->time;
    if (status == CLI_DONE && user->onnx)
        status = cli_quantize_onnx(args, user, loss.noise);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>sensitivity */

/* A node, and the noise of the outputs if it alone is quantized, relative to their signal. */
typedef struct cli_sensitivity {
    double noise;
    uint32_t node;
} cli_sensitivity;

/* The noisiest first. */
static int cli_compare_sensitivities(const void *a, const void *b)
{
    const cli_sensitivity *x = (const cli_sensitivity *)a, *y = (const cli_sensitivity *)b;
    if (x->noise < y->noise || x->noise > y->noise)
        return x->noise < y->noise ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Quantizes the nodes that user->floats leaves, and compares. *chosen: whether any node was quantized. */
static int cli_quantize_loss(const cli_job *job, const cli_args *args, cli_quantize_user *user, cli_loss *loss, bool *chosen)
{
    NNRT_Model *quantized = NULL;
    nnrt_error error;
    int status = CLI_DONE;
    const NNRT_ReturnCode code = cli_quantize_once(job, args, user, &quantized, NULL, &error);
    *chosen = code == NNRT_SUCCESS;
    loss->noise = loss->accuracy = 0;
    if (code == NNRT_SUCCESS)
        status = cli_agreement_of(cli_quantize_judges(user), quantized, &user->session, false, NULL, loss, NULL);
    else if (code != NNRT_NOT_SUPPORT)
        status = cli_quantize_failed(user, args, &error);
    nnrt_model_destroy(quantized);
    return status;
}

/* Fills the list of sensitivities, and sorts it. */
static int cli_sensitivity_measure(const cli_job *job, const cli_args *args, cli_quantize_user *user, cli_sensitivity *list,
                                   uint32_t *count)
{
    const uint32_t n = job->model->nodes.count;
    int status = CLI_DONE;
    *count = 0;
    memset(user->floats, 1, n * sizeof(*user->floats));
    for (uint32_t i = 0; i < n && status == CLI_DONE; i++) {
        bool chosen = false;
        cli_loss loss;
        user->floats[i] = false;
        status = cli_quantize_loss(job, args, user, &loss, &chosen);
        list[*count].noise = loss.noise;
        user->floats[i] = true;
        list[*count].node = i;
        *count += chosen;
        cli_progress_show(&user->progress, i + 1, n);
    }
    cli_progress_end(&user->progress);
    if (*count > 0)
        qsort(list, *count, sizeof(*list), cli_compare_sensitivities);
    return status;
}

/* Lets the `kept` noisiest nodes stay float32, all others be quantized. */
static void cli_sensitivity_keep(const cli_job *job, cli_quantize_user *user, const cli_sensitivity *list, uint32_t kept)
{
    memset(user->floats, 0, job->model->nodes.count * sizeof(*user->floats));
    for (uint32_t i = 0; i < kept; i++)
        user->floats[list[i].node] = true;
}

/* The fewest of the noisiest nodes that must stay float32 so that the loss is at most args->maxLoss, by bisection. */
static int cli_sensitivity_search(const cli_job *job, const cli_args *args, cli_quantize_user *user, const cli_sensitivity *list,
                                  uint32_t count, uint32_t *kept)
{
    uint32_t low = 0, high = count;
    int status = CLI_DONE;
    while (low < high && status == CLI_DONE) {
        const uint32_t middle = low + (high - low) / 2;
        cli_loss loss;
        bool chosen;
        cli_sensitivity_keep(job, user, list, middle);
        status = cli_quantize_loss(job, args, user, &loss, &chosen);
        if ((cli_quantize_judges(user)->expected != NULL ? loss.accuracy : loss.noise) <= args->maxLoss)
            high = middle;
        else
            low = middle + 1;
    }
    *kept = low;
    if (status == CLI_DONE && low == count)
        status = cli_fail("--max-loss %g: no node of %s can be quantized with a %s of at most that", args->maxLoss, args->model,
                          cli_quantize_judges(user)->expected != NULL ? "loss of accuracy" : "noise");
    cli_sensitivity_keep(job, user, list, *kept);
    return status;
}

/* print: prints the list. notes: receives it; NULL: none. */
static void cli_sensitivity_tell(const cli_job *job, const cli_sensitivity *list, uint32_t count, const bool *floats, bool print,
                                 cli_notes *notes)
{
    for (uint32_t i = 0; i < count; i++) {
        const double sqnr = list[i].noise > 0 ? -10 * log10(list[i].noise) : (double)INFINITY;
        if (notes != NULL)
            cli_notes_node(notes, &job->model->nodes.data[list[i].node], sqnr, floats[list[i].node]);
        if (!print)
            continue;
        fputs(floats[list[i].node] ? "float32    " : "quantized  ", stdout);
        printf("%.1f dB  ", sqnr);
        cli_record_print(job->model, list[i].node);
    }
}

/* --max-loss, --sensitivity: measures each node; --max-loss chooses the nodes that stay float32. */
static int cli_quantize_search(const cli_job *job, const cli_args *args, cli_quantize_user *user)
{
    const size_t n = job->model->nodes.count;
    cli_sensitivity *list = (cli_sensitivity *)cli_alloc(n, sizeof(*list));
    bool *before = (bool *)cli_alloc(n, sizeof(*before));
    uint32_t count = 0, kept = 0;
    int status = CLI_FAILED;
    if (before != NULL)
        memcpy(before, user->floats, n * sizeof(*before));
    user->quiet = true;
    user->progress.label = "sensitivity";
    if (list != NULL && before != NULL)
        status = cli_sensitivity_measure(job, args, user, list, &count);
    if (status == CLI_DONE && args->maxLoss > 0)
        status = cli_sensitivity_search(job, args, user, list, count, &kept);
    else if (status == CLI_DONE)
        memcpy(user->floats, before, n * sizeof(*before));
    if (status == CLI_DONE)
        cli_sensitivity_tell(job, list, count, user->floats, !args->json, user->notes);
    user->quiet = false;
    user->progress.label = "quantize";
    free(list);
    free(before);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>choice */

/* Predicts times, and lets nodes stay float32 that are faster so. */
static int cli_quantize_choose(const cli_job *job, const cli_args *args, cli_quantize_user *user)
{
    const uint32_t n = job->model->nodes.count;
    nnrt_error error;
    NNRT_ReturnCode code;
    int status = cli_choice_begin(&user->choice, job, cli_processor_of(args));
    if (status != CLI_DONE)
        return status;
    user->asks = true;
    code = cli_quantize_once(job, args, user, NULL, NULL, &error); /* refuses the model, if it must */
    user->asks = false;
    if (code != NNRT_SUCCESS)
        return cli_quantize_failed(user, args, &error);
    user->floats = (bool *)cli_alloc(n, sizeof(bool));
    user->faster = (bool *)cli_alloc(n, sizeof(bool));
    if (user->floats == NULL || user->faster == NULL)
        return CLI_FAILED;
    if (cli_quantize_chooses(args, user))
        status = cli_choice_least(&user->choice, user->floats);
    memcpy(user->faster, user->floats, n * sizeof(bool));
    user->time.measured = args->device == NULL || strcmp(args->device, "reference") != 0; /* that one is not for speed */
    return status;
}

/* ---- nodes that stay float32 for accuracy ---- */

/* The noise of a few nodes alone estimates their share of the noise of all. One evaluation for each node would take longer than the
   quantization: so consecutive nodes are evaluated together, and the noisiest piece is halved until CLI_PIECES are evaluated.
   Pieces stay float32 in the order of noise per added time while the predicted time allows it. */
#define CLI_PIECES_FIRST 6
#define CLI_PIECES 24
#define CLI_NOISE_WANTED 1e-3  /* of the outputs, relative to their signal: 30 dB. Less is not looked for */
#define CLI_NOISE_GAIN 0.7     /* the noise that is left must be at most this much of the noise before */
#define CLI_TIME_ADDED 1.1     /* the predicted time may grow by this factor, up to that of float32 */
#define CLI_NOISE_SHARE 0.03   /* of all pieces, that a piece must have to stay float32: few layers cost most */

/* The nodes [from, to) of the list. */
typedef struct cli_piece {
    uint32_t from, to;
    double noise;
    bool floats;
} cli_piece;

typedef struct cli_pieces {
    uint32_t *list; /* nodes that compute in 8 bits, in their order */
    uint32_t nodes, count;
    cli_piece pieces[CLI_PIECES + 1];
    double noise; /* of all in 8 bits */
} cli_pieces;

/* The noise of a few samples; user->floats: the nodes in float32. */
static int cli_pieces_noise(const cli_job *job, const cli_args *args, cli_quantize_user *user, bool estimate, double *noise)
{
    cli_samples *judges = cli_quantize_judges(user);
    const uint32_t count = judges->count;
    cli_loss loss = {0, 0};
    bool chosen = false;
    int status;
    user->few = user->quiet = true;
    user->estimates = estimate;
    judges->count = count > CLI_FEW_SAMPLES ? CLI_FEW_SAMPLES : count;
    status = cli_quantize_loss(job, args, user, &loss, &chosen);
    judges->count = count;
    user->few = user->estimates = user->quiet = false;
    *noise = loss.noise;
    return status;
}

/* Evaluates a piece: all other nodes are float32. */
static int cli_piece_measure(const cli_job *job, const cli_args *args, cli_quantize_user *user, const cli_pieces *p, cli_piece *piece)
{
    memset(user->floats, 1, job->model->nodes.count * sizeof(bool));
    for (uint32_t i = piece->from; i < piece->to; i++)
        user->floats[p->list[i]] = false;
    return cli_pieces_noise(job, args, user, true, &piece->noise);
}

static int cli_pieces_add(const cli_job *job, const cli_args *args, cli_quantize_user *user, cli_pieces *p, uint32_t from, uint32_t to)
{
    cli_piece *piece = &p->pieces[p->count];
    memset(piece, 0, sizeof(*piece));
    piece->from = from;
    piece->to = to;
    p->count += to > from;
    return to > from ? cli_piece_measure(job, args, user, p, piece) : CLI_DONE;
}

/* Divides the list, and halves the noisiest pieces. */
static int cli_pieces_find(const cli_job *job, const cli_args *args, cli_quantize_user *user, cli_pieces *p)
{
    uint32_t left = CLI_PIECES;
    int status = CLI_DONE;
    for (uint32_t i = 0; i < CLI_PIECES_FIRST && status == CLI_DONE; i++, left--)
        status = cli_pieces_add(job, args, user, p, (uint32_t)((uint64_t)p->nodes * i / CLI_PIECES_FIRST),
                                (uint32_t)((uint64_t)p->nodes * (i + 1) / CLI_PIECES_FIRST));
    while (left >= 2 && status == CLI_DONE) {
        cli_piece *most = NULL;
        uint32_t middle;
        for (uint32_t i = 0; i < p->count; i++)
            if (p->pieces[i].to - p->pieces[i].from > 1 && (most == NULL || p->pieces[i].noise > most->noise))
                most = &p->pieces[i];
        if (most == NULL)
            break;
        middle = most->from + (most->to - most->from) / 2;
        status = cli_pieces_add(job, args, user, p, middle, most->to);
        most->to = middle;
        if (status == CLI_DONE)
            status = cli_piece_measure(job, args, user, p, most);
        left -= 2;
        cli_progress_show(&user->progress, CLI_PIECES - left, CLI_PIECES);
    }
    cli_progress_end(&user->progress);
    return status;
}

static void cli_piece_set(cli_quantize_user *user, const cli_pieces *p, const cli_piece *piece, bool floats)
{
    for (uint32_t i = piece->from; i < piece->to; i++)
        user->floats[p->list[i]] = floats;
}

/* Lets pieces stay float32 while the time allows it; false: none does. */
static bool cli_pieces_choose(cli_quantize_user *user, cli_pieces *p)
{
    const double before = cli_choice_time(&user->choice, user->faster);
    const double most = fmin(before * CLI_TIME_ADDED, fmax(before, cli_choice_time_f32(&user->choice)));
    double all = 0, left, time = before;
    bool any = false;
    memcpy(user->floats, user->faster, user->choice.model->nodes.count * sizeof(bool));
    for (uint32_t i = 0; i < p->count; i++)
        all += p->pieces[i].noise;
    left = all;
    while (left > CLI_NOISE_WANTED) {
        cli_piece *best = NULL;
        double gain = 0, then = 0;
        for (uint32_t i = 0; i < p->count; i++) {
            cli_piece *piece = &p->pieces[i];
            double t;
            if (piece->floats || piece->noise < CLI_NOISE_SHARE * all)
                continue;
            cli_piece_set(user, p, piece, true);
            t = cli_choice_time(&user->choice, user->floats);
            cli_piece_set(user, p, piece, false);
            if (t > most || piece->noise / fmax(t - time, before / 1000) <= gain)
                continue;
            gain = piece->noise / fmax(t - time, before / 1000);
            best = piece;
            then = t;
        }
        if (best == NULL)
            break;
        best->floats = any = true;
        cli_piece_set(user, p, best, true);
        left -= best->noise;
        time = then;
    }
    return any;
}

/* Adds the nodes that cost most accuracy to user->floats. */
static int cli_quantize_spare(const cli_job *job, const cli_args *args, cli_quantize_user *user)
{
    cli_pieces p;
    double noise = 0;
    int status;
    memset(&p, 0, sizeof(p));
    status = cli_samples_want(cli_quantize_judges(user), &user->session, true, user->time.measured ? &user->time.f32 : NULL);
    if (status == CLI_DONE)
        status = cli_pieces_noise(job, args, user, false, &p.noise);
    if (status != CLI_DONE || !(p.noise > CLI_NOISE_WANTED))
        return status;
    if ((p.list = (uint32_t *)cli_alloc(job->model->nodes.count, sizeof(*p.list))) == NULL)
        return CLI_FAILED;
    for (uint32_t i = 0; i < job->model->nodes.count; i++)
        if (user->choice.may[i] && !user->faster[i])
            p.list[p.nodes++] = i;
    user->progress.label = "sensitivity";
    status = cli_pieces_find(job, args, user, &p);
    user->progress.label = "quantize";
    if (status == CLI_DONE && cli_pieces_choose(user, &p)) {
        status = cli_pieces_noise(job, args, user, false, &noise);
        if (!(noise < CLI_NOISE_GAIN * p.noise))
            memcpy(user->floats, user->faster, job->model->nodes.count * sizeof(bool));
    }
    free(p.list);
    return status;
}

/* Notes the chosen nodes, and the predicted time. */
static int cli_quantize_predict(cli_quantize_user *user)
{
    const uint32_t n = user->choice.model->nodes.count;
    bool *all = (bool *)cli_alloc(n, sizeof(bool));
    if (all == NULL)
        return CLI_FAILED;
    memset(all, 1, n * sizeof(bool));
    user->time.predicted = cli_choice_time(&user->choice, user->floats) / cli_choice_time(&user->choice, all);
    for (uint32_t i = 0; i < n; i++)
        if (user->choice.may[i] && user->floats[i]) {
            user->time.faster += user->faster[i];
            user->time.accuracy += !user->faster[i];
        }
    free(all);
    return CLI_DONE;
}

/* Whether the choice leaves no node in 8 bits. */
static bool cli_quantize_keeps_all(const cli_args *args, const cli_quantize_user *user)
{
    bool any = false;
    for (uint32_t i = 0; i < user->choice.model->nodes.count; i++)
        any = any || !cli_choice_is_float(&user->choice, user->floats, i);
    return !any && cli_quantize_chooses(args, user);
}

/* Reports a model that stays float32. */
static void cli_quantize_print_kept(const cli_args *args, const cli_quantize_user *user)
{
    nnrt_quantize_report report;
    bool *none = (bool *)cli_alloc(user->choice.model->nodes.count, sizeof(bool));
    memset(&report, 0, sizeof(report));
    report.nodes = user->choice.model->nodes.count;
    cli_quantize_print(&report, args, user->samples.count);
    if (args->json)
        printf(",\"outputs\":[]");
    if (none != NULL)
        cli_note("%s stays float32: all operators in 8 bits take %.2f of its time on this processor, by prediction; --full-integer "
                 "quantizes them nevertheless, --processor vnni chooses for processors that multiply bytes",
                 args->output, cli_choice_time(&user->choice, none) / cli_choice_time_f32(&user->choice));
    free(none);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>weights */

/* nnrt_quantize_desc.keep: the nodes of --keep, whose text is `user`. */
static bool cli_weights_keep(void *user, const NNRT_Model *model, uint32_t node)
{
    return nnrt_partition_keeps((const char *)user, model, node);
}

static void cli_weights_print(const nnrt_quantize_report *r, const cli_args *args)
{
    if (args->json) {
        cli_json_open(args);
        printf(",\"nodes\":%u,\"quantized\":%u,\"weights\":[%.0f,%.0f]", (unsigned)r->nodes, (unsigned)r->chosen,
               (double)r->bytes[0], (double)r->bytes[1]);
        return;
    }
    printf("nodes      weights of %u of %u quantized\nweights    %.0f bytes were %.0f\n", (unsigned)r->chosen, (unsigned)r->nodes,
           (double)r->bytes[1], (double)r->bytes[0]);
}

/* --weights-only and --dynamic: replaces the loaded model. Dynamic dimensions stay dynamic. */
static int cli_quantize_weights(cli_job *job, const cli_args *args)
{
    nnrt_quantize_report report;
    nnrt_quantize_desc desc;
    NNRT_Model *quantized = NULL;
    nnrt_error error;
    char *keep = NULL;
    int status = cli_job_load_optimized(job, args, false);
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    if (status == CLI_DONE && cli_ends_with(args->output, ".onnx"))
        status = cli_fail("cannot write %s: %s writes .nnrt files", args->output,
                          args->dynamicCodes ? "--dynamic" : "--weights-only");
    if (status == CLI_DONE)
        status = cli_job_widen(job, args);
    if (status == CLI_DONE)
        status = cli_job_keep(args, &keep);
    desc.weight_bits = args->weightBits;
    desc.weight_block = args->weightBlock;
    desc.dynamic = args->dynamicCodes;
    desc.keep = keep != NULL ? cli_weights_keep : NULL;
    desc.user = keep;
    desc.report = &report;
    desc.log = &args->log;
    if (status == CLI_DONE && nnrt_quantize(&quantized, job->model, &desc, &error) != NNRT_SUCCESS)
        status = cli_fail("cannot quantize %s: %s", args->model, error.message);
    free(keep);
    if (status != CLI_DONE)
        return status;
    cli_weights_print(&report, args);
    nnrt_model_destroy(job->model);
    job->model = quantized;
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>command */

/* The sessions in which the samples run. */
static int cli_quantize_session(cli_job *job, const cli_args *args, nnrt_session_desc *session)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (cli_job_threads(job, args, session, &error) != NNRT_SUCCESS)
        return cli_fail("%s", error.message);
    session->device = args->device;
    if (job->fromNnrt)
        session->inputDims = nnrt_dims_list_make(job->in.shapes, job->in.count);
    return CLI_DONE;
}

/* Reads --classes for the first output. */
static int cli_quantize_classes(const cli_job *job, const cli_args *args, cli_quantize_user *user)
{
    cli_samples *judges = cli_quantize_judges(user);
    cli_side side;
    int status = cli_side_make(&side, job->model, &user->session, "float32");
    if (status == CLI_DONE) {
        const nnrt_io_info out = nnrt_session_output(side.session, 0);
        const size_t count = out.bytes / sizeof(float);
        judges->nClasses = (uint32_t)(count < CLI_MOST_CLASSES ? count : CLI_MOST_CLASSES);
        if (out.dataType != NNRT_DATA_TYPE_FLOAT32 || count < 2 || count > CLI_MOST_CLASSES)
            status = cli_fail("--classes: output '%s' of %s has %.0f bytes, expected float32 values for 2 to %d classes", out.name,
                              args->model, (double)out.bytes, CLI_MOST_CLASSES);
        else
            status = cli_classes_read(judges, out.name, args->classes);
    }
    cli_side_free(&side);
    return status;
}

/* Writes the file of cli_quantize_onnx. */
static int cli_quantize_write(const cli_args *args, const cli_qdq *qdq)
{
    cli_out out;
    const int status = cli_out_open(&out, args->output, false);
    return status == CLI_DONE ? cli_out_close(&out, fwrite(qdq->file.data, 1, qdq->file.size, out.f) == qdq->file.size) : status;
}

/* Sizes and instructions of the loaded model, whose file is `path`. */
static int cli_quantize_sizes(cli_job *job, const cli_args *args, const char *path, cli_noted_model *sizes)
{
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    nnrt_error error;
    struct stat st;
    int status;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    status = cli_quantize_session(job, args, &desc);
    desc.device = "reference";
    if (status == CLI_DONE && nnrt_session_create(&session, job->model, &desc, &error) != NNRT_SUCCESS)
        return cli_fail("cannot plan %s: %s", path, error.message);
    if (status == CLI_DONE)
        sizes->session = nnrt_session_get_memory(session);
    sizes->instructions = cli_work_of(job, NULL, NULL, CLI_PROCESSOR_BYTES).instructions;
    sizes->file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (double)st.st_size : (double)cli_stream.bytes.size;
    nnrt_session_destroy(session);
    return status;
}

/* Whether --report can be written: it is another file than -o, and none that this command reads. */
static int cli_quantize_report_path(const cli_args *args)
{
    if (strcmp(args->report, "-") == 0 || strcmp(args->report, args->output) == 0)
        return cli_usage("--report %s: expected a file beside the model %s", args->report, args->output);
    return cli_out_try(args->report);
}

static int cli_quantize_report_begin(cli_job *job, const cli_args *args, cli_notes *notes)
{
    int status = cli_quantize_report_path(args);
    if (status == CLI_DONE)
        status = cli_notes_begin(notes, job->model);
    return status == CLI_DONE ? cli_quantize_sizes(job, args, args->model, &notes->before) : status;
}

/* Writes the report when the model is written. */
static int cli_quantize_report_end(cli_job *job, const cli_args *args, cli_notes *notes)
{
    int status = cli_note_read(args->output); /* as a link, --report may lead to it */
    if (status == CLI_DONE)
        status = cli_quantize_sizes(job, args, args->output, &notes->after);
    if (status == CLI_DONE)
        status = cli_notes_write(notes, args);
    if (status == CLI_DONE && !args->json) {
        fputs("report     ", stdout);
        cli_put_name(stdout, args->report);
        putchar('\n');
    }
    return status;
}

/* Quantizes the model into job->model; *written: the size of the ONNX file, 0 if OUT is none. notes: for --report. */
static int cli_quantize_job(cli_job *job, const cli_args *args, cli_notes *notes, size_t *written)
{
    cli_quantize_user user;
    char *keep = NULL;
    bool kept;
    int status = cli_job_load_optimized(job, args, true);
    memset(&user, 0, sizeof(user));
    *written = 0;
    user.onnx = cli_ends_with(args->output, ".onnx");
    if (status == CLI_DONE && user.onnx && (job->fromNnrt || cli_is_tflite(args->model)))
        status = cli_fail("cannot write %s: an ONNX file is made of an ONNX file; write a .nnrt file", args->output);
    if (status == CLI_DONE && user.onnx && cli_has_half(job->model))
        status = cli_fail("cannot write %s: the model is float16; write a .nnrt file", args->output);
    if (status == CLI_DONE)
        status = cli_job_widen(job, args);
    if (status == CLI_DONE)
        status = cli_out_try(args->output);
    user.samples.job = user.heldOut.job = job;
    user.samples.args = user.heldOut.args = args;
    user.progress.label = "quantize";
    user.notes = args->report != NULL ? notes : NULL;
    if (status == CLI_DONE && user.notes != NULL)
        status = cli_quantize_report_begin(job, args, notes);
    if (status == CLI_DONE)
        status = cli_job_keep(args, &keep);
    user.keep = keep;
    if (status == CLI_DONE)
        status = cli_samples_find(&user.samples, args->data);
    if (status == CLI_DONE && args->heldOut != NULL)
        status = cli_samples_find(&user.heldOut, args->heldOut);
    if (status == CLI_DONE)
        status = cli_quantize_session(job, args, &user.session);
    if (status == CLI_DONE && args->classes != NULL)
        status = cli_quantize_classes(job, args, &user);
    if (status == CLI_DONE)
        status = cli_samples_drop_bad(&user.samples);
    if (status == CLI_DONE)
        status = cli_samples_drop_bad(&user.heldOut);
    if (status == CLI_DONE)
        status = cli_quantize_choose(job, args, &user);
    kept = status == CLI_DONE && cli_quantize_keeps_all(args, &user);
    if (status == CLI_DONE && cli_quantize_chooses(args, &user) && !kept)
        status = cli_quantize_spare(job, args, &user);
    if (status == CLI_DONE && (args->sensitivity || args->maxLoss > 0))
        status = cli_quantize_search(job, args, &user);
    if (status == CLI_DONE)
        status = cli_quantize_predict(&user);
    if (kept)
        cli_quantize_print_kept(args, &user);
    else if (status == CLI_DONE)
        status = cli_quantize_model(job, args, &user);
    if (status == CLI_DONE && user.onnx && (status = cli_quantize_write(args, &user.qdq)) == CLI_DONE)
        *written = user.qdq.file.size;
    cli_qdq_free(&user.qdq);
    cli_samples_free(&user.samples);
    cli_samples_free(&user.heldOut);
    cli_choice_free(&user.choice);
    free(user.floats);
    free(user.faster);
    free(keep);
    return status;
}

/* Writes a quantized model as convert does. */
static int cli_quantize_save(cli_job *job, const cli_args *args)
{
    nnrt_error error;
    int status = CLI_DONE;
    memset(&error, 0, sizeof(error));
    if (args->int8Io && cli_job_integer_io(job, args, &error) != NNRT_SUCCESS)
        status = cli_fail("%s: %s", args->model, error.message);
    if (status == CLI_DONE && args->int8Io)
        status = cli_convert_quantize(job);
    if (status == CLI_DONE)
        status = cli_convert_metadata(job, args);
    return status == CLI_DONE ? cli_convert_save(job, args) : status;
}

static int cli_quantize(const cli_args *args)
{
    cli_job job;
    cli_notes notes;
    size_t written = 0;
    int status;
    memset(&job, 0, sizeof(job));
    memset(&notes, 0, sizeof(notes));
    cli_return_blocks();
    nnrt_memory_allocate(&notes.memory, NULL);
    status = args->weightBits > 0 || args->dynamicCodes ? cli_quantize_weights(&job, args) : cli_quantize_job(&job, args, &notes, &written);
    if (status == CLI_DONE)
        status = written > 0 ? cli_put_written(args, written, "") : cli_quantize_save(&job, args);
    if (status == CLI_DONE && args->report != NULL)
        status = cli_quantize_report_end(&job, args, &notes);
    nnrt_memory_end(&notes.memory);
    cli_job_free(&job);
    return status;
}

#endif /* NNRT_TOOL_QUANTIZE_H */
