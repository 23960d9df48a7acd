/* Whole models with dynamic dimensions, growing values, If, Loop and NonZero: the models of tests/core/models, as ONNX files
   and through .nnrt files. One session with upper bounds runs all cases, in several orders; its results equal the
   results of ONNX Runtime (tests/core/models/NAME.vec), within the tolerance in the file, and are bit-identical every time.
   Shapes above the upper bounds fail; the exact number of bytes of memory suffices; out of memory leaks nothing; two
   threads share a prepared model. tests/core/models/make.py describes each model. Run from the root of the repository, or
   with NNRT_TEST_ROOT set to it. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/nnrt_onnx.h"

#include "vec.h"

#include "kit.h"

#include "devices.h"

#define MOST_CASES 16
#define MOST_IO 8
#define MOST_BOUNDS 8
#define ROUNDS 8 /* of a thread */

/* A model, and the upper bounds of its session: the shapes of its largest case. */
typedef struct model_row {
    const char *name, *bounds;
} model_row;

static const model_row rows[] = {
    {"image", "x=2,3,11,13 padded=2,4,16,16"},
    {"frame", "x=4,5,2 listed=10,9,2 mirrored=7,9,3"},
    {"cache", "first=5,4 rows=8,4 kept=8,4 lengths=4,2 all=4,1,4"},
    {"nested", "x=7 s=6 sums=6"},
    {"swap", "a=5,2 b=5,2 p=5,2 q=5,2 firsts=5,5,2"},
    {"same", "x=4,3 copies=5,4,3 numbers=5 sums=5,4"},
    {"until", "x=4 halves=4 seen=13 kept=13 totals=3"},
    {"places", "x=8,3 mask=8"},
    {"grid", "x=5 cells=3 table=4,3 scales=4,5"},
};

/* Case `like` with another value of an input makes a result larger than its bound. */
typedef struct beyond_row {
    const char *model, *like;
    uint32_t input;
    double value;
    const char *said;
} beyond_row;

static const beyond_row beyonds[] = {
    {"cache", "5 at first, 3 trips", 0, 4, "a value"},   {"cache", "0 at first, 3 trips", 0, 5, "scan 0"},
    {"nested", "then, 6 trips, 7", 1, 7, "scan 0"},      {"swap", "5 trips, 5", 0, 6, "scan 0"},
    {"same", "once and on, 5 trips, 4", 0, 6, "scan 0"}, {"until", "up to 11, 4", 0, 100, ""},
    {"grid", "4 times 3 trips, 5", 0, 5, "scan 0"},      {"grid", "4 times 3 trips, 5", 1, 4, "scan 0"},
};

/* A model in one of its ways, its cases, and the results of the first run of each. */
typedef struct rig {
    const model_row *row;
    NNRT_Model *model;
    void *file; /* the memory of a loaded model */
    vec_case *cases;
    uint32_t nCases, nIn, nOut;
    uint8_t *first[MOST_CASES][MOST_IO];
    char names[MOST_BOUNDS][16];
    nnrt_bound bounds[MOST_BOUNDS];
    nnrt_session_desc desc;
    nnrt_error error;
} rig;

/* How a model is loaded. */
enum { AS_WRITTEN, OPTIMIZED, THROUGH_FILE, WAYS };

static const char *path_of(char *out, size_t size, const char *name, const char *end)
{
    const char *root = getenv("NNRT_TEST_ROOT");
    snprintf(out, size, "%s/tests/core/models/%s%s", root != NULL ? root : ".", name, end);
    return out;
}

static void read_cases(rig *r)
{
    static vec_case cases[MOST_CASES];
    char path[512];
    vec_file v;
    memset(&v, 0, sizeof(v));
    v.path = path_of(path, sizeof(path), r->row->name, ".vec");
    v.f = fopen(v.path, "r");
    assert_non_null(v.f);
    r->cases = cases;
    while (r->nCases < MOST_CASES && vec_next(&v, &cases[r->nCases]))
        r->nCases++;
    assert_in_range(r->nCases, 3, MOST_CASES - 1);
    r->nIn = cases[0].nIn;
    r->nOut = cases[0].nOut;
    assert_true(r->nIn <= MOST_IO && r->nOut <= MOST_IO);
    free(v.text);
    fclose(v.f);
}

static void check(rig *r, NNRT_ReturnCode code)
{
    if (code != NNRT_SUCCESS)
        fail_msg("%s: %s", r->row->name, r->error.message);
}

/* The bytes of a .nnrt file of the model, at an aligned address in *block; the caller frees the block. */
static uint8_t *save(rig *r, const NNRT_Model *model, void **block, size_t *bytes)
{
    uint8_t *file;
    check(r, nnrt_model_save_memory(model, NULL, NULL, 0, bytes, &r->error));
    *block = malloc(*bytes + NNRT_ALIGNMENT);
    assert_non_null(*block);
    file = (uint8_t *)*block;
    file += (NNRT_ALIGNMENT - (uintptr_t)file % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    check(r, nnrt_model_save_memory(model, NULL, file, *bytes, bytes, &r->error));
    return file;
}

static NNRT_ReturnCode import(rig *r, int way, const nnrt_allocator *allocator)
{
    char path[512];
    nnrt_onnx_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.no_optimize = way == AS_WRITTEN;
    desc.allocator = allocator;
    return nnrt_onnx_load(&r->model, path_of(path, sizeof(path), r->row->name, ".onnx"), &desc, &r->error);
}

/* "x=4,8 y=16" */
static void read_bounds(rig *r)
{
    const char *text = r->row->bounds;
    uint32_t n = 0;
    for (; *text != '\0'; n++) {
        nnrt_dims *d = &r->bounds[n].most;
        const size_t length = strcspn(text, "=");
        assert_true(n < MOST_BOUNDS && length < sizeof(r->names[n]));
        memcpy(r->names[n], text, length);
        r->bounds[n].tensor = r->names[n];
        for (text += length; *text == '=' || *text == ',';) {
            char *end;
            d->dims[d->rank++] = (int32_t)strtol(text + 1, &end, 10);
            text = end;
        }
        text += *text == ' ';
    }
    r->desc.bounds = nnrt_bound_list_make(r->bounds, n);
}

static void rig_open(rig *r, const model_row *row, int way)
{
    memset(r, 0, sizeof(*r));
    r->row = row;
    read_cases(r);
    read_bounds(r);
    check(r, import(r, way, NULL));
    if (way == THROUGH_FILE) {
        NNRT_Model *loaded = NULL;
        size_t bytes;
        const uint8_t *file = save(r, r->model, &r->file, &bytes);
        check(r, nnrt_model_load_memory(&loaded, file, bytes, NULL, &r->error));
        nnrt_model_destroy(r->model);
        r->model = loaded;
    }
}

static nnrt_session *session_of(rig *r)
{
    nnrt_session *s = NULL;
    check(r, nnrt_session_create(&s, r->model, &r->desc, &r->error));
    assert_int_equal(nnrt_session_inputs(s), r->nIn);
    assert_int_equal(nnrt_session_outputs(s), r->nOut);
    return s;
}

static void rig_end(rig *r)
{
    for (uint32_t c = 0; c < r->nCases; c++) {
        for (uint32_t i = 0; i < r->nOut; i++)
            free(r->first[c][i]);
        vec_free(&r->cases[c]);
    }
    nnrt_model_destroy(r->model);
    free(r->file);
}

static size_t bytes_of(const vec_tensor *t)
{
    return t->count * nnrt_type_size(t->dataType);
}

/* A run and its results: outputs have exactly the expected size. */
typedef struct outcome {
    NNRT_ReturnCode code;
    uint8_t *out[MOST_IO];
    nnrt_io_info info[MOST_IO];
} outcome;

static void run_case(const rig *r, nnrt_session *s, const vec_case *c, outcome *o)
{
    nnrt_io in[MOST_IO], out[MOST_IO];
    for (uint32_t i = 0; i < r->nIn; i++) {
        in[i] = nnrt_io_make(c->in[i].data, bytes_of(&c->in[i]));
        in[i].dims = c->in[i].dims;
    }
    for (uint32_t i = 0; i < r->nOut; i++) {
        const size_t bytes = bytes_of(&c->out[i]);
        o->out[i] = (uint8_t *)malloc(bytes > 0 ? bytes : 1);
        memset(o->out[i], 0xA5, bytes);
        out[i] = nnrt_io_make(o->out[i], bytes);
    }
    o->code = nnrt_run(s, in, r->nIn, out, r->nOut);
    for (uint32_t i = 0; i < r->nOut; i++)
        o->info[i] = nnrt_session_output(s, i);
}

static void outcome_end(const rig *r, outcome *o)
{
    for (uint32_t i = 0; i < r->nOut; i++)
        free(o->out[i]);
}

/* NULL, or a message about the first unexpected result of a case, written to text. */
static const char *wrong(const rig *r, nnrt_session *s, const vec_case *c, const outcome *o, char *text, size_t size)
{
    if (o->code != NNRT_SUCCESS) {
        snprintf(text, size, "%s '%s': %s", r->row->name, c->name, nnrt_session_error(s));
        return text;
    }
    for (uint32_t i = 0; i < r->nOut; i++) {
        const vec_tensor *want = &c->out[i];
        const nnrt_operand a =
            nnrt_operand_make(o->info[i].dataType, o->info[i].shape.rank, o->info[i].shape.dims, NULL);
        const nnrt_operand b = nnrt_operand_make(want->dataType, want->rank, want->dims, NULL);
        size_t at;
        if (a.dataType != b.dataType || a.rank != b.rank ||
            memcmp(a.dims, b.dims, (size_t)a.rank * sizeof(a.dims[0])) != 0) {
            nnrt_text(text, size, "%s '%s': output %u is %o, expected %o", r->row->name, c->name, i, &a, &b);
            return text;
        }
        at = vec_compare(c, want, o->out[i]);
        if (at == want->count)
            continue;
        snprintf(text, size, "%s '%s': output %u element %zu is %.9g, expected %.9g", r->row->name, c->name,
                 (unsigned)i, at, vec_number(want->dataType, o->out[i], at),
                 vec_number(want->dataType, want->data, at));
        return text;
    }
    return NULL;
}

/* Runs case k: the expected values, and the bits of its first run. */
static void run_and_compare(rig *r, nnrt_session *s, uint32_t k)
{
    const vec_case *c = &r->cases[k];
    char text[1024];
    outcome o;
    run_case(r, s, c, &o);
    if (wrong(r, s, c, &o, text, sizeof(text)) != NULL)
        fail_msg("%s", text);
    for (uint32_t i = 0; i < r->nOut; i++) {
        if (r->first[k][i] == NULL) {
            r->first[k][i] = o.out[i];
            continue;
        }
        if (memcmp(r->first[k][i], o.out[i], bytes_of(&c->out[i])) != 0)
            fail_msg("%s '%s': output %u has other bits than in the first run", r->row->name, c->name, (unsigned)i);
        free(o.out[i]);
    }
}

static uint32_t below(uint32_t *random, uint32_t n)
{
    *random = *random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*random * n >> 32);
}

/* All cases forwards, backwards, and 40 in random order. */
static void run_all(rig *r, nnrt_session *s)
{
    uint32_t random = 1;
    for (uint32_t k = 0; k < r->nCases; k++)
        run_and_compare(r, s, k);
    for (uint32_t k = r->nCases; k-- > 0;)
        run_and_compare(r, s, k);
    for (uint32_t k = 0; k < 40; k++)
        run_and_compare(r, s, below(&random, r->nCases));
}

/* One session runs all cases in all orders; a session of the saved and loaded model is bit-identical. */
static void test_cases(void **state)
{
    const model_row *row = (const model_row *)*state;
    rig all[WAYS];
    for (int way = 0; way < WAYS; way++) {
        rig *r = &all[way];
        nnrt_session *s;
        rig_open(r, row, way);
        s = session_of(r);
        run_all(r, s);
        nnrt_session_destroy(s);
        for (uint32_t k = 0; k < r->nCases && way == THROUGH_FILE; k++)
            for (uint32_t i = 0; i < r->nOut; i++)
                assert_memory_equal(r->first[k][i], all[OPTIMIZED].first[k][i], bytes_of(&r->cases[k].out[i]));
        for (uint32_t k = 0; k < r->nCases; k++)
            if (way < THROUGH_FILE)
                vec_free(&r->cases[k]);
    }
    for (int way = 0; way < WAYS; way++) {
        all[way].cases = all[THROUGH_FILE].cases;
        all[way].nCases = all[THROUGH_FILE].nCases;
        rig_end(&all[way]);
    }
}

/* A device that edits plans is bit-identical to the reference device. */
static void test_devices_of_plans(void **state)
{
    rig r;
    rig_open(&r, (const model_row *)*state, OPTIMIZED);
    assert_non_null(test_device_open("example"));
    for (int k = 0; k < 2; k++) {
        nnrt_session *s;
        r.desc.device = k == 0 ? "reference" : "example";
        s = session_of(&r);
        run_all(&r, s);
        nnrt_session_destroy(s);
    }
    assert_int_equal(nnrt_device_unregister("example"), NNRT_SUCCESS);
    rig_end(&r);
}

/* A device that restores its model from a cache, with and without the model, is bit-identical to the reference device. */
static void test_through_a_cache(void **state)
{
    NNRT_Model *model, *bare = NULL;
    nnrt_fake *npu = NULL;
    void *file = NULL;
    size_t bytes = 0;
    rig r;
    rig_open(&r, (const model_row *)*state, OPTIMIZED);
    model = r.model;
    check(&r, nnrt_fake_register(&npu, "fake:name=npu,cache=yes", &r.error));
    for (int k = 0; k < 4; k++) { /* reference, prepared, restored, from the cache alone */
        nnrt_cache_desc desc;
        nnrt_load_desc load;
        nnrt_session *s;
        memset(&desc, 0, sizeof(desc));
        memset(&load, 0, sizeof(load));
        load.cache = true;
        desc.data = file;
        desc.bytes = bytes;
        check(&r, nnrt_cache_create(&r.desc.cache, &desc, &r.error));
        r.desc.device = k == 0 ? "reference" : "npu";
        if (k == 3) {
            check(&r, nnrt_model_load_memory(&bare, file, bytes, &load, &r.error));
            r.model = bare;
        }
        s = session_of(&r);
        run_all(&r, s);
        nnrt_session_destroy(s);
        assert_int_equal(nnrt_cache_get_state(r.desc.cache)->restored, k > 1);
        if (k == 1) {
            check(&r, nnrt_cache_save_memory(r.desc.cache, NULL, NULL, 0, &bytes, &r.error));
            assert_int_equal(posix_memalign(&file, NNRT_ALIGNMENT, bytes), 0);
            check(&r, nnrt_cache_save_memory(r.desc.cache, NULL, file, bytes, &bytes, &r.error));
        }
        nnrt_cache_destroy(r.desc.cache);
    }
    assert_int_equal(nnrt_fake_get_record(npu).calls[NNRT_FAKE_PrepareModel], 1);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
    r.model = model;
    rig_end(&r);
    nnrt_model_destroy(bare);
    free(file);
}

/* A dimension one above its bound, on each dynamic axis of each input. */
static void beyond_inputs(rig *r, nnrt_session *s)
{
    for (uint32_t i = 0; i < r->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(s, i);
        for (int32_t axis = 0; axis < info.shape.rank && info.open; axis++) {
            vec_case c = r->cases[r->nCases - 1];
            vec_tensor *t = &c.in[i];
            outcome o;
            if (r->model->allTensors.data[r->model->inputIndex.data[i]].dims.data[axis] >= 0)
                continue;
            t->count = t->count / (size_t)t->dims[axis];
            t->dims[axis] = info.shape.dims[axis] + 1;
            t->count *= (size_t)t->dims[axis];
            t->data = calloc(t->count, nnrt_type_size(t->dataType));
            run_case(r, s, &c, &o);
            assert_int_equal(o.code, NNRT_OUT_OF_DIMENTION_RANGES);
            assert_non_null(strstr(nnrt_session_error(s), info.name));
            outcome_end(r, &o);
            free(t->data);
        }
    }
}

static void beyond_result(rig *r, nnrt_session *s, const beyond_row *b)
{
    for (uint32_t k = 0; k < r->nCases; k++) {
        vec_case c = r->cases[k];
        union {
            int64_t i;
            float f;
        } value;
        outcome o;
        if (strcmp(c.name, b->like) != 0)
            continue;
        if (c.in[b->input].dataType == F32)
            value.f = (float)b->value;
        else
            value.i = (int64_t)b->value;
        c.in[b->input].data = &value;
        run_case(r, s, &c, &o);
        if (o.code != NNRT_OUT_OF_DIMENTION_RANGES || strstr(nnrt_session_error(s), b->said) == NULL)
            fail_msg("%s '%s': %s: %s", r->row->name, b->like, nnrt_code_name(o.code), nnrt_session_error(s));
        outcome_end(r, &o);
        return;
    }
    fail_msg("%s has no case '%s'", r->row->name, b->like);
}

/* A run that exceeds the bounds fails, and the next valid run succeeds. */
static void test_beyond(void **state)
{
    for (int way = 0; way < WAYS; way++) {
        rig r;
        nnrt_session *s;
        rig_open(&r, (const model_row *)*state, way);
        s = session_of(&r);
        run_and_compare(&r, s, 0);
        beyond_inputs(&r, s);
        run_all(&r, s);
        for (uint32_t i = 0; i < COUNT(beyonds); i++)
            if (strcmp(beyonds[i].model, r.row->name) == 0) {
                beyond_result(&r, s, &beyonds[i]);
                run_and_compare(&r, s, r.nCases - 1);
            }
        run_all(&r, s);
        nnrt_session_destroy(s);
        rig_end(&r);
    }
}

/* The reported bytes of a session suffice for all cases; one less does not. */
static void test_memory(void **state)
{
    for (int way = 0; way < WAYS; way++) {
        nnrt_session *s = NULL;
        void *block = NULL;
        uint8_t *buffer;
        size_t bytes = 0;
        rig r;
        rig_open(&r, (const model_row *)*state, way);
        check(&r, nnrt_session_bytes(r.model, &r.desc, &bytes, &r.error));
        assert_int_equal(posix_memalign(&block, NNRT_ALIGNMENT, bytes), 0);
        buffer = (uint8_t *)block;
        memset(buffer, 0xA5, bytes);
        r.desc.buffer = buffer;
        r.desc.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_session_create(&s, r.model, &r.desc, &r.error), NNRT_OUT_OF_MEMORY);
        assert_null(s);
        r.desc.bufferBytes = bytes;
        s = session_of(&r);
        run_all(&r, s);
        nnrt_session_destroy(s);
        free(block);
        rig_end(&r);
    }
}

/* Every allocation of importing, loading and preparing fails in turn; nothing leaks. */
static void test_without_memory(void **state)
{
    rig r;
    tracker *memory = (tracker *)calloc(1, sizeof(*memory));
    const nnrt_allocator allocator = allocator_of(memory);
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    NNRT_Model *imported;
    nnrt_session *s = NULL;
    nnrt_load_desc load;
    size_t bytes;
    const uint8_t *file;
    assert_non_null(memory);
    rig_open(&r, (const model_row *)*state, OPTIMIZED);
    imported = r.model;
    file = save(&r, imported, &r.file, &bytes);
    memset(&load, 0, sizeof(load));
    load.allocator = &allocator;
    for (int what = 0; what < 3; what++, code = NNRT_OUT_OF_MEMORY) {
        for (int64_t k = 1; code != NNRT_SUCCESS; k++) {
            memory->calls = 0;
            memory->failAt = k;
            r.model = NULL;
            memset(&r.error, 0, sizeof(r.error));
            r.desc.allocator = &allocator;
            code = what == 0   ? import(&r, OPTIMIZED, &allocator)
                   : what == 1 ? nnrt_model_load_memory(&r.model, file, bytes, &load, &r.error)
                               : nnrt_session_create(&s, imported, &r.desc, &r.error);
            if (code != NNRT_SUCCESS && code != NNRT_OUT_OF_MEMORY)
                fail_msg("%s: request %d: %s: %s", r.row->name, (int)k, nnrt_code_name(code), r.error.message);
            assert_true(code == NNRT_SUCCESS ? memory->calls < k : r.error.code == code && r.error.message[0] != '\0');
            assert_true(code == NNRT_SUCCESS || (r.model == NULL && s == NULL && memory->live == 0));
        }
        memory->failAt = 0;
        if (s != NULL)
            run_all(&r, s);
        nnrt_session_destroy(s);
        nnrt_model_destroy(r.model);
        assert_int_equal(memory->live, 0);
        assert_false(memory->wrong);
    }
    r.model = imported;
    rig_end(&r);
    free(memory);
}

/* ---- two threads ---- */

typedef struct worker {
    rig *r;
    nnrt_session *session;
    uint32_t number, wrong, runs;
    pthread_t thread;
} worker;

/* The two threads run different cases. */
static void *run_in_thread(void *user)
{
    worker *w = (worker *)user;
    const uint32_t n = w->r->nCases;
    for (uint32_t k = 0; k < ROUNDS * n; k++) {
        const uint32_t at = w->number == 0 ? k % n : (2 * n - 1 - k % n) % n;
        const vec_case *c = &w->r->cases[at];
        outcome o;
        run_case(w->r, w->session, c, &o);
        for (uint32_t i = 0; i < w->r->nOut; i++)
            w->wrong += o.code != NNRT_SUCCESS || o.info[i].bytes != bytes_of(&c->out[i]) ||
                        memcmp(w->r->first[at][i], o.out[i], bytes_of(&c->out[i])) != 0;
        w->runs++;
        outcome_end(w->r, &o);
    }
    return NULL;
}

static void test_threads(void **state)
{
    rig r;
    worker w[2];
    rig_open(&r, (const model_row *)*state, THROUGH_FILE);
    memset(w, 0, sizeof(w));
    w[0].session = session_of(&r);
    for (uint32_t k = 0; k < r.nCases; k++)
        run_and_compare(&r, w[0].session, k);
    r.desc.share = w[0].session;
    r.desc.bounds.count = 0;
    w[1].session = session_of(&r);
    for (uint32_t i = 0; i < 2; i++) {
        w[i].r = &r;
        w[i].number = i;
        assert_int_equal(pthread_create(&w[i].thread, NULL, run_in_thread, &w[i]), 0);
    }
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(w[i].wrong, 0);
        assert_int_equal(w[i].runs, ROUNDS * r.nCases);
    }
    nnrt_session_destroy(w[1].session);
    nnrt_session_destroy(w[0].session);
    rig_end(&r);
}

/* Each test for each model. */
int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } kinds[] = {{"cases", test_cases},
                 {"devices", test_devices_of_plans},
                 {"cache", test_through_a_cache},
                 {"beyond", test_beyond},
                 {"memory", test_memory},
                 {"without_memory", test_without_memory},
                 {"threads", test_threads}};
    static struct CMUnitTest tests[COUNT(rows) * COUNT(kinds)];
    static char names[COUNT(rows) * COUNT(kinds)][40];
    for (uint32_t i = 0; i < COUNT(tests); i++) {
        const model_row *row = &rows[i / COUNT(kinds)];
        snprintf(names[i], sizeof(names[i]), "%s_%s", row->name, kinds[i % COUNT(kinds)].name);
        tests[i].name = names[i];
        tests[i].test_func = kinds[i % COUNT(kinds)].function;
        tests[i].initial_state = (void *)(uintptr_t)row;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
