/* Many threads: one model with many sessions, sessions that share a prepared model, the same file loaded by all threads, and
   runs that fail at the same time as runs that succeed. `make tsan` runs this under gcc's thread sanitizer, which detects races
   that do not change results. Assertions run on the main thread only: cmocka's jump out of a test must not leave its own
   thread. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, pthread_barrier_t */
#include "devices/nnrt_fake.h"
#include "formats/nnrt_onnx.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DIGITS "examples/digits/digits.onnx"
#define THREADS 8
#define SESSIONS 3 /* a thread has at once */
#define IMAGES 4
#define PIXELS 784
#define SCORES 10

typedef struct scores {
    float score[SCORES];
} scores;

/* Data that all threads read and none writes. */
typedef struct common {
    NNRT_Model *model;
    nnrt_session *owner;
    float image[IMAGES][PIXELS];
    scores want[IMAGES]; /* results of a single thread */
    char path[64];       /* of the model as a .nnrt file */
    int32_t rounds;
    pthread_barrier_t start;
} common;

typedef struct worker {
    common *c;
    uint32_t number;
    nnrt_session *session; /* that it was handed */
    int32_t wrong, runs;
    pthread_t thread;
} worker;

static common shared;

/* Pictures of no digit: the network has to give the same scores for them, not sensible ones. */
static void make_images(common *c)
{
    uint32_t random = 1;
    for (uint32_t i = 0; i < IMAGES; i++)
        for (uint32_t k = 0; k < PIXELS; k++) {
            random = random * 1664525u + 1013904223u;
            c->image[i][k] = (float)(random >> 24) / 255.0f;
        }
}

static NNRT_ReturnCode run_image(const common *c, nnrt_session *session, uint32_t i, scores *out)
{
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)c->image[i], sizeof(c->image[i]));
    nnrt_io result = nnrt_io_make(out, sizeof(*out));
    memset(out, 0xFF, sizeof(*out));
    return nnrt_run(session, &in, 1, &result, 1);
}

/* Runs an image and compares with the results of a single thread. */
static void try_image(worker *w, nnrt_session *session, uint32_t i)
{
    scores got;
    w->wrong += run_image(w->c, session, i, &got) != NNRT_SUCCESS ? 1 : 0;
    w->wrong += memcmp(&got, &w->c->want[i], sizeof(got)) != 0 ? 1 : 0;
    w->runs++;
}

static int setup(void **state)
{
    common *c = &shared;
    nnrt_error error;
    char folder[] = "/tmp/nnrt-threads-XXXXXX";
    nnrt_session *session = NULL;
    memset(&error, 0, sizeof(error));
    make_images(c);
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(c->path, sizeof(c->path), "%s/digits.nnrt", folder);
    if (nnrt_onnx_load(&c->model, DIGITS, NULL, &error) != NNRT_SUCCESS ||
        nnrt_model_save(c->model, c->path, NULL, &error) != NNRT_SUCCESS ||
        nnrt_session_create(&session, c->model, NULL, &error) != NNRT_SUCCESS)
        return -1;
    for (uint32_t i = 0; i < IMAGES; i++)
        if (run_image(c, session, i, &c->want[i]) != NNRT_SUCCESS)
            return -1;
    nnrt_session_destroy(session);
    *state = c;
    return 0;
}

static int teardown(void **state)
{
    common *c = (common *)*state;
    nnrt_model_destroy(c->model);
    unlink(c->path);
    *strrchr(c->path, '/') = '\0';
    return rmdir(c->path);
}

/* All threads begin at once. rounds: repetitions of each job; owner: passed in c. */
static void start_all(common *c, worker *w, void *(*job)(void *), int32_t rounds)
{
    c->rounds = rounds;
    assert_int_equal(pthread_barrier_init(&c->start, NULL, THREADS), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        w[i].c = c;
        w[i].number = i;
        assert_int_equal(pthread_create(&w[i].thread, NULL, job, &w[i]), 0);
    }
}

static void end_all(common *c, worker *w)
{
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&c->start), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(w[i].wrong, 0);
        assert_true(w[i].runs > 0);
    }
}

/* Sessions of one model, made and ended while the others run: some prepare the model again, some share. */
static void *make_run_end(void *user)
{
    worker *w = (worker *)user;
    pthread_barrier_wait(&w->c->start);
    for (int32_t round = 0; round < w->c->rounds; round++) {
        nnrt_session *session[SESSIONS] = {NULL, NULL, NULL};
        for (uint32_t k = 0; k < SESSIONS; k++) {
            nnrt_session_desc desc;
            memset(&desc, 0, sizeof(desc));
            desc.share = k == 0 ? NULL : k == 1 ? session[0] : w->c->owner;
            desc.copyConstants = (w->number + (uint32_t)round) % 4 == 3;
            w->wrong += nnrt_session_create(&session[k], w->c->model, &desc, NULL) != NNRT_SUCCESS ? 1 : 0;
        }
        for (uint32_t k = 0; k < 2 * SESSIONS; k++)
            try_image(w, session[k % SESSIONS], (k + w->number) % IMAGES);
        for (uint32_t k = 0; k < SESSIONS; k++)
            nnrt_session_destroy(session[(k + w->number) % SESSIONS]);
    }
    return NULL;
}

static void test_sessions_of_one_model(void **state)
{
    common *c = (common *)*state;
    worker w[THREADS];
    memset(w, 0, sizeof(w));
    assert_int_equal(nnrt_session_create(&c->owner, c->model, NULL, NULL), NNRT_SUCCESS);
    start_all(c, w, make_run_end, 6);
    end_all(c, w);
    nnrt_session_destroy(c->owner);
}

/* The model's weights are used in place: a session is smaller than they are, and a sharing one is smaller still. */
static void test_weights_are_shared(void **state)
{
    common *c = (common *)*state;
    nnrt_session *first, *second;
    nnrt_session_memory one, two;
    nnrt_session_desc desc;
    size_t weights = 0;
    for (uint32_t i = 0; i < c->model->allTensors.count; i++)
        weights += c->model->allTensors.data[i].data.dataSize;
    memset(&desc, 0, sizeof(desc));
    assert_int_equal(nnrt_session_create(&first, c->model, NULL, NULL), NNRT_SUCCESS);
    desc.share = first;
    assert_int_equal(nnrt_session_create(&second, c->model, &desc, NULL), NNRT_SUCCESS);
    one = nnrt_session_get_memory(first);
    two = nnrt_session_get_memory(second);
    assert_true(one.constants > 0 && one.constants <= weights && two.constants == one.constants);
    assert_true(one.total - one.arena < one.constants);
    assert_true(two.total < one.total && two.arena == one.arena);
    nnrt_session_destroy(first);
    nnrt_session_destroy(second);
}

/* Each thread has a session that shares the prepared model; its owner is destroyed while they run, and the last session frees
   it. */
static void *run_and_end(void *user)
{
    worker *w = (worker *)user;
    pthread_barrier_wait(&w->c->start);
    for (int32_t round = 0; round < w->c->rounds; round++)
        try_image(w, w->session, ((uint32_t)round + w->number) % IMAGES);
    nnrt_session_destroy(w->session);
    return NULL;
}

static void test_owner_ends_first(void **state)
{
    common *c = (common *)*state;
    for (int32_t round = 0; round < 4; round++) {
        worker w[THREADS];
        nnrt_session_desc desc;
        memset(w, 0, sizeof(w));
        memset(&desc, 0, sizeof(desc));
        assert_int_equal(nnrt_session_create(&c->owner, c->model, NULL, NULL), NNRT_SUCCESS);
        desc.share = c->owner;
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(nnrt_session_create(&w[i].session, c->model, &desc, NULL), NNRT_SUCCESS);
        start_all(c, w, run_and_end, 1 + round);
        nnrt_session_destroy(c->owner);
        end_all(c, w);
    }
}

/* One file, loaded by all of them in every way there is. */
static void *load_and_run(void *user)
{
    worker *w = (worker *)user;
    pthread_barrier_wait(&w->c->start);
    for (int32_t round = 0; round < w->c->rounds; round++) {
        uint32_t way = ((uint32_t)round + w->number) % 4;
        NNRT_Model *model = NULL;
        nnrt_session *session = NULL;
        nnrt_load_desc desc;
        NNRT_ReturnCode code;
        memset(&desc, 0, sizeof(desc));
        desc.noMap = way == 1;
        desc.checksum = way == 2;
        code = way == 3 ? nnrt_onnx_load(&model, DIGITS, NULL, NULL) : nnrt_model_load(&model, w->c->path, &desc, NULL);
        w->wrong += code != NNRT_SUCCESS || nnrt_session_create(&session, model, NULL, NULL) != NNRT_SUCCESS ? 1 : 0;
        for (uint32_t i = 0; i < IMAGES; i++)
            try_image(w, session, i);
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
    }
    return NULL;
}

static void test_load_same_file(void **state)
{
    common *c = (common *)*state;
    worker w[THREADS];
    memset(w, 0, sizeof(w));
    start_all(c, w, load_and_run, 4);
    end_all(c, w);
}

/* ---- failing runs ---- */

/* y = table[index]: an index that is not there is found in the run. */
static NNRT_Model *make_lookup(void)
{
    static const float table[6] = {1, 2, 3, 4, 5, 6};
    static const int32_t tableDims[2] = {3, 2}, indexDims[1] = {2}, axis = 0;
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    uint32_t in[3];
    assert_int_equal(nnrt_builder_create(&b, "lookup", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_constant(b, "table", NNRT_DATA_TYPE_FLOAT32, 2, tableDims, table, false);
    in[1] = nnrt_builder_input(b, "index", NNRT_DATA_TYPE_INT32, 1, indexDims);
    in[2] = nnrt_builder_constant(b, "axis", NNRT_DATA_TYPE_INT32, 0, NULL, &axis, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "rows", NNRT_NODE_TYPE_GATHER, NULL, in, 3));
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

/* Runs with an index that is right, one that is not and a buffer that is too small, in an order that differs from thread to
   thread: each session reports its own error, and no other. */
static void *run_and_fail(void *user)
{
    worker *w = (worker *)user;
    pthread_barrier_wait(&w->c->start);
    for (int32_t round = 0; round < w->c->rounds; round++) {
        uint32_t kind = ((uint32_t)round + w->number) % 3;
        int32_t index[2];
        float y[4] = {0, 0, 0, 0};
        nnrt_io in = nnrt_io_make(index, sizeof(index)), out = nnrt_io_make(y, kind == 2 ? 4 : sizeof(y));
        NNRT_ReturnCode code;
        index[0] = (int32_t)w->number % 3;
        index[1] = kind == 1 ? 3 : (index[0] + 1) % 3;
        code = nnrt_run(w->session, &in, 1, &out, 1);
        if (kind == 0) {
            w->wrong += code != NNRT_SUCCESS || nnrt_session_error(w->session)[0] != '\0' ? 1 : 0;
            w->wrong += y[0] != (float)(2 * index[0] + 1) || y[3] != (float)(2 * index[1] + 2) ? 1 : 0;
        } else if (kind == 1) {
            w->wrong +=
                code != NNRT_INVALID_PARAMETER || strstr(nnrt_session_error(w->session), "rows") == NULL ? 1 : 0;
        } else {
            w->wrong +=
                code != NNRT_INSUFFICIENT_BUFFER || strstr(nnrt_session_error(w->session), "has 4 bytes") == NULL;
        }
        w->runs++;
    }
    nnrt_session_destroy(w->session);
    return NULL;
}

static void test_failing_runs(void **state)
{
    common *c = (common *)*state;
    NNRT_Model *model = make_lookup();
    worker w[THREADS];
    nnrt_session_desc desc;
    memset(w, 0, sizeof(w));
    memset(&desc, 0, sizeof(desc));
    for (uint32_t i = 0; i < THREADS; i++) {
        desc.share = i % 2 == 0 ? NULL : w[i - 1].session;
        assert_int_equal(nnrt_session_create(&w[i].session, model, &desc, NULL), NNRT_SUCCESS);
    }
    start_all(c, w, run_and_fail, 300);
    end_all(c, w);
    nnrt_model_destroy(model);
}

/* ---- dynamic shapes ---- */

#define ROWS 12

/* y = softmax(x) + x of x [n,5], and z = the first rows of y, their number an input, of one prepared model. */
static NNRT_Model *make_open(void)
{
    static const int32_t xDims[2] = {-1, 5}, one[1] = {1}, twoDims[1] = {2}, two[2] = {0, 0};
    static const int32_t all = -1;
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    NNRT_Softmax soft = {{NULL, 0}};
    NNRT_AddFusion add = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
    NNRT_SliceFusion slice = {{NULL, 0}};
    NNRT_Concat join = {0};
    uint32_t in[3], x, y;
    assert_int_equal(nnrt_builder_create(&b, "open", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, xDims);
    in[0] = nnrt_builder_op(b, "soft", NNRT_NODE_TYPE_SOFTMAX, &soft, &x, 1);
    in[1] = x;
    y = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, &add, in, 2);
    in[0] = nnrt_builder_input(b, "k", NNRT_DATA_TYPE_INT32, 1, one);
    in[1] = nnrt_builder_constant(b, "all", NNRT_DATA_TYPE_INT32, 1, one, &all, true);
    in[2] = nnrt_builder_op(b, "size", NNRT_NODE_TYPE_CONCAT, &join, in, 2);
    in[0] = y;
    in[1] = nnrt_builder_constant(b, "begin", NNRT_DATA_TYPE_INT32, 1, twoDims, two, true);
    nnrt_builder_output(b, y);
    nnrt_builder_output(b, nnrt_builder_op(b, "first", NNRT_NODE_TYPE_SLICE_FUSION, &slice, in, 3));
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

/* Devices that all sessions have parts on; text NULL: none. */
static nnrt_fake *npu_begin(const char *text)
{
    nnrt_fake *npu = NULL;
    if (text != NULL)
        assert_int_equal(nnrt_fake_register(&npu, text, NULL), NNRT_SUCCESS);
    return npu;
}

static void npu_end(nnrt_fake *npu)
{
    const nnrt_fake_record r = nnrt_fake_get_record(npu);
    assert_true(npu == NULL || r.calls[NNRT_FAKE_RunIn] > THREADS);
    assert_int_equal(r.prepared, r.released);
    if (npu != NULL)
        assert_int_equal(nnrt_device_unregister(nnrt_fake_name(npu)), NNRT_SUCCESS);
}

/* Each run has another shape, now and then one that is refused. */
static void *run_open(void *user)
{
    worker *w = (worker *)user;
    pthread_barrier_wait(&w->c->start);
    for (int32_t round = 0; round < w->c->rounds; round++) {
        const int32_t n = 1 + (round * 7 + (int32_t)w->number * 5) % (ROWS + 1), dims[2] = {n, 5}, one[1] = {1};
        const int32_t k = n / 2;
        float x[(ROWS + 1) * 5], y[ROWS * 5], z[ROWS * 5];
        nnrt_io in[2], out[2];
        NNRT_ReturnCode code;
        for (int32_t i = 0; i < 5 * n; i++)
            x[i] = (float)(i / 5); /* of equal elements each softmax is 1/5 */
        in[0] = nnrt_io_make(x, (size_t)n * 5 * sizeof(float));
        in[1] = nnrt_io_make((void *)(uintptr_t)&k, sizeof(k));
        in[0].dims = dims;
        in[1].dims = one;
        out[0] = nnrt_io_make(y, sizeof(y));
        out[1] = nnrt_io_make(z, sizeof(z));
        code = nnrt_run(w->session, in, 2, out, 2);
        w->wrong += code != (n > ROWS ? NNRT_OUT_OF_DIMENTION_RANGES : NNRT_SUCCESS) ? 1 : 0;
        w->runs++;
        if (code != NNRT_SUCCESS)
            continue;
        w->wrong += nnrt_session_output(w->session, 0).shape.dims[0] != n ? 1 : 0;
        w->wrong += nnrt_session_output(w->session, 1).shape.dims[0] != k ? 1 : 0;
        for (int32_t i = 0; i < 5 * n; i++)
            w->wrong += y[i] < (float)(i / 5) + 0.1999f || y[i] > (float)(i / 5) + 0.2001f ? 1 : 0;
        w->wrong += memcmp(y, z, (size_t)k * 5 * sizeof(float)) != 0 ? 1 : 0;
    }
    nnrt_session_destroy(w->session);
    return NULL;
}

static void open_extents(common *c, const char *device)
{
    NNRT_Model *model = make_open();
    nnrt_fake *npu = npu_begin(device);
    nnrt_bound most;
    worker w[THREADS];
    nnrt_session_desc desc;
    memset(w, 0, sizeof(w));
    memset(&desc, 0, sizeof(desc));
    memset(&most, 0, sizeof(most));
    most.tensor = "x";
    most.most.rank = 2;
    most.most.dims[0] = ROWS;
    most.most.dims[1] = 5;
    desc.bounds = nnrt_bound_list_make(&most, 1);
    for (uint32_t i = 0; i < THREADS; i++) {
        desc.share = i > 0 ? w[0].session : NULL;
        desc.bounds.count = i > 0 ? 0 : 1;
        assert_int_equal(nnrt_session_create(&w[i].session, model, &desc, NULL), NNRT_SUCCESS);
    }
    start_all(c, w, run_open, 300);
    end_all(c, w);
    npu_end(npu);
    nnrt_model_destroy(model);
}

static void test_open_extents(void **state)
{
    open_extents((common *)*state, NULL);
    open_extents((common *)*state, "fake:name=npu,ops=SOFTMAX");
    open_extents((common *)*state, "fake:name=npu,not=SOFTMAX");
}

/* v = x doubled as often as an input says, by a LOOP that MOST trips bound; s [trips,3], v after each trip. */
#define MOST 20
#define BEYOND 25

static NNRT_Model *make_loop(void)
{
    static const int32_t three[1] = {3};
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    NNRT_Loop loop;
    uint32_t in[3], ins[3], outs[3], two[2], out[2];
    assert_int_equal(nnrt_builder_create(&b, "loop", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "trips", NNRT_DATA_TYPE_INT64, 0, NULL);
    in[1] = NNRT_NO_TENSOR;
    in[2] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, three);
    loop.body = nnrt_builder_graph(b, "body");
    for (uint32_t i = 0; i < 3; i++)
        ins[i] = nnrt_builder_tensor(b, NULL);
    nnrt_builder_enter(b, loop.body);
    two[0] = two[1] = ins[2];
    outs[0] = ins[1];
    outs[1] = outs[2] = nnrt_builder_op(b, "twice", NNRT_NODE_TYPE_ADD_FUSION, NULL, two, 2);
    nnrt_builder_graph_io(b, loop.body, ins, 3, outs, 3);
    nnrt_builder_enter(b, 0);
    out[0] = nnrt_builder_tensor(b, "v");
    out[1] = nnrt_builder_tensor(b, "s");
    nnrt_builder_node(b, "loop", NNRT_NODE_TYPE_LOOP, &loop, in, 3, out, 2);
    nnrt_builder_output(b, out[0]);
    nnrt_builder_output(b, out[1]);
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

/* Each run makes as many trips as it likes; more than MOST are refused. */
static void *run_loop(void *user)
{
    worker *w = (worker *)user;
    pthread_barrier_wait(&w->c->start);
    for (int32_t round = 0; round < w->c->rounds; round++) {
        const int64_t trips = (round * 7 + (int32_t)w->number * 5) % (BEYOND + 1);
        float x[3] = {1, -2, 0.5f}, v[3] = {0}, s[MOST * 3];
        nnrt_io in[2], out[2];
        NNRT_ReturnCode code;
        in[0] = nnrt_io_make((void *)(uintptr_t)&trips, sizeof(trips));
        in[1] = nnrt_io_make(x, sizeof(x));
        out[0] = nnrt_io_make(v, sizeof(v));
        out[1] = nnrt_io_make(s, sizeof(s));
        code = nnrt_run(w->session, in, 2, out, 2);
        w->runs++;
        if ((code == NNRT_SUCCESS) != (trips <= MOST))
            w->wrong++;
        if (code != NNRT_SUCCESS)
            continue;
        w->wrong += nnrt_session_output(w->session, 1).shape.dims[0] != trips ? 1 : 0;
        for (int32_t i = 0; i < 3; i++) {
            w->wrong += v[i] != x[i] * (float)(INT64_C(1) << trips) ? 1 : 0;
            for (int64_t k = 0; k < trips; k++)
                w->wrong += s[k * 3 + i] != x[i] * (float)(INT64_C(2) << k) ? 1 : 0;
        }
    }
    nnrt_session_destroy(w->session);
    return NULL;
}

static void loop(common *c, const char *device)
{
    NNRT_Model *model = make_loop();
    nnrt_fake *npu = npu_begin(device);
    nnrt_partition p;
    nnrt_bound most;
    worker w[THREADS];
    nnrt_session_desc desc;
    nnrt_error e;
    memset(&p, 0, sizeof(p));
    memset(w, 0, sizeof(w));
    memset(&desc, 0, sizeof(desc));
    memset(&most, 0, sizeof(most));
    memset(&e, 0, sizeof(e));
    most.tensor = "s";
    most.most.rank = 2;
    most.most.dims[0] = MOST;
    most.most.dims[1] = 3;
    desc.bounds = nnrt_bound_list_make(&most, 1);
    p.fallback = true; /* the loop is a part, and no whole model */
    for (uint32_t i = 0; i < THREADS; i++) {
        desc.share = i > 0 ? w[0].session : NULL;
        desc.partition = i > 0 ? NULL : &p;
        desc.bounds.count = i > 0 ? 0 : 1;
        if (nnrt_session_create(&w[i].session, model, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
    }
    start_all(c, w, run_loop, 300);
    end_all(c, w);
    npu_end(npu);
    nnrt_model_destroy(model);
}

static void test_loop(void **state)
{
    loop((common *)*state, NULL);
    loop((common *)*state, "fake:name=npu");
    loop((common *)*state, "fake:name=npu,fail=RunIn");
}

/* The model split over two devices: sessions of their own, and sessions that share the parts, where these have RunIn. */
static void *run_split(void *user)
{
    worker *w = (worker *)user;
    nnrt_session_desc desc;
    nnrt_session *own = NULL;
    nnrt_partition p;
    memset(&desc, 0, sizeof(desc));
    memset(&p, 0, sizeof(p));
    p.fallback = true;
    desc.device = "auto:npu0,npu1";
    desc.partition = &p;
    pthread_barrier_wait(&w->c->start);
    w->wrong += nnrt_session_create(&own, w->c->model, &desc, NULL) != NNRT_SUCCESS ? 1 : 0;
    for (int32_t round = 0; round < w->c->rounds; round++) {
        if (w->session != NULL)
            try_image(w, w->session, ((uint32_t)round + w->number) % IMAGES);
        try_image(w, own, (uint32_t)round % IMAGES);
    }
    nnrt_session_destroy(own);
    nnrt_session_destroy(w->session);
    return NULL;
}

/* Two threads for parts that run at once. Many sessions call it at once. */
typedef struct helpers {
    uint32_t next, count;
    void (*task)(void *arg, uint32_t i, uint32_t worker);
    void *arg;
} helpers;

static void help(helpers *h, uint32_t number)
{
    for (uint32_t i = __atomic_fetch_add(&h->next, 1, __ATOMIC_SEQ_CST); i < h->count;
         i = __atomic_fetch_add(&h->next, 1, __ATOMIC_SEQ_CST))
        h->task(h->arg, i, number);
}

static void *help_second(void *user)
{
    help((helpers *)user, 1);
    return NULL;
}

static void help_run(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    helpers h = {0, count, task, arg};
    pthread_t second;
    (void)user;
    if (pthread_create(&second, NULL, help_second, &h) != 0)
        abort();
    help(&h, 0);
    (void)pthread_join(second, NULL);
}

static const nnrt_parallel two_helpers = {help_run, NULL, 2};

/* y = |x| - (x + x), whose operands come from two devices at once. */
static NNRT_Model *two_branches(void)
{
    static const int32_t dims[1] = {64};
    static const NNRT_Activation absolute = {NNRT_ACTIVATION_TYPE_ABS, 0, 0, 0, false};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t x[2], in[2];
    assert_int_equal(nnrt_builder_create(&b, "branches", NULL), NNRT_SUCCESS);
    x[0] = x[1] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, dims);
    in[0] = nnrt_builder_op(b, "abs", NNRT_NODE_TYPE_ACTIVATION, &absolute, x, 1);
    in[1] = nnrt_builder_op(b, "twice", NNRT_NODE_TYPE_ADD_FUSION, NULL, x, 2);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SUB_FUSION, NULL, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return m;
}

static void *run_branches(void *user)
{
    worker *w = (worker *)user;
    float x[64], y[64];
    const nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
    pthread_barrier_wait(&w->c->start);
    for (int32_t round = 0; round < w->c->rounds; round++) {
        for (int32_t i = 0; i < 64; i++)
            x[i] = (float)(i * (round + 1)) - (float)(100 * w->number);
        w->wrong += nnrt_run(w->session, &in, 1, &out, 1) != NNRT_SUCCESS ? 1 : 0;
        for (int32_t i = 0; i < 64; i++)
            w->wrong += y[i] != (x[i] < 0 ? -x[i] : x[i]) - 2 * x[i] ? 1 : 0;
        w->runs++;
    }
    nnrt_session_destroy(w->session);
    return NULL;
}

/* Sessions that share parts, which run at once in each of them. */
static void test_at_once(void **state)
{
    common *c = (common *)*state;
    NNRT_Model *m = two_branches();
    nnrt_fake *npu[2] = {npu_begin("fake:name=npu0,ops=ACTIVATION"), npu_begin("fake:name=npu1,ops=ADD_FUSION")};
    nnrt_session_desc desc;
    worker w[THREADS];
    memset(w, 0, sizeof(w));
    memset(&desc, 0, sizeof(desc));
    desc.device = "auto:npu0,npu1";
    for (uint32_t i = 0; i < THREADS; i++) {
        desc.parallel = i == 0 ? &two_helpers : NULL;
        desc.share = i > 0 ? w[0].session : NULL;
        assert_int_equal(nnrt_session_create(&w[i].session, m, &desc, NULL), NNRT_SUCCESS);
    }
    start_all(c, w, run_branches, 20);
    end_all(c, w);
    npu_end(npu[0]);
    npu_end(npu[1]);
    nnrt_model_destroy(m);
}

/* shares: all parts have RunIn. In place of it, Run is called, and each prepared model is one session's. */
static void split(common *c, const char *first, const char *second, bool shares)
{
    worker w[THREADS];
    nnrt_fake *npu[2];
    nnrt_session_desc desc;
    uint32_t runs = 0;
    memset(w, 0, sizeof(w));
    memset(&desc, 0, sizeof(desc));
    assert_int_equal(nnrt_fake_register(&npu[0], first, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_fake_register(&npu[1], second, NULL), NNRT_SUCCESS);
    desc.device = "auto:npu0,npu1";
    for (uint32_t i = 0; i < THREADS; i++) {
        desc.share = i > 0 ? w[0].session : NULL;
        assert_int_equal(nnrt_session_create(&w[i].session, c->model, &desc, NULL),
                         shares || i == 0 ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
    }
    start_all(c, w, run_split, 10);
    end_all(c, w);
    for (uint32_t i = 0; i < 2; i++) {
        const nnrt_fake_record r = nnrt_fake_get_record(npu[i]);
        assert_true(r.prepared >= THREADS && r.prepared == r.released);
        runs += r.calls[NNRT_FAKE_RunIn] + r.calls[NNRT_FAKE_Run] + r.calls[NNRT_FAKE_RunV1];
        assert_int_equal(nnrt_device_unregister(nnrt_fake_name(npu[i])), NNRT_SUCCESS);
    }
    assert_true(runs >= 10 * THREADS);
}

static void test_split(void **state)
{
    common *c = (common *)*state;
    split(c, "fake:name=npu0,ops=CONV2D_FUSION+SOFTMAX", "fake:name=npu1,ops=MAX_POOL_FUSION", true);
    split(c, "fake:name=npu0,ops=CONV2D_FUSION,without=RunIn", "fake:name=npu1,ops=MAX_POOL_FUSION", false);
    split(c, "fake:name=npu0,ops=CONV2D_FUSION", "fake:name=npu1,ops=MAX_POOL_FUSION,without=RunIn+Run", false);
    split(c, "fake:name=npu0,without=RunIn", "fake:name=npu1", false); /* one takes all, the other one falls back */
}

/* Sessions of their own, each run of which fails on one device and is computed by the other one. */
static void test_split_falls_back(void **state)
{
    common *c = (common *)*state;
    worker w[THREADS];
    nnrt_fake *npu0 = npu_begin("fake:name=npu0,not=SOFTMAX,fail=RunIn"), *npu1 = npu_begin("fake:name=npu1");
    memset(w, 0, sizeof(w));
    start_all(c, w, run_split, 10);
    end_all(c, w);
    npu_end(npu0);
    npu_end(npu1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_split_falls_back),
        cmocka_unit_test(test_sessions_of_one_model),
        cmocka_unit_test(test_weights_are_shared),
        cmocka_unit_test(test_owner_ends_first),
        cmocka_unit_test(test_load_same_file),
        cmocka_unit_test(test_failing_runs),
        cmocka_unit_test(test_open_extents),
        cmocka_unit_test(test_loop),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
