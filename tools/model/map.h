/*
map.h - the memory map of nnrt info --memory: arena offsets and lifetimes of the values of a plan.
Part of tools/nnrt.c.

Describes the plan of the reference device: for every value in the arena its offset, its size, and its live range, from
the step that writes it to the last step that reads it; then for every step the bytes in use while it runs. Values that
share memory, such as an in-place result and its input, count once.
*/
#ifndef NNRT_TOOL_MAP_H
#define NNRT_TOOL_MAP_H

#include "../common/job.h"

#define CLI_MAP_BAR 40 /* width of the bar of the step with the largest use */

/* A value in [offset, offset + bytes) of the arena during steps first to last. */
typedef struct cli_map_block {
    const char *name; /* name of the tensor, or of the step's node for scratch */
    NNRT_DataType type;
    nnrt_dims shape;
    size_t offset, bytes;
    uint32_t tensor, first, last;
    bool scratch;
} cli_map_block;

typedef struct cli_map {
    const NNRT_Model *model;
    const nnrt_plan *plan;
    cli_map_block *blocks; /* sorted by offset */
    uint32_t count;
    size_t *taken; /* bytes in use, per step */
    nnrt_memory memory;
} cli_map;

/* Adds an operand of step s to the map. */
static void cli_map_add(cli_map *m, const nnrt_plan_arg *a, uint32_t s)
{
    cli_map_block *b;
    size_t bytes;
    if (a->kind != NNRT_PLACE_ARENA || !nnrt_dims_bytes(a->view.dims, a->view.rank, a->view.dataType, &bytes) ||
        bytes == 0)
        return;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->blocks[i].tensor == a->tensor && m->blocks[i].offset == a->offset) {
            m->blocks[i].last = s;
            return;
        }
    b = &m->blocks[m->count++];
    b->name = a->tensor < m->model->allTensors.count ? m->model->allTensors.data[a->tensor].name : NULL;
    b->type = a->view.dataType;
    b->shape.rank = a->view.rank;
    memcpy(b->shape.dims, a->view.dims, (size_t)a->view.rank * sizeof(b->shape.dims[0]));
    b->offset = a->offset;
    b->bytes = bytes;
    b->tensor = a->tensor;
    b->first = b->last = s;
}

static int cli_map_order(const void *a, const void *b)
{
    const cli_map_block *x = (const cli_map_block *)a, *y = (const cli_map_block *)b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Bytes covered by blocks that live during step s. */
static size_t cli_map_taken(const cli_map *m, uint32_t s)
{
    size_t bytes = 0, end = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const cli_map_block *b = &m->blocks[i];
        const size_t from = b->offset > end ? b->offset : end, to = b->offset + b->bytes;
        if (b->first > s || b->last < s || to <= from)
            continue;
        bytes += to - from;
        end = to;
    }
    return bytes;
}

/* Fills the map; false: no memory. */
static bool cli_map_fill(cli_map *m)
{
    const nnrt_plan *p = m->plan;
    m->blocks = (cli_map_block *)cli_alloc((size_t)p->nArgs + p->nSteps, sizeof(*m->blocks));
    m->taken = (size_t *)cli_alloc(p->nSteps, sizeof(*m->taken));
    if (m->blocks == NULL || m->taken == NULL)
        return false;
    for (uint32_t s = 0; s < p->nSteps; s++) {
        const nnrt_plan_step *step = &p->steps[s];
        for (uint32_t k = 0; k < step->nIn + step->nDerived + step->nOut; k++)
            cli_map_add(m, &p->args[step->arg + k], s);
        if (step->scratchBytes > 0) {
            cli_map_block *b = &m->blocks[m->count++];
            b->name = step->name;
            b->offset = step->scratch;
            b->bytes = step->scratchBytes;
            b->tensor = NNRT_NO_TENSOR;
            b->first = b->last = s;
            b->scratch = true;
        }
    }
    qsort(m->blocks, m->count, sizeof(*m->blocks), cli_map_order);
    for (uint32_t s = 0; s < p->nSteps; s++)
        m->taken[s] = cli_map_taken(m, s);
    return true;
}

static void cli_map_json(const cli_map *m)
{
    fputs(",\"memory_map\":[", stdout);
    for (uint32_t i = 0; i < m->count; i++) {
        const cli_map_block *b = &m->blocks[i];
        fputs(i > 0 ? ",{\"name\":" : "{\"name\":", stdout);
        cli_json_text(b->name != NULL ? b->name : "");
        printf(",\"scratch\":%s,\"offset\":%.0f,\"bytes\":%.0f,\"first\":%u,\"last\":%u}",
               b->scratch ? "true" : "false", (double)b->offset, (double)b->bytes, (unsigned)b->first,
               (unsigned)b->last);
    }
    fputs("],\"bytes_taken\":[", stdout);
    for (uint32_t s = 0; s < m->plan->nSteps; s++)
        printf("%s%.0f", s > 0 ? "," : "", (double)m->taken[s]);
    putchar(']');
}

static void cli_map_print(const cli_map *m)
{
    size_t most = 0;
    char buffer[CLI_SHAPE_BYTES];
    puts("\n  offset       bytes  steps      value");
    for (uint32_t i = 0; i < m->count; i++) {
        const cli_map_block *b = &m->blocks[i];
        char steps[24];
        snprintf(steps, sizeof(steps), b->first == b->last ? "%u" : "%u to %u", (unsigned)b->first, (unsigned)b->last);
        printf("%8.0f  %10.0f  %-9s  %s", (double)b->offset, (double)b->bytes, steps, b->scratch ? "scratch of " : "");
        cli_put_name(stdout, b->name != NULL ? b->name : "");
        printf("  %s\n", b->scratch ? "" : cli_shape_text(buffer, sizeof(buffer), b->type, &b->shape));
    }
    for (uint32_t s = 0; s < m->plan->nSteps; s++)
        most = m->taken[s] > most ? m->taken[s] : most;
    puts("\n  step       bytes");
    for (uint32_t s = 0; s < m->plan->nSteps; s++) {
        const nnrt_plan_step *step = &m->plan->steps[s];
        const int bar = most > 0 ? (int)((double)m->taken[s] / (double)most * CLI_MAP_BAR + 0.5) : 0;
        printf("%6u  %10.0f  %.*s%*s  %s ", (unsigned)s, (double)m->taken[s], bar,
               "########################################", CLI_MAP_BAR - bar, "",
               step->op != NULL ? step->op->name : "copy");
        cli_put_name(stdout, step->name != NULL ? step->name : "");
        putchar('\n');
    }
}

/* Builds the reference device's plan of the job's model, in memory. NULL and an error if that fails, or if the plan has
   no map. */
static const nnrt_plan *cli_map_plan(const cli_job *job, const cli_args *args, nnrt_memory *memory)
{
    NNRT_ModelConfig config;
    nnrt_plan *plan = NULL;
    nnrt_error error;
    nnrt_dims *dims = cli_job_dims(job);
    NNRT_ReturnCode code;
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    config.error = &error;
    if (job->fromNnrt)
        config.inputDims = nnrt_dims_list_make(dims, job->in.count + job->in.states);
    config.bounds = nnrt_bound_list_make(job->in.bounds, job->in.boundCount);
    code = dims == NULL ? NNRT_OUT_OF_MEMORY : nnrt_plan_build(job->model, &config, memory, &plan);
    free(dims);
    if (code != NNRT_SUCCESS)
        (void)cli_fail("cannot plan %s: %s", args->model,
                       error.message[0] != '\0' ? error.message : nnrt_code_name(code));
    for (uint32_t s = 0; code == NNRT_SUCCESS && s < plan->nSteps; s++)
        if (plan->steps[s].op != NULL && (plan->steps[s].op->flags & NNRT_OP_GRAPHS) != 0) {
            (void)cli_fail(
                "--memory: %s has a node '%s' (%s) with subgraphs, whose values have no memory map",
                args->model, plan->steps[s].name, plan->steps[s].op->name);
            return NULL;
        }
    return code == NNRT_SUCCESS ? plan : NULL;
}

static void cli_map_free(cli_map *m)
{
    free(m->blocks);
    free(m->taken);
    nnrt_memory_end(&m->memory);
}

/* Creates the map of the job's model; call cli_map_free in any case. */
static int cli_map_make(cli_map *m, const cli_job *job, const cli_args *args)
{
    memset(m, 0, sizeof(*m));
    nnrt_memory_allocate(&m->memory, NULL);
    m->model = job->model;
    m->plan = cli_map_plan(job, args, &m->memory);
    return m->plan != NULL && cli_map_fill(m) ? CLI_DONE : CLI_FAILED;
}

#endif /* NNRT_TOOL_MAP_H */
