/* OpenBLAS: matrix multiplications. It packs the matrix again in every call; a matrix-vector product uses its GEMV. */
#define _POSIX_C_SOURCE 200112L
#include "peer.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct openblas_job {
    const bench_layer *layer;
    float *y;
} openblas_job;

static bool openblas_run(void *state)
{
    const openblas_job *j = (const openblas_job *)state;
    const bench_layer *l = j->layer;
    if (l->m == 1)
        cblas_sgemv(CblasRowMajor, CblasTrans, l->k, l->n, 1, l->w, l->n, l->x, 1, 0, j->y, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, l->m, l->n, l->k, 1, l->x, l->k, l->w, l->n, 0, j->y,
                    l->n);
    return true;
}

static void openblas_result(void *state, float *y)
{
    const openblas_job *j = (const openblas_job *)state;
    memcpy(y, j->y, bench_results(j->layer) * sizeof(float));
}

static void openblas_close(void *state)
{
    openblas_job *j = (openblas_job *)state;
    free(j->y);
    free(j);
}

static const char *openblas_open(bench_job *job, const bench_layer *layer, int threads)
{
    openblas_job *j;
    void *y = NULL;
    if (!layer->product)
        return "it has no convolutions";
    if ((j = (openblas_job *)calloc(1, sizeof(*j))) == NULL ||
        posix_memalign(&y, 64, bench_results(layer) * sizeof(float)) != 0) {
        free(j);
        return "out of memory";
    }
    openblas_set_num_threads(threads);
    j->layer = layer;
    j->y = (float *)y;
    job->state = j;
    job->run = openblas_run;
    job->result = openblas_result;
    job->close = openblas_close;
    return NULL;
}

static void openblas_version(char *text, size_t size)
{
    snprintf(text, size, "%s, kernels for %s", openblas_get_config(), openblas_get_corename());
}

const bench_peer bench_peers[] = {{"OpenBLAS", openblas_version, openblas_open}, {NULL, NULL, NULL}};
