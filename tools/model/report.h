/*
report.h - the command report: a self-contained HTML page about a model.
Part of tools/nnrt.c.

The graph is drawn in layers: a node is below all nodes that it reads, and within its layer near nodes with similar
inputs. Colors stand for operators, frames for the device that ran a step. Times are from the profile, means of a few
runs; memory is the map of the reference device's plan.
*/
#ifndef NNRT_TOOL_REPORT_H
#define NNRT_TOOL_REPORT_H

#include "../io/html.h"
#include "map.h"
#include "profile.h"

#define CLI_REPORT_RUNS 5
#define CLI_REPORT_WIDE 180 /* width of a node including its margin, pixels */
#define CLI_REPORT_HIGH 74  /* height of a layer */

/* Items of the drawing: the inputs, then the nodes, then the outputs of the main graph. */
typedef struct cli_report_item {
    uint32_t layer;
    double x; /* its center, in units of the node width */
} cli_report_item;

typedef struct cli_report {
    FILE *out;
    const cli_job *job;
    const NNRT_Model *model;
    cli_profile profile;
    cli_map map;
    bool mapped; /* map is valid */
    nnrt_memory memory;
    nnrt_operand *tensors; /* shapes; NULL: unknown before a run */
    uint32_t *writer;      /* per tensor: its item, or NNRT_NO_TENSOR */
    cli_report_item *items;
    uint32_t *sorted; /* items by layer and position */
    uint32_t nItems, nLayers;
    double wide; /* largest number of items in a layer */
} cli_report;

/* The color hue of an operator or device, a hash of its name. */
static unsigned cli_report_hue(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name != '\0'; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return (unsigned)((h >> 8) * 137u % 360);
}

/* Time of node n in microseconds, and the device that ran it; NULL: no step was reported, as for nodes that were fused
   into others. */
static const char *cli_report_time(const cli_report *r, uint32_t n, double *us)
{
    const char *device = NULL;
    *us = 0;
    for (uint32_t i = 0; i < r->profile.nRows; i++)
        if (r->profile.rows[i].node == (int32_t)n) {
            *us += r->profile.rows[i].own / r->profile.runs / 1e3;
            device = r->profile.rows[i].device;
        }
    return device;
}

/* The tensors that item i reads. */
static NNRT_Uint32List cli_report_reads(const cli_report *r, uint32_t i)
{
    const NNRT_Model *m = r->model;
    const uint32_t nIn = m->inputIndex.count;
    if (i < nIn)
        return NNRT_Uint32List_make(NULL, 0);
    if (i < nIn + m->nodes.count)
        return m->nodes.data[i - nIn].inputIndex;
    return NNRT_Uint32List_make(&m->outputIndex.data[i - nIn - m->nodes.count], 1);
}

static const cli_report *cli_report_sorting;

static int cli_report_order(const void *a, const void *b)
{
    const cli_report_item *x = &cli_report_sorting->items[*(const uint32_t *)a];
    const cli_report_item *y = &cli_report_sorting->items[*(const uint32_t *)b];
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    if (x->x < y->x || x->x > y->x)
        return x->x < y->x ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Assigns layers and positions. order: the nodes in topological order. Nodes of subgraphs are not drawn: their layer is
   0. */
static bool cli_report_layout(cli_report *r, const uint32_t *order, uint32_t end)
{
    const NNRT_Model *m = r->model;
    const uint32_t nIn = m->inputIndex.count;
    r->nItems = nIn + m->nodes.count + m->outputIndex.count;
    r->writer = (uint32_t *)nnrt_memory_keep(&r->memory, m->allTensors.count * sizeof(*r->writer));
    r->items = (cli_report_item *)nnrt_memory_keep(&r->memory, r->nItems * sizeof(*r->items));
    r->sorted = (uint32_t *)nnrt_memory_keep(&r->memory, r->nItems * sizeof(*r->sorted));
    if (r->writer == NULL || r->items == NULL || r->sorted == NULL)
        return false;
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        r->writer[t] = NNRT_NO_TENSOR;
    for (uint32_t i = 0; i < nIn; i++) {
        r->writer[m->inputIndex.data[i]] = i;
        r->items[i].layer = 1;
        r->items[i].x = i;
    }
    for (uint32_t k = 0; k < end + m->outputIndex.count; k++) {
        const uint32_t i = k < end ? nIn + order[k] : nIn + m->nodes.count + k - end;
        const NNRT_Uint32List reads = cli_report_reads(r, i);
        cli_report_item *item = &r->items[i];
        uint32_t count = 0;
        item->layer = 1;
        for (uint32_t a = 0; a < reads.count; a++)
            if (reads.data[a] != NNRT_NO_TENSOR && r->writer[reads.data[a]] != NNRT_NO_TENSOR) {
                const cli_report_item *from = &r->items[r->writer[reads.data[a]]];
                item->layer = from->layer >= item->layer ? from->layer + 1 : item->layer;
                item->x += from->x;
                count++;
            }
        item->x = count > 0 ? item->x / count : k;
        r->nLayers = item->layer > r->nLayers ? item->layer : r->nLayers;
        for (uint32_t a = 0; k < end && a < m->nodes.data[order[k]].outputIndex.count; a++)
            if (m->nodes.data[order[k]].outputIndex.data[a] != NNRT_NO_TENSOR)
                r->writer[m->nodes.data[order[k]].outputIndex.data[a]] = i;
    }
    for (uint32_t i = 0; i < r->nItems; i++)
        r->sorted[i] = i;
    cli_report_sorting = r;
    qsort(r->sorted, r->nItems, sizeof(*r->sorted), cli_report_order);
    for (uint32_t i = 0, first = 0; i <= r->nItems; i++) {
        if (i < r->nItems && i > first && r->items[r->sorted[i]].layer == r->items[r->sorted[first]].layer)
            continue;
        if (i == first)
            continue;
        for (uint32_t k = first; k < i; k++) /* centered around 0: shifted below, when the width is known */
            r->items[r->sorted[k]].x = (double)(k - first) - (double)(i - first) / 2;
        if (r->items[r->sorted[first]].layer > 0)
            r->wide = i - first > r->wide ? i - first : r->wide;
        first = i--;
    }
    return true;
}

static double cli_report_x(const cli_report *r, uint32_t i)
{
    return (r->items[i].x + r->wide / 2 + 0.5) * CLI_REPORT_WIDE;
}

static double cli_report_y(const cli_report *r, uint32_t i)
{
    return (r->items[i].layer - 0.5) * CLI_REPORT_HIGH;
}

/* Writes at most that many characters of a name. */
static void cli_report_short(FILE *out, const char *s, int most)
{
    char text[128];
    snprintf(text, sizeof(text), strlen(s) > (size_t)most ? "%.*s.." : "%.*s", most, s);
    for (char *c = text; *c != '\0'; c++)
        *c = (unsigned char)*c < 128 ? *c : '?';
    cli_html(out, text);
}

static void cli_report_shape(const cli_report *r, uint32_t tensor)
{
    char text[CLI_SHAPE_BYTES];
    nnrt_dims shape;
    if (r->tensors == NULL || tensor == NNRT_NO_TENSOR || r->tensors[tensor].rank < 0)
        return;
    shape.rank = r->tensors[tensor].rank;
    memcpy(shape.dims, r->tensors[tensor].dims, (size_t)shape.rank * sizeof(shape.dims[0]));
    cli_html(r->out, cli_shape_text(text, sizeof(text), r->tensors[tensor].dataType, &shape));
}

static void cli_report_draw_item(const cli_report *r, uint32_t i)
{
    const NNRT_Model *m = r->model;
    const uint32_t nIn = m->inputIndex.count;
    const double x = cli_report_x(r, i), y = cli_report_y(r, i);
    const bool node = i >= nIn && i < nIn + m->nodes.count;
    double us = 0;
    if (!node) {
        const uint32_t t = i < nIn ? m->inputIndex.data[i] : m->outputIndex.data[i - nIn - m->nodes.count];
        fprintf(r->out, "<g><title>%s ", i < nIn ? "input" : "output");
        cli_html(r->out, m->allTensors.data[t].name);
        fputc('\n', r->out);
        cli_report_shape(r, t);
        fprintf(r->out, "</title><rect x='%.1f' y='%.1f' width='150' height='48' rx='24' class='io'/>", x - 75, y - 24);
        fprintf(r->out, "<text x='%.1f' y='%.1f' class='op'>", x, y - 3);
        cli_report_short(r->out, m->allTensors.data[t].name != NULL ? m->allTensors.data[t].name : "", 20);
        fprintf(r->out, "</text><text x='%.1f' y='%.1f'>", x, y + 12);
        cli_report_shape(r, t);
        fputs("</text></g>\n", r->out);
    } else {
        const NNRT_Node *n = &m->nodes.data[i - nIn];
        const nnrt_op *op = nnrt_op_find(n->nodeType);
        const char *name = op != NULL ? op->name : "?", *device = cli_report_time(r, i - nIn, &us);
        const double all = cli_profile_total(&r->profile) / r->profile.runs / 1e3;
        fprintf(r->out, "<g><title>node %u ", (unsigned)(i - nIn));
        cli_html(r->out, n->name);
        fprintf(r->out, " (%s)\n", name);
        for (uint32_t k = 0; k < n->outputIndex.count; k++) {
            if (n->outputIndex.data[k] == NNRT_NO_TENSOR)
                continue;
            cli_html(r->out, m->allTensors.data[n->outputIndex.data[k]].name);
            fputc(' ', r->out);
            cli_report_shape(r, n->outputIndex.data[k]);
            fputc('\n', r->out);
        }
        if (device != NULL)
            fprintf(r->out, "%.1f us on ", us);
        cli_html(r->out, device != NULL ? device : "no step of its own");
        fprintf(r->out,
                "</title><rect x='%.1f' y='%.1f' width='150' height='48' rx='4' fill='hsl(%u,60%%,86%%)' "
                "stroke='hsl(%u,60%%,40%%)'%s/>",
                x - 75, y - 24, cli_report_hue(name), cli_report_hue(device != NULL ? device : ""),
                device != NULL ? "" : " stroke-dasharray='4 3'");
        if (all > 0)
            fprintf(r->out, "<rect x='%.1f' y='%.1f' width='%.1f' height='5' class='time'/>", x - 75, y + 19,
                    150 * us / all);
        fprintf(r->out, "<text x='%.1f' y='%.1f' class='op'>", x, y - 10);
        cli_report_short(r->out, name, 22);
        fprintf(r->out, "</text><text x='%.1f' y='%.1f'>", x, y + 2);
        cli_report_short(r->out, n->name != NULL ? n->name : "", 24);
        fprintf(r->out, "</text><text x='%.1f' y='%.1f'>", x, y + 14);
        cli_report_shape(r, n->outputIndex.count > 0 ? n->outputIndex.data[0] : NNRT_NO_TENSOR);
        fputs("</text></g>\n", r->out);
    }
}

static void cli_report_graph(const cli_report *r)
{
    fprintf(r->out,
            "<h2>Graph</h2>\n<p>A bar in a node: its share of the time. The frame's color: the device. Dashed: no step of "
            "its own.%s</p>\n<div class='scroll'><svg id='graph' width='%.0f' height='%.0f'>\n",
            r->model->subGraph.count > 1 ? " Nodes of subgraphs are not drawn." : "", (r->wide + 0.2) * CLI_REPORT_WIDE,
            (double)r->nLayers * CLI_REPORT_HIGH);
    for (uint32_t k = 0; k < r->nItems; k++) {
        const uint32_t i = r->sorted[k];
        const NNRT_Uint32List reads = cli_report_reads(r, i);
        for (uint32_t a = 0; r->items[i].layer > 0 && a < reads.count; a++) {
            const uint32_t from = reads.data[a] != NNRT_NO_TENSOR ? r->writer[reads.data[a]] : NNRT_NO_TENSOR;
            double x, y = cli_report_y(r, i) - 24;
            if (from == NNRT_NO_TENSOR)
                continue;
            x = fmax(cli_report_x(r, from), cli_report_x(r, i)) + 0.7 * CLI_REPORT_WIDE; /* past the nodes between */
            if (r->items[i].layer == r->items[from].layer + 1)
                fprintf(r->out, "<path d='M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f'/>\n", cli_report_x(r, from),
                        cli_report_y(r, from) + 24, cli_report_x(r, from), y, cli_report_x(r, i),
                        cli_report_y(r, from) + 24, cli_report_x(r, i), y);
            else
                fprintf(r->out, "<path d='M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f'/>\n", cli_report_x(r, from),
                        cli_report_y(r, from) + 24, x, cli_report_y(r, from) + 24, x, y, cli_report_x(r, i), y);
        }
    }
    for (uint32_t k = 0; k < r->nItems; k++)
        if (r->items[r->sorted[k]].layer > 0)
            cli_report_draw_item(r, r->sorted[k]);
    fputs("</svg></div>\n", r->out);
}

static void cli_report_times(const cli_report *r, const cli_profile_sum *sums, uint32_t count)
{
    const cli_profile *p = &r->profile;
    fprintf(r->out,
            "<h2>Time</h2>\n<p>%.1f us in %u steps, the mean of %.0f runs of %.1f us.</p>\n"
            "<table><tr><th>us<th>share<th>steps<th class='l'>operator</tr>\n",
            cli_profile_total(p) / p->runs / 1e3, (unsigned)p->nRows, p->runs, 1e3 * p->ms / p->runs);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(r->out, "<tr><td>%.1f<td>%.1f %%<td>%u<td class='l'><i style='background:hsl(%u,60%%,70%%)'></i>",
                sums[i].ns / p->runs / 1e3, cli_profile_share(p, sums[i].ns), (unsigned)sums[i].rows,
                cli_report_hue(sums[i].op));
        cli_html(r->out, sums[i].op);
        fputs("</tr>\n", r->out);
    }
    fputs("</table>\n<details open><summary>Steps</summary><table id='steps'><tr><th>us<th>share<th><th>read<th>written"
          "<th class='l'>operator<th class='l'>node<th class='l'>device</tr>\n",
          r->out);
    for (uint32_t i = 0; i < p->nRows; i++) {
        const cli_profile_row *s = &p->rows[i];
        fprintf(r->out,
                "<tr><td>%.1f<td>%.1f %%<td class='l'><i class='bar' style='width:%.1fpx'></i><td>%.0f<td>%.0f"
                "<td class='l'><i style='background:hsl(%u,60%%,70%%)'></i>",
                s->own / p->runs / 1e3, cli_profile_share(p, s->own), 1 + fabs(cli_profile_share(p, s->own)),
                s->read / p->runs, s->written / p->runs, cli_report_hue(s->op));
        cli_html(r->out, s->op);
        fputs("<td class='l'>", r->out);
        cli_html(r->out, s->name);
        fputs("<td class='l'>", r->out);
        cli_html(r->out, s->device);
        fputs("</tr>\n", r->out);
    }
    fputs("</table></details>\n", r->out);
}

/* Distance of the ticks of an axis, 1, 2 or 5 times a power of ten, such that at most `ticks` of them fit below
   most. */
static double cli_report_tick(double most, int ticks)
{
    const double least = most / ticks, power = pow(10, floor(log10(least)));
    return least <= power ? power : least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
}

/* Draws the axes of the memory map: steps, and offsets in the arena. The origin is that of the enclosing group. */
static void cli_report_axes(const cli_report *r, double step, double high)
{
    const nnrt_plan *p = r->map.plan;
    const double bytes = (double)p->arenaBytes, unit = bytes >= 1 << 20 ? 1 << 20 : bytes >= 1 << 10 ? 1 << 10 : 1;
    const double across = fmax(1, cli_report_tick(p->nSteps, 15)), up = cli_report_tick(bytes / unit, 5);
    fprintf(r->out, "<path d='M0 %.1fV%.1fH%.1f'/>", -high, 0.0, step * p->nSteps);
    for (double s = 0; s < p->nSteps; s += across)
        fprintf(r->out, "<text x='%.1f' y='14'>%.0f</text>", step * (s + 0.5), s);
    for (double v = 0; v * unit <= bytes; v += up)
        fprintf(r->out, "<path d='M-4 %.1fh4'/><text x='-7' y='%.1f' class='tick'>%g</text>", -high * v * unit / bytes,
                3 - high * v * unit / bytes, v);
    fprintf(r->out, "<text x='%.1f' y='30'>step</text><text transform='translate(-48 %.1f) rotate(-90)'>offset in "
                    "the arena, %s</text>",
            step * p->nSteps / 2, -high / 2, unit > 1024 ? "MiB" : unit > 1 ? "KiB" : "bytes");
}

/* Draws the arena: steps from left to right, offsets from bottom to top. */
static void cli_report_memory(const cli_report *r)
{
    const nnrt_plan *p = r->map.plan;
    double step, high = 260;
    fputs("<h2>Memory</h2>\n", r->out);
    if (!r->mapped || p->arenaBytes == 0) {
        fputs("<p>There is no memory map: the plan has subgraphs, or no values in its arena.</p>\n", r->out);
        return;
    }
    step = 900.0 / p->nSteps > 4 ? 900.0 / p->nSteps : 4;
    fprintf(r->out,
            "<p>The arena of the reference device: %.0f bytes, lower bound %.0f. Other devices plan their "
            "own.</p>\n<div class='scroll'><svg id='memory' width='%.0f' height='%.0f'><g transform='translate(64 %.0f)'>\n",
            (double)p->arenaBytes, (double)p->arenaBound, step * p->nSteps + 76, high + 50, high + 12);
    cli_report_axes(r, step, high);
    for (uint32_t i = 0; i < r->map.count; i++) {
        const cli_map_block *b = &r->map.blocks[i];
        const double h = high * (double)b->bytes / (double)p->arenaBytes;
        fprintf(r->out,
                "<rect x='%.1f' y='%.2f' width='%.1f' height='%.2f' fill='hsl(%u,55%%,75%%)' stroke='#555' "
                "stroke-width='.5'><title>%s",
                step * b->first, -high * (double)b->offset / (double)p->arenaBytes - h,
                step * (b->last - b->first + 1), h, cli_report_hue(b->name != NULL ? b->name : ""),
                b->scratch ? "scratch of " : "");
        cli_html(r->out, b->name);
        fprintf(r->out, "\n%.0f bytes at %.0f, steps %u to %u</title></rect>\n", (double)b->bytes, (double)b->offset,
                (unsigned)b->first, (unsigned)b->last);
    }
    fputs("</g></svg></div>\n<table id='taken'><tr><th>step<th>bytes taken<th class='l'>operator<th class='l'>node</tr>\n", r->out);
    for (uint32_t s = 0; s < p->nSteps; s++) {
        fprintf(r->out, "<tr><td>%u<td>%.0f<td class='l'>%s<td class='l'>", (unsigned)s, (double)r->map.taken[s],
                p->steps[s].op != NULL ? p->steps[s].op->name : "copy");
        cli_html(r->out, p->steps[s].name);
        fputs("</tr>\n", r->out);
    }
    fputs("</table>\n", r->out);
}

/* Lists the devices that ran the steps, which may differ from the session's device, auto. */
static void cli_report_devices(const cli_report *r)
{
    const cli_profile *p = &r->profile;
    for (uint32_t i = 0; i < p->nRows; i++) {
        uint32_t steps = 0, before = 0;
        for (uint32_t k = 0; k < p->nRows; k++) {
            const bool same = strcmp(p->rows[k].device, p->rows[i].device) == 0;
            steps += same;
            before += same && k < i;
        }
        if (before > 0)
            continue;
        fputs("<br>", r->out);
        cli_html(r->out, p->rows[i].device);
        fprintf(r->out, ": %u of %u steps", (unsigned)steps, (unsigned)p->nRows);
    }
}

static void cli_report_head(const cli_report *r, const cli_args *args)
{
    const nnrt_session_memory m = nnrt_session_get_memory(r->job->session);
    const double constants = cli_constant_bytes(r->model), inPlace = fmin((double)m.constants, constants);
    char text[CLI_SHAPE_BYTES];
    cli_page_begin(r->out, args->model, r->model->name != NULL && *r->model->name != '\0' ? r->model->name : args->model);
    fputs("<table>\n<tr><th>device<td class='l'>", r->out);
    cli_html(r->out, nnrt_session_device(r->job->session));
    cli_report_devices(r);
    for (uint32_t i = 0; i < nnrt_session_inputs(r->job->session) + nnrt_session_outputs(r->job->session); i++) {
        const uint32_t nIn = nnrt_session_inputs(r->job->session);
        const nnrt_io_info io =
            i < nIn ? nnrt_session_input(r->job->session, i) : nnrt_session_output(r->job->session, i - nIn);
        fprintf(r->out, "</tr>\n<tr><th>%s<td class='l'>", i < nIn ? "input" : "output");
        cli_html(r->out, io.name);
        fputs("  ", r->out);
        cli_html(r->out, cli_shape_text(text, sizeof(text), io.dataType, &io.shape));
    }
    fprintf(r->out,
            "</tr>\n<tr><th>nodes<td class='l'>%u, %u steps in a run</tr>\n<tr><th>constants<td class='l'>%.0f bytes: %.0f read "
            "in place, %.0f copied or packed by the device</tr>\n<tr><th>session<td class='l'>%.0f bytes, an arena of %.0f in "
            "it</tr>\n</table>\n",
            (unsigned)r->model->nodes.count, (unsigned)m.steps, constants, inPlace, constants - inPlace,
            (double)m.total, (double)m.arena);
}

/* Prepares shapes, layers and the memory map, which is omitted if the plan has none. */
static int cli_report_prepare(cli_report *r, const cli_args *args)
{
    const NNRT_Model *m = r->model;
    NNRT_ModelConfig config;
    nnrt_error error;
    nnrt_dims *dims = cli_job_dims(r->job);
    uint32_t *order;
    int status = dims != NULL ? CLI_DONE : CLI_FAILED;
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    if (r->job->fromNnrt)
        config.inputDims = nnrt_dims_list_make(dims, r->job->in.count + r->job->in.states);
    config.bounds = nnrt_bound_list_make(r->job->in.bounds, r->job->in.boundCount);
    r->tensors = (nnrt_operand *)nnrt_memory_keep(&r->memory, m->allTensors.count * sizeof(*r->tensors));
    if (status == CLI_DONE && r->tensors != NULL &&
        nnrt_model_infer(m, &config, &r->memory, r->tensors, NULL, NULL) != NNRT_SUCCESS)
        r->tensors = NULL;
    free(dims);
    if (status == CLI_DONE && nnrt_model_check(m, &r->memory, &order, &error) != NNRT_SUCCESS)
        status = cli_fail("%s", error.message);
    if (status == CLI_DONE &&
        !cli_report_layout(r, order, m->subGraph.count > 1 ? order[m->nodes.count + 1] : m->nodes.count))
        status = cli_fail("out of memory: cannot allocate the drawing");
    if (status == CLI_DONE && m->subGraph.count <= 1) {
        r->mapped = true;
        status = cli_map_make(&r->map, r->job, args);
    }
    return status;
}

static int cli_report_write(cli_report *r, const cli_args *args)
{
    uint32_t count;
    cli_profile_sum *sums = cli_profile_sums(&r->profile, &count);
    cli_out out;
    if (sums == NULL || cli_out_open(&out, args->output, true) != CLI_DONE) {
        free(sums);
        return CLI_FAILED;
    }
    r->out = out.f;
    cli_report_head(r, args);
    cli_report_graph(r);
    cli_report_times(r, sums, count);
    cli_report_memory(r);
    fputs("</body></html>\n", out.f);
    free(sums);
    return cli_out_close(&out, true);
}

static int cli_report_make(const cli_args *args)
{
    cli_report r;
    cli_job job;
    int status;
    memset(&r, 0, sizeof(r));
    memset(&job, 0, sizeof(job));
    nnrt_memory_allocate(&r.memory, NULL);
    status = cli_inputs_make(&job.in, args);
    if (status == CLI_DONE)
        status = cli_inputs_fill(&job.in, args, args->inputCount == 0);
    cli_profile_begin(&r.profile, &job, NULL);
    if (status == CLI_DONE)
        status = cli_job_start(&job, args);
    if (status == CLI_DONE)
        status = cli_job_run(&job); /* untimed: caches are cold */
    cli_profile_reset(&r.profile);
    for (int i = 0; i < CLI_REPORT_RUNS && status == CLI_DONE; i++)
        status = cli_profile_run(&r.profile, &job);
    r.job = &job;
    r.model = job.model;
    if (status == CLI_DONE)
        status = cli_report_prepare(&r, args);
    if (status == CLI_DONE)
        status = cli_report_write(&r, args);
    if (status == CLI_DONE && strcmp(args->output, "-") != 0) {
        cli_put_name(stdout, args->output);
        putchar('\n');
    }
    cli_map_free(&r.map);
    cli_profile_free(&r.profile);
    nnrt_memory_end(&r.memory);
    cli_job_free(&job);
    return status;
}

#endif /* NNRT_TOOL_REPORT_H */
