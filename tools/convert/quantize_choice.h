/*
quantize_choice.h - which nodes of a float32 model become faster in 8 bits, by the cost model of ../common/cost.h.
Part of tools/nnrt.c.

    >>time    the predicted time of an assignment of float32 or 8 bits to the nodes
    >>cut     the assignment of least time

A node pays the time of its kernel in float32 or in 8 bits. A value between a float32 and an 8-bit node pays a cast, once for all
its readers. The assignment of least sum is a minimum cut: float32 nodes are on the side of the source, 8-bit nodes on that of
the sink. Choosing nodes one by one would find no group whose members pay only together, such as RESIZE, SOFTMAX and the
products between them. Times are predicted, not measured, so that the written file has the same bytes in each run.
*/
#ifndef NNRT_TOOL_QUANTIZE_CHOICE_H
#define NNRT_TOOL_QUANTIZE_CHOICE_H

#include "../common/cost.h"

/* Lists have an entry per node or tensor of the float32 model. */
typedef struct cli_choice {
    const NNRT_Model *model;
    cli_ns *ns;
    double *elements; /* of tensors */
    uint32_t *writer; /* of tensors: a node, CLI_INPUT, or CLI_CONSTANT */
    uint32_t *readers; /* of tensors */
    bool *may;        /* nodes that have 8-bit arithmetic */
    cli_processor processor;
} cli_choice;

#define CLI_INPUT (UINT32_MAX - 1)
#define CLI_CONSTANT UINT32_MAX

static void cli_choice_free(cli_choice *c)
{
    free(c->ns);
    free(c->elements);
    free(c->writer);
    free(c->readers);
    free(c->may);
    memset(c, 0, sizeof(*c));
}

/* In float32 an addition joins the product that writes one of its operands, if nothing else reads that. */
static void cli_choice_fuse(cli_choice *c)
{
    for (uint32_t i = 0; i < c->model->nodes.count; i++) {
        const NNRT_Node *n = &c->model->nodes.data[i];
        for (uint32_t k = 0; k < n->inputIndex.count && n->nodeType == NNRT_NODE_TYPE_ADD_FUSION; k++) {
            const uint32_t t = n->inputIndex.data[k];
            if (t == NNRT_NO_TENSOR || c->writer[t] >= CLI_INPUT || c->readers[t] > 1 || !c->ns[c->writer[t]].product)
                continue;
            c->ns[i].f32 = c->elements[t] * cli_costs_of[c->processor].fused;
            break;
        }
    }
}

/* Predicts the time of each node of the job's model on a processor. `may` is all false. */
static int cli_choice_begin(cli_choice *c, const cli_job *job, cli_processor processor)
{
    const NNRT_Model *m = job->model;
    c->model = m;
    c->processor = processor;
    c->ns = (cli_ns *)cli_alloc(m->nodes.count, sizeof(*c->ns));
    c->may = (bool *)cli_alloc(m->nodes.count, sizeof(*c->may));
    c->elements = (double *)cli_alloc(m->allTensors.count, sizeof(*c->elements));
    c->writer = (uint32_t *)cli_alloc(m->allTensors.count, sizeof(*c->writer));
    c->readers = (uint32_t *)cli_alloc(m->allTensors.count, sizeof(*c->readers));
    if (c->ns == NULL || c->may == NULL || c->elements == NULL || c->writer == NULL || c->readers == NULL)
        return CLI_FAILED;
    (void)cli_work_of(job, c->ns, c->elements, processor);
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        c->writer[t] = CLI_CONSTANT;
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        c->writer[m->inputIndex.data[i]] = CLI_INPUT;
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        c->readers[m->outputIndex.data[i]]++;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        for (uint32_t k = 0; k < n->outputIndex.count; k++)
            if (n->outputIndex.data[k] != NNRT_NO_TENSOR)
                c->writer[n->outputIndex.data[k]] = i;
        for (uint32_t k = 0; k < n->inputIndex.count; k++)
            if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
                c->readers[n->inputIndex.data[k]]++;
    }
    cli_choice_fuse(c);
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>time */

/* Readers of a tensor: bits of the two sides. */
enum { CLI_READ_F32 = 1, CLI_READ_8 = 2 };

static double cli_choice_quantize(const cli_choice *c, uint32_t t)
{
    const cli_costs *costs = &cli_costs_of[c->processor];
    return c->elements[t] * (c->writer[t] == CLI_INPUT ? costs->quantizeInput : costs->quantize) + costs->call;
}

static double cli_choice_dequantize(const cli_choice *c, uint32_t t)
{
    return c->elements[t] * cli_costs_of[c->processor].dequantize + cli_costs_of[c->processor].call;
}

static bool cli_choice_is_float(const cli_choice *c, const bool *floats, uint32_t node)
{
    return !c->may[node] || floats[node];
}

/* Predicted nanoseconds of a run, casts included. floats: per node, whether it stays float32. */
static double cli_choice_time(const cli_choice *c, const bool *floats)
{
    const NNRT_Model *m = c->model;
    uint8_t *read = (uint8_t *)cli_alloc(m->allTensors.count, 1);
    double ns = 0;
    for (uint32_t i = 0; i < m->outputIndex.count && read != NULL; i++)
        read[m->outputIndex.data[i]] |= CLI_READ_F32;
    for (uint32_t i = 0; i < m->nodes.count && read != NULL; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        const bool f32 = cli_choice_is_float(c, floats, i);
        ns += f32 ? c->ns[i].f32 : c->ns[i].int8;
        for (uint32_t k = 0; k < n->inputIndex.count; k++)
            if (n->inputIndex.data[k] != NNRT_NO_TENSOR)
                read[n->inputIndex.data[k]] |= f32 ? CLI_READ_F32 : CLI_READ_8;
    }
    for (uint32_t t = 0; t < m->allTensors.count && read != NULL; t++) {
        if (c->writer[t] == CLI_CONSTANT)
            continue;
        if (c->writer[t] == CLI_INPUT || cli_choice_is_float(c, floats, c->writer[t]))
            ns += (read[t] & CLI_READ_8) != 0 ? cli_choice_quantize(c, t) : 0;
        else
            ns += (read[t] & CLI_READ_F32) != 0 ? cli_choice_dequantize(c, t) : 0;
    }
    free(read);
    return ns;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>cut */

#define CLI_CUT_ALL (INT64_MAX / 4) /* a capacity that no cut contains */
#define CLI_CUT_WORK 2000000000.0   /* edges that are looked at, at most: seconds */

typedef struct cli_cut_edge_of {
    uint32_t to, next;
    int64_t room; /* capacity that is left, in sixteenths of nanoseconds: integers, so that sums do not depend on their order */
} cli_cut_edge_of;

/* A flow network. The edges 2k and 2k+1 are the two directions of one. */
typedef struct cli_cut {
    cli_cut_edge_of *edges;
    uint32_t *first, *from, *queue; /* of vertices: an edge; the edge by which the search came; vertices of the search */
    uint32_t vertices, nEdges, source, sink;
} cli_cut;

static void cli_cut_edge(cli_cut *g, uint32_t from, uint32_t to, int64_t room)
{
    for (uint32_t k = 0; k < 2; k++) {
        g->edges[g->nEdges].to = k == 0 ? to : from;
        g->edges[g->nEdges].room = k == 0 ? room : 0;
        g->edges[g->nEdges].next = g->first[k == 0 ? from : to];
        g->first[k == 0 ? from : to] = g->nEdges++;
    }
}

static int64_t cli_cut_room(double ns)
{
    return ns < 1e15 ? (int64_t)(ns * 16 + 0.5) : (int64_t)16e15;
}

/* A breadth-first search from the source; false: the sink cannot be reached. `from` is UINT32_MAX for vertices that were not. */
static bool cli_cut_search(cli_cut *g, double *work)
{
    uint32_t head = 0, tail = 0;
    memset(g->from, 0xff, g->vertices * sizeof(*g->from));
    g->queue[tail++] = g->source;
    g->from[g->source] = UINT32_MAX - 1;
    while (head < tail && g->from[g->sink] == UINT32_MAX)
        for (uint32_t e = g->first[g->queue[head++]]; e != UINT32_MAX; e = g->edges[e].next, *work += 1)
            if (g->edges[e].room > 0 && g->from[g->edges[e].to] == UINT32_MAX) {
                g->from[g->edges[e].to] = e;
                g->queue[tail++] = g->edges[e].to;
            }
    return g->from[g->sink] != UINT32_MAX;
}

/* The maximum flow by shortest paths (Edmonds and Karp); afterwards `from` of the vertices on the side of the source is not
   UINT32_MAX. false: too much work. */
static bool cli_cut_flow(cli_cut *g)
{
    double work = 0;
    while (cli_cut_search(g, &work)) {
        int64_t room = INT64_MAX;
        if (work > CLI_CUT_WORK)
            return false;
        for (uint32_t v = g->sink; v != g->source; v = g->edges[g->from[v] ^ 1].to)
            room = g->edges[g->from[v]].room < room ? g->edges[g->from[v]].room : room;
        for (uint32_t v = g->sink; v != g->source; v = g->edges[g->from[v] ^ 1].to) {
            g->edges[g->from[v]].room -= room;
            g->edges[g->from[v] ^ 1].room += room;
        }
    }
    return true;
}

/* Vertices: the nodes, source, sink, and two for each tensor. "Some reader is 8-bit" is the first, "some is float32" the second: a
   reader forces them to its side, and they pay the cast if the writer is on the other one. */
static void cli_cut_tensor(cli_cut *g, const cli_choice *c, uint32_t t, const uint32_t *readers, uint32_t count, bool output)
{
    const uint32_t writer = c->writer[t] == CLI_INPUT ? g->source : c->writer[t];
    const uint32_t some8 = c->model->nodes.count + 2 + 2 * t, some32 = some8 + 1;
    cli_cut_edge(g, writer, some8, cli_cut_room(cli_choice_quantize(c, t)));
    cli_cut_edge(g, some32, writer, cli_cut_room(cli_choice_dequantize(c, t)));
    for (uint32_t i = 0; i < count; i++) {
        cli_cut_edge(g, some8, readers[i], CLI_CUT_ALL);
        cli_cut_edge(g, readers[i], some32, CLI_CUT_ALL);
    }
    if (output)
        cli_cut_edge(g, g->source, some32, CLI_CUT_ALL);
}

/* Adds all tensors. list: room for the readers of all. */
static void cli_cut_tensors(cli_cut *g, const cli_choice *c, uint32_t *list, uint32_t *at)
{
    const NNRT_Model *m = c->model;
    uint32_t sum = 0;
    for (uint32_t t = 0; t < m->allTensors.count; t++) {
        at[t] = sum;
        sum += c->readers[t];
    }
    for (uint32_t i = 0; i < m->nodes.count; i++)
        for (uint32_t k = 0; k < m->nodes.data[i].inputIndex.count; k++)
            if (m->nodes.data[i].inputIndex.data[k] != NNRT_NO_TENSOR)
                list[at[m->nodes.data[i].inputIndex.data[k]]++] = i;
    sum = 0;
    for (uint32_t t = 0; t < m->allTensors.count; t++) {
        const uint32_t count = at[t] - sum; /* without the outputs of the model */
        if (c->writer[t] != CLI_CONSTANT)
            cli_cut_tensor(g, c, t, list + sum, count, c->readers[t] > count);
        sum += c->readers[t];
    }
}

/* Adds all nodes. stay: nanoseconds that a node must gain to stay float32. */
static void cli_cut_nodes(cli_cut *g, const cli_choice *c, double stay)
{
    for (uint32_t i = 0; i < c->model->nodes.count; i++) {
        cli_cut_edge(g, g->source, i, c->may[i] ? cli_cut_room(c->ns[i].int8) : CLI_CUT_ALL);
        if (c->may[i])
            cli_cut_edge(g, i, g->sink, cli_cut_room(c->ns[i].f32 + (c->ns[i].f32 > 0 ? stay : 0)));
    }
}

/* Whether a product computes in 8 bits. */
static bool cli_choice_has_product(const cli_choice *c, const bool *floats)
{
    bool any = false;
    for (uint32_t i = 0; i < c->model->nodes.count; i++)
        any = any || (c->ns[i].product && !cli_choice_is_float(c, floats, i));
    return any;
}

/* A node stays float32 only if that gains this share of the time of a run: a file with few casts is worth more than less. */
#define CLI_CHOICE_STAY 0.01

/* Fills floats by a minimum cut; stay: of cli_cut_nodes. None stays float32 if the cut would take too much work. */
static int cli_choice_cut(const cli_choice *c, double stay, bool *floats)
{
    const NNRT_Model *m = c->model;
    cli_cut g;
    size_t operands = 0;
    uint32_t *list, *at;
    int status = CLI_FAILED;
    memset(floats, 0, m->nodes.count * sizeof(*floats));
    memset(&g, 0, sizeof(g));
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        operands += c->readers[t];
    g.vertices = m->nodes.count + 2 + 2 * m->allTensors.count;
    g.source = m->nodes.count;
    g.sink = g.source + 1;
    g.edges = (cli_cut_edge_of *)cli_alloc(2 * (2 * (size_t)m->nodes.count + 3 * (size_t)m->allTensors.count + 2 * operands), sizeof(*g.edges));
    g.first = (uint32_t *)cli_alloc(g.vertices, sizeof(*g.first));
    g.from = (uint32_t *)cli_alloc(g.vertices, sizeof(*g.from));
    g.queue = (uint32_t *)cli_alloc(g.vertices, sizeof(*g.queue));
    list = (uint32_t *)cli_alloc(operands, sizeof(*list));
    at = (uint32_t *)cli_alloc(m->allTensors.count, sizeof(*at));
    if (g.edges != NULL && g.first != NULL && g.from != NULL && g.queue != NULL && list != NULL && at != NULL) {
        memset(g.first, 0xff, g.vertices * sizeof(*g.first));
        cli_cut_nodes(&g, c, stay);
        cli_cut_tensors(&g, c, list, at);
        if (cli_cut_flow(&g))
            for (uint32_t i = 0; i < m->nodes.count; i++)
                floats[i] = c->may[i] && g.from[i] != UINT32_MAX;
        status = CLI_DONE;
    }
    free(g.edges);
    free(g.first);
    free(g.from);
    free(g.queue);
    free(list);
    free(at);
    return status;
}

/* Predicted nanoseconds of a run in float32. */
static double cli_choice_time_f32(const cli_choice *c)
{
    double ns = 0;
    for (uint32_t i = 0; i < c->model->nodes.count; i++)
        ns += c->ns[i].f32;
    return ns;
}

/* On a processor that multiplies no bytes, a network stays float32 if 8 bits save less than this share of its time: they cost
   accuracy. */
#define CLI_CHOICE_GAIN 0.05

/* Fills floats: the nodes that stay float32 for the least predicted time, which is not above that of float32. None do if no
   product would be left in 8 bits on a processor that multiplies bytes: then the network is too small to be faster, and 8 bits
   are wanted for its size. */
static int cli_choice_least(const cli_choice *c, bool *floats)
{
    const size_t bytes = c->model->nodes.count * sizeof(*floats);
    int status;
    memset(floats, 0, bytes);
    status = cli_choice_cut(c, CLI_CHOICE_STAY * cli_choice_time(c, floats), floats);
    if (status == CLI_DONE && cli_choice_time(c, floats) > cli_choice_time_f32(c))
        status = cli_choice_cut(c, 0, floats); /* many nodes, of which each gains less than its share */
    if (status == CLI_DONE && c->processor == CLI_PROCESSOR_BYTES && !cli_choice_has_product(c, floats))
        memset(floats, 0, bytes);
    if (status == CLI_DONE && c->processor != CLI_PROCESSOR_BYTES &&
        cli_choice_time(c, floats) > (1 - CLI_CHOICE_GAIN) * cli_choice_time_f32(c))
        memset(floats, 1, bytes);
    return status;
}

#endif /* NNRT_TOOL_QUANTIZE_CHOICE_H */
