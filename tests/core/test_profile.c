/* Profiles: which listener receives which steps of a run, with which data. The clock counts its calls, so that begin
   and duration are known; bytes are computed from the shapes by hand. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inside.h"

#include "nnrt.h"

#include "devices.h"
#include "tree.h"

#define MOST_TOLD 64

/* The recorded steps, with copies of the texts, which are valid only during the call. */
typedef struct log {
    nnrt_profile profile;
    nnrt_profile_step steps[MOST_TOLD];
    char names[MOST_TOLD][16], ops[MOST_TOLD][32], devices[MOST_TOLD][64];
    uint32_t count;
    uint64_t time;
} log_of;

static void told(void *user, const nnrt_profile_step *s)
{
    log_of *l = (log_of *)user;
    assert_true(l->count < MOST_TOLD);
    l->steps[l->count] = *s;
    nnrt_text(l->names[l->count], sizeof(l->names[0]), "%s", s->name);
    nnrt_text(l->ops[l->count], sizeof(l->ops[0]), "%s", s->op);
    nnrt_text(l->devices[l->count], sizeof(l->devices[0]), "%s", s->device);
    l->count++;
}

/* 1000, 1010, 1020, ... */
static uint64_t ticks(void *user)
{
    log_of *l = (log_of *)user;
    l->time += 10;
    return 990 + l->time;
}

static nnrt_session_desc listen_to(log_of *l)
{
    nnrt_session_desc desc;
    memset(l, 0, sizeof(*l));
    memset(&desc, 0, sizeof(desc));
    l->profile.step = told;
    l->profile.clock = ticks;
    l->profile.user = l;
    desc.profile = &l->profile;
    return desc;
}

static nnrt_session *session_of(const NNRT_Model *m, const nnrt_session_desc *desc)
{
    nnrt_session *s = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_session_create(&s, m, desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    return s;
}

/* Entry i of the log is this step, at that time. */
static void is_step(const log_of *l, uint32_t i, const char *name, const char *op, int32_t node, uint32_t depth,
                    uint64_t begin, uint64_t duration, size_t read, size_t written)
{
    const nnrt_profile_step *s = &l->steps[i];
    assert_true(i < l->count);
    assert_string_equal(l->names[i], name);
    assert_string_equal(l->ops[i], op);
    assert_int_equal(s->node, node);
    assert_int_equal(s->depth, depth);
    assert_int_equal(s->begin, begin);
    assert_int_equal(s->duration, duration);
    assert_int_equal(s->read, read);
    assert_int_equal(s->written, written);
}

static const float four[4] = {10, -20, 30, -40};

/* y = |x + c|, x [3,4], the nodes not in the order in which they run. */
static void chain(graph *g)
{
    graph_init(g);
    (void)tensor(g, "x", F32, "3,4");
    (void)constant(g, "c", F32, "4", four, sizeof(four));
    (void)result(g, "s");
    (void)result(g, "y");
    ACTIVATION(g, "size", absolute, "2", "3");
    ADD(g, "sum", "0 1", "2");
    graph_io(g, "0", "3");
}

static void test_steps(void **state)
{
    static graph g;
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    float x[12] = {1}, y[12], other[12];
    nnrt_session *s, *quiet;
    (void)state;
    chain(&g);
    s = session_of(&g.model, &desc);
    quiet = session_of(&g.model, NULL);
    assert_int_equal(l.count + l.time, 0); /* preparing runs nothing of it */
    for (uint32_t run = 0; run < 2; run++) {
        assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
        assert_int_equal(l.count, 2 * (run + 1));
        is_step(&l, 2 * run, "sum", "ADD_FUSION", 1, 0, 1000 + 40 * run, 10, 48 + 16, 48);
        is_step(&l, 2 * run + 1, "size", "ACTIVATION", 0, 0, 1020 + 40 * run, 10, 48, 48);
        assert_string_equal(l.devices[2 * run], nnrt_device_unique_name(nnrt_device_find("reference")));
    }
    assert_int_equal(nnrt_run(quiet, NNRT_IO(x), NNRT_IO(other)), NNRT_SUCCESS);
    assert_int_equal(l.count, 4);
    assert_memory_equal(y, other, sizeof(y));
    nnrt_session_destroy(quiet);
    nnrt_session_destroy(s);
}

/* Without a clock of its own a profile has the system's: it runs forward. */
static void test_system_clock(void **state)
{
    static graph g;
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    float x[12] = {1}, y[12];
    nnrt_session *s;
    (void)state;
    chain(&g);
    l.profile.clock = NULL;
    s = session_of(&g.model, &desc);
    memset(&l.profile, 0, sizeof(l.profile)); /* it was copied */
    for (uint32_t run = 0; run < 16; run++)
        assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(l.count, 32);
    assert_int_equal(l.time, 0);
    for (uint32_t i = 0; i < 32; i++) {
        assert_true(l.steps[i].begin > 0 && l.steps[i].duration < UINT64_C(60000000000));
        assert_true(i == 0 || l.steps[i].begin >= l.steps[i - 1].begin + l.steps[i - 1].duration);
    }
    nnrt_session_destroy(s);
}

/* A clock that is set back makes no duration of centuries. */
static uint64_t backwards(void *user)
{
    log_of *l = (log_of *)user;
    return 1000 - ++l->time;
}

static void test_clock_set_back(void **state)
{
    static graph g;
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    float x[12] = {1}, y[12];
    nnrt_session *s;
    (void)state;
    chain(&g);
    l.profile.clock = backwards;
    s = session_of(&g.model, &desc);
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    is_step(&l, 0, "sum", "ADD_FUSION", 1, 0, 999, 0, 64, 48);
    nnrt_session_destroy(s);
}

/* A step that fails is not reported, nor are later steps. */
static void test_failure(void **state)
{
    static graph g;
    static const float data[3] = {1, 2, 3};
    static const int32_t zero[1] = {0};
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    int32_t index[2] = {1, 7};
    float y[2];
    nnrt_session *s;
    (void)state;
    graph_init(&g);
    (void)tensor(&g, "i", I32, "2");
    (void)constant(&g, "data", F32, "3", data, sizeof(data));
    (void)constant(&g, "axis", I32, "", zero, sizeof(zero));
    (void)result(&g, "j");
    (void)result(&g, "g");
    (void)result(&g, "y");
    ADD(&g, "twice", "0 0", "3");
    PLAIN(&g, "pick", GATHER, "1 3 2", "4");
    ACTIVATION(&g, "size", absolute, "4", "5");
    graph_io(&g, "0", "5");
    s = session_of(&g.model, &desc);
    assert_int_equal(nnrt_run(s, NNRT_IO(index), NNRT_IO(y)), NNRT_INVALID_PARAMETER);
    assert_int_equal(l.count, 1);
    is_step(&l, 0, "twice", "ADD_FUSION", 0, 0, 1000, 10, 16, 8);
    index[1] = 0;
    assert_int_equal(nnrt_run(s, NNRT_IO(index), NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(l.count, 4);
    nnrt_session_destroy(s);
}

/* Steps of the branch that IF runs are reported before it, one level deeper; steps of the other branch are not. */
static void test_if(void **state)
{
    static tree t;
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    uint8_t cond = 1;
    float x[3] = {1, -2, 3}, y[3];
    nnrt_io in[2];
    nnrt_session *s;
    (void)state;
    branches(&t);
    in[0] = nnrt_io_make(&cond, 1);
    in[1] = nnrt_io_make(x, sizeof(x));
    s = session_of(&t.g.model, &desc);
    assert_int_equal(nnrt_run(s, in, 2, NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(l.count, 3);
    is_step(&l, 0, "twice", "ADD_FUSION", 1, 1, 1010, 10, 24, 12);
    is_step(&l, 1, "if", "nnrt_reshape", 0, 1, 1030, 10, 12, 12); /* copies the result of the branch */
    is_step(&l, 2, "if", "IF", 0, 0, 1000, 50, 0, 0);
    cond = 0;
    assert_int_equal(nnrt_run(s, in, 2, NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(l.count, 6);
    is_step(&l, 3, "abs", "ACTIVATION", 2, 1, 1070, 10, 12, 12);
    is_step(&l, 4, "if", "nnrt_reshape", 0, 1, 1090, 10, 12, 12);
    is_step(&l, 5, "if", "IF", 0, 0, 1060, 50, 0, 0);
    nnrt_session_destroy(s);
}

/* A step in a LOOP is reported in every trip, and the LOOP when it has ended. */
static void test_loop(void **state)
{
    static tree t;
    const nnrt_bound most[1] = {{"all", {2, {10, 1}}}};
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    int64_t trips = 3;
    float last[1], next[1], all[10];
    uint32_t at = 0, adds = 0, before = 0;
    nnrt_io in = nnrt_io_make(&trips, sizeof(trips)), out[3];
    nnrt_session *s;
    (void)state;
    fibonacci(&t);
    out[0] = nnrt_io_make(last, sizeof(last));
    out[1] = nnrt_io_make(next, sizeof(next));
    out[2] = nnrt_io_make(all, sizeof(all));
    desc.bounds = nnrt_bound_list_make(most, 1);
    s = session_of(&t.g.model, &desc);
    assert_int_equal(nnrt_run(s, &in, 1, out, 3), NNRT_SUCCESS);
    while (at < l.count && strcmp(l.ops[at], "LOOP") != 0) {
        if (strcmp(l.names[at], "add") == 0) {
            is_step(&l, at, "add", "ADD_FUSION", 1, 1, l.steps[at].begin, 10, 8, 4);
            adds++;
        }
        if (l.steps[at].depth == 0) { /* a copy of an initial value */
            assert_string_equal(l.ops[at], "nnrt_reshape");
            assert_int_equal(before++, at);
        }
        assert_int_equal(l.steps[at].depth, at < before ? 0 : 1);
        at++;
    }
    assert_int_equal(adds, 3);
    is_step(&l, at, "loop", "LOOP", 0, 0, 1000 + 20 * before, 10 * (2 * (at - before) + 1), 0, 0);
    while (++at < l.count) /* copies to outputs */
        assert_true(l.steps[at].depth == 0 && l.steps[at].node == -1);
    nnrt_session_destroy(s);
}

/* The executor of firmware reports the same steps, with the same depths. */
static void test_nested(void **state)
{
    static tree t;
    log_of l;
    const nnrt_session_desc desc = listen_to(&l);
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_plan *plan;
    const nnrt_plan *nested;
    uint8_t cond = 1;
    float x[3] = {1, -2, 3}, y[3];
    void *io[3], *views, *arena;
    (void)state;
    branches(&t);
    memset(&config, 0, sizeof(config));
    config.profile = desc.profile;
    config.device = "mine";
    nnrt_memory_allocate(&memory, NULL);
    assert_int_equal(nnrt_plan_build(&t.g.model, &config, &memory, &plan), NNRT_SUCCESS);
    nested = plan;
    views = nnrt_memory_keep(&memory, nested->maxArgs * sizeof(nnrt_view));
    arena = nnrt_memory_keep_aligned(&memory, nested->arenaBytes);
    io[0] = &cond;
    io[1] = x;
    io[2] = y;
    assert_int_equal(nnrt_plan_execute(nested, (nnrt_view *)views, arena, io, NULL), NNRT_SUCCESS);
    is_step(&l, 0, "twice", "ADD_FUSION", 1, 1, 1010, 10, 24, 12);
    is_step(&l, l.count - 1, "if", "IF", 0, 0, 1000, l.time - 10, 0, 0);
    assert_string_equal(l.devices[0], "mine");
    nnrt_memory_end(&memory);
}

/* Steps that a run resolves report the bytes of its shapes. */
static void test_open(void **state)
{
    static graph g;
    const nnrt_bound most[1] = {{"x", {2, {100, 4}}}};
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    const int32_t dims[2] = {3, 4};
    float x[12] = {1}, y[400];
    nnrt_io in = nnrt_io_make(x, sizeof(x));
    nnrt_session *s;
    (void)state;
    chain(&g);
    g.dims[0][0] = -1;
    in.dims = dims;
    desc.bounds = nnrt_bound_list_make(most, 1);
    s = session_of(&g.model, &desc);
    assert_int_equal(nnrt_run(s, &in, 1, NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(l.count, 2);
    is_step(&l, 0, "sum", "ADD_FUSION", 1, 0, 1000, 10, 48 + 16, 48);
    is_step(&l, 1, "size", "ACTIVATION", 0, 0, 1020, 10, 48, 48);
    nnrt_session_destroy(s);
}

/* An input that is an output is copied by a step of its own, with dynamic shapes, too. */
static void test_copy(void **state)
{
    static graph g;
    const nnrt_bound most[1] = {{"x", {1, {9}}}};
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    const int32_t dims[1] = {5};
    float x[5] = {1}, y[9], copy[9];
    nnrt_io in = nnrt_io_make(x, sizeof(x)), out[2];
    nnrt_session *s;
    (void)state;
    out[0] = nnrt_io_make(y, sizeof(y));
    out[1] = nnrt_io_make(copy, sizeof(copy));
    in.dims = dims;
    graph_init(&g);
    (void)tensor(&g, "x", F32, "5");
    (void)result(&g, "y");
    ACTIVATION(&g, "size", absolute, "0", "1");
    graph_io(&g, "0", "1 0");
    for (uint32_t open = 0; open < 2; open++) {
        s = session_of(&g.model, &desc);
        assert_int_equal(nnrt_run(s, &in, 1, out, 2), NNRT_SUCCESS);
        nnrt_session_destroy(s);
        assert_int_equal(l.count, 2 * (open + 1));
        is_step(&l, 2 * open, "size", "ACTIVATION", 0, 0, 1000 + 40 * open, 10, 20, 20);
        assert_int_equal(l.steps[2 * open + 1].node, -1);
        assert_int_equal(l.steps[2 * open + 1].begin, 1020 + 40 * open);
        assert_int_equal(l.steps[2 * open + 1].read, 20);
        assert_int_equal(l.steps[2 * open + 1].written, 20);
        g.dims[0][0] = -1;
        desc.bounds = nnrt_bound_list_make(most, 1);
    }
}

/* To the byte in a buffer, and a run takes nothing from an allocator. */
static void test_memory(void **state)
{
    static graph g;
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    tracker t;
    nnrt_allocator allocator = allocator_of(&t);
    float x[12] = {1}, y[12];
    size_t bytes, quiet;
    int64_t calls;
    nnrt_session *s;
    (void)state;
    memset(&t, 0, sizeof(t));
    chain(&g);
    assert_int_equal(nnrt_session_bytes(&g.model, NULL, &quiet, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_SUCCESS);
    assert_true(bytes >= quiet);
    desc.buffer = nnrt_alloc(NULL, bytes);
    desc.bufferBytes = bytes - 1;
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_OUT_OF_MEMORY);
    desc.bufferBytes = bytes;
    s = session_of(&g.model, &desc);
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(l.count, 2);
    nnrt_session_destroy(s);
    nnrt_free(NULL, desc.buffer, bytes);
    desc.buffer = NULL;
    desc.bufferBytes = 0;
    desc.allocator = &allocator;
    s = session_of(&g.model, &desc);
    calls = t.calls;
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(t.calls, calls);
    assert_int_equal(l.count, 4);
    nnrt_session_destroy(s);
    assert_true(t.live == 0 && !t.wrong);
}

/* Sessions that share a prepared model report to its profile, and cannot set their own. */
static void test_share(void **state)
{
    static graph g;
    log_of l, mine;
    nnrt_session_desc desc = listen_to(&l), shared = listen_to(&mine);
    float x[12] = {1}, y[12];
    nnrt_session *s, *second = NULL;
    nnrt_error error;
    (void)state;
    chain(&g);
    memset(&error, 0, sizeof(error));
    s = session_of(&g.model, &desc);
    shared.share = s;
    assert_int_equal(nnrt_session_create(&second, &g.model, &shared, &error), NNRT_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "profile"));
    shared.profile = NULL;
    second = session_of(&g.model, &shared);
    nnrt_session_destroy(s); /* the profile lives as long as the prepared model */
    assert_int_equal(nnrt_run(second, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(l.count, 2);
    assert_int_equal(mine.count, 0);
    nnrt_session_destroy(second);
}

static void test_refused(void **state)
{
    static graph g;
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    NNRT_PreparedModel *prepared;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_plan *plan;
    nnrt_session *s;
    nnrt_error error;
    bool supported[2];
    size_t bytes;
    (void)state;
    chain(&g);
    l.profile.step = NULL;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, &error), NNRT_NULL_PTR);
    assert_non_null(strstr(error.message, "the profile has no step"));
    assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_NULL_PTR);
    l.profile.step = told;
    l.profile.clock = NULL; /* below sessions there is none by itself */
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    config.profile = &l.profile;
    config.error = &error;
    assert_int_equal(nnrt_device_prepare(nnrt_device_find("reference"), &g.model, &config, &prepared), NNRT_NULL_PTR);
    assert_non_null(strstr(error.message, "the profile has no clock"));
    assert_int_equal(nnrt_device_model_memory(nnrt_device_find("auto"), &g.model, &config, &bytes), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_supported(nnrt_device_find("reference"), &g.model, &config, supported, 2, NULL, NULL),
                     NNRT_NULL_PTR);
    nnrt_memory_allocate(&memory, NULL);
    assert_int_equal(nnrt_plan_build(&g.model, &config, &memory, &plan), NNRT_NULL_PTR);
    nnrt_memory_end(&memory);
}

/* A device that edits plans names the steps that it has made. */
static void test_example_device(void **state)
{
    static graph g;
    static const float weights[2] = {2, 3};
    static const NNRT_Conv2DFusion conv = {{NULL, 0}, {NULL, 0}, {NULL, 0}, NNRT_PAD_MODE_PAD, {NULL, 0}, 1, 1, 2,
                                           NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    float x[1] = {5}, y[2];
    nnrt_session *s;
    (void)state;
    assert_non_null(test_device_open("example"));
    graph_init(&g);
    (void)tensor(&g, "x", F32, "1,1,1,1");
    (void)constant(&g, "w", F32, "2,1,1,1", weights, sizeof(weights));
    (void)constant(&g, "c", F32, "1,1,1,2", four, 8);
    (void)result(&g, "r");
    (void)result(&g, "y");
    (void)node(&g, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, sizeof(conv), "0 1 -", "3");
    ADD(&g, "sum", "3 2", "4");
    graph_io(&g, "0", "4");
    s = session_of(&g.model, &desc); /* auto chooses it: it precedes reference */
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_true(y[0] == 20 && y[1] == -5);
    assert_int_equal(l.count, 1); /* the sum is the convolution's */
    is_step(&l, 0, "sum", "ADD_FUSION", 1, 0, 1000, 10, 4 + 8 + 8, 8);
    assert_string_equal(l.devices[0], "example_example_v1_0");
    nnrt_session_destroy(s);
    assert_int_equal(nnrt_device_unregister("example"), NNRT_SUCCESS);
}

/* ---- a device whose prepared models are no plans writes its own profile ---- */

typedef struct alien {
    NNRT_PreparedModel base;
    const nnrt_profile *profile;
    char device[64];
} alien;

static NNRT_ReturnCode alien_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                 const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    const alien *a = (const alien *)(const void *)self;
    nnrt_profile_step s;
    (void)nIn;
    (void)nOut;
    (void)outputDims;
    memset(&s, 0, sizeof(s));
    s.name = "all";
    s.op = "alien";
    s.device = a->device;
    s.node = -1;
    s.begin = a->profile->clock(a->profile->user);
    memset(outputs[0].data.addr, 0, outputs[0].data.dataSize);
    s.duration = a->profile->clock(a->profile->user) - s.begin;
    s.read = inputs[0].data.dataSize;
    a->profile->step(a->profile->user, &s);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode alien_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                     NNRT_PreparedModel **prepared)
{
    static NNRT_PreparedModelVtbl table;
    static alien a;
    NNRT_ModelConfig own;
    (void)self;
    (void)model;
    nnrt_config_read(&own, config);
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.Run = alien_run;
    a.base.vtbl = &table;
    a.profile = own.profile;
    nnrt_text(a.device, sizeof(a.device), "%s", own.device);
    *prepared = &a.base;
    return NNRT_SUCCESS;
}

static void test_alien(void **state)
{
    static graph g;
    static NNRT_DeviceVtbl table;
    static char name[] = "alien";
    log_of l;
    nnrt_session_desc desc = listen_to(&l);
    float x[12] = {1}, y[12];
    nnrt_session *s;
    (void)state;
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = example_version;
    table.GetDeviceName = table.GetVendorName = example_name;
    table.PrepareModel = alien_prepare;
    assert_int_equal(nnrt_device_register(&table, name, NULL), NNRT_SUCCESS);
    chain(&g);
    s = session_of(&g.model, &desc); /* through auto */
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    is_step(&l, 0, "all", "alien", -1, 0, 1000, 10, 48, 0);
    assert_string_equal(l.devices[0], "alien_alien_v1_0");
    nnrt_session_destroy(s);
    assert_int_equal(nnrt_device_unregister("alien"), NNRT_SUCCESS);
}

/* ---- checksums ---- */

static uint32_t sum_of(NNRT_DataType type, int32_t count, const void *data)
{
    nnrt_view v;
    memset(&v, 0, sizeof(v));
    v.data = (void *)(uintptr_t)data;
    v.dataType = type;
    v.rank = 1;
    v.dims[0] = count;
    v.strides[0] = 1;
    return nnrti_view_sum(&v, NNRT_SUM);
}

/* Known values of FNV-1a; all NaN alike, infinities, zeros and integers are not. */
static void test_sums(void **state)
{
    const uint32_t quiet[2] = {0x7FC00000, 1}, other[2] = {0xFF800001, 1}, infinite[2] = {0x7F800000, 1};
    const uint16_t half[2] = {0x7E00, 0xFC00}, halves[2] = {0xFC01, 0xFC00}, hinf[2] = {0x7C00, 0xFC00};
    const uint64_t wide[1] = {UINT64_C(0x7FF8) << 48}, widest[1] = {UINT64_MAX}, winf[1] = {UINT64_C(0x7FF) << 52};
    const float zero[2] = {0, -0.0f};
    const uint32_t letters = 0x626f6f66; /* "foob" as a little-endian number */
    (void)state;
    assert_int_equal(sum_of(NNRT_DATA_TYPE_UINT8, 0, NULL), 0x811c9dc5);
    assert_int_equal(sum_of(NNRT_DATA_TYPE_UINT8, 1, "a"), 0xe40c292c);
    assert_int_equal(sum_of(NNRT_DATA_TYPE_INT8, 6, "foobar"), 0xbf9cf968);
    assert_int_equal(sum_of(NNRT_DATA_TYPE_UINT32, 1, &letters), 0x3f5076ef);
    assert_int_equal(sum_of(F32, 2, quiet), sum_of(F32, 2, other));
    assert_int_not_equal(sum_of(F32, 2, quiet), sum_of(F32, 2, infinite));
    assert_int_not_equal(sum_of(I32, 2, quiet), sum_of(I32, 2, other));
    assert_int_not_equal(sum_of(F32, 1, &zero[0]), sum_of(F32, 1, &zero[1]));
    assert_int_equal(sum_of(NNRT_DATA_TYPE_FLOAT16, 2, half), sum_of(NNRT_DATA_TYPE_FLOAT16, 2, halves));
    assert_int_not_equal(sum_of(NNRT_DATA_TYPE_FLOAT16, 2, half), sum_of(NNRT_DATA_TYPE_FLOAT16, 2, hinf));
    assert_int_equal(sum_of(NNRT_DATA_TYPE_FLOAT64, 1, wide), sum_of(NNRT_DATA_TYPE_FLOAT64, 1, widest));
    assert_int_not_equal(sum_of(NNRT_DATA_TYPE_FLOAT64, 1, wide), sum_of(NNRT_DATA_TYPE_FLOAT64, 1, winf));
}

/* A partition on a device: its steps are reported with their numbers in the whole model and their device, and after them the
   partition itself. A device whose run fails records nothing; the device that computes the partition then does. */
static void test_parts(void **state)
{
    static const float w[4] = {1, 2, 3, 4};
    static const struct {
        const char *a, *b;
        bool fallback;
        const char *device; /* of the inner steps */
    } rows[] = {{"fake:name=a,ops=ADD_FUSION", "fake:name=b,ops=ADD_FUSION", false, "a_nnrt_v1_0"},
                {"fake:name=a,ops=ADD_FUSION", "fake:name=b,ops=ADD_FUSION", true, "a_nnrt_v1_0"},
                {"fake:name=a,ops=ADD_FUSION,fail=RunIn", "fake:name=b,ops=ADD_FUSION", true, "b_nnrt_v1_0"},
                {"fake:name=a,ops=ADD_FUSION,fail=RunIn", "fake:name=b,ops=IF", true, "reference_nnrt_v2_0"}};
    graph g;
    (void)state;
    graph_init(&g);
    (void)tensor(&g, "x", F32, "4");
    (void)constant(&g, "w", F32, "4", w, sizeof(w));
    (void)result(&g, "p");
    (void)result(&g, "q");
    (void)result(&g, "r");
    (void)result(&g, "y");
    (void)ACTIVATION(&g, "last", absolute, "4", "5");
    (void)ADD(&g, "second", "3 1", "4");
    (void)ADD(&g, "first", "2 1", "3");
    (void)ACTIVATION(&g, "zeroth", absolute, "0", "2");
    graph_io(&g, "0", "5");
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        static const char *const names[5] = {"zeroth", "first", "second", "", "last"};
        static const int32_t nodes[5] = {3, 2, 1, 2, 0};
        static const uint32_t depths[5] = {0, 1, 1, 0, 0};
        log_of l;
        nnrt_session_desc desc = listen_to(&l);
        nnrt_partition p;
        nnrt_session *s;
        float x[4] = {-1, -2, -3, -4}, y[4];
        nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
        assert_int_equal(nnrt_fake_register(NULL, rows[i].a, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_fake_register(NULL, rows[i].b, NULL), NNRT_SUCCESS);
        memset(&p, 0, sizeof(p));
        p.fallback = rows[i].fallback;
        desc.device = "auto:a,b";
        desc.partition = &p;
        assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
        for (uint32_t k = 0; k < 4; k++)
            assert_true(y[k] == 3 * (float)(k + 1));
        assert_int_equal(l.count, 5);
        for (uint32_t k = 0; k < 5; k++) {
            assert_int_equal(l.steps[k].node, nodes[k]);
            assert_int_equal(l.steps[k].depth, depths[k]);
            assert_int_equal(l.steps[k].read, k == 1 || k == 2 ? 32 : 16);
            assert_int_equal(l.steps[k].written, 16);
            if (k != 3)
                assert_string_equal(l.names[k], names[k]);
            assert_string_equal(l.ops[k], k == 3                ? "nnrti_part_run"
                                          : k == 1 || k == 2    ? "ADD_FUSION"
                                                                : "ACTIVATION");
            assert_string_equal(l.devices[k], k == 1 || k == 2 ? rows[i].device : "auto_nnrt_v2_0");
        }
        assert_true(l.steps[3].begin < l.steps[1].begin && l.steps[3].duration > 10);
        nnrt_session_destroy(s);
        assert_int_equal(nnrt_device_unregister("a"), NNRT_SUCCESS);
        assert_int_equal(nnrt_device_unregister("b"), NNRT_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),   cmocka_unit_test(test_system_clock), cmocka_unit_test(test_clock_set_back),
        cmocka_unit_test(test_failure), cmocka_unit_test(test_if),           cmocka_unit_test(test_loop),
        cmocka_unit_test(test_nested),  cmocka_unit_test(test_open),         cmocka_unit_test(test_copy),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_share),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_alien),   cmocka_unit_test(test_example_device),
        cmocka_unit_test(test_sums),    cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
