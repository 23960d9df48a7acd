/* XNNPACK as packaged by Debian (2022): its operators for matrix multiplications and convolutions, which pack their
   constants when they are created. Channels last (NHWC). */
#define _POSIX_C_SOURCE 200112L
#include "peer.h"

#include <math.h>
#include <pthreadpool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xnnpack.h>

typedef struct xnnpack_job {
    const bench_layer *layer;
    xnn_operator_t op;
    pthreadpool_t threads; /* NULL: one */
    float *x, *y;
} xnnpack_job;

static bool xnnpack_run(void *state)
{
    const xnnpack_job *j = (const xnnpack_job *)state;
    return xnn_run_operator(j->op, j->threads) == xnn_status_success;
}

static void xnnpack_result(void *state, float *y)
{
    const xnnpack_job *j = (const xnnpack_job *)state;
    const bench_layer *l = j->layer;
    if (l->product)
        memcpy(y, j->y, bench_results(l) * sizeof(float));
    else
        bench_transpose(j->y, (size_t)bench_rows(l) * (size_t)bench_rows(l), (size_t)l->cout, y);
}

static void xnnpack_close(void *state)
{
    xnnpack_job *j = (xnnpack_job *)state;
    if (j->op != NULL)
        (void)xnn_delete_operator(j->op);
    if (j->threads != NULL)
        pthreadpool_destroy(j->threads);
    free(j->x);
    free(j->y);
    free(j);
}

/* XNN_EXTRA_BYTES may be read after an input. */
static float *xnnpack_floats(size_t count)
{
    void *block = NULL;
    return posix_memalign(&block, 64, count * sizeof(float) + XNN_EXTRA_BYTES) == 0 ? (float *)block : NULL;
}

static enum xnn_status xnnpack_product(xnnpack_job *j, const bench_layer *l)
{
    enum xnn_status status;
    const size_t m = (size_t)l->m, k = (size_t)l->k, n = (size_t)l->n;
    memcpy(j->x, l->x, m * k * sizeof(float));
    status = xnn_create_fully_connected_nc_f32(k, n, k, n, l->w, NULL, -INFINITY, INFINITY, XNN_FLAG_TRANSPOSE_WEIGHTS,
                                               &j->op);
    return status != xnn_status_success ? status : xnn_setup_fully_connected_nc_f32(j->op, m, j->x, j->y, j->threads);
}

/* w [cout][inner][kernel * kernel] becomes [cout][kernel * kernel][inner]. */
static enum xnn_status xnnpack_convolution(xnnpack_job *j, const bench_layer *l)
{
    const size_t inner = (size_t)(l->cin / l->group), outer = (size_t)(l->cout / l->group), cout = (size_t)l->cout;
    const size_t taps = (size_t)(l->kernel * l->kernel), extent = (size_t)l->extent, cin = (size_t)l->cin;
    const uint32_t pad = (uint32_t)l->pad, kernel = (uint32_t)l->kernel, stride = (uint32_t)l->stride;
    float *w = xnnpack_floats(cout * inner * taps);
    enum xnn_status status;
    if (w == NULL)
        return xnn_status_out_of_memory;
    for (size_t o = 0; o < cout; o++)
        bench_transpose(l->w + o * inner * taps, inner, taps, w + o * inner * taps);
    bench_transpose(l->x, cin, extent * extent, j->x);
    status =
        xnn_create_convolution2d_nhwc_f32(pad, pad, pad, pad, kernel, kernel, stride, stride, 1, 1, (uint32_t)l->group,
                                          inner, outer, cin, cout, w, l->bias, -INFINITY, INFINITY, 0, &j->op);
    free(w);
    return status != xnn_status_success
               ? status
               : xnn_setup_convolution2d_nhwc_f32(j->op, 1, extent, extent, j->x, j->y, j->threads);
}

static const char *xnnpack_open(bench_job *job, const bench_layer *layer, int threads)
{
    xnnpack_job *j = (xnnpack_job *)calloc(1, sizeof(*j));
    const size_t pixels = (size_t)layer->extent * (size_t)layer->extent;
    enum xnn_status status = xnn_initialize(NULL);
    if (j == NULL)
        return "out of memory";
    j->layer = layer;
    j->x = xnnpack_floats(layer->product ? (size_t)layer->m * (size_t)layer->k : (size_t)layer->cin * pixels);
    j->y = xnnpack_floats(bench_results(layer));
    if (threads > 1)
        j->threads = pthreadpool_create((size_t)threads);
    if (j->x == NULL || j->y == NULL || (threads > 1 && j->threads == NULL))
        status = xnn_status_out_of_memory;
    if (status == xnn_status_success)
        status = layer->product ? xnnpack_product(j, layer) : xnnpack_convolution(j, layer);
    if (status != xnn_status_success) {
        xnnpack_close(j);
        return status == xnn_status_out_of_memory ? "out of memory" : "it does not take this layer, or this processor";
    }
    job->state = j;
    job->run = xnnpack_run;
    job->result = xnnpack_result;
    job->close = xnnpack_close;
    return NULL;
}

static void xnnpack_version(char *text, size_t size)
{
    snprintf(text, size, "of Debian, 2022-02-16");
}

const bench_peer bench_peers[] = {{"XNNPACK", xnnpack_version, xnnpack_open}, {NULL, NULL, NULL}};
