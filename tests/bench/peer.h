/* Interface of the libraries that the benchmark compares with. Each library is a file, built as a shared library that
   exports the array bench_peers; bench.c loads the available ones. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>

/* A layer, float32, batch 1. A product is a GEMM, y[m, n] = x[m, k] * w[k, n]. A convolution has x [cin, extent,
   extent], w [cout, cin / group, kernel, kernel], bias [cout] and y [cout, rows, rows]. The last dimension is
   innermost. */
typedef struct bench_layer {
    bool product;
    int m, k, n;
    int extent, cin, cout, kernel, stride, pad, group;
    const float *x, *w, *bias; /* they outlive the jobs; a GEMM has no bias: NULL */
} bench_layer;

static inline int bench_rows(const bench_layer *layer)
{
    return (layer->extent + 2 * layer->pad - layer->kernel) / layer->stride + 1;
}

/* Elements of y. */
static inline size_t bench_results(const bench_layer *layer)
{
    const size_t rows = layer->product ? 0 : (size_t)bench_rows(layer);
    return layer->product ? (size_t)layer->m * (size_t)layer->n : (size_t)layer->cout * rows * rows;
}

/* A layer to time: memory is allocated, weights are packed, tensors are in the preferred layout of the library. */
typedef struct bench_job {
    void *state;
    bool (*run)(void *state);
    void (*result)(void *state, float *y); /* the result of the last run, in the layout above */
    void (*close)(void *state);
} bench_job;

typedef struct bench_peer {
    const char *name; /* NULL ends the array */
    void (*version)(char *text, size_t size);
    /* Creates a job for a layer. Returns NULL on success, else the reason. */
    const char *(*open)(bench_job *job, const bench_layer *layer, int threads);
} bench_peer;

extern const bench_peer bench_peers[];

/* Transposes [rows][columns] to [columns][rows], for example pixels [pixels][channels] to planes [channels][pixels]. */
static inline void bench_transpose(const float *from, size_t rows, size_t columns, float *to)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            to[c * rows + r] = from[r * columns + c];
}

#endif
