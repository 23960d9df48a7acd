/* oneDNN 2: matrix multiplications, and two kinds of convolutions. Constants are prepacked and tensors have oneDNN's
   preferred layouts before timing starts. */
#define _POSIX_C_SOURCE 200112L
#include "peer.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

#if DNNL_VERSION_MAJOR != 2
#error this file is written for oneDNN 2
#endif

enum { ONEDNN_X, ONEDNN_W, ONEDNN_BIAS, ONEDNN_Y, ONEDNN_COUNT };

typedef struct onednn_job {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_memory_desc_t plain[ONEDNN_COUNT]; /* the layout of peer.h */
    dnnl_memory_t memory[ONEDNN_COUNT];     /* the layout of the library; NULL: no such tensor */
    dnnl_exec_arg_t args[ONEDNN_COUNT];
    int nArgs;
} onednn_job;

static bool onednn_run(void *state)
{
    const onednn_job *j = (const onednn_job *)state;
    return dnnl_primitive_execute(j->primitive, j->stream, j->nArgs, j->args) == dnnl_success &&
           dnnl_stream_wait(j->stream) == dnnl_success;
}

/* Copies elements from the layout of one memory to the layout of another. */
static bool onednn_reorder(const onednn_job *j, dnnl_memory_t from, dnnl_memory_t to)
{
    const dnnl_memory_desc_t *source = NULL, *target = NULL;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t primitive = NULL;
    const dnnl_exec_arg_t args[2] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    const bool good =
        dnnl_memory_get_memory_desc(from, &source) == dnnl_success &&
        dnnl_memory_get_memory_desc(to, &target) == dnnl_success &&
        dnnl_reorder_primitive_desc_create(&desc, source, j->engine, target, j->engine, NULL) == dnnl_success &&
        dnnl_primitive_create(&primitive, desc) == dnnl_success &&
        dnnl_primitive_execute(primitive, j->stream, 2, args) == dnnl_success &&
        dnnl_stream_wait(j->stream) == dnnl_success;
    if (primitive != NULL)
        (void)dnnl_primitive_destroy(primitive);
    if (desc != NULL)
        (void)dnnl_primitive_desc_destroy(desc);
    return good;
}

static void onednn_result(void *state, float *y)
{
    const onednn_job *j = (const onednn_job *)state;
    dnnl_memory_t plain = NULL;
    if (dnnl_memory_create(&plain, &j->plain[ONEDNN_Y], j->engine, y) != dnnl_success)
        return;
    (void)onednn_reorder(j, j->memory[ONEDNN_Y], plain);
    (void)dnnl_memory_destroy(plain);
}

static void onednn_close(void *state)
{
    onednn_job *j = (onednn_job *)state;
    for (int i = 0; i < ONEDNN_COUNT; i++)
        if (j->memory[i] != NULL)
            (void)dnnl_memory_destroy(j->memory[i]);
    if (j->primitive != NULL)
        (void)dnnl_primitive_destroy(j->primitive);
    if (j->stream != NULL)
        (void)dnnl_stream_destroy(j->stream);
    if (j->engine != NULL)
        (void)dnnl_engine_destroy(j->engine);
    free(j);
}

/* Memory of a tensor in the layout of the primitive, filled from data in the plain order unless data is NULL. */
static bool onednn_memory(onednn_job *j, int which, int argument, const dnnl_memory_desc_t *wanted, const float *data)
{
    dnnl_memory_t plain = NULL;
    bool good = dnnl_memory_create(&j->memory[which], wanted, j->engine, DNNL_MEMORY_ALLOCATE) == dnnl_success;
    if (good && data != NULL) {
        good = dnnl_memory_create(&plain, &j->plain[which], j->engine, (void *)data) == dnnl_success &&
               onednn_reorder(j, plain, j->memory[which]);
        if (plain != NULL)
            (void)dnnl_memory_destroy(plain);
    }
    j->args[j->nArgs].arg = argument;
    j->args[j->nArgs++].memory = j->memory[which];
    return good;
}

/* Describes a tensor in the plain order, and in any order. */
static bool onednn_describe(onednn_job *j, int which, int rank, const dnnl_dims_t dims, dnnl_memory_desc_t *any)
{
    static const dnnl_format_tag_t plain[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde};
    return dnnl_memory_desc_init_by_tag(&j->plain[which], rank, dims, dnnl_f32, plain[rank]) == dnnl_success &&
           dnnl_memory_desc_init_by_tag(any, rank, dims, dnnl_f32, dnnl_format_tag_any) == dnnl_success;
}

static dnnl_status_t onednn_product(onednn_job *j, const bench_layer *l, dnnl_primitive_desc_t *desc)
{
    const dnnl_dims_t x = {l->m, l->k}, w = {l->k, l->n}, y = {l->m, l->n};
    dnnl_memory_desc_t any[ONEDNN_COUNT];
    dnnl_matmul_desc_t op;
    if (!onednn_describe(j, ONEDNN_X, 2, x, &any[ONEDNN_X]) || !onednn_describe(j, ONEDNN_W, 2, w, &any[ONEDNN_W]) ||
        !onednn_describe(j, ONEDNN_Y, 2, y, &any[ONEDNN_Y]) ||
        dnnl_matmul_desc_init(&op, &j->plain[ONEDNN_X], &any[ONEDNN_W], NULL, &j->plain[ONEDNN_Y]) != dnnl_success)
        return dnnl_runtime_error;
    return dnnl_primitive_desc_create(desc, &op, NULL, j->engine, NULL);
}

static dnnl_status_t onednn_convolution(onednn_job *j, const bench_layer *l, dnnl_alg_kind_t kind,
                                        dnnl_primitive_desc_t *desc)
{
    const int rows = bench_rows(l), inner = l->cin / l->group;
    const bool grouped = l->group > 1;
    const dnnl_dims_t x = {1, l->cin, l->extent, l->extent}, y = {1, l->cout, rows, rows}, bias = {l->cout};
    const dnnl_dims_t w = {l->cout, inner, l->kernel, l->kernel};
    const dnnl_dims_t groups = {l->group, l->cout / l->group, inner, l->kernel, l->kernel};
    const dnnl_dims_t stride = {l->stride, l->stride}, before = {l->pad, l->pad};
    const int behind = (rows - 1) * l->stride + l->kernel - l->extent - l->pad;
    const dnnl_dims_t after = {behind, behind};
    dnnl_memory_desc_t any[ONEDNN_COUNT];
    dnnl_convolution_desc_t op;
    if (!onednn_describe(j, ONEDNN_X, 4, x, &any[ONEDNN_X]) ||
        !onednn_describe(j, ONEDNN_W, grouped ? 5 : 4, grouped ? groups : w, &any[ONEDNN_W]) ||
        !onednn_describe(j, ONEDNN_BIAS, 1, bias, &any[ONEDNN_BIAS]) ||
        !onednn_describe(j, ONEDNN_Y, 4, y, &any[ONEDNN_Y]) ||
        dnnl_convolution_forward_desc_init(&op, dnnl_forward_inference, kind, &any[ONEDNN_X], &any[ONEDNN_W],
                                           &j->plain[ONEDNN_BIAS], &any[ONEDNN_Y], stride, before,
                                           after) != dnnl_success)
        return dnnl_runtime_error;
    return dnnl_primitive_desc_create(desc, &op, NULL, j->engine, NULL);
}

static const char *onednn_open(bench_job *job, const bench_layer *layer, int threads, dnnl_alg_kind_t kind)
{
    onednn_job *j = (onednn_job *)calloc(1, sizeof(*j));
    dnnl_primitive_desc_t desc = NULL;
    dnnl_status_t status = dnnl_runtime_error;
    bool good;
    if (j == NULL)
        return "out of memory";
    omp_set_num_threads(threads);
    if (dnnl_engine_create(&j->engine, dnnl_cpu, 0) == dnnl_success &&
        dnnl_stream_create(&j->stream, j->engine, dnnl_stream_default_flags) == dnnl_success)
        status = layer->product ? onednn_product(j, layer, &desc) : onednn_convolution(j, layer, kind, &desc);
    if (status != dnnl_success) {
        onednn_close(j);
        return status == dnnl_unimplemented ? "it has none for this layer" : "it fails";
    }
    good =
        dnnl_primitive_create(&j->primitive, desc) == dnnl_success &&
        onednn_memory(j, ONEDNN_X, DNNL_ARG_SRC, dnnl_primitive_desc_query_md(desc, dnnl_query_src_md, 0), layer->x) &&
        onednn_memory(j, ONEDNN_W, DNNL_ARG_WEIGHTS, dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0),
                      layer->w) &&
        onednn_memory(j, ONEDNN_Y, DNNL_ARG_DST, dnnl_primitive_desc_query_md(desc, dnnl_query_dst_md, 0), NULL) &&
        (layer->product || onednn_memory(j, ONEDNN_BIAS, DNNL_ARG_BIAS, &j->plain[ONEDNN_BIAS], layer->bias));
    (void)dnnl_primitive_desc_destroy(desc);
    if (!good) {
        onednn_close(j);
        return "it fails";
    }
    job->state = j;
    job->run = onednn_run;
    job->result = onednn_result;
    job->close = onednn_close;
    return NULL;
}

static const char *onednn_direct(bench_job *job, const bench_layer *layer, int threads)
{
    return onednn_open(job, layer, threads, dnnl_convolution_direct);
}

static const char *onednn_winograd(bench_job *job, const bench_layer *layer, int threads)
{
    return layer->product ? "it is for convolutions" : onednn_open(job, layer, threads, dnnl_convolution_winograd);
}

static void onednn_version(char *text, size_t size)
{
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, size, "%d.%d.%d", v->major, v->minor, v->patch);
}

const bench_peer bench_peers[] = {{"oneDNN", onednn_version, onednn_direct},
                                  {"oneDNN Winograd", onednn_version, onednn_winograd},
                                  {NULL, NULL, NULL}};
