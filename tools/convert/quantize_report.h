/*
quantize_report.h - the report of nnrt quantize: a self-contained HTML page about a quantization.
Part of tools/nnrt.c.

    >>notes  ranges, layers, sensitivities and outputs, noted while the model is quantized
    >>page   the page, written when the model is written
*/
#ifndef NNRT_TOOL_QUANTIZE_REPORT_H
#define NNRT_TOOL_QUANTIZE_REPORT_H

#include "../../formats/nnrt_quantize.h"
#include "../common/args.h"
#include "../io/html.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>notes */

#define CLI_NOTED_BARS 64 /* of a histogram */

/* An nnrt_quantize_range with fewer bins. */
typedef struct cli_noted_range {
    nnrt_quantize_range range; /* without histogram; tensor is a copy */
    double bars[CLI_NOTED_BARS];
} cli_noted_range;

typedef struct cli_noted_layer {
    const char *name, *op;
    double weights, least, most; /* number of weights; their smallest and largest scale */
    uint32_t scales;
} cli_noted_layer;

/* A node, and the signal-to-noise ratio of the outputs if it alone is quantized. */
typedef struct cli_noted_node {
    const char *name, *op;
    double sqnr;
    bool floats; /* it stays float32 */
} cli_noted_node;

typedef struct cli_noted_output {
    const char *name;
    double sqnr;
    uint32_t same; /* samples with the same largest element */
    bool classes;
} cli_noted_output;

/* Sizes of a model in bytes, and the estimate of its instructions on a Cortex-M4. The session is one of the reference
   device. */
typedef struct cli_noted_model {
    double file, instructions;
    nnrt_session_memory session;
} cli_noted_model;

/* Times of a run, of the device of the command, and by the cost model. */
typedef struct cli_noted_time {
    double f32, int8;  /* milliseconds; with `measured` */
    double predicted;  /* of the 8-bit model, relative to float32 */
    bool measured;
    uint32_t faster, accuracy; /* nodes that stay float32 because they are faster so, or cost accuracy */
} cli_noted_time;

/* Lists have room for all tensors, nodes and outputs of the float32 model. */
typedef struct cli_notes {
    nnrt_memory memory; /* full: some note is missing */
    cli_noted_range *ranges;
    cli_noted_layer *layers;
    cli_noted_node *nodes;
    cli_noted_output *outputs;
    uint32_t nRanges, nLayers, nNodes, nOutputs, samples;
    uint32_t judged; /* samples of the comparison with float32 */
    cli_noted_model before, after;
    nnrt_quantize_report counts;
    cli_noted_time time;
    double right[2]; /* accuracy of both models in percent, with --classes */
} cli_notes;

static int cli_notes_begin(cli_notes *n, const NNRT_Model *model)
{
    n->ranges = (cli_noted_range *)nnrt_memory_keep_array(&n->memory, model->allTensors.count, sizeof(*n->ranges));
    n->layers = (cli_noted_layer *)nnrt_memory_keep_array(&n->memory, model->nodes.count, sizeof(*n->layers));
    n->nodes = (cli_noted_node *)nnrt_memory_keep_array(&n->memory, model->nodes.count, sizeof(*n->nodes));
    n->outputs = (cli_noted_output *)nnrt_memory_keep_array(&n->memory, model->outputIndex.count, sizeof(*n->outputs));
    return n->ranges != NULL && n->layers != NULL && n->nodes != NULL && n->outputs != NULL
               ? CLI_DONE
               : cli_fail("out of memory: cannot allocate the notes of the report");
}

/* A copy of a name; "" if there is none or no memory. */
static const char *cli_notes_text(cli_notes *n, const char *text)
{
    const size_t bytes = text != NULL ? strlen(text) + 1 : 0;
    char *copy = bytes > 0 ? (char *)nnrt_memory_keep(&n->memory, bytes) : NULL;
    if (copy == NULL)
        return "";
    memcpy(copy, text, bytes);
    return copy;
}

static const char *cli_notes_op(const NNRT_Node *node)
{
    const nnrt_op *op = nnrt_op_find(node->nodeType);
    return op != NULL ? op->name : "?";
}

static void cli_notes_range(cli_notes *n, const nnrt_quantize_range *r)
{
    cli_noted_range *noted = &n->ranges[n->nRanges++];
    noted->range = *r;
    noted->range.tensor = cli_notes_text(n, r->tensor);
    noted->range.histogram = NULL;
    for (uint32_t i = 0; i < r->bins; i++)
        noted->bars[(uint64_t)i * CLI_NOTED_BARS / r->bins] += (double)r->histogram[i];
}

static void cli_notes_layer(cli_notes *n, const NNRT_Model *model, const nnrt_quantize_layer *l)
{
    const NNRT_Node *node = &model->nodes.data[l->node];
    cli_noted_layer *noted = &n->layers[n->nLayers++];
    noted->name = cli_notes_text(n, node->name);
    noted->op = cli_notes_op(node);
    noted->weights = 1;
    for (uint32_t k = 0; k < l->dims.count; k++)
        noted->weights *= l->dims.data[k];
    noted->scales = l->params.count;
    for (uint32_t c = 0; c < l->params.count; c++) {
        const double scale = l->params.data[c].scale;
        noted->least = c == 0 || scale < noted->least ? scale : noted->least;
        noted->most = scale > noted->most ? scale : noted->most;
    }
}

static void cli_notes_node(cli_notes *n, const NNRT_Node *node, double sqnr, bool floats)
{
    cli_noted_node *noted = &n->nodes[n->nNodes++];
    noted->name = cli_notes_text(n, node->name);
    noted->op = cli_notes_op(node);
    noted->sqnr = sqnr;
    noted->floats = floats;
}

static void cli_notes_output(cli_notes *n, const char *name, double sqnr, uint32_t same, bool classes)
{
    cli_noted_output *noted = &n->outputs[n->nOutputs++];
    noted->name = cli_notes_text(n, name);
    noted->sqnr = sqnr;
    noted->same = same;
    noted->classes = classes;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>page */

/* The lowest signal-to-noise ratio first, equal ones in the order of names. */
static int cli_notes_order(const void *a, const void *b)
{
    const nnrt_quantize_range *x = &((const cli_noted_range *)a)->range, *y = &((const cli_noted_range *)b)->range;
    if (x->sqnr < y->sqnr || x->sqnr > y->sqnr)
        return x->sqnr < y->sqnr ? -1 : 1;
    return strcmp(x->tensor, y->tensor);
}

static void cli_notes_sqnr(FILE *out, double sqnr)
{
    if (sqnr < (double)INFINITY)
        fprintf(out, "<td>%.1f", sqnr);
    else
        fputs("<td>no error", out);
}

static void cli_notes_cell(FILE *out, const char *text)
{
    fputs("<td class='l'>", out);
    cli_html(out, text);
}

/* The histogram from the least to the largest value. Height: logarithm of the count; gray: the range of the codes. */
static void cli_notes_histogram(FILE *out, const cli_noted_range *noted)
{
    const nnrt_quantize_range *r = &noted->range;
    const double bar = 2, wide = bar * CLI_NOTED_BARS, high = 28, span = (double)r->binsUpper - (double)r->binsLower;
    const double left = span > 0 ? wide * ((double)r->lower - (double)r->binsLower) / span : 0;
    const double right = span > 0 ? wide * ((double)r->upper - (double)r->binsLower) / span : wide;
    double most = 0;
    for (int i = 0; i < CLI_NOTED_BARS; i++)
        most = fmax(most, noted->bars[i]);
    fprintf(out,
            "<td class='l'><svg class='hist' width='%.0f' height='%.0f'><title>%.6g to %.6g</title><rect x='%.1f' "
            "width='%.1f' height='%.0f'/><path d='",
            wide, high, (double)r->binsLower, (double)r->binsUpper, fmax(0, left), fmin(wide, right) - fmax(0, left), high);
    for (int i = 0; i < CLI_NOTED_BARS; i++)
        if (noted->bars[i] > 0)
            fprintf(out, "M%.0f %.0fv-%.1fh%.0fV%.0fz", i * bar, high, high * log1p(noted->bars[i]) / log1p(most), bar, high);
    fputs("'/></svg>", out);
}

static void cli_notes_ranges(cli_notes *n, FILE *out)
{
    if (n->nRanges > 1)
        qsort(n->ranges, n->nRanges, sizeof(*n->ranges), cli_notes_order);
    fputs("<h2>Activations</h2>\n<p>The lowest signal-to-quantization-noise ratio (SQNR) first. Histogram: the values of all "
          "samples, heights are logarithms of counts, gray is the range of the codes. Tensors that share scale and zero point "
          "share a histogram and an SQNR.</p>\n<table id='ranges'><tr><th class='l'>tensor<th>SQNR, dB<th>least<th>most<th>lowest "
          "code<th>highest code<th>scale<th>zero point<th class='l'>range by<th class='l'>histogram</tr>\n",
          out);
    for (uint32_t i = 0; i < n->nRanges; i++) {
        const nnrt_quantize_range *r = &n->ranges[i].range;
        fputs("<tr>", out);
        cli_notes_cell(out, r->tensor);
        cli_notes_sqnr(out, r->sqnr);
        fprintf(out, "<td>%.6g<td>%.6g<td>%.6g<td>%.6g<td>%.6g<td>%d", (double)r->least, (double)r->most, (double)r->lower,
                (double)r->upper, r->quant.scale, (int)r->quant.zeroPoint);
        cli_notes_cell(out, r->method);
        cli_notes_histogram(out, &n->ranges[i]);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void cli_notes_layers(const cli_notes *n, FILE *out)
{
    fputs("<h2>Weights</h2>\n<table id='layers'><tr><th class='l'>node<th class='l'>operator<th>weights<th>scales<th>least "
          "scale<th>largest scale<th>ratio</tr>\n",
          out);
    for (uint32_t i = 0; i < n->nLayers; i++) {
        const cli_noted_layer *l = &n->layers[i];
        fputs("<tr>", out);
        cli_notes_cell(out, l->name);
        cli_notes_cell(out, l->op);
        fprintf(out, "<td>%.0f<td>%u<td>%.6g<td>%.6g<td>%.1f</tr>\n", l->weights, (unsigned)l->scales, l->least, l->most,
                l->least > 0 ? l->most / l->least : 0);
    }
    fputs("</table>\n", out);
}

static void cli_notes_nodes(const cli_notes *n, FILE *out)
{
    if (n->nNodes == 0)
        return;
    fputs("<h2>Sensitivity</h2>\n<p>SQNR of the outputs if this node alone is quantized.</p>\n<table id='nodes'><tr><th "
          "class='l'>node<th class='l'>operator<th>SQNR, dB<th class='l'>computes in</tr>\n",
          out);
    for (uint32_t i = 0; i < n->nNodes; i++) {
        fputs("<tr>", out);
        cli_notes_cell(out, n->nodes[i].name);
        cli_notes_cell(out, n->nodes[i].op);
        cli_notes_sqnr(out, n->nodes[i].sqnr);
        cli_notes_cell(out, n->nodes[i].floats ? "float32" : "8 bits");
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void cli_notes_outputs(const cli_notes *n, FILE *out)
{
    fputs("<h2>Float32 against 8 bits</h2>\n<table id='outputs'><tr><th class='l'>output<th>SQNR, dB<th class='l'>the same "
          "largest element</tr>\n",
          out);
    for (uint32_t i = 0; i < n->nOutputs; i++) {
        const cli_noted_output *o = &n->outputs[i];
        fputs("<tr>", out);
        cli_notes_cell(out, o->name);
        cli_notes_sqnr(out, o->sqnr);
        if (o->classes)
            fprintf(out, "<td class='l'>in %u of %u samples", (unsigned)o->same, (unsigned)n->judged);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void cli_notes_sizes(FILE *out, const char *name, double before, double after)
{
    fprintf(out, "<tr><th class='l'>%s<td>%.0f<td>%.0f<td>%.1f %%</tr>\n", name, before, after,
            before > 0 ? 100 * after / before : 0);
}

static void cli_notes_options(FILE *out, const cli_args *args)
{
    fprintf(out, "<tr><th class='l'>options<td class='l' colspan='3'>activations %s, inputs and outputs %s",
            args->int16 ? "int16" : args->uint8 ? "uint8" : "int8", args->int8Io ? "of 8 bits" : "as in the model");
    for (uint32_t i = 0; cli_quantize_steps[i] != NULL; i++)
        if ((args->withoutSteps >> i & 1) != 0)
            fprintf(out, ", without %s", cli_quantize_steps[i]);
    if (args->leastSquares)
        fputs(", weights rounded by least squares", out);
    if (args->heldOut != NULL) {
        fputs(", compared on ", out);
        cli_html(out, args->heldOut);
    }
    if (args->maxLoss > 0)
        fprintf(out, args->classes != NULL ? ", accuracy lost at most %g" : ", noise at most %g of the signal", args->maxLoss);
    if (args->keep != NULL) {
        fputs(", float32 nodes of ", out);
        cli_html(out, args->keep);
    }
    if (args->device != NULL) {
        fputs(", calibrated on ", out);
        cli_html(out, args->device);
    }
    fputs("</tr>\n", out);
}

static void cli_notes_summary(const cli_notes *n, FILE *out, const cli_args *args)
{
    const cli_noted_model *a = &n->before, *b = &n->after;
    fputs("<table id='summary'><tr><th class='l'>bytes<th>float32<th>8 bits<th></tr>\n", out);
    cli_notes_sizes(out, "file", a->file, b->file);
    cli_notes_sizes(out, "constants (flash of firmware)", (double)a->session.constants, (double)b->session.constants);
    cli_notes_sizes(out, "arena (RAM), reference device", (double)a->session.arena, (double)b->session.arena);
    cli_notes_sizes(out, "instructions of a run on a Cortex-M4, about", a->instructions, b->instructions);
    if (n->time.measured)
        fprintf(out, "<tr><th class='l'>time of a run here, ms<td>%.3f<td>%.3f<td>%.1f %%</tr>\n", n->time.f32, n->time.int8,
                100 * n->time.int8 / n->time.f32);
    fprintf(out,
            "<tr><th class='l'>time of a run, predicted<td>100<td>%.1f<td>%.1f %%</tr>\n<tr><th class='l'>nodes in float32<td class='l' "
            "colspan='3'>%u are faster so, %u for accuracy</tr>\n",
            100 * n->time.predicted, 100 * n->time.predicted, (unsigned)n->time.faster, (unsigned)n->time.accuracy);
    fprintf(out,
            "<tr><th class='l'>samples<td class='l' colspan='3'>%u, compared with float32 on %u</tr>\n<tr><th class='l'>nodes<td class='l' colspan='3'>%u of "
            "%u quantized, %u with weights</tr>\n<tr><th class='l'>steps<td class='l' colspan='3'>%u pairs of layers equalized, "
            "%u biases corrected</tr>\n",
            (unsigned)n->samples, (unsigned)n->judged, (unsigned)n->counts.chosen, (unsigned)n->counts.nodes, (unsigned)n->counts.layers,
            (unsigned)n->counts.equalized, (unsigned)n->counts.corrected);
    if (args->classes != NULL)
        fprintf(out, "<tr><th class='l'>accuracy (top 1)<td>%.2f %%<td>%.2f %%<td></tr>\n", n->right[0], n->right[1]);
    cli_notes_options(out, args);
    fputs("</table>\n", out);
}

/* Writes the page to --report. */
static int cli_notes_write(cli_notes *n, const cli_args *args)
{
    cli_out out;
    if (n->memory.full)
        return cli_fail("cannot write %s: out of memory", args->report);
    if (cli_out_open(&out, args->report, false) != CLI_DONE)
        return CLI_FAILED;
    cli_page_begin(out.f, args->model, args->model);
    cli_notes_summary(n, out.f, args);
    cli_notes_outputs(n, out.f);
    cli_notes_nodes(n, out.f);
    cli_notes_ranges(n, out.f);
    cli_notes_layers(n, out.f);
    fputs("</body></html>\n", out.f);
    return cli_out_close(&out, true);
}

#endif /* NNRT_TOOL_QUANTIZE_REPORT_H */
