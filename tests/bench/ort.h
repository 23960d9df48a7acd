/*
ort.h - ONNX Runtime by the C API of its shared library, without its headers. Part of tests/bench/bench.c.

The library exports a table of functions that only grows at its end: the indices below are valid for every version
from 1 on. Functions that can fail return a status, NULL on success.

    >>table     the functions that are used
    >>sessions  a model, with inputs and outputs in our memory
*/
#ifndef BENCH_ORT_H
#define BENCH_ORT_H

#include "peer.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>table */

enum { ORT_API_VERSION = 13, ORT_LOG_ERROR = 3, ORT_OPTIMIZE_ALL = 99, ORT_FLOAT = 1 };

/* X(place, result, name, parameters) */
#define ORT_FUNCTIONS(X)                                                                                               \
    X(2, const char *, message, (const void *status))                                                                  \
    X(3, void *, create_env, (int level, const char *id, void **env))                                                  \
    X(7, void *, create_session, (const void *env, const char *path, const void *options, void **session))             \
    X(9, void *, run, (void *session, const void *options, const char *const *inNames, const void *const *in,          \
                       size_t nIn, const char *const *outNames, size_t nOut, void **out))                              \
    X(10, void *, create_options, (void **options))                                                                    \
    X(23, void *, set_optimization, (void *options, int level))                                                        \
    X(24, void *, set_threads, (void *options, int count))                                                             \
    X(25, void *, set_outer_threads, (void *options, int count))                                                       \
    X(30, void *, input_count, (const void *session, size_t *count))                                                   \
    X(31, void *, output_count, (const void *session, size_t *count))                                                  \
    X(36, void *, input_name, (const void *session, size_t index, void *allocator, char **name))                       \
    X(37, void *, output_name, (const void *session, size_t index, void *allocator, char **name))                      \
    X(49, void *, create_tensor, (const void *memory, void *data, size_t bytes, const int64_t *dims, size_t rank,      \
                                  int type, void **value))                                                             \
    X(64, void *, element_count, (const void *info, size_t *count))                                                    \
    X(65, void *, tensor_info, (const void *value, void **info))                                                       \
    X(69, void *, create_memory, (int allocator, int type, void **memory))                                             \
    X(76, void *, release_name, (void *allocator, void *name))                                                         \
    X(78, void *, default_allocator, (void **allocator))                                                               \
    X(93, void, release_status, (void *status))                                                                        \
    X(95, void, release_session, (void *session))                                                                      \
    X(96, void, release_value, (void *value))                                                                          \
    X(99, void, release_info, (void *info))                                                                            \
    X(100, void, release_options, (void *options))

#define ORT_MEMBER(place, result, name, parameters) result(*name) parameters;
#define ORT_FILL(place, result, name, parameters) memcpy(&ort->name, &table[place], sizeof(table[place]));

typedef struct bench_ort {
    ORT_FUNCTIONS(ORT_MEMBER)
    void *env, *memory, *allocator;
    char version[32], fault[512]; /* the last error message */
} bench_ort;

/* Returns whether status is success; else ort->fault gets its message. */
static bool ort_good(bench_ort *ort, void *status)
{
    if (status == NULL)
        return true;
    snprintf(ort->fault, sizeof(ort->fault), "%s", ort->message(status));
    ort->release_status(status);
    return false;
}

/* Loads the library; it stays loaded. */
static bool ort_load(bench_ort *ort, const char *path)
{
    typedef struct ort_base {
        void *(*table)(uint32_t version);
        const char *(*version)(void);
    } ort_base;
    const ort_base *(*base)(void) = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
    memset(ort, 0, sizeof(*ort));
    symbol = library != NULL ? dlsym(library, "OrtGetApiBase") : NULL;
    if (symbol == NULL)
        return snprintf(ort->fault, sizeof(ort->fault), "%s", dlerror()), false;
    memcpy(&base, &symbol, sizeof(symbol));
    {
        void *const *const table = (void *const *)base()->table(ORT_API_VERSION);
        if (table == NULL)
            return snprintf(ort->fault, sizeof(ort->fault), "it has no API of version %d", ORT_API_VERSION), false;
        ORT_FUNCTIONS(ORT_FILL)
    }
    snprintf(ort->version, sizeof(ort->version), "%s", base()->version());
    return ort_good(ort, ort->create_env(ORT_LOG_ERROR, "bench", &ort->env)) &&
           ort_good(ort, ort->create_memory(0, 0, &ort->memory)) &&
           ort_good(ort, ort->default_allocator(&ort->allocator));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>sessions */

enum { BENCH_MAX_TENSORS = 8 };

/* A tensor of float32 in memory of the caller. */
typedef struct bench_tensor {
    float *data;
    size_t count;
    int rank;
    int64_t dims[8];
} bench_tensor;

typedef struct ort_session {
    bench_ort *ort;
    void *session, *in[BENCH_MAX_TENSORS], *out[BENCH_MAX_TENSORS];
    char *inNames[BENCH_MAX_TENSORS], *outNames[BENCH_MAX_TENSORS];
    size_t nIn, nOut;
    const bench_tensor *results; /* nOut of them */
} ort_session;

static bool ort_run(void *state)
{
    ort_session *s = (ort_session *)state;
    return ort_good(s->ort, s->ort->run(s->session, NULL, (const char *const *)s->inNames, (const void *const *)s->in,
                                        s->nIn, (const char *const *)s->outNames, s->nOut, s->out));
}

static void ort_result(void *state, float *y)
{
    const ort_session *s = (const ort_session *)state;
    for (size_t i = 0; i < s->nOut; i++) {
        memcpy(y, s->results[i].data, s->results[i].count * sizeof(float));
        y += s->results[i].count;
    }
}

static void ort_close(void *state)
{
    ort_session *s = (ort_session *)state;
    bench_ort *const ort = s->ort;
    for (int i = 0; i < BENCH_MAX_TENSORS; i++) {
        if (s->in[i] != NULL)
            ort->release_value(s->in[i]);
        if (s->out[i] != NULL)
            ort->release_value(s->out[i]);
        if (s->inNames[i] != NULL)
            (void)ort_good(ort, ort->release_name(ort->allocator, s->inNames[i]));
        if (s->outNames[i] != NULL)
            (void)ort_good(ort, ort->release_name(ort->allocator, s->outNames[i]));
    }
    if (s->session != NULL)
        ort->release_session(s->session);
    free(s);
}

static bool ort_tensor(bench_ort *ort, const bench_tensor *t, void **value)
{
    return ort_good(ort, ort->create_tensor(ort->memory, t->data, t->count * sizeof(float), t->dims, (size_t)t->rank,
                                            ORT_FLOAT, value));
}

/* A session of a model with all optimizations. in and out must outlive it. false: ort->fault has the reason. */
static inline bool ort_open(bench_ort *ort, bench_job *job, const char *path, int threads, const bench_tensor *in, size_t nIn,
                     const bench_tensor *out, size_t nOut)
{
    ort_session *s = (ort_session *)calloc(1, sizeof(*s));
    void *options = NULL;
    bool good = s != NULL;
    if (s == NULL)
        return snprintf(ort->fault, sizeof(ort->fault), "out of memory"), false;
    s->ort = ort;
    s->results = out;
    good = good && ort_good(ort, ort->create_options(&options)) &&
           ort_good(ort, ort->set_optimization(options, ORT_OPTIMIZE_ALL)) &&
           ort_good(ort, ort->set_threads(options, threads)) && ort_good(ort, ort->set_outer_threads(options, 1)) &&
           ort_good(ort, ort->create_session(ort->env, path, options, &s->session)) &&
           ort_good(ort, ort->input_count(s->session, &s->nIn)) &&
           ort_good(ort, ort->output_count(s->session, &s->nOut));
    if (good && (s->nIn != nIn || s->nOut != nOut)) {
        snprintf(ort->fault, sizeof(ort->fault), "%d inputs and %d outputs, nnrt has %d and %d", (int)s->nIn,
                 (int)s->nOut, (int)nIn, (int)nOut);
        good = false;
    }
    for (size_t i = 0; good && i < nIn; i++)
        good = ort_good(ort, ort->input_name(s->session, i, ort->allocator, &s->inNames[i])) &&
               ort_tensor(ort, &in[i], &s->in[i]);
    for (size_t i = 0; good && i < nOut; i++)
        good = ort_good(ort, ort->output_name(s->session, i, ort->allocator, &s->outNames[i])) &&
               ort_tensor(ort, &out[i], &s->out[i]);
    if (options != NULL)
        ort->release_options(options);
    job->state = s;
    job->run = ort_run;
    job->result = ort_result;
    job->close = ort_close;
    if (!good)
        ort_close(s);
    return good;
}

#endif
