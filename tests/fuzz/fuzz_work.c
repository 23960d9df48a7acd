/* Fuzz target: the work of loading, optimizing and preparing any model is bounded. The bytes are a .nnrt file, an ONNX file
 * or, if they are neither, calls of the builder. tests/core/work.h counts units of work; a phase that exceeds its bound ends
 * the program:
 *
 *     work <= A + B * (bytes of the file) + C * (bytes of memory that the phase had at most)
 *
 * B covers nodes, names and attributes: files of the corpora of 100 bytes and more take up to 420 units a byte (loading) and
 * 830 (preparing). C covers elements: weights that are packed, memory that is cleared, at one unit a byte at most. A covers
 * the work that is allowed for any size: constants that loading and optimizing fold (NNRT_ONNX_WORK_FREE,
 * NNRTI_FOLD_WORK_FREE: 2^24 steps each), and tables of an operator. So the steps never depend on a stride, a dimension or a
 * trip count alone. tests/core/work.c bounds growth with the number of nodes: files of 4,096 bytes have too few nodes. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#define WORK_EDGES 131072
#endif
#include "formats/nnrt_onnx.h"

#include "devices/nnrt_cpu.h"

#include "../core/work.h"
#include "fuzz.h"
#include "calls.h"

/* A, B and C of the bound. */
typedef struct fuzz_work_bound {
    const char *phase;
    uint64_t constant, perByte, perMemory;
} fuzz_work_bound;

static const fuzz_work_bound fuzz_work_load = {"loading", 400000000, 1000, 4},
                             fuzz_work_build = {"building", 1000000, 1000, 4},
                             fuzz_work_optimize = {"optimizing", 400000000, 1000, 4},
                             fuzz_work_prepare = {"preparing", 4000000, 1000, 4};

/* Memory of a phase, whose bytes add to its bound while it runs. */
typedef struct fuzz_work_memory {
    size_t live, most, limit;
    uint64_t perMemory;
} fuzz_work_memory;

static void *fuzz_work_alloc(void *user, size_t bytes, size_t alignment)
{
    fuzz_work_memory *m = (fuzz_work_memory *)user;
    void *block = NULL;
    if (bytes > m->limit - m->live ||
        posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) != 0)
        return NULL;
    m->live += bytes;
    if (m->live > m->most) {
        work_limit += (m->live - m->most) * m->perMemory;
        m->most = m->live;
    }
    return block;
}

static void fuzz_work_free(void *user, void *block, size_t bytes)
{
    ((fuzz_work_memory *)user)->live -= bytes;
    free(block);
}

static nnrt_allocator fuzz_work_allocator(fuzz_work_memory *m, size_t limit)
{
    nnrt_allocator a;
    memset(m, 0, sizeof(*m));
    m->limit = limit;
    a.alloc = fuzz_work_alloc;
    a.free = fuzz_work_free;
    a.user = m;
    return a;
}

static void fuzz_work_begin(const fuzz_work_bound *b, size_t bytes, fuzz_work_memory *m)
{
    m->perMemory = b->perMemory;
    m->most = m->live;
    work_begin(b->phase, b->constant + b->perByte * bytes + b->perMemory * m->live);
}

/* Prepares the model on a device, with 3 for each dynamic dimension. */
static void fuzz_work_session(const NNRT_Model *model, const char *device, size_t bytes)
{
    nnrt_dims dims[FUZZ_IO];
    fuzz_work_memory memory;
    nnrt_allocator a = fuzz_work_allocator(&memory, FUZZ_SESSION_BYTES);
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    nnrt_error e;
    uint32_t count = model->inputIndex.count;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    for (uint32_t i = 0; i < count && i < FUZZ_IO; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[model->inputIndex.data[i]];
        dims[i].rank = (int32_t)t->dims.count;
        for (uint32_t k = 0; k < t->dims.count && k < NNRT_MAX_RANK; k++)
            dims[i].dims[k] = t->dims.data[k] == -1 ? 3 : t->dims.data[k];
    }
    desc.device = device;
    desc.allocator = &a;
    desc.inputDims = nnrt_dims_list_make(dims, count <= FUZZ_IO ? count : 0);
    fuzz_work_begin(&fuzz_work_prepare, bytes, &memory);
    (void)nnrt_session_create(&session, model, &desc, &e);
    (void)work_end();
    nnrt_session_destroy(session);
}

static void fuzz_work_model(NNRT_Model **model, size_t bytes, fuzz_work_memory *memory)
{
    nnrt_error e;
    for (int round = 0; round < 2; round++) {
        fuzz_work_session(*model, "reference", bytes);
        fuzz_work_session(*model, "cpu", bytes);
        memset(&e, 0, sizeof(e));
        fuzz_work_begin(&fuzz_work_optimize, bytes, memory);
        if (round == 0)
            (void)nnrt_model_optimize(model, NULL, &e);
        (void)work_end();
    }
}

static void fuzz_work(const uint8_t *data, size_t size)
{
    static fuzz_building g;
    fuzz_work_memory memory;
    nnrt_allocator a = fuzz_work_allocator(&memory, FUZZ_BUILDER_BYTES);
    uint8_t *file = (uint8_t *)fuzz_block(size);
    NNRT_Model *model = NULL;
    nnrt_load_desc load;
    nnrt_onnx_desc desc;
    nnrt_error e;
    if (nnrt_device_find("cpu") == NULL)
        fuzz_expect(nnrt_cpu_register(NULL, &e) == NNRT_SUCCESS, "there is the device cpu", NULL);
    memset(&g, 0, sizeof(g));
    memset(&e, 0, sizeof(e));
    memset(&load, 0, sizeof(load));
    memset(&desc, 0, sizeof(desc));
    if (size > 0)
        memcpy(file, data, size);
    load.allocator = desc.allocator = &a;
    desc.no_optimize = true; /* a separate phase */
    fuzz_work_begin(&fuzz_work_load, size, &memory);
    if (nnrt_model_load_memory(&model, file, size, &load, &e) != NNRT_SUCCESS) {
        memset(&e, 0, sizeof(e));
        (void)nnrt_onnx_load_memory(&model, file, size, &desc, &e);
    }
    (void)work_end();
    if (model == NULL) {
        fuzz_expect(memory.live == 0, "nothing leaks", NULL);
        memset(&e, 0, sizeof(e));
        g.f = fuzz_bytes_make(data, size);
        fuzz_work_begin(&fuzz_work_build, size, &memory);
        fuzz_expect(nnrt_builder_create(&g.b, "work", &a) == NNRT_SUCCESS, "there is a builder", NULL);
        fuzz_calls(&g);
        (void)nnrt_builder_finish(g.b, &model, &e);
        nnrt_builder_destroy(g.b);
        (void)work_end();
    }
    if (model != NULL)
        fuzz_work_model(&model, size, &memory);
    nnrt_model_destroy(model);
    for (uint32_t i = 0; i < g.nConstants; i++)
        free(g.constants[i]);
    free(file);
}

FUZZ_TARGET(fuzz_work)
